//! The names that common tools give to the human bones, for reports.
//!
//! Recognition does not depend on them: see [`super::Humanoid::recognise`].

use std::fmt;

/// A naming convention of human bones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Convention {
    /// Adobe Mixamo.
    Mixamo,
    /// VRoid Studio.
    VRoid,
    /// Character Creator and AccuRig of Reallusion.
    CharacterCreator,
    /// MikuMikuDance, in Japanese.
    Mmd,
    /// Biped of 3ds Max.
    Biped,
    /// ARKit's body.
    ArKit,
    /// Genesis 8 of DAZ.
    DazGenesis8,
    /// Genesis 9 of DAZ.
    DazGenesis9,
    /// Poser, and the older figures of DAZ.
    Poser,
    /// SMPL-X, a body with hands and face.
    SmplX,
    /// SMPL.
    Smpl,
    /// Xsens MVN, as BVH or FBX.
    Xsens,
    /// Rokoko Studio.
    Rokoko,
    /// The motion capture of Carnegie Mellon University, as Acclaim skeletons.
    CmuAcclaim,
    /// The motion capture of Carnegie Mellon University, as BVH.
    CmuBvh,
    /// BVH files with LeftHip, LeftKnee and LeftAnkle.
    HipKneeBvh,
    /// Human3.6M.
    Human36m,
    /// Rigify of Blender.
    Rigify,
    /// Blender's own rigs: hips, spine, chest, `upper_arm.L`, `forearm.L`, `shin.L`.
    Blender,
    /// The humanoid of the VRM Add-on for Blender.
    BlenderVrm,
    /// The mannequins of Unreal Engine 4 and 5.
    Unreal,
    /// Mecanim of Unity.
    Unity,
    /// SkeletonProfileHumanoid of Godot.
    Godot,
    /// The names in VRM 1.0 and EXT_skeleton_humanoid files.
    Humanoid,
    /// Ready Player Me.
    ReadyPlayerMe,
    /// HumanIK of Maya and MotionBuilder.
    HumanIk,
}

use Convention::*;

/// What the names of each convention contain, in lower case and without separators. All the marks
/// of a row have to be there; the first row that fits is used.
const MARKS: &[(Convention, &[&str])] = &[
    (Mixamo, &["mixamorig"]),
    (VRoid, &["jbipchips"]),
    (CharacterCreator, &["ccbase"]),
    (Mmd, &["上半身"]),
    (ArKit, &["leftuplegjoint"]),
    (Biped, &["lcalf", "lclavicle", "lforearm"]),
    (DazGenesis8, &["lthighbend", "lshldrbend"]),
    (
        DazGenesis9,
        &["lupperarm", "lforearm", "lshin", "lmetatarsals"],
    ),
    (Poser, &["lshldr", "lforearm", "lshin"]),
    (SmplX, &["collar", "ankle", "elbow", "spine3", "index1"]),
    (Smpl, &["collar", "ankle", "elbow", "spine3"]),
    (Xsens, &["leftcollar", "leftankle", "chest4"]),
    (Xsens, &["t12", "t8", "l5", "leftlowerleg"]),
    (Rokoko, &["leftthigh", "leftshin", "leftforearm"]),
    (CmuAcclaim, &["lfemur", "ltibia", "lhumerus"]),
    (CmuBvh, &["lhipjoint", "leftupleg"]),
    (HipKneeBvh, &["lefthip", "leftknee", "leftankle"]),
    (Human36m, &["lhip", "lknee", "thorax"]),
    (Rigify, &["spine001", "forearm", "shin"]),
    (Blender, &["hips", "upperarml", "forearml", "shinl"]),
    (BlenderVrm, &["hips", "lowerarml", "lowerlegl"]),
    (
        Unreal,
        &["pelvis", "spine01", "clavicle", "lowerarm", "calf"],
    ),
    (Unity, &["leftlowerarm", "leftthumbintermediate"]),
    (Humanoid, &["leftlowerarm", "lowerleg"]),
    (ReadyPlayerMe, &["lefteye", "leftforearm", "leftupleg"]),
    (HumanIk, &["leftforearm", "leftupleg"]),
];

impl Convention {
    /// The convention that the names of a rig's joints follow.
    pub(super) fn of(names: &[String]) -> Option<Self> {
        let keys: Vec<String> = names.iter().map(|n| normalise(n)).collect();
        let has = |mark: &&str| keys.iter().any(|k| k.contains(mark));
        let row = MARKS.iter().find(|(_, marks)| marks.iter().all(has));
        match row?.0 {
            // These differ in the case of the first letter alone.
            Humanoid if names.iter().any(|n| n.contains("LeftLowerArm")) => Some(Godot),
            found => Some(found),
        }
    }

    /// The name of the tool, such as `Mixamo`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mixamo => "Mixamo",
            VRoid => "VRoid",
            CharacterCreator => "Character Creator",
            Mmd => "MikuMikuDance",
            Biped => "3ds Max Biped",
            ArKit => "ARKit",
            DazGenesis8 => "DAZ Genesis 8",
            DazGenesis9 => "DAZ Genesis 9",
            Poser => "Poser",
            SmplX => "SMPL-X",
            Smpl => "SMPL",
            Xsens => "Xsens",
            Rokoko => "Rokoko",
            CmuAcclaim => "CMU (Acclaim)",
            CmuBvh => "CMU (BVH)",
            HipKneeBvh => "BVH (hip, knee, ankle)",
            Human36m => "Human3.6M",
            Rigify => "Rigify",
            Blender => "Blender",
            BlenderVrm => "VRM Add-on for Blender",
            Unreal => "Unreal",
            Unity => "Unity",
            Godot => "Godot",
            Humanoid => "VRM/EXT humanoid",
            ReadyPlayerMe => "Ready Player Me",
            HumanIk => "HumanIK",
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name in lower case, with only letters and digits. The namespace stays: it may be the mark.
fn normalise(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
