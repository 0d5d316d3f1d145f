//! Files are read on a thread of their own where there are threads, so that the window stays alive.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_animate::humanoid::on_own_skeleton;
use sinew_io::usd::{UsdFile, VariantSet};
use sinew_io::{ClipChoice, read_asset_from};
use sinew_render::Loaded;

use super::clips::{self, ClipEntry};
use super::files::{self, Selected};
use super::follow::{self, Walk};
use super::live::{self, Matched};
use super::platform;

/// What is to be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    pub file: PathBuf,
    /// Name of the clip; `None` for the one that the file begins with.
    pub clip: Option<String>,
    /// The file whose character plays the clip; `None` if the file itself is shown.
    pub onto: Option<PathBuf>,
    /// A file with meshes is shown itself all the same: it was dropped on the character.
    pub is_drop: bool,
    /// The best guess takes the place of bones that are not recognised.
    pub guess: bool,
    /// Clips of other files that the list shows too.
    pub others: Vec<ClipEntry>,
    /// What is chosen of the character's file.
    pub selected: Selected,
}

impl Task {
    /// A file and the clip that it begins with.
    pub fn open(file: impl Into<PathBuf>, clip: Option<String>) -> Self {
        Self {
            file: file.into(),
            clip,
            ..Self::default()
        }
    }

    /// The clip of a file, on another one's character.
    pub fn retarget(file: impl Into<PathBuf>, onto: impl Into<PathBuf>) -> Self {
        Self {
            onto: Some(onto.into()),
            ..Self::open(file, None)
        }
    }
}

/// Where a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Main,
    /// At the right, beside the main character.
    Beside,
}

/// A task, and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub task: Task,
    pub place: Place,
    /// Counts requests, so that a slow one cannot replace a later one.
    pub number: u64,
}

/// A file that was read.
pub struct Ready {
    pub loaded: Loaded,
    /// The task, after it was found out what a dropped file is.
    pub task: Task,
    /// The file, and the layers that it is composed of.
    pub files: Vec<PathBuf>,
    pub clips: Vec<ClipEntry>,
    pub clip: Option<usize>,
    /// How a clip of another file was matched.
    pub matched: Option<Arc<Matched>>,
    /// The root's way, if it walks away.
    pub walk: Option<Walk>,
    /// The variant sets of the character's file; `None` if it is not USD.
    pub variant_sets: Option<Vec<VariantSet>>,
}

/// Why a file cannot be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failed {
    pub message: String,
    /// Its joints could not be matched, although there is a guess.
    pub can_guess: bool,
    /// The motion's file has something to show when it is opened by itself.
    pub can_open: bool,
}

impl<E: std::fmt::Display> From<E> for Failed {
    fn from(error: E) -> Self {
        Self {
            message: error.to_string(),
            ..Self::default()
        }
    }
}

/// Reads while the window stays alive, and calls `done` then, on another thread if there are threads.
pub fn start(
    request: Request,
    done: impl FnOnce(Request, Result<Ready, Failed>) + Send + 'static,
) -> Result<(), String> {
    let work = move || {
        let result = catch_unwind(AssertUnwindSafe(|| read(&request.task)));
        let result = result.unwrap_or_else(|_| {
            let file = request.task.file.display();
            Err(format!("{file}: reading it failed; this is a bug in sinew").into())
        });
        done(request, result);
    };
    platform::spawn("loader", work)
}

fn read(task: &Task) -> Result<Ready, Failed> {
    let mut ready = of_task(task).map_err(|failed| explained(task, failed))?;
    ready.walk = follow::walk(&ready.loaded.scene);
    Ok(ready)
}

/// The failure, with what is known of the file by itself.
fn explained(task: &Task, mut failed: Failed) -> Failed {
    let sentence = files::not_readable(&task.file);
    if task.onto.is_none() && sentence.is_none() {
        return failed;
    }
    match (opened(&Task::open(&task.file, None)), sentence) {
        (Ok(ready), _) => failed.can_open = shows_something(&ready.loaded),
        (Err(_), Some(sentence)) => failed.message = sentence,
        (Err(_), None) => {}
    }
    failed
}

/// Whether there is a mesh or a joint.
fn shows_something(loaded: &Loaded) -> bool {
    let scene = &loaded.scene;
    let mut skeletons = scene.instances.iter().chain(&scene.unbound_skeletons);
    !loaded.geometry.meshes.is_empty()
        || skeletons.any(|s| !s.instance.skeleton().joints().is_empty())
}

fn of_task(task: &Task) -> Result<Ready, Failed> {
    let Some(onto) = &task.onto else {
        return opened(task);
    };
    if task.is_drop {
        // The list of a file that is opened has its own clips only.
        let ready = opened(&Task::open(&task.file, None))?;
        let moves = !ready.clips.is_empty() || !ready.loaded.scene.animations.is_empty();
        if !ready.loaded.geometry.meshes.is_empty() || !moves {
            return Ok(ready);
        }
    }
    live::retargeted(task, onto)
}

/// Opens a task's file with its clip.
fn opened(task: &Task) -> Result<Ready, Failed> {
    let (path, clip) = (task.file.as_path(), task.clip.as_deref());
    let mut options = files::options();
    let Some(asset) = read_asset_from(&options.files, path)? else {
        let mut selected = task.selected.clone();
        let file = selected.open(path)?;
        let task = Task {
            selected,
            ..task.clone()
        };
        let mut loaded = Loaded::of(&file, &options)?;
        let animations = file.animations()?;
        // A clip's name means the first SkelAnimation of it.
        let found = clip.and_then(|name| file.find_clip(name).ok()?.into_iter().next());
        let asked = match (&found, clip) {
            (Some(found), _) => Some(found.path.as_str()),
            (None, clip) => clip,
        };
        let (mut clips, mut clip) = clips::choose(&mut loaded, animations, asked);
        if !clips.is_empty() {
            // Each Skeleton may be bound to one of its own.
            clips.insert(0, ClipEntry::as_authored());
            clip = Some(clip.map_or(0, |i| i + 1));
        }
        let variant_sets = Some(file.variant_sets());
        return Ok(Ready {
            variant_sets,
            ..ready(&task, &file, loaded, clips, clip)
        });
    };
    let asset = on_own_skeleton(asset);
    let clips = clips::of_asset(&asset, None);
    let clip = clip.filter(|name| *name != clips::AS_AUTHORED);
    let asked = clip.map(|clip| match clips::find(&clips, clip) {
        Some(entry) => clips[entry].name.clone(),
        None => clip.to_owned(),
    });
    let wanted = asked.or_else(|| Some(clips.first()?.name.clone()));
    if let Some(name) = &wanted {
        options.clips = ClipChoice::Named(name.clone());
    }
    let file = UsdFile::from_asset(&asset, &options)?;
    let loaded = Loaded::of(&file, &options)?;
    let playing = loaded.clip.map(|i| loaded.clips[i].name.as_str());
    let shown = playing.or(wanted.as_deref());
    let clip = shown.and_then(|name| clips::find(&clips, name));
    Ok(ready(task, &file, loaded, clips, clip))
}

fn ready(
    task: &Task,
    file: &UsdFile,
    loaded: Loaded,
    mut clips: Vec<ClipEntry>,
    mut clip: Option<usize>,
) -> Ready {
    let (path, others) = (task.file.as_path(), task.others.as_slice());
    let mut files = file.layer_files();
    if !files.iter().any(|f| f == path) {
        files.push(path.to_owned());
    }
    let task = Task {
        others: others.to_vec(),
        selected: task.selected.clone(),
        ..Task::open(path, clip.map(|i| clips[i].name.clone()))
    };
    if clips.is_empty() && !others.is_empty() {
        // A way back from the clips of other files.
        clips.push(ClipEntry::as_authored());
        clip = Some(0);
    }
    clips.extend(others.iter().cloned());
    clips::tell_apart(&mut clips);
    Ready {
        task,
        clips,
        clip,
        files,
        loaded,
        matched: None,
        walk: None,
        variant_sets: None,
    }
}

/// The same file, whatever way it is named.
pub fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
