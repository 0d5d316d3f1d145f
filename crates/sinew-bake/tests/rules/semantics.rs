//! UsdSkel's own examples and the rules that its text and its code read differently.

use std::path::PathBuf;

use common::usd;
use glam::DVec3;
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene};
use sinew::skel::{AnimSource, reference};
use sinew_bake::{Backend, BakeOptions, bake};
use sinew_io::usd::{ReadOptions, UsdFile};
use tempfile::TempDir;

/// A stage on disk, and its scene under either reading.
struct Stage {
    folder: TempDir,
    file: PathBuf,
}

impl Stage {
    fn new(body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stage.usda");
        std::fs::write(&file, format!("#usda 1.0\n{body}")).unwrap();
        Self { folder, file }
    }

    fn scene(&self, anim_source: AnimSource) -> Scene {
        UsdFile::open(&self.file)
            .unwrap()
            .scene(ReadOptions { anim_source })
            .unwrap()
    }

    /// `mesh -> (skeleton, animation)` for every bound prim.
    fn bindings(&self, anim_source: AnimSource) -> Vec<(String, String, Option<String>)> {
        let scene = self.scene(anim_source);
        scene
            .bound_skins()
            .map(|b| {
                let animation = b.skeleton().instance.animation().map(|a| a.path.clone());
                (
                    b.binding().path.clone(),
                    b.skeleton().path.clone(),
                    animation,
                )
            })
            .collect()
    }

    fn ignored_sources(&self, anim_source: AnimSource) -> Vec<String> {
        let warnings = self.scene(anim_source).warnings;
        let ignored = warnings
            .into_iter()
            .filter(|w| w.code == "animation-source-ignored");
        ignored.map(|w| w.path).collect()
    }
}

fn point(scene: &Scene, prim: &str, time: Time) -> DVec3 {
    let bound = scene.resolve(prim).unwrap();
    reference::deform(&bound.skin(time).unwrap(), &bound.pose(time).unwrap())
        .unwrap()
        .points[0]
}

const API: &str = r#"prepend apiSchemas = ["SkelBindingAPI"]"#;

fn skeleton(name: &str, extra: &str) -> String {
    format!(
        r#"def Skeleton "{name}" ({API}) {{
            uniform token[] joints = ["J"]
            uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]
            uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]
            {extra}
        }}"#
    )
}

fn animation(name: &str, x: f64) -> String {
    format!(
        r#"def SkelAnimation "{name}" {{
            uniform token[] joints = ["J"]
            float3[] translations = [({x}, 0, 0)]
            quatf[] rotations = [(1, 0, 0, 0)]
            half3[] scales = [(1, 1, 1)]
        }}"#
    )
}

fn mesh(name: &str, extra: &str) -> String {
    format!(
        r#"def Mesh "{name}" ({API}) {{
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 2]
            int[] primvars:skel:jointIndices = [0, 0, 0] (elementSize = 1; interpolation = "vertex")
            float[] primvars:skel:jointWeights = [1, 1, 1] (elementSize = 1; interpolation = "vertex")
            {extra}
        }}"#
    )
}

fn xform(name: &str, body: &str) -> String {
    format!("def Xform \"{name}\" ({API}) {{\n{body}\n}}")
}

fn skel_root(body: &str) -> String {
    format!("def SkelRoot \"R\" ({API}) {{\n{body}\n}}")
}

fn binding(
    mesh: &str,
    skeleton: &str,
    animation: Option<&str>,
) -> (String, String, Option<String>) {
    (mesh.into(), skeleton.into(), animation.map(Into::into))
}

/// Schema text: one source above two skel:skeleton bindings.
#[test]
fn animation_source_example_1() {
    let stage = Stage::new(&skel_root(
        &[
            skeleton("Skel1", ""),
            skeleton("Skel2", ""),
            animation("Anim", 1.0),
            xform(
                "A",
                &[
                    "rel skel:animationSource = </R/Anim>".to_owned(),
                    xform(
                        "B",
                        &["rel skel:skeleton = </R/Skel1>".to_owned(), mesh("M", "")].join("\n"),
                    ),
                    xform(
                        "C",
                        &["rel skel:skeleton = </R/Skel2>".to_owned(), mesh("M", "")].join("\n"),
                    ),
                ]
                .join("\n"),
            ),
        ]
        .join("\n"),
    ));
    assert_eq!(
        stage.bindings(AnimSource::AtBinding),
        [
            binding("/R/A/B/M", "/R/Skel1", Some("/R/Anim")),
            binding("/R/A/C/M", "/R/Skel2", Some("/R/Anim")),
        ]
    );
    assert!(stage.ignored_sources(AnimSource::AtBinding).is_empty());
    // usd-core searches from the Skeletons upward and finds nothing there.
    assert_eq!(
        stage.bindings(AnimSource::AtSkeleton),
        [
            binding("/R/A/B/M", "/R/Skel1", None),
            binding("/R/A/C/M", "/R/Skel2", None),
        ]
    );
    assert_eq!(stage.ignored_sources(AnimSource::AtSkeleton), ["/R/A"]);
}

/// Schema text: sources below the skel:skeleton binding have no effect.
#[test]
fn animation_source_example_2() {
    let stage = Stage::new(&skel_root(
        &[
            skeleton("Skel", ""),
            animation("Anim1", 1.0),
            animation("Anim2", 2.0),
            xform(
                "A",
                &[
                    "rel skel:skeleton = </R/Skel>".to_owned(),
                    xform(
                        "B",
                        &[
                            "rel skel:animationSource = </R/Anim1>".to_owned(),
                            mesh("M", ""),
                        ]
                        .join("\n"),
                    ),
                    xform(
                        "C",
                        &[
                            "rel skel:animationSource = </R/Anim2>".to_owned(),
                            mesh("M", ""),
                        ]
                        .join("\n"),
                    ),
                ]
                .join("\n"),
            ),
        ]
        .join("\n"),
    ));
    for reading in [AnimSource::AtBinding, AnimSource::AtSkeleton] {
        assert_eq!(
            stage.bindings(reading),
            [
                binding("/R/A/B/M", "/R/Skel", None),
                binding("/R/A/C/M", "/R/Skel", None),
            ]
        );
        assert_eq!(stage.ignored_sources(reading), ["/R/A/B", "/R/A/C"]);
        assert_eq!(
            stage.scene(reading).instances.len(),
            1,
            "a single skeleton instance"
        );
    }
}

/// Schema text: two instances of one Skeleton, each with its own animation.
#[test]
fn animation_source_example_3() {
    let stage = Stage::new(&skel_root(
        &[
            skeleton("Skel", ""),
            animation("Anim1", 1.0),
            animation("Anim2", 2.0),
            xform(
                "A",
                &[
                    "rel skel:skeleton = </R/Skel>".to_owned(),
                    "rel skel:animationSource = </R/Anim1>".to_owned(),
                    mesh("M", ""),
                    xform(
                        "B",
                        &[
                            "rel skel:animationSource = </R/Anim2>".to_owned(),
                            mesh("M", ""),
                        ]
                        .join("\n"),
                    ),
                    xform(
                        "C",
                        &[
                            "rel skel:animationSource = </R/Anim2>".to_owned(),
                            "rel skel:skeleton = </R/Skel>".to_owned(),
                            mesh("M", ""),
                        ]
                        .join("\n"),
                    ),
                ]
                .join("\n"),
            ),
        ]
        .join("\n"),
    ));
    assert_eq!(
        stage.bindings(AnimSource::AtBinding),
        [
            binding("/R/A/M", "/R/Skel", Some("/R/Anim1")),
            binding("/R/A/B/M", "/R/Skel", Some("/R/Anim1")),
            binding("/R/A/C/M", "/R/Skel", Some("/R/Anim2")),
        ]
    );
    assert_eq!(stage.ignored_sources(AnimSource::AtBinding), ["/R/A/B"]);
    let scene = stage.scene(AnimSource::AtBinding);
    assert_eq!(scene.instances.len(), 2, "one pose per binding");
    assert_eq!(
        point(&scene, "/R/A/M", Time::At(1.0)),
        DVec3::new(1.0, 0.0, 0.0)
    );
    assert_eq!(
        point(&scene, "/R/A/C/M", Time::At(1.0)),
        DVec3::new(2.0, 0.0, 0.0)
    );

    assert!(
        stage
            .bindings(AnimSource::AtSkeleton)
            .iter()
            .all(|b| b.2.is_none())
    );
    assert_eq!(
        stage.ignored_sources(AnimSource::AtSkeleton),
        ["/R/A", "/R/A/B", "/R/A/C"]
    );
    assert_eq!(stage.scene(AnimSource::AtSkeleton).instances.len(), 1);
}

/// Both readings bake to files that differ as the readings do.
#[test]
fn the_reading_reaches_the_bake() {
    let stage = Stage::new(&skel_root(
        &[
            skeleton("Skel", ""),
            animation("Anim", 3.0),
            mesh(
                "M",
                "rel skel:skeleton = </R/Skel>\nrel skel:animationSource = </R/Anim>",
            ),
        ]
        .join("\n"),
    ));
    for (anim_source, x) in [(AnimSource::AtBinding, 3.0), (AnimSource::AtSkeleton, 0.0)] {
        let out = stage.folder.path().join(format!("{x}.usda"));
        let mut options = BakeOptions::default();
        options.anim_source = anim_source;
        options.backend = Backend::Cpu;
        bake(&stage.file, &out, &options, &mut |_| {}).unwrap();
        let points = usd::vectors(&usd::open(&out), "/R/M", "points", None).unwrap();
        assert_eq!(points[0], DVec3::new(x, 0.0, 0.0));
    }
}

/// Schema text's blend shape mapping: channels A, B, C, D at [1, 0.75, 0, 0] reach a mesh that
/// lists ["B", "A"] as [0.75, 1.0].
#[test]
fn blend_shape_mapping_example() {
    let stage = Stage::new(&skel_root(
        &[
            r#"def Skeleton "Skel" {}"#.to_owned(),
            r#"def SkelAnimation "Anim" {
            uniform token[] blendShapes = ["A","B","C","D"]
            float[] blendShapeWeights = [1,0.75,0,0]
        }"#
            .to_owned(),
            format!(
                r#"def Mesh "Mesh" ({API}) {{
            point3f[] points = [(0, 0, 0)]
            def BlendShape "Foo" {{ uniform vector3f[] offsets = [(4, 0, 0)]; }}
            def BlendShape "Bar" {{ uniform vector3f[] offsets = [(0, 1, 0)]; }}
            uniform token[] skel:blendShapes = ["B", "A"]
            rel skel:blendShapeTargets = [<Foo>, <Bar>]
            rel skel:skeleton = </R/Skel>
            rel skel:animationSource = </R/Anim>
        }}"#
            ),
        ]
        .join("\n"),
    ));
    let weights = |reading| {
        let scene = stage.scene(reading);
        let bound = scene.resolve("/R/Mesh").unwrap();
        bound.pose(Time::Default).unwrap().channel_weights
    };
    assert_eq!(weights(AnimSource::AtBinding), [0.75, 1.0]);
    let scene = stage.scene(AnimSource::AtBinding);
    assert_eq!(
        point(&scene, "/R/Mesh", Time::Default),
        DVec3::new(3.0, 1.0, 0.0)
    );
    // usd-core does not see a source on the mesh.
    assert_eq!(weights(AnimSource::AtSkeleton), [0.0, 0.0]);
    assert_eq!(stage.ignored_sources(AnimSource::AtSkeleton), ["/R/Mesh"]);

    // With the source where usd-core looks for it, both readings need it inherited by both prims.
    let text = std::fs::read_to_string(&stage.file).unwrap();
    let moved = text.replace("rel skel:animationSource = </R/Anim>", "").replacen(
        "def SkelRoot \"R\" (prepend apiSchemas = [\"SkelBindingAPI\"]) {",
        "def SkelRoot \"R\" (prepend apiSchemas = [\"SkelBindingAPI\"]) {\nrel skel:animationSource = </R/Anim>",
        1,
    );
    std::fs::write(&stage.file, moved).unwrap();
    for reading in [AnimSource::AtBinding, AnimSource::AtSkeleton] {
        let scene = stage.scene(reading);
        assert_eq!(
            scene
                .resolve("/R/Mesh")
                .unwrap()
                .pose(Time::Default)
                .unwrap()
                .channel_weights,
            [0.75, 1.0]
        );
    }
}

/// Joints and blend weights of one pose are those of one time, however many times are looked at.
#[test]
fn each_pose_belongs_to_its_time() {
    let moving = r#"def SkelAnimation "Anim" {
            uniform token[] joints = ["J"]
            float3[] translations.timeSamples = { 1: [(1, 0, 0)], 2: [(2, 0, 0)] }
            quatf[] rotations = [(1, 0, 0, 0)]
            half3[] scales = [(1, 1, 1)]
            uniform token[] blendShapes = ["Up"]
            float[] blendShapeWeights.timeSamples = { 1: [1], 2: [2] }
        }"#;
    let shaped = r#"
            def BlendShape "Up" { uniform vector3f[] offsets = [(0, 1, 0), (0, 1, 0), (0, 1, 0)]; }
            uniform token[] skel:blendShapes = ["Up"]
            rel skel:blendShapeTargets = [<Up>]
            rel skel:skeleton = </R/Skel>"#;
    let stage = Stage::new(&skel_root(
        &[
            skeleton("Skel", "rel skel:animationSource = </R/Anim>"),
            moving.to_owned(),
            mesh("Mesh", shaped),
        ]
        .join("\n"),
    ));
    let scene = stage.scene(AnimSource::AtSkeleton);
    let bound = scene.bound(0);
    assert_eq!(
        (bound.index(), bound.binding().path.as_str()),
        (0, "/R/Mesh")
    );
    let skin = bound.skin(Time::At(1.0)).unwrap();
    let mut poses = [1.0, 2.0].map(|t| scene.at(Time::At(t), OutSpace::World));
    // Each is asked twice, and in turn.
    for _ in 0..2 {
        for (poses, t) in poses.iter_mut().zip([1.0, 2.0]) {
            let pose = poses.pose(bound).unwrap();
            assert_eq!(pose.channel_weights, [t as f32]);
            let point = reference::deform(&skin, &pose).unwrap().points[0];
            assert_eq!(point, DVec3::new(t, t, 0.0));
        }
    }

    let other = stage.scene(AnimSource::AtSkeleton);
    let [poses, _] = &mut poses;
    // A prim of another scene is posed in its own.
    let pose = poses.pose(other.bound(0)).unwrap();
    let point = reference::deform(&skin, &pose).unwrap().points[0];
    assert_eq!(point, DVec3::new(1.0, 1.0, 0.0));
}

/// An attribute may have a default and one sample that differ. Skins that never change are
/// remembered, but not one in place of the other.
#[test]
fn skins_of_the_default_time_and_of_time_codes_are_apart() {
    let sample = "point3f[] points.timeSamples = { 1: [(5, 0, 0), (6, 0, 0), (5, 1, 0)] }";
    let bound = "rel skel:skeleton = </R/Skel>";
    let both = mesh("Both", &format!("{sample}\n{bound}"));
    let defaults = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]";
    let sampled = mesh("Sampled", bound).replace(defaults, sample);
    let body = [skeleton("Skel", ""), both, sampled].join("\n");
    let stage = Stage::new(&skel_root(&body));
    let (default, code) = (Time::Default, Time::At(3.0));
    for order in [[default, code, default], [code, default, code]] {
        let scene = stage.scene(AnimSource::AtSkeleton);
        let x = |prim: &str, time| {
            let skin = scene.resolve(prim).unwrap().skin(time);
            skin.map(|skin| skin.points()[0].x).map_err(|e| e.code)
        };
        for time in order {
            let is_default = time == default;
            assert_eq!(x("/R/Both", time), Ok(if is_default { 0.0 } else { 5.0 }));
            let want = match is_default {
                true => Err(Some("points-missing")),
                false => Ok(5.0),
            };
            assert_eq!(x("/R/Sampled", time), want);
        }
    }
}

/// Schema text's instanced character: one animation per instance, bound outside of it.
#[test]
fn instanced_characters_are_animated_one_by_one() {
    let root = format!(
        "def SkelRoot \"Root\" ({API}) {{\nrel skel:skeleton = <Skel>\n{}\n{}\n}}",
        skeleton("Skel", ""),
        mesh("M", "")
    );
    let character = format!("class Xform \"Character\" {{\n{root}\n}}");
    let instance = |name: &str, anim: &str| {
        format!(
            r#"def "{name}" (prepend references = </Character>; instanceable = true; {API}) {{
                rel skel:animationSource = </{anim}>
            }}"#
        )
    };
    let stage = Stage::new(
        &[
            character,
            animation("Anim1", 1.0),
            animation("Anim2", 2.0),
            instance("One", "Anim1"),
            instance("Two", "Anim2"),
        ]
        .join("\n"),
    );
    let scene = stage.scene(AnimSource::AtSkeleton);
    assert_eq!(
        stage.bindings(AnimSource::AtSkeleton),
        [
            binding("/One/Root/M", "/One/Root/Skel", Some("/Anim1")),
            binding("/Two/Root/M", "/Two/Root/Skel", Some("/Anim2")),
        ]
    );
    assert_eq!(
        stage.bindings(AnimSource::AtBinding),
        stage.bindings(AnimSource::AtSkeleton)
    );
    assert_eq!(point(&scene, "/One/Root/M", Time::Default), DVec3::X);
    assert_eq!(point(&scene, "/Two/Root/M", Time::Default), DVec3::X * 2.0);

    for (layer, name) in [(false, "flat.usda"), (true, "layer.usda")] {
        let out = stage.folder.path().join(name);
        let mut options = BakeOptions::default();
        options.layer = layer;
        options.backend = Backend::Cpu;
        bake(&stage.file, &out, &options, &mut |_| {}).unwrap();
        let baked = usd::open(&out);
        for (prim, x) in [("/One/Root/M", 1.0), ("/Two/Root/M", 2.0)] {
            let points = usd::vectors(&baked, prim, "points", None).unwrap();
            assert_eq!(points[0], DVec3::X * x, "{name} {prim}");
        }
        assert_eq!(usd::type_name(&baked, "/One/Root"), "Xform", "{name}");
    }
}

fn simple(animation_metadata: &str, animation_body: &str, root_type: &str) -> Stage {
    Stage::new(
        &skel_root(&[
            skeleton("Skel", "rel skel:animationSource = </R/Anim>"),
            format!(
                "def SkelAnimation \"Anim\" ({animation_metadata}) {{\nuniform token[] joints = [\"J\"]\n{animation_body}\n}}"
            ),
            mesh("M", "rel skel:skeleton = </R/Skel>"),
        ].join("\n"))
        .replace("def SkelRoot", &format!("def {root_type}")),
    )
}

const COMPONENTS: &str = "float3[] translations = [(1, 0, 0)]
    quatf[] rotations = [(1, 0, 0, 0)]
    half3[] scales = [(1, 1, 1)]";

#[test]
fn a_deactivated_animation_leaves_the_rest_pose() {
    let on = simple("", COMPONENTS, "SkelRoot");
    assert_eq!(
        point(&on.scene(AnimSource::AtSkeleton), "/R/M", Time::Default),
        DVec3::X
    );
    let off = simple("active = false", COMPONENTS, "SkelRoot");
    let scene = off.scene(AnimSource::AtSkeleton);
    assert_eq!(point(&scene, "/R/M", Time::Default), DVec3::ZERO);
    assert!(
        scene.warnings.iter().any(|w| w.code == "animation-ignored"),
        "{:?}",
        scene.warnings
    );
}

#[test]
fn a_blocked_component_leaves_the_rest_pose() {
    for (name, value) in [
        ("translations", "[(1, 0, 0)]"),
        ("rotations", "[(1, 0, 0, 0)]"),
        ("scales", "[(1, 1, 1)]"),
    ] {
        let blocked = COMPONENTS.replace(&format!("{name} = {value}"), &format!("{name} = None"));
        assert_ne!(blocked, COMPONENTS);
        let stage = simple("", &blocked, "SkelRoot");
        let scene = stage.scene(AnimSource::AtSkeleton);
        assert_eq!(point(&scene, "/R/M", Time::Default), DVec3::ZERO, "{name}");
        assert!(
            scene
                .warnings
                .iter()
                .any(|w| w.code == "animation-component" && w.message.contains(name)),
            "{:?}",
            scene.warnings
        );
    }
}

/// Seen on usd-core: where every sample is blocked the default does not serve time codes.
#[test]
fn samples_that_are_all_blocked_are_no_value() {
    let body = COMPONENTS.to_owned() + "\nhalf3[] scales.timeSamples = { 0: None, 2: None }";
    let scene = simple("", &body, "SkelRoot").scene(AnimSource::AtSkeleton);
    assert_eq!(point(&scene, "/R/M", Time::At(1.0)), DVec3::ZERO);
    assert_eq!(point(&scene, "/R/M", Time::Default), DVec3::X);
}

#[test]
fn a_skel_root_overridden_to_xform_and_back() {
    let root = simple("", COMPONENTS, "SkelRoot");
    let over = |ty: &str, below: &str, name: &str| {
        let file = root.folder.path().join(name);
        std::fs::write(
            &file,
            format!("#usda 1.0\n(subLayers = [@{below}@])\nover {ty} \"R\" {{}}\n"),
        )
        .unwrap();
        UsdFile::open(&file)
            .unwrap()
            .scene(ReadOptions::default())
            .unwrap()
    };
    let off = over("Xform", "./stage.usda", "off.usda");
    assert!(off.bindings.is_empty() && off.skel_roots.is_empty());
    let on = over("SkelRoot", "./off.usda", "on.usda");
    assert_eq!(point(&on, "/R/M", Time::Default), DVec3::X);
}

#[test]
fn composition_errors_become_warnings() {
    let stage = simple(
        "prepend references = @./nowhere.usda@",
        COMPONENTS,
        "SkelRoot",
    );
    let scene = stage.scene(AnimSource::AtSkeleton);
    let warning = scene
        .warnings
        .iter()
        .find(|w| w.code == "missing-asset")
        .expect("a warning");
    assert!(warning.message.contains("nowhere.usda"), "{warning}");
    assert_eq!(
        point(&scene, "/R/M", Time::Default),
        DVec3::X,
        "the rest still composes"
    );
}

#[test]
fn a_reference_cycle_is_a_warning() {
    let stage = simple("", COMPONENTS, "SkelRoot");
    let text = std::fs::read_to_string(&stage.file).unwrap();
    let looped = text.replace(
        "def SkelAnimation \"Anim\" ()",
        "def SkelAnimation \"Anim\" (prepend references = </R>)",
    );
    assert_ne!(looped, text);
    std::fs::write(&stage.file, looped).unwrap();
    let scene = stage.scene(AnimSource::AtSkeleton);
    assert!(
        scene.warnings.iter().any(|w| w.code == "arc-cycle"),
        "{:?}",
        scene.warnings
    );
}
