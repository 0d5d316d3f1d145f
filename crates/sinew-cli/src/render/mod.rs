//! `sinew render`.

mod outcome;
mod sheet;
mod shots;
mod wishes;
mod words;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use sinew::gpu::{AdapterChoice, GpuDevice, GpuError, Skinner};
use sinew::{Error, Result};
use sinew_bake::FrameRange;
use sinew_render::{Loaded, Offscreen, Stage, check_size, save_png};

use crate::open::OpenArgs;
use crate::progress::Progress;
use crate::report::{print_result, tell, to_json};
use outcome::{PictureReport, Report, describe};
use sheet::Sheet;
use shots::{Shot, eye, shots};
use wishes::{control, look};
use words::{BackgroundWord, Numbered, Pair};

/// Draws a character into PNG files: a picture, the frames of a clip, a turntable, or a contact sheet. Needs no window and
/// no display, but a GPU or a software Vulkan driver.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Character to draw: .usda, .usdc, .usd, .usdz, .gltf, .glb, .vrm, .bvh or .fbx.
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// File to write; #### in its name stands for a number, and then its folder is made.
    #[arg(short, long, value_name = "OUT.png|frames/####.png")]
    pub output: PathBuf,
    /// Time code of a single picture or a turntable, instead of the first.
    #[arg(
        long,
        value_name = "T",
        allow_hyphen_values = true,
        conflicts_with = "frames"
    )]
    pub time: Option<f64>,
    /// Frames of numbered files or a sheet, instead of all.
    #[arg(long, value_name = "A:B[:STEP]", allow_hyphen_values = true)]
    pub frames: Option<FrameRange>,
    /// Pixels of each picture, or of a whole sheet.
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub size: Pair,
    /// A camera of the file, or auto: one that frames what is drawn.
    #[arg(long, value_name = "auto|PATH", default_value = "auto")]
    pub camera: String,
    /// Degrees that the auto camera stands to the side of a character's face.
    #[arg(
        long,
        value_name = "DEGREES",
        allow_hyphen_values = true,
        default_value_t = 28.0
    )]
    pub yaw: f64,
    /// Degrees that it stands above.
    #[arg(
        long,
        value_name = "DEGREES",
        allow_hyphen_values = true,
        default_value_t = 12.0
    )]
    pub pitch: f64,
    /// How much nearer than framed it stands.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub zoom: f64,
    /// N pictures around the up axis, at one time.
    #[arg(long, value_name = "N", conflicts_with_all = ["frames", "sheet"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub turntable: Option<u32>,
    /// Columns and rows of one picture that shows the clip at a glance; the camera follows the character.
    #[arg(long, value_name = "CxR", conflicts_with = "time")]
    pub sheet: Option<Pair>,
    /// grey, white, black, transparent or #RRGGBB.
    #[arg(long, value_name = "COLOR", default_value = "grey")]
    pub background: BackgroundWord,
    /// Leave out the lines on the ground and the shadow.
    #[arg(long)]
    pub no_grid: bool,
    /// Draw the edges of faces too.
    #[arg(long)]
    pub wireframe: bool,
    /// Draw the bones over everything.
    #[arg(long)]
    pub joints: bool,
    /// Draw the normals.
    #[arg(long)]
    pub normals: bool,
    /// Draw a box around each mesh.
    #[arg(long)]
    pub bounds: bool,
    /// Show the weights of a joint, by name or path, as colours from dark blue (0) to yellow (1).
    #[arg(long, value_name = "JOINT")]
    pub heat: Option<String>,
    /// Weight of a blend shape's channel, instead of the animation's. May be repeated.
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = weight)]
    pub shape: Vec<(String, f32)>,
    /// Skinning method, instead of each prim's own.
    #[arg(long, value_enum)]
    method: Option<MethodArg>,
    #[command(flatten)]
    pub open: OpenArgs,
    /// What skins. auto takes the GPU that draws, or the CPU where that is a software adapter.
    #[arg(long, value_enum, default_value_t = BackendArg::Auto)]
    backend: BackendArg,
    /// GPU adapter to draw on, whose name contains NAME (see `sinew devices`).
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Print nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  sinew render hero.glb -o hero.png --time 12 --size 1920x1080
  sinew render hero.usdz -o frames/####.png --frames 1:48 --camera /World/Camera
  sinew render hero.vrm -o around/###.png --turntable 36 --background transparent --no-grid
  sinew render walk.bvh -o walk.png --sheet 6x4
  sinew render hero.usda -o weights.png --heat LeftArm --wireframe --json | jq -r .adapter.name";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    Linear,
    DualQuaternion,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BackendArg {
    Auto,
    Gpu,
    Cpu,
}

fn weight(text: &str) -> Result<(String, f32), String> {
    let parsed = text.rsplit_once('=').and_then(|(name, weight)| {
        let weight = weight.parse::<f32>().ok().filter(|w| w.is_finite())?;
        (!name.is_empty()).then(|| (name.to_owned(), weight))
    });
    parsed.ok_or_else(|| format!("'{text}' is no channel with its weight, such as smile=0.5"))
}

pub fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    check(args)?;
    let mut progress = Progress::new(args.quiet);
    progress.doing(&format!("reading {}", args.input.display()));
    // Drivers take their time to load, so they do it while the file is read.
    let choice = match &args.adapter {
        Some(name) => AdapterChoice::Named(name.clone()),
        None => AdapterChoice::Any,
    };
    let options = args.open.options()?;
    let (loaded, gpu) = std::thread::scope(|scope| {
        let gpu = scope.spawn(|| GpuDevice::new(&choice));
        let loaded = Loaded::read(&args.input, &options);
        (loaded, gpu.join())
    });
    let loaded = loaded?;
    let gpu = gpu
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        .map_err(advice)?;
    let size = args.size.0;
    check_size(gpu.device(), size)?;
    let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default())?;
    let mut stage = Stage::new(&skinner, loaded)?;
    stage.check_not_empty()?;
    if gpu.report().software && !args.quiet {
        progress.aside(|| {
            tell(
                "note",
                format!("drawing on a software adapter, {}", gpu.report().name),
            )
        });
    }

    let on_gpu = args.backend == BackendArg::Gpu
        || (args.backend == BackendArg::Auto && !gpu.report().software);
    let control = control(args, &stage, on_gpu)?;
    let look = look(args, &stage, control.heat);
    stage.set_time(stage.time(), &control)?;
    let shots = shots(args, &stage)?;
    let mut sheet = match args.sheet {
        Some(cells) => Some(Sheet::new(size, cells.0).ok_or_else(|| too_small(size, cells.0))?),
        None => None,
    };
    let picture_size = sheet.as_ref().map_or(size, Sheet::cell);
    let aspect = f64::from(picture_size[0]) / f64::from(picture_size[1]);
    let cameras = stage.cameras().to_vec();
    let eye = eye(args, &cameras, &mut stage, &shots, aspect)?;
    let mut offscreen = Offscreen::new(gpu.device(), gpu.queue())?;
    let mut pictures = Vec::new();
    let mut folder = shots.iter().find_map(|s| folder_to_make(args, s));
    let shows_joints = look.joints && stage.skeletons().iter().any(|s| !s.joints.is_empty());
    let mut seen = stage.meshes().is_empty() || shows_joints;
    for (i, shot) in shots.iter().enumerate() {
        progress.done("drawing", "pictures", i, shots.len());
        stage.set_time(shot.time, &control)?;
        seen |= stage.meshes().iter().any(|m| m.visible);
        let camera = eye.camera(shot, stage.up_axis(), &stage.bounds());
        let picture = offscreen.picture(&mut stage, &camera, &look, picture_size)?;
        match (&mut sheet, &shot.file) {
            (Some(sheet), _) => sheet.put(i as u32, &picture, &label(shot)),
            (None, Some(file)) => {
                // Not before there is something to be put there.
                if let Some(folder) = folder.take() {
                    std::fs::create_dir_all(folder).map_err(|e| Error::Write {
                        file: folder.to_owned(),
                        reason: e.to_string(),
                    })?;
                }
                save_png(file, &picture)?;
                pictures.push(PictureReport {
                    file: file.display().to_string(),
                    times: shot.time.code().into_iter().collect(),
                    degrees: args.turntable.map(|_| shot.turn),
                });
            }
            (None, None) => {}
        }
    }
    if let Some(sheet) = sheet {
        progress.doing(&format!("writing {}", args.output.display()));
        save_png(&args.output, &sheet.finish())?;
        pictures.push(PictureReport {
            file: args.output.display().to_string(),
            times: shots.iter().filter_map(|s| s.time.code()).collect(),
            degrees: None,
        });
    }
    drop(progress);
    gpu.check()?;
    let mut messages = stage.messages().to_vec();
    if !seen {
        messages.push("every mesh is invisible at the times drawn".to_owned());
    }
    if !args.quiet {
        for message in &messages {
            tell("warning", message);
        }
    }
    let report = Report {
        input: args.input.display().to_string(),
        size,
        adapter: gpu.report().clone(),
        skinned_on: if on_gpu { "gpu" } else { "cpu" },
        meshes: stage.meshes().len(),
        points: stage.deformed_points(),
        joints: stage.skeletons().iter().map(|s| s.joints.len()).sum(),
        pictures,
        messages,
        seconds: start.elapsed().as_secs_f64(),
    };
    match (args.json, args.quiet) {
        (true, _) => print_result(&to_json(&report)?),
        (false, true) => Ok(()),
        (false, false) => print_result(&describe(&report)),
    }
}

/// What can be said before anything is read.
fn check(args: &Args) -> Result<()> {
    let fail = |reason: &str| {
        Err(Error::Write {
            file: args.output.clone(),
            reason: reason.to_owned(),
        })
    };
    if sinew_io::extension(&args.output) != "png" {
        return fail("expected a name that ends in .png");
    }
    if args.output.is_dir() {
        return fail("it is a folder");
    }
    let numbered = Numbered::new(&args.output.to_string_lossy()).is_some();
    if numbered && args.sheet.is_some() {
        return fail("a sheet is one picture, so its name takes no #");
    }
    let folder = folder_of(&args.output);
    if !numbered && !folder.is_dir() {
        return fail(&format!("there is no folder {}", folder.display()));
    }
    let finite = [args.yaw, args.pitch, args.zoom]
        .into_iter()
        .chain(args.time)
        .all(f64::is_finite);
    if !finite || args.zoom <= 0.0 {
        return Err(Error::Request(
            "--time, --yaw, --pitch and --zoom take finite numbers, --zoom one above 0".into(),
        ));
    }
    Ok(())
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The folder of numbered files.
fn folder_to_make<'a>(args: &Args, shot: &'a Shot) -> Option<&'a Path> {
    let numbered = Numbered::new(&args.output.to_string_lossy()).is_some();
    shot.file.as_deref().filter(|_| numbered).map(folder_of)
}

fn too_small(size: [u32; 2], cells: [u32; 2]) -> Error {
    Error::Request(format!(
        "--sheet {}x{}: cells of a picture of {} x {} pixels have to be {} pixels or more each way",
        cells[0],
        cells[1],
        size[0],
        size[1],
        sheet::LEAST_CELL
    ))
}

/// Where there is nothing to draw on, what would help.
fn advice(error: GpuError) -> Error {
    match &error {
        GpuError::NoAdapter { available, .. } if available.is_empty() => Error::Request(format!(
            "{error}: drawing needs a GPU driver, or a software one such as Mesa's lavapipe (on Debian and Ubuntu: \
             apt-get install mesa-vulkan-drivers libvulkan1)"
        )),
        _ => error.into(),
    }
}

fn label(shot: &Shot) -> String {
    let code = shot.time.code().map(|code| (code * 100.0).round() / 100.0);
    code.map_or_else(String::new, |code| code.to_string())
}
