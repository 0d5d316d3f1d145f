//! Numbers that tell whether two machines, or two runs, read the same input.

use std::collections::HashSet;
use std::io::Read;
use std::path::PathBuf;

use sinew_layer::{Layer, Path, Value};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::usd::file::UsdFile;

impl UsdFile {
    /// A number of the contents of the layers that the stage is composed of, and of the value clips that were read by now,
    /// wherever they lie. Textures do not count. The number is XXH3 of 64 bits, in hexadecimal digits: it finds accidents, and
    /// is no seal against forgers.
    ///
    /// # Errors
    /// A layer that cannot be read any more.
    pub fn fingerprint(&self) -> Result<String> {
        let mut of_layers: Vec<u64> = Vec::new();
        let same = |file: &PathBuf| file.canonicalize().unwrap_or_else(|_| file.clone());
        let mut known: HashSet<PathBuf> = HashSet::new();
        let files = self
            .layer_files()
            .into_iter()
            .chain(self.resolver.opened_files());
        let mut buffer = vec![0; 1 << 20];
        for file in files.filter(|file| known.insert(same(file))) {
            let fail = |e: std::io::Error| Error::open(&file, e);
            let (mut input, _) = self.resolver.files.open(&file).map_err(fail)?;
            let mut hash = Xxh3::new();
            // Which layer holds what: two that are exchanged make another stage. The root goes by any name.
            if let Some(name) = file.file_name().filter(|_| !of_layers.is_empty()) {
                hash.update(name.as_encoded_bytes());
            }
            loop {
                match input.read(&mut buffer).map_err(fail)? {
                    0 => break,
                    read => hash.update(&buffer[..read]),
                }
            }
            of_layers.push(hash.digest());
        }
        // The buffers of a glTF file may lie beside it.
        of_layers.extend(self.made.as_ref().map(|m| of_layer(&m.layer)));
        // Folders differ between machines, and so may the order of layers that are found by them.
        of_layers[1..].sort_unstable();
        let mut all = Xxh3::new();
        for number in of_layers {
            all.update(&number.to_le_bytes());
        }
        Ok(format!("{:016x}", all.digest()))
    }
}

/// A number of what a layer in memory holds.
fn of_layer(layer: &Layer) -> u64 {
    let mut hash = Xxh3::new();
    layer.walk(&Path::root(), &mut |path, spec| {
        text(path.as_str(), &mut hash);
        for (name, value) in spec.fields.iter() {
            text(name, &mut hash);
            add(value, &mut hash);
        }
    });
    hash.digest()
}

/// Text with its length, so that no two texts in a row look like two others.
fn text(text: &str, hash: &mut Xxh3) {
    hash.update(&text.len().to_le_bytes());
    hash.update(text.as_bytes());
}

/// Arrays of numbers by their bytes, and other values by their text.
fn add(value: &Value, hash: &mut Xxh3) {
    let mut bytes = |kind: u8, bytes: &[u8]| {
        hash.update(&[kind]);
        hash.update(&bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    match value {
        Value::IntArray(v) => bytes(1, bytemuck::cast_slice(v)),
        Value::FloatArray(v) => bytes(2, bytemuck::cast_slice(v)),
        Value::Vec2fArray(v) => bytes(3, bytemuck::cast_slice(v)),
        Value::Vec3fArray(v) => bytes(4, bytemuck::cast_slice(v)),
        Value::Vec3hArray(v) => bytes(5, bytemuck::cast_slice(v)),
        Value::Vec4fArray(v) => bytes(6, bytemuck::cast_slice(v)),
        Value::QuatfArray(v) => bytes(7, bytemuck::cast_slice(v)),
        Value::Matrix4dArray(v) => bytes(8, bytemuck::cast_slice(v)),
        Value::TimeSamples(samples) => {
            bytes(9, bytemuck::cast_slice(samples.times()));
            for value in samples.values().iter() {
                add(value, hash);
            }
        }
        other => {
            hash.update(&[0]);
            text(&format!("{other:?}"), hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use sinew_layer::{SpecKind, TimeSamples};

    use super::*;

    #[test]
    fn layers_that_differ_have_other_numbers() {
        let layer = |name: &str, value: Value| {
            let mut layer = Layer::new("test");
            let path = Path::parse("/A").unwrap().property(name);
            let spec = layer.create(&path, SpecKind::Attribute);
            spec.fields.set("default", value);
            of_layer(&layer)
        };
        let samples = |time: f64, value: Value| {
            Value::TimeSamples(TimeSamples::new(vec![(0.0, Value::Int(1)), (time, value)]))
        };
        let floats = |v: [f32; 2]| Value::FloatArray(v.to_vec().into());
        let all = [
            layer("a", Value::Int(1)),
            layer("b", Value::Int(1)),
            layer("a", Value::token("1")),
            layer("a", Value::string("1")),
            layer("a", floats([0.0, 1.0])),
            layer("a", Value::Vec2fArray(vec![[0.0, 1.0]].into())),
            layer("a", samples(1.0, floats([0.0, 1.0]))),
            layer("a", samples(2.0, floats([0.0, 1.0]))),
            layer("a", samples(2.0, floats([0.0, 2.0]))),
        ];
        assert_eq!(HashSet::from(all).len(), all.len());
        assert_eq!(layer("a", Value::Int(1)), all[0]);
        // Clips on disk hold these numbers: with others, all of them would be baked anew.
        assert_eq!(
            (all[0], all[8]),
            (14068064724148479721, 4107151940097927434)
        );
    }
}
