//! Models that exist both as .glb and, converted by Apple's usdzconvert, as .usdz.
//!
//! usdzconvert kept the vertices in their order, its stages are in metres with y up as glTF is, and its time codes are
//! frames of 24 a second from second 0. It kept RiggedFigure's first and last key only, and of half precision
//! scales there is no trace, since these models scale nothing.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Failed;
use sinew::io::usd::{ReadOptions, UsdFile};
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::reference;

use crate::common::compare::{compare_within, size};
use crate::common::gltf_eval::Document;
use crate::common::{tolerance, usd};

pub const MODELS: [&str; 3] = ["CesiumMan", "RiggedFigure", "RiggedSimple"];

const CODES_PER_SECOND: f64 = 24.0;

/// The .usdz as sinew skins it is the .glb as the evaluator does.
pub fn same_as_evaluator(assets: &Path, model: &str) -> Result<(), Failed> {
    let usdz = assets.join(format!("usd-wg-assets/{model}.usdz"));
    let document = Document::open(&assets.join(format!("gltf/{model}.glb")));
    let scene = UsdFile::open(&usdz)?.scene(ReadOptions::default())?;
    assert_eq!((scene.up_axis, scene.meters_per_unit), ('Y', 1.0));
    let codes = sampled(&usdz);
    assert!(codes.len() > 1, "{codes:?}");
    for code in codes {
        let seconds = code / CODES_PER_SECOND;
        let want = document.surfaces(&[&document.clips[0]], seconds);
        let got = points(&scene, Time::At(code))?;
        assert_eq!((got.len(), want.len()), (1, 1));
        let allowed = tolerance::USDZ_CONVERT * size(&want[0].points);
        compare_within(
            &format!("at {seconds} s"),
            &got[0].1,
            &want[0].points,
            allowed,
        )?;
    }
    Ok(())
}

/// Time codes at which the animation has rotations.
fn sampled(usdz: &Path) -> Vec<f64> {
    let stage = usd::open(usdz);
    let root = usdz.file_stem().and_then(|s| s.to_str()).expect("a name");
    usd::times(
        &stage,
        &format!("/{root}/Animations/skelAnim_0"),
        "rotations",
    )
}

/// World positions of every prim that sinew skins.
pub fn points(scene: &Scene, time: Time) -> Result<Vec<(String, Vec<DVec3>)>, Failed> {
    let mut out = Vec::new();
    for bound in scene.bound_skins() {
        let deformed = reference::deform(&*bound.skin(time)?, &bound.pose(time)?);
        let world = scene.world_from_prim(bound.binding().prim, time);
        let points = deformed.points.iter().map(|p| world.transform_point3(*p));
        out.push((bound.binding().path.clone(), points.collect()));
    }
    Ok(out)
}
