//! Models that exist both as .glb and, converted by Apple's usdzconvert, as .usdz.
//!
//! usdzconvert kept the vertices in their order, its stages are in metres with y up as glTF is, and its time codes are
//! frames of 24 a second. Of RiggedFigure it kept the first and the last key only. What else differs is not its
//! mesh's shape: a joint without tracks stands at zero instead of at its rest, and CesiumMan was converted from an
//! edition that faced another way.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::reference;
use sinew_io::usd::{ReadOptions, UsdFile};

use crate::gltf_eval::play::code;
use common::compare::{compare_within, size};
use common::gltf_eval::Document;
use common::{tolerance, usd};

pub struct Model {
    pub name: &'static str,
    /// Time codes of keys to the seconds of the .glb.
    seconds: fn(f64) -> f64,
    /// What takes the .glb's world to the .usdz's.
    moved: fn(DVec3) -> DVec3,
}

const CODES_PER_SECOND: f64 = 24.0;

pub static MODELS: [Model; 3] = [
    Model {
        name: "RiggedFigure",
        seconds: |code| code / CODES_PER_SECOND,
        moved: |p| p,
    },
    Model {
        name: "RiggedSimple",
        seconds: |code| code / CODES_PER_SECOND,
        // The rest translation of the joint Bone.
        moved: |p| p + DVec3::new(0.0, 4.1803297996521, 0.0),
    },
    Model {
        name: "CesiumMan",
        seconds: |code| code / CODES_PER_SECOND,
        moved: |p| DVec3::new(-p.z, p.y, p.x),
    },
];

/// The .usdz as sinew skins it is the .glb as the evaluator does.
pub fn same_as_evaluator(assets: &Path, model: &Model) -> Result<(), Failed> {
    let name = model.name;
    let usdz = assets.join(format!("usd-wg-assets/{name}.usdz"));
    let document = Document::open(&assets.join(format!("gltf/{name}.glb")));
    let scene = UsdFile::open(&usdz)?.scene(ReadOptions::default())?;
    assert_eq!((scene.up_axis, scene.meters_per_unit), ('Y', 1.0));
    let codes = sampled(&usdz);
    assert!(codes.len() > 1, "{codes:?}");
    for code in codes {
        let seconds = (model.seconds)(code);
        let mut want = document.surfaces(&[&document.clips[0]], seconds);
        want[0]
            .points
            .iter_mut()
            .for_each(|p| *p = (model.moved)(*p));
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

/// The .glb as sinew skins it is the .usdz as sinew skins it.
pub fn same_as_direct(assets: &Path, model: &Model) -> Result<(), Failed> {
    let name = model.name;
    let usdz = assets.join(format!("usd-wg-assets/{name}.usdz"));
    let scene = UsdFile::open(&usdz)?.scene(ReadOptions::default())?;
    let glb =
        sinew_io::open(assets.join(format!("gltf/{name}.glb")))?.scene(ReadOptions::default())?;
    let told = |s: &Scene| (s.up_axis, s.meters_per_unit, s.bindings.len());
    assert_eq!(told(&glb), told(&scene));
    for usdz_code in sampled(&usdz) {
        let seconds = (model.seconds)(usdz_code);
        let glb_code = code(seconds, glb.time_line.time_codes_per_second);
        let (want, got) = (
            points(&scene, Time::At(usdz_code))?,
            points(&glb, Time::At(glb_code))?,
        );
        let got: Vec<DVec3> = got[0].1.iter().map(|p| (model.moved)(*p)).collect();
        let allowed = tolerance::USDZ_CONVERT * size(&want[0].1);
        compare_within(&format!("at {seconds} s"), &got, &want[0].1, allowed)?;
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
        let deformed = reference::deform(&*bound.skin(time)?, &bound.pose(time)?).unwrap();
        let world = scene.world_from_prim(bound.binding().prim, time);
        let points = deformed.points.iter().map(|p| world.transform_point3(*p));
        out.push((bound.binding().path.clone(), points.collect()));
    }
    Ok(out)
}
