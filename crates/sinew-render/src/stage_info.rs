//! Properties of a stage and its meshes.

use std::collections::BTreeMap;

use super::error::{Error, Result};
use super::loaded::Clip;
use super::stage_mesh::StageMesh;
use super::{Camera, Control, Stage, StageSkeleton};
use sinew::gpu::{GpuError, Skinner};
use sinew::sampled::Time;
use sinew::scene::{Geometry, Scene, StageCamera, UnskinnedPrim};
use sinew::{Invalid, Warning};
use sinew_check::Finding;

/// Properties of one mesh of a stage, or of one prim of curves.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshInfo {
    /// Prim path.
    pub path: String,
    /// Number of points.
    pub points: usize,
    /// Number of authored faces.
    pub faces: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Number of curves.
    pub curves: usize,
    /// Number of joints of the skeleton that skins it; 0 if no joint moves it.
    pub joints: usize,
    /// Number of its blend shapes.
    pub shapes: usize,
    /// Number of influences of each point.
    pub influences: usize,
    /// Whether its points are skinned or blended.
    pub deforms: bool,
    /// Whether it has normals to draw.
    pub normals: bool,
    /// Whether it is visible at the stage's time.
    pub visible: bool,
}

impl Stage {
    /// The skinner whose device and pipelines it uses.
    #[must_use]
    pub fn skinner(&self) -> &Skinner {
        &self.skinner
    }

    /// Skeletons, animations and bindings of the file.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Meshes, materials, textures and cameras of the file.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The axis that is up: `Y` or `Z`.
    #[must_use]
    pub fn up_axis(&self) -> char {
        self.scene.up_axis
    }

    /// An orbiting camera a little to the side of a character's face: as [`Camera::new`] makes it,
    /// or from behind that for VRM 0.x, whose characters face -Z.
    #[must_use]
    pub fn camera(&self) -> Camera {
        let camera = Camera::new(self.up_axis());
        match self.faces_back {
            true => camera.from_behind(),
            false => camera,
        }
    }

    /// Length of the stage's unit, in metres.
    #[must_use]
    pub fn meters_per_unit(&self) -> f64 {
        self.scene.meters_per_unit
    }

    /// The time of the current pose.
    #[must_use]
    pub fn time(&self) -> Time {
        self.time
    }

    /// The control of the current pose.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The clips of the file; empty for a USD file.
    #[must_use]
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// Index into [`Stage::clips`] of the clip that plays.
    #[must_use]
    pub fn clip(&self) -> Option<usize> {
        self.clip
    }

    /// The cameras of the file.
    #[must_use]
    pub fn cameras(&self) -> &[StageCamera] {
        &self.geometry.cameras
    }

    /// The skeletons, with their current pose in world space.
    #[must_use]
    pub fn skeletons(&self) -> &[StageSkeleton] {
        &self.skeletons
    }

    /// First and last time code: the authored range of the stage, or else the first and the last
    /// authored time. `None` if nothing moves.
    #[must_use]
    pub fn time_range(&self) -> Option<(f64, f64)> {
        let authored = self.scene.time_line.range.filter(|(a, b)| a <= b);
        authored.or_else(|| self.sampled_range())
    }

    /// The first and the last authored time of animations, points and transforms. `None` if nothing moves.
    #[must_use]
    pub fn sampled_range(&self) -> Option<(f64, f64)> {
        let animations = self.scene.animations.iter();
        let times = animations.flat_map(|a| a.joint_times().chain(a.blend_shape_weights.times()));
        let drawn = self.geometry.meshes.iter().chain(&self.geometry.curves);
        let points = drawn.flat_map(|m| m.points.times().chain(m.place.times()));
        let (first, last) = times
            .chain(points)
            .filter(|t| t.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| {
                (a.min(t), b.max(t))
            });
        (first <= last).then_some((first, last))
    }

    /// Number of time codes from one frame to the next.
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

    /// Current weights of the blend shape channels, by name.
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

    /// The meshes that can be drawn. Their indices are those of [`Stage::points`] and
    /// [`Stage::mesh_bounds`].
    #[must_use]
    pub fn meshes(&self) -> Vec<MeshInfo> {
        let info = |m: &StageMesh| {
            let mesh = self.geometry.drawn(m.drawn)?;
            let binding = mesh.binding.and_then(|b| self.scene.bindings.get(b));
            let skeleton = binding
                .filter(|b| b.influences.is_some())
                .map(|b| b.instance);
            let joints = |i: usize| self.scene.instances[i].instance.skeleton().joints().len();
            Some(MeshInfo {
                path: mesh.path.clone(),
                points: mesh.point_count(),
                faces: mesh.topology.face_count(),
                triangles: m.buffers.triangles as usize,
                curves: mesh.curves.as_ref().map_or(0, |c| c.counts.len()),
                joints: skeleton.map_or(0, joints),
                shapes: binding.map_or(0, |b| b.shapes.len()),
                influences: binding
                    .and_then(|b| b.influences.as_ref())
                    .map_or(0, |i| i.count),
                deforms: m.deform.is_some(),
                normals: m.has_normals(),
                visible: m.visible,
            })
        };
        self.meshes.iter().filter_map(info).collect()
    }

    /// Number of points that each frame skins or blends.
    #[must_use]
    pub fn deformed_points(&self) -> usize {
        let deforms = self.meshes.iter().filter_map(|m| m.deform.as_ref());
        deforms.map(|d| d.skin.point_count()).sum()
    }

    /// GPU times of the last frame ([`sinew::gpu::Crowd::last_gpu_time`]).
    ///
    /// # Errors
    /// [`GpuError::Lost`] if the device is lost.
    pub fn last_gpu_time(&self) -> Result<Option<sinew::gpu::GpuTimes>, GpuError> {
        self.on_gpu.crowd.last_gpu_time()
    }

    /// Prims that were not drawn, or not skinned, at the times so far.
    #[must_use]
    pub fn failed(&self) -> &[UnskinnedPrim] {
        &self.failed
    }

    /// What the stage leaves out, whatever is posed and drawn of it.
    #[must_use]
    pub fn left_out(&self) -> &[Finding] {
        &self.left_out
    }

    /// What is invalid in the file. [`Stage::failed`] has the errors that depend on a time.
    #[must_use]
    pub fn errors(&self) -> &[Invalid] {
        &self.errors
    }

    /// Parts of the file that are not drawn, or drawn differently, and why.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Checks that there is something to draw: a mesh with faces, or a joint.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`].
    pub fn check_not_empty(&self) -> Result<()> {
        let joints: usize = self
            .skeletons
            .iter()
            .map(|s| s.world_from_joint.len())
            .sum();
        if joints > 0 || self.meshes.iter().any(|m| m.buffers.draws()) {
            return Ok(());
        }
        let failed = self.failed.iter().map(|prim| &prim.error);
        let other = self
            .errors
            .iter()
            .filter(|e| !failed.clone().any(|f| f == *e));
        let errors = failed.clone().chain(other).map(ToString::to_string);
        let messages = errors.chain(self.warnings.iter().map(ToString::to_string));
        Err(Error::NothingToDraw {
            file: self.scene.file.clone(),
            messages: messages.collect(),
        })
    }
}
