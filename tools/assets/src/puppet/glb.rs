//! A .glb file: JSON and one buffer.

use serde_json::{Value, json};

const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_BYTE: u32 = 5121;

/// The buffer, with the buffer views and accessors that were added.
#[derive(Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    fn add(&mut self, bytes: &[u8], accessor: Value) -> usize {
        // Offsets that are multiples of 4 suit every component type.
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = self.views.len();
        self.views
            .push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend_from_slice(bytes);
        let mut accessor = accessor;
        accessor["bufferView"] = json!(view);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds elements of `N` floats, with the bounds that POSITION and key times need.
    pub fn floats<const N: usize>(&mut self, values: &[[f32; N]]) -> usize {
        let bound = |pick: fn(f32, f32) -> f32| {
            let mut all = values.iter().copied();
            let first = all.next().unwrap_or([0.0; N]);
            all.fold(first, |a, b| std::array::from_fn(|i| pick(a[i], b[i])))
                .to_vec()
        };
        let kind = ["", "SCALAR", "VEC2", "VEC3", "VEC4"]
            .get(N)
            .unwrap_or(&"MAT4");
        let accessor = json!({
            "componentType": FLOAT, "count": values.len(), "type": kind,
            "min": bound(f32::min), "max": bound(f32::max),
        });
        let bytes: Vec<u8> = values
            .iter()
            .flatten()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        self.add(&bytes, accessor)
    }

    /// Adds zero vectors: an accessor without a buffer view.
    pub fn zero_vectors(&mut self, count: usize) -> usize {
        self.accessors.push(json!({
            "componentType": FLOAT, "count": count, "type": "VEC3",
            "min": [0.0, 0.0, 0.0], "max": [0.0, 0.0, 0.0],
        }));
        self.accessors.len() - 1
    }

    pub fn indices(&mut self, values: &[u16]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let accessor =
            json!({"componentType": UNSIGNED_SHORT, "count": values.len(), "type": "SCALAR"});
        self.add(&bytes, accessor)
    }

    pub fn joints(&mut self, values: &[[u8; 4]]) -> usize {
        let accessor =
            json!({"componentType": UNSIGNED_BYTE, "count": values.len(), "type": "VEC4"});
        self.add(values.as_flattened(), accessor)
    }

    /// The file: `root` completed, then the buffer.
    pub fn file(mut self, mut root: Value) -> Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        root["asset"] = json!({"version": "2.0", "generator": "sinew tools/assets"});
        root["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        root["bufferViews"] = json!(self.views);
        root["accessors"] = json!(self.accessors);
        let mut text = root.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut out = Vec::new();
        out.extend_from_slice(b"glTF");
        let word = |out: &mut Vec<u8>, n: usize| {
            out.extend_from_slice(&u32::try_from(n).expect("a small file").to_le_bytes());
        };
        word(&mut out, 2);
        word(&mut out, 12 + 8 + text.len() + 8 + self.bytes.len());
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &self.bytes)] {
            word(&mut out, chunk.len());
            out.extend_from_slice(kind);
            out.extend_from_slice(chunk);
        }
        out
    }
}
