//! Positions and bounding boxes of a stage by the CPU mirror, and the difference to the GPU's
//! results.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};

use super::deform::{self, Results};
use super::stage_mesh::StageMesh;
use super::{Bounds, Control, DrawBackend, Result, Stage};
use sinew::gpu::{Deformed, ReadTicket};

/// The distances between the GPU's points and those of the CPU mirror, in the stage's units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// The largest distance.
    pub largest: f64,
    /// Path of the prim with the largest distance; empty if all points agree.
    pub prim: String,
    /// The mean distance.
    pub mean: f64,
    /// Number of points that were compared.
    pub points: usize,
}

/// More points than these are not computed on the CPU if the GPU has them.
const MANY: usize = 200_000;

impl Stage {
    /// The CPU mirror's results for the current poses, by index of the mesh.
    pub(super) fn results(&self) -> &Arc<Vec<Results>> {
        self.results.get_or_init(|| {
            let deforms: Vec<_> = self.meshes.iter().map(|m| m.deform.as_ref()).collect();
            Arc::new(deform::deform_on_cpu(deforms))
        })
    }

    /// The current points of a mesh in world space, by the CPU mirror. `mesh` is an index into
    /// [`Stage::meshes`]; if there is no such mesh, the result is empty.
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
                let drawn = self.geometry.drawn(stage_mesh.drawn);
                let points = drawn.and_then(|mesh| mesh.points.at(self.time));
                points.iter().flat_map(|p| p.iter()).map(place).collect()
            }
        }
    }

    /// The current points of a mesh in local space, by the CPU mirror. Unlike [`Stage::points`] it
    /// deforms this mesh alone, if no others are needed yet.
    pub(super) fn local_points(&self, mesh: usize) -> Vec<Vec3> {
        let Some(stage_mesh) = self.meshes.get(mesh) else {
            return Vec::new();
        };
        let local = stage_mesh.local_from_mesh.as_mat4();
        let place = |p: &Vec3| local.transform_point3(*p);
        let Some(deform) = &stage_mesh.deform else {
            let drawn = self.geometry.drawn(stage_mesh.drawn);
            let points = drawn.and_then(|d| d.points.at(self.time));
            return points.iter().flat_map(|p| p.iter()).map(place).collect();
        };
        match self.results.get() {
            Some(results) => results[mesh].points.iter().map(place).collect(),
            None => {
                let results = deform::deform_on_cpu([Some(deform)]);
                results[0].points.iter().map(place).collect()
            }
        }
    }

    /// The current bounding box of one mesh in world space; empty if it is invisible. `mesh` is an
    /// index into [`Stage::meshes`].
    #[must_use]
    pub fn mesh_bounds(&self, mesh: usize) -> Bounds {
        match self.meshes.get(mesh).is_some_and(|m| m.visible) {
            true => Bounds::of(self.points(mesh)),
            false => Bounds::EMPTY,
        }
    }

    /// The current bounding box of all visible meshes in world space, or of all joints if no mesh
    /// is visible.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let meshes = (0..self.meshes.len()).map(|i| self.mesh_bounds(i));
        let bounds = meshes.fold(Bounds::EMPTY, Bounds::union);
        if !bounds.is_empty() {
            return bounds;
        }
        self.joint_bounds()
    }

    /// The points that a camera has to frame, in world space: those that [`Stage::bounds`]
    /// encloses, or the corners of that box if there are very many.
    #[must_use]
    pub fn outline(&self) -> Vec<DVec3> {
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

    /// The box that the ground lies under, and that sizes of overlays are taken from, in world
    /// space: that of the file's first time, moved along the ground with the joints. So a picture of
    /// a time does not depend on what was drawn before, and nothing jumps while a clip plays. The
    /// current box if nothing is visible at the first time.
    pub(super) fn ground_bounds(&self) -> Bounds {
        let (bounds, joints) = self.ground;
        let up = if self.up_axis() == 'Z' {
            DVec3::Z
        } else {
            DVec3::Y
        };
        let walked = self.joint_bounds().center() - joints.center();
        let along_ground = walked - up * walked.dot(up);
        match bounds.is_empty() {
            true => self.bounds(),
            false => bounds.transformed(DMat4::from_translation(along_ground)),
        }
    }

    /// The box that light, shadows and the middle of the ground are made for, in world space: the
    /// [ground's](Self::ground_bounds) while everything that is drawn lies near it, so that shadows
    /// keep their sharpness while a clip plays, and otherwise the current box.
    pub(super) fn lit_bounds(&self) -> Bounds {
        let ground = self.ground_bounds();
        let on_gpu = self.control.backend == DrawBackend::Gpu;
        if on_gpu && self.deformed_points() > MANY {
            // The CPU would skin all of them for each picture.
            return ground;
        }
        let now = self.bounds();
        let is_near = now
            .corners()
            .iter()
            .all(|c| c.distance(ground.center()) <= ground.reach());
        match is_near || now.is_empty() {
            true => ground,
            false => now,
        }
    }

    /// The bounding box of all joints, in world space.
    pub(super) fn joint_bounds(&self) -> Bounds {
        self.skeletons
            .iter()
            .fold(Bounds::EMPTY, |b, s| b.union(s.bounds()))
    }

    /// Compares the GPU's points with those of the CPU mirror, in the current pose. The blocking
    /// form of [`Stage::start_difference`] with [`Stage::take_difference`].
    ///
    /// # Errors
    /// [`super::Error::Gpu`] if the device is lost or has no memory.
    pub fn difference(&mut self) -> Result<Difference> {
        let comparison = self.start_difference()?;
        let read = self.on_gpu.crowd.wait(&comparison.ticket)?;
        Ok(self.distances(&comparison, &read))
    }

    /// Starts to compare the GPU's points with those of the CPU mirror, in the current pose.
    /// Nothing waits: await [`Comparison::arrived`] and call [`Stage::take_difference`]. The stage
    /// may take other poses meanwhile.
    ///
    /// # Errors
    /// [`super::Error::Gpu`] if the device is lost or has no memory.
    pub fn start_difference(&mut self) -> Result<Comparison> {
        let control = self.control.clone();
        let on_gpu = Control {
            backend: DrawBackend::Gpu,
            ..control.clone()
        };
        self.set_time(self.time, &on_gpu)?;
        let instance = |(i, mesh): (usize, &StageMesh)| Some((i, mesh.deform.as_ref()?.instance?));
        let of_gpu = self.meshes.iter().enumerate().filter_map(instance);
        let (meshes, ids): (Vec<_>, Vec<_>) = of_gpu.unzip();
        let ticket = self.on_gpu.crowd.submit_and_read(&ids)?;
        let mirror = Arc::clone(self.results());
        self.set_time(self.time, &control)?;
        Ok(Comparison {
            ticket,
            meshes,
            mirror,
        })
    }

    /// Returns the difference that a comparison found; `None` while it is under way. It can be
    /// taken once: later calls fail.
    ///
    /// # Errors
    /// [`super::Error::Gpu`] if the device is lost.
    pub fn take_difference(&mut self, comparison: &Comparison) -> Option<Result<Difference>> {
        let read = self.on_gpu.crowd.take(&comparison.ticket)?;
        let difference = read.map(|read| self.distances(comparison, &read));
        Some(difference.map_err(Into::into))
    }

    /// The distances of points that were read from those of the mirror.
    fn distances(&self, comparison: &Comparison, read: &[Deformed]) -> Difference {
        let mut out = Difference::default();
        let mut sum = 0.0;
        for (i, gpu) in comparison.meshes.iter().zip(read) {
            for (a, b) in gpu.points.iter().zip(&comparison.mirror[*i].points) {
                let distance = a.as_dvec3().distance(b.as_dvec3());
                sum += distance;
                out.points += 1;
                if distance > out.largest {
                    out.largest = distance;
                    if let Some(mesh) = self.geometry.drawn(self.meshes[*i].drawn) {
                        out.prim.clone_from(&mesh.path);
                    }
                }
            }
        }
        out.mean = sum / out.points.max(1) as f64;
        out
    }
}

/// A comparison of the GPU's points with those of the CPU mirror, from [`Stage::start_difference`].
#[derive(Debug)]
pub struct Comparison {
    ticket: ReadTicket,
    /// Index of the mesh of each result that is read.
    meshes: Vec<usize>,
    /// The mirror's results, by index of the mesh.
    mirror: Arc<Vec<Results>>,
}

impl Comparison {
    /// Returns a future that is ready when [`Stage::take_difference`] has an answer, as
    /// [`ReadTicket::arrived`] says.
    pub fn arrived(&self) -> impl Future<Output = ()> + Send + use<> {
        self.ticket.arrived()
    }
}
