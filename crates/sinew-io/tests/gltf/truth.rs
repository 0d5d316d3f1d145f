//! Blender's own vertices, frame by frame, against files that Blender exported.
//!
//! glTF splits vertices at seams and Blender does not, so each vertex of the glTF file is matched with Blender's vertex
//! of the same rest position, which the .usda or .usdc beside it holds in Blender's order. A few vertices of
//! the vest rest at one place: of those, the one that stays nearest over all frames counts.

use std::collections::BTreeMap;
use std::path::Path;

use glam::{DMat4, DVec3};
use libtest_mimic::Failed;
use sinew_layer::Value;
use sinew_stage::Stage;

use crate::convert::{How, to_gltf};
use crate::eval::Document;
use crate::matching::{exceeds, match_points, matched, within};
use crate::shown::{Shown, by_node, shown};
use common::compare::size;
use common::tolerance::{
    BLENDER_4_INFLUENCES_METRES as FOUR_INFLUENCES, BLENDER_HALF_SCALES_METRES as HALF_SCALES,
    BLENDER_METRES as EXACT, SAME_REST_METRES,
};
use common::usd;

/// Files that Blender exported, the stage of each that lies beside its vertices, and how far off it may be in metres.
pub const FILES: [(&str, &str, f64); 4] = [
    ("rig_identity_8infl.glb", "rig_identity.usda", EXACT),
    ("rig_noscale.glb", "rig_noscale.usda", EXACT),
    ("rig_identity.glb", "rig_identity.usda", FOUR_INFLUENCES),
    ("rig_dense.glb", "rig_dense.usdc", FOUR_INFLUENCES),
];

/// Stages that Blender exported, and how far off their glTF may be: where bones scale, the exporter wrote halves.
pub const STAGES: [(&str, f64); 4] = [
    ("rig_noscale.usda", EXACT),
    ("rig_noscale.usdc", EXACT),
    ("rig_identity.usdz", HALF_SCALES),
    ("rig_dense.usdc", HALF_SCALES),
];

/// The frames a second that the files were exported at; frame 0 is second 0.
const FRAMES_PER_SECOND: f64 = 24.0;

/// What Blender computed: seconds, and the points of each mesh then, with y up.
struct Truth {
    seconds: Vec<f64>,
    meshes: BTreeMap<String, Vec<Vec<DVec3>>>,
}

impl Truth {
    /// Reads what lies beside a stage.
    fn beside(stage: &Path) -> Result<Self, Failed> {
        let npz = stage.with_extension("truth.npz");
        let mut frames = BTreeMap::<String, Vec<(f64, Vec<DVec3>)>>::new();
        for (name, flat) in common::python::arrays(&npz)? {
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

    /// The meshes, all of whose points are looked at.
    fn shown(self) -> Vec<Shown> {
        let meshes = self.meshes.into_iter().map(|(name, points)| Shown {
            name,
            corners: (0..points[0].len()).collect(),
            points,
            ..Shown::default()
        });
        meshes.collect()
    }
}

/// The evaluator of the tests against Blender. `direct` compares sinew's scene of the file with the evaluator.
pub fn same(file: &Path, stage: &Path, allowed: f64) -> Result<(), Failed> {
    let truth = Truth::beside(stage)?;
    let (document, stage) = (Document::open(file), usd::open(stage));
    // Blender exports the bones' action and the shape keys' as two animations; it plays both.
    let clips: Vec<_> = document.clips.iter().collect();
    let evaluated = by_node(shown(&document, &clips, &truth.seconds));
    let truth = truth.shown();
    assert_eq!(evaluated.len(), truth.len(), "meshes");
    for got in evaluated {
        let want = truth.iter().find(|mesh| mesh.name == got.name);
        let want = want.ok_or("the mesh")?;
        // Which vertex is which is seen at rest.
        let at_rest = |shown: &Shown, points: Vec<DVec3>| Shown {
            points: vec![points],
            ..shown.clone()
        };
        let theirs = at_rest(want, rest_points(&stage, &got.name)?);
        let mesh = document.nodes[got.place.0].mesh.ok_or("a mesh")?;
        let own = document.meshes[mesh].primitives.iter();
        let own = at_rest(&got, own.flat_map(|p| p.points.clone()).collect());
        let found = match_points(&theirs, &own, |_| true)?;
        assert!(found.error * size(&theirs.points[0]) < SAME_REST_METRES);
        found.every_point(&theirs)?;
        let off = found.worst_of(|vertex, point| {
            let frames = got.points.iter().zip(&want.points);
            let off = frames.map(|(got, want)| got[vertex].distance(want[point]));
            off.fold(
                0.0,
                |worst, off| if exceeds(off, worst) { off } else { worst },
            )
        });
        within(off, allowed).map_err(|e| format!("{}, in metres: {e}", got.name))?;
    }
    Ok(())
}

/// A stage that Blender exported, as .glb, against Blender.
pub fn as_glb(stage: &Path, metres: f64) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let written = to_gltf(stage, folder.path().join("out.glb"), &How::default())?;
    let document = Document::open(&written.file);
    let truth = Truth::beside(stage)?;
    let clips: Vec<_> = document.clips.iter().take(1).collect();
    let nodes = by_node(shown(&document, &clips, &truth.seconds));
    matched(&truth.shown(), &nodes, |mesh, _, found| {
        within(found.error * size(&mesh.points[found.worst.1]), metres)
    })
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
