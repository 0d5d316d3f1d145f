//! Compares what a stage gives with what usd-core gives, for files that use everything and for files of real tools.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use super::{against_usd_core, dump, python};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Facts that may differ, by the end of the file's name and a part of the line.
const KNOWN: [(&str, &str); 5] = [
    // The last bits of times in clips.
    ("stage_clips.usda", "FirstJump.tc\tat "),
    // The last bits of a curve far outside its knots.
    ("splines.usda", "extrapolation"),
    ("splines.usdc", "extrapolation"),
    // The last bits of a spline of times that a reference moves.
    ("durations.usda", "/Referenced.times\tat "),
    ("durations.usdc", "/Referenced.times\tat "),
];

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("everything", everything),
        trial("small stages", small_stages),
        trial("random samples", random_samples),
    ];
    let assets = match std::env::var("SINEW_ASSETS") {
        Ok(assets) => PathBuf::from(assets),
        Err(_) => Path::new(HERE).join("../../../shared/assets"),
    };
    let mut files = Vec::new();
    find_stages(&assets, &mut files);
    trials.push(match files.is_empty() {
        true => {
            let why = "files of real tools (left out: SINEW_ASSETS names no folder with any)";
            Trial::test(why, || Ok(())).with_ignored_flag(true)
        }
        false => trial("files of real tools", |_| Ok(files)),
    });
    trials
}

type Files = Result<Vec<PathBuf>, Failed>;

/// Compares each fact of each file, which are made in a folder.
fn trial(name: &str, files: impl FnOnce(&Path) -> Files + Send + 'static) -> Trial {
    against_usd_core(format!("values::{name}"), move || {
        let folder = tempfile::tempdir()?;
        let files = files(folder.path())?;
        if files.is_empty() {
            return Err("no files".into());
        }
        let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let theirs = python("dump_stage.py", &paths)?;
        let stages: Vec<&str> = theirs.split("STAGE\t").skip(1).collect();
        if stages.len() != files.len() {
            return Err("usd-core did not get through the files".into());
        }
        let (mut same, mut different) = (0, Vec::new());
        for (file, theirs) in files.iter().zip(stages) {
            let theirs = theirs.split_once('\n').map_or("", |(_, rest)| rest);
            compare(file, theirs, &mut same, &mut different);
        }
        println!(
            "{same} facts are the same, {} differ, in {} files",
            different.len(),
            files.len()
        );
        match different.is_empty() {
            true => Ok(()),
            false => {
                let shown = different.len().min(shown_differences());
                Err(Failed::from(format!(
                    "{} facts differ:\n{}",
                    different.len(),
                    different[..shown].join("\n")
                )))
            }
        }
    })
}

/// How many differences are printed.
fn shown_differences() -> usize {
    let wanted = std::env::var("SINEW_DIFFERENCES").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(40)
}

fn compare(file: &Path, theirs: &str, same: &mut usize, different: &mut Vec<String>) {
    let ours = match (dump::stage(file), theirs.starts_with("ERROR")) {
        (Ok(ours), false) => ours,
        (Err(_), true) => {
            *same += 1;
            return;
        }
        (ours, _) => {
            let here = ours
                .err()
                .unwrap_or_else(|| "it opens, and not in usd-core".to_owned());
            different.push(format!("{}: {here}", file.display()));
            return;
        }
    };
    let key = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        (
            parts.next().unwrap_or_default().to_owned(),
            parts.next().unwrap_or_default().to_owned(),
        )
    };
    let mut ours: HashMap<(String, String), String> =
        ours.into_iter().map(|l| (key(&l), l)).collect();
    let name = file.display().to_string();
    let is_known = |fact: &str| {
        KNOWN
            .iter()
            .any(|(f, k)| name.ends_with(f) && fact.contains(k))
    };
    for line in theirs.lines() {
        match ours.remove(&key(line)) {
            Some(own) if own == line => *same += 1,
            own if !is_known(line) => {
                let own = own
                    .as_deref()
                    .and_then(|o| o.splitn(3, '\t').nth(2))
                    .unwrap_or("nothing");
                different.push(format!("{name}: {line}\n    here: {own}"));
            }
            _ => {}
        }
    }
    for line in ours.into_values().filter(|l| !is_known(l)) {
        different.push(format!("{name}: only here: {line}"));
    }
}

/// The generator's layers and stages.
fn everything(folder: &Path) -> Files {
    let names = python("../../../../tests/usd/everything.py", &[folder])?;
    Ok(names
        .lines()
        .map(PathBuf::from)
        .filter(|p| p.exists())
        .collect())
}

/// The stages in `stages.txt`, each line `== name` beginning a file; those named `stage*` are opened.
fn small_stages(folder: &Path) -> Files {
    let folder = folder.join("small");
    std::fs::create_dir_all(&folder)?;
    let mut out = Vec::new();
    for part in include_str!("stages.txt").split("\n== ").skip(1) {
        let Some((name, text)) = part.split_once('\n') else {
            continue;
        };
        let path = folder.join(name.trim());
        std::fs::write(&path, format!("#usda 1.0\n{text}\n"))?;
        if name.starts_with("stage") {
            out.push(path);
        }
    }
    Ok(out)
}

/// A stage of arrays with two samples, of which usd-core interpolates every bit.
fn random_samples(folder: &Path) -> Files {
    let file = folder.join("random_samples.usda");
    python("make_samples.py", &[&file])?;
    Ok(vec![file])
}

/// All stages below a folder.
fn find_stages(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            find_stages(&path, out);
        } else if matches!(extension, "usd" | "usda" | "usdc" | "usdz") {
            out.push(path);
        }
    }
}
