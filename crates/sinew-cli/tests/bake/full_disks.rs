//! Streams and disks that are full, streams that nobody reads, and what a bake takes of the memory.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::Folder;
use common::command::{executable, stderr};
use common::processor::Ended;
use common::stages::Table;
use libtest_mimic::{Completion, Failed};

/// Commands, and how they end while nobody listens: the last three print nothing on stdout.
const COMMANDS: [(&str, i32); 16] = [
    ("bake bad.usda -o b.usda --backend cpu", 3),
    ("convert bad.usda -o c.usda", 3),
    // Errors are left that need a person.
    ("fix bad.usda -o f.usda", 1),
    ("inspect bad.usda", 0),
    ("check bad.usda", 1),
    ("devices", 0),
    ("completions bash", 0),
    ("retarget walk.bvh puppet.glb -o r.usda", 0),
    ("humanoid puppet.glb bow.glb -o h.usda", 0),
    ("render puppet.glb -o p.png --size 32x32", 0),
    ("--help", 0),
    ("bake --help", 0),
    ("--version", 0),
    ("check gone.usda", 2),
    ("bake", 2),
    ("bake gone.usda -o x.usda", 1),
];

/// What cannot be told is no reason to end otherwise; what cannot be printed is.
pub fn full_and_closed_streams_are_no_panic() {
    let folder = Folder::new();
    let bad = Table::read("runs.txt").base("farm").to_owned();
    let weights = "float[] primvars:skel:jointWeights = [1, 1] (interpolation = \"vertex\")";
    let bad = bad.replace(weights, "");
    let bad = bad.replace("blendShapeWeights = [0, 1]", "blendShapeWeights = [0.5]");
    folder.0.write("bad.usda", bad);
    let mut wrong = Vec::new();
    for (i, (line, code)) in COMMANDS.iter().enumerate() {
        if line.starts_with("render") && common::gpu::ignored() {
            continue;
        }
        let full = if i + 3 < COMMANDS.len() { 1 } else { *code };
        for (streams, expected) in [
            (">/dev/null 2>/dev/full", *code),
            (">/dev/full 2>/dev/full", full),
            (">/dev/full 2>/dev/null", full),
            // Closed, and a pipe that nobody reads.
            (">&- 2>&-", *code),
            ("| true", *code),
            ("2>&1 | true", *code),
        ] {
            let script = format!("set -o pipefail; \"$0\" {line} {streams}");
            let mut shell = Command::new("bash");
            shell.args(["-c", &script]).arg(executable());
            let shell = shell.current_dir(folder.0.folder.path());
            let found = shell.output().unwrap().status.code();
            // clap ends with another code where it cannot print a long help.
            let may_differ = *line == "bake --help" && streams.starts_with(">/dev/full");
            if found == Some(101) || (found != Some(expected) && !may_differ) {
                wrong.push(format!("{line} {streams}: {found:?}, not {expected}"));
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
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", size, "tmpfs"]);
        let status = mount.arg(folder.path()).stderr(Stdio::null()).status();
        status.is_ok_and(|s| s.success()).then(|| Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

pub fn a_disk_that_is_too_small_is_told_before_and_while_writing() -> Result<Completion, Failed> {
    let Some(disk) = SmallDisk::new("size=3m") else {
        return Ok(Completion::ignored_with("needs the right to mount a tmpfs"));
    };
    let folder = Folder::new();
    let disk = disk.0.path();
    let old = disk.join("o.usdc");
    for (name, clips) in [
        ("o.usdc", ""),
        ("o.usda", ""),
        ("o.usdz", ""),
        ("o.exr", ""),
        ("f/o.####.obj", ""),
        ("o.usdc", "--clip-frames 10"),
    ] {
        std::fs::write(&old, "old").unwrap();
        for (force, words) in [
            ("", ["too small", "--ignore-free-space"]),
            ("--ignore-free-space", ["disk is full", "MB are missing"]),
        ] {
            let out = disk.join(name);
            let options = format!("--backend cpu --frames 1:48 {clips} {force}");
            let line = format!("bake hatchling.usda -o {} {options}", out.display());
            let told = stderr(&folder.run(1, &line));
            let mut words = words.iter().chain(&["MB are missing"]);
            assert!(
                words.all(|word| told.contains(word)),
                "{name} {options}: {told}"
            );
            assert_eq!(std::fs::read(&old).unwrap(), b"old", "{name}");
            // Finished clips stay.
            let _ = std::fs::remove_dir_all(disk.join("o_clips"));
            assert_eq!(crate::bench::listing(disk).len(), 1, "{name} {options}");
        }
    }
    Ok(Completion::Completed)
}

/// Four times the frames are 90 MB more on disk.
pub fn memory_does_not_grow_with_the_frames() {
    let folder = Folder::new();
    let peak = |frames: &str| {
        let options = format!("--backend cpu --quiet --frames {frames}");
        let line = format!("bake hatchling.usda -o out.usdc {options}");
        let megabytes = peak_megabytes(&mut folder.command(&line));
        let out = folder.path("out.usdc").metadata().unwrap();
        (megabytes, out.len() >> 20)
    };
    let (few, small) = peak("1:96:0.48");
    let most = common::tolerance::MEMORY_OF_FRAMES_MB;
    let (mut many, large) = peak("1:96:0.12");
    // How far one thread is ahead of another differs from run to run, also on a busy machine.
    if many >= few + most {
        many = peak("1:96:0.12").0;
    }
    assert!(large - small > 80, "{small} MB, {large} MB");
    assert!(many < few + most, "{few} MB, {many} MB of memory");
}

/// Most memory that a process had at a time.
fn peak_megabytes(command: &mut Command) -> u64 {
    let ended = Ended::wait(&mut command.spawn().unwrap()).unwrap();
    assert!(ended.status.success());
    ended.peak >> 20
}

/// Writing ends in the middle of deforming: the bake ends with it, says why, and leaves nothing.
pub fn a_file_that_grows_too_large_is_told_and_leaves_nothing() {
    let folder = Folder::new();
    let before = folder.listing();
    // Blocks of 512 bytes or of 1024, as shells have it.
    let script = "trap '' XFSZ; ulimit -f 8000; \
        exec \"$0\" bake hatchling.usda -o out.usdc --backend cpu --frames 1:96:0.1";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(executable());
    let output = shell.current_dir(folder.0.folder.path()).output().unwrap();
    common::command::refused(
        &output,
        Path::new("out.usdc"),
        &["out.usdc", "cannot write"],
    );
    assert!(folder.listing() == before);
}
