//! sinew's own scene of a glTF file, opened as it is, against the evaluator and against .usdz files of the same models.

use std::path::Path;

use glam::{DMat3, DVec3};
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::reference;
use sinew_io::usd::{Origin, UsdFile};

use crate::eval::Document;
use crate::play::{Play, code, codes};
use crate::shown::{Allowed, Shown, pair, shown};
use common::compare::{compare_matrices, compare_within, size};
use common::{tolerance, usd};

/// Every clip: what sinew's scene of the file shows.
pub fn same(file: &Path) -> Result<(), Failed> {
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
    paired
        .all()?
        .into_iter()
        .try_for_each(|p| allowed.compare(p))?;
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

/// A model that exists both as .glb and, converted by Apple's usdzconvert, as .usdz.
///
/// usdzconvert kept the vertices in their order, its stages are in metres with y up as glTF is, and its time codes are
/// frames of 24 a second. Of RiggedFigure it kept the first and the last key only. What else differs is not its
/// mesh's shape: a joint without tracks stands at zero instead of at its rest, and CesiumMan was converted from an
/// edition that faced another way.
pub struct Model {
    pub name: &'static str,
    /// What takes the .glb's world to the .usdz's.
    moved: fn(DVec3) -> DVec3,
}

const CODES_PER_SECOND: f64 = 24.0;

pub static MODELS: [Model; 3] = [
    Model {
        name: "RiggedFigure",
        moved: |p| p,
    },
    Model {
        name: "RiggedSimple",
        // The rest translation of the joint Bone.
        moved: |p| p + DVec3::new(0.0, 4.1803297996521, 0.0),
    },
    Model {
        name: "CesiumMan",
        moved: |p| DVec3::new(-p.z, p.y, p.x),
    },
];

/// The .usdz as sinew skins it is the .glb as the evaluator does, and as sinew does.
pub fn same_as_usdz(assets: &Path, model: &Model) -> Result<(), Failed> {
    let name = model.name;
    let usdz = assets.join(format!("usd-wg-assets/{name}.usdz"));
    let glb = assets.join(format!("gltf/{name}.glb"));
    let codes = usd::times(
        &usd::open(&usdz),
        &format!("/{name}/Animations/skelAnim_0"),
        "rotations",
    );
    assert!(codes.len() > 1, "{codes:?}");
    let seconds: Vec<f64> = codes.iter().map(|c| c / CODES_PER_SECOND).collect();
    let scene = UsdFile::open(&usdz)?.scene(Default::default())?;
    let usdz = skinned(&scene, &codes)?;
    let document = Document::open(&glb);
    let evaluated = shown(&document, &[&document.clips[0]], &seconds);
    let direct = sinew_io::open(&glb)?.scene(Default::default())?;
    for scene in [&scene, &direct] {
        assert_eq!((scene.up_axis, scene.meters_per_unit), ('Y', 1.0));
        assert_eq!(scene.bindings.len(), 1);
    }
    let rate = direct.time_line.time_codes_per_second;
    let codes: Vec<f64> = seconds.iter().map(|s| code(*s, rate)).collect();
    let direct = skinned(&direct, &codes)?;
    for (who, glb) in [("the evaluator", evaluated), ("sinew", direct)] {
        assert_eq!((glb.len(), usdz.len()), (1, 1));
        for (i, (want, got)) in glb[0].points.iter().zip(&usdz[0].points).enumerate() {
            let want: Vec<DVec3> = want.iter().map(|p| (model.moved)(*p)).collect();
            let allowed = tolerance::USDZ_CONVERT * size(&want);
            compare_within(&format!("{who} at {} s", seconds[i]), got, &want, allowed)?;
        }
    }
    Ok(())
}
