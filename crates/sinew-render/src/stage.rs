//! An opened file on a device, posed at a time.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use glam::{DMat4, DVec3};

use super::deform::{self, Deform, OnGpu, Posing, Results};
use super::error::Result;
use super::joints;
use super::loaded::{Clip, Loaded};
use super::material::Materials;
use super::stage_mesh::{Layouts, StageMesh};
use super::{Bounds, Control, DrawBackend, StageSkeleton};
use sinew::gpu::{Skinner, guarded};
use sinew::sampled::Time;
use sinew::scene::{Geometry, Scene, UnskinnedPrim};
use sinew::{Invalid, Warning};
use sinew_check::Finding;
use sinew_io::OpenOptions;

/// An opened file on a device: its meshes, materials and skeletons, posed at one time.
///
/// For each frame call [`Stage::set_time`], [`Stage::encode`] and [`super::Renderer::draw`]. The
/// vertex shader reads positions and normals from the buffers that the skinning kernel writes.
#[derive(Debug)]
pub struct Stage {
    pub(super) skinner: Skinner,
    pub(super) scene: Scene,
    pub(super) geometry: Geometry,
    pub(super) clips: Vec<Clip>,
    pub(super) clip: Option<usize>,
    pub(super) materials: Materials,
    pub(super) meshes: Vec<StageMesh>,
    pub(super) on_gpu: OnGpu,
    pub(super) layouts: Layouts,
    /// Origin of local space, in world space. Buffers hold positions in local space, so that f32 is
    /// precise far from the world's origin.
    pub(super) origin: DVec3,
    pub(super) time: Time,
    pub(super) control: Control,
    pub(super) skeletons: Vec<StageSkeleton>,
    /// Results of the CPU mirror for the current poses, once they were needed.
    pub(super) results: OnceLock<Arc<Vec<Results>>>,
    /// Bounding boxes of everything and of the joints, at the first time of the file.
    pub(super) ground: (Bounds, Bounds),
    pub(super) failed: Vec<UnskinnedPrim>,
    pub(super) left_out: Vec<Finding>,
    pub(super) errors: Vec<Invalid>,
    pub(super) warnings: Vec<Warning>,
    pub(super) faces_back: bool,
}

impl Stage {
    /// Reads a file and puts it on a device. To read it in another thread, use [`Loaded::read`] and
    /// [`Stage::new`].
    ///
    /// # Errors
    /// Those of [`Loaded::read`] and [`Stage::new`].
    pub fn open(skinner: &Skinner, file: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::new(skinner, Loaded::read(file, options)?)
    }

    /// Uploads a file that was read, and poses it at its first time.
    ///
    /// # Errors
    /// [`super::Error::Gpu`] if the device is lost or has no memory.
    pub fn new(skinner: &Skinner, loaded: Loaded) -> Result<Self> {
        let materials = Materials::new(skinner.device(), skinner.queue(), &loaded)?;
        let Loaded {
            scene,
            geometry,
            clips,
            clip,
            failed,
            left_out,
            errors,
            warnings,
            faces_back,
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
            ground: (Bounds::EMPTY, Bounds::EMPTY),
            failed,
            left_out,
            errors,
            warnings,
            faces_back,
            scene,
            geometry,
        };
        let start = stage
            .time_range()
            .map_or(Time::Default, |(first, _)| Time::At(first));
        stage.time = start;
        stage.build()?;
        stage.set_time(start, &Control::default())?;
        stage.ground = (stage.bounds(), stage.joint_bounds());
        Ok(stage)
    }

    /// Creates all meshes again, for the control's skinning method.
    fn build(&mut self) -> Result<()> {
        self.on_gpu = OnGpu::new(&self.skinner);
        let bound: Vec<_> = self.scene.bound_skins().collect();
        let mut meshes = Vec::new();
        let drawn = self.geometry.meshes.iter().chain(&self.geometry.curves);
        for (i, mesh) in drawn.enumerate() {
            let (transform, deformed) = deform::plan(&self.scene, mesh);
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
                            palette: None,
                            animated_rest: bound[binding].binding().rest_is_animated(),
                        }),
                        Err(e) => {
                            add_failed(&mut self.failed, &mesh.path, &e);
                            continue;
                        }
                    }
                }
            };
            let device = self.skinner.device();
            let stage_mesh = guarded(device, || {
                StageMesh::new(
                    device,
                    &self.layouts,
                    i,
                    mesh,
                    transform,
                    deform,
                    &self.materials,
                    self.time,
                )
            })?;
            match stage_mesh {
                Ok(stage_mesh) => meshes.push(stage_mesh),
                Err(e) => {
                    let e = e.in_file(&self.scene.file);
                    add_failed(&mut self.failed, &mesh.path, &e);
                }
            }
        }
        self.meshes = meshes;
        Ok(())
    }

    /// Poses the stage at a time. Nothing runs on the device before [`Stage::encode`]. A prim
    /// without a pose at this time is not drawn, and [`Stage::failed`] says why.
    ///
    /// # Errors
    /// [`super::Error::Gpu`] if the device is lost or has no memory.
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
            let Some(mesh) = self.geometry.drawn(stage_mesh.drawn) else {
                continue;
            };
            stage_mesh.visible = mesh.visible(time);
            let posed = posing
                .local_from_mesh(&self.scene, mesh, stage_mesh.transform)
                .and_then(|m| {
                    stage_mesh.local_from_mesh = m;
                    match &mut stage_mesh.deform {
                        Some(deform) => posing.pose(mesh, deform),
                        None => Ok(()),
                    }
                });
            if let Err(e) = posed {
                stage_mesh.visible = false;
                add_failed(&mut self.failed, &mesh.path, &e);
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
                let set = stage_mesh.set_heat(device, &self.scene, self.control.heat, time);
                if let Err(e) = set
                    && !self.errors.contains(&e)
                {
                    self.errors.push(e);
                }
            }
        }
        Ok(())
    }

    /// Records the deformation of the current pose: dispatches of the kernels, or uploads of the
    /// CPU mirror's results.
    ///
    /// # Errors
    /// Those of [`sinew::gpu::Crowd::encode`].
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
            true => Arc::clone(self.results()),
            false => Arc::default(),
        };
        let device = self.skinner.device();
        for (i, stage_mesh) in self.meshes.iter_mut().enumerate() {
            let Some(mesh) = self.geometry.drawn(stage_mesh.drawn) else {
                continue;
            };
            let results = results.get(i).filter(|_| by_mirror(stage_mesh));
            guarded(device, || match results {
                Some(results) => {
                    stage_mesh.upload(device, encoder, results);
                    Ok(())
                }
                None if stage_mesh.deform.is_some() => {
                    stage_mesh.use_crowd(&self.on_gpu.crowd, device, encoder)
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
}

/// Adds a prim that failed, unless the same is in the list already.
fn add_failed(failed: &mut Vec<UnskinnedPrim>, path: &str, error: &Invalid) {
    let prim = UnskinnedPrim {
        path: path.to_owned(),
        error: error.clone(),
    };
    if !failed.contains(&prim) {
        failed.push(prim);
    }
}

/// The origin of local space: that of world space, or a position near the first skeleton or mesh,
/// in whole units, if that is far away.
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
