//! customData of the key `gltf`, as `from_asset` writes it, and all other customData as extras.

use serde_json::{Map, Number, Value as Json};
use sinew_layer::Value;
use sinew_layer::value::Dictionary;
use sinew_stage::Prim;

/// The key below which data of a glTF file is kept.
const SOURCE: &str = "gltf";

/// The extras of what a prim stands for: those of the glTF file that it came from, or else its
/// customData. `None` if there are none.
pub(super) fn extras(prim: Prim<'_>) -> Result<Option<Json>, sinew_stage::Error> {
    let Some(Value::Dictionary(data)) = prim.metadata("customData")? else {
        return Ok(None);
    };
    if let Some(Value::Dictionary(source)) = data.get(SOURCE) {
        return Ok(source.get("extras").and_then(json));
    }
    Ok(object(&data))
}

/// A value that `from_asset` has kept of the glTF file that a prim came from.
pub(super) fn source_data(prim: Prim<'_>, key: &str) -> Result<Option<Json>, sinew_stage::Error> {
    let Some(Value::Dictionary(data)) = prim.metadata("customData")? else {
        return Ok(None);
    };
    let Some(Value::Dictionary(source)) = data.get(SOURCE) else {
        return Ok(None);
    };
    Ok(source.get(key).and_then(json))
}

/// What is known about a file as a whole.
#[derive(Default)]
pub(super) struct LayerInfo {
    pub copyright: String,
    /// Extras about the making of the file.
    pub asset_extras: Option<Json>,
    /// Extras of the file.
    pub extras: Option<Json>,
}

/// Reads what `from_asset` has kept in a layer's customLayerData.
pub(super) fn of_layer(data: Option<&Value>) -> LayerInfo {
    let Some(Value::Dictionary(data)) = data else {
        return LayerInfo::default();
    };
    let Some(Value::Dictionary(source)) = data.get(SOURCE) else {
        return LayerInfo::default();
    };
    let copyright = source.get("copyright").and_then(json);
    LayerInfo {
        copyright: copyright
            .as_ref()
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned(),
        asset_extras: source.get("assetExtras").and_then(json),
        extras: source.get("extras").and_then(json),
    }
}

fn object(members: &Dictionary) -> Option<Json> {
    let members = members
        .iter()
        .filter_map(|(k, v)| Some((k.as_str().to_owned(), json(v)?)));
    let members: Map<String, Json> = members.collect();
    (!members.is_empty()).then_some(Json::Object(members))
}

/// A value as JSON; `None` for one that JSON has no type for.
fn json(value: &Value) -> Option<Json> {
    fn number(v: f64) -> Option<Json> {
        Number::from_f64(v).map(Json::Number)
    }
    Some(match value {
        Value::Bool(v) => Json::Bool(*v),
        Value::Int(v) => Json::from(*v),
        Value::UInt(v) => Json::from(*v),
        Value::Int64(v) => Json::from(*v),
        Value::UInt64(v) => Json::from(*v),
        Value::Float(v) => number(f64::from(*v))?,
        Value::Double(v) => number(*v)?,
        // Null and mixed arrays are kept as their text.
        Value::String(v) => match serde_json::from_str(v.as_str()) {
            Ok(array @ (Json::Array(_) | Json::Null)) => array,
            _ => Json::from(v.as_str()),
        },
        Value::Token(v) => Json::from(v.as_str()),
        Value::BoolArray(v) => v.iter().map(|v| Json::Bool(*v)).collect(),
        Value::IntArray(v) => v.iter().map(|v| Json::from(*v)).collect(),
        Value::Int64Array(v) => v.iter().map(|v| Json::from(*v)).collect(),
        Value::FloatArray(v) => {
            Json::Array(v.iter().filter_map(|v| number(f64::from(*v))).collect())
        }
        Value::DoubleArray(v) => Json::Array(v.iter().filter_map(|v| number(*v)).collect()),
        Value::StringArray(v) => v.iter().map(|v| Json::from(v.as_str())).collect(),
        Value::TokenArray(v) => v.iter().map(|v| Json::from(v.as_str())).collect(),
        Value::Dictionary(members) => object(members).unwrap_or_else(|| Json::Object(Map::new())),
        _ => return None,
    })
}
