//! The reference: skinning in f64, straight from the definitions.
//!
//! It is slow and simple on purpose. It shares no code with the kernels, so agreement between the
//! two is evidence that both are right.

use glam::{DMat3, DMat4, DVec3};

use super::dual_quaternion::{self, Blend, Parts, scaled};
use super::{InfluenceInterpolation, JointInfluences, MeshTopology, Pose, Skin, SkinningMethod};
use crate::error::Invalid;

/// Deformed points and normals.
#[derive(Clone, Debug, PartialEq)]
pub struct Deformed {
    /// Points in the space of the pose (`out_from_skel`), one per point of the skin.
    pub points: Vec<DVec3>,
    /// Normals of unit length in the same space, one per normal of the skin.
    pub normals: Option<Vec<DVec3>>,
}

/// Deforms a prim: applies blend shapes, skins, and applies `out_from_skel` (rules 15 to 27, 30).
///
/// # Errors
/// A pose with fewer joints or weights than the skin has joints or blend shapes.
pub fn deform(skin: &Skin, pose: &Pose) -> Result<Deformed, Invalid> {
    check(skin, pose)?;
    let mut points: Vec<DVec3> = skin.points().iter().map(|p| p.as_dvec3()).collect();
    let mut normals: Option<Vec<DVec3>> = skin
        .normals()
        .map(|n| n.iter().map(|n| n.as_dvec3()).collect());
    blend(skin, pose, &mut points, normals.as_deref_mut());

    let Some((influences, joints)) = posed(skin, pose) else {
        return Ok(Deformed { points, normals });
    };
    match skin.method() {
        SkinningMethod::ClassicLinear => {
            skin_linear(skin, pose, influences, &joints, &mut points, &mut normals);
        }
        SkinningMethod::DualQuaternion => {
            skin_by_quaternions(skin, pose, influences, &joints, &mut points, &mut normals);
        }
    }
    for p in &mut points {
        *p = pose.out_from_skel.transform_point3(*p);
    }
    let out_normal = crate::math::normal_matrix(pose.out_from_skel);
    for n in normals.iter_mut().flatten() {
        // Rule 23: normalised in skeleton space; `out_from_skel` does not normalise again.
        *n = out_normal * normalized(*n);
    }
    Ok(Deformed { points, normals })
}

fn check(skin: &Skin, pose: &Pose) -> Result<(), Invalid> {
    let wrong = |property: &str, expected: String, found: usize| {
        Err(Invalid::new("pose", property, expected, found.to_string()))
    };
    let (joints, shapes) = (skin.joint_count(), skin.shapes().len());
    if let (Some(_), Some(skinning)) = (skin.influences(), &pose.skinning)
        && skinning.len() < joints
    {
        return wrong("joints", format!("{joints} joints"), skinning.len());
    }
    let weights = pose.channel_weights.len();
    if weights < shapes {
        let expected = format!("{shapes} weights");
        return wrong("blendShapeWeights", expected, weights);
    }
    Ok(())
}

/// What moves the points of a skin. Weights may replace those of the skin.
pub(crate) struct PointPose<'a> {
    /// Skinning transforms, one per joint of the skeleton.
    pub skinning: &'a [DMat4],
    pub geom_bind: DMat4,
    /// As many as the influences have; `None` for theirs.
    pub weights: Option<&'a [f64]>,
}

/// Skins points, which are blended already, into skeleton space. A skin without influences leaves
/// them as they are.
///
/// # Panics
/// If the pose has fewer joints or weights than the skin, or there are other points.
pub(crate) fn skin_points(skin: &Skin, pose: &PointPose<'_>, points: &mut [DVec3]) {
    let Some(influences) = skin.influences() else {
        return;
    };
    let joint = |j: u32| {
        let of_skeleton = skin.skeleton_joint(j);
        of_skeleton.map_or(DMat4::IDENTITY, |j| pose.skinning[j as usize])
    };
    let joints: Vec<DMat4> = (0..skin.own_joint_count() as u32).map(joint).collect();
    let row = |point: usize| {
        let first = match influences.interpolation() {
            InfluenceInterpolation::Vertex => point * influences.count(),
            InfluenceInterpolation::Constant => 0,
        };
        let own = influences.of_point(point).enumerate();
        own.map(move |(i, (j, w))| {
            let weight = pose.weights.map_or(f64::from(w), |all| all[first + i]);
            (j as usize, weight)
        })
    };
    match skin.method() {
        SkinningMethod::ClassicLinear => {
            for (i, p) in points.iter_mut().enumerate() {
                let bound = pose.geom_bind.transform_point3(*p);
                *p = row(i)
                    .map(|(j, w)| joints[j].transform_point3(bound) * w)
                    .sum();
            }
        }
        SkinningMethod::DualQuaternion => {
            let parts: Vec<Parts> = joints.iter().map(|m| Parts::of_points(*m)).collect();
            let has_scale = parts.iter().any(Parts::has_scale);
            for (i, p) in points.iter_mut().enumerate() {
                let bound = pose.geom_bind.transform_point3(*p);
                let weighted: Vec<(Parts, f64)> = row(i).map(|(j, w)| (parts[j], w)).collect();
                *p = Blend::new(&weighted).transform(scaled(&weighted, has_scale, bound));
            }
        }
    }
}

/// The influences, and the skinning transform of each joint in the joint order of the prim. `None`
/// if the prim only blends.
fn posed<'a>(skin: &'a Skin, pose: &Pose) -> Option<(&'a JointInfluences, Vec<DMat4>)> {
    let (influences, skinning) = (skin.influences()?, pose.skinning.as_ref()?);
    let joints = (0..skin.own_joint_count() as u32).map(|j| {
        skin.skeleton_joint(j)
            .map_or(DMat4::IDENTITY, |j| skinning[j as usize])
    });
    Some((influences, joints.collect()))
}

/// The point whose influences a normal uses (rule 24).
fn point_of_normal(skin: &Skin, normal: usize) -> usize {
    skin.normal_points()
        .map_or(normal, |points| points[normal] as usize)
}

fn skin_linear(
    skin: &Skin,
    pose: &Pose,
    influences: &JointInfluences,
    joints: &[DMat4],
    points: &mut [DVec3],
    normals: &mut Option<Vec<DVec3>>,
) {
    for (i, p) in points.iter_mut().enumerate() {
        let bound = pose.geom_bind.transform_point3(*p);
        *p = influences
            .of_point(i)
            .map(|(j, w)| joints[j as usize].transform_point3(bound) * f64::from(w))
            .sum();
    }
    let normal = |m: DMat4| -> DMat3 { crate::math::normal_matrix(m) };
    for (i, n) in normals.iter_mut().flatten().enumerate() {
        let bound = normal(pose.geom_bind) * *n;
        *n = influences
            .of_point(point_of_normal(skin, i))
            .map(|(j, w)| normal(joints[j as usize]) * bound * f64::from(w))
            .sum();
    }
}

/// Dual quaternion skinning (rules 25 to 27): applies residual scale and shear by linear blending,
/// if any joint of the prim has some, and then the blend of the rigid motions.
fn skin_by_quaternions(
    skin: &Skin,
    pose: &Pose,
    influences: &JointInfluences,
    joints: &[DMat4],
    points: &mut [DVec3],
    normals: &mut Option<Vec<DVec3>>,
) {
    let parts: Vec<Parts> = joints.iter().map(|m| Parts::of_points(*m)).collect();
    let has_scale = parts.iter().any(Parts::has_scale);
    for (i, p) in points.iter_mut().enumerate() {
        let bound = pose.geom_bind.transform_point3(*p);
        let weighted = weighted(influences, &parts, i);
        *p = Blend::new(&weighted).transform(scaled(&weighted, has_scale, bound));
    }
    let Some(normals) = normals else { return };
    let parts: Vec<Parts> = joints.iter().map(|m| Parts::of_normals(*m)).collect();
    let has_scale = parts.iter().any(Parts::has_scale);
    let bind = crate::math::normal_matrix(pose.geom_bind);
    for (i, n) in normals.iter_mut().enumerate() {
        let weighted = weighted(influences, &parts, point_of_normal(skin, i));
        *n = Blend::new(&weighted).rotate(scaled(&weighted, has_scale, bind * *n));
    }
}

fn weighted(influences: &JointInfluences, parts: &[Parts], point: usize) -> Vec<(Parts, f64)> {
    influences
        .of_point(point)
        .map(|(joint, weight)| (parts[joint as usize], f64::from(weight)))
        .collect()
}

/// Transforms vectors at points of the skin, such as tangents, by the linear part (the derivative)
/// of the transform that moves the point, and by `out_from_skel`. Blend shapes do not change
/// vectors. Results have unit length, or are zero.
///
/// `vectors` are pairs of a point's index and a vector in prim space.
///
/// # Errors
/// As [`deform`]; a point that the skin does not have.
pub fn carry(skin: &Skin, pose: &Pose, vectors: &[(usize, DVec3)]) -> Result<Vec<DVec3>, Invalid> {
    check(skin, pose)?;
    let count = skin.points().len();
    if let Some((point, _)) = vectors.iter().find(|(point, _)| *point >= count) {
        let expected = format!("points below {count}");
        return Err(Invalid::new("pose", "points", expected, point.to_string()));
    }
    let Some((influences, joints)) = posed(skin, pose) else {
        return Ok(vectors.iter().map(|(_, v)| normalized(*v)).collect());
    };
    let parts: Vec<Parts> = joints.iter().map(|m| Parts::of_points(*m)).collect();
    let has_scale = parts.iter().any(Parts::has_scale);
    let carried = vectors.iter().map(|(point, v)| {
        let bound = pose.geom_bind.transform_vector3(*v);
        let turned: DVec3 = match skin.method() {
            SkinningMethod::ClassicLinear => influences
                .of_point(*point)
                .map(|(j, w)| joints[j as usize].transform_vector3(bound) * f64::from(w))
                .sum(),
            SkinningMethod::DualQuaternion => {
                let weighted = weighted(influences, &parts, *point);
                // The transform is affine, so a difference of two points gives its derivative.
                let moved = |p| Blend::new(&weighted).transform(scaled(&weighted, has_scale, p));
                moved(bound) - moved(DVec3::ZERO)
            }
        };
        normalized(pose.out_from_skel.transform_vector3(turned))
    });
    Ok(carried.collect())
}

/// Computes smooth normals of points. Each corner of each face that is not a hole adds the cross
/// product of its edges to the normal of its point. The sum is normalised; it may be zero.
///
/// # Errors
/// A topology that refers to more points.
pub fn smooth_normals(topology: &MeshTopology, points: &[DVec3]) -> Result<Vec<DVec3>, Invalid> {
    let mut corners = topology.corner_points().iter();
    if let Some(point) = corners.find(|p| **p as usize >= points.len()) {
        let expected = format!("corners of {} points", points.len());
        let found = point.to_string();
        return Err(Invalid::new("mesh", "points", expected, found));
    }
    let mut sums = vec![DVec3::ZERO; points.len()];
    let drawn = |face: &usize| topology.holes().binary_search(&(*face as u32)).is_err();
    for face in (0..topology.face_count()).filter(drawn) {
        let corners = &topology.corner_points()[topology.corners(face)];
        let at = |corner: usize| points[corners[corner % corners.len()] as usize];
        for i in 0..corners.len() {
            let (p, next, previous) = (at(i), at(i + 1), at(i + corners.len() - 1));
            let normal = (next - p).cross(previous - p);
            let sign = if topology.is_left_handed() { -1.0 } else { 1.0 };
            sums[corners[i] as usize] += sign * normal;
        }
    }
    Ok(sums.into_iter().map(DVec3::normalize_or_zero).collect())
}

/// Points and normals for which rounding may decide the result of dual quaternion skinning: see
/// [`hemisphere_ties`].
#[derive(Clone, Debug, PartialEq)]
pub struct HemisphereTies {
    /// One flag per point of the skin.
    pub points: Vec<bool>,
    /// One flag per normal of the skin.
    pub normals: Vec<bool>,
}

/// Finds the points and normals for which rounding may decide the result of dual quaternion
/// skinning. There, some joint is within `tolerance` of half a turn from the joint of the largest
/// weight: the dot product of their unit quaternions is nearly zero, so both directions of rotation
/// are equally long. Leave them out when you compare implementations. A skin with another method
/// has none.
///
/// # Errors
/// As [`deform`].
pub fn hemisphere_ties(
    skin: &Skin,
    pose: &Pose,
    tolerance: f64,
) -> Result<HemisphereTies, Invalid> {
    check(skin, pose)?;
    let mut ties = HemisphereTies {
        points: vec![false; skin.points().len()],
        normals: vec![false; skin.normal_count()],
    };
    let Some((influences, joints)) = posed(skin, pose) else {
        return Ok(ties);
    };
    if skin.method() != SkinningMethod::DualQuaternion {
        return Ok(ties);
    }
    let is_tie = |parts: &[Parts], point: usize| {
        let weighted = weighted(influences, parts, point);
        let pivot = dual_quaternion::pivot(&weighted);
        weighted.iter().any(|(joint, weight)| {
            let lengths = joint.real.length() * pivot.length();
            *weight != 0.0 && lengths > 0.0 && joint.real.dot(pivot).abs() < tolerance * lengths
        })
    };
    let parts: Vec<Parts> = joints.iter().map(|m| Parts::of_points(*m)).collect();
    for (i, tie) in ties.points.iter_mut().enumerate() {
        *tie = is_tie(&parts, i);
    }
    let parts: Vec<Parts> = joints.iter().map(|m| Parts::of_normals(*m)).collect();
    for (i, tie) in ties.normals.iter_mut().enumerate() {
        *tie = is_tie(&parts, point_of_normal(skin, i));
    }
    Ok(ties)
}

/// `GfVec3f::Normalize`. A vector shorter than 1e-10 is divided by 1e-10.
fn normalized(n: DVec3) -> DVec3 {
    n / n.length().max(1e-10)
}

fn blend(skin: &Skin, pose: &Pose, points: &mut [DVec3], mut normals: Option<&mut [DVec3]>) {
    for (channel, shape) in skin.shapes().iter().enumerate() {
        let Some(shape) = shape else { continue };
        let weights = shape.sub_shape_weights(f64::from(pose.channel_weights[channel]));
        for (sub, weight) in shape.sub_shapes().iter().zip(weights) {
            if weight == 0.0 {
                continue;
            }
            for (entry, offset) in sub.offsets.iter().enumerate() {
                points[shape.point_of(entry)] += offset.as_dvec3() * weight;
            }
            // faceVarying normals do not blend (rule 19).
            let normals = normals.as_deref_mut().filter(|_| skin.blends_normals());
            if let (Some(normals), Some(offsets)) = (normals, &sub.normal_offsets) {
                for (entry, offset) in offsets.iter().enumerate() {
                    normals[shape.point_of(entry)] += offset.as_dvec3() * weight;
                }
            }
        }
    }
    // Rule 19: if any bound shape has normal offsets, every normal is normalised.
    if let (Some(normals), true) = (normals, skin.blends_normals()) {
        for n in normals {
            *n = normalized(*n);
        }
    }
}
