//! sinew's own scene of a glTF file, opened as it is, against the evaluator.

use std::path::Path;

use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::reference;
use sinew_io::usd::ReadOptions;

use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::pairing::{Allowed, Shown, pair};
use crate::gltf_eval::play::{Play, code};
use common::compare::compare_matrices;
use common::gltf_eval::Document;
use common::gltf_eval::clip::Clip;
use common::tolerance;

/// Every skinned and blended mesh of every clip: points and normals. Meshes that only move as a whole
/// are the converted file's part.
pub fn skins(file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    for play in Play::all(&document) {
        one(play, file)
            .map_err(|e| format!("{}: {}", play.name(), e.message().unwrap_or_default()))?;
    }
    Ok(())
}

pub fn one(play: Play<'_>, file: &Path) -> Result<(), Failed> {
    let moments = play.moments();
    let want = play.shown(&moments);
    let scene = play.open(file)?.scene(ReadOptions::default())?;
    assert!(scene.errors.is_empty(), "{:?}", scene.errors);
    let got = shown(&scene, &moments)?;
    let (pairs, left, more) = pair(&want, &got);
    if let Some(left) = left.iter().find(|s| s.deforms) {
        return Err(format!("{} is not in the scene", left.name).into());
    }
    if let Some(more) = more.first() {
        return Err(format!("{} is nothing that the file shows", more.name).into());
    }
    let allowed = Allowed {
        points: (tolerance::GLTF_DIRECT, tolerance::GLTF_BETWEEN_KEYS),
        normals: tolerance::GLTF_NORMALS,
        normals_may_lack: true,
        size: play.least_size(&want),
        moments: &moments,
    };
    pairs.into_iter().try_for_each(|p| allowed.compare(p))
}

/// Every bound prim in the world.
pub fn shown(scene: &Scene, moments: &[Moment]) -> Result<Vec<Shown>, Failed> {
    let mut out = Vec::new();
    for bound in scene.bound_skins() {
        let mut shown = Shown {
            name: bound.binding().path.clone(),
            deforms: false,
            points: Vec::new(),
            normals: Vec::new(),
            corners: Vec::new(),
        };
        for moment in moments {
            let time = Time::At(code(moment.seconds, scene.time_line.time_codes_per_second));
            let skin = bound.skin(time)?;
            let deformed = reference::deform(&skin, &bound.pose(time)?).unwrap();
            let world = scene.world_from_prim(bound.binding().prim, time);
            let points = deformed.points.iter().map(|p| world.transform_point3(*p));
            shown.points.push(points.collect());
            let turned = glam::DMat3::from_mat4(world).inverse().transpose();
            let normals = deformed.normals.unwrap_or_default();
            let normals = normals.iter().map(|n| (turned * *n).normalize_or_zero());
            shown.normals.push(normals.collect());
        }
        out.push(shown);
    }
    Ok(out)
}

/// Every joint of every clip stands where its node does, in clip files without meshes too.
pub fn joints(file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    for play in Play::all(&document) {
        let opened = play.open(file)?;
        let scene = opened.scene(ReadOptions::default())?;
        let origin = opened.origin().ok_or("an origin")?;
        let clips: Vec<&Clip> = play.clip().into_iter().collect();
        for moment in play.moments().iter().filter(|m| m.is_key) {
            let time = Time::At(code(moment.seconds, scene.time_line.time_codes_per_second));
            let world = document.world(&clips, moment.seconds);
            for skeleton in &origin.skeletons {
                let mut placed = scene.instances.iter().chain(&scene.unbound_skeletons);
                let placed = placed
                    .find(|s| s.path == skeleton.path)
                    .ok_or("the Skeleton")?;
                let joints = placed.instance.skel_from_joint(time)?;
                let world_from_skel = scene.world_from_prim(placed.prim, time);
                for (node, joint) in &skeleton.joint_of_node {
                    let what = format!("{}: node {node} at {} s", play.name(), moment.seconds);
                    let got = world_from_skel * joints[*joint];
                    compare_matrices(&what, got, world[*node], tolerance::GLTF_DIRECT)?;
                }
            }
        }
        let joints: usize = origin.skeletons.iter().map(|s| s.joints.len()).sum();
        let skinned = document.nodes.iter().any(|n| n.skin.is_some());
        assert!(joints > 0 || !skinned, "no joints");
    }
    Ok(())
}
