//! A file with a humanoid skeleton, the model's or the clip's: the node of each bone, and its bind and
//! rest transforms.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::HumanoidReport;
use super::binds::BindPoses;
use super::reference::{bends_one_way, reference_rotation};
use crate::asset::{Asset, AssetFormat, Axis, HumanoidSkeleton, Trs};
use crate::error::{Error, Result};
use crate::retarget::Bone;
use sinew::error::first_few;

/// The smallest height in metres that a ratio is computed of.
const LEAST_HEIGHT: f64 = 1e-6;

/// The model that a clip is applied to, or the file of the clip.
pub(super) struct Figure<'a> {
    pub asset: &'a Asset,
    /// `None` if the file of a clip has none.
    pub humanoid: Option<&'a HumanoidSkeleton>,
    pub binds: BindPoses<'a>,
    /// Rotation from the file's world to the canonical world, where characters face +Z.
    pub facing: DQuat,
}

/// The bind transform of a bone.
pub(super) struct Bound {
    /// Relative to the parent of the node.
    pub local: Trs,
    /// world_from_bone in the canonical world.
    pub world: DQuat,
}

/// The height of a transform's origin above the ground, in the units of the scene.
pub(super) fn height(asset: &Asset, world: &DMat4) -> f64 {
    match asset.up_axis {
        Axis::Y => world.w_axis.y,
        Axis::Z => world.w_axis.z,
    }
}

impl<'a> Figure<'a> {
    pub fn new(asset: &'a Asset, humanoid: Option<&'a HumanoidSkeleton>) -> Self {
        Self {
            asset,
            humanoid,
            binds: BindPoses::new(asset),
            // In VRM 0.x characters face -Z.
            facing: match asset.format {
                AssetFormat::Vrm0 => DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),
                _ => DQuat::IDENTITY,
            },
        }
    }

    /// The model with its humanoid skeleton of this index.
    ///
    /// # Errors
    /// [`Error::NoHumanoid`] if there is none.
    pub fn model(asset: &'a Asset, skeleton: usize) -> Result<Self> {
        match asset.humanoids.get(skeleton) {
            Some(humanoid) => Ok(Self::new(asset, Some(humanoid))),
            None => Err(Error::NoHumanoid {
                file: asset.file.clone(),
                asked: skeleton,
                count: asset.humanoids.len(),
            }),
        }
    }

    pub fn node(&self, bone: Bone) -> Option<usize> {
        self.humanoid?.bones.get(&bone).copied()
    }

    /// The location of the humanoid skeleton, for warnings.
    pub fn location(&self) -> &str {
        self.humanoid.map_or("", |h| &h.location)
    }

    /// The nearest bones of the model below a missing bone. Each of them takes over its rotation.
    pub fn nearest_below(&self, missing: Bone) -> Vec<Bone> {
        let has = |b: &Bone| self.node(*b).is_some();
        let below = |b: &&Bone| b.ancestors().take_while(|a| !has(a)).any(|a| a == missing);
        Bone::ALL
            .iter()
            .filter(|b| has(b))
            .filter(below)
            .copied()
            .collect()
    }

    /// The missing bones between `bone` and the nearest bone of the model above it, topmost first.
    pub fn missing_above(&self, bone: Bone) -> Vec<Bone> {
        let missing = |b: &Bone| self.node(*b).is_none();
        let mut above: Vec<Bone> = bone.ancestors().take_while(missing).collect();
        above.reverse();
        above
    }

    /// The bind transform of a bone. If its node is not a joint, which VRM allows, it is the rest
    /// transform of the node, with a warning.
    pub fn bound(&self, bone: Bone, node: usize, report: &mut HumanoidReport) -> Bound {
        let local = self.binds.local(node);
        let world = self.binds.world(node);
        let (Some(local), Some(world)) = (local, world) else {
            let text = "the node is not a joint of a skin with an invertible bind matrix: its rest pose is used as its bind pose";
            report.warn("bone-not-joint", self.name(bone, node), text);
            let local = self.asset.nodes[node].local.trs();
            let world = self.binds.rest_parent_rotation(node) * local.rotation;
            return Bound {
                local,
                world: self.facing * world,
            };
        };
        let local = self.components(local, bone, node, report);
        let (_, world, _) = world.to_scale_rotation_translation();
        Bound {
            local,
            world: (self.facing * world).normalize(),
        }
    }

    /// Decomposes a bind transform as the extension asks, with a warning if it is sheared.
    fn components(&self, m: DMat4, bone: Bone, node: usize, report: &mut HumanoidReport) -> Trs {
        let (scale, rotation, translation) = m.to_scale_rotation_translation();
        let trs = Trs {
            translation,
            rotation: rotation.normalize(),
            scale,
        };
        let size = DMat3::from_mat4(m)
            .to_cols_array()
            .iter()
            .fold(0.0f64, |a, v| a.max(v.abs()));
        if !DMat3::from_mat4(trs.matrix()).abs_diff_eq(DMat3::from_mat4(m), 1e-3 * size) {
            let text = "its bind transform is sheared, which translation, rotation and scale cannot express: the shear is dropped";
            report.warn("bind-sheared", self.name(bone, node), text);
        }
        trs
    }

    /// `hips ("J_Bip_C_Hips")`.
    pub fn name(&self, bone: Bone, node: usize) -> String {
        format!("{bone} (\"{}\")", self.asset.nodes[node].name)
    }

    /// The rotation of data in a bone's frame before they are applied. VRM 0.x models face -Z, but
    /// their bone axes are those of the world, so x and z change sign. If the axes of the hips are
    /// rotated with the model, the rotation is the identity.
    pub fn literal_turn(&self) -> DQuat {
        if self.asset.format != AssetFormat::Vrm0 {
            return DQuat::IDENTITY;
        }
        let hips = self.node(Bone::Hips);
        let bound = hips
            .and_then(|n| self.binds.world(n))
            .unwrap_or_else(|| hips.map_or(DMat4::IDENTITY, |n| self.binds.rest_world(n)));
        let left = (self.facing.inverse() * DVec3::X).dot(bound.transform_vector3(DVec3::X));
        if left > 0.0 {
            DQuat::IDENTITY
        } else {
            self.facing.inverse()
        }
    }

    /// Warns of bones whose bind axes differ from the reference pose. Except in
    /// [`Mode::Conjugate`](super::Mode::Conjugate), they rotate about other axes than the clip
    /// intends.
    pub fn warn_off_reference(&self, bones: &[(Bone, DQuat)], report: &mut HumanoidReport) {
        let limit = 10f64.to_radians();
        let off = |(bone, world): &&(Bone, DQuat)| {
            let reference = reference_rotation(*bone);
            if bends_one_way(*bone) {
                reference.angle_between(*world) > limit
            } else {
                (reference * DVec3::Y).angle_between(*world * DVec3::Y) > limit
            }
        };
        let off: Vec<Bone> = bones.iter().filter(off).map(|(b, _)| *b).collect();
        if off.is_empty() {
            return;
        }
        let text = format!(
            "the bind axes of {} differ by more than 10 degrees from the reference pose, so the clip rotates these bones about \
             wrong axes; the mode conjugate corrects this",
            first_few(&off, super::MOST_NAMES)
        );
        report.warn("pose-off-reference", self.location(), text);
    }
}

/// `target / source`; `None` if one of the heights is too small or not finite.
pub(super) fn ratio(target: f64, source: f64) -> Option<f64> {
    let ratio = target / source;
    (target.abs() > LEAST_HEIGHT && source.abs() > LEAST_HEIGHT && ratio.is_finite())
        .then_some(ratio)
}
