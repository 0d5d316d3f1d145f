//! A .gltf or .glb: its JSON and its buffers.

use std::path::Path;

use serde_json::Value;

pub struct File {
    pub json: Value,
    pub buffers: Vec<Vec<u8>>,
}

impl File {
    /// Panics on a file that is not good glTF: these are read by better readers elsewhere.
    pub fn open(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (json, own_buffer) = match bytes.starts_with(b"glTF") {
            true => chunks(&bytes),
            false => (&bytes[..], None),
        };
        let json: Value = serde_json::from_slice(json).expect("JSON");
        let folder = path.parent().expect("a folder");
        let buffers = list(&json["buffers"])
            .iter()
            .map(|buffer| match buffer["uri"].as_str() {
                None => own_buffer.expect("a binary chunk").to_vec(),
                Some(uri) => match uri.split_once(";base64,") {
                    Some((_, text)) => base64(text),
                    None => std::fs::read(folder.join(unescaped(uri))).expect("a buffer"),
                },
            });
        let buffers = buffers.collect();
        Self { json, buffers }
    }
}

/// An array that may be left out.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// An index that may be left out.
pub fn index(value: &Value) -> Option<usize> {
    Some(value.as_u64()? as usize)
}

/// Numbers that may be left out.
pub fn numbers(value: &Value) -> Option<Vec<f64>> {
    let numbers = value.as_array()?.iter().map(|n| n.as_f64());
    numbers.collect()
}

fn chunks(glb: &[u8]) -> (&[u8], Option<&[u8]>) {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().expect("four")) as usize;
    let json_end = 20 + word(12);
    let json = &glb[20..json_end];
    let binary =
        (json_end + 8 <= glb.len()).then(|| &glb[json_end + 8..json_end + 8 + word(json_end)]);
    (json, binary)
}

/// A URI without percent signs.
pub fn unescaped(uri: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [
                bytes.next().expect("a digit"),
                bytes.next().expect("a digit"),
            ];
            let digits = std::str::from_utf8(&digits).expect("two digits");
            out.push(u8::from_str_radix(digits, 16).expect("two digits"));
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).expect("UTF-8")
}

pub fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{c} in base64"),
    };
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(digit(c));
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}
