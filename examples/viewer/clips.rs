//! The clips that can be chosen, and USD's among them played.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew::error::first_few;
use sinew::scene::{PlacedSkeleton, ShapeChannel, SkinBinding};
use sinew::skel::{AnimMapper, SkelAnimation, SkeletonInstance};
use sinew_animate::asset::{Asset, ClipKind, ClipMoves, FoundName, clip_pairs, find_clip_name};
use sinew_render::Loaded;

/// A clip of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipEntry {
    /// As the list shows it, such as `walk.glb: Walk + WalkShapes`.
    pub label: String,
    /// Its name as people see it, without its file, such as `Walk + WalkShapes`.
    pub title: String,
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
        let mut out = Self {
            label: String::new(),
            title: names.join(" + "),
            name: names.join("+"),
            from: from.cloned(),
        };
        out.label = out.label_in("");
        out
    }

    /// The label, with a folder and a slash before the name of the file.
    fn label_in(&self, folder: &str) -> String {
        let title = &self.title;
        let Some(from) = &self.from else {
            return title.clone();
        };
        let file = from.file_name().unwrap_or_default().to_string_lossy();
        match title.is_empty() {
            true => format!("{folder}{file}"),
            false => format!("{folder}{file}: {title}"),
        }
    }
}

/// The clip of this label or name.
pub fn find(clips: &[ClipEntry], asked: &str) -> Option<usize> {
    let by = |f: fn(&ClipEntry) -> &str| clips.iter().position(|c| f(c) == asked);
    by(|c| &c.label).or_else(|| by(|c| &c.name))
}

/// The clip that a person means: by its label, its name, the name of its file, or the last words of
/// a label or a glob, as `--clip` of `sinew` finds them.
///
/// # Errors
/// A sentence, if no clip or several clips fit.
pub fn find_meant(clips: &[ClipEntry], asked: &str) -> Result<usize, String> {
    let all = |fits: &dyn Fn(&ClipEntry) -> bool| -> Vec<usize> {
        (0..clips.len()).filter(|i| fits(&clips[*i])).collect()
    };
    let file = |c: &ClipEntry| Some(c.from.as_ref()?.file_name()?.to_string_lossy().into_owned());
    let labels: Vec<&str> = clips.iter().map(|c| c.label.as_str()).collect();
    let names: Vec<&str> = clips.iter().map(|c| c.name.as_str()).collect();
    let like = |texts: &[&str]| match find_clip_name(texts, asked) {
        FoundName::None => Vec::new(),
        FoundName::One(clip) => vec![clip],
        FoundName::Several(clips) => clips,
    };
    let ways: [&dyn Fn() -> Vec<usize>; 5] = [
        &|| all(&|c| c.label == asked),
        &|| all(&|c| c.name == asked),
        &|| all(&|c| file(c).is_some_and(|file| file == asked)),
        &|| like(&names),
        &|| like(&labels),
    ];
    let found = ways.iter().map(|way| way()).find(|f| !f.is_empty());
    let found = found.unwrap_or_default();
    let listed = |which: &[&str]| match which {
        [] => "none".to_owned(),
        some => first_few(some, MOST_NAMES),
    };
    match found[..] {
        [one] => Ok(one),
        [] => Err(format!(
            "no clip is called '{asked}'; the clips are {}",
            listed(&labels)
        )),
        _ => {
            let several: Vec<&str> = found.iter().map(|i| labels[*i]).collect();
            Err(format!("'{asked}' may be any of {}", listed(&several)))
        }
    }
}

/// Most clips that a message lists.
const MOST_NAMES: usize = 12;

/// Labels clips of different files that would have one label with the folders of their files too.
pub fn tell_apart(clips: &mut [ClipEntry]) {
    type Folder = fn(&Path) -> Option<String>;
    let ways: [Folder; 2] = [
        |file| {
            Some(format!(
                "{}/",
                file.parent()?.file_name()?.to_string_lossy()
            ))
        },
        |file| Some(format!("{}/", file.parent()?.display())),
    ];
    for clip in clips.iter_mut() {
        clip.label = clip.label_in("");
    }
    for folder in ways {
        let is_shared =
            |a: &ClipEntry| clips.iter().any(|b| a.label == b.label && a.from != b.from);
        let shared: Vec<bool> = clips.iter().map(is_shared).collect();
        for (clip, _) in clips.iter_mut().zip(shared).filter(|(_, shared)| *shared) {
            if let Some(folder) = clip.from.as_deref().and_then(folder) {
                clip.label = clip.label_in(&folder);
            }
        }
    }
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
    fn a_clip_is_found_by_what_a_person_calls_it() {
        let (walk, moves) = (PathBuf::from("a/walk.bvh"), PathBuf::from("b/moves.glb"));
        let mut clips = listed(&["Wave", "/Hero/Idle"], &[], None);
        clips.extend(listed(&["walk"], &[], Some(&walk)));
        clips.extend(listed(&["Rig|Run", "Rig|Wave"], &[], Some(&moves)));
        let hop = PathBuf::from("c/hop.glb");
        clips.extend(listed(&["Hop", "HopShapes"], &[(0, 1)], Some(&hop)));
        // Nameless clips of another file are called by its name.
        clips.extend(listed(&[""], &[], Some(&PathBuf::from("c/bow.glb"))));
        let none = "no clip is called 'Jump'; the clips are Wave, /Hero/Idle, walk.bvh: walk";
        for (asked, told) in [
            // The shown file's own.
            ("Wave", "Wave"),
            ("Idle", "/Hero/Idle"),
            ("walk", "walk.bvh: walk"),
            ("walk.bvh", "walk.bvh: walk"),
            ("walk.bvh: walk", "walk.bvh: walk"),
            ("Run", "moves.glb: Rig|Run"),
            ("R?g|R*", "moves.glb: Rig|Run"),
            ("*glb*Run", "moves.glb: Rig|Run"),
            ("Rig|Wave", "moves.glb: Rig|Wave"),
            ("Hop+HopShapes", "hop.glb: Hop + HopShapes"),
            ("bow.glb", "bow.glb"),
            ("Jump", none),
            (
                "moves.glb",
                "'moves.glb' may be any of moves.glb: Rig|Run, moves.glb: Rig|Wave",
            ),
        ] {
            let found = find_meant(&clips, asked).map(|i| clips[i].label.clone());
            let found = found.unwrap_or_else(|e| e);
            let is_told = if told == none {
                found.starts_with(told)
            } else {
                found == told
            };
            assert!(is_told, "{asked}: {found}");
        }
    }
}
