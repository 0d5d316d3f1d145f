//! Blender's own vertices, frame by frame, against files that Blender exported.
//!
//! glTF splits vertices at seams and Blender does not, so each vertex of the glTF file is matched with Blender's vertex
//! of the same rest position, which the .usda or .usdc beside it holds in Blender's order. A few vertices of
//! the vest rest at one place: of those, the one that stays nearest over all frames counts.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use glam::{DMat4, DVec3};
use libtest_mimic::Failed;
use sinew_animate::asset::AssetClip;
use sinew_io::usd::UsdFile;
use sinew_io::{OpenOptions, gltf};
use sinew_layer::Value;
use sinew_stage::Stage;

use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::pairing::pair;
use crate::gltf_eval::{direct, play};
use common::compare::compare_within;
use common::gltf_eval::Document;
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

/// World positions of one mesh's primitives, one after the other, by the mesh's name.
pub type Meshes = BTreeMap<String, Vec<DVec3>>;

/// What Blender computed for a file: (seconds, mesh, points) with y up.
pub struct Truth {
    frames: Vec<(f64, String, Vec<DVec3>)>,
    /// For every vertex of a mesh, Blender's vertices that rest where it does.
    matches: BTreeMap<String, Vec<Vec<usize>>>,
}

impl Truth {
    pub fn read(folder: &Path, file: &str, truth: &str, rest: &str) -> Result<Self, Failed> {
        let frames = frames(&folder.join(truth))?;
        let document = Document::open(&folder.join(file));
        let stage = usd::open(&folder.join(rest));
        let mut matches = BTreeMap::new();
        for node in document.nodes.iter() {
            let Some(mesh) = node.mesh else { continue };
            let primitives = document.meshes[mesh].primitives.iter();
            let own: Vec<DVec3> = primitives.flat_map(|p| p.points.clone()).collect();
            let theirs = rest_points(&stage, &node.name)?;
            matches.insert(node.name.clone(), same_places(&own, &theirs)?);
        }
        Ok(Self { frames, matches })
    }

    /// Compares every frame with what `points` gives for its second.
    pub fn compare(
        &self,
        allowed: f64,
        points: impl Fn(f64) -> Result<Meshes, Failed>,
    ) -> Result<(), Failed> {
        let mut all = Vec::new();
        for (seconds, mesh, want) in &self.frames {
            let got = points(*seconds)?.remove(mesh).ok_or("the mesh")?;
            assert_eq!(got.len(), self.matches[mesh].len(), "{mesh}");
            all.push((seconds, mesh, got, want));
        }
        for (mesh, matches) in &self.matches {
            let frames: Vec<_> = all.iter().filter(|f| f.1 == mesh).collect();
            let chosen: Vec<usize> = matches
                .iter()
                .enumerate()
                .map(|(vertex, candidates)| {
                    let off = |c: usize| {
                        frames
                            .iter()
                            .map(|(_, _, got, want)| got[vertex].distance(want[c]))
                            .sum::<f64>()
                    };
                    let best = candidates
                        .iter()
                        .min_by(|a, b| off(**a).total_cmp(&off(**b)));
                    *best.expect("at least one")
                })
                .collect();
            for (seconds, _, got, want) in &frames {
                let want: Vec<DVec3> = chosen.iter().map(|c| want[*c]).collect();
                let what = format!("{mesh} at frame {}", *seconds * FRAMES_PER_SECOND);
                compare_within(&what, got, &want, allowed)?;
            }
        }
        match all.len() {
            0..3 => Err(format!("{} frames compared", all.len()).into()),
            _ => Ok(()),
        }
    }
}

/// The evaluator itself against Blender.
pub fn evaluator(folder: &Path, (file, truth, rest, allowed): File) -> Result<(), Failed> {
    let truth = Truth::read(folder, file, truth, rest)?;
    let document = Document::open(&folder.join(file));
    // Blender exports the bones' action and the shape keys' as two animations; it plays both.
    let clips: Vec<_> = document.clips.iter().collect();
    truth.compare(allowed, |seconds| {
        let mut meshes = Meshes::new();
        for surface in document.surfaces(&clips, seconds) {
            let name = document.nodes[surface.node].name.clone();
            meshes.entry(name).or_default().extend(surface.points);
        }
        Ok(meshes)
    })
}

/// sinew's scene of the file against Blender.
pub fn direct(folder: &Path, (file, truth, rest, allowed): File) -> Result<(), Failed> {
    let truth = Truth::read(folder, file, truth, rest)?;
    let file = folder.join(file);
    let document = Document::open(&file);
    let mut asset = gltf::read(&file)?;
    // Both actions at once, as above: glTF has no word for that, so they become one clip.
    let tracks = asset.clips.drain(..).flat_map(|c| c.tracks).collect();
    asset.clips = vec![AssetClip {
        name: "both".to_owned(),
        tracks,
        ..AssetClip::default()
    }];
    let scene = UsdFile::from_asset(&asset, &OpenOptions::default())?.scene(Default::default())?;
    let mut moments: Vec<Moment> = Vec::new();
    for (seconds, ..) in &truth.frames {
        if moments.iter().all(|m| m.seconds != *seconds) {
            moments.push(Moment {
                seconds: *seconds,
                is_key: true,
            });
        }
    }
    let got = direct::shown(&scene, &moments)?;
    let clips: Vec<_> = document.clips.iter().collect();
    let want = play::shown(&document, &clips, &moments);
    let (pairs, left, more) = pair(&want, &got);
    assert!(left.is_empty() && more.is_empty(), "other meshes");
    truth.compare(allowed, |seconds| {
        let moment = moments.iter().position(|m| m.seconds == seconds);
        let moment = moment.ok_or("a moment")?;
        let mut meshes = Meshes::new();
        for (want, surface) in want.iter().zip(document.surfaces(&[], 0.0)) {
            let paired = pairs.iter().find(|(w, _)| std::ptr::eq(*w, want));
            let (_, got) = paired.ok_or("a pair")?;
            let name = document.nodes[surface.node].name.clone();
            let mesh = meshes.entry(name).or_default();
            mesh.extend(&got.points[moment]);
        }
        Ok(meshes)
    })
}

/// Blender's axes have z up, glTF's y.
fn y_up(v: DVec3) -> DVec3 {
    DVec3::new(v.x, v.z, -v.y)
}

/// Seconds, mesh and points of each frame that a file of Blender's vertices holds.
pub fn frames(npz: &Path) -> Result<Vec<(f64, String, Vec<DVec3>)>, Failed> {
    let mut out = Vec::new();
    for (name, flat) in common::python::arrays(npz)? {
        let Some((mesh, frame)) = name.split_once('@') else {
            continue;
        };
        let points = flat.chunks_exact(3).map(|v| y_up(DVec3::from_slice(v)));
        let seconds = frame.parse::<f64>()? / FRAMES_PER_SECOND;
        out.push((seconds, mesh.to_owned(), points.collect()));
    }
    Ok(out)
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
        .map(|p| y_up(world_from_mesh.transform_point3(p)));
    Ok(world.collect())
}

/// For each of `points`, which `places` are there.
fn same_places(points: &[DVec3], places: &[DVec3]) -> Result<Vec<Vec<usize>>, Failed> {
    let near = tolerance::SAME_REST_METRES;
    // A grid of cells that are large beside what counts as near.
    let cell = |p: DVec3| (p / (100.0 * near)).floor().as_i64vec3();
    let mut grid: HashMap<_, Vec<usize>> = HashMap::new();
    for (i, place) in places.iter().enumerate() {
        grid.entry(cell(*place)).or_default().push(i);
    }
    let mut used = vec![false; places.len()];
    let mut out = Vec::with_capacity(points.len());
    for point in points {
        let mut found: Vec<usize> = Vec::new();
        let mut seen = Vec::new();
        for corner in 0..8 {
            let sign = |bit: i32| if corner >> bit & 1 == 0 { -near } else { near };
            let cell = cell(*point + DVec3::new(sign(0), sign(1), sign(2)));
            if !seen.contains(&cell) {
                seen.push(cell);
                let here = grid.get(&cell).into_iter().flatten();
                found.extend(here.filter(|i| places[**i].distance(*point) < near));
            }
        }
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
