//! `sinew animate`: where its layers put the points, in sinew, in usd-core and by hand.

use std::path::{Path, PathBuf};
use std::process::Command;

use common::command::{Bench, bake, misused, refused, sinew, stderr, stdout};
use common::trials::Trial;
use common::{python, tolerance, usd};
use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;
use sinew::sampled::Time;
use sinew::skel::reference;
use sinew_layer::Value as Usd;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("clips_follow_each_other", clips_follow_each_other),
        Trial::test("clips_begin_where_they_are_told", clips_begin_where_told),
        Trial::test("what_differs_is_copied", what_differs_is_copied),
        Trial::test("one_clip_is_a_reference", one_clip_is_a_reference),
        Trial::test("clips_of_other_formats", clips_of_other_formats),
        Trial::test("instances_are_expanded", instances_are_expanded),
        Trial::test("names_find_joints_elsewhere", names_find_joints_elsewhere),
        Trial::test("shapes_alone_are_a_clip", shapes_alone_are_a_clip),
        Trial::test("variants_and_units", variants_and_units),
        Trial::test("the_report", the_report),
        Trial::test("wrong_requests_write_nothing", wrong_requests_write_nothing),
        python::trial("usd_core_plays_the_same", usd_core_plays_the_same),
        python::trial("packages_are_played_as_they_are", packages),
        python::trial("published_clips_of_retarget", published_clips),
    ]
}

const API: &str = r#"prepend apiSchemas = ["SkelBindingAPI"]"#;
const UNIT: &str = "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))";

/// Two joints and a blend shape; a point follows each joint, and the shape moves the second one.
fn hero() -> String {
    format!(
        r#"#usda 1.0
(
    defaultPrim = "Hero"
    metersPerUnit = 1
    upAxis = "Y"
)
def SkelRoot "Hero" ({API}) {{
    rel skel:skeleton = </Hero/Skel>
    def Skeleton "Skel" {{
        uniform token[] joints = ["A", "A/B"]
        uniform token[] jointNames = ["A", "B"]
        uniform matrix4d[] bindTransforms = [{UNIT}, {UNIT}]
        uniform matrix4d[] restTransforms = [{UNIT}, {UNIT}]
    }}
    def Mesh "Body" ({API}) {{
        point3f[] points = [(0, 0, 0), (0, 1, 0)]
        int[] faceVertexCounts = []
        int[] faceVertexIndices = []
        int[] primvars:skel:jointIndices = [0, 1] (elementSize = 1; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1] (elementSize = 1; interpolation = "vertex")
        uniform token[] skel:blendShapes = ["Up"]
        rel skel:blendShapeTargets = </Hero/Body/Up>
        def BlendShape "Up" {{
            uniform vector3f[] offsets = [(0, 0, 1)]
            uniform int[] pointIndices = [1]
        }}
    }}
}}
"#
    )
}

/// A clip of the hero: keys of (time code, x of joint A, x of joint B, weight of the shape).
struct Clip {
    name: &'static str,
    rate: f64,
    keys: Vec<[f64; 4]>,
    /// Joint B stands first.
    swapped: bool,
    /// Whether joint A is left out.
    sparse: bool,
}

fn clip(name: &'static str, rate: f64, keys: &[[f64; 4]]) -> Clip {
    Clip {
        name,
        rate,
        keys: keys.to_vec(),
        swapped: false,
        sparse: false,
    }
}

impl Clip {
    fn joints(&self) -> Vec<&'static str> {
        match (self.sparse, self.swapped) {
            (true, _) => vec!["A/B"],
            (false, true) => vec!["A/B", "A"],
            (false, false) => vec!["A", "A/B"],
        }
    }

    /// The SkelAnimation with this name.
    fn prim(&self, prefix: &str) -> String {
        let joints = self.joints();
        let tokens: Vec<String> = joints.iter().map(|j| format!("\"{prefix}{j}\"")).collect();
        let each = |one: &str| vec![one; joints.len()].join(", ");
        let (mut moves, mut weights) = (String::new(), String::new());
        for [time, a, b, weight] in &self.keys {
            let at = |joint: &&str| match *joint {
                "A" => format!("({a}, 0, 0)"),
                _ => format!("({b}, 0, 0)"),
            };
            let row: Vec<String> = joints.iter().map(at).collect();
            moves += &format!("{time}: [{}], ", row.join(", "));
            weights += &format!("{time}: [{weight}], ");
        }
        format!(
            r#"def SkelAnimation "{}" {{
    uniform token[] joints = [{}]
    float3[] translations.timeSamples = {{ {moves} }}
    quatf[] rotations = [{}]
    half3[] scales = [{}]
    uniform token[] blendShapes = ["Up"]
    float[] blendShapeWeights.timeSamples = {{ {weights} }}
}}
"#,
            self.name,
            tokens.join(", "),
            each("(1, 0, 0, 0)"),
            each("(1, 1, 1)"),
        )
    }

    /// A layer with this clip alone, which is its default prim.
    fn layer(&self) -> String {
        self.layer_with(self.name, "")
    }

    fn layer_with(&self, default: &str, prefix: &str) -> String {
        format!(
            "#usda 1.0\n(\n    defaultPrim = \"{default}\"\n    timeCodesPerSecond = {}\n    framesPerSecond = {}\n    metersPerUnit = 1\n)\n{}",
            self.rate,
            self.rate,
            self.prim(prefix)
        )
    }

    /// Where the two points are at a time of the clip, by hand.
    fn points(&self, time: f64) -> [DVec3; 2] {
        let keys = &self.keys;
        let after = keys
            .partition_point(|k| k[0] <= time)
            .clamp(1, keys.len().max(2) - 1);
        let (a, b) = (
            keys[after - 1],
            *keys.get(after).unwrap_or(&keys[after - 1]),
        );
        let along = match b[0] > a[0] {
            true => ((time - a[0]) / (b[0] - a[0])).clamp(0.0, 1.0),
            false => 0.0,
        };
        let of = |i: usize| a[i] + along * (b[i] - a[i]);
        let root = if self.sparse { 0.0 } else { of(1) };
        let second = DVec3::new(root + of(2), 1.0, of(3));
        [DVec3::new(root, 0.0, 0.0), second]
    }
}

/// Clips of other lengths, rates and first times.
fn walk() -> Clip {
    let keys = [
        [1.0, 0.0, 1.0, 0.0],
        [11.0, 10.0, 0.0, 1.0],
        [21.0, 4.0, 2.0, 0.5],
    ];
    clip("Walk", 24.0, &keys)
}

fn wave() -> Clip {
    clip(
        "Walk",
        30.0,
        &[[0.0, -5.0, 3.0, 0.25], [25.0, 5.0, -3.0, 1.0]],
    )
}

/// A folder with the character and the clips in files named by a letter each.
fn stage(clips: &[(&str, &Clip)]) -> Bench {
    let bench = Bench::new();
    bench.write("hero.usda", hero());
    for (name, clip) in clips {
        bench.write(&format!("{name}.usda"), clip.layer());
    }
    bench
}

/// Runs the command in the bench's folder.
fn run(bench: &Bench, args: &[&str]) -> std::process::Output {
    let mut command = Command::new(common::command::executable());
    command
        .arg("animate")
        .args(args)
        .current_dir(bench.folder.path());
    command.output().expect("the command runs")
}

fn animate(bench: &Bench, args: &[&str]) -> Result<(PathBuf, String), Failed> {
    let output = run(bench, &[&["hero.usda"], args, &["-o", "out.usda"]].concat());
    if output.status.code() != Some(0) {
        return Err(format!("{args:?}: {}", stderr(&output)).into());
    }
    Ok((bench.path("out.usda"), stderr(&output)))
}

/// Where sinew has the points at a time.
fn deformed(file: &Path, time: f64) -> Vec<DVec3> {
    let file = sinew_io::open(file).expect("a stage");
    let scene = file.scene(Default::default()).expect("a scene");
    let bound = scene.bound_skins().next().expect("a skin");
    let skin = bound.skin(Time::At(time)).expect("a skin");
    let pose = bound.pose(Time::At(time)).expect("a pose");
    reference::deform(&skin, &pose).unwrap().points
}

/// A part of a time line, by hand: from a time on, a clip at the time that follows from it.
struct Part<'a> {
    from: f64,
    clip: &'a Clip,
    /// The clip's time at `from`, and time codes of the clip per time code of the stage.
    first: f64,
    speed: f64,
}

fn part<'a>(from: f64, clip: &'a Clip, first: f64, speed: f64) -> Part<'a> {
    Part {
        from,
        clip,
        first,
        speed,
    }
}

fn truth(parts: &[Part<'_>], time: f64) -> [DVec3; 2] {
    let part = parts.iter().rev().find(|p| p.from <= time);
    let part = part.unwrap_or(&parts[0]);
    let time = part.first + (time - part.from) * part.speed;
    // Before its first time a clip holds.
    part.clip.points(time.max(part.first))
}

/// Whole frames and times between them, before, in and after the parts.
fn times(parts: &[Part<'_>]) -> Vec<f64> {
    let first = parts[0].from as i32 - 3;
    let last = parts[parts.len() - 1].from as i32 + 40;
    let whole = (first..last).map(f64::from);
    whole.flat_map(|t| [t, t + 0.375]).collect()
}

fn compare(what: &str, found: &[DVec3], expected: &[DVec3; 2]) -> Result<(), Failed> {
    for (found, expected) in found.iter().zip(expected) {
        if (*found - *expected).length() > 10.0 * tolerance::READ {
            return Err(format!("{what}: {found} is not {expected}").into());
        }
    }
    assert_eq!(found.len(), 2);
    Ok(())
}

/// The layer, and what a bake makes of it.
fn check(out: &Path, parts: &[Part<'_>]) -> Result<(), Failed> {
    for time in times(parts) {
        compare(
            &format!("at {time}"),
            &deformed(out, time),
            &truth(parts, time),
        )?;
    }
    let baked = out.with_file_name("baked.usda");
    let output = bake(out, &baked, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let stage = usd::open(&baked);
    for time in times(parts).into_iter().filter(|t| t.fract() == 0.0) {
        let points = usd::vectors(&stage, "/Hero/Body", "points", Some(time)).ok_or("points")?;
        compare(&format!("baked at {time}"), &points, &truth(parts, time))?;
    }
    Ok(())
}

/// The second begins where the first ends; the result has the first one's rate.
fn clips_follow_each_other() -> Result<(), Failed> {
    let (walk, wave) = (walk(), wave());
    let bench = stage(&[("a", &walk), ("b", &wave)]);
    let (out, told) = animate(&bench, &["a.usda", "b.usda", "a.usda"])?;
    assert_eq!(told, "");
    let parts = [
        part(1.0, &walk, 1.0, 1.0),
        part(21.0, &wave, 0.0, 30.0 / 24.0),
        part(41.0, &walk, 1.0, 1.0),
    ];
    check(&out, &parts)?;
    // The published layers are referred to, and nothing is copied.
    let text = std::fs::read_to_string(&out)?;
    assert!(text.contains("[@./a.usda@, @./b.usda@]"), "{text}");
    assert!(text.len() < 2000 && !bench.path("out_clips").exists());
    Ok(())
}

/// Gaps hold the pose before them; of clips that overlap the later one counts, with a warning.
fn clips_begin_where_told() -> Result<(), Failed> {
    let (walk, wave) = (walk(), wave());
    let bench = stage(&[("a", &walk), ("b", &wave)]);
    // In another order than they play in.
    let (out, told) = animate(
        &bench,
        &["a.usda@100", "b.usda@40", "a.usda@50", "b.usda@160"],
    )?;
    let parts = [
        part(40.0, &wave, 0.0, 1.25 * 24.0 / 24.0),
        part(50.0, &walk, 1.0, 1.0),
        part(100.0, &walk, 1.0, 1.0),
        part(160.0, &wave, 0.0, 1.25),
    ];
    check(&out, &parts)?;
    assert_eq!(told.matches("[clip-overlap]").count(), 1, "{told}");
    // What is cut does not make the result longer.
    bench.write(
        "long.usda",
        clip("Walk", 24.0, &[[0.0; 4], [500.0, 1.0, 1.0, 1.0]]).layer(),
    );
    animate(&bench, &["long.usda", "a.usda@40"])?;
    let stage = usd::open(&out);
    assert_eq!(
        (stage.start_time_code(), stage.end_time_code()),
        (Some(0.0), Some(60.0))
    );
    assert!(
        told.contains("would play from 40 to 60; Walk begins at 50"),
        "{told}"
    );
    let (out, told) = animate(&bench, &["a.usda@10", "b.usda@10", "a.usda@-7.5"])?;
    let parts = [part(-7.5, &walk, 1.0, 1.0), part(10.0, &wave, 0.0, 1.25)];
    check(&out, &parts)?;
    assert!(told.contains("never plays"), "{told}");
    Ok(())
}

/// Another order of joints, another path, fewer joints: copies, and the same points.
fn what_differs_is_copied() -> Result<(), Failed> {
    let (walk, mut swapped, mut sparse, mut renamed) = (walk(), wave(), wave(), wave());
    swapped.swapped = true;
    sparse.sparse = true;
    renamed.name = "Wave";
    for (other, file) in [(&swapped, "Walk"), (&sparse, "Walk"), (&renamed, "Wave")] {
        let bench = stage(&[("a", &walk), ("b", other)]);
        let (out, told) = animate(&bench, &["a.usda", "b.usda", "b.usda@80"])?;
        assert_eq!(told.matches("[clip-copied]").count(), 1, "{told}");
        let parts = [
            part(1.0, &walk, 1.0, 1.0),
            part(21.0, other, 0.0, 1.25),
            part(80.0, other, 0.0, 1.25),
        ];
        check(&out, &parts)?;
        let copies: Vec<_> = std::fs::read_dir(bench.path("out_clips"))?.collect();
        assert_eq!(copies.len(), 1);
        let copy = bench.path(&format!("out_clips/{file}.usdc"));
        assert!(copy.exists(), "{copy:?}");
    }
    // A pose without time between clips that move.
    let mut still = clip("Walk", 24.0, &[]);
    still.keys.push([0.0, 7.0, 7.0, 1.0]);
    let bench = stage(&[("a", &walk)]);
    let text = still
        .layer()
        .replace(".timeSamples = { 0: ", " = ")
        .replace(",  }", "");
    bench.write("b.usda", text);
    let (out, told) = animate(&bench, &["a.usda", "b.usda@30"])?;
    assert!(told.contains("has a value without time"), "{told}");
    check(
        &out,
        &[part(1.0, &walk, 1.0, 1.0), part(30.0, &still, 0.0, 1.0)],
    )
}

/// One clip needs no value clips, whatever its order of joints; a layer offset moves it.
fn one_clip_is_a_reference() -> Result<(), Failed> {
    let mut walk = walk();
    walk.swapped = true;
    let bench = stage(&[("a", &walk)]);
    let (out, told) = animate(&bench, &["a.usda@101"])?;
    assert_eq!(told, "");
    check(&out, &[part(101.0, &walk, 1.0, 1.0)])?;
    let text = std::fs::read_to_string(&out)?;
    assert!(
        text.contains("prepend references = @./a.usda@ (offset = 100)"),
        "{text}"
    );
    assert!(!text.contains("clips"), "{text}");
    // Without a start it plays as in its file.
    let (out, _) = animate(&bench, &["a.usda"])?;
    check(&out, &[part(1.0, &walk, 1.0, 1.0)])
}

/// A file that converts, with several clips: one must be chosen, and is copied.
fn clips_of_other_formats() -> Result<(), Failed> {
    let bench = Bench::new();
    let puppet = common::repository().join("examples/assets/puppet.glb");
    let puppet = puppet.to_str().ok_or("UTF-8")?;
    let name = |file: &str| bench.path(file).to_str().expect("UTF-8").to_owned();
    let (hero, out) = (name("hero.usdc"), name("out.usda"));
    let report = sinew(&["convert", puppet, "-o", &hero, "--json"]);
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    let report: Value = serde_json::from_str(&stdout(&report))?;
    let clips: Vec<&str> = report["clips"]
        .as_array()
        .ok_or("clips")?
        .iter()
        .filter_map(|c| c["name"].as_str())
        .collect();
    let last = clips.last().ok_or("a clip")?;
    let asked = format!("{puppet}#{last}@3");
    let output = sinew(&["animate", &hero, &asked, "-o", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("[clip-copied]"),
        "{}",
        stderr(&output)
    );
    let alone = name("alone.usda");
    let output = sinew(&["convert", puppet, "-o", &alone, "--clip", last]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let first = usd::open(Path::new(&alone))
        .start_time_code()
        .ok_or("start")?;
    for step in 0..20 {
        let time = f64::from(step) * 1.7;
        let found = deformed(Path::new(&out), 3.0 + time);
        let expected = deformed(Path::new(&alone), first + time);
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(&expected) {
            assert!((*a - *b).length() < tolerance::CONVERTED, "{time}: {a} {b}");
        }
    }
    Ok(())
}

/// A skeleton inside an instance: no opinion reaches it while it is one.
fn instances_are_expanded() -> Result<(), Failed> {
    let walk = walk();
    let bench = stage(&[("a", &walk)]);
    bench.write(
        "set.usda",
        "#usda 1.0\n(\n    defaultPrim = \"Set\"\n)\ndef Xform \"Set\" {\n    def \"One\" (\n        instanceable = true\n        references = @./hero.usda@\n    ) {\n    }\n    def \"Two\" (\n        instanceable = true\n        references = @./hero.usda@\n    ) {\n    }\n}\n",
    );
    let args = [
        "set.usda",
        "a.usda",
        "--skeleton",
        "/Set/Two/Skel",
        "-o",
        "out.usda",
    ];
    let output = run(&bench, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let file = sinew_io::open(bench.path("out.usda"))?;
    let scene = file.scene(Default::default())?;
    let driven: Vec<(&str, bool)> = scene
        .instances
        .iter()
        .map(|s| (s.path.as_str(), s.instance.animation().is_some()))
        .collect();
    assert_eq!(driven, [("/Set/One/Skel", false), ("/Set/Two/Skel", true)]);
    let output = run(&bench, &["set.usda", "a.usda", "-o", "out.usda", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let scene = sinew_io::open(bench.path("out.usda"))?.scene(Default::default())?;
    assert!(
        scene
            .instances
            .iter()
            .all(|s| s.instance.animation().is_some())
    );
    Ok(())
}

/// Joints under other paths are found by their names, in a copy.
fn names_find_joints_elsewhere() -> Result<(), Failed> {
    let walk = walk();
    let bench = stage(&[]);
    bench.write("a.usda", walk.layer_with("Walk", "Armature/"));
    let (out, told) = animate(&bench, &["a.usda"])?;
    assert!(
        told.contains("[joints-by-name]") && told.contains("[clip-copied]"),
        "{told}"
    );
    check(&out, &[part(1.0, &walk, 1.0, 1.0)])
}

/// A clip of blend shapes fits by their names; joints are at rest in a sequence with others.
fn shapes_alone_are_a_clip() -> Result<(), Failed> {
    let (walk, mut face) = (
        walk(),
        clip("Face", 24.0, &[[0.0, 0.0, 0.0, 0.0], [10.0, 0.0, 0.0, 1.0]]),
    );
    let bench = stage(&[("a", &walk), ("b", &face)]);
    let text = face.layer();
    let without = |line: &&str| {
        let names = ["joints", "translations", "rotations", "scales"];
        !names.iter().any(|name| line.contains(&format!("] {name}")))
    };
    let text: Vec<&str> = text.lines().filter(without).collect();
    assert_eq!(text.len(), face.layer().lines().count() - 4);
    bench.write("b.usda", text.join("\n"));
    let (out, told) = animate(&bench, &["b.usda@5"])?;
    assert_eq!(told, "");
    check(&out, &[part(5.0, &face, 0.0, 1.0)])?;
    face.sparse = true;
    let (out, told) = animate(&bench, &["b.usda", "a.usda@20"])?;
    assert!(told.contains("[clip-copied]"), "{told}");
    check(
        &out,
        &[part(0.0, &face, 0.0, 1.0), part(20.0, &walk, 1.0, 1.0)],
    )
}

fn variants_and_units() -> Result<(), Failed> {
    let walk = walk();
    let bench = stage(&[]);
    let centimetres = walk
        .layer()
        .replace("metersPerUnit = 1", "metersPerUnit = 0.01");
    bench.write("a.usda", centimetres);
    let text = hero().replace(
        "def SkelRoot \"Hero\" (",
        "def SkelRoot \"Hero\" (\n    variants = { string size = \"small\" }\n    prepend variantSets = \"size\"\n    ",
    );
    let end = text.trim_end().trim_end_matches('}').len();
    let sets = "    variantSet \"size\" = {\n        \"small\" {\n        }\n        \"large\" {\n            over \"Body\" {\n                point3f[] points = [(0, 0, 0), (0, 9, 0)]\n            }\n        }\n    }\n}\n";
    let base = text[..end].replace("point3f[] points = [(0, 0, 0), (0, 1, 0)]\n", "");
    bench.write("hero.usda", format!("{base}{sets}"));
    let (out, told) = animate(&bench, &["a.usda", "--variant", "/Hero{size=large}"])?;
    assert!(told.contains("[clip-units]"), "{told}");
    assert!((deformed(&out, 1.0)[1].y - 9.0).abs() < tolerance::READ);
    Ok(())
}

fn the_report() -> Result<(), Failed> {
    let (walk, wave) = (walk(), wave());
    let bench = stage(&[("a", &walk), ("b", &wave)]);
    let args = [
        "hero.usda",
        "a.usda",
        "b.usda@30",
        "-o",
        "out.usda",
        "--json",
    ];
    let report: Value = serde_json::from_slice(&run(&bench, &args).stdout)?;
    assert_eq!(report["command"], "animate");
    assert_eq!([&report["start"], &report["end"]], [1.0, 50.0]);
    let clips = report["clips"].as_array().ok_or("clips")?;
    assert_eq!(clips.len(), 2);
    assert_eq!(clips[1]["skeleton"], "/Hero/Skel");
    assert_eq!(clips[1]["animation"], "/Walk");
    assert_eq!([&clips[1]["start"], &clips[1]["end"]], [30.0, 50.0]);
    assert!(clips[1]["copy"].is_null());
    // Extents are those of the clips.
    let stage = usd::open(&bench.path("out.usda"));
    let extent = usd::vectors(&stage, "/Hero", "extent", None).ok_or("an extent")?;
    assert!(extent[0].x < -4.9 && extent[1].x > 9.9, "{extent:?}");
    Ok(())
}

fn wrong_requests_write_nothing() -> Result<(), Failed> {
    let (walk, wave) = (walk(), wave());
    let bench = stage(&[("a", &walk)]);
    let both = format!("{}{}", walk.layer(), wave.prim("").replace("Walk", "Wave"));
    bench.write("both.usda", both.replace("defaultPrim = \"Walk\"", ""));
    let other = walk.layer().replace("A/B", "X/Y").replace("\"A\"", "\"X\"");
    bench.write("other.usda", other);
    let out = bench.path("out.usda");
    let fails = |args: &[&str], words: &[&str]| {
        refused(
            &run(&bench, &[args, &["-o", "out.usda"]].concat()),
            &out,
            words,
        );
    };
    fails(
        &["hero.usda", "both.usda"],
        &["several clips", "both.usda#Walk", "Wave"],
    );
    fails(
        &["hero.usda", "both.usda#Run"],
        &["no clip is named 'Run'", "Walk, Wave"],
    );
    fails(
        &["hero.usda", "other.usda"],
        &["X", "/Hero/Skel", "retarget"],
    );
    fails(&["hero.usda", "gone.usda@3"], &["gone.usda"]);
    fails(&["hero.usda", "hero.usda"], &["no clip in this file"]);
    fails(&["a.usda", "a.usda"], &["no skeleton"]);
    fails(
        &["hero.usda", "a.usda", "--skeleton", "/No"],
        &["/Hero/Skel"],
    );
    let text = walk
        .layer()
        .replace("timeCodesPerSecond = 24", "timeCodesPerSecond = 0");
    bench.write("still.usda", text);
    fails(
        &["hero.usda", "still.usda"],
        &["timeCodesPerSecond", "frame-rate-invalid"],
    );
    let puppet = common::repository().join("examples/assets/puppet.glb");
    fails(
        &[puppet.to_str().ok_or("UTF-8")?, "a.usda"],
        &["sinew convert"],
    );
    for (args, words) in [
        (
            &["hero.usda", "a.usda@soon", "-o", "out.usda"][..],
            "time code after @",
        ),
        (
            &["hero.usda", "a.usda#@3", "-o", "out.usda"],
            "name after #",
        ),
        (&["hero.usda", "a.usda", "-o", "out.usdz"], "sinew convert"),
        (&["hero.usda", "a.usda", "-o", "out.png"], ".usda"),
        (&["hero.usda", "-o", "out.usda"], "CLIP"),
    ] {
        misused(&run(&bench, args), &out, &[words]);
    }
    // An output that is an input.
    for input in ["hero.usda", "a.usda"] {
        let before = std::fs::read(bench.path(input))?;
        let output = run(&bench, &["hero.usda", "a.usda", "-o", input]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert_eq!(std::fs::read(bench.path(input))?, before);
    }
    Ok(())
}

/// Where usd-core has the points, by its own bake.
fn in_usd_core(
    python: &str,
    file: &Path,
    times: &[f64],
    mesh: usize,
) -> Result<Vec<Vec<DVec3>>, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert/character_readback.py");
    let output = Command::new(python)
        .arg(script)
        .arg(file)
        .args(times.iter().map(f64::to_string))
        .output()?;
    if !output.status.success() {
        return Err(stderr(&output).into());
    }
    let read: Value = serde_json::from_slice(&output.stdout)?;
    let at = |time: &f64| {
        let points = read["points"][mesh][format!("{time:?}")].as_array();
        let points = points.expect("points at every time").iter();
        points
            .map(|p| DVec3::from([0, 1, 2].map(|i| p[i].as_f64().expect("a number"))))
            .collect()
    };
    Ok(times.iter().map(at).collect())
}

fn usd_core_plays_the_same(python: &str) -> Result<(), Failed> {
    let (walk, wave) = (walk(), wave());
    let mut swapped = wave_at_sixty();
    swapped.swapped = true;
    let bench = stage(&[("a", &walk), ("b", &wave), ("c", &swapped)]);
    let sequence = [
        part(1.0, &walk, 1.0, 1.0),
        part(21.0, &wave, 0.0, 1.25),
        part(50.0, &walk, 1.0, 1.0),
        part(65.0, &swapped, 0.0, 2.5),
    ];
    let (out, _) = animate(&bench, &["a.usda", "b.usda", "a.usda@50", "c.usda@65"])?;
    judge(python, &out, &sequence)?;
    // A single clip of another skeleton is a reference, and scaled by USD where its rate is not that
    // of the first clip.
    let hero = bench.path("hero.usda");
    let text = std::fs::read_to_string(&hero)?;
    let one = &text[text.find("def SkelRoot").ok_or("a SkelRoot")?..];
    let other = one
        .replace("/Hero", "/Set/Other")
        .replace("Root \"Hero\"", "Root \"Other\"");
    let other = other.replace("\"A", "\"X").replace("/B\"", "/Y\"");
    let one = one.replace("/Hero", "/Set/Hero");
    let set = "#usda 1.0\n(\n    defaultPrim = \"Set\"\n)\ndef Xform \"Set\" {\n";
    std::fs::write(&hero, format!("{set}{one}{other}}}\n"))?;
    let text = swapped
        .layer()
        .replace("\"A", "\"X")
        .replace("/B\"", "/Y\"");
    bench.write("c.usda", text);
    let (out, told) = animate(&bench, &["a.usda", "c.usda@12"])?;
    assert_eq!(told, "");
    let text = std::fs::read_to_string(&out)?;
    assert!(!text.contains("clips"), "{text}");
    let truths = [part(1.0, &walk, 1.0, 1.0), part(12.0, &swapped, 0.0, 2.5)];
    let times: Vec<f64> = (-5..60).map(f64::from).collect();
    let found = [0, 1].map(|mesh| in_usd_core(python, &out, &times, mesh));
    for (found, truth_of) in found.into_iter().zip(&truths) {
        for (time, points) in times.iter().zip(found?) {
            let truth = truth(std::slice::from_ref(truth_of), *time);
            compare(&format!("usd-core at {time}"), &points, &truth)?;
        }
    }
    let scene = sinew_io::open(&out)?.scene(Default::default())?;
    for (bound, truth_of) in scene.bound_skins().zip(&truths) {
        for time in times.iter().map(|t| t + 0.375) {
            let (skin, pose) = (bound.skin(Time::At(time))?, bound.pose(Time::At(time))?);
            let truth = truth(std::slice::from_ref(truth_of), time);
            let points = reference::deform(&skin, &pose).unwrap().points;
            compare(&format!("at {time}"), &points, &truth)?;
        }
    }
    Ok(())
}

fn wave_at_sixty() -> Clip {
    clip(
        "Wave",
        60.0,
        &[[0.0, 2.0, 1.0, 1.0], [50.0, -4.0, 6.0, 0.0]],
    )
}

fn judge(python: &str, out: &Path, parts: &[Part<'_>]) -> Result<(), Failed> {
    check(out, parts)?;
    let whole: Vec<f64> = times(parts)
        .into_iter()
        .filter(|t| t.fract() == 0.0)
        .collect();
    let found = in_usd_core(python, out, &whole, 0)?;
    for (time, points) in whole.iter().zip(found) {
        compare(
            &format!("usd-core at {time}"),
            &points,
            &truth(parts, *time),
        )?;
    }
    Ok(())
}

/// Clips in packages are referred to, as usd-core does; what cannot be is copied for its true reason.
fn packages(python: &str) -> Result<(), Failed> {
    let (walk, wave) = (walk(), wave());
    let bench = stage(&[("a", &walk), ("b", &wave)]);
    for name in ["a", "b"] {
        let [from, to] = ["usda", "usdz"].map(|e| bench.path(&format!("{name}.{e}")));
        let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
        let output = sinew(&["convert", from, "-o", to]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let (out, told) = animate(&bench, &["a.usdz#Walk", "b.usdz", "a.usdz@50"])?;
    assert_eq!(told, "");
    assert!(!bench.path("out_clips").exists());
    let parts = [
        part(1.0, &walk, 1.0, 1.0),
        part(21.0, &wave, 0.0, 1.25),
        part(50.0, &walk, 1.0, 1.0),
    ];
    judge(python, &out, &parts)?;
    bench.write("c.usda", "#usda 1.0\n(subLayers = [@./b.usda@])\n");
    let (out, told) = animate(&bench, &["a.usda", "c.usda"])?;
    assert!(told.contains("its values come from others"), "{told}");
    judge(python, &out, &parts[..2])
}

/// What `retarget --animation-only` publishes: one prim path and one order of joints, so nothing is
/// copied, and the points are those of each clip alone.
fn published_clips(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let asset = |name: &str| {
        let path = common::repository().join("examples/assets").join(name);
        path.to_str().expect("UTF-8").to_owned()
    };
    let name = |file: &str| bench.path(file).to_str().expect("UTF-8").to_owned();
    let (hero, out) = (name("hero.usdc"), name("out.usda"));
    let publish = |file: &str, more: &[&str]| {
        let (walk, to) = (asset("walk.bvh"), name(file));
        let args = [
            "retarget",
            &walk,
            &hero,
            "-o",
            &to,
            "--animation-only",
            "--quiet",
        ];
        let output = sinew(&[&args, more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    let output = sinew(&["convert", &asset("puppet.glb"), "-o", &hero, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    publish("walk.usdc", &[]);
    publish("stay.usda", &["--in-place", "--arm-space", "20"]);
    let (walk, stay) = (name("walk.usdc"), name("stay.usda"));
    let output = sinew(&["animate", &hero, &walk, &format!("{stay}@200"), "-o", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        !stderr(&output).contains("[clip-copied]"),
        "{}",
        stderr(&output)
    );
    let stage = usd::open(Path::new(&walk));
    let first = stage.start_time_code().ok_or("a start")?;
    let alone = |clip: &str| -> Result<PathBuf, Failed> {
        let out = name(&format!("alone_{}.usda", clip.len()));
        let output = sinew(&["animate", &hero, clip, "-o", &out, "--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        Ok(out.into())
    };
    let times: Vec<f64> = (0..8).map(|i| first + 3.0 * f64::from(i)).collect();
    for (clip, from) in [(&walk, first), (&stay, 200.0)] {
        let alone = alone(clip)?;
        let moved: Vec<f64> = times.iter().map(|t| t - first + from).collect();
        let judged = in_usd_core(python, Path::new(&out), &moved, 0)?;
        for ((time, moved), judged) in times.iter().zip(&moved).zip(judged) {
            let expected = deformed(&alone, *time);
            let found = deformed(Path::new(&out), *moved);
            assert_eq!(found.len(), expected.len());
            for ((a, b), c) in found.iter().zip(&expected).zip(&judged) {
                assert!((*a - *b).length() < tolerance::READ, "{moved}: {a} {b}");
                // The puppet's mesh is in the world's space.
                assert!(
                    (*c - *b).length() < tolerance::CONVERTED,
                    "{moved}: {c} {b}"
                );
            }
        }
    }
    let text = std::fs::read_to_string(&out)?;
    assert!(text.contains("@./walk.usdc@, @./stay.usda@"), "{text}");
    assert!(matches!(
        usd::value(
            &usd::open(Path::new(&out)),
            "/puppet/Animation",
            "joints",
            None
        ),
        Some(Usd::TokenArray(_))
    ));
    Ok(())
}
