//! Poses from one rig to another.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::arms::{Arm, arms};
use super::reference::{self, Reference};
use super::root::{height_ratio, root_pairs};
use super::same::{Same, same_joints};
use super::trunk::Trunk;
use super::{BoneMap, Rig};
use crate::error::{Error, Result};
use sinew::error::Warning;
use sinew::math::{self, Trs};

/// What turns are measured from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetargetPose {
    /// Bind poses.
    #[default]
    Bind,
    /// Rest poses.
    Rest,
    /// Bind poses, the target's limbs first turned to point as the source's do: for an A-pose against a T-pose.
    Align,
}

/// How to retarget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetargetOptions {
    pub pose: RetargetPose,
    /// Leave horizontal motion of the root out.
    pub in_place: bool,
    /// Move the root as far as the source's does, in metres, instead of in proportion to the hips' heights.
    pub no_scale: bool,
    /// The source joint, by name, whose translation goes over. By default the hips and paired joints above them; a
    /// joint above the hips that is named goes over besides them.
    pub root_bone: Option<String>,
    /// Opens (or closes, where negative) the arms by so many degrees, away from the body to the sides.
    pub arm_space: f64,
}

/// One pair, ready.
#[derive(Clone, Debug)]
struct Joint {
    source: usize,
    /// What follows the source's turn: inverse(B_source) * B_target, aligned.
    after: DQuat,
    /// What goes before everything, as a turn about the chest's forward axis; index into `arms`.
    arm: Option<usize>,
    /// The root, whose translation goes over.
    root: Option<Root>,
    /// The joint is the same on both sides.
    same: Option<Same>,
}

#[derive(Clone, Debug)]
struct Root {
    /// Rest positions in the common space.
    source_rest: DVec3,
    target_rest: DVec3,
}

/// Moves poses from one rig to another, any number of times, without allocating.
///
/// With S a source joint's turn in the world, B_source and B_target the reference turns of a pair, the target joint is
/// turned to `S * inverse(B_source) * B_target` in the world, so that its bones point wherever the source's do, for any
/// joint orients; parents go first, and each local turn is solved from the world turn that is wanted. Joints that
/// follow none keep their local rest. The root's position is `rest_t + s (p_s - rest_s)` in metres, with s the ratio
/// of the heights of the hips. Translations of other joints, and scales, are the target's rest, but for joints that are
/// the same on both sides, in place, axes and parent: what stretches or scales these in the source does so in the
/// target, so that a character's own clips play on it unchanged.
///
/// Worlds meet with Y up, in metres, each character facing its own way: how it is turned about the vertical axis by
/// what it stands below does not count, and quarter turns between the two reference poses are evened out.
///
/// A joint that is flattened (scaled to zero) is turned as its hierarchy says. Mirrored joints, with a negative
/// determinant, count as turned and then scaled by -1 on every axis. Below sheared or unevenly scaled target joints no
/// turn gives the wanted one exactly; the nearest is taken.
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
/// # Ok::<(), sinew::Error>(())
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
    root_scale: f64,
    in_place: bool,
    trunk: Option<Trunk>,
    warnings: Vec<Warning>,
    // Scratch: common_from_joint and its turn.
    source_common: Vec<DMat4>,
    source_turns: Vec<DQuat>,
    target_common: Vec<DMat4>,
    target_turns: Vec<DQuat>,
}

impl Retargeter {
    /// Prepares a pair of rigs.
    ///
    /// # Errors
    /// A map that names what the rigs lack, or one joint twice; a root bone that no pair holds; arms to open that
    /// are not known; angles that are not finite; a target that stands in a singular transform.
    pub fn new(
        source: &Rig,
        target: &Rig,
        map: &BoneMap,
        options: &RetargetOptions,
    ) -> Result<Self> {
        let pairs = map.resolve(source, target)?;
        let mut warnings = Vec::new();
        let mut from = Reference::new(source, options.pose);
        let to = Reference::new(target, options.pose);
        let quarters = reference::facing(&from, &to, &pairs);
        from.turn(quarters);
        if quarters != 0 {
            let degrees = [0, 90, 180, -90][quarters as usize];
            let message = format!(
                "faces another way than {}: its motion is turned by {degrees} degrees about the vertical axis",
                target.label()
            );
            warnings.push(Warning::new("retarget-facing", source.label(), message));
        }
        if target.is_sheared() {
            let message = "rest transforms hold shear, which no animation can: it is left out";
            warnings.push(Warning::new("retarget-shear", target.label(), message));
        }
        let aligned = match options.pose {
            RetargetPose::Align => reference::alignment((&from, source), (&to, target), &pairs),
            RetargetPose::Bind | RetargetPose::Rest => vec![DQuat::IDENTITY; pairs.len()],
        };
        if math::try_inverse(to.placed).is_none() {
            return Err(Error::NoInverse {
                rig: target.label().to_owned(),
            });
        }
        let roots = root_pairs(source, target, &pairs, options.root_bone.as_deref())?;
        let root_scale = match options.no_scale {
            true => 1.0,
            false => height_ratio(
                (source, &from),
                (target, &to),
                &pairs,
                &roots,
                &mut warnings,
            ),
        };
        let rest_at = |reference: &Reference, rig: &Rig, joint: usize| {
            (reference.placed * rig.rest_skel()[joint])
                .w_axis
                .truncate()
        };
        let same = same_joints((source, &from), (target, &to), &pairs);
        let mut joints: Vec<Joint> = Vec::with_capacity(pairs.len());
        for (i, pair) in pairs.iter().enumerate() {
            let turned = aligned[i] * to.turn_of(pair.target);
            joints.push(Joint {
                same: same[i].clone(),
                source: pair.source,
                after: from.turn_of(pair.source).inverse() * turned,
                arm: None,
                root: roots.contains(&i).then(|| Root {
                    source_rest: rest_at(&from, source, pair.source),
                    target_rest: rest_at(&to, target, pair.target),
                }),
            });
        }
        let arms = arms((target, &to), &pairs, &aligned, options.arm_space)?;
        for (i, arm) in arms.iter().enumerate() {
            for pair in &arm.pairs {
                joints[*pair].arm = Some(i);
            }
        }
        let mut joint_of = vec![None; target.len()];
        for (i, pair) in pairs.iter().enumerate() {
            joint_of[pair.target] = Some(i);
        }
        Ok(Self {
            source_parents: source.parents().to_vec(),
            target_parents: target.parents().to_vec(),
            target_rest: target.rest().to_vec(),
            target_is_uniform: target.is_uniform(),
            joints,
            joint_of,
            arms,
            common_from_source_world: from.common_from_world,
            common_from_target_world: to.common_from_world,
            common_from_source: from.placed,
            common_from_target: to.placed,
            root_scale,
            in_place: options.in_place,
            trunk: Trunk::find((source, &from), (target, &to), &pairs),
            warnings,
            source_common: vec![DMat4::IDENTITY; source.len()],
            source_turns: vec![DQuat::IDENTITY; source.len()],
            target_common: vec![DMat4::IDENTITY; target.len()],
            target_turns: vec![DQuat::IDENTITY; target.len()],
        })
    }

    /// What was found odd in the pair of rigs, and what was done about it.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The angle between the two trunks in the last frame, in degrees, where it says whether the target is upright.
    pub(super) fn trunks_apart(&self) -> Option<f64> {
        let trunk = self.trunk.as_ref()?;
        trunk.apart(&self.source_common, &self.target_common)
    }

    /// Warns of a target that lies where the source stands, by the angles of all frames.
    pub(super) fn warn_of_trunks(&mut self, apart: Vec<f64>) {
        let warning = self.trunk.as_ref().and_then(|t| t.warning(apart));
        self.warnings.extend(warning);
    }

    /// By how much the root's motion is scaled, in metres to metres.
    #[must_use]
    pub fn root_scale(&self) -> f64 {
        self.root_scale
    }

    /// Moves the source to another place in its world, for skeletons that stand below animated transforms: what
    /// [`super::RigPlacement::world_from_skel`] is from the next frame on.
    pub fn place_source(&mut self, world_from_skel: DMat4) {
        self.common_from_source = self.common_from_source_world * world_from_skel;
    }

    /// As [`Retargeter::place_source`], for a target that stands below animated transforms of its own: the motion in
    /// the world stays what the source's is.
    pub fn place_target(&mut self, world_from_skel: DMat4) {
        self.common_from_target = self.common_from_target_world * world_from_skel;
    }

    /// One frame: joint-local transforms of the source's joints in, those of all the target's joints out. Nothing is
    /// allocated.
    ///
    /// # Panics
    /// Where a slice is not as long as its rig has joints.
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

    /// The turn that a pair's target gets in the common space.
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
        let root = joint.root.as_ref()?;
        let mut moved = self.source_common[joint.source].w_axis.truncate() - root.source_rest;
        if self.in_place {
            moved = DVec3::new(0.0, moved.y, 0.0);
        }
        Some(root.target_rest + moved * self.root_scale)
    }
}

fn turn_of(m: &DMat4) -> DQuat {
    math::nearest_rotation(DMat3::from_mat4(*m)).unwrap_or_default()
}
