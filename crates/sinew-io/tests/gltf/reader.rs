//! What sinew reads of a file against what the evaluator reads, before any conversion.

use std::path::Path;

use glam::{DMat4, DVec3, Vec3};
use gltf::animation::Property;
use libtest_mimic::Failed;
use sinew_animate::asset::{Keys, Primitive, Track, TrackTarget};

use crate::eval::clip::Clip;
use crate::eval::{Document, mesh};
use crate::play::moments;
use crate::subjects::rows;
use common::compare::{compare, to_f64};
use common::tolerance;

/// Files that are read with a warning, and why.
const WARNED: &str = "
interpolation_test.gltf   gltf-image-unreadable  it comes without its picture
MorphPrimitivesTest.gltf  gltf-image-unreadable  it comes without its picture
loose_weights.gltf        gltf-weights-sum       it is made so
CesiumMan.glb             gltf-weights-sum       it was made from more than four influences
Example.vrm               gltf-node-unshown      its node `secondary` is in no scene
";

/// Nodes, meshes, skins and clips are the same ones in the same order, with the same values.
pub fn same_contents(file: &Path) -> Result<(), Failed> {
    let (asset, want) = (sinew_io::gltf::read(file)?, Document::open(file));
    let warned = asset.warnings.iter().map(|w| w.code);
    let warned: Vec<&str> = warned.filter(|c| c.starts_with("gltf-")).collect();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let known = rows(WARNED).filter(|row| row[0] == name).map(|row| row[1]);
    assert_eq!(warned, known.collect::<Vec<_>>(), "{:?}", asset.warnings);
    for (what, count) in [
        ("materials", asset.materials.len()),
        ("images", asset.images.len()),
    ] {
        assert_eq!(count, want.list(what).len(), "{what}");
    }
    assert_eq!(asset.nodes.len(), want.nodes.len(), "nodes");
    let rest = want.world(&[], 0.0);
    for (i, (got, want)) in asset.nodes.iter().zip(&want.nodes).enumerate() {
        let got_parts = (&got.name, got.mesh, got.skin);
        assert_eq!(got_parts, (&want.name, want.mesh, want.skin));
        let (got, want) = (asset.rest_world(i), rest[i]);
        let numbers = want.to_cols_array();
        let largest = numbers.iter().fold(1.0f64, |a, v| a.max(v.abs()));
        let same = want.abs_diff_eq(got, tolerance::READ * largest);
        assert!(same, "nodes[{i}]: {got}, expected {want}");
    }
    let mut shown: Vec<usize> = want.shown.clone();
    shown.sort_unstable();
    let top = |node: usize| asset.chain(node).last();
    let is_live = |n: &usize| top(*n).is_some_and(|top| asset.roots.contains(&top));
    let live: Vec<usize> = (0..asset.nodes.len()).filter(is_live).collect();
    assert_eq!(live, shown, "nodes that are shown");
    assert_eq!(asset.meshes.len(), want.meshes.len(), "meshes");
    for (i, (got, want)) in asset.meshes.iter().zip(&want.meshes).enumerate() {
        assert_eq!(got.primitives.len(), want.primitives.len(), "meshes[{i}]");
        let weights: Vec<f64> = got.weights.iter().map(|w| f64::from(*w)).collect();
        near_all(&format!("meshes[{i}].weights"), &weights, &want.weights)?;
        for (j, (got, want)) in got.primitives.iter().zip(&want.primitives).enumerate() {
            same_primitive(&format!("meshes[{i}].primitives[{j}]"), got, want)?;
        }
    }
    assert_eq!(asset.skins.len(), want.skins.len(), "skins");
    for (i, (got, want)) in asset.skins.iter().zip(&want.skins).enumerate() {
        assert_eq!(got.joints, want.joints, "skins[{i}]");
        let flat =
            |all: &[DMat4]| -> Vec<f64> { all.iter().flat_map(|m| m.to_cols_array()).collect() };
        let what = format!("skins[{i}].inverseBindMatrices");
        let want = &want.inverse_bind[..got.joints.len()];
        near_all(&what, &flat(&got.inverse_bind), &flat(want))?;
    }
    assert_eq!(asset.clips.len(), want.clips.len(), "animations");
    for (i, (got, clip)) in asset.clips.iter().zip(&want.clips).enumerate() {
        assert_eq!(got.name, clip.name, "animations[{i}]");
        same_clip(&format!("animations[{i}]"), &got.tracks, clip)?;
    }
    Ok(())
}

fn near_all(what: &str, got: &[f64], want: &[f64]) -> Result<(), Failed> {
    let vectors = |all: &[f64]| -> Vec<DVec3> { all.iter().map(|v| DVec3::splat(*v)).collect() };
    let (got, want) = (vectors(got), vectors(want));
    Ok(compare(what, &got, &want, tolerance::READ)?)
}

fn same_vectors(what: &str, got: &[Vec3], want: &[DVec3]) -> Result<(), Failed> {
    Ok(compare(what, &to_f64(got), want, tolerance::READ)?)
}

fn same_primitive(at: &str, got: &Primitive, want: &mesh::Primitive) -> Result<(), Failed> {
    same_vectors(&format!("{at} points"), &got.points, &want.points)?;
    // Flat normals are made where the file has none.
    if !want.normals.is_empty() {
        same_vectors(&format!("{at} normals"), &got.normals, &want.normals)?;
    }
    let corners: Vec<usize> = got.faces.indices.iter().map(|i| *i as usize).collect();
    assert_eq!(corners, want.corners, "{at} faces");
    for (point, want) in want.influences.iter().enumerate() {
        let slots = point * got.influences..(point + 1) * got.influences;
        let got = got.joints[slots.clone()].iter().zip(&got.weights[slots]);
        let got = got.map(|(j, w)| (*j as usize, f64::from(*w)));
        let (got_joints, got_weights) = shares(got.collect());
        let (joints, weights) = shares(want.clone());
        assert_eq!(got_joints, joints, "{at} joints of point {point}");
        let what = format!("{at} weights of point {point}");
        near_all(&what, &got_weights, &weights)?;
    }
    assert_eq!(got.targets.len(), want.targets.len(), "{at} targets");
    let points = want.points.len();
    for (i, (got, want)) in got.targets.iter().zip(&want.targets).enumerate() {
        for (what, offsets, want) in [
            ("points", &got.offsets, &want.points),
            ("normals", &got.normal_offsets, &want.normals),
        ] {
            let mut dense = vec![Vec3::ZERO; points];
            for (i, offset) in offsets.iter().enumerate() {
                let point = got.point_indices.as_ref().map_or(i, |all| all[i] as usize);
                dense[point] = *offset;
            }
            let mut want = want.clone();
            want.resize(points, DVec3::ZERO);
            same_vectors(&format!("{at}.targets[{i}] {what}"), &dense, &want)?;
        }
    }
    Ok(())
}

/// Joints with a weight, in their order, and their weights divided by their sum.
fn shares(mut influences: Vec<(usize, f64)>) -> (Vec<usize>, Vec<f64>) {
    influences.retain(|(_, weight)| *weight != 0.0);
    influences.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
    let sum: f64 = influences.iter().map(|(_, weight)| weight).sum();
    influences.into_iter().map(|(j, w)| (j, w / sum)).unzip()
}

/// Every channel's values at its keys and between them.
fn same_clip(at: &str, tracks: &[Track], clip: &Clip) -> Result<(), Failed> {
    let of_nodes = tracks
        .iter()
        .filter(|t| matches!(t.target, TrackTarget::Node(_)));
    assert_eq!(of_nodes.count(), clip.channels.len(), "{at} tracks");
    for channel in &clip.channels {
        let (node, property) = (channel.node, channel.property);
        let target = TrackTarget::Node(node);
        let is_it = |t: &&Track| t.target == target && property_of(t) == property;
        let track = tracks.iter().find(is_it);
        let track = track.ok_or_else(|| format!("{at}: no track for {property:?}"))?;
        for moment in moments(Some(clip)) {
            let what = format!("{at} {property:?} of node {node} at {}", moment.seconds);
            let (mut got, mut want) = (values(track, moment.seconds), channel.at(moment.seconds));
            if property == Property::Rotation {
                (got, want) = (one_sign(&got), one_sign(&want));
            }
            near_all(&what, &got, &want)?;
        }
    }
    Ok(())
}

fn property_of(track: &Track) -> Property {
    match track.curve.keys {
        Keys::Translation(_) => Property::Translation,
        Keys::Rotation(_) => Property::Rotation,
        Keys::Scale(_) => Property::Scale,
        Keys::Weights { .. } => Property::MorphTargetWeights,
    }
}

fn values(track: &Track, seconds: f64) -> Vec<f64> {
    let curve = &track.curve;
    match &curve.keys {
        Keys::Translation(_) | Keys::Scale(_) => {
            let vector = curve.vector(seconds);
            vector.map_or(Vec::new(), |v| v.to_array().into())
        }
        Keys::Rotation(_) => {
            let rotation = curve.rotation(seconds);
            rotation.map_or(Vec::new(), |q| q.to_array().into())
        }
        Keys::Weights { count, .. } => {
            let weights = 0..*count;
            weights.filter_map(|i| curve.weight(i, seconds)).collect()
        }
    }
}

/// A rotation's quaternion with its largest component positive.
fn one_sign(quaternion: &[f64]) -> Vec<f64> {
    let is_larger = |a: f64, c: f64| c.abs() > a.abs() + tolerance::FEW_ROUNDINGS;
    let larger = |a: f64, c: &f64| if is_larger(a, *c) { *c } else { a };
    let largest = quaternion.iter().fold(0.0, larger);
    quaternion.iter().map(|c| c * largest.signum()).collect()
}
