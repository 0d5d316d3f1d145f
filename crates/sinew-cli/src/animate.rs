//! `sinew animate`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sinew_io::ClipChoice;
use sinew_io::usd::sequence::{ClipRequest, Request, Sequence};

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::finding;
use crate::open::{ComposeArgs, USD, check_extension};
use crate::progress::Progress;
use crate::report::{Sizes, Verbosity, print_findings, print_result, result_json};

/// Make a character play clips one after another, by references to the files of the clips.
///
/// OUT is a small layer. It references CHARACTER and the SkelAnimations of the CLIPs, and binds the
/// SkelAnimations to CHARACTER's skeletons. If one of these files is published again, OUT shows the
/// new version at once. One clip is a reference with a layer offset; several clips are played as
/// USD value clips. Some clips have to be copied (see below).
///
/// A CLIP begins where the one before it ends, or at time code START of OUT. If clips overlap, the
/// one that begins later takes over at its start, with a warning. Before the first clip, between
/// clips and after the last one the nearest pose is held. A clip moves all skeletons that have its
/// joints.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// File with the character. A file that is not USD is converted to OUT_character.usdc.
    #[arg(value_name = "CHARACTER")]
    character: PathBuf,
    /// Clips in their order. FILE is enough if the file has one clip. `#NAME` chooses a clip by its
    /// name or prim path, as --clip of other commands does. `@START` is the time code of OUT at
    /// which the clip begins.
    #[arg(value_name = "CLIP[#NAME][@START]", required = true)]
    clips: Vec<String>,
    /// File to write.
    #[arg(short, long, value_name = "OUT.{usda,usdc}")]
    output: PathBuf,
    /// Move only this skeleton of CHARACTER. May be repeated.
    #[arg(long, value_name = "PATH")]
    skeleton: Vec<String>,
    #[command(flatten)]
    compose: ComposeArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
OUT has the time codes per second of the first clip. Clips can be played as USD value clips only if
they have the same prim path, the same joints and blend shapes in the same order, and time samples
of everything that moves. A clip that differs, or that is not USD, is copied to the folder
OUT_clips, with a warning.

Examples:
  sinew animate hero.usda walk.usda -o hero_walk.usda
  sinew animate hero.usda walk.usda wave.usda bow.usda -o shot.usda
  sinew animate hero.usda walk.usda@1001 wave.usda@1040 -o shot.usda
  sinew animate hero.usda 'clips.usda#Walk' 'clips.usda#/Clips/Wave@48' -o shot.usda
  sinew animate hero.usda hero.glb#Run@24 -o shot.usda --json | jq '.clips[].end'";

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    if sinew_io::extension(&args.output) == "usdz" {
        let reason = "OUT references other files: write OUT.usda, and pack it with `sinew convert OUT.usda -o OUT.usdz`";
        return Err(Error::bad_output(&args.output, reason));
    }
    check_extension(&args.output, &USD[..3])?;
    let clips = args.clips.iter().map(|text| ClipRequest::parse(text));
    let request = Request {
        clips: clips.collect::<Result<_, _>>().map_err(Error::Usage)?,
        character: args.character.clone(),
        open: args.compose.options(ClipChoice::First)?,
        skeletons: args.skeleton.clone(),
        output: args.output.clone(),
    };
    let mut progress = Progress::new(verbosity.is_quiet());
    let made = Sequence::make(&request, |what| progress.doing(what))?;
    progress.doing(&format!("writing {}", args.output.display()));
    made.save()?;
    drop(progress);
    print_findings(&made.errors, &made.warnings, verbosity);
    let sizes = Sizes::of("CHARACTER", &args.character, &[&args.output]);
    match (args.json, verbosity.is_quiet()) {
        (true, _) => {
            let report = report(args, &made, &sizes);
            print_result(&result_json("animate", Exit::Done, &report)?)?;
        }
        (false, true) => {}
        (false, false) => print_result(&describe(&args.output, &made, &sizes))?,
    }
    Ok(Exit::Done)
}

fn report(args: &Args, made: &Sequence, sizes: &Sizes) -> Value {
    let time_line = &made.time_line;
    json!({
        "output": args.output.display().to_string(),
        "character": args.character.display().to_string(),
        "start": time_line.range.map(|r| r.0),
        "end": time_line.range.map(|r| r.1),
        "time_codes_per_second": time_line.time_codes_per_second,
        "clips": made.clips,
        "errors": finding::of_invalid(&made.errors, None),
        "warnings": finding::of_warnings(&made.warnings, None),
        "input_bytes": sizes.input_bytes,
        "output_bytes": sizes.output_bytes,
    })
}

/// The report as text. Writing to a String cannot fail, so its results are dropped.
fn describe(output: &Path, made: &Sequence, sizes: &Sizes) -> String {
    let mut out = format!("{}\n", output.display());
    let rate = made.time_line.time_codes_per_second;
    if let Some((start, end)) = made.time_line.range {
        let _ = writeln!(
            out,
            "  frames {start} to {end}, {rate} time codes per second"
        );
    }
    for c in &made.clips {
        let copy = c.copy.as_ref();
        let copy = copy.map_or(String::new(), |copy| format!(", copied to {copy}"));
        let _ = writeln!(
            out,
            "  {} to {}: {} of {} <{}> on {}{copy}",
            c.start, c.end, c.clip, c.file, c.animation, c.skeleton
        );
    }
    let _ = writeln!(out, "  {sizes}");
    out
}
