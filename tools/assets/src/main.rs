//! Makes the example characters that stand in `examples/assets`:
//!
//! - `hatchling.usda`: a dragon that dances, with most of what UsdSkel can describe;
//! - `puppet.glb`: a jointed figure in the reference pose of EXT_skeleton_humanoid, with a blink
//!   and a clip of its own;
//! - `bow.glb`: a clip without a model, on human bones by name;
//! - `walk.bvh`: a walk on another skeleton: Mixamo's names, another build, centimetres.
//!
//! `cargo run -p sinew-assets [FOLDER]`
//!
//! The assets are made of formulas, so they can be shipped without anyone's licence. Every run
//! writes the same bytes.

mod curves;
mod hatchling;
mod puppet;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: sinew-assets [FOLDER]";
const DEFAULT_FOLDER: &str = "examples/assets";

fn main() -> ExitCode {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let folder = match args.as_slice() {
        [] => Path::new(DEFAULT_FOLDER),
        // An option such as `--help` is not a folder: it must not write files.
        [folder] if !folder.as_os_str().as_encoded_bytes().starts_with(b"-") => folder,
        _ => {
            eprintln!("{USAGE}\n\nThe default FOLDER is {DEFAULT_FOLDER}.");
            return ExitCode::from(2);
        }
    };
    for (name, bytes) in assets() {
        let file = folder.join(name);
        if let Err(error) = std::fs::write(&file, &bytes) {
            eprintln!("{}: {error}", file.display());
            return ExitCode::FAILURE;
        }
        println!("{}: {} bytes", file.display(), bytes.len());
    }
    ExitCode::SUCCESS
}

/// Every asset: its file name and its bytes.
fn assets() -> [(&'static str, Vec<u8>); 4] {
    [
        ("hatchling.usda", hatchling::usda().into_bytes()),
        ("puppet.glb", puppet::puppet()),
        ("bow.glb", puppet::bow()),
        ("walk.bvh", puppet::bvh().into_bytes()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(
        not(all(target_os = "linux", target_env = "gnu")),
        ignore = "sines and exponentials of another C library differ in their last bits"
    )]
    fn the_committed_assets_are_what_this_tool_makes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/assets");
        let mut made = Vec::new();
        for (name, bytes) in assets() {
            let committed = std::fs::read(folder.join(name)).unwrap();
            let differs = committed.iter().zip(&bytes).position(|(a, b)| a != b);
            assert!(
                differs.is_none() && committed.len() == bytes.len(),
                "{name}: {} bytes are committed, {} are made, the first difference is at {differs:?}",
                committed.len(),
                bytes.len(),
            );
            made.push(name.to_owned());
        }
        let mut there: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        made.sort();
        assert_eq!(there, made, "{} holds other files", folder.display());
    }
}
