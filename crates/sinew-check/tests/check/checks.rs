//! What the rows of the table do not say of `check`: the table of codes, usd-core's own validators,
//! real files, and scrambled ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::table::list;
use crate::text;
use common::files::files_of;
use common::python;
use common::rng::Rng;
use common::stages::stages;
use common::trials::Trial;
use libtest_mimic::Failed;
use sinew::kernel::PackedSkin;
use sinew_check::{CODES, CheckOptions, FixOptions, Severity, check_file, fix};
use sinew_io::usd::UsdFile;

type Outcome = Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("every_code_has_a_broken_stage", every_code_has_a_stage),
        Trial::test("every_warning_of_the_reader_is_in_the_table", reader_codes),
        Trial::test("the_example_is_clean", example),
        Trial::test("what_is_no_stage_is_refused", no_stages),
        Trial::test("more_joints_than_kernels_hold_are_told", many_joints),
        Trial::test("scrambled_stages_are_told_not_followed", scrambled),
        python::trial("usd_core_s_validators_find_nothing_else", usd_core_agrees),
    ];
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let skip = assets.is_none();
    let kind = if skip { "needs SINEW_ASSETS" } else { "" };
    let folder = assets.unwrap_or_default();
    let real = |trial: Trial| trial.with_kind(kind).with_ignored_flag(skip);
    let root = folder.clone();
    trials.push(real(Trial::test("assets::all_are_checked", move || {
        all_assets(&root)
    })));
    for line in KNOWN.trim().lines() {
        let (file, code) = line.split_once(' ').unwrap();
        let file = folder.join(file);
        let name = format!("assets::{}::{code}", file.file_name().unwrap().display());
        trials.push(real(Trial::test(name, move || {
            let report = check_file(&file, &CheckOptions::default())?;
            let is_found = report.of(code).next().is_some();
            assert!(is_found, "{}", list(&report));
            Ok(())
        })));
    }
    trials
}

/// Endings of USD files.
const USD: &[&str] = &["usda", "usdc", "usdz", "usd"];

/// Real files and something that is known to be wrong with each.
const KNOWN: &str = "
tinyusdz/tests/usda/fail-case/usdskel-002.usda binding-api-missing
tinyusdz/tests/usda/blendshape-001.usda skel-root-missing
pixar-openusd/pxr/usd/usdSkel/testenv/testUsdSkelSkinningQuery/jointInfluences.usda influences-ignored
pixar-openusd/pxr/usd/usdSkel/testenv/testUsdSkelBakeSkinning/blendshapesWithNormals.usda animation-source-ignored
pixar-openusd/pxr/usdImaging/usdImagingGL/testenv/testUsdImagingGLSkelBlendShapes/blendshapes.usda point-indices-uint
";

/// Writes every stage of the table into a folder of its own; gives the files.
fn write_all(folder: &Path) -> Vec<PathBuf> {
    let cases = stages().cases;
    let files = cases.iter().enumerate().map(|(i, case)| {
        let folder = folder.join(i.to_string());
        case.write(&folder);
        folder.join("in.usda")
    });
    files.collect()
}

/// The stages are broken characters, not broken text: usd-core parses each of them. What UsdSkel's
/// own validators report, and usd-core's check of types, sinew reports at the same prim.
fn usd_core_agrees(python: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(python);
    let script = common::repository().join("crates/sinew-check/tests/check/validators.py");
    command.arg(script).args(write_all(folder.path()));
    if let Some(assets) = std::env::var_os("SINEW_ASSETS") {
        command.args(files_of(Path::new(&assets), USD));
    }
    let output = command.output()?;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Vec<[String; 4]> = serde_json::from_slice(&output.stdout)?;
    let mut compared = BTreeSet::new();
    for [file, error, prim, property] in &found {
        let codes: &[&str] = match error.as_str() {
            "MissingSkelBindingAPI" => &["binding-api-missing", "binding-no-effect"],
            "InvalidSkelBindingAPIApply" => &["skel-root-missing", "binding-outside-skel-root"],
            "AttributeTypeMismatch" => &["attribute-type", "point-indices-uint"],
            other => return Err(format!("{file}: {other}").into()),
        };
        compared.insert(error);
        let report = check_file(file, &CheckOptions::default())?;
        let is_found = report.findings.iter().any(|f| {
            let is_there = property.is_empty() || f.property == *property;
            codes.contains(&f.code) && f.path == *prim && is_there
        });
        let found = list(&report);
        assert!(
            is_found,
            "{file}: {error} at {prim}.{property} is not among {found}"
        );
    }
    assert!(compared.len() == 3 && found.len() >= 15, "{found:?}");
    Ok(())
}

fn every_code_has_a_stage() -> Outcome {
    let mut found = BTreeSet::new();
    for case in stages().cases {
        let places = case.one("check:").split(", ");
        let codes = places.filter_map(|place| place.split(' ').next());
        found.extend(codes.map(str::to_owned));
    }
    let table: BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(table.len(), CODES.len(), "codes are unique");
    // Text with such a path is no layer at all; only crates can hold one.
    assert!(!found.contains("bad-path"), "a row has it now");
    let missing = table
        .iter()
        .filter(|c| !found.contains(**c) && **c != "bad-path");
    let missing: Vec<_> = missing.collect();
    assert!(
        missing.is_empty(),
        "no row of tests/data/stages.txt finds {missing:?}"
    );
    for c in CODES {
        assert!(!c.meaning.is_empty() && !c.advice.is_empty(), "{}", c.code);
        let kebab = |ch: char| ch.is_ascii_lowercase() || ch == '-';
        assert!(c.code.chars().all(kebab), "{}", c.code);
    }
    Ok(())
}

/// Every code that the libraries give to `Warning::new`, `warn` and `coded`.
fn reader_codes() -> Outcome {
    let mut seen = 0;
    let root = common::repository();
    for folder in [
        "crates/sinew-animate/src",
        "crates/sinew-bake/src",
        "crates/sinew-io/src",
        "crates/sinew-render/src",
        "src/scene",
        "src/skel",
    ] {
        for path in files_of(&root.join(folder), &["rs"]) {
            let text = std::fs::read_to_string(&path)?;
            let calls = ["Warning::new(", "warn(", ".coded("];
            let after = calls.iter().flat_map(|call| text.split(call).skip(1));
            let codes =
                after.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
            // Other functions named warn take names of attributes.
            for code in codes.filter(|code| code.contains('-')) {
                let file = path.display();
                assert!(
                    sinew_check::code(code).is_some(),
                    "{file}: {code} is not in the tables of crates/sinew-check/src"
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen} codes seen");
    Ok(())
}

fn example() -> Outcome {
    let file = common::repository().join("examples/assets/hatchling.usda");
    let mut report = check_file(file, &CheckOptions::default())?;
    report.keep(Severity::Warning);
    assert_eq!(list(&report), "clean");
    Ok(())
}

fn all_assets(folder: &Path) -> Outcome {
    let (mut checked, mut refused) = (0, Vec::new());
    for path in files_of(folder, USD) {
        match check_file(&path, &CheckOptions::default()) {
            Ok(report) => {
                checked += 1;
                for f in &report.findings {
                    assert!(sinew_check::code(f.code).is_some(), "{}", f.code);
                }
            }
            Err(e) => refused.push(e.to_string()),
        }
    }
    // Made to be refused: its text is no USD.
    let known = |e: &String| e.contains("inbetween-blendshape-002.usda");
    assert!(refused.iter().all(known), "{refused:?}");
    assert!(checked >= 50, "{checked} files checked");
    Ok(())
}

fn no_stages() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("in.usd");
    let deep = format!("#usda 1.0\n{}", "def \"a\" {".repeat(5000));
    for (text, words) in [
        (deep.as_str(), "nested deeper"),
        ("", "cannot open"),
        ("PXR-USDC", "cannot open"),
        ("PK\x03\x04", "cannot open"),
        ("#usda 1.0\n(\n", "cannot open"),
    ] {
        std::fs::write(&file, text)?;
        let refused = check_file(&file, &CheckOptions::default()).expect_err(words);
        assert!(refused.to_string().contains(words), "{refused}");
    }
    Ok(())
}

/// A skeleton of one joint more than possible: `check` says so before `bake` refuses the prim.
fn many_joints() -> Outcome {
    let joints = (0..=PackedSkin::MAX_JOINTS).map(|i| format!("\"j{i}\""));
    let joints = joints.collect::<Vec<_>>().join(", ");
    let shown = r#"["A", "A/B", "A/B/C"]"#;
    let table = stages();
    let text = table
        .base("character")
        .replacen(shown, &format!("[{joints}]"), 1);
    // A prim that only blends needs no bind transforms.
    let influences = "primvars:skel:joint";
    let text = text.replace(influences, "was:joint");
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("in.usda");
    std::fs::write(&file, text)?;
    let report = check_file(&file, &CheckOptions::default())?;
    let found = report.of("not-skinned").next().ok_or("a finding")?;
    assert_eq!(found.path, "/R/M");
    let words = "its Skeleton has 65535 joints, but at most 65534 are possible";
    assert_eq!(found.message, words);
    assert_eq!(report.ends.bake, 1);
    Ok(())
}

/// Up to four lines of a stage lost, doubled or swapped, or a digit replaced.
fn scramble(base: &str, rng: &mut Rng) -> String {
    const NUMBERS: &str = "nan -inf -1 0 0.3 2147483647 -2147483648 1e38 \"x\"";
    let numbers: Vec<&str> = NUMBERS.split(' ').collect();
    let mut lines: Vec<String> = base.lines().map(str::to_owned).collect();
    for _ in 0..=rng.below(4) {
        let a = 1 + rng.below(lines.len() - 1);
        let b = 1 + rng.below(lines.len() - 1);
        let line = lines[a].clone();
        match rng.below(8) {
            0 => lines[a].clear(),
            1 => lines.insert(a, lines[b].clone()),
            2 => lines.swap(a, b),
            _ => {
                let digits = line.match_indices(|c: char| c.is_ascii_digit());
                let digits: Vec<usize> = digits.map(|(at, _)| at).collect();
                if !digits.is_empty() {
                    let at = digits[rng.below(digits.len())];
                    let number = numbers[rng.below(numbers.len())];
                    lines[a].replace_range(at..=at, number);
                }
            }
        }
    }
    lines.join("\n")
}

/// Checks and fixes of scrambled stages end, and what was written can be read.
fn scrambled() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("in.usda");
    let out = folder.path().join("out.usda");
    let table = stages();
    let (mut opened, seeds) = (0, common::seeds(400));
    for seed in seeds.clone() {
        let mut rng = Rng::new(seed);
        std::fs::write(&file, scramble(table.base("character"), &mut rng))?;
        let mut options = FixOptions::default();
        options.check.max_influences = Some(1 + rng.below(3));
        if check_file(&file, &options.check).is_err() {
            continue; // It is no USD any more.
        }
        opened += 1;
        let report = fix(&UsdFile::open(&file)?, Some(&out), &options);
        let report = report.map_err(|e| format!("seed {seed}: {e}"))?;
        let after = report.after.ok_or("a report")?;
        // A second run has nothing to fix.
        for again in after.findings.iter().filter(|f| f.fixable) {
            let is_told = report.not_fixed.iter().any(|left| left.path == again.path);
            assert!(is_told, "seed {seed}: {again:#?} {:#?}", report.fixed);
        }
    }
    assert!(opened >= seeds.end / 4, "{opened} stages opened");
    Ok(())
}
