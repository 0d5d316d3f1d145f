//! Clips at run time, on the CPU: sampled into poses that a game blends, masks by joints, adds and
//! drives a skeleton with. No files and no GPU are needed.
//!
//! A [`Clip`] has a name and a [`PackedClip`], which is packed from plain curves
//! ([`ClipSource`](crate::kernel::packed_clip::ClipSource)) or read from a file by `sinew-io`. A
//! [`LocalPose`] is one moment of it: the transform of each joint in its parent's space, and the
//! weight of each blend shape channel. Sampling, blending and adding take the steps of the kernel
//! that plays clips (`play.wgsl`) in f32, so a pose that is blended here is the one that a crowd
//! plays.
//!
//! ```
//! use glam::DQuat;
//! use sinew::clip::{Clip, ClipSet, JointMask, LocalPose};
//! use sinew::kernel::packed_clip::{ClipOptions, ClipSource, JointCurves, PackedClip};
//! use sinew::sampled::{Interpolation, Sampled};
//! use sinew::skel::Skeleton;
//!
//! // An arm of two joints, and a clip that turns one of them by an angle within a second.
//! let names = ["Shoulder", "Shoulder/Elbow"].map(String::from).to_vec();
//! let bind = vec![glam::DMat4::IDENTITY; 2];
//! let arm = Skeleton::from_parents("Arm", names, &[None, Some(0)], bind, None)?;
//! let turn = |name: &str, joint: usize, angle: f64| {
//!     let keys = [(0.0, 0.0), (1.0, angle)].map(|(t, a)| (t, Some(DQuat::from_rotation_z(a))));
//!     let rotation = Sampled::new(None, keys.to_vec(), Interpolation::Linear);
//!     let mut source = ClipSource::new(name, arm.topology().clone());
//!     source.joints[joint] = JointCurves { rotation, ..Default::default() };
//!     let (packed, _) = PackedClip::pack(&source, &ClipOptions::default())?;
//!     Ok::<_, sinew::Invalid>(Clip::new(name, packed))
//! };
//! let clips = ClipSet::new(vec![turn("raise", 0, 1.0)?, turn("bend", 1, 1.5)?])?;
//! assert!(clips.names().eq(["raise", "bend"]));
//!
//! // Half a second of each: the shoulder of one, the elbow of the other.
//! let (raise, bend) = (clips.get("raise").unwrap(), clips.get("bend").unwrap());
//! let mut pose = raise.sample(0.5);
//! pose.blend_masked(&bend.sample(0.5), 1.0, &JointMask::below(&arm, &["Elbow"])?)?;
//! // And a little more of the raised shoulder on top.
//! pose.add(&raise.sample(0.0), &raise.sample(1.0), 0.1)?;
//! let turned = |joint: usize| {
//!     glam::Quat::from_array(pose.joints[joint].rotation).to_axis_angle().1
//! };
//! assert!((turned(0) - 0.6).abs() < 1e-2 && (turned(1) - 0.75).abs() < 1e-2);
//! let pose = pose.to_pose(&arm)?; // for `PackedPose::pack`, or `Crowd::set_pose`
//! # Ok::<(), sinew::Invalid>(())
//! ```

use std::sync::Arc;

use glam::{DMat4, Vec3};

use crate::error::Invalid;
use crate::kernel::{JointTransform, PackedClip, added_joint, blended_joint};
use crate::skel::{Pose, Skeleton};

/// A clip with a name. Clones share the packed data.
#[derive(Clone, Debug)]
pub struct Clip {
    name: String,
    packed: Arc<PackedClip>,
}

impl Clip {
    /// Names a packed clip.
    #[must_use]
    pub fn new(name: impl Into<String>, packed: impl Into<Arc<PackedClip>>) -> Self {
        let (name, packed) = (name.into(), packed.into());
        Self { name, packed }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The packed clip, for [`Crowd::add_clip`](crate::gpu::Crowd::add_clip).
    #[must_use]
    pub fn packed(&self) -> &Arc<PackedClip> {
        &self.packed
    }

    /// Length in seconds.
    #[must_use]
    pub fn duration(&self) -> f32 {
        self.packed.duration()
    }

    /// The time in the clip after this many seconds of a loop, from 0 to below the clip's length.
    /// Negative seconds count back from the end. 0 if the clip has no length, or for seconds that
    /// are not finite.
    #[must_use]
    pub fn looped(&self, seconds: f64) -> f32 {
        if !(self.duration() > 0.0 && seconds.is_finite()) {
            return 0.0;
        }
        let (_, within) = self.split(seconds);
        // It may round up to the length.
        if within < self.duration() {
            within
        } else {
            0.0
        }
    }

    /// The number of whole loops in so many seconds, and the time in the clip after them, from 0 to
    /// the clip's length. The clip has to have a length.
    fn split(&self, seconds: f64) -> (f64, f32) {
        let duration = f64::from(self.duration());
        let loops = (seconds / duration).floor();
        let within = (seconds - loops * duration) as f32;
        (loops, within.clamp(0.0, self.duration()))
    }

    /// The pose at a time in seconds. A time outside of the clip is clamped to its ends; for a loop
    /// use [`Clip::looped`].
    #[must_use]
    pub fn sample(&self, seconds: f32) -> LocalPose {
        let mut out = LocalPose::default();
        self.sample_into(seconds, &mut out);
        out
    }

    /// As [`Clip::sample`], into the buffers of a pose: nothing is allocated if it had as many
    /// joints and weights before.
    pub fn sample_into(&self, seconds: f32, pose: &mut LocalPose) {
        let clip = &self.packed;
        pose.joints.clear();
        let joints = (0..clip.joint_count()).map(|joint| clip.joint(joint, seconds));
        pose.joints.extend(joints);
        pose.weights.clear();
        let weights = (0..clip.channel_count()).map(|channel| clip.weight(channel, seconds));
        pose.weights.extend(weights);
    }

    /// How far a joint moves in its parent's space while the clip plays as a loop, from one time to
    /// a later or earlier one, in seconds that may go beyond the clip. Each time that the clip
    /// begins again adds the way from its first to its last moment.
    ///
    /// For a root joint this is the root motion: the way that the host moves the character if the
    /// clip plays in place ([`LocalPose::in_place`], `gpu::Playing::root_motion`). It is in the
    /// units of the skeleton.
    ///
    /// # Errors
    /// A joint that the clip lacks, or times that are not finite.
    pub fn root_motion(&self, joint: usize, from: f64, to: f64) -> Result<Vec3, Invalid> {
        let count = self.packed.joint_count();
        if joint >= count {
            let expected = format!("a joint below {count}");
            return Err(Invalid::new(
                &self.name,
                "joints",
                expected,
                joint.to_string(),
            ));
        }
        if !(from.is_finite() && to.is_finite()) {
            let found = format!("{from} to {to}");
            return Err(Invalid::new(&self.name, "times", "finite seconds", found));
        }
        let at = |seconds: f32| Vec3::from(self.packed.joint(joint, seconds).translation);
        if self.duration() <= 0.0 {
            return Ok(Vec3::ZERO);
        }
        let each = at(self.duration()) - at(0.0);
        let [(begun, from), (ended, to)] = [from, to].map(|seconds| self.split(seconds));
        Ok(at(to) - at(from) + each * (ended - begun) as f32)
    }
}

/// Clips of one skeleton: all have the same joints, in the same order.
#[derive(Clone, Debug, Default)]
pub struct ClipSet(Vec<Clip>);

impl ClipSet {
    /// Takes clips. Of clips with the same name, [`ClipSet::get`] finds the first.
    ///
    /// # Errors
    /// Clips with different numbers of joints.
    pub fn new(clips: Vec<Clip>) -> Result<Self, Invalid> {
        let count = |clip: &Clip| clip.packed.joint_count();
        let first = clips.first().map_or(0, count);
        match clips.iter().find(|clip| count(clip) != first) {
            None => Ok(Self(clips)),
            Some(other) => {
                let expected = format!("{first} joints, as the first clip has");
                let found = count(other).to_string();
                Err(Invalid::new(other.name(), "joints", expected, found))
            }
        }
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Clip::name)
    }

    /// The clip of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Clip> {
        self.0.iter().find(|clip| clip.name == name)
    }

    /// All clips, in order.
    #[must_use]
    pub fn clips(&self) -> &[Clip] {
        &self.0
    }
}

/// The local transforms of a skeleton's joints, and the weights of blend shape channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalPose {
    /// From the space of each joint to that of its parent, in the order of the skeleton.
    pub joints: Vec<JointTransform>,
    /// The weight of each channel.
    pub weights: Vec<f32>,
}

impl LocalPose {
    /// Blends another pose over this one: 0 keeps this pose, 1 takes the other one, and a weight
    /// beyond is clamped. Translations, scales and weights are interpolated linearly; rotations
    /// too, along the shorter arc, and are then normalised. A channel that only one pose has counts
    /// as 0 in the other.
    ///
    /// # Errors
    /// Another number of joints; then this pose is unchanged.
    pub fn blend(&mut self, other: &Self, weight: f32) -> Result<(), Invalid> {
        self.check_joints(other.joints.len())?;
        self.blend_by(other, |_| weight, weight);
        Ok(())
    }

    /// As [`LocalPose::blend`], with the weight of each joint times that of the mask, and the
    /// weight of all channels times that of [`JointMask::shapes`].
    ///
    /// # Errors
    /// Another number of joints of the pose or of the mask; then this pose is unchanged.
    pub fn blend_masked(
        &mut self,
        other: &Self,
        weight: f32,
        mask: &JointMask,
    ) -> Result<(), Invalid> {
        self.check_joints(other.joints.len())?;
        self.check_joints(mask.joints.len())?;
        let of_joint = |joint: usize| weight * mask.joints[joint];
        self.blend_by(other, of_joint, weight * mask.shapes);
        Ok(())
    }

    /// Adds the change from one pose to another, times a weight: translations, scales and weights
    /// as differences, rotations as the turn from the first to the second. For an additive clip,
    /// `begin` is its first moment and `end` the moment to show.
    ///
    /// # Errors
    /// Another number of joints; then this pose is unchanged.
    pub fn add(&mut self, begin: &Self, end: &Self, weight: f32) -> Result<(), Invalid> {
        for count in [begin.joints.len(), end.joints.len()] {
            self.check_joints(count)?;
        }
        self.add_by(begin, end, |_| weight, weight);
        Ok(())
    }

    /// As [`LocalPose::add`], with the weight of each joint times that of the mask, and the weight
    /// of all channels times that of [`JointMask::shapes`].
    ///
    /// # Errors
    /// Another number of joints of a pose or of the mask; then this pose is unchanged.
    pub fn add_masked(
        &mut self,
        begin: &Self,
        end: &Self,
        weight: f32,
        mask: &JointMask,
    ) -> Result<(), Invalid> {
        for count in [begin.joints.len(), end.joints.len(), mask.joints.len()] {
            self.check_joints(count)?;
        }
        let of_joint = |joint: usize| weight * mask.joints[joint];
        self.add_by(begin, end, of_joint, weight * mask.shapes);
        Ok(())
    }

    /// Keeps a joint where it is in another pose along the axes that are not wanted: for a root,
    /// the pose at the clip's beginning and [`glam::BVec3::FALSE`] play the clip in place.
    ///
    /// # Errors
    /// A joint that one of the poses lacks; then this pose is unchanged.
    pub fn in_place(
        &mut self,
        joint: usize,
        begin: &Self,
        axes: glam::BVec3,
    ) -> Result<(), Invalid> {
        let count = self.joints.len().min(begin.joints.len());
        if joint >= count {
            let expected = format!("a joint below {count}");
            return Err(Invalid::new("pose", "joints", expected, joint.to_string()));
        }
        let moved = <[bool; 3]>::from(axes);
        let begin = begin.joints[joint].translation;
        for (axis, to) in self.joints[joint].translation.iter_mut().enumerate() {
            if !moved[axis] {
                *to = begin[axis];
            }
        }
        Ok(())
    }

    /// The transforms as matrices in f64, from joint space to the parent's space.
    #[must_use]
    pub fn matrices(&self) -> Vec<DMat4> {
        self.joints.iter().map(JointTransform::matrix).collect()
    }

    /// The skinning transforms of a skeleton in this pose, with this pose's weights as channel
    /// weights.
    ///
    /// # Errors
    /// As [`Pose::from_local`].
    pub fn to_pose(&self, skeleton: &Skeleton) -> Result<Pose, Invalid> {
        let pose = Pose::from_local(skeleton, &self.matrices())?;
        Ok(pose.with_weights(self.weights.clone()))
    }

    fn check_joints(&self, found: usize) -> Result<(), Invalid> {
        if found == self.joints.len() {
            return Ok(());
        }
        let expected = format!("{} joints", self.joints.len());
        Err(Invalid::new("pose", "joints", expected, found.to_string()))
    }

    fn blend_by(&mut self, other: &Self, of_joint: impl Fn(usize) -> f32, shapes: f32) {
        for (index, (to, from)) in self.joints.iter_mut().zip(&other.joints).enumerate() {
            *to = blended_joint(*to, *from, of_joint(index));
        }
        let count = self.weights.len().max(other.weights.len());
        self.weights.resize(count, 0.0);
        let share = shapes.clamp(0.0, 1.0);
        for (channel, to) in self.weights.iter_mut().enumerate() {
            let from = other.weights.get(channel).copied().unwrap_or(0.0);
            *to += (from - *to) * share;
        }
    }

    fn add_by(&mut self, begin: &Self, end: &Self, of_joint: impl Fn(usize) -> f32, shapes: f32) {
        let pairs = begin.joints.iter().zip(&end.joints);
        for (index, (to, (begin, end))) in self.joints.iter_mut().zip(pairs).enumerate() {
            let share = of_joint(index);
            if share != 0.0 {
                *to = added_joint(*to, [*begin, *end], share);
            }
        }
        let count = begin.weights.len().max(end.weights.len());
        self.weights.resize(self.weights.len().max(count), 0.0);
        let of = |pose: &Self, channel: usize| pose.weights.get(channel).copied().unwrap_or(0.0);
        for (channel, to) in self.weights.iter_mut().enumerate() {
            *to += (of(end, channel) - of(begin, channel)) * shapes;
        }
    }
}

/// How much of a pose each joint of a skeleton takes, such as only the upper body.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMask {
    joints: Vec<f32>,
    shapes: f32,
}

impl JointMask {
    /// Every joint, and all blend shapes.
    #[must_use]
    pub fn all(joint_count: usize) -> Self {
        Self {
            joints: vec![1.0; joint_count],
            shapes: 1.0,
        }
    }

    /// These joints and all below them, and no blend shapes. A joint is named by its path, by the
    /// last part of its path, or by its jointNames.
    ///
    /// # Errors
    /// A name that no joint has, or several.
    pub fn below<S: AsRef<str>>(skeleton: &Skeleton, joints: &[S]) -> Result<Self, Invalid> {
        let mut out = Self {
            joints: vec![0.0; skeleton.joints().len()],
            shapes: 0.0,
        };
        for name in joints {
            out.joints[find_joint(skeleton, name.as_ref())?] = 1.0;
        }
        // Parents come before their children.
        for (joint, parent) in skeleton.topology().parents().enumerate() {
            if parent.is_some_and(|parent| out.joints[parent] > 0.0) {
                out.joints[joint] = 1.0;
            }
        }
        Ok(out)
    }

    /// Everything that this mask leaves out.
    #[must_use]
    pub fn inverted(mut self) -> Self {
        for weight in self.joints.iter_mut().chain([&mut self.shapes]) {
            *weight = 1.0 - *weight;
        }
        self
    }

    /// The same mask with this weight, from 0 to 1, for all blend shape channels.
    #[must_use]
    pub fn with_shapes(self, weight: f32) -> Self {
        let shapes = weight;
        Self { shapes, ..self }
    }

    /// The weight of the blend shape channels.
    #[must_use]
    pub fn shapes(&self) -> f32 {
        self.shapes
    }

    /// The weight of each joint, to be read or changed. They are meant to be from 0 to 1.
    pub fn joints_mut(&mut self) -> &mut [f32] {
        &mut self.joints
    }

    /// The weight of each joint.
    #[must_use]
    pub fn joints(&self) -> &[f32] {
        &self.joints
    }
}

fn find_joint(skeleton: &Skeleton, name: &str) -> Result<usize, Invalid> {
    let joints = skeleton.joints();
    if let Some(whole) = joints.iter().position(|joint| joint == name) {
        return Ok(whole);
    }
    let named = |joint: &usize| {
        let last = joints[*joint].rsplit('/').next();
        let own = skeleton.joint_names().map(|names| names[*joint].as_str());
        last == Some(name) || own == Some(name)
    };
    let found: Vec<usize> = (0..joints.len()).filter(named).collect();
    match found[..] {
        [one] => Ok(one),
        _ => {
            let expected = format!("one joint that is named '{name}'");
            let found = match found.len() {
                0 => "none".to_owned(),
                more => more.to_string(),
            };
            Err(Invalid::new(skeleton.path(), "joints", expected, found))
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::kernel::packed_clip::{ClipOptions, ClipSource, JointCurves};
    use crate::sampled::{Interpolation, Sampled};
    use crate::skel::Topology;

    fn chain() -> Skeleton {
        let names = ["Hips", "Hips/Spine", "Hips/Spine/Head", "Hips/Leg"];
        let names = names.map(String::from).to_vec();
        let parents = [None, Some(0), Some(1), Some(0)];
        let bind = vec![DMat4::IDENTITY; 4];
        Skeleton::from_parents("Rig", names, &parents, bind, None).unwrap()
    }

    /// The root walks along x by 2 in a second; a channel rises to 1.
    fn walk() -> Clip {
        let mut source = ClipSource::new("walk", Topology::from_parents(vec![None]));
        let keys = [(0.0, 0.0), (1.0, 2.0)].map(|(t, x)| (t, Some(glam::DVec3::X * x)));
        let translation = Sampled::new(None, keys.to_vec(), Interpolation::Linear);
        source.joints[0] = JointCurves {
            translation,
            ..Default::default()
        };
        let keys = vec![(0.0, Some(0.0)), (1.0, Some(1.0))];
        source.weights = vec![Sampled::new(None, keys, Interpolation::Linear)];
        Clip::new(
            "walk",
            PackedClip::pack(&source, &ClipOptions::default())
                .unwrap()
                .0,
        )
    }

    #[test]
    fn root_motion_goes_on_over_loops() {
        let walk = walk();
        let way = |from, to| walk.root_motion(0, from, to).unwrap().x;
        for (from, to, expected) in [
            (0.25, 0.75, 1.0),
            (0.75, 1.25, 1.0),
            (0.5, 3.5, 6.0),
            (0.25, -0.25, -1.0),
            // A time that f32 rounds to the clip's end.
            (0.9, 1.0f64.next_down(), 0.2),
            (0.9, 2.0f64.next_down(), 2.2),
        ] {
            assert!((way(from, to) - expected).abs() < 1e-3, "{from} to {to}");
        }
        assert!(walk.root_motion(1, 0.0, 1.0).is_err());
        assert!(walk.root_motion(0, 0.0, f64::NAN).is_err());
        assert_eq!(walk.looped(f64::INFINITY), 0.0);
        assert_eq!(walk.looped(1.0f64.next_down()), 0.0);
        assert!((walk.looped(-0.25) - 0.75).abs() < 1e-6);
        let mut pose = walk.sample(0.5);
        pose.in_place(0, &walk.sample(0.0), glam::BVec3::FALSE)
            .unwrap();
        assert_eq!(pose.joints[0].translation[0], 0.0);
        assert!((pose.weights[0] - 0.5).abs() < 1e-3);
        assert!(
            pose.in_place(1, &walk.sample(0.0), glam::BVec3::FALSE)
                .is_err()
        );
    }

    #[test]
    fn masks_take_a_joint_and_all_below() {
        let skeleton = chain();
        let mask = JointMask::below(&skeleton, &["Spine"]).unwrap();
        assert_eq!(mask.joints(), [0.0, 1.0, 1.0, 0.0]);
        assert_eq!(mask.clone().inverted().joints(), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!((mask.shapes(), mask.inverted().shapes()), (0.0, 1.0));
        let text = JointMask::below(&skeleton, &["Tail"])
            .unwrap_err()
            .to_string();
        assert!(text.contains("'Tail'"), "{text}");
    }

    #[test]
    fn blends_and_sums_leave_other_joints_alone() {
        let turned = |angle: f32| LocalPose {
            joints: vec![
                JointTransform::new(
                    Vec3::X * angle,
                    Quat::from_rotation_y(angle),
                    Vec3::ONE
                );
                4
            ],
            weights: vec![angle],
        };
        let angle = |pose: &LocalPose, joint: usize| {
            Quat::from_array(pose.joints[joint].rotation)
                .to_axis_angle()
                .1
        };
        let mask = JointMask::below(&chain(), &["Spine"]).unwrap();
        let mut pose = turned(0.2);
        pose.blend_masked(&turned(1.0), 0.5, &mask).unwrap();
        assert_eq!(pose.joints[0], turned(0.2).joints[0]);
        assert!((angle(&pose, 2) - 0.6).abs() < 1e-4);
        assert_eq!(pose.weights, [0.2]);
        pose.blend(&turned(1.0), 1.0).unwrap();
        assert_eq!(pose, turned(1.0));
        pose.add(&turned(0.25), &turned(0.75), 1.0).unwrap();
        assert!((angle(&pose, 3) - 1.5).abs() < 1e-4);
        assert!((pose.weights[0] - 1.5).abs() < 1e-6);
        let before = pose.clone();
        let few = LocalPose::default();
        assert!(pose.blend(&few, 0.5).is_err());
        assert!(
            pose.blend_masked(&before.clone(), 0.5, &JointMask::all(3))
                .is_err()
        );
        assert!(pose.add(&few, &before.clone(), 0.5).is_err());
        assert_eq!(pose, before);
    }

    #[test]
    fn clips_of_a_set_have_the_same_joints() {
        let other = ClipSource::new("other", Topology::from_parents(vec![None, Some(0)]));
        let other = PackedClip::pack(&other, &ClipOptions::default()).unwrap().0;
        let set = ClipSet::new(vec![walk(), walk()]).unwrap();
        assert_eq!((set.clips().len(), set.get("run").is_none()), (2, true));
        let error = ClipSet::new(vec![walk(), Clip::new("other", other)]).unwrap_err();
        assert_eq!(error.prim, "other");
    }
}
