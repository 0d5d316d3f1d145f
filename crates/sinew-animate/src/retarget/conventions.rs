//! The names that common tools give to the human bones.
//!
//! The names are those of Mixamo, VRoid Studio, Unreal's mannequin, Rigify, Ready Player Me,
//! Unity's Mecanim, Godot's SkeletonProfileHumanoid and the VRM Add-on for Blender, from
//! humanoid-bone-maps.json of the project's specification.

use std::fmt;

use super::Bone;
use Bone::*;

/// A naming convention of human bones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// Adobe Mixamo.
    Mixamo,
    /// Ready Player Me.
    ReadyPlayerMe,
    /// VRoid Studio.
    VRoid,
    /// The mannequin of Unreal Engine.
    Unreal,
    /// Rigify of Blender.
    Rigify,
    /// Mecanim of Unity.
    Unity,
    /// SkeletonProfileHumanoid of Godot.
    Godot,
    /// The names in VRM 1.0 and EXT_skeleton_humanoid files.
    Humanoid,
    /// The humanoid of the VRM Add-on for Blender.
    BlenderVrm,
}

impl Convention {
    /// All conventions. If two fit equally well, the earlier one is used.
    pub const ALL: [Self; 9] = [
        Self::Mixamo,
        Self::ReadyPlayerMe,
        Self::VRoid,
        Self::Unreal,
        Self::Rigify,
        Self::Unity,
        Self::Godot,
        Self::Humanoid,
        Self::BlenderVrm,
    ];

    /// The name of the tool, such as `Mixamo`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixamo => "Mixamo",
            Self::ReadyPlayerMe => "Ready Player Me",
            Self::VRoid => "VRoid",
            Self::Unreal => "Unreal",
            Self::Rigify => "Rigify",
            Self::Unity => "Unity",
            Self::Godot => "Godot",
            Self::Humanoid => "VRM/EXT humanoid",
            Self::BlenderVrm => "VRM Add-on for Blender",
        }
    }

    /// Prefixes that the tool, or a later tool, puts before the names.
    pub(super) fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Mixamo => &["mixamorig"],
            Self::Rigify => &["def", "org"],
            _ => &[],
        }
    }

    /// The name of a bone, spelled as in the tool; `None` if the convention does not have the bone.
    #[must_use]
    pub fn bone_name(self, bone: Bone) -> Option<String> {
        let table = self.table();
        let place = Place::of(bone);
        let pattern = match place.part {
            Part::Trunk(i) => table.trunk[i],
            Part::Eye => table.eye,
            Part::Arm(i) => table.arm[i],
            Part::Leg(i) => table.leg[i],
            Part::Finger(..) => table.finger,
        };
        if pattern.is_empty() {
            return None;
        }
        let side = table.sides[usize::from(place.is_right)];
        let mut name = pattern.replace('#', side);
        if let Part::Finger(finger, segment) = place.part {
            let segments = match finger {
                0 => table.thumb,
                _ => table.segments,
            };
            name = name
                .replace('@', table.fingers[finger])
                .replace('%', segments[segment]);
        }
        Some(name)
    }

    fn table(self) -> &'static Table {
        match self {
            Self::Mixamo => &MIXAMO,
            Self::ReadyPlayerMe => &READY_PLAYER_ME,
            Self::VRoid => &VROID,
            Self::Unreal => &UNREAL,
            Self::Rigify => &RIGIFY,
            Self::Unity => &UNITY,
            Self::Godot => &GODOT,
            Self::Humanoid => &HUMANOID,
            Self::BlenderVrm => &BLENDER_VRM,
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The place of a bone in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub part: Part,
    pub is_right: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Hips, spine, chest, upper chest, neck, head, jaw.
    Trunk(usize),
    Eye,
    /// Shoulder, upper arm, lower arm, hand.
    Arm(usize),
    /// Upper leg, lower leg, foot, toes.
    Leg(usize),
    /// The finger, from thumb to little finger, and the segment, outward from the hand.
    Finger(usize, usize),
}

const TRUNK: [Bone; 7] = [Hips, Spine, Chest, UpperChest, Neck, Head, Jaw];

impl Place {
    pub fn of(bone: Bone) -> Self {
        if let Some(i) = TRUNK.iter().position(|b| *b == bone) {
            return Self {
                part: Part::Trunk(i),
                is_right: false,
            };
        }
        if matches!(bone, LeftEye | RightEye) {
            return Self {
                part: Part::Eye,
                is_right: bone == RightEye,
            };
        }
        // The order of the bones: each arm with its fingers, then each leg.
        let from = |first: Bone| (bone as usize).wrapping_sub(first as usize);
        let starts = [LeftShoulder, RightShoulder, LeftUpperLeg, RightUpperLeg];
        let start = starts.iter().rposition(|s| bone >= *s).unwrap_or(0);
        let i = from(starts[start]);
        let part = match (start, i) {
            (2.., i) => Part::Leg(i),
            (_, 0..4) => Part::Arm(i),
            (_, i) => Part::Finger((i - 4) / 3, (i - 4) % 3),
        };
        Self {
            part,
            is_right: start % 2 == 1,
        }
    }
}

/// Patterns of names, with `#` for the side, `@` for the finger and `%` for its segment. A pattern
/// is empty if the convention does not have the bone.
struct Table {
    sides: [&'static str; 2],
    trunk: [&'static str; 7],
    eye: &'static str,
    arm: [&'static str; 4],
    leg: [&'static str; 4],
    finger: &'static str,
    fingers: [&'static str; 5],
    segments: [&'static str; 3],
    thumb: [&'static str; 3],
}

const LEFT_RIGHT: [&str; 2] = ["Left", "Right"];
const NUMBERED: [&str; 3] = ["1", "2", "3"];
const NUMBERED_01: [&str; 3] = ["01", "02", "03"];
const LITTLE: [&str; 5] = ["Thumb", "Index", "Middle", "Ring", "Little"];
const PINKY: [&str; 5] = ["Thumb", "Index", "Middle", "Ring", "Pinky"];
const SEGMENTS: [&str; 3] = ["Proximal", "Intermediate", "Distal"];
/// The thumb has no intermediate bone; it begins at the metacarpal.
const THUMB: [&str; 3] = ["Metacarpal", "Proximal", "Distal"];

const MIXAMO: Table = Table {
    sides: LEFT_RIGHT,
    trunk: ["Hips", "Spine", "Spine1", "Spine2", "Neck", "Head", ""],
    eye: "",
    arm: ["#Shoulder", "#Arm", "#ForeArm", "#Hand"],
    leg: ["#UpLeg", "#Leg", "#Foot", "#ToeBase"],
    finger: "#Hand@%",
    fingers: PINKY,
    segments: NUMBERED,
    thumb: NUMBERED,
};

const READY_PLAYER_ME: Table = Table {
    eye: "#Eye",
    ..MIXAMO
};

const VROID: Table = Table {
    sides: ["L", "R"],
    trunk: [
        "J_Bip_C_Hips",
        "J_Bip_C_Spine",
        "J_Bip_C_Chest",
        "J_Bip_C_UpperChest",
        "J_Bip_C_Neck",
        "J_Bip_C_Head",
        "",
    ],
    eye: "J_Adj_#_FaceEye",
    arm: [
        "J_Bip_#_Shoulder",
        "J_Bip_#_UpperArm",
        "J_Bip_#_LowerArm",
        "J_Bip_#_Hand",
    ],
    leg: [
        "J_Bip_#_UpperLeg",
        "J_Bip_#_LowerLeg",
        "J_Bip_#_Foot",
        "J_Bip_#_ToeBase",
    ],
    finger: "J_Bip_#_@%",
    fingers: LITTLE,
    segments: NUMBERED,
    thumb: NUMBERED,
};

const UNREAL: Table = Table {
    sides: ["l", "r"],
    trunk: [
        "pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head", "",
    ],
    eye: "",
    arm: ["clavicle_#", "upperarm_#", "lowerarm_#", "hand_#"],
    leg: ["thigh_#", "calf_#", "foot_#", "ball_#"],
    finger: "@_%_#",
    fingers: ["thumb", "index", "middle", "ring", "pinky"],
    segments: NUMBERED_01,
    thumb: NUMBERED_01,
};

const RIGIFY: Table = Table {
    sides: ["L", "R"],
    trunk: [
        "spine",
        "spine.001",
        "spine.002",
        "spine.003",
        "spine.004",
        "spine.006",
        "jaw",
    ],
    eye: "eye.#",
    arm: ["shoulder.#", "upper_arm.#", "forearm.#", "hand.#"],
    leg: ["thigh.#", "shin.#", "foot.#", "toe.#"],
    finger: "@.%.#",
    fingers: ["thumb", "f_index", "f_middle", "f_ring", "f_pinky"],
    segments: NUMBERED_01,
    thumb: NUMBERED_01,
};

/// Mecanim's thumb is one name further out than VRM 1.0's.
const UNITY: Table = Table {
    thumb: SEGMENTS,
    ..GODOT
};

const GODOT: Table = Table {
    sides: LEFT_RIGHT,
    trunk: [
        "Hips",
        "Spine",
        "Chest",
        "UpperChest",
        "Neck",
        "Head",
        "Jaw",
    ],
    eye: "#Eye",
    arm: ["#Shoulder", "#UpperArm", "#LowerArm", "#Hand"],
    leg: ["#UpperLeg", "#LowerLeg", "#Foot", "#Toes"],
    finger: "#@%",
    fingers: LITTLE,
    segments: SEGMENTS,
    thumb: THUMB,
};

const HUMANOID: Table = Table {
    sides: ["left", "right"],
    trunk: [
        "hips",
        "spine",
        "chest",
        "upperChest",
        "neck",
        "head",
        "jaw",
    ],
    ..GODOT
};

const BLENDER_VRM: Table = Table {
    sides: ["L", "R"],
    trunk: [
        "hips",
        "spine",
        "chest",
        "upper_chest",
        "neck",
        "head",
        "jaw",
    ],
    eye: "eye.#",
    arm: ["shoulder.#", "upper_arm.#", "lower_arm.#", "hand.#"],
    leg: ["upper_leg.#", "lower_leg.#", "foot.#", "toes.#"],
    finger: "@.%.#",
    fingers: ["thumb", "index", "middle", "ring", "little"],
    segments: ["proximal", "intermediate", "distal"],
    thumb: ["proximal", "intermediate", "distal"],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bone_has_its_own_place_and_name() {
        for convention in Convention::ALL {
            let names: Vec<_> = Bone::ALL
                .iter()
                .filter_map(|b| convention.bone_name(*b))
                .collect();
            let unique: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!(names.len(), unique.len(), "{convention}");
            assert!(names.len() >= 52, "{convention}: {}", names.len());
            assert!(
                names.iter().all(|n| !n.contains(['#', '@', '%'])),
                "{names:?}"
            );
        }
        // VRM's own names are what the bones are called.
        for bone in Bone::ALL {
            assert_eq!(
                Convention::Humanoid.bone_name(*bone).as_deref(),
                Some(bone.name())
            );
        }
    }

    #[test]
    fn names_as_the_tools_spell_them() {
        let name = |c: Convention, b| c.bone_name(b).unwrap();
        for (convention, bone, want) in [
            (Convention::Mixamo, RightLittleDistal, "RightHandPinky3"),
            (Convention::Mixamo, LeftThumbMetacarpal, "LeftHandThumb1"),
            (Convention::ReadyPlayerMe, LeftEye, "LeftEye"),
            (Convention::VRoid, RightToes, "J_Bip_R_ToeBase"),
            (Convention::VRoid, RightEye, "J_Adj_R_FaceEye"),
            (Convention::Unreal, RightLowerLeg, "calf_r"),
            (Convention::Unreal, LeftRingIntermediate, "ring_02_l"),
            (Convention::Rigify, Head, "spine.006"),
            (Convention::Rigify, LeftMiddleProximal, "f_middle.01.L"),
            (
                Convention::Unity,
                RightThumbMetacarpal,
                "RightThumbProximal",
            ),
            (
                Convention::Godot,
                RightThumbMetacarpal,
                "RightThumbMetacarpal",
            ),
            (Convention::BlenderVrm, LeftHand, "hand.L"),
        ] {
            assert_eq!(name(convention, bone), want);
        }
        assert_eq!(Convention::Mixamo.bone_name(Jaw), None);
    }
}
