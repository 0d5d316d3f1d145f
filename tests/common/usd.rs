//! Reading what a bake wrote from the composed stage, and not through what makes scenes of stages.

use std::path::Path;
use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3};
use sinew_layer::Value;
use sinew_stage::resolver::FileResolver;
use sinew_stage::{Prim, Stage, StageOptions};

/// Opens a stage as any other tool would.
pub fn open(path: &Path) -> Stage {
    let resolver = Arc::new(FileResolver::new(Vec::new()));
    let options = StageOptions::new(resolver, path.to_str().expect("UTF-8"));
    Stage::open(options).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A path that is one.
pub fn path(text: &str) -> sinew_layer::Path {
    sinew_layer::Path::parse(text).expect("a path")
}

/// A prim that is there.
pub fn prim<'s>(stage: &'s Stage, prim: &str) -> Prim<'s> {
    let there = stage.prim(&path(prim));
    there.unwrap_or_else(|| panic!("{prim} is not there"))
}

/// A value at one time (`None` for the default), or none where it is not there.
pub fn value(stage: &Stage, prim: &str, name: &str, time: Option<f64>) -> Option<Value> {
    let prim = stage.prim(&path(prim))?;
    prim.attribute(name).get(time).expect("a value")
}

/// An array attribute at one authored time (`None` for the default), or none where it is not there.
pub fn vectors(stage: &Stage, prim: &str, name: &str, time: Option<f64>) -> Option<Vec<DVec3>> {
    match value(stage, prim, name, time)? {
        Value::Vec3fArray(v) => Some(v.iter().map(|v| DVec3::from(v.map(f64::from))).collect()),
        _ => None,
    }
}

/// Authored sample times.
pub fn times(stage: &Stage, prim: &str, name: &str) -> Vec<f64> {
    match stage.prim(&path(prim)) {
        Some(prim) => prim.attribute(name).times().expect("times"),
        None => Vec::new(),
    }
}

/// The `xformOp:transform` of a prim that has no other op, as a column-vector matrix.
pub fn local_transform(stage: &Stage, prim: &str, time: Option<f64>) -> Option<DMat4> {
    let Value::TokenArray(order) = value(stage, prim, "xformOpOrder", None)? else {
        return None;
    };
    let names = order.iter().map(|name| name.as_str());
    let ops: Vec<_> = names.filter(|n| *n != "!resetXformStack!").collect();
    match ops[..] {
        [] => Some(DMat4::IDENTITY),
        ["xformOp:transform"] => match value(stage, prim, "xformOp:transform", time)? {
            Value::Matrix4d(m) => Some(DMat4::from_cols_array(&m)),
            _ => None,
        },
        _ => None,
    }
}

/// Type of a prim.
pub fn type_name(stage: &Stage, prim: &str) -> String {
    let prim = stage.prim(&path(prim));
    prim.map_or_else(String::new, |prim| prim.type_name().to_owned())
}

/// world_from_prim at a time code.
pub fn world_from_prim(stage: &Stage, of: &str, time: f64) -> DMat4 {
    let mut world = DMat4::IDENTITY;
    let mut at = Some(prim(stage, of));
    while let Some(prim) = at {
        let (local, resets) = local_from_ops(prim, time);
        world = local * world;
        at = prim.parent().filter(|_| !resets);
    }
    world
}

/// parent_from_prim of all ops, and whether the transforms above do not count.
fn local_from_ops(prim: Prim<'_>, time: f64) -> (DMat4, bool) {
    let order = prim.attribute("xformOpOrder").get(None).expect("a value");
    let Some(Value::TokenArray(order)) = order else {
        return (DMat4::IDENTITY, false);
    };
    let (mut local, mut resets) = (DMat4::IDENTITY, false);
    for name in &order {
        if name == "!resetXformStack!" {
            (local, resets) = (DMat4::IDENTITY, true);
            continue;
        }
        let (name, invert) = match name.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let value = prim.attribute(name).get(Some(time)).expect("a value");
        let op = op(name, &numbers(&value.expect("an op's value")));
        local *= if invert { op.inverse() } else { op };
    }
    (local, resets)
}

/// The matrix of an op with these numbers.
fn op(name: &str, v: &[f64]) -> DMat4 {
    let kind = name.split(':').nth(1).expect("a kind of op");
    let about = |axis: char, degrees: f64| match axis {
        'X' => DMat4::from_rotation_x(degrees.to_radians()),
        'Y' => DMat4::from_rotation_y(degrees.to_radians()),
        _ => DMat4::from_rotation_z(degrees.to_radians()),
    };
    if let Some(axes) = kind.strip_prefix("rotate") {
        if axes.len() == 1 {
            return about(axes.chars().next().expect("an axis"), v[0]);
        }
        // The numbers are by axis; the first axis of the name turns first.
        let turn = |m, axis| about(axis, v["XYZ".find(axis).expect("an axis")]) * m;
        return axes.chars().fold(DMat4::IDENTITY, turn);
    }
    match kind {
        "transform" => DMat4::from_cols_slice(v),
        "translate" => DMat4::from_translation(DVec3::from_slice(v)),
        "scale" => DMat4::from_scale(DVec3::from_slice(v)),
        "orient" => DMat4::from_quat(DQuat::from_slice(v)),
        _ => panic!("{name}"),
    }
}

/// All numbers of a value of one to sixteen of them, or of an array of floats; quaternions as x, y, z, w.
pub fn numbers(value: &Value) -> Vec<f64> {
    fn floats(v: &[f32]) -> Vec<f64> {
        v.iter().map(|v| f64::from(*v)).collect()
    }
    match value {
        Value::Double(v) => vec![*v],
        Value::Float(v) => floats(&[*v]),
        Value::Half(v) => vec![v.to_f64()],
        Value::Vec3d(v) => v.to_vec(),
        Value::Vec3f(v) => floats(v),
        Value::Vec3h(v) => v.iter().map(|v| v.to_f64()).collect(),
        Value::Quatd(v) => v.0.to_vec(),
        Value::Quatf(v) => floats(&v.0),
        Value::Quath(v) => v.0.iter().map(|v| v.to_f64()).collect(),
        Value::Matrix4d(v) => v.to_vec(),
        Value::FloatArray(v) => floats(v),
        Value::Vec3fArray(v) => floats(v.as_flattened()),
        Value::QuatfArray(v) => floats(bytemuck::cast_slice(v)),
        other => panic!("{other:?}"),
    }
}

/// A token array at the default time; empty where it is not there.
pub fn tokens(stage: &Stage, prim: &str, name: &str) -> Vec<String> {
    match value(stage, prim, name, None) {
        Some(Value::TokenArray(v)) => v.iter().map(|t| t.as_str().to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Whether an attribute has a value at all.
pub fn has_value(stage: &Stage, prim: &str, name: &str) -> bool {
    value(stage, prim, name, None).is_some()
}
