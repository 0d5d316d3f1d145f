//! The C interface: `sinew.h` is what cbindgen makes, and a C program that is compiled here gets the
//! libraries' points and the command's files.
//!
//! Without a C compiler (`cc`) the second test shows as ignored. `SINEW_WRITE=1` writes the header.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use common::trials::Trial;
use libtest_mimic::{Completion, Failed};
use sinew::sampled::Time;
use sinew_bake::{Backend, OutSpace, Sampler};

fn main() {
    let tests = vec![
        Trial::test("the_header_is_cbindgens", the_header_is_cbindgens),
        Trial::ignorable("a_c_program_gets_the_same", a_c_program_gets_the_same),
    ];
    common::trials::run([("c", tests)])
}

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn the_header_is_cbindgens() -> Result<(), Failed> {
    let config = cbindgen::Config::from_file(package().join("cbindgen.toml"))?;
    let builder = cbindgen::Builder::new().with_config(config);
    let bindings = builder.with_src(package().join("src/lib.rs")).generate()?;
    let mut made = Vec::new();
    bindings.write(&mut made);
    let header = package().join("include/sinew.h");
    if std::env::var_os("SINEW_WRITE").is_some() {
        std::fs::write(&header, &made)?;
    }
    let there = std::fs::read(&header).unwrap_or_default();
    match there == made {
        true => Ok(()),
        false => Err("include/sinew.h is out of date: SINEW_WRITE=1 cargo test -p sinew-c".into()),
    }
}

fn good(command: &mut Command) -> Result<String, Failed> {
    let output = command.output()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(told),
        false => {
            let why = String::from_utf8_lossy(&output.stderr);
            Err(format!("{command:?}: {}: {told}{why}", output.status).into())
        }
    }
}

fn a_c_program_gets_the_same() -> Result<Completion, Failed> {
    if !cfg!(unix) || Command::new("cc").arg("--version").output().is_err() {
        return Ok(Completion::ignored_with("needs cc"));
    }
    // Cargo builds the library beside this test.
    let libraries = std::env::current_exe()?;
    let libraries = libraries.parent().ok_or("a test without a folder")?;
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("points");
    good(
        Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
            .arg(package().join("include"))
            .arg(package().join("tests/points.c"))
            .arg("-L")
            .arg(libraries)
            .arg(format!("-Wl,-rpath,{}", libraries.display()))
            .args(["-lsinew_c", "-lm", "-o"])
            .arg(&program),
    )?;
    let (input, prim) = (
        package().join("../../examples/assets/hatchling.usda"),
        "/Hatchling/Geo/Body",
    );
    let out = folder.path().join("out.usdc");
    let told = good(Command::new(&program).arg(&input).arg(prim).arg(&out))?;
    let lines = |word: &str| -> Vec<String> {
        let own = told.lines().filter_map(|l| l.strip_prefix(word));
        own.map(|l| l.trim().to_owned()).collect()
    };
    assert_eq!(lines("version"), [env!("CARGO_PKG_VERSION")]);
    assert_eq!(lines("times"), ["1 96"]);
    assert_eq!(lines("moved"), ["1 1 0"]);
    let errors = lines("error");
    let expected = [
        "no/such.usda",
        "out_count: expected",
        "joint_indices",
        "--frames",
    ];
    assert_eq!(errors.len(), expected.len(), "{errors:?}");
    for (error, word) in errors.iter().zip(expected) {
        assert!(error.contains(word), "{error}");
    }
    let got: Result<Vec<f32>, _> = lines("point").iter().map(|n| n.parse()).collect();
    assert_eq!(got?, points_of(&input, prim)?, "the bits of the library");

    let same = folder.path().join("same.usdc");
    let mut line: Vec<std::ffi::OsString> = vec!["sinew".into(), "bake".into()];
    line.extend([input.into(), "-o".into(), same.clone().into()]);
    line.extend(["--frames", "1:3", "--backend", "cpu"].map(Into::into));
    sinew_cli::call(line, Box::new(|_| std::ops::ControlFlow::Continue(())))?;
    assert!(std::fs::read(out)? == std::fs::read(same)?, "the same file");
    Ok(Completion::Completed)
}

fn points_of(input: &Path, prim: &str) -> Result<Vec<f32>, Failed> {
    let scene = sinew_io::open(input)?.scene(Default::default())?;
    let (first, last) = scene.time_line.range.ok_or("a range")?;
    let binding = scene.resolve(prim)?.index();
    let sampler = Sampler::new(Arc::new(scene), &Backend::Cpu)?;
    let times = [first, 0.5 * (first + last)].map(Time::At);
    let mut out = vec![glam::Vec3::ZERO; 2 * sampler.point_count(binding, times[0])?];
    sampler.points(binding, &times, OutSpace::World, &mut out)?;
    Ok(bytemuck::cast_slice(&out).to_vec())
}
