//! What a stage knows of itself.

use std::collections::BTreeMap;

use super::loaded::Clip;
use super::stage_mesh::StageMesh;
use super::{Control, Stage, StageSkeleton};
use sinew::error::{Error, Result};
use sinew::gpu::{GpuError, Skinner};
use sinew::sampled::Time;
use sinew::scene::{Geometry, Scene, StageCamera};

/// What is known of one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshInfo {
    /// Prim path.
    pub path: String,
    pub points: usize,
    pub faces: usize,
    pub triangles: usize,
    /// Joints of the skeleton that skins it; 0 for a mesh that no joint moves.
    pub joints: usize,
    /// Blend shapes that it has.
    pub shapes: usize,
    /// Influences per point.
    pub influences: usize,
    /// Whether points are skinned or blended.
    pub deforms: bool,
    pub visible: bool,
}

impl Stage {
    /// The device's pipelines that it runs on.
    #[must_use]
    pub fn skinner(&self) -> &Skinner {
        &self.skinner
    }

    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// `Y` or `Z`.
    #[must_use]
    pub fn up_axis(&self) -> char {
        self.scene.up_axis
    }

    #[must_use]
    pub fn meters_per_unit(&self) -> f64 {
        self.scene.meters_per_unit
    }

    /// The time that is set.
    #[must_use]
    pub fn time(&self) -> Time {
        self.time
    }

    /// The control that is set.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    #[must_use]
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// Index into [`Stage::clips`] of the one that plays.
    #[must_use]
    pub fn clip(&self) -> Option<usize> {
        self.clip
    }

    #[must_use]
    pub fn cameras(&self) -> &[StageCamera] {
        &self.geometry.cameras
    }

    /// Skeletons with their joints in world space at the time that is set.
    #[must_use]
    pub fn skeletons(&self) -> &[StageSkeleton] {
        &self.skeletons
    }

    /// First and last time code: the stage's own range, else from the first authored time to the last; `None` where nothing
    /// moves.
    #[must_use]
    pub fn time_range(&self) -> Option<(f64, f64)> {
        if let Some((first, last)) = self.scene.time_line.range.filter(|(a, b)| a <= b) {
            return Some((first, last));
        }
        let animations = self.scene.animations.iter();
        let times = animations.flat_map(|a| a.joint_times().chain(a.blend_shape_weights.times()));
        let points = self.geometry.meshes.iter().flat_map(|m| m.points.times());
        let (first, last) = times
            .chain(points)
            .filter(|t| t.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| {
                (a.min(t), b.max(t))
            });
        (first <= last).then_some((first, last))
    }

    /// Time codes from one frame to the next.
    #[must_use]
    pub fn frame_step(&self) -> f64 {
        let line = &self.scene.time_line;
        let step = line.time_codes_per_second / line.frames_per_second;
        if step.is_finite() && step > 0.0 {
            step
        } else {
            1.0
        }
    }

    /// Channels of blend shapes with their weights at the time that is set, by name.
    #[must_use]
    pub fn channels(&self) -> BTreeMap<String, f32> {
        let mut out = BTreeMap::new();
        for deform in self.meshes.iter().filter_map(|m| m.deform.as_ref()) {
            let binding = &self.scene.bindings[deform.binding];
            let instance = &self.scene.instances[binding.instance].instance;
            let weights = binding.channel_weights(instance, self.time).0;
            for (channel, weight) in binding.shapes.iter().zip(weights) {
                let wanted = self.control.weights.get(&channel.token);
                out.insert(channel.token.clone(), *wanted.unwrap_or(&weight));
            }
        }
        out
    }

    /// Every mesh that is drawn.
    #[must_use]
    pub fn meshes(&self) -> Vec<MeshInfo> {
        let info = |m: &StageMesh| {
            let mesh = &self.geometry.meshes[m.drawn];
            let binding = mesh.binding.and_then(|b| self.scene.bindings.get(b));
            let skeleton = binding
                .filter(|b| b.influences.is_some())
                .map(|b| b.instance);
            let joints = |i: usize| self.scene.instances[i].instance.skeleton().joints().len();
            MeshInfo {
                path: mesh.path.clone(),
                points: mesh.point_count(),
                faces: mesh.topology.face_count(),
                triangles: m.buffers.triangles as usize,
                joints: skeleton.map_or(0, joints),
                shapes: binding.map_or(0, |b| b.shapes.len()),
                influences: binding
                    .and_then(|b| b.influences.as_ref())
                    .map_or(0, |i| i.count),
                deforms: m.deform.is_some(),
                visible: m.visible,
            }
        };
        self.meshes.iter().map(info).collect()
    }

    /// Points that each frame skins or blends.
    #[must_use]
    pub fn deformed_points(&self) -> usize {
        let deforms = self.meshes.iter().filter_map(|m| m.deform.as_ref());
        deforms.map(|d| d.skin.point_count()).sum()
    }

    /// GPU times of the last frame; see [`sinew::gpu::Crowd::last_gpu_time`].
    ///
    /// # Errors
    /// A lost device.
    pub fn last_gpu_time(&self) -> Result<Option<sinew::gpu::GpuTimes>, GpuError> {
        self.on_gpu.crowd.last_gpu_time()
    }

    /// What is drawn differently from what the file says, or not at all, and why.
    #[must_use]
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Whether there is anything to draw: a visible mesh, or a joint.
    ///
    /// # Errors
    /// [`Error::NothingToSkin`], with what there is instead.
    pub fn check_not_empty(&self) -> Result<()> {
        let joints: usize = self
            .skeletons
            .iter()
            .map(|s| s.world_from_joint.len())
            .sum();
        if joints > 0 || self.meshes.iter().any(|m| m.buffers.triangles > 0) {
            return Ok(());
        }
        let mut reason =
            "nothing to draw: no mesh with faces of purpose default or render, and no skeleton"
                .to_owned();
        for message in self.messages.iter().take(20) {
            reason.push_str("\n  ");
            reason.push_str(message);
        }
        Err(Error::NothingToSkin {
            file: self.scene.file.clone(),
            reason,
        })
    }
}
