//! How a stage is composed, through the command: variants, search paths, instances.

use std::path::Path;

use common::character::{self, API};
use common::command::{Bench, bake, refused, sinew, stderr, stdout};
use common::usd;
use sinew_stage::Stage;

/// The character with its point at the origin.
fn rig(translations: &str) -> String {
    character::rig(translations, "(0, 0, 0)")
}

fn moved(x: f64) -> String {
    rig(&format!("float3[] translations = [({x}, 0, 0)]"))
}

/// The first point's x after a bake.
fn x_of(out: &Path, prim: &str) -> f64 {
    let stage = usd::open(out);
    let points = usd::vectors(&stage, prim, "points", None);
    points.unwrap_or_else(|| panic!("{prim} in {}", out.display()))[0].x
}

/// A character with two sets of variants, `pose` nested in `body`.
fn variants() -> String {
    let pose = |x: f64| {
        format!(
            "over \"Skel\" {{ over \"Anim\" {{ float3[] translations = [({x}, 0, 0)]; }}
}}"
        )
    };
    format!(
        r#"#usda 1.0
def SkelRoot "Hero" (
    prepend apiSchemas = ["SkelBindingAPI"]
    prepend variantSets = "body"
    variants = {{ string body = "thin"; string pose = "near" }}
) {{
    variantSet "body" = {{
        "thin" (prepend variantSets = "pose") {{
            {}
            variantSet "pose" = {{ "near" {{ {}
}}
"far" {{ {}
}}
}}
        }}
        "wide" {{ {}
}}
    }}
}}
"#,
        // What a variant says itself is stronger than a variant nested in it.
        rig(""),
        pose(1.0),
        pose(2.0),
        moved(4.0).replace("[(0, 0, 0)]", "[(0.5, 0, 0)]"),
    )
}

#[test]
fn a_variant_is_selected_over_the_files_own() {
    let bench = Bench::new();
    bench.write("hero.usda", variants());
    // Selected from above a reference, where the prim has another path.
    let input = bench.write(
        "shot.usda",
        "#usda 1.0\ndef \"Shot\" { def \"Hero\" (prepend references = @./hero.usda@</Hero>) {}\n}\n",
    );
    for (selection, x) in [
        (None, 1.0),
        (Some("/Shot/Hero{pose=far}"), 2.0),
        (Some("/Shot/Hero{body=wide}"), 4.5),
        (Some("/Shot/Hero{body=thin}{pose=far}"), 2.0),
        (Some("/Shot/Hero{pose=}"), 0.0),
    ] {
        // Without a pose the animation has no translations, so it moves nothing.
        let code = if selection == Some("/Shot/Hero{pose=}") {
            3
        } else {
            0
        };
        let args: Vec<&str> = selection.iter().flat_map(|s| ["--variant", s]).collect();
        let flat = bench.path("flat.usda");
        let output = bake(&input, &flat, &args);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(x_of(&flat, "/Shot/Hero/Body"), x, "{selection:?}");

        // A layer stands without the command line, so it selects the same variants itself.
        let layer = bench.path("layer.usda");
        let output = bake(&input, &layer, &[&args[..], &["--layer"]].concat());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(x_of(&layer, "/Shot/Hero/Body"), x, "{selection:?}");
        let stage = usd::open(&layer);
        let animated = usd::vectors(&stage, "/Shot/Hero/Skel/Anim", "translations", None);
        let animated = animated.map_or(0.0, |t| t[0].x);
        assert_eq!(
            animated.floor(),
            x.floor(),
            "the layer shows the variant: {selection:?}"
        );
    }
    // Of two selections for one set the last one counts; two flags add up.
    let out = bench.path("out.usda");
    let output = bake(
        &input,
        &out,
        &[
            "--variant",
            "/Shot/Hero{body=wide}",
            "--variant",
            "/Shot/Hero{body=thin}",
            "--variant",
            "/Shot/Hero{pose=far}",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(x_of(&out, "/Shot/Hero/Body"), 2.0);

    let inspected = sinew(&[
        "inspect",
        input.to_str().unwrap(),
        "--variant",
        "/Shot/Hero{body=wide}",
    ]);
    assert!(
        stdout(&inspected).contains("1 bound prim"),
        "{}",
        stdout(&inspected)
    );
}

#[test]
fn a_variant_that_is_not_there_is_refused_with_those_that_are() {
    let bench = Bench::new();
    let input = bench.write("hero.usda", variants());
    bench.write(
        "shot.usda",
        "#usda 1.0\ndef \"I\" (instanceable = true; prepend references = @./group.usda@</G>) {}\n",
    );
    bench.write(
        "group.usda",
        "#usda 1.0\ndef \"G\" { def \"Hero\" (prepend references = @./hero.usda@</Hero>) {}\n}\n",
    );
    let out = bench.path("out.usda");
    for (selection, words) in [
        ("/Nobody{body=thin}", &["/Nobody", "no prim"][..]),
        ("/Hero{hat=thin}", &["/Hero", "'hat'", "body", "pose"]),
        (
            "/Hero{body=round}",
            &["/Hero", "'body'", "'round'", "thin, wide"],
        ),
        ("/Hero/Body{body=thin}", &["/Hero/Body", "no variant sets"]),
    ] {
        refused(&bake(&input, &out, &["--variant", selection]), &out, words);
    }
    refused(
        &bake(
            &bench.path("shot.usda"),
            &out,
            &["--variant", "/I/Hero{body=wide}"],
        ),
        &out,
        &["/I/Hero", "the instance /I"],
    );
    for wrong in ["/Hero", "Hero{body=thin}", "/Hero{body}", "/Hero{body=thin"] {
        let output = bake(&input, &out, &["--variant", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(
            stderr(&output).contains("/Prim{set=name}"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn search_paths_find_assets() {
    let bench = Bench::new();
    for folder in ["a", "b", "a/lib", "b/lib"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    let hero = |x: f64| {
        format!(
            "#usda 1.0\ndef SkelRoot \"Hero\" ({API}) {{\n{}\n}}\n",
            moved(x)
        )
    };
    bench.write("a/lib/hero.usda", hero(1.0));
    bench.write("b/lib/hero.usda", hero(2.0));
    bench.write("b/lib/skin.png", "a picture");
    let input = bench.write(
        "shot.usda",
        "#usda 1.0\ndef \"Hero\" (prepend references = @lib/hero.usda@</Hero>) {\n\
         asset file = @lib/skin.png@; }\n",
    );
    let out = bench.path("out.usda");
    let (a, b) = (bench.path("a"), bench.path("b"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let run = |args: &[&str], environment: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args([
                "bake",
                input.to_str().unwrap(),
                "-o",
                out.to_str().unwrap(),
                "--backend",
                "cpu",
            ])
            .args(args)
            .env("PXR_AR_DEFAULT_SEARCH_PATH", environment)
            .output()
            .unwrap()
    };
    refused(&run(&[], ""), &out, &["lib/hero.usda"]);
    for (args, environment, x) in [
        (&["--search-path", a, "--search-path", b][..], "", 1.0),
        (&["--search-path", b, "--search-path", a], "", 2.0),
        (&["--search-path", b], a, 2.0),
        (&[], a, 1.0),
        (&[], format!("/nowhere:{b}:{a}").as_str(), 2.0),
    ] {
        let output = run(args, environment);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(x_of(&out, "/Hero/Body"), x, "{args:?} {environment}");
    }
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(
        text.contains("b/lib/skin.png@"),
        "the path keeps resolving: {text}"
    );
    refused(
        &run(&["--search-path", "/no/such/folder"], ""),
        &bench.path("none.usda"),
        &["--search-path", "/no/such/folder"],
    );
}

fn golden(name: &str) -> std::path::PathBuf {
    common::repository().join(format!("tests/goldens/{name}.usda"))
}

fn is_instance(stage: &Stage, prim: &str) -> bool {
    usd::prim(stage, prim).is_instance()
}

/// The goldens show that each prim comes out as at Pixar's; this one, how often it is written.
#[test]
fn instances_that_come_out_the_same_are_written_once() {
    let bench = Bench::new();
    // The input, and how many prims hold points over time: two meshes for each prototype, and two for
    // each instance that comes out like no other (`instanced` moves one of them by its transform).
    for (name, shared, alone, prototypes, written) in [
        (
            "instances_shared",
            &["Near", "Far", "Walks", "One", "Two"][..],
            &["Other"][..],
            2,
            6,
        ),
        // The fourth prototype is of the instances in the class.
        ("instances_nested", &["S1", "S2"], &["S3"], 4, 4),
        ("instanced", &[], &["One", "Two"], 0, 2),
    ] {
        for mode in [&[][..], &["--layer"]] {
            let out = bench.path("out.usda");
            let output = bake(&golden(name), &out, mode);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            let stage = usd::open(&out);
            for instance in shared {
                assert!(
                    is_instance(&stage, &format!("/World/{instance}")),
                    "{name} {instance}"
                );
            }
            for prim in alone {
                assert!(
                    !is_instance(&stage, &format!("/World/{prim}")),
                    "{name} {prim}"
                );
            }
            let text = std::fs::read_to_string(&out).unwrap();
            let count = text.matches("point3f[] points.timeSamples").count();
            assert_eq!(count, written, "{name} {mode:?}");
            if mode.is_empty() {
                assert_eq!(stage.prototypes().count(), prototypes, "{name}");
            }
        }
    }
}

#[test]
fn a_crowd_of_instances_stays_small() {
    let bench = Bench::new();
    bench.write(
        "hero.usda",
        format!(
            "#usda 1.0\ndef \"G\" {{ def SkelRoot \"Hero\" ({API}) {{\n{}\n}}\n}}\n",
            moved(1.0).replace("</Hero", "</G/Hero")
        ),
    );
    let mut sizes = Vec::new();
    for count in [2, 300] {
        let mut text = "#usda 1.0\n".to_owned();
        for i in 0..count {
            text += &format!(
                "def Xform \"I{i}\" (instanceable = true; prepend references = @./hero.usda@</G>) {{\n\
                 double3 xformOp:translate = ({i}, 0, 0)\n\
                 uniform token[] xformOpOrder = [\"xformOp:translate\"]\n}}\n"
            );
        }
        let input = bench.write("crowd.usda", text);
        let out = bench.path("out.usda");
        let output = bake(&input, &out, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(
            stdout(&output).contains(&format!("{count} prims")),
            "{}",
            stdout(&output)
        );
        let shared = match count {
            2 => "1 prim deformed together",
            _ => "299 prims deformed together",
        };
        assert!(stdout(&output).contains(shared), "{}", stdout(&output));
        for i in [0, count - 1] {
            assert_eq!(x_of(&out, &format!("/I{i}/Hero/Body")), 1.0);
        }
        let text = std::fs::read_to_string(&out).unwrap();
        assert_eq!(text.matches("point3f[] points").count(), 1);
        sizes.push(std::fs::metadata(&out).unwrap().len());
    }
    // What is left of each is its name, its transform and its reference.
    assert!(sizes[1] - sizes[0] < 298 * 400, "{sizes:?}");
}

#[test]
fn a_prim_that_inherits_an_instance_is_kept() {
    let bench = Bench::new();
    bench.write(
        "hero.usda",
        format!(
            "#usda 1.0\ndef \"G\" {{ def SkelRoot \"Hero\" ({API}) {{\n{}\n}}\n}}\n",
            moved(1.0).replace("</Hero", "</G/Hero")
        ),
    );
    let instance = "(instanceable = true; prepend references = @./hero.usda@</G>) {}";
    let input = bench.write(
        "in.usda",
        format!(
            "#usda 1.0\ndef \"A\" {instance}\ndef \"B\" {instance}\n\
             def \"C\" (inherits = </B>; instanceable = false) {{}}\n"
        ),
    );
    let out = bench.path("out.usda");
    let output = bake(&input, &out, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for prim in ["/A", "/B", "/C"] {
        assert_eq!(x_of(&out, &format!("{prim}/Hero/Body")), 1.0);
    }
    let stage = usd::open(&out);
    assert!(is_instance(&stage, "/A") && is_instance(&stage, "/B") && !is_instance(&stage, "/C"));
}

#[test]
fn chosen_instances_part_from_the_others() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let output = bake(&golden("instances_shared"), &out, &["--prim", "/World/Far"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let stage = usd::open(&out);
    assert!(!is_instance(&stage, "/World/Far"));
    assert_eq!(usd::type_name(&stage, "/World/Far/Root"), "Xform");
    for other in ["/World/Near", "/World/Walks"] {
        assert!(is_instance(&stage, other));
        assert_eq!(usd::type_name(&stage, &format!("{other}/Root")), "SkelRoot");
    }
}

/// A character as a prototype, at `path`, of a PointInstancer that stands at `/P`.
fn instancer(path: &str, text: &str) -> String {
    let hero = format!(
        "def SkelRoot \"Hero\" ({API}) {{\n{}\n}}\n",
        moved(1.0).replace("</Hero", &format!("<{path}"))
    );
    let instancer = format!(
        "def PointInstancer \"P\" {{\n point3f[] positions = [(0, 0, 0), (5, 0, 0)]\n\
         int[] protoIndices = [0, 0]\n rel prototypes = <{path}>\n"
    );
    format!(
        "#usda 1.0\n{}",
        text.replace("INSTANCER", &instancer).replace("HERO", &hero)
    )
}

/// Pixar's bake overlooks the undefined ones; Hydra draws them, so that they have to move.
#[test]
fn prototypes_of_point_instancers_are_baked() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    for (path, text) in [
        (
            "/P/Prototypes/Hero",
            "INSTANCER def Scope \"Prototypes\" { HERO }\n}\n",
        ),
        (
            "/P/Prototypes/Hero",
            "INSTANCER over \"Prototypes\" { HERO }\n}\n",
        ),
        ("/Lib/Hero", "INSTANCER }\nover \"Lib\" { HERO }\n"),
        // Below a SkelRoot, which the instancer hides from the outer one.
        (
            "/R/P/Prototypes/Hero",
            "def SkelRoot \"R\" { INSTANCER def Scope \"Prototypes\" { HERO }\n}\n}\n",
        ),
    ] {
        let input = bench.write("in.usda", instancer(path, text));
        for mode in [&[][..], &["--layer"]] {
            let output = bake(&input, &out, mode);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            assert_eq!(x_of(&out, &format!("{path}/Body")), 1.0, "{text}");
            assert_eq!(usd::type_name(&usd::open(&out), path), "Xform", "{text}");
        }
        std::fs::remove_file(&out).unwrap();
    }
    // No renderer draws a class, whoever names it.
    let text = instancer("/Lib/Hero", "INSTANCER }\nclass \"Lib\" { HERO }\n");
    let input = bench.write("in.usda", text);
    refused(&bake(&input, &out, &[]), &out, &["no SkelRoot"]);
    // Nor an over that nothing names.
    let text = instancer("/Lib/Hero", "over \"Lib\" { HERO }\n");
    let input = bench.write("in.usda", text);
    refused(&bake(&input, &out, &[]), &out, &["no SkelRoot"]);
}

/// An empty skel:animationSource blocks the one above (rule 3), in the output as well, where a Skeleton that no
/// prim is bound to stays what it was.
#[test]
fn targets_authored_as_none_stay_none() {
    let bench = Bench::new();
    let still = format!(
        "def Skeleton \"Still\" ({API}) {{ rel skel:animationSource = []; }}\n{}",
        moved(3.0)
    );
    let text = format!("#usda 1.0\ndef SkelRoot \"Hero\" ({API}) {{\n{still}\n}}");
    let file = bench.write("still.usda", &text);
    let out = bench.path("out.usdc");
    assert!(bake(&file, &out, &["--keep-bindings"]).status.success());
    let stage = usd::open(&out);
    let source = usd::prim(&stage, "/Hero/Still").relationship("skel:animationSource");
    assert!(source.has_authored_targets());
    assert!(source.targets().is_empty());
}

/// Pixar's code asks of a target only that it is an active Skeleton or SkelAnimation.
#[test]
fn skeletons_and_animations_in_classes_and_overs_count() {
    let bench = Bench::new();
    let rig = moved(2.0);
    for shelf in [
        "class \"Shelf\"",
        "over \"Shelf\"",
        "class SkelRoot \"Shelf\"",
    ] {
        // The animation alone, then the Skeleton that holds it, moved by its ancestor.
        let animated = rig.replace("</Hero/Skel/Anim>", "</Shelf/Skel/Anim>");
        let bound = animated.replace("</Hero/Skel>", "</Shelf/Skel>");
        let placed = "double3 xformOp:translate = (5, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]";
        let typed = shelf
            .replace("over \"", "over Xform \"")
            .replace("class \"", "class Xform \"");
        let shelf = format!(
            "{typed} {{\n{placed}\n{}\n}}\n",
            rig.replace("</Hero/", "</Shelf/")
        );
        for (hero, x) in [(animated, 2.0), (bound, 7.0)] {
            let text = format!("#usda 1.0\ndef SkelRoot \"Hero\" ({API}) {{\n{hero}\n}}\n{shelf}");
            let out = bench.path("out.usda");
            let output = bake(&bench.write("in.usda", text), &out, &[]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            assert!(
                !stderr(&output).contains("no active prim"),
                "{}",
                stderr(&output)
            );
            assert_eq!(x_of(&out, "/Hero/Body"), x, "{shelf}");
        }
    }
}
