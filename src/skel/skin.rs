//! The data of a prim's deformation that does not change with time.

use std::sync::Arc;

use glam::Vec3;

use super::{
    AnimMapper, BlendShape, InfluenceInterpolation, JointInfluences, RestNormals, SkinningMethod,
};
use crate::error::Invalid;

/// Rest points, normals, influences and shapes of one skinnable prim, validated against each other.
#[derive(Clone, Debug)]
pub struct Skin {
    points: Arc<Vec<Vec3>>,
    normals: Option<RestNormals>,
    influences: Option<JointInfluences>,
    method: SkinningMethod,
    /// The joint of the skeleton for each joint of the prim's skel:joints; `None` if the prim has
    /// no joint order of its own. A joint that the skeleton lacks is `None` in it, and does not
    /// move (rule 11).
    joint_map: Option<Vec<Option<u32>>>,
    joint_count: usize,
    shapes: Vec<Option<Arc<BlendShape>>>,
}

impl Skin {
    /// A skin with linear blend skinning. [`Skin::with_method`] changes the method.
    ///
    /// - `points`, `normals`: rest values in prim space.
    /// - `influences`: `None` if the prim only blends.
    /// - `joint_map`: the skeleton's joint for each joint of the prim's skel:joints, if it has
    ///   them.
    /// - `joint_count`: number of joints of the skeleton.
    /// - `shapes`: one element per blend shape of the prim. `None` for a blend shape that is
    ///   missing, which adds nothing (rule 17).
    ///
    /// # Errors
    /// Points or normals that are not finite; another number of normals; normals of points that do
    /// not exist; influences, a joint map or shapes that were validated for other points or joints.
    pub fn new(
        prim: &str,
        points: Arc<Vec<Vec3>>,
        normals: Option<RestNormals>,
        influences: Option<JointInfluences>,
        joint_map: Option<Vec<Option<u32>>>,
        joint_count: usize,
        shapes: Vec<Option<Arc<BlendShape>>>,
    ) -> Result<Self, Invalid> {
        check_finite(prim, "points", &points)?;
        if let Some(normals) = &normals {
            normals.check(prim, points.len())?;
        }
        let own_joints = joint_map.as_ref().map_or(joint_count, Vec::len);
        let wrong = |property: &str, expected: String, found: String| {
            Err(Invalid::new(prim, property, expected, found))
        };
        if let Some(influences) = &influences {
            const INDICES: &str = "primvars:skel:jointIndices";
            let mut joints = influences.joints().iter();
            if let Some(joint) = joints.find(|j| (**j as usize) >= own_joints) {
                let expected = format!("joint indices below {own_joints}");
                return wrong(INDICES, expected, joint.to_string());
            }
            let rows = influences.joints().len() / influences.count();
            if influences.interpolation() == InfluenceInterpolation::Vertex && rows != points.len()
            {
                let expected = format!("influences of {} points", points.len());
                return wrong(INDICES, expected, rows.to_string());
            }
        }
        if let Some(map) = &joint_map
            && let Some(joint) = map.iter().flatten().find(|j| (**j as usize) >= joint_count)
        {
            let expected = format!("joints of a skeleton of {joint_count}");
            return wrong("skel:joints", expected, joint.to_string());
        }
        for shape in shapes.iter().flatten() {
            let entries = shape.sub_shapes().iter().map(|sub| sub.offsets.len());
            let mut moved = (0..entries.max().unwrap_or_default()).map(|e| shape.point_of(e));
            if let Some(point) = moved.find(|p| *p >= points.len()) {
                let expected = format!("blend shapes of {} points", points.len());
                return wrong("skel:blendShapes", expected, format!("point {point}"));
            }
        }
        Ok(Self {
            points,
            normals,
            influences,
            method: SkinningMethod::ClassicLinear,
            joint_map,
            joint_count,
            shapes,
        })
    }

    /// The same skin with another method.
    ///
    /// A prim that one joint moves as a whole (one constant influence, whose weight is 1 within
    /// 1e-6) keeps linear blend skinning, because Pixar's `UsdSkelSkinTransform` then uses the
    /// matrix of that joint as it is, even if it is singular.
    #[must_use]
    pub fn with_method(mut self, method: SkinningMethod) -> Self {
        let moved_by_one_joint = self.influences.as_ref().is_some_and(|i| {
            i.interpolation() == InfluenceInterpolation::Constant
                && matches!(i.weights(), [w] if f64::from(*w - 1.0).abs() < 1e-6)
        });
        self.method = if moved_by_one_joint {
            SkinningMethod::ClassicLinear
        } else {
            method
        };
        self
    }

    /// The same skin for a prim that no joint moves, because it only blends or rests: so that it
    /// can move with a rig of a skeleton of `joint_count` joints. It replaces the influences by one
    /// of a joint that the skeleton lacks. A pose then takes the blended points by
    /// geomBindTransform and `out_from_skel` alone.
    #[must_use]
    pub fn without_joints(mut self, joint_count: usize) -> Self {
        self.influences = Some(JointInfluences::of_no_joint());
        self.joint_map = Some(vec![None]);
        self.joint_count = joint_count;
        self.method = SkinningMethod::ClassicLinear;
        self
    }

    /// The same skin with other rest normals.
    ///
    /// # Errors
    /// Another number of normals, normals of points that do not exist, or normals that are not
    /// finite.
    pub fn with_normals(mut self, prim: &str, normals: RestNormals) -> Result<Self, Invalid> {
        normals.check(prim, self.points.len())?;
        self.normals = Some(normals);
        Ok(self)
    }

    /// Rest points in prim space.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Rest normals in prim space, one per point or per face corner.
    #[must_use]
    pub fn normals(&self) -> Option<&[Vec3]> {
        self.normals.as_ref().map(|n| n.values.as_slice())
    }

    /// The point of each faceVarying normal. `None` if normals are one per point, or if there are
    /// none.
    #[must_use]
    pub fn normal_points(&self) -> Option<&[u32]> {
        self.normals.as_ref()?.points.as_deref().map(Vec::as_slice)
    }

    /// Number of normals; 0 if there are none.
    #[must_use]
    pub fn normal_count(&self) -> usize {
        self.normals.as_ref().map_or(0, |n| n.values.len())
    }

    /// How joint transforms are combined.
    #[must_use]
    pub fn method(&self) -> SkinningMethod {
        self.method
    }

    /// Influences; `None` if the prim only blends.
    #[must_use]
    pub fn influences(&self) -> Option<&JointInfluences> {
        self.influences.as_ref()
    }

    /// Number of joints of the skeleton.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.joint_count
    }

    /// Number of joints in the prim's joint order, which the joint indices of influences refer to.
    #[must_use]
    pub fn own_joint_count(&self) -> usize {
        self.joint_map.as_ref().map_or(self.joint_count, Vec::len)
    }

    /// Whether the prim has a joint order of its own.
    #[must_use]
    pub fn has_own_joints(&self) -> bool {
        self.joint_map.is_some()
    }

    /// The skeleton's joint for the joint index of an influence; `None` if the skeleton lacks that
    /// joint.
    ///
    /// # Panics
    /// If `joint` is out of range of the prim's order.
    #[must_use]
    pub fn skeleton_joint(&self, joint: u32) -> Option<u32> {
        match &self.joint_map {
            Some(map) => map[joint as usize],
            None => Some(joint),
        }
    }

    /// Blend shapes, in the order of skel:blendShapes; `None` for a missing one.
    #[must_use]
    pub fn shapes(&self) -> &[Option<Arc<BlendShape>>] {
        &self.shapes
    }

    /// Whether blend shapes change normals: some shape has normal offsets, and normals are one per
    /// point (rule 19).
    #[must_use]
    pub fn blends_normals(&self) -> bool {
        let per_point = self.normals.as_ref().is_some_and(|n| n.points.is_none());
        per_point && self.shapes.iter().flatten().any(|s| s.has_normal_offsets())
    }
}

/// Maps the joint order of a prim to a skeleton: for each token of `own` the joint of the skeleton
/// with that token, or `None` (rule 11). If tokens repeat, the result equals Pixar's map from the
/// skeleton's order to the prim's.
#[must_use]
pub fn joint_map(own: &[String], skeleton: &[String]) -> Vec<Option<u32>> {
    let joints: Vec<_> = (0..skeleton.len() as u32).map(Some).collect();
    let mut map = vec![None; own.len()];
    AnimMapper::new(skeleton, own).remap(&joints, &mut map);
    map
}

pub(super) fn check_finite(prim: &str, property: &str, values: &[Vec3]) -> Result<(), Invalid> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(Invalid::new(
            prim,
            property,
            "finite values",
            format!("{} at {i}", values[i]),
        )
        .coded("points-not-finite")),
        None => Ok(()),
    }
}
