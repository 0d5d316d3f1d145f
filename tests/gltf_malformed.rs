//! Broken glTF files: each is refused with the location of what is at fault, and none panics or takes long.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use common::rng::Rng;
use common::tiny_gltf::{self, TinyGltf, accessor, floats, glb, shorts};
use serde_json::{Value, json};
use sinew::asset::Asset;
use sinew::error::{Error, Invalid};
use sinew::io::gltf;

/// Counts what each thread has allocated.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // Nothing to count while a thread ends.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: everything is passed on to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Reads, and holds the memory it takes to the file's size: 16 MiB and 32 times its size for what it unpacks to, as much
/// again where a list of it grows, and the JSON itself.
fn read(bytes: &[u8], file: &Path) -> Result<Asset, Error> {
    let before = LIVE.get();
    PEAK.set(before);
    let result = gltf::read_bytes(bytes, file);
    let took = PEAK.get() - before;
    let most = (32 << 20) + 128 * bytes.len() as isize;
    assert!(took < most, "{took} bytes for a file of {}", bytes.len());
    result
}

/// No file of a few kilobytes may take longer, in a build without optimisation.
const LONGEST: Duration = Duration::from_secs(2);

fn refused(bytes: &[u8]) -> Invalid {
    let start = Instant::now();
    let result = read(bytes, Path::new("folder/broken.glb"));
    assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
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

/// `/accessors/N/...` and `accessors[N]...`.
fn places(accessor: usize, member: &str) -> (String, String) {
    (
        format!("/accessors/{accessor}/{member}"),
        format!("accessors[{accessor}].{}", member.replace('/', ".")),
    )
}

#[track_caller]
fn accessor_replaced(accessor: usize, member: &str, value: Value, word: &str) {
    let (pointer, location) = places(accessor, member);
    replaced(&pointer, value, &location, word);
}

const ATTRIBUTES: &str = "/meshes/0/primitives/0/attributes";

fn attribute(name: &str) -> String {
    format!("meshes[0].primitives[0].attributes.{name}")
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

/// What takes the most memory for its bytes.
#[test]
fn long_lists_of_nothing() {
    let list = |name: &str, one: &str| {
        let elements = vec![one; 300_000].join(",");
        format!("{{\"asset\":{{\"version\":\"2.0\"}},\"{name}\":[{elements}]}}")
    };
    let file = Path::new("a.gltf");
    for name in ["extras", "animations", "scenes"] {
        read(list(name, "{}").as_bytes(), file).unwrap();
    }
    read(list("extras", "[]").as_bytes(), file).unwrap();
    for name in ["nodes", "materials"] {
        assert_eq!(refused(list(name, "{}").as_bytes()).prim, name);
    }
    for name in ["skins", "meshes", "images", "buffers"] {
        refused(list(name, "{}").as_bytes());
    }
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
        &attribute("POSITION"),
        "KHR_draco_mesh_compression",
    );
}

#[test]
fn buffers_and_views() {
    removed("/buffers/0/byteLength", "buffers[0].byteLength");
    replaced(
        "/buffers/0/byteLength",
        json!(1u64 << 40),
        "buffers[0].byteLength",
        "at most",
    );
    replaced(
        "/buffers/0/byteLength",
        json!(-4),
        "buffers[0].byteLength",
        "whole",
    );
    replaced(
        "/buffers/0/byteLength",
        json!(8),
        "bufferViews[11].byteLength",
        "at most 0 bytes",
    );
    for uri in [
        "missing.bin",
        "http://example.org/a.bin",
        "/etc/passwd",
        "file:///etc/passwd",
        "data:application/octet-stream;base64,####",
        "data:nothing",
        "..",
        "",
    ] {
        replaced("/buffers/0/uri", json!(uri), "buffers[0].uri", "found");
    }
    replaced("/buffers/0/uri", json!(3), "buffers[0].uri", "a string");
    replaced(
        "/buffers/0/uri",
        json!("data:,abc"),
        "buffers[0].byteLength",
        "at most the 3",
    );
    broken(
        |t| _ = t.push("buffers", json!({ "byteLength": 4 })),
        "buffers[1].uri",
        "neither",
    );

    removed("/bufferViews/0/buffer", "bufferViews[0].buffer");
    removed("/bufferViews/0/byteLength", "bufferViews[0].byteLength");
    replaced(
        "/bufferViews/0/buffer",
        json!(1),
        "bufferViews[0].buffer",
        "below 1",
    );
    replaced(
        "/bufferViews/0/byteOffset",
        json!(u64::MAX),
        "bufferViews[0].byteLength",
        "",
    );
    replaced(
        "/bufferViews/0/byteLength",
        json!(1e15),
        "bufferViews[0].byteLength",
        "at most",
    );
    replaced(
        "/bufferViews/0/byteLength",
        json!(u64::MAX),
        "bufferViews[0].byteLength",
        "at most",
    );
    replaced(
        "/bufferViews/0/byteStride",
        json!(0),
        "bufferViews[0].byteStride",
        "4 to 252",
    );
    replaced(
        "/bufferViews/0/byteStride",
        json!(8),
        "bufferViews[0].byteStride",
        "at least the 12",
    );
}

#[test]
fn accessors() {
    use accessor::*;
    accessor_replaced(POSITION, "bufferView", json!(99), "below");
    accessor_replaced(POSITION, "componentType", json!(5124), "5126");
    accessor_replaced(POSITION, "type", json!("VEC5"), "'VEC5'");
    accessor_replaced(POSITION, "count", json!(0), "at least 1");
    accessor_replaced(POSITION, "count", json!(4), "at most the 3 elements");
    accessor_replaced(POSITION, "count", json!(4e9), "at most the 3 elements");
    accessor_replaced(POSITION, "count", json!(u64::MAX), "at most the 3 elements");
    accessor_replaced(POSITION, "count", json!(2.5), "whole number");
    accessor_replaced(POSITION, "normalized", json!(1), "true or false");
    replaced(
        "/accessors/0/byteOffset",
        json!(u64::MAX),
        "accessors[0].count",
        "0 elements",
    );
    replaced(
        "/accessors/0/byteOffset",
        json!(4),
        "accessors[0].count",
        "2 elements",
    );
    removed("/accessors/0/componentType", "accessors[0].componentType");
    removed("/accessors/0/type", "accessors[0].type");
    removed("/accessors/0/count", "accessors[0].count");
    // Zeros that are nowhere in the file.
    broken(
        |t| {
            t.remove("/accessors/0/bufferView");
            t.set("/accessors/0/count", json!(4_000_000_000u32));
        },
        "accessors[0]",
        "unpacks to no more than",
    );
    // The same bytes over and over.
    broken(
        |t| {
            t.accessor(5121, "VEC3", 20_000, &vec![0; 60_000]);
            let primitive = json!({ "attributes": { "POSITION": MORPH_WEIGHTS + 1 } });
            for _ in 0..1000 {
                t.push("meshes", json!({ "primitives": [primitive] }));
            }
        },
        "accessors[15]",
        "unpacks to no more than",
    );
    for (bits, name) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        broken(
            |t| t.bin[4..8].copy_from_slice(&bits.to_le_bytes()),
            "accessors[0]",
            name,
        );
    }
}

#[test]
fn sparse_accessors() {
    let at = "accessors[9].sparse";
    let pointer = "/accessors/9/sparse";
    for (member, value, location) in [
        ("count", json!(0), "count"),
        ("count", json!(4), "count"),
        ("count", json!(3), "count"),
        ("indices/bufferView", json!(99), "indices.bufferView"),
        (
            "indices/componentType",
            json!(5126),
            "indices.componentType",
        ),
        ("indices/byteOffset", json!(1), "count"),
        ("values/bufferView", json!(99), "values.bufferView"),
        ("values/byteOffset", json!(1), "count"),
    ] {
        let location = format!("{at}.{location}");
        replaced(&format!("{pointer}/{member}"), value, &location, "");
    }
    removed("/accessors/9/sparse/indices", "accessors[9].sparse.indices");
    removed("/accessors/9/sparse/values", "accessors[9].sparse.values");
    for bytes in [[2, 1], [1, 1], [1, 3]] {
        broken(
            |t| {
                let view = t.view(&bytes);
                t.set("/accessors/9/sparse/indices/bufferView", json!(view));
            },
            "accessors[9].sparse.indices",
            "rise and stay below 3",
        );
    }
    broken(
        |t| _ = t.set("/accessors/9/count", json!(u32::MAX)),
        "meshes[0].primitives[0].targets[1].POSITION",
        "3 elements",
    );
}

#[test]
fn nodes_and_scenes() {
    replaced("/scene", json!(1), "scene", "below 1");
    replaced(
        "/scenes/0/nodes",
        json!([9]),
        "scenes[0].nodes[0]",
        "below 4",
    );
    replaced(
        "/scenes/0/nodes",
        json!([0, 0]),
        "scenes[0].nodes[1]",
        "twice",
    );
    replaced(
        "/scenes/0/nodes",
        json!([3]),
        "scenes[0].nodes[0]",
        "without a parent",
    );
    replaced(
        "/nodes/0/children",
        json!([1, 4]),
        "nodes[0].children[1]",
        "below 4",
    );
    replaced(
        "/nodes/0/children",
        json!(["1"]),
        "nodes[0].children[0]",
        "'1'",
    );
    replaced(
        "/nodes/0/children",
        json!([1, 2, 3]),
        "nodes[1].children[0]",
        "one parent",
    );
    replaced(
        "/nodes/0/children",
        json!([1, 1]),
        "nodes[0].children[1]",
        "one parent",
    );
    replaced(
        "/nodes/3/children",
        json!([0]),
        "nodes[0].children",
        "below itself",
    );
    replaced(
        "/nodes/3/children",
        json!([3]),
        "nodes[3].children[0]",
        "one parent",
    );
    replaced(
        "/nodes/0/children",
        json!([0, 1, 2]),
        "nodes[0].children",
        "below itself",
    );
    replaced("/nodes/2/mesh", json!(1), "nodes[2].mesh", "below 1");
    replaced("/nodes/2/skin", json!(7), "nodes[2].skin", "below 1");
    replaced(
        "/nodes/2/weights",
        json!([1]),
        "nodes[2].weights",
        "2 weights",
    );
    replaced(
        "/nodes/1/rotation",
        json!([0, 0, 0, 0]),
        "nodes[1].rotation",
        "length 0",
    );
    replaced(
        "/nodes/1/rotation",
        json!([0, 0, 1]),
        "nodes[1].rotation",
        "4 numbers",
    );
    replaced(
        "/nodes/1/translation",
        json!([0, 0, 1e300]),
        "nodes[1].translation",
        "float",
    );
    replaced(
        "/nodes/1/scale",
        json!([1, "1", 1]),
        "nodes[1].scale[1]",
        "number",
    );
    replaced("/nodes/1/name", json!(7), "nodes[1].name", "string");
    replaced(
        "/nodes/0/matrix",
        json!(vec![0; 16]),
        "nodes[0].matrix",
        "last row",
    );
    let identity = json!([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    replaced("/nodes/1/matrix", identity, "nodes[1].rotation", "both");
    // A long chain whose end leads back to its start: no recursion.
    broken(
        |t| {
            for i in 4..100_000 {
                t.push("nodes", json!({ "children": [i + 1] }));
            }
            t.push("nodes", json!({ "children": [4] }));
        },
        "nodes[4].children",
        "below itself",
    );
}

#[test]
fn skins() {
    use accessor::*;
    replaced(
        "/skins/0/joints",
        json!([]),
        "skins[0].joints",
        "at least one",
    );
    replaced(
        "/skins/0/joints",
        json!([1, 9]),
        "skins[0].joints[1]",
        "below 4",
    );
    replaced(
        "/skins/0/joints",
        json!([1, 1]),
        "skins[0].joints[1]",
        "twice",
    );
    removed("/skins/0/joints", "skins[0].joints");
    replaced(
        "/skins/0/joints",
        json!([1]),
        &attribute("JOINTS_0"),
        "joints below 1",
    );
    replaced(
        "/skins/0/joints",
        json!([0, 1, 3]),
        "skins[0].inverseBindMatrices",
        "3 joints",
    );
    replaced(
        "/skins/0/skeleton",
        json!(4),
        "skins[0].skeleton",
        "below 4",
    );
    replaced(
        "/skins/0/inverseBindMatrices",
        json!(99),
        "skins[0].inverseBindMatrices",
        "",
    );
    replaced(
        "/skins/0/inverseBindMatrices",
        json!(POSITION),
        "skins[0].inverseBindMatrices",
        "MAT4",
    );
    broken(
        |t| {
            let zeros = t.float_accessor("MAT4", &[0.0; 32]);
            t.set("/skins/0/inverseBindMatrices", json!(zeros));
        },
        "skins[0].inverseBindMatrices",
        "last row",
    );
}

#[test]
fn meshes() {
    use accessor::*;
    let at = |name: &str| format!("meshes[0].primitives[0].{name}");
    replaced(
        "/meshes/0/primitives",
        json!([]),
        "meshes[0].primitives",
        "at least one",
    );
    removed("/meshes/0/primitives", "meshes[0].primitives");
    removed(ATTRIBUTES, &at("attributes"));
    replaced(
        "/meshes/0/primitives/0/mode",
        json!(7),
        &at("mode"),
        "0 to 6",
    );
    replaced(
        "/meshes/0/primitives/0/material",
        json!(1),
        &at("material"),
        "below 1",
    );
    replaced(
        "/meshes/0/primitives/0/indices",
        json!(99),
        &at("indices"),
        "below 15",
    );
    replaced(
        "/meshes/0/primitives/0/indices",
        json!(WEIGHTS),
        &at("indices"),
        "SCALAR",
    );
    replaced(
        "/meshes/0/weights",
        json!([1]),
        "meshes[0].weights",
        "2 weights",
    );
    replaced(
        "/meshes/0/weights",
        json!([1, null]),
        "meshes[0].weights[1]",
        "number",
    );
    broken(
        |t| {
            let high = t.accessor(5123, "SCALAR", 3, &shorts(&[0, 1, 3]));
            t.set("/meshes/0/primitives/0/indices", json!(high));
        },
        &at("indices"),
        "points below 3",
    );
    for (name, wrong) in [
        ("POSITION", TEXCOORD),
        ("NORMAL", TANGENT),
        ("TANGENT", NORMAL),
        ("TEXCOORD_0", POSITION),
        ("COLOR_0", TEXCOORD),
        ("JOINTS_0", WEIGHTS),
        ("WEIGHTS_0", JOINTS),
        ("POSITION", 99),
    ] {
        let pointer = format!("{ATTRIBUTES}/{name}");
        replaced(&pointer, json!(wrong), &attribute(name), "");
    }
    // Too few elements for the points.
    for name in [
        "NORMAL",
        "TANGENT",
        "TEXCOORD_0",
        "COLOR_0",
        "JOINTS_0",
        "WEIGHTS_0",
    ] {
        broken(
            |t| {
                let number = t.json.pointer(&format!("{ATTRIBUTES}/{name}")).unwrap();
                let pointer = format!("/accessors/{number}/count");
                t.set(&pointer, json!(2));
            },
            &attribute(name),
            "3 elements, one per point",
        );
    }
    removed(&format!("{ATTRIBUTES}/JOINTS_0"), &attribute("JOINTS_0"));
    removed(&format!("{ATTRIBUTES}/WEIGHTS_0"), &attribute("WEIGHTS_0"));
    // Integers that are not marked as normalised.
    broken(
        |t| {
            let bytes = t.accessor(5121, "VEC4", 3, &[255; 12]);
            t.set(&format!("{ATTRIBUTES}/WEIGHTS_0"), json!(bytes));
        },
        &attribute("WEIGHTS_0"),
        "normalized",
    );
    broken(
        |t| {
            let words = t.accessor(5125, "VEC3", 3, &[0; 36]);
            t.set(&format!("{ATTRIBUTES}/POSITION"), json!(words));
        },
        &attribute("POSITION"),
        "UNSIGNED_INT",
    );
    replaced(
        "/meshes/0/primitives/0/targets",
        json!([{ "POSITION": TEXCOORD }, {}]),
        &at("targets[0].POSITION"),
        "VEC3",
    );
    broken(
        |t| {
            let mut second = t.json["meshes"][0]["primitives"][0].clone();
            second["targets"] = json!([]);
            let primitives = t.json["meshes"][0]["primitives"].as_array_mut().unwrap();
            primitives.push(second);
        },
        "meshes[0].primitives[1].targets",
        "2 morph targets",
    );
}

#[test]
fn animations() {
    use accessor::*;
    let channel = "animations[0].channels[0]";
    let pointer = "/animations/0/channels/0";
    let with = |member: &str| {
        (
            format!("{pointer}/{member}"),
            format!("{channel}.{}", member.replace('/', ".")),
        )
    };
    for (member, value, word) in [
        ("sampler", json!(3), "below 3"),
        ("target/node", json!(4), "below 4"),
        ("target/path", json!("shear"), "'shear'"),
        ("target/path", json!(1), "string"),
    ] {
        let (pointer, location) = with(member);
        replaced(&pointer, value, &location, word);
    }
    removed(
        "/animations/0/channels/0/sampler",
        "animations[0].channels[0].sampler",
    );
    removed(
        "/animations/0/channels/0/target",
        "animations[0].channels[0].target",
    );
    removed(
        "/animations/0/channels/0/target/path",
        "animations[0].channels[0].target.path",
    );
    replaced(
        "/animations/0/channels/1/target",
        json!({ "node": 3, "path": "translation" }),
        "animations[0].channels[1].target",
        "each target once",
    );
    let sampler = "animations[0].samplers[0]";
    for (member, value, word) in [
        ("input", json!(99), "below 15"),
        ("input", json!(TRANSLATION), "SCALAR"),
        ("output", json!(ROTATION), "VEC3"),
        ("output", json!(POSITION), "2 elements"),
        ("interpolation", json!("CUBIC"), "'CUBIC'"),
        ("interpolation", json!("CUBICSPLINE"), "6 elements"),
    ] {
        let location = match member {
            "interpolation" if value == "CUBICSPLINE" => format!("{sampler}.output"),
            member => format!("{sampler}.{member}"),
        };
        replaced(
            &format!("/animations/0/samplers/0/{member}"),
            value,
            &location,
            word,
        );
    }
    replaced(
        "/animations/0/samplers/2/output",
        json!(TIMES),
        "animations[0].samplers[2].output",
        "4 elements",
    );
    for times in [[1.0, 0.5], [0.5, 0.5]] {
        broken(
            |t| {
                let times = t.float_accessor("SCALAR", &times);
                t.set("/animations/0/samplers/0/input", json!(times));
            },
            "animations[0].samplers[0].input",
            "rise",
        );
    }
    broken(
        |t| {
            let times = t.float_accessor("SCALAR", &[0.0, f32::NAN]);
            t.set("/animations/0/samplers/0/input", json!(times));
        },
        "accessors[15]",
        "NaN",
    );
    broken(
        |t| {
            let zeros = t.float_accessor("VEC4", &[0.0; 8]);
            t.set("/animations/0/samplers/1/output", json!(zeros));
            t.set("/animations/0/samplers/1/interpolation", json!("STEP"));
        },
        "animations[0].samplers[1].output",
        "length 0 as element 0",
    );
    // Pointers and bones.
    let at = "animations[0].channels[0].target";
    let target = |value: Value, location: &str, word: &str| {
        let location = format!("{at}.{location}");
        broken(
            |t| {
                t.set("/animations/0/channels/0/target", value);
                t.json["extensionsUsed"] = json!(["EXT_skeleton_humanoid"]);
            },
            &location,
            word,
        );
    };
    target(
        json!({ "path": "pointer" }),
        "extensions.KHR_animation_pointer",
        "nothing",
    );
    for (text, word) in [
        ("/nodes/4/translation", "a node below 4"),
        ("/nodes/x/scale", "'/nodes/x/scale'"),
        ("/meshes/1/weights", "a mesh below 1"),
    ] {
        target(
            json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": text } } }),
            "extensions.KHR_animation_pointer.pointer",
            word,
        );
    }
    for (extension, location, word) in [
        (json!({}), ".humanoidBoneName", "nothing"),
        (
            json!({ "humanoidBoneName": "tail" }),
            ".humanoidBoneName",
            "'tail'",
        ),
    ] {
        target(
            json!({ "path": "translation", "extensions": { "EXT_skeleton_humanoid": extension } }),
            &format!("extensions.EXT_skeleton_humanoid{location}"),
            word,
        );
    }
    target(
        json!({ "path": "weights", "extensions": { "EXT_skeleton_humanoid": { "humanoidBoneName": "hips" } } }),
        "path",
        "rotation, translation or scale",
    );
}

#[test]
fn materials_and_textures() {
    let pbr = "/materials/0/pbrMetallicRoughness";
    let at = "materials[0].pbrMetallicRoughness";
    replaced(
        &format!("{pbr}/baseColorFactor"),
        json!([1, 1, 1]),
        &format!("{at}.baseColorFactor"),
        "4 numbers",
    );
    replaced(
        &format!("{pbr}/baseColorTexture"),
        json!({}),
        &format!("{at}.baseColorTexture.index"),
        "nothing",
    );
    replaced(
        &format!("{pbr}/baseColorTexture/index"),
        json!(1),
        &format!("{at}.baseColorTexture.index"),
        "below 1",
    );
    replaced(
        &format!("{pbr}/metallicFactor"),
        json!("x"),
        &format!("{at}.metallicFactor"),
        "number",
    );
    replaced(
        "/materials/0/alphaMode",
        json!("GLASS"),
        "materials[0].alphaMode",
        "'GLASS'",
    );
    replaced(
        "/textures/0/source",
        json!(1),
        "textures[0].source",
        "below 1",
    );
    replaced(
        "/textures/0/sampler",
        json!(1),
        "textures[0].sampler",
        "below 1",
    );
    replaced("/samplers/0/wrapS", json!(1), "samplers[0].wrapS", "33071");
    replaced(
        "/images/0/bufferView",
        json!(99),
        "images[0].bufferView",
        "below",
    );
    removed("/images/0/bufferView", "images[0].uri");
}

/// EXT_meshopt_compression on the view of the positions, with `data`.
fn compressed(t: &mut TinyGltf, data: &[u8], change: impl FnOnce(&mut Value)) {
    let packed = t.view(data);
    let offset = t.json["bufferViews"][packed]["byteOffset"].clone();
    let mut extension = json!({
        "buffer": 0, "byteOffset": offset, "byteLength": data.len(),
        "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"
    });
    change(&mut extension);
    let view = json!({
        "buffer": 0, "byteLength": 36, "extensions": { "EXT_meshopt_compression": extension }
    });
    t.set("/bufferViews/0", view);
}

#[test]
fn compressed_views() {
    let points = floats(&[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    let data = tiny_gltf::compress(&points, 12);
    let mut good = TinyGltf::character();
    compressed(&mut good, &data, |_| {});
    gltf::read_bytes(&good.glb(), Path::new("a.glb")).expect("the unbroken one");

    let at = "bufferViews[0].extensions.EXT_meshopt_compression";
    for (member, value, location) in [
        ("buffer", json!(1), format!("{at}.buffer")),
        ("byteLength", json!(1e9), format!("{at}.byteLength")),
        ("byteStride", json!(10), at.to_owned()),
        (
            "byteStride",
            json!(16),
            "bufferViews[0].byteLength".to_owned(),
        ),
        ("count", json!(0), at.to_owned()),
        ("count", json!(u64::MAX), at.to_owned()),
        ("count", json!(4), "bufferViews[0].byteLength".to_owned()),
        ("mode", json!("LINES"), format!("{at}.mode")),
        ("filter", json!("BLUR"), format!("{at}.filter")),
        ("filter", json!("QUATERNION"), at.to_owned()),
        ("byteLength", json!(data.len() - 1), at.to_owned()),
    ] {
        broken(
            |t| compressed(t, &data, |e| e[member] = value),
            &location,
            "",
        );
    }
    for member in ["buffer", "byteLength", "byteStride", "count", "mode"] {
        broken(
            |t| compressed(t, &data, |e| _ = e.as_object_mut().unwrap().remove(member)),
            &format!("{at}.{member}"),
            "nothing",
        );
    }
    // A gigabyte out of nothing.
    broken(
        |t| {
            compressed(t, &data, |e| e["count"] = json!(100_000_000));
            t.set("/bufferViews/0/byteLength", json!(1_200_000_000));
        },
        at,
        "unpacks to no more than",
    );
    // A buffer that only stands for one.
    broken(
        |t| {
            let fallback = json!({ "EXT_meshopt_compression": { "fallback": true } });
            let buffer = t.push(
                "buffers",
                json!({ "byteLength": 36, "extensions": fallback }),
            );
            t.set(
                "/bufferViews/0",
                json!({ "buffer": buffer, "byteLength": 36 }),
            );
        },
        "bufferViews[0].buffer",
        "stands for data",
    );
}

/// Reads it, whatever comes of it, without a panic and in time.
#[track_caller]
fn survives(bytes: &[u8], file: &Path, longest: Duration, what: &dyn Fn() -> String) -> bool {
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| read(bytes, file)));
    let Ok(result) = result else {
        panic!("{}: a panic", what());
    };
    assert!(
        start.elapsed() < longest,
        "{}: {:?}",
        what(),
        start.elapsed()
    );
    if let Err(error) = &result {
        assert!(matches!(error, Error::Invalid(_)), "{}: {error}", what());
    }
    result.is_ok()
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

#[test]
fn random_json() {
    let mut read = 0;
    for seed in 0..4000 {
        let mut rng = Rng::new(seed);
        let mut file = TinyGltf::character();
        for _ in 0..1 + rng.below(3) {
            let mut all = Vec::new();
            pointers(&file.json, String::new(), &mut all);
            let place = all[1 + rng.below(all.len() - 1)].clone();
            let other = all[rng.below(all.len())].clone();
            let copy = file.json.pointer(&other).unwrap().clone();
            let (parent, key) = place.rsplit_once('/').unwrap();
            match (rng.below(4), file.json.pointer_mut(parent).unwrap()) {
                (0, Value::Object(parent)) => _ = parent.remove(key),
                (0, Value::Array(parent)) => _ = parent.remove(key.parse().unwrap()),
                (1, _) => *file.json.pointer_mut(&place).unwrap() = copy,
                _ => *file.json.pointer_mut(&place).unwrap() = odd_value(&mut rng),
            }
        }
        let what = || format!("seed {seed}: {}", file.json);
        let good = survives(&file.glb(), Path::new("random.glb"), LONGEST, &what);
        read += usize::from(good);
    }
    // Most changes matter, some do not: else the loop would test nothing.
    assert!((150..3000).contains(&read), "{read} of 4000 were read");
}

/// Some bytes changed, cut or repeated.
fn scrambled(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(out.len());
        match rng.below(8) {
            0 => out.truncate(at.max(1)),
            1 => {
                let end = (at + 1 + rng.below(16)).min(out.len());
                out.drain(at..end);
            }
            2 => out.insert(at, rng.bits() as u8),
            3 => out[at] = b"0129-e\"[]{},:"[rng.below(13)],
            _ => out[at] ^= 1 << rng.below(8),
        }
        if out.is_empty() {
            return vec![b'{'];
        }
    }
    out
}

#[test]
fn random_bytes() {
    let character = TinyGltf::character();
    let whole = character.glb();
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let what = || format!("seed {seed}");
        let file = match seed % 3 {
            0 => scrambled(&whole, &mut rng),
            1 => {
                let text = serde_json::to_vec(&character.json).unwrap();
                glb(&scrambled(&text, &mut rng), &character.bin)
            }
            _ => {
                let text = serde_json::to_vec(&character.json).unwrap();
                glb(&text, &scrambled(&character.bin, &mut rng))
            }
        };
        survives(&file, Path::new("random.glb"), LONGEST, &what);
    }
}

/// Compressed data of every kind with bytes changed: decoders are where such files do harm.
#[test]
fn random_compressed_bytes() {
    let points: Vec<u8> = (0..300u32)
        .flat_map(|i| (i as f32).sin().to_le_bytes())
        .collect();
    let data = tiny_gltf::compress(&points, 12);
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let mut file = TinyGltf::character();
        let filter = ["NONE", "EXPONENTIAL"][rng.below(2)];
        compressed(&mut file, &scrambled(&data, &mut rng), |e| {
            e["count"] = json!(100);
            e["filter"] = json!(filter);
        });
        file.set("/bufferViews/0/byteLength", json!(1200));
        survives(&file.glb(), Path::new("random.glb"), LONGEST, &|| {
            format!("seed {seed}")
        });
    }
}

/// Real files, scrambled, where `SINEW_ASSETS` names their folder.
#[test]
fn random_bytes_of_real_files() {
    let Some(assets) = std::env::var_os("SINEW_ASSETS") else {
        return;
    };
    let mut files = 0;
    for path in common::files::files_of(Path::new(&assets), &["gltf", "glb", "vrm", "vrma"]) {
        let bytes = std::fs::read(&path).unwrap();
        if bytes.len() > 1_000_000 {
            continue;
        }
        files += 1;
        let start = Instant::now();
        assert!(
            survives(&bytes, &path, LONGEST, &|| path.display().to_string()),
            "{}",
            path.display()
        );
        let longest = start.elapsed() * 10 + LONGEST;
        for seed in 0..20 {
            let file = scrambled(&bytes, &mut Rng::new(seed));
            let what = || format!("{}: seed {seed}", path.display());
            survives(&file, &path, longest, &what);
        }
    }
    assert!(files > 20, "{files} files");
}
