//! The puppet's skeleton: human bones in the reference pose of EXT_skeleton_humanoid.

use glam::{Mat3, Mat4, Quat, Vec3};

/// A joint: its place, its direction and the radius of its limb.
pub struct Joint {
    /// The name of its human bone, and its own.
    pub bone: &'static str,
    pub parent: Option<usize>,
    /// Metres. Y is up, the puppet faces +Z, its left is +X.
    pub head: Vec3,
    /// The end of its limb.
    pub tail: Vec3,
    /// world_from_joint without its translation. +Y points to the tail; the limb contracts about
    /// +X.
    pub rotation: Quat,
    pub radius: f32,
}

impl Joint {
    pub fn world(&self) -> Mat4 {
        Mat4::from_rotation_translation(self.rotation, self.head)
    }
}

/// Name, parent, head, tail, the direction in which the limb bends, radius. Of a pair this is the
/// left joint; the right one mirrors it.
type Row = (&'static str, &'static str, [f32; 3], [f32; 3], Vec3, f32);

const ROWS: &[Row] = &[
    (
        "hips",
        "",
        [0.0, 0.95, 0.0],
        [0.0, 1.06, 0.0],
        Vec3::Z,
        0.13,
    ),
    (
        "spine",
        "hips",
        [0.0, 1.06, 0.0],
        [0.0, 1.2, 0.0],
        Vec3::Z,
        0.115,
    ),
    (
        "chest",
        "spine",
        [0.0, 1.2, 0.0],
        [0.0, 1.42, 0.0],
        Vec3::Z,
        0.14,
    ),
    (
        "neck",
        "chest",
        [0.0, 1.45, 0.0],
        [0.0, 1.55, 0.0],
        Vec3::Z,
        0.05,
    ),
    (
        "head",
        "neck",
        [0.0, 1.55, 0.0],
        [0.0, 1.76, 0.0],
        Vec3::Z,
        0.115,
    ),
    (
        "Shoulder",
        "chest",
        [0.03, 1.42, 0.0],
        [0.17, 1.42, 0.0],
        Vec3::Z,
        0.055,
    ),
    (
        "UpperArm",
        "Shoulder",
        [0.17, 1.42, 0.0],
        [0.44, 1.42, 0.0],
        Vec3::Z,
        0.05,
    ),
    (
        "LowerArm",
        "UpperArm",
        [0.44, 1.42, 0.0],
        [0.7, 1.42, 0.0],
        Vec3::Z,
        0.042,
    ),
    (
        "Hand",
        "LowerArm",
        [0.7, 1.42, 0.0],
        [0.86, 1.42, 0.0],
        Vec3::NEG_Y,
        0.038,
    ),
    (
        "UpperLeg",
        "hips",
        [0.1, 0.93, 0.0],
        [0.1, 0.51, 0.0],
        Vec3::Z,
        0.078,
    ),
    (
        "LowerLeg",
        "UpperLeg",
        [0.1, 0.51, 0.0],
        [0.1, 0.09, 0.0],
        Vec3::NEG_Z,
        0.058,
    ),
    (
        "Foot",
        "LowerLeg",
        [0.1, 0.09, 0.0],
        [0.1, 0.04, 0.14],
        Vec3::Y,
        0.045,
    ),
    (
        "Toes",
        "Foot",
        [0.1, 0.04, 0.14],
        [0.1, 0.04, 0.21],
        Vec3::Y,
        0.04,
    ),
];

/// Names of the bones that exist on both sides.
const SIDED: &[(&str, [&str; 2])] = &[
    ("Shoulder", ["leftShoulder", "rightShoulder"]),
    ("UpperArm", ["leftUpperArm", "rightUpperArm"]),
    ("LowerArm", ["leftLowerArm", "rightLowerArm"]),
    ("Hand", ["leftHand", "rightHand"]),
    ("UpperLeg", ["leftUpperLeg", "rightUpperLeg"]),
    ("LowerLeg", ["leftLowerLeg", "rightLowerLeg"]),
    ("Foot", ["leftFoot", "rightFoot"]),
    ("Toes", ["leftToes", "rightToes"]),
];

fn sided(name: &'static str, side: usize) -> &'static str {
    let row = SIDED.iter().find(|(n, _)| *n == name);
    row.map_or(name, |(_, names)| names[side])
}

/// Every joint, parents first.
pub fn joints() -> Vec<Joint> {
    let mut out: Vec<Joint> = Vec::new();
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        let mirror = Vec3::new(sign, 1.0, 1.0);
        for (name, parent, head, tail, bends, radius) in ROWS {
            let bone = sided(name, side);
            // A bone in the middle exists once.
            if side == 1 && bone == *name {
                continue;
            }
            let (head, tail) = (Vec3::from(*head) * mirror, Vec3::from(*tail) * mirror);
            let y = (tail - head).normalize();
            let x = y.cross(*bends).normalize();
            let parent = sided(parent, side);
            out.push(Joint {
                bone,
                parent: out.iter().position(|j| j.bone == parent),
                head,
                tail,
                rotation: Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y))),
                radius: *radius,
            });
        }
    }
    out
}
