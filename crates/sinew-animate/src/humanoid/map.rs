//! Maps of `sinew humanoid --map`: which node of a model is which human bone.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::asset::Asset;
use crate::error::{Error, Result};
use crate::retarget::Bone;
use sinew::error::Invalid;

/// Reads a map such as `{"hips": "Bip001 Pelvis"}` or `{"hips": 3}`: the node of `model` that is
/// each human bone, by name or index. Returns node indices. Errors name `file`.
///
/// # Errors
/// [`Error::Invalid`], with line and column or the key, if the text is not a JSON object, if a key
/// is not a human bone, or if a value is not one node of the model.
pub fn bones_from_json(text: &str, file: &str, model: &Asset) -> Result<BTreeMap<Bone, usize>> {
    let wrong = |at: &str, expected: &str, found: String| {
        Error::from(Invalid::new(at, "", expected, found).in_file(file))
    };
    // Some editors put a byte order mark at the beginning of files.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let json: serde_json::Map<String, Value> = serde_json::from_str(text).map_err(|e| {
        let at = format!("line {} column {}", e.line(), e.column());
        let expected = "a JSON object such as {\"hips\": \"Pelvis\"}";
        wrong(&at, expected, e.to_string())
    })?;
    let mut bones = BTreeMap::new();
    for (key, value) in &json {
        let bone: Bone = key
            .parse()
            .map_err(|e| wrong(key, "one of the 55 human bones", format!("{e}")))?;
        let node =
            node_of(value, model).map_err(|(expected, found)| wrong(key, expected, found))?;
        bones.insert(bone, node);
    }
    Ok(bones)
}

/// The node that a value names; what is expected and found if it names none.
fn node_of(value: &Value, model: &Asset) -> std::result::Result<usize, (&'static str, String)> {
    let Value::String(name) = value else {
        let index = value.as_u64().and_then(|n| usize::try_from(n).ok());
        return index
            .filter(|n| *n < model.nodes.len())
            .ok_or_else(|| ("a node of the model, by name or index", value.to_string()));
    };
    let mut named = (0..model.nodes.len()).filter(|n| model.nodes[*n].name == *name);
    match (named.next(), named.next()) {
        (Some(node), None) => Ok(node),
        (None, _) => Err(("the name of a node of the model", format!("\"{name}\""))),
        (Some(_), Some(_)) => {
            let found = format!("\"{name}\", which several nodes have");
            Err(("a name of one node, or its index", found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::humanoid::reference_asset;

    fn read(text: &str) -> Result<BTreeMap<Bone, usize>> {
        bones_from_json(text, "map.json", &reference_asset())
    }

    #[test]
    fn nodes_are_named_or_numbered() {
        let model = reference_asset();
        let name = &model.nodes[1].name;
        let bones =
            read(&format!("\u{feff}{{\"hips\": \"{name}\", \"spine\": 2}}")).expect("valid");
        assert_eq!(bones.get(&Bone::Hips), Some(&1));
        assert_eq!(bones.get(&Bone::Spine), Some(&2));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("[", "a JSON object"),
            ("{\"tail\": 0}", "human bones"),
            ("{\"hips\": 100000}", "by name or index"),
            ("{\"hips\": -1}", "by name or index"),
            ("{\"hips\": \"nobody\"}", "the name of a node"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
            assert!(error.contains("map.json"), "{error}");
        }
    }
}
