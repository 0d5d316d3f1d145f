//! VRM Animation: data relative to the rest pose.

use glam::{DQuat, DVec3};
use sinew_animate::asset::{
    Asset, AssetClip, AssetFormat, Curve, CurveInterpolation, Expression, Keys, LocalTransform,
    Mesh, MorphBind, TrackTarget, Trs,
};
use sinew_animate::humanoid::{Applied, Mode, expressions_to_weights};
use sinew_animate::retarget::Bone;

use super::{skin_at_rest, turn_alike, warns};
use common::figure::{Figure, angle, clip, rotations, sampled_at, times, translations};
use common::rng::Rng;
use common::tolerance::{FORMULAS_IN_F64, HUMANOID};

const BONES: &[Bone] = &[
    Bone::Hips,
    Bone::Spine,
    Bone::Chest,
    Bone::UpperChest,
    Bone::Neck,
    Bone::Head,
    Bone::LeftShoulder,
    Bone::LeftUpperArm,
    Bone::LeftLowerArm,
    Bone::RightUpperLeg,
];

/// Node tracks on every bone: rotations, and the hips' translation.
fn motion(rng: &mut Rng, figure: &Figure) -> AssetClip {
    let mut tracks: Vec<(TrackTarget, Curve)> = figure.asset.humanoids[0]
        .bones
        .values()
        .map(|n| (TrackTarget::Node(*n), rotations(rng)))
        .collect();
    tracks.push((TrackTarget::Node(figure.at(Bone::Hips)), translations(rng)));
    clip(tracks)
}

fn put(model: &Figure, source: &Figure, clip: &AssetClip) -> Applied {
    super::put(&model.asset, &source.asset, clip, Mode::Literal)
}

/// Any rests, turned nodes between the bones, other heights: what the clip turns each bone by in the world stays.
#[test]
fn turns_in_the_world_are_the_sources() {
    for seed in 0..30 {
        let rng = &mut Rng::new(seed);
        let source = Figure::random(rng, BONES, false);
        let target = Figure::random(rng, BONES, false);
        let data = motion(rng, &source);
        let applied = put(&target, &source, &data);
        for bone in BONES {
            for time in times() {
                turn_alike(
                    (&source, &data, source.at(*bone)),
                    (&target, &applied.clip, target.at(*bone)),
                    time,
                );
            }
        }
        // Curves keep their kind and their keys.
        for bone in BONES {
            let kinds = [(&source, &data), (&target, &applied.clip)].map(|(figure, clip)| {
                let node = TrackTarget::Node(figure.at(*bone));
                let tracks = clip.tracks.iter().filter(|t| t.target == node);
                tracks
                    .map(|t| (t.curve.times.clone(), t.curve.interpolation))
                    .collect::<Vec<_>>()
            });
            assert_eq!(kinds[0], kinds[1], "{bone}");
        }
        hips(&source, &data, &target, &applied.clip);
    }
}

/// `p' = rest' + h (p - rest)` in the world.
fn hips(source: &Figure, data: &AssetClip, target: &Figure, found: &AssetClip) {
    let none = AssetClip::default();
    let at = |f: &Figure, c: &AssetClip, t: f64| f.world(c, f.at(Bone::Hips), t).w_axis.truncate();
    let [from, to] = [source, target].map(|f| at(f, &none, 0.0));
    let h = to.y / from.y;
    for time in times() {
        let expected = to + h * (at(source, data, time) - from);
        let found = at(target, found, time);
        let size = 1.0f64.max(h.abs());
        assert!(
            found.abs_diff_eq(expected, HUMANOID * size),
            "{time}: {found} {expected}"
        );
    }
}

/// What the target lacks goes on to the bones below, so that those above the gap and below it stand as in the source.
#[test]
fn a_missing_bones_turn_goes_to_its_children() {
    let lacking = [Bone::UpperChest, Bone::Chest, Bone::LeftUpperArm];
    let rng = &mut Rng::new(77);
    let source = Figure::random(rng, BONES, false);
    let kept: Vec<Bone> = BONES
        .iter()
        .filter(|b| !lacking.contains(b))
        .copied()
        .collect();
    let target = Figure::random(rng, &kept, false);
    let data = motion(rng, &source);
    let applied = put(&target, &source, &data);
    let mut compared = 0;
    for bone in &kept {
        // At the keys of every curve that its own is made of.
        for time in data.tracks.iter().flat_map(|t| t.curve.times.clone()) {
            let node = target.at(*bone);
            let track = applied.clip.tracks.iter().find(|t| {
                t.target == TrackTarget::Node(node) && matches!(t.curve.keys, Keys::Rotation(_))
            });
            if track.is_none() || !sampled_at(&target, &applied.clip, *bone, time, 4) {
                continue;
            }
            turn_alike(
                (&source, &data, source.at(*bone)),
                (&target, &applied.clip, node),
                time,
            );
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
    let names: Vec<Bone> = applied.report.missing.iter().map(|m| m.bone).collect();
    assert_eq!(names, [Bone::Chest, Bone::UpperChest, Bone::LeftUpperArm]);
    assert_eq!(
        applied.report.missing[0].folded_into,
        [Bone::Neck, Bone::LeftShoulder]
    );
    assert_eq!(applied.report.missing[2].folded_into, [Bone::LeftLowerArm]);
}

/// The same figure as VRM 1.0, facing +Z, and as VRM 0.x, facing -Z, with the world's axes on every bone.
pub fn twins(rng: &mut Rng) -> (Figure, Figure) {
    let mut one = Figure::random(rng, BONES, false);
    for node in &mut one.asset.nodes {
        let translation = node.local.trs().translation;
        node.local = LocalTransform::Trs(Trs {
            translation,
            ..Trs::IDENTITY
        });
    }
    one.asset.format = AssetFormat::Vrm1;
    let mut zero = one.clone();
    zero.asset.format = AssetFormat::Vrm0;
    for node in &mut zero.asset.nodes {
        if let LocalTransform::Trs(trs) = &mut node.local {
            trs.translation *= DVec3::new(-1.0, 1.0, -1.0);
        }
    }
    for figure in [&mut one, &mut zero] {
        skin_at_rest(figure);
    }
    (one, zero)
}

pub fn check_twins(one: (&Figure, &AssetClip), zero: (&Figure, &AssetClip), bones: &[Bone]) {
    let half_turn = DQuat::from_rotation_y(std::f64::consts::PI);
    for bone in bones {
        for time in times() {
            let [a, b] = [one, zero].map(|(f, c)| {
                let place = f.world(c, f.at(*bone), time).w_axis.truncate();
                (place, f.turn(c, f.at(*bone), time))
            });
            assert!(
                b.0.abs_diff_eq(half_turn * a.0, HUMANOID),
                "{bone} at {time}"
            );
            let turned = half_turn * a.1 * half_turn.inverse();
            assert!(angle(turned, b.1) < HUMANOID * 100.0, "{bone} at {time}");
        }
    }
}

#[test]
fn a_vrm0_model_moves_as_its_turned_vrm1_twin() {
    let rng = &mut Rng::new(31);
    let (one, zero) = twins(rng);
    let source = Figure::random(rng, BONES, false);
    let data = motion(rng, &source);
    let [a, b] = [&one, &zero].map(|f| put(f, &source, &data).clip);
    check_twins((&one, &a), (&zero, &b), BONES);
    // As a source, too: its own clip back onto the twin.
    let back = put(&one, &zero, &b).clip;
    check_twins((&one, &back), (&zero, &b), BONES);
}

#[test]
fn what_rest_relative_clips_do_not_say_is_told_of() {
    let rng = &mut Rng::new(41);
    let source = Figure::random(rng, BONES, false);
    let target = Figure::random(rng, BONES, false);
    let spacer = source.asset.nodes[source.at(Bone::Head)].parent.unwrap();
    let data = clip([
        (TrackTarget::Node(source.at(Bone::Head)), rotations(rng)),
        (TrackTarget::Node(source.at(Bone::Neck)), translations(rng)),
        (TrackTarget::Node(spacer), rotations(rng)),
    ]);
    let applied = put(&target, &source, &data);
    assert_eq!(applied.report.bones, [Bone::Head]);
    let said = |words: &str| warns(&applied, "track-ignored", words);
    assert!(
        said("above head") && said("translations of neck"),
        "{:?}",
        applied.report.warnings
    );
    // In every mode the same.
    for mode in [Mode::Collapse, Mode::Conjugate] {
        let other = super::put(&target.asset, &source.asset, &data, mode);
        assert_eq!(other.clip, applied.clip);
    }
}

#[test]
fn expressions_pass_by_name_and_become_weights() {
    let rng = &mut Rng::new(51);
    let mut target = Figure::random(rng, BONES, false);
    let slider = |values: &[f64]| Curve {
        times: (0..values.len()).map(|i| i as f64).collect(),
        interpolation: CurveInterpolation::Linear,
        keys: Keys::Weights {
            count: 1,
            values: values.to_vec(),
        },
    };
    target.asset.meshes.push(Mesh {
        target_names: vec!["smile".into(), "wink".into()],
        weights: vec![0.25, 0.0],
        ..Mesh::default()
    });
    let head = target.at(Bone::Head);
    target.asset.nodes[head].mesh = Some(0);
    let bind = |target, weight| MorphBind {
        mesh: 0,
        target,
        weight,
    };
    target.asset.expressions = vec![
        Expression {
            name: "happy".into(),
            is_binary: false,
            binds: vec![bind(0, 0.5), bind(1, 1.0)],
        },
        Expression {
            name: "blink".into(),
            is_binary: false,
            binds: vec![bind(1, 0.5)],
        },
    ];
    target.asset.validate().unwrap();
    let data = clip([
        (TrackTarget::Expression("happy".into()), slider(&[0.0, 1.0])),
        (
            TrackTarget::Expression("blink".into()),
            slider(&[1.0, 0.0, 1.0]),
        ),
        (
            TrackTarget::Expression("surprised".into()),
            slider(&[0.0, 1.0]),
        ),
    ]);
    let applied = super::put(&target.asset, &Asset::default(), &data, Mode::Literal);
    assert_eq!(applied.report.expressions, ["happy", "blink"]);
    let mut warnings = applied.report.warnings.iter();
    assert!(warnings.any(|w| w.message.contains("surprised")));
    let plain = expressions_to_weights(&target.asset, &applied.clip);
    let [track] = &plain.tracks[..] else {
        panic!("{plain:?}")
    };
    assert_eq!(track.target, TrackTarget::Node(head));
    for time in [0.0, 0.3, 1.0, 1.6, 2.0] {
        let happy = data.tracks[0].curve.weight(0, time).unwrap();
        let blink = data.tracks[1].curve.weight(0, time).unwrap();
        let found = [0, 1].map(|i| track.curve.weight(i, time).unwrap());
        let expected = [0.25 + 0.5 * happy, happy + 0.5 * blink];
        assert!(
            (0..2).all(|i| (found[i] - expected[i]).abs() < FORMULAS_IN_F64),
            "{time}: {found:?}"
        );
    }
}
