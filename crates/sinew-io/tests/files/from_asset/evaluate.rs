//! Where an asset's points are at a time, as glTF has it: f64, node by node, nothing of UsdSkel.

use glam::{DMat4, DVec3};
use sinew_animate::asset::{Asset, AssetClip, CurveInterpolation, Keys, Track, TrackTarget};

/// The points of a primitive of a node's mesh in the world.
pub fn points(
    asset: &Asset,
    clip: Option<&AssetClip>,
    (node, primitive): (usize, usize),
    seconds: f64,
) -> Vec<DVec3> {
    let at = &asset.nodes[node];
    let mesh = &asset.meshes[at.mesh.expect("a mesh")];
    let weights = weights(asset, clip, node, seconds);
    let primitive = &mesh.primitives[primitive];
    let mut points: Vec<DVec3> = primitive.points.iter().map(|p| p.as_dvec3()).collect();
    for (target, weight) in primitive.targets.iter().zip(&weights) {
        for (k, offset) in target.offsets.iter().enumerate() {
            let i = target
                .point_indices
                .as_ref()
                .map_or(k, |all| all[k] as usize);
            points[i] += offset.as_dvec3() * *weight;
        }
    }
    let Some(skin) = at.skin else {
        let world = world(asset, clip, node, seconds);
        return points.iter().map(|p| world.transform_point3(*p)).collect();
    };
    let skin = &asset.skins[skin];
    let joints: Vec<DMat4> = skin
        .joints
        .iter()
        .zip(&skin.inverse_bind)
        .map(|(j, inverse)| world(asset, clip, *j, seconds) * *inverse)
        .collect();
    let n = primitive.influences;
    let skinned = points.iter().enumerate().map(|(i, p)| {
        let influences = (0..n).map(|k| {
            let (joint, weight) = (primitive.joints[n * i + k], primitive.weights[n * i + k]);
            let weight = f64::from(weight);
            if weight == 0.0 {
                return DVec3::ZERO;
            }
            joints[joint as usize].transform_point3(*p) * weight
        });
        influences.sum()
    });
    skinned.collect()
}

fn tracks<'a>(
    clip: Option<&'a AssetClip>,
    target: &'a TrackTarget,
) -> impl Iterator<Item = &'a Track> {
    let all = clip.into_iter().flat_map(|c| &c.tracks);
    all.filter(move |t| t.target == *target)
}

fn world(asset: &Asset, clip: Option<&AssetClip>, node: usize, seconds: f64) -> DMat4 {
    let mut world = DMat4::IDENTITY;
    for at in asset.chain(node) {
        let target = TrackTarget::Node(at);
        let mut moved = false;
        let mut trs = asset.nodes[at].local.trs();
        for track in tracks(clip, &target) {
            match &track.curve.keys {
                Keys::Translation(_) => trs.translation = track.curve.vector(seconds).expect("T"),
                Keys::Rotation(_) => trs.rotation = track.curve.rotation(seconds).expect("R"),
                Keys::Scale(_) => trs.scale = track.curve.vector(seconds).expect("S"),
                Keys::Weights { .. } => continue,
            }
            moved = true;
        }
        let local = match moved {
            true => {
                DMat4::from_scale_rotation_translation(trs.scale, trs.rotation, trs.translation)
            }
            false => asset.nodes[at].local.matrix(),
        };
        world = local * world;
    }
    world
}

/// Morph weights: the clip's, the node's or the mesh's, and what expressions add.
fn weights(asset: &Asset, clip: Option<&AssetClip>, node: usize, seconds: f64) -> Vec<f64> {
    let at = &asset.nodes[node];
    let index = at.mesh.expect("a mesh");
    let mesh = &asset.meshes[index];
    let rest = at.weights.as_ref().unwrap_or(&mesh.weights);
    let mut weights: Vec<f64> = rest.iter().map(|w| f64::from(*w)).collect();
    for track in tracks(clip, &TrackTarget::Node(node)) {
        for (i, weight) in weights.iter_mut().enumerate() {
            if let Some(found) = track.curve.weight(i, seconds) {
                *weight = found;
            }
        }
    }
    for expression in &asset.expressions {
        for track in tracks(clip, &TrackTarget::Expression(expression.name.clone())) {
            let mut slider = track.curve.weight(0, seconds).expect("a weight");
            if expression.is_binary {
                slider = f64::from(slider > 0.5);
            }
            for bind in expression.binds.iter().filter(|b| b.mesh == index) {
                weights[bind.target] += f64::from(bind.weight) * slider;
            }
        }
    }
    weights
}

/// Seconds of all keys, and of the middles between them.
pub fn times(clip: &AssetClip) -> (Vec<f64>, Vec<f64>) {
    let mut keys: Vec<f64> = clip
        .tracks
        .iter()
        .flat_map(|t| t.curve.times.clone())
        .collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    let between = keys
        .windows(2)
        .flat_map(|w| [0.3, 0.5, 0.9].map(|a| w[0] + (w[1] - w[0]) * a));
    let between = between.collect();
    (keys, between)
}

/// Whether a clip moves scales, or follows splines.
pub fn has(clip: &AssetClip, what: fn(&Track) -> bool) -> bool {
    clip.tracks.iter().any(what)
}

pub fn is_scale(track: &Track) -> bool {
    matches!(track.curve.keys, Keys::Scale(_))
}

pub fn is_spline(track: &Track) -> bool {
    track.curve.interpolation == CurveInterpolation::CubicSpline
}
