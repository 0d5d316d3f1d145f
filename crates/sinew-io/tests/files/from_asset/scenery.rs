//! Cameras, lights, sockets, instances, scenes, names, extras and layered materials of glTF, as usd-core
//! computes them from the converted file.

use std::path::Path;

use common::python;
use common::scenery::{SOCKET_OFFSET, scenery};
use common::trials::Trial;
use glam::{DMat4, DQuat, DVec3};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew_animate::asset::Asset;
use sinew_io::gltf;
use sinew_io::usd::{OpenOptions, UsdFile};

use super::ask;

type Outcome = Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("sinew::scenery_is_warned_of_once", warned),
        Trial::test("sinew::a_camera_alone_is_no_skeleton", camera_alone),
    ];
    for extension in ["usda", "usdc"] {
        let name = format!("usd_core::scenery::{extension}");
        trials.push(python::trial(&name, move |python| {
            judged(python, extension)
        }));
    }
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
