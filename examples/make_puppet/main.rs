//! Writes the example puppet, a clip for any humanoid and a walk from a motion capture suit that never was:
//!
//! - `puppet.glb`: a jointed figure in the reference pose of EXT_skeleton_humanoid, with a blink, and a clip of its own;
//! - `bow.glb`: a clip without a model, on human bones by name;
//! - `walk.bvh`: another skeleton, with Mixamo's names, another build and centimetres, that walks.
//!
//! `cargo run --example make_puppet [FOLDER]`
//!
//! All of it is made of formulas, so that it may be shipped without anyone's licence and every run writes the same
//! files.

mod bow;
mod glb;
mod model;
mod rig;
mod tube;
mod walk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: make_puppet [FOLDER]";
const DEFAULT_FOLDER: &str = "examples/assets";

fn main() -> ExitCode {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let folder = match args.as_slice() {
        [] => Path::new(DEFAULT_FOLDER),
        // An option is no folder: `--help` must not write files.
        [folder] if !folder.as_os_str().as_encoded_bytes().starts_with(b"-") => folder,
        _ => {
            eprintln!("{USAGE}\n\nFOLDER is {DEFAULT_FOLDER} unless given.");
            return ExitCode::from(2);
        }
    };
    let files = [
        ("puppet.glb", model::puppet()),
        ("bow.glb", bow::bow()),
        ("walk.bvh", walk::bvh().into_bytes()),
    ];
    for (name, bytes) in files {
        let file = folder.join(name);
        if let Err(error) = std::fs::write(&file, bytes) {
            eprintln!("{}: {error}", file.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
