//! `sinew fix`: what it mends is gone, what it writes is what it says, and nothing else changes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::text;
use common::broken::{BASE, BROKEN, Case, cases, changed};
use common::trials::Trial;
use common::{compare::compare_within, python, tolerance};
use glam::DVec3;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::skel::reference;
use sinew_check::{CheckOptions, Error, FixOptions, FixReport, Severity, check_file, fix};
use sinew_io::usd::{AuthoredValue, ReadOptions, UsdFile};

type Outcome = Result<(), Failed>;
type Test = (&'static str, fn() -> Outcome);

const WEIGHTS: &str = "primvars:skel:jointWeights";
const INDICES: &str = "primvars:skel:jointIndices";

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut fixable = 0;
    for case in cases() {
        if sinew_check::code(case.code).is_some_and(|c| c.fixable) {
            fixable += 1;
            let name = format!("mended::{}", case.name);
            trials.push(Trial::test(name, move || mended(&case)));
        }
    }
    assert!(fixable >= 15, "{fixable} cases can be mended");
    let plain: [Test; 14] = [
        ("constant_weights_keep_their_values", constant_weights),
        ("normalised_rows_alone_change", normalised_rows),
        ("sorted_influences_skin_to_the_same_points", sorted),
        ("the_largest_influences_are_kept", resized),
        ("times_keep_their_weights", animated),
        ("what_no_mend_is_for_stays", unmendable),
        ("one_prim_s_indices_with_another_s_weights", shared),
        ("referenced_prims_are_overridden", referenced),
        ("variants_stay", variants),
        ("assets_keep_leading_to_their_files", assets),
        ("instances_are_left", instances),
        ("packages_are_flattened", packages),
        ("the_input_is_no_output", input_is_no_output),
        ("a_good_file_is_copied", good_file),
    ];
    for (name, run) in plain {
        trials.push(Trial::test(name, run));
    }
    trials.push(python::trial("usd_core_reads_what_is_meant", usd_core));
    trials
}

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(&file, text).expect("written");
        file
    }

    /// A file with changes to the good stage.
    fn changed(&self, name: &str, changes: &[(&str, &str)]) -> PathBuf {
        self.write(name, &changed(changes))
    }
}

fn fix_file(
    input: &Path,
    out: &Path,
    max_influences: Option<usize>,
) -> sinew_check::Result<FixReport> {
    let mut options = FixOptions::default();
    options.check.max_influences = max_influences;
    fix(&UsdFile::open(input)?, Some(out), &options)
}

fn mended(case: &Case) -> Outcome {
    let bench = Bench::new();
    let input = bench.write("in.usda", &case.text());
    for name in ["out.usda", "out.usdc"] {
        let out = bench.path(name);
        let report = fix_file(&input, &out, case.max_influences)?;
        let told = |list: &[sinew_check::FixEntry]| {
            list.iter()
                .any(|m| m.code == case.code && m.path == case.path)
        };
        let finding = report.before.of(case.code).find(|f| f.path == case.path);
        if finding.is_some_and(|f| !f.fixable) {
            // Told beforehand, and told why.
            assert!(
                told(&report.not_fixed) && report.fixed.is_empty(),
                "{report:#?}"
            );
            return Ok(());
        }
        assert!(told(&report.fixed), "{report:#?}");
        assert!(report.not_fixed.is_empty(), "{:#?}", report.not_fixed);
        let after = check_file(&out, &case.options())?;
        assert_eq!(
            Some(&after.counts),
            report.after.as_ref().map(|a| &a.counts)
        );
        let left: Vec<_> = after.of(case.code).collect();
        assert!(left.is_empty(), "{left:#?}");
        // Mending makes nothing worse.
        assert!(after.counts.errors <= report.before.counts.errors);
        assert!(after.counts.warnings <= report.before.counts.warnings);
        assert!(
            after.findings.iter().all(|f| !f.fixable),
            "{:#?}",
            after.findings
        );
    }
    Ok(())
}

/// The example of the schema's documentation: it takes an elementSize, and the weights are right.
fn constant_weights() -> Outcome {
    let bench = Bench::new();
    let input = bench.changed(
        "in.usda",
        &[
            ("jointIndices = [2] (", "jointIndices = [2, 1] ("),
            ("jointWeights = [1] (", "jointWeights = [0.5, 0.5] ("),
        ],
    );
    let out = bench.path("out.usda");
    fix_file(&input, &out, None)?;
    let halves = AuthoredValue::Floats(vec![0.5, 0.5]);
    assert_eq!(value(&out, "/R/Stiff", WEIGHTS)?, halves);
    let stage = UsdFile::open(&out)?.authored()?;
    let prim = stage.prim("/R/Stiff").ok_or("a prim")?;
    for name in [INDICES, WEIGHTS] {
        assert_eq!(prim.attributes[name].element_size, Some(2), "{name}");
    }
    let scene = UsdFile::open(&out)?.scene(ReadOptions::default())?;
    assert!(scene.resolve("/R/Stiff")?.skin(Time::Default).is_ok());
    Ok(())
}

fn value(file: &Path, prim: &str, name: &str) -> Result<AuthoredValue, Failed> {
    values(file, prim, name).map(|v| v[0].1.clone())
}

fn values(file: &Path, prim: &str, name: &str) -> Result<Vec<(Time, AuthoredValue)>, Failed> {
    let stage = UsdFile::open(file)?.authored()?;
    let prim = stage.prim(prim).ok_or("a prim")?;
    let attribute = prim.attributes.get(name).ok_or("an attribute")?;
    Ok(attribute.values.clone())
}

fn normalised_rows() -> Outcome {
    let bench = Bench::new();
    let input = bench.changed("in.usda", &[("0.75, 0.25, 0.5, 0.5,", "0.75, 0.25, 3, 1,")]);
    let out = bench.path("out.usda");
    let report = fix_file(&input, &out, None)?;
    assert!(report.fixed[0].changes_results);
    assert_eq!(
        value(&out, "/R/M", WEIGHTS)?,
        AuthoredValue::Floats(vec![1.0, 0.0, 0.75, 0.25, 0.75, 0.25, 0.875, 0.125])
    );
    // The rest is as it was.
    let (a, b) = (UsdFile::open(&input)?, UsdFile::open(&out)?);
    let (a, b) = (a.authored()?, b.authored()?);
    assert_eq!(a.prims.len(), b.prims.len());
    for (a, b) in a.prims.iter().zip(&b.prims) {
        assert_eq!((&a.path, &a.type_name), (&b.path, &b.type_name));
        assert_eq!(a.relationships, b.relationships);
        for (name, attribute) in &a.attributes {
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

const UNSORTED: (&str, &str) = ("0.75, 0.25, 0.5, 0.5,", "0.25, 0.75, 0.375, 0.625,");

fn sorted() -> Outcome {
    let bench = Bench::new();
    let input = bench.changed("in.usda", &[UNSORTED]);
    let out = bench.path("out.usda");
    let report = fix_file(&input, &out, None)?;
    assert_eq!(report.fixed.len(), 1);
    assert!(!report.fixed[0].changes_results);
    assert_eq!(
        value(&out, "/R/M", WEIGHTS)?,
        AuthoredValue::Floats(vec![1.0, 0.0, 0.75, 0.25, 0.625, 0.375, 0.875, 0.125])
    );
    assert_eq!(
        value(&out, "/R/M", INDICES)?,
        AuthoredValue::Ints(vec![0, 1, 2, 1, 1, 2, 1, 0])
    );
    for time in [1.0, 1.5, 2.0] {
        let (before, after) = (skinned(&input, "/R/M", time)?, skinned(&out, "/R/M", time)?);
        compare_within("sorted", &after, &before, tolerance::SORTED_SUMS)?;
    }
    Ok(())
}

fn resized() -> Outcome {
    let bench = Bench::new();
    let input = bench.changed("in.usda", &[UNSORTED]);
    let out = bench.path("out.usda");
    let report = fix_file(&input, &out, Some(1))?;
    assert!(report.fixed.iter().any(|m| m.changes_results));
    assert_eq!(
        value(&out, "/R/M", INDICES)?,
        AuthoredValue::Ints(vec![0, 2, 1, 1])
    );
    assert_eq!(
        value(&out, "/R/M", WEIGHTS)?,
        AuthoredValue::Floats(vec![1.0; 4])
    );
    let stage = UsdFile::open(&out)?.authored()?;
    for name in [INDICES, WEIGHTS] {
        let attribute = &stage.prim("/R/M").ok_or("a prim")?.attributes[name];
        assert_eq!(attribute.element_size, Some(1), "{name}");
        assert_eq!(attribute.interpolation.as_deref(), Some("vertex"));
    }
    // It still skins.
    skinned(&out, "/R/M", 1.0)?;
    Ok(())
}

fn animated() -> Outcome {
    let bench = Bench::new();
    let samples = "jointWeights.timeSamples = { 1: [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125], 2: None, 3: [0, 2, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] }\n        float[] primvars:skel:jointWeights (";
    let input = bench.changed(
        "in.usda",
        &[(
            "jointWeights = [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] (",
            samples,
        )],
    );
    let out = bench.path("out.usda");
    fix_file(&input, &out, None)?;
    let weights = values(&out, "/R/M", WEIGHTS)?;
    let row = |first: [f32; 2]| {
        let mut row = first.to_vec();
        row.extend([0.75, 0.25, 0.5, 0.5, 0.875, 0.125]);
        AuthoredValue::Floats(row)
    };
    assert_eq!(
        weights,
        [
            (Time::At(1.0), row([1.0, 0.0])),
            (Time::At(2.0), AuthoredValue::Blocked),
            (Time::At(3.0), row([1.0, 0.0])),
        ]
    );
    // The third sample's order is another one, so the indices come to be animated too; the static
    // ones stay for the default time.
    let indices = values(&out, "/R/M", INDICES)?;
    let joints = |first: [i64; 2]| {
        let mut row = first.to_vec();
        row.extend([1, 2, 2, 1, 1, 0]);
        AuthoredValue::Ints(row)
    };
    assert!(
        indices.contains(&(Time::At(1.0), joints([0, 1]))),
        "{indices:?}"
    );
    assert!(
        indices.contains(&(Time::At(3.0), joints([1, 0]))),
        "{indices:?}"
    );
    Ok(())
}

fn unmendable() -> Outcome {
    let bench = Bench::new();
    for (name, from, to, code) in [
        // Nothing to divide by.
        (
            "sums to nothing",
            "0.75, 0.25,",
            "0.75, -0.75,",
            "weights-unnormalised",
        ),
        (
            "negative sum, unsorted",
            "0.75, 0.25,",
            "-0.75, 0.25,",
            "weights-unnormalised",
        ),
        (
            "negative sum",
            "0.75, 0.25,",
            "0.25, -0.75,",
            "weights-unnormalised",
        ),
    ] {
        let input = bench.changed("in.usda", &[(from, to)]);
        let out = bench.path("out.usda");
        let report = fix_file(&input, &out, None)?;
        let left = report
            .not_fixed
            .iter()
            .find(|m| m.code == code)
            .ok_or(name)?;
        assert!(!left.message.is_empty());
        assert!(
            check_file(&out, &CheckOptions::default())?
                .of(code)
                .next()
                .is_some()
        );
    }
    // Values that are indexed are not written anew.
    let input = bench.changed(
        "in.usda",
        &[
            ("[1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125]", "[0, 1]"),
            (
                "uniform token[] skel:blendShapes",
                "int[] primvars:skel:jointWeights:indices = [0, 0, 0, 0]\n        uniform token[] skel:blendShapes",
            ),
        ],
    );
    let report = fix_file(&input, &bench.path("out.usda"), None)?;
    assert!(
        report.not_fixed[0].message.contains("indexed"),
        "{:?}",
        report.not_fixed
    );
    Ok(())
}

/// A child that takes its indices from its parent and has weights of its own would be broken by
/// sorting either.
fn shared() -> Outcome {
    let bench = Bench::new();
    let child = r#"    def Xform "Group" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        int[] primvars:skel:jointIndices = [0, 1] (elementSize = 2; interpolation = "constant")
        float[] primvars:skel:jointWeights = [0.25, 0.75] (elementSize = 2; interpolation = "constant")
        def Mesh "Own" (prepend apiSchemas = ["SkelBindingAPI"]) {
            point3f[] points = [(0, 0, 0)]
            float[] primvars:skel:jointWeights = [0.5, 0.5] (elementSize = 2; interpolation = "constant")
        }
    }"#;
    let input = bench.changed("in.usda", &[("    # more", child)]);
    let out = bench.path("out.usda");
    let report = fix_file(&input, &out, None)?;
    assert!(report.fixed.is_empty(), "{:?}", report.fixed);
    assert!(
        report.not_fixed[0].message.contains("/R/Group/Own"),
        "{:?}",
        report.not_fixed
    );
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

fn referenced() -> Outcome {
    let bench = Bench::new();
    bench.changed("parts/rig.usda", &BROKEN);
    let input = bench.write(
        "in.usda",
        "#usda 1.0\n(\n    defaultPrim = \"Hero\"\n)\ndef \"Hero\" (prepend references = @./parts/rig.usda@</R>) {}\n",
    );
    let out = bench.path("elsewhere/out.usda");
    std::fs::create_dir(bench.path("elsewhere"))?;
    let report = fix_file(&input, &out, None)?;
    assert_eq!(report.fixed.len(), 4, "{:#?}", report.fixed);
    clean(&out)?;
    let text = std::fs::read_to_string(&out)?;
    for word in [
        "../parts/rig.usda",
        "over \"M\"",
        "inbetweens:half = None",
        "prepend apiSchemas = [\"SkelBindingAPI\"]",
        "defaultPrim = \"Hero\"",
    ] {
        assert!(text.contains(word), "'{text}' should say '{word}'");
    }
    assert!(
        !text.contains("restTransforms"),
        "references stay references"
    );
    // As a sublayer it is the same.
    let input = bench.write(
        "sub.usda",
        "#usda 1.0\n(\n    subLayers = [@./parts/rig.usda@]\n)\n",
    );
    fix_file(&input, &out, None)?;
    clean(&out)
}

fn variants() -> Outcome {
    let bench = Bench::new();
    let input = bench.changed(
        "in.usda",
        &[
            BROKEN[0],
            (
                "def Mesh \"Stiff\" (prepend",
                "def Mesh \"Stiff\" (variants = { string look = \"a\" }; prepend variantSets = \"look\"; prepend",
            ),
            (
                "float[] primvars:skel:jointWeights = [1] (interpolation = \"constant\")",
                "variantSet \"look\" = {
            \"a\" { float[] primvars:skel:jointWeights = [2] (interpolation = \"constant\"); }
            \"b\" { float[] primvars:skel:jointWeights = [1] (interpolation = \"constant\"); }
        }",
            ),
        ],
    );
    let out = bench.path("out.usda");
    let report = fix_file(&input, &out, None)?;
    assert_eq!(report.fixed.len(), 3, "{:#?}", report.fixed);
    clean(&out)?;
    assert_eq!(
        value(&out, "/R/Stiff", WEIGHTS)?,
        AuthoredValue::Floats(vec![1.0])
    );
    let text = std::fs::read_to_string(&out)?;
    assert!(text.contains("\"b\"") && text.contains("variantSet"));
    Ok(())
}

fn assets() -> Outcome {
    let bench = Bench::new();
    bench.write("tex/skin.png", "not really a picture");
    bench.write("tex/tile.1001.png", "a tile");
    let shader = r#"    def Shader "Tex" {
        asset inputs:file = @./tex/skin.png@
        asset inputs:plain = @tex/skin.png@
        asset inputs:tiles = @./tex/tile.<UDIM>.png@
        asset inputs:web = @http://example.com/a.png@
        asset inputs:searched = @library/skin.png@
        asset[] inputs:list = [@./tex/skin.png@, @/absolute/skin.png@]
    }"#;
    let input = bench.changed("in.usda", &[BROKEN[0], ("    # more", shader)]);
    std::fs::create_dir_all(bench.path("far/off"))?;
    let out = bench.path("far/off/out.usda");
    fix_file(&input, &out, None)?;
    let text = std::fs::read_to_string(&out)?;
    for word in [
        "inputs:file = @../../tex/skin.png@",
        "inputs:plain = @../../tex/skin.png@",
        "inputs:tiles = @../../tex/tile.<UDIM>.png@",
        "@http://example.com/a.png@",
        "@library/skin.png@",
        "[@../../tex/skin.png@, @/absolute/skin.png@]",
    ] {
        assert!(text.contains(word), "'{text}' should say '{word}'");
    }
    // In the same folder they stay as they are spelled.
    let out = bench.path("out.usda");
    fix_file(&input, &out, None)?;
    let text = std::fs::read_to_string(&out)?;
    assert!(text.contains("inputs:plain = @tex/skin.png@"), "{text}");
    Ok(())
}

fn instances() -> Outcome {
    let bench = Bench::new();
    bench.changed("rig.usda", &[BROKEN[0]]);
    let input = bench.write(
        "in.usda",
        "#usda 1.0\ndef \"A\" (instanceable = true; prepend references = @./rig.usda@</R>) {}\n",
    );
    let out = bench.path("out.usda");
    let report = fix_file(&input, &out, None)?;
    assert!(report.fixed.is_empty());
    assert_eq!(report.not_fixed.len(), 2, "{:#?}", report.not_fixed);
    assert!(report.not_fixed[0].message.contains("native instance"));
    let after = report.after.ok_or("a report")?;
    assert!(after.of("weights-unnormalised").all(|f| !f.fixable));

    // In a package nothing is shared any more, so it can be mended.
    let out = bench.path("out.usdz");
    let report = fix_file(&input, &out, None)?;
    assert!(report.flattened && report.not_fixed.is_empty());
    clean(&out)
}

fn packages() -> Outcome {
    let bench = Bench::new();
    let input = bench.changed("in.usda", &BROKEN);
    let package = bench.path("broken.usdz");
    // A package of the broken file, made by mending nothing but one thing.
    let mut options = FixOptions::default();
    options.only = vec!["binding-api-missing".to_owned()];
    let report = fix(&UsdFile::open(&input)?, Some(&package), &options)?;
    assert!(report.flattened);
    let after = report.after.ok_or("a report")?;
    assert!(after.of("weights-unnormalised").next().is_some());
    for name in ["out.usdz", "out.usda"] {
        let out = bench.path(name);
        let report = fix_file(&package, &out, None)?;
        assert!(report.flattened && report.not_fixed.is_empty());
        clean(&out)?;
    }
    Ok(())
}

fn input_is_no_output() -> Outcome {
    let bench = Bench::new();
    let input = bench.changed("in.usda", &BROKEN);
    let before = std::fs::read(&input)?;
    let refused = fix_file(&input, &input, None).expect_err("refused");
    assert!(refused.to_string().contains("read from"), "{refused}");
    assert_eq!(std::fs::read(&input)?, before);
    let mut options = FixOptions::default();
    options.only = vec!["joint-order".to_owned()];
    let refused = fix(&UsdFile::open(&input)?, None, &options).expect_err("refused");
    assert!(
        matches!(&refused, Error::NotFixable { code } if code == "joint-order"),
        "{refused:?}"
    );
    assert!(
        refused.to_string().contains("without guessing"),
        "{refused}"
    );
    options.only = vec!["no-such-code".to_owned()];
    let refused = fix(&UsdFile::open(&input)?, None, &options).expect_err("refused");
    assert!(
        matches!(&refused, Error::UnknownCode { code } if code == "no-such-code"),
        "{refused:?}"
    );
    Ok(())
}

fn good_file() -> Outcome {
    let bench = Bench::new();
    let input = bench.write("in.usda", BASE);
    let out = bench.path("out.usda");
    let report = fix_file(&input, &out, None)?;
    assert!(report.fixed.is_empty() && report.not_fixed.is_empty());
    clean(&out)?;
    compare_within(
        "copied",
        &skinned(&out, "/R/M", 1.5)?,
        &skinned(&input, "/R/M", 1.5)?,
        0.0,
    )?;
    Ok(())
}

/// What usd-core reads of a mended file, referenced and not.
const SCRIPT: &str = r#"
import json, sys
from pxr import Usd, UsdGeom, UsdSkel
stage = Usd.Stage.Open(sys.argv[1])
root = UsdSkel.Root(stage.GetDefaultPrim())
cache = UsdSkel.Cache()
cache.Populate(root, Usd.PrimDefaultPredicate)
path = root.GetPath()
mesh = cache.GetSkinningQuery(stage.GetPrimAtPath(path.AppendPath('M')))
stiff = cache.GetSkinningQuery(stage.GetPrimAtPath(path.AppendPath('Stiff')))
smile = UsdSkel.BlendShape(stage.GetPrimAtPath(path.AppendPath('M/Smile')))
indices, weights = mesh.ComputeVaryingJointInfluences(4)
shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(stage.GetPrimAtPath(path.AppendPath('M'))))
print(json.dumps({
    'indices': list(indices), 'weights': [round(w, 6) for w in weights],
    'per_point': mesh.GetNumInfluencesPerComponent(),
    'stiff': bool(stiff and stiff.HasJointInfluences()),
    'sub_shapes': shapes.GetNumSubShapes(),
    'types': str(smile.GetPointIndicesAttr().GetTypeName()),
    'point_indices': list(smile.GetPointIndicesAttr().Get()),
    'baked': UsdSkel.BakeSkinning(root, __import__('pxr.Gf').Gf.Interval(1, 2)),
}))
"#;

fn usd_core(python: &str) -> Outcome {
    let bench = Bench::new();
    let mut changes = BROKEN.to_vec();
    changes.push(("uniform int[] pointIndices", "uniform uint[] pointIndices"));
    // A second in-between of one weight, which Pixar would use too.
    changes[1] = (
        "(weight = 0.5)",
        "(weight = 0.5)\n            uniform vector3f[] inbetweens:too = [(0, 0, 9), (0, 9, 0)] (weight = 0.5)",
    );
    let whole = bench.changed("whole.usda", &changes);
    let referring = bench.write(
        "referring.usda",
        "#usda 1.0\n(\n    defaultPrim = \"R\"\n)\ndef \"R\" (prepend references = @./whole.usda@</R>) {}\n",
    );
    let sub_shapes = |file: &Path| -> Result<String, Failed> {
        const SCRIPT: &str = "import sys; from pxr import Usd, UsdSkel; s = Usd.Stage.Open(sys.argv[1]); \
            print(UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(s.GetPrimAtPath('/R/M'))).GetNumSubShapes())";
        let output = Command::new(python)
            .args(["-c", SCRIPT])
            .arg(file)
            .output()?;
        if !output.status.success() {
            return Err(text(&output.stderr).into());
        }
        Ok(text(&output.stdout).trim().to_owned())
    };
    for input in [whole, referring] {
        assert_eq!(
            sub_shapes(&input)?,
            "6",
            "both in-betweens count at Pixar's"
        );
        for name in ["out.usda", "out.usdc"] {
            let out = bench.path(name);
            fix_file(&input, &out, None)?;
            let output = Command::new(python)
                .args(["-c", SCRIPT])
                .arg(&out)
                .output()?;
            if !output.status.success() {
                return Err(text(&output.stderr).into());
            }
            let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
            let want = serde_json::json!({
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
            assert_eq!(json, want, "{}", input.display());
        }
    }
    Ok(())
}
