//! The dictionary: what the words in joints' names mean.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A part of the body that a name may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Hips,
    Spine,
    Neck,
    Head,
    Jaw,
    Eye,
    /// Shoulder, upper arm, lower arm, hand.
    Arm(usize),
    /// Upper leg, lower leg, foot, toes.
    Leg(usize),
    /// A finger, from thumb (0) to little finger; `None` if the name does not say which.
    Finger(Option<usize>),
}

/// The part of a finger that a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Metacarpal,
    Proximal,
    Intermediate,
    Distal,
}

/// What a word means.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    Roles(&'static [(Role, f64)]),
    Side(Side),
    /// A helper joint, or a part of a character that is no human bone.
    Helper,
    /// Nothing.
    Noise,
    Segment(Segment),
}

use Meaning::{Helper, Noise, Roles};
use Role::{Arm, Eye, Finger, Head, Hips, Jaw, Leg, Neck, Spine};

/// Words of ASCII letters in lower case, and Japanese words. Words of the body that consist of
/// several ones are written together.
const DICTIONARY: &[(&[&str], Meaning)] = &[
    (&["left", "lft", "左"], Meaning::Side(Side::Left)),
    (&["right", "rgt", "右"], Meaning::Side(Side::Right)),
    // The trunk.
    (&["hips", "pelvis"], Roles(&[(Hips, 1.0)])),
    (&["腰"], Roles(&[(Hips, 0.9)])),
    (&["groove", "グルーブ"], Roles(&[(Hips, 0.6)])),
    (&["center", "centre", "センター"], Roles(&[(Hips, 0.5)])),
    (&["lowerbody", "下半身", "cog"], Roles(&[(Hips, 0.4)])),
    (
        &[
            "spine",
            "chest",
            "upperchest",
            "thorax",
            "ribcage",
            "upperbody",
            "abdomen",
            "lowerback",
            "upperback",
            "上半身",
        ],
        Roles(&[(Spine, 1.0)]),
    ),
    (
        &["torso", "trunk", "waist"],
        Roles(&[(Spine, 0.8), (Hips, 0.3)]),
    ),
    (
        &["back", "belly", "stomach", "lumbar"],
        Roles(&[(Spine, 0.7)]),
    ),
    (&["neck", "cervical", "首"], Roles(&[(Neck, 1.0)])),
    (&["head", "頭"], Roles(&[(Head, 1.0)])),
    (&["skull"], Roles(&[(Head, 0.6)])),
    (&["jaw", "mandible", "顎", "あご"], Roles(&[(Jaw, 1.0)])),
    (&["eye", "目"], Roles(&[(Eye, 1.0)])),
    // Arms.
    (
        &["clavicle", "clav", "collar", "collarbone", "肩"],
        Roles(&[(Arm(0), 1.0)]),
    ),
    (&["scapula"], Roles(&[(Arm(0), 0.8)])),
    (&["shoulder"], Roles(&[(Arm(0), 0.9), (Arm(1), 0.85)])),
    (&["shldr"], Roles(&[(Arm(1), 0.9), (Arm(0), 0.5)])),
    (
        &["upperarm", "uparm", "armupper", "humerus", "bicep", "腕"],
        Roles(&[(Arm(1), 1.0)]),
    ),
    (
        &["arm"],
        Roles(&[(Arm(1), 0.9), (Arm(2), 0.7), (Arm(3), 0.4), (Arm(0), 0.3)]),
    ),
    (
        &[
            "forearm", "lowerarm", "lowarm", "loarm", "armlower", "elbow", "radius", "ulna",
            "ひじ", "ヒジ", "肘",
        ],
        Roles(&[(Arm(2), 1.0)]),
    ),
    (&["hand", "wrist", "手首"], Roles(&[(Arm(3), 1.0)])),
    (&["手"], Roles(&[(Arm(3), 0.5)])),
    // Legs. A hip with a side is one: see `roles`.
    (&["hip"], Roles(&[(Hips, 0.9), (Leg(0), 0.7)])),
    (&["hipjoint"], Roles(&[(Leg(0), 0.3), (Hips, 0.9)])),
    (&["buttock"], Roles(&[(Leg(0), 0.2)])),
    (
        &["thigh", "upleg", "upperleg", "legupper", "femur"],
        Roles(&[(Leg(0), 1.0)]),
    ),
    (&["足"], Roles(&[(Leg(0), 0.9)])),
    (
        &["leg"],
        Roles(&[(Leg(0), 0.8), (Leg(1), 0.8), (Leg(2), 0.45), (Leg(3), 0.3)]),
    ),
    (
        &[
            "calf", "shin", "knee", "lowerleg", "lowleg", "loleg", "leglower", "tibia", "ひざ",
            "ヒザ", "膝",
        ],
        Roles(&[(Leg(1), 1.0)]),
    ),
    (&["ankle", "足首"], Roles(&[(Leg(2), 1.0)])),
    (&["foot"], Roles(&[(Leg(2), 1.0), (Leg(3), 0.5)])),
    (
        &["toe", "toes", "toebase", "ball", "つま先", "爪先", "足先"],
        Roles(&[(Leg(3), 1.0)]),
    ),
    (&["metatarsal", "metatarsals"], Roles(&[(Leg(3), 0.2)])),
    (&["bigtoe", "smalltoe"], Roles(&[(Leg(3), 0.1)])),
    // Fingers.
    (
        &["finger", "fingers", "digit"],
        Roles(&[(Finger(None), 1.0)]),
    ),
    (
        &["thumb", "親指", "おやゆび"],
        Roles(&[(Finger(Some(0)), 1.0)]),
    ),
    (
        &[
            "index",
            "pointer",
            "forefinger",
            "人指",
            "人差指",
            "人差し指",
            "ひとさしゆび",
        ],
        Roles(&[(Finger(Some(1)), 1.0)]),
    ),
    // A lower arm above the hand, and an index finger below it.
    (&["fore"], Roles(&[(Arm(2), 0.6), (Finger(Some(1)), 0.5)])),
    (
        &["middle", "mid", "中指", "なかゆび"],
        Roles(&[(Finger(Some(2)), 1.0)]),
    ),
    (
        &["ring", "third", "薬指", "くすりゆび"],
        Roles(&[(Finger(Some(3)), 1.0)]),
    ),
    (
        &["little", "pinky", "pinkie", "小指", "こゆび"],
        Roles(&[(Finger(Some(4)), 1.0)]),
    ),
    (
        &["metacarpal", "meta", "carpal", "palm", "start", "inhand"],
        Meaning::Segment(Segment::Metacarpal),
    ),
    (&["proximal"], Meaning::Segment(Segment::Proximal)),
    (
        &["intermediate", "medial"],
        Meaning::Segment(Segment::Intermediate),
    ),
    (&["distal"], Meaning::Segment(Segment::Distal)),
    // Ends, twists, controls.
    (
        &[
            "end",
            "nub",
            "tip",
            "site",
            "top",
            "leaf",
            "twist",
            "roll",
            "捩",
            "捻",
            "ik",
            "fk",
            "ctrl",
            "ctl",
            "control",
            "controller",
            "pole",
            "target",
            "goal",
            "effector",
            "mch",
            "org",
            "tweak",
            "helper",
            "dummy",
            "ダミー",
            "キャンセル",
            "corrective",
            "correction",
            "extra",
            "half",
            "bulge",
            "muscle",
            "constraint",
            "aux",
            "parent",
            "attach",
            "slot",
            "handslot",
            "socket",
            "weapon",
            "prop",
            "gun",
            "grip",
            "holder",
            "horselink",
            // Bitmoji's joints against the scale of the joint above.
            "ssc",
            "part",
            "heel",
        ],
        Helper,
    ),
    // Parts that are no human bones.
    (
        &[
            "hair",
            "ponytail",
            "髪",
            "skirt",
            "スカート",
            "cloth",
            "cape",
            "sleeve",
            "袖",
            "tail",
            "wing",
            "ear",
            "耳",
            "breast",
            "bust",
            "pectoral",
            "boob",
            "胸",
            "butt",
            "glute",
            "nipple",
            "lid",
            "eyelid",
            "eyeball",
            "brow",
            "eyebrow",
            "眉",
            "lash",
            "cheek",
            "lip",
            "mouth",
            "tongue",
            "舌",
            "teeth",
            "tooth",
            "nose",
            "nostril",
            "chin",
            "両目",
            "squint",
            "bag",
            "belt",
            "hat",
            "armpit",
            "kneecap",
            "ribs",
            "rib",
        ],
        Helper,
    ),
    (
        &[
            "joint",
            "jnt",
            "bone",
            "bip",
            "bip01",
            "root",
            "base",
            "bind",
            "skin",
            "rig",
            "skeleton",
            "skel",
            "mixamorig",
            "character",
            "armature",
            "def",
            "deform",
            "main",
            "bend",
            "stretch",
            "upper",
            "lower",
            "up",
            "low",
            "rear",
            "face",
            "adj",
            "human",
            "body",
            "mesh",
            "smplhf",
        ],
        Noise,
    ),
];

/// The dictionary by word.
pub(super) static MEANINGS: LazyLock<HashMap<&str, Meaning>> = LazyLock::new(|| {
    let rows = DICTIONARY.iter();
    rows.flat_map(|(words, meaning)| words.iter().map(|w| (*w, *meaning)))
        .collect()
});

/// Length of the longest word of the dictionary in characters.
pub(super) const LONGEST: usize = 12;

/// Words of two letters that may be parts of a longer word.
pub(super) const SHORT: [&str; 2] = ["up", "ik"];
