//! The report of a bake.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::error::{Error, NothingToSkin};
use sinew::error::{Invalid, Warning};
use sinew::scene::Scene;

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
    /// [`BakeOptions::max_error`](crate::BakeOptions::max_error) was asked for; in units of the points.
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

/// Numbers of the clips of a bake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ClipCounts {
    /// Number of clips of the whole bake, including those of other shards.
    pub of: usize,
    /// Number of clips that this run baked.
    pub baked: usize,
    /// Number of existing clips that this run kept, because they are what it would have baked.
    pub kept: usize,
}

/// Numbers of a bake into a bone texture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BoneReport {
    /// Number of joints of the texture.
    pub joints: usize,
    /// Number of clips.
    pub clips: usize,
    /// Bytes of all texels, as a GPU holds them.
    pub texture_bytes: u64,
    /// Bytes of the texels of vertex animation textures of the same meshes and frames, with
    /// positions and normals of as many bits.
    pub vertex_texture_bytes: u64,
    /// The largest distance between a point as a vertex shader computes it from the texture and its
    /// true place, at all frames, in metres.
    pub largest_error: f64,
    /// The same as a part of the size of the mesh.
    pub relative_error: f64,
}

/// A prim that the output lacks, or that is not skinned as the input asks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedPrim {
    /// Prim path.
    pub path: String,
    /// Stable code of the reason, if it has one.
    pub code: Option<&'static str>,
    /// The reason. It names the file and another prim if the fault is there, such as in the
    /// Skeleton.
    pub reason: String,
}

impl FailedPrim {
    /// A prim that fails by an error of its own or of another prim.
    pub(super) fn by_error(path: &str, error: &Invalid) -> Self {
        let reason = match error.prim == path {
            true => error.brief(),
            false => error.to_string(),
        };
        Self {
            path: path.to_owned(),
            code: error.code,
            reason,
        }
    }

    pub(super) fn by_warning(path: &str, warning: &Warning) -> Self {
        let reason = match warning.path == path {
            true => warning.message.clone(),
            false => format!("{}: {}", warning.path, warning.message),
        };
        Self {
            path: path.to_owned(),
            code: Some(warning.code),
            reason,
        }
    }
}

/// Whether a warning repeats an error.
pub(super) fn is_error(errors: &[Invalid], warning: &Warning) -> bool {
    let mut errors = errors.iter();
    errors.any(|e| e.prim == warning.path && e.code == Some(warning.code))
}

/// The error of a bake in which no prim was baked.
pub(super) fn nothing_to_skin(scene: &Scene, report: &BakeReport) -> Error {
    let warnings = report.warnings.iter();
    let warnings = warnings.filter(|w| !is_error(&report.errors, w));
    Error::NothingToSkin(Box::new(NothingToSkin {
        file: scene.file.clone(),
        has_skel_root: !scene.skel_roots.is_empty(),
        errors: report.errors.clone(),
        warnings: warnings.cloned().collect(),
    }))
}
