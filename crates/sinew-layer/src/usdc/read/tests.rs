//! Small crate files, made number by number, and what becomes of them when a number is wrong.

use super::sections::END;
use super::*;
use crate::layer::SpecKind;
use crate::path::Path;
use crate::usdc::format::kind;
use crate::usdc::write::ints::{compress, pack32, prefixed};
use half::f16;

/// The numbers that a crate file is made of.
#[derive(Clone)]
struct Maker {
    version: [u8; 3],
    tokens: Vec<&'static str>,
    strings: Vec<u32>,
    fields: Vec<(u32, u64)>,
    sets: Vec<u32>,
    /// Index, element and jump.
    paths: Vec<(u32, i32, i32)>,
    /// Path, list of fields and kind.
    specs: Vec<(u32, u32, u32)>,
    /// What stands at [`VALUES`].
    values: Vec<u8>,
}

/// Where values begin.
const VALUES: u64 = 88;

fn compressed(bytes: &[u8]) -> Vec<u8> {
    prefixed(&compress(bytes).unwrap())
}

impl Maker {
    /// `/A` with the attribute `a`, whose value is an array and which has time samples, and a dictionary.
    fn new() -> Self {
        let rep = |kind: u8, payload: u64| Rep(u64::from(kind) << 48 | payload);
        let inlined = |kind, payload| rep(kind, payload).0 | 1 << 62;
        let mut values = Vec::new();
        let place = |values: &mut Vec<u8>, numbers: &[u64]| {
            let at = VALUES + values.len() as u64;
            values.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
            at
        };
        // An array of three doubles.
        let array = place(
            &mut values,
            &[3, 1f64.to_bits(), 2f64.to_bits(), 3f64.to_bits()],
        );
        let array = rep(9, array).0 | 1 << 63;
        let names = |values: &mut Vec<u8>, token: u32| {
            let at = VALUES + values.len() as u64;
            values.extend(1u64.to_le_bytes());
            values.extend(token.to_le_bytes());
            values.extend([0; 4]);
            rep(kind::TOKEN_VECTOR, at).0
        };
        let prims = names(&mut values, 1);
        let properties = names(&mut values, 2);
        let times = place(&mut values, &[2, 1f64.to_bits(), 2f64.to_bits()]);
        let times = rep(kind::DOUBLE_VECTOR, times).0;
        let samples = place(&mut values, &[8, times, 8, 2, array, inlined(9, 0)]);
        let samples = rep(kind::TIME_SAMPLES, samples).0;
        // {"a": 7}
        let dictionary = place(&mut values, &[1]);
        values.extend(0u32.to_le_bytes());
        place(&mut values, &[8, inlined(3, 7)]);
        let dictionary = rep(kind::DICTIONARY, dictionary).0;
        Self {
            version: [0, 8, 0],
            tokens: vec![
                "",
                "A",
                "a",
                "primChildren",
                "properties",
                "default",
                "timeSamples",
                "customData",
                "specifier",
            ],
            strings: vec![2],
            fields: vec![
                (3, prims),
                (4, properties),
                (5, array),
                (6, samples),
                (7, dictionary),
                (8, inlined(kind::SPECIFIER, 0)),
            ],
            sets: vec![0, END, 1, 4, 5, END, 2, 3, END],
            paths: vec![(0, 0, -1), (1, 1, -1), (2, -2, -2)],
            specs: vec![(0, 0, 7), (1, 2, 6), (2, 6, 1)],
            values,
        }
    }

    fn make(&self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend(self.version);
        file.resize(VALUES as usize, 0);
        file.extend(&self.values);
        let count = |count: usize| (count as u64).to_le_bytes();
        let text: Vec<u8> = self
            .tokens
            .iter()
            .flat_map(|t| [t.as_bytes(), &[0]].concat())
            .collect();
        let strings: Vec<u8> = self.strings.iter().flat_map(|s| s.to_le_bytes()).collect();
        let reps: Vec<u8> = self.fields.iter().flat_map(|f| f.1.to_le_bytes()).collect();
        let column = |numbers: Vec<i32>| match numbers.len() {
            0 => vec![0; 8],
            _ => pack32(&numbers).unwrap(),
        };
        let (fields, sets, paths, specs) = (&self.fields, &self.sets, &self.paths, &self.specs);
        let sections: [&[&[u8]]; 6] = [
            &[
                &count(self.tokens.len()),
                &count(text.len()),
                &compressed(&text),
            ],
            &[&count(self.strings.len()), &strings],
            &[
                &count(fields.len()),
                &column(fields.iter().map(|f| f.0 as i32).collect()),
                &compressed(&reps),
            ],
            &[
                &count(sets.len()),
                &column(sets.iter().map(|s| *s as i32).collect()),
            ],
            &[
                &count(paths.len()),
                &count(paths.len()),
                &column(paths.iter().map(|p| p.0 as i32).collect()),
                &column(paths.iter().map(|p| p.1).collect()),
                &column(paths.iter().map(|p| p.2).collect()),
            ],
            &[
                &count(specs.len()),
                &column(specs.iter().map(|s| s.0 as i32).collect()),
                &column(specs.iter().map(|s| s.1 as i32).collect()),
                &column(specs.iter().map(|s| s.2 as i32).collect()),
            ],
        ];
        let sections = sections.map(|parts| parts.concat());
        let mut table = count(sections.len()).to_vec();
        for (name, section) in sections::SECTIONS.iter().zip(&sections) {
            let mut row = name.as_bytes().to_vec();
            row.resize(16, 0);
            row.extend(count(file.len()));
            row.extend(count(section.len()));
            table.extend(row);
            file.extend(section);
        }
        let at = file.len() as u64;
        file[16..24].copy_from_slice(&at.to_le_bytes());
        file.extend(table);
        file
    }
}

fn open(file: Vec<u8>) -> Result<Layer> {
    read("test.usdc", file.into())
}

/// Opens a file and decodes everything in it.
fn exercise(file: Vec<u8>) -> Result<()> {
    let layer = open(file)?;
    let mut specs = 0;
    let mut all = Vec::new();
    layer.walk(&Path::root(), &mut |_, spec| {
        specs += 1;
        all.extend(spec.fields.iter().map(|(_, value)| value.clone()));
    });
    assert!(specs <= layer.len());
    for value in all {
        if let Value::TimeSamples(samples) = &value {
            for i in 0..samples.len() {
                samples.load(i)?;
            }
        }
        value.load()?;
    }
    Ok(())
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

#[test]
fn a_small_file_is_read() {
    let layer = open(Maker::new().make()).unwrap();
    assert_eq!(layer.len(), 3);
    assert_eq!(layer.root().children(), ["A"]);
    let prim = layer.spec(&path("/A")).unwrap();
    assert_eq!(
        (prim.kind, prim.properties()),
        (SpecKind::Prim, &["a".into()][..])
    );
    let Some(Value::Dictionary(data)) = prim.get("customData") else {
        panic!("{prim:?}")
    };
    assert_eq!(data["a"], Value::Int(7));
    let attribute = layer.spec(&path("/A.a")).unwrap();
    let Some(Value::Stored(stored)) = attribute.get("default") else {
        panic!("{attribute:?}")
    };
    assert_eq!((stored.type_name(), stored.len()), ("double[]", 3));
    let array = Value::DoubleArray(vec![1.0, 2.0, 3.0].into());
    assert_eq!(stored.load().unwrap(), array);
    let Some(Value::TimeSamples(samples)) = attribute.get("timeSamples") else {
        panic!("{attribute:?}")
    };
    assert_eq!(samples.times(), [1.0, 2.0]);
    assert_eq!(samples.load(0).unwrap(), array);
    assert_eq!(samples.values()[1], Value::Double(0.0));
    assert_eq!(samples.values()[0], Value::Stored(stored.clone()));
}

/// A change of a file and what the error has to contain.
type Case = (&'static str, fn(&mut Maker));

#[test]
fn broken_numbers_are_named() {
    let cases: &[Case] = &[
        ("header: crate version 0.3.0", |m| m.version = [0, 3, 0]),
        ("header: crate version 0.17.0", |m| m.version = [0, 17, 0]),
        ("STRINGS at", |m| m.strings = vec![9]),
        ("FIELDS at", |m| m.fields[0].0 = 9),
        ("FIELDSETS at", |m| m.sets[0] = 6),
        ("the last list of fields has no end", |m| m.sets.truncate(8)),
        // What LZ4 makes of few bytes takes memory, though no spec uses it.
        ("200000 are claimed", |m| m.tokens.resize(200_000, "")),
        ("200000 are claimed", |m| {
            m.fields.resize(200_000, m.fields[0])
        }),
        ("200000 are claimed", |m| m.sets.resize(200_000, END)),
        ("PATHS at", |m| m.paths[0].0 = 3),
        ("path 0 is there twice", |m| m.paths[1].0 = 0),
        ("path 3 of the tree is named", |m| m.paths[2].2 = 0),
        ("path 2000 of the tree is named", |m| m.paths[1].2 = 1999),
        ("jumps by -3", |m| m.paths[1].2 = -3),
        ("token 99 is named", |m| m.paths[1].1 = 99),
        ("token 2147483648 is named", |m| m.paths[1].1 = i32::MIN),
        ("'' cannot stand below '/'", |m| m.paths[1].1 = 0),
        ("path 3 is named", |m| m.specs[2].0 = 3),
        ("list of fields 9 is named", |m| m.specs[2].1 = 9),
        ("no list of fields begins at 3", |m| m.specs[2].1 = 3),
        ("path 2 is not in the tree", |m| m.paths[1].2 = -2),
        ("no spec of the kind 6 can stand here", |m| m.specs[2].2 = 6),
        ("no spec of the kind 12 can stand here", |m| {
            m.specs[2].2 = 12
        }),
        ("two specs of this path", |m| m.specs[2] = m.specs[1]),
        ("/A customData", |m| m.strings.clear()),
        ("/A customData", |m| {
            m.fields[4].1 = u64::from(kind::DICTIONARY) << 48 | 1 << 40
        }),
        ("/A.a default: the type 99 is not known", |m| {
            m.fields[2].1 = 99 << 48
        }),
        ("the type 31 is not known", |m| m.fields[2].1 |= 31 << 48),
        ("no specifier 3", |m| m.fields[5].1 |= 3),
        ("the times of samples are no list", |m| {
            let at = m.fields[3].1 as u32 as usize - VALUES as usize + 8;
            m.values[at..at + 8].copy_from_slice(&(3u64 << 48 | 1 << 62).to_le_bytes());
        }),
    ];
    for (expected, change) in cases {
        let mut maker = Maker::new();
        change(&mut maker);
        let error = open(maker.make()).unwrap_err().to_string();
        assert!(
            error.contains(expected),
            "expected '{expected}', found '{error}'"
        );
        assert!(error.starts_with("test.usdc: "), "{error}");
    }
}

#[test]
fn an_array_that_leads_out_of_the_file_is_an_error_when_it_is_asked_for() {
    let mut maker = Maker::new();
    maker.values[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    let layer = open(maker.make()).unwrap();
    let error = layer.get(&path("/A.a"), "default").unwrap_err().to_string();
    assert!(
        error.contains("value at") && error.contains("elements are expected"),
        "{error}"
    );
}

#[test]
fn a_dictionary_in_itself_is_an_error() {
    let mut maker = Maker::new();
    let at = maker.values.len() - 8;
    let dictionary = maker.fields[4].1;
    maker.values[at..].copy_from_slice(&dictionary.to_le_bytes());
    let error = open(maker.make()).unwrap_err().to_string();
    assert!(error.contains("nested more than 64 levels"), "{error}");
}

#[test]
fn dictionaries_that_share_their_parts_are_not_deeper_than_others() {
    for (levels, is_read) in [(40, true), (80, false)] {
        let mut maker = Maker::new();
        let start = VALUES + maker.values.len() as u64;
        let dictionary = |at: u64| u64::from(kind::DICTIONARY) << 48 | (start + at);
        let mut add = |names: &[u64]| {
            let at = maker.values.len() as u64 + VALUES - start;
            maker.values.extend((names.len() as u64).to_le_bytes());
            for name in names {
                maker.values.extend(0u32.to_le_bytes());
                maker.values.extend(8u64.to_le_bytes());
                maker.values.extend(name.to_le_bytes());
            }
            dictionary(at)
        };
        let int = 3 << 48 | 1 << 62;
        // The outermost names every 20th of those that lie in each other, the innermost first: what each holds is
        // decoded before it.
        let mut within = add(&[int]);
        let mut named = Vec::new();
        for level in 2..levels {
            within = add(&[within]);
            if level % 20 == 0 {
                named.push(within);
            }
        }
        named.push(within);
        maker.fields[4].1 = add(&named);
        let read = open(maker.make());
        assert_eq!(read.is_ok(), is_read, "{levels}: {:?}", read.err());
    }
}

#[test]
fn dictionaries_that_share_their_parts_are_decoded_once() {
    // Each names the one after it ten times: decoded each for itself, they would be 10^40.
    let mut maker = Maker::new();
    let start = VALUES + maker.values.len() as u64;
    let size = 8 + 10 * 20;
    for level in 0..40u64 {
        maker.values.extend(10u64.to_le_bytes());
        for _ in 0..10 {
            let next = match level {
                39 => 3 << 48 | 1 << 62,
                _ => u64::from(kind::DICTIONARY) << 48 | (start + (level + 1) * size),
            };
            maker.values.extend(0u32.to_le_bytes());
            maker.values.extend(8u64.to_le_bytes());
            maker.values.extend(next.to_le_bytes());
        }
    }
    maker.fields[4].1 = u64::from(kind::DICTIONARY) << 48 | start;
    let layer = open(maker.make()).unwrap();
    assert!(layer.spec(&path("/A")).unwrap().get("customData").is_some());
}

#[test]
fn of_two_fields_of_one_name_the_first_counts() {
    let mut maker = Maker::new();
    // Another token with the same text names the second field.
    maker.tokens.push("default");
    let count = maker.tokens.len() as u32;
    maker.fields[3].0 = count - 1;
    let layer = open(maker.make()).unwrap();
    let fields = &layer.spec(&path("/A.a")).unwrap().fields;
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["default"]);
    assert!(matches!(fields.get("default"), Some(Value::Stored(_))));
}

#[test]
fn names_of_children_count_once_and_have_to_be_names() {
    let mut maker = Maker::new();
    let at = VALUES + maker.values.len() as u64;
    maker.values.extend(5u64.to_le_bytes());
    // 'a' twice, no name, 'A', a variant.
    maker.tokens.push("{v=x}");
    for token in [2u32, 2, 0, 1, 9] {
        maker.values.extend(token.to_le_bytes());
    }
    maker.fields[0].1 = u64::from(kind::TOKEN_VECTOR) << 48 | at;
    let layer = open(maker.make()).unwrap();
    assert_eq!(layer.root().children(), ["a", "A"]);
}

#[test]
fn written_arrays_are_read_again() {
    let ints = |n: i64| (0..n).map(|i| (i * i) % 1000 - 300);
    let floats = |n: i64| (0..n).map(|i| (i % 5) as f64 / 3.0);
    for n in [1, 15, 16, 17, 3000] {
        let values = [
            Value::IntArray(ints(n).map(|i| i as i32).collect()),
            Value::UIntArray(ints(n).map(|i| i as u32).collect()),
            Value::Int64Array(ints(n).map(|i| i << 33).collect()),
            Value::UInt64Array(ints(n).map(|i| i as u64).collect()),
            // Whole numbers, few numbers, many numbers.
            Value::HalfArray(ints(n).map(|i| f16::from_f64(i as f64)).collect()),
            Value::FloatArray(ints(n).map(|i| i as f32).collect()),
            Value::DoubleArray(ints(n).map(|i| i as f64).collect()),
            Value::HalfArray(floats(n).map(f16::from_f64).collect()),
            Value::FloatArray(floats(n).map(|f| f as f32).collect()),
            Value::DoubleArray(floats(n).collect()),
            Value::FloatArray(ints(n).map(|i| i as f32 / 7.0).collect()),
            Value::BoolArray(ints(n).map(|i| i % 2 == 0).collect()),
            Value::Vec3fArray(floats(n).map(|f| [f as f32, 1.0, 2.0]).collect()),
            Value::StringArray(ints(n).map(|i| format!("s{i}").into()).collect()),
            Value::TokenArray(ints(n).map(|i| format!("t{i}").into()).collect()),
        ];
        let mut layer = Layer::new("test");
        let paths: Vec<Path> = (0..values.len())
            .map(|i| path(&format!("/A.a{i}")))
            .collect();
        for (path, value) in paths.iter().zip(&values) {
            let spec = layer.create(path, SpecKind::Attribute);
            spec.fields.set("default", value.clone());
        }
        let file = std::io::Cursor::new(Vec::new());
        let file = crate::usdc::write_layer(&layer, file).unwrap().into_inner();
        let read = open(file.clone()).unwrap();
        for (path, value) in paths.iter().zip(values) {
            let found = read.get(path, "default").unwrap();
            assert_eq!(found.as_ref(), Some(&value), "{n} elements");
        }
    }
}

/// A generator of numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    /// A number that is likely to break something.
    fn odd(&mut self) -> u64 {
        match self.below(6) {
            0 => u64::MAX - self.below(4) as u64,
            1 => 1 << self.below(64),
            2 => (1 << self.below(40)) - 1,
            _ => self.below(300) as u64,
        }
    }
}

#[test]
fn changed_bytes_never_panic() {
    let file = Maker::new().make();
    let mut random = Random(7);
    for _ in 0..6000 {
        let mut file = file.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(file.len());
            file[at] = random.odd() as u8;
        }
        if random.below(4) == 0 {
            file.truncate(random.below(file.len()));
        }
        let _ = exercise(file);
    }
}

#[test]
fn changed_numbers_never_panic() {
    let mut random = Random(11);
    for _ in 0..6000 {
        let mut maker = Maker::new();
        for _ in 0..=random.below(2) {
            let odd = random.odd();
            match random.below(9) {
                0 => maker.version[1] = 4 + random.below(13) as u8,
                1 => maker.strings[0] = odd as u32,
                2 => maker.fields[random.below(6)].0 = odd as u32 % 16,
                3 => {
                    let field = random.below(6);
                    // Another type, another place or other bits.
                    maker.fields[field].1 ^= match random.below(3) {
                        0 => (odd & 0x7F) << 48,
                        1 => odd & 0xFFFF,
                        _ => 1 << (48 + random.below(16)),
                    };
                }
                4 => maker.sets[random.below(9)] = odd as u32,
                5 => maker.paths[random.below(3)].1 = odd as i32,
                6 => maker.paths[random.below(3)].2 = odd as i32 % 5,
                7 => maker.specs[random.below(3)].2 = odd as u32 % 14,
                _ => {
                    let at = random.below(maker.values.len() / 4) * 4;
                    let bytes = (odd as u32).to_le_bytes();
                    maker.values[at..at + 4].copy_from_slice(&bytes);
                }
            }
        }
        let _ = exercise(maker.make());
    }
}
