//! Builds skins from plain arrays.

use std::sync::Arc;

use glam::Vec3;

use super::{
    BlendShapeDef, InfluenceInterpolation, JointInfluences, RestNormals, Skeleton, Skin,
    SkinningMethod, joint_map,
};
use crate::error::Invalid;

/// Builds a [`Skin`] from plain arrays, without a file.
///
/// Points, normals and offsets are in prim space, in any unit. Weights are used as they are; they
/// should sum to 1 per point ([`super::utils::normalize_weights`]).
///
/// ```
/// use glam::{DMat4, DVec3, Vec3};
/// use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
/// use sinew::skel::{Pose, Skeleton, SkinBuilder};
///
/// let names = ["Shoulder", "Elbow"].map(String::from).to_vec();
/// let elbow = DMat4::from_translation(DVec3::X);
/// let skeleton = Skeleton::from_parents("Arm", names, &[None, Some(0)], vec![DMat4::IDENTITY, elbow], None)?;
/// let skin = SkinBuilder::new("Sleeve", vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0])
///     .influences_of_points(&[vec![(0, 1.0)], vec![(0, 0.5), (1, 0.5)], vec![(1, 1.0)]])
///     .build(&skeleton)?;
/// let skin = PackedSkin::pack("Sleeve", &skin)?;
///
/// let bent = elbow * DMat4::from_rotation_z(std::f64::consts::FRAC_PI_2);
/// let pose = Pose::from_local(&skeleton, &[DMat4::IDENTITY, bent])?;
/// let mut points = vec![Vec3::ZERO; skin.output_count()];
/// skin_on_cpu(&skin, &PackedPose::pack(&skin, &pose)?, &mut points, None)?;
/// assert!(points[2].abs_diff_eq(Vec3::new(1.0, 1.0, 0.0), 1e-6));
/// # Ok::<(), sinew::Invalid>(())
/// ```
#[derive(Clone, Debug)]
pub struct SkinBuilder {
    name: String,
    points: Arc<Vec<Vec3>>,
    normals: Option<RestNormals>,
    influences: Option<Influences>,
    joints: Option<Vec<String>>,
    method: SkinningMethod,
    shapes: Vec<BlendShapeDef>,
}

#[derive(Clone, Debug)]
struct Influences {
    interpolation: InfluenceInterpolation,
    count: usize,
    joints: Vec<i32>,
    weights: Vec<f32>,
}

impl SkinBuilder {
    /// Starts a skin with these rest points, in prim space. `name` is for messages.
    #[must_use]
    pub fn new(name: impl Into<String>, points: impl Into<Arc<Vec<Vec3>>>) -> Self {
        Self {
            name: name.into(),
            points: points.into(),
            normals: None,
            influences: None,
            joints: None,
            method: SkinningMethod::default(),
            shapes: Vec::new(),
        }
    }

    /// Sets rest normals in prim space, one per point. Without normals,
    /// [`crate::kernel::PackedSkin::with_smooth_normals`] can compute them from the deformed
    /// points.
    #[must_use]
    pub fn normals(mut self, normals: impl Into<Arc<Vec<Vec3>>>) -> Self {
        self.normals = Some(RestNormals::per_point(normals.into()));
        self
    }

    /// Sets rest normals in prim space, one per face corner, and the point of each corner. Blend
    /// shapes do not change them (rule 19).
    #[must_use]
    pub fn corner_normals(
        mut self,
        normals: impl Into<Arc<Vec<Vec3>>>,
        points_of_corners: impl Into<Arc<Vec<u32>>>,
    ) -> Self {
        self.normals = Some(RestNormals {
            values: normals.into(),
            points: Some(points_of_corners.into()),
        });
        self
    }

    /// Sets `count` influences per point, one point after the other. `joints` are joint indices of
    /// the skeleton, or of [`SkinBuilder::joint_order`] if that is set. `count` is not limited.
    #[must_use]
    pub fn influences(mut self, count: usize, joints: &[u32], weights: &[f32]) -> Self {
        self.influences = Some(Influences {
            interpolation: InfluenceInterpolation::Vertex,
            count,
            joints: signed(joints.iter()),
            weights: weights.to_vec(),
        });
        self
    }

    /// Sets the influences of each point, as (joint, weight). Points may have different numbers of
    /// influences.
    #[must_use]
    pub fn influences_of_points(mut self, points: &[impl AsRef<[(u32, f32)]>]) -> Self {
        let count = points.iter().map(|p| p.as_ref().len()).max();
        let count = count.unwrap_or(0).max(1);
        let filled = points.iter().flat_map(|p| {
            let rest = std::iter::repeat(&(0, 0.0));
            p.as_ref().iter().chain(rest).take(count)
        });
        let (joints, weights): (Vec<u32>, Vec<f32>) = filled.copied().unzip();
        self.influences = Some(Influences {
            interpolation: InfluenceInterpolation::Vertex,
            count,
            joints: signed(joints.iter()),
            weights,
        });
        self
    }

    /// Sets the same influences for all points, as (joint, weight): the mesh is rigid.
    #[must_use]
    pub fn constant_influences(mut self, influences: &[(u32, f32)]) -> Self {
        self.influences = Some(Influences {
            interpolation: InfluenceInterpolation::Constant,
            count: influences.len(),
            joints: signed(influences.iter().map(|(joint, _)| joint)),
            weights: influences.iter().map(|(_, weight)| *weight).collect(),
        });
        self
    }

    /// Sets the joint order that influences refer to, as joint tokens. Without it, they refer to
    /// the order of the skeleton. A joint that the skeleton lacks stays in its bind pose (rule 11).
    #[must_use]
    pub fn joint_order(mut self, joints: Vec<String>) -> Self {
        self.joints = Some(joints);
        self
    }

    /// Sets the skinning method. The default is linear blend skinning.
    #[must_use]
    pub fn method(mut self, method: SkinningMethod) -> Self {
        self.method = method;
        self
    }

    /// Adds a blend shape, sparse or dense, with its in-betweens. The n-th blend shape uses the
    /// n-th channel weight of a pose.
    #[must_use]
    pub fn shape(mut self, shape: BlendShapeDef) -> Self {
        self.shapes.push(shape);
        self
    }

    /// Builds the skin, and checks all arrays against each other.
    ///
    /// # Errors
    /// Arrays whose sizes do not agree; indices out of range; values that are not finite; malformed
    /// shapes or in-betweens; a skin without influences and without shapes.
    pub fn build(self, skeleton: &Skeleton) -> Result<Skin, Invalid> {
        let joint_count = skeleton.joints().len();
        let points = self.points.len();
        if self.influences.is_none() && self.shapes.is_empty() {
            let expected = "joint influences or blend shapes";
            return Err(Invalid::new(self.name, "", expected, "neither"));
        }
        let own_joints = self.joints.as_ref().map_or(joint_count, Vec::len);
        let influences = self.influences.map(|i| {
            JointInfluences::new(
                &self.name,
                i.interpolation,
                i.count,
                &i.joints,
                i.weights,
                points,
                own_joints,
            )
        });
        let shapes = self.shapes.iter().map(|shape| {
            let path = format!("{}/{}", self.name, shape.name);
            shape.validate(&path, points).map(|s| Some(Arc::new(s)))
        });
        Skin::new(
            &self.name,
            self.points,
            self.normals,
            influences.transpose()?,
            self.joints.map(|own| joint_map(&own, skeleton.joints())),
            joint_count,
            shapes.collect::<Result<_, _>>()?,
        )
        .map(|skin| skin.with_method(self.method))
    }
}

/// Joint indices as i32. An index that does not fit i32 becomes one that no skeleton has, so that
/// validation reports it.
fn signed<'a>(joints: impl Iterator<Item = &'a u32>) -> Vec<i32> {
    let signed = joints.map(|j| i32::try_from(*j).unwrap_or(i32::MAX));
    signed.collect()
}

#[cfg(test)]
mod tests {
    use glam::DMat4;

    use super::*;
    use crate::skel::InbetweenDef;

    fn skeleton() -> Skeleton {
        let names = vec!["A".to_owned(), "B".to_owned()];
        let bind = vec![DMat4::IDENTITY; 2];
        Skeleton::from_parents("Rig", names, &[None, Some(0)], bind, None).unwrap()
    }

    fn points(n: usize) -> SkinBuilder {
        SkinBuilder::new("Mesh", vec![Vec3::X; n])
    }

    #[test]
    fn fewer_influences_are_filled_up() {
        let rows = [vec![(1, 0.25), (0, 0.75)], vec![(1, 1.0)], vec![]];
        let skin = points(3).influences_of_points(&rows).build(&skeleton());
        let skin = skin.unwrap();
        let influences = skin.influences().unwrap();
        assert_eq!(influences.count(), 2);
        assert_eq!(influences.joints(), [1, 0, 1, 0, 0, 0]);
        assert_eq!(influences.weights(), [0.25, 0.75, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn joint_orders_are_mapped() {
        let order = ["B", "Z", "A"].map(String::from).to_vec();
        let skin = points(1).joint_order(order).influences(1, &[2], &[1.0]);
        let skin = skin.build(&skeleton()).unwrap();
        let joints = [0, 1, 2].map(|j| skin.skeleton_joint(j));
        assert_eq!(joints, [Some(1), None, Some(0)]);
    }

    #[test]
    fn everything_is_checked() {
        let shape = |indices: &[u32], offsets: usize, weight: Option<f32>| BlendShapeDef {
            name: "Smile".into(),
            point_indices: Some(indices.to_vec()),
            offsets: vec![Vec3::Y; offsets],
            normal_offsets: None,
            inbetweens: weight.map_or(Vec::new(), |weight| {
                vec![InbetweenDef {
                    name: "half".into(),
                    weight,
                    offsets: vec![Vec3::Y; offsets],
                    normal_offsets: None,
                }]
            }),
        };
        let good = || points(2).influences(1, &[0, 1], &[1.0, 1.0]);
        assert!(
            good()
                .shape(shape(&[1], 1, Some(0.5)))
                .build(&skeleton())
                .is_ok()
        );
        for (builder, words) in [
            (points(2), "influences or blend shapes, found neither"),
            (points(2).influences(1, &[0], &[1.0]), "2 points x 1"),
            (points(1).influences(1, &[2], &[1.0]), "below 2, found 2"),
            (points(1).influences(1, &[u32::MAX], &[1.0]), "below 2"),
            (points(1).influences(1, &[0], &[]), "found 0"),
            (points(1).influences(0, &[], &[]), "at least 1"),
            (points(1).influences(1, &[0], &[f32::NAN]), "finite weights"),
            (
                points(2).constant_influences(&[(3, 1.0)]),
                "below 2, found 3",
            ),
            (good().normals(vec![Vec3::X]), "2 vertex normals, found 1"),
            (
                good().corner_normals(vec![Vec3::X], vec![2]),
                "2 at corner 0",
            ),
            (good().joint_order(vec!["A".into()]), "below 1, found 1"),
            (
                good().shape(shape(&[2], 1, None)),
                "Mesh/Smile.pointIndices",
            ),
            (good().shape(shape(&[1], 2, None)), "1 offsets"),
            (good().shape(shape(&[1], 1, Some(1.0))), "weight 1"),
        ] {
            let text = builder.build(&skeleton()).unwrap_err().to_string();
            assert!(text.contains(words), "'{text}' should say '{words}'");
        }
        let nan = SkinBuilder::new("Mesh", vec![Vec3::NAN]).influences(1, &[0], &[1.0]);
        assert!(nan.build(&skeleton()).is_err());
    }

    #[test]
    fn nothing_is_something() {
        let none = points(0).influences(4, &[], &[]).build(&skeleton());
        assert_eq!(none.unwrap().points().len(), 0);
    }
}
