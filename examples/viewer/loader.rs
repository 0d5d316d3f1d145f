//! Files are read on a thread of their own, so that the window stays alive.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew::scene::{PlacedSkeleton, ShapeChannel, SkinBinding};
use sinew::skel::{AnimMapper, SkelAnimation, SkeletonInstance};
use sinew_io::{ClipChoice, OpenOptions, open_with};
use sinew_render::Loaded;

/// What is to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub path: PathBuf,
    /// Name of the clip to play, where not the one that the file begins with.
    pub clip: Option<String>,
    /// The same file as before.
    pub again: bool,
    /// Counts requests, so that a slow one cannot replace a later one.
    pub number: u64,
}

/// A file that was read.
pub struct Ready {
    pub loaded: Loaded,
    /// The file, and the layers that it is composed of.
    pub files: Vec<PathBuf>,
    pub clips: Vec<String>,
    pub clip: Option<usize>,
}

/// Layers nest and parsers recurse.
const STACK: usize = 256 << 20;

/// Reads on a new thread and calls `done` there.
pub fn start(
    request: Request,
    done: impl FnOnce(Request, Result<Ready, String>) + Send + 'static,
) -> Result<(), String> {
    let work = move || {
        let result = catch_unwind(AssertUnwindSafe(|| read(&request)));
        let result = result.unwrap_or_else(|_| {
            Err(format!(
                "{}: reading it failed; this is a bug in sinew",
                request.path.display()
            ))
        });
        done(request, result);
    };
    let thread = std::thread::Builder::new()
        .name("loader".into())
        .stack_size(STACK);
    thread
        .spawn(work)
        .map(drop)
        .map_err(|e| format!("cannot start a thread: {e}"))
}

fn read(request: &Request) -> Result<Ready, String> {
    let mut options = OpenOptions::default();
    let open = |options: &OpenOptions| open_with(&request.path, options).map_err(|e| e.to_string());
    let mut file = open(&options)?;
    let is_usd = file.origin().is_none();
    if let Some(clip) = request.clip.as_ref().filter(|_| !is_usd) {
        options.clips = ClipChoice::Named(clip.clone());
        file = open(&options)?;
    }
    let loaded = Loaded::of(&file, &options).map_err(|e| e.to_string())?;
    let mut files = file.layer_files();
    if !files.contains(&request.path) {
        files.push(request.path.clone());
    }
    let mut ready = Ready {
        clips: loaded.clips.iter().map(|c| c.name.clone()).collect(),
        clip: loaded.clip,
        files,
        loaded,
    };
    if is_usd {
        let animations = file.animations().map_err(|e| e.to_string())?;
        // A clip's name means the first SkelAnimation of it.
        let asked = request.clip.as_deref();
        let found = asked.and_then(|name| file.find_clip(name).ok()?.into_iter().next());
        choose(
            &mut ready,
            animations,
            found.as_ref().map(|c| c.path.as_str()),
        );
    }
    Ok(ready)
}

/// The SkelAnimations of a USD file, in place of the one that each Skeleton is bound to.
fn choose(ready: &mut Ready, animations: Vec<SkelAnimation>, wanted: Option<&str>) {
    // One that is bound anyway is no choice.
    if animations.len() < 2
        && ready
            .loaded
            .scene
            .instances
            .iter()
            .any(|i| i.instance.animation().is_some())
    {
        return;
    }
    ready.clips = animations.iter().map(|a| a.path.clone()).collect();
    ready.clip = wanted.and_then(|name| ready.clips.iter().position(|c| c == name));
    let animations: Vec<Arc<SkelAnimation>> = animations.into_iter().map(Arc::new).collect();
    if let Some(animation) = ready.clip.and_then(|i| animations.get(i)) {
        play(&mut ready.loaded, animation);
    }
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

/// The same file, whatever way it is named.
pub fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
