//! Retargets whole clips: makes a SkelAnimation for the target from one for the source.

use glam::{DMat4, Quat, Vec3};
use half::f16;

use super::{Retargeter, Rig};
use sinew::error::Invalid;
use sinew::math::Trs;
use sinew::sampled::{Half3, Interpolation, Sampled, Time};
use sinew::skel::{SkelAnimation, SkeletonInstance};

/// The largest number of frames between keys. Longer clips are sampled only at their keys.
const MOST_FRAMES: f64 = 100_000.0;

/// The times at which to sample a clip: the key times, and frames every `step` from the first to
/// the last key. The frames are needed because world rotations between two keys are not a slerp if
/// several joints of a chain rotate. A frame at the time of a key is not repeated.
#[must_use]
pub fn sample_times(keys: impl IntoIterator<Item = f64>, step: f64) -> Vec<f64> {
    let mut times: Vec<f64> = keys.into_iter().filter(|t| t.is_finite()).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let (Some(first), Some(last)) = (times.first().copied(), times.last().copied()) else {
        return times;
    };
    let count = (last - first) / step;
    if !(1.0..=MOST_FRAMES).contains(&count) {
        return times;
    }
    let keys = times.len();
    for i in 1..=count as usize {
        let frame = first + i as f64 * step;
        let after = times[..keys].partition_point(|t| *t < frame);
        let near = |key: usize| key < keys && (times[key] - frame).abs() < 1e-3 * step;
        if !near(after) && !near(after - 1) {
            times.push(frame);
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

/// The source skeleton with its animation, and the transforms of source and target over time.
pub struct ClipSource<'a> {
    /// The source skeleton and its animation.
    pub instance: &'a SkeletonInstance,
    /// world_from_skel of the source over time; `None` for the constant placement of its [`Rig`].
    pub world_from_skel: Option<&'a dyn Fn(Time) -> DMat4>,
    /// world_from_skel of the target over time; `None` for the constant placement of its [`Rig`].
    pub world_from_target: Option<&'a dyn Fn(Time) -> DMat4>,
}

impl Retargeter {
    /// Retargets a clip at `times`, or only at the default time if `times` is empty. The result
    /// animates all joints of the target; from sample to sample, quaternions stay in the same
    /// hemisphere. `channels` are names of blend shapes of the target: the source's channels with
    /// these names are copied, with their own times.
    ///
    /// # Errors
    /// [`Invalid`] if the source needs rest transforms but has none.
    pub fn retarget_clip(
        &mut self,
        source: &ClipSource<'_>,
        target: &Rig,
        times: &[f64],
        channels: &[String],
    ) -> Result<SkelAnimation, Invalid> {
        let mut local = vec![Trs::IDENTITY; target.len()];
        let mut frame = |time: Time, last: Option<&Frame>| {
            if let Some(placement) = source.world_from_skel {
                self.place_source(placement(time));
            }
            if let Some(placement) = source.world_from_target {
                self.place_target(placement(time));
            }
            let pose = source.instance.joint_local_transforms(time)?;
            let pose: Vec<Trs> = pose.iter().map(Trs::from_matrix).collect();
            self.retarget(&pose, &mut local);
            Ok::<_, Invalid>(Frame::new(&local, last))
        };
        let mut frames: Vec<(f64, Frame)> = Vec::with_capacity(times.len());
        for time in times {
            let next = frame(Time::At(*time), frames.last().map(|(_, f)| f))?;
            frames.push((*time, next));
        }
        let still = match times.is_empty() {
            true => Some(frame(Time::Default, None)?),
            false => None,
        };
        let linear = Interpolation::Linear;
        let mut out = SkelAnimation {
            joints: target.joints().to_vec(),
            ..SkelAnimation::default()
        };
        let mut parts = (Vec::new(), Vec::new(), Vec::new());
        for (time, frame) in frames {
            parts.0.push((time, Some(frame.translations)));
            parts.1.push((time, Some(frame.rotations)));
            parts.2.push((time, Some(frame.scales)));
        }
        let (translations, rotations, scales) = match still {
            Some(f) => (Some(f.translations), Some(f.rotations), Some(f.scales)),
            None => (None, None, None),
        };
        out.translations = Sampled::new(translations, parts.0, linear);
        out.rotations = Sampled::new(rotations, parts.1, linear);
        out.scales = Sampled::new(scales, parts.2, linear);
        if let Some(animation) = source.instance.animation() {
            let shapes = animation.blend_shapes.iter().enumerate();
            let kept: Vec<(usize, &String)> =
                shapes.filter(|(_, n)| channels.contains(n)).collect();
            if !kept.is_empty() {
                out.blend_shapes = kept.iter().map(|(_, name)| (*name).clone()).collect();
                // Channels without a weight are 0 (rule 11).
                out.blend_shape_weights = animation.blend_shape_weights.map(|weights| {
                    let of = |(i, _): &(usize, &String)| weights.get(*i).copied().unwrap_or(0.0);
                    kept.iter().map(of).collect()
                });
            }
        }
        Ok(out)
    }
}

/// A pose in the value types of a SkelAnimation.
struct Frame {
    translations: Vec<Vec3>,
    rotations: Vec<Quat>,
    scales: Vec<Half3>,
}

impl Frame {
    /// Signs of quaternions are chosen so that they are in the same hemisphere as in the last
    /// frame.
    fn new(local: &[Trs], last: Option<&Frame>) -> Self {
        let rotation = |(i, trs): (usize, &Trs)| {
            let q = trs.rotation.as_quat().normalize();
            let flips = match last {
                Some(last) => last.rotations[i].dot(q) < 0.0,
                None => q.w < 0.0,
            };
            if flips { -q } else { q }
        };
        Self {
            translations: local.iter().map(|t| t.translation.as_vec3()).collect(),
            rotations: local.iter().enumerate().map(rotation).collect(),
            // By way of f32, as GfVec3h converts.
            scales: local
                .iter()
                .map(|t| t.scale.to_array().map(|s| f16::from_f32(s as f32)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_lie_between_the_keys() {
        assert_eq!(sample_times([3.0, 1.0, 1.0], 1.0), [1.0, 2.0, 3.0]);
        assert_eq!(
            sample_times([0.0, 0.5, 2.00001, 2.5], 1.0),
            [0.0, 0.5, 1.0, 2.00001, 2.5]
        );
        assert_eq!(sample_times([0.0, 1e12], 1.0), [0.0, 1e12]);
        assert_eq!(sample_times([4.0, f64::NAN], 1.0), [4.0]);
        assert!(sample_times([], 1.0).is_empty());
        assert_eq!(sample_times([0.0, 1.0], 0.0), [0.0, 1.0]);
    }
}
