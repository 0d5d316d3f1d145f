//! Streams and disks that are full, and streams that nobody reads.

use std::path::Path;
use std::process::{Command, Stdio};

use common::command::{Bench, bake, stderr};
use common::sketch::{INDICES, JOINTS, SHAPE, character};
use common::trials::Trial;
use libtest_mimic::{Completion, Failed};
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    let mut trials = common::trials::named([
        (
            "full_and_closed_streams_are_no_panic",
            full_and_closed_streams_are_no_panic as fn(),
            false,
        ),
        ("estimates_are_near", estimates_are_near, false),
    ]);
    trials.push(Trial::ignorable(
        "a_disk_that_is_too_small_is_told_before_and_while_writing",
        a_disk_that_is_too_small_is_told_before_and_while_writing,
    ));
    trials
}

/// Runs with stdout and stderr on these files; the exit code, never a panic's.
fn into_streams(args: &[&str], out: &Path, err: &Path) -> Option<i32> {
    let open = |path: &Path| Stdio::from(std::fs::File::options().write(true).open(path).unwrap());
    let mut command = Command::new(common::command::executable());
    command.args(args).stdout(open(out)).stderr(open(err));
    command.status().unwrap().code()
}

fn full_and_closed_streams_are_no_panic() {
    let bench = Bench::new();
    let full = Path::new("/dev/full");
    let null = Path::new("/dev/null");
    let bad = character("R", JOINTS, "[0.5]", &[("M", INDICES), ("S", SHAPE)]);
    let bad = bench.write("bad.usda", format!("#usda 1.0\n{bad}"));
    let bad = bad.to_str().unwrap();
    let gone = bench.path("gone.usda");
    let gone = gone.to_str().unwrap();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    let assets = common::repository().join("examples/assets");
    let asset = |name: &str| assets.join(name).to_str().unwrap().to_owned();
    let (walk, puppet) = (asset("walk.bvh"), asset("puppet.glb"));
    let mut wrong = Vec::new();
    for (args, quiet_code) in [
        (
            vec!["bake", bad, "-o", &path("b.usda"), "--backend", "cpu"],
            3,
        ),
        (vec!["convert", bad, "-o", &path("c.usda")], 0),
        // Errors are left that need a person.
        (vec!["fix", bad, "-o", &path("f.usda")], 1),
        (vec!["inspect", bad], 0),
        (vec!["check", bad], 1),
        (vec!["check", gone], 2),
        (vec!["devices"], 0),
        (vec!["completions", "bash"], 0),
        (vec!["retarget", &walk, &puppet, "-o", &path("r.usda")], 0),
        (
            vec![
                "humanoid",
                &puppet,
                &asset("bow.glb"),
                "-o",
                &path("h.usda"),
            ],
            0,
        ),
        (
            vec!["render", &puppet, "-o", &path("p.png"), "--size", "32x32"],
            0,
        ),
        (vec!["--help"], 0),
        (vec!["bake", "--help"], 0),
        (vec!["--version"], 0),
        (vec!["bake"], 2),
        (vec!["bake", gone, "-o", &path("x.usda")], 1),
    ] {
        if args[0] == "render" && common::gpu::ignored() {
            continue;
        }
        // What cannot be told is no reason to end otherwise; what cannot be printed is.
        let code = into_streams(&args, null, full);
        if code != Some(quiet_code) {
            wrong.push(format!("{args:?} with a full stderr: {code:?}"));
        }
        let prints = !matches!((args[0], quiet_code), ("bake", 1 | 2) | ("check", 2));
        let expected = if prints { 1 } else { quiet_code };
        for err in [full, null] {
            let code = into_streams(&args, full, err);
            if code != Some(expected) && args != ["bake", "--help"] || code == Some(101) {
                wrong.push(format!(
                    "{args:?} with a full stdout: {code:?}, not {expected}"
                ));
            }
        }
        // Closed, and a pipe that nobody reads.
        for shell in [">&- 2>&-", "| true", "2>&1 | true"] {
            let script = format!("set -o pipefail; \"$@\" {shell}");
            let output = Command::new("bash")
                .args(["-c", &script, "bash"])
                .arg(common::command::executable())
                .args(&args)
                .output()
                .unwrap();
            if output.status.code() != Some(quiet_code) {
                wrong.push(format!("{args:?} {shell}: {:?}", output.status.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A disk of this size in memory, which is unmounted at the end; `None` if this process may not mount.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mount.is_ok_and(|s| s.success()).then(|| Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

fn a_disk_that_is_too_small_is_told_before_and_while_writing() -> Result<Completion, Failed> {
    let Some(disk) = SmallDisk::new("size=3m") else {
        return Ok(Completion::ignored_with("needs the right to mount a tmpfs"));
    };
    let input = common::repository().join("examples/assets/hatchling.usda");
    for (name, more) in [
        ("o.usdc", &[][..]),
        ("o.usda", &[]),
        ("o.usdz", &[]),
        ("o.exr", &[]),
        ("f/o.####.obj", &[]),
        ("o.usdc", &["--clip-frames", "10"]),
    ] {
        let out = disk.0.path().join(name);
        let old = disk.0.path().join("o.usdc");
        std::fs::write(&old, "old").unwrap();
        for (force, words) in [
            (
                &[][..],
                &["too small", "MB are missing", "--ignore-free-space"][..],
            ),
            (
                &["--ignore-free-space"],
                &["disk is full", "MB are missing"],
            ),
        ] {
            let output = bake(&input, &out, &[more, force].concat());
            let told = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{name} {more:?}: {told}");
            for word in words {
                assert!(told.contains(word), "{name} {more:?}: {told}");
            }
            assert_eq!(std::fs::read_to_string(&old).unwrap(), "old", "{name}");
            let left: Vec<_> = std::fs::read_dir(disk.0.path())
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            // Finished clips stay.
            let clips = !more.is_empty();
            assert!(left == ["o.usdc"] || clips, "{left:?}");
            if clips {
                let _ = std::fs::remove_dir_all(disk.0.path().join("o_clips"));
            }
        }
    }
    Ok(Completion::Completed)
}

/// The estimate is of the right size.
fn estimates_are_near() {
    let bench = Bench::new();
    let input = common::repository().join("examples/assets/hatchling.usda");
    for (name, least, most) in [
        ("a.usdc", 0.8, 1.2),
        ("a.usda", 0.8, 1.5),
        ("a.pc2", 0.9, 1.1),
        ("f/a.####.obj", 0.8, 1.5),
        ("a.exr", 0.9, 2.0),
        ("a.png", 0.9, 3.0),
    ] {
        let output = bake(&input, &bench.path(name), &["--json", "--frames", "1:24"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let files = report["files"].as_array().unwrap().iter();
        let sizes = files.map(|f| std::fs::metadata(f.as_str().unwrap()).unwrap().len());
        let actual = sizes.sum::<u64>() as f64;
        let ratio = report["estimated_bytes"].as_f64().unwrap() / actual;
        assert!((least..most).contains(&ratio), "{name}: {ratio}");
    }
}
