//! `sinew render`.

mod args;
mod clip_file;
mod lettering;
mod report;
mod requested;
mod saver;
mod sheet;
mod shots;

use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::batch::{Batch, CHARACTERS, Done};
use crate::error::{Error, Result};
use glam::DVec3;
use sinew::gpu::{AdapterChoice, GpuDevice, GpuError, Skinner};
use sinew::scene::Purpose;
use sinew::skel::SkinningMethod;
use sinew::{Invalid, Warning};
use sinew_bake::{FramePattern, FrameRange};
use sinew_io::OpenOptions;
use sinew_render::{Background, DrawBackend, Loaded, Offscreen, Stage, check_size, save_png};

use crate::exit::{Exit, PartialArgs};
use crate::finding::{self, of_warnings};
use crate::host::{self, Step};
use crate::open::{AnimArgs, OpenArgs, one_of};
use crate::progress::Progress;
use crate::report::{Verbosity, print_failed, print_message, print_warning};
use args::{BackgroundArg, Pair};
use clip_file::{ClipFile, ClipFormat};
use lettering::legend;
use report::{PictureReport, Report, describe};
use requested::{control, focus, joint_name, look, look_of_arguments};
use saver::Saver;
use sheet::Sheet;
use shots::{
    Shot, clip_outside_range, outside_clip, seconds_each, shot_camera, shots, target,
    too_fast_for_gif,
};

/// Draw a character: one picture, the frames of a clip, a turntable or a contact sheet.
///
/// The result is one or several PNG files, or one GIF, animated PNG or video. Drawing needs a GPU
/// or a software Vulkan driver, but no window and no display.
#[derive(clap::Args, Clone)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Character to draw: .usda, .usdc, .usd, .usdz, .gltf, .glb, .vrm, .bvh or .fbx. Several
    /// files, a folder or a glob are drawn one after another into the folder OUT. If one fails, the
    /// others are still drawn.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// The one of them that is drawn now.
    #[arg(skip)]
    input: PathBuf,
    /// File to write: .png for a picture, .gif, .apng, .mp4 or .webm for a whole clip (video needs
    /// the program ffmpeg). #### or %04d in the name of a .png stands for a number. A missing
    /// folder is made.
    #[arg(short, long, value_name = "OUT.png|frames/####.png|OUT.gif|OUT/")]
    pub output: PathBuf,
    /// Extension of the files in the folder OUT. Without this: png.
    #[arg(long, value_name = "EXT")]
    to: Option<String>,
    /// Time code of a single picture or a turntable. Without this: the first time of the clip.
    #[arg(
        long,
        value_name = "T",
        allow_hyphen_values = true,
        conflicts_with = "frames"
    )]
    pub time: Option<f64>,
    /// Frames of numbered files, an animated picture, a video or a sheet: first, last and step in
    /// time codes. Without this: all frames.
    #[arg(long, value_name = "A:B[:STEP]", allow_hyphen_values = true)]
    pub frames: Option<FrameRange>,
    /// Pixels of each picture, or of a whole sheet.
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub size: Pair,
    /// Pictures per second of an animated picture or video. The result plays as fast as IN, unless
    /// --frames chooses the frames: these follow one another at this rate. Without this there is
    /// one picture for each frame, and a turntable takes six seconds. With this, a .png is an
    /// animated PNG.
    #[arg(long, value_name = "N")]
    pub fps: Option<f64>,
    /// Prim path of a camera of the file, or auto for a camera that frames everything drawn.
    #[arg(long, value_name = "auto|PATH", default_value = "auto")]
    pub camera: String,
    /// Angle of the auto camera to the side of the character's face, in degrees.
    #[arg(
        long,
        value_name = "DEGREES",
        allow_hyphen_values = true,
        default_value_t = 28.0
    )]
    pub yaw: f64,
    /// Angle of the auto camera above the horizon, in degrees.
    #[arg(
        long,
        value_name = "DEGREES",
        allow_hyphen_values = true,
        default_value_t = 12.0
    )]
    pub pitch: f64,
    /// Factor by which the auto camera stands nearer; below 1 it stands farther away.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub zoom: f64,
    /// Point the camera at a part: the points that this joint and the joints below it move, or the
    /// prim of this path. A joint is given by its name or path.
    #[arg(long, value_name = "JOINT|/PRIM")]
    pub focus: Option<String>,
    /// Draw N pictures around the up axis, all of the same time code; 72 if no number is given. An
    /// animated picture or video of it takes six seconds, or N / 24 if N is above 144.
    #[arg(long, value_name = "N", conflicts_with_all = ["frames", "sheet"])]
    #[arg(num_args = 0..=1, default_missing_value = "72")]
    #[arg(value_parser = turntable)]
    pub turntable: Option<u32>,
    /// Draw one picture with C columns and R rows of frames of the clip; 4x3 if no numbers are
    /// given. The camera follows the character.
    #[arg(long, value_name = "CxR", conflicts_with = "time")]
    #[arg(num_args = 0..=1, default_missing_value = "4x3")]
    pub sheet: Option<Pair>,
    /// Background: grey, white, black, none (transparent) or #RRGGBB.
    #[arg(long, value_name = "COLOR", default_value = "grey")]
    pub background: BackgroundArg,
    /// Leave out the lines on the ground and the shadow.
    #[arg(long)]
    pub no_grid: bool,
    /// Draw the edges of the faces.
    #[arg(long)]
    pub wireframe: bool,
    /// Draw the bones, over everything else.
    #[arg(long)]
    pub joints: bool,
    /// Draw the normals.
    #[arg(long)]
    pub normals: bool,
    /// Draw a box around each mesh.
    #[arg(long)]
    pub bounds: bool,
    /// Show the weights of the joint of this name or path as colours, from dark blue (0) to yellow
    /// (1), with a legend.
    #[arg(long, value_name = "JOINT")]
    pub heat: Option<String>,
    /// Set the weight of a blend shape channel, in place of the animation's weight. May be
    /// repeated.
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = weight)]
    pub shape: Vec<(String, f32)>,
    /// Skinning method, in place of each prim's own method.
    #[arg(long)]
    #[arg(value_parser = one_of([
        ("linear", SkinningMethod::ClassicLinear),
        ("dual-quaternion", SkinningMethod::DualQuaternion),
    ]))]
    method: Option<SkinningMethod>,
    /// Purposes of the prims that are drawn, such as render,guide. Prims of the purpose default are
    /// always drawn; the value default draws no others.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "render"
    )]
    #[arg(value_parser = one_of([
        ("default", Purpose::Default),
        ("render", Purpose::Render),
        ("proxy", Purpose::Proxy),
        ("guide", Purpose::Guide),
    ]))]
    purpose: Vec<Purpose>,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    anim: AnimArgs,
    /// Backend that skins. auto takes the GPU that draws, or the CPU if that GPU is a software
    /// adapter.
    #[arg(long, default_value = "auto")]
    #[arg(value_parser = one_of([
        ("auto", None),
        ("gpu", Some(DrawBackend::Gpu)),
        ("cpu", Some(DrawBackend::Cpu)),
    ]))]
    backend: Choice,
    /// Draw on the GPU adapter whose name contains NAME (see `sinew devices`).
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    #[command(flatten)]
    partial: PartialArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  sinew render hero.glb -o hero.png --time 12 --size 1920x1080
  sinew render characters -o pictures/ --size 640x480
  sinew render hero.usdz -o frames/####.png --frames 1:48 --camera /World/Camera
  sinew render hero.vrm -o around/###.png --turntable 36 --background none --no-grid
  sinew render walk.bvh -o walk.png --sheet 6x4
  sinew render hero.glb -o run.mp4 --clip Run --size 1280x720
  sinew render hero.glb -o face.png --focus head
  sinew render hero.usda -o weights.png --heat head --wireframe --json | jq -r .adapter.name";

/// A backend; `None` for auto.
type Choice = Option<DrawBackend>;

/// Parses a number of pictures, for clap.
fn turntable(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|n| (1..=100_000).contains(n));
    count.ok_or_else(|| {
        format!(
            "expected a number of pictures from 1 to 100000, found '{text}'; a file stands before --turntable"
        )
    })
}

/// Parses `NAME=WEIGHT`, for clap.
fn weight(text: &str) -> Result<(String, f32), String> {
    let parsed = text.rsplit_once('=').and_then(|(name, weight)| {
        let weight = weight.parse::<f32>().ok().filter(|w| w.is_finite())?;
        (!name.is_empty()).then(|| (name.to_owned(), weight))
    });
    parsed.ok_or_else(|| {
        format!("expected a channel and its weight, such as smile=0.5, found '{text}'")
    })
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let batch = Batch {
        command: "render",
        inputs: &args.inputs,
        extensions: &CHARACTERS,
        output: Some(&args.output),
        to: args.to.as_deref(),
        open: args.open.options()?,
        json: args.json,
        partial: args.partial,
        verbosity,
    };
    // Several pictures of one file need a place for the number.
    let is_numbered = args.sheet.is_none()
        && args.fps.is_none()
        && (args.frames.is_some() || args.turntable.is_some());
    let extension = |_: &Path| match args.to.as_deref().unwrap_or("png") {
        "png" if is_numbered => "####.png".to_owned(),
        other => other.to_owned(),
    };
    // The adapter is told once, not for each file.
    let is_told = Cell::new(verbosity.is_quiet());
    batch.run(extension, |input, output| {
        let mut args = args.clone();
        args.input = input.to_owned();
        if let Some(output) = output {
            args.output = output.to_owned();
        }
        draw(&args, verbosity, &is_told)
    })
}

/// Draws one file.
fn draw(args: &Args, verbosity: Verbosity, is_told: &Cell<bool>) -> Result<Done<Report>> {
    let quiet = verbosity.is_quiet();
    let start = Instant::now();
    check(args)?;
    let input = args.input.as_path();
    let mut progress = Progress::new(quiet);
    progress.doing(&format!("reading {}", input.display()));
    // Drivers load and compile slowly, so let them while the file is read.
    let choice = match &args.adapter {
        Some(name) => AdapterChoice::Named(name.clone()),
        None => AdapterChoice::Any,
    };
    let options = OpenOptions {
        purposes: args.purpose.iter().copied().collect(),
        ..args.open.options()?
    };
    let (loaded, gpu) = std::thread::scope(|scope| {
        let gpu = scope.spawn(|| open_gpu(&choice, args));
        let loaded = sinew_io::open_with(input, &options)
            .map_err(Error::from)
            .and_then(|file| {
                let loaded = Loaded::of_with(&file, &options, args.anim.read())?;
                Ok((file, loaded))
            });
        (loaded, gpu.join())
    });
    let (file, loaded) = loaded?;
    host::go_on(Step::Part)?;
    let (gpu, mut offscreen) = gpu
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        .map_err(with_advice)?;
    let size = args.size.0;
    check_size(gpu.device(), size)?;
    let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default())?;
    let mut stage = Stage::new(&skinner, loaded)?;
    stage.check_not_empty()?;
    let automatic = match gpu.report().software {
        true => DrawBackend::Cpu,
        false => DrawBackend::Gpu,
    };
    let backend = args.backend.unwrap_or(automatic);
    let control = control(args, &stage, backend)?;
    let look = look(args, &stage, control.heat);
    stage.set_time(stage.time(), &control)?;
    let focus = focus(args, &stage)?;
    let shots = shots(args, &stage)?;
    let numbered = shots.iter().filter_map(|shot| shot.file.as_ref());
    file.check_outputs(numbered.chain([&args.output]))?;
    drop(file);
    if gpu.report().software && !is_told.replace(true) {
        progress.aside(|| {
            print_message(
                "note",
                format!("drawing on a software adapter, {}", gpu.report().name),
            )
        });
    }
    let mut sheet = match args.sheet {
        Some(cells) => Some(Sheet::new(size, cells.0).ok_or_else(|| too_small(size, cells.0))?),
        None => None,
    };
    let picture_size = sheet.as_ref().map_or(size, Sheet::cell);
    let aspect = f64::from(picture_size[0]) / f64::from(picture_size[1]);
    let cameras = stage.cameras().to_vec();
    let framing = (&look, focus.as_ref());
    let shot_camera = shot_camera(args, &cameras, &mut stage, &shots, framing, aspect)?;
    let clip_format = args.clip_format().filter(|_| !host::is_set());
    let clip_seconds = clip_format.map(|_| seconds_each(args, &stage, &shots));
    let mut clip = match clip_format.zip(clip_seconds) {
        Some((format, seconds)) => {
            let count = shots.len();
            let is_opaque = args.background.0 != Background::Transparent;
            let clip = ClipFile::new(&args.output, format, size, count, seconds, is_opaque)?;
            Some(clip)
        }
        None => None,
    };
    let heat_name = control.heat.and_then(|joint| joint_name(&stage, joint));
    let heat_name = heat_name.map(str::to_owned);
    let mut pictures = Vec::new();
    let decimals = decimals_apart(&shots);
    let alone = shots.iter().filter(|s| s.file.is_some()).count();
    let mut saver = Saver::new(size, alone);
    let shows_joints = look.joints && stage.skeletons().iter().any(|s| !s.joints.is_empty());
    let mut any_visible = stage.meshes().is_empty() || shows_joints;
    let mut any_normals = false;
    for (i, shot) in shots.iter().enumerate() {
        host::go_on(Step::Part)?;
        progress.done("drawing", "pictures", i, shots.len());
        stage.set_time(shot.time, &control)?;
        any_visible |= stage.meshes().iter().any(|m| m.visible);
        let target = match args.sheet {
            Some(_) => target(
                &stage,
                &stage.framed(&look, focus.as_ref())?,
                focus.as_ref(),
            ),
            None => DVec3::ZERO,
        };
        let camera = shot_camera.at(shot, stage.up_axis(), target);
        let mut picture = offscreen.picture(&mut stage, &camera, &look, picture_size)?;
        any_normals |= stage.meshes().iter().any(|m| m.visible && m.normals);
        if let Some(name) = heat_name.as_ref().filter(|_| sheet.is_none()) {
            legend(&mut picture, name);
        }
        match (&mut sheet, &shot.file) {
            (Some(sheet), _) => sheet.put(i as u32, &picture, &label(shot, decimals)),
            (None, Some(file)) => {
                let Some(picture) = host::take_picture(picture) else {
                    continue;
                };
                saver.save(file.clone(), picture)?;
                pictures.push(PictureReport {
                    file: file.display().to_string(),
                    times: shot.time.code().into_iter().collect(),
                    degrees: args.turntable.map(|_| shot.turn),
                    seconds: None,
                });
            }
            (None, None) => {
                if let Some(picture) = host::take_picture(picture)
                    && let Some(clip) = &mut clip
                {
                    clip.add(picture)?;
                }
            }
        }
    }
    saver.finish()?;
    // One file of all shots.
    let whole = || PictureReport {
        file: args.output.display().to_string(),
        times: shots.iter().filter_map(|s| s.time.code()).collect(),
        degrees: None,
        seconds: None,
    };
    if let Some(clip) = clip {
        progress.doing(&format!("writing {}", args.output.display()));
        clip.finish()?;
        pictures.push(PictureReport {
            seconds: clip_seconds.map(|each| each * shots.len() as f64),
            ..whole()
        });
    }
    let sheet = sheet.map(Sheet::finish).map(|mut sheet| {
        if let Some(name) = &heat_name {
            legend(&mut sheet, name);
        }
        sheet
    });
    if let Some(sheet) = sheet
        && let Some(picture) = host::take_picture(sheet)
    {
        progress.doing(&format!("writing {}", args.output.display()));
        save_png(&args.output, &picture)?;
        pictures.push(whole());
    }
    drop(progress);
    gpu.check()?;
    let file = Some(input);
    let failed = finding::of_left_out(stage.failed(), stage.left_out(), file);
    // What is wrong with failed prims is printed with them.
    let is_told = |e: &Invalid| stage.failed().iter().any(|prim| prim.error == *e);
    let errors = stage.errors().iter().filter(|e| !is_told(e));
    let outside = outside_clip(&stage, &shots);
    let outside = outside.filter(|_| args.time.is_some() || args.frames.is_some());
    let too_fast = clip_seconds.and_then(|seconds| too_fast_for_gif(args, seconds));
    let still = clip_outside_range(&stage).filter(|_| args.time.is_none() && args.frames.is_none());
    let invisible = (!any_visible).then(|| {
        let message = "every mesh is invisible at the times that were drawn";
        Warning::new("nothing-visible", "", message)
    });
    let flat = (args.normals && any_visible && !any_normals).then(|| {
        let message = "no mesh that is visible has normals: none are drawn";
        Warning::new("normals-missing", "", message)
    });
    let own = [outside, too_fast, still, invisible, flat];
    let mut warnings = stage.warnings().to_vec();
    warnings.extend(own.into_iter().flatten());
    if !quiet {
        for error in errors.clone() {
            print_message("warning", error);
        }
        warnings.iter().for_each(print_warning);
    }
    let errors = errors.map(|e| finding::Finding::invalid(e, file));
    let report = Report {
        input: input.display().to_string(),
        size,
        adapter: gpu.report().clone(),
        skinned_on: match backend {
            DrawBackend::Gpu => "gpu",
            DrawBackend::Cpu => "cpu",
        },
        meshes: stage.meshes().len(),
        points: stage.deformed_points(),
        joints: stage.skeletons().iter().map(|s| s.joints.len()).sum(),
        pictures,
        failed,
        warnings: errors.chain(of_warnings(&warnings, file)).collect(),
        seconds: start.elapsed().as_secs_f64(),
    };
    print_failed(&report.failed);
    Ok(Done {
        exit: args.partial.exit(!report.failed.is_empty()),
        text: describe(&report),
        brief: report.brief(),
        report,
    })
}

impl Args {
    /// The format of a clip in one file; `None` for single pictures.
    fn clip_format(&self) -> Option<ClipFormat> {
        ClipFormat::of(&self.output, self.fps.is_some())
    }
}

/// Opens the adapter, and compiles what it draws with.
fn open_gpu(choice: &AdapterChoice, args: &Args) -> Result<(GpuDevice, Offscreen), GpuError> {
    let gpu = GpuDevice::new(choice)?;
    let offscreen = Offscreen::new(gpu.device(), gpu.queue())?;
    offscreen.prewarm(&look_of_arguments(args))?;
    Ok((gpu, offscreen))
}

/// The name of numbered files; `None` for a single picture.
///
/// # Errors
/// The name has two places for the number.
pub fn numbered(output: &Path) -> Result<Option<FramePattern>> {
    FramePattern::new(output).map_err(|reason| Error::bad_output(output, reason))
}

/// Refuses arguments that can be checked before a file is read.
fn check(args: &Args) -> Result<()> {
    let fail = |reason: &str| Err(Error::write(&args.output, reason));
    let misfit = |reason: &str| Err(Error::bad_output(&args.output, reason));
    let clip = args.clip_format();
    if clip.is_none() && sinew_io::extension(&args.output) != "png" {
        return misfit("expected the extension .png, .gif, .apng, .mp4 or .webm");
    }
    if args.output.is_dir() {
        return fail("it is a folder");
    }
    let numbered = numbered(&args.output)?.is_some();
    if numbered && args.sheet.is_some() {
        return misfit("a sheet is one picture, so expected no frame number in its name");
    }
    if let Some(format) = clip {
        let is_video = matches!(format, ClipFormat::Mp4 | ClipFormat::WebM);
        if args.sheet.is_some() {
            return misfit("a sheet is one picture, so expected the extension .png");
        }
        if numbered {
            return misfit("a clip is one file, so expected no frame number in its name");
        }
        if is_video && args.background.0 == Background::Transparent {
            return misfit(
                "videos have no transparency: use another --background, or write .gif or .apng",
            );
        }
        format.check(&args.output, args.size.0)?;
    }
    let finite = [args.yaw, args.pitch, args.zoom]
        .into_iter()
        .chain(args.time)
        .all(f64::is_finite);
    if args.fps.is_some_and(|fps| !(0.01..=1000.0).contains(&fps)) {
        return Err(Error::Usage(
            "--fps: expected a number from 0.01 to 1000".into(),
        ));
    }
    if !finite || args.zoom <= 0.0 {
        return Err(Error::Usage(
            "--time, --yaw, --pitch and --zoom: expected finite numbers, and --zoom above 0".into(),
        ));
    }
    Ok(())
}

/// The error for a sheet whose cells are too small.
fn too_small(size: [u32; 2], cells: [u32; 2]) -> Error {
    let ([width, height], [columns, rows]) = (size, cells);
    let least = sheet::LEAST_CELL;
    Error::Usage(format!(
        "--sheet {columns}x{rows}: expected cells of at least {least} pixels each way, but the picture has {width} x {height} pixels; use fewer cells or a larger --size"
    ))
}

/// The library's error; if there is no adapter at all, with advice about drivers.
fn with_advice(error: GpuError) -> Error {
    match &error {
        GpuError::NoAdapter { available, .. } if available.is_empty() => Error::Message(format!(
            "{error}: install a GPU driver, or a software driver such as Mesa's lavapipe (on Debian and Ubuntu: apt-get \
             install mesa-vulkan-drivers libvulkan1)"
        )),
        _ => error.into(),
    }
}

/// The label of a cell: its time code, or nothing at the default time.
fn label(shot: &Shot, decimals: usize) -> String {
    let code = shot.time.code();
    code.map_or_else(String::new, |code| format!("{code:.decimals$}"))
}

/// The number of decimals, at most two, by which labels of different times differ.
fn decimals_apart(shots: &[Shot]) -> usize {
    let different = |decimals| {
        let labels = shots.iter().map(|shot| label(shot, decimals));
        labels.collect::<HashSet<_>>().len()
    };
    (0..2)
        .find(|decimals| different(*decimals) == different(2))
        .unwrap_or(2)
}
