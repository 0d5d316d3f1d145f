//! What a bake is asked for, how far it is, and what it did.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use crate::backend::Backend;
use crate::clips::{ClipCounts, Shard};
use crate::formats::VatOptions;
use crate::plan::{BakePlan, Rigid};
use crate::run::Tally;
use crate::schedule::FrameRange;
use sinew::error::{Invalid, Warning};
use sinew::scene::{OutSpace, Scene};
use sinew::skel::AnimSource;
use sinew_io::OpenOptions;

/// Options of [`bake`](crate::bake): what to bake of a file and how to write it. Start from
/// `BakeOptions::default()` and set fields.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BakeOptions {
    /// Variants and search paths that the input is opened with.
    pub open: OpenOptions,
    /// Frames to sample; the authored times and the stage's frames where `None` (rule 31).
    pub frames: Option<FrameRange>,
    /// What runs the kernels, where the bake opens its own [`Baker`](crate::Baker).
    pub backend: Backend,
    /// Prims to bake: each names a skinned prim or an ancestor of some. All where empty.
    pub prims: Vec<String>,
    /// Write a layer of overs that sublayers the input instead of one self-contained file.
    pub layer: bool,
    /// Where a skeleton's animation is looked for.
    pub anim_source: AnimSource,
    /// How prims with constant influences are baked.
    pub rigid: Rigid,
    /// The space that points end up in; [`Format::default_space`](crate::Format::default_space) where `None`. In USD, beyond prim space, the prim's own
    /// transform is rewritten, so that the picture stays the same.
    pub space: Option<OutSpace>,
    /// How vertex animation textures are written.
    pub vat: VatOptions,
    /// Write a file for every so many sampled times, and OUT as a stage of value clips over them. An OUT over clips of another
    /// bake is removed before the first of these is replaced.
    pub clip_frames: Option<usize>,
    /// Keep clips that are there, where the same input and options made them on the same backend.
    pub resume: bool,
    /// Bake these clips alone, and no stage: [`stitch`](crate::stitch) makes it when all are there.
    pub shard: Option<Shard>,
}

impl BakeOptions {
    /// What they say of prims and times, for USD.
    pub(super) fn plan(&self) -> BakePlan {
        let mut plan = BakePlan::own_times();
        plan.prims.clone_from(&self.prims);
        plan.frames = self.frames;
        plan.space = self.space.unwrap_or_default();
        plan.rigid = self.rigid;
        plan
    }
}

/// How far a bake is, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// A frame is done.
    Deforming {
        /// (prim, time) pairs that are done.
        done: usize,
        /// (prim, time) pairs of the whole bake.
        total: usize,
    },
    /// Everything is deformed; the file is being written.
    Writing,
}

/// What is told how far a bake is, and says whether to go on.
pub(super) type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// What a bake did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BakeReport {
    /// Prims that were baked.
    pub prims: usize,
    /// Those of them that are deformed once for all, as instances of one prototype.
    pub shared: usize,
    /// Those of them that constant influences move by their transform.
    pub moved: usize,
    /// Frames, in formats that hold frames one by one; 0 in USD, where prims have times of their own.
    pub frames: usize,
    /// What was written: OUT, or the files that its name stands for; none by a sink of the caller's.
    pub files: Vec<PathBuf>,
    /// Points that were deformed, once each.
    pub points: usize,
    /// (prim, time) pairs. Of a bake into clips those of the clips that were asked for, each once, those at which a prim
    /// could not be baked among them.
    pub samples: usize,
    /// Points times samples.
    pub deformed_points: u64,
    /// Which backend ran.
    pub backend: String,
    /// Of a bake into clips.
    pub clips: Option<ClipCounts>,
    /// The whole run, from opening to the written file.
    pub elapsed: Duration,
    /// Posing and deforming alone.
    pub deform_time: Duration,
    /// Prims that were left out, and why.
    pub errors: Vec<Invalid>,
    /// What was overlooked, and why.
    pub warnings: Vec<Warning>,
}

impl BakeReport {
    pub(super) fn new(backend: String) -> Self {
        Self {
            prims: 0,
            shared: 0,
            moved: 0,
            frames: 0,
            files: Vec::new(),
            points: 0,
            samples: 0,
            deformed_points: 0,
            backend,
            clips: None,
            elapsed: Duration::ZERO,
            deform_time: Duration::ZERO,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Counts prims that were baked at times of their own; `copies` are those that came out the same.
    pub(super) fn count(
        &mut self,
        scene: &Scene,
        tally: &Tally,
        copies: &BTreeMap<usize, Vec<usize>>,
    ) {
        for (binding, prim) in tally {
            let places = 1 + copies.get(binding).map_or(0, Vec::len);
            self.prims += places;
            self.shared += places - 1;
            self.points += prim.points * places;
            self.deformed_points += prim.deformed_points;
            self.samples += prim.samples * places;
            let moved = scene.bindings[*binding].is_rigid() && prim.has_transform;
            self.moved += usize::from(moved) * places;
        }
    }

    /// Counts prims that were all baked at the same frames.
    pub(super) fn count_frames(&mut self, tally: &Tally, frames: usize) {
        self.frames = frames;
        self.prims = tally.len();
        self.points = tally.values().map(|p| p.points).sum();
        self.samples = self.prims * frames;
        self.deformed_points = self.points as u64 * frames as u64;
    }
}
