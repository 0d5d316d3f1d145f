//! Broken glTF files: each is refused with the location of what is at fault, and none panics, takes long, or takes
//! more memory than its size justifies.

mod compressed;
mod data;
mod memory;
mod random;
mod scene;
mod scenery;
mod scrambling;

use std::path::Path;
use std::time::Duration;

use common::processor;
use common::tiny_gltf::TinyGltf;
use serde_json::{Value, json};
use sinew::error::Invalid;
use sinew_io::{Error, gltf};

/// No file of a few kilobytes may take more of a processor, in a build without optimisation.
const LONGEST: Duration = Duration::from_secs(30);

fn refused(bytes: &[u8]) -> Invalid {
    let (result, took) = processor::spent(|| memory::read(bytes, Path::new("folder/broken.glb")));
    assert!(took < LONGEST, "{took:?}");
    match result {
        Err(Error::Invalid(invalid)) => {
            assert!(invalid.to_string().starts_with("folder/broken.glb: "));
            invalid
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was read"),
    }
}

/// Breaks the character; the error is at the location and says the word.
#[track_caller]
fn broken(change: impl FnOnce(&mut TinyGltf), location: &str, word: &str) {
    let mut file = TinyGltf::character();
    change(&mut file);
    let error = refused(&file.glb());
    assert_eq!(error.prim, location, "{error}");
    assert!(error.to_string().contains(word), "{error}");
}

/// One value replaced.
#[track_caller]
fn replaced(pointer: &str, value: Value, location: &str, word: &str) {
    broken(|t| _ = t.set(pointer, value), location, word);
}

/// One member removed.
#[track_caller]
fn removed(pointer: &str, location: &str) {
    broken(|t| _ = t.remove(pointer), location, "");
}

#[test]
fn the_unbroken_one_is_read() {
    let asset = gltf::read_bytes(&TinyGltf::character().glb(), Path::new("a.glb")).unwrap();
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
}

#[test]
fn containers() {
    let good = TinyGltf::character().glb();
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
fn json() {
    for (text, location) in [
        ("", "line 1 column 0"),
        ("{\n  \"asset\": oops\n}", "line 2 column 12"),
        ("{\"asset\": {\"version\": \"2.0\"}", "line 1 column 28"),
        ("{} {}", "line 1 column 4"),
        ("[]", "the document"),
        ("null", "the document"),
        ("{}", "asset"),
        ("{\"asset\": 2.0}", "asset"),
        ("{\"asset\": {}}", "asset.version"),
        ("{\"asset\": {\"version\": 2.0}}", "asset.version"),
        ("{\"asset\": {\"version\": \"1.0\"}}", "asset.version"),
        ("{\"asset\": {\"version\": \"two\"}}", "asset.version"),
        (
            "{\"asset\": {\"version\": \"2.0\", \"minVersion\": \"2.1\"}}",
            "asset.minVersion",
        ),
        (
            "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": {}}",
            "nodes",
        ),
        (
            "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [1]}",
            "nodes[0]",
        ),
    ] {
        let error = refused(text.as_bytes());
        assert_eq!(error.prim, location, "{text}: {error}");
    }
    refused(b"\xff\xfe{}");
    // Neither the parser nor what follows it goes as deep as a file asks for.
    let deep = "[".repeat(1_000_000);
    refused(format!("{{\"extras\": {deep}").as_bytes());
    refused("[".repeat(1_000_000).as_bytes());
}

#[test]
fn extensions_required() {
    replaced(
        "/extensionsRequired",
        json!([
            "KHR_mesh_quantization",
            "KHR_draco_mesh_compression",
            "FOO_bar"
        ]),
        "extensionsRequired",
        "found KHR_draco_mesh_compression, FOO_bar",
    );
    replaced(
        "/extensionsRequired",
        json!([1]),
        "extensionsRequired[0]",
        "",
    );
    replaced(
        "/extensionsRequired",
        json!("FOO"),
        "extensionsRequired",
        "an array",
    );
    broken(
        |t| {
            t.remove("/accessors/0/bufferView");
            t.set(
                "/meshes/0/primitives/0/extensions",
                json!({ "KHR_draco_mesh_compression": { "bufferView": 0, "attributes": {} } }),
            );
        },
        "meshes[0].primitives[0].attributes.POSITION",
        "KHR_draco_mesh_compression",
    );
}
