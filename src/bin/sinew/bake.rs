//! `sinew bake`.

use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use sinew::bake::{Backend, BakeOptions, BakeReport, FrameRange, OutSpace, Rigid, bake};
use sinew::skel::AnimSource;

use crate::open::OpenArgs;
use crate::progress::Progress;
use crate::report::{count, print_findings, print_result, thousands};

/// Bakes blend shapes and skinning into the points (and normals) of every bound prim, in the prim's
/// own space, writes extents, and retypes SkelRoots to Xform so that nothing skins twice.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Character to bake: .usda, .usdc, .usd, .usdz, .gltf, .glb, .vrm or .fbx.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to write; its ending chooses the format. A .usdz packs the textures.
    #[arg(short, long, value_name = "OUT.{usda,usdc,usdz}")]
    output: PathBuf,
    /// Frames to sample, instead of the authored times and the stage's frames between them.
    #[arg(long, value_name = "A:B[:STEP]", allow_hyphen_values = true)]
    frames: Option<FrameRange>,
    /// What runs the kernels. auto takes a hardware GPU, else the CPU.
    #[arg(long, value_enum, default_value_t = BackendArg::Auto)]
    backend: BackendArg,
    /// GPU adapter whose name contains NAME (see `sinew devices`); takes software ones too.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Bake this prim, or all skinned prims below it. May be repeated.
    #[arg(long, value_name = "PATH")]
    prim: Vec<String>,
    /// Write a layer of overs that sublayers IN, instead of one self-contained file.
    #[arg(long)]
    layer: bool,
    #[command(flatten)]
    open: OpenArgs,
    /// Where animation is looked for: from the Skeleton upward, as Pixar's code does, or where
    /// skel:skeleton is bound, as the schema text says.
    #[arg(long, value_enum, default_value_t = AnimSourceArg::Skeleton)]
    anim_source: AnimSourceArg,
    /// What moves a prim with constant influences: its transform, as in Pixar's bake, or its points, as
    /// in Hydra. Prims without points always move by transform.
    #[arg(long, value_enum)]
    rigid: Option<RigidArg>,
    /// Space that points and normals end up in. For skel and world the prim's transform is rewritten,
    /// so that the picture stays the same; constant influences then move points too.
    #[arg(long, value_enum, default_value_t = SpaceArg::Prim)]
    space: SpaceArg,
    /// Print nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  sinew bake hero.usdz -o hero_baked.usdc
  sinew bake hero.glb -o hero_run.usdc --clip Run
  sinew bake shot.usda -o points.usdc --layer --frames 1001:1100 --prim /Shot/Hero
  sinew bake shot.usda -o high.usdc --variant '/Shot/Hero{lod=high}' --search-path /show/assets";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BackendArg {
    Auto,
    Gpu,
    Cpu,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RigidArg {
    Xform,
    Points,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SpaceArg {
    Prim,
    Skel,
    World,
}

impl Args {
    fn rigid(&self) -> sinew::Result<Rigid> {
        match (self.rigid, self.space) {
            (Some(RigidArg::Xform), SpaceArg::Skel | SpaceArg::World) => {
                Err(sinew::Error::Request(
                    "--rigid xform leaves points in prim space, which --space asks to leave".into(),
                ))
            }
            (Some(RigidArg::Xform), _) | (None, SpaceArg::Prim) => Ok(Rigid::Xform),
            (Some(RigidArg::Points), _) | (None, _) => Ok(Rigid::Points),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum AnimSourceArg {
    Skeleton,
    Binding,
}

impl From<AnimSourceArg> for AnimSource {
    fn from(arg: AnimSourceArg) -> Self {
        match arg {
            AnimSourceArg::Skeleton => AnimSource::AtSkeleton,
            AnimSourceArg::Binding => AnimSource::AtBinding,
        }
    }
}

pub fn run(args: &Args) -> sinew::Result<()> {
    let backend = match (&args.adapter, args.backend) {
        (Some(_), BackendArg::Cpu) => {
            return Err(sinew::Error::Request(
                "--adapter names a GPU and --backend cpu wants none".into(),
            ));
        }
        (Some(name), _) => Backend::Adapter(name.clone()),
        (None, BackendArg::Auto) => Backend::Auto,
        (None, BackendArg::Gpu) => Backend::Gpu,
        (None, BackendArg::Cpu) => Backend::Cpu,
    };
    let options = BakeOptions {
        open: args.open.options(),
        frames: args.frames,
        backend,
        prims: args.prim.clone(),
        layer: args.layer,
        anim_source: args.anim_source.into(),
        rigid: args.rigid()?,
        space: match args.space {
            SpaceArg::Prim => OutSpace::Prim,
            SpaceArg::Skel => OutSpace::Skel,
            SpaceArg::World => OutSpace::World,
        },
    };
    let mut progress = Progress::new(args.quiet);
    progress.doing(&format!("reading {}", args.input.display()));
    let result = bake(&args.input, &args.output, &options, &mut |now| match now {
        sinew::bake::Progress::Deforming { done, total } => {
            progress.done("deforming", "samples", done, total);
        }
        sinew::bake::Progress::Writing => {
            progress.doing(&format!("writing {}", args.output.display()));
        }
    });
    drop(progress);
    let report = result?;
    if args.quiet {
        print_findings(&report.errors, &[]);
        return Ok(());
    }
    print_findings(&report.errors, &report.warnings);
    print_result(&summary(args, &report))
}

fn summary(args: &Args, report: &BakeReport) -> String {
    let mut out = String::new();
    let deform = report.deform_time.as_secs_f64();
    let rate = report.deformed_points as f64 / deform.max(1e-9) / 1e6;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}", args.output.display());
    let _ = writeln!(
        out,
        "  {}, {}, {}",
        count(report.prims, "prim"),
        count(report.points, "point"),
        count(report.samples, "sample"),
    );
    if report.shared > 0 {
        let _ = writeln!(
            out,
            "  {} deformed once with another instance's",
            count(report.shared, "prim")
        );
    }
    if report.moved > 0 {
        let _ = writeln!(
            out,
            "  {} moved by transform",
            count(report.moved, "rigid prim")
        );
    }
    let _ = writeln!(out, "  ran on {}", report.backend);
    let _ = writeln!(
        out,
        "  {:.3} s in all; {} points deformed in {deform:.3} s, {rate:.1} million points/s",
        report.elapsed.as_secs_f64(),
        thousands(report.deformed_points),
    );
    out
}
