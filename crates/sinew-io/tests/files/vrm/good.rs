//! What good files become, and what is said of doubtful ones.

use glam::DVec3;
use serde_json::json;
use sinew_animate::asset::{AssetFormat, CurveInterpolation, Keys, MorphBind, Track, TrackTarget};
use sinew_animate::retarget::Bone;

use crate::vrm::made::{character, codes, expression, read_as, vrm0, vrm1, vrma, warnings};
use common::tolerance;

pub fn vrm_1() {
    let made = vrm1();
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    assert_eq!(asset.format, AssetFormat::Vrm1);
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

pub fn vrm_1_says_what_it_reads_past() {
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
            "mtoon-simplified",
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
    assert!(message("spring-bones-ignored").contains("(count: 2)"));
}

pub fn vrm_1_is_forgiving_where_nothing_is_lost() {
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
        (AssetFormat::Vrm1, vec!["vrm-version-twice"])
    );

    // Neither.
    let asset = read_as(&character().gltf, "made.vrm").expect("an asset");
    assert_eq!(
        (asset.format, codes(&asset)),
        (AssetFormat::Gltf, vec!["vrm-extension-missing"])
    );
    let asset = read_as(&character().gltf, "made.VRMA").expect("an asset");
    assert_eq!(codes(&asset), ["vrm-extension-missing"]);
    assert_eq!(
        codes(&read_as(&character().gltf, "made.glb").expect("an asset")),
        Vec::<&str>::new()
    );
}

pub fn vrm_0() {
    let made = vrm0();
    let asset = read_as(&made.gltf, "made.vrm").expect("an asset");
    assert_eq!(asset.format, AssetFormat::Vrm0);
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
        ("mtoon-simplified", format!("{at}.materialProperties")),
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

pub fn vrm_animation() {
    let made = vrma();
    let asset = read_as(&made.gltf, "made.vrma").expect("an asset");
    assert_eq!(asset.format, AssetFormat::Vrma);
    assert_eq!(asset.humanoids[0].bones, made.nodes);
    assert_eq!(
        warnings(&asset),
        [("look-at-ignored", "extensions.VRMC_vrm_animation.lookAt")]
    );
    let [arm, hips, happy, puff] = asset.clips[0].tracks.as_slice() else {
        panic!("{:?}", asset.clips[0].tracks);
    };
    assert_eq!(
        arm.target,
        TrackTarget::Node(made.nodes[&Bone::LeftUpperArm])
    );
    assert_eq!(hips.target, TrackTarget::Node(made.nodes[&Bone::Hips]));
    assert!(matches!(&hips.curve.keys, Keys::Translation(v) if v[1] == DVec3::new(0.0, 1.5, 0.0)));
    let weights = |track: &Track| match &track.curve.keys {
        Keys::Weights { count: 1, values } => values
            .iter()
            .map(|v| (v * 100.0).round())
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(happy.target, TrackTarget::Expression("happy".into()));
    assert_eq!(happy.curve.interpolation, CurveInterpolation::Step);
    assert_eq!(weights(happy), [25.0, 75.0]);
    assert_eq!(puff.target, TrackTarget::Expression("puff".into()));
    assert_eq!(
        weights(puff),
        [0.0, 10.0, 20.0, 30.0, 40.0, 50.0],
        "tangents come along"
    );
    assert!((puff.curve.weight(0, 1.0).expect("a weight") - 0.4).abs() < tolerance::FEW_ROUNDINGS);
}

pub fn vrm_animation_leaves_out_what_it_may_not_move() {
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
