//! sinew's own scene of a glTF file, opened as it is, against the evaluator.

use std::path::Path;

use glam::DMat3;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::reference;
use sinew_io::usd::Origin;

use crate::eval::Document;
use crate::play::{Play, code, codes};
use crate::shown::{Allowed, Shown, pair};
use crate::subjects::rows;
use common::compare::compare_matrices;
use common::tolerance;

/// Files that are read with a warning, and why.
const WARNED: &str = "
interpolation_test.gltf   gltf-image-unreadable  it comes without its picture
MorphPrimitivesTest.gltf  gltf-image-unreadable  it comes without its picture
loose_weights.gltf        gltf-weights-sum       it is made so
CesiumMan.glb             gltf-weights-sum       it was made from more than four influences
Example.vrm               gltf-node-unshown      its node `secondary` is in no scene
";

/// Every clip: what sinew's scene of the file shows. And what reading it warns of.
pub fn same(file: &Path) -> Result<(), Failed> {
    let asset = sinew_io::gltf::read(file)?;
    let warned = asset.warnings.iter().map(|w| w.code);
    let warned: Vec<&str> = warned.filter(|c| c.starts_with("gltf-")).collect();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let known = rows(WARNED).filter(|row| row[0] == name).map(|row| row[1]);
    assert_eq!(warned, known.collect::<Vec<_>>(), "{:?}", asset.warnings);
    Play::each(&Document::open(file), |play| one(play, file))
}

/// Every skinned and blended mesh: points and normals. Meshes that only move as a whole are the converted file's part. And every
/// joint stands where its node does, in clip files without meshes too.
pub fn one(play: Play<'_>, file: &Path) -> Result<(), Failed> {
    let opened = play.open(file)?;
    let scene = opened.scene(Default::default())?;
    assert!(scene.errors.is_empty(), "{:?}", scene.errors);
    let moments = play.moments();
    let want = play.shown(&moments);
    let codes = codes(&moments, scene.time_line.time_codes_per_second);
    let got = skinned(&scene, &codes)?;
    let mut paired = pair(&want, &got);
    paired.left.retain(|s| s.deforms);
    let points = (tolerance::GLTF_DIRECT, tolerance::GLTF_BETWEEN_KEYS);
    let allowed = Allowed {
        normals_may_lack: true,
        size: play.least_size(&want),
        ..Allowed::new(points, tolerance::GLTF_NORMALS, &moments)
    };
    allowed.compare_all(paired)?;
    match play.whole {
        // Far down a random tree joints are off by more.
        true => Ok(()),
        false => joints(play, opened.origin().ok_or("an origin")?, &scene),
    }
}

/// Every bound prim in the world, at time codes.
pub fn skinned(scene: &Scene, codes: &[f64]) -> Result<Vec<Shown>, Failed> {
    let mut out = Vec::new();
    for bound in scene.bound_skins() {
        let mut shown = Shown {
            name: bound.binding().path.clone(),
            ..Shown::default()
        };
        for time in codes.iter().map(|c| Time::At(*c)) {
            let skin = bound.skin(time)?;
            let deformed = reference::deform(&skin, &bound.pose(time)?).unwrap();
            let world = scene.world_from_prim(bound.binding().prim, time);
            let points = deformed.points.iter().map(|p| world.transform_point3(*p));
            shown.points.push(points.collect());
            let turned = DMat3::from_mat4(world).inverse().transpose();
            let normals = deformed.normals.unwrap_or_default();
            let normals = normals.iter().map(|n| (turned * *n).normalize_or_zero());
            shown.normals.push(normals.collect());
        }
        out.push(shown);
    }
    Ok(out)
}

fn joints(play: Play<'_>, origin: &Origin, scene: &Scene) -> Result<(), Failed> {
    for moment in play.keys() {
        let time = Time::At(code(moment.seconds, scene.time_line.time_codes_per_second));
        let world = play.document.world(&play.clips(), moment.seconds);
        for skeleton in &origin.skeletons {
            let mut placed = scene.instances.iter().chain(&scene.unbound_skeletons);
            let placed = placed.find(|s| s.path == skeleton.path);
            let placed = placed.ok_or("the Skeleton")?;
            let joints = placed.instance.skel_from_joint(time)?;
            let world_from_skel = scene.world_from_prim(placed.prim, time);
            for (node, joint) in &skeleton.joint_of_node {
                let what = format!("node {node} at {} s", moment.seconds);
                let got = world_from_skel * joints[*joint];
                compare_matrices(&what, got, world[*node], tolerance::GLTF_DIRECT)?;
            }
        }
    }
    let joints: usize = origin.skeletons.iter().map(|s| s.joints.len()).sum();
    let is_skinned = play.document.nodes.iter().any(|n| n.skin.is_some());
    assert!(joints > 0 || !is_skinned, "no joints");
    Ok(())
}
