//! Frames in, files out: skinning baked into points and normals, as Pixar's BakeSkinning does.
//!
//! [`bake`] turns a file into another one. [`Baker`] is what is below it: it takes a scene that is open
//! already and a device that is there already, can be cancelled, and writes to any [`FrameSink`], which is the
//! place for formats that this crate does not have.

mod backend;
mod baker;
mod clips;
mod diagnostics;
mod error;
mod formats;
mod hints;
mod options;
mod plan;
mod posing;
mod run;
mod samples;
mod schedule;
mod sink;
mod stream;
mod tracks;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

pub use backend::Backend;
pub use baker::{Baker, stitch};
pub use clips::{ClipCounts, Shard};
pub use error::{Error, NothingToSkin, Result};
pub use formats::{Format, VatOptions, VatValues};
use options::Watch;
pub use options::{BakeOptions, BakeReport, Progress};
pub use plan::{BakePlan, Rigid, Sampling};
pub use schedule::FrameRange;
pub use sinew::scene::OutSpace;
pub use sinew_io::usd::{BakedArray, BakedHint, BakedPrim, BakedTransform, Samples};
pub use sink::{BakeStart, Frame, FrameSink, PrimInfo, PrimSample, SinkError};

/// Bakes `input` into `output`, in the [`Format`] that its ending says.
///
/// In USD, points and normals end up in each prim's own space (rule 30), an extent beside them, and every
/// baked SkelRoot becomes an Xform so that nothing skins twice (rule 32). Other formats hold frames at even steps: those
/// asked for, or the stage's from startTimeCode to endTimeCode, with the rigid prims' points moved. Files appear under their
/// names only when all are whole.
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
/// // A folder for a sequence is made.
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
/// This opens a [`Baker`] while the file is read, and drops it afterwards: for many files, an open scene, a
/// device of the host's or cancellation, use [`Baker`] itself. openusd recurses as deep as prims and layers
/// nest, so the work runs on a thread with 256 MiB of stack, and `progress` is called on the caller's; a caller on
/// a thread of rayon's has to have the stack itself.
///
/// # Errors
/// An input that cannot be read, an output that cannot be written or is (part of) the input, a
/// request that fits nothing, and an input in which nothing could be baked: then nothing is
/// written.
pub fn bake(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<BakeReport> {
    let start = Instant::now();
    baker::check_output(output, Format::of(output)?, options)?;
    let mut report = with_deep_stack(&mut always(progress), |progress| {
        // Drivers take their time to load, so they do it while the file is read.
        let (read, baker) = std::thread::scope(|scope| {
            let baker = scope.spawn(|| Baker::new(&options.backend));
            let read = baker::read(input, options);
            (read, baker.join())
        });
        let (file, scene) = read?;
        let mut baker = baker.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        baker.bake_opened(&file, &scene, output, options, progress)
    })?;
    report.elapsed = start.elapsed();
    Ok(report)
}

/// Tells of progress, and goes on.
fn always(progress: &mut dyn FnMut(Progress)) -> impl FnMut(Progress) -> ControlFlow<()> {
    move |now| {
        progress(now);
        ControlFlow::Continue(())
    }
}

/// Stack for openusd, which recurses as deep as prims and layers nest.
const STACK: usize = 256 << 20;

/// Runs `work` on a thread with stack enough, while `watch` stays on this one.
///
/// # Errors
/// What `work` says; a thread that cannot be started.
fn with_deep_stack<T: Send>(
    watch: &mut Watch<'_>,
    work: impl FnOnce(&mut Watch<'_>) -> Result<T> + Send,
) -> Result<T> {
    // The work needs every thread of the pool, so none of them may wait for it.
    if rayon::current_thread_index().is_some() {
        return work(watch);
    }
    let (tell, told) = channel();
    let (answer, answered) = channel();
    let stop = &AtomicBool::new(false);
    let ask = move |progress| {
        // Frames do not wait for the answer to theirs; what comes before the end waits for all.
        let is_told = tell.send(progress).is_ok();
        let go_on = match progress {
            Progress::Writing => is_told && answered.recv() == Ok(()),
            Progress::Deforming { .. } => is_told,
        };
        match go_on && !stop.load(Ordering::Relaxed) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let working = thread.spawn_scoped(scope, move || {
            let mut ask = ask;
            work(&mut ask)
        });
        let working = working.map_err(Error::Thread)?;
        for progress in told {
            if watch(progress).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            if progress == Progress::Writing {
                // Nobody listens any more if the work has panicked.
                let _ = answer.send(());
            }
        }
        working
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
