//! Assets as USD that no fixture holds: what only an asset can say, and what is too large.

use std::panic::catch_unwind;
use std::path::Path;

use glam::{DMat4, DQuat, DVec3, Quat, Vec3};
use half::f16;
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew::sampled::{Interpolation, Sampled, Time};
use sinew::skel::{InbetweenDef, SkelAnimation};
use sinew_animate::asset::{Asset, MorphTarget};
use sinew_animate::humanoid::{ApplyOptions, apply};
use sinew_io::gltf::read_bytes;
use sinew_io::usd::{ClipChoice, OpenOptions, UsdFile};
use sinew_layer::Value as UsdValue;

use crate::judges::describe;
use common::document::Document;
use common::python;
use common::rng::Rng;
use common::tolerance;
use common::trials::Trial;
use common::usd::{open, prim, value, vectors};

type Outcome = Result<(), Failed>;
type Case = (&'static str, fn() -> Outcome);

pub fn trials() -> Vec<Trial> {
    let all: [Case; 10] = [
        ("inbetweens", inbetweens),
        ("expressions", expressions),
        ("a_bind_matrix_that_is_not_affine", not_affine),
        ("influences_that_weigh_nothing", weightless),
        ("scales_keep_their_digits", exact_scales),
        ("what_would_be_too_large", too_large),
        ("a_texture_of_another_format", odd_texture),
        ("skins_all_at_odds", odd_skins),
        ("keys_at_odds", odd_keys),
        ("changed_scenery_is_converted_or_refused", changed),
    ];
    let mut trials: Vec<Trial> = all.map(|(name, run)| Trial::test(name, run)).into();
    let name = "sockets_follow_another_animation";
    trials.push(python::trial(name, sockets));
    trials
}

fn asset(document: &Document) -> Result<Asset, sinew_io::Error> {
    read_bytes(&document.glb(), Path::new("made.glb"))
}

fn character() -> Result<Asset, sinew_io::Error> {
    asset(&Document::fixture("assets/character.gltf"))
}

fn converted(asset: &Asset, clips: ClipChoice) -> sinew_io::Result<UsdFile> {
    let options = OpenOptions {
        clips,
        ..OpenOptions::default()
    };
    UsdFile::from_asset(asset, &options)
}

/// Only FBX has them.
fn inbetweens() -> Outcome {
    let mut asset = character()?;
    let between = InbetweenDef {
        name: "half.way".into(),
        weight: 0.5,
        offsets: vec![Vec3::Z; 2],
        normal_offsets: None,
    };
    asset.meshes[0].primitives[0].targets[1] = MorphTarget {
        point_indices: Some(vec![7, 2]),
        offsets: vec![Vec3::X, Vec3::Y],
        inbetweens: vec![between],
        ..MorphTarget::default()
    };
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("a.usda");
    converted(&asset, ClipChoice::First)?.save_as(&out)?;
    let stage = open(&out);
    let (shape, name) = ("/made/Armature/Body/frown_", "inbetweens:half_way");
    assert_eq!(
        value(&stage, shape, "pointIndices", None),
        Some(UsdValue::IntArray(vec![2, 7].into()))
    );
    // In the order of the indices.
    let offsets = vectors(&stage, shape, "offsets", None);
    assert_eq!(offsets, Some(vec![DVec3::Y, DVec3::X]));
    assert_eq!(vectors(&stage, shape, name, None), Some(vec![DVec3::Z; 2]));
    let weight = prim(&stage, shape).attribute(name).metadata("weight")?;
    assert_eq!(weight, Some(UsdValue::Float(0.5)));
    Ok(())
}

/// USD renderers read PNG, JPEG, EXR and the like.
fn odd_texture() -> Outcome {
    let mut asset = asset(&Document::fixture("assets/painted.gltf"))?;
    for image in &mut asset.images {
        image.file_name = "odd.webp".to_owned();
    }
    let scene = converted(&asset, ClipChoice::First)?.scene(Default::default())?;
    let mut codes = scene.warnings.iter().map(|w| w.code);
    assert!(codes.any(|code| code == "texture-format"));
    Ok(())
}

/// In memory scales are exact where halves are not.
fn exact_scales() -> Outcome {
    let clip = |name: &str| ClipChoice::Named(name.to_owned());
    let scene = converted(&character()?, clip("grow"))?.scene(Default::default())?;
    let scales = scene.animations[0].float_scales.as_ref();
    let scales = scales.ok_or("no exact scales")?.at(Time::At(30.0 * 0.2));
    assert_eq!(scales.ok_or("no scales")?[3], Vec3::new(1.0, 2.0, 0.3));
    // A scale of 1.1 that nothing moves becomes one that half has, by a frame that is a little smaller.
    let scene = converted(&character()?, clip("walk"))?.scene(Default::default())?;
    assert!(scene.animations[0].float_scales.is_none());
    let scales = scene.animations[0].scales.at(Time::Default);
    let nearest = f16::from_f64(1.1);
    assert_eq!(scales.ok_or("no scales")?[3], [nearest; 3]);
    let skeleton = scene.instances[0].instance.skeleton();
    let rest = skeleton.rest().ok_or("no rest")?[3].x_axis.length();
    assert!(
        (rest - nearest.to_f64()).abs() < tolerance::SAME_IN_F64,
        "{rest}"
    );
    Ok(())
}

/// Expressions are channels; one that is on or off is on above a half.
fn expressions() -> Outcome {
    let model = read_bytes(&Document::fixture("vrm1.gltf").glb(), Path::new("made.vrm"))?;
    let mut clip = Document::fixture("vrma_linear.gltf");
    // From a quarter to three quarters in a second, as `puff` too.
    clip.set(
        "/extensions/VRMC_vrm_animation/expressions/preset",
        json!({ "blink": { "node": 54 } }),
    );
    let clip = read_bytes(&clip.glb(), Path::new("made.vrma"))?;
    let applied = apply(&model, &clip, &clip.clips[0], &ApplyOptions::default())?;
    let scene = converted(&applied.into_asset(model), ClipChoice::First)?;
    let scene = scene.scene(Default::default())?;
    let animation = &scene.animations[0];
    let rate = scene.time_line.time_codes_per_second;
    for (seconds, blink, puff) in [(0.0, 0.0, 0.25), (0.45, 0.0, 0.475), (0.55, 1.0, 0.525)] {
        let weights = animation.blend_shape_weights.at(Time::At(seconds * rate));
        let weights = weights.ok_or("weights")?;
        for (name, want) in [("blink", blink), ("puff", puff)] {
            let channel = animation.blend_shapes.iter().position(|b| b == name);
            let got = weights[channel.ok_or("a channel")?];
            assert!((got - want).abs() < 1e-6, "{name} at {seconds}: {got}");
        }
    }
    Ok(())
}

/// Influences that weigh nothing may name a joint that is not there.
fn weightless() -> Outcome {
    let mut asset = character()?;
    let primitive = &mut asset.meshes[0].primitives[0];
    let influences = primitive.joints.iter_mut().zip(&primitive.weights);
    influences
        .filter(|(_, w)| **w == 0.0)
        .for_each(|(joint, _)| *joint = 77);
    let scene = converted(&asset, ClipChoice::First)?.scene(Default::default())?;
    assert!(scene.errors.is_empty(), "{:?}", scene.errors);
    assert_eq!(scene.bindings.len(), 5);
    Ok(())
}

fn not_affine() -> Outcome {
    let mut asset = character()?;
    asset.skins[0].inverse_bind[2].x_axis.w = 0.5;
    refused(
        &asset,
        ClipChoice::First,
        &["skins[0]", "joint 2", "affine"],
    )
}

/// A file of nodes, each below the one that `parent` names.
fn tree(count: usize, parent: impl Fn(usize) -> Option<usize>, node: Value) -> Document {
    let mut nodes = vec![node; count];
    let mut roots = Vec::new();
    for i in 0..count {
        match parent(i) {
            Some(parent) => match nodes[parent]["children"].as_array_mut() {
                Some(children) => children.push(json!(i)),
                None => nodes[parent]["children"] = json!([i]),
            },
            None => roots.push(i),
        }
    }
    let mut out = Document::empty();
    out.json["nodes"] = json!(nodes);
    out.json["scenes"] = json!([{ "nodes": roots }]);
    out.json["scene"] = json!(0);
    // A buffer of nothing is none.
    out.accessor("f32", "SCALAR", &[0.0]);
    out
}

/// Adds a clip that moves nodes along Y, each at times of its own.
fn add_clip(document: &mut Document, curves: &[(usize, Vec<f64>)]) {
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (node, times) in curves {
        let input = document.accessor("f32", "SCALAR", times);
        let places: Vec<f64> = times.iter().flat_map(|t| [0.0, *t, 0.0]).collect();
        let output = document.accessor("f32", "VEC3", &places);
        channels.push(json!({
            "sampler": samplers.len(), "target": { "node": node, "path": "translation" }
        }));
        samplers.push(json!({ "input": input, "output": output }));
    }
    let clip = json!({ "samplers": samplers, "channels": channels });
    document.push("animations", clip);
}

/// Converting is refused with these words.
fn refused(asset: &Asset, clips: ClipChoice, words: &[&str]) -> Outcome {
    let text = match converted(asset, clips) {
        Ok(_) => return Err("not refused".into()),
        Err(e) => e.to_string(),
    };
    assert!(words.iter().all(|w| text.contains(w)), "{text}");
    Ok(())
}

fn odd_skins() -> Outcome {
    let mut asset = asset(&Document::fixture("assets/at_odds.gltf"))?;
    let (skin, body) = (asset.skins[1].clone(), asset.nodes[4].clone());
    for i in 0..100u32 {
        let mut skin = skin.clone();
        skin.inverse_bind[1] = DMat4::from_rotation_x(f64::from(i) * 0.05) * skin.inverse_bind[1];
        let mut node = body.clone();
        node.skin = Some(asset.skins.len());
        asset.roots.push(asset.nodes.len());
        asset.nodes.push(node);
        asset.skins.push(skin);
    }
    let words = ["made.glb", "skins[65]", "64 bind poses"];
    refused(&asset, ClipChoice::First, &words)
}

/// A thousand joints with a hundred keys each, no two at one time.
fn odd_keys() -> Outcome {
    let mut file = tree(1000, |i| Some(i.checked_sub(1)? / 2), json!({}));
    let times = |i: usize| (0..100).map(|k| f64::from(k) + i as f64 * 1e-3).collect();
    let curves: Vec<(usize, Vec<f64>)> = (0..1000).map(|i| (i, times(i))).collect();
    add_clip(&mut file, &curves);
    let scene = converted(&asset(&file)?, ClipChoice::First)?.scene(Default::default())?;
    let said = scene.warnings.iter().filter(|w| w.code == "clip-resampled");
    assert_eq!(said.count(), 1, "{:?}", scene.warnings);
    Ok(())
}

/// Files whose USD would be too deep, too large, or of no numbers.
fn too_large() -> Outcome {
    let deep = tree(5000, |i| i.checked_sub(1), json!({ "name": "deeper" }));
    refused(&asset(&deep)?, ClipChoice::First, &["400 levels"])?;
    // A mesh in a hundred thousand places.
    let mut many = tree(100_000, |_| None, json!({ "mesh": 0 }));
    let points = many.accessor("f32", "VEC3", &[0.0; 3000]);
    let primitive = json!({ "attributes": { "POSITION": points } });
    many.push("meshes", json!({ "primitives": [primitive] }));
    refused(&asset(&many)?, ClipChoice::First, &["repeated meshes"])?;
    // Every clip is written for all joints, of which it moves one.
    let mut wide = tree(4000, |i| i.checked_sub(1).map(|_| 0), json!({}));
    add_clip(&mut wide, &[(1, vec![0.0, 1.0])]);
    let clip = wide.json["animations"][0].clone();
    wide.json["animations"] = json!(vec![clip; 4000]);
    let words = ["Animations", "MiB at most"];
    refused(&asset(&wide)?, ClipChoice::All, &words)?;
    // Scales below each other, each a number of its own.
    for scale in [1e38, 1e-30] {
        let node = json!({ "name": "joint", "scale": [scale, scale, scale] });
        let file = tree(100, |i| i.checked_sub(1), node);
        refused(&asset(&file)?, ClipChoice::First, &["Skeleton", "overflow"])?;
    }
    Ok(())
}

/// Files changed at random: what is read is converted or refused, and either way without a panic.
fn changed() -> Outcome {
    let (mut converted, seeds) = (0, common::seeds(3000));
    for seed in seeds.clone() {
        let mut file = Document::fixture("scenery.gltf");
        file.change_at_random(&mut Rng::new(seed));
        let Ok(asset) = asset(&file) else {
            continue;
        };
        let result = catch_unwind(|| UsdFile::from_asset(&asset, &OpenOptions::default()).is_ok());
        let is_converted = result.map_err(|_| format!("seed {seed}: {}", file.json))?;
        converted += u64::from(is_converted);
    }
    // Else the loop would test nothing.
    assert!(converted > seeds.end / 15, "{converted} were converted");
    Ok(())
}

/// A Skeleton that gets another animation takes its sockets along, as usd-core shows them. The socket stands 0.5 along X
/// below the joint B.
fn sockets(python: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("made.usda");
    let mut file = converted(
        &asset(&Document::fixture("scenery.gltf"))?,
        ClipChoice::First,
    )?;
    let turned = |radians: f32| vec![Quat::IDENTITY, Quat::from_rotation_x(radians)];
    let one = f16::from_f32(1.0);
    let animation = SkelAnimation {
        joints: vec!["A".to_owned(), "A/B".to_owned()],
        translations: Sampled::constant(vec![Vec3::ZERO, Vec3::Y * 5.0]),
        rotations: Sampled::new(
            None,
            vec![(1.0, Some(turned(0.0))), (4.0, Some(turned(0.9)))],
            Interpolation::Linear,
        ),
        scales: Sampled::constant(vec![[one; 3]; 2]),
        ..SkelAnimation::default()
    };
    let time_line = file.scene(Default::default())?.time_line;
    file.set_animation("/made/Root/Skeleton", "Other", &animation, &time_line)?;
    file.save_as(&out)?;
    let found = describe(python, &out, &[1.0, 4.0])?;
    let socket = &found["prims"]["/made/Root/Sockets/Weapon_Socket"]["world"];
    for (i, radians) in [0.0, 0.9].into_iter().enumerate() {
        let turn = DQuat::from_rotation_x(radians);
        let joint = DMat4::from_rotation_translation(turn, DVec3::Y * 5.0);
        let want = joint * DMat4::from_translation(DVec3::X * 0.5);
        // Vectors of usd-core are rows.
        let rows: [[f64; 4]; 4] = serde_json::from_value(socket[i].clone())?;
        let got = DMat4::from_cols_array_2d(&rows);
        assert!(got.abs_diff_eq(want, 1e-6), "{got} for {want}");
    }
    Ok(())
}
