//! What the rows of the table do not say of `fix`: the points that a fixed stage is skinned to, other
//! files and packages, and what usd-core reads.

use std::path::Path;
use std::process::Command;

use crate::text;
use common::command::Bench;
use common::stages::stages;
use common::trials::Trial;
use common::{compare::compare_within, python, tolerance};
use glam::DVec3;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::skel::reference;
use sinew_check::{CheckOptions, Error, FixOptions, FixReport, Severity, check_file, fix};
use sinew_io::usd::{ReadOptions, UsdFile};

type Outcome = Result<(), Failed>;
type Test = (&'static str, fn() -> Outcome);

const WEIGHTS: &str = "primvars:skel:jointWeights";

pub fn trials() -> Vec<Trial> {
    let plain: [Test; 4] = [
        ("normalised_rows_alone_change", normalised_rows),
        ("fixed_stages_skin_to_the_same_points", skin_alike),
        ("packages_are_flattened", packages),
        ("codes_that_cannot_be_fixed_are_refused", only_some_codes),
    ];
    let trials = plain.map(|(name, run)| Trial::test(name, run));
    let mut trials = Vec::from(trials);
    trials.push(python::trial("usd_core_reads_what_is_meant", usd_core));
    trials
}

/// A stage with four findings, all of which can be fixed, and edits.
fn broken(edits: &[(&str, &str)]) -> String {
    let table = stages();
    let mut text = table.case("three ways at once").text().to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "'{from}' is not there");
        text = text.replacen(from, to, 1);
    }
    text
}

fn fix_file(input: &Path, out: &Path) -> sinew_check::Result<FixReport> {
    fix(&UsdFile::open(input)?, Some(out), &FixOptions::default())
}

fn normalised_rows() -> Outcome {
    let bench = Bench::new();
    let table = stages();
    let case = table.case("only rows that are not normalised change");
    let input = bench.write("in.usda", case.text());
    let out = bench.path("out.usda");
    fix_file(&input, &out)?;
    // The rest is as it was.
    let (a, b) = (UsdFile::open(&input)?, UsdFile::open(&out)?);
    let (a, b) = (a.authored()?, b.authored()?);
    assert_eq!(a.prims.len(), b.prims.len());
    for (a, b) in a.prims.iter().zip(&b.prims) {
        assert_eq!((&a.path, &a.type_name), (&b.path, &b.type_name));
        assert_eq!(a.relationships, b.relationships);
        for (name, attribute) in a.attributes.iter() {
            let other = &b.attributes[name];
            assert_eq!(attribute.interpolation, other.interpolation);
            assert_eq!(attribute.element_size, other.element_size);
            if (a.path.as_str(), name.as_str()) != ("/R/M", WEIGHTS) {
                assert_eq!(attribute.values, other.values, "{}.{name}", a.path);
            }
        }
    }
    assert_eq!((a.start, a.end), (b.start, b.end));
    Ok(())
}

/// Points of a prim at a time, by the f64 reference.
fn skinned(file: &Path, prim: &str, time: f64) -> Result<Vec<DVec3>, Failed> {
    let scene = UsdFile::open(file)?.scene(ReadOptions::default())?;
    let bound = scene.resolve(prim)?;
    let time = Time::At(time);
    Ok(reference::deform(&*bound.skin(time)?, &bound.pose(time)?)
        .unwrap()
        .points)
}

fn skin_alike() -> Outcome {
    let bench = Bench::new();
    for (case, tolerance) in [
        ("influences are sorted together", tolerance::SORTED_SUMS),
        ("nothing is wrong", 0.0),
    ] {
        let input = bench.write("in.usda", stages().case(case).text());
        let out = bench.path("out.usda");
        fix_file(&input, &out)?;
        for time in [1.0, 1.5, 2.0] {
            let (before, after) = (skinned(&input, "/R/M", time)?, skinned(&out, "/R/M", time)?);
            compare_within(case, &after, &before, tolerance)?;
        }
    }
    Ok(())
}

fn clean(file: &Path) -> Outcome {
    let report = check_file(file, &CheckOptions::default())?;
    match report
        .findings
        .iter()
        .find(|f| f.severity > Severity::Info || f.fixable)
    {
        None => Ok(()),
        Some(f) => Err(format!("{f:?}").into()),
    }
}

fn packages() -> Outcome {
    let bench = Bench::new();
    let input = bench.write("in.usda", broken(&[]));
    let package = bench.path("broken.usdz");
    // A package of the broken file, made by fixing nothing but one thing.
    let mut options = FixOptions::default();
    options.only = vec!["binding-api-missing".to_owned()];
    let report = fix(&UsdFile::open(&input)?, Some(&package), &options)?;
    assert!(report.flattened);
    let after = report.after.ok_or("a report")?;
    assert!(after.of("weights-unnormalised").next().is_some());
    // In a package nothing is shared any more, so what is below a native instance can be fixed.
    let instance =
        "#usda 1.0\ndef \"A\" (instanceable = true; prepend references = @./in.usda@</R>) {}\n";
    let instance = bench.write("instance.usda", instance);
    for (input, name) in [
        (&package, "out.usdz"),
        (&package, "out.usda"),
        (&instance, "a.usdz"),
    ] {
        let out = bench.path(name);
        let report = fix_file(input, &out)?;
        assert!(report.flattened && report.not_fixed.is_empty());
        clean(&out)?;
    }
    Ok(())
}

fn only_some_codes() -> Outcome {
    let bench = Bench::new();
    let input = UsdFile::open(bench.write("in.usda", broken(&[])))?;
    let refusal = |code: &str| {
        let mut options = FixOptions::default();
        options.only = vec![code.to_owned()];
        fix(&input, None, &options).expect_err("refused")
    };
    let refused = refusal("joint-order");
    assert!(matches!(&refused, Error::NotFixable { code } if code == "joint-order"));
    let words = refused.to_string();
    assert!(words.contains("without guessing"), "{words}");
    let refused = refusal("no-such-code");
    assert!(matches!(&refused, Error::UnknownCode { code } if code == "no-such-code"));
    Ok(())
}

/// What usd-core reads of a fixed file, referenced and not.
fn usd_core(python: &str) -> Outcome {
    let bench = Bench::new();
    let whole = broken(&[
        ("uniform int[] pointIndices", "uniform uint[] pointIndices"),
        // A second in-between of one weight, which Pixar would use too.
        (
            "(weight = 1)",
            "(weight = 0.5)\n            uniform vector3f[] inbetweens:too = [(0, 0, 9), (0, 9, 0)] (weight = 0.5)",
        ),
    ]);
    let whole = bench.write("whole.usda", whole);
    let referring = bench.write(
        "referring.usda",
        "#usda 1.0\n(\n    defaultPrim = \"R\"\n)\ndef \"R\" (prepend references = @./whole.usda@</R>) {}\n",
    );
    let read = |file: &Path| -> Result<serde_json::Value, Failed> {
        let script = common::repository().join("crates/sinew-check/tests/check/fixed.py");
        let output = Command::new(python).arg(script).arg(file).output()?;
        assert!(output.status.success(), "{}", text(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let fixed = serde_json::json!({
        "indices": [0, 1, 2, 1, 2, 1, 1, 0],
        "weights": [1.0, 0.0, 0.75, 0.25, 0.75, 0.25, 0.875, 0.125],
        "per_point": 2,
        "stiff": true,
        // Two shapes, one in-between, and Pixar counts a null shape for each.
        "sub_shapes": 5,
        "types": "int[]",
        "point_indices": [1, 3],
        "baked": true,
    });
    for input in [whole, referring] {
        let both = &read(&input)?["sub_shapes"];
        assert_eq!(both, 6, "both in-betweens count at Pixar's");
        for name in ["out.usda", "out.usdc"] {
            let out = bench.path(name);
            fix_file(&input, &out)?;
            assert_eq!(read(&out)?, fixed, "{}", input.display());
        }
    }
    Ok(())
}
