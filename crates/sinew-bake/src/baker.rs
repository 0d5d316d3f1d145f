//! The baker, which bakes open scenes into sinks and files into files.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use crate::asked::{self, Asked, begin, retyped};
use crate::backend::{Backend, Deformer};
use crate::clip::Clip;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::formats::{self, framed_prims, points_of};
use crate::options::{BakeOptions, Progress, Watch, tell};
use crate::plan::{BakePlan, Sampling};
use crate::report::BakeReport;
use crate::shutter::Shutter;
use crate::sink::FrameSink;
use crate::space::{self, Space};
use crate::stream::Runner;
use crate::work::Work;
use crate::{clips, failed, hints, samples};
use sinew::scene::Scene;
use sinew::wgpu;
use sinew_io::usd::{BakeEdits, BakedPrim, ReadOptions, UsdFile};

/// Bakes any number of scenes, one after the other, on one backend. Keep one baker for many files,
/// because opening a device and compiling its pipelines takes time.
///
/// Every method takes a callback, which is called for each frame and decides whether to continue.
/// If it returns [`ControlFlow::Break`](std::ops::ControlFlow::Break), the result is
/// [`Error::Cancelled`], and no output appears under its name. To cancel from another thread, let
/// the callback check a flag.
///
/// After its device is lost ([`Error::Gpu`]) a baker cannot be used any more; make a new one.
pub struct Baker {
    deformer: Deformer,
}

impl std::fmt::Debug for Baker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Baker")
            .field("backend", &self.backend())
            .finish_non_exhaustive()
    }
}

impl Baker {
    /// Opens a backend.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the GPU that was asked for is not available.
    pub fn new(backend: &Backend) -> Result<Self> {
        let deformer = Deformer::new(backend)?;
        Ok(Self { deformer })
    }

    /// A baker on the CPU.
    #[must_use]
    pub fn cpu() -> Self {
        let deformer = Deformer::Cpu;
        Self { deformer }
    }

    /// A baker on the caller's device. The device needs the limits of [`sinew::gpu::needed_limits`],
    /// and no features.
    ///
    /// # Errors
    /// [`Error::Gpu`] if a limit of the device is too low, or the device is lost.
    pub fn on_device(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self> {
        let deformer = Deformer::on_device(device, queue)?;
        Ok(Self { deformer })
    }

    /// The name of the backend: for example `cpu (2 threads)`, or `gpu` with the name of the
    /// adapter in brackets.
    #[must_use]
    pub fn backend(&self) -> String {
        self.deformer.describe()
    }

    /// Bakes an open scene into a sink. It reads no files, and only the sink writes any.
    ///
    /// # Errors
    /// - [`Error::PrimPath`], [`Error::UnknownPrim`], [`Error::EmptyRange`],
    ///   [`Error::TooManyFrames`] if the plan does not fit the scene.
    /// - [`Error::NothingToSkin`] if nothing could be baked, and [`Error::PrimLost`] if a prim of
    ///   even frames is missing at a later frame.
    /// - [`Error::Sink`] if the sink fails, [`Error::Gpu`] if the GPU fails.
    /// - [`Error::Cancelled`] if the callback stops the bake.
    pub fn bake(
        &mut self,
        scene: &Scene,
        plan: &BakePlan,
        sink: &mut dyn FrameSink,
        progress: &mut Watch<'_>,
    ) -> Result<BakeReport> {
        let start = Instant::now();
        self.deformer.reset();
        let (mut report, chosen) = begin(None, scene, &plan.prims, self.backend())?;
        check_motion(plan, plan.sampling == Sampling::OwnTimes)?;
        let frames = plan.frames.as_ref();
        let work = match plan.sampling {
            Sampling::OwnTimes => Work::of_own_times(scene, &chosen, plan, progress)?,
            Sampling::EveryFrame => {
                let prims = framed_prims(scene, None, &chosen, &mut report.warnings);
                let points = points_of(plan.space, &prims);
                let clip = Clip::new(scene, &points, frames)?;
                Work::of_clip(points, clip)
            }
        };
        work.check_size(scene, frames)?;
        let mut runner = Runner::new(scene, &mut self.deformer, &mut *progress);
        let ran = runner.run(&work, &work.schedule, sink)?;
        runner.end(&work, &ran, &mut report)?;
        tell(progress, Progress::Writing)?;
        sink.finish().map_err(Error::of_sink)?;
        failed::complete(scene, &plan.prims, &chosen, &mut report);
        report.elapsed = start.elapsed();
        Ok(report)
    }

    /// Bakes a file into a file like [`bake`](crate::bake), but on this backend:
    /// [`BakeOptions::backend`] is ignored.
    ///
    /// # Errors
    /// Those of [`bake`](crate::bake), and [`Error::Cancelled`].
    pub fn bake_file(
        &mut self,
        input: &Path,
        output: &Path,
        options: &BakeOptions,
        progress: &mut Watch<'_>,
    ) -> Result<BakeReport> {
        let start = Instant::now();
        let out = (output, check_output(output, options)?);
        let (file, scene) = read(input, options)?;
        let mut report = self.bake_into(&file, &scene, out, options, progress)?;
        report.elapsed = start.elapsed();
        Ok(report)
    }

    /// Bakes an open file into an output that was checked.
    pub(super) fn bake_into(
        &mut self,
        file: &UsdFile,
        scene: &Scene,
        out: (&Path, Format),
        options: &BakeOptions,
        progress: &mut Watch<'_>,
    ) -> Result<BakeReport> {
        self.deformer.reset();
        let backend = self.backend();
        asked::of_file(file, scene, out, options, backend, |asked, report| {
            if options.clip_frames.is_some() {
                file.check_output(asked.output)?;
                asked.bake_clips(&mut self.deformer, report, progress)
            } else if asked.format == Format::Usd {
                self.bake_usd(asked, report, progress)
            } else {
                formats::bake_frames(asked, &mut self.deformer, report, progress)
            }
        })
    }

    fn bake_usd(
        &mut self,
        asked: Asked<'_>,
        report: &mut BakeReport,
        progress: &mut Watch<'_>,
    ) -> Result<()> {
        let (scene, output, options) = (asked.scene, asked.output, asked.options);
        let work = Work::of_own_times(scene, asked.chosen, &options.plan(), progress)?;
        work.check_size(scene, options.frames.as_ref())?;
        let needed = space::of_usd(scene, &work, &work.schedule, output);
        let space = Space::check(output, needed, options, report, progress)?;
        let mut out = asked.file.begin_bake(output, options.layer)?;
        let mut runner = Runner::new(scene, &mut self.deformer, &mut *progress);
        let baked = runner.bake_tracks(&work, &work.schedule, Some(&mut out));
        let baked = space.explain(baked)?;
        runner.end(&work, &baked.ran, report)?;
        let edits = usd_edits(asked, baked.prims)?;
        tell(progress, Progress::Writing)?;
        let finished = out.finish(edits).map_err(Error::from);
        let written = space.explain(finished)?;
        report.files.extend(written.files);
        report.warnings.extend(written.warnings);
        Ok(())
    }
}

/// Writes the stage that refers to the clips of a bake that ran in shards. The shards were baked by
/// [`bake`](crate::bake) with the same input, output and options, all on the same backend. Nothing
/// is deformed, but with [`BakeOptions::max_error`] the sample times are searched again.
///
/// # Errors
/// - [`Error::MissingClips`] if clips are missing.
/// - [`Error::OtherClip`] if a clip was made from another input, with other options or on another
///   backend than the first clip.
/// - [`Error::Output`] if a clip is incomplete, [`Error::Options`] if [`BakeOptions::clip_frames`]
///   is not set.
/// - Those of [`bake`](crate::bake).
pub fn stitch(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<BakeReport> {
    stitch_until(input, output, options, &mut super::always(progress))
}

/// Stitches as [`stitch`] does, until `watch` returns
/// [`ControlFlow::Break`](std::ops::ControlFlow::Break).
///
/// # Errors
/// Those of [`stitch`], and [`Error::Cancelled`] if `watch` stops the work.
pub fn stitch_until(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    watch: &mut Watch<'_>,
) -> Result<BakeReport> {
    let start = Instant::now();
    let format = check_output(output, options)?;
    if options.clip_frames.is_none() {
        let text =
            "clip_frames is not set: stitching needs the same value that the clips were baked with";
        return Err(Error::Options(text.into()));
    }
    let (file, scene) = read(input, options)?;
    file.check_output(output)?;
    let out = (output, format);
    let stitch = |asked: Asked<'_>, report: &mut BakeReport| asked.stitch_clips(report, watch);
    let mut report = asked::of_file(&file, &scene, out, options, String::new(), stitch)?;
    report.elapsed = start.elapsed();
    Ok(report)
}

pub(super) fn read(input: &Path, options: &BakeOptions) -> Result<(UsdFile, Scene)> {
    let file = sinew_io::open_with(input, &options.open)?;
    let scene = file.scene(ReadOptions {
        anim_source: options.anim_source,
    })?;
    Ok((file, scene))
}

/// The edits that are written: baked prims, hints, SkelRoots, and bindings that go.
fn usd_edits(asked: Asked<'_>, mut prims: BTreeMap<usize, BakedPrim>) -> Result<BakeEdits> {
    let (scene, options) = (asked.scene, asked.options);
    let retype = retyped(scene, prims.values());
    let window = hints::Window::ALL;
    let only_baked_times = options.frames.is_some();
    let unbind = options.unbind(scene, &retype);
    let roots = (&retype[..], &unbind[..]);
    let hints = hints::bake_hints(scene, &prims, roots, only_baked_times, window);
    let orientations = asked.orientations(prims.iter().map(|(b, prim)| (*b, prim)))?;
    prims.values_mut().for_each(samples::drop_redundant);
    Ok(BakeEdits {
        prims: prims.into_values().collect(),
        hints,
        orientations,
        unbind,
        retype,
        ..BakeEdits::default()
    })
}

/// The format of an output that can be written with these options.
///
/// # Errors
/// [`Error::Options`] or [`Error::Output`].
pub(super) fn check_output(output: &Path, options: &BakeOptions) -> Result<Format> {
    let format = Format::of(output)?;
    let fail = |reason: &str| Err(Error::output(output, reason));
    let misfit = |reason: &str| {
        let text = format!("{}: cannot write: {reason}", output.display());
        Err(Error::Options(text))
    };
    if options.layer && format != Format::Usd {
        return misfit("expected .usda or .usdc for a layer");
    }
    if options.layer && sinew_io::extension(output) == "usdz" {
        return misfit("a .usdz has to be self-contained: expected .usda or .usdc for a layer");
    }
    check_motion(&options.plan(), format == Format::Usd)?;
    if let Some(reason) = clips::refusal(output, format, options) {
        return misfit(reason);
    }
    if output.is_dir() {
        return fail("it is a folder");
    }
    Ok(format)
}

/// Fails if samples for motion blur do not fit each other, or an output without sample
/// times.
fn check_motion(plan: &BakePlan, has_times: bool) -> Result<()> {
    let (shutter, max_error) = (&plan.shutter, plan.max_error);
    let fail = |text: String| Err(Error::Options(text));
    if !has_times && (shutter.is_some() || max_error.is_some() || plan.velocities) {
        let text = "a shutter, velocities and a largest error are for USD, which has sample times: expected .usda, .usdc or .usdz";
        return fail(text.to_owned());
    }
    if let Some(Err(reason)) = shutter.as_ref().map(Shutter::check) {
        return fail(reason);
    }
    match max_error {
        Some(error) if !(error.is_finite() && error > 0.0) => {
            fail(format!("expected a largest error above 0, found {error}"))
        }
        Some(_) if shutter.is_some() => fail(
            "a largest error chooses sample times, and a shutter does too: expected one of them"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}
