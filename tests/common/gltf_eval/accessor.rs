//! Accessors as f64 numbers (glTF 2.0, 3.6.2).

use serde_json::Value;

use super::file::{File, index};

/// Numbers to one element of an accessor.
pub fn width(accessor: &Value) -> usize {
    match accessor["type"].as_str().expect("a type") {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        other => panic!("{other} is nothing that characters use"),
    }
}

/// All numbers, element after element; normalised integers as fractions.
pub fn read(file: &File, number: usize) -> Vec<f64> {
    let accessor = &file.json["accessors"][number];
    let width = width(accessor);
    let count = index(&accessor["count"]).expect("a count");
    let format = Format {
        component: accessor["componentType"].as_u64().expect("a type"),
        normalized: accessor["normalized"].as_bool().unwrap_or(false),
    };
    let mut out = match index(&accessor["bufferView"]) {
        Some(_) => elements(file, accessor, format, width, count),
        None => vec![0.0; width * count],
    };
    let sparse = &accessor["sparse"];
    if sparse.is_object() {
        let changed = index(&sparse["count"]).expect("a count");
        let indices = Format {
            component: sparse["indices"]["componentType"].as_u64().expect("a type"),
            normalized: false,
        };
        let places = elements(file, &sparse["indices"], indices, 1, changed);
        let values = elements(file, &sparse["values"], format, width, changed);
        for (place, value) in places.iter().zip(values.chunks(width)) {
            out[*place as usize * width..][..width].copy_from_slice(value);
        }
    }
    out
}

#[derive(Clone, Copy)]
struct Format {
    component: u64,
    normalized: bool,
}

impl Format {
    fn size(self) -> usize {
        match self.component {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            other => panic!("component type {other}"),
        }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let two = || bytes[..2].try_into().expect("two");
        let four = || bytes[..4].try_into().expect("four");
        let (number, largest) = match self.component {
            5120 => (f64::from(bytes[0] as i8), 127.0),
            5121 => (f64::from(bytes[0]), 255.0),
            5122 => (f64::from(i16::from_le_bytes(two())), 32767.0),
            5123 => (f64::from(u16::from_le_bytes(two())), 65535.0),
            5125 => (f64::from(u32::from_le_bytes(four())), f64::NAN),
            _ => return f64::from(f32::from_le_bytes(four())),
        };
        match self.normalized {
            true => (number / largest).max(-1.0),
            false => number,
        }
    }
}

/// What a bufferView and a byteOffset in `place` hold.
fn elements(file: &File, place: &Value, format: Format, width: usize, count: usize) -> Vec<f64> {
    let view = &file.json["bufferViews"][index(&place["bufferView"]).expect("a view")];
    let offset = |v: &Value| index(&v["byteOffset"]).unwrap_or(0);
    let start = offset(view) + offset(place);
    let stride = index(&view["byteStride"]).unwrap_or(format.size() * width);
    let bytes = &file.buffers[index(&view["buffer"]).expect("a buffer")];
    let mut out = Vec::with_capacity(count * width);
    for element in 0..count {
        for component in 0..width {
            out.push(format.number(&bytes[start + element * stride + component * format.size()..]));
        }
    }
    out
}
