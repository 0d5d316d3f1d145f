//! `sinew render`.

use std::path::Path;

use image::RgbaImage;
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
    let trials: [(&str, Run); 8] = [
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
        ("nowhere/out.png", "no folder"),
        ("s#.png", "no frame number"),
    ] {
        let more: &[&str] = if name == "s#.png" {
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
