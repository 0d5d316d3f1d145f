//! EXT_skeleton_humanoid: data relative to the bind pose.

use glam::{DMat4, DQuat, DVec3};
use sinew_animate::asset::{
    Asset, AssetClip, AssetFormat, Curve, CurveInterpolation, Keys, LocalTransform, TrackTarget,
    Trs,
};
use sinew_animate::humanoid::{
    Applied, ApplyOptions, MissingBone, Mode, apply, reference_asset, reference_rotation,
};
use sinew_animate::retarget::Bone;

use super::{skin_at_rest, turn_alike, turns, turns_and_hips, warns};
use common::figure::{
    Figure, angle, clip, curve, rotation, rotations, sampled_at, scales, times, translations, trs,
};
use common::rng::Rng;
use common::tolerance::{FOLDED_TURN, FORMULAS_IN_F64, HUMANOID, SAME_IN_F64};

const BONES: &[Bone] = &[
    Bone::Hips,
    Bone::Spine,
    Bone::Chest,
    Bone::Neck,
    Bone::Head,
    Bone::LeftShoulder,
    Bone::LeftUpperArm,
    Bone::LeftUpperLeg,
    Bone::RightUpperLeg,
];

/// Applies a clip without a model.
fn put(model: &Asset, clip: &AssetClip, mode: Mode) -> Applied {
    super::put(model, &Asset::default(), clip, mode)
}

/// Where the joints stood at bind time: their rest, but for some that are posed otherwise.
fn bind_worlds(rng: &mut Rng, figure: &Figure, posed: &[Bone], scaled: bool) -> Vec<DMat4> {
    let mut worlds: Vec<DMat4> = Vec::new();
    let posed: Vec<usize> = posed.iter().filter_map(|b| figure.bone(*b)).collect();
    for (i, node) in figure.asset.nodes.iter().enumerate() {
        let local = if posed.contains(&i) {
            trs(rng, scaled).matrix()
        } else {
            node.local.matrix()
        };
        worlds.push(node.parent.map_or(local, |p| worlds[p] * local));
    }
    worlds
}

/// The extension's own pseudo code: `bindLocal * compose(T, R, S)`, all in matrices.
fn check_matrices(figure: &Figure, worlds: &[DMat4], data: &AssetClip, applied: &AssetClip) {
    let mut compared = 0;
    for bone in BONES {
        let node = figure.at(*bone);
        let parent = figure.asset.nodes[node].parent.unwrap();
        let bind = worlds[parent].inverse() * worlds[node];
        let of = |pick: fn(&Keys) -> bool| {
            let track = data
                .tracks
                .iter()
                .find(|t| t.target == TrackTarget::Bone(*bone) && pick(&t.curve.keys));
            track.map(|t| &t.curve)
        };
        let moved = of(|k| matches!(k, Keys::Translation(_)));
        let turned = of(|k| matches!(k, Keys::Rotation(_)));
        let scaled = of(|k| matches!(k, Keys::Scale(_)));
        let [Some(moved), Some(turned), Some(scaled)] = [moved, turned, scaled] else {
            panic!("{bone} has all three");
        };
        for time in times() {
            let delta = DMat4::from_scale_rotation_translation(
                scaled.vector(time).unwrap(),
                turned.rotation(time).unwrap(),
                moved.vector(time).unwrap(),
            );
            let found = figure.local(applied, node, time).matrix();
            assert!(
                found.abs_diff_eq(bind * delta, HUMANOID),
                "{bone} at {time}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 40 * BONES.len());
}

fn all_components(rng: &mut Rng, bones: &[Bone]) -> AssetClip {
    let mut tracks = Vec::new();
    for bone in bones {
        let target = TrackTarget::Bone(*bone);
        tracks.push((target.clone(), rotations(rng)));
        tracks.push((target.clone(), translations(rng)));
        tracks.push((target, scales(rng)));
    }
    clip(tracks)
}

/// Bones below nodes that are no joints, joints between bones, any bind space, a part of the model posed.
#[test]
fn tracks_are_the_bind_times_the_data_between_keys_too() {
    for seed in 0..40 {
        let rng = &mut Rng::new(seed);
        let scaled = seed % 2 == 0;
        let mut figure = Figure::random(rng, BONES, scaled);
        let posed = [Bone::LeftUpperArm, Bone::Head];
        let worlds = bind_worlds(rng, &figure, &posed, scaled);
        // Bind matrices in the scene's space, or in some mesh's.
        let bind_from_scene = if seed % 3 == 0 {
            DMat4::IDENTITY
        } else {
            trs(rng, scaled).matrix()
        };
        // Every second node between two bones is a joint too.
        let mut joints: Vec<usize> = figure.asset.humanoids[0].bones.values().copied().collect();
        joints.extend(
            figure
                .asset
                .nodes
                .iter()
                .enumerate()
                .filter(|(i, n)| n.name.starts_with("above") && i % 4 == 0)
                .map(|(i, _)| i),
        );
        figure.skin(&joints, bind_from_scene, |j| worlds[j]);
        let data = all_components(rng, BONES);
        let applied = put(&figure.asset, &data, Mode::Literal);
        check_matrices(&figure, &worlds, &data, &applied.clip);
        assert_eq!(applied.report.bones, {
            let mut sorted = BONES.to_vec();
            sorted.sort();
            sorted
        });
        assert!(applied.report.missing.is_empty());
    }
}

/// Legs in a skin of their own: with the hips in both, or joined through the scene alone, each in its own space.
#[test]
fn bones_may_be_spread_over_two_skins() {
    for seed in 0..40 {
        let rng = &mut Rng::new(1000 + seed);
        let mut figure = Figure::random(rng, BONES, false);
        let worlds = bind_worlds(rng, &figure, &[Bone::Head], false);
        let leg = |b: &&Bone| b.name().contains("Leg");
        let mut upper: Vec<usize> = BONES
            .iter()
            .filter(|b| !leg(b))
            .map(|b| figure.at(*b))
            .collect();
        let mut lower: Vec<usize> = BONES.iter().filter(leg).map(|b| figure.at(*b)).collect();
        if seed % 2 == 0 {
            lower.push(figure.at(Bone::Hips));
        }
        if seed % 4 > 1 {
            upper.reverse();
        }
        let spaces = [trs(rng, false).matrix(), trs(rng, false).matrix()];
        figure.skin(&upper, spaces[0], |j| worlds[j]);
        figure.skin(&lower, spaces[1], |j| worlds[j]);
        let data = all_components(rng, BONES);
        let applied = put(&figure.asset, &data, Mode::Literal);
        check_matrices(&figure, &worlds, &data, &applied.clip);
    }
}

/// A bind pose turned against the rest as a whole: the hips' parent stays where it rests, and most joints say where.
#[test]
fn the_scene_is_where_most_joints_are_at_rest() {
    let rng = &mut Rng::new(7);
    let mut figure = Figure::random(rng, BONES, false);
    let worlds = bind_worlds(rng, &figure, &[Bone::LeftUpperLeg], false);
    let joints: Vec<usize> = figure.asset.humanoids[0].bones.values().copied().collect();
    let space = trs(rng, false).matrix();
    figure.skin(&joints, space, |j| worlds[j]);
    let hips = figure.at(Bone::Hips);
    let identity = Curve {
        times: vec![0.0],
        interpolation: CurveInterpolation::Linear,
        keys: Keys::Rotation(vec![DQuat::IDENTITY]),
    };
    let data = clip([(TrackTarget::Bone(Bone::Hips), identity)]);
    let applied = put(&figure.asset, &data, Mode::Literal);
    let found = figure.world(&applied.clip, hips, 0.0);
    assert!(found.abs_diff_eq(worlds[hips], HUMANOID));
    // With the space said to be the scene's, the hips would be elsewhere.
    assert!(!(space * worlds[hips]).abs_diff_eq(worlds[hips], 1e-3));
}

#[test]
fn a_missing_bone_is_dropped_and_told_of() {
    let rng = &mut Rng::new(3);
    let mut figure = Figure::random(rng, BONES, false);
    skin_at_rest(&mut figure);
    let data = all_components(rng, &[Bone::Chest, Bone::UpperChest, Bone::LeftHand]);
    let applied = put(&figure.asset, &data, Mode::Literal);
    assert_eq!(applied.report.bones, [Bone::Chest]);
    assert_eq!(applied.clip.tracks.len(), 3);
    let missing = |bone| MissingBone {
        bone,
        folded_into: Vec::new(),
    };
    assert_eq!(
        applied.report.missing,
        [missing(Bone::UpperChest), missing(Bone::LeftHand)]
    );
    for name in ["upperChest", "leftHand"] {
        let words = format!("{name}: the model lacks this bone");
        assert!(
            warns(&applied, "bone-missing", &words),
            "{:?}",
            applied.report.warnings
        );
    }
    // A clip of missing bones alone says so.
    let data = all_components(rng, &[Bone::UpperChest]);
    let options = ApplyOptions::default();
    let refused = apply(&figure.asset, &Asset::default(), &data, &options).unwrap_err();
    assert!(refused.to_string().contains("nothing of clip"), "{refused}");
}

/// A figure in the reference pose, without some bones; and with every bone.
fn reference_without(bones: &[Bone]) -> (Figure, Figure) {
    let whole = Figure {
        asset: reference_asset(),
    };
    let mut less = Figure::new();
    for bone in Bone::ALL.iter().filter(|b| !bones.contains(b)) {
        let above = bone.ancestors().find_map(|a| less.bone(a));
        let world = |n: usize| whole.asset.rest_world(n);
        let parent = above.map_or(DMat4::IDENTITY, |n| less.asset.rest_world(n));
        let local = parent.inverse() * world(*bone as usize);
        let (scale, rotation, translation) = local.to_scale_rotation_translation();
        let rotation = rotation.normalize();
        assert!(scale.abs_diff_eq(DVec3::ONE, FORMULAS_IN_F64));
        let node = less.node(
            above,
            bone.name(),
            Trs {
                translation,
                rotation,
                scale: DVec3::ONE,
            },
        );
        less.asset.humanoids[0].bones.insert(*bone, node);
    }
    skin_at_rest(&mut less);
    (whole, less)
}

/// On a model in the reference pose, collapsing keeps every remaining bone's way in the world.
#[test]
fn collapse_gives_a_missing_bones_turn_to_those_below() {
    let lacking = [
        Bone::Chest,
        Bone::UpperChest,
        Bone::LeftShoulder,
        Bone::RightToes,
    ];
    let (whole, less) = reference_without(&lacking);
    let rng = &mut Rng::new(5);
    let moved = [
        Bone::Spine,
        Bone::Chest,
        Bone::UpperChest,
        Bone::Neck,
        Bone::LeftShoulder,
        Bone::LeftUpperArm,
        Bone::RightUpperArm,
        Bone::RightToes,
    ];
    let mut turns = |b: &Bone| {
        let keys = (0..5)
            .map(|_| DQuat::IDENTITY.slerp(rotation(rng), 0.3))
            .collect();
        (
            TrackTarget::Bone(*b),
            curve(rng, CurveInterpolation::Linear, Keys::Rotation(keys)),
        )
    };
    let data = clip(moved.iter().map(&mut turns));
    let on_whole = put(&whole.asset, &data, Mode::Literal);
    let on_less = put(&less.asset, &data, Mode::Collapse);
    let mut exact = 0;
    for bone in Bone::ALL.iter().filter(|b| !lacking.contains(b)) {
        for time in times().chain(data.tracks.iter().flat_map(|t| t.curve.times.clone())) {
            let expected = whole.turn(&on_whole.clip, whole.at(*bone), time);
            let found = less.turn(&on_less.clip, less.at(*bone), time);
            let is_key = sampled_at(&less, &on_less.clip, *bone, time, 5);
            exact += usize::from(is_key);
            let limit = if is_key {
                HUMANOID * 100.0
            } else {
                FOLDED_TURN
            };
            assert!(
                angle(expected, found) < limit,
                "{bone} at {time}: {}",
                angle(expected, found)
            );
        }
    }
    assert!(exact > 200, "{exact}");
    let into = |bone: Bone| {
        let found = on_less.report.missing.iter().find(|m| m.bone == bone);
        found.map(|m| m.folded_into.clone()).unwrap()
    };
    assert_eq!(
        into(Bone::Chest),
        [Bone::Neck, Bone::LeftUpperArm, Bone::RightShoulder]
    );
    assert_eq!(into(Bone::LeftShoulder), [Bone::LeftUpperArm]);
    assert_eq!(into(Bone::RightToes), []);
    // Only where rotations meet are curves sampled anew: the right shoulder takes over two, the spine none.
    let keys_of = |bone: Bone| {
        let track = on_less
            .clip
            .tracks
            .iter()
            .find(|t| t.target == TrackTarget::Node(less.at(bone)));
        track.unwrap().curve.times.len()
    };
    assert_eq!(keys_of(Bone::Spine), 5);
    assert!(keys_of(Bone::RightShoulder) >= 10);
    // Literally, the same clip leaves the neck elsewhere.
    let literal = put(&less.asset, &data, Mode::Literal);
    let (neck, time) = (less.at(Bone::Neck), 0.7);
    let off = angle(
        less.turn(&literal.clip, neck, time),
        less.turn(&on_less.clip, neck, time),
    );
    assert!(off > 0.05, "{off}");
}

/// Conjugated, a model with any bone axes turns in the world as one in the reference pose does.
#[test]
fn conjugate_makes_up_for_other_axes() {
    let rng = &mut Rng::new(11);
    let whole = Figure {
        asset: reference_asset(),
    };
    // The same places, each bone's axes turned anyhow.
    let twists: Vec<DMat4> = Bone::ALL
        .iter()
        .map(|_| DMat4::from_quat(rotation(rng)))
        .collect();
    let mut twisted = whole.clone();
    for bone in Bone::ALL {
        let n = *bone as usize;
        let world = |n: usize| whole.asset.rest_world(n) * twists[n];
        let above = whole.asset.nodes[n].parent.map_or(DMat4::IDENTITY, world);
        let (_, rotation, translation) =
            (above.inverse() * world(n)).to_scale_rotation_translation();
        let rotation = rotation.normalize();
        twisted.asset.nodes[n].local = LocalTransform::Trs(Trs {
            translation,
            rotation,
            scale: DVec3::ONE,
        });
        twisted.asset.skins[0].inverse_bind[n] = world(n).inverse();
    }
    let data = clip(turns_and_hips(rng, Bone::ALL));
    let expected = put(&whole.asset, &data, Mode::Literal);
    let found = put(&twisted.asset, &data, Mode::Conjugate);
    for bone in Bone::ALL {
        for time in times() {
            let n = *bone as usize;
            turn_alike(
                (&whole, &expected.clip, n),
                (&twisted, &found.clip, n),
                time,
            );
            let [a, b] = [(&whole, &expected), (&twisted, &found)]
                .map(|(f, c)| f.world(&c.clip, n, time).w_axis);
            assert!(a.abs_diff_eq(b, HUMANOID), "{bone} at {time}");
        }
    }
    let off = |a: &Applied| warns(a, "pose-off-reference", "");
    assert!(!off(&found) && !off(&expected));
    assert!(off(&put(&twisted.asset, &data, Mode::Literal)));
    // K as the spec writes it: r = b_R K^-1 R K.
    let bone = Bone::LeftLowerArm;
    let node = bone as usize;
    let time = 0.9;
    let (_, world, _) = twisted
        .asset
        .rest_world(node)
        .to_scale_rotation_translation();
    let k = reference_rotation(bone).inverse() * world;
    let track = data
        .tracks
        .iter()
        .find(|t| t.target == TrackTarget::Bone(bone))
        .unwrap();
    let expected = twisted.asset.nodes[node].local.trs().rotation
        * k.inverse()
        * track.curve.rotation(time).unwrap()
        * k;
    let found = twisted.local(&found.clip, node, time).rotation;
    assert!(angle(expected, found) < HUMANOID * 100.0);
}

#[test]
fn translations_scale_with_the_hips_where_asked() {
    let big = reference_asset();
    // Half the size, in an armature of hundredths: units of the clip's own file do not matter.
    let mut small = Figure::new();
    let armature = small.node(
        None,
        "armature",
        Trs {
            scale: DVec3::splat(0.01),
            ..Trs::IDENTITY
        },
    );
    for bone in Bone::ALL {
        let mut local = big.nodes[*bone as usize].local.trs();
        local.translation *= 50.0;
        let parent = bone.parent().map_or(armature, |p| small.at(p));
        let node = small.node(Some(parent), bone.name(), local);
        small.asset.humanoids[0].bones.insert(*bone, node);
    }
    skin_at_rest(&mut small);
    let rng = &mut Rng::new(2);
    let data = clip([(TrackTarget::Bone(Bone::Hips), translations(rng))]);
    let mut options = ApplyOptions::default();
    options.scale_translation = true;
    let on_small = apply(&small.asset, &big, &data, &options).unwrap();
    let big_figure = Figure { asset: big.clone() };
    let on_big = put(&big, &data, Mode::Literal);
    for time in times() {
        let p = big_figure.world(&on_big.clip, 0, time).w_axis.truncate();
        let q = small
            .world(&on_small.clip, small.at(Bone::Hips), time)
            .w_axis
            .truncate();
        assert!(q.abs_diff_eq(p * 0.5, HUMANOID), "{time}: {q} {p}");
    }
    let scale = on_small.report.hips_scale.unwrap();
    assert!((scale - 50.0).abs() < SAME_IN_F64, "{scale}");
    // A clip without a model has no height.
    let alone = apply(&small.asset, &Asset::default(), &data, &options).unwrap();
    assert_eq!(alone.report.hips_scale, None);
    assert!(warns(&alone, "hips-height", ""));
}

/// VRM 0.x bones have the world's axes on a model that faces -Z.
#[test]
fn a_vrm0_model_moves_as_its_turned_vrm1_twin() {
    let (one, zero) = super::rest_relative::twins(&mut Rng::new(21));
    let rng = &mut Rng::new(22);
    let bones: Vec<Bone> = one.asset.humanoids[0].bones.keys().copied().collect();
    let data = clip(turns_and_hips(rng, &bones));
    for mode in [Mode::Literal, Mode::Conjugate, Mode::Collapse] {
        let [a, b] = [&one, &zero].map(|f| put(&f.asset, &data, mode).clip);
        super::rest_relative::check_twins((&one, &a), (&zero, &b), &bones);
    }
    assert_eq!(zero.asset.format, AssetFormat::Vrm0);
}

/// The other way that a model comes to face -Z: as a whole, bones' axes and all.
#[test]
fn a_vrm0_model_turned_as_a_whole_takes_literal_data_as_they_are() {
    let (one, _) = super::rest_relative::twins(&mut Rng::new(23));
    let mut zero = one.clone();
    zero.asset.format = AssetFormat::Vrm0;
    let half_turn = DMat4::from_rotation_y(std::f64::consts::PI);
    let root = half_turn * zero.asset.nodes[0].local.matrix();
    zero.asset.nodes[0].local = LocalTransform::Matrix(root);
    for inverse in &mut zero.asset.skins[0].inverse_bind {
        *inverse *= half_turn.inverse();
    }
    let rng = &mut Rng::new(24);
    let bones: Vec<Bone> = one.asset.humanoids[0].bones.keys().copied().collect();
    let data = clip(turns(rng, &bones));
    let applied = [&one, &zero].map(|f| put(&f.asset, &data, Mode::Literal));
    assert_eq!(applied[0].clip, applied[1].clip);
    let [a, b] = applied.map(|a| a.clip);
    super::rest_relative::check_twins((&one, &a), (&zero, &b), &bones);
}

/// Axes other than the reference pose's, but the clip's own skeleton has them too: collapsing goes by those.
#[test]
fn collapse_goes_by_the_clips_own_skeleton() {
    let rng = &mut Rng::new(61);
    let mut source = Figure::random(rng, BONES, false);
    skin_at_rest(&mut source);
    // The same nodes, one of them no bone any more.
    let mut target = source.clone();
    target.asset.humanoids[0].bones.remove(&Bone::LeftShoulder);
    let data = clip([(TrackTarget::Bone(Bone::LeftShoulder), rotations(rng))]);
    let [on_source, on_target] = [&source, &target]
        .map(|figure| super::put(&figure.asset, &source.asset, &data, Mode::Collapse).clip);
    let arm = source.at(Bone::LeftUpperArm);
    for time in times() {
        turn_alike((&source, &on_source, arm), (&target, &on_target, arm), time);
    }
}

#[test]
fn several_skeletons_are_told_apart() {
    let mut two = reference_asset();
    let first = two.humanoids[0].clone();
    let count = two.nodes.len();
    let copies: Vec<_> = two
        .nodes
        .iter()
        .map(|n| {
            let mut n = n.clone();
            n.parent = n.parent.map(|p| p + count);
            n
        })
        .collect();
    two.nodes.extend(copies);
    two.roots.push(count);
    let mut second = first.clone();
    second.bones.values_mut().for_each(|n| *n += count);
    two.humanoids.push(second);
    let mut skin = two.skins[0].clone();
    skin.joints.iter_mut().for_each(|j| *j += count);
    two.skins.push(skin);
    let rng = &mut Rng::new(1);
    let data = clip([(TrackTarget::Bone(Bone::Head), rotations(rng))]);
    for skeleton in 0..2 {
        let mut options = ApplyOptions::default();
        options.skeleton = skeleton;
        let applied = apply(&two, &Asset::default(), &data, &options).unwrap();
        let head = Bone::Head as usize + skeleton * count;
        assert_eq!(applied.clip.tracks[0].target, TrackTarget::Node(head));
    }
    let mut options = ApplyOptions::default();
    options.skeleton = 2;
    let refused = apply(&two, &Asset::default(), &data, &options).unwrap_err();
    assert!(refused.to_string().contains("number 2"), "{refused}");
    let none = apply(&Asset::default(), &Asset::default(), &data, &options).unwrap_err();
    assert!(
        none.to_string().contains("has no humanoid skeleton"),
        "{none}"
    );
}
