//! The retargeter, which transfers poses from one rig to another.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::align::{AlignedLimb, Alignment};
use super::arms::{Arm, arms};
use super::choice::choose;
use super::root::{height_ratio, root_pairs, with_root_bone};
use super::same::{Same, same_joints};
use super::trunk::Trunk;
use super::{BoneMap, Rig};
use crate::error::{Error, Result};
use sinew::error::Warning;
use sinew::math::{self, Trs};

/// The reference pose that rotations are measured from.
///
/// The bind transforms may be in skeleton space, in world space or in another space that is rotated
/// against these. Every pose but [`RetargetPose::Rest`] finds out which, and
/// [`Retargeter::warnings`] tells if the evidence is not clear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetargetPose {
    /// The bind pose or the rest pose of each rig, whichever fits the other rig better. The limbs
    /// of the target are then rotated to point in the same direction as the source's, if they are
    /// known human bones. So a rig in an A-pose follows one in a T-pose.
    #[default]
    Auto,
    /// The bind poses of both rigs.
    Bind,
    /// The rest poses of both rigs, as they are.
    Rest,
    /// The bind poses, after the limbs of the target are rotated to point in the same direction as
    /// the source's. Joints that are no known human bones count as limbs if they have one paired
    /// joint below them.
    Align,
}

/// Options of [`Retargeter::new`]. Start from `RetargetOptions::default()` and set fields.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RetargetOptions {
    /// The reference pose that rotations are measured from.
    pub pose: RetargetPose,
    /// Whether the horizontal motion of the root is dropped.
    pub in_place: bool,
    /// Whether the root moves as far as the source's, in metres. Otherwise its motion is scaled by
    /// the ratio of the heights of the hips.
    pub no_scale: bool,
    /// Name of the source joint whose translation is transferred, as [`Rig::find`] accepts it. If
    /// it is above the hips, the translation of the hips is transferred too. It does not have to be
    /// in a pair then: the target's joint of this name above the hips follows it, or else the
    /// topmost one. `None` for the hips and the paired joints above them.
    pub root_bone: Option<String>,
    /// Angle in degrees by which the arms are opened to the sides, away from the body. A negative
    /// angle closes them.
    pub arm_space: f64,
}

/// A prepared pair of joints.
#[derive(Clone, Debug)]
struct Joint {
    source: usize,
    /// inverse(B_source) * B_target with the aligned reference; it is applied after the rotation of
    /// the source.
    after: DQuat,
    /// Index into `arms` of a rotation about the forward axis of the chest, which is applied last.
    arm: Option<usize>,
    /// Set if the translation of the joint is transferred.
    root: Option<Root>,
    /// Set if the joint is the same on both sides.
    same: Option<Same>,
}

#[derive(Clone, Debug)]
struct Root {
    /// Rest positions in the common space.
    source_rest: DVec3,
    target_rest: DVec3,
}

/// Transfers poses from one rig to another, any number of times, without allocating.
///
/// - **Rotations.** Let S be the rotation of a source joint in the world, and B_source and B_target
///   the reference rotations of its pair. Then the rotation of the target joint in the world is `S *
///   inverse(B_source) * B_target`. So its bone points in the same direction as the source's,
///   whatever the joint axes are. Local rotations follow from these, parents first. Joints without
///   a pair keep their local rest transform.
/// - **The root.** Its position is `rest_t + s (p_s - rest_s)` in metres, with s the ratio of the
///   heights of the hips. If the legs are bent at rest, the hips are raised to where they are in
///   the reference pose.
/// - **Other translations, and scales.** They are those of the target's rest pose. Only joints that
///   have the same position, axes and parent on both sides follow the translation and scale of the
///   source, so the clips of a character play on it unchanged.
/// - **The common space** is in metres with Y up. The heading of each character in its stage does
///   not matter, and the source is turned about the vertical axis if the two reference poses face
///   different ways.
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
    root_scale: f64,
    in_place: bool,
    trunk: Option<Trunk>,
    /// common_from_joint of source and target in their reference poses, in which both stand.
    standing: [Vec<DMat4>; 2],
    poses: [RetargetPose; 2],
    aligned: Vec<AlignedLimb>,
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
    /// - [`Error::NoInverse`] if the world transform of the target is singular.
    pub fn new(
        source: &Rig,
        target: &Rig,
        map: &BoneMap,
        options: &RetargetOptions,
    ) -> Result<Self> {
        let pairs = map.resolve(source, target)?;
        let pairs = with_root_bone(pairs, source, target, options.root_bone.as_deref());
        let choice = choose(source, target, &pairs, options.pose);
        let mut warnings = match options.pose {
            RetargetPose::Rest => Vec::new(),
            _ => choice.warnings([source, target]),
        };
        let poses = choice.poses();
        let (from, to) = (choice.from, choice.to);
        if choice.turned != 0.0 {
            let degrees = choice.turned.to_degrees();
            let message = format!(
                "faces another direction than {}: its motion is rotated by {degrees:.0} degrees about the vertical axis",
                target.label()
            );
            warnings.push(Warning::new("retarget-facing", source.label(), message));
        }
        if target.is_sheared() {
            let message = "rest transforms have shear, which an animation cannot express: the shear is dropped";
            warnings.push(Warning::new("retarget-shear", target.label(), message));
        }
        let alignment = match options.pose {
            RetargetPose::Auto | RetargetPose::Align => {
                let only_human = options.pose == RetargetPose::Auto;
                Alignment::new((&from, source), (&to, target), &pairs, only_human)
            }
            RetargetPose::Bind | RetargetPose::Rest => Alignment::none(&pairs),
        };
        warnings.extend(alignment.warning(source, target));
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
        let trunk = match options.pose {
            RetargetPose::Auto => Trunk::find((source, &from), (target, &to), &pairs),
            _ => {
                let auto = choose(source, target, &pairs, RetargetPose::Auto);
                Trunk::find((source, &auto.from), (target, &auto.to), &pairs)
            }
        };
        let same = same_joints((source, &from), (target, &to), &pairs);
        let mut joints: Vec<Joint> = Vec::with_capacity(pairs.len());
        for (i, pair) in pairs.iter().enumerate() {
            let turned = alignment.turns[i] * to.turn_of(pair.target);
            joints.push(Joint {
                same: same[i].clone(),
                source: pair.source,
                after: from.turn_of(pair.source).inverse() * turned,
                arm: None,
                root: roots.contains(&i).then(|| Root {
                    source_rest: from.root_position(pair.source),
                    target_rest: to.root_position(pair.target),
                }),
            });
        }
        let arms = arms((target, &to), &pairs, &alignment.turns, options.arm_space)?;
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
            target_rest: to.rest.clone(),
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
            trunk,
            standing: [from.joints().to_vec(), to.joints().to_vec()],
            poses,
            aligned: alignment.limbs,
            warnings,
            source_common: vec![DMat4::IDENTITY; source.len()],
            source_turns: vec![DQuat::IDENTITY; source.len()],
            target_common: vec![DMat4::IDENTITY; target.len()],
            target_turns: vec![DQuat::IDENTITY; target.len()],
        })
    }

    /// Warnings about the two rigs, and about the last clip of [`Retargeter::retarget_clip`].
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The angle between the two trunks in the last frame, in degrees; `None` if the trunks are not
    /// known or differ at rest.
    pub(super) fn trunks_apart(&self) -> Option<f64> {
        let trunk = self.trunk.as_ref()?;
        trunk.apart(&self.source_common, &self.target_common)
    }

    /// Adds a warning if the target lies while the source stands; `apart` are the angles of all
    /// frames in degrees.
    pub(super) fn warn_of_trunks(&mut self, apart: Vec<f64>) {
        let warning = self.trunk.as_ref().and_then(|t| t.warning(apart));
        self.warnings.extend(warning);
    }

    /// Where the joints of source and target are while they stand, in metres with Y up.
    pub(super) fn standing(&self) -> [&[DMat4]; 2] {
        self.standing.each_ref().map(Vec::as_slice)
    }

    /// The poses of source and target that rotations are measured from: [`RetargetPose::Bind`] or
    /// [`RetargetPose::Rest`].
    #[must_use]
    pub fn reference_poses(&self) -> [RetargetPose; 2] {
        self.poses
    }

    /// The limbs of the target that were turned in its reference pose to point as the source's do.
    #[must_use]
    pub fn aligned(&self) -> &[AlignedLimb] {
        &self.aligned
    }

    /// The factor of the root's motion, with both sides in metres.
    #[must_use]
    pub fn root_scale(&self) -> f64 {
        self.root_scale
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
