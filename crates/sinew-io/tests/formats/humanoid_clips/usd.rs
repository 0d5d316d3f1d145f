//! The same motion in a USD file as in a glTF file, and clips without a model as rigs.

use std::path::Path;

use sinew::sampled::Time;
use sinew::skel::reference;
use sinew_animate::asset::{Track, TrackTarget};
use sinew_animate::humanoid::{
    ApplyOptions, apply, expressions_to_weights, on_own_skeleton, reference_asset,
};
use sinew_io::gltf::{self, GltfEdit};
use sinew_io::usd::UsdFile;
use sinew_io::{self as io, ClipChoice, OpenOptions};

use common::command::Bench;
use common::tolerance::READ;

const PUPPET: &str = "../../examples/assets/puppet.glb";
const BOW: &str = "../../examples/assets/bow.glb";

fn opened(file: &Path, clip: &str) -> UsdFile {
    let options = OpenOptions {
        clips: ClipChoice::Named(clip.to_owned()),
        ..OpenOptions::default()
    };
    let is_usd = file.extension().is_some_and(|e| e == "usdc");
    let options = if is_usd {
        OpenOptions::default()
    } else {
        options
    };
    io::open_with(file, &options).unwrap()
}

#[test]
fn usd_and_gltf_outputs_skin_to_the_same_points() {
    let bench = Bench::new();
    let [model, source] = [PUPPET, BOW].map(|file| gltf::read(Path::new(file)).unwrap());
    let clip = &source.clips[0];
    let applied = apply(&model, &source, clip, &ApplyOptions::default()).unwrap();
    let mut edit = GltfEdit::open(Path::new(PUPPET)).unwrap();
    let plain = expressions_to_weights(&model, &applied.clip);
    edit.add_clip(&model, &plain).unwrap();
    let outs = ["bow.usdc", "bow.glb"].map(|name| bench.path(name));
    edit.save(&outs[1]).unwrap();
    let usd = UsdFile::from_asset(&applied.into_asset(model), &OpenOptions::default()).unwrap();
    usd.save_as(&outs[0]).unwrap();
    let scenes = outs.map(|out| opened(&out, &clip.name).scene(Default::default()).unwrap());
    let instances = scenes
        .each_ref()
        .map(|s| s.instances[0].instance.animation().unwrap());
    assert!(!instances[0].joints.is_empty() && instances[0].joints == instances[1].joints);
    let mut moved = 0.0f32;
    let mut compared = 0;
    for (a, b) in scenes[0].bound_skins().zip(scenes[1].bound_skins()) {
        let rest = a.skin(Time::At(0.0)).unwrap();
        for code in 0..8 {
            let time = Time::At(f64::from(code) * 7.0);
            let [p, q] = [&a, &b].map(|bound| {
                let skin = bound.skin(time).unwrap();
                reference::deform(&skin, &bound.pose(time).unwrap())
                    .unwrap()
                    .points
            });
            assert_eq!(p.len(), q.len());
            for ((p, q), r) in p.iter().zip(&q).zip(rest.points()) {
                assert!((*p - *q).length() < 1.0 * READ, "{code}: {p} {q}");
                moved = moved.max((p.as_vec3() - *r).length());
                compared += 1;
            }
        }
    }
    assert!(compared > 1000 && moved > 0.05, "{compared} {moved}");
}

/// An EXT clip file has no model; on the reference pose it is a rig with an animation like any other.
#[test]
fn a_clip_without_a_model_becomes_a_rig() {
    let source = gltf::read(Path::new(BOW)).unwrap();
    let model = reference_asset();
    let applied = apply(&model, &source, &source.clips[0], &ApplyOptions::default()).unwrap();
    assert!(applied.report.missing.is_empty() && applied.report.warnings.is_empty());
    let nodes = applied
        .clip
        .tracks
        .iter()
        .filter(|t| matches!(t.target, TrackTarget::Node(_)));
    assert!(nodes.count() >= 3);
    let file = UsdFile::from_asset(&applied.into_asset(model), &OpenOptions::default()).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    let mut all = scene.instances.iter().chain(&scene.unbound_skeletons);
    let placed = all.next().unwrap();
    assert_eq!(placed.instance.skeleton().joints().len(), 55);
    assert!(placed.instance.animation().is_some());
}

/// Files whose bone channels are for their own skeleton play as they are; those without a model play on the
/// reference pose.
#[test]
fn bone_channels_play_in_their_own_file() {
    let source = gltf::read(Path::new(BOW)).unwrap();
    let puppet = gltf::read(Path::new(PUPPET)).unwrap();
    let mut both = puppet.clone();
    let mut clip = source.clips[0].clone();
    // A track of the file's own nodes beside them, and one that the extension's goes before.
    let other = (0..puppet.nodes.len())
        .find(|n| !puppet.humanoids[0].bones.values().any(|b| b == n))
        .unwrap();
    let curve = clip.tracks[0].curve.clone();
    let bone = match &clip.tracks[0].target {
        TrackTarget::Bone(bone) => puppet.humanoids[0].bones[bone],
        other => panic!("{other:?}"),
    };
    for node in [other, bone] {
        clip.tracks.push(Track {
            target: TrackTarget::Node(node),
            curve: curve.clone(),
        });
    }
    both.clips = vec![clip];
    let own = on_own_skeleton(both);
    let expected = apply(&puppet, &source, &source.clips[0], &ApplyOptions::default()).unwrap();
    let (last, first) = own.clips[0].tracks.split_last().unwrap();
    assert_eq!(first, expected.clip.tracks);
    assert_eq!(
        (&last.target, &last.curve),
        (&TrackTarget::Node(other), &curve)
    );
    // A file of clips alone.
    let scene = io::open(BOW).unwrap().scene(Default::default()).unwrap();
    let placed = scene
        .instances
        .iter()
        .chain(&scene.unbound_skeletons)
        .next()
        .unwrap();
    assert_eq!(placed.instance.skeleton().joints().len(), 55);
    assert!(placed.instance.animation().is_some());
}
