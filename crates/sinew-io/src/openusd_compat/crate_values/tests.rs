use std::io::Cursor;

use openusd::sdf;

use super::*;
use crate::openusd_compat::crate_paths::tests::{Random, entry, opened, within, word, written};

const FIELDS: &[u8] = b"FIELDS\0";
/// A specifier, which is no place.
const LEAF: u64 = 42 << 48 | Rep::INLINED;

/// A stage whose layer has a dictionary.
const WITH_DATA: &str = "(customLayerData = { dictionary a = { dictionary b = { int c = 1 } int d = 2 } })\n\
    def \"P\" {\nfloat x.timeSamples = { 1: 2, 3: 4, 5: 6 }\n}\n";

fn dictionary_of(file: &[u8]) -> (Vec<u8>, usize) {
    let all = fields(&mut Bytes::new(&mut Cursor::new(file)).unwrap()).unwrap();
    let mut reps = (0..all.len()).step_by(8);
    let at = reps.find(|&at| Rep(word(&all, at) as u64).kind() == Rep::DICTIONARY);
    (all, at.unwrap())
}

/// The file with another value for its dictionary: `values` are added to its end, given where that is.
fn with_value(values: impl FnOnce(u64) -> (Vec<u8>, u64)) -> Vec<u8> {
    let mut file = written(WITH_DATA);
    let (mut reps, at) = dictionary_of(&file);
    let (bytes, rep) = values(file.len() as u64);
    file.extend(bytes);
    reps[at..at + 8].copy_from_slice(&rep.to_le_bytes());
    let entry = entry(&file, FIELDS);
    let start = word(&file, entry);
    let end = start + 16 + word(&file, start + 8);
    let reps = lz4_flex::block::compress(&reps);
    let mut section = file[start..end].to_vec();
    section.extend((reps.len() as u64 + 1).to_le_bytes());
    section.push(0);
    section.extend(reps);
    let place = file.len() as u64;
    file[entry..entry + 8].copy_from_slice(&place.to_le_bytes());
    file.extend(section);
    file
}

/// So many dictionaries or time samples, each of which has the next one twice.
fn doubled(levels: usize, kind: u8, place: u64) -> (Vec<u8>, u64) {
    let mut bytes = Vec::new();
    let mut put = |words: &[u64]| {
        let at = place + bytes.len() as u64;
        words
            .iter()
            .for_each(|word| bytes.extend(word.to_le_bytes()));
        at
    };
    let times = put(&[2, 0, 1.0f64.to_bits()]) | 9 << 48 | 1 << 63;
    let mut rep = LEAF;
    for _ in 0..levels {
        let at = match kind {
            Rep::TIME_SAMPLES => put(&[8, times, 8, 2, rep, rep]),
            _ => {
                // Key 0, 8 bytes ahead, and the same again, in 40 bytes.
                let entry = [&[0; 4][..], &8u64.to_le_bytes(), &rep.to_le_bytes()].concat();
                let both = [&entry[..], &entry].concat();
                let words: Vec<u64> = (0..5).map(|i| word(&both, i * 8) as u64).collect();
                put(&[&[2], &words[..]].concat())
            }
        };
        rep = at | u64::from(kind) << 48;
    }
    (bytes, rep)
}

fn marked(file: &[u8]) -> io::Result<Marks> {
    let file = file.to_vec();
    within(60, move || check(&mut Cursor::new(file)))
}

fn checked(file: &[u8]) -> io::Result<()> {
    marked(file).map(drop)
}

#[test]
fn parts_are_counted() {
    let file = written(WITH_DATA);
    let (all, at) = dictionary_of(&file);
    let mut file = Cursor::new(file);
    let mut nest = Nest {
        bytes: Bytes::new(&mut file).unwrap(),
        most: FEW,
        left: FEW,
        parts: HashMap::new(),
        packed: 0,
        marks: Marks::default(),
    };
    let mut count = |rep| nest.count(rep, 0).ok();
    // Each dictionary, and each entry.
    assert_eq!(count(Rep(word(&all, at) as u64)), Some(7));
    let mut reps = (0..all.len())
        .step_by(8)
        .map(|at| Rep(word(&all, at) as u64));
    let samples = reps.find(|rep| rep.kind() == Rep::TIME_SAMPLES).unwrap();
    assert_eq!(count(samples), Some(4));
}

/// A value, by itself and as the sample of one in a dictionary.
fn marks_of(kind: u8, flags: u64, payload: u64) -> [Marks; 2] {
    let rep = u64::from(kind) << 48 | flags | payload;
    let alone = with_value(|_| (Vec::new(), rep));
    let nested = with_value(|place| {
        let mut words = vec![8, place | 9 << 48 | Rep::ARRAY, 8, 1, rep];
        let samples = place | u64::from(Rep::TIME_SAMPLES) << 48;
        let dictionary = place + 8 * words.len() as u64;
        // Key 0, 8 bytes ahead.
        words.extend([1, 8 << 32, samples << 32, samples >> 32]);
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        (
            bytes.collect(),
            dictionary | u64::from(Rep::DICTIONARY) << 48,
        )
    });
    [&alone, &nested].map(|file| marked(file).unwrap())
}

#[test]
fn what_openusd_reads_or_writes_wrongly_is_marked() {
    let none = marks_of(Rep::INT64, Rep::INLINED, 5);
    assert!(!none[0].integers && !none[1].integers);
    let negative = u64::from(-5i32 as u32);
    for marks in marks_of(Rep::INT64, Rep::INLINED, negative) {
        assert!(marks.integers && !marks.splines && !marks.narrow);
    }
    let unsigned = marks_of(Rep::UINT64, Rep::INLINED, negative);
    assert!(!unsigned[0].integers && !unsigned[1].integers);
    for marks in marks_of(Rep::SPLINE, 0, 100) {
        assert!(marks.splines && !marks.integers);
    }
    for kind in [Rep::HALF2, Rep::PATH_EXPRESSION] {
        assert!(marks_of(kind, Rep::INLINED, 1).iter().all(|m| m.narrow));
        assert!(!marks_of(kind, Rep::ARRAY, 0).iter().any(|m| m.narrow));
    }
    let counted = |attribute: &str| {
        let file = written(&format!("def \"P\" {{\n{attribute}\n}}\n"));
        marked(&file).unwrap().counted
    };
    assert!(counted("float x.timeSamples = { 1: 2 }"));
    assert!(counted("string[] x = [\"a\"]") && counted("asset[] x = [@a@]"));
    assert!(!counted("string x = \"a\"") && !counted("double[] x = [1, 2]"));
}

/// openusd makes room for 16 integers of 32 bits, in the file that it wrote itself.
#[test]
fn integers_that_openusd_makes_no_room_for_are_marked() {
    let array = |step: i64| {
        let values: Vec<String> = (0..16i64).map(|i| (i * i * step).to_string()).collect();
        let text = format!("def \"P\" {{\nint64[] x = [{}]\n}}\n", values.join(", "));
        written(&text)
    };
    for (step, fits) in [
        (1, true),
        (1 << 20, true),
        (1 << 40, false),
        (-1 << 50, false),
    ] {
        let file = array(step);
        assert_eq!(marked(&file).unwrap().integers, !fits, "{step}");
        let layer = sdf::Layer::from_bytes("test", file).unwrap();
        let property = sdf::Path::new("/P.x").unwrap();
        let read = layer.data().try_field(&property, "default");
        assert_eq!(read.is_ok(), fits, "{step}");
    }
}

#[test]
fn few_in_one_another_are_read() {
    for kind in [Rep::DICTIONARY, Rep::TIME_SAMPLES] {
        for levels in [1, 3, 10] {
            checked(&with_value(|place| doubled(levels, kind, place))).unwrap();
        }
    }
}

/// Two kilobytes that would take 2^30 steps and more, through the file that is opened.
#[test]
fn endless_values_are_refused_at_once() {
    let backwards = |place: u64| {
        // The one entry says that it is found 16 bytes before, so that the next one is where it is itself.
        let mut bytes = (1u64 << 40).to_le_bytes().to_vec();
        bytes.extend(LEAF.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend((-12i64).to_le_bytes());
        (bytes, place | u64::from(Rep::DICTIONARY) << 48)
    };
    let itself = |place: u64| {
        let rep = place | u64::from(Rep::UNREGISTERED_VALUE) << 48;
        (
            [8, rep]
                .iter()
                .flat_map(|w: &u64| w.to_le_bytes())
                .collect(),
            rep,
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.usdc");
    for (name, bytes) in [
        (
            "dictionaries",
            with_value(|place| doubled(30, Rep::DICTIONARY, place)),
        ),
        (
            "time samples",
            with_value(|place| doubled(30, Rep::TIME_SAMPLES, place)),
        ),
        (
            "too deep",
            with_value(|place| doubled(40, Rep::DICTIONARY, place)),
        ),
        ("backwards", with_value(backwards)),
        ("itself", with_value(itself)),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let reported = opened(&file).expect_err(name).to_string();
        let endless = "FIELDS section: expected values of at most 32 levels";
        assert!(
            reported.contains("values.usdc") && reported.contains(endless),
            "{name}: {reported}"
        );
    }
}

/// Whatever fields and values say, openusd comes to an end with them.
#[test]
fn no_values_are_read_for_ever() {
    let mut random = Random(13);
    let mut read = [0, 0];
    for _ in 0..400 {
        let kind = [Rep::DICTIONARY, Rep::TIME_SAMPLES][random.below(2)];
        let levels = 1 + random.below(8);
        let mut values = 0..0;
        let mut bytes = with_value(|place| {
            let (bytes, rep) = doubled(levels, kind, place);
            values = place as usize..place as usize + bytes.len();
            (bytes, rep)
        });
        for _ in 0..1 + random.below(3) {
            let at = values.start + random.below(values.len());
            bytes[at] = random.below(256) as u8;
        }
        let passed = checked(&bytes).is_ok();
        read[usize::from(passed)] += 1;
        if passed {
            within(60, move || {
                let layer = sdf::Layer::from_bytes("test", bytes).unwrap();
                let root = sdf::Path::abs_root();
                layer.data().try_field(&root, "customLayerData").map(drop)
            })
            // A value that is broken is reported.
            .unwrap_or_default();
        }
    }
    assert!(read.iter().all(|&n| n > 20), "{read:?}");
}
