//! Property tests of the encoder.

use glam::{DAffine3, DQuat, DVec3};

use super::measure;
use super::{ClipOptions, ClipSource, PackedClip};
use crate::kernel::testing::Rng;
use crate::sampled::{Interpolation, Sampled};
use crate::skel::Topology;

/// A chain of joints, 20 cm apart, that turn in different ways.
fn chain(joints: u32, samples: usize, seed: u64) -> ClipSource {
    let parents = (0..joints).map(|j| j.checked_sub(1)).collect();
    let mut source = ClipSource::new("chain", Topology::from_parents(parents));
    let mut rng = Rng(seed * 2 + 1);
    for joint in 0..joints as usize {
        source.rest[joint].translation = [0.2, 0.0, 0.01];
        let axis = (rng.vector().as_dvec3()).normalize_or(DVec3::Z);
        let (size, speed) = (f64::from(rng.unit()), 1.0 + f64::from(rng.unit()) * 4.0);
        source.joints[joint].rotation = keys(samples, |t| {
            DQuat::from_axis_angle(axis, size * (t * speed).sin())
        });
    }
    source
}

/// The bound in metres, and what times in f32 are off by.
const ALLOWED: f64 = 1.005e-4;

/// Thirty samples a second of a function.
fn keys<T>(samples: usize, value: impl Fn(f64) -> T) -> Sampled<T> {
    let keys = (0..samples).map(|i| (i as f64 / 30.0, Some(value(i as f64 / 30.0))));
    Sampled::new(None, keys.collect(), Interpolation::Linear)
}

/// The largest error at a time, in units of the skeleton, computed apart from the encoder.
fn error_at(source: &ClipSource, clip: &PackedClip, time: f64, start: f64) -> f64 {
    let joints = source.topology.len();
    let found = |j| measure::matrix_of(&clip.joint(j, (time - start) as f32));
    let mut found: Vec<DAffine3> = (0..joints).map(found).collect();
    let wanted = |j| measure::matrix(&source.joint(j, time));
    let mut wanted: Vec<DAffine3> = (0..joints).map(wanted).collect();
    measure::to_skeleton(&source.topology, &mut found);
    measure::to_skeleton(&source.topology, &mut wanted);
    let mut worst = 0.0f64;
    for (found, wanted) in found.iter().zip(&wanted) {
        for point in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X] {
            let point = point * 0.03;
            let error = found.transform_point3(point) - wanted.transform_point3(point);
            assert!(error.is_finite());
            worst = worst.max(error.length());
        }
    }
    worst
}

/// Checks the bound at so many times, a step apart.
fn keeps_the_bound(source: &ClipSource, clip: &PackedClip, count: usize, step: f64) {
    for i in 0..count {
        let time = f64::from((i as f64 * step) as f32);
        let error = error_at(source, clip, time, 0.0);
        assert!(error <= ALLOWED, "{error} at {time}");
    }
}

fn pack(source: &ClipSource) -> (PackedClip, super::ClipReport) {
    let (clip, report) = PackedClip::pack(source, &ClipOptions::default()).unwrap();
    assert_eq!(report.bytes, clip.words().len() * 4);
    assert!(report.worst.metres <= 1e-4, "{report:?}");
    (clip, report)
}

#[test]
fn the_bound_holds_at_any_time_and_clips_get_small() {
    for (joints, samples, seed) in [(1, 40, 1), (5, 31, 2), (40, 70, 3), (12, 2, 4)] {
        let source = chain(joints, samples, seed);
        let (clip, report) = pack(&source);
        let mut rng = Rng(77);
        for _ in 0..500 {
            let time = f64::from(rng.unit()) * f64::from(clip.duration());
            let error = error_at(&source, &clip, f64::from(time as f32), 0.0);
            assert!(error <= ALLOWED, "{joints} joints: {error} at {time}");
        }
        if samples > 30 {
            assert!(report.ratio() > 6.0, "{report:?}");
        }
    }
}

#[test]
fn a_tighter_bound_takes_more_bytes_and_a_bound_beyond_f32_is_refused() {
    let source = chain(10, 40, 9);
    let sizes = [1e-3, 1e-4, 1e-5].map(|bound_metres| {
        let options = ClipOptions {
            bound_metres,
            ..ClipOptions::default()
        };
        let (_, report) = PackedClip::pack(&source, &options).unwrap();
        assert!(report.worst.metres <= bound_metres);
        report.bytes
    });
    assert!(sizes[0] < sizes[1] && sizes[1] < sizes[2], "{sizes:?}");
    let options = ClipOptions {
        bound_metres: 1e-10,
        ..ClipOptions::default()
    };
    let refused = PackedClip::pack(&source, &options).unwrap_err().to_string();
    assert!(refused.contains("with keys in f32"), "{refused}");
}

#[test]
fn the_unit_of_the_skeleton_counts() {
    let mut source = chain(6, 40, 5);
    let (_, metres) = pack(&source);
    for rest in &mut source.rest {
        rest.translation = rest.translation.map(|x| x * 100.0);
    }
    let options = ClipOptions {
        meters_per_unit: 0.01,
        ..ClipOptions::default()
    };
    let (_, centimetres) = PackedClip::pack(&source, &options).unwrap();
    assert!(centimetres.worst.metres <= 1e-4);
    let apart = metres.bytes.abs_diff(centimetres.bytes);
    assert!(apart * 20 < metres.bytes, "{metres:?} {centimetres:?}");
}

#[test]
fn constants_and_defaults_take_no_track() {
    let mut source = chain(30, 50, 6);
    for joint in 1..30 {
        source.joints[joint].rotation = keys(50, |_| DQuat::from_rotation_x(0.3));
        source.joints[joint].scale = keys(50, |_| DVec3::ONE);
    }
    let (_, report) = pack(&source);
    assert_eq!(report.components, [30, 59, 1], "{report:?}");
    assert!(report.ratio() > 40.0, "{report:?}");
}

#[test]
fn held_keys_hold_until_the_next_one() {
    let mut source = chain(3, 40, 7);
    // Keys at odd times, and at those of the linear curves.
    let times = [0.0, 0.1, 0.4, 0.7351, 1.0];
    let values = times.map(|t: f64| DQuat::from_rotation_y(t * 7.0));
    let all = times.into_iter().zip(values.map(Some)).collect();
    source.joints[1].rotation = Sampled::new(None, all, Interpolation::Held);
    let (clip, _) = pack(&source);
    for (i, time) in times.into_iter().enumerate() {
        let next = times.get(i + 1).copied().unwrap_or(1.3);
        for part in [0.0, 0.25, 0.5, 0.9, 0.97] {
            let at = (time + (next - time) * part) as f32;
            let found = clip.joint(1, at).rotation.map(f64::from);
            let near = DQuat::from_array(found).dot(values[i]).abs();
            assert!(near > 1.0 - 1e-8, "{at}: {near}");
        }
    }
}

#[test]
fn splines_are_followed_between_their_keys() {
    let mut source = chain(2, 2, 8);
    let curve = |t: f64| DQuat::from_rotation_z((t * 6.0).sin() * 1.5);
    source.joints[0].rotation = Sampled::from_curve(None, Vec::new(), move |t| Some(curve(t)));
    source.joints[1].rotation = Sampled::default();
    source.key_times = vec![0.0, 1.0, 2.0];
    let (clip, _) = pack(&source);
    assert_eq!(clip.duration(), 2.0);
    keeps_the_bound(&source, &clip, 1_001, 0.002);
}

#[test]
fn rotations_far_apart_and_signs_of_quaternions() {
    let mut source = chain(2, 2, 8);
    let turns = [0.0, 3.1, 6.1, 9.3, 12.0, 12.1, 15.2];
    let key = |i: usize| {
        let sign = if i % 2 == 1 { -1.0 } else { 1.0 };
        let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), turns[i]);
        (i as f64 * 0.1, Some(turn * sign))
    };
    let all = (0..turns.len()).map(key).collect();
    source.joints[0].rotation = Sampled::new(None, all, Interpolation::Linear);
    let (clip, _) = pack(&source);
    keeps_the_bound(&source, &clip, 1_201, 0.0005);
}

#[test]
fn scales_differ_by_axis_and_mirror() {
    let mut source = chain(8, 40, 10);
    for joint in 0..8 {
        let grow = 0.1 * joint as f64;
        source.joints[joint].scale = keys(40, |t| {
            DVec3::new(1.0 + grow * t.sin(), 0.8, -1.0 - 0.2 * t)
        });
    }
    let (clip, _) = pack(&source);
    keeps_the_bound(&source, &clip, 1_000, 0.0013);
}

#[test]
fn no_length_one_key_and_no_joints() {
    let (clip, report) = pack(&chain(4, 1, 11));
    assert_eq!((clip.duration(), report.samples), (0.0, 1));
    assert_eq!(clip.joint(2, -3.0), clip.joint(2, 9.0));
    let (clip, _) = pack(&ClipSource::new("empty", Topology::default()));
    assert_eq!((clip.joint_count(), clip.duration()), (0, 0.0));
    let mut still = chain(2, 2, 12);
    still.range = (0.5, 0.5);
    assert_eq!(pack(&still).0.duration(), 0.0);
}

#[test]
fn a_range_cuts_the_clip() {
    let mut source = chain(4, 60, 13);
    source.range = (0.31, 1.2);
    let (clip, _) = pack(&source);
    assert_eq!(clip.duration(), (1.2f64 - 0.31) as f32);
    for i in 0..20 {
        let time = 0.31 + 0.04 * f64::from(i);
        let error = error_at(&source, &clip, time, 0.31);
        assert!(error <= ALLOWED, "{error} at {time}");
    }
}

#[test]
fn weights_keep_their_bound() {
    let mut source = ClipSource::new("weights", Topology::default());
    source.weights = vec![
        keys(90, |t| (t * 3.0).sin()),
        keys(90, |_| 0.25),
        Sampled::default(),
        keys(90, |t| f64::from(u8::from(t > 1.01))),
    ];
    let (clip, report) = pack(&source);
    assert!(
        report.worst_weight <= 5e-4 && report.ratio() > 3.0,
        "{report:?}"
    );
    assert_eq!((clip.weight(1, 1.0), clip.weight(2, 1.0)), (0.25, 0.0));
    for i in 0..900 {
        let time = i as f32 * 0.0033;
        let wanted = source.weight(0, f64::from(time));
        assert!((f64::from(clip.weight(0, time)) - wanted).abs() < 5.005e-4);
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let cases: [fn(&mut ClipSource); 5] = [
        |s| s.joints[1].translation = keys(3, |_| DVec3::NAN),
        |s| s.joints[1].rotation = keys(3, |_| DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        |s| s.joints[1].scale = keys(3, |t| DVec3::splat(1.0 / (t - t))),
        |s| s.weights = vec![keys(3, |_| f64::NAN)],
        |s| s.key_times = vec![f64::NAN],
    ];
    for change in cases {
        let mut source = chain(3, 3, 14);
        change(&mut source);
        assert!(PackedClip::pack(&source, &ClipOptions::default()).is_err());
    }
    let options = ClipOptions {
        bound_metres: f64::NAN,
        ..ClipOptions::default()
    };
    assert!(PackedClip::pack(&chain(3, 3, 14), &options).is_err());
    // Deeper than any rig that a GPU poses.
    let deep = PackedClip::pack(&chain(1025, 1, 15), &ClipOptions::default());
    assert!(deep.unwrap_err().to_string().contains("1024 levels"));
    let mut short = chain(3, 3, 14);
    short.rest.pop();
    assert!(PackedClip::pack(&short, &ClipOptions::default()).is_err());
}

#[test]
fn words_do_not_depend_on_threads() {
    let source = chain(20, 100, 15);
    let packed = [1, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| pack(&source))
    });
    assert_eq!(packed[0], packed[1]);
}
