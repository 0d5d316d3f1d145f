//! The examples, run as a reader of them would.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::command::{Bench, stderr, stdout};

fn asset(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/assets");
    folder.join(name)
}

/// `cargo test` builds all examples before it runs tests, beside the command; for this test alone `cargo build
/// --examples` does.
fn example(name: &str, args: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_sinew")).parent().unwrap();
    let program = folder.join("examples").join(name);
    assert!(
        program.is_file(),
        "{} is not there: cargo build --examples makes it",
        program.display()
    );
    Command::new(program).args(args).output().unwrap()
}

#[test]
fn a_folder_is_baked_and_what_is_broken_is_told() {
    let bench = Bench::new();
    let (input, output) = (bench.path("in"), bench.path("new/out"));
    std::fs::create_dir(&input).unwrap();
    let copy = |from: &str, to: &str| {
        std::fs::copy(asset(from), input.join(to)).unwrap();
    };
    copy("hatchling.usda", "hatchling.usda");
    copy("puppet.glb", "hero.glb");
    copy("hatchling.usda", "hero.usda");
    copy("walk.bvh", "walk.bvh");
    std::fs::write(input.join("broken.usda"), "#usda 1.0\ndef {").unwrap();
    std::fs::write(input.join("readme.txt"), "no character").unwrap();
    let (input, out) = (input.to_str().unwrap(), output.to_str().unwrap());

    let done = example("headless_batch", &[input, out, "1:3"]);
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    let said = stdout(&done);
    assert!(
        said.ends_with("3 baked, 1 with nothing to skin, 1 failed\n"),
        "{said}"
    );
    assert!(stderr(&done).contains("broken.usda"), "{}", stderr(&done));
    let mut names: Vec<String> = std::fs::read_dir(&output)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["hatchling.usdc", "hero.glb.usdc", "hero.usda.usdc"]);
    let stage = common::usd::open(&output.join("hatchling.usdc"));
    let times = common::usd::times(&stage, "/Hatchling/Geo/Body", "points");
    assert_eq!(times, [1.0, 2.0, 3.0]);

    std::fs::remove_file(Path::new(input).join("broken.usda")).unwrap();
    let done = example("headless_batch", &[input, out, "1:3"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    for wrong in [
        &[][..],
        &[input][..],
        &[input, out, "3:1"][..],
        &["/no/such", out][..],
    ] {
        assert_eq!(example("headless_batch", wrong).status.code(), Some(2));
    }
}
