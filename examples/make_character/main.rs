//! Writes the example character: a hatchling dragon that dances in its eggshell hat.
//!
//! `cargo run --example make_character [OUT.usda]`
//!
//! The whole asset is made of formulas, so that it may be shipped without anyone's licence and every
//! run writes the same file. It uses what skinning has to get right: many influences per point,
//! rigid props, in-betweens, an animation sparser than its skeleton and a SkelRoot that is not at
//! the origin.

mod body;
mod bounds;
mod colors;
mod curves;
mod dance;
mod mesh;
mod parts;
mod rig;
mod shape;
mod usda;
mod weights;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dance::Dance;
use mesh::Mesh;
use rig::Rig;

const USAGE: &str = "usage: make_character [OUT.usda]";
const DEFAULT_OUT: &str = "examples/assets/hatchling.usda";

fn main() -> ExitCode {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let out = match args.as_slice() {
        [] => Path::new(DEFAULT_OUT),
        // An option is no file name: `--help` must not write a file of that name.
        [out] if !out.as_os_str().as_encoded_bytes().starts_with(b"-") => out,
        _ => {
            eprintln!("{USAGE}\n\nOUT.usda is {DEFAULT_OUT} unless given.");
            return ExitCode::from(2);
        }
    };
    match make(out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", out.display());
            ExitCode::FAILURE
        }
    }
}

fn make(out: &Path) -> std::io::Result<()> {
    let rig = rig::hatchling();
    let mut meshes = vec![body::body(&rig)];
    for part in [parts::wing, parts::eye, parts::lid] {
        meshes.extend(rig::SIDES.map(|side| part(&rig, side)));
    }
    meshes.push(parts::hat(&rig));
    let dance = Dance::new(&rig);
    let text = usda::stage(&rig, &meshes, &dance);

    if let Some(dir) = out.parent() {
        std::fs::create_dir_all(dir)?;
    }
    std::fs::write(out, &text)?;
    report(&rig, &meshes, &dance);
    println!("{}: {} bytes", out.display(), text.len());
    Ok(())
}

fn report(rig: &Rig, meshes: &[Mesh], dance: &Dance) {
    for mesh in meshes {
        println!(
            "{:12} {:5} points, {} influences, {} shapes",
            mesh.name,
            mesh.points.len(),
            mesh.skin.influences(),
            mesh.shapes.len()
        );
    }
    println!(
        "{} joints, {} animated",
        rig.joints.len(),
        dance.moving.len()
    );
}
