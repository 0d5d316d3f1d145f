//! The judges agree with each other on files that sinew did not write.

use std::path::Path;

use libtest_mimic::Failed;

use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::oracle::MeshPrim;
use crate::gltf_eval::pairing::Shown;
use crate::gltf_eval::play::Play;
use crate::gltf_out::judges;
use crate::gltf_out::matching::{MeshNode, match_points, pair_meshes};
use crate::gltf_out::survival::as_prim;
use common::compare::{compare_within, size};
use common::gltf_eval::Document;
use common::tolerance;

/// Files that three.js shows in another way, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("pointers.gltf", "it does not know KHR_animation_pointer"),
    (
        "SimpleSkin.gltf",
        "its rotations are not of unit length, and three.js leaves them so",
    ),
    (
        "sheared_rest.glb",
        "it takes matrices of nodes apart, and loses their shear",
    ),
    ("two_bind_poses.glb", "its skinned meshes all need a skin"),
    (
        "shared_faces.glb",
        "its tracks find nodes by names, which copies of a mesh share",
    ),
    (
        "node_weights.glb",
        "its tracks find nodes by names, which copies of a mesh share",
    ),
];

/// three.js and the evaluator of the tests show the same points of every clip.
pub fn three_and_evaluator(file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    if OTHERWISE.iter().any(|(name, _)| file.ends_with(name)) {
        return Ok(());
    }
    if influence_sets(&document) > 1 {
        // three.js reads one set.
        return Ok(());
    }
    for play in Play::all(&document) {
        let moments = play.moments();
        let want = play.shown(&moments);
        let got = judges::three(file, &document, play.clip, &moments)?;
        same(&want, &got, &moments).map_err(|e| format!("{}: {e}", play.name()))?;
    }
    Ok(())
}

/// Blender and the evaluator of the tests show the same points of every named clip at its keys; or as far off as `allowed`, relative to
/// each mesh's size.
pub fn blender_and_evaluator(python: &str, file: &Path, allowed: f64) -> Result<(), Failed> {
    let document = Document::open(file);
    for play in Play::all(&document) {
        let name = play.clip().map(|c| c.name.as_str());
        if name == Some("") {
            continue;
        }
        let mut moments = play.moments();
        moments.retain(|m| m.is_key);
        let step = moments.len().div_ceil(12);
        let seconds: Vec<f64> = moments.iter().step_by(step).map(|m| m.seconds).collect();
        let clips: Vec<_> = play.clip().into_iter().collect();
        let surfaces: Vec<_> = seconds
            .iter()
            .map(|s| document.surfaces(&clips, *s))
            .collect();
        let want = MeshNode::all(&document, &surfaces);
        let prims: Vec<MeshPrim> = want.iter().map(as_prim).collect();
        let got = judges::blender(python, file, name, &seconds)?;
        for (prim, node) in pair_meshes(&prims, &got)?.0 {
            let found = match_points(prim, node)?;
            // Written so that a NaN fails.
            if !(found.error <= allowed) {
                let at = seconds[found.worst.1];
                return Err(format!(
                    "{}: '{}' is off by {:.1e} of its size at {at} s",
                    play.name(),
                    node.name,
                    found.error
                )
                .into());
            }
        }
    }
    Ok(())
}

/// The most sets of four influences that a primitive has.
pub fn influence_sets(document: &Document) -> usize {
    let primitives = document.meshes.iter().flat_map(|m| &m.primitives);
    let influences = primitives.flat_map(|p| &p.influences).map(Vec::len);
    influences.max().unwrap_or(0).div_ceil(4)
}

/// Every primitive of the nodes that are shown, in the order of the nodes.
pub fn same(want: &[Shown], got: &[Shown], moments: &[Moment]) -> Result<(), String> {
    let mut want: Vec<&Shown> = want.iter().collect();
    want.sort_by_key(|s| number(&s.name));
    let names = |all: &[&Shown]| -> Vec<String> { all.iter().map(|s| s.name.clone()).collect() };
    let got: Vec<&Shown> = got.iter().collect();
    if names(&want) != names(&got) {
        return Err(format!("{:?}, expected {:?}", names(&got), names(&want)));
    }
    for (want, got) in want.iter().zip(got) {
        for (i, (want_points, got_points)) in want.points.iter().zip(&got.points).enumerate() {
            let what = format!("{} at {} s", want.name, moments[i].seconds);
            let size = size(want_points).max(size(&want.points[0]));
            let share = match moments[i].is_key {
                true => tolerance::THREE_JS,
                false => tolerance::THREE_JS_BETWEEN_KEYS,
            };
            compare_within(&what, got_points, want_points, share * size)?;
        }
    }
    Ok(())
}

/// Node and primitive of a name that [`Play::shown`] gives.
fn number(name: &str) -> (usize, usize) {
    let mut numbers = name.split(' ').filter_map(|word| word.parse().ok());
    let node = numbers.next().unwrap_or(0);
    (node, numbers.next_back().unwrap_or(0))
}
