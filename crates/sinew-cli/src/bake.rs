//! `sinew bake`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew::Warning;
use sinew_bake::{
    Backend, BakeOptions, BakeReport, BoneOptions, BoneReport, BoneValues, Format, FrameRange,
    OutSpace, Rigid, Shard, Shutter, VatOptions, VatValues, bake_until, bytes_as_text,
    stitch_until,
};
use sinew_io::ClipChoice;

use crate::batch::{Batch, CHARACTERS, Done};
use crate::check::at_least_one;
use crate::error::{Error, Result};
use crate::exit::{Exit, PartialArgs};
use crate::failure::Failure;
use crate::finding::{self, Finding};
use crate::host;
use crate::open::{AnimArgs, ComposeArgs, one_of};
use crate::progress::Progress;
use crate::report::{
    Sizes, Verbosity, count, listed, print_failed, print_findings, print_message, thousands,
};

/// Bake skinning and blend shapes into points and normals.
///
/// The points and normals of every prim that is bound to a Skeleton are deformed and written: as
/// USD, as an OBJ sequence, as point caches (.pc2) or as vertex animation textures (.exr, .png). A
/// bone texture (.bones.exr) holds the transforms of the joints instead.
///
/// In USD, points and normals are in the space of their prim, extents are written, and each
/// SkelRoot becomes an Xform, so that no program skins the result again.
///
/// The other formats cannot hold sample times. For them the clip is sampled at even steps: at
/// --frames, or else from the stage's start to its end at its frames per second. Their files
/// contain only prims that are skinned or have blend shapes, and the points of rigid prims (those
/// with constant influences) move.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Character to bake: .usda, .usdc, .usd, .usdz, .gltf, .glb, .vrm or .fbx. Several files, a
    /// folder or a glob are baked one after another into the folder OUT. If one fails, the others
    /// are still baked.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// File to write; its extension chooses the format.
    ///
    /// A .usdz contains the textures. The name of an .obj needs a place for the frame number, ####
    /// or %04d, unless there is only one frame; a missing folder is made. A .pc2 holds one prim; if
    /// there are several, each is written to its own OUT_PRIM.pc2. An .exr or .png is a vertex
    /// animation texture: OUT holds the positions, OUT_normal the normals, OUT_mesh.glb the mesh,
    /// and OUT.json describes them. OUT.bones.exr is a bone texture, with OUT.bones.glb and
    /// OUT.bones.json beside it.
    #[arg(
        short,
        long,
        value_name = "OUT.{usda,usdc,usdz,obj,pc2,exr,png,bones.exr}|OUT/"
    )]
    output: PathBuf,
    /// Extension of the files in the folder OUT. Without this: usdc.
    #[arg(long, value_name = "EXT")]
    to: Option<String>,
    /// Frames to sample: first, last and step in time codes. Without this: the stage's frames, and
    /// if OUT is USD also the times of authored samples.
    #[arg(long, value_name = "A:B[:STEP]", allow_hyphen_values = true)]
    frames: Option<FrameRange>,
    /// Sample each frame while a shutter is open: from the frame plus A to the frame plus B, in
    /// time codes. The frames are those of --frames, or else the stage's. USD only.
    #[arg(long, value_name = "A:B", allow_hyphen_values = true)]
    shutter: Option<Shutter>,
    /// Number of samples of each frame, evenly spaced from A to B of --shutter, both included; the
    /// default is 2.
    #[arg(long, value_name = "N", requires = "shutter")]
    motion_samples: Option<usize>,
    /// Write the velocity of each point at each sample, in units of the points per second. A
    /// velocity is a derivative of the pose, not a difference of samples. USD only.
    #[arg(long)]
    velocities: bool,
    /// Leave out samples that linear interpolation can replace: at any time, points stay within
    /// this distance of the true points, in units of the points. USD only.
    #[arg(
        long,
        value_name = "E",
        conflicts_with = "shutter",
        allow_negative_numbers = true
    )]
    max_error: Option<f64>,
    /// Backend that deforms: a GPU or the CPU. auto takes a hardware GPU if there is one, otherwise
    /// the CPU.
    #[arg(long, default_value = "auto")]
    #[arg(value_parser = one_of([
        ("auto", Backend::Auto),
        ("gpu", Backend::Gpu),
        ("cpu", Backend::Cpu),
    ]))]
    backend: Backend,
    /// Take the GPU adapter whose name contains NAME (see `sinew devices`); it may be a software
    /// adapter.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Bake only this prim, or all skinned prims below it. May be repeated.
    #[arg(long, value_name = "PATH")]
    prim: Vec<String>,
    /// Write a layer with only the changes (as overs) and with IN as its sublayer, instead of a
    /// self-contained file. USD only.
    #[arg(long)]
    layer: bool,
    #[command(flatten)]
    compose: ComposeArgs,
    /// Clip to play: its name, or if only one clip matches, the last words of its name (Wave for
    /// Armature|Wave) or a glob. In a USD file every SkelAnimation is a clip, which NAME may also
    /// name by its prim path. The clip moves the skeletons that have the joints of the clip. Without
    /// this: the first clip that moves anything, or in a USD file the one that skel:animationSource
    /// names. For .bones.exr this may be repeated, and without it all clips are written.
    #[arg(long, value_name = "NAME")]
    clip: Vec<String>,
    #[command(flatten)]
    anim: AnimArgs,
    /// How rigid prims (those with constant influences) move: by their transform, as in Pixar's
    /// bake, or by their points, as in Hydra. Prims without points always move by their transform.
    /// USD only: in other formats the points move.
    #[arg(long, value_parser = one_of([("xform", Rigid::Xform), ("points", Rigid::Points)]))]
    rigid: Option<Rigid>,
    /// Space of points and normals: that of the prim, of the skeleton or of the world. Without
    /// this: prim for USD and .pc2, world for other formats. In USD, skel and world also rewrite
    /// the transform of the prim, so that it stays in its place. The motion of rigid prims (those
    /// with constant influences) is then written to their points, not to their transforms.
    #[arg(long)]
    #[arg(value_parser = one_of([
        ("prim", OutSpace::Prim),
        ("skel", OutSpace::Skel),
        ("world", OutSpace::World),
    ]))]
    space: Option<OutSpace>,
    /// Keep SkelBindingAPI and its properties. Without this they are removed from each baked
    /// SkelRoot and from all prims below it, because the SkelRoot becomes an Xform and no longer
    /// skins anything. With --layer they are always kept. USD only.
    #[arg(long)]
    keep_bindings: bool,
    /// Values of a position texture: the offset of each vertex from its place in OUT_mesh.glb (the
    /// default), or its position.
    #[arg(long)]
    #[arg(value_parser = one_of([
        ("offset", VatValues::Offset),
        ("position", VatValues::Position),
    ]))]
    vat_values: Option<VatValues>,
    /// Bits of each texture channel: for .exr 32 (the default) or 16, for .png 16 (the default) or
    /// 8.
    #[arg(long, value_name = "BITS")]
    vat_bits: Option<u8>,
    /// Largest width of a texture in texels; the default is 8192. A frame of more vertices takes
    /// several rows.
    #[arg(long, value_name = "TEXELS")]
    vat_width: Option<u32>,
    /// What a bone texture holds for each joint: the rows of a matrix (the default), or a dual
    /// quaternion, which is smaller but has no scale.
    #[arg(long)]
    #[arg(value_parser = one_of([
        ("matrix", BoneValues::Matrix),
        ("dual-quaternion", BoneValues::DualQuaternion),
    ]))]
    bone_values: Option<BoneValues>,
    /// Bits of each channel of a bone texture: 32 (the default) or 16.
    #[arg(long, value_name = "BITS")]
    bone_bits: Option<u8>,
    /// Largest width of a bone texture in texels; the default is 8192. If the joints need more, a
    /// frame takes several rows; if the frames need more than 16384 rows, they take several
    /// columns.
    #[arg(long, value_name = "TEXELS")]
    bone_width: Option<u32>,
    /// Write one .usdc for every N sampled times to the folder OUT_clips, and OUT as a stage that
    /// plays these files as USD value clips. Memory then holds at most N frames, and a killed bake
    /// loses at most N frames. USD only. If OUT_clips holds the value clips of another bake, the
    /// OUT of that bake is removed before the first of them is replaced, so that a killed bake is
    /// never taken for a finished one. OUT.usda and OUT.usdc would share OUT_clips, so the second
    /// bake is refused.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    clip_frames: Option<usize>,
    /// Continue a killed bake: keep the finished value clips that come from the same IN, options
    /// and backend.
    #[arg(long, requires = "clip_frames")]
    resume: bool,
    /// Bake only the I-th of N parts of the value clips (I from 1 to N), and do not write OUT: for
    /// several machines at once.
    #[arg(long, value_name = "I/N", requires = "clip_frames")]
    shard: Option<Shard>,
    /// Write OUT as a stage of the value clips that shards of the same IN and options have baked.
    /// Nothing is deformed, so --backend and --adapter have no effect. All value clips must come
    /// from the same backend.
    #[arg(long, requires = "clip_frames", conflicts_with_all = ["shard", "resume"])]
    stitch: bool,
    /// Start even if the disk seems to have too little space for OUT. Without this such a bake is
    /// refused.
    #[arg(long)]
    ignore_free_space: bool,
    #[command(flatten)]
    partial: PartialArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  sinew bake hero.usdz -o hero_baked.usdc
  sinew bake hero.glb -o hero_run.usdc --clip Run
  sinew bake hero.glb -o hero_run.usdc --clip '*Run*' --threads 4 --quiet
  sinew bake in/*.usda -o out/
  sinew bake in -o out/ --to obj --frames 1:48
  sinew bake shot.usda -o points.usdc --layer --frames 1001:1100 --prim /Shot/Hero
  sinew bake shot.usda -o high.usdc --variant '/Shot/Hero{lod=high}' --search-path /show/assets
  sinew bake shot.usda -o shot_baked.usdc --clip-frames 100 --resume
  parallel sinew bake shot.usda -o shot_baked.usdc --clip-frames 100 --shard {}/4 ::: 1 2 3 4
  sinew bake shot.usda -o shot_baked.usdc --clip-frames 100 --stitch
  sinew bake shot.usda -o blur.usdc --frames 1:48 --shutter -0.25:0.25 --motion-samples 3
  sinew bake shot.usda -o blur.usdc --velocities
  sinew bake shot.usda -o small.usdc --max-error 0.01
  sinew bake hero.usdz -o frames/hero.####.obj --frames 1:48
  sinew bake hero.usdz -o hero.pc2 --prim /Hero/Geo/Body
  sinew bake hero.glb -o hero.exr --clip Run
  sinew bake hero.glb -o hero.png --vat-bits 8 --vat-values position --json
  sinew bake hero.glb -o hero.bones.exr --clip Walk --clip Run
  sinew bake hero.glb -o hero.bones.exr --bone-values dual-quaternion --bone-bits 16";

impl Args {
    fn rigid(&self, format: Format) -> Result<Rigid> {
        match (self.rigid, self.space.unwrap_or_default()) {
            (Some(Rigid::Xform), _) if format != Format::Usd => Err(Error::Usage(
                "--rigid xform: only USD files have transforms; leave it out, or write USD".into(),
            )),
            (Some(Rigid::Xform), OutSpace::Skel | OutSpace::World) => Err(Error::Usage(
                "--rigid xform keeps points in prim space; leave it out, or use --space prim"
                    .into(),
            )),
            (None, OutSpace::Prim) => Ok(Rigid::Xform),
            (None, _) => Ok(Rigid::Points),
            (Some(rigid), _) => Ok(rigid),
        }
    }

    fn vat(&self, format: Format) -> Result<VatOptions> {
        let given = [
            ("--vat-values", self.vat_values.is_some()),
            ("--vat-bits", self.vat_bits.is_some()),
            ("--vat-width", self.vat_width.is_some()),
        ];
        if !format.is_vat() {
            let expected = "a vertex animation texture as the output (.exr or .png)";
            misplaced(&given, expected)?;
        }
        let mut options = VatOptions::default();
        options.values = self.vat_values.unwrap_or_default();
        options.bits = self.vat_bits;
        options.max_width = self.vat_width.unwrap_or(options.max_width);
        Ok(options)
    }

    fn bones(&self, format: Format) -> Result<BoneOptions> {
        if format != Format::Bones {
            let given = [
                ("--bone-values", self.bone_values.is_some()),
                ("--bone-bits", self.bone_bits.is_some()),
                ("--bone-width", self.bone_width.is_some()),
                ("several --clip", self.clip.len() > 1),
            ];
            misplaced(&given, "a bone texture as the output (.bones.exr)")?;
        }
        let mut options = BoneOptions::default();
        options.values = self.bone_values.unwrap_or_default();
        options.bits = self.bone_bits;
        options.max_width = self.bone_width.unwrap_or(options.max_width);
        if self.clip.len() > 1 {
            options.clips.clone_from(&self.clip);
        }
        Ok(options)
    }

    /// The clip that IN is opened with.
    fn clip_choice(&self) -> ClipChoice {
        match &self.clip[..] {
            [name] => ClipChoice::Named(name.clone()),
            _ => ClipChoice::First,
        }
    }
}

/// An option that was given although it is for another kind of output.
fn misplaced(given: &[(&str, bool)], expected: &str) -> Result<()> {
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::Usage(format!("{option}: expected {expected}"))),
    }
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let batch = Batch {
        command: "bake",
        inputs: &args.inputs,
        // Clips alone have nothing to bake.
        extensions: &CHARACTERS[..8],
        output: Some(&args.output),
        to: args.to.as_deref(),
        open: args.compose.options(ClipChoice::First)?,
        json: args.json,
        partial: args.partial,
        verbosity,
    };
    // A sequence needs a place for the number.
    let extension = |_: &Path| match args.to.as_deref() {
        Some("obj") => "####.obj".to_owned(),
        other => other.unwrap_or("usdc").to_owned(),
    };
    batch.run(extension, |input, output| {
        bake_one(args, input, output.unwrap_or(&args.output), verbosity)
    })
}

fn bake_one(
    args: &Args,
    input: &Path,
    output: &Path,
    verbosity: Verbosity,
) -> Result<Done<JsonReport>> {
    let format = Format::of(output).map_err(|e| Error::Usage(e.to_string()))?;
    // A vertex animation texture has its JSON beside it. Without one, the file is a picture.
    if matches!(format, Format::Exr | Format::Png)
        && output.exists()
        && !output.with_extension("json").exists()
    {
        let reason = "expected a name without a file, or a vertex animation texture to replace; \
                      found a picture. `sinew render` draws pictures; `bake` writes textures";
        return Err(Error::bad_output(output, reason));
    }
    let backend = match (&args.adapter, &args.backend) {
        (Some(_), Backend::Cpu) => {
            return Err(Error::Usage(
                "--adapter names a GPU, but --backend cpu uses none; give one of them".into(),
            ));
        }
        (Some(name), _) => Backend::Adapter(name.clone()),
        (None, backend) => backend.clone(),
    };
    let mut options = BakeOptions::default();
    options.open = args.compose.options(args.clip_choice())?;
    options.frames = args.frames;
    options.backend = backend;
    options.prims = args.prim.clone();
    options.layer = args.layer;
    options.anim_source = args.anim.source();
    options.rigid = args.rigid(format)?;
    options.space = args.space;
    if args.keep_bindings && format != Format::Usd {
        let text = "--keep-bindings: only USD has bindings";
        return Err(Error::Usage(text.into()));
    }
    options.ignore_free_space = args.ignore_free_space;
    options.keep_bindings = args.keep_bindings;
    options.vat = args.vat(format)?;
    options.bones = args.bones(format)?;
    options.shutter = args.shutter.map(|shutter| Shutter {
        samples: args.motion_samples.unwrap_or(shutter.samples),
        ..shutter
    });
    options.velocities = args.velocities;
    options.max_error = args.max_error;
    options.clip_frames = args.clip_frames;
    options.resume = args.resume;
    options.shard = args.shard;
    let mut progress = Progress::new(verbosity.is_quiet());
    progress.doing(&format!("reading {}", input.display()));
    let make = if args.stitch {
        stitch_until
    } else {
        bake_until
    };
    let result = make(input, output, &options, &mut |now| {
        match now {
            sinew_bake::Progress::Choosing { done, total } => {
                progress.done("choosing samples", "times", done, total);
            }
            sinew_bake::Progress::Begins { bytes } if !verbosity.is_quiet() => {
                if let Some(text) = growth(input, bytes, args.max_error.is_some()) {
                    progress.aside(|| print_message("note", text));
                }
            }
            sinew_bake::Progress::Deforming { done, total } => {
                progress.done("deforming", "samples", done, total);
            }
            sinew_bake::Progress::Writing => {
                progress.doing(&format!("writing {}", output.display()));
            }
            _ => {}
        }
        host::tell(host::Step::Bake(now))
    });
    drop(progress);
    let report = result.map_err(with_advice)?;
    let file = Some(input);
    let failed = report.failed.iter();
    let failed = failed.map(|p| Finding::failed(&p.path, p.code, &p.reason, file));
    let json = JsonReport {
        sizes: Sizes::of("IN", input, &report.files),
        failed: failed.collect(),
        errors: finding::of_invalid(&report.errors, file),
        warnings: finding::of_warnings(&report.warnings, file),
        baked: report,
    };
    let report = &json.baked;
    print_report(report, &json.failed, verbosity);
    Ok(Done {
        exit: args.partial.exit(!report.failed.is_empty()),
        text: summary(report, &json.sizes, verbosity),
        brief: brief(report, &json.sizes),
        report: json,
    })
}

/// What a bake says before it begins, if it will write much more than it has read: more than ten
/// times IN, and more than 100 MB. Of a small output nobody wants to be warned.
fn growth(input: &Path, bytes: u64, is_thinned: bool) -> Option<String> {
    const TIMES: u64 = 10;
    const LEAST: u64 = 100_000_000;
    let read = input.metadata().ok()?.len();
    let advice = match is_thinned {
        true => "--frames takes fewer samples",
        false => {
            "--frames takes fewer samples, and --max-error writes only those that interpolation needs"
        }
    };
    (bytes > LEAST.max(read.saturating_mul(TIMES))).then(|| {
        format!(
            "about {} will be written, {} times as much as {} has: {advice}",
            bytes_as_text(bytes),
            thousands(bytes / read.max(1)),
            input.display()
        )
    })
}

/// Prints errors, warnings and failed prims. What is the reason of a failed prim is printed there
/// only.
fn print_report(report: &BakeReport, as_findings: &[Finding], verbosity: Verbosity) {
    let failed = &report.failed;
    let tells = |path: &str, code| failed.iter().any(|f| f.path == path && f.code == code);
    let errors = report.errors.iter().filter(|e| !tells(&e.prim, e.code));
    let errors: Vec<_> = errors.cloned().collect();
    let warnings = finding::other_warnings(&report.warnings, as_findings);
    print_findings(&errors, &warnings, verbosity);
    print_failed(as_findings);
}

/// The library's error, with advice about the options of this command, which the library does not
/// know.
fn with_advice(error: sinew_bake::Error) -> Error {
    use sinew_bake::Error as Bake;
    let advice = match &error {
        Bake::PrimPath { .. } | Bake::UnknownPrim { .. } => " (see --prim)",
        Bake::EmptyRange { .. } => " (see --frames)",
        Bake::TooManyFrames { .. } | Bake::TooLarge { .. } => "; choose fewer with --frames",
        Bake::FrameNumber { .. } => "; or choose one frame with --frames",
        Bake::DiskSpace { is_full: false, .. } => "; override with --ignore-free-space",
        Bake::OtherClip { .. } => "; bake its shard again with --resume",
        Bake::NothingToSkin(nothing) if nothing.warnings.iter().any(is_fixable) => {
            "\n`sinew fix` can repair this"
        }
        Bake::NothingToSkin(nothing) if is_clip(&nothing.file) => {
            "; the file is a clip: `sinew retarget` moves a character by it"
        }
        _ => "",
    };
    Failure::from(error).with_advice(advice).into()
}

/// Whether a file can hold only a clip, by its extension.
fn is_clip(file: &Path) -> bool {
    matches!(sinew_io::extension(file).as_str(), "bvh" | "vrma")
}

/// Whether `sinew fix` can mend what a warning tells of.
fn is_fixable(warning: &Warning) -> bool {
    sinew_check::code(warning.code).is_some_and(|code| code.fixable)
}

/// The report of --json.
#[derive(Serialize)]
struct JsonReport {
    #[serde(flatten)]
    baked: BakeReport,
    #[serde(flatten)]
    sizes: Sizes,
    /// Prims that OUT does not have as they were asked for.
    failed: Vec<Finding>,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
}

/// The numbers of prims, points and samples.
fn counts(report: &BakeReport) -> String {
    let times = match report.frames {
        0 => count(report.samples, "sample"),
        frames => count(frames, "frame"),
    };
    let prims = count(report.prims, "prim");
    format!("{prims}, {}, {times}", count(report.points, "point"))
}

/// How many prims failed, as text; `None` if none did.
fn failed_prims(report: &BakeReport) -> Option<String> {
    let n = report.failed.len();
    (n > 0).then(|| format!("{} failed", count(n, "prim")))
}

fn brief(report: &BakeReport, sizes: &Sizes) -> String {
    let failed = failed_prims(report).map_or(String::new(), |failed| format!(", {failed}"));
    format!("{}{failed}, {}", counts(report), sizes.written())
}

fn summary(report: &BakeReport, sizes: &Sizes, verbosity: Verbosity) -> String {
    let mut lines = vec![counts(report)];
    lines.extend(failed_prims(report));
    if report.shared > 0 {
        let prims = count(report.shared, "prim");
        lines.push(format!("{prims} deformed together with another instance"));
    }
    if report.moved > 0 {
        let prims = count(report.moved, "rigid prim");
        lines.push(format!("{prims} moved by transform"));
    }
    if let Some(error) = report.largest_error {
        let text = format!("points between samples are off by up to {error:.3e} units");
        lines.push(text);
    }
    if let Some(clips) = report.clips {
        let baked = count(clips.baked, "clip");
        let [kept, of] = [clips.kept, clips.of].map(|n| thousands(n as u64));
        lines.push(format!("{baked} baked, {kept} kept, of {of}"));
    }
    let estimated = bytes_as_text(report.estimated_bytes);
    lines.push(match verbosity.is_verbose() && report.estimated_bytes > 0 {
        true => format!("{sizes}; estimated before: {estimated}"),
        false => sizes.to_string(),
    });
    match &report.bones {
        Some(bones) => lines.extend(of_bones(bones)),
        None => lines.push(format!("ran on {}", report.backend)),
    }
    let mut took = format!("{:.3} s in all", report.elapsed.as_secs_f64());
    if report.deformed_points > 0 {
        let deform = report.deform_time.as_secs_f64();
        let rate = report.deformed_points as f64 / deform.max(1e-9) / 1e6;
        let points = thousands(report.deformed_points);
        took += &format!("; {points} points deformed in {deform:.3} s, {rate:.1} million points/s");
    }
    lines.push(took);
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    listed(&report.files) + &lines
}

fn of_bones(bones: &BoneReport) -> [String; 3] {
    let times = bones.vertex_texture_bytes as f64 / bones.texture_bytes.max(1) as f64;
    let [bytes, of_vertices] = [bones.texture_bytes, bones.vertex_texture_bytes].map(thousands);
    [
        format!(
            "{}, {}",
            count(bones.joints, "joint"),
            count(bones.clips, "clip")
        ),
        format!(
            "{bytes} bytes of texels; vertex animation textures of these frames have {of_vertices} ({times:.1} times as many)"
        ),
        format!(
            "points are off by up to {:.2e} m, {:.2e} of the mesh's size",
            bones.largest_error, bones.relative_error
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bake_that_is_much_larger_than_its_input_is_told() {
        let input = Path::new("../../examples/assets/hatchling.usda");
        assert_eq!(growth(input, 90_000_000, false), None);
        for (is_thinned, advice) in [
            (false, "--max-error"),
            (true, "--frames takes fewer samples"),
        ] {
            let told = growth(input, 1_700_000_000, is_thinned).unwrap();
            assert!(
                told.starts_with("about 1.7 GB will be written, 958 times"),
                "{told}"
            );
            assert!(told.contains(advice), "{told}");
        }
    }
}
