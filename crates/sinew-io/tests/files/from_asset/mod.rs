//! Assets made by hand as UsdSkel: sinew's own reading, and usd-core's bake, stand where glTF's rules put every point.

mod assets;
mod evaluate;
mod limits;
mod scenery;
mod written;

use std::path::Path;
use std::process::Command;

use common::compare::{compare_within, size};
use common::trials::Trial;
use common::{python, tolerance};
use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;
use sinew::sampled::Time;
use sinew::scene::OutSpace;
use sinew::skel::reference;
use sinew_animate::asset::{Asset, AssetClip};
use sinew_io::usd::{ClipChoice, OpenOptions, UsdFile};

/// What is converted and where its meshes end up.
struct Case {
    name: &'static str,
    make: fn() -> Asset,
    clip: &'static str,
    /// Prim, node and primitive.
    meshes: &'static [(&'static str, usize, usize)],
}

const HERO: &[(&str, usize, usize)] = &[
    ("/hero_1/Armature/Body", assets::BODY, 0),
    ("/hero_1/Armature/Body_1", assets::BODY, 1),
    ("/hero_1/Armature/Hair", assets::HAIR, 0),
    ("/hero_1/Armature/sword", assets::SWORD, 0),
    ("/hero_1/Armature/shield", assets::SHIELD, 0),
];

const CASES: [Case; 7] = [
    Case {
        name: "straight_and_stepped",
        make: assets::character,
        clip: "walk",
        meshes: HERO,
    },
    Case {
        name: "scales_and_splines",
        make: assets::character,
        clip: "grow",
        meshes: HERO,
    },
    Case {
        name: "bind_matrices_at_odds",
        make: assets::at_odds,
        clip: "turn",
        meshes: &[("/odds/root/First", 3, 0), ("/odds/root/Second", 4, 0)],
    },
    Case {
        name: "without_a_skin",
        make: assets::free,
        clip: "play",
        meshes: &[
            ("/free/舞台/Box/Box", 1, 0),
            ("/free/舞台/Box/Sheared/Box", 2, 0),
            ("/free/舞台/Face/Face", 3, 0),
            ("/free/舞台/Face_1/Face", 4, 0),
        ],
    },
    Case {
        name: "a_mesh_in_centimetres",
        make: assets::centimetres,
        clip: "swing",
        meshes: &[("/centimetres/Skin", 2, 0)],
    },
    Case {
        name: "a_humanoid_without_a_skin",
        make: assets::puppet,
        clip: "nod",
        meshes: &[
            ("/puppet/root/hat", 3, 0),
            ("/puppet/root/stand/stand", 4, 0),
        ],
    },
    Case {
        name: "expressions",
        make: assets::expressive,
        clip: "emote",
        meshes: HERO,
    },
];

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for case in CASES {
        let (name, case) = (case.name, std::sync::Arc::new(case));
        let of_sinew = case.clone();
        trials.push(Trial::test(format!("sinew::{name}"), move || {
            own_reading(&of_sinew)
        }));
        for extension in ["usda", "usdc"] {
            let case = case.clone();
            let name = format!("usd_core::{name}::{extension}");
            trials.push(python::trial(&name, move |python| {
                pixars(&case, extension, python)
            }));
        }
    }
    trials.extend(written::trials());
    trials.extend(limits::trials());
    trials.extend(scenery::trials());
    trials
}

pub fn converted(asset: &Asset, clip: &str) -> Result<UsdFile, Failed> {
    let options = OpenOptions {
        clips: ClipChoice::Named(clip.into()),
        ..OpenOptions::default()
    };
    Ok(UsdFile::from_asset(asset, &options)?)
}

/// What usd-core says of a file, and the meshes' points at the time codes.
pub fn ask_pixar(python: &str, file: &Path, times: &[f64]) -> Result<Value, Failed> {
    ask(python, "pixar.py", file, times)
}

/// What a script of this folder says of a file at the time codes.
fn ask(python: &str, script: &str, file: &Path, times: &[f64]) -> Result<Value, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/from_asset");
    let script = folder.join(script);
    let output = Command::new(python)
        .arg(script)
        .arg(file)
        .args(times.iter().map(|t| format!("{t:?}")))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Times to look at, in seconds, and how far points may be off there. Where `baked`, times between keys are whole time
/// codes, which Pixar's bake samples.
fn looked_at(clip: &AssetClip, rate: f64, baked: bool) -> Vec<(f64, f64)> {
    let (keys, between) = evaluate::times(clip);
    let scaled = baked && evaluate::has(clip, evaluate::is_scale);
    let splined = evaluate::has(clip, evaluate::is_spline);
    let at_keys = match scaled {
        true => tolerance::GLTF_AT_KEYS_SCALED,
        false => tolerance::CONVERTED,
    };
    let at_middles = match splined {
        true => tolerance::CONVERTED_SPLINES.max(at_keys),
        false => at_keys,
    };
    let whole = |t: f64| match baked {
        true => (t * rate).round() / rate,
        false => t,
    };
    let between = between.into_iter().map(|t| (whole(t), at_middles));
    keys.into_iter()
        .map(|t| (t, at_keys))
        .chain(between)
        .collect()
}

fn judge(
    case: &Case,
    asset: &Asset,
    clip: &AssetClip,
    (index, seconds, tolerance): (usize, f64, f64),
    got: &[DVec3],
) -> Result<(), Failed> {
    let (path, node, primitive) = case.meshes[index];
    let want = evaluate::points(asset, Some(clip), (node, primitive), seconds);
    let far = want.iter().map(|p| p.length()).fold(0.0, f64::max);
    // What is carried far out is rounded there.
    let within = tolerance * size(&want) + tolerance::IN_F32 * far;
    compare_within(&format!("{path} at {seconds} s"), got, &want, within)?;
    Ok(())
}

fn own_reading(case: &Case) -> Result<(), Failed> {
    let asset = (case.make)();
    let clip = asset.clip(case.clip).ok_or("no clip")?;
    let scene = converted(&asset, case.clip)?.scene(Default::default())?;
    assert!(scene.errors.is_empty(), "{:?}", scene.errors);
    let rate = scene.time_line.time_codes_per_second;
    for (index, (path, ..)) in case.meshes.iter().enumerate() {
        // What nothing deforms is no business of a scene's.
        let Ok(bound) = scene.resolve(path) else {
            assert!(case.name.contains("without_a_skin"), "{path}");
            continue;
        };
        for (seconds, tolerance) in looked_at(clip, rate, false) {
            let time = Time::At(seconds * rate);
            let pose = scene.at(time, OutSpace::World).pose(bound)?;
            let skin = bound.skin(time)?;
            let mut points = reference::deform(&skin, &pose).unwrap().points;
            if skin.influences().is_none() {
                let world = scene.world_from_prim(bound.binding().prim, time);
                points = points.iter().map(|p| world.transform_point3(*p)).collect();
            }
            judge(case, &asset, clip, (index, seconds, tolerance), &points)?;
        }
    }
    Ok(())
}

fn pixars(case: &Case, extension: &str, python: &str) -> Result<(), Failed> {
    let asset = (case.make)();
    let clip = asset.clip(case.clip).ok_or("no clip")?;
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out").with_extension(extension);
    let file = converted(&asset, case.clip)?;
    file.save_as(&out)?;
    let rate = file
        .scene(Default::default())?
        .time_line
        .time_codes_per_second;
    let looked_at = looked_at(clip, rate, true);
    let times: Vec<f64> = looked_at.iter().map(|(t, _)| t * rate).collect();
    let found = ask_pixar(python, &out, &times)?;
    assert_eq!(found["findings"], serde_json::json!([]));
    assert_eq!(found["baked"], true);
    for (at, (seconds, tolerance)) in looked_at.iter().enumerate() {
        for (index, (path, ..)) in case.meshes.iter().enumerate() {
            let got = &found["points"][at][path];
            let got: Vec<[f64; 3]> = serde_json::from_value(got.clone())
                .map_err(|e| format!("{path}: {e}; there are {:?}", found["points"][at]))?;
            let got: Vec<DVec3> = got.into_iter().map(DVec3::from).collect();
            judge(case, &asset, clip, (index, *seconds, *tolerance), &got)?;
        }
    }
    Ok(())
}
