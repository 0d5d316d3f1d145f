//! The clips of a file that a bone texture holds.

use std::collections::{HashSet, VecDeque};

use crate::asked::Asked;
use crate::clip::Clip;
use crate::error::{Error, Result};
use crate::failed;
use crate::plan::Plan;
use crate::report::{BakeReport, FailedPrim};
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene, SkinPart};
use sinew_animate::asset::Asset;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_io::usd::{ReadOptions, StageClip, UsdFile};
use sinew_io::{ClipChoice, OpenOptions};

/// The clips that are still to be baked.
pub(super) struct ClipQueue {
    source: Source,
    left: VecDeque<Wanted>,
}

struct Wanted {
    /// The name or path that the file is opened with.
    name: String,
    /// Whether it plays in the file as it was opened.
    plays: bool,
}

impl Wanted {
    fn new(name: &str, plays: bool) -> Self {
        let name = name.to_owned();
        Self { name, plays }
    }
}

/// A clip that plays.
pub(super) struct BoneClip {
    pub name: String,
    /// The file opened with the clip; `None` if it plays in the file as it was opened.
    opened: Option<(UsdFile, Scene)>,
}

/// The clips to bake: those that were asked for, or all of the file that move one of the chosen
/// prims. What plays in the file as it was opened comes first.
///
/// # Errors
/// Frames were asked for but there are several clips; the file cannot be opened again.
pub(super) fn of_file(asked: Asked<'_>) -> Result<ClipQueue> {
    let options = asked.options;
    let source = match (&options.bones.clips[..], &options.open.clips) {
        // It plays as it was opened.
        ([], ClipChoice::Named(_)) => Source::default(),
        _ => Source::of(asked)?,
    };
    let left: VecDeque<Wanted> = match (&options.bones.clips[..], &options.open.clips) {
        ([], ClipChoice::Named(name)) => [Wanted::new(name, true)].into(),
        ([], _) => all(asked, &source)?,
        (names, _) => {
            let mut seen = HashSet::new();
            let names = names.iter().filter(|n| seen.insert(n.as_str()));
            names.map(|name| Wanted::new(name, false)).collect()
        }
    };
    if left.len() > 1 && options.frames.is_some() {
        let text = format!(
            "frames were asked for, but {} clips have frames of their own: choose one clip",
            left.len()
        );
        return Err(Error::Options(text));
    }
    Ok(ClipQueue { source, left })
}

fn all(asked: Asked<'_>, source: &Source) -> Result<VecDeque<Wanted>> {
    let again;
    let file = match asked.file.is_made() {
        true => {
            again = source.open(asked, ClipChoice::All)?;
            &again
        }
        false => asked.file,
    };
    let scene = asked.scene;
    let bindings = asked.chosen.iter().map(|b| &scene.bindings[*b]);
    let skeletons: HashSet<&str> = bindings
        .map(|b| scene.instances[b.instance].path.as_str())
        .collect();
    let clips = file.stage_clips()?;
    let plays = |clip: &StageClip| clip.drives.iter().any(|s| skeletons.contains(s.as_str()));
    let mut names: Vec<&str> = Vec::new();
    for clip in clips.iter().filter(|c| plays(c)) {
        if !names.contains(&clip.name.as_str()) {
            names.push(&clip.name);
        }
    }
    let mut out = VecDeque::new();
    if !names.is_empty() || clips.is_empty() {
        let name = match names[..] {
            [one] => one,
            // Characters that each play their own, or nothing but moving prims.
            _ => "Animation",
        };
        out.push_back(Wanted::new(name, true));
    }
    let fits = file.clip_fits(&clips)?;
    let mut known: HashSet<&str> = HashSet::new();
    for (clip, fits) in clips.iter().zip(fits) {
        let moves = fits.iter().any(|path| skeletons.contains(path.as_str()));
        let is_new = !plays(clip) && moves && known.insert(&clip.name);
        if is_new {
            out.push_back(Wanted::new(&clip.name, false));
        }
    }
    if out.is_empty() {
        out.push_back(Wanted::new("Rest", true));
    }
    Ok(out)
}

/// IN, to be opened with other clips.
#[derive(Default)]
struct Source {
    /// What IN holds, if it is not USD, so that it is read once.
    asset: Option<Asset>,
}

impl Source {
    fn of(asked: Asked<'_>) -> Result<Self> {
        let asset = match asked.file.is_made() {
            true => sinew_io::read_asset_from(&asked.options.open.files, asked.file.file())?,
            false => None,
        };
        Ok(Self {
            asset: asset.map(on_own_skeleton),
        })
    }

    fn open(&self, asked: Asked<'_>, clips: ClipChoice) -> Result<UsdFile> {
        let options = OpenOptions {
            clips,
            ..asked.options.open.clone()
        };
        Ok(match &self.asset {
            Some(asset) => UsdFile::from_asset(asset, &options)?,
            None => UsdFile::open_with(asked.file.file(), &options)?,
        })
    }
}

impl ClipQueue {
    /// Opens the next clip; `None` if there is none left.
    ///
    /// # Errors
    /// The file has no such clip, or cannot be opened again.
    pub fn next(&mut self, asked: Asked<'_>) -> Result<Option<BoneClip>> {
        let wanted = self.left.pop_front();
        wanted.map(|wanted| self.play(asked, &wanted)).transpose()
    }

    /// The frames of all clips that are left.
    ///
    /// # Errors
    /// Those of [`ClipQueue::next`] and [`BoneClip::frames`].
    pub fn times(&self, asked: Asked<'_>, bindings: &[usize]) -> Result<Vec<Time>> {
        let mut out = Vec::new();
        for wanted in &self.left {
            out.extend(self.play(asked, wanted)?.frames(asked, bindings)?.times);
        }
        Ok(out)
    }

    fn play(&self, asked: Asked<'_>, wanted: &Wanted) -> Result<BoneClip> {
        let opened = match wanted.plays {
            true => None,
            false => {
                let choice = ClipChoice::Named(wanted.name.clone());
                let file = self.source.open(asked, choice)?;
                let scene = file.scene(ReadOptions {
                    anim_source: asked.options.anim_source,
                })?;
                Some((file, scene))
            }
        };
        Ok(BoneClip {
            name: wanted.name.clone(),
            opened,
        })
    }
}

impl BoneClip {
    /// Adds to the report what the scene of this clip has to say and the report does not have yet,
    /// with the clip's name.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn tell(&self, asked: Asked<'_>, report: &mut BakeReport) -> Result<()> {
        let Some((file, scene)) = &self.opened else {
            return Ok(());
        };
        let paths = asked.chosen.iter().map(|b| &asked.scene.bindings[*b].path);
        let chosen: Vec<usize> = paths.filter_map(|p| binding_at(scene, p).ok()).collect();
        let mut own = BakeReport::new(String::new());
        failed::begin(Some(file), scene, &mut own)?;
        own.errors.retain(|e| !report.errors.contains(e));
        own.warnings.retain(|w| !report.warnings.contains(w));
        failed::complete(scene, &asked.options.prims, &chosen, &mut own);
        let is_new = |f: &FailedPrim| {
            let mut known = report.failed.iter();
            !known.any(|k| k.path == f.path && k.code == f.code)
        };
        own.failed.retain(is_new);
        let clip = &self.name;
        for error in &mut own.errors {
            error.found = format!("{} (clip {clip})", error.found);
        }
        for warning in &mut own.warnings {
            warning.message = format!("clip {clip}: {}", warning.message);
        }
        for failed in &mut own.failed {
            failed.reason = format!("clip {clip}: {}", failed.reason);
        }
        report.errors.append(&mut own.errors);
        report.warnings.append(&mut own.warnings);
        report.failed.append(&mut own.failed);
        Ok(())
    }

    /// The scene in which it plays: its own, or that of the file as it was opened.
    pub fn scene<'s>(&'s self, as_opened: &'s Scene) -> &'s Scene {
        self.opened.as_ref().map_or(as_opened, |(_, scene)| scene)
    }

    /// Its frames.
    ///
    /// # Errors
    /// Too many frames; a prim that the clip's scene lacks.
    pub fn frames(&self, asked: Asked<'_>, bindings: &[usize]) -> Result<Clip> {
        let scene = self.scene(asked.scene);
        let mut own = Vec::with_capacity(bindings.len());
        for b in bindings {
            let path = &asked.scene.bindings[*b].path;
            own.push(binding_at(scene, path)?);
        }
        let parts = own.into_iter().map(|b| (b, SkinPart::default(), None));
        let plan = Plan::of_points(OutSpace::World, parts);
        Clip::new(scene, &plan, asked.options.frames.as_ref())
    }
}

/// The bound prim at a path.
///
/// # Errors
/// The clip's scene lacks it.
pub(super) fn binding_at(scene: &Scene, path: &str) -> Result<usize, Invalid> {
    let mut bindings = scene.bindings.iter();
    bindings.position(|b| b.path == path).ok_or_else(|| {
        let mut unskinned = scene.unskinned.iter();
        if let Some(known) = unskinned.find(|p| p.path == path) {
            return known.error.clone();
        }
        let e = Invalid::new(path, "skel:skeleton", "a Skeleton in every clip", "none");
        e.in_file(&scene.file)
    })
}
