//! What `io::gltf` read against what the evaluator read, before any conversion.

use std::path::Path;

use glam::{DVec3, Vec3};
use libtest_mimic::Failed;
use sinew_animate::asset::{Asset, Keys, Primitive, Track, TrackTarget};
use sinew_io::gltf;

use crate::gltf_eval::moments::moments;
use common::compare::compare;
use common::gltf_eval::clip::{Channel, Clip, Property};
use common::gltf_eval::{Document, mesh};
use common::tolerance;

/// Nodes, meshes, skins and clips are the same ones in the same order, with the same values.
pub fn same_contents(file: &Path) -> Result<(), Failed> {
    let (asset, want) = (gltf::read(file)?, Document::open(file));
    assert_eq!(asset.nodes.len(), want.nodes.len(), "nodes");
    let rest = want.world(&[], 0.0);
    for (i, (got, want)) in asset.nodes.iter().zip(&want.nodes).enumerate() {
        assert_eq!(
            (&got.name, got.mesh, got.skin),
            (&want.name, want.mesh, want.skin)
        );
        let (got, want) = (asset.rest_world(i), rest[i]);
        let scale = want.abs_diff_eq(
            got,
            tolerance::READ
                * want
                    .to_cols_array()
                    .iter()
                    .fold(1.0f64, |a, v| a.max(v.abs())),
        );
        assert!(scale, "nodes[{i}]: {got}, expected {want}");
    }
    let mut shown: Vec<usize> = want.shown.clone();
    shown.sort_unstable();
    let live = |n: &usize| {
        asset
            .chain(*n)
            .last()
            .is_some_and(|top| asset.roots.contains(&top))
    };
    let live: Vec<usize> = (0..asset.nodes.len()).filter(live).collect();
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
        let flat = |all: &[glam::DMat4]| -> Vec<f64> {
            all.iter().flat_map(|m| m.to_cols_array()).collect()
        };
        let want = &want.inverse_bind[..got.joints.len()];
        near_all(
            &format!("skins[{i}].inverseBindMatrices"),
            &flat(&got.inverse_bind),
            &flat(want),
        )?;
    }
    assert_eq!(asset.clips.len(), want.clips.len(), "animations");
    for (i, (got, clip)) in asset.clips.iter().zip(&want.clips).enumerate() {
        assert_eq!(got.name, clip.name, "animations[{i}]");
        same_clip(&format!("animations[{i}]"), &asset, i, clip)?;
    }
    Ok(())
}

fn near_all(what: &str, got: &[f64], want: &[f64]) -> Result<(), Failed> {
    let vectors = |all: &[f64]| -> Vec<DVec3> { all.iter().map(|v| DVec3::splat(*v)).collect() };
    Ok(compare(
        what,
        &vectors(got),
        &vectors(want),
        tolerance::READ,
    )?)
}

fn same_vectors(what: &str, got: &[Vec3], want: &[DVec3]) -> Result<(), Failed> {
    let got: Vec<DVec3> = got.iter().map(|v| v.as_dvec3()).collect();
    Ok(compare(what, &got, want, tolerance::READ)?)
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
        let (got_joints, got_weights) = (&got.joints[slots.clone()], &got.weights[slots]);
        let mut got: Vec<(usize, f64)> = got_joints
            .iter()
            .zip(got_weights)
            .map(|(j, w)| (*j as usize, f64::from(*w)))
            .collect();
        let mut want = want.clone();
        for list in [&mut got, &mut want] {
            list.retain(|(_, weight)| *weight != 0.0);
            let sum: f64 = list.iter().map(|(_, weight)| weight).sum();
            list.iter_mut().for_each(|(_, weight)| *weight /= sum);
            list.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
        }
        let joints =
            |list: &[(usize, f64)]| -> Vec<usize> { list.iter().map(|(j, _)| *j).collect() };
        let weights =
            |list: &[(usize, f64)]| -> Vec<f64> { list.iter().map(|(_, w)| *w).collect() };
        assert_eq!(joints(&got), joints(&want), "{at} joints of point {point}");
        near_all(
            &format!("{at} weights of point {point}"),
            &weights(&got),
            &weights(&want),
        )?;
    }
    assert_eq!(got.targets.len(), want.targets.len(), "{at} targets");
    for (i, (got, want)) in got.targets.iter().zip(&want.targets).enumerate() {
        for (what, offsets, want) in [
            ("points", &got.offsets, &want.points),
            ("normals", &got.normal_offsets, &want.normals),
        ] {
            let points = corners.iter().max().map_or(0, |m| m + 1).max(want.len());
            let mut dense = vec![Vec3::ZERO; points];
            let indices: Vec<usize> = match &got.point_indices {
                Some(indices) => indices.iter().map(|i| *i as usize).collect(),
                None => (0..offsets.len()).collect(),
            };
            for (index, offset) in indices.iter().zip(offsets) {
                dense[*index] = *offset;
            }
            let mut want = want.clone();
            want.resize(points, DVec3::ZERO);
            same_vectors(&format!("{at}.targets[{i}] {what}"), &dense, &want)?;
        }
    }
    Ok(())
}

/// Every channel's values at its keys and between them.
fn same_clip(at: &str, asset: &Asset, index: usize, clip: &Clip) -> Result<(), Failed> {
    let tracks = &asset.clips[index].tracks;
    let nodes = tracks
        .iter()
        .filter(|t| matches!(t.target, TrackTarget::Node(_)))
        .count();
    assert_eq!(nodes, clip.channels.len(), "{at} tracks");
    for channel in &clip.channels {
        let property = channel.property;
        let is_it =
            |t: &&Track| t.target == TrackTarget::Node(channel.node) && property_of(t) == property;
        let track = tracks
            .iter()
            .find(is_it)
            .ok_or_else(|| format!("{at}: no track for {property:?}"))?;
        for moment in moments(Some(clip)) {
            let (got, want) = (
                values(track, moment.seconds),
                channel_values(channel, moment.seconds),
            );
            near_all(
                &format!(
                    "{at} {property:?} of node {} at {}",
                    channel.node, moment.seconds
                ),
                &got,
                &want,
            )?;
        }
    }
    Ok(())
}

fn property_of(track: &Track) -> Property {
    match track.curve.keys {
        Keys::Translation(_) => Property::Translation,
        Keys::Rotation(_) => Property::Rotation,
        Keys::Scale(_) => Property::Scale,
        Keys::Weights { .. } => Property::Weights,
    }
}

fn values(track: &Track, seconds: f64) -> Vec<f64> {
    match &track.curve.keys {
        Keys::Translation(_) | Keys::Scale(_) => track
            .curve
            .vector(seconds)
            .map_or(Vec::new(), |v| v.to_array().into()),
        Keys::Rotation(_) => track
            .curve
            .rotation(seconds)
            .map_or(Vec::new(), |q| one_sign(&q.to_array())),
        Keys::Weights { count, .. } => (0..*count)
            .filter_map(|i| track.curve.weight(i, seconds))
            .collect(),
    }
}

fn channel_values(channel: &Channel, seconds: f64) -> Vec<f64> {
    match channel.property {
        Property::Rotation => one_sign(&channel.at(seconds)),
        _ => channel.at(seconds),
    }
}

/// A rotation's quaternion with its largest component positive.
fn one_sign(quaternion: &[f64]) -> Vec<f64> {
    let largest = quaternion.iter().copied().fold(0.0, |a: f64, c| {
        if c.abs() > a.abs() + tolerance::FEW_ROUNDINGS {
            c
        } else {
            a
        }
    });
    quaternion.iter().map(|c| c * largest.signum()).collect()
}
