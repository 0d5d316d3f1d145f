//! Bakes skinning into points and normals, as Pixar's BakeSkinning does.
//!
//! [`bake`] bakes a file into another file. [`Baker`] is the layer below: it bakes a scene that is
//! already open, can use the caller's GPU device, can be cancelled, and writes to any
//! [`FrameSink`]. Implement [`FrameSink`] for formats that this crate does not have.

mod asked;
mod backend;
mod baker;
mod clip;
mod clips;
mod diagnostics;
mod error;
mod failed;
mod fewest;
mod format;
mod formats;
mod frames;
mod hints;
mod options;
mod plan;
mod posing;
mod report;
mod run;
mod sampler;
mod samples;
mod schedule;
mod shard;
mod shutter;
mod sink;
mod space;
mod stream;
mod tracks;
mod work;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

pub use backend::Backend;
pub use baker::{Baker, stitch, stitch_until};
pub use error::{Error, NothingToSkin, Result, bytes_as_text};
pub use format::{BoneOptions, BoneValues, Format, VatOptions, VatValues};
pub use formats::FramePattern;
pub use frames::FrameRange;
use options::Watch;
pub use options::{BakeOptions, Progress};
pub use plan::{BakePlan, Rigid, Sampling};
pub use report::{BakeReport, BoneReport, ClipCounts, FailedPrim};
pub use sampler::Sampler;
pub use shard::Shard;
pub use shutter::Shutter;
pub use sinew::scene::OutSpace;
pub use sinew_io::usd::{BakedArray, BakedHint, BakedPrim, BakedTransform, Samples};
pub use sink::{BakeStart, Frame, FrameSink, PrimInfo, PrimSample, SinkError};

/// Bakes the file `input` into `output`. The extension of `output` chooses the [`Format`].
///
/// - In USD, points, normals and extents are in each prim's own space (rule 30) unless
///   [`BakeOptions::space`] is set. Every baked SkelRoot becomes an Xform, so that nothing is
///   skinned twice (rule 32).
/// - Other formats have frames at even steps: [`BakeOptions::frames`], or the stage's frames from
///   startTimeCode to endTimeCode. Rigid prims move by their points.
///
/// Files appear under their names only when all of them are complete.
///
/// ```
/// use sinew_bake::{Backend, BakeOptions, FrameRange, bake};
///
/// let folder = std::env::temp_dir().join(format!("sinew_bake_{}", std::process::id()));
/// let mut options = BakeOptions::default();
/// options.frames = Some(FrameRange { first: 1.0, last: 3.0, step: 1.0 });
/// options.backend = Backend::Cpu;
/// options.prims = vec!["/Hatchling/Geo/WingL".into()];
/// let input = "../../examples/assets/hatchling.usda".as_ref();
/// // The folder of a sequence is created.
/// let report = bake(input, &folder.join("wing.####.obj"), &options, &mut |_| {})?;
/// assert_eq!((report.files.len(), report.prims), (3, 1));
/// assert!(folder.join("wing.0003.obj").exists());
/// // wing.exr, wing_normal.exr, wing_mesh.glb and wing.json.
/// let report = bake(input, &folder.join("wing.exr"), &options, &mut |_| {})?;
/// assert_eq!(report.files.len(), 4);
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<(), sinew_bake::Error>(())
/// ```
///
/// This function opens a [`Baker`] and drops it afterwards. Use [`Baker`] itself for many files, an
/// open scene, the caller's device or cancellation.
///
/// # Errors
/// - [`Error::Io`] if the input cannot be read, or if the output is a file of the input or cannot
///   be written.
/// - [`Error::Output`] or [`Error::Options`] if the options do not fit the output or each other.
/// - [`Error::NothingToSkin`], [`Error::UnknownPrim`] if there is nothing to bake.
/// - [`Error::Gpu`] if the GPU fails.
///
/// After an error nothing is written, except finished clips of a bake into clips.
pub fn bake(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<BakeReport> {
    bake_until(input, output, options, &mut always(progress))
}

/// Bakes as [`bake`] does, until `watch` returns [`ControlFlow::Break`].
///
/// # Errors
/// Those of [`bake`], and [`Error::Cancelled`] if `watch` stops the bake.
pub fn bake_until(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    watch: &mut Watch<'_>,
) -> Result<BakeReport> {
    let start = Instant::now();
    let out = (output, baker::check_output(output, options)?);
    // Loading drivers takes time, so it happens while the file is read.
    let (read, baker) = std::thread::scope(|scope| {
        let baker = scope.spawn(|| Baker::new(&options.backend));
        let read = baker::read(input, options);
        (read, baker.join())
    });
    let (file, scene) = read?;
    let mut baker = baker.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let mut report = baker.bake_into(&file, &scene, out, options, watch)?;
    report.elapsed = start.elapsed();
    Ok(report)
}

/// A callback that reports progress and never stops the bake.
fn always(progress: &mut dyn FnMut(Progress)) -> impl FnMut(Progress) -> ControlFlow<()> {
    move |now| {
        progress(now);
        ControlFlow::Continue(())
    }
}
