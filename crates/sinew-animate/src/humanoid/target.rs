//! A model's side: which node is which bone, and how each stands.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::HumanoidReport;
use super::binds::BindPoses;
use super::reference::{bends_one_way, reference_rotation};
use crate::asset::{Asset, AssetFormat, Axis, HumanoidSkeleton, Trs};
use crate::error::{Error, Result};
use crate::retarget::Bone;
use sinew::error::first_few;

/// Heights below this share of a metre scale nothing.
const LEAST_HEIGHT: f64 = 1e-6;

pub(super) struct Model<'a> {
    pub asset: &'a Asset,
    pub humanoid: &'a HumanoidSkeleton,
    pub binds: BindPoses<'a>,
    /// Canonical world, facing +Z, from the file's.
    pub facing: DQuat,
}

/// A bone as it was bound.
pub(super) struct Bound {
    /// Local to the node's parent.
    pub local: Trs,
    /// world_from_bone in the canonical world.
    pub world: DQuat,
}

/// The turn that makes a file's characters face +Z: VRM 0.x faces -Z.
pub(super) fn facing(asset: &Asset) -> DQuat {
    match asset.format {
        AssetFormat::Vrm0 => DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        _ => DQuat::IDENTITY,
    }
}

/// How far a transform is above the ground, in its scene.
pub(super) fn height(asset: &Asset, world: &DMat4) -> f64 {
    match asset.up_axis {
        Axis::Y => world.w_axis.y,
        Axis::Z => world.w_axis.z,
    }
}

impl<'a> Model<'a> {
    /// # Errors
    /// A model without a humanoid map, or without that many.
    pub fn new(asset: &'a Asset, skeleton: usize) -> Result<Self> {
        let count = asset.humanoids.len();
        let Some(humanoid) = asset.humanoids.get(skeleton) else {
            return Err(Error::NoHumanoid {
                file: asset.file.clone(),
                asked: skeleton,
                count,
            });
        };
        Ok(Self {
            asset,
            humanoid,
            binds: BindPoses::new(asset),
            facing: facing(asset),
        })
    }

    pub fn node(&self, bone: Bone) -> Option<usize> {
        self.humanoid.bones.get(&bone).copied()
    }

    /// The bones nearest below a missing one that the model has: each of them takes over what it would do.
    pub fn nearest_below(&self, missing: Bone) -> Vec<Bone> {
        let has = |b: &Bone| self.humanoid.bones.contains_key(b);
        let below = |b: &&Bone| b.ancestors().take_while(|a| !has(a)).any(|a| a == missing);
        Bone::ALL
            .iter()
            .filter(|b| has(b))
            .filter(below)
            .copied()
            .collect()
    }

    /// The bones between this one and the nearest above that the model has, topmost first.
    pub fn missing_above(&self, bone: Bone) -> Vec<Bone> {
        let missing = |b: &Bone| !self.humanoid.bones.contains_key(b);
        let mut above: Vec<Bone> = bone.ancestors().take_while(missing).collect();
        above.reverse();
        above
    }

    /// A bone's bind; the node's rest where it is no joint (VRM allows that), which is told of.
    pub fn bound(&self, bone: Bone, node: usize, report: &mut HumanoidReport) -> Bound {
        let local = self.binds.local(node);
        let world = self.binds.world(node);
        let (Some(local), Some(world)) = (local, world) else {
            let text =
                "is no joint of any skin with an inverse: its rest pose stands for its bind pose";
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

    /// A bind as the extension takes it apart, with a word where that loses something.
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
            let text =
                "its bind transform is sheared, which components cannot say; the shear is left out";
            report.warn("bind-sheared", self.name(bone, node), text);
        }
        trs
    }

    /// `hips ("J_Bip_C_Hips")`.
    pub fn name(&self, bone: Bone, node: usize) -> String {
        format!("{bone} (\"{}\")", self.asset.nodes[node].name)
    }

    /// How data in a bone's own frame are turned before they meet that frame. VRM 0.x models face -Z, but their
    /// bones' axes are those of the world, so x and z change sign; where the hips' axes have turned with the model,
    /// nothing does.
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

    /// Tells of bones whose bind axes are not the reference pose's: in literal modes they turn about axes that the
    /// clip does not mean.
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
            "the axes of {} at bind time are more than 10 degrees off the reference pose, so the clip turns them \
             otherwise than it means; mode conjugate makes up for it",
            first_few(&off, super::MOST_NAMES)
        );
        report.warn("pose-off-reference", &self.humanoid.location, text);
    }
}

/// target / source, or `None` where one of them is no height.
pub(super) fn ratio(target: f64, source: f64) -> Option<f64> {
    let ratio = target / source;
    (target.abs() > LEAST_HEIGHT && source.abs() > LEAST_HEIGHT && ratio.is_finite())
        .then_some(ratio)
}
