//! BVH: values by hand, random skeletons against plain matrices, and what is refused where.

use std::path::PathBuf;

use common::bvh_maker::{Bvh, Part, mixamo};
use common::command::Bench;
use common::rng::Rng;
use common::tolerance;
use glam::{DMat4, DQuat, DVec3};
use sinew_animate::asset::{Asset, AssetFormat, Axis, CurveInterpolation, Keys, TrackTarget};
use sinew_io as io;
use sinew_io::Error;

fn read(text: impl AsRef<[u8]>) -> Result<Asset, Error> {
    let bench = Bench::new();
    io::bvh::read(&bench.write("walk.bvh", text))
}

/// Two joints and an end, two frames.
const SMALL: &str = include_str!("../data/small.bvh");

/// world_from_node of every node at a time, by the asset's curves.
fn world(asset: &Asset, time: f64) -> Vec<DMat4> {
    let mut locals: Vec<_> = asset.nodes.iter().map(|n| n.local.trs()).collect();
    for track in asset.clips.iter().flat_map(|c| &c.tracks) {
        let TrackTarget::Node(node) = track.target else {
            panic!("{:?}", track.target)
        };
        match track.curve.keys {
            Keys::Translation(_) => locals[node].translation = track.curve.vector(time).unwrap(),
            Keys::Rotation(_) => locals[node].rotation = track.curve.rotation(time).unwrap(),
            _ => panic!("BVH moves and turns"),
        }
    }
    let of = |node| {
        asset
            .chain(node)
            .fold(DMat4::IDENTITY, |m, n| locals[n].matrix() * m)
    };
    (0..asset.nodes.len()).map(of).collect()
}

fn near(found: DVec3, want: [f64; 3]) {
    assert!(
        found.abs_diff_eq(want.into(), tolerance::FORMULAS_IN_F64),
        "{found}, not {want:?}"
    );
}

#[test]
fn a_small_file_by_hand() {
    let asset = read(SMALL).unwrap();
    assert_eq!(asset.format, AssetFormat::Bvh);
    assert_eq!(asset.up_axis, Axis::Y);
    assert_eq!(asset.frames_per_second, Some(30.0));
    let names: Vec<&str> = asset.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["Hips", "Chest", "Chest_end"]);
    let parents: Vec<_> = asset.nodes.iter().map(|n| n.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1)]);
    assert_eq!(asset.roots, [0]);
    assert!(
        asset
            .nodes
            .iter()
            .all(|n| n.local.trs().rotation == DQuat::IDENTITY)
    );
    near(asset.nodes[0].local.trs().translation, [1.0, 2.0, 3.0]);

    let [clip] = &asset.clips[..] else {
        panic!("{} clips", asset.clips.len())
    };
    assert_eq!(clip.name, "walk");
    // Hips move and turn, the chest turns, the end does neither.
    assert_eq!(clip.tracks.len(), 3);
    for track in &clip.tracks {
        assert_eq!(track.curve.times, [0.0, 1.0 / 30.0]);
        assert_eq!(track.curve.interpolation, CurveInterpolation::Linear);
    }
    let first = world(&asset, 0.0);
    near(first[0].w_axis.truncate(), [0.0; 3]);
    near(first[1].w_axis.truncate(), [0.0, 5.0, 0.0]);
    near(first[2].w_axis.truncate(), [0.0, 9.0, 0.0]);
    // A quarter turn about Z lays the spine along -X; one about the chest's X then lifts its end to +Z.
    let second = world(&asset, 1.0 / 30.0);
    near(second[0].w_axis.truncate(), [10.0, 20.0, 30.0]);
    near(second[1].w_axis.truncate(), [5.0, 20.0, 30.0]);
    near(second[2].w_axis.truncate(), [5.0, 20.0, 34.0]);
}

const POSITIONS: [&str; 3] = ["Xposition", "Yposition", "Zposition"];
const ROTATIONS: [&str; 3] = ["Xrotation", "Yrotation", "Zrotation"];

/// Any channels in any order: fewer than three, an axis twice (ZXZ), positions between rotations.
fn random_channels(rng: &mut Rng) -> Vec<&'static str> {
    let mut channels: Vec<&'static str> =
        (0..rng.below(5)).map(|_| ROTATIONS[rng.below(3)]).collect();
    for position in POSITIONS {
        if rng.chance(0.3) {
            channels.insert(rng.below(channels.len() + 1), position);
        }
    }
    channels
}

fn random(seed: u64) -> Bvh {
    let mut rng = Rng::new(seed);
    let mut parts: Vec<Part> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for i in 0..12 {
        // Up some levels, perhaps to a second root.
        open.truncate(open.len() - rng.below(open.len() + 1).min(open.len()));
        let offset = [0; 3].map(|_| f64::from(rng.range(-20.0, 20.0)));
        let channels = random_channels(&mut rng);
        let mut part = Part::new(&format!("j{i}"), open.last().copied(), offset, &channels);
        part.end = rng.chance(0.3).then(|| DVec3::new(0.0, 1.0, 2.0));
        parts.push(part);
        open.push(i);
    }
    let channels: usize = parts.iter().map(|p| p.channels.len()).sum();
    let mut value = || f64::from(rng.range(-400.0, 400.0));
    let frames = (0..4)
        .map(|_| (0..channels).map(|_| value()).collect())
        .collect();
    Bvh {
        parts,
        frame_time: "0.008333",
        frames,
    }
}

/// Every joint of every frame stands and turns where plain matrices have it.
fn compare(bvh: &Bvh, rate: f64) {
    let asset = read(bvh.text()).unwrap();
    assert_eq!(asset.frames_per_second, Some(rate));
    let node = |name: &str| asset.nodes.iter().position(|n| n.name == name).unwrap();
    for frame in 0..bvh.frames.len() {
        let found = world(&asset, frame as f64 / rate);
        for (part, (turn, place)) in bvh.parts.iter().zip(bvh.world(frame)) {
            let found = found[node(&part.name)];
            let want = DMat4::from_mat3_translation(turn, place);
            let most = tolerance::JOINTS_IN_F64 * place.abs().max_element().max(1.0);
            assert!(
                found.abs_diff_eq(want, most),
                "{} in frame {frame}: {found}, not {want}",
                part.name
            );
        }
    }
}

#[test]
fn random_skeletons_stand_where_matrices_have_them() {
    let mut seen = [false; 3];
    for seed in 0..60 {
        let bvh = random(seed);
        compare(&bvh, 120.0);
        seen[0] |= bvh.parts.iter().filter(|p| p.parent.is_none()).count() > 1;
        seen[1] |= bvh.parts.iter().any(|p| p.channels.is_empty());
        seen[2] |= bvh.parts.iter().any(|p| {
            let mut unique = p.channels.clone();
            unique.sort_unstable();
            unique.dedup();
            unique.len() < p.channels.len()
        });
    }
    assert_eq!(
        seen, [true; 3],
        "two roots, a joint without channels, an axis twice"
    );
}

#[test]
fn a_mixamo_figure() {
    let bvh = mixamo("mixamorig:", 20, 7);
    compare(&bvh, 30.0);
    let asset = read(bvh.text()).unwrap();
    assert!(
        asset
            .nodes
            .iter()
            .any(|n| n.name == "mixamorig:LeftHandIndex3_end")
    );
    assert_eq!(asset.meters_per_unit, 0.01);
}

#[test]
fn the_order_of_channels_is_the_order_of_turns() {
    // Two quarter turns of a bone along +Y, either way round.
    for (order, want) in [
        ("Xrotation Yrotation Zrotation", [0.0, 0.0, 1.0]),
        ("Zrotation Yrotation Xrotation", [-1.0, 0.0, 0.0]),
    ] {
        let text = format!(
            "HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\nCHANNELS 3 {order}\nEnd Site\n{{\nOFFSET 0 1 0\n}}\n}}\n\
             MOTION\nFrames: 1\nFrame Time: 0.04\n90 90 0\n"
        );
        near(world(&read(text).unwrap(), 0.0)[1].w_axis.truncate(), want);
    }
}

#[test]
fn positions_replace_the_offset_axis_by_axis() {
    let text = SMALL
        .replace(
            "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation",
            "CHANNELS 1 Yposition",
        )
        .replace("0 0 0 0 0 0 0 0 0\n", "8 0 0 0\n")
        .replace("10 20 30 90 0 0 0 90 0\n", "9 0 0 0\n");
    let asset = read(text).unwrap();
    near(world(&asset, 0.0)[0].w_axis.truncate(), [1.0, 8.0, 3.0]);
    near(world(&asset, 9.0)[0].w_axis.truncate(), [1.0, 9.0, 3.0]);
}

#[test]
fn odd_but_harmless_writing() {
    let want = read(SMALL).unwrap();
    let same = |text: &[u8], what: &str| {
        let found = read(text).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(found.nodes, want.nodes, "{what}");
        assert_eq!(found.clips, want.clips, "{what}");
        assert_eq!(found.frames_per_second, want.frames_per_second, "{what}");
    };
    let text = |text: String, what: &str| same(text.as_bytes(), what);
    text(SMALL.replace('\n', "\r\n"), "CRLF");
    text(SMALL.replace(' ', "\t "), "tabs");
    text(SMALL.replace('\n', "\n\n \n"), "blank lines");
    text(SMALL.trim_end().to_owned(), "no newline at the end");
    text(format!("\u{feff}{SMALL}"), "byte order mark");
    text(
        SMALL.replace(" {", "{").replace("\n{", " {"),
        "braces on the line",
    );
    text(SMALL.replace("}\n", "} "), "closing braces in a row");
    text(
        SMALL.replace("Frames: 2", "frames:2"),
        "no space after the colon",
    );
    text(
        SMALL.replace("Frames: 2", "Frames : 2"),
        "a space before the colon",
    );
    text(SMALL.replace("Frame Time: ", "FRAME TIME:\t"), "capitals");
    text(SMALL.replace("0.0333333", ".0333333"), "no leading zero");
    text(SMALL.replace("10 20 30", "+1e1 2.0E+1 30."), "exponents");
    let lower: String = SMALL
        .lines()
        .map(|l| {
            let names = l.contains("Hips") || l.contains("Chest");
            let l = if names {
                l.replace("ROOT", "root").replace("JOINT", "joint")
            } else {
                l.to_lowercase()
            };
            l + "\n"
        })
        .collect();
    text(lower, "lower case");
    let spaced = read(SMALL.replace("JOINT Chest", "JOINT Upper  Chest ")).unwrap();
    assert_eq!(spaced.nodes[1].name, "Upper  Chest");
    // Shift JIS.
    let mut bytes = SMALL.replace("Chest", "K@").into_bytes();
    let at = bytes.iter().position(|b| *b == b'@').unwrap();
    bytes[at] = 0x8a;
    assert_eq!(read(bytes).unwrap().nodes[1].name, "K\u{fffd}");
}

#[test]
fn few_frames() {
    let motion = SMALL.find("MOTION").unwrap();
    let with = |rest: &str| read(format!("{}{rest}", &SMALL[..motion])).unwrap();
    let none = with("MOTION\nFrames: 0\nFrame Time: 0.1\n");
    assert!(none.clips.is_empty() && none.nodes.len() == 3);
    let pose = with("MOTION\nFrames: 1\nFrame Time: 0\n1 2 3 4 5 6 7 8 9");
    assert_eq!(pose.frames_per_second, None);
    assert_eq!(pose.clips[0].range(), Some((0.0, 0.0)));
}

#[test]
fn the_unit_is_guessed_from_the_size() {
    assert_eq!(read(SMALL).unwrap().meters_per_unit, 1.0);
    let large = SMALL.replace("OFFSET 0 4 0", "OFFSET 0 40 0");
    assert_eq!(read(large).unwrap().meters_per_unit, 0.01);
    // Where the root stands is no bone's length.
    let far = SMALL.replace("OFFSET 1 2 3", "OFFSET 0 90 0");
    assert_eq!(read(far).unwrap().meters_per_unit, 1.0);
}

#[test]
fn rotations_stay_on_one_hemisphere() {
    let mut bvh = mixamo("", 1, 3);
    let channels = bvh.channel_count();
    bvh.frames = (0..60)
        .map(|f| vec![f64::from(f) * 17.0; channels])
        .collect();
    for track in &read(bvh.text()).unwrap().clips[0].tracks {
        if let Keys::Rotation(keys) = &track.curve.keys {
            assert!(keys.windows(2).all(|w| w[0].dot(w[1]) >= 0.0));
            assert!(
                keys.iter().any(|k| k.w < 0.0),
                "a turn of more than one round"
            );
        }
    }
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
    let table = common::fixture("bvh_malformed.txt");
    common::rows::check(&table, |row| read(&row.bytes));
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
    let error = io::bvh::read(&PathBuf::from("/nowhere/a.bvh")).unwrap_err();
    assert!(matches!(error, Error::Open { .. }), "{error}");
}
