//! Fewer influences per vertex, with the error that this causes.

use glam::{DMat4, DVec3};
use serde::Serialize;

use crate::vertices::{bounds, merged_influences, offsets_by_point};

use sinew_animate::asset::{Asset, AssetClip, Curve, Keys, Mesh, Primitive, TrackTarget, Trs};

/// The most times of a clip at which the error is measured.
const MOST_TIMES: usize = 200;

/// What a limit on influences has cut.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InfluenceCut {
    /// The most influences of a vertex that are left.
    pub most: usize,
    /// Vertices, of meshes as they are stored, that had more.
    pub vertices: usize,
    /// The largest distance between points with all influences and points with fewer, in metres, at
    /// the keys of all clips and at rest.
    pub worst_distance: f64,
    /// That distance by the size of the mesh's box at rest.
    pub worst_relative: f64,
    /// The mesh where that is.
    pub worst_mesh: String,
    /// The clip where that is; empty for the rest pose.
    pub worst_clip: String,
    /// The second of that clip.
    pub worst_time: f64,
}

/// Keeps the `most` largest influences of each vertex, divided by their sum. Gives `None` if no
/// vertex had more.
pub(super) fn cut(asset: &mut Asset, most: usize) -> Option<InfluenceCut> {
    let before: Vec<Mesh> = asset.meshes.clone();
    let mut vertices = 0;
    for primitive in asset.meshes.iter_mut().flat_map(|m| &mut m.primitives) {
        vertices += cut_primitive(primitive, most);
    }
    if vertices == 0 {
        asset.meshes = before;
        return None;
    }
    let mut out = InfluenceCut {
        most,
        vertices,
        ..InfluenceCut::default()
    };
    measure(asset, &before, &mut out);
    Some(out)
}

/// Number of points that had more influences.
fn cut_primitive(primitive: &mut Primitive, most: usize) -> usize {
    let each = primitive.influences;
    if each <= most {
        return 0;
    }
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    let mut cut = 0;
    for point in 0..primitive.points.len() {
        let mut row = merged_influences(primitive, point);
        let whole: f64 = row.iter().map(|(_, w)| f64::from(*w)).sum();
        // Equal weights stay in their order.
        row.sort_by(|a, b| b.1.total_cmp(&a.1));
        cut += usize::from(row.len() > most);
        row.truncate(most);
        let left: f64 = row.iter().map(|(_, w)| f64::from(*w)).sum();
        let scale = if left > 0.0 { whole / left } else { 1.0 };
        row.resize(most, (0, 0.0));
        joints.extend(row.iter().map(|(j, _)| *j));
        weights.extend(row.iter().map(|(_, w)| (f64::from(*w) * scale) as f32));
    }
    if cut > 0 {
        primitive.joints = joints;
        primitive.weights = weights;
        primitive.influences = most;
    }
    cut
}

/// Finds the largest distance between points with the influences of `before` and those of the asset.
fn measure(asset: &Asset, before: &[Mesh], out: &mut InfluenceCut) {
    let rest = AssetClip::default();
    let clips = std::iter::once(&rest).chain(&asset.clips);
    for clip in clips {
        for time in times(clip) {
            let world = world_at(asset, clip, time);
            for node in 0..asset.nodes.len() {
                let (Some(mesh), Some(skin)) = (asset.nodes[node].mesh, asset.nodes[node].skin)
                else {
                    continue;
                };
                let skin = &asset.skins[skin];
                let joints = skin.joints.iter().zip(&skin.inverse_bind);
                let matrices: Vec<DMat4> = joints.map(|(j, m)| world[*j] * *m).collect();
                let weights = weights_at(asset, clip, node, time);
                let (old, new) = (&before[mesh], &asset.meshes[mesh]);
                let worst = worst_distance(old, new, &matrices, &weights);
                if worst > out.worst_distance {
                    out.worst_distance = worst;
                    out.worst_relative = worst / size(new);
                    out.worst_mesh.clone_from(&new.name);
                    out.worst_clip.clone_from(&clip.name);
                    out.worst_time = time;
                }
            }
        }
    }
}

/// The times of all keys of a clip, thinned out evenly if there are many; time 0 without keys.
fn times(clip: &AssetClip) -> Vec<f64> {
    let mut times: Vec<f64> = clip
        .tracks
        .iter()
        .flat_map(|t| &t.curve.times)
        .copied()
        .collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    if times.is_empty() {
        return vec![0.0];
    }
    let step = times.len().div_ceil(MOST_TIMES);
    times.into_iter().step_by(step).collect()
}

/// world_from_node of all nodes.
fn world_at(asset: &Asset, clip: &AssetClip, time: f64) -> Vec<DMat4> {
    let mut local: Vec<Option<Trs>> = vec![None; asset.nodes.len()];
    for track in &clip.tracks {
        let TrackTarget::Node(node) = track.target else {
            continue;
        };
        let trs = local[node].get_or_insert_with(|| asset.nodes[node].local.trs());
        let curve: &Curve = &track.curve;
        match curve.keys {
            Keys::Translation(_) => trs.translation = curve.vector(time).unwrap_or_default(),
            Keys::Rotation(_) => trs.rotation = curve.rotation(time).unwrap_or_default(),
            Keys::Scale(_) => trs.scale = curve.vector(time).unwrap_or(DVec3::ONE),
            Keys::Weights { .. } => {}
        }
    }
    let mut world = vec![DMat4::IDENTITY; asset.nodes.len()];
    for node in asset.parents_first() {
        let own = local[node].map_or_else(|| asset.nodes[node].local.matrix(), |t| t.matrix());
        world[node] = match asset.nodes[node].parent {
            Some(parent) => world[parent] * own,
            None => own,
        };
    }
    world
}

fn weights_at(asset: &Asset, clip: &AssetClip, node: usize, time: f64) -> Vec<f64> {
    let Some(mesh) = asset.nodes[node].mesh.map(|m| &asset.meshes[m]) else {
        return Vec::new();
    };
    let is_own = |t: &&sinew_animate::asset::Track| {
        t.target == TrackTarget::Node(node) && matches!(t.curve.keys, Keys::Weights { .. })
    };
    let own = asset.nodes[node].weights.as_ref().unwrap_or(&mesh.weights);
    let track = clip.tracks.iter().find(is_own);
    let weight = |(i, own): (usize, &f32)| {
        let moved = track.and_then(|t| t.curve.weight(i, time));
        moved.unwrap_or_else(|| f64::from(*own))
    };
    own.iter().enumerate().map(weight).collect()
}

/// The largest distance between the points of two meshes that differ in their influences alone.
fn worst_distance(old: &Mesh, new: &Mesh, matrices: &[DMat4], weights: &[f64]) -> f64 {
    let mut worst = 0.0f64;
    for (old, new) in old.primitives.iter().zip(&new.primitives) {
        if old.influences == new.influences {
            continue;
        }
        let points = morphed(old, weights);
        for (i, point) in points.iter().enumerate() {
            let a = skinned(old, i, *point, matrices);
            let b = skinned(new, i, *point, matrices);
            worst = worst.max(a.distance(b));
        }
    }
    worst
}

fn morphed(primitive: &Primitive, weights: &[f64]) -> Vec<DVec3> {
    let mut points: Vec<DVec3> = primitive.points.iter().map(|p| p.as_dvec3()).collect();
    for (target, weight) in primitive.targets.iter().zip(weights) {
        if *weight == 0.0 {
            continue;
        }
        let indices = target.point_indices.as_deref();
        for (point, offset) in offsets_by_point(indices, &target.offsets) {
            points[point] += offset.as_dvec3() * *weight;
        }
    }
    points
}

/// A point as glTF skins it, with weights divided by their sum.
fn skinned(primitive: &Primitive, index: usize, point: DVec3, matrices: &[DMat4]) -> DVec3 {
    let row = merged_influences(primitive, index);
    let sum: f64 = row.iter().map(|(_, w)| f64::from(*w)).sum();
    if sum <= 0.0 {
        return point;
    }
    let moved = row.iter().map(|(joint, weight)| {
        let moved = matrices[*joint as usize].transform_point3(point);
        moved * (f64::from(*weight) / sum)
    });
    moved.sum()
}

/// The length of the diagonal of the box around a mesh.
fn size(mesh: &Mesh) -> f64 {
    let points = mesh.primitives.iter().flat_map(|p| &p.points);
    let [low, high] = bounds(points.copied()).unwrap_or_default();
    f64::from(low.distance(high)).max(f64::MIN_POSITIVE)
}
