//! Frames in, files out: skinning baked into points and normals, as Pixar's BakeSkinning does.

mod buffers;
mod clips;
mod deform;
mod extent;
mod formats;
mod frames;
mod gpu_batch;
mod hints;
mod plan;
mod posing;
mod samples;
mod schedule;
mod sharing;
mod stream;
mod tracks;
mod troubles;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sinew::error::{Error, Invalid, Result, Warning};
use sinew::scene::Scene;
use sinew::skel::AnimSource;
use sinew_io::usd::{BakeEdits, ReadOptions, UsdFile};
use sinew_io::{self as io, OpenOptions};

pub use clips::{ClipCounts, Shard};
pub use deform::Backend;
use formats::FramesToBake;
pub use formats::{Format, VatOptions, VatValues};
pub use plan::Rigid;
pub use schedule::FrameRange;
pub use sinew::scene::OutSpace;
pub use sinew_io::usd::{BakedArray, BakedHint, BakedPrim, BakedTransform, Samples};
use tracks::{Track, Work, bake_schedule};
use troubles::{Troubles, broken_shapes};

/// What to bake, and how.
#[derive(Clone, Debug, Default)]
pub struct BakeOptions {
    /// Variants and search paths that the input is opened with.
    pub open: OpenOptions,
    /// Frames to sample; the authored times and the stage's frames where `None` (rule 31).
    pub frames: Option<FrameRange>,
    pub backend: Backend,
    /// Prims to bake: each names a skinned prim or an ancestor of some. All where empty.
    pub prims: Vec<String>,
    /// Write a layer of overs that sublayers the input instead of one self-contained file.
    pub layer: bool,
    /// Where a skeleton's animation is looked for.
    pub anim_source: AnimSource,
    /// What becomes of prims with constant influences.
    pub rigid: Rigid,
    /// The space that points end up in; [`Format::default_space`] where `None`. In USD, beyond prim space, the prim's own
    /// transform is rewritten, so that the picture stays the same.
    pub space: Option<OutSpace>,
    /// How vertex animation textures are written.
    pub vat: VatOptions,
    /// Write a file for every so many sampled times, and OUT as a stage of value clips over them. An OUT over clips of another
    /// bake is removed before the first of these is replaced.
    pub clip_frames: Option<usize>,
    /// Keep clips that are there, where the same input and options made them on the same backend.
    pub resume: bool,
    /// Bake these clips alone, and no stage: [`stitch`] makes it when all are there.
    pub shard: Option<Shard>,
}

/// Progress of a bake, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Samples done and to do.
    Deforming { done: usize, total: usize },
    /// Everything is deformed; the file is being written.
    Writing,
}

/// What a bake did.
#[derive(Clone, Debug)]
pub struct BakeReport {
    /// Prims that were baked.
    pub prims: usize,
    /// Those of them that are deformed once for all, as instances of one prototype.
    pub shared: usize,
    /// Those of them that constant influences move by their transform.
    pub moved: usize,
    /// Frames, in formats that hold frames one by one; 0 in USD, where prims have times of their own.
    pub frames: usize,
    /// What was written: OUT, or the files that its name stands for.
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
    pub warnings: Vec<Warning>,
}

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
/// let options = BakeOptions {
///     frames: Some(FrameRange { first: 1.0, last: 3.0, step: 1.0 }),
///     backend: Backend::Cpu,
///     prims: vec!["/Hatchling/Geo/WingL".into()],
///     ..BakeOptions::default()
/// };
/// let input = "../../examples/assets/hatchling.usda".as_ref();
/// // A folder for a sequence is made.
/// let report = bake(input, &folder.join("wing.####.obj"), &options, &mut |_| {})?;
/// assert_eq!((report.files.len(), report.prims), (3, 1));
/// assert!(folder.join("wing.0003.obj").exists());
/// // wing.exr, wing_normal.exr, wing_mesh.glb and wing.json.
/// let report = bake(input, &folder.join("wing.exr"), &options, &mut |_| {})?;
/// assert_eq!(report.files.len(), 4);
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<(), sinew::Error>(())
/// ```
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
    let format = Format::of(output)?;
    check_output(output, format, options)?;
    // Drivers take their time to load, so they do it while the file is read.
    let (read, deformer) = std::thread::scope(|scope| {
        let deformer = scope.spawn(|| deform::Deformer::new(&options.backend));
        let read = read(input, options);
        (read, deformer.join())
    });
    let (file, scene) = read?;
    let mut deformer = deformer.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let mut errors = scene.errors.clone();
    let mut warnings = scene.warnings.clone();
    let chosen = choose(&scene, options, &mut warnings)?;
    if chosen.is_empty() {
        return Err(nothing_to_skin(&scene, &errors, &warnings));
    }
    let mut report = BakeReport::new(deformer.describe());
    if options.clip_frames.is_some() {
        (report.errors, report.warnings) = (errors, warnings);
        let clips = clips::ClipBake {
            file: &file,
            scene: &scene,
            output,
            options,
            chosen: &chosen,
        };
        file.check_output(output)?;
        if !options.layer {
            file.check_flattened(output)?;
        }
        clips.bake(&mut deformer, &mut report, progress)?;
        report.elapsed = start.elapsed();
        return Ok(report);
    }
    report.files.push(output.to_owned());
    if format != Format::Usd {
        let asked = FramesToBake {
            file: &file,
            scene: &scene,
            output,
            format,
            options,
            chosen: &chosen,
        };
        let baked = formats::bake_frames(asked, &mut deformer, progress)?;
        errors.extend(baked.errors);
        warnings.extend(baked.warnings);
        if baked.prims == 0 {
            return Err(nothing_to_skin(&scene, &errors, &warnings));
        }
        report.deform_time = baked.deform_time;
        report.files = baked.files;
        report.frames = baked.frames;
        report.prims = baked.prims;
        report.points = baked.points;
        report.samples = baked.prims * baked.frames;
        report.deformed_points = baked.points as u64 * baked.frames as u64;
        report.errors = errors;
        report.warnings = warnings;
        report.elapsed = start.elapsed();
        return Ok(report);
    }
    let work = Work::new(&scene, &chosen, options)?;
    if options.frames.is_none() {
        tracks::check_size(&scene, &work.plan, &work.schedule)?;
    }
    let mut out = file.begin_bake(output, options.layer)?;
    let mut troubles = Troubles::default();
    let baked = bake_schedule(
        &scene,
        &work,
        &work.schedule,
        &mut deformer,
        &mut troubles,
        &mut |time, values| out.keep(time, values),
        progress,
    )?;
    report.deform_time = baked.deform_time;
    let prims = baked.prims;
    let (prim_errors, prim_warnings) = troubles.finish(&scene, |b| prims.contains_key(&b));
    errors.extend(prim_errors);
    warnings.extend(prim_warnings);
    warnings.extend(broken_shapes(&scene, &work.schedule));
    if prims.is_empty() {
        return Err(nothing_to_skin(&scene, &errors, &warnings));
    }

    report.errors = errors;
    report.warnings = warnings;
    report.count(&scene, &prims);
    let edits = usd_edits(&scene, prims, options.frames.is_some());
    progress(Progress::Writing);
    report.warnings.extend(out.finish(edits)?);
    report.elapsed = start.elapsed();
    Ok(report)
}

/// Writes the stage over the clips of a bake that ran in shards, each by [`bake`] with the same input, output and options;
/// nothing is deformed. The backend is the clips' own: all have to be of one.
///
/// # Errors
/// A clip that is not there, is cut short, or was made from another input, with other options or on another backend than
/// the first one; options without `clip_frames`; and as [`bake`].
pub fn stitch(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<BakeReport> {
    let start = Instant::now();
    let format = Format::of(output)?;
    check_output(output, format, options)?;
    if options.clip_frames.is_none() {
        let text = "to stitch, say by clip_frames how the bake was cut into clips";
        return Err(Error::Request(text.into()));
    }
    let (file, scene) = read(input, options)?;
    file.check_output(output)?;
    if !options.layer {
        file.check_flattened(output)?;
    }
    let mut report = BakeReport::new(String::new());
    report.errors = scene.errors.clone();
    report.warnings = scene.warnings.clone();
    let chosen = choose(&scene, options, &mut report.warnings)?;
    if chosen.is_empty() {
        return Err(nothing_to_skin(&scene, &report.errors, &report.warnings));
    }
    let clips = clips::ClipBake {
        file: &file,
        scene: &scene,
        output,
        options,
        chosen: &chosen,
    };
    clips.stitch(&mut report, progress)?;
    report.elapsed = start.elapsed();
    Ok(report)
}

impl BakeReport {
    fn new(backend: String) -> Self {
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

    /// Counts what was baked into USD.
    fn count(&mut self, scene: &Scene, prims: &BTreeMap<usize, Track>) {
        for (binding, track) in prims {
            let places = track.prim.places().count();
            self.prims += places;
            self.shared += places - 1;
            self.points += track.points * places;
            self.deformed_points += track.deformed_points;
            self.samples += track.samples * places;
            let moved = scene.bindings[*binding].is_rigid() && track.prim.transform.is_some();
            self.moved += usize::from(moved) * places;
        }
    }
}

/// What is written of baked prims, and of those around them.
fn usd_edits(scene: &Scene, prims: BTreeMap<usize, Track>, only_baked_times: bool) -> BakeEdits {
    let mut prims: BTreeMap<usize, BakedPrim> = prims
        .into_iter()
        .map(|(b, track)| (b, track.prim))
        .collect();
    let retype = retyped(scene, prims.values());
    let window = hints::Window::ALL;
    let hints = hints::bake_hints(scene, &prims, &retype, only_baked_times, window);
    prims.values_mut().for_each(samples::drop_redundant);
    BakeEdits {
        prims: prims.into_values().collect(),
        hints,
        retype,
    }
}

/// SkelRoots that become Xforms once these prims are baked.
fn retyped<'a>(scene: &Scene, prims: impl Iterator<Item = &'a BakedPrim>) -> Vec<String> {
    let places: HashSet<&str> = prims.flat_map(BakedPrim::places).collect();
    let bound = scene.bindings.iter();
    let roots = bound
        .filter(|b| places.contains(b.path.as_str()))
        .map(|b| scene.prims[b.skel_root].path.clone());
    skel_roots_to_retype(scene, &roots.collect())
}

fn read(input: &Path, options: &BakeOptions) -> Result<(UsdFile, Scene)> {
    let file = io::open_with(input, &options.open)?;
    let scene = file.scene(ReadOptions {
        anim_source: options.anim_source,
    })?;
    Ok((file, scene))
}

fn check_output(output: &Path, format: Format, options: &BakeOptions) -> Result<()> {
    let fail = |reason: &str| {
        Err(Error::Write {
            file: output.to_owned(),
            reason: reason.to_owned(),
        })
    };
    if options.layer && format != Format::Usd {
        return fail("a layer is written as .usda or .usdc");
    }
    if options.layer
        && output
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("usdz"))
    {
        return fail("a .usdz has to be self-contained; write the layer as .usda or .usdc");
    }
    if let Some(reason) = clips::refusal(output, format, options) {
        return fail(reason);
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
    Ok(())
}

/// Whether a prim is another one or below it.
fn is_below(path: &str, top: &str) -> bool {
    let rest = path.strip_prefix(top.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The bindings asked for that can be baked; the others become warnings.
fn choose(scene: &Scene, options: &BakeOptions, warnings: &mut Vec<Warning>) -> Result<Vec<usize>> {
    for asked in &options.prims {
        if !asked.starts_with('/') {
            return Err(Error::Request(format!(
                "--prim '{asked}': expected an absolute prim path"
            )));
        }
        if !scene.bindings.iter().any(|b| is_below(&b.path, asked)) {
            return Err(Error::Request(format!(
                "{}: --prim {asked}: no skinned prim is there or below",
                scene.file.display()
            )));
        }
    }
    let mut chosen = Vec::new();
    let mut left_by_request = Vec::new();
    for (i, binding) in scene.bindings.iter().enumerate() {
        if !options.prims.is_empty() && !options.prims.iter().any(|p| is_below(&binding.path, p)) {
            left_by_request.push(i);
            continue;
        }
        match &binding.unsupported {
            Some(reason) => {
                let message = format!("{reason}: left as it is");
                warnings.push(Warning::new("not-baked", &binding.path, message));
            }
            None => chosen.push(i),
        }
    }
    for i in left_by_request {
        let binding = &scene.bindings[i];
        if chosen
            .iter()
            .any(|c| scene.bindings[*c].skel_root == binding.skel_root)
        {
            warnings.push(Warning::new(
                "no-longer-skinned",
                &binding.path,
                "was not asked for, but its SkelRoot becomes an Xform, so it stays at its rest points",
            ));
        }
    }
    Ok(chosen)
}

fn nothing_to_skin(scene: &Scene, errors: &[Invalid], warnings: &[Warning]) -> Error {
    let reason = if scene.skel_roots.is_empty() {
        let mut text = "nothing to skin: the stage has no SkelRoot".to_owned();
        // Perhaps it is in a file that was not found.
        for warning in warnings.iter().filter(|w| w.code == "composition").take(20) {
            text.push_str("\n  ");
            text.push_str(&warning.message);
        }
        text
    } else {
        let mut text = "nothing could be skinned".to_owned();
        let coded = |e: &Invalid| match e.code {
            Some(code) => format!("{e} [{code}]"),
            None => e.to_string(),
        };
        let reasons = errors.iter().map(coded).chain(
            warnings
                .iter()
                .filter(|w| !matches!(w.code, "normals-left" | "animation-source-ignored"))
                .map(ToString::to_string),
        );
        let mut any = false;
        for reason in reasons.take(20) {
            text.push_str("\n  ");
            text.push_str(&reason);
            any = true;
        }
        if !any {
            text.push_str(
                ": no prim below a SkelRoot is bound to a Skeleton with influences or blend shapes",
            );
        }
        text
    };
    Error::NothingToSkin {
        file: scene.file.clone(),
        reason,
    }
}

/// Baked SkelRoots and every SkelRoot nested in one.
fn skel_roots_to_retype(scene: &Scene, baked: &BTreeSet<String>) -> Vec<String> {
    let inside = |path: &str| {
        baked.iter().any(|root| {
            path.strip_prefix(root.as_str())
                .is_some_and(|r| r.is_empty() || r.starts_with('/'))
        })
    };
    scene
        .skel_roots
        .iter()
        .filter(|r| inside(&r.path))
        .map(|r| r.path.clone())
        .collect()
}
