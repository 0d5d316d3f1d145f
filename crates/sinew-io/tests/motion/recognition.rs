//! Which bones of real files are recognised.

use std::path::Path;

use common::files::{at_least, files_of, real};
use common::trials::Trial;
use libtest_mimic::Failed;
use sinew_animate::retarget::{Bone, Humanoid};
use sinew_io::{open, rig, skeletons};

pub fn trials() -> Vec<Trial> {
    vec![real("real_rigs_are_recognised", "", |assets| {
        real_rigs_are_recognised(assets)
    })]
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
