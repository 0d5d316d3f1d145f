//! What stands in the layers.

use std::path::Path;

use libtest_mimic::Failed;
use serde_json::json;
use sinew::sampled::Time;
use sinew::skel::InbetweenDef;
use sinew_animate::asset::{
    Asset, AssetClip, CurveInterpolation, Keys, LocalTransform, TrackTarget,
};
use sinew_io::usd::{ClipChoice, OpenOptions, UsdFile};
use sinew_layer::Value;
use sinew_stage::Stage;

use crate::from_asset::assets::{self, character, finished, node, track};
use crate::from_asset::{ask_pixar, converted};
use common::trials::Trial;
use common::usd::{has_value, open, prim, times, tokens, type_name, value, vectors};
use common::{python, tolerance};

type Outcome = Result<(), Failed>;
type Case = (&'static str, fn() -> Outcome);

pub fn trials() -> Vec<Trial> {
    let all: [Case; 11] = [
        ("only_what_deforms_is_bound", bound),
        ("a_file_may_be_named_like_a_property", property_name),
        ("joints_keep_their_names", joints),
        ("one_skeleton_serves_two_bind_spaces", one_skeleton),
        ("binds_at_odds_make_two", two_skeletons),
        ("every_clip_has_its_animation", every_clip),
        ("clips_together_are_one", together),
        ("channels_are_unique", channels),
        ("small_shapes_are_sparse", sparse),
        ("bare_clips_become_skeletons", bare_clip),
        ("scales_keep_their_digits", exact_scales),
    ];
    let mut trials: Vec<Trial> = all
        .map(|(name, run)| Trial::test(format!("written::{name}"), run))
        .into();
    trials.push(python::trial("usd_core::skeletons_and_stage", stage));
    trials.push(python::trial("usd_core::bare_clip", pixars_bare_clip));
    for extension in ["usda", "usdc", "usdz"] {
        trials.push(python::trial(
            &format!("usd_core::materials_are_valid::{extension}"),
            move |python| materials(python, extension),
        ));
    }
    trials
}

/// The stage of an asset with its first clip.
fn saved(asset: &Asset) -> Result<(tempfile::TempDir, Stage), Failed> {
    let folder = tempfile::tempdir()?;
    let stage = save(asset, ClipChoice::First, &folder.path().join("a.usda"))?;
    Ok((folder, stage))
}

fn save(asset: &Asset, clips: ClipChoice, out: &Path) -> Result<Stage, Failed> {
    let options = OpenOptions {
        clips,
        ..OpenOptions::default()
    };
    UsdFile::from_asset(asset, &options)?.save_as(out)?;
    Ok(open(out))
}

/// The stage of the character with its first clip.
fn hero(clips: ClipChoice) -> Result<(tempfile::TempDir, Stage), Failed> {
    let folder = tempfile::tempdir()?;
    let stage = save(&character(), clips, &folder.path().join("hero.usda"))?;
    Ok((folder, stage))
}

fn property_name() -> Outcome {
    let folder = tempfile::tempdir()?;
    for name in ["scales", "points", "joints", "extent"] {
        let mut asset = character();
        asset.file = name.into();
        for extension in ["usda", "usdc", "usdz"] {
            let out = folder.path().join(name).with_extension(extension);
            save(&asset, ClipChoice::First, &out)?;
            let scene = UsdFile::open(&out)?.scene(Default::default())?;
            assert!(
                scene.errors.is_empty() && scene.bindings.len() == 5,
                "{name}"
            );
            let animation = &scene.animations[0];
            assert!(
                animation.joint_local_transforms(Time::At(3.0)).is_some(),
                "{name}"
            );
        }
    }
    Ok(())
}

const SKELETON: &str = "/hero_1/Armature/Skeleton";

fn joints() -> Outcome {
    let (_folder, stage) = hero(ClipChoice::First)?;
    let expected = [
        ("mixamorig_Hips", "mixamorig:Hips"),
        ("mixamorig_Hips/spine_001", "spine.001"),
        ("mixamorig_Hips/spine_001/filler", "filler"),
        ("mixamorig_Hips/spine_001/filler/spine_001", "spine:001"),
        ("mixamorig_Hips/spine_001/腕", "腕"),
        // Moved by a clip, so that the shield follows, and what stands between.
        ("mixamorig_Hips/spine_001/腕/arm", "arm"),
        ("mixamorig_Hips/spine_001/腕/arm/shield", "shield"),
    ];
    let (paths, names): (Vec<_>, Vec<_>) = expected.iter().copied().unzip();
    assert_eq!(tokens(&stage, SKELETON, "joints"), paths);
    assert_eq!(tokens(&stage, SKELETON, "jointNames"), names);
    Ok(())
}

fn matrix(stage: &Stage, prim: &str, name: &str) -> Result<glam::DMat4, Failed> {
    match value(stage, prim, name, None) {
        Some(Value::Matrix4d(m)) => Ok(glam::DMat4::from_cols_array(&m)),
        other => Err(format!("{prim}.{name}: {other:?}").into()),
    }
}

/// Points of the hair go by the constant to where points of the body are.
fn one_skeleton() -> Outcome {
    let (_folder, stage) = hero(ClipChoice::First)?;
    let name = "primvars:skel:geomBindTransform";
    assert_eq!(
        matrix(&stage, "/hero_1/Armature/Body", name)?,
        glam::DMat4::IDENTITY
    );
    let (body, hair) = (assets::world_from_body(), assets::world_from_hair());
    let found = matrix(&stage, "/hero_1/Armature/Hair", name)?;
    assert!(
        found.abs_diff_eq(body.inverse() * hair, tolerance::SAME_IN_F64),
        "{found}"
    );
    assert_eq!(type_name(&stage, "/hero_1"), "SkelRoot");
    assert_eq!(type_name(&stage, "/hero_1/Armature"), "Xform");
    Ok(())
}

fn two_skeletons() -> Outcome {
    let (_folder, stage) = saved(&assets::at_odds())?;
    for (prim, animation) in [("Skeleton", "turn_root"), ("Skeleton_1", "turn_root_1")] {
        assert_eq!(type_name(&stage, &format!("/odds/root/{prim}")), "Skeleton");
        let animation = format!("/odds/Animations/{animation}");
        assert_eq!(type_name(&stage, &animation), "SkelAnimation");
        // The sheared joint, which nothing moves, comes from restTransforms.
        assert_eq!(tokens(&stage, &animation, "joints"), ["a"]);
    }
    Ok(())
}

fn every_clip() -> Outcome {
    let (_folder, stage) = hero(ClipChoice::All)?;
    let source = prim(&stage, SKELETON).relationship("skel:animationSource");
    let targets: Vec<String> = source.targets().iter().map(ToString::to_string).collect();
    assert_eq!(targets, ["/hero_1/Animations/walk"]);
    for clip in ["walk", "grow"] {
        let prim = format!("/hero_1/Animations/{clip}");
        let joints = tokens(&stage, SKELETON, "joints");
        assert_eq!(tokens(&stage, &prim, "joints"), joints);
    }
    Ok(())
}

fn together() -> Outcome {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("both.usda");
    converted(&character(), "walk+grow")?.save_as(&out)?;
    let stage = open(&out);
    let prim = "/hero_1/Animations/walk_grow";
    assert_eq!(type_name(&stage, prim), "SkelAnimation");
    // The walk's weights and the other clip's scales.
    for name in ["blendShapeWeights", "scales"] {
        assert!(times(&stage, prim, name).len() > 1, "{name}");
    }
    Ok(())
}

fn channels() -> Outcome {
    let mut asset = assets::expressive();
    // A second mesh with targets of the same names.
    let mesh = asset.meshes[0].clone();
    asset.meshes.push(sinew_animate::asset::Mesh {
        name: "Twin".into(),
        ..mesh
    });
    let mut twin = asset.nodes[assets::BODY].clone();
    twin.name = "Twin".into();
    twin.mesh = Some(asset.meshes.len() - 1);
    asset.nodes.push(twin);
    let (_folder, stage) = saved(&finished(asset))?;
    let expected = [
        "smile",
        "blink",
        "dent",
        "BodyMesh_smile",
        "frown_",
        "Twin_smile",
        "Twin_frown_",
    ];
    assert_eq!(
        tokens(&stage, "/hero_1/Animations/emote", "blendShapes"),
        expected
    );
    let body = "/hero_1/Armature/Body";
    let bound = ["BodyMesh_smile", "frown_", "smile", "blink"];
    assert_eq!(tokens(&stage, body, "skel:blendShapes"), bound);
    // The second target moves nothing of the second primitive.
    let second = ["BodyMesh_smile", "smile"];
    assert_eq!(
        tokens(&stage, "/hero_1/Armature/Body_1", "skel:blendShapes"),
        second
    );
    let twin = ["Twin_smile", "Twin_frown_"];
    assert_eq!(
        tokens(&stage, "/hero_1/Armature/Twin", "skel:blendShapes"),
        twin
    );
    // Half the one and a quarter of the other.
    let offsets = |shape: &str| vectors(&stage, &format!("{body}/{shape}"), "offsets", None);
    let (sum, smile) = (offsets("smile"), offsets("BodyMesh_smile"));
    let (sum, smile) = (sum.ok_or("no sum")?, smile.ok_or("no smile")?);
    let want = smile[7] * 0.5 + glam::DVec3::X * 0.25;
    assert!(
        (sum[7] - want).length() < tolerance::STORED_IN_F32,
        "{} {want}",
        sum[7]
    );
    Ok(())
}

/// A primitive that no target of its mesh moves stays unbound where there is no skin.
fn bound() -> Outcome {
    let mut asset = assets::free();
    let mut still = asset.meshes[0].primitives[0].clone();
    still.targets = vec![Default::default(); 2];
    asset.meshes[1].primitives.push(still);
    let (_folder, stage) = saved(&finished(asset))?;
    for (name, is_bound) in [("Face", true), ("Face_1", false)] {
        let prim = prim(&stage, &format!("/free/舞台/Face/{name}"));
        assert_eq!(prim.has_api("SkelBindingAPI"), is_bound);
        assert_eq!(
            prim.relationship("skel:skeleton").has_authored_targets(),
            is_bound
        );
    }
    Ok(())
}

fn sparse() -> Outcome {
    let mut asset = character();
    let between = InbetweenDef {
        name: "half.way".into(),
        weight: 0.5,
        offsets: vec![glam::Vec3::Z; 2],
        normal_offsets: None,
    };
    asset.meshes[0].primitives[0].targets[1]
        .inbetweens
        .push(between);
    let (_folder, stage) = saved(&asset)?;
    let shape = "/hero_1/Armature/Body/frown_";
    assert!(!has_value(
        &stage,
        "/hero_1/Armature/Body/smile",
        "pointIndices"
    ));
    let indices = value(&stage, shape, "pointIndices", None);
    assert_eq!(indices, Some(Value::IntArray(vec![2, 7].into())));
    // In the order of the indices.
    let [y, x] = [glam::DVec3::Y, glam::DVec3::X];
    assert_eq!(vectors(&stage, shape, "offsets", None), Some(vec![y, x]));
    let z = glam::DVec3::Z;
    assert_eq!(
        vectors(&stage, shape, "normalOffsets", None),
        Some(vec![z, y])
    );
    assert_eq!(
        vectors(&stage, shape, "inbetweens:half_way", None),
        Some(vec![z, z])
    );
    let between = prim(&stage, shape).attribute("inbetweens:half_way");
    assert_eq!(between.metadata("weight")?, Some(Value::Float(0.5)));
    Ok(())
}

/// A walk without a mesh, an expression, and an armature above that nothing moves.
fn bare() -> Asset {
    let mut asset = Asset {
        file: "bare.vrma".into(),
        ..Asset::default()
    };
    asset.nodes = vec![
        node("Armature", None, [0.0, 0.0, 5.0]),
        node("hips", Some(0), [0.0, 1.0, 0.0]),
        node("spine", Some(1), [0.0, 0.2, 0.0]),
        node("leg", Some(1), [0.1, -0.1, 0.0]),
    ];
    let turns = [0.0, 1.0].map(glam::DQuat::from_rotation_x).to_vec();
    let weights = Keys::Weights {
        count: 1,
        values: vec![0.0, 1.0],
    };
    let linear = CurveInterpolation::Linear;
    asset.clips = vec![AssetClip {
        name: String::new(),
        tracks: vec![
            track(
                TrackTarget::Node(2),
                &[0.0, 1.0],
                linear,
                Keys::Rotation(turns),
            ),
            track(
                TrackTarget::Expression("happy".into()),
                &[0.0, 1.0],
                linear,
                weights,
            ),
        ],
        ..AssetClip::default()
    }];
    finished(asset)
}

fn bare_clip() -> Outcome {
    let (_folder, stage) = saved(&bare())?;
    let joints = ["hips", "hips/spine", "hips/leg"];
    assert_eq!(tokens(&stage, "/bare/Armature/Skeleton", "joints"), joints);
    assert_eq!(tokens(&stage, "/bare/Animations/Clip", "joints"), joints);
    assert_eq!(
        tokens(&stage, "/bare/Animations/Clip", "blendShapes"),
        ["happy"]
    );
    let file = UsdFile::from_asset(&bare(), &OpenOptions::default())?;
    let scene = file.scene(Default::default())?;
    assert!(
        scene.warnings.is_empty() && scene.errors.is_empty(),
        "{:?}",
        scene.warnings
    );
    assert_eq!(scene.unbound_skeletons.len(), 1);
    Ok(())
}

fn pixars_bare_clip(python: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("bare.usdc");
    save(&bare(), ClipChoice::First, &out)?;
    let found = ask_pixar(python, &out, &[])?;
    assert_eq!(found["findings"], json!([]));
    let skeleton = &found["skeletons"]["/bare/Armature/Skeleton"];
    assert_eq!(skeleton["animation"], "/bare/Animations/Clip");
    assert_eq!(
        (&skeleton["bind"], &skeleton["rest"]),
        (&json!(true), &json!(true))
    );
    Ok(())
}

/// In memory scales are exact where halves are not.
fn exact_scales() -> Outcome {
    let file = converted(&character(), "grow")?;
    let scene = file.scene(Default::default())?;
    let animation = scene.animations.first().ok_or("no animation")?;
    let scales = animation.float_scales.as_ref().ok_or("no exact scales")?;
    let at = scales.at(Time::At(30.0 * 0.2)).ok_or("no scales")?;
    assert_eq!(at[3], glam::Vec3::new(1.0, 2.0, 0.3));
    // A scale of 1.1 that nothing moves becomes one that half has, by a frame that is a little smaller.
    let file = converted(&character(), "walk")?;
    let scene = file.scene(Default::default())?;
    assert!(scene.animations[0].float_scales.is_none());
    let scales = scene.animations[0].scales.at(Time::Default);
    let nearest = half::f16::from_f64(1.1);
    assert_eq!(scales.ok_or("no scales")?[3], [nearest; 3]);
    let skeleton = scene.instances[0].instance.skeleton();
    let rest = skeleton.rest().ok_or("no rest")?[3];
    assert!(
        (rest.x_axis.length() - nearest.to_f64()).abs() < tolerance::SAME_IN_F64,
        "{rest}"
    );
    // Scales that differ between axes stay out of clips that leave the joint alone: restTransforms have all digits.
    let mut asset = character();
    let mut local = asset.nodes[4].local.trs();
    local.scale = glam::DVec3::new(1.1, 1.0, 0.7);
    asset.nodes[4].local = LocalTransform::Trs(local);
    asset.clips[1].tracks.truncate(2);
    let folder = tempfile::tempdir()?;
    let stage = save(
        &asset,
        ClipChoice::Named("grow".into()),
        &folder.path().join("a.usda"),
    )?;
    let listed = tokens(&stage, "/hero_1/Animations/grow", "joints");
    assert_eq!(listed.len(), tokens(&stage, SKELETON, "joints").len() - 1);
    assert!(!listed.contains(&"mixamorig_Hips/spine_001/filler/spine_001".to_owned()));
    Ok(())
}

fn stage(python: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("hero.usdc");
    save(&character(), ClipChoice::All, &out)?;
    let found = ask_pixar(python, &out, &[])?;
    assert_eq!(found["findings"], json!([]));
    assert_eq!(found["root"], json!(["/hero_1", "SkelRoot"]));
    assert_eq!((&found["up"], &found["units"]), (&json!("Y"), &json!(1.0)));
    // Keys of both clips fall on whole frames of 60.
    assert_eq!(
        (&found["rate"], &found["frames"]),
        (&json!(60.0), &json!(60.0))
    );
    assert_eq!(found["range"], json!([0.0, 75.0]));
    let skeleton = &found["skeletons"][SKELETON];
    assert_eq!(skeleton["joints"].as_array().map(Vec::len), Some(7));
    assert_eq!(skeleton["names"][0], "mixamorig:Hips");
    assert_eq!(skeleton["animation"], "/hero_1/Animations/walk");
    Ok(())
}

fn materials(python: &str, extension: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("painted").with_extension(extension);
    let file = UsdFile::from_asset(&assets::painted(), &OpenOptions::default())?;
    file.save_as(&out)?;
    let warnings = file.scene(Default::default())?.warnings;
    let codes: Vec<_> = warnings.iter().map(|w| w.code).collect();
    // The .webp, and a normal map's scale.
    assert_eq!(codes, ["normal-scale", "texture-format"]);
    let found = ask_pixar(python, &out, &[])?;
    assert_eq!(found["findings"], json!([]));
    assert_eq!(found["root"], json!(["/painted", "Xform"]));
    if extension == "usdz" {
        return Ok(());
    }
    let stage = open(&out);
    let everything = "/painted/Materials/Everything";
    for (input, source) in [
        ("diffuseColor", "BaseColor.outputs:rgb"),
        ("opacity", "BaseColor.outputs:a"),
        ("roughness", "MetallicRoughness.outputs:g"),
        ("metallic", "MetallicRoughness.outputs:b"),
        ("normal", "Normal.outputs:rgb"),
        ("occlusion", "Occlusion.outputs:r"),
    ] {
        let surface = prim(&stage, &format!("{everything}/Surface"));
        let name = format!("inputs:{input}");
        let sources = surface.attribute(&name).connections();
        let sources: Vec<String> = sources.iter().map(ToString::to_string).collect();
        assert_eq!(sources, [format!("{everything}/{source}")], "{input}");
    }
    for (part, material) in [
        ("Part", "Material"),
        ("Part_1", "Everything"),
        ("Part_2", "Everything_1"),
    ] {
        let part = prim(&stage, &format!("/painted/{part}/Part"));
        let targets = part.relationship("material:binding").targets();
        assert_eq!(
            targets[0].to_string(),
            format!("/painted/Materials/{material}")
        );
    }
    assert!(!has_value(
        &stage,
        &format!("{everything}/Surface"),
        "inputs:emissiveColor"
    ));
    let uvs = value(&stage, "/painted/Part/Part", "primvars:st", None);
    let Some(Value::Vec2fArray(uvs)) = uvs else {
        return Err("no uvs".into());
    };
    assert_eq!(uvs[2], [0.5, 0.75], "v runs upward");
    Ok(())
}
