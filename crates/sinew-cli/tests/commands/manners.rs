//! What a script and a shell expect of every command: help with examples, JSON, completions, progress.

use std::path::{Path, PathBuf};
use std::process::Command;

use common::command::{Bench, sinew, stderr, stdout};
use serde_json::Value;

fn asset(name: &str) -> String {
    let folder = common::repository().join("examples/assets");
    folder.join(name).to_str().unwrap().to_owned()
}

/// Names of all commands, out of the help.
fn commands() -> Vec<String> {
    let help = stdout(&sinew(&["--help"]));
    let listed = help.split("Commands:\n").nth(1).unwrap();
    let lines = listed.lines().take_while(|l| !l.is_empty());
    let names: Vec<String> = lines
        // Descriptions go on further to the right.
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .map(|l| l.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect();
    for known in ["bake", "convert", "check", "completions"] {
        assert!(names.iter().any(|n| n == known), "{names:?}");
    }
    names
}

#[test]
fn every_help_has_an_example_of_its_command() {
    assert!(stdout(&sinew(&["--help"])).contains("Example"));
    for name in commands() {
        let output = sinew(&[&name, "--help"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(stderr(&output).is_empty());
        let help = stdout(&output);
        let examples = help.split("Example").nth(1).unwrap_or_default();
        assert!(examples.contains(&format!("\n  sinew {name}")), "{help}");
    }
}

/// The list of commands has a sentence of each, and its own help says more.
#[test]
fn help_explains_the_command() {
    for (name, words) in [
        ("bake", "Other formats have no sample times"),
        ("convert", "its layer stays as it is"),
        ("retarget", "Rotations are measured"),
        ("animate", "OUT is a small layer"),
        ("devices", "--verify runs every kernel"),
        ("fix", "OUT is a copy of IN's root layer"),
    ] {
        let help = stdout(&sinew(&[name, "--help"]));
        let flowing = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.contains(words), "{name}: {help}");
        let short = stdout(&sinew(&[name, "-h"]));
        assert!(
            short.len() < help.len() && short.contains("Examples:"),
            "{name}"
        );
    }
}

#[test]
fn help_names_the_exit_codes() {
    let help = stdout(&sinew(&["--help"]));
    let table = help.split("Exit codes:\n").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().take_while(|l| l.starts_with("  ")).collect();
    assert_eq!(rows.len(), 5, "{help}");
    // The page has the same table.
    let page = std::fs::read_to_string(common::repository().join("docs/README.md")).unwrap();
    for row in rows {
        let (code, meaning) = row.trim().split_once(' ').unwrap();
        let meaning = meaning
            .trim()
            .replace("--allow-partial", "`--allow-partial`");
        let meaning = meaning.replace("check", "`check`");
        let row = format!("| {code} | {} |", meaning.replace(" fix:", " `fix`:"));
        assert!(page.contains(&row), "{row}");
    }
    for name in commands() {
        let output = sinew(&[&name, "--no-such-option"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stdout(&output).is_empty());
    }
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = sinew(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let script = stdout(&output);
        for name in commands() {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        assert!(
            script.contains("turntable") || script.contains("dry-run"),
            "{shell}"
        );
    }
    assert_eq!(sinew(&["completions", "tcsh"]).status.code(), Some(2));
}

/// What bash offers for a line of words, the last of which is being typed.
#[cfg(target_os = "linux")]
#[test]
fn bash_completes() {
    let bench = Bench::new();
    let file = bench.write("sinew.bash", stdout(&sinew(&["completions", "bash"])));
    let offered = |words: &[&str]| {
        let script = format!(
            "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _sinew sinew '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
            file.display(),
            words.join(" "),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(offered(&["sinew", "ret"]).trim(), "retarget");
    assert_eq!(offered(&["sinew", "bake", "--back"]).trim(), "--backend");
    assert_eq!(
        offered(&["sinew", "bake", "--backend", ""]).trim(),
        "auto gpu cpu"
    );
}

/// A .glb whose bones only their names tell.
fn without_humanoid(glb: &str, out: &Path) -> String {
    const KEY: &[u8] = b"EXT_skeleton_humanoid";
    let mut bytes = std::fs::read(glb).unwrap();
    let places = (0..bytes.len() - KEY.len()).filter(|i| bytes[*i..].starts_with(KEY));
    let places: Vec<usize> = places.collect();
    assert!(!places.is_empty());
    for i in places {
        bytes[i..i + 3].copy_from_slice(b"OLD");
    }
    std::fs::write(out, bytes).unwrap();
    out.to_str().unwrap().to_owned()
}

fn json(args: &[&str]) -> Value {
    let output = sinew(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|e| panic!("{args:?}: {e}"))
}

#[test]
fn every_result_is_to_be_had_as_json() {
    let bench = Bench::new();
    let out = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    let (hatchling, puppet, bow, walk) = (
        asset("hatchling.usda"),
        asset("puppet.glb"),
        asset("bow.glb"),
        asset("walk.bvh"),
    );

    let converted = json(&["convert", &walk, "-o", &out("walk.usda"), "--json"]);
    assert_eq!(converted["output"], out("walk.usda"));
    let animation = converted["clips"][0]["animation"].as_str().unwrap();
    let skeleton = converted["skeletons"][0]["prim"].as_str().unwrap();
    assert_eq!(converted["clips"][0]["skeleton"], skeleton);
    assert!(converted["skeletons"][0]["joints"].as_u64() > Some(10));
    let stage = common::usd::open(&PathBuf::from(out("walk.usda")));
    assert_eq!(common::usd::type_name(&stage, animation), "SkelAnimation");
    assert_eq!(common::usd::type_name(&stage, skeleton), "Skeleton");

    let bowing = json(&["humanoid", &puppet, &bow, "-o", &out("bow.usda"), "--json"]);
    assert_eq!(bowing["output"], out("bow.usda"));
    let bones = bowing["bones"].as_array().unwrap();
    assert!(bones.iter().any(|b| b == "spine"), "{bowing}");
    for list in ["missing", "expressions", "errors", "warnings"] {
        assert!(bowing[list].is_array(), "{bowing}");
    }
    let plain = without_humanoid(&puppet, &bench.path("plain.glb"));
    let described = json(&["describe", &plain, "-o", &out("described.glb"), "--json"]);
    assert!(described["bones"]["hips"].is_string(), "{described}");
    assert!(described["by"].is_string() && described["lacking"].is_array());

    let moved = json(&[
        "retarget",
        &walk,
        &puppet,
        "-o",
        &out("walking.usda"),
        "--json",
    ]);
    assert!(moved["map"].is_object(), "{moved}");
    assert_eq!(
        json(&["inspect", &hatchling, "--json"])["skeletons"][0]["joints"],
        37
    );
    assert!(json(&["check", &hatchling, "--json"])["files"][0]["findings"].is_array());
    assert!(
        json(&["check", "--codes", "--json"])["codes"]
            .as_array()
            .unwrap()
            .len()
            > 50
    );
    assert!(json(&["fix", &hatchling, "--dry-run", "--json"])["fixed"].is_array());
    assert!(json(&["devices", "--json"])["auto"].is_string());
    // Every command that prints a result has the option.
    for name in commands() {
        let help = stdout(&sinew(&[&name, "--help"]));
        let is_data = name == "completions";
        assert!(is_data || help.contains("--json"), "{name} has no --json");
    }
}

/// Neither a script's log nor a pipe sees the bar; a terminal does, with the time left, and is clean afterwards.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_sees_the_time_left() {
    let bench = Bench::new();
    let run = |more: &str| {
        let command = format!(
            "{} bake {} -o {} --backend cpu --frames 1:96:0.1 {more}",
            env!("CARGO_BIN_EXE_sinew"),
            asset("hatchling.usda"),
            bench.path("out.usdc").display(),
        );
        // A pseudo-terminal, of util-linux.
        let output = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .env("TERM", "xterm")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stdout(&output));
        stdout(&output)
    };
    let seen = run("");
    assert!(seen.contains("deforming"), "{seen:?}");
    assert!(
        seen.contains(" samples, ") && seen.contains("s left"),
        "{seen:?}"
    );
    assert!(seen.contains("writing "), "{seen:?}");
    // The last thing drawn over the line is nothing.
    let last = seen.rsplit("\r\u{1b}[2K").next().unwrap();
    assert!(
        last.starts_with(bench.folder.path().to_str().unwrap()),
        "{seen:?}"
    );
    let quiet = run("--quiet");
    assert!(
        !quiet.contains("deforming") && !quiet.contains("left"),
        "{quiet:?}"
    );
}
