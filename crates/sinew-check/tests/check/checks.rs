//! `sinew check`: a table of malformed files, each made from one good stage by one change, with the
//! code that it has to be found by. Then real files, hostile ones, and the command itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::text;
use common::broken::{BASE, Case, cases};
use common::files::files_of;
use common::python;
use common::rng::Rng;
use common::trials::Trial;
use libtest_mimic::Failed;
use sinew_bake::{Backend, BakeOptions, bake};
use sinew_check::{CODES, CheckOptions, FixOptions, Report, Severity, check_file, fix};
use sinew_io::usd::UsdFile;

type Outcome = Result<(), Failed>;
type PythonTest = (&'static str, fn(&str) -> Outcome);
type Test = (&'static str, fn() -> Outcome);

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for case in cases() {
        let name = format!("broken::{}", case.name);
        trials.push(Trial::test(name, move || broken_scene(&case)));
    }
    let plain: [Test; 8] = [
        ("the_good_stage_has_no_finding", good_stage),
        ("a_skel_root_may_be_rotated", rotated_stage),
        ("the_table_and_the_cases_agree", table_and_cases),
        ("every_warning_of_the_reader_is_in_the_table", reader_codes),
        ("what_a_bake_leaves_out_is_an_error", bakes),
        ("the_example_is_clean", example),
        ("hostile_input_is_told_not_followed", hostile),
        ("scrambled_stages_are_told_not_followed", scrambled),
    ];
    for (name, run) in plain {
        trials.push(Trial::test(name, run));
    }
    let pythons: [PythonTest; 2] = [
        ("usd_core_opens_every_case", usd_core_opens),
        (
            "usd_core_s_validators_find_nothing_else",
            usd_core_validates,
        ),
    ];
    for (name, run) in pythons {
        trials.push(python::trial(name, run));
    }
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let kind = if assets.is_some() {
        ""
    } else {
        "needs SINEW_ASSETS"
    };
    let skip = assets.is_none();
    let folder = assets.unwrap_or_default();
    let root = folder.clone();
    trials.push(
        Trial::test("assets::all_are_checked", move || all_assets(&root))
            .with_kind(kind)
            .with_ignored_flag(skip),
    );
    for (file, code, path) in KNOWN {
        let file = folder.join(file);
        let name = format!("assets::{}::{code}", file.file_name().unwrap().display());
        let run = move || {
            let report = check_file(&file, &CheckOptions::default())?;
            expect(&report, code, path)
        };
        trials.push(
            Trial::test(name, run)
                .with_kind(kind)
                .with_ignored_flag(skip),
        );
    }
    trials
}

/// Endings of USD files.
const USD: &[&str] = &["usda", "usdc", "usdz", "usd"];

/// Real files and something that is known to be wrong with each.
const KNOWN: &[(&str, &str, &str)] = &[
    (
        "tinyusdz/tests/usda/fail-case/usdskel-002.usda",
        "binding-api-missing",
        "",
    ),
    (
        "tinyusdz/tests/usda/blendshape-001.usda",
        "skel-root-missing",
        "",
    ),
    (
        "pixar-openusd/pxr/usd/usdSkel/testenv/testUsdSkelSkinningQuery/jointInfluences.usda",
        "influences-ignored",
        "",
    ),
    (
        "pixar-openusd/pxr/usd/usdSkel/testenv/testUsdSkelBakeSkinning/blendshapesWithNormals.usda",
        "animation-source-ignored",
        "",
    ),
    (
        "pixar-openusd/pxr/usdImaging/usdImagingGL/testenv/testUsdImagingGLSkelBlendShapes/blendshapes.usda",
        "point-indices-uint",
        "",
    ),
];

fn write(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("in.usda");
    std::fs::write(&file, text).expect("written");
    (folder, file)
}

fn list(report: &Report) -> String {
    report
        .findings
        .iter()
        .map(|f| format!("\n  {} {}.{}: {}", f.code, f.path, f.property, f.message))
        .collect()
}

fn expect(report: &Report, code: &str, path: &str) -> Outcome {
    let found = report.of(code).any(|f| path.is_empty() || f.path == path);
    match found {
        true => Ok(()),
        false => Err(format!("{code} at {path} is not among{}", list(report)).into()),
    }
}

fn broken_scene(case: &Case) -> Outcome {
    let (_folder, file) = write(&case.text());
    let report = check_file(&file, &case.options())?;
    // The whole file is named by its own name.
    let path = match case.path {
        "" => file.display().to_string(),
        path => path.to_owned(),
    };
    expect(&report, case.code, &path)?;
    let finding = report
        .of(case.code)
        .find(|f| f.path == path)
        .expect("just found");
    let row = sinew_check::code(case.code).ok_or("a row in the table")?;
    assert_eq!(finding.severity, row.severity);
    assert_eq!(finding.advice, row.advice);
    assert!(!finding.message.is_empty());
    for f in &report.findings {
        assert!(
            sinew_check::code(f.code).is_some(),
            "{} is not in the table",
            f.code
        );
    }
    // One change makes no avalanche.
    if report.findings.len() > case.most {
        return Err(format!("more than {} findings:{}", case.most, list(&report)).into());
    }
    Ok(())
}

/// The stages are broken characters, not broken text: usd-core parses each of them.
fn usd_core_opens(python: &str) -> Outcome {
    const SCRIPT: &str = "
import sys
from pxr import Sdf
for name in sys.argv[1:]:
    try:
        Sdf.Layer.FindOrOpen(name).rootPrims
    except Exception as e:
        print(name, e)
";
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]);
    for case in cases() {
        let file = folder.path().join(format!("{}.usda", case.name));
        std::fs::write(&file, case.text())?;
        command.arg(file);
    }
    let output = command.output()?;
    assert!(output.status.success(), "{}", text(&output.stderr));
    match output.stdout.is_empty() {
        true => Ok(()),
        false => Err(text(&output.stdout).into()),
    }
}

/// What UsdSkel's own validators report, and usd-core's check of types, sinew reports at the same prim.
fn usd_core_validates(python: &str) -> Outcome {
    const SCRIPT: &str = "
import json, re, sys
from pxr import Usd, UsdValidation
registry = UsdValidation.ValidationRegistry()
names = ['usdSkelValidators:SkelBindingApiValidator', 'usdSkelValidators:SkelBindingApiAppliedValidator',
         'usdValidation:AttributeTypeMismatch']
context = UsdValidation.ValidationContext([registry.GetOrLoadValidatorByName(n) for n in names])
out = []
for name in sys.argv[1:]:
    try:
        stage = Usd.Stage.Open(name)
    except Exception:
        continue
    for error in context.Validate(stage):
        for site in error.GetSites():
            if site.IsPrim():
                out.append([name, error.GetName(), str(site.GetPrim().GetPath()), ''])
        # Types are told by the message alone. Roles may differ: what a vector3f[] holds is read as point3f[].
        told = re.search(r\"</([^.]*)[.](.*)>. Expected attribute type is '(.*)' but defined as '(.*)' in\", error.GetMessage())
        if told:
            prim, attribute, want, found = told.groups()
            plain = lambda t: re.sub('(point|vector|normal|color)3', 'float3', t).replace('float3d', 'double3')
            other = attribute.startswith('primvars:') and not attribute.startswith('primvars:skel:')
            if plain(want) != plain(found) and not other:
                out.append([name, error.GetName(), '/' + prim, attribute])
print(json.dumps(out))
";
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]);
    for case in cases() {
        let file = folder.path().join(format!("{}.usda", case.name));
        std::fs::write(&file, case.text())?;
        command.arg(file);
    }
    if let Some(assets) = std::env::var_os("SINEW_ASSETS") {
        command.args(files_of(Path::new(&assets), USD));
    }
    let output = command.output()?;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Vec<[String; 4]> = serde_json::from_slice(&output.stdout)?;
    let mut compared = BTreeSet::new();
    for [file, error, prim, property] in &found {
        let codes: &[&str] = match error.as_str() {
            "MissingSkelBindingAPI" => &["binding-api-missing"],
            "InvalidSkelBindingAPIApply" => &["skel-root-missing", "binding-outside-skel-root"],
            "AttributeTypeMismatch" => &["attribute-type", "point-indices-uint"],
            other => return Err(format!("{file}: {other} is unknown here").into()),
        };
        compared.insert(error);
        let report = check_file(file, &CheckOptions::default())?;
        let same = |f: &sinew_check::Finding| {
            codes.contains(&f.code)
                && f.path == *prim
                && (property.is_empty() || f.property == *property)
        };
        if !report.findings.iter().any(same) {
            let what = format!("{error} at {prim}.{property} is not among{}", list(&report));
            return Err(format!("{file}: {what}").into());
        }
    }
    assert!(compared.len() == 3 && found.len() >= 15, "{found:?}");
    Ok(())
}

fn good_stage() -> Outcome {
    let (_folder, file) = write(BASE);
    let mut options = CheckOptions::default();
    options.max_influences = Some(4);
    let report = check_file(&file, &options)?;
    match report.findings.is_empty() {
        true => Ok(()),
        false => Err(list(&report).into()),
    }
}

/// The rotation lays the rest pose and the animation down alike.
fn rotated_stage() -> Outcome {
    let place = "    rel skel:skeleton = </R/Skel>\n";
    let rotated = "    float xformOp:rotateX = 90\n    uniform token[] xformOpOrder = [\"xformOp:rotateX\"]\n";
    assert_eq!(BASE.matches(place).count(), 1);
    let (_folder, file) = write(&BASE.replace(place, &format!("{place}{rotated}")));
    let report = check_file(&file, &CheckOptions::default())?;
    match report.findings.is_empty() {
        true => Ok(()),
        false => Err(list(&report).into()),
    }
}

fn table_and_cases() -> Outcome {
    let cases = cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|c| c.name).collect();
    assert_eq!(names.len(), cases.len(), "names are unique");
    let produced: BTreeSet<&str> = cases.iter().map(|c| c.code).collect();
    let table: BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(table.len(), CODES.len(), "codes are unique");
    // Text with such a path is no layer at all; only crates can hold one.
    assert!(!produced.contains("bad-path"), "a case has it now");
    let missing = table.difference(&produced).filter(|c| **c != "bad-path");
    let missing: Vec<_> = missing.collect();
    assert!(missing.is_empty(), "no case produces {missing:?}");
    for c in CODES {
        assert!(!c.meaning.is_empty() && !c.advice.is_empty(), "{}", c.code);
        let kebab = |ch: char| ch.is_ascii_lowercase() || ch == '-';
        assert!(c.code.chars().all(kebab), "{}", c.code);
    }
    Ok(())
}

/// Warnings of bakes and of clips that are put on a character, and those that the shapes' own errors stand for.
const NOT_FINDINGS: &[&str] = &[
    "asset-missing",
    "blend-shape-broken",
    "blend-shapes-dropped",
    "clip-copied",
    "clip-elsewhere",
    "clip-joints",
    "clip-transforms",
    "clips-dropped",
    "joints-by-name",
    "no-longer-skinned",
    "not-baked",
    "times-not-baked",
];

/// Every code that the readers give to `Warning::new` and `coded`.
fn reader_codes() -> Outcome {
    let mut folders: Vec<PathBuf> = [
        "crates/sinew-animate/src/humanoid",
        "crates/sinew-io/src",
        "src/scene",
        "src/skel",
    ]
    .map(|f| common::repository().join(f))
    .to_vec();
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                // Retargeting warns of two files together.
                folders.extend(Some(path).filter(|p| !p.ends_with("retarget")));
                continue;
            }
            let text = std::fs::read_to_string(&path)?;
            for before in ["Warning::new(", "warn(", ".coded("] {
                for rest in text.split(before).skip(1) {
                    let Some(code) = rest.trim_start().strip_prefix('"') else {
                        continue;
                    };
                    let code = code.split('"').next().unwrap_or_default();
                    // Other functions named warn take names of attributes.
                    if !code.contains('-') || NOT_FINDINGS.contains(&code) {
                        continue;
                    }
                    seen += 1;
                    if sinew_check::code(code).is_none() {
                        return Err(format!(
                            "{}: {code} is not in crates/sinew-check/src/codes.rs",
                            path.display()
                        )
                        .into());
                    }
                }
            }
        }
    }
    assert!(seen > 20, "{seen} codes seen");
    Ok(())
}

/// No prim is left out of a bake for a reason that the check does not call an error.
fn bakes() -> Outcome {
    let folder = tempfile::tempdir()?;
    let (mut left_out, mut refused) = (0, 0);
    for case in cases() {
        let file = folder.path().join(format!("{}.usda", case.name));
        std::fs::write(&file, case.text())?;
        let report = check_file(&file, &CheckOptions::default())?;
        let is_error = |prim: &str| {
            report
                .findings
                .iter()
                .any(|f| f.severity == Severity::Error && f.path == prim)
        };
        let mut options = BakeOptions::default();
        options.backend = Backend::Cpu;
        match bake(
            &file,
            &folder.path().join("out.usdc"),
            &options,
            &mut |_| {},
        ) {
            Ok(baked) => {
                let not_baked = baked.warnings.iter().filter(|w| w.code == "not-baked");
                let prims = baked.errors.iter().map(|e| e.prim.as_str());
                for prim in prims.chain(not_baked.map(|w| w.path.as_str())) {
                    left_out += 1;
                    if !is_error(prim) {
                        return Err(format!("{}: {prim}{}", case.name, list(&report)).into());
                    }
                }
            }
            Err(e) => {
                refused += 1;
                let nothing = report.of("nothing-to-skin").next().is_some();
                if report.counts.errors == 0 && !nothing {
                    return Err(format!("{}: {e}{}", case.name, list(&report)).into());
                }
            }
        }
    }
    assert!(
        left_out >= 15 && refused >= 10,
        "{left_out} left out, {refused} refused"
    );
    Ok(())
}

fn example_file() -> PathBuf {
    common::repository().join("examples/assets/hatchling.usda")
}

fn example() -> Outcome {
    let mut report = check_file(example_file(), &CheckOptions::default())?;
    report.keep(Severity::Warning);
    match report.findings.is_empty() {
        true => Ok(()),
        false => Err(list(&report).into()),
    }
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

fn hostile() -> Outcome {
    let deep = format!("#usda 1.0\n{}", "def \"a\" {".repeat(5000));
    let (_folder, file) = write(&deep);
    let refused = check_file(&file, &CheckOptions::default()).expect_err("too deep");
    assert!(refused.to_string().contains("nested deeper"), "{refused}");
    for (name, from, to) in [
        (
            "a huge elementSize",
            "elementSize = 2",
            "elementSize = 2147483647",
        ),
        (
            "a negative elementSize",
            "elementSize = 2",
            "elementSize = -2147483648",
        ),
        (
            "huge joint indices",
            "[0, 1, 1, 2,",
            "[2147483647, -2147483648, 1, 2,",
        ),
        ("huge point indices", "[1, 3]", "[2147483647, -2147483648]"),
        (
            "huge times",
            "            2: [0, 0.5]",
            "            1e308: [0, 0.5], -1e308: [0, 1]",
        ),
        (
            "huge weights",
            "[1, 0, 0.75, 0.25,",
            "[3e38, 3e38, -3e38, 0.25,",
        ),
        (
            "a loop of skeletons",
            "rel skel:skeleton = </R/Skel>",
            "rel skel:skeleton = </R.skel:skeleton>",
        ),
        (
            "huge frames",
            "framesPerSecond = 24",
            "framesPerSecond = 1e300",
        ),
    ] {
        assert!(BASE.contains(from), "{name}: {from}");
        let (_folder, file) = write(&BASE.replace(from, to));
        // Whatever is found, it ends and does not panic.
        check_file(&file, &CheckOptions::default())?;
    }
    for bytes in [&b""[..], b"PXR-USDC", b"PK\x03\x04", b"#usda 1.0\n(\n"] {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("in.usd");
        std::fs::write(&file, bytes)?;
        assert!(check_file(&file, &CheckOptions::default()).is_err());
    }
    Ok(())
}

/// The good stage with lines lost, doubled and swapped and numbers replaced: checks and fixes end, and
/// what was written can be read.
fn scrambled() -> Outcome {
    const NUMBERS: [&str; 9] = [
        "nan",
        "-inf",
        "-1",
        "0",
        "0.3",
        "2147483647",
        "-2147483648",
        "1e38",
        "\"x\"",
    ];
    let folder = tempfile::tempdir()?;
    let (file, out) = (
        folder.path().join("in.usda"),
        folder.path().join("out.usda"),
    );
    let mut opened = 0;
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let mut lines: Vec<String> = BASE.lines().map(str::to_owned).collect();
        for _ in 0..=rng.below(4) {
            let (a, b) = (
                1 + rng.below(lines.len() - 1),
                1 + rng.below(lines.len() - 1),
            );
            match rng.below(8) {
                0 => lines[a].clear(),
                1 => lines.insert(a, lines[b].clone()),
                2 => lines.swap(a, b),
                _ => {
                    let line = &lines[a];
                    let digits: Vec<usize> = line
                        .char_indices()
                        .filter(|(_, c)| c.is_ascii_digit())
                        .map(|(i, _)| i)
                        .collect();
                    if !digits.is_empty() {
                        let at = digits[rng.below(digits.len())];
                        let number = NUMBERS[rng.below(NUMBERS.len())];
                        lines[a] = format!("{}{number}{}", &line[..at], &line[at + 1..]);
                    }
                }
            }
        }
        std::fs::write(&file, lines.join("\n"))?;
        let mut options = FixOptions::default();
        options.check.max_influences = Some(1 + rng.below(3));
        if check_file(&file, &options.check).is_err() {
            continue; // It is no USD any more.
        }
        opened += 1;
        let report = fix(&UsdFile::open(&file)?, Some(&out), &options)
            .map_err(|e| format!("seed {seed}: {e}"))?;
        let after = report.after.ok_or("a report")?;
        // Mending brings what can be mended to an end.
        let again: Vec<_> = after
            .findings
            .iter()
            .filter(|f| f.fixable && !report.not_fixed.iter().any(|l| l.path == f.path))
            .collect();
        if !again.is_empty() {
            return Err(format!("seed {seed}: {again:#?} {:#?}", report.fixed).into());
        }
    }
    assert!(opened >= 100, "{opened} stages opened");
    Ok(())
}
