//! A folder of characters in, baked files out: for a farm, a nightly job, or an asset pipeline.
//!
//! ```text
//! cargo run --release -p sinew-examples --example headless_batch -- characters/ baked/ [FIRST:LAST[:STEP]]
//! ```
//!
//! Every file that Sinew reads is baked into a .usdc of its name. A broken file is told of and the others go on. It
//! exits with 0 where every character was baked, 1 where some were not, 2 for wrong usage.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sinew_bake::{Backend, BakeOptions, BakeReport, Baker, Error, FrameRange};

const ENDINGS: [&str; 9] = [
    "usda", "usdc", "usd", "usdz", "gltf", "glb", "vrm", "fbx", "bvh",
];

const USAGE: &str = "usage: headless_batch IN_FOLDER OUT_FOLDER [FIRST:LAST[:STEP]]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|a| a == "--help" || a == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let (input, output, frames) = match args.as_slice() {
        [input, output] => (input, output, None),
        [input, output, frames] => match frames.parse::<FrameRange>() {
            Ok(range) => (input, output, Some(range)),
            Err(reason) => return usage(&reason),
        },
        _ => return usage("expected a folder to read and a folder to write"),
    };
    let jobs = match jobs(Path::new(input), Path::new(output)) {
        Ok(jobs) => jobs,
        Err(reason) => return usage(&reason),
    };

    let mut options = BakeOptions::default();
    options.frames = frames;
    // A GPU if there is one, else all cores; one device and its pipelines for the whole batch.
    let open = || Baker::new(&Backend::Auto);
    let mut baker = match open() {
        Ok(baker) => baker,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut baked, mut without, mut failed) = (0, 0, 0);
    for (input, output) in &jobs {
        let name = input.display();
        // The last argument is told how far it is, and may stop the bake; a batch has no use for that.
        let go_on = &mut |_| ControlFlow::Continue(());
        match baker.bake_file(input, output, &options, go_on) {
            Ok(report) => {
                baked += 1;
                println!("{}", told(&report, output));
                for warning in &report.warnings {
                    eprintln!("{name}: warning: {warning}");
                }
                // Prims that could not be baked, beside others that were.
                for error in &report.errors {
                    failed += 1;
                    eprintln!("{name}: error: {error}");
                }
            }
            // A set, a prop, a clip without meshes: nothing to do, and nothing wrong.
            Err(Error::NothingToSkin(_)) => {
                without += 1;
                println!("{name}: nothing to skin");
            }
            // The output is not there then, or still the old one.
            Err(error) => {
                failed += 1;
                eprintln!("error: {error}");
                // On a lost device every other file would fail, too.
                if let (Error::Gpu(_), Ok(another)) = (&error, open()) {
                    baker = another;
                }
            }
        }
    }
    println!("{baked} baked, {without} with nothing to skin, {failed} failed");
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn told(report: &BakeReport, output: &Path) -> String {
    let rate = report.deformed_points as f64 / report.deform_time.as_secs_f64().max(1e-9) / 1e6;
    format!(
        "{}: {} prims, {} samples, {:.2} s on {}, {rate:.1} million points/s",
        output.display(),
        report.prims,
        report.samples,
        report.elapsed.as_secs_f64(),
        report.backend,
    )
}

/// What is to be baked into what, in the order of names.
fn jobs(input: &Path, output: &Path) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let told = |folder: &Path, e: std::io::Error| format!("{}: {e}", folder.display());
    let is_character = |path: &Path| {
        let ending = path.extension().and_then(OsStr::to_str);
        let ending = ending.map(str::to_ascii_lowercase);
        path.is_file() && ending.is_some_and(|e| ENDINGS.contains(&e.as_str()))
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(input).map_err(|e| told(input, e))? {
        let path = entry.map_err(|e| told(input, e))?.path();
        if is_character(&path) {
            files.push(path);
        }
    }
    files.sort();
    std::fs::create_dir_all(output).map_err(|e| told(output, e))?;
    // hero.glb and hero.usda are two characters: where stems meet, the whole name counts.
    let mut stems: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for file in &files {
        *stems.entry(file.with_extension("")).or_default() += 1;
    }
    let named = files.into_iter().map(|file| {
        let own = match stems[&file.with_extension("")] {
            1 => file.file_stem(),
            _ => file.file_name(),
        };
        let mut name = own.unwrap_or_default().to_owned();
        name.push(".usdc");
        (file, output.join(name))
    });
    Ok(named.collect())
}

fn usage(reason: &str) -> ExitCode {
    eprintln!("{reason}\n{USAGE}");
    ExitCode::from(2)
}
