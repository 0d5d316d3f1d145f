//! `sinew render`.

use std::path::Path;

use image::{AnimationDecoder, RgbaImage};
use libtest_mimic::Failed;

use common::command::{Bench, sinew, stderr, stdout};
use common::pictures::differing;
use common::trials::Trial;

const HATCHLING: &str = "../../examples/assets/hatchling.usda";

type Done = Result<(), Failed>;
/// What a trial runs.
type Run = fn() -> Done;

pub fn trials() -> Vec<Trial> {
    let ignored = common::gpu::ignored();
    let trials: [(&str, Run); 14] = [
        ("command::one_picture_and_its_report", one_picture),
        ("command::frames_are_numbered", frames),
        ("command::turntables_turn", turntable),
        ("command::sheets_have_their_cells", sheet),
        ("command::movements_without_a_mesh_show_bones", movements),
        (
            "command::bad_arguments_have_their_exit_codes",
            bad_arguments,
        ),
        ("command::what_is_invisible_is_told", invisible),
        ("command::broken_files_write_nothing", broken_files),
        ("command::clips_are_one_file", clips),
        ("command::videos_need_ffmpeg", videos),
        ("command::times_outside_the_clip_are_told", outside),
        ("command::a_focus_is_framed", focus),
        ("command::missing_images_are_told", missing_images),
        ("command::heat_has_a_legend", legend),
    ];
    let trials = trials.map(|(name, run)| Trial::test(name, run).with_ignored_flag(ignored));
    trials.into()
}

fn render(input: &str, output: &Path, more: &[&str]) -> Result<std::process::Output, Failed> {
    let mut args = vec!["render", input, "-o", output.to_str().ok_or("a name")?];
    args.extend(more);
    Ok(sinew(&args))
}

fn picture(file: &Path) -> Result<RgbaImage, Failed> {
    Ok(image::open(file)
        .map_err(|e| format!("{}: {e}", file.display()))?
        .into_rgba8())
}

fn done(output: &std::process::Output) -> Done {
    match output.status.success() {
        true => Ok(()),
        false => Err(stderr(output).into()),
    }
}

fn one_picture() -> Done {
    let bench = Bench::new();
    let file = bench.path("hatchling.png");
    let output = render(
        HATCHLING,
        &file,
        &["--size", "200x150", "--time", "14", "--json"],
    )?;
    done(&output)?;
    let drawn = picture(&file)?;
    assert_eq!(drawn.dimensions(), (200, 150));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output))?;
    assert_eq!(report["size"], serde_json::json!([200, 150]));
    assert_eq!(report["pictures"][0]["times"], serde_json::json!([14.0]));
    assert_eq!(report["pictures"][0]["file"].as_str(), file.to_str());
    assert_eq!(report["joints"], 37);
    assert!(report["adapter"]["name"].is_string() && report["points"].as_u64() > Some(1000));
    let software = report["adapter"]["software"].as_bool() == Some(true);
    assert_eq!(
        stderr(&output).contains("software adapter"),
        software,
        "{}",
        stderr(&output)
    );
    assert_eq!(report["skinned_on"], if software { "cpu" } else { "gpu" });

    // The same from the other backend, with nothing on either stream but what was asked for.
    let other = bench.path("other.png");
    let output = render(
        HATCHLING,
        &other,
        &[
            "--size",
            "200x150",
            "--time",
            "14",
            "--backend",
            "gpu",
            "-q",
        ],
    )?;
    done(&output)?;
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{}",
        stderr(&output)
    );
    assert!(differing(&drawn, &picture(&other)?) < common::tolerance::SAME_PICTURE);

    // Each wish changes the picture.
    for wish in [
        &["--wireframe"][..],
        &["--joints"],
        &["--normals"],
        &["--bounds"],
        &["--heat", "head"],
        &["--no-grid"],
        &["--background", "#102030"],
        &["--background", "transparent"],
        &["--yaw", "90"],
        &["--zoom", "2"],
        &["--time", "60"],
    ] {
        let mut args = vec!["--size", "200x150", "-q"];
        if wish[0] != "--time" {
            args.extend(["--time", "14"]);
        }
        args.extend(wish);
        done(&render(HATCHLING, &other, &args)?)?;
        assert!(differing(&drawn, &picture(&other)?) > 0.002, "{wish:?}");
    }
    Ok(())
}

fn frames() -> Done {
    let bench = Bench::new();
    let pattern = bench.path("new/folder/f.####.png");
    let output = render(
        HATCHLING,
        &pattern,
        &["--frames", "10:30:10", "--size", "64x48"],
    )?;
    done(&output)?;
    let folder = bench.path("new/folder");
    let mut names: Vec<_> = std::fs::read_dir(&folder)?
        .map(|e| e.map(|e| e.file_name()))
        .collect::<Result<_, _>>()?;
    names.sort();
    assert_eq!(names, ["f.0010.png", "f.0020.png", "f.0030.png"]);
    let drawn: Vec<_> = names
        .iter()
        .map(|n| picture(&folder.join(n)))
        .collect::<Result<_, _>>()?;
    assert!(differing(&drawn[0], &drawn[1]) > 0.01 && differing(&drawn[1], &drawn[2]) > 0.01);
    // Frames that are no whole numbers count from 1.
    done(&render(
        HATCHLING,
        &bench.path("half/##.png"),
        &["--frames", "1:2:0.5", "--size", "64x48"],
    )?)?;
    for name in ["01.png", "02.png", "03.png"] {
        assert!(bench.path("half").join(name).is_file(), "{name}");
    }
    Ok(())
}

fn turntable() -> Done {
    let bench = Bench::new();
    done(&render(
        HATCHLING,
        &bench.path("t/#.png"),
        &["--turntable", "4", "--size", "96x72", "--no-grid"],
    )?)?;
    let drawn: Vec<_> = (1..=4)
        .map(|i| picture(&bench.path(&format!("t/{i}.png"))))
        .collect::<Result<_, _>>()?;
    for (i, a) in drawn.iter().enumerate() {
        assert!(drawn[..i].iter().all(|b| differing(a, b) > 0.02), "{i}");
    }
    assert!(!bench.path("t/5.png").exists() && !bench.path("t/0.png").exists());
    Ok(())
}

fn sheet() -> Done {
    let bench = Bench::new();
    let file = bench.path("sheet.png");
    let args = [
        "--sheet",
        "3x2",
        "--size",
        "360x200",
        "--background",
        "#000000",
        "--no-grid",
        "--json",
    ];
    let output = render(HATCHLING, &file, &args)?;
    done(&output)?;
    let report: serde_json::Value = serde_json::from_str(&stdout(&output))?;
    let times: Vec<f64> = report["pictures"][0]["times"]
        .as_array()
        .ok_or("times")?
        .iter()
        .filter_map(|t| t.as_f64())
        .collect();
    assert!(
        times.len() == 6 && times.is_sorted() && times[0] == 1.0 && times[5] > 90.0,
        "{times:?}"
    );
    let drawn = picture(&file)?;
    assert_eq!(drawn.dimensions(), (360, 200));
    let cell =
        |i: u32| image::imageops::crop_imm(&drawn, i % 3 * 120, i / 3 * 100, 120, 100).to_image();
    let cells: Vec<_> = (0..6).map(cell).collect();
    for (i, cell) in cells.iter().enumerate() {
        // Someone in the middle, nothing at the edges of the cell, and a label at the lower left.
        let lit = cell
            .enumerate_pixels()
            .filter(|(_, _, p)| p.0[..3] != [0, 0, 0]);
        let (mut middle, mut edge, mut white) = (0, 0, 0);
        for (x, y, p) in lit {
            let is_label = y >= 86 && x < 40;
            match () {
                () if is_label => white += usize::from(p.0[..3] == [255; 3]),
                () if !(2..=117).contains(&x) || !(2..=97).contains(&y) => edge += 1,
                () => middle += 1,
            }
        }
        assert!(
            middle > 800 && edge == 0 && white > 4,
            "cell {i}: {middle} {edge} {white}"
        );
        assert!(
            cells[..i]
                .iter()
                .all(|other| differing(cell, other) > 0.005),
            "cell {i} is like another"
        );
    }
    Ok(())
}

fn movements() -> Done {
    let bench = Bench::new();
    let file = bench.path("walk.png");
    done(&render(
        "../../examples/assets/walk.bvh",
        &file,
        &["--size", "120x90", "--background", "black", "--no-grid"],
    )?)?;
    let drawn = picture(&file)?;
    let lit = drawn.pixels().filter(|p| p.0[..3] != [0, 0, 0]).count();
    assert!(lit > 150, "{lit}");
    Ok(())
}

fn bad_arguments() -> Done {
    let bench = Bench::new();
    let out = bench.path("out.png");
    let usage: [&[&str]; 11] = [
        &["--size", "0x5"],
        &["--size", "big"],
        &["--sheet", "3"],
        &["--frames", "5:1"],
        &["--turntable", "0"],
        &["--turntable", "3", "--sheet", "2x2"],
        &["--time", "1", "--frames", "1:2"],
        &["--background", "plaid"],
        &["--shape", "smile"],
        &["--method", "cubic"],
        &["--backend", "abacus"],
    ];
    for args in usage {
        let output = render(HATCHLING, &out, args)?;
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            stderr(&output)
        );
    }
    let misused = ["--turntable", "--frames", "--sheet", "--zoom"];
    let failed: [(&[&str], &str); 9] = [
        (&["--turntable", "3"], "####"),
        (&["--frames", "1:2"], "####"),
        (&["--camera", "/No/Camera"], "cameras are none"),
        (&["--heat", "tentacle"], "there are root"),
        (
            &["--shape", "tentacle=1"],
            "no blend shape channel 'tentacle'",
        ),
        (&["--size", "999999x9"], "max_texture_dimension_2d"),
        (&["--sheet", "50x50", "--size", "100x100"], "16 pixels"),
        (&["--adapter", "no such adapter"], "no such adapter"),
        (&["--zoom", "0"], "--zoom"),
    ];
    for (args, word) in failed {
        let output = render(HATCHLING, &out, args)?;
        let code = if misused.contains(&args[0]) { 2 } else { 1 };
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(word),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(!out.exists(), "{args:?}");
    }
    for (name, word) in [
        ("out.jpg", ".png"),
        ("s.gif", "a sheet is one picture"),
        ("c##.gif", "a clip is one file"),
        ("nowhere/out.png", "no folder"),
        ("s#.png", "no frame number"),
    ] {
        let more: &[&str] = if name.starts_with('s') {
            &["--sheet", "2x2"]
        } else {
            &[]
        };
        let output = render(HATCHLING, &bench.path(name), more)?;
        let code = if name.starts_with("nowhere") { 1 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{name}");
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
    let help = sinew(&["render", "--help"]);
    assert!(stdout(&help).contains("sinew render hero.glb"));
    Ok(())
}

/// An empty picture says why it is one.
fn invisible() -> Done {
    let bench = Bench::new();
    let square =
        common::pictures::square("(-1, 0, 0), (1, 0, 0), (1, 2, 0), (-1, 2, 0)", "(0, 0, 1)");
    let hidden = square.replace(
        "int[] faceVertexCounts",
        "token visibility = \"invisible\"\n    int[] faceVertexCounts",
    );
    for (text, told) in [(&square, false), (&hidden, true)] {
        let file = bench.write("in.usda", text);
        let output = render(file.to_str().ok_or("a name")?, &bench.path("out.png"), &[])?;
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("every mesh is invisible"), told);
    }
    Ok(())
}

fn broken_files() -> Done {
    let bench = Bench::new();
    let out = bench.path("out.png");
    let cut = &std::fs::read(HATCHLING)?[..2000];
    let empty = "#usda 1.0\ndef Xform \"Nothing\" {}\n";
    for (name, bytes, word) in [
        ("cut.usda", cut, "cut.usda"),
        ("no.glb", &b"glTF"[..], "no.glb"),
        ("empty.usda", empty.as_bytes(), "nothing to draw"),
    ] {
        let file = bench.write(name, bytes);
        std::fs::write(&out, "what was there")?;
        let output = render(file.to_str().ok_or("a name")?, &out, &[])?;
        assert_eq!(output.status.code(), Some(1), "{name}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(word) && !stderr(&output).contains("panic"),
            "{}",
            stderr(&output)
        );
        assert_eq!(std::fs::read(&out)?, b"what was there");
    }
    let output = render("no/such/file.usda", &out, &[])?;
    assert_eq!(output.status.code(), Some(1));
    Ok(())
}

/// A clip as one file has the pictures of single files, at the clip's speed.
fn clips() -> Done {
    let bench = Bench::new();
    let size = ["--size", "120x90", "--no-grid"];
    let frames = ["--frames", "10:22:4"];
    let single = bench.path("single/##.png");
    done(&render(HATCHLING, &single, &[&size[..], &frames].concat())?)?;
    let singles = (10..=22)
        .step_by(4)
        .map(|t| picture(&bench.path(&format!("single/{t}.png"))));
    let singles: Vec<RgbaImage> = singles.collect::<Result<_, _>>()?;
    for (name, background) in [("a.apng", "grey"), ("b.png", "none"), ("c.gif", "white")] {
        let file = bench.path(name);
        // With a speed, a .png is animated; this is the clip's own.
        let more = ["--background", background, "--json", "--fps", "6"];
        let more = if name == "b.png" {
            &more[..]
        } else {
            &more[..3]
        };
        let output = render(HATCHLING, &file, &[&size[..], &frames, more].concat())?;
        done(&output)?;
        let report: serde_json::Value = serde_json::from_str(&stdout(&output))?;
        let times = serde_json::json!([10.0, 14.0, 18.0, 22.0]);
        assert_eq!(report["pictures"][0]["times"], times, "{name}");
        let bytes = std::io::BufReader::new(std::fs::File::open(&file)?);
        let frames: Vec<image::Frame> = match name.ends_with(".gif") {
            true => image::codecs::gif::GifDecoder::new(bytes)?
                .into_frames()
                .collect_frames()?,
            false => {
                let decoder = image::codecs::png::PngDecoder::new(bytes)?;
                decoder.apng()?.into_frames().collect_frames()?
            }
        };
        assert_eq!(frames.len(), 4, "{name}");
        // Four of 24 frames a second: a sixth of a second.
        let shown: u32 = frames
            .iter()
            .map(|f| f.delay().numer_denom_ms())
            .map(|(n, d)| n / d)
            .sum();
        assert!(shown.abs_diff(4 * 1000 / 6) <= 10, "{name}: {shown} ms");
        for (frame, single) in frames.iter().zip(&singles) {
            let frame = frame.buffer();
            assert_eq!(frame.dimensions(), (120, 90), "{name}");
            let off = differing(frame, single);
            match name {
                "a.apng" => assert_eq!(off, 0.0, "{name}"),
                "b.png" => {
                    let clear = frame.pixels().filter(|p| p.0[3] == 0).count();
                    assert!((4000..9000).contains(&clear), "{name}: {clear}");
                }
                // 256 colours of its own.
                _ => {
                    let white = frame.pixels().filter(|p| p.0[..3] == [255; 3]).count();
                    assert!((4000..9000).contains(&white), "{name}: {white}");
                }
            }
        }
    }
    // Without --frames, --fps chooses the times, and a GIF of a fast clip leaves frames out: both play as long as the
    // clip.
    let fast = std::fs::read_to_string(HATCHLING)?.replace("PerSecond = 24", "PerSecond = 240");
    let fast = bench.write("fast.usda", fast);
    for (input, name, more, frames, seconds) in [
        (HATCHLING, "slow.apng", &["--fps", "4"][..], 16, 4.0),
        (
            fast.to_str().ok_or("UTF-8")?,
            "fast.gif",
            &[],
            20,
            20.0 / 48.0,
        ),
    ] {
        let more = [&size[..], &["--json"], more].concat();
        let output = render(input, &bench.path(name), &more)?;
        done(&output)?;
        let report: serde_json::Value = serde_json::from_str(&stdout(&output))?;
        let drawn = &report["pictures"][0];
        let times = drawn["times"].as_array().ok_or("times")?;
        assert_eq!(times.len(), frames, "{name}");
        let played = drawn["seconds"].as_f64().ok_or("seconds")?;
        assert!((played - seconds).abs() < 1e-9, "{name}: {played}");
        assert_eq!(report["warnings"], serde_json::json!([]), "{name}");
    }
    let more = [&size[..], &["--json", "--frames", "1:3"]].concat();
    let output = render(
        fast.to_str().ok_or("UTF-8")?,
        &bench.path("told.gif"),
        &more,
    )?;
    assert!(
        stderr(&output).contains("[gif-too-fast]"),
        "{}",
        stderr(&output)
    );
    // A turntable, at a speed of its own.
    let around = bench.path("around.gif");
    let more = ["--turntable", "3", "--fps", "5"];
    done(&render(HATCHLING, &around, &[&size[..], &more].concat())?)?;
    let decoder = image::codecs::gif::GifDecoder::new(std::io::BufReader::new(
        std::fs::File::open(&around)?,
    ))?;
    let frames = decoder.into_frames().collect_frames()?;
    let delays: Vec<(u32, u32)> = frames.iter().map(|f| f.delay().numer_denom_ms()).collect();
    assert_eq!(delays, [(200, 1); 3]);
    Ok(())
}

/// Without ffmpeg a video is refused before anything is drawn; with one it gets every picture.
#[cfg(unix)]
fn videos() -> Done {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    let bench = Bench::new();
    let tools = bench.path("tools");
    std::fs::create_dir(&tools)?;
    let run = |file: &str| {
        Command::new(common::command::executable())
            .args(["render", HATCHLING, "-o"])
            .arg(bench.path(file))
            .args(["--size", "64x48", "--frames", "1:3", "-q"])
            .env("PATH", &tools)
            .output()
    };
    for file in ["clip.mp4", "clip.webm"] {
        let output = run(file)?;
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let told = stderr(&output);
        assert!(told.contains("ffmpeg") && told.contains(".gif"), "{told}");
        assert!(!bench.path(file).exists());
    }
    // A stand-in that lists encoders, and copies its input to the file that its last argument names.
    let script = "#!/bin/sh\nif [ \"$2\" = -encoders ]; then echo ' V libx264 x'; exit 0; fi\n\
                  for last; do :; done\necho \"$*\" > \"$0.said\"\nexec /bin/cat > \"$last\"\n";
    let program = tools.join("ffmpeg");
    std::fs::write(&program, script)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    let output = run("clip.mp4")?;
    done(&output)?;
    assert_eq!(
        std::fs::metadata(bench.path("clip.mp4"))?.len(),
        3 * 64 * 48 * 4
    );
    let said = std::fs::read_to_string(tools.join("ffmpeg.said"))?;
    for words in ["-s 64x48", "-r 24.000000", "libx264", "yuv420p"] {
        assert!(said.contains(words), "{said}");
    }
    // It lacks an encoder for WebM.
    let output = run("clip.webm")?;
    assert!(stderr(&output).contains("libvpx"), "{}", stderr(&output));
    // One that fails leaves no file and tells why.
    let failing = script.replace(
        "exec /bin/cat > \"$last\"",
        "echo 'disk on fire' >&2; exit 3",
    );
    std::fs::write(&program, failing)?;
    let output = run("other.mp4")?;
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("disk on fire"),
        "{}",
        stderr(&output)
    );
    assert!(!bench.path("other.mp4").exists());
    Ok(())
}

#[cfg(not(unix))]
fn videos() -> Done {
    Ok(())
}

fn outside() -> Done {
    let bench = Bench::new();
    let out = bench.path("out.png");
    let size = ["--size", "64x48", "--json"];
    for (more, told) in [
        (["--time", "20"], 0),
        (["--time", "500"], 1),
        (["--time", "-3"], 1),
    ] {
        let output = render(HATCHLING, &out, &[&size[..], &more].concat())?;
        done(&output)?;
        let report: serde_json::Value = serde_json::from_str(&stdout(&output))?;
        let warnings = report["warnings"].as_array().ok_or("warnings")?.iter();
        let found = warnings
            .filter(|w| w["code"] == "time-outside-clip")
            .count();
        assert_eq!(found, told, "{more:?}: {report}");
        assert_eq!(stderr(&output).contains("warning: time "), told == 1);
    }
    Ok(())
}

/// The focus makes its part larger; what is not there is an error that names what is.
fn focus() -> Done {
    let bench = Bench::new();
    let (all, head) = (bench.path("all.png"), bench.path("head.png"));
    let plain = [
        "--size",
        "160x120",
        "--no-grid",
        "--background",
        "none",
        "--time",
        "20",
    ];
    done(&render(HATCHLING, &all, &plain)?)?;
    for focus in ["head", "/Hatchling/Geo/Body"] {
        done(&render(
            HATCHLING,
            &head,
            &[&plain[..], &["--focus", focus]].concat(),
        )?)?;
        assert!(
            differing(&picture(&all)?, &picture(&head)?) > 0.02,
            "{focus}"
        );
    }
    for (focus, word) in [
        ("tentacle", "there are root"),
        ("/No/Prim", "/Hatchling/Geo/Body"),
    ] {
        let output = render(HATCHLING, &head, &["--focus", focus])?;
        assert_eq!(output.status.code(), Some(1), "{focus}");
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
    Ok(())
}

/// A missing image is told by every command that reads materials.
fn missing_images() -> Done {
    let bench = Bench::new();
    let textured = r#"#usda 1.0
(
    defaultPrim = "Root"
    upAxis = "Y"
    metersPerUnit = 1
)

def Xform "Root"
{
    def Mesh "Square" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (
            interpolation = "vertex"
        )
        rel material:binding = </Root/M>
    }

    def Material "M"
    {
        token outputs:surface.connect = </Root/M/S.outputs:surface>

        def Shader "S"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </Root/M/T.outputs:rgb>
            token outputs:surface
        }

        def Shader "T"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./none.png@
            float3 outputs:rgb
        }
    }
}
"#;
    let file = bench.write("in.usda", textured);
    let input = file.to_str().ok_or("a name")?;
    let out = |name: &str| bench.path(name).display().to_string();
    let (png, glb) = (out("a.png"), out("a.glb"));
    for args in [
        &["render", input, "-o", &png, "--size", "64x48"][..],
        &["check", input],
        &["convert", input, "-o", &glb],
    ] {
        let output = sinew(args);
        let told = format!("{}{}", stdout(&output), stderr(&output));
        assert!(told.contains("texture-left-out"), "{args:?}: {told}");
        assert!(told.contains("none.png"), "{args:?}: {told}");
    }
    // A character of glTF whose image is missing is told of too, and has the same checker.
    let gltf = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"metallicFactor": 0, "baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}], "images": [{"uri": "none.png"}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
        "buffers": [{"byteLength": 60, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAIA/"}]}"#;
    let file = bench.write("in.gltf", gltf);
    let input = file.to_str().ok_or("a name")?;
    let usd = out("a.usda");
    for args in [
        &[
            "render",
            input,
            "-o",
            &png,
            "--size",
            "160x120",
            "--no-grid",
            "--background",
            "none",
        ][..],
        &["convert", input, "-o", &usd],
        &["check", input],
    ] {
        let told = stderr(&sinew(args)) + &stdout(&sinew(args));
        assert!(told.contains("gltf-image-unreadable"), "{args:?}: {told}");
    }
    let drawn = picture(Path::new(&png))?;
    let count = |wanted: &dyn Fn(u8) -> bool| {
        let opaque = drawn.pixels().filter(|p| p.0[3] == 255);
        opaque.filter(|p| wanted(p.0[1])).count()
    };
    let (dark, light) = (count(&|g| g < 110), count(&|g| g > 130));
    assert!(dark > 300 && light > 300, "{dark} {light}");
    Ok(())
}

/// The legend is the only thing that a heat picture has in its corner.
fn legend() -> Done {
    let bench = Bench::new();
    let out = bench.path("heat.png");
    let plain = [
        "--size",
        "320x240",
        "--no-grid",
        "--background",
        "black",
        "--time",
        "20",
    ];
    done(&render(
        HATCHLING,
        &out,
        &[&plain[..], &["--heat", "head"]].concat(),
    )?)?;
    let drawn = picture(&out)?;
    let corner = image::imageops::crop_imm(&drawn, 0, 0, 110, 40).to_image();
    let has = |color: [u8; 3]| corner.pixels().any(|p| p.0[..3] == color);
    assert!(has([255; 3]) && has([68, 1, 84]) && has([253, 231, 37]));
    Ok(())
}
