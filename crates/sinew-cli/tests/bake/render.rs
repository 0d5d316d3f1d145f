//! `sinew render`: what takes more than a row of tests/data/render.txt.

use image::{AnimationDecoder, Frame, RgbaImage};
use serde_json::json;

use crate::bench::Folder;
use common::command::stderr;
use common::pictures::differing;

fn picture(folder: &Folder, file: &str) -> RgbaImage {
    let picture = image::open(folder.path(file));
    picture
        .unwrap_or_else(|e| panic!("{file}: {e}"))
        .into_rgba8()
}

/// The pixels that are not black.
fn lit(picture: &RgbaImage) -> impl Iterator<Item = (u32, u32, [u8; 3])> {
    let pixels = picture.enumerate_pixels();
    let colors = pixels.map(|(x, y, p)| (x, y, [p.0[0], p.0[1], p.0[2]]));
    colors.filter(|(_, _, color)| *color != [0; 3])
}

/// Software adapters are told, and do not skin.
pub fn the_adapter_is_told() {
    let folder = Folder::new();
    let output = folder.run(0, "render puppet.glb -o a.png --size 32x32 --json");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let software = report["adapter"]["software"] == true;
    let told = stderr(&output);
    assert_eq!(told.contains("software adapter"), software, "{told}");
    assert_eq!(report["skinned_on"], if software { "cpu" } else { "gpu" });
}

pub fn sheets_have_their_cells() {
    let folder = Folder::new();
    let options = "--sheet 3x2 --size 360x200 --background #000000 --no-grid";
    let line = format!("render hatchling.usda -o sheet.png {options}");
    let report = folder.json(0, &line);
    let times = json!([1.0, 20.0, 39.0, 58.0, 77.0, 96.0]);
    assert_eq!(report["pictures"][0]["times"], times);
    let drawn = picture(&folder, "sheet.png");
    assert_eq!(drawn.dimensions(), (360, 200));
    let mut cells: Vec<RgbaImage> = Vec::new();
    for (x, y) in [(0, 0), (120, 0), (240, 0), (0, 100), (120, 100), (240, 100)] {
        let cell = image::imageops::crop_imm(&drawn, x, y, 120, 100).to_image();
        // Someone in the middle, nothing at the edges of the cell, and a label at the lower left.
        let is_label = |x: u32, y: u32| y >= 86 && x < 40;
        let is_edge = |x, y| !(2..=117).contains(&x) || !(2..=97).contains(&y);
        let (label, rest): (Vec<_>, Vec<_>) = lit(&cell).partition(|(x, y, _)| is_label(*x, *y));
        let edge = rest.iter().filter(|(x, y, _)| is_edge(*x, *y)).count();
        let white = label.iter().filter(|(_, _, color)| *color == [255; 3]);
        let (middle, white) = (rest.len() - edge, white.count());
        let is_right = middle > 800 && edge == 0 && white > 4;
        assert!(is_right, "({x}, {y}): {middle} {edge} {white}");
        assert!(cells.iter().all(|other| differing(&cell, other) > 0.005));
        cells.push(cell);
    }
}

/// The legend is the only thing that a heat picture has in its corner.
pub fn heat_has_a_legend() {
    let folder = Folder::new();
    let options = "--size 320x240 --no-grid --background black --time 20 --heat head";
    folder.run(0, &format!("render hatchling.usda -o a.png {options}"));
    let drawn = picture(&folder, "a.png");
    let corner = image::imageops::crop_imm(&drawn, 0, 0, 110, 40).to_image();
    let has = |color: [u8; 3]| lit(&corner).any(|(_, _, found)| found == color);
    assert!(has([255; 3]) && has([68, 1, 84]) && has([253, 231, 37]));
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
    let render = |more: &str| folder.run(0, &format!("render hatchling.usda --size 120x90 {more}"));
    let range = "--no-grid --frames 10:22:4";
    render(&format!("-o single/##.png {range}"));
    for (name, more) in [
        ("a.apng", "--background grey"),
        // With a speed, a .png is animated; this is the clip's own.
        ("b.png", "--background none --fps 6"),
        ("c.gif", "--background white"),
    ] {
        render(&format!("-o {name} {range} {more}"));
        let frames = frames_of(&folder, name);
        assert_eq!(frames.len(), 4, "{name}");
        // Four of 24 frames a second: a sixth of a second.
        let delays = frames.iter().map(|f| f.delay().numer_denom_ms());
        let shown: u32 = delays.map(|(n, d)| n / d).sum();
        assert!(shown.abs_diff(4 * 1000 / 6) <= 10, "{name}: {shown} ms");
        for (frame, time) in frames.iter().zip([10, 14, 18, 22]) {
            let frame = frame.buffer();
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
    // A turntable, at a speed of its own.
    render("-o around.gif --no-grid --turntable 3 --fps 5");
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
