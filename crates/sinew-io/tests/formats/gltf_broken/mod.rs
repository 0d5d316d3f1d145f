//! Broken glTF files: each is refused with the location of what is at fault, and none panics, takes long, or takes
//! more memory than its size justifies.

mod memory;
mod random;
mod scrambling;

use std::path::Path;
use std::time::Duration;

use common::document::Document;
use common::{fixture, processor, rows};
use serde_json::json;
use sinew::error::Invalid;
use sinew_animate::asset::Asset;
use sinew_io::Error;

/// No file of a few kilobytes may take more of a processor, in a build without optimisation.
const LONGEST: Duration = Duration::from_secs(30);

/// Reads with bounds on memory and time.
fn read(bytes: &[u8], file: &Path) -> Result<Asset, Error> {
    let (result, took) = processor::spent(|| memory::read(bytes, file));
    assert!(took < LONGEST, "{took:?}");
    result
}

fn refused(bytes: &[u8]) -> Invalid {
    match read(bytes, Path::new("folder/broken.glb")) {
        Err(Error::Invalid(invalid)) => {
            assert!(invalid.to_string().starts_with("folder/broken.glb: "));
            invalid
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was read"),
    }
}

#[test]
fn the_table() {
    let table = fixture("gltf_malformed.txt");
    rows::check(&table, |row| read(&row.bytes, &row.name));
}

#[test]
fn containers() {
    let good = Document::fixture("tiny.gltf").glb();
    let patch = |at: usize, value: u32| {
        let mut file = good.clone();
        file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        refused(&file).prim
    };
    assert_eq!(patch(4, 1), "header.version");
    assert_eq!(patch(8, good.len() as u32 + 1), "header.length");
    assert_eq!(patch(8, 11), "header.length");
    assert_eq!(patch(8, 12), "chunks[0]");
    assert_eq!(patch(12, u32::MAX), "chunks[0].length");
    assert_eq!(patch(16, 7), "chunks[0].type");
    let second = 20 + u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
    assert_eq!(patch(second, 1 << 30), "chunks[1].length");
    // Of another type it is passed over, and then the buffer has no bytes.
    assert_eq!(patch(second + 4, 7), "buffers[0].uri");
    for cut in 0..good.len() {
        refused(&good[..cut]);
    }
    assert_eq!(refused(b"glTF").prim, "header.version");
}

#[test]
fn odd_bytes_and_depths() {
    refused(b"\xff\xfe{}");
    // Neither the parser nor what follows it goes as deep as a file asks for.
    let deep = "[".repeat(1_000_000);
    refused(format!("{{\"extras\": {deep}").as_bytes());
    refused(deep.as_bytes());
}

/// A long chain of nodes whose end leads back to its start: no recursion.
#[test]
fn a_long_circle() {
    let mut file = Document::fixture("tiny.gltf");
    for i in 4..100_000 {
        file.push("nodes", json!({ "children": [i + 1] }));
    }
    file.push("nodes", json!({ "children": [4] }));
    let error = refused(&file.glb());
    assert_eq!(error.prim, "nodes[4].children");
    assert!(error.to_string().contains("below itself"), "{error}");
}

/// The same bytes over and over.
#[test]
fn an_accessor_of_a_thousand_meshes() {
    let mut file = Document::fixture("tiny.gltf");
    let points = file.accessor("u8", "VEC3", &[0.0; 60_000]);
    for _ in 0..1000 {
        let primitive = json!({ "attributes": { "POSITION": points } });
        file.push("meshes", json!({ "primitives": [primitive] }));
    }
    let error = refused(&file.glb());
    assert_eq!(error.prim, "accessors[15]");
    assert!(error.to_string().contains("unpacks to at most"), "{error}");
}
