//! Blender's own vertices, frame by frame, against files that Blender exported.
//!
//! glTF splits vertices at seams and Blender does not, so each vertex of the glTF file is matched with Blender's vertex
//! of the same rest position, which the .usda or .usdc beside it holds in Blender's order. A few vertices of
//! the vest rest at one place: of those, the one that stays nearest over all frames counts.

use std::collections::BTreeMap;
use std::path::Path;

use glam::{DMat4, DVec3};
use libtest_mimic::Failed;
use sinew_animate::asset::AssetClip;
use sinew_io::OpenOptions;
use sinew_io::usd::UsdFile;
use sinew_layer::Value;
use sinew_stage::Stage;

use crate::direct::skinned;
use crate::eval::Document;
use crate::matching::Grid;
use crate::play::code;
use crate::shown::{Shown, by_node, pair, shown};
use common::compare::compare_within;
use common::{tolerance, usd};

/// A file, its truth, a stage with Blender's rest points, and how far off the file may be.
pub type File = (&'static str, &'static str, &'static str, f64);

pub const FILES: [File; 4] = [
    (
        "rig_identity_8infl.glb",
        "rig_identity.truth.npz",
        "rig_identity.usda",
        tolerance::BLENDER_METRES,
    ),
    (
        "rig_noscale.glb",
        "rig_noscale.truth.npz",
        "rig_noscale.usda",
        tolerance::BLENDER_METRES,
    ),
    (
        "rig_identity.glb",
        "rig_identity.truth.npz",
        "rig_identity.usda",
        tolerance::BLENDER_4_INFLUENCES_METRES,
    ),
    (
        "rig_dense.glb",
        "rig_dense.truth.npz",
        "rig_dense.usdc",
        tolerance::BLENDER_4_INFLUENCES_METRES,
    ),
];

/// The frames a second that the files were exported at; frame 0 is second 0.
const FRAMES_PER_SECOND: f64 = 24.0;

/// What Blender computed: seconds, and the points of each mesh then, with y up.
pub struct Truth {
    pub seconds: Vec<f64>,
    pub meshes: BTreeMap<String, Vec<Vec<DVec3>>>,
}

impl Truth {
    pub fn read(npz: &Path) -> Result<Self, Failed> {
        let mut frames = BTreeMap::<String, Vec<(f64, Vec<DVec3>)>>::new();
        for (name, flat) in common::python::arrays(npz)? {
            let Some((mesh, frame)) = name.split_once('@') else {
                continue;
            };
            let points = flat.chunks_exact(3).map(|v| y_up(DVec3::from_slice(v)));
            let seconds = frame.parse::<f64>()? / FRAMES_PER_SECOND;
            let frames = frames.entry(mesh.to_owned()).or_default();
            frames.push((seconds, points.collect()));
        }
        let mut seconds = Vec::new();
        let mut meshes = BTreeMap::new();
        for (mesh, mut frames) in frames {
            frames.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (here, points): (Vec<f64>, Vec<_>) = frames.into_iter().unzip();
            assert!(
                seconds.is_empty() || seconds == here,
                "{mesh}: other frames"
            );
            assert!(here.len() > 2, "{mesh}: {} frames", here.len());
            seconds = here;
            meshes.insert(mesh, points);
        }
        Ok(Self { seconds, meshes })
    }

    /// Compares the meshes, which have the names of Blender's, with them at each frame.
    fn compare(&self, got: &[Shown], rest: &Rest, allowed: f64) -> Result<(), Failed> {
        assert_eq!(got.len(), self.meshes.len(), "meshes");
        for got in got {
            let want = self.meshes.get(&got.name).ok_or("the mesh")?;
            let frames = || got.points.iter().zip(want);
            let nearest = |(vertex, candidates): (usize, &Vec<usize>)| {
                let off = |c: usize| -> f64 {
                    frames()
                        .map(|(got, want)| got[vertex].distance(want[c]))
                        .sum()
                };
                let best = candidates.iter();
                *best
                    .min_by(|a, b| off(**a).total_cmp(&off(**b)))
                    .expect("at least one")
            };
            let chosen: Vec<usize> = rest[&got.name].iter().enumerate().map(nearest).collect();
            for ((got_points, want), seconds) in frames().zip(&self.seconds) {
                let want: Vec<DVec3> = chosen.iter().map(|c| want[*c]).collect();
                let what = format!("{} at frame {}", got.name, seconds * FRAMES_PER_SECOND);
                compare_within(&what, got_points, &want, allowed)?;
            }
        }
        Ok(())
    }
}

/// The evaluator and sinew's scene of the file against Blender.
pub fn same(folder: &Path, (file, truth, rest, allowed): File) -> Result<(), Failed> {
    let file = folder.join(file);
    let truth = Truth::read(&folder.join(truth))?;
    let document = Document::open(&file);
    let rest = rest_of(&document, &usd::open(&folder.join(rest)))?;
    // Blender exports the bones' action and the shape keys' as two animations; it plays both.
    let clips: Vec<_> = document.clips.iter().collect();
    let evaluated = shown(&document, &clips, &truth.seconds);
    truth
        .compare(&by_node(evaluated.clone()), &rest, allowed)
        .map_err(|e| format!("the evaluator: {}", e.message().unwrap_or_default()))?;

    let mut asset = sinew_io::gltf::read(&file)?;
    // Both actions at once, as above: glTF has no word for that, so they become one clip.
    let tracks = asset.clips.drain(..).flat_map(|c| c.tracks).collect();
    asset.clips = vec![AssetClip {
        name: "both".to_owned(),
        tracks,
        ..AssetClip::default()
    }];
    let scene = UsdFile::from_asset(&asset, &OpenOptions::default())?.scene(Default::default())?;
    let rate = scene.time_line.time_codes_per_second;
    let codes: Vec<f64> = truth.seconds.iter().map(|s| code(*s, rate)).collect();
    let direct = skinned(&scene, &codes)?;
    // The evaluator's meshes, with the points of sinew's.
    let mut pairs = pair(&evaluated, &direct).all()?;
    pairs.sort_by_key(|(want, _)| want.place);
    let named = pairs.into_iter().map(|(want, got)| Shown {
        points: got.points.clone(),
        ..want.clone()
    });
    truth.compare(&by_node(named.collect()), &rest, allowed)
}

/// For every vertex of each mesh, by the mesh's name, Blender's vertices that rest where it does.
type Rest = BTreeMap<String, Vec<Vec<usize>>>;

fn rest_of(document: &Document, stage: &Stage) -> Result<Rest, Failed> {
    let mut out = Rest::new();
    for node in &document.nodes {
        let Some(mesh) = node.mesh else { continue };
        let primitives = document.meshes[mesh].primitives.iter();
        let own: Vec<DVec3> = primitives.flat_map(|p| p.points.clone()).collect();
        let theirs = rest_points(stage, &node.name)?;
        out.insert(node.name.clone(), same_places(&own, &theirs)?);
    }
    Ok(out)
}

/// Blender's axes have z up, glTF's y.
fn y_up(v: DVec3) -> DVec3 {
    DVec3::new(v.x, v.z, -v.y)
}

/// Rest points in Blender's order, in the world: the glTF exporter applies the armature's transform to them.
fn rest_points(stage: &Stage, mesh: &str) -> Result<Vec<DVec3>, Failed> {
    let prim = format!("/root/World_Xform/Rig/{mesh}/{mesh}");
    let points = usd::vectors(stage, &prim, "points", None).ok_or("points")?;
    let bind = usd::value(stage, &prim, "primvars:skel:geomBindTransform", None);
    let Some(Value::Matrix4d(bind)) = bind else {
        return Err("a geomBindTransform".into());
    };
    let world_from_skel = usd::world_from_prim(stage, "/root/World_Xform/Rig/Rig", 1.0);
    let world_from_mesh = world_from_skel * DMat4::from_cols_array(&bind);
    let world = points
        .into_iter()
        .map(|p| world_from_mesh.transform_point3(p));
    Ok(world.map(y_up).collect())
}

/// For each of `points`, which `places` are there; every place is that of a point.
fn same_places(points: &[DVec3], places: &[DVec3]) -> Result<Vec<Vec<usize>>, Failed> {
    let grid = Grid::new(places, 0..places.len(), tolerance::SAME_REST_METRES);
    let mut used = vec![false; places.len()];
    let mut out = Vec::with_capacity(points.len());
    for point in points {
        let found = grid.near(*point);
        if found.is_empty() {
            return Err(format!("no vertex of Blender's rests at {point}").into());
        }
        found.iter().for_each(|i| used[*i] = true);
        out.push(found);
    }
    match used.iter().filter(|u| !**u).count() {
        0 => Ok(out),
        n => Err(format!("{n} vertices of Blender's are not in the file").into()),
    }
}
