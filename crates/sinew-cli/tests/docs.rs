//! The README and the pages of `docs` are true: their commands run, their synopses name the options that exist, and
//! their links lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use common::command::{Bench, commands, executable, sinew, stderr, stdout};

/// Lines of shell blocks that are not run here, by how they begin, and why.
const NOT_RUN: [(&str, &str); 10] = [
    ("cargo bench ", "measures for minutes"),
    ("cargo build ", "builds in release"),
    ("cargo install ", "builds in release"),
    (
        "cargo run ",
        "tests/examples.rs and the viewer's tests run these programs",
    ),
    ("cargo test ", "runs the tests"),
    ("examples/farm/", "tests/bake/schedulers.rs runs it"),
    (
        "jq ",
        "may be missing; the test takes the map out of the report itself",
    ),
    ("SINEW", "sets a variable for one of the others"),
    ("pip install ", "builds in release"),
    ("tests/", "runs the tests"),
];

/// A Markdown file of the repository.
struct Page {
    name: String,
    text: String,
}

impl Page {
    fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(common::repository().join(name))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        Self {
            name: name.to_owned(),
            text,
        }
    }

    /// Its fenced blocks of a language.
    fn blocks(&self, language: &str) -> Vec<&str> {
        let parts: Vec<&str> = self.text.split("\n```").collect();
        assert!(parts.len() % 2 == 1, "{}: a block is not closed", self.name);
        let blocks = parts.iter().skip(1).step_by(2);
        let blocks = blocks.filter_map(|block| block.split_once('\n'));
        let of_language = blocks.filter(|(name, _)| *name == language);
        of_language.map(|(_, lines)| lines).collect()
    }

    /// The lines of these blocks.
    fn lines(&self, language: &str) -> Vec<&str> {
        let blocks = self.blocks(language).into_iter();
        blocks.flat_map(str::lines).collect()
    }
}

/// The README and the guide.
fn pages() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned()];
    let folder = common::repository().join("docs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            names.push(format!("docs/{name}"));
        }
    }
    names.sort();
    assert!(names.len() > 12, "{names:?}");
    names.iter().map(|n| Page::read(n)).collect()
}

/// Words of a line that calls `sinew`, without the call itself.
fn call(line: &str) -> Option<&str> {
    line.strip_prefix("cargo ")
        .unwrap_or(line)
        .strip_prefix("sinew ")
}

/// A folder that looks like the repository to the commands, with the example characters and nothing else.
fn folder() -> Bench {
    let bench = Bench::new();
    let assets = common::repository().join("examples/assets");
    std::fs::create_dir_all(bench.path("examples/assets")).unwrap();
    for entry in std::fs::read_dir(assets).unwrap() {
        let entry = entry.unwrap();
        let to = bench.path("examples/assets").join(entry.file_name());
        std::fs::copy(entry.path(), to).unwrap();
    }
    std::fs::create_dir_all(bench.path(".local/share/bash-completion/completions")).unwrap();
    bench
}

/// Runs some calls of a page in turn, in a folder of their own: how many there are.
fn run(page: &Page, is_wanted: impl Fn(&str) -> bool) -> usize {
    let bench = folder();
    let call_of_executable = format!("'{}' ", executable().display());
    let mut lines = page.lines("sh");
    lines.retain(|line| call(line).is_some() && is_wanted(line));
    for line in &lines {
        let words = call(line).unwrap();
        let script = format!("{call_of_executable}{words}");
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(bench.folder.path())
            .env("HOME", bench.folder.path())
            .output()
            .unwrap();
        let (name, error) = (&page.name, stderr(&output));
        if draws(line) && common::gpu::ignored() && output.status.code() == Some(1) {
            // Without any adapter the command says so.
            assert!(error.contains("adapter"), "{name}: {line}\n{error}");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{name}: {line}\n{error}");
        // A shard leaves OUT to the stitch.
        if let Some(out) = words
            .split(" -o ")
            .nth(1)
            .filter(|o| !o.contains("--shard"))
        {
            let out = out.split_whitespace().next().unwrap();
            let written = bench.path(&out.replace("####", "0001").replace("##", "01"));
            assert!(written.exists(), "{name}: {line}\nwrote no {out}");
        }
        let report = bench.path("report.json");
        if report.exists() {
            let report: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
            std::fs::write(bench.path("map.json"), report["map"].to_string()).unwrap();
        }
    }
    lines.len()
}

/// Lines that no test runs name packages, programs and files that exist.
#[test]
fn what_is_not_run_exists() {
    let root = common::repository();
    let mut manifests = String::new();
    let mut targets = vec![root.join("tests"), root.join("examples")];
    for folder in ["crates", "examples", "tests", "."] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            manifests += &std::fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
            targets.push(path.join("tests"));
        }
    }
    manifests += &std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let is_target = |name: &str| {
        let mut files = targets.iter().map(|folder| folder.join(name));
        manifests.contains(&format!("[[bench]]\nname = \"{name}\""))
            || files.any(|file| file.is_dir() || file.with_extension("rs").is_file())
    };
    let mut named = 0;
    for page in pages().into_iter().chain([Page::read("CONTRIBUTING.md")]) {
        let lines = page.lines("sh");
        for line in lines.iter().filter(|line| call(line).is_none()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            for pair in [&[""], &words[..]].concat().windows(2) {
                let word = pair[1];
                let exists = match pair[0] {
                    "-p" => manifests.contains(&format!("\nname = \"{word}\"\n")),
                    "--test" | "--bench" | "--example" => is_target(word),
                    _ if word.contains("target/") || !word.contains('/') => continue,
                    _ => root.join(word).exists(),
                };
                assert!(exists, "{}: there is no {word}: {line}", page.name);
                named += 1;
            }
        }
    }
    assert!(named > 10, "{named}");
}

fn draws(line: &str) -> bool {
    call(line).is_some_and(|words| words.starts_with("render "))
}

#[test]
fn commands_run() {
    let mut seen = BTreeSet::new();
    for page in pages() {
        let lines = page.lines("sh");
        for line in &lines {
            let excused = NOT_RUN.iter().any(|(start, _)| line.starts_with(start));
            let known = call(line).is_some() || excused;
            assert!(known, "{}: is this run, or in NOT_RUN? {line}", page.name);
        }
        let calls = lines.iter().filter_map(|line| call(line));
        seen.extend(calls.filter_map(|c| c.split(' ').next().map(str::to_owned)));
        run(&page, |line| !draws(line));
    }
    // Every command has an example.
    let missing: Vec<String> = commands()
        .into_iter()
        .filter(|c| !seen.contains(c))
        .collect();
    assert!(missing.is_empty(), "no page has an example of {missing:?}");
}

#[test]
fn commands_that_draw_run() {
    let drawn: usize = pages().iter().map(|page| run(page, draws)).sum();
    assert!(drawn >= 6, "{drawn}");
}

/// The pictures of the README and the guide are what the commands of `docs/render.md` draw.
#[test]
fn pictures_are_those_of_the_commands() {
    if common::gpu::ignored() {
        return;
    }
    let page = Page::read("docs/render.md");
    let lines = page.lines("sh");
    for name in ["hatchling.png", "dance.png", "clip.png", "weights.png"] {
        let is_of = |line: &&&str| line.contains(&format!(" -o {name} "));
        let line = lines.iter().find(is_of).unwrap();
        let bench = folder();
        let words = call(line).unwrap().split_whitespace();
        let output = Command::new(executable())
            .args(words)
            .current_dir(bench.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}\n{}", stderr(&output));
        let kept = common::repository().join("examples/pictures").join(name);
        let size = std::fs::metadata(&kept).unwrap().len();
        assert!(size <= 700_000, "{name} has {size} bytes");
        let picture = |file: PathBuf| image::open(file).unwrap().into_rgba8();
        let (kept, drawn) = (picture(kept), picture(bench.path(name)));
        assert_eq!(kept.dimensions(), drawn.dimensions(), "{name}");
        let share = common::pictures::differing(&kept, &drawn);
        // Another adapter may draw edges differently.
        assert!(
            share < 0.05,
            "{name}: {share} of the pixels differ; draw it again by: {line}"
        );
    }
}

#[test]
fn pages_begin_with_a_command() {
    for page in pages() {
        if ["README.md", "docs/decisions.md"].contains(&page.name.as_str()) {
            continue;
        }
        let body = page.text.split_once('\n').unwrap().1.trim_start();
        assert!(body.starts_with("```sh\n"), "{}", page.name);
    }
}

/// The long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let options = words.filter(|w| w.len() > 2 && w.starts_with("--"));
    options.map(str::to_owned).collect()
}

#[test]
fn synopses_name_the_options() {
    let mut documented: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for page in pages() {
        for block in page.blocks("text") {
            let mut command = None;
            for line in block.lines() {
                if let Some(words) = line.strip_prefix("sinew ") {
                    command = words.split(' ').next().map(str::to_owned);
                }
                if let Some(command) = &command {
                    let of_command = documented.entry(command.clone()).or_default();
                    of_command.extend(options(line));
                }
            }
        }
    }
    for (name, documented) in &documented {
        let help = stdout(&sinew(&[name, "--help"]));
        let listed = help
            .lines()
            .map(str::trim_start)
            .filter(|l| l.starts_with('-'));
        // `-q, --quiet` or `--frames <A:B>`; a description may follow and name others.
        let names = listed.flat_map(|l| l.split_whitespace().take(2));
        let mut real: BTreeSet<String> = names.flat_map(options).collect();
        // `-o, --output <OUT>` stands as -o in a synopsis.
        // Every command has --quiet, --verbose and --threads.
        for usual in ["--help", "--output", "--quiet", "--verbose", "--threads"] {
            real.remove(usual);
        }
        assert_eq!(
            &real, documented,
            "options of sinew {name}, and those of its synopsis"
        );
    }
    let without = ["completions", "devices"];
    for name in commands()
        .iter()
        .filter(|name| !without.contains(&name.as_str()))
    {
        let is_there = documented.contains_key(name);
        assert!(is_there, "no page has a synopsis of sinew {name}");
    }
}

/// The anchor that a heading has on GitHub.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_lead_somewhere() {
    let more = [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "examples/farm/README.md",
    ];
    let mut links = 0;
    for page in pages().into_iter().chain(more.map(Page::read)) {
        let here = common::repository().join(&page.name);
        for target in page.text.split("](").skip(1) {
            let target = target.split(')').next().unwrap();
            if target.starts_with("https://") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path: PathBuf = match file {
                "" => here.clone(),
                file => here.parent().unwrap().join(file),
            };
            assert!(path.exists(), "{}: {target}", page.name);
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&path).unwrap();
                let titles = text.lines().filter(|l| l.starts_with('#'));
                let mut anchors = titles.map(|l| anchor(l.trim_start_matches('#').trim()));
                assert!(anchors.any(|a| a == heading), "{}: {target}", page.name);
            }
            links += 1;
        }
    }
    assert!(links > 40, "{links}");
}

#[test]
fn lines_are_short() {
    let more = ["ARCHITECTURE.md", "CONTRIBUTING.md"];
    for page in pages().into_iter().chain(more.map(Page::read)) {
        let mut in_block = false;
        for line in page.text.lines() {
            in_block ^= line.starts_with("```");
            let may_be_long = in_block || line.starts_with('|') || line.starts_with("![");
            let short = may_be_long || line.chars().count() <= 100;
            assert!(short, "{}: {line}", page.name);
        }
    }
    let readme = Page::read("README.md").text.lines().count();
    assert!(readme <= 150, "the README has {readme} lines");
}

/// bevy asks for a newer Rust than the workspace, which must not build it. Both share a device, so both
/// need the same wgpu.
#[test]
fn bevy_is_apart_and_has_our_wgpu() {
    let root = common::repository();
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let manifest = read("Cargo.toml");
    let excluded = manifest.lines().find(|l| l.starts_with("exclude = "));
    assert!(excluded.unwrap().contains("\"crates/bevy_sinew\""));
    let version = |lock: &str| {
        let lock = read(lock);
        let found = lock.split("name = \"wgpu\"\nversion = \"").nth(1).unwrap();
        found.split('.').next().unwrap().to_owned()
    };
    assert_eq!(
        version("Cargo.lock"),
        version("crates/bevy_sinew/Cargo.lock")
    );
}

/// What takes the model and the GPU part alone has neither what reads files nor clap in its tree.
#[test]
fn the_engine_needs_no_files() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "tree",
        "--offline",
        "-p",
        "sinew",
        "--edges",
        "normal,build",
    ]);
    let output = cargo.args(["--prefix", "none"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let tree = stdout(&output);
    let names: Vec<&str> = tree.lines().filter_map(|l| l.split(' ').next()).collect();
    assert!(
        ["sinew", "wgpu", "glam"]
            .iter()
            .all(|name| names.contains(name)),
        "{tree}"
    );
    let absent = "sinew-layer sinew-stage clap image indicatif serde_json tempfile";
    for name in absent.split(' ') {
        assert!(!names.contains(&name), "{name} is in the tree");
    }
}

/// Files that sentences name by their path in the repository, such as a workaround's test. The
/// changelog names files of its time.
#[test]
fn named_files_exist() {
    let root = common::repository();
    let rooms = [
        "benches", "crates", "docs", "examples", "shaders", "src", "tests",
    ];
    let mut files: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
        .map(|page| root.join(page))
        .into();
    let mut folders: Vec<PathBuf> = rooms.map(|room| root.join(room)).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|e| e.to_str());
            match ending {
                _ if path.is_dir() => folders.push(path),
                Some("md" | "rs" | "wgsl") => files.push(path),
                _ => {}
            }
        }
    }
    let is_path = |word: &str| {
        let room = word.split_once('/').map(|(room, _)| room);
        room.is_some_and(|room| rooms.contains(&room))
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
            && !word.contains("NAME")
    };
    let mut named = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in text.split('`').filter(|word| is_path(word)) {
            assert!(root.join(word).exists(), "{}: `{word}`", file.display());
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}
