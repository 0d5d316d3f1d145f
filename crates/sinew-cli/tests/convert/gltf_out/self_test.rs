//! The judges themselves notice what is wrong.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::gltf_eval::oracle::MeshPrim;
use crate::gltf_out::judges;
use crate::gltf_out::made;
use crate::gltf_out::matching::{MeshNode, match_points, pair_meshes};
use crate::gltf_out::survival::Survival;
use common::gltf_maker::GltfMaker;

/// A square and a triangle in a plane, at two moments.
fn plate() -> (MeshPrim, MeshNode) {
    let corners = [[0, 0], [2, 0], [2, 2], [0, 2], [3, 1]];
    let rest = corners.map(|[x, y]| DVec3::new(f64::from(x), f64::from(y), 0.0));
    let moved = rest.map(|p| p * 1.5 + DVec3::new(0.0, 0.1 * p.x, p.y));
    let prim = MeshPrim {
        path: "/A/plate".to_owned(),
        points: vec![rest.to_vec(), moved.to_vec()],
        normals: Vec::new(),
        corners: vec![0, 1, 2, 3, 1, 4, 2],
        counts: vec![4, 3],
        left_handed: false,
        sampled: Vec::new(),
    };
    // The triangle has vertices of its own.
    let order = [0, 1, 2, 3, 1, 4, 2];
    let node = MeshNode {
        node: 0,
        name: "plate".to_owned(),
        points: prim
            .points
            .iter()
            .map(|p| order.map(|i| p[i]).to_vec())
            .collect(),
        triangles: vec![[0, 1, 2], [0, 2, 3], [4, 5, 6]],
    };
    (prim, node)
}

/// Ways in which the mesh of a glTF file may be wrong.
const WRONGS: &[(&str, fn(&mut MeshNode))] = &[
    ("a point off at one moment", |m| m.points[1][3].z += 1e-3),
    ("a point that is no number", |m| m.points[1][0].x = f64::NAN),
    ("two points in each other's places at one moment", |m| {
        m.points[1].swap(0, 1);
    }),
    ("a triangle less", |m| m.triangles.truncate(2)),
    ("a triangle twice", |m| m.triangles.push([0, 1, 2])),
    ("a triangle turned over", |m| m.triangles[2].swap(0, 1)),
    ("a triangle across faces", |m| m.triangles[2] = [0, 5, 6]),
    ("a point less", |m| {
        m.points.iter_mut().for_each(|p| p[5] = p[4]);
    }),
];

/// Matching of points with vertices.
pub fn matching() -> Result<(), Failed> {
    let judged = |prim: &MeshPrim, node: &MeshNode| -> Result<(), String> {
        let prims = [prim.clone()];
        let nodes = std::slice::from_ref(node);
        for (prim, node) in pair_meshes(&prims, nodes)?.0 {
            let found = match_points(prim, node)?;
            // Written so that a NaN fails.
            if !(found.error <= 1e-4) {
                return Err(format!("off by {}", found.error));
            }
            found.same_faces(prim, node)?;
        }
        Ok(())
    };
    let (prim, node) = plate();
    judged(&prim, &node)?;
    for (what, change) in WRONGS {
        let (prim, mut node) = plate();
        change(&mut node);
        if judged(&prim, &node).is_ok() {
            return Err(format!("{what} was not noticed").into());
        }
    }
    Ok(())
}

/// A change of a document, and the kind of thing that is then lost.
type Change = (&'static str, &'static str, fn(&mut Value));

const CHANGES: &[Change] = &[
    ("extras.glb", "nodes: name", |j| {
        j["nodes"][4]["name"] = json!("other")
    }),
    ("extras.glb", "joints: name", |j| {
        j["nodes"][2]["name"] = json!("neck")
    }),
    ("extras.glb", "clips: name", |j| {
        j["animations"][0]["name"] = json!("walk")
    }),
    ("extras.glb", "cameras: perspective.yfov", |j| {
        j["cameras"][0]["perspective"]["yfov"] = json!(0.9);
    }),
    ("extras.glb", "lights: intensity", |j| {
        j["extensions"]["KHR_lights_punctual"]["lights"][1]["intensity"] = json!(41);
    }),
    ("extras.glb", "lights: place", |j| {
        j["nodes"][4]["rotation"] = json!([0, 0, 0, 1]);
    }),
    ("extras.glb", "extras of nodes", |j| {
        j["nodes"][0]["extras"]["number"] = json!(8);
    }),
    ("extras.glb", "clips: joints at keys", |j| {
        j["nodes"][1]["translation"] = json!([0, 1.01, 0]);
    }),
    ("materials.glb", "materials: baseColorFactor", |j| {
        j["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"][1] = json!(0.5);
    }),
    ("materials.glb", "materials: baseColorTexture", |j| {
        j["textures"][0]["source"] = json!(1)
    }),
    ("materials.glb", "materials: alphaMode", |j| {
        j["materials"][3]["alphaMode"] = json!("OPAQUE");
    }),
    (
        "materials.glb",
        "materials: baseColorTexture.sampler.wrapT",
        |j| {
            j["samplers"][0]["wrapT"] = json!(10497);
        },
    ),
    ("materials.glb", "meshes: TEXCOORD", |j| {
        let sets = &mut j["meshes"][0]["primitives"][0]["attributes"];
        sets["TEXCOORD_0"] = sets["TEXCOORD_1"].clone();
    }),
    ("scenes.glb", "scenes: name", |j| {
        j["scenes"][0]["name"] = json!("third")
    }),
    ("eight_influences.glb", "meshes: weights", |j| {
        j["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_1"] =
            j["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"].clone();
    }),
    ("body_and_cape.glb", "morph targets: name", |j| {
        j["meshes"][0]["extras"]["targetNames"][1] = json!("frown");
    }),
    ("body_and_cape.glb", "clips: duration in s", |j| {
        let channels = j["animations"][1]["channels"].as_array_mut();
        channels.expect("channels").truncate(2);
    }),
];

/// Everything of a file survives in the file itself, and what is changed does not.
pub fn survival() -> Result<(), Failed> {
    let files = made::written();
    for (name, file) in files {
        let same = Survival::of(file, file)?;
        if let Some((what, tally)) = same.0.iter().find(|(_, t)| t.kept < t.all || t.all == 0) {
            return Err(format!("{name}, {what}: {tally:?}").into());
        }
    }
    let folder = tempfile::tempdir()?;
    for (name, what, change) in CHANGES {
        let file = &files.iter().find(|(n, _)| n == name).ok_or("a file")?.1;
        let changed = rewritten(file, folder.path(), *change)?;
        let survival = Survival::of(file, &changed)?;
        let is_noticed = survival.0.get(*what).is_some_and(|t| t.kept < t.all);
        if !is_noticed {
            let seen = survival.0.get(*what);
            return Err(format!("{name}: a change of '{what}' was not noticed: {seen:?}").into());
        }
    }
    Ok(())
}

/// The file with another document.
fn rewritten(
    file: &Path,
    folder: &Path,
    change: fn(&mut Value),
) -> Result<std::path::PathBuf, Failed> {
    let bytes = std::fs::read(file)?;
    let length = u32::from_le_bytes(bytes[12..16].try_into()?) as usize;
    let mut maker = GltfMaker::new();
    maker.json = serde_json::from_slice(&bytes[20..20 + length])?;
    maker.bin = bytes[20 + length + 8..].to_vec();
    change(&mut maker.json);
    Ok(maker.write(folder, "changed.glb"))
}

/// The validator finds no error in the files that the tests make, and finds those that are made on purpose.
pub fn validator() -> Result<(), Failed> {
    for (name, file) in made::written() {
        let allowed = [
            "ACCESSOR_JOINTS_USED_ZERO_WEIGHT",
            "BUFFER_VIEW_TARGET_MISSING",
            "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE",
        ];
        judges::valid(file, &allowed)
            .map_err(|e| format!("{name}: {}", e.message().unwrap_or_default()))?;
    }
    let folder = tempfile::tempdir()?;
    let file = &made::written()[0].1;
    let broken = rewritten(file, folder.path(), |j| {
        j["meshes"][0]["primitives"][0]["indices"] = json!(999);
    })?;
    match judges::valid(&broken, &[]) {
        Err(_) => Ok(()),
        Ok(()) => Err("a broken file was not noticed".into()),
    }
}
