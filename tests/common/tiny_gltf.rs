//! A small glTF character written by the tests themselves, to read and to break.

use serde_json::{Value, json};

use super::rng::Rng;

/// JSON and its one buffer.
#[derive(Clone)]
pub struct TinyGltf {
    pub json: Value,
    pub bin: Vec<u8>,
}

/// Numbers of accessors in [`TinyGltf::character`].
pub mod accessor {
    pub const POSITION: usize = 0;
    pub const NORMAL: usize = 1;
    pub const TANGENT: usize = 2;
    pub const TEXCOORD: usize = 3;
    pub const COLOR: usize = 4;
    pub const JOINTS: usize = 5;
    pub const WEIGHTS: usize = 6;
    pub const INDICES: usize = 7;
    pub const TARGET: usize = 8;
    pub const SPARSE_TARGET: usize = 9;
    pub const INVERSE_BIND: usize = 10;
    pub const TIMES: usize = 11;
    pub const TRANSLATION: usize = 12;
    pub const ROTATION: usize = 13;
    pub const MORPH_WEIGHTS: usize = 14;
}

/// Little-endian floats.
pub fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Little-endian 16-bit numbers.
pub fn shorts(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

impl Default for TinyGltf {
    fn default() -> Self {
        Self {
            json: json!({ "asset": { "version": "2.0" }, "buffers": [{ "byteLength": 0 }] }),
            bin: Vec::new(),
        }
    }
}

impl TinyGltf {
    /// Appends to a top-level array; gives the index.
    pub fn push(&mut self, array: &str, value: Value) -> usize {
        let members = self.json.as_object_mut().unwrap();
        let array = members.entry(array).or_insert_with(|| json!([]));
        let array = array.as_array_mut().unwrap();
        array.push(value);
        array.len() - 1
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

    /// An accessor on a view of its own.
    pub fn accessor(&mut self, component: u32, kind: &str, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": component, "type": kind, "count": count }),
        )
    }

    /// The same of floats.
    pub fn float_accessor(&mut self, kind: &str, numbers: &[f32]) -> usize {
        let each = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" | "MAT2" => 4,
            "MAT4" => 16,
            other => panic!("{other}"),
        };
        self.accessor(5126, kind, numbers.len() / each, &floats(numbers))
    }

    pub fn set(&mut self, pointer: &str, value: Value) -> &mut Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = self.json.pointer_mut(parent);
        match parent.unwrap_or_else(|| panic!("nothing at {pointer}")) {
            Value::Array(a) => a[key.parse::<usize>().unwrap()] = value,
            other => other[key] = value,
        }
        self
    }

    pub fn remove(&mut self, pointer: &str) -> &mut Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = self.json.pointer_mut(parent).and_then(Value::as_object_mut);
        let removed = parent.and_then(|p| p.remove(key));
        removed.unwrap_or_else(|| panic!("nothing at {pointer}"));
        self
    }

    /// Removes some values of the JSON, or replaces them with odd ones or by each other.
    pub fn change_at_random(&mut self, rng: &mut Rng) {
        for _ in 0..1 + rng.below(3) {
            let mut all = Vec::new();
            pointers(&self.json, String::new(), &mut all);
            let place = all[1 + rng.below(all.len() - 1)].clone();
            let other = all[rng.below(all.len())].clone();
            let copy = self.json.pointer(&other).unwrap().clone();
            let (parent, key) = place.rsplit_once('/').unwrap();
            match (rng.below(4), self.json.pointer_mut(parent).unwrap()) {
                (0, Value::Object(parent)) => _ = parent.remove(key),
                (0, Value::Array(parent)) => _ = parent.remove(key.parse().unwrap()),
                (1, _) => *self.json.pointer_mut(&place).unwrap() = copy,
                _ => *self.json.pointer_mut(&place).unwrap() = odd_value(rng),
            }
        }
    }

    pub fn glb(&self) -> Vec<u8> {
        glb(&serde_json::to_vec(&self.json).unwrap(), &self.bin)
    }

    /// Three points skinned to two joints, with two morph targets, a clip, and a material with a texture.
    pub fn character() -> Self {
        let mut t = Self::default();
        t.float_accessor("VEC3", &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
        t.float_accessor("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1.]);
        t.float_accessor("VEC4", &[1., 0., 0., 1., 1., 0., 0., 1., 1., 0., 0., -1.]);
        t.float_accessor("VEC2", &[0., 0., 1., 0., 0., 1.]);
        t.accessor(
            5121,
            "VEC4",
            3,
            &[255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 51, 0],
        );
        t.accessor(5121, "VEC4", 3, &[0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]);
        t.float_accessor("VEC4", &[0.5, 0.5, 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.]);
        t.accessor(5123, "SCALAR", 3, &shorts(&[0, 1, 2]));
        t.float_accessor("VEC3", &[0., 0., 1., 0., 0., 2., 0., 0., 3.]);
        let indices = t.view(&[1, 2]);
        let values = t.view(&floats(&[5., 0., 0., 0., 6., 0.]));
        t.push(
            "accessors",
            json!({ "componentType": 5126, "type": "VEC3", "count": 3, "sparse": {
                "count": 2,
                "indices": { "bufferView": indices, "componentType": 5121 },
                "values": { "bufferView": values }
            }}),
        );
        #[rustfmt::skip]
        t.float_accessor("MAT4", &[
            1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
            1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., -2., 0., 1.,
        ]);
        t.float_accessor("SCALAR", &[0.0, 0.5]);
        t.float_accessor("VEC3", &[0., 2., 0., 0., 3., 0.]);
        let mut cubic = Vec::new();
        for _ in 0..2 {
            cubic.extend([0., 0., 0., 0., 0., 0., 0., 1., 0., 0., 0., 0.]);
        }
        t.float_accessor("VEC4", &cubic);
        t.float_accessor("SCALAR", &[0., 1., 1., 0.]);
        let picture = t.view(&[0x89, b'P', b'N', b'G', 13, 10, 26, 10]);
        t.json["accessors"][accessor::COLOR]["normalized"] = json!(true);
        let more = json!({
            "scene": 0,
            "scenes": [{ "nodes": [0] }],
            "nodes": [
                { "name": "Root", "children": [1, 2] },
                { "name": "A", "children": [3], "rotation": [0, 0, 0, 1] },
                { "name": "Body", "mesh": 0, "skin": 0, "weights": [0.5, 0] },
                { "name": "B", "translation": [0, 2, 0] }
            ],
            "skins": [{ "joints": [1, 3], "skeleton": 0, "inverseBindMatrices": accessor::INVERSE_BIND }],
            "meshes": [{
                "name": "Body",
                "extras": { "targetNames": ["Up", "Side"] },
                "weights": [0, 0.25],
                "primitives": [{
                    "attributes": {
                        "POSITION": accessor::POSITION,
                        "NORMAL": accessor::NORMAL,
                        "TANGENT": accessor::TANGENT,
                        "TEXCOORD_0": accessor::TEXCOORD,
                        "COLOR_0": accessor::COLOR,
                        "JOINTS_0": accessor::JOINTS,
                        "WEIGHTS_0": accessor::WEIGHTS
                    },
                    "indices": accessor::INDICES,
                    "material": 0,
                    "targets": [{ "POSITION": accessor::TARGET }, { "POSITION": accessor::SPARSE_TARGET }]
                }]
            }],
            "animations": [{
                "name": "Move",
                "samplers": [
                    { "input": accessor::TIMES, "output": accessor::TRANSLATION },
                    { "input": accessor::TIMES, "output": accessor::ROTATION, "interpolation": "CUBICSPLINE" },
                    { "input": accessor::TIMES, "output": accessor::MORPH_WEIGHTS, "interpolation": "STEP" }
                ],
                "channels": [
                    { "sampler": 0, "target": { "node": 3, "path": "translation" } },
                    { "sampler": 1, "target": { "node": 1, "path": "rotation" } },
                    { "sampler": 2, "target": { "node": 2, "path": "weights" } }
                ]
            }],
            "materials": [{
                "name": "Skin",
                "doubleSided": true,
                "alphaMode": "MASK",
                "pbrMetallicRoughness": {
                    "baseColorFactor": [1, 0.5, 0.25, 1],
                    "baseColorTexture": { "index": 0 }
                }
            }],
            "textures": [{ "source": 0, "sampler": 0 }],
            "samplers": [{ "wrapS": 33071 }],
            "images": [{ "bufferView": picture, "mimeType": "image/png", "name": "skin" }]
        });
        let members = t.json.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        t
    }
}

/// Elements of `stride` bytes as EXT_meshopt_compression has attributes.
pub fn compress(elements: &[u8], stride: usize) -> Vec<u8> {
    use meshoptimizer_rs::{Workspace, codec};
    let encoding = codec::VertexEncoding::new(0, 0).unwrap();
    let count = elements.len() / stride;
    codec::encode_vertex_buffer(elements, count, stride, encoding, &mut Workspace::default())
        .unwrap()
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

/// Pointers to every value below, itself first.
fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
    out.push(at.clone());
    match value {
        Value::Array(a) => {
            for (i, v) in a.iter().enumerate() {
                pointers(v, format!("{at}/{i}"), out);
            }
        }
        Value::Object(o) => {
            for (k, v) in o {
                pointers(v, format!("{at}/{k}"), out);
            }
        }
        _ => {}
    }
}

fn odd_value(rng: &mut Rng) -> Value {
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(5),
        json!(255),
        json!(5121),
        json!(5126),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(1e308),
        json!(-0.5),
        json!(true),
        json!(""),
        json!("VEC4"),
        json!("../x"),
        json!([]),
        json!([0, 1]),
        json!({}),
        json!([[[]]]),
    ];
    values[rng.below(values.len())].clone()
}
