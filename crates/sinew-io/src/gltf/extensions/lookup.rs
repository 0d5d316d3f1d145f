//! Looking into JSON whose shape nothing has checked yet, where what is odd is passed over.

use serde_json::Value;

use super::super::json::{Json, describe};

/// An extension of the whole document.
pub fn root_extension<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    document.get("extensions")?.get(name)
}

/// The items of a list; none where it is not there or no list.
pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    let list = value.get(name).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// `extensionsUsed` has it.
pub fn is_used(document: &Value, name: &str) -> bool {
    list(document, "extensionsUsed").iter().any(|v| v == name)
}

/// An index, as everywhere in the document.
pub fn index(value: &Value) -> Option<usize> {
    Json::root(value).integer().ok()
}

/// A value in few words.
pub fn found(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), describe)
}
