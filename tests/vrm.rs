//! VRM 1.0, VRM 0.x and VRM Animation: made files and real ones.

mod common;

use std::path::{Path, PathBuf};

use common::gltf_maker::GltfMaker;
use common::mannequin::{Axes, Build, Mannequin};
use common::rng::Rng;
use glam::{DQuat, DVec3};
use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};
use sinew::asset::{Asset, CurveInterpolation, Expression, Format, Keys, MorphBind, Target, Track};
use sinew::retarget::Bone;

/// On the folder of real files.
type RealTest = (&'static str, fn(&Path));

fn main() {
    let args = Arguments::from_args();
    let plain: [(&str, fn()); 8] = [
        (
            "scrambled_files_are_told_not_followed",
            scrambled_files_are_told_not_followed,
        ),
        ("vrm_1", vrm_1),
        (
            "vrm_1_says_what_it_reads_past",
            vrm_1_says_what_it_reads_past,
        ),
        (
            "vrm_1_is_forgiving_where_nothing_is_lost",
            vrm_1_is_forgiving_where_nothing_is_lost,
        ),
        ("vrm_0", vrm_0),
        ("vrm_animation", vrm_animation),
        (
            "vrm_animation_leaves_out_what_it_may_not_move",
            vrm_animation_leaves_out_what_it_may_not_move,
        ),
        (
            "malformed_files_are_errors_with_their_location",
            malformed_files_are_errors_with_their_location,
        ),
    ];
    let real: [RealTest; 2] = [
        ("real_characters", real_characters),
        ("real_animations", real_animations),
    ];
    let mut trials = Vec::new();
    for (name, run) in plain {
        trials.push(Trial::test(name, move || {
            run();
            Ok(())
        }));
    }
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    for (name, run) in real {
        let folder = assets.clone().unwrap_or_default().join("vrm");
        let run = move || {
            run(&folder);
            Ok(())
        };
        let kind = if assets.is_some() {
            ""
        } else {
            "needs SINEW_ASSETS"
        };
        trials.push(
            Trial::test(name, run)
                .with_kind(kind)
                .with_ignored_flag(assets.is_none()),
        );
    }
    libtest_mimic::run(&args, trials).exit();
}

fn read_as(gltf: &GltfMaker, name: &str) -> sinew::Result<Asset> {
    sinew::io::gltf::read_bytes(&gltf.glb(), Path::new(name))
}

fn codes(asset: &Asset) -> Vec<&'static str> {
    asset.warnings.iter().map(|w| w.code).collect()
}

fn warnings(asset: &Asset) -> Vec<(&'static str, &str)> {
    let warnings = asset.warnings.iter();
    warnings.map(|w| (w.code, w.path.as_str())).collect()
}

fn expression<'a>(asset: &'a Asset, name: &str) -> &'a Expression {
    let found = asset.expressions.iter().find(|e| e.name == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

fn character() -> Mannequin {
    Build {
        axes: Axes::World,
        ..Build::default()
    }
    .make()
}

/// The node that shows the body.
fn body_node(made: &Mannequin) -> usize {
    let nodes = made.gltf.json["nodes"].as_array().expect("nodes");
    nodes
        .iter()
        .position(|n| !n["mesh"].is_null())
        .expect("a body")
}

fn vrm1() -> Mannequin {
    let mut made = character();
    let body = body_node(&made);
    let value = json!({
        "specVersion": "1.0",
        "meta": { "name": "made", "authors": ["sinew"], "licenseUrl": "https://vrm.dev/licenses/1.0/" },
        "humanoid": { "humanBones": made.vrm_bones() },
        "expressions": {
            "preset": {
                "happy": { "morphTargetBinds": [
                    { "node": body, "index": 0, "weight": 1.0 },
                    { "node": body, "index": 1, "weight": 0.25 },
                ]},
                "blink": { "isBinary": true, "morphTargetBinds": [{ "node": body, "index": 1, "weight": 1 }] },
                "neutral": {},
            },
            "custom": { "puff": { "morphTargetBinds": [{ "node": body, "index": 0, "weight": 0.5 }] } },
        },
    });
    made.gltf.extension("VRMC_vrm", value);
    made
}

fn vrm0() -> Mannequin {
    let mut made = character();
    let bones: Vec<Value> = made
        .nodes
        .iter()
        .map(|(bone, node)| {
            // VRM 0.x has no metacarpal: the thumb is named like the other fingers.
            let name = match bone.name().rsplit_once("Thumb") {
                Some((side, "Metacarpal")) => format!("{side}ThumbProximal"),
                Some((side, "Proximal")) => format!("{side}ThumbIntermediate"),
                _ => bone.name().to_owned(),
            };
            json!({ "bone": name, "node": node, "useDefaultValues": true })
        })
        .collect();
    let bind = |index: usize, weight: f64| json!({ "mesh": 0, "index": index, "weight": weight });
    let group = |name: &str, preset: &str, binds: &[Value]| json!({ "name": name, "presetName": preset, "isBinary": false, "binds": binds, "materialValues": [] });
    let value = json!({
        "exporterVersion": "sinew's tests",
        "specVersion": "0.0",
        "humanoid": { "humanBones": bones, "armStretch": 0.05 },
        "blendShapeMaster": { "blendShapeGroups": [
            group("Neutral", "neutral", &[]),
            group("A", "a", &[bind(0, 100.0)]),
            group("Joy", "joy", &[bind(0, 100.0), bind(1, 25.0)]),
            group("Sorrow", "sorrow", &[bind(1, 100.0)]),
            group("Fun", "fun", &[]),
            group("Blink_L", "blink_l", &[bind(1, 50.0)]),
            group("LookUp", "lookup", &[]),
            group("Puff", "unknown", &[bind(0, 50.0)]),
        ]},
        "firstPerson": { "firstPersonBone": 0, "meshAnnotations": [], "lookAtTypeName": "Bone" },
        "secondaryAnimation": { "boneGroups": [{ "bones": [1] }], "colliderGroups": [] },
        "materialProperties": [{ "name": "skin", "shader": "VRM/MToon" }],
    });
    made.gltf.extension("VRM", value);
    made
}

/// A clip for any VRM character: nodes without a skin.
fn vrma() -> Mannequin {
    let mut gltf = GltfMaker::new();
    let mut nodes = std::collections::BTreeMap::new();
    let root = gltf.node(None, json!({ "name": "root" }));
    let eyes = [Bone::LeftEye, Bone::RightEye];
    for bone in Bone::ALL.iter().filter(|b| !eyes.contains(b)) {
        let parent = bone.parent().map_or(root, |p| nodes[&p]);
        let node = gltf.node(
            Some(parent),
            json!({ "name": bone.name(), "translation": [0, 0.1, 0] }),
        );
        nodes.insert(*bone, node);
    }
    let happy = gltf.node(None, json!({ "name": "happy" }));
    let puff = gltf.node(None, json!({ "name": "puff" }));
    let gaze = gltf.node(None, json!({ "name": "gaze" }));
    let clip = gltf.animation("wave");
    let mut channel = |node: usize, path: &str, kind: &str, interpolation: &str, values: &[f32]| {
        let curve = gltf.curve(interpolation, &[0.0, 1.0], kind, values);
        gltf.channel(clip, curve, json!({ "node": node, "path": path }))
    };
    let turn: Vec<f32> = [DQuat::IDENTITY, DQuat::from_rotation_z(0.5)]
        .iter()
        .flat_map(|q| q.to_array().map(|v| v as f32))
        .collect();
    channel(
        nodes[&Bone::LeftUpperArm],
        "rotation",
        "VEC4",
        "LINEAR",
        &turn,
    );
    channel(
        nodes[&Bone::Hips],
        "translation",
        "VEC3",
        "LINEAR",
        &[0., 1., 0., 0., 1.5, 0.],
    );
    channel(
        happy,
        "translation",
        "VEC3",
        "STEP",
        &[0.25, 7., 7., 0.75, 7., 7.],
    );
    let spline = [
        0.0, 0., 0., 0.1, 0., 0., 0.2, 0., 0., 0.3, 0., 0., 0.4, 0., 0., 0.5, 0., 0.,
    ];
    channel(puff, "translation", "VEC3", "CUBICSPLINE", &spline);
    channel(gaze, "rotation", "VEC4", "LINEAR", &turn);
    let mut made = Mannequin {
        gltf,
        root,
        nodes,
        skins: Vec::new(),
    };
    let value = json!({
        "specVersion": "1.0",
        "humanoid": { "humanBones": made.vrm_bones() },
        "expressions": { "preset": { "happy": { "node": happy } }, "custom": { "puff": { "node": puff } } },
        "lookAt": { "node": gaze, "offsetFromHeadBone": [0, 0.06, 0] },
    });
    made.gltf.extension("VRMC_vrm_animation", value);
    made
}

fn vrm_1() {
    let made = vrm1();
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    assert_eq!(asset.format, Format::Vrm1);
    assert_eq!(warnings(&asset), []);
    assert_eq!(asset.humanoids.len(), 1);
    assert_eq!(asset.humanoids[0].bones, made.nodes);
    assert_eq!(
        asset.humanoids[0].location,
        "extensions.VRMC_vrm.humanoid.humanBones"
    );
    let names: Vec<&str> = asset.expressions.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["blink", "happy", "neutral", "puff"]);
    let bind = |target, weight| MorphBind {
        mesh: 0,
        target,
        weight,
    };
    assert_eq!(
        expression(&asset, "happy").binds,
        [bind(0, 1.0), bind(1, 0.25)]
    );
    assert!(expression(&asset, "blink").is_binary && !expression(&asset, "happy").is_binary);
    assert_eq!(expression(&asset, "puff").binds, [bind(0, 0.5)]);
    assert_eq!(expression(&asset, "neutral").binds, []);
}

fn vrm_1_says_what_it_reads_past() {
    let mut made = vrm1();
    let vrm = &mut made.gltf.json["extensions"]["VRMC_vrm"];
    vrm["firstPerson"] = json!({ "meshAnnotations": [{ "node": 0, "type": "auto" }] });
    vrm["lookAt"] = json!({ "type": "bone" });
    vrm["expressions"]["preset"]["happy"]["overrideBlink"] = json!("block");
    vrm["expressions"]["preset"]["happy"]["overrideMouth"] = json!("none");
    vrm["expressions"]["custom"]["puff"]["materialColorBinds"] = json!([{ "material": 0 }]);
    vrm["expressions"]["preset"]["angry"] =
        json!({ "textureTransformBinds": [{ "material": 0, "scale": [1, 1] }] });
    made.gltf.extension(
        "VRMC_springBone",
        json!({ "specVersion": "1.0", "springs": [{}, {}] }),
    );
    made.gltf.use_extension("VRMC_node_constraint");
    made.gltf.json["nodes"][3]["extensions"] = json!({ "VRMC_node_constraint": {} });
    made.gltf.push("materials", json!({}));
    made.gltf.push(
        "materials",
        json!({ "extensions": { "VRMC_materials_mtoon": {} } }),
    );
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    let at = |path: &str| format!("extensions.{path}");
    let expected = [
        ("expression-materials-ignored", at("VRMC_vrm.expressions")),
        ("expression-overrides-ignored", at("VRMC_vrm.expressions")),
        ("first-person-ignored", at("VRMC_vrm.firstPerson")),
        ("look-at-ignored", at("VRMC_vrm.lookAt")),
        ("spring-bones-ignored", at("VRMC_springBone.springs")),
        (
            "node-constraints-ignored",
            "nodes[3].extensions.VRMC_node_constraint".into(),
        ),
        (
            "mtoon-ignored",
            "materials[1].extensions.VRMC_materials_mtoon".into(),
        ),
    ];
    let found: Vec<_> = asset
        .warnings
        .iter()
        .map(|w| (w.code, w.path.clone()))
        .collect();
    assert_eq!(found, expected);
    let message = |code: &str| {
        let warning = asset.warnings.iter().find(|w| w.code == code);
        warning.expect(code).message.clone()
    };
    assert!(message("expression-materials-ignored").ends_with("angry, puff"));
    assert!(message("expression-overrides-ignored").ends_with("happy"));
    assert!(message("spring-bones-ignored").contains("(2 in all)"));
}

fn vrm_1_is_forgiving_where_nothing_is_lost() {
    let mut made = vrm1();
    let nothing = made.gltf.node(None, json!({ "name": "no mesh" }));
    let vrm = &mut made.gltf.json["extensions"]["VRMC_vrm"];
    vrm["specVersion"] = json!("1.0-beta");
    vrm["expressions"]["preset"]["grin"] = json!({});
    vrm["expressions"]["custom"]["happy"] = json!({});
    vrm["expressions"]["preset"]["sad"] =
        json!({ "morphTargetBinds": [{ "node": nothing, "index": 0, "weight": 1 }] });
    let bones = vrm["humanoid"]["humanBones"]
        .as_object_mut()
        .expect("bones");
    bones.remove("leftHand");
    bones.remove("chest");
    bones.insert("tail".into(), json!({ "node": 0 }));
    made.gltf.json["extensionsUsed"] = json!([]);
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    let at = "extensions.VRMC_vrm";
    let expected = [
        ("vrm-spec-version-draft", format!("{at}.specVersion")),
        ("vrm-bone-unknown", format!("{at}.humanoid.humanBones.tail")),
        ("vrm-bone-required", format!("{at}.humanoid.humanBones")),
        ("expression-name", format!("{at}.expressions.preset.grin")),
        (
            "expression-node-no-mesh",
            format!("{at}.expressions.preset.sad.morphTargetBinds[0].node"),
        ),
        ("expression-name", format!("{at}.expressions.custom.happy")),
        ("expression-twice", format!("{at}.expressions.custom.happy")),
        ("vrm-not-in-extensions-used", "extensionsUsed".to_owned()),
    ];
    let found: Vec<_> = asset
        .warnings
        .iter()
        .map(|w| (w.code, w.path.clone()))
        .collect();
    assert_eq!(found, expected);
    assert!(
        asset.warnings[2].message.contains("no leftHand,"),
        "{}",
        asset.warnings[2]
    );
    // The preset comes first and stays.
    assert_eq!(expression(&asset, "happy").binds.len(), 2);

    // Bones out of order.
    let mut made = vrm1();
    let (spine, hips) = (made.nodes[&Bone::Spine], made.nodes[&Bone::Hips]);
    let bones = &mut made.gltf.json["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"];
    bones["hips"]["node"] = json!(spine);
    bones["spine"]["node"] = json!(hips);
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    let misplaced: Vec<_> = asset
        .warnings
        .iter()
        .map(|w| w.path.rsplit('.').next())
        .collect();
    assert!(codes(&asset).iter().all(|c| *c == "vrm-hierarchy"));
    let expected = ["hips", "spine", "chest", "leftUpperLeg", "rightUpperLeg"];
    assert_eq!(misplaced, expected.map(Some));

    // Both versions: the newer one counts.
    let mut made = vrm1();
    made.gltf.extension("VRM", json!("whatever"));
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    assert_eq!(
        (asset.format, codes(&asset)),
        (Format::Vrm1, vec!["vrm-version-twice"])
    );

    // Neither.
    let asset = read_as(&character().gltf, "made.vrm").expect("an asset");
    assert_eq!(
        (asset.format, codes(&asset)),
        (Format::Gltf, vec!["vrm-extension-missing"])
    );
    let asset = read_as(&character().gltf, "made.VRMA").expect("an asset");
    assert_eq!(codes(&asset), ["vrm-extension-missing"]);
    assert_eq!(
        codes(&read_as(&character().gltf, "made.glb").expect("an asset")),
        Vec::<&str>::new()
    );
}

fn vrm_0() {
    let made = vrm0();
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    assert_eq!(asset.format, Format::Vrm0);
    assert_eq!(asset.humanoids.len(), 1);
    // The thumbs come out under VRM 1.0's names.
    assert_eq!(asset.humanoids[0].bones, made.nodes);
    let names: Vec<&str> = asset.expressions.iter().map(|e| e.name.as_str()).collect();
    let expected = [
        "neutral",
        "aa",
        "happy",
        "sad",
        "relaxed",
        "blinkLeft",
        "lookUp",
        "Puff",
    ];
    assert_eq!(names, expected);
    let bind = |target, weight| MorphBind {
        mesh: 0,
        target,
        weight,
    };
    assert_eq!(
        expression(&asset, "happy").binds,
        [bind(0, 1.0), bind(1, 0.25)]
    );
    assert_eq!(expression(&asset, "blinkLeft").binds, [bind(1, 0.5)]);
    let at = "extensions.VRM";
    let expected = [
        (
            "spring-bones-ignored",
            format!("{at}.secondaryAnimation.boneGroups"),
        ),
        (
            "look-at-ignored",
            format!("{at}.firstPerson.lookAtTypeName"),
        ),
        ("mtoon-ignored", format!("{at}.materialProperties")),
    ];
    let found: Vec<_> = asset
        .warnings
        .iter()
        .map(|w| (w.code, w.path.clone()))
        .collect();
    assert_eq!(found, expected);

    // Chest and neck are required here.
    let mut made = vrm0();
    let bones = &mut made.gltf.json["extensions"]["VRM"]["humanoid"]["humanBones"];
    let list = bones.as_array_mut().expect("bones");
    list.retain(|b| b["bone"] != "chest" && b["bone"] != "neck");
    list.push(json!({ "bone": "leftThumbMetacarpal", "node": 0 }));
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    let at = format!("{at}.humanoid.humanBones");
    assert_eq!(
        warnings(&asset)[0],
        ("vrm-bone-unknown", &*format!("{at}[53]"))
    );
    assert_eq!(warnings(&asset)[1], ("vrm-bone-required", &*at));
    assert!(asset.warnings[1].message.contains("no chest, neck,"));
}

fn vrm_animation() {
    let made = vrma();
    let asset = read_as(&made.gltf, "made.vrma").expect("an asset");
    assert_eq!(asset.format, Format::Vrma);
    assert_eq!(asset.humanoids[0].bones, made.nodes);
    assert_eq!(
        warnings(&asset),
        [("look-at-ignored", "extensions.VRMC_vrm_animation.lookAt")]
    );
    let [arm, hips, happy, puff] = asset.clips[0].tracks.as_slice() else {
        panic!("{:?}", asset.clips[0].tracks);
    };
    assert_eq!(arm.target, Target::Node(made.nodes[&Bone::LeftUpperArm]));
    assert_eq!(hips.target, Target::Node(made.nodes[&Bone::Hips]));
    assert!(matches!(&hips.curve.keys, Keys::Translation(v) if v[1] == DVec3::new(0.0, 1.5, 0.0)));
    let weights = |track: &Track| match &track.curve.keys {
        Keys::Weights { count: 1, values } => values
            .iter()
            .map(|v| (v * 100.0).round())
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(happy.target, Target::Expression("happy".into()));
    assert_eq!(happy.curve.interpolation, CurveInterpolation::Step);
    assert_eq!(weights(happy), [25.0, 75.0]);
    assert_eq!(puff.target, Target::Expression("puff".into()));
    assert_eq!(
        weights(puff),
        [0.0, 10.0, 20.0, 30.0, 40.0, 50.0],
        "tangents come along"
    );
    assert!((puff.curve.weight(0, 1.0).expect("a weight") - 0.4).abs() < 1e-6);
}

fn vrm_animation_leaves_out_what_it_may_not_move() {
    let mut made = vrma();
    let spine = made.nodes[&Bone::Spine];
    let head = made.nodes[&Bone::Head];
    let eye = made.gltf.node(Some(head), json!({ "name": "eye" }));
    let neck = made.nodes[&Bone::Neck];
    for (node, path, value) in [
        (spine, "translation", [0.0, 0.2, 0.0]),
        (head, "scale", [2.0, 2.0, 2.0]),
        // At rest all the time: nothing is lost.
        (neck, "translation", [0.0, 0.1, 0.0]),
        (neck, "scale", [1.0, 1.0, 1.0]),
    ] {
        let curve = made.gltf.curve("LINEAR", &[0.0], "VEC3", &value);
        made.gltf
            .channel(0, curve, json!({ "node": node, "path": path }));
    }
    let animation = &mut made.gltf.json["extensions"]["VRMC_vrm_animation"];
    animation["humanoid"]["humanBones"]["leftEye"] = json!({ "node": eye });
    animation["expressions"]["preset"]["lookUp"] = json!({ "node": eye });
    animation["expressions"]["custom"]["blink"] = json!({ "node": eye });
    animation.as_object_mut().expect("JSON").remove("lookAt");
    let asset = read_as(&made.gltf, "made.vrma").expect("an asset");
    let at = "extensions.VRMC_vrm_animation";
    let expected = [
        (
            "vrma-eye-ignored",
            format!("{at}.humanoid.humanBones.leftEye"),
        ),
        ("expression-name", format!("{at}.expressions.preset.lookUp")),
        ("expression-name", format!("{at}.expressions.custom.blink")),
        (
            "vrma-track-ignored",
            format!("{at}.humanoid.humanBones.spine"),
        ),
        (
            "vrma-track-ignored",
            format!("{at}.humanoid.humanBones.head"),
        ),
    ];
    let found: Vec<_> = asset
        .warnings
        .iter()
        .map(|w| (w.code, w.path.clone()))
        .collect();
    assert_eq!(found, expected);
    assert!(!asset.humanoids[0].bones.contains_key(&Bone::LeftEye));
    // The gaze's node is a plain one now.
    assert_eq!(asset.clips[0].tracks.len(), 5);
}

/// What is broken in a document, and where the error has to point.
type Breakage = (&'static str, &'static str, fn(&mut GltfMaker));

fn ext<'a>(gltf: &'a mut GltfMaker, pointer: &str) -> &'a mut Value {
    let value = gltf.json["extensions"].pointer_mut(pointer);
    value.unwrap_or_else(|| panic!("{pointer}"))
}

fn remove(gltf: &mut GltfMaker, pointer: &str, key: &str) {
    ext(gltf, pointer)
        .as_object_mut()
        .expect("an object")
        .remove(key);
}

const BROKEN_1: &[Breakage] = &[
    ("", "VRMC_vrm", |g| *ext(g, "/VRMC_vrm") = json!(1)),
    ("vrm-spec-version", "VRMC_vrm.specVersion", |g| {
        *ext(g, "/VRMC_vrm/specVersion") = json!("2.0")
    }),
    ("", "VRMC_vrm.specVersion", |g| {
        *ext(g, "/VRMC_vrm/specVersion") = json!(1)
    }),
    (
        "vrm-humanoid-missing",
        "VRMC_vrm.humanoid.humanBones",
        |g| remove(g, "/VRMC_vrm", "humanoid"),
    ),
    (
        "vrm-humanoid-missing",
        "VRMC_vrm.humanoid.humanBones",
        |g| remove(g, "/VRMC_vrm/humanoid", "humanBones"),
    ),
    (
        "vrm-humanoid-missing",
        "VRMC_vrm.humanoid.humanBones",
        |g| *ext(g, "/VRMC_vrm/humanoid/humanBones") = json!({}),
    ),
    ("", "VRMC_vrm.humanoid.humanBones", |g| {
        *ext(g, "/VRMC_vrm/humanoid/humanBones") = json!([])
    }),
    ("", "VRMC_vrm.humanoid.humanBones.hips", |g| {
        *ext(g, "/VRMC_vrm/humanoid/humanBones/hips") = json!(3)
    }),
    ("", "VRMC_vrm.humanoid.humanBones.hips.node", |g| {
        remove(g, "/VRMC_vrm/humanoid/humanBones/hips", "node")
    }),
    (
        "vrm-node-range",
        "VRMC_vrm.humanoid.humanBones.head.node",
        |g| *ext(g, "/VRMC_vrm/humanoid/humanBones/head/node") = json!(4000),
    ),
    (
        "vrm-node-range",
        "VRMC_vrm.humanoid.humanBones.head.node",
        |g| *ext(g, "/VRMC_vrm/humanoid/humanBones/head/node") = json!(-1),
    ),
    (
        "vrm-node-reused",
        "VRMC_vrm.humanoid.humanBones.rightToes.node",
        |g| {
            *ext(g, "/VRMC_vrm/humanoid/humanBones/rightToes/node") =
                ext(g, "/VRMC_vrm/humanoid/humanBones/rightFoot/node").clone();
        },
    ),
    ("", "VRMC_vrm.expressions", |g| {
        *ext(g, "/VRMC_vrm/expressions") = json!([])
    }),
    ("", "VRMC_vrm.expressions.preset", |g| {
        *ext(g, "/VRMC_vrm/expressions/preset") = json!("happy")
    }),
    ("", "VRMC_vrm.expressions.custom.puff", |g| {
        *ext(g, "/VRMC_vrm/expressions/custom/puff") = json!(true)
    }),
    ("", "VRMC_vrm.expressions.preset.happy.isBinary", |g| {
        ext(g, "/VRMC_vrm/expressions/preset/happy")["isBinary"] = json!(1)
    }),
    (
        "",
        "VRMC_vrm.expressions.preset.happy.morphTargetBinds",
        |g| *ext(g, "/VRMC_vrm/expressions/preset/happy/morphTargetBinds") = json!({}),
    ),
    (
        "expression-target-range",
        "VRMC_vrm.expressions.preset.happy.morphTargetBinds[1].node",
        |g| {
            *ext(
                g,
                "/VRMC_vrm/expressions/preset/happy/morphTargetBinds/1/node",
            ) = json!(999);
        },
    ),
    (
        "expression-target-range",
        "VRMC_vrm.expressions.preset.happy.morphTargetBinds[0].index",
        |g| {
            *ext(
                g,
                "/VRMC_vrm/expressions/preset/happy/morphTargetBinds/0/index",
            ) = json!(2);
        },
    ),
    (
        "",
        "VRMC_vrm.expressions.preset.happy.morphTargetBinds[0].weight",
        |g| {
            *ext(
                g,
                "/VRMC_vrm/expressions/preset/happy/morphTargetBinds/0/weight",
            ) = json!("all");
        },
    ),
    (
        "",
        "VRMC_vrm.expressions.custom[\"puff it\"].morphTargetBinds[0].node",
        |g| {
            ext(g, "/VRMC_vrm/expressions/custom")["puff it"] = json!({ "morphTargetBinds": [{}] });
        },
    ),
];

const BROKEN_0: &[Breakage] = &[
    ("", "VRM", |g| *ext(g, "/VRM") = json!([])),
    ("vrm-humanoid-missing", "VRM.humanoid.humanBones", |g| {
        remove(g, "/VRM/humanoid", "humanBones")
    }),
    ("vrm-humanoid-missing", "VRM.humanoid.humanBones", |g| {
        *ext(g, "/VRM/humanoid/humanBones") = json!([])
    }),
    ("", "VRM.humanoid.humanBones", |g| {
        *ext(g, "/VRM/humanoid/humanBones") = json!({ "hips": 1 })
    }),
    ("", "VRM.humanoid.humanBones[4].bone", |g| {
        remove(g, "/VRM/humanoid/humanBones/4", "bone")
    }),
    ("vrm-node-range", "VRM.humanoid.humanBones[4].node", |g| {
        *ext(g, "/VRM/humanoid/humanBones/4/node") = json!(-1)
    }),
    ("vrm-bone-twice", "VRM.humanoid.humanBones[1]", |g| {
        *ext(g, "/VRM/humanoid/humanBones/1/bone") = json!("hips")
    }),
    ("vrm-node-reused", "VRM.humanoid.humanBones[1].node", |g| {
        *ext(g, "/VRM/humanoid/humanBones/1/node") =
            ext(g, "/VRM/humanoid/humanBones/0/node").clone();
    }),
    ("", "VRM.blendShapeMaster.blendShapeGroups", |g| {
        *ext(g, "/VRM/blendShapeMaster/blendShapeGroups") = json!({})
    }),
    ("", "VRM.blendShapeMaster.blendShapeGroups[7].name", |g| {
        *ext(g, "/VRM/blendShapeMaster/blendShapeGroups/7/name") = json!("")
    }),
    (
        "expression-target-range",
        "VRM.blendShapeMaster.blendShapeGroups[1].binds[0].mesh",
        |g| {
            *ext(g, "/VRM/blendShapeMaster/blendShapeGroups/1/binds/0/mesh") = json!(7);
        },
    ),
    (
        "expression-target-range",
        "VRM.blendShapeMaster.blendShapeGroups[1].binds[0].index",
        |g| {
            *ext(g, "/VRM/blendShapeMaster/blendShapeGroups/1/binds/0/index") = json!(2);
        },
    ),
    (
        "",
        "VRM.blendShapeMaster.blendShapeGroups[1].binds[0].weight",
        |g| {
            *ext(g, "/VRM/blendShapeMaster/blendShapeGroups/1/binds/0/weight") = json!([]);
        },
    ),
];

const BROKEN_ANIMATION: &[Breakage] = &[
    ("vrm-spec-version", "VRMC_vrm_animation.specVersion", |g| {
        *ext(g, "/VRMC_vrm_animation/specVersion") = json!("0.9")
    }),
    (
        "vrm-humanoid-missing",
        "VRMC_vrm_animation.humanoid.humanBones",
        |g| remove(g, "/VRMC_vrm_animation/humanoid", "humanBones"),
    ),
    (
        "vrm-node-range",
        "VRMC_vrm_animation.humanoid.humanBones.jaw.node",
        |g| *ext(g, "/VRMC_vrm_animation/humanoid/humanBones/jaw/node") = json!(700),
    ),
    (
        "expression-target-range",
        "VRMC_vrm_animation.expressions.preset.happy.node",
        |g| {
            *ext(g, "/VRMC_vrm_animation/expressions/preset/happy/node") = json!(700);
        },
    ),
    ("", "VRMC_vrm_animation.expressions.custom.puff.node", |g| {
        remove(g, "/VRMC_vrm_animation/expressions/custom/puff", "node")
    }),
    (
        "vrm-node-reused",
        "VRMC_vrm_animation.expressions.custom.puff.node",
        |g| {
            *ext(g, "/VRMC_vrm_animation/expressions/custom/puff/node") =
                ext(g, "/VRMC_vrm_animation/expressions/preset/happy/node").clone();
        },
    ),
    (
        "vrm-node-reused",
        "VRMC_vrm_animation.expressions.preset.happy.node",
        |g| {
            *ext(g, "/VRMC_vrm_animation/expressions/preset/happy/node") =
                ext(g, "/VRMC_vrm_animation/humanoid/humanBones/hips/node").clone();
        },
    ),
    ("vrm-node-range", "VRMC_vrm_animation.lookAt.node", |g| {
        *ext(g, "/VRMC_vrm_animation/lookAt/node") = json!(1e9)
    }),
];

fn malformed_files_are_errors_with_their_location() {
    let made: [(&str, &[Breakage], GltfMaker); 3] = [
        ("made.vrm", BROKEN_1, vrm1().gltf),
        ("made.vrm", BROKEN_0, vrm0().gltf),
        ("made.vrma", BROKEN_ANIMATION, vrma().gltf),
    ];
    let mut count = 0;
    for (name, breakages, good) in made {
        assert!(read_as(&good, name).is_ok());
        for (code, location, breaking) in breakages {
            let mut gltf = good.clone();
            breaking(&mut gltf);
            let error = match read_as(&gltf, name) {
                Err(sinew::Error::Invalid(invalid)) => invalid,
                other => panic!("{location}: {:?}", other.map(|a| a.warnings)),
            };
            assert_eq!(error.prim, format!("extensions.{location}"), "{error}");
            assert_eq!(error.code.unwrap_or(""), *code, "{error}");
            assert!(error.file.is_some() && !error.expected.is_empty() && !error.found.is_empty());
            count += 1;
        }
    }
    assert!(count >= 40, "{count}");
}

/// Every value of a document, by JSON pointer.
fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                pointers(value, format!("{at}/{key}"), out);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                pointers(value, format!("{at}/{i}"), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

fn scrambled_files_are_told_not_followed() {
    let mut rng = Rng::new(20_261_121);
    let (mut refused, mut read) = (0, 0);
    for (name, good) in [
        ("made.vrm", vrm1().gltf),
        ("made.vrm", vrm0().gltf),
        ("made.vrma", vrma().gltf),
        ("made.glb", Mannequin::new().with_humanoid().gltf),
    ] {
        let mut all = Vec::new();
        pointers(&good.json, String::new(), &mut all);
        // What these extensions say, and what they point to.
        let binary = ["/accessors", "/bufferViews"];
        all.retain(|p| !p.is_empty() && !binary.iter().any(|b| p.starts_with(b)));
        for _ in 0..400 {
            let mut gltf = good.clone();
            for _ in 0..=rng.below(2) {
                let value = match rng.below(8) {
                    0 => json!(null),
                    1 => json!(-1),
                    2 => json!(rng.below(60)),
                    3 => json!(1e300),
                    4 => json!("leftHand"),
                    5 => json!([]),
                    6 => json!({}),
                    _ => json!([{ "node": rng.below(60) }]),
                };
                let pointer = &all[rng.below(all.len())];
                if let Some(place) = gltf.json.pointer_mut(pointer) {
                    *place = value;
                }
            }
            match read_as(&gltf, name) {
                Ok(_) => read += 1,
                Err(sinew::Error::Invalid(invalid)) => {
                    assert!(
                        !invalid.prim.is_empty() && invalid.file.is_some(),
                        "{invalid}"
                    );
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(
        refused > 400 && read > 100,
        "{refused} refused, {read} read"
    );
}

fn real(folder: &Path, name: &str) -> Asset {
    sinew::io::gltf::read(&folder.join(name)).unwrap_or_else(|e| panic!("{e}"))
}

fn real_characters(folder: &Path) {
    for (name, bones, expressions, binds) in [
        ("Example.vrm", 53, 18, 0),
        ("modifier_shapekey_vrm1.vrm", 17, 18, 1),
        ("skinned_mesh_parent_vrm1.vrm", 17, 18, 0),
        ("mtoon_default.vrm", 19, 0, 0),
        ("smoke_spring.vrm", 19, 0, 0),
    ] {
        let asset = real(folder, name);
        assert_eq!(asset.format, Format::Vrm1, "{name}");
        let count = asset
            .expressions
            .iter()
            .map(|e| e.binds.len())
            .sum::<usize>();
        let found = (
            asset.humanoids[0].bones.len(),
            asset.expressions.len(),
            count,
        );
        assert_eq!(found, (bones, expressions, binds), "{name}");
        let errors = ["vrm-bone-required", "vrm-hierarchy", "vrm-bone-unknown"];
        assert!(
            !codes(&asset).iter().any(|c| errors.contains(c)),
            "{name}: {:?}",
            asset.warnings
        );
    }
    let asset = real(folder, "smoke_spring.vrm");
    assert!(codes(&asset).contains(&"spring-bones-ignored"));
    assert!(codes(&asset).contains(&"mtoon-ignored"));
}

fn real_animations(folder: &Path) {
    let asset = real(folder, "three-vrm-test.vrma");
    assert_eq!(
        (asset.format, asset.humanoids[0].bones.len()),
        (Format::Vrma, 51)
    );
    assert_eq!(codes(&asset), ["look-at-ignored"]);
    let targets: Vec<_> = asset.clips[0].tracks.iter().map(|t| &t.target).collect();
    let arm = asset.humanoids[0].bones[&Bone::RightUpperArm];
    assert_eq!(targets.len(), 2, "the gaze is read past");
    assert_eq!(targets[0], &Target::Node(arm));
    assert!(matches!(targets[1], Target::Expression(_)), "{targets:?}");

    let asset = real(folder, "hips_spine_twisting.vrma");
    assert_eq!(
        (asset.format, asset.humanoids[0].bones.len()),
        (Format::Vrma, 17)
    );
    assert_eq!(
        (asset.clips[0].tracks.len(), codes(&asset)),
        (6, Vec::new())
    );
}
