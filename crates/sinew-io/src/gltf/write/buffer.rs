//! The buffer of a document that is written, with its views and accessors (glTF 2.0, 3.6).

use std::collections::HashMap;

use glam::{DMat4, Vec2, Vec3, Vec4};
use serde_json::{Value, json};

use crate::gltf::nodes::affine;
use crate::vertices;

/// What a view is used for (`bufferView.target`).
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// A buffer view is what everything of one array is in, so its alignment is that of any component.
const ALIGNMENT: usize = 4;

/// The bytes of the only buffer, and what refers to them. Equal arrays are stored once.
#[derive(Default)]
pub(super) struct BufferBuilder {
    pub bytes: Vec<u8>,
    pub views: Vec<Value>,
    pub accessors: Vec<Value>,
    known: HashMap<(u128, usize, String), usize>,
}

/// An array before it is stored.
struct Array {
    bytes: Vec<u8>,
    component: u32,
    kind: &'static str,
    count: usize,
    target: Option<u32>,
    /// Least and greatest value of each component.
    bounds: Option<(Vec<f32>, Vec<f32>)>,
}

impl BufferBuilder {
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        let offset = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(offset, 0);
        self.bytes.extend_from_slice(bytes);
        let mut view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    fn add(&mut self, array: Array) -> usize {
        let mut accessor = json!({
            "componentType": array.component, "count": array.count, "type": array.kind,
        });
        if let Some((low, high)) = &array.bounds {
            accessor["min"] = json!(low);
            accessor["max"] = json!(high);
        }
        let hash = xxhash_rust::xxh3::xxh3_128(&array.bytes);
        let like = format!("{accessor} {:?}", array.target);
        let key = (hash, array.bytes.len(), like);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        accessor["bufferView"] = json!(self.view(&array.bytes, array.target));
        self.accessors.push(accessor);
        let index = self.accessors.len() - 1;
        self.known.insert(key, index);
        index
    }

    /// Positions of vertices, with their bounds.
    pub fn add_positions(&mut self, values: &[Vec3]) -> usize {
        self.add(Array {
            bytes: bytemuck::cast_slice(values).to_vec(),
            component: F32,
            kind: "VEC3",
            count: values.len(),
            target: Some(VERTICES),
            bounds: Some(bounds(values)),
        })
    }

    pub fn add_vec2(&mut self, values: &[Vec2]) -> usize {
        self.add_vertices(bytemuck::cast_slice(values), "VEC2", values.len())
    }

    pub fn add_vec3(&mut self, values: &[Vec3]) -> usize {
        self.add_vertices(bytemuck::cast_slice(values), "VEC3", values.len())
    }

    pub fn add_vec4(&mut self, values: &[Vec4]) -> usize {
        self.add_vertices(bytemuck::cast_slice(values), "VEC4", values.len())
    }

    fn add_vertices(&mut self, bytes: &[u8], kind: &'static str, count: usize) -> usize {
        self.add(Array {
            bytes: bytes.to_vec(),
            component: F32,
            kind,
            count,
            target: Some(VERTICES),
            bounds: None,
        })
    }

    /// Four joint indices per vertex: bytes if all are below 256.
    pub fn add_joints(&mut self, values: &[[u16; 4]]) -> usize {
        let small = values.iter().flatten().all(|j| *j < 256);
        let (component, bytes) = match small {
            true => (U8, values.iter().flatten().map(|j| *j as u8).collect()),
            false => (
                U16,
                values
                    .iter()
                    .flatten()
                    .flat_map(|j| j.to_le_bytes())
                    .collect(),
            ),
        };
        self.add(Array {
            bytes,
            component,
            kind: "VEC4",
            count: values.len(),
            target: Some(VERTICES),
            bounds: None,
        })
    }

    /// Vertices of triangles: 16 bits if that is enough without the highest number, which restarts
    /// strips.
    pub fn add_indices(&mut self, values: &[u32]) -> usize {
        let small = values.iter().all(|i| *i < u32::from(u16::MAX));
        let (component, bytes) = match small {
            true => (
                U16,
                values
                    .iter()
                    .flat_map(|i| (*i as u16).to_le_bytes())
                    .collect(),
            ),
            false => (U32, values.iter().flat_map(|i| i.to_le_bytes()).collect()),
        };
        self.add(Array {
            bytes,
            component,
            kind: "SCALAR",
            count: values.len(),
            target: Some(INDICES),
            bounds: None,
        })
    }

    /// Matrices, column by column, whose last row is 0 0 0 1 but for rounding.
    pub fn add_matrices(&mut self, values: &[DMat4]) -> usize {
        let affine = values.iter().map(|m| affine(*m).unwrap_or(*m));
        let numbers = affine.flat_map(|m| m.to_cols_array());
        let bytes = numbers.flat_map(|n| (n as f32).to_le_bytes()).collect();
        self.add(Array {
            bytes,
            component: F32,
            kind: "MAT4",
            count: values.len(),
            target: None,
            bounds: None,
        })
    }

    /// Times of keys in ascending order, with the first and the last as bounds.
    pub fn add_times(&mut self, values: &[f32]) -> usize {
        let end = |v: Option<&f32>| vec![v.copied().unwrap_or_default()];
        self.add(Array {
            bytes: bytemuck::cast_slice(values).to_vec(),
            component: F32,
            kind: "SCALAR",
            count: values.len(),
            target: None,
            bounds: Some((end(values.first()), end(values.last()))),
        })
    }

    /// Values of keys: `count` elements of type `kind`.
    pub fn add_keys(&mut self, values: &[f32], kind: &'static str, count: usize) -> usize {
        self.add(Array {
            bytes: bytemuck::cast_slice(values).to_vec(),
            component: F32,
            kind,
            count,
            target: None,
            bounds: None,
        })
    }

    /// Offsets of vertices, most of which may be zero: sparse if that is smaller.
    pub fn add_offsets(&mut self, values: &[Vec3], bounded: bool) -> usize {
        let touched = (0..values.len() as u32).filter(|i| values[*i as usize] != Vec3::ZERO);
        let mut touched: Vec<u32> = touched.collect();
        if touched.is_empty() && !values.is_empty() {
            // A sparse accessor has at least one element.
            touched.push(0);
        }
        let index_size = match values.len() {
            ..=0xFFFF => 2,
            _ => 4,
        };
        // The JSON of two more views weighs something too.
        let sparse_size = touched.len() * (index_size + 12) + 200;
        if sparse_size >= values.len() * 12 {
            return match bounded {
                true => self.add_positions(values),
                false => self.add_vec3(values),
            };
        }
        let picked: Vec<Vec3> = touched.iter().map(|i| values[*i as usize]).collect();
        let (component, indices): (u32, Vec<u8>) = match index_size {
            2 => (
                U16,
                touched
                    .iter()
                    .flat_map(|i| (*i as u16).to_le_bytes())
                    .collect(),
            ),
            _ => (U32, touched.iter().flat_map(|i| i.to_le_bytes()).collect()),
        };
        let indices = self.view(&indices, None);
        let offsets = self.view(bytemuck::cast_slice(&picked), None);
        let mut accessor = json!({
            "componentType": F32, "count": values.len(), "type": "VEC3",
            "sparse": {
                "count": touched.len(),
                "indices": { "bufferView": indices, "componentType": component },
                "values": { "bufferView": offsets },
            },
        });
        if bounded {
            let (low, high) = bounds(values);
            accessor["min"] = json!(low);
            accessor["max"] = json!(high);
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }
}

fn bounds(values: &[Vec3]) -> (Vec<f32>, Vec<f32>) {
    let [low, high] = vertices::bounds(values.iter().copied()).unwrap_or_default();
    (low.to_array().to_vec(), high.to_array().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_arrays_are_stored_once_and_views_are_aligned() {
        let mut buffer = BufferBuilder::default();
        let indices = buffer.add_indices(&[0, 1, 2]);
        let points = buffer.add_positions(&[Vec3::ZERO, Vec3::X, Vec3::new(-1.0, 2.0, 0.0)]);
        assert_eq!(buffer.add_indices(&[0, 1, 2]), indices);
        assert_eq!(buffer.views.len(), 2);
        assert_eq!(buffer.views[1]["byteOffset"], 8);
        assert_eq!(buffer.accessors[points]["min"], json!([-1.0, 0.0, 0.0]));
        assert_eq!(buffer.accessors[points]["max"], json!([1.0, 2.0, 0.0]));
        // The same bytes as another kind of array are another accessor.
        assert_ne!(
            buffer.add_times(&[0.0]),
            buffer.add_keys(&[0.0], "SCALAR", 1)
        );
    }

    #[test]
    fn offsets_are_sparse_where_that_is_smaller() {
        let mut buffer = BufferBuilder::default();
        let mut offsets = vec![Vec3::ZERO; 1000];
        offsets[7] = Vec3::Y;
        let at = buffer.add_offsets(&offsets, true);
        assert_eq!(buffer.accessors[at]["sparse"]["count"], 1);
        assert_eq!(buffer.accessors[at]["max"], json!([0.0, 1.0, 0.0]));
        let dense = buffer.add_offsets(&[Vec3::Y; 8], false);
        assert!(buffer.accessors[dense].get("sparse").is_none());
        let none = buffer.add_offsets(&[Vec3::ZERO; 1000], true);
        assert_eq!(buffer.accessors[none]["sparse"]["count"], 1);
    }

    #[test]
    fn sizes_of_integers_follow_their_values() {
        let mut buffer = BufferBuilder::default();
        let component =
            |buffer: &BufferBuilder, at: usize| buffer.accessors[at]["componentType"].clone();
        let small = buffer.add_joints(&[[255, 0, 0, 0]]);
        let large = buffer.add_joints(&[[256, 0, 0, 0]]);
        let short = buffer.add_indices(&[65534]);
        let long = buffer.add_indices(&[65535]);
        let found = [small, large, short, long].map(|at| component(&buffer, at));
        assert_eq!(found, [U8, U16, U16, U32].map(|c| json!(c)));
    }
}
