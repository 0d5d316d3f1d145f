//! The clips that can be chosen, and USD's among them played.

use std::path::PathBuf;
use std::sync::Arc;

use sinew::scene::{PlacedSkeleton, ShapeChannel, SkinBinding};
use sinew::skel::{AnimMapper, SkelAnimation, SkeletonInstance};
use sinew_animate::asset::{Asset, ClipKind, ClipMoves, clip_pairs};
use sinew_render::Loaded;

/// A clip of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipEntry {
    /// As the list shows it, such as `Walk + WalkShapes`.
    pub label: String,
    /// As the file is asked for it: names that `+` joins play at once.
    pub name: String,
    /// The file of a clip that is retargeted; `None` for the shown file's own.
    pub from: Option<PathBuf>,
}

/// What a file plays by itself, where its list has no name for it.
pub const AS_AUTHORED: &str = "as the file says";

impl ClipEntry {
    /// What the shown file plays by itself.
    pub fn as_authored() -> Self {
        Self::new(AS_AUTHORED, None)
    }

    fn new(name: &str, from: Option<&PathBuf>) -> Self {
        Self::joined(&[name], from)
    }

    /// Clips that play at once.
    fn joined(names: &[&str], from: Option<&PathBuf>) -> Self {
        let file = from.and_then(|f| f.file_name()).unwrap_or_default();
        let file = file.to_string_lossy();
        let label = match (names.join(" + "), from) {
            (name, None) => name,
            (name, Some(_)) if name.is_empty() => file.into_owned(),
            (name, Some(_)) => format!("{file}: {name}"),
        };
        Self {
            label,
            name: names.join("+"),
            from: from.cloned(),
        }
    }
}

/// The clip of this label or name.
pub fn find(clips: &[ClipEntry], asked: &str) -> Option<usize> {
    let by = |f: fn(&ClipEntry) -> &str| clips.iter().position(|c| f(c) == asked);
    by(|c| &c.label).or_else(|| by(|c| &c.name))
}

/// The clips of a file, with those that belong together joined before the first of them.
pub fn of_asset(asset: &Asset, from: Option<&PathBuf>) -> Vec<ClipEntry> {
    let names: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
    listed(&names, &asset.clip_pairs(), from)
}

/// The SkelAnimations of a USD file, in the same way.
pub fn of_animations(animations: &[SkelAnimation], from: Option<&PathBuf>) -> Vec<ClipEntry> {
    let names: Vec<&str> = animations.iter().map(|a| a.path.as_str()).collect();
    listed(&names, &pairs(animations), from)
}

fn listed(names: &[&str], pairs: &[(usize, usize)], from: Option<&PathBuf>) -> Vec<ClipEntry> {
    let mut out = Vec::with_capacity(names.len() + pairs.len());
    for (i, name) in names.iter().enumerate() {
        for (joints, shapes) in pairs.iter().filter(|(a, b)| *a.min(b) == i) {
            let names = [names[*joints], names[*shapes]];
            // Such a name would be taken apart elsewhere.
            if !names.iter().any(|n| n.contains('+')) {
                out.push(ClipEntry::joined(&names, from));
            }
        }
        out.push(ClipEntry::new(name, from));
    }
    out
}

fn pairs(animations: &[SkelAnimation]) -> Vec<(usize, usize)> {
    let kind = |a: &SkelAnimation| {
        let times = a.joint_times().chain(a.blend_shape_weights.times());
        let range = times.fold(None, |range: Option<(f64, f64)>, t| {
            let (first, last) = range.unwrap_or((t, t));
            Some((first.min(t), last.max(t)))
        });
        let moves = match (a.joints.is_empty(), a.blend_shapes.is_empty()) {
            (false, true) => ClipMoves::Joints,
            (true, false) => ClipMoves::Shapes,
            _ => ClipMoves::Both,
        };
        (moves, range)
    };
    let kinds: Vec<ClipKind<'_>> = animations
        .iter()
        .map(|a| {
            let (moves, range) = kind(a);
            let name = &a.path;
            ClipKind { name, moves, range }
        })
        .collect();
    clip_pairs(&kinds)
}

/// Lists the SkelAnimations of a USD file, and plays the one of this name in place of the one that
/// each Skeleton is bound to. Gives the list and what is played of it. Without a name, shapes that
/// belong to a bound clip and that nothing plays are played with it.
pub fn choose(
    loaded: &mut Loaded,
    animations: Vec<SkelAnimation>,
    asked: Option<&str>,
) -> (Vec<ClipEntry>, Option<usize>) {
    let bound = |path: &str| loaded.scene.animations.iter().any(|a| a.path == path);
    // One that is bound anyway is no choice.
    if animations.len() < 2 && animations.iter().all(|a| bound(&a.path)) {
        return (Vec::new(), None);
    }
    let clips = of_animations(&animations, None);
    let pairs = pairs(&animations);
    let parts = |(joints, shapes): (usize, usize)| [&animations[joints], &animations[shapes]];
    let name = |pair| parts(pair).map(|a| a.path.as_str()).join("+");
    let asked = match asked {
        Some(asked) => find(&clips, asked).map(|i| clips[i].name.clone()),
        None => {
            let half = |pair: &&(usize, usize)| {
                let [joints, shapes] = parts(**pair);
                bound(&joints.path) && !bound(&shapes.path)
            };
            pairs.iter().find(half).map(|pair| name(*pair))
        }
    };
    let Some(asked) = asked else {
        return (clips, None);
    };
    let joined = pairs.iter().find(|pair| name(**pair) == asked);
    let animation = match joined {
        Some(pair) => {
            let [joints, shapes] = parts(*pair);
            Some(SkelAnimation {
                blend_shapes: shapes.blend_shapes.clone(),
                blend_shape_weights: shapes.blend_shape_weights.clone(),
                ..joints.clone()
            })
        }
        None => animations.iter().find(|a| a.path == asked).cloned(),
    };
    if let Some(animation) = animation {
        play(loaded, &Arc::new(animation));
    }
    let clip = find(&clips, &asked);
    (clips, clip)
}

/// Has an animation drive every Skeleton whose joints or shapes it names.
fn play(loaded: &mut Loaded, animation: &Arc<SkelAnimation>) {
    let scene = &mut loaded.scene;
    let tokens = |channels: &[ShapeChannel]| -> Vec<String> {
        channels.iter().map(|s| s.token.clone()).collect()
    };
    let moves = |placed: &PlacedSkeleton| {
        let joints = placed.instance.skeleton().joints();
        !AnimMapper::new(&animation.joints, joints).reaches_nothing()
    };
    let driven = |placed: &PlacedSkeleton| {
        let skeleton = Arc::clone(placed.instance.skeleton());
        SkeletonInstance::new(skeleton, Some(Arc::clone(animation)))
    };
    for (number, placed) in scene.instances.iter_mut().enumerate() {
        let of_it = |b: &&mut SkinBinding| b.instance == number && !b.shapes.is_empty();
        let bindings: Vec<_> = scene.bindings.iter_mut().filter(of_it).collect();
        let named = |channel: &ShapeChannel| animation.blend_shapes.contains(&channel.token);
        if !moves(placed) && !bindings.iter().any(|b| b.shapes.iter().any(named)) {
            continue;
        }
        placed.instance = driven(placed);
        for binding in bindings {
            let shapes = tokens(&binding.shapes);
            binding.channel_mapper = Some(AnimMapper::new(&animation.blend_shapes, &shapes));
        }
    }
    for placed in scene.unbound_skeletons.iter_mut().filter(|p| moves(p)) {
        placed.instance = driven(placed);
    }
    // Where the stage has no range of its own, its animations say how long it plays.
    scene.animations = vec![Arc::clone(animation)];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_that_belong_together_are_listed_joined_and_alone() {
        let labels = |from: Option<&PathBuf>| -> Vec<String> {
            let clips = listed(&["Walk", "Run", "WalkShapes"], &[(0, 2)], from);
            clips.into_iter().map(|c| c.label).collect()
        };
        assert_eq!(
            labels(None),
            ["Walk + WalkShapes", "Walk", "Run", "WalkShapes"]
        );
        let file = PathBuf::from("folder/moves.glb");
        assert_eq!(labels(Some(&file))[0], "moves.glb: Walk + WalkShapes");
        let clips = listed(&["Walk", "WalkShapes"], &[(0, 1)], None);
        assert_eq!(find(&clips, "Walk+WalkShapes"), Some(0));
        assert_eq!(find(&clips, "Walk"), Some(1));
        // Nameless clips of another file are called by its name.
        assert_eq!(listed(&[""], &[], Some(&file))[0].label, "moves.glb");
    }
}
