//! Meshes whose deformation glTF cannot hold, as morph targets: one per frame, whose weight is 1 at
//! that frame and 0 at all others. Between two frames points then move in straight lines.

use std::collections::BTreeMap;

use glam::Vec3;

use super::Maker;
use super::meshes::{MadeMesh, MeshInputs};
use super::misfits::{self, BakedFrame};
use super::skeletons::name_of;
use sinew::error::{Invalid, Warning};
use sinew::scene::{BoundSkin, DrawnMesh};
use sinew_animate::asset::{
    Curve, CurveInterpolation, Keys, LocalTransform, MorphTarget, Track, TrackTarget,
};

/// Bytes of morph targets and of their weights that one mesh may have.
const MOST_BYTES: usize = 2 << 30;

impl<'a> Maker<'a> {
    /// Adds a prim that is bound to a Skeleton, as frames in the Skeleton's space.
    pub(super) fn add_baked(
        &mut self,
        mesh: &'a DrawnMesh,
        bound: BoundSkin<'_>,
    ) -> Result<usize, Invalid> {
        let space = self.joints[bound.binding().instance].space;
        let normals = mesh.skin_normals;
        let by_corner = normals.is_some_and(|n| bound.binding().normals[n].corners.is_some());
        let shown = self.shown_by.clone();
        let movements = misfits::movements(bound.index(), &shown, &self.clock);
        let count: usize = movements.iter().map(|m| m.frame_count(&self.clock)).sum();
        let frames = match self.fits(mesh, count) {
            true => misfits::frames(normals, &movements, &self.clock)?,
            false => Vec::new(),
        };
        let rest = LocalTransform::default();
        let node = self.builder.push(name_of(&mesh.path), space, rest);
        let skeleton = self
            .scene
            .world_from_prim(bound.skeleton().prim, self.clock.rest());
        let turned = self.is_turned(mesh, &skeleton)?;
        self.show_frames(mesh, node, &frames, (by_corner, turned));
        Ok(node)
    }

    /// Shows a mesh whose points move by themselves at the node of its prim.
    pub(super) fn add_baked_points(&mut self, mesh: &'a DrawnMesh, space: Option<usize>) -> usize {
        let frames = match self.fits(mesh, misfits::frame_count(mesh, &self.clock)) {
            true => misfits::frames_of_points(mesh, &self.clock),
            false => Vec::new(),
        };
        let rest = LocalTransform::default();
        let node = space.unwrap_or_else(|| self.builder.push(name_of(&mesh.path), None, rest));
        self.show_frames(mesh, node, &frames, (false, false));
        node
    }

    /// Whether so many frames are not too many.
    fn fits(&mut self, mesh: &DrawnMesh, frames: usize) -> bool {
        let corners = mesh.topology.corner_count();
        let bytes = frames.saturating_mul(corners.saturating_mul(24) + frames.saturating_mul(4));
        if bytes > MOST_BYTES {
            self.too_large = Some(format!(
                "{} would be baked to {frames} morph targets of up to {corners} vertices, more than {MOST_BYTES} bytes",
                mesh.path
            ));
        }
        bytes <= MOST_BYTES
    }

    fn show_frames(
        &mut self,
        mesh: &'a DrawnMesh,
        node: usize,
        frames: &[BakedFrame],
        (by_corner, turned): (bool, bool),
    ) {
        let Some(base) = frames.first() else {
            return;
        };
        let inputs = MeshInputs {
            mesh,
            time: self.clock.rest(),
            influences: None,
            shapes: &[],
            parts: self.parts(mesh),
            turned,
        };
        let Some(mut made) = self.make(&inputs) else {
            return;
        };
        fill(&mut made, base, &frames[1..], by_corner);
        for frame in &frames[1..] {
            let clip = frame.clip.and_then(|c| self.plans.get(c));
            let name = clip.map_or("Animation", |c| &c.name);
            made.mesh
                .target_names
                .push(format!("{name}@{}", frame.time));
        }
        made.mesh.weights = vec![0.0; frames.len() - 1];
        let vertices: usize = made.points.iter().map(Vec::len).sum();
        let message = format!(
            "glTF cannot hold its deformation: it is written as {} morph targets of {vertices} vertices, one per frame",
            frames.len() - 1
        );
        self.warnings
            .push(Warning::new("gltf-baked", &mesh.path, message));
        self.add_weights(node, frames);
        self.builder.nodes[node].mesh = Some(self.asset.meshes.len());
        self.asset.meshes.push(made.mesh);
    }

    /// Tracks in which each frame's target has its time.
    fn add_weights(&mut self, node: usize, frames: &[BakedFrame]) {
        let count = frames.len() - 1;
        if count == 0 {
            return;
        }
        let mut by_clip: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (i, frame) in frames.iter().enumerate() {
            by_clip.entry(frame.clip).or_default().push(i);
        }
        for (clip, list) in by_clip {
            let mut values = vec![0.0; list.len() * count];
            for (key, frame) in list.iter().enumerate() {
                // The first frame is the mesh itself.
                if let Some(target) = frame.checked_sub(1) {
                    values[key * count + target] = 1.0;
                }
            }
            let times = list.iter().map(|i| self.clock.seconds(frames[*i].time));
            let track = Track {
                target: TrackTarget::Node(node),
                curve: Curve {
                    times: times.collect(),
                    interpolation: CurveInterpolation::Linear,
                    keys: Keys::Weights { count, values },
                },
            };
            match clip {
                Some(clip) => self.builder.clip_tracks.push((clip, track)),
                None => self.builder.tracks.push(track),
            }
        }
    }
}

/// Gives a mesh the points and normals of its first frame, and targets for the others.
fn fill(made: &mut MadeMesh, base: &BakedFrame, others: &[BakedFrame], by_corner: bool) {
    let vertices = made.points.iter().zip(&made.corners);
    for (primitive, (points, corners)) in made.mesh.primitives.iter_mut().zip(vertices) {
        let of = |values: &[Vec3], indices: &[u32]| -> Vec<Vec3> {
            let value = |i: &u32| values.get(*i as usize).copied().unwrap_or_default();
            indices.iter().map(value).collect()
        };
        let of_normals = if by_corner { corners } else { points };
        let minus = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| *a - *b).collect();
        primitive.points = of(&base.points, points);
        let rest_normals = base
            .normals
            .as_ref()
            .filter(|_| !primitive.normals.is_empty());
        if let Some(normals) = rest_normals {
            primitive.normals = of(normals, of_normals);
        }
        for frame in others {
            let normals = frame.normals.as_ref().filter(|_| rest_normals.is_some());
            let normals = normals.map(|n| minus(&of(n, of_normals), &primitive.normals));
            primitive.targets.push(MorphTarget {
                offsets: minus(&of(&frame.points, points), &primitive.points),
                normal_offsets: normals.unwrap_or_default(),
                ..MorphTarget::default()
            });
        }
    }
}
