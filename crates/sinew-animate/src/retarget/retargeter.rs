//! The retargeter, which transfers poses from one rig to another.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::arms::{Arm, arms};
use super::bone_map::JointPair;
use super::characterise::{Body, Bones, Measured, percentile};
use super::root::{Ground, Path, path, root_pairs, size_ratio, with_root_bone};
use super::same::{Same, same_joints};
use super::transfer::Transfer;
use super::{BoneMap, Rig};
use crate::error::{Error, Result};
use sinew::error::{Invalid, Warning};
use sinew::math::{self, Trs};

/// The poses that a body is measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetargetPose {
    /// The bind pose of each rig if it stands, or else the rest pose if that stands, or else the
    /// poses of the clip ([`Rig::add_sample`]). A pose stands if the legs are along the trunk, the
    /// knees straight and the arms neither up nor across; the space of its transforms does not
    /// matter.
    #[default]
    Auto,
    /// The bind poses of both rigs.
    Bind,
    /// The rest poses of both rigs.
    Rest,
    /// The poses of the clip for the source, as `Auto` for the target.
    Clip,
}

/// Where the ground of a clip is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroundChoice {
    /// The origin of the clip, if the source has a bind or rest pose that stands on it and the feet
    /// do not go far below it, or if the source has no such pose and its lowest feet are near the
    /// origin. Otherwise where the feet of the source stand.
    #[default]
    Auto,
    /// The origin of the clip.
    Keep,
}

/// The factor for the motion of the hips, and of the joints above them that are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ScaleChoice {
    /// The ratio of the lengths of the legs.
    #[default]
    Auto,
    /// This one, with both sides in metres: 1 moves the hips as far as the source's.
    Factor(f64),
}

/// Options of [`Retargeter::new`]. Start from `RetargetOptions::default()` and set fields.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RetargetOptions {
    /// The poses that the bodies are measured on.
    pub pose: RetargetPose,
    /// Where the ground of the clip is.
    pub ground: GroundChoice,
    /// Whether the horizontal motion of the hips, and of the joints above them, is dropped.
    pub in_place: bool,
    /// The factor for the motion of the hips.
    pub scale: ScaleChoice,
    /// Name of the source joint whose translation is transferred, as [`Rig::find`] accepts it. If
    /// it is above the hips, the translation of the hips is transferred too. It does not have to be
    /// in a pair then: the target's joint of this name above the hips follows it, or else the root
    /// joint above the hips. `None` for the hips and the paired joints above them.
    pub root_bone: Option<String>,
    /// Angle in degrees by which the arms are opened to the sides, away from the body. A negative
    /// angle closes them.
    pub arm_space: f64,
}

/// A prepared pair of joints.
#[derive(Clone, Debug)]
struct Joint {
    source: usize,
    /// From the target joint to the source joint; it is applied after the rotation of the source.
    after: DQuat,
    /// Index into `arms` of a rotation about the forward axis of the chest, which is applied last.
    arm: Option<usize>,
    /// Set if the translation of the joint is transferred: where the target's joint rests.
    root: Option<DVec3>,
    /// Set if the joint is the same on both sides.
    same: Option<Same>,
}

/// Transfers poses from one rig to another, any number of times, without allocating.
///
/// - **Rotations.** Each known bone has landmarks, directions of the body that are fixed in its
///   joint: along the limb and the hinge of its elbow, up and forward of a foot, and so on. With A
///   and B as the rotations of the landmarks in the joints of a pair, and S as the rotation of the
///   source joint in the world, that of the target joint is `S * A * inverse(B)`. So what the axes of
///   a joint are, and in which pose a rig was made, does not matter. Other paired joints ride on the
///   bone above them. Joints without a pair keep their local rest transform.
/// - **The root.** It moves in proportion to the lengths of the legs, from the ground of the clip to
///   that of the target.
/// - **Other translations, and scales.** They are those of the target's rest pose. Only joints that
///   have the same position, axes and parent on both sides follow the translation and scale of the
///   source, so the clips of a character play on it unchanged.
/// - **The common space** is in metres with Y up. The heading of each character in its stage does
///   not matter, and the source is turned about the vertical axis to face as the target does.
///
/// A joint that is scaled to zero is rotated by its hierarchy alone. Mirrored joints, with a
/// negative determinant, are treated as rotated and then scaled by -1 on every axis. Below sheared
/// or unevenly scaled target joints no rotation is exact, and the nearest one is used.
///
/// ```
/// use glam::DMat4;
/// use sinew_animate::retarget::{BoneMap, RigPlacement, Retargeter, Rig};
/// use sinew::skel::Skeleton;
///
/// let joints: Vec<String> = ["Hips", "Hips/Spine"].map(String::from).to_vec();
/// let up = DMat4::from_translation(glam::DVec3::Y);
/// let rest = vec![up; 2];
/// let skeleton = Skeleton::new("/Skel", joints, Some(vec![up, up * up]), Some(rest))?;
/// let rig = Rig::new("a rig", &skeleton, RigPlacement::default())?;
/// let map = BoneMap::from_json(r#"{"Hips": "Hips", "Spine": "Spine"}"#, "map.json")?;
/// let mut retargeter = Retargeter::new(&rig, &rig, &map, &Default::default())?;
/// let mut pose = rig.rest().to_vec();
/// pose[1].rotation = glam::DQuat::from_rotation_x(0.5);
/// let mut out = rig.rest().to_vec();
/// retargeter.retarget(&pose, &mut out); // every frame
/// assert!(out[1].rotation.dot(pose[1].rotation) > 1.0 - 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Retargeter {
    source_parents: Vec<Option<usize>>,
    target_parents: Vec<Option<usize>>,
    target_rest: Vec<Trs>,
    target_is_uniform: bool,
    joints: Vec<Joint>,
    /// Pair of each target joint.
    joint_of: Vec<Option<usize>>,
    arms: Vec<Arm>,
    common_from_source_world: DMat4,
    common_from_target_world: DMat4,
    common_from_source: DMat4,
    common_from_target: DMat4,
    path: Path,
    in_place: bool,
    /// common_from_joint of source and target in poses in which both stand.
    standing: [Vec<DMat4>; 2],
    measured: [Measured; 2],
    warnings: Vec<Warning>,
    // Scratch: common_from_joint and its turn.
    source_common: Vec<DMat4>,
    source_turns: Vec<DQuat>,
    target_common: Vec<DMat4>,
    target_turns: Vec<DQuat>,
}

impl Retargeter {
    /// Prepares the retargeting from `source` to `target`.
    ///
    /// # Errors
    /// - [`Error::BoneMap`] if the map does not fit the rigs.
    /// - [`Error::NoRootBone`] if [`RetargetOptions::root_bone`] is not the source joint of a pair.
    /// - [`Error::ArmSpace`] if [`RetargetOptions::arm_space`] is not finite, or not 0 while the
    ///   upper arms are not paired.
    /// - [`Error::Invalid`] if [`RetargetOptions::scale`] is not above 0.
    /// - [`Error::NoInverse`] if the world transform of the target is singular.
    pub fn new(
        source: &Rig,
        target: &Rig,
        map: &BoneMap,
        options: &RetargetOptions,
    ) -> Result<Self> {
        let pairs = map.resolve(source, target)?;
        let pairs = with_root_bone(pairs, source, target, options.root_bone.as_deref());
        let sides = [(source, from_source as Side), (target, from_target as Side)];
        let spaces = sides.map(|(rig, _)| common_from_world(rig));
        let [from, to] = [0, 1].map(|i| {
            let (rig, joint) = sides[i];
            let bones: Bones = pairs
                .iter()
                .filter_map(|p| Some((p.bone?, joint(p))))
                .collect();
            let asked = match (options.pose, i) {
                (RetargetPose::Clip, 1) => RetargetPose::Auto,
                (asked, _) => asked,
            };
            Body::new(rig, spaces[i], bones, asked)
        });
        let transfer = Transfer::new((source, from), (target, to), &pairs);
        let (from, to) = (&transfer.source, &transfer.target);
        let turn = DQuat::from_rotation_y(to.heading - from.heading);
        let common_from_source_world = DMat4::from_quat(turn) * spaces[0];
        let common_from_source = common_from_source_world * source.placement().world_from_skel;
        let common_from_target = spaces[1] * target.placement().world_from_skel;
        if math::try_inverse(common_from_target).is_none() {
            return Err(Error::NoInverse {
                rig: target.label().to_owned(),
            });
        }
        let [unsure, target_unsure] = transfer.unsure.clone();
        let measured = [
            Measured::new(source, from, unsure),
            Measured::new(target, to, target_unsure),
        ];
        let mut warnings: Vec<Warning> = transfer.warnings([source, target]).collect();
        if source.up_margin().is_some_and(|margin| margin < SURE) {
            let message = format!(
                "its up axis is a guess: {} is only a little more likely than the next axis",
                measured[0].up
            );
            warnings.push(Warning::new("retarget-up", source.label(), message));
        }
        if target.is_sheared() {
            let message = "rest transforms have shear, which an animation cannot express: the shear is dropped";
            warnings.push(Warning::new("retarget-shear", target.label(), message));
        }
        let roots = root_pairs(source, target, &pairs, options.root_bone.as_deref())?;
        let scale = match options.scale {
            ScaleChoice::Auto => size_ratio(&transfer, &pairs, target),
            ScaleChoice::Factor(factor) if factor > 0.0 && factor.is_finite() => factor,
            ScaleChoice::Factor(factor) => {
                let found = factor.to_string();
                return Err(
                    Invalid::new(target.label(), "scale", "a factor above 0", found).into(),
                );
            }
        };
        let placed = [common_from_source, common_from_target];
        let rests = |pair: &JointPair| {
            let at = [
                source.rest_skel()[pair.source],
                target.rest_skel()[pair.target],
            ];
            [0, 1].map(|i| (placed[i] * at[i]).w_axis.truncate())
        };
        let moved = roots
            .first()
            .map_or([DVec3::ZERO; 2], |r| rests(&pairs[*r]));
        let origins = placed.map(|m| m.w_axis.truncate());
        let path = path(&transfer, scale, turn, origins, moved);
        let same = same_joints(source, target, &pairs, &transfer.after);
        let mut joints: Vec<Joint> = Vec::with_capacity(pairs.len());
        for (i, pair) in pairs.iter().enumerate() {
            joints.push(Joint {
                same: same[i].clone(),
                source: pair.source,
                after: transfer.after[i],
                arm: None,
                root: roots.contains(&i).then(|| rests(pair)[1]),
            });
        }
        let arms = arms(target, &pairs, &transfer, options.arm_space)?;
        for (i, arm) in arms.iter().enumerate() {
            for pair in &arm.pairs {
                joints[*pair].arm = Some(i);
            }
        }
        let mut joint_of = vec![None; target.len()];
        for (i, pair) in pairs.iter().enumerate() {
            joint_of[pair.target] = Some(i);
        }
        let mut out = Self {
            source_parents: source.parents().to_vec(),
            target_parents: target.parents().to_vec(),
            target_rest: target.rest().to_vec(),
            target_is_uniform: target.is_uniform(),
            joints,
            joint_of,
            arms,
            common_from_source_world,
            common_from_target_world: spaces[1],
            common_from_source,
            common_from_target,
            path,
            in_place: options.in_place,
            standing: [Vec::new(), Vec::new()],
            measured,
            warnings,
            source_common: vec![DMat4::IDENTITY; source.len()],
            source_turns: vec![DQuat::IDENTITY; source.len()],
            target_common: vec![DMat4::IDENTITY; target.len()],
            target_turns: vec![DQuat::IDENTITY; target.len()],
        };
        let ground = Ground::of(from);
        out.settle_height(source, &transfer, ground, options.ground);
        let foot = ground.map(|g| g.foot).or(from.spot.foot);
        let own = transfer.source_standing(source, &pairs);
        let sides = [(own, from, foot), (to.pose.clone(), to, to.spot.foot)];
        out.standing = sides.map(|(pose, body, foot)| {
            let lowest = pose.lowest(&body.feet);
            let up = foot.zip(lowest).map_or(0.0, |(foot, lowest)| foot - lowest);
            pose.moved(DVec3::Y * up).matrices()
        });
        Ok(out)
    }

    /// Settles how high the root is over all of the clip: the target's feet stand where they stand
    /// in its reference pose, in the frames in which the source's stand. So legs of other proportions
    /// and high ankles cost nothing.
    fn settle_height(
        &mut self,
        source: &Rig,
        transfer: &Transfer,
        ground: Option<Ground>,
        choice: GroundChoice,
    ) {
        let (from, to) = (&transfer.source, &transfer.target);
        let is_own = transfer.is_same_rig && (self.path.scale - 1.0).abs() < 1e-3;
        if is_own || !(from.is_body && to.is_body) {
            return;
        }
        self.measured[0].ground = ground.map_or(from.spot.foot.unwrap_or(0.0), |g| g.height);
        self.measured[1].ground = to.spot.foot.unwrap_or(0.0);
        if choice == GroundChoice::Keep {
            self.measured[0].ground = 0.0;
            (self.path.from.y, self.path.to.y) = (0.0, 0.0);
            return;
        }
        let (Some(ground), Some(stands)) = (ground, to.spot.foot) else {
            return;
        };
        self.warnings.extend(ground.warning(source, from));
        if ground.is_in_air && to.spot.stands {
            // Hips that are as high as those of the standing source are so on the target.
            return;
        }
        (self.path.from.y, self.path.to.y) = (ground.height, 0.0);
        if ground.is_in_air {
            self.path.to.y = stands - self.path.scale * ground.foot;
            return;
        }
        let Some((_, lows)) = from.heights() else {
            return;
        };
        let (placed, placed_target) = (self.common_from_source, self.common_from_target);
        let mut local = vec![Trs::IDENTITY; self.target_parents.len()];
        let mut heights = Vec::with_capacity(lows.len());
        let standing = source.local_samples().iter().zip(lows);
        for ((world, pose), _) in standing.filter(|(_, low)| *low < ground.low) {
            self.place_source(*world);
            self.retarget(pose, &mut local);
            let feet = to.feet.iter().map(|j| self.target_common[*j].w_axis.y);
            heights.push(feet.fold(f64::INFINITY, f64::min));
        }
        (self.common_from_source, self.common_from_target) = (placed, placed_target);
        self.path.to.y = stands - percentile(&heights, 0.5);
    }

    /// Warnings about the two rigs and the samples of the clip.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Where the joints of source and target are while they stand, in metres with Y up.
    pub(super) fn standing(&self) -> [&[DMat4]; 2] {
        self.standing.each_ref().map(Vec::as_slice)
    }

    /// What source and target were measured on, and what was found.
    #[must_use]
    pub fn measured(&self) -> &[Measured; 2] {
        &self.measured
    }

    /// The factor for the motion of the hips, with both sides in metres.
    #[must_use]
    pub fn root_scale(&self) -> f64 {
        self.path.scale
    }

    /// Sets [`super::RigPlacement::world_from_skel`] of the source from the next frame on, for
    /// skeletons below animated transforms.
    pub fn place_source(&mut self, world_from_skel: DMat4) {
        self.common_from_source = self.common_from_source_world * world_from_skel;
    }

    /// Sets [`super::RigPlacement::world_from_skel`] of the target from the next frame on, for
    /// skeletons below animated transforms. The motion in the world stays that of the source.
    pub fn place_target(&mut self, world_from_skel: DMat4) {
        self.common_from_target = self.common_from_target_world * world_from_skel;
    }

    /// Retargets one frame. `source_local` has the joint-local transforms of all joints of the
    /// source; those of all joints of the target are written to `target_local`. It does not
    /// allocate.
    ///
    /// # Panics
    /// If the length of a slice is not the number of joints of its rig.
    pub fn retarget(&mut self, source_local: &[Trs], target_local: &mut [Trs]) {
        assert_eq!(
            source_local.len(),
            self.source_parents.len(),
            "one per source joint"
        );
        assert_eq!(
            target_local.len(),
            self.target_parents.len(),
            "one per target joint"
        );
        for (j, local) in source_local.iter().enumerate() {
            let (skel, turn) = match self.source_parents[j] {
                Some(p) => (self.source_common[p], self.source_turns[p]),
                None => (self.common_from_source, turn_of(&self.common_from_source)),
            };
            self.source_common[j] = skel * local.matrix();
            self.source_turns[j] = turn * local.rotation;
        }
        for (j, out) in target_local.iter_mut().enumerate() {
            let (skel, turn) = match self.target_parents[j] {
                Some(p) => (self.target_common[p], self.target_turns[p]),
                None => (self.common_from_target, turn_of(&self.common_from_target)),
            };
            let mut local = self.target_rest[j];
            if let Some(pair) = self.joint_of[j] {
                let wanted = self.wanted(pair);
                local.rotation = (turn.inverse() * wanted).normalize();
                if let Some(same) = &self.joints[pair].same {
                    same.follow(&source_local[self.joints[pair].source], &mut local);
                }
                if let Some(position) = self.root_position(pair)
                    && let Some(inverse) = math::try_inverse(skel)
                {
                    local.translation = inverse.transform_point3(position);
                }
            }
            self.target_common[j] = skel * local.matrix();
            self.target_turns[j] = match self.target_is_uniform {
                true => turn * local.rotation,
                false => math::nearest_rotation(DMat3::from_mat4(self.target_common[j]))
                    .unwrap_or(turn * local.rotation),
            };
            *out = local;
        }
    }

    /// The rotation of the target joint of a pair in the common space.
    fn wanted(&self, pair: usize) -> DQuat {
        let joint = &self.joints[pair];
        let plain = self.plain(pair);
        let Some(arm) = joint.arm.map(|a| &self.arms[a]) else {
            return plain;
        };
        let axis = match arm.chest {
            Some(chest) => self.plain(chest) * arm.axis,
            None => arm.axis,
        };
        DQuat::from_axis_angle(axis.normalize_or(DVec3::Z), arm.radians) * plain
    }

    fn plain(&self, pair: usize) -> DQuat {
        let joint = &self.joints[pair];
        let posed = math::nearest_rotation(DMat3::from_mat4(self.source_common[joint.source]));
        posed.unwrap_or(self.source_turns[joint.source]) * joint.after
    }

    fn root_position(&self, pair: usize) -> Option<DVec3> {
        let joint = &self.joints[pair];
        let rest = joint.root?;
        let at = self
            .path
            .at(self.source_common[joint.source].w_axis.truncate());
        Some(match self.in_place {
            true => rest.with_y(at.y),
            false => at,
        })
    }
}

/// A found up axis with a smaller margin is not sure.
const SURE: f64 = 0.3;

/// The joint of a pair on one side.
type Side = fn(&JointPair) -> usize;

fn from_source(pair: &JointPair) -> usize {
    pair.source
}

fn from_target(pair: &JointPair) -> usize {
    pair.target
}

/// From a rig's world to metres with Y up, without the heading that its placement has.
fn common_from_world(rig: &Rig) -> DMat4 {
    let placement = rig.placement();
    let upright = turn_to_y(placement.up);
    let world = turn_of(&placement.world_from_skel);
    // The placement as if both of its spaces had Y up. Its heading is the rest of the rotation after
    // the skeleton was set upright.
    let turned = upright * world * upright.inverse();
    let heading = turned * turn_to_y(turned.inverse() * DVec3::Y).inverse();
    DMat4::from_scale(DVec3::splat(placement.meters_per_unit))
        * DMat4::from_quat((heading.inverse() * upright).normalize())
}

/// The shortest rotation from an up direction to Y; exactly the identity if it already is Y.
fn turn_to_y(up: DVec3) -> DQuat {
    match up.abs_diff_eq(DVec3::Y, 1e-12) {
        true => DQuat::IDENTITY,
        false => DQuat::from_rotation_arc(up.normalize_or(DVec3::Y), DVec3::Y),
    }
}

fn turn_of(m: &DMat4) -> DQuat {
    math::nearest_rotation(DMat3::from_mat4(*m)).unwrap_or_default()
}
