//! Clips of bones in files that are opened as USD.

use std::path::Path;

use sinew_animate::asset::{Track, TrackTarget};
use sinew_animate::humanoid::{ApplyOptions, apply, on_own_skeleton};
use sinew_io::{self as io, gltf};

const PUPPET: &str = "../../examples/assets/puppet.glb";
const BOW: &str = "../../examples/assets/bow.glb";

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
