//! Which bones of real files are recognised, and what happens with those that are not.

use std::path::{Path, PathBuf};

use common::files::{at_least, files_of};
use common::rigs::{Build, vroid};
use common::trials::Trial;
use libtest_mimic::Failed;
use sinew_animate::retarget::{Bone, BoneMap, Humanoid, MatchChoice};
use sinew_io::{open, rig, skeletons};

use crate::pair::{Job, Pair, pair, warns};
use crate::stages::Stage;

pub fn trials() -> Vec<Trial> {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let (kind, skip) = match assets {
        Some(_) => ("", false),
        None => ("needs SINEW_ASSETS", true),
    };
    let folder = assets.unwrap_or_default();
    let real = Trial::test("real_rigs_are_recognised", move || {
        real_rigs_are_recognised(&folder)
    });
    let mut out = common::trials![
        an_unknown_leg_is_a_partial_result,
        a_guess_is_taken_when_asked_for,
        swapped_sides_are_refused,
    ];
    out.push(real.with_kind(kind).with_ignored_flag(skip));
    out
}

/// Real files with a human body, and how many bones names and hierarchy show, whether or not the
/// file has a map of its own.
const BODIES: &[(&str, usize)] = &[
    ("blender/rig_dense.glb", 22),
    ("blender/rig_identity.usda", 22),
    ("gltf/RiggedFigure.glb", 19),
    ("kaykit_char/res/anim/Med_MovementBasic.glb", 18),
    ("kaykit_char/res/models/mannequin_v2/manny_med_mod.gltf", 18),
    (
        "pixar-openusd/pxr/usdImaging/usdImagingGL/testenv/testUsdImagingGLSkeleton/skeleton.usda",
        54,
    ),
    ("usd-wg-assets/CesiumMan.usdz", 19),
    ("usd-wg-assets/RiggedFigure.usdz", 19),
    ("vrm/Example.vrm", 53),
    ("vrm/modifier_shapekey_vrm1.vrm", 17),
    ("vrm/mtoon_default.vrm", 19),
    ("vrm/skinned_mesh_parent_vrm1.vrm", 17),
    ("vrm/smoke_spring.vrm", 19),
];

/// Every file with skeletons is tried: these bodies have all main bones, the fox stands on four
/// legs, and no other rig is taken for a body.
fn real_rigs_are_recognised(assets: &Path) -> Result<(), Failed> {
    let mut seen = Vec::new();
    for file in files_of(assets, &["usda", "usdc", "usdz", "glb", "gltf", "vrm"]) {
        let name = file.strip_prefix(assets)?.display().to_string();
        // Some files of the collection have to fail.
        let Ok(opened) = open(&file) else { continue };
        let Ok(scene) = opened.scene(Default::default()) else {
            continue;
        };
        for skeleton in skeletons(&scene) {
            let Ok(rig) = rig(&scene, skeleton) else {
                continue;
            };
            let expected = BODIES.iter().find(|(n, _)| *n == name).map(|(_, n)| *n);
            let is_rig_of_blender = name.starts_with("blender/");
            match (Humanoid::recognise(&rig), expected) {
                (Ok(found), expected) => {
                    let lacks = Bone::MAIN.iter();
                    let lacks: Vec<_> = lacks.filter(|b| !found.joints().contains_key(b)).collect();
                    let count = found.joints().len();
                    println!(
                        "{name}: {count} of {} joints, {}",
                        rig.len(),
                        found.origin()
                    );
                    if expected.is_none() && !is_rig_of_blender {
                        return Err(format!("{name} is no body").into());
                    }
                    assert!(lacks.is_empty(), "{name} lacks {lacks:?}");
                    assert_eq!(found.conflicts(&rig), [], "{name}");
                    assert_eq!(found.misplaced(), [], "{name}");
                    assert_eq!(expected.unwrap_or(count), count, "{name}");
                    own_map(&opened, skeleton, &rig, &found, &name);
                    seen.push(name.clone());
                }
                (Err(error), Some(_)) => return Err(format!("{name}: {error}").into()),
                (Err(error), None) => assert_eq!(
                    error.is_on_all_fours,
                    name == "gltf/Fox.glb",
                    "{name}: {error}"
                ),
            }
        }
    }
    let bodies = BODIES.iter().filter(|(n, _)| seen.iter().any(|s| s == n));
    let public = BODIES.iter().filter(|(n, _)| !n.starts_with("blender/"));
    assert_eq!(
        bodies.count(),
        at_least(assets, BODIES.len(), public.count())
    );
    Ok(())
}

/// What names and hierarchy show is what the file's own map says.
fn own_map(
    file: &sinew_io::usd::UsdFile,
    skeleton: &sinew::scene::PlacedSkeleton,
    rig: &sinew_animate::retarget::Rig,
    found: &Humanoid,
    name: &str,
) {
    let Some(own) = sinew_io::humanoid(file, skeleton, rig) else {
        return;
    };
    for (bone, joint) in own.joints() {
        assert_eq!(found.joints().get(bone), Some(joint), "{name}: {bone}");
    }
}

/// A hero whose right leg has names that say nothing.
fn with_odd_leg(pair: &Pair) {
    let odd = |key: &str| match key {
        "RUpperLeg" => "b12".to_owned(),
        "RLowerLeg" => "b13".to_owned(),
        "RFoot" => "b14".to_owned(),
        "RToes" => "b15".to_owned(),
        key => vroid(key),
    };
    pair.write_hero(&odd);
}

fn an_unknown_leg_is_a_partial_result() -> Result<(), Failed> {
    let pair = pair(11);
    with_odd_leg(&pair);
    let (_, moved) = pair.job().run()?;
    assert!(warns(&moved, "retarget-incomplete"));
    let matching = &moved.matching;
    assert_eq!(matching.unsure.len(), 3);
    let first = &matching.unsure[0];
    assert_eq!(first.bone, "rightUpperLeg");
    assert_eq!(first.source.as_deref(), Some("mixamorig:RightUpLeg"));
    assert_eq!(
        (&first.target, first.candidates[0].as_str()),
        (&None, "b12")
    );
    let partner = |map: &BoneMap, joint: &str| {
        let mut pairs = map.pairs.iter();
        let pair = pairs.find(|p| p.source == format!("mixamorig:{joint}"))?;
        Some(pair.target.clone())
    };
    assert_eq!(partner(&matching.map, "RightFoot"), None);
    let map = matching.map_to_edit();
    for (joint, other) in [("RightLeg", "b13"), ("RightFoot", "b14")] {
        assert_eq!(partner(&map, joint).as_deref(), Some(other));
    }
    let [_, still] = matching.unmatched(&moved.source, &moved.target);
    assert_eq!(still, ["b12", "b13", "b14", "b15"]);
    // The map to edit is complete, but for the toes.
    let (_, moved) = pair.job().mapped(map).run()?;
    assert!(partner(&moved.matching.map, "RightFoot").is_some());
    assert!(moved.matching.unsure.is_empty());
    // A target without that leg is no partial result.
    let made = Build {
        name: &vroid,
        has: &|key| !["RUpperLeg", "RLowerLeg", "RFoot", "RToes"].contains(&key),
        ..Build::default()
    }
    .make();
    pair.bench.write("hero.usda", Stage::of(&made).text());
    let (_, moved) = pair.job().run()?;
    assert!(moved.matching.unsure.is_empty());
    assert!(warns(&moved, "retarget-bone-missing"));
    Ok(())
}

fn a_guess_is_taken_when_asked_for() -> Result<(), Failed> {
    let pair = pair(12);
    let letters = |key: &str| key.bytes().map(|b| format!("x{b}")).collect();
    pair.write_hero(&letters);
    let guess = pair.job().unmatched(&["no human body"]).guess;
    let by_map = pair.job().mapped(guess).run()?.1.matching.map;
    let guess = |job: &mut Job| job.request.matches = MatchChoice::Guess;
    let (_, moved) = pair.job().with(guess).run()?;
    assert!(warns(&moved, "retarget-guess"));
    assert_eq!(moved.matching.map.to_json(), by_map.to_json());
    assert!(by_map.pairs.len() >= 15);
    // Rigs that are recognised need no guess.
    let walk = pair.bench.path("walk.usda");
    let (_, moved) = Job::new(&walk, &walk).with(guess).run()?;
    assert!(!warns(&moved, "retarget-guess"));
    Ok(())
}

fn swapped_sides_are_refused() -> Result<(), Failed> {
    let pair = pair(13);
    let swapped = |key: &str| match (key.strip_prefix('L'), key.strip_prefix('R')) {
        (Some(rest), _) => vroid(&format!("R{rest}")),
        (_, Some(rest)) => vroid(&format!("L{rest}")),
        _ => vroid(key),
    };
    pair.write_hero(&swapped);
    pair.job().refused(&[
        "hero.usda",
        "J_Bip_L_UpperArm as leftUpperArm",
        "J_Bip_R_UpperArm as rightUpperArm",
        "on the right of the body",
    ]);
    // A map of the user's own is taken at its word.
    let map = r#"{"mixamorig:Hips": "J_Bip_C_Hips", "mixamorig:LeftArm": "J_Bip_R_UpperArm"}"#;
    let map = BoneMap::from_json(map, "map.json")?;
    pair.job().mapped(map).run()?;
    Ok(())
}
