//! What a script and a shell expect of every command: help with examples, completions, progress.

use std::process::Command;

use common::command::{Bench, bake, commands, refused, sinew, stderr, stdout};
use common::stages::Table;
use sinew_layer::{Layer, usdc};

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
        let lines = help.lines().count();
        assert!(lines < 60, "{name}: {lines} lines of help");
        let all = stdout(&sinew(&[&name, "--help", "--all"]));
        let [less, more] = [&help, &all].map(|text| text.split_whitespace().count());
        assert!(less <= more, "{name}: {less} words, with --all {more}");
        // What prints a result has it as JSON too.
        let is_without = ["completions", "view"].contains(&name.as_str());
        assert!(is_without || help.contains("--json"), "{name}");
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
        let row = format!("| {code} | {} |", meaning.replace("fix", "`fix`"));
        assert!(page.contains(&row), "{row}");
    }
    for name in commands() {
        let output = sinew(&[&name, "--no-such-option"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stdout(&output).is_empty());
    }
}

/// A crate file of a rig, cut anywhere, is refused.
#[test]
fn truncated_usdc_at_every_tenth() {
    let bench = Bench::new();
    let input = bench.write("in.usda", Table::read("runs.txt").base("one mesh"));
    let mut rig = std::io::Cursor::new(Vec::new());
    usdc::write_layer(&Layer::open(&input).unwrap(), &mut rig).unwrap();
    let bytes = rig.into_inner();
    for tenth in 0..10 {
        let cut = bench.write("cut.usdc", &bytes[..bytes.len() * tenth / 10]);
        let out = bench.path("out.usdc");
        refused(&bake(&cut, &out, &[]), &out, &["cut.usdc"]);
    }
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

/// Neither a script's log nor a pipe sees the bar; a terminal does, with the time left, and is clean afterwards.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_sees_the_time_left() {
    let bench = Bench::new();
    let run = |more: &str| {
        let command = format!(
            "{} bake {}/examples/assets/hatchling.usda -o {} --backend cpu --frames 1:96:0.1 {more}",
            env!("CARGO_BIN_EXE_sinew"),
            common::repository().display(),
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
