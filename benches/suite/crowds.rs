//! Stages of many characters that reference one file: bakes, `inspect` and `check`, as whole processes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use half::f16;
use sinew_layer::layer::field;
use sinew_layer::value::{Quat, TimeSamples};
use sinew_layer::{Layer, Path as LayerPath, Token, Value, usdc};

use crate::measure::{Times, process};
use crate::python::usd_core_bake;
use crate::row::Row;
use crate::whole::{command, settle, text};

pub const NAME: &str = "crowds";
pub const OURS: &str = "sinew bake";
pub const THEIRS: &str = "usd-core, BakeSkinning + Export";

/// How many characters the stages have. Costs are to grow with them, not faster.
pub const COUNTS: [usize; 3] = [1000, 4000, 8000];
/// Instances of one character, which share all they have.
const INSTANCES: usize = 100_000;

const POINTS: usize = 200;
const JOINTS: usize = 10;
const SAMPLES: usize = 5;

/// The rows of all stages.
pub fn rows(
    folder: &Path,
    python: Option<&str>,
    scale: f64,
    rounds: usize,
) -> Result<Vec<Row>, String> {
    let scaled = |n: usize| ((n as f64 * scale) as usize).max(1);
    character(&folder.join("character.usdc"))?;
    let mut rows = Vec::new();
    for count in COUNTS.map(scaled) {
        let file = stage(folder, count, false)?;
        rows.extend(bakes(
            &file,
            folder,
            python,
            &format!("{count} references"),
            count,
            rounds,
        )?);
        for verb in ["inspect", "check"] {
            let run = || vec![text(&command()), verb.into(), text(&file)];
            let case = format!("{verb} {count} references");
            rows.push(timed(&case, &format!("sinew {verb}"), 0, rounds, run)?);
        }
    }
    let count = scaled(INSTANCES);
    let file = stage(folder, count, true)?;
    rows.extend(bakes(
        &file,
        folder,
        None,
        &format!("{count} instances"),
        count,
        1,
    )?);
    Ok(rows)
}

/// A bake by each side, in turn.
fn bakes(
    file: &Path,
    folder: &Path,
    python: Option<&str>,
    what: &str,
    count: usize,
    rounds: usize,
) -> Result<Vec<Row>, String> {
    let output = folder.join("baked.usdc");
    let points = count * POINTS * SAMPLES;
    let ours = || {
        let mut run = vec![text(&command()), "bake".into(), text(file)];
        run.extend(["-o".into(), text(&output), "--quiet".into()]);
        run
    };
    let case = format!("bake {what}");
    let mut rows = vec![timed(&case, OURS, points, rounds, ours)?];
    if let Some(python) = python {
        let theirs = || usd_core_bake(python, file, &output);
        rows.push(timed(&case, THEIRS, points, rounds, theirs)?);
    }
    std::fs::remove_file(&output).map_err(|e| e.to_string())?;
    Ok(rows)
}

fn timed(
    case: &str,
    who: &str,
    points: usize,
    rounds: usize,
    command: impl Fn() -> Vec<String>,
) -> Result<Row, String> {
    let mut seconds = Vec::new();
    let mut peak = None;
    for _ in 0..rounds.max(1) {
        settle();
        let run = process(&command())?;
        seconds.push(run.seconds);
        peak = peak.max(run.peak_bytes);
    }
    let row = Row::new(NAME, case, who, points, Times::of(seconds));
    let peak = peak.map_or("?".into(), |b| format!("{:.0}", b as f64 / 1e6));
    Ok(row.noted(format!("peak {peak} MB")))
}

/// A stage of characters side by side.
fn stage(folder: &Path, count: usize, instanced: bool) -> Result<PathBuf, String> {
    let mut out = String::from(
        "#usda 1.0\n(\n    startTimeCode = 0\n    endTimeCode = 4\n)\n\ndef Xform \"World\"\n{\n",
    );
    let instanceable = match instanced {
        true => "instanceable = true\n        ",
        false => "",
    };
    for i in 0..count {
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "    def \"C{i}\" (\n        {instanceable}prepend references = @./character.usdc@\n    )\n    {{\n        \
             double3 xformOp:translate = ({}, 0, {})\n        uniform token[] xformOpOrder = [\"xformOp:translate\"]\n    }}\n",
            i % 100,
            i / 100
        );
    }
    out.push_str("}\n");
    let kind = if instanced { "instances" } else { "references" };
    let file = folder.join(format!("{kind}{count}.usda"));
    std::fs::write(&file, out).map_err(|e| e.to_string())?;
    Ok(file)
}

/// A tube of points around a chain of joints that bends.
fn character(file: &Path) -> Result<(), String> {
    let mut layer = Layer::new("character");
    let root = LayerPath::root().child("Char");
    let skeleton = root.child("Skel");
    let animation = skeleton.child("Anim");
    let mesh = root.child("Mesh");
    layer.define(&root, "SkelRoot");
    let fields = &mut layer.root_mut().fields;
    fields.set(field::DEFAULT_PRIM, Value::token("Char"));

    let names: Vec<Token> = (0..JOINTS)
        .map(|i| {
            let chain: Vec<String> = (0..=i).map(|j| format!("j{j}")).collect();
            chain.join("/").into()
        })
        .collect();
    let joints = || Value::TokenArray(names.clone().into());
    let moved = |y: f64| -> [f64; 16] {
        let mut m = [0.0; 16];
        (m[0], m[5], m[10], m[15], m[13]) = (1.0, 1.0, 1.0, 1.0, y);
        m
    };
    let bind = (0..JOINTS).map(|i| moved(0.1 * i as f64)).collect();
    let rest = (0..JOINTS)
        .map(|i| moved(if i > 0 { 0.1 } else { 0.0 }))
        .collect();
    layer.define(&skeleton, "Skeleton");
    layer.apply_schema(&skeleton, "SkelBindingAPI");
    layer.uniform(&skeleton.property("joints"), "token[]", joints());
    let matrices = "matrix4d[]";
    layer.uniform(
        &skeleton.property("bindTransforms"),
        matrices,
        Value::Matrix4dArray(bind),
    );
    layer.uniform(
        &skeleton.property("restTransforms"),
        matrices,
        Value::Matrix4dArray(rest),
    );
    layer.relationship(
        &skeleton.property("skel:animationSource"),
        vec![animation.clone()],
    );

    layer.define(&animation, "SkelAnimation");
    layer.uniform(&animation.property("joints"), "token[]", joints());
    let mut sampled = |name: &str, type_name: &str, value: &dyn Fn(usize) -> Value| {
        let samples = (0..SAMPLES).map(|t| (t as f64, value(t))).collect();
        let fields = &mut layer.attribute(&animation.property(name), type_name).fields;
        fields.set(
            field::TIME_SAMPLES,
            Value::TimeSamples(TimeSamples::new(samples)),
        );
    };
    sampled("translations", "float3[]", &|_| {
        let of = |i: usize| [0.0, if i > 0 { 0.1 } else { 0.0 }, 0.0];
        Value::Vec3fArray((0..JOINTS).map(of).collect())
    });
    sampled("rotations", "quatf[]", &|t| {
        let half_angle = |i: usize| (3 * t + i) as f32 * 0.5_f32.to_radians();
        let of = |i: usize| Quat([0.0, 0.0, half_angle(i).sin(), half_angle(i).cos()]);
        Value::QuatfArray((0..JOINTS).map(of).collect())
    });
    sampled("scales", "half3[]", &|_| {
        Value::Vec3hArray(vec![[f16::ONE; 3]; JOINTS].into())
    });

    layer.define(&mesh, "Mesh");
    layer.apply_schema(&mesh, "SkelBindingAPI");
    let height = |i: usize| i as f32 / POINTS as f32;
    let points = (0..POINTS).map(|i| [(i as f32).cos() * 0.1, height(i), (i as f32).sin() * 0.1]);
    let mut set = |name: &str, type_name: &str, value: Value, size: Option<i32>| {
        let fields = &mut layer.attribute(&mesh.property(name), type_name).fields;
        fields.set(field::DEFAULT, value);
        if let Some(size) = size {
            fields.set("elementSize", Value::Int(size));
            fields.set("interpolation", Value::token("vertex"));
        }
    };
    set(
        "points",
        "point3f[]",
        Value::Vec3fArray(points.collect()),
        None,
    );
    let faces = POINTS / 3;
    set(
        "faceVertexCounts",
        "int[]",
        Value::IntArray(vec![3; faces].into()),
        None,
    );
    let corners = (0..3 * faces as i32).collect();
    set("faceVertexIndices", "int[]", Value::IntArray(corners), None);
    let last = JOINTS as i32 - 1;
    let indices = (0..POINTS as i32).flat_map(|i| [last.min(i / 20), last.min(i / 20 + 1)]);
    let indices = Value::IntArray(indices.collect());
    set("primvars:skel:jointIndices", "int[]", indices, Some(2));
    let weights = Value::FloatArray(vec![0.5; 2 * POINTS].into());
    set("primvars:skel:jointWeights", "float[]", weights, Some(2));
    layer.relationship(&mesh.property("skel:skeleton"), vec![skeleton]);

    let out = std::fs::File::create(file).map_err(|e| e.to_string())?;
    usdc::write_layer(&layer, out)
        .map(drop)
        .map_err(|e| e.to_string())
}
