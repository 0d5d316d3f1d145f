//! The oracle: f64 skinning straight from the definitions, over the unpacked model.
//!
//! Slow and plain on purpose. It shares no code with the packed kernels, so that a comparison with
//! them proves something.

use glam::{DMat3, DMat4, DVec3};

use super::{Pose, Skin};

/// Deformed points and normals.
#[derive(Clone, Debug, PartialEq)]
pub struct Deformed {
    pub points: Vec<DVec3>,
    pub normals: Option<Vec<DVec3>>,
}

/// Blends, then skins, then leaves skeleton space (rules 15 to 23, 30).
///
/// # Panics
/// Where the pose was made for another skin (fewer joints or weights).
#[must_use]
pub fn deform(skin: &Skin, pose: &Pose) -> Deformed {
    let mut points: Vec<DVec3> = skin.points().iter().map(|p| p.as_dvec3()).collect();
    let mut normals: Option<Vec<DVec3>> = skin
        .normals()
        .map(|n| n.iter().map(|n| n.as_dvec3()).collect());
    blend(skin, pose, &mut points, normals.as_deref_mut());

    let (Some(influences), Some(skinning)) = (skin.influences(), &pose.skinning) else {
        return Deformed { points, normals };
    };
    let joint = |j: u32| {
        skin.skeleton_joint(j)
            .map_or(DMat4::IDENTITY, |j| skinning[j as usize])
    };
    let normal = |m: DMat4| -> DMat3 { crate::math::normal_matrix(m) };

    for (i, p) in points.iter_mut().enumerate() {
        let bound = pose.geom_bind.transform_point3(*p);
        let skinned: DVec3 = influences
            .of_point(i)
            .map(|(j, w)| joint(j).transform_point3(bound) * f64::from(w))
            .sum();
        *p = pose.out_from_skel.transform_point3(skinned);
    }
    if let Some(normals) = &mut normals {
        for (i, n) in normals.iter_mut().enumerate() {
            let bound = normal(pose.geom_bind) * *n;
            let skinned: DVec3 = influences
                .of_point(i)
                .map(|(j, w)| normal(joint(j)) * bound * f64::from(w))
                .sum();
            // Rule 23: normalised in skeleton space, and not again on the way out of it.
            *n = normal(pose.out_from_skel) * skinned.normalize_or_zero();
        }
    }
    Deformed { points, normals }
}

fn blend(skin: &Skin, pose: &Pose, points: &mut [DVec3], mut normals: Option<&mut [DVec3]>) {
    for (slot, shape) in skin.shapes().iter().enumerate() {
        let Some(shape) = shape else { continue };
        let weights = shape.sub_shape_weights(f64::from(pose.channel_weights[slot]));
        for (sub, weight) in shape.sub_shapes().iter().zip(weights) {
            if weight == 0.0 {
                continue;
            }
            for (entry, offset) in sub.offsets.iter().enumerate() {
                points[shape.point_of(entry)] += offset.as_dvec3() * weight;
            }
            if let (Some(normals), Some(offsets)) = (normals.as_deref_mut(), &sub.normal_offsets) {
                for (entry, offset) in offsets.iter().enumerate() {
                    normals[shape.point_of(entry)] += offset.as_dvec3() * weight;
                }
            }
        }
    }
    // Rule 19: once a bound shape has normal offsets every normal is normalised, touched or not.
    if let (Some(normals), true) = (normals, skin.blends_normals()) {
        for n in normals {
            *n = n.normalize_or_zero();
        }
    }
}
