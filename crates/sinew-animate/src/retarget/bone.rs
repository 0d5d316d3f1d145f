//! The 55 human bones that VRM 1.0 and EXT_skeleton_humanoid share.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// One row per bone, parents before children: variant, glTF name, nearest bone above.
macro_rules! bones {
    ($($variant:ident $name:literal $(< $parent:ident)?),* $(,)?) => {
        /// A human bone. The order is that of the hierarchy, parents first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum Bone {
            $($variant),*
        }

        impl Bone {
            /// All bones, parents before their children.
            pub const ALL: &'static [Bone] = &[$(Bone::$variant),*];

            /// The name in glTF files, such as `leftUpperArm`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Bone::$variant => $name),*
                }
            }

            /// The parent in the full hierarchy; `None` for the hips. A skeleton may not have this
            /// bone: then its parent there is the first of [`Bone::ancestors`] that the skeleton
            /// has.
            #[must_use]
            pub const fn parent(self) -> Option<Bone> {
                match self {
                    $(Bone::$variant => bones!(@parent $($parent)?)),*
                }
            }
        }
    };
    (@parent) => { None };
    (@parent $parent:ident) => { Some(Bone::$parent) };
}

bones! {
    Hips "hips",
    Spine "spine" < Hips,
    Chest "chest" < Spine,
    UpperChest "upperChest" < Chest,
    Neck "neck" < UpperChest,
    Head "head" < Neck,
    LeftEye "leftEye" < Head,
    RightEye "rightEye" < Head,
    Jaw "jaw" < Head,
    LeftShoulder "leftShoulder" < UpperChest,
    LeftUpperArm "leftUpperArm" < LeftShoulder,
    LeftLowerArm "leftLowerArm" < LeftUpperArm,
    LeftHand "leftHand" < LeftLowerArm,
    LeftThumbMetacarpal "leftThumbMetacarpal" < LeftHand,
    LeftThumbProximal "leftThumbProximal" < LeftThumbMetacarpal,
    LeftThumbDistal "leftThumbDistal" < LeftThumbProximal,
    LeftIndexProximal "leftIndexProximal" < LeftHand,
    LeftIndexIntermediate "leftIndexIntermediate" < LeftIndexProximal,
    LeftIndexDistal "leftIndexDistal" < LeftIndexIntermediate,
    LeftMiddleProximal "leftMiddleProximal" < LeftHand,
    LeftMiddleIntermediate "leftMiddleIntermediate" < LeftMiddleProximal,
    LeftMiddleDistal "leftMiddleDistal" < LeftMiddleIntermediate,
    LeftRingProximal "leftRingProximal" < LeftHand,
    LeftRingIntermediate "leftRingIntermediate" < LeftRingProximal,
    LeftRingDistal "leftRingDistal" < LeftRingIntermediate,
    LeftLittleProximal "leftLittleProximal" < LeftHand,
    LeftLittleIntermediate "leftLittleIntermediate" < LeftLittleProximal,
    LeftLittleDistal "leftLittleDistal" < LeftLittleIntermediate,
    RightShoulder "rightShoulder" < UpperChest,
    RightUpperArm "rightUpperArm" < RightShoulder,
    RightLowerArm "rightLowerArm" < RightUpperArm,
    RightHand "rightHand" < RightLowerArm,
    RightThumbMetacarpal "rightThumbMetacarpal" < RightHand,
    RightThumbProximal "rightThumbProximal" < RightThumbMetacarpal,
    RightThumbDistal "rightThumbDistal" < RightThumbProximal,
    RightIndexProximal "rightIndexProximal" < RightHand,
    RightIndexIntermediate "rightIndexIntermediate" < RightIndexProximal,
    RightIndexDistal "rightIndexDistal" < RightIndexIntermediate,
    RightMiddleProximal "rightMiddleProximal" < RightHand,
    RightMiddleIntermediate "rightMiddleIntermediate" < RightMiddleProximal,
    RightMiddleDistal "rightMiddleDistal" < RightMiddleIntermediate,
    RightRingProximal "rightRingProximal" < RightHand,
    RightRingIntermediate "rightRingIntermediate" < RightRingProximal,
    RightRingDistal "rightRingDistal" < RightRingIntermediate,
    RightLittleProximal "rightLittleProximal" < RightHand,
    RightLittleIntermediate "rightLittleIntermediate" < RightLittleProximal,
    RightLittleDistal "rightLittleDistal" < RightLittleIntermediate,
    LeftUpperLeg "leftUpperLeg" < Hips,
    LeftLowerLeg "leftLowerLeg" < LeftUpperLeg,
    LeftFoot "leftFoot" < LeftLowerLeg,
    LeftToes "leftToes" < LeftFoot,
    RightUpperLeg "rightUpperLeg" < Hips,
    RightLowerLeg "rightLowerLeg" < RightUpperLeg,
    RightFoot "rightFoot" < RightLowerLeg,
    RightToes "rightToes" < RightFoot,
}

impl Serialize for Bone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Bone {
    /// The bones that VRM 1.0 and VRM Animation require of a humanoid.
    pub const MAIN: [Bone; 15] = [
        Bone::Hips,
        Bone::Spine,
        Bone::Head,
        Bone::LeftUpperArm,
        Bone::LeftLowerArm,
        Bone::LeftHand,
        Bone::RightUpperArm,
        Bone::RightLowerArm,
        Bone::RightHand,
        Bone::LeftUpperLeg,
        Bone::LeftLowerLeg,
        Bone::LeftFoot,
        Bone::RightUpperLeg,
        Bone::RightLowerLeg,
        Bone::RightFoot,
    ];

    /// The bone of the other side; `None` for the bones of the trunk and for the jaw.
    #[must_use]
    pub fn mirrored(self) -> Option<Bone> {
        let name = self.name();
        let other = match (name.strip_prefix("left"), name.strip_prefix("right")) {
            (Some(rest), _) => format!("right{rest}"),
            (_, Some(rest)) => format!("left{rest}"),
            _ => return None,
        };
        other.parse().ok()
    }

    /// Whether this is a bone of a finger or a thumb.
    pub(super) fn is_finger(self) -> bool {
        self.ancestors()
            .any(|above| matches!(above, Bone::LeftHand | Bone::RightHand))
    }

    /// Whether this is an upper or lower arm or leg, a hand or a finger.
    pub(super) fn is_limb(self) -> bool {
        let fingers = ["Thumb", "Index", "Middle", "Ring", "Little"];
        let limbs = ["Arm", "Hand", "Leg"];
        let has = |part: &&str| self.name().contains(part);
        fingers.iter().chain(&limbs).any(has)
    }

    /// The bones above this one, nearest first, up to the hips.
    pub fn ancestors(self) -> impl Iterator<Item = Bone> {
        std::iter::successors(self.parent(), |b| b.parent())
    }
}

impl fmt::Display for Bone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of the 55 human bones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownBone(pub String);

impl fmt::Display for UnknownBone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is none of the 55 human bones", self.0)
    }
}

impl std::error::Error for UnknownBone {}

impl FromStr for Bone {
    type Err = UnknownBone;

    /// Parses the exact glTF name, such as `leftUpperArm`.
    fn from_str(name: &str) -> Result<Self, UnknownBone> {
        let found = Self::ALL.iter().find(|b| b.name() == name);
        found.copied().ok_or_else(|| UnknownBone(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_fifty_five_and_parents_come_first() {
        assert_eq!(Bone::ALL.len(), 55);
        for (i, bone) in Bone::ALL.iter().enumerate() {
            assert_eq!(bone.name().parse::<Bone>().unwrap(), *bone);
            assert!(Bone::ALL[..i].iter().all(|b| b.name() != bone.name()));
            match bone.parent() {
                Some(parent) => assert!(Bone::ALL[..i].contains(&parent), "{bone}"),
                None => assert_eq!(*bone, Bone::Hips),
            }
        }
        assert_eq!(
            Bone::LeftHand
                .ancestors()
                .map(Bone::name)
                .collect::<Vec<_>>(),
            [
                "leftLowerArm",
                "leftUpperArm",
                "leftShoulder",
                "upperChest",
                "chest",
                "spine",
                "hips"
            ]
        );
        assert!("LeftHand".parse::<Bone>().is_err());
        for bone in Bone::ALL {
            let is_sided = bone.name().starts_with("left") || bone.name().starts_with("right");
            assert_eq!(bone.mirrored().is_some(), is_sided, "{bone}");
            assert!(
                bone.mirrored()
                    .is_none_or(|b| b.mirrored() == Some(*bone) && b != *bone)
            );
        }
        use Bone::*;
        assert!(
            [LeftUpperArm, RightHand, LeftThumbDistal, RightLowerLeg]
                .iter()
                .all(|b| b.is_limb())
        );
        assert!(
            ![Hips, LeftShoulder, LeftFoot, RightToes, LeftEye, Jaw]
                .iter()
                .any(|b| b.is_limb())
        );
    }
}
