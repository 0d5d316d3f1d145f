//! `tests/data/stages.txt`: what `check` finds in each stage, what `bake` makes of it, and what
//! `fix` fixes in it. A row has
//!
//! - `max-influences: N`: the option of `check` and `fix`; `only: CODE`: that of `fix`;
//! - `check: CODE PLACE, ...` or `check: clean`: all findings, in order;
//! - `bake: ok`, `bake: failed PRIM CODE, ...`, or `bake: refused ...`;
//! - `! WORD, WORD`: what the errors and warnings of the bake say;
//! - `fix: nothing`, or what is fixed (`*` if results change), what is not and why, and what remains;
//! - `> TEXT`: text that the fixed stage has, `>! TEXT`: text that it lacks;
//! - `# bake differs: WHY` where it does not end as `check` predicts; likewise `# gltf differs: WHY` and others, of
//!   which `crates/sinew-cli/tests/commands/ends.rs` knows.
//!
//! `SINEW_BLESS=1` writes the outcomes of today into the table.

use std::fmt::Write as _;
use std::path::Path;

use common::stages::{Case, Table, stages};
use common::trials::Trial;
use libtest_mimic::Failed;
use sinew_bake::{Backend, BakeOptions, bake};
use sinew_check::{CheckOptions, FixEntry, FixOptions, Report, check_file, fix};
use sinew_io::usd::UsdFile;

pub fn trials() -> Vec<Trial> {
    if std::env::var_os("SINEW_BLESS").is_some() {
        bless(&stages());
    }
    let rows = stages().cases.into_iter();
    let rows = rows.map(|case| Trial::test(case.name.clone(), move || holds(&case)));
    rows.collect()
}

/// The options of `check` that a row asks for.
pub fn options(case: &Case) -> CheckOptions {
    let mut options = CheckOptions::default();
    options.max_influences = case.one("max-influences:").parse().ok();
    options
}

/// What the libraries make of a row: the answers as the table writes them.
struct Outcome {
    answers: [(&'static str, String); 3],
    differs: bool,
    /// Errors and warnings of the bake.
    told: String,
    /// The fixed stage, if something was fixed.
    fixed: String,
}

fn outcome(case: &Case) -> Result<Outcome, Failed> {
    let folder = tempfile::tempdir()?;
    case.write(folder.path());
    let input = folder.path().join("in.usda");
    let report = check_file(&input, &options(case))?;
    are_of_the_table(&report);
    let (baked, ended, told) = baked(&input, &folder.path().join("out.usdc"));
    let differs = ended != report.ends.bake;
    let (fix, fixed) = fixed(case, &input, &report)?;
    let plain = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    Ok(Outcome {
        answers: [
            ("check:", plain(list(&report))),
            ("bake:", plain(baked)),
            ("fix:", plain(fix)),
        ],
        differs,
        told: plain(told),
        fixed,
    })
}

fn is_marked(case: &Case) -> bool {
    case.all("#")
        .any(|comment| comment.starts_with("bake differs: "))
}

fn holds(case: &Case) -> Result<(), Failed> {
    let outcome = outcome(case)?;
    for (key, found) in &outcome.answers {
        let expected = case.one(key);
        if found != expected {
            return Err(format!("{key}\n expected {expected}\n found    {found}").into());
        }
    }
    assert_eq!(outcome.differs, is_marked(case), "# bake differs");
    for word in case.all("!").flat_map(|words| words.split(", ")) {
        let told = &outcome.told;
        assert!(told.contains(word), "'{told}' should say '{word}'");
    }
    for text in case.all(">") {
        let fixed = &outcome.fixed;
        assert!(fixed.contains(text), "{fixed}\nshould have '{text}'");
    }
    for text in case.all(">!") {
        let fixed = &outcome.fixed;
        assert!(!fixed.contains(text), "{fixed}\nshould not have '{text}'");
    }
    Ok(())
}

/// Every finding is as the table of codes has it.
fn are_of_the_table(report: &Report) {
    for finding in &report.findings {
        let row = sinew_check::code(finding.code);
        let row = row.unwrap_or_else(|| panic!("{} is not in the table", finding.code));
        assert_eq!(finding.severity, row.severity, "{}", finding.code);
        assert_eq!(finding.advice, row.advice, "{}", finding.code);
        assert!(!finding.message.is_empty(), "{}", finding.code);
    }
}

fn place(code: &str, path: &str, property: &str) -> String {
    let dot = if property.is_empty() { "" } else { "." };
    format!("{code} {path}{dot}{property}")
}

/// The findings of a report.
pub fn list(report: &Report) -> String {
    let findings = report.findings.iter();
    let places = findings.map(|f| place(f.code, &f.path, &f.property));
    or(places, "clean")
}

fn or(places: impl Iterator<Item = String>, none: &str) -> String {
    let places: Vec<String> = places.collect();
    match places.is_empty() {
        true => none.to_owned(),
        false => places.join(", "),
    }
}

/// The outcome of a bake, its exit code, and all that it says.
fn baked(input: &Path, output: &Path) -> (String, u8, String) {
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    let report = match bake(input, output, &options, &mut |_| {}) {
        Ok(report) => report,
        Err(e) => {
            assert!(!output.exists(), "a refused bake writes nothing");
            let outcome = format!("refused {}", reasons(&e));
            return (outcome, 1, e.to_string());
        }
    };
    let mut told = String::new();
    for error in &report.errors {
        let _ = writeln!(told, "{error}");
    }
    for failed in &report.failed {
        let _ = writeln!(told, "{}: {}", failed.path, failed.reason);
    }
    for warning in &report.warnings {
        let _ = writeln!(told, "[{}] {warning}", warning.code);
    }
    let failed = report.failed.iter();
    let places = failed.map(|f| format!("failed {} {}", f.path, f.code.unwrap_or("-")));
    let outcome = or(places, "ok");
    let ended = if report.failed.is_empty() { 0 } else { 3 };
    (outcome, ended, told)
}

/// Why nothing was baked: the codes of the prims, or the words of another error.
fn reasons(error: &sinew_bake::Error) -> String {
    let sinew_bake::Error::NothingToSkin(nothing) = error else {
        return error.to_string();
    };
    if !nothing.has_skel_root {
        return "no SkelRoot".to_owned();
    }
    let errors = nothing.errors.iter();
    let errors = errors.map(|e| place(e.code.unwrap_or("-"), &e.prim, &e.property));
    let warnings = nothing.warnings.iter();
    let warnings = warnings.map(|w| place(w.code, &w.path, &w.property));
    or(errors.chain(warnings), "nothing bound")
}

/// What `fix` says that it does, which a check of what it wrote confirms; and the fixed stage.
fn fixed(case: &Case, input: &Path, before: &Report) -> Result<(String, String), Failed> {
    let mut options = FixOptions::default();
    options.check = self::options(case);
    options.only = case.all("only:").map(str::to_owned).collect();
    let mut said = String::new();
    for name in ["out.usdc", "out.usda"] {
        let out = input.with_file_name(name);
        let report = fix(&UsdFile::open(input)?, Some(&out), &options)?;
        let after = check_file(&out, &options.check)?;
        assert_eq!(report.after.as_ref().map(|a| a.counts), Some(after.counts));
        // A fix makes nothing worse, and leaves nothing that another run could fix.
        let is_worse = after.counts.warnings > before.counts.warnings;
        assert!(
            after.counts.errors <= before.counts.errors,
            "{}",
            list(&after)
        );
        assert!(
            !is_worse || !report.not_fixed.is_empty(),
            "{}",
            list(&after)
        );
        // What `check` calls fixable is fixed, and nothing else.
        let fixable = |report: &Report| report.findings.iter().filter(|f| f.fixable).count();
        if options.only.is_empty() {
            assert_eq!(fixable(before), report.fixed.len());
            assert_eq!(fixable(&after), 0, "{}", list(&after));
        }
        let entry = |f: &FixEntry| {
            let star = if f.changes_results { "*" } else { "" };
            place(f.code, &f.path, &f.property) + star
        };
        let left = |f: &FixEntry| format!("{} not fixed: {}", entry(f), f.message);
        said = or(
            report
                .fixed
                .iter()
                .map(entry)
                .chain(report.not_fixed.iter().map(left)),
            "nothing",
        );
        let in_part = report.not_fixed.iter().any(|f| f.changes_results);
        if report.fixed.is_empty() && !in_part {
            assert_eq!(after.findings.len(), before.findings.len());
            return Ok((said, String::new()));
        }
        let _ = write!(said, "; remains: {}", list(&after));
    }
    Ok((
        said,
        std::fs::read_to_string(input.with_file_name("out.usda"))?,
    ))
}

/// Writes the outcomes of today into the table.
fn bless(table: &Table) {
    let path = common::repository().join("tests/data/stages.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut out = String::new();
    for section in text.split_inclusive("\n\n") {
        let case = section.strip_prefix("## ").and_then(|s| s.lines().next());
        let Some(case) = case.and_then(|name| table.cases.iter().find(|c| c.name == name)) else {
            out += section;
            continue;
        };
        let outcome = outcome(case)
            .unwrap_or_else(|e| panic!("{}: {}", case.name, e.message().unwrap_or_default()));
        let keys = ["check:", "bake:", "!", "fix:", ">", ">!", "#"];
        let key = |line: &&str| line.split(' ').next().unwrap_or_default().to_owned();
        let edits = section
            .trim_end()
            .lines()
            .filter(|l| !keys.contains(&&*key(l)));
        let mut lines: Vec<String> = edits.map(str::to_owned).collect();
        for wanted in &keys[..6] {
            match outcome.answers.iter().find(|(k, _)| k == wanted) {
                Some((k, answer)) => lines.push(format!("{k} {answer}")),
                None => lines.extend(case.all(wanted).map(|text| format!("{wanted} {text}"))),
            }
        }
        let comments = case.all("#").filter(|text| *text != "bake differs");
        let differs = outcome.differs && !is_marked(case);
        let comments = comments.chain(differs.then_some("bake differs"));
        lines.extend(comments.map(|text| format!("# {text}")));
        out += &format!("{}\n\n", lines.join("\n"));
    }
    std::fs::write(path, format!("{}\n", out.trim_end())).unwrap();
}
