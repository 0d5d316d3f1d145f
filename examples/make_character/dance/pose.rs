//! Joints' local transforms, and what they come to along the skeleton.

use glam::{Mat4, Quat, Vec3};

use crate::rig::Rig;

#[derive(Clone, Copy)]
pub struct Pose {
    pub translation: Vec3,
    pub rotation: Quat,
    pub scale: Vec3,
}

pub fn rest(rig: &Rig) -> Vec<Pose> {
    (0..rig.joints.len())
        .map(|i| Pose {
            translation: rig.local(i),
            rotation: Quat::IDENTITY,
            scale: Vec3::ONE,
        })
        .collect()
}

/// Joints to skeleton space.
pub fn world(rig: &Rig, poses: &[Pose]) -> Vec<Mat4> {
    let mut out: Vec<Mat4> = Vec::with_capacity(poses.len());
    for (joint, p) in rig.joints.iter().zip(poses) {
        let local = Mat4::from_scale_rotation_translation(p.scale, p.rotation, p.translation);
        out.push(joint.parent.map_or(local, |parent| out[parent] * local));
    }
    out
}

/// From the bind pose to this one.
pub fn skinning(rig: &Rig, poses: &[Pose]) -> Vec<Mat4> {
    world(rig, poses)
        .iter()
        .zip(&rig.joints)
        .map(|(world, joint)| *world * Mat4::from_translation(-joint.at))
        .collect()
}
