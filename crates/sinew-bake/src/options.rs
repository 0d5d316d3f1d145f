//! Options, progress and report of a bake.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::format::{BoneOptions, VatOptions};
use crate::frames::FrameRange;
use crate::plan::{BakePlan, Rigid};
use crate::shard::Shard;
use crate::shutter::Shutter;
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
    /// The bake is about to begin.
    Begins {
        /// Estimated size of the output in bytes. With [`BakeOptions::max_error`] it is that of the
        /// samples that were chosen.
        bytes: u64,
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
