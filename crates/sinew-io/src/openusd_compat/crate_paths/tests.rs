use std::io::Cursor;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use openusd::{sdf, usdz};

use super::*;
use crate::error::Result;
use crate::usd::{ReadOptions, UsdFile};

const PATHS: &[u8] = b"PATHS\0";

/// xorshift64*.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }
}

/// The integer coding of jumps, each as narrow as it can be.
fn encoded(jumps: &[i32]) -> Vec<u8> {
    const COMMON: i32 = 0;
    let mut codes = vec![0u8; jumps.len().div_ceil(4)];
    let mut wide = Vec::new();
    let mut last = 0i32;
    for (i, &jump) in jumps.iter().enumerate() {
        let delta = jump.wrapping_sub(last);
        last = jump;
        let code = if delta == COMMON {
            0
        } else if let Ok(delta) = i8::try_from(delta) {
            wide.extend(delta.to_le_bytes());
            1
        } else if let Ok(delta) = i16::try_from(delta) {
            wide.extend(delta.to_le_bytes());
            2
        } else {
            wide.extend(delta.to_le_bytes());
            3
        };
        codes[i / 4] |= code << (i % 4 * 2);
    }
    [&COMMON.to_le_bytes()[..], &codes, &wide].concat()
}

/// Each entry leads to the next one twice, but for the last, which is a leaf: else openusd finds the end missing.
fn endless(entries: usize) -> Vec<i32> {
    let mut jumps = vec![1; entries];
    jumps[entries - 1] = -2;
    jumps
}

pub fn word(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Where a file's table of contents has the start and size of a section.
pub fn entry(file: &[u8], section: &[u8]) -> usize {
    let table = word(file, 16);
    let mut entries = (0..word(file, table)).map(|i| table + 8 + i * 32);
    let found = entries.find(|&at| file[at..].starts_with(section));
    found.unwrap() + 16
}

/// The file with other jumps for its paths, made of how many there are.
fn with_jumps(file: &[u8], jumps: impl FnOnce(usize) -> Vec<i32>) -> Vec<u8> {
    let entry = entry(file, PATHS);
    let start = word(file, entry);
    // Number of paths, number of entries; their places, their names.
    let mut end = start + 16;
    for _ in 0..2 {
        end += 8 + word(file, end);
    }
    let jumps = lz4_flex::block::compress(&encoded(&jumps(word(file, start + 8))));
    let mut section = file[start..end].to_vec();
    section.extend((jumps.len() as u64 + 1).to_le_bytes());
    section.push(0);
    section.extend(jumps);
    let mut out = file.to_vec();
    out[entry..entry + 8].copy_from_slice(&(file.len() as u64).to_le_bytes());
    out[entry + 8..entry + 16].copy_from_slice(&(section.len() as u64).to_le_bytes());
    out.extend(section);
    out
}

/// A crate as openusd writes it.
pub fn written(prims: &str) -> Vec<u8> {
    let text = format!("#usda 1.0\n{prims}");
    let layer = sdf::Layer::from_bytes("test", text.into_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.usdc");
    layer.export(file.to_str().unwrap()).unwrap();
    std::fs::read(file).unwrap()
}

fn wide(prims: usize) -> Vec<u8> {
    let prims: String = (0..prims)
        .map(|i| format!("def \"P{i}\" {{\n}}\n"))
        .collect();
    written(&prims)
}

fn deep(prims: usize) -> Vec<u8> {
    let open: String = (0..prims).map(|i| format!("def \"P{i}\" {{\n")).collect();
    written(&(open + &"}\n".repeat(prims)))
}

/// Skinned prims with relationships and namespaced properties.
fn mixed(variants: &str) -> Vec<u8> {
    let prims = (0..40).map(|i| {
        format!(
            "def SkelRoot \"R{i}\" (variantSets = [\"v\"]) {{\nfloat a:b = 1\n\
             def Mesh \"M\" {{\nint[] primvars:skel:jointIndices = [0]\nrel skel:skeleton = </R{i}/S>\n}}\n\
             def Skeleton \"S\" {{\nuniform token[] joints = [\"J\"]\n}}\n\
             {variants}}}\n"
        )
    });
    written(&prims.collect::<String>())
}

const VARIANTS: &str =
    "variantSet \"v\" = {\n\"x\" {\ndef \"In\" {\nfloat c = 2\n}\n}\n\"y\" {\nfloat d = 3\n}\n}\n";

fn walked(file: &[u8]) -> Walk {
    let (encoded, entries) = encoded_jumps(&mut Cursor::new(file)).unwrap();
    walk(&encoded, entries).unwrap()
}

/// What `run` returns, unless it takes too long.
pub fn within<T: Send + 'static>(seconds: u64, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(run()));
    let result = result.recv_timeout(Duration::from_secs(seconds));
    result.expect("a file that is read for ever, or a panic")
}

pub fn opened(file: &Path) -> Result<()> {
    let file = file.to_owned();
    within(60, move || UsdFile::open(file).map(drop))
}

#[test]
fn what_is_written_is_a_tree() {
    for (name, file) in [
        ("deep", deep(100)),
        ("wide", wide(3000)),
        ("mixed", mixed(VARIANTS)),
    ] {
        let layer = sdf::Layer::from_bytes("test", file.clone()).unwrap();
        let paths = layer.data().spec_paths();
        let Walk::Tree { entries } = walked(&file) else {
            panic!("{name}: {:?}", walked(&file));
        };
        assert!(paths.len() >= 100, "{name}");
        assert_eq!(entries, paths.len(), "{name}");
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("a.usdc");
        std::fs::write(&at, file).unwrap();
        opened(&at).unwrap();
    }
}

#[test]
fn jumps_to_one_entry_are_found() {
    let walk = |jumps: &[i32]| super::walk(&encoded(jumps), jumps.len()).unwrap();
    let entries = |n: usize| Walk::Tree { entries: n };
    assert_eq!(walk(&[]), entries(0));
    assert_eq!(walk(&[-2]), entries(1));
    // A root with three children, the first of which has one.
    assert_eq!(walk(&[-1, 2, -2, 0, -2]), entries(5));
    assert_eq!(
        walk(&[1, -2]),
        Walk::Twice {
            entry: 1,
            entries: 2
        }
    );
    // The child's sibling is the parent's too.
    assert_eq!(
        walk(&[-1, 2, 0, -2]),
        Walk::Twice {
            entry: 3,
            entries: 4
        }
    );
    // Never reached.
    assert_eq!(walk(&[-1, -2, 1, 1, 1, -2]), entries(6));
    // Behind the end, where openusd stops.
    assert_eq!(walk(&[7, i32::MAX, -1]), entries(3));
    // Every width.
    let mut far = vec![-2; 70_002];
    (far[0], far[1], far[301], far[302]) = (-1, 300, 69_700, 0);
    assert_eq!(walk(&far), entries(70_002));
    far[303] = 69_698;
    let twice = Walk::Twice {
        entry: 70_001,
        entries: 70_002,
    };
    assert_eq!(walk(&far), twice);
    // As deep as it may be, and deeper.
    let mut chain = vec![-1; MAX_NESTING + 1];
    assert_eq!(walk(&chain), entries(MAX_NESTING + 1));
    chain.push(0);
    let deep = Walk::Deep {
        entry: MAX_NESTING + 1,
    };
    assert_eq!(walk(&chain), deep);
    // Cut anywhere.
    let whole = encoded(&far);
    for length in (0..whole.len()).step_by(997) {
        assert_eq!(super::walk(&whole[..length], far.len()), None, "{length}");
    }
}

#[test]
fn as_often_as_they_are_reached() {
    let mut random = Random(7);
    let mut found = [0, 0];
    for _ in 0..20_000 {
        let count = 1 + random.below(12);
        let jumps: Vec<i32> = (0..count).map(|_| random.below(6) as i32 - 2).collect();
        // How often openusd comes to each entry.
        let mut visits = vec![0u64; count];
        visits[0] = 1;
        for (entry, &jump) in jumps.iter().enumerate() {
            let child = (jump > 0 || jump == -1).then_some(1);
            let sibling = (jump >= 0).then_some(jump.max(1) as usize);
            for ahead in child.into_iter().chain(sibling) {
                if entry + ahead < count {
                    visits[entry + ahead] += visits[entry];
                }
            }
        }
        let twice = visits.iter().any(|&n| n > 1);
        let walk = walk(&encoded(&jumps), count).unwrap();
        assert_eq!(matches!(walk, Walk::Twice { .. }), twice, "{jumps:?}");
        found[usize::from(twice)] += 1;
    }
    assert!(found.iter().all(|&n| n > 1000), "{found:?}");
}

/// A file that would take 2^63 steps, by itself and wherever a layer may be.
#[test]
fn endless_paths_are_refused_at_once() {
    let bad = with_jumps(&wide(63), |entries| {
        assert_eq!(entries, 64);
        endless(entries)
    });
    let good = wide(1);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        file
    };
    let package = |entries: &[(&str, &[u8])]| {
        let mut bytes = Cursor::new(Vec::new());
        let mut archive = usdz::ArchiveWriter::new(&mut bytes);
        for (name, layer) in entries {
            archive.add_layer(name, layer).unwrap();
        }
        archive.finish().unwrap();
        bytes.into_inner()
    };
    let nested = package(&[("layer.usdc", &bad)]);
    let reference =
        b"#usda 1.0\ndef \"A\" (references = @./in.usdz[in.usdz[layer.usdc]]@</P0>) {\n}\n";
    write(
        "in.usdz",
        &package(&[("layer.usdc", &good), ("in.usdz", &nested)]),
    );
    write("bad.usdc", &bad);
    let twice =
        "PATHS section: expected a tree of 64 entries, found paths that lead to entry 1 twice";
    for (name, bytes, composes) in [
        ("bad.usdc", bad.clone(), false),
        ("bad.usd", bad.clone(), false),
        ("bad.usdz", nested.clone(), false),
        (
            "bad_root.usdz",
            package(&[("in.usd", &bad), ("b.usdc", &good)]),
            false,
        ),
        ("reference.usda", reference.to_vec(), true),
        (
            "sublayer.usda",
            b"#usda 1.0\n(subLayers = [@./in.usdz[in.usdz]@])\n".to_vec(),
            true,
        ),
        (
            "sublayer.usdc",
            written("(subLayers = [@./bad.usdc@])\n"),
            true,
        ),
    ] {
        let file = write(name, &bytes);
        let started = Instant::now();
        let scene = within(60, move || {
            UsdFile::open(&file)?.scene(ReadOptions::default())
        });
        // A debug build on a busy machine.
        assert!(
            started.elapsed().as_secs() < 5,
            "{name}: {:?}",
            started.elapsed()
        );
        let reported = match scene {
            Ok(scene) if composes => scene.warnings.iter().map(ToString::to_string).collect(),
            Err(e) if !composes => e.to_string(),
            Ok(_) => panic!("{name} was read"),
            Err(e) => panic!("{name}: {e}"),
        };
        assert!(
            reported.contains(name) && reported.contains(twice),
            "{name}: {reported}"
        );
    }
}

/// Paths that take a terabyte.
#[test]
fn endless_nesting_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep.usdc");
    std::fs::write(&file, with_jumps(&wide(1200), |entries| vec![-1; entries])).unwrap();
    let reported = opened(&file).unwrap_err().to_string();
    let deep = "PATHS section: expected at most 1000 levels, found entry 1001 below that many";
    assert!(
        reported.contains("deep.usdc") && reported.contains(deep),
        "{reported}"
    );
}

/// Whatever a PATHS section says, openusd comes to an end with it. Without variants, since a debug build of openusd
/// asserts that they are below no property.
#[test]
fn no_paths_are_read_for_ever() {
    let mut random = Random(11);
    let (narrow, mixed) = (wide(40), mixed(""));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.usdc");
    let mut read = [0, 0];
    let mut open = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        read[usize::from(opened(&file).is_ok())] += 1;
    };
    // Bytes of a section, or what is said of it.
    for _ in 0..300 {
        let mut bytes = if random.below(2) == 0 {
            narrow.clone()
        } else {
            mixed.clone()
        };
        let entry = entry(&bytes, PATHS);
        let (start, size) = (word(&bytes, entry), word(&bytes, entry + 8));
        for _ in 0..1 + random.below(4) {
            let at = match random.below(8) {
                0 => entry + random.below(16),
                _ => start + random.below(size),
            };
            bytes[at] = random.below(256) as u8;
        }
        open(&bytes);
    }
    // Jumps, which are read as they are.
    for _ in 0..300 {
        let jumps = |entries: usize| {
            let some = 1 + random.below(3);
            let mut jumps = vec![i32::from(random.below(6) == 0); entries - 1];
            jumps[entries - 2] = -2;
            (0..some).for_each(|_| {
                jumps[random.below(entries - 1)] = random.below(entries + 4) as i32 - 2
            });
            [&[-1], &jumps[..]].concat()
        };
        let bytes = with_jumps(&narrow, jumps);
        open(&bytes);
    }
    assert!(read.iter().all(|&n| n > 10), "{read:?}");
}

#[test]
fn such_a_clip_is_of_no_bake() {
    use crate::usd::FoundClip;
    let bad = with_jumps(&wide(63), endless);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.usdc");
    std::fs::write(&file, bad).unwrap();
    let found = within(60, move || {
        matches!(FoundClip::at(&file), Ok(FoundClip::Foreign))
    });
    assert!(found);
}
