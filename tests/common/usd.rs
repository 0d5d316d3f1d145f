//! Reading what a bake wrote, through openusd and not through sinew's own reader.

use std::path::Path;

use glam::{DMat4, DVec3};
use openusd::{sdf, usd};

/// Opens a stage as any other tool would.
pub fn open(path: &Path) -> usd::Stage {
    usd::Stage::builder()
        .schema_registry(openusd_schemas::schema_registry())
        .open(path.to_str().expect("UTF-8"))
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// An array attribute at one authored time (`None` for the default), or none where it is not there.
pub fn vectors(
    stage: &usd::Stage,
    prim: &str,
    name: &str,
    time: Option<f64>,
) -> Option<Vec<DVec3>> {
    let attribute = stage.attribute(format!("{prim}.{name}").as_str()).ok()?;
    let value = attribute
        .get_at::<sdf::Value>(time.map(usd::TimeCode::new))
        .ok()??;
    match value {
        sdf::Value::Vec3fVec(v) => Some(
            v.iter()
                .map(|v| DVec3::new(v.x.into(), v.y.into(), v.z.into()))
                .collect(),
        ),
        _ => None,
    }
}

/// Authored sample times.
pub fn times(stage: &usd::Stage, prim: &str, name: &str) -> Vec<f64> {
    stage
        .attribute(format!("{prim}.{name}").as_str())
        .map(|a| a.time_sample_times().expect("times"))
        .expect("a path")
}

/// The `xformOp:transform` of a prim that has no other op, as a column-vector matrix.
pub fn local_transform(stage: &usd::Stage, prim: &str, time: Option<f64>) -> Option<DMat4> {
    let value = |name: &str, time: Option<f64>| {
        let attribute = stage.attribute(format!("{prim}.{name}").as_str()).ok()?;
        let time = time.map(usd::TimeCode::new);
        attribute.get_at::<sdf::Value>(time).ok()?
    };
    let sdf::Value::TokenVec(order) = value("xformOpOrder", None)? else {
        return None;
    };
    let names: Vec<_> = order.iter().map(|t| t.as_str()).collect();
    let ops: Vec<_> = names
        .iter()
        .filter(|n| **n != "!resetXformStack!")
        .collect();
    match ops[..] {
        [] => Some(DMat4::IDENTITY),
        [&"xformOp:transform"] => match value("xformOp:transform", time)? {
            sdf::Value::Matrix4d(m) => Some(DMat4::from_cols_array(&m.0)),
            _ => None,
        },
        _ => None,
    }
}

/// Type of a prim.
pub fn type_name(stage: &usd::Stage, prim: &str) -> String {
    let name = stage
        .prim(prim)
        .expect("a path")
        .type_name()
        .expect("a type");
    name.map(|t| t.as_str().to_owned()).unwrap_or_default()
}

/// world_from_prim at a time code.
pub fn world_from_prim(stage: &usd::Stage, prim: &str, time: f64) -> DMat4 {
    let mut cache = openusd_schemas::geom::XformCache::new(usd::TimeCode::new(time));
    let prim = stage.prim(prim).expect("a path");
    let m = cache.local_to_world_transform(&prim).expect("a transform");
    DMat4::from_cols_array(&m.0)
}

/// A token array at the default time; empty where it is not there.
pub fn tokens(stage: &usd::Stage, prim: &str, name: &str) -> Vec<String> {
    let attribute = stage.attribute(format!("{prim}.{name}").as_str());
    let value = attribute.expect("a path").get::<sdf::Value>();
    match value.expect("a value") {
        Some(sdf::Value::TokenVec(v)) => v.iter().map(|t| t.as_str().to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Whether an attribute has a value at all.
pub fn has_value(stage: &usd::Stage, prim: &str, name: &str) -> bool {
    let attribute = stage.attribute(format!("{prim}.{name}").as_str());
    attribute.is_ok_and(|a| matches!(a.get::<sdf::Value>(), Ok(Some(_))))
}
