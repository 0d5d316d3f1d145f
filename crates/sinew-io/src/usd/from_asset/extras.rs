//! Data of applications (glTF's `extras`) as values of customData.

use serde_json::Value as Json;
use sinew_layer::Value;
use sinew_layer::value::Dictionary;

/// A text that crate files can hold: they end each with a zero byte.
pub(super) fn text(text: &str) -> Value {
    Value::string(text.replace('\0', "\u{fffd}"))
}

/// A JSON value with the USD type that fits it. Arrays of one kind become arrays. Null, and arrays
/// of several kinds, which no USD type holds, become their JSON text.
pub(super) fn value(json: &Json) -> Value {
    match json {
        Json::Bool(v) => Value::Bool(*v),
        Json::Number(n) => {
            let as_int = || {
                n.as_i64()
                    .map(|i| i32::try_from(i).map_or(Value::Int64(i), Value::Int))
            };
            let as_uint = || n.as_u64().map(Value::UInt64);
            as_int()
                .or_else(as_uint)
                .unwrap_or(Value::Double(n.as_f64().unwrap_or_default()))
        }
        Json::String(v) => text(v),
        Json::Array(elements) => array(elements).unwrap_or_else(|| text(&json.to_string())),
        Json::Object(members) => {
            let member = |(key, value): (&String, &Json)| {
                // A key without a letter is none.
                let key = if key.is_empty() { "_" } else { key };
                (key.replace('\0', "\u{fffd}").into(), self::value(value))
            };
            dictionary(members.iter().map(member).collect())
        }
        Json::Null => text("null"),
    }
}

pub(super) fn dictionary(members: Dictionary) -> Value {
    Value::Dictionary(members.into())
}

/// An array of values of one kind; `None` where they are of several.
fn array(elements: &[Json]) -> Option<Value> {
    let all = |is: fn(&Json) -> bool| elements.iter().all(is);
    if all(Json::is_string) {
        let strings = elements.iter().filter_map(Json::as_str);
        let strings = strings.map(|s| s.replace('\0', "\u{fffd}").into());
        return Some(Value::StringArray(strings.collect()));
    }
    if all(Json::is_boolean) {
        let bools = elements.iter().filter_map(Json::as_bool);
        return Some(Value::BoolArray(bools.collect()));
    }
    if all(|e| e.as_i64().is_some()) {
        let ints = || elements.iter().filter_map(Json::as_i64);
        let small: Result<Vec<i32>, _> = ints().map(i32::try_from).collect();
        return Some(match small {
            Ok(ints) => Value::IntArray(ints.into()),
            Err(_) => Value::Int64Array(ints().collect()),
        });
    }
    let numbers = elements.iter().filter_map(Json::as_f64);
    all(Json::is_number).then(|| Value::DoubleArray(numbers.collect()))
}

/// Bytes that a value takes in text, at least.
pub(super) fn bytes(value: &Value) -> usize {
    match value {
        Value::Dictionary(members) => {
            let each = members.iter().map(|(k, v)| 32 + k.len() + bytes(v));
            each.sum()
        }
        Value::String(text) => 16 + text.len(),
        Value::StringArray(v) => v.iter().map(|s| 16 + s.len()).sum(),
        Value::BoolArray(v) => v.len(),
        Value::Int64Array(v) => 8 * v.len(),
        Value::DoubleArray(v) => 8 * v.len(),
        Value::IntArray(v) => 4 * v.len(),
        _ => 128,
    }
}
