//! `sinew render`.

use image::{AnimationDecoder, Frame, RgbaImage};
use serde_json::{Value, json};

use crate::bench::Folder;
use common::command::{stderr, stdout};
use common::pictures::differing;

/// Draws the example character into a file of the folder; the report.
fn draw(folder: &Folder, more: &str, out: &str) -> Value {
    folder.json(0, &format!("render hatchling.usda -o {out} {more}"))
}

fn picture(folder: &Folder, file: &str) -> RgbaImage {
    let picture = image::open(folder.path(file));
    picture
        .unwrap_or_else(|e| panic!("{file}: {e}"))
        .into_rgba8()
}

/// The picture that these options draw.
fn drawn(folder: &Folder, more: &str) -> RgbaImage {
    draw(folder, more, "drawn.png");
    picture(folder, "drawn.png")
}

/// The pixels that are not black.
fn lit(picture: &RgbaImage) -> impl Iterator<Item = (u32, u32, [u8; 3])> {
    let pixels = picture.enumerate_pixels();
    let colors = pixels.map(|(x, y, p)| (x, y, [p.0[0], p.0[1], p.0[2]]));
    colors.filter(|(_, _, color)| *color != [0; 3])
}

pub fn one_picture_and_its_report() {
    let folder = Folder::new();
    let size = "--size 200x150";
    let line = format!("render hatchling.usda -o a.png {size} --time 14 --json");
    let output = folder.run(0, &line);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = picture(&folder, "a.png");
    assert_eq!(first.dimensions(), (200, 150));
    assert_eq!(report["size"], json!([200, 150]));
    assert_eq!(report["pictures"][0]["times"], json!([14.0]));
    assert_eq!(report["pictures"][0]["file"], "a.png");
    assert_eq!(report["joints"], 37);
    assert!(report["adapter"]["name"].is_string() && report["points"].as_u64() > Some(1000));
    let software = report["adapter"]["software"] == true;
    let told = stderr(&output);
    assert_eq!(told.contains("software adapter"), software, "{told}");
    assert_eq!(report["skinned_on"], if software { "cpu" } else { "gpu" });

    // The same from the other backend, with nothing on either stream but what was asked for.
    let line = format!("render hatchling.usda -o b.png {size} --time 14 --backend gpu -q");
    let output = folder.run(0, &line);
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    let off = differing(&first, &picture(&folder, "b.png"));
    assert!(off < common::tolerance::SAME_PICTURE, "{off}");

    // Each wish changes the picture.
    for wish in [
        "--wireframe",
        "--joints",
        "--normals",
        "--bounds",
        "--heat head",
        "--no-grid",
        "--background #102030",
        "--background transparent",
        "--yaw 90",
        "--zoom 2",
        "--focus head",
        "--focus /Hatchling/Geo/Body",
    ] {
        let other = drawn(&folder, &format!("{size} --time 14 {wish}"));
        let least = if wish.starts_with("--focus") {
            0.02
        } else {
            0.002
        };
        assert!(differing(&first, &other) > least, "{wish}");
    }
    let later = drawn(&folder, &format!("{size} --time 60"));
    assert!(differing(&first, &later) > 0.002);
}

pub fn frames_and_turntables_are_numbered() {
    let folder = Folder::new();
    for (more, out, names, least) in [
        (
            "--frames 10:30:10",
            "new/folder/f.####.png",
            &["f.0010.png", "f.0020.png", "f.0030.png"][..],
            0.01,
        ),
        // Frames that are no whole numbers count from 1.
        (
            "--frames 1:2:0.5",
            "half/##.png",
            &["01.png", "02.png", "03.png"],
            0.0,
        ),
        (
            "--turntable 4 --no-grid",
            "turn/#.png",
            &["1.png", "2.png", "3.png", "4.png"],
            0.02,
        ),
    ] {
        draw(&folder, &format!("{more} --size 96x72"), out);
        let (below, _) = out.rsplit_once('/').unwrap();
        let files = crate::bench::listing(&folder.path(below));
        let found: Vec<&str> = files.keys().map(|f| f.to_str().unwrap()).collect();
        assert_eq!(found, names);
        let drawn = names
            .iter()
            .map(|n| picture(&folder, &format!("{below}/{n}")));
        let drawn: Vec<RgbaImage> = drawn.collect();
        for (i, a) in drawn.iter().enumerate() {
            let all = drawn[..i].iter().all(|b| differing(a, b) > least);
            assert!(all, "{out}: {i}");
        }
    }
}

pub fn sheets_have_their_cells() {
    let folder = Folder::new();
    let options = "--sheet 3x2 --size 360x200 --background #000000 --no-grid";
    let report = draw(&folder, options, "sheet.png");
    let times = report["pictures"][0]["times"].as_array().unwrap();
    let times: Vec<f64> = times.iter().filter_map(Value::as_f64).collect();
    let in_order = times.len() == 6 && times.is_sorted();
    assert!(in_order && times[0] == 1.0 && times[5] > 90.0, "{times:?}");
    let drawn = picture(&folder, "sheet.png");
    assert_eq!(drawn.dimensions(), (360, 200));
    let cell = |i: u32| {
        let (x, y) = (i % 3 * 120, i / 3 * 100);
        image::imageops::crop_imm(&drawn, x, y, 120, 100).to_image()
    };
    let cells: Vec<_> = (0..6).map(cell).collect();
    for (i, cell) in cells.iter().enumerate() {
        // Someone in the middle, nothing at the edges of the cell, and a label at the lower left.
        let is_label = |x: u32, y: u32| y >= 86 && x < 40;
        let is_edge = |x, y| !(2..=117).contains(&x) || !(2..=97).contains(&y);
        let (label, rest): (Vec<_>, Vec<_>) = lit(cell).partition(|(x, y, _)| is_label(*x, *y));
        let edge = rest.iter().filter(|(x, y, _)| is_edge(*x, *y)).count();
        let white = label.iter().filter(|(_, _, color)| *color == [255; 3]);
        let (middle, white) = (rest.len() - edge, white.count());
        let is_right = middle > 800 && edge == 0 && white > 4;
        assert!(is_right, "cell {i}: {middle} {edge} {white}");
        let all = cells[..i].iter().all(|b| differing(cell, b) > 0.005);
        assert!(all, "cell {i} is like another");
    }
}

pub fn movements_without_a_mesh_show_bones() {
    let folder = Folder::new();
    let options = "--size 120x90 --background black --no-grid";
    folder.run(0, &format!("render walk.bvh -o walk.png {options}"));
    let bones = lit(&picture(&folder, "walk.png")).count();
    assert!(bones > 150, "{bones}");
}

/// An empty picture says why it is one, and a time that the clip does not have is told.
pub fn warnings_are_told() {
    let folder = Folder::new();
    let points = "(-1, 0, 0), (1, 0, 0), (1, 2, 0), (-1, 2, 0)";
    let square = common::pictures::square(points, "(0, 0, 1)");
    let counts = "int[] faceVertexCounts";
    let hidden = format!("token visibility = \"invisible\"\n    {counts}");
    for (text, told) in [
        (square.clone(), false),
        (square.replace(counts, &hidden), true),
    ] {
        folder.0.write("in.usda", text);
        let output = folder.run(0, "render in.usda -o out.png");
        let said = stderr(&output);
        assert_eq!(said.contains("every mesh is invisible"), told, "{said}");
    }
    for (time, told) in [(20, 0), (500, 1), (-3, 1)] {
        let report = draw(&folder, &format!("--size 64x48 --time {time}"), "out.png");
        let warnings = report["warnings"].as_array().unwrap().iter();
        let found = warnings.filter(|w| w["code"] == "time-outside-clip");
        assert_eq!(found.count(), told, "{time}: {report}");
    }
}

pub fn broken_files_write_nothing() {
    let folder = Folder::new();
    let whole = std::fs::read(folder.path("hatchling.usda")).unwrap();
    folder.0.write("cut.usda", &whole[..2000]);
    folder.0.write("no.glb", "glTF");
    folder
        .0
        .write("empty.usda", "#usda 1.0\ndef Xform \"Nothing\" {}\n");
    folder.0.write("out.png", "what was there");
    for (name, word) in [
        ("cut.usda", "cut.usda"),
        ("no.glb", "no.glb"),
        ("empty.usda", "nothing to draw"),
        ("no/such/file.usda", "file.usda"),
    ] {
        let told = stderr(&folder.run(1, &format!("render {name} -o out.png")));
        assert!(told.contains(word), "{told}");
        let there = std::fs::read(folder.path("out.png")).unwrap();
        assert_eq!(there, b"what was there");
    }
}

/// The frames of a clip in one file.
fn frames_of(folder: &Folder, file: &str) -> Vec<Frame> {
    let bytes = std::fs::File::open(folder.path(file)).unwrap();
    let bytes = std::io::BufReader::new(bytes);
    let frames = match file.ends_with(".gif") {
        true => image::codecs::gif::GifDecoder::new(bytes)
            .unwrap()
            .into_frames(),
        false => {
            let decoder = image::codecs::png::PngDecoder::new(bytes).unwrap();
            decoder.apng().unwrap().into_frames()
        }
    };
    frames.collect_frames().unwrap()
}

/// A clip as one file has the pictures of single files, at the clip's speed.
pub fn clips_are_one_file() {
    let folder = Folder::new();
    let size = "--size 120x90 --no-grid";
    let range = "--frames 10:22:4";
    draw(&folder, &format!("{size} {range}"), "single/##.png");
    for (name, more) in [
        ("a.apng", "--background grey"),
        // With a speed, a .png is animated; this is the clip's own.
        ("b.png", "--background none --fps 6"),
        ("c.gif", "--background white"),
    ] {
        let report = draw(&folder, &format!("{size} {range} {more}"), name);
        let times = json!([10.0, 14.0, 18.0, 22.0]);
        assert_eq!(report["pictures"][0]["times"], times, "{name}");
        let frames = frames_of(&folder, name);
        assert_eq!(frames.len(), 4, "{name}");
        // Four of 24 frames a second: a sixth of a second.
        let delays = frames.iter().map(|f| f.delay().numer_denom_ms());
        let shown: u32 = delays.map(|(n, d)| n / d).sum();
        assert!(shown.abs_diff(4 * 1000 / 6) <= 10, "{name}: {shown} ms");
        for (frame, time) in frames.iter().zip([10, 14, 18, 22]) {
            let frame = frame.buffer();
            assert_eq!(frame.dimensions(), (120, 90), "{name}");
            let single = picture(&folder, &format!("single/{time}.png"));
            // A GIF has 256 colours of its own.
            let background = match name {
                "a.apng" => {
                    assert_eq!(differing(frame, &single), 0.0, "{name}");
                    continue;
                }
                "b.png" => frame.pixels().filter(|p| p.0[3] == 0).count(),
                _ => frame.pixels().filter(|p| p.0[..3] == [255; 3]).count(),
            };
            assert!((4000..9000).contains(&background), "{name}: {background}");
        }
    }
    // Without --frames, --fps chooses the times, and a GIF of a fast clip leaves frames out: both play as long as the
    // clip.
    let text = std::fs::read_to_string(folder.path("hatchling.usda")).unwrap();
    let fast = text.replace("PerSecond = 24", "PerSecond = 240");
    folder.0.write("fast.usda", fast);
    for (line, frames, seconds) in [
        ("hatchling.usda -o slow.apng --fps 4", 16, 4.0),
        ("fast.usda -o fast.gif", 20, 20.0 / 48.0),
    ] {
        let report = folder.json(0, &format!("render {line} {size}"));
        let drawn = &report["pictures"][0];
        assert_eq!(drawn["times"].as_array().unwrap().len(), frames, "{line}");
        let played = drawn["seconds"].as_f64().unwrap();
        assert!((played - seconds).abs() < 1e-9, "{line}: {played}");
        assert_eq!(report["warnings"], json!([]), "{line}");
    }
    let line = format!("render fast.usda -o told.gif {size} --frames 1:3");
    let told = stderr(&folder.run(0, &line));
    assert!(told.contains("[gif-too-fast]"), "{told}");
    // A turntable, at a speed of its own.
    draw(
        &folder,
        &format!("{size} --turntable 3 --fps 5"),
        "around.gif",
    );
    let frames = frames_of(&folder, "around.gif");
    let delays = frames.iter().map(|f| f.delay().numer_denom_ms());
    assert_eq!(delays.collect::<Vec<_>>(), [(200, 1); 3]);
}

/// Without ffmpeg a video is refused before anything is drawn; with one it gets every picture.
#[cfg(unix)]
pub fn videos_need_ffmpeg() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let tools = folder.path("tools");
    std::fs::create_dir(&tools).unwrap();
    let run = |file: &str| {
        let line = format!("render hatchling.usda -o {file} --size 64x48 --frames 1:3 -q");
        let output = folder.command(&line).env("PATH", &tools).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let refused = |file: &str, words: &[&str]| {
        let (code, told) = run(file);
        assert_eq!(code, Some(1), "{told}");
        assert!(words.iter().all(|w| told.contains(w)), "{told}");
        assert!(!folder.path(file).exists());
    };
    refused("clip.mp4", &["ffmpeg", ".gif"]);
    refused("clip.webm", &["ffmpeg", ".gif"]);
    // A stand-in that lists encoders, and copies its input to the file that its last argument names.
    let script = "#!/bin/sh\nif [ \"$2\" = -encoders ]; then echo ' V libx264 x'; exit 0; fi\n\
                  for last; do :; done\necho \"$*\" > \"$0.said\"\nexec /bin/cat > \"$last\"\n";
    let program = tools.join("ffmpeg");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, told) = run("clip.mp4");
    assert_eq!(code, Some(0), "{told}");
    let written = std::fs::metadata(folder.path("clip.mp4")).unwrap();
    assert_eq!(written.len(), 3 * 64 * 48 * 4);
    let said = std::fs::read_to_string(tools.join("ffmpeg.said")).unwrap();
    for words in ["-s 64x48", "-r 24.000000", "libx264", "yuv420p"] {
        assert!(said.contains(words), "{said}");
    }
    // It lacks an encoder for WebM.
    refused("clip.webm", &["libvpx"]);
    // One that fails leaves no file and tells why.
    let fails = "echo 'disk on fire' >&2; exit 3";
    let failing = script.replace("exec /bin/cat > \"$last\"", fails);
    std::fs::write(&program, failing).unwrap();
    refused("other.mp4", &["disk on fire"]);
}

/// A missing image is told by every command that reads materials, and a checker is drawn in its place.
pub fn missing_images_are_told() {
    let folder = Folder::new();
    folder.0.write("in.usda", include_str!("textured.usda"));
    folder.0.write("in.gltf", include_str!("textured.gltf"));
    let size = "--size 160x120 --no-grid --background none";
    for (input, other, words) in [
        ("in.usda", "a.glb", &["texture-left-out", "none.png"][..]),
        ("in.gltf", "a.usda", &["gltf-image-unreadable"]),
    ] {
        for line in [
            format!("render {input} -o a.png {size}"),
            format!("check {input}"),
            format!("convert {input} -o {other}"),
        ] {
            let output = folder.command(&line).output().unwrap();
            let told = stdout(&output) + &stderr(&output);
            assert!(words.iter().all(|w| told.contains(w)), "{line}: {told}");
        }
    }
    let drawn = picture(&folder, "a.png");
    let count = |wanted: &dyn Fn(u8) -> bool| {
        let opaque = drawn.pixels().filter(|p| p.0[3] == 255);
        opaque.filter(|p| wanted(p.0[1])).count()
    };
    let (dark, light) = (count(&|g| g < 110), count(&|g| g > 130));
    assert!(dark > 300 && light > 300, "{dark} {light}");
}

/// The legend is the only thing that a heat picture has in its corner.
pub fn heat_has_a_legend() {
    let folder = Folder::new();
    let options = "--size 320x240 --no-grid --background black --time 20 --heat head";
    let drawn = drawn(&folder, options);
    let corner = image::imageops::crop_imm(&drawn, 0, 0, 110, 40).to_image();
    let has = |color: [u8; 3]| lit(&corner).any(|(_, _, found)| found == color);
    assert!(has([255; 3]) && has([68, 1, 84]) && has([253, 231, 37]));
}
