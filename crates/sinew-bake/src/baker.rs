//! The baker, which bakes open scenes into sinks and files into files.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::time::Instant;

use super::backend::{Backend, Deformer};
use super::diagnostics::Diagnostics;
use super::error::{Error, Result};
use super::formats::{self, Clip, Format};
use super::options::{BakeOptions, BakeReport, Progress, Watch};
use super::plan::{BakePlan, Plan, Sampling};
use super::run::{EvenWork, Ran, every_frame, findings, nothing_to_skin, own_times};
use super::schedule::Scheduled;
use super::shutter::Shutter;
use super::sink::FrameSink;
use super::space::{self, Space};
use super::stream::tell;
use super::tracks::{Work, bake_schedule, check_size};
use super::{clips, failed, hints, samples};
use sinew::error::Warning;
use sinew::scene::{Scene, SkinPart};
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

    /// A baker on the caller's device. The device needs the limits of [`sinew::gpu::needed_limits`]
    /// and the features of [`sinew::gpu::needed_features`].
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
        let (mut report, chosen) = begin(scene, &plan.prims, self.backend())?;
        let mut diagnostics = Diagnostics::default();
        check_motion(
            plan.shutter.as_ref(),
            plan.max_error,
            plan.velocities,
            plan.sampling == Sampling::OwnTimes,
        )?;
        match plan.sampling {
            Sampling::OwnTimes => {
                let work = Work::new(scene, &chosen, plan, progress)?;
                if plan.frames.is_none() {
                    check_size(scene, &work.plan, &work.schedule)?;
                }
                let ran = own_times(
                    scene,
                    &work,
                    &work.schedule,
                    &mut self.deformer,
                    &mut diagnostics,
                    sink,
                    progress,
                )?;
                report.count(scene, &ran.tally, &work.copies);
                report.tell_fewest(&work);
                let ended = (&work.schedule[..], &work.copies);
                end(scene, ended, diagnostics, &ran, &mut report)?;
            }
            Sampling::EveryFrame => {
                let with_points = chosen.iter().filter(|b| {
                    let binding = &scene.bindings[**b];
                    let has_points = binding.points.has_value();
                    if !has_points {
                        let message =
                            "the prim has no points, and only its transform moves: it is not baked";
                        let warning = Warning::new("left-out", &binding.path, message);
                        report.warnings.push(warning);
                    }
                    has_points
                });
                let parts = with_points.map(|b| (*b, SkinPart::default(), None));
                let points = Plan::of_points(plan.space, parts);
                let clip = Clip::new(scene, &points, plan.frames.as_ref())?;
                let work = EvenWork::new(scene, points, clip, plan.frames.is_some())?;
                let deformer = &mut self.deformer;
                let ran = every_frame(scene, &work, deformer, &mut diagnostics, sink, progress)?;
                report.count_frames(&ran.tally, work.clip.len());
                let ended = (&work.schedule[..], &BTreeMap::new());
                end(scene, ended, diagnostics, &ran, &mut report)?;
            }
        }
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
        (output, format): (&Path, Format),
        options: &BakeOptions,
        progress: &mut Watch<'_>,
    ) -> Result<BakeReport> {
        self.deformer.reset();
        let (mut report, chosen) = begin_file(scene, &options.prims, self.backend())?;
        let asked = Asked {
            file,
            scene,
            output,
            format,
            options,
            chosen: &chosen,
        };
        if chosen.is_empty() && (format != Format::Usd || options.clip_frames.is_some()) {
            return Err(nothing_to_skin(scene, &report));
        }
        if options.clip_frames.is_some() {
            file.check_output(output)?;
            asked.bake_clips(&mut self.deformer, &mut report, progress)?;
        } else if format == Format::Usd {
            self.bake_usd(asked, &mut report, progress)?;
        } else {
            formats::bake_frames(asked, &mut self.deformer, &mut report, progress)?;
        }
        failed::complete(scene, &options.prims, &chosen, &mut report);
        Ok(report)
    }

    fn bake_usd(
        &mut self,
        asked: Asked<'_>,
        report: &mut BakeReport,
        progress: &mut Watch<'_>,
    ) -> Result<()> {
        let (scene, output, options) = (asked.scene, asked.output, asked.options);
        let work = Work::new(scene, asked.chosen, &options.plan(), progress)?;
        if options.frames.is_none() {
            check_size(scene, &work.plan, &work.schedule)?;
        }
        let needed = space::of_usd(scene, &work, &work.schedule, output);
        let space = Space::check(output, needed, options, report)?;
        let mut out = asked.file.begin_bake(output, options.layer)?;
        let mut diagnostics = Diagnostics::default();
        let baked = bake_schedule(
            scene,
            &work,
            &work.schedule,
            &mut self.deformer,
            &mut diagnostics,
            &mut |time, values| Ok(out.keep(time, values)?),
            progress,
        );
        let baked = space.explain(baked)?;
        report.count(scene, &baked.ran.tally, &work.copies);
        report.tell_fewest(&work);
        let ended = (&work.schedule[..], &work.copies);
        end(scene, ended, diagnostics, &baked.ran, report)?;
        let edits = usd_edits(scene, baked.prims, options);
        tell(progress, Progress::Writing)?;
        let finished = out.finish(edits).map_err(Error::from);
        let written = space.explain(finished)?;
        report.files.extend(written.files);
        report.warnings.extend(written.warnings);
        Ok(())
    }
}

/// A bake of an open file into an output.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub file: &'a UsdFile,
    pub scene: &'a Scene,
    pub output: &'a Path,
    pub format: Format,
    pub options: &'a BakeOptions,
    /// Bindings to bake, by index into [`Scene::bindings`].
    pub chosen: &'a [usize],
}

/// The report of a bake at its beginning, and the bindings to bake.
///
/// # Errors
/// Those of [`choose`].
fn begin(scene: &Scene, prims: &[String], backend: String) -> Result<(BakeReport, Vec<usize>)> {
    let mut report = BakeReport::new(backend);
    report.errors.clone_from(&scene.errors);
    report.warnings.clone_from(&scene.warnings);
    let chosen = choose(scene, prims, &mut report)?;
    failed::check_input(scene, &chosen, &mut report);
    Ok((report, chosen))
}

/// Does the same for a bake into a file, where other prims may lose their skinning.
fn begin_file(
    scene: &Scene,
    prims: &[String],
    backend: String,
) -> Result<(BakeReport, Vec<usize>)> {
    let (mut report, chosen) = begin(scene, prims, backend)?;
    let left = no_longer_skinned(scene, prims, &chosen);
    report.warnings.extend(left);
    Ok((report, chosen))
}

/// Adds the errors and warnings of a run to the report. `copies` are the prims that share the
/// result of another one.
///
/// # Errors
/// [`Error::NothingToSkin`] if nothing was baked.
pub(super) fn end(
    scene: &Scene,
    (schedule, copies): (&[Scheduled], &BTreeMap<usize, Vec<usize>>),
    diagnostics: Diagnostics,
    ran: &Ran,
    report: &mut BakeReport,
) -> Result<()> {
    let found = findings(scene, schedule, diagnostics, &ran.tally);
    report.errors.extend(found.errors);
    report.warnings.extend(found.warnings);
    failed::add(scene, found.failed, copies, report);
    report.deform_time = ran.deform_time;
    match ran.tally.is_empty() && !failed::is_switched_off(scene) {
        true => Err(nothing_to_skin(scene, report)),
        false => Ok(()),
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
    let (mut report, chosen) = begin_file(&scene, &options.prims, String::new())?;
    let asked = Asked {
        file: &file,
        scene: &scene,
        output,
        format,
        options,
        chosen: &chosen,
    };
    asked.stitch_clips(&mut report, watch)?;
    failed::complete(&scene, &options.prims, &chosen, &mut report);
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
fn usd_edits(
    scene: &Scene,
    mut prims: BTreeMap<usize, BakedPrim>,
    options: &BakeOptions,
) -> BakeEdits {
    let retype = retyped(scene, prims.values());
    let window = hints::Window::ALL;
    let only_baked_times = options.frames.is_some();
    let unbind = options.unbind(scene, &retype);
    let roots = (&retype[..], &unbind[..]);
    let hints = hints::bake_hints(scene, &prims, roots, only_baked_times, window);
    prims.values_mut().for_each(samples::drop_redundant);
    BakeEdits {
        prims: prims.into_values().collect(),
        hints,
        unbind,
        retype,
        ..BakeEdits::default()
    }
}

/// SkelRoots that become Xforms once these prims are baked.
pub(super) fn retyped<'a>(
    scene: &Scene,
    prims: impl Iterator<Item = &'a BakedPrim>,
) -> Vec<String> {
    let places: HashSet<&str> = prims.flat_map(BakedPrim::places).collect();
    let bound = scene.bindings.iter();
    let roots = bound
        .filter(|b| places.contains(b.path.as_str()))
        .map(|b| scene.prims[b.skel_root].path.clone());
    skel_roots_to_retype(scene, &roots.collect())
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
    check_motion(
        options.shutter.as_ref(),
        options.max_error,
        options.velocities,
        format == Format::Usd,
    )?;
    if let Some(reason) = clips::refusal(output, format, options) {
        return misfit(reason);
    }
    let folder = match output.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let is_made = format == Format::Obj && formats::is_sequence(output);
    if !folder.is_dir() && !is_made {
        return fail(&format!("there is no folder {}", folder.display()));
    }
    if output.is_dir() {
        return fail("it is a folder");
    }
    Ok(format)
}

/// Fails if samples for motion blur do not fit each other, or an output without sample
/// times.
fn check_motion(
    shutter: Option<&Shutter>,
    max_error: Option<f64>,
    velocities: bool,
    has_times: bool,
) -> Result<()> {
    let fail = |text: String| Err(Error::Options(text));
    if !has_times && (shutter.is_some() || max_error.is_some() || velocities) {
        let text = "a shutter, velocities and a largest error are for USD, which has sample times: expected .usda, .usdc or .usdz";
        return fail(text.to_owned());
    }
    if let Some(Err(reason)) = shutter.map(Shutter::check) {
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

/// Whether a prim is another one or below it.
pub(super) fn is_below(path: &str, top: &str) -> bool {
    let rest = path.strip_prefix(top.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path is one of `tops` or below one of them.
pub(super) fn is_below_any(path: &str, tops: &HashSet<&str>) -> bool {
    let ends = path.match_indices('/').map(|(i, _)| i).skip(1);
    let mut above = ends.map(|i| &path[..i]).chain([path]);
    above.any(|p| tops.contains(p))
}

/// The requested bindings that can be baked. The others become warnings.
///
/// # Errors
/// [`Error::PrimPath`] or [`Error::UnknownPrim`] for a path without a skinned prim;
/// [`Error::NothingToSkin`] if nothing can be baked.
fn choose(scene: &Scene, prims: &[String], report: &mut BakeReport) -> Result<Vec<usize>> {
    for path in prims {
        let path = path.clone();
        if !path.starts_with('/') {
            return Err(Error::PrimPath { path });
        }
        // A prim that cannot be skinned is known, and has an error of its own.
        let mut unskinned = scene.unskinned.iter();
        let is_unskinned = unskinned.any(|p| is_below(&p.path, &path));
        if !is_unskinned && !scene.bindings.iter().any(|b| is_below(&b.path, &path)) {
            let known = scene.bindings.iter().map(|b| b.path.clone());
            return Err(Error::UnknownPrim {
                file: scene.file.clone(),
                path,
                known: known.take(8).collect(),
            });
        }
    }
    let mut chosen = Vec::new();
    for (i, binding) in scene.bindings.iter().enumerate() {
        if !is_asked(prims, &binding.path) {
            continue;
        }
        match &binding.unsupported {
            Some(reason) => {
                let message = format!("{reason}: it is not baked");
                let warning = Warning::new("not-baked", &binding.path, message);
                report.warnings.push(warning);
            }
            None => chosen.push(i),
        }
    }
    match chosen.is_empty() && !failed::is_switched_off(scene) {
        true => Err(nothing_to_skin(scene, report)),
        false => Ok(chosen),
    }
}

fn is_asked(prims: &[String], path: &str) -> bool {
    prims.is_empty() || prims.iter().any(|p| is_below(path, p))
}

/// Warnings about prims that are not baked but lose their skinning, because their SkelRoot becomes
/// an Xform.
fn no_longer_skinned(scene: &Scene, prims: &[String], chosen: &[usize]) -> Vec<Warning> {
    let roots: HashSet<usize> = chosen
        .iter()
        .map(|c| scene.bindings[*c].skel_root)
        .collect();
    let left = scene.bindings.iter().filter(|b| !is_asked(prims, &b.path));
    left.filter(|b| roots.contains(&b.skel_root))
        .map(|b| {
            let message = "the prim is not among those to bake, but its SkelRoot becomes an Xform, so it keeps its rest points";
            Warning::new("no-longer-skinned", &b.path, message)
        })
        .collect()
}

/// Baked SkelRoots and all SkelRoots nested in them.
pub(super) fn skel_roots_to_retype(scene: &Scene, baked: &BTreeSet<String>) -> Vec<String> {
    let baked: HashSet<&str> = baked.iter().map(String::as_str).collect();
    scene
        .skel_roots
        .iter()
        .filter(|r| is_below_any(&r.path, &baked))
        .map(|r| r.path.clone())
        .collect()
}
