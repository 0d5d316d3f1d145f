//! BVH: where joints stand, and what is refused where.

use std::path::Path;

use common::command::Bench;
use common::rng::Rng;
use common::{fixture, rows};
use sinew_animate::asset::Asset;
use sinew_io as io;
use sinew_io::Error;

fn read(text: impl AsRef<[u8]>) -> Result<Asset, Error> {
    let bench = Bench::new();
    io::bvh::read(&bench.write("walk.bvh", text))
}

/// Two joints and an end, two frames.
const SMALL: &str = include_str!("../data/bvh/small.bvh");

/// By hand, and random skeletons against plain matrices.
#[test]
fn joints_stand_where_the_table_has_them() {
    rows::check(&fixture("bvh/read.txt"), |row| read(&row.bytes));
}

#[test]
fn odd_but_harmless_writing() {
    let want = read(SMALL).unwrap();
    let lower = |line: &str| match line.contains("Hips") || line.contains("Chest") {
        true => line.replace("ROOT", "root").replace("JOINT", "joint"),
        false => line.to_lowercase(),
    };
    let lower: Vec<String> = SMALL.lines().map(lower).collect();
    for (what, text) in [
        ("CRLF", SMALL.replace('\n', "\r\n")),
        ("tabs", SMALL.replace(' ', "\t ")),
        ("blank lines", SMALL.replace('\n', "\n\n \n")),
        ("no newline at the end", SMALL.trim_end().to_owned()),
        ("byte order mark", format!("\u{feff}{SMALL}")),
        (
            "braces on the line",
            SMALL.replace(" {", "{").replace("\n{", " {"),
        ),
        ("closing braces in a row", SMALL.replace("}\n", "} ")),
        (
            "no space after the colon",
            SMALL.replace("Frames: 2", "frames:2"),
        ),
        (
            "a space before the colon",
            SMALL.replace("Frames: 2", "Frames : 2"),
        ),
        ("capitals", SMALL.replace("Frame Time: ", "FRAME TIME:\t")),
        ("no leading zero", SMALL.replace("0.0333333", ".0333333")),
        ("exponents", SMALL.replace("10 20 30", "+1e1 2.0E+1 30.")),
        ("lower case", lower.join("\n")),
    ] {
        let found = read(text).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(found.nodes, want.nodes, "{what}");
        assert_eq!(found.clips, want.clips, "{what}");
        assert_eq!(found.frames_per_second, want.frames_per_second, "{what}");
    }
    // Shift JIS.
    let mut bytes = SMALL.replace("Chest", "K@").into_bytes();
    let at = bytes.iter().position(|b| *b == b'@').unwrap();
    bytes[at] = 0x8a;
    assert_eq!(read(bytes).unwrap().nodes[1].name, "K\u{fffd}");
}

/// Reading fails at a line, and the message has these words.
fn refused(text: &str, line: &str, words: &str) {
    let Err(Error::Invalid(invalid)) = read(text) else {
        panic!("not refused: {text}")
    };
    assert_eq!(invalid.prim, line, "{invalid}");
    assert!(invalid.to_string().contains(words), "{invalid}");
}

#[test]
fn malformed_files_are_refused_with_their_line() {
    rows::check(&fixture("bvh/malformed.txt"), |row| read(&row.bytes));
    let long = "x".repeat(5_000);
    refused(&SMALL.replacen("ROOT Hips", &long, 1), "line 2", "xxx...`");
}

#[test]
fn every_truncation_is_refused_or_read() {
    // Only within the last number does what is left make a whole file.
    for end in 0..SMALL.trim_end().len() {
        assert!(read(&SMALL[..end]).is_err(), "{}", &SMALL[..end]);
    }
}

#[test]
fn broken_bytes_do_no_harm() {
    let mut rng = Rng::new(5);
    let mut refused = 0;
    for _ in 0..2_000 {
        let mut bytes = SMALL.as_bytes().to_vec();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len());
            match rng.below(3) {
                0 => bytes[at] = rng.bits() as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b" {}-9e:\n"[rng.below(8)]),
            }
        }
        refused += usize::from(read(&bytes).is_err());
    }
    assert!((1_000..2_000).contains(&refused), "{refused}");
}

#[test]
fn depth_is_limited() {
    let nested = |levels: usize| {
        let open = "JOINT j { OFFSET 0 1 0 ".repeat(levels - 1);
        let close = "}".repeat(levels);
        format!("HIERARCHY ROOT r {{ OFFSET 0 0 0 {open}{close} MOTION Frames: 0 Frame Time: 1")
    };
    assert_eq!(read(nested(500)).unwrap().nodes.len(), 500);
    refused(&nested(1_000), "line 1", "at most 512 levels of joints");
    refused(&nested(1_000_000), "line 1", "at most 512 levels of joints");
}

#[test]
fn a_missing_file_is_an_open_error() {
    let error = io::bvh::read(Path::new("/nowhere/a.bvh")).unwrap_err();
    assert!(matches!(error, Error::Open { .. }), "{error}");
}
