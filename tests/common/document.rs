//! A glTF document of JSON and one buffer: a fixture file that tests read, change and read again.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};

use super::rng::Rng;

/// The JSON of a glTF file, and the bytes of its first buffer.
#[derive(Clone)]
pub struct Document {
    pub json: Value,
    pub bin: Vec<u8>,
}

impl Document {
    /// An asset of nothing.
    pub fn empty() -> Self {
        Self {
            json: json!({ "asset": { "version": "2.0" }, "buffers": [{ "byteLength": 0 }] }),
            bin: Vec::new(),
        }
    }

    /// A fixture of sinew-io's tests, such as `tiny.gltf`.
    pub fn fixture(name: &str) -> Self {
        Self::read(&super::fixture(name))
    }

    /// Reads a .gltf file whose only buffer is a data URI.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let mut json: Value = serde_json::from_str(&text).unwrap();
        let buffer = json["buffers"][0].as_object_mut().unwrap();
        let uri = buffer.remove("uri").unwrap();
        let data = uri.as_str().unwrap().rsplit_once("base64,").unwrap().1;
        let bin = BASE64_STANDARD.decode(data).unwrap();
        Self { json, bin }
    }

    /// Appends to a top-level array; gives the index.
    pub fn push(&mut self, array: &str, value: Value) -> usize {
        push_to(&mut self.json[array], value)
    }

    /// Appends bytes to the buffer as a view of their own.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend(bytes);
        self.json["buffers"][0]["byteLength"] = json!(self.bin.len());
        self.push(
            "bufferViews",
            json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }),
        )
    }

    /// Appends an accessor on a view of its own; gives its index. The numbers are written as the
    /// component type (`u8`, `i16`, `f32` and so on) has them.
    pub fn accessor(&mut self, component: &str, kind: &str, numbers: &[f64]) -> usize {
        let bytes = numbers
            .iter()
            .flat_map(|n| stored(component, *n))
            .collect::<Vec<u8>>();
        let view = self.view(&bytes);
        let code = match component {
            "i8" => 5120,
            "u8" => 5121,
            "i16" => 5122,
            "u16" => 5123,
            "u32" => 5125,
            "f32" => 5126,
            other => panic!("component type {other}"),
        };
        let count = numbers.len() / components(kind);
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": code, "type": kind, "count": count }),
        )
    }

    /// Sets a member or an element; `-` appends to a list. What holds it must be there.
    pub fn set(&mut self, pointer: &str, value: Value) -> &mut Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = self.json.pointer_mut(parent);
        match parent.unwrap_or_else(|| panic!("nothing at {pointer}")) {
            Value::Array(list) if key == "-" => list.push(value),
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
            Value::Object(members) => _ = members.insert(key.to_owned(), value),
            other => panic!("{pointer} would be in {other}"),
        }
        self
    }

    /// Removes a member or an element, which must be there.
    pub fn remove(&mut self, pointer: &str) -> &mut Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let removed = match self.json.pointer_mut(parent) {
            Some(Value::Object(members)) => members.remove(key),
            Some(Value::Array(list)) => Some(list.remove(key.parse().unwrap())),
            _ => None,
        };
        removed.unwrap_or_else(|| panic!("nothing at {pointer}"));
        self
    }

    /// The index of the node of this name.
    pub fn named(&self, name: &str) -> usize {
        let nodes = self.json["nodes"].as_array().unwrap();
        let found = nodes.iter().position(|n| n["name"] == name);
        found.unwrap_or_else(|| panic!("no node {name}"))
    }

    /// Numbers of a node, such as its rotation.
    fn numbers<const N: usize>(&self, node: usize, name: &str, default: [f64; N]) -> [f64; N] {
        let list = self.json["nodes"][node][name].as_array();
        let numbers = list.map(|l| l.iter().map(|v| v.as_f64().unwrap()).collect::<Vec<_>>());
        numbers.map_or(default, |n| n.try_into().unwrap())
    }

    /// parent_from_node of a node in components.
    fn local(&self, node: usize) -> (DVec3, DQuat, DVec3) {
        let scale = self.numbers(node, "scale", [1.0; 3]);
        let rotation = self.numbers(node, "rotation", [0.0, 0.0, 0.0, 1.0]);
        let translation = self.numbers(node, "translation", [0.0; 3]);
        (
            scale.into(),
            DQuat::from_array(rotation),
            translation.into(),
        )
    }

    /// world_from_node, of nodes in components.
    pub fn rest_world(&self, node: usize) -> DMat4 {
        let nodes = self.json["nodes"].as_array().unwrap();
        let holds = |n: &Value| {
            let children = n["children"].as_array();
            children.is_some_and(|c| c.contains(&json!(node)))
        };
        let (scale, rotation, translation) = self.local(node);
        let local = DMat4::from_scale_rotation_translation(scale, rotation, translation);
        match nodes.iter().position(holds) {
            Some(parent) => self.rest_world(parent) * local,
            None => local,
        }
    }

    /// Turns a node at rest, and what is below it, about the node in the axes of the scene.
    pub fn turn(&mut self, node: usize, by: DQuat) {
        let (_, world, _) = self.rest_world(node).to_scale_rotation_translation();
        let (_, local, _) = self.local(node);
        let turned = local * (world.inverse() * by * world);
        self.json["nodes"][node]["rotation"] = json!(turned.normalize().to_array());
    }

    /// Turns a node at rest in its own axes, and leaves what is below it where it is.
    pub fn twist(&mut self, node: usize, by: DQuat) {
        let (_, local, _) = self.local(node);
        self.json["nodes"][node]["rotation"] = json!((local * by).normalize().to_array());
        let children = self.json["nodes"][node]["children"].as_array().cloned();
        for child in children.unwrap_or_default() {
            let child = child.as_u64().unwrap() as usize;
            let (_, rotation, translation) = self.local(child);
            let back = by.inverse();
            let rotation = (back * rotation).normalize();
            self.json["nodes"][child]["rotation"] = json!(rotation.to_array());
            self.json["nodes"][child]["translation"] = json!((back * translation).to_array());
        }
    }

    /// Binds all skins as their joints stand at rest.
    pub fn bind_at_rest(&mut self) {
        let skins = self.json["skins"].as_array().unwrap().clone();
        for (skin, value) in skins.iter().enumerate() {
            let joints = value["joints"].as_array().unwrap().iter();
            let inverse = |j: &Value| self.rest_world(j.as_u64().unwrap() as usize).inverse();
            let numbers = joints.flat_map(|j| inverse(j).to_cols_array());
            let numbers: Vec<f64> = numbers.collect();
            let accessor = self.accessor("f32", "MAT4", &numbers);
            self.json["skins"][skin]["inverseBindMatrices"] = json!(accessor);
        }
    }

    /// The binary file.
    pub fn glb(&self) -> Vec<u8> {
        glb(&serde_json::to_vec(&self.json).unwrap(), &self.bin)
    }

    /// JSON pointers to every value, the whole first.
    pub fn pointers(&self) -> Vec<String> {
        let mut out = Vec::new();
        pointers(&self.json, String::new(), &mut out);
        out
    }

    /// Removes some values of the JSON, or replaces them with odd ones or by each other.
    pub fn change_at_random(&mut self, rng: &mut Rng) {
        for _ in 0..1 + rng.below(3) {
            let all = self.pointers();
            let place = all[1 + rng.below(all.len() - 1)].clone();
            let other = &all[rng.below(all.len())];
            let copy = self.json.pointer(other).unwrap().clone();
            match rng.below(4) {
                0 => _ = self.remove(&place),
                1 => *self.json.pointer_mut(&place).unwrap() = copy,
                _ => *self.json.pointer_mut(&place).unwrap() = odd_value(rng),
            }
        }
    }
}

/// Appends to a list, which is made where it is not there; gives the index.
fn push_to(list: &mut Value, item: Value) -> usize {
    if list.is_null() {
        *list = json!([]);
    }
    let list = list.as_array_mut().expect("a list");
    list.push(item);
    list.len() - 1
}

/// Numbers of an element of an accessor.
fn components(kind: &str) -> usize {
    match kind {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        other => panic!("accessor type {other}"),
    }
}

/// Little-endian bytes of a number.
fn stored(component: &str, number: f64) -> Vec<u8> {
    match component {
        "i8" => (number as i8).to_le_bytes().to_vec(),
        "u8" => (number as u8).to_le_bytes().to_vec(),
        "i16" => (number as i16).to_le_bytes().to_vec(),
        "u16" => (number as u16).to_le_bytes().to_vec(),
        "u32" => (number as u32).to_le_bytes().to_vec(),
        _ => (number as f32).to_le_bytes().to_vec(),
    }
}

/// A .glb of those chunks, the JSON padded with spaces and the rest with zeros.
pub fn glb(json: &[u8], bin: &[u8]) -> Vec<u8> {
    let chunk = |kind: &[u8; 4], data: &[u8], padding: u8| {
        let mut data = data.to_vec();
        data.resize(data.len().next_multiple_of(4), padding);
        let mut out = (data.len() as u32).to_le_bytes().to_vec();
        out.extend(kind);
        out.extend(data);
        out
    };
    let mut chunks = chunk(b"JSON", json, b' ');
    if !bin.is_empty() {
        chunks.extend(chunk(b"BIN\0", bin, 0));
    }
    let mut out = b"glTF".to_vec();
    out.extend(2u32.to_le_bytes());
    out.extend((12 + chunks.len() as u32).to_le_bytes());
    out.extend(chunks);
    out
}

fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
    out.push(at.clone());
    match value {
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                pointers(value, format!("{at}/{i}"), out);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(value, format!("{at}/{key}"), out);
            }
        }
        _ => {}
    }
}

/// Values that are likely to be wrong wherever they stand.
const ODD: &str = r#"[null, -1, 0, 1, 2, 3, 5, 255, 5121, 5126, 4294967295, 18446744073709551615,
    1e308, -0.5, true, "", "VEC4", "../x", [], [0, 1], {}, [[[]]]]"#;

fn odd_value(rng: &mut Rng) -> Value {
    let values: Vec<Value> = serde_json::from_str(ODD).unwrap();
    values[rng.below(values.len())].clone()
}
