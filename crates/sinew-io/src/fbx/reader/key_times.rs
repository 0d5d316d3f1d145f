//! The times of keys, without the differences that exporters make by rounding.
//!
//! Curves of one Mixamo download have keys of the same frame up to a microsecond apart. A Skeleton
//! has one list of times for all its joints, so each of them would be a sample of its own, and a
//! bake of the clip would take twice as long.

/// Seconds by which keys of one instant differ at most.
pub const SAME: f64 = 2e-6;

/// The distinct instants of the keys of a clip. A key is at the whole frame within [`SAME`], or
/// else at the first of the keys that are that near to each other. Keys of steps stay where they
/// are, because two of them are one [`STEP`](super::load::STEP) apart.
pub struct KeyTimes {
    /// Frames per second; `None` if the file has no usable rate.
    rate: Option<f64>,
    /// Instants that are not whole frames, in seconds, rising.
    between_frames: Vec<f64>,
}

impl KeyTimes {
    pub fn new(baked: &ufbx::BakedAnim, rate: f64) -> Self {
        let mut times = Vec::new();
        let mut add = |time: f64, flags| {
            if !is_step(flags) {
                times.push(time);
            }
        };
        for node in &baked.nodes {
            for keys in [&node.translation_keys, &node.scale_keys] {
                keys.iter().for_each(|k| add(k.time, k.flags));
            }
            let keys = node.rotation_keys.iter();
            keys.for_each(|k| add(k.time, k.flags));
        }
        for prop in baked.elements.iter().flat_map(|e| &e.props) {
            prop.keys.iter().for_each(|k| add(k.time, k.flags));
        }
        Self::of_times(times, rate)
    }

    fn of_times(mut times: Vec<f64>, rate: f64) -> Self {
        let rate = (1.0..=1000.0).contains(&rate).then_some(rate);
        times.retain(|t| t.is_finite() && frame(*t, rate).is_none());
        times.sort_by(f64::total_cmp);
        times.dedup_by(|later, first| *later - *first <= SAME);
        Self {
            rate,
            between_frames: times,
        }
    }

    /// The instant of a key, in seconds.
    pub fn of(&self, time: f64, flags: ufbx::BakedKeyFlags) -> f64 {
        if is_step(flags) {
            return time;
        }
        frame(time, self.rate).unwrap_or_else(|| self.between(time))
    }

    fn between(&self, time: f64) -> f64 {
        let next = self.between_frames.partition_point(|t| *t <= time);
        let first = self.between_frames[..next].last();
        first
            .filter(|t| time - **t <= SAME)
            .copied()
            .unwrap_or(time)
    }
}

fn is_step(flags: ufbx::BakedKeyFlags) -> bool {
    use ufbx::BakedKeyFlags as Flags;
    [Flags::STEP_LEFT, Flags::STEP_RIGHT, Flags::STEP_KEY]
        .into_iter()
        .any(|bit| flags.has_any(bit))
}

/// The whole frame at this time, in seconds.
fn frame(time: f64, rate: Option<f64>) -> Option<f64> {
    let rate = rate?;
    let frame = (time * rate).round() / rate;
    ((frame - time).abs() <= SAME).then_some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_differ_by_rounding_are_one() {
        let (frame, half) = (8.0 / 30.0, 8.5 / 30.0);
        let times = vec![frame + 7e-9, half + 1e-6, half, frame, half + 5e-6];
        let known = KeyTimes::of_times(times, 30.0);
        let of = |time| known.of(time, ufbx::BakedKeyFlags::KEYFRAME);
        assert_eq!(of(frame + 7e-9), frame);
        assert_eq!(of(frame - 9e-7), frame);
        assert_eq!(of(half), half);
        assert_eq!(of(half + 1e-6), half);
        assert_eq!(of(half + 5e-6), half + 5e-6, "another instant");
        let step = ufbx::BakedKeyFlags::STEP_LEFT;
        assert_eq!(known.of(frame - 1e-6, step), frame - 1e-6);
    }

    #[test]
    fn a_file_without_a_rate_has_no_frames() {
        let known = KeyTimes::of_times(vec![0.1, 0.1 + 1e-6, 0.2], f64::NAN);
        let of = |time| known.of(time, ufbx::BakedKeyFlags::NONE);
        assert_eq!(of(0.1 + 1e-6), 0.1);
        assert_eq!(of(0.2), 0.2);
        assert_eq!(of(0.3), 0.3);
    }
}
