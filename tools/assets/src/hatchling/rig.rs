//! The hatchling's skeleton: its joints and where they are in the bind pose.

use glam::{Vec3, vec3};

/// A side of the body. The body is modelled on its left; the right mirrors it.
#[derive(Clone, Copy)]
pub struct Side {
    letter: &'static str,
    /// 1, or -1 if x is mirrored.
    pub sign: f32,
}

pub const SIDES: [Side; 2] = [
    Side {
        letter: "L",
        sign: 1.0,
    },
    Side {
        letter: "R",
        sign: -1.0,
    },
];

/// Neither side: for parts that exist once.
pub const MIDDLE: Side = Side {
    letter: "",
    sign: 1.0,
};

impl Side {
    /// The name, with the letter of the side in place of `*`.
    pub fn name(self, pattern: &str) -> String {
        pattern.replace('*', self.letter)
    }

    /// The place `v`, mirrored to this side.
    pub fn place(self, v: Vec3) -> Vec3 {
        v * vec3(self.sign, 1.0, 1.0)
    }
}

pub struct Joint {
    /// The joint's path as UsdSkel writes it: the names of its ancestors, then its own.
    pub path: String,
    pub parent: Option<usize>,
    pub at: Vec3,
}

pub struct Rig {
    /// Parents before their children.
    pub joints: Vec<Joint>,
}

impl Rig {
    fn add(&mut self, parent: Option<&str>, name: &str, at: Vec3) {
        let parent = parent.map(|p| self.find(p));
        let path = parent.map_or(name.into(), |p| format!("{}/{name}", self.joints[p].path));
        self.joints.push(Joint { path, parent, at });
    }

    pub fn find(&self, name: &str) -> usize {
        self.joints
            .iter()
            .position(|j| j.path.rsplit('/').next() == Some(name))
            .unwrap_or_else(|| panic!("no joint {name}"))
    }

    pub fn place(&self, name: &str) -> Vec3 {
        self.joints[self.find(name)].at
    }

    /// The rest translation of joint `i`. Bind transforms only translate, so a local rotation turns
    /// about the axes of the world.
    pub fn local(&self, i: usize) -> Vec3 {
        let joint = &self.joints[i];
        joint.at - joint.parent.map_or(Vec3::ZERO, |p| self.joints[p].at)
    }
}

// The flesh is modelled around the joints where it bends, so rig and surface share these places.

/// The eyes are so high that no eyeball shows inside the open mouth.
pub const EYE: Vec3 = vec3(0.2, 1.755, 0.305);
pub const EAR_FOLD: Vec3 = vec3(0.53, 1.96, -0.12);
pub const ELBOW: Vec3 = vec3(0.5, 0.9, 0.12);
pub const WRIST: Vec3 = vec3(0.68, 0.84, 0.22);
pub const HIP: Vec3 = vec3(0.22, 0.52, 0.04);
pub const KNEE: Vec3 = vec3(0.27, 0.3, 0.12);
/// The leading edge of the wing. The last place is the tip, which is not a joint.
pub const WING: [Vec3; 4] = [
    vec3(0.13, 1.1, -0.2),
    vec3(0.48, 1.44, -0.42),
    vec3(0.86, 1.5, -0.56),
    vec3(1.22, 1.22, -0.62),
];
/// The tail, from the hips back. The last place is the tip, which is not a joint.
pub const TAIL: [Vec3; 7] = [
    vec3(0.0, 0.52, -0.26),
    vec3(0.0, 0.37, -0.52),
    vec3(0.0, 0.29, -0.77),
    vec3(0.0, 0.31, -1.01),
    vec3(0.0, 0.43, -1.21),
    vec3(0.0, 0.61, -1.33),
    vec3(0.0, 0.82, -1.36),
];
pub const TAIL_JOINTS: usize = TAIL.len() - 1;

/// The name of joint `i` of the tail, counted from 1.
pub fn tail(i: usize) -> String {
    format!("tail{i}")
}

pub fn hatchling() -> Rig {
    let mut rig = Rig { joints: Vec::new() };
    rig.add(None, "root", Vec3::ZERO);
    for (parent, name, at) in [
        ("root", "hips", vec3(0.0, 0.56, 0.0)),
        ("hips", "spine", vec3(0.0, 0.74, 0.0)),
        ("spine", "chest", vec3(0.0, 0.98, 0.0)),
        ("chest", "neck", vec3(0.0, 1.18, 0.02)),
        ("neck", "head", vec3(0.0, 1.36, 0.04)),
        ("head", "jaw", vec3(0.0, 1.44, 0.2)),
    ] {
        rig.add(Some(parent), name, at);
    }
    for side in SIDES {
        for (parent, name, at) in [
            ("head", "eye*", EYE),
            ("head", "ear*", vec3(0.34, 1.78, -0.04)),
            ("ear*", "earTip*", EAR_FOLD),
            ("chest", "arm*", vec3(0.28, 1.02, 0.06)),
            ("arm*", "fore*", ELBOW),
            ("fore*", "hand*", WRIST),
            ("hips", "thigh*", HIP),
            ("thigh*", "shin*", KNEE),
            ("shin*", "foot*", vec3(0.28, 0.11, 0.06)),
            ("chest", "wing*", WING[0]),
            ("wing*", "wingMid*", WING[1]),
            ("wingMid*", "wingTip*", WING[2]),
        ] {
            rig.add(Some(&side.name(parent)), &side.name(name), side.place(at));
        }
    }
    let mut parent = "hips".to_owned();
    for (i, at) in (1..=TAIL_JOINTS).zip(TAIL) {
        rig.add(Some(&parent), &tail(i), at);
        parent = tail(i);
    }
    rig
}
