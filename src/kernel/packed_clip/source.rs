//! The input of the encoder: curves of joints and of blend shape channels, in plain data.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};

use crate::error::Invalid;
use crate::kernel::JointTransform;
use crate::math::Trs;
use crate::sampled::{Lerp, Sampled, Time};
use crate::skel::{SkelAnimation, SkeletonInstance, Topology};

/// The animation of one joint relative to its parent. Times are in seconds. A curve without a value
/// gives the joint's rest.
#[derive(Clone, Debug, Default)]
pub struct JointCurves {
    /// In units of the skeleton.
    pub translation: Sampled<DVec3>,
    /// About the joint; unit quaternions.
    pub rotation: Sampled<DQuat>,
    /// Along the joint's axes.
    pub scale: Sampled<DVec3>,
}

impl JointCurves {
    /// Whether any of its curves may change over time.
    pub(super) fn is_animated(&self) -> bool {
        self.translation.is_animated() || self.rotation.is_animated() || self.scale.is_animated()
    }

    /// Whether its rotation, translation and scale hold each key until the next one.
    pub(super) fn step_keys(&self) -> [bool; 3] {
        [
            self.rotation.is_held(),
            self.translation.is_held(),
            self.scale.is_held(),
        ]
    }
}

/// A clip to be packed, for the joints of one skeleton in their order.
///
/// ```
/// use glam::DQuat;
/// use sinew::kernel::packed_clip::{ClipOptions, ClipSource, JointCurves, PackedClip};
/// use sinew::sampled::{Interpolation, Sampled};
/// use sinew::skel::Topology;
///
/// let turn = |angle| Some(DQuat::from_rotation_z(angle));
/// let rotation = Sampled::new(None, vec![(0.0, turn(0.0)), (0.5, turn(1.0))], Interpolation::Linear);
/// let shoulder = JointCurves { rotation, ..Default::default() };
/// let mut source = ClipSource::new("wave", Topology::from_parents(vec![None, Some(0)]));
/// source.joints[0] = shoulder;
/// source.rest[1].translation = [0.3, 0.0, 0.0];
/// let (clip, report) = PackedClip::pack(&source, &ClipOptions::default())?;
/// assert_eq!((clip.joint_count(), clip.duration()), (2, 0.5));
/// assert!(report.worst.metres <= 1e-4);
/// assert_eq!(clip.joint(1, 0.25).translation, [0.3, 0.0, 0.0]);
/// # Ok::<(), sinew::Invalid>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClipSource {
    /// Name for messages: the file and the clip, or the path of the SkelAnimation.
    pub name: String,
    /// The hierarchy of the joints.
    pub topology: Topology,
    /// The rest transform of each joint.
    pub rest: Vec<JointTransform>,
    /// The curves of each joint.
    pub joints: Vec<JointCurves>,
    /// The weight of each blend shape channel. A curve without a value gives 0.
    pub weights: Vec<Sampled<f64>>,
    /// The beginning and the end of the clip, in seconds of the curves.
    pub range: (f64, f64),
    /// Times at which curves that are functions ([`Sampled::from_curve`]) have their keys, in
    /// seconds. Times of samples need not be repeated here.
    pub key_times: Vec<f64>,
}

impl ClipSource {
    /// Creates a clip without curves: all joints rest at the identity, and there are no channels.
    /// Set the fields next. The range is empty until [`ClipSource::range`] is set: then the clip
    /// goes from the first to the last time of all curves.
    #[must_use]
    pub fn new(name: impl Into<String>, topology: Topology) -> Self {
        let count = topology.len();
        Self {
            name: name.into(),
            topology,
            rest: vec![JointTransform::IDENTITY; count],
            joints: vec![JointCurves::default(); count],
            weights: Vec::new(),
            range: (f64::INFINITY, f64::NEG_INFINITY),
            key_times: Vec::new(),
        }
    }

    /// The animation of a skeleton: what the skeleton's poses at times are computed from.
    ///
    /// Joints that the animation lacks rest. `channels` are the tokens of the blend shape channels
    /// in the order that the clip is to have; a token that the animation lacks has the weight 0.
    /// Times become seconds. The clip goes from the first to the last sample.
    ///
    /// # Errors
    /// - Rest transforms that are needed and missing, or that have shear.
    /// - An animation that applies at some samples only, because a component is blocked there or
    ///   has another number of elements (rule 8).
    pub fn from_animation<S: AsRef<str>>(
        instance: &SkeletonInstance,
        channels: &[S],
        time_codes_per_second: f64,
    ) -> Result<Self, Invalid> {
        let skeleton = instance.skeleton();
        let name = instance.animation().map_or(skeleton.path(), |a| &a.path);
        let mut out = Self::new(name, skeleton.topology().clone());
        let Some((animation, mapper)) = instance.driver() else {
            out.range = (0.0, 0.0);
            out.weights = vec![Sampled::default(); channels.len()];
            out.rest_of(instance, &[])?;
            return Ok(out);
        };
        let seconds = |code: f64| code / time_codes_per_second;
        let mut moved = vec![false; skeleton.joints().len()];
        if applies(animation)? && !mapper.reaches_nothing() {
            let scales = match &animation.float_scales {
                Some(scales) => scales.clone(),
                None => animation
                    .scales
                    .map(|all| all.iter().map(|s| Vec3::from(s.map(f32::from))).collect()),
            };
            for (of, joint) in mapper.targets().enumerate() {
                let Some(joint) = joint else { continue };
                moved[joint] = true;
                let vector = |v: &Vec<Vec3>| v[of].as_dvec3();
                out.joints[joint] = JointCurves {
                    translation: animation.translations.map_times(seconds).map(vector),
                    rotation: animation
                        .rotations
                        .map_times(seconds)
                        .map(|q| q[of].as_dquat()),
                    scale: scales.map_times(seconds).map(vector),
                };
            }
        }
        out.rest_of(instance, &moved)?;
        let weights = &animation.blend_shape_weights;
        for token in channels {
            // As in a mapper, the last of equal tokens counts.
            let mut tokens = animation.blend_shapes.iter();
            let curve = match tokens.rposition(|t| t == token.as_ref()) {
                Some(at) => weights
                    .map_times(seconds)
                    .map(|all| all.get(at).map_or(0.0, |w| f64::from(*w))),
                None => Sampled::default(),
            };
            out.weights.push(curve);
        }
        Ok(out)
    }

    /// Takes the rest of joints that no curve moves.
    fn rest_of(&mut self, instance: &SkeletonInstance, moved: &[bool]) -> Result<(), Invalid> {
        let skeleton = instance.skeleton();
        let is_moved = |joint: usize| moved.get(joint).copied().unwrap_or_default();
        let Some(rest) = skeleton.rest() else {
            let joints = skeleton.joints().len();
            if (0..joints).all(is_moved) {
                return Ok(());
            }
            // The same error as that of a pose.
            instance.joint_local_transforms(Time::At(f64::NEG_INFINITY))?;
            return Ok(());
        };
        for (joint, matrix) in rest.iter().enumerate() {
            match JointTransform::from_matrix(matrix) {
                Some(local) => self.rest[joint] = local,
                None if is_moved(joint) => {}
                None => {
                    let expected = "transforms without shear for joints that no animation moves";
                    let found = format!("shear for joint {}", skeleton.joints()[joint]);
                    let path = skeleton.path();
                    return Err(Invalid::new(path, "restTransforms", expected, found));
                }
            }
        }
        Ok(())
    }

    /// The local transform of a joint in f64. The rotation is not normalised.
    #[must_use]
    pub fn joint(&self, joint: usize, seconds: f64) -> Trs {
        fn value<T: Lerp + Copy>(curve: &Sampled<T>, seconds: f64, rest: T) -> T {
            let value: Option<Arc<T>> = curve.at(Time::At(seconds));
            value.map_or(rest, |v| *v)
        }
        let (curves, rest) = (&self.joints[joint], &self.rest[joint]);
        let vector = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
        let rotation = DQuat::from_array(rest.rotation.map(f64::from));
        Trs {
            translation: value(&curves.translation, seconds, vector(rest.translation)),
            rotation: value(&curves.rotation, seconds, rotation),
            scale: value(&curves.scale, seconds, vector(rest.scale)),
        }
    }

    /// The weight of a channel in f64.
    #[must_use]
    pub fn weight(&self, channel: usize, seconds: f64) -> f64 {
        self.weights[channel]
            .at(Time::At(seconds))
            .map_or(0.0, |v| *v)
    }

    /// All key times inside the range and the ends of the range, in ascending order, each once.
    pub(super) fn times(&self) -> Result<Vec<f64>, Invalid> {
        let wrong = |property: &str, expected: &str, found: String| {
            Err(Invalid::new(&self.name, property, expected, found))
        };
        let joints = self.joints.iter().flat_map(|j| {
            let scales = j.scale.times();
            j.translation
                .times()
                .chain(j.rotation.times())
                .chain(scales)
        });
        let weights = self.weights.iter().flat_map(Sampled::times);
        let keys = self.key_times.iter().copied();
        let mut times: Vec<f64> = joints.chain(weights).chain(keys).collect();
        if let Some(time) = times.iter().find(|t| !t.is_finite()) {
            return wrong("key times", "finite times", time.to_string());
        }
        times.sort_by(f64::total_cmp);
        times.dedup();
        let (mut start, mut end) = self.range;
        if start == f64::INFINITY && end == f64::NEG_INFINITY {
            start = times.first().copied().unwrap_or_default();
            end = times.last().copied().unwrap_or_default();
        }
        if !(start.is_finite() && end.is_finite() && start <= end) {
            let found = format!("{start} to {end}");
            return wrong("range", "a beginning and an end after it", found);
        }
        times.retain(|t| *t > start && *t < end);
        times.insert(0, start);
        if end > start {
            times.push(end);
        }
        Ok(times)
    }
}

/// Whether an animation applies to joints (rule 8).
///
/// # Errors
/// It applies at some of its samples only.
fn applies(animation: &SkelAnimation) -> Result<bool, Invalid> {
    let mut times: Vec<f64> = animation.joint_times().collect();
    if let Some(scales) = &animation.float_scales {
        times.extend(scales.times());
    }
    times.push(times.first().copied().unwrap_or_default());
    times.sort_by(f64::total_cmp);
    times.dedup();
    let applies = |time: &f64| animation.joint_local_transforms(Time::At(*time)).is_some();
    let first = applies(&times[0]);
    match times.iter().find(|time| applies(time) != first) {
        None => Ok(first),
        Some(time) => Err(Invalid::new(
            &animation.path,
            "",
            "translations, rotations and scales of every joint at all samples, or at none",
            format!("another number of values, or a blocked one, at time {time}"),
        )),
    }
}
