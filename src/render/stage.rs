//! One opened file on one device, posed at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use glam::{DMat4, DVec3};

use super::deform::{self, Deform, OnGpu, Posing, Results};
use super::joints;
use super::loaded::{Clip, Loaded};
use super::material::Materials;
use super::stage_mesh::{Layouts, StageMesh};
use super::{Bounds, Control, DrawBackend, StageSkeleton};
use crate::error::{Error, Result};
use crate::gpu::{GpuError, Skinner, guarded};
use crate::io::OpenOptions;
use crate::sampled::Time;
use crate::scene::{Geometry, Scene, StageCamera};

/// A file on a device: its meshes, materials and skeletons, at one time.
///
/// A frame is [`Stage::set_time`], [`Stage::encode`] and [`super::Renderer::draw`]. Positions and normals go from the
/// skinning kernel to the vertex shader in the crowd's own buffers.
#[derive(Debug)]
pub struct Stage {
    skinner: Skinner,
    scene: Scene,
    geometry: Geometry,
    clips: Vec<Clip>,
    clip: Option<usize>,
    pub(super) materials: Materials,
    pub(super) meshes: Vec<StageMesh>,
    on_gpu: OnGpu,
    layouts: Layouts,
    /// World space less this is what buffers hold, so that f32 is fine far from the world's origin.
    pub(super) origin: DVec3,
    time: Time,
    control: Control,
    skeletons: Vec<StageSkeleton>,
    /// By the mirror, when someone asked.
    results: OnceLock<Vec<Results>>,
    /// The first box that was drawn, and that of the joints then.
    ground: OnceLock<(Bounds, Bounds)>,
    messages: Vec<String>,
}

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

/// How far the GPU's points and the mirror's are apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// The largest distance, in the stage's units, and the prim that has it.
    pub largest: f64,
    pub prim: String,
    pub mean: f64,
    /// Points compared.
    pub points: usize,
}

impl Stage {
    /// Opens a file. See [`Loaded::read`] for reading it in another thread.
    ///
    /// # Errors
    /// As [`Loaded::read`] and [`Stage::new`].
    pub fn open(skinner: &Skinner, file: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::new(skinner, Loaded::read(file, options)?)
    }

    /// Uploads what was read, and poses it at its first time.
    ///
    /// # Errors
    /// No memory on the device.
    pub fn new(skinner: &Skinner, loaded: Loaded) -> Result<Self> {
        let materials = Materials::new(skinner.device(), skinner.queue(), &loaded)?;
        let Loaded {
            scene,
            geometry,
            clips,
            clip,
            messages,
            ..
        } = loaded;
        let mut stage = Self {
            skinner: skinner.clone(),
            clips,
            clip,
            materials,
            meshes: Vec::new(),
            on_gpu: OnGpu::new(skinner),
            layouts: Layouts::new(skinner.device()),
            origin: origin(&scene, &geometry),
            time: Time::Default,
            control: Control::default(),
            skeletons: joints::skeletons(&scene),
            results: OnceLock::new(),
            ground: OnceLock::new(),
            messages,
            scene,
            geometry,
        };
        let start = stage
            .time_range()
            .map_or(Time::Default, |(first, _)| Time::At(first));
        stage.time = start;
        stage.build()?;
        stage.set_time(start, &Control::default())?;
        Ok(stage)
    }

    /// Makes every mesh anew for the control's skinning method.
    fn build(&mut self) -> Result<()> {
        self.on_gpu = OnGpu::new(&self.skinner);
        let bound: Vec<_> = self.scene.bound_skins().collect();
        let mut meshes = Vec::with_capacity(self.geometry.meshes.len());
        for (i, mesh) in self.geometry.meshes.iter().enumerate() {
            let (moved, deformed) = deform::plan(&self.scene, mesh);
            let deform = match deformed {
                None => None,
                Some((binding, part)) => {
                    match deform::pack(bound[binding], mesh, part, self.time, self.control.method) {
                        Ok(skin) => Some(Deform {
                            binding,
                            part,
                            skin,
                            instance: None,
                            pose: None,
                            animated_rest: bound[binding].binding().rest_is_animated(),
                        }),
                        Err(e) => {
                            tell(&mut self.messages, e.to_string());
                            continue;
                        }
                    }
                }
            };
            let device = self.skinner.device();
            let made = guarded(device, || {
                StageMesh::new(
                    device,
                    &self.layouts,
                    i,
                    mesh,
                    moved,
                    deform,
                    &self.materials,
                    self.time,
                )
            })?;
            match made {
                Ok(made) => meshes.push(made),
                Err(e) => tell(&mut self.messages, e.in_file(&self.scene.file).to_string()),
            }
        }
        self.meshes = meshes;
        Ok(())
    }

    /// Poses everything at a time. Nothing reaches the device before [`Stage::encode`].
    ///
    /// # Errors
    /// A lost device. Prims that have no pose at this time are not drawn, and [`Stage::messages`] says why.
    pub fn set_time(&mut self, time: Time, control: &Control) -> Result<()> {
        let rebuild = control.method != self.control.method;
        let heat = rebuild || control.heat != self.control.heat;
        self.time = time;
        self.control = control.clone();
        if rebuild {
            self.build()?;
        }
        self.results = OnceLock::new();
        joints::pose(&self.scene, &mut self.skeletons, time);
        let local_from_world = DMat4::from_translation(-self.origin);
        let mut posing = Posing::new(&self.scene, time, &self.control, local_from_world);
        for stage_mesh in &mut self.meshes {
            let mesh = &self.geometry.meshes[stage_mesh.drawn];
            stage_mesh.visible = mesh.visible(time);
            let posed = posing
                .local_from_mesh(&self.scene, mesh, stage_mesh.moved)
                .and_then(|m| {
                    stage_mesh.local_from_mesh = m;
                    match &mut stage_mesh.deform {
                        Some(deform) => posing.pose(mesh, deform),
                        None => Ok(()),
                    }
                });
            if let Err(e) = posed {
                stage_mesh.visible = false;
                tell(&mut self.messages, e.to_string());
                continue;
            }
            if let Some(deform) = &mut stage_mesh.deform
                && self.control.backend == DrawBackend::Gpu
            {
                self.on_gpu.pose(deform)?;
            }
        }
        if heat {
            let device = self.skinner.device();
            for stage_mesh in &mut self.meshes {
                let made = stage_mesh.set_heat(device, &self.scene, self.control.heat, time);
                if let Err(e) = made {
                    tell(&mut self.messages, e.to_string());
                }
            }
        }
        Ok(())
    }

    /// Records the deformation of the time that was set: dispatches, or uploads of the mirror's results.
    ///
    /// # Errors
    /// As [`crate::gpu::Crowd::encode`].
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        let on_gpu = self.control.backend == DrawBackend::Gpu;
        if on_gpu
            && self
                .meshes
                .iter()
                .any(|m| m.deform.as_ref().is_some_and(|d| d.instance.is_some()))
        {
            self.on_gpu.crowd.encode(encoder)?;
        }
        let by_mirror = |m: &StageMesh| {
            m.deform
                .as_ref()
                .is_some_and(|d| !on_gpu || d.animated_rest)
        };
        let results = match self.meshes.iter().any(by_mirror) {
            true => self.results(),
            false => &[],
        };
        let results: Vec<Option<Results>> = self
            .meshes
            .iter()
            .enumerate()
            .map(|(i, m)| results.get(i).filter(|_| by_mirror(m)).cloned())
            .collect();
        let device = self.skinner.device();
        for (stage_mesh, results) in self.meshes.iter_mut().zip(results) {
            let mesh = &self.geometry.meshes[stage_mesh.drawn];
            guarded(device, || match results {
                Some(results) => {
                    stage_mesh.upload(device, encoder, &results);
                    Ok(())
                }
                None if stage_mesh.deform.is_some() => {
                    stage_mesh.take(&self.on_gpu.crowd, device, encoder)
                }
                None => {
                    stage_mesh.follow_points(device, encoder, mesh, self.time);
                    Ok(())
                }
            })??;
            guarded(device, || stage_mesh.bind(device, &self.layouts))?;
        }
        Ok(())
    }

    /// What the mirror makes of the poses that are set.
    fn results(&self) -> &[Results] {
        self.results.get_or_init(|| {
            let deforms: Vec<_> = self.meshes.iter().map(|m| m.deform.as_ref()).collect();
            deform::on_cpu(deforms)
        })
    }

    /// Points of a mesh in world space at the time that is set, by the mirror. `mesh` is an index into
    /// [`Stage::meshes`].
    #[must_use]
    pub fn points(&self, mesh: usize) -> Vec<DVec3> {
        let Some(stage_mesh) = self.meshes.get(mesh) else {
            return Vec::new();
        };
        let world_from_mesh = DMat4::from_translation(self.origin) * stage_mesh.local_from_mesh;
        let place = |p: &glam::Vec3| world_from_mesh.transform_point3(p.as_dvec3());
        match &stage_mesh.deform {
            Some(_) => self.results()[mesh].points.iter().map(place).collect(),
            None => {
                let points = self.geometry.meshes[stage_mesh.drawn].points.at(self.time);
                points.iter().flat_map(|p| p.iter()).map(place).collect()
            }
        }
    }

    /// The box around one mesh at the time that is set; empty where it is invisible.
    #[must_use]
    pub fn mesh_bounds(&self, mesh: usize) -> Bounds {
        match self.meshes.get(mesh).is_some_and(|m| m.visible) {
            true => Bounds::of(self.points(mesh)),
            false => Bounds::EMPTY,
        }
    }

    /// The box around everything at the time that is set, in world space: visible meshes, or joints where there are none.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let meshes = (0..self.meshes.len()).map(|i| self.mesh_bounds(i));
        let bounds = meshes.fold(Bounds::EMPTY, Bounds::union);
        if !bounds.is_empty() {
            return bounds;
        }
        self.joint_bounds()
    }

    /// What [`Stage::bounds`] is around, or its corners where that is many points: what a camera has to frame.
    #[must_use]
    pub fn outline(&self) -> Vec<DVec3> {
        const MANY: usize = 200_000;
        let meshes = self.meshes.iter().enumerate().filter(|(_, m)| m.visible);
        let count: usize = meshes.clone().map(|(_, m)| m.buffers.points as usize).sum();
        match count {
            0 => {
                let joints = self.skeletons.iter().flat_map(|s| &s.world_from_joint);
                joints.map(|m| m.w_axis.truncate()).collect()
            }
            1..=MANY => meshes.flat_map(|(i, _)| self.points(i)).collect(),
            _ => self.bounds().corners().to_vec(),
        }
    }

    /// What the ground lies under and sizes of overlays follow: of one size at every time, so that nothing jumps while a clip
    /// plays, and where the joints are.
    pub(super) fn ground_bounds(&self) -> Bounds {
        let (bounds, joints) = *self
            .ground
            .get_or_init(|| (self.bounds(), self.joint_bounds()));
        let up = if self.up_axis() == 'Z' {
            DVec3::Z
        } else {
            DVec3::Y
        };
        let walked = self.joint_bounds().center() - joints.center();
        let along_ground = walked - up * walked.dot(up);
        match bounds.is_empty() {
            true => bounds,
            false => bounds.transformed(DMat4::from_translation(along_ground)),
        }
    }

    fn joint_bounds(&self) -> Bounds {
        self.skeletons
            .iter()
            .fold(Bounds::EMPTY, |b, s| b.union(s.bounds()))
    }

    /// The box around everything over some times; the time that is set stays.
    ///
    /// # Errors
    /// As [`Stage::set_time`].
    pub fn bounds_over(&mut self, times: &[Time]) -> Result<Bounds> {
        let (time, control) = (self.time, self.control.clone());
        let mut out = self.bounds();
        for other in times {
            self.set_time(*other, &control)?;
            out = out.union(self.bounds());
        }
        self.set_time(time, &control)?;
        Ok(out)
    }

    /// Compares the GPU's points with the mirror's at the time that is set. Waits for the device.
    ///
    /// # Errors
    /// A lost device.
    pub fn difference(&mut self) -> Result<Difference> {
        let backend = std::mem::replace(&mut self.control.backend, DrawBackend::Gpu);
        let control = self.control.clone();
        self.set_time(self.time, &control)?;
        let of_gpu: Vec<_> = self
            .meshes
            .iter()
            .map(|m| m.deform.as_ref()?.instance)
            .collect();
        let ids: Vec<_> = of_gpu.iter().flatten().copied().collect();
        let read = match ids.is_empty() {
            true => Vec::new(),
            false => {
                self.on_gpu.crowd.submit()?;
                self.on_gpu.crowd.read(&ids)?
            }
        };
        self.control.backend = backend;
        let with_instance = of_gpu.iter().enumerate().filter(|(_, id)| id.is_some());
        let mut out = Difference::default();
        let mut sum = 0.0;
        for ((i, _), gpu) in with_instance.zip(read) {
            for (a, b) in gpu.points.iter().zip(&self.results()[i].points) {
                let distance = a.as_dvec3().distance(b.as_dvec3());
                sum += distance;
                out.points += 1;
                if distance > out.largest {
                    out.largest = distance;
                    out.prim
                        .clone_from(&self.geometry.meshes[self.meshes[i].drawn].path);
                }
            }
        }
        out.mean = sum / out.points.max(1) as f64;
        Ok(out)
    }
}

/// What a stage knows of itself.
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
        let (first, last) = times
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
            for (slot, weight) in binding.shapes.iter().zip(weights) {
                let wanted = self.control.weights.get(&slot.token);
                out.insert(slot.token.clone(), *wanted.unwrap_or(&weight));
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

    /// GPU times of the last frame; see [`crate::gpu::Crowd::last_gpu_time`].
    ///
    /// # Errors
    /// A lost device.
    pub fn last_gpu_time(&self) -> Result<Option<crate::gpu::GpuTimes>, GpuError> {
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
        let mut reason = "nothing to draw: no mesh with faces and no skeleton".to_owned();
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

/// Adds a message that is not there yet.
fn tell(messages: &mut Vec<String>, message: String) {
    if !messages.contains(&message) {
        messages.push(message);
    }
}

/// An origin near what is drawn where that is far from the world's, in whole units.
fn origin(scene: &Scene, geometry: &Geometry) -> DVec3 {
    const FAR: f64 = 1000.0;
    let skeleton = scene.instances.first().or(scene.unbound_skeletons.first());
    let place = match (skeleton, geometry.meshes.first()) {
        (Some(skeleton), _) => scene.world_from_prim(skeleton.prim, Time::Default),
        (None, Some(mesh)) => mesh.world_from_prim(Time::Default),
        (None, None) => DMat4::IDENTITY,
    };
    let place = place.w_axis.truncate();
    match place.is_finite() && place.length() > FAR {
        true => place.round(),
        false => DVec3::ZERO,
    }
}
