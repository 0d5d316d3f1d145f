//! Options, progress and report of a bake.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::backend::Backend;
use crate::clips::{ClipCounts, Shard};
use crate::error::{Error, Result};
use crate::failed::FailedPrim;
use crate::formats::{BoneOptions, BoneReport, VatOptions};
use crate::plan::{BakePlan, Rigid};
use crate::schedule::FrameRange;
use crate::shutter::Shutter;
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
    /// Frames to sample. `None` for the authored times and the stage's frames (rule 31).
    pub frames: Option<FrameRange>,
    /// The backend, if [`bake`](crate::bake) opens its own [`Baker`](crate::Baker).
    pub backend: Backend,
    /// Absolute paths of the prims to bake: skinned prims or ancestors of skinned prims. All if
    /// empty.
    pub prims: Vec<String>,
    /// Write a layer of overs that sublayers the input instead of one self-contained file.
    pub layer: bool,
    /// Where to look for the animation of a skeleton.
    pub anim_source: AnimSource,
    /// How prims with constant influences are baked.
    pub rigid: Rigid,
    /// The space of points and normals. `None` for
    /// [`Format::default_space`](crate::Format::default_space). In USD, if it is not prim space,
    /// the prim's own transform is rewritten, so that the prim stays in its place.
    pub space: Option<OutSpace>,
    /// Whether SkelBindingAPI and its properties stay below baked SkelRoots. They have no effect
    /// there, because a baked SkelRoot becomes an Xform, and validators report them. A layer over
    /// the input always keeps them.
    pub keep_bindings: bool,
    /// Whether to begin although the disk of the output seems to have too little space.
    pub ignore_free_space: bool,
    /// The samples of each frame for motion blur. `None` for one sample at a time. USD only.
    pub shutter: Option<Shutter>,
    /// Whether to write `velocities`: the speed of each point at its sample, in units of the points
    /// per second. USD only.
    pub velocities: bool,
    /// Write only as many samples of each prim as it takes for linear interpolation between them
    /// to stay within this distance of the true points, in units of the points. USD only, without
    /// a shutter.
    pub max_error: Option<f64>,
    /// How vertex animation textures are written.
    pub vat: VatOptions,
    /// How bone textures are written, and of which clips.
    pub bones: BoneOptions,
    /// Number of sampled times per value clip. If it is set, one file is written for each clip, and
    /// the output is a stage that refers to the clips. If the output is from another bake, it is
    /// removed before the first of its clips is replaced.
    pub clip_frames: Option<usize>,
    /// Whether to keep existing clips that were made from the same input, with the same options and
    /// on the same backend.
    pub resume: bool,
    /// Bake only these clips, and do not write the stage: [`stitch`](crate::stitch) writes it when
    /// all clips exist.
    pub shard: Option<Shard>,
}

impl BakeOptions {
    /// The SkelRoots below which bindings are removed, of those that become Xforms. A Skeleton that
    /// loses its own animation source would take that of a prim above the SkelRoot, so there
    /// bindings stay.
    pub(super) fn unbind(&self, scene: &Scene, retype: &[String]) -> Vec<String> {
        let roots = scene
            .skel_roots
            .iter()
            .filter(|_| !self.keep_bindings && !self.layer);
        let retype: HashSet<&String> = retype.iter().collect();
        let roots = roots.filter(|r| !r.inherits_animation && retype.contains(&r.path));
        roots.map(|r| r.path.clone()).collect()
    }

    /// The plan of these options, for USD.
    pub(super) fn plan(&self) -> BakePlan {
        let mut plan = BakePlan::own_times();
        plan.prims.clone_from(&self.prims);
        plan.frames = self.frames;
        plan.space = self.space.unwrap_or_default();
        plan.rigid = self.rigid;
        plan.shutter = self.shutter;
        plan.velocities = self.velocities;
        plan.max_error = self.max_error;
        plan
    }
}

/// The progress of a bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The fewest sample times within [`BakeOptions::max_error`] are being searched, before prims
    /// are deformed.
    Choosing {
        /// Number of authored times and frames, of all Skeletons, that the search has passed.
        done: usize,
        /// Number of all of them.
        total: usize,
    },
    /// Prims are being deformed.
    Deforming {
        /// Number of (prim, time) pairs that are done.
        done: usize,
        /// Number of (prim, time) pairs of the whole bake.
        total: usize,
    },
    /// All prims are deformed, and the file is being written.
    Writing,
}

/// A callback that is called with the progress and decides whether to continue.
pub(super) type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Reports the progress of a bake.
///
/// # Errors
/// [`Error::Cancelled`] if the callback stops the bake.
pub(super) fn tell(watch: &mut Watch<'_>, progress: Progress) -> Result<()> {
    match watch(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled),
    }
}

/// Results of a bake.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
// The findings are left out.
#[derive(Serialize)]
pub struct BakeReport {
    /// Number of prims that were baked.
    pub prims: usize,
    /// Number of baked prims that share the result of another one, because they are instances of
    /// one prototype.
    pub shared: usize,
    /// Number of baked prims with constant influences that move by their transform.
    pub moved: usize,
    /// Number of frames, in formats with frames; 0 in USD, where each prim has its own times.
    pub frames: usize,
    /// The files that were written; empty for a sink of the caller.
    #[serde(serialize_with = "shown")]
    pub files: Vec<PathBuf>,
    /// Number of points of all baked prims.
    pub points: usize,
    /// Number of (prim, time) pairs. For a bake into clips these are all pairs of the requested
    /// clips, including those at which a prim could not be baked.
    pub samples: usize,
    /// Sum over all samples of their number of points.
    pub deformed_points: u64,
    /// Name of the backend, see [`Baker::backend`](crate::Baker::backend).
    pub backend: String,
    /// Estimated size of the output in bytes, before it was written: too high if many samples are
    /// redundant. 0 for a sink of the caller and for stitching.
    pub estimated_bytes: u64,
    /// Numbers of clips, for a bake into clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clips: Option<ClipCounts>,
    /// The largest distance found between a point and the line between two samples, if
    /// [`BakeOptions::max_error`] was asked for; in units of the points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_error: Option<f64>,
    /// Sizes and errors of a bone texture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bones: Option<BoneReport>,
    /// Time of the whole bake, from opening the input to the written output.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// Time of posing and deforming.
    #[serde(rename = "deform_seconds", serialize_with = "seconds")]
    pub deform_time: Duration,
    /// Prims that were asked for and that the output lacks, or has at some times only, or not
    /// skinned as the input asks; sorted by path. Empty if everything asked for is in the output.
    #[serde(skip)]
    pub failed: Vec<FailedPrim>,
    /// What is wrong with prims that could not be baked. A Skeleton that takes many prims down is
    /// listed once.
    #[serde(skip)]
    pub errors: Vec<Invalid>,
    /// What was ignored or dropped, and why.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

fn shown<S: Serializer>(files: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(files.iter().map(|file| file.display().to_string()))
}

fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

impl BakeReport {
    pub(super) fn new(backend: String) -> Self {
        Self {
            backend,
            ..Self::default()
        }
    }
}
