//! Cameras, lights, sockets, instances, scenes, names, extras and layered materials of glTF, as usd-core
//! computes them from the converted file.

use std::panic::catch_unwind;
use std::path::Path;

use common::python;
use common::rng::Rng;
use common::scenery::{SOCKET_OFFSET, scenery};
use common::trials::Trial;
use glam::{DMat4, DQuat, DVec3, Quat, Vec3};
use half::f16;
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::SkelAnimation;
use sinew_animate::asset::Asset;
use sinew_io::gltf;
use sinew_io::usd::{OpenOptions, UsdFile};

use super::ask;

type Outcome = Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("sinew::scenery_is_warned_of_once", warned),
        Trial::test("sinew::a_camera_alone_is_no_skeleton", camera_alone),
        Trial::test("sinew::an_empty_scene_shows_nothing", empty_scene),
        Trial::test("sinew::changed_scenery_is_converted_or_refused", changed),
    ];
    for extension in ["usda", "usdc"] {
        let name = format!("usd_core::scenery::{extension}");
        trials.push(python::trial(&name, move |python| {
            judged(python, extension)
        }));
    }
    let name = "usd_core::sockets_follow_another_animation";
    trials.push(python::trial(name, moved));
    trials.push(python::trial("usd_core::layered_materials", layered));
    trials
}

fn read() -> Result<Asset, sinew_io::Error> {
    gltf::read_bytes(&scenery().glb(), Path::new("scenery.glb"))
}

/// Frames per second that fit keys at half a second.
const RATE: f64 = 24.0;

fn warned() -> Outcome {
    let file = UsdFile::from_asset(&read()?, &OpenOptions::default())?;
    let warnings = file.origin().ok_or("an origin")?.warnings.clone();
    let mut codes: Vec<_> = warnings.iter().map(|w| w.code).collect();
    codes.sort_unstable();
    assert_eq!(
        codes,
        [
            "light-range",
            "material-transmission",
            "scenes-inactive",
            "sockets-beside-skeleton"
        ],
        "{warnings:?}"
    );
    Ok(())
}

/// The tree of a moving camera has no joints, though a clip moves it and no mesh is there.
fn camera_alone() -> Outcome {
    let mut file = scenery();
    file.json["scenes"] = json!([{ "nodes": [0] }]);
    file.json["nodes"] = json!([
        { "name": "Dolly", "children": [1] },
        { "name": "Cam", "camera": 0 },
    ]);
    file.json["skins"] = json!([]);
    let animation = &mut file.json["animations"][0];
    animation["channels"] =
        json!([{ "sampler": 0, "target": { "node": 0, "path": "translation" } }]);
    let asset = gltf::read_bytes(&file.glb(), Path::new("dolly.glb"))?;
    let file = UsdFile::from_asset(&asset, &OpenOptions::default())?;
    assert!(file.origin().ok_or("an origin")?.skeletons.is_empty());
    Ok(())
}

/// A matrix of usd-core, whose vectors are rows.
fn matrix(rows: &Value) -> DMat4 {
    let rows: [[f64; 4]; 4] = serde_json::from_value(rows.clone()).expect("a matrix");
    DMat4::from_cols_array_2d(&rows)
}

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).expect("numbers")
}

#[track_caller]
fn near(found: &[f64], want: &[f64]) {
    let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * (1.0 + b.abs());
    let all = found.len() == want.len() && found.iter().zip(want).all(same);
    assert!(all, "{found:?} for {want:?}");
}

fn judged(python: &str, extension: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("scenery").with_extension(extension);
    UsdFile::from_asset(&read()?, &OpenOptions::default())?.save_as(&out)?;
    let seconds = [0.0, 0.1, 0.25, 0.5];
    let codes = seconds.map(|s| s * RATE);
    let found = ask(python, "scenery.py", &out, &codes)?;
    assert_eq!(found["findings"], json!([]));
    let prim = |path: &str| {
        let prim = &found["prims"][&format!("/scenery{path}")];
        assert!(prim.is_object(), "{path} is not there");
        prim.clone()
    };
    cameras(&prim);
    lights(&prim);
    places(&prim, &seconds);
    data(&found, &prim);
    materials(&prim);

    // The variant of glTF that is called Default is another one.
    let bound = |name: &str| format!("/scenery/Materials/{name}");
    let each = json!({
        "Default": bound("Car_paint_"), "Default_1": bound("Car_paint_"), "Blue_one": bound("Glass")
    });
    assert_eq!(found["variants"], json!(["Default", each]));

    let other = &found["prims"]["/Second_scene"];
    assert_eq!(
        (&other["active"], &other["type"]),
        (&json!(false), &json!("Xform"))
    );
    assert_eq!(other["name"], "Second scene");
    Ok(())
}

/// An empty scene shows nothing, where another scene has the nodes.
fn empty_scene() -> Outcome {
    let mut file = scenery();
    file.json["scenes"] = json!([{ "name": "Empty" }, { "nodes": [0] }]);
    let asset = gltf::read_bytes(&file.glb(), Path::new("scenes.glb"))?;
    let converted = UsdFile::from_asset(&asset, &OpenOptions::default())?;
    let origin = converted.origin().ok_or("an origin")?;
    assert!(origin.skeletons.is_empty());
    let codes: Vec<_> = origin.warnings.iter().map(|w| w.code).collect();
    assert!(codes.contains(&"scenes-inactive"), "{codes:?}");
    Ok(())
}

/// Files changed at random: what is read is converted or refused, and either way without a panic.
fn changed() -> Outcome {
    let mut converted = 0;
    for seed in 0..3000 {
        let mut file = scenery();
        file.change_at_random(&mut Rng::new(seed));
        let Ok(asset) = gltf::read_bytes(&file.glb(), Path::new("random.glb")) else {
            continue;
        };
        let result = catch_unwind(|| UsdFile::from_asset(&asset, &OpenOptions::default()).is_ok());
        let is_converted = result.map_err(|_| format!("seed {seed}: {}", file.json))?;
        converted += usize::from(is_converted);
    }
    // Else the loop would test nothing.
    assert!(converted > 200, "{converted} were converted");
    Ok(())
}

/// Inputs of the surface that the glass becomes with another material in its place.
fn surface(python: &str, material: Value) -> Result<(Value, Vec<&'static str>), Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("scenery.usda");
    let mut file = scenery();
    file.json["materials"][2] = material;
    file.json["materials"][2]["name"] = json!("Glass");
    let asset = gltf::read_bytes(&file.glb(), Path::new("scenery.glb"))?;
    let file = UsdFile::from_asset(&asset, &OpenOptions::default())?;
    file.save_as(&out)?;
    let found = ask(python, "scenery.py", &out, &[0.0])?;
    assert_eq!(found["findings"], json!([]));
    let warnings = file.origin().ok_or("an origin")?.warnings.iter();
    let codes = warnings
        .map(|w| w.code)
        .filter(|c| c.starts_with("material-"));
    let mut prims = found["prims"].clone();
    let path = |name: &str| format!("/scenery/Materials/Glass/{name}");
    let mut inputs = prims[path("Surface")]["inputs"].take();
    inputs["transmission"] = prims[path("Transmission")]["inputs"].take();
    inputs["base"] = prims[path("BaseColor")]["inputs"].take();
    Ok((inputs, codes.collect()))
}

/// Reflections and transmission in every combination that UsdPreviewSurface treats differently.
fn layered(python: &str) -> Outcome {
    let extension = |name: &str, value: Value| json!({ format!("KHR_materials_{name}"): value });
    let texture = json!({ "index": 0 });
    // Grey reflections are an index of refraction, beside metal too: half of 4% are 2%.
    let (found, codes) = surface(
        python,
        json!({ "pbrMetallicRoughness": { "metallicFactor": 1 },
                "extensions": extension("specular", json!({ "specularFactor": 0.5 })) }),
    )?;
    let ior = found["ior"].as_f64().ok_or("an index")?;
    let reflected = ((ior - 1.0) / (ior + 1.0)).powi(2);
    assert!((reflected - 0.02).abs() < 1e-6, "{found}");
    assert_eq!((codes, &found["specularColor"]), (vec![], &Value::Null));
    // Colours of them beside metal have no place.
    let (found, codes) = surface(
        python,
        json!({ "extensions": extension("specular", json!({ "specularColorFactor": [1, 0, 0] })) }),
    )?;
    assert_eq!(
        (codes, &found["specularColor"]),
        (vec!["material-specular"], &Value::Null)
    );
    // Metal lets no light through.
    let half = || extension("transmission", json!({ "transmissionFactor": 0.5 }));
    let (found, codes) = surface(python, json!({ "extensions": half() }))?;
    assert_eq!((codes, &found["opacity"]), (vec![], &Value::Null));
    // Alpha and transmission multiply.
    let base = json!({ "metallicFactor": 0, "baseColorFactor": [1, 1, 1, 0.5] });
    let (found, codes) = surface(
        python,
        json!({ "alphaMode": "BLEND", "pbrMetallicRoughness": base, "extensions": half() }),
    )?;
    assert_eq!(
        (codes, &found["opacity"]),
        (vec!["material-transmission"], &json!(0.25))
    );
    let base = json!({ "metallicFactor": 0, "baseColorTexture": texture });
    let (found, _) = surface(
        python,
        json!({ "alphaMode": "BLEND", "pbrMetallicRoughness": base, "extensions": half() }),
    )?;
    assert_eq!(found["base"]["scale"], json!([1.0, 1.0, 1.0, 0.5]));
    // A mask has no place for it.
    let base = json!({ "metallicFactor": 0 });
    let (found, codes) = surface(
        python,
        json!({ "alphaMode": "MASK", "pbrMetallicRoughness": base, "extensions": half() }),
    )?;
    assert_eq!(
        (codes, &found["opacity"]),
        (vec!["material-transmission"], &json!(1.0))
    );
    // A texture of it is the opacity, upside down.
    let textured = json!({ "transmissionFactor": 0.5, "transmissionTexture": texture });
    let (found, _) = surface(
        python,
        json!({ "pbrMetallicRoughness": { "metallicFactor": 0 },
                "extensions": extension("transmission", textured) }),
    )?;
    assert_eq!(
        found["opacity"],
        "/scenery/Materials/Glass/Transmission.outputs:r"
    );
    let inputs = &found["transmission"];
    assert_eq!(
        (&inputs["scale"], &inputs["bias"]),
        (
            &json!([-0.5, -0.5, -0.5, -0.5]),
            &json!([1.0, 1.0, 1.0, 1.0])
        )
    );
    Ok(())
}

/// A Skeleton that gets another animation takes its sockets along.
fn moved(python: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("scenery.usda");
    let mut file = UsdFile::from_asset(&read()?, &OpenOptions::default())?;
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
    file.set_animation("/scenery/Root/Skeleton", "Other", &animation, &time_line)?;
    file.save_as(&out)?;
    let found = ask(python, "scenery.py", &out, &[1.0, 4.0])?;
    assert_eq!(found["findings"], json!([]));
    let socket = &found["prims"]["/scenery/Root/Sockets/Weapon_Socket"]["world"];
    for (i, radians) in [0.0, 0.9].into_iter().enumerate() {
        let turn = DQuat::from_rotation_x(radians);
        let joint = DMat4::from_rotation_translation(turn, DVec3::Y * 5.0);
        let want = joint * DMat4::from_translation(DVec3::from(SOCKET_OFFSET));
        let got = matrix(&socket[i]);
        assert!(got.abs_diff_eq(want, 1e-6), "{got} for {want}");
    }
    Ok(())
}

fn cameras(prim: &dyn Fn(&str) -> Value) {
    let main = prim("/Root/Sockets/Weapon_Socket/HeadCam/Main_cam");
    let height = (0.4_f64).tan();
    assert_eq!(main["camera"]["projection"], "perspective");
    let window = [-1.5 * height, -height, 1.5 * height, height];
    near(&numbers(&main["camera"]["window"]), &window);
    near(&numbers(&main["camera"]["depth"]), &[0.1, 100.0]);
    let plan = prim("/Plan/Camera");
    assert_eq!(plan["camera"]["projection"], "orthographic");
    near(&numbers(&plan["camera"]["window"]), &[-2.0, -1.0, 2.0, 1.0]);
    near(&numbers(&plan["camera"]["depth"]), &[0.0, 50.0]);
}

fn lights(prim: &dyn Fn(&str) -> Value) {
    let sun = prim("/SunNode/Sun_light");
    assert_eq!(sun["type"], "DistantLight");
    let inputs = &sun["light"]["inputs"];
    assert_eq!(
        (&inputs["intensity"], &inputs["normalize"], &inputs["color"]),
        (&json!(1000.0), &json!(true), &json!([1.0, 0.5, 0.25]))
    );
    // It shines down -Z of its node, which is -Y of the world here.
    let down = matrix(&sun["world"][0]).transform_vector3(DVec3::NEG_Z);
    assert!(down.abs_diff_eq(DVec3::NEG_Y, 1e-6), "{down}");
    let bulb = prim("/Bulb/Light");
    assert_eq!(
        (&bulb["type"], &bulb["light"]["point"]),
        (&json!("SphereLight"), &json!(true))
    );
    let inputs = &bulb["light"]["inputs"];
    assert_eq!(
        (&inputs["intensity"], &inputs["radius"]),
        (&json!(80.0), &json!(0.0))
    );
    assert_eq!(bulb["data"]["gltf"]["range"], 10.0);
    assert_eq!(bulb["light"]["cone"], Value::Null);
    let spot = prim("/Spot/Light");
    near(
        &numbers(&spot["light"]["cone"]),
        &[0.4_f64.to_degrees(), 0.5],
    );
}

/// Where everything stands at some times, and whether it is seen.
fn places(prim: &dyn Fn(&str) -> Value, seconds: &[f64]) {
    let socket = prim("/Root/Sockets/Weapon_Socket");
    let bulb = prim("/Bulb/Light");
    for (i, t) in seconds.iter().enumerate() {
        let turn = DQuat::from_rotation_z(std::f64::consts::PI * t);
        let place = turn * (DVec3::Y * (2.0 + 2.0 * t) + DVec3::from(SOCKET_OFFSET));
        let want = DMat4::from_rotation_translation(turn, place);
        let found = matrix(&socket["world"][i]);
        assert!(found.abs_diff_eq(want, 1e-3), "at {t}: {found} for {want}");
        let place = matrix(&bulb["world"][i]).w_axis.truncate();
        assert!(
            place.abs_diff_eq(DVec3::new(4.0 * t, 4.0, 0.0), 1e-6),
            "{place}"
        );
    }
    let hidden = prim("/Hidden/Tree");
    assert_eq!(
        (&hidden["visible"], &prim("/Plan")["visible"]),
        (&json!(false), &json!(true))
    );
    let forest = prim("/Forest/Instances");
    let turn = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let scale = DVec3::new(1.0, 2.0, 1.0);
    let want = DMat4::from_scale_rotation_translation(scale, turn, DVec3::X * 3.0);
    let found: Vec<DMat4> = [0, 1].map(|i| matrix(&forest["instances"][i])).into();
    assert!(found[0].abs_diff_eq(DMat4::IDENTITY, 1e-6), "{}", found[0]);
    assert!(found[1].abs_diff_eq(want, 1e-6), "{}", found[1]);
    prim("/Forest/Instances/Prototypes/Tree/Tree_1");
}

/// Names and extras.
fn data(found: &Value, prim: &dyn Fn(&str) -> Value) {
    let extras = |path: &str| prim(path)["data"]["gltf"]["extras"].clone();
    let empty = prim("/Empty_one");
    assert_eq!(empty["name"], "Empty one");
    assert_eq!(
        extras("/Empty_one"),
        json!({
            "whole": 1, "large": 9_999_999_999_i64, "part": 0.5, "yes": true, "text": "t",
            "nothing": "null", "list": [1, 2], "mixed": "[1,\"x\"]",
            "in": { "deep": { "er": [0.5] } }
        })
    );
    let socket = prim("/Root/Sockets/Weapon_Socket");
    assert_eq!(socket["data"]["gltf"]["followsJoint"], "A/B");
    assert_eq!(socket["data"]["gltf"]["followsSkeleton"], "Skeleton");
    assert_eq!(
        extras("/Root/Sockets/Weapon_Socket"),
        json!({ "socket": "weapon" })
    );
    assert_eq!(extras("/SunNode/Sun_light"), json!({ "season": "summer" }));
    assert_eq!(extras("/Animations/Move"), json!({ "loop": true }));
    assert_eq!(
        extras("/Materials/Car_paint_"),
        json!({ "shader": "paint" })
    );
    assert_eq!(prim("/Materials/Car_paint_")["name"], "Car paint!");
    let body = prim("/Root/Body")["data"]["gltf"].clone();
    assert_eq!(
        body,
        json!({ "extras": { "lod": 0 }, "nodeExtras": { "body": 1 } })
    );
    let skeleton = prim("/Root/Skeleton")["data"]["gltf"].clone();
    assert_eq!(
        skeleton,
        json!({ "jointExtras": { "A": { "bone": true } }, "skinExtras": { "skin0": { "rig": "v2" } } })
    );
    let root = prim("")["data"]["gltf"].clone();
    assert_eq!(
        root,
        json!({ "scene": "Main", "extras": { "mood": "calm" } })
    );
    assert_eq!(found["comment"], "2026 the authors");
    assert_eq!(
        found["layer"]["gltf"],
        json!({
            "KHR_xmp_json_ld.packets": "[{\"dc:title\":\"Demo\"}]",
            "assetExtras": { "tool": 7 },
            "copyright": "2026 the authors",
            "extras": { "project": "demo" },
            "generator": "sinew's tests"
        })
    );
}

fn materials(prim: &dyn Fn(&str) -> Value) {
    let paint = prim("/Materials/Car_paint_/Surface")["inputs"].clone();
    near(&numbers(&paint["emissiveColor"]), &[4.0, 2.0, 0.0]);
    assert_eq!(paint["ior"], 1.25);
    assert_eq!(
        paint["clearcoat"],
        "/scenery/Materials/Car_paint_/Clearcoat.outputs:r"
    );
    assert_eq!(paint["clearcoatRoughness"], 0.125);
    let texture = prim("/Materials/Car_paint_/Clearcoat")["inputs"].clone();
    near(&numbers(&texture["scale"]), &[0.75; 4]);
    let glass = prim("/Materials/Glass/Surface")["inputs"].clone();
    assert_eq!(
        (&glass["opacity"], &glass["useSpecularWorkflow"]),
        (&json!(0.25), &json!(1))
    );
    // Half of what an index of refraction of 1.5 reflects, times the colour.
    near(&numbers(&glass["specularColor"]), &[0.02, 0.01, 0.04]);
}
