//! One mesh of a stage: the buffers of its points and normals, and their bind group.

use bytemuck::cast_slice;
use glam::{DMat4, Vec3};

use super::buffers::{entry, filled, upload};
use super::deform::{self, Deform, MeshTransform, Results};
use super::material::Materials;
use super::mesh::{MeshBuffers, MeshData, NormalsOf};
use super::{JointId, heat, layouts};
use sinew::error::Invalid;
use sinew::gpu::{Crowd, GpuError, OutputSlice};
use sinew::sampled::Time;
use sinew::scene::{DrawnMesh, Scene};

/// The layout and the buffer that all meshes share.
#[derive(Debug)]
pub(super) struct Layouts {
    geometry: wgpu::BindGroupLayout,
    /// Bound in place of normals or heat that a mesh does not have.
    nothing: wgpu::Buffer,
}

impl Layouts {
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            geometry: layouts::geometry(device),
            nothing: filled(
                device,
                "render.nothing",
                &[0; 16],
                wgpu::BufferUsages::STORAGE,
            ),
        }
    }
}

/// A range of three-component vectors in a buffer.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    buffer: wgpu::Buffer,
    /// Number of floats before the first vector.
    first: u32,
}

/// A mesh of a stage on the device.
#[derive(Debug)]
pub(super) struct StageMesh {
    /// Index into [`sinew::scene::Geometry::meshes`].
    pub drawn: usize,
    pub buffers: MeshBuffers,
    pub transform: MeshTransform,
    pub deform: Option<Deform>,
    pub visible: bool,
    pub local_from_mesh: DMat4,
    points: Source,
    normals: Option<Source>,
    heat: Option<wgpu::Buffer>,
    /// Buffers of its own for points and normals, once they were needed: for data of the CPU, and
    /// for outputs of the crowd that are copied together.
    own: [Option<wgpu::Buffer>; 2],
    /// Whether the authored points of a mesh without a skin are animated.
    animated: bool,
    /// The bind group, and the buffers that it binds.
    group: Option<(wgpu::BindGroup, [wgpu::Buffer; 3])>,
}

impl StageMesh {
    /// Uploads the mesh with index `drawn`. A mesh without a skin gets its points at `time`.
    ///
    /// # Errors
    /// The mesh has no valid render vertices, or its smooth normals cannot be computed.
    #[allow(clippy::too_many_arguments, reason = "all are different and used once")]
    pub fn new(
        device: &wgpu::Device,
        layouts: &Layouts,
        drawn: usize,
        mesh: &DrawnMesh,
        transform: MeshTransform,
        deform: Option<Deform>,
        materials: &Materials,
        time: Time,
    ) -> Result<Self, Invalid> {
        let numbering = match &deform {
            Some(deform) if deform.skin.normals().is_some() => NormalsOf::Skin,
            None if mesh.normals.is_some() => NormalsOf::Vertices,
            _ => NormalsOf::Points,
        };
        let data = MeshData::new(mesh, numbering, materials)?;
        let mut own = [None, None];
        let mut normals = None;
        if deform.is_none() {
            let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let points = mesh
                .points
                .at(time)
                .or_else(|| mesh.points.first().cloned());
            let points = points.as_deref().map_or(&[][..], |p| p.as_slice());
            own[0] = Some(filled(device, "render.points", cast_slice(points), storage));
            let list = match data.normals {
                Some(_) => data.normals.clone(),
                None if mesh.subdivided => Some(deform::smooth_normals(mesh, points)?),
                None => None,
            };
            own[1] = list.map(|list| filled(device, "render.normals", cast_slice(&list), storage));
            normals = own[1].clone().map(|buffer| Source { buffer, first: 0 });
        }
        let buffer = own[0].clone().unwrap_or_else(|| layouts.nothing.clone());
        Ok(Self {
            drawn,
            buffers: data.upload(device),
            transform,
            animated: deform.is_none() && mesh.points.is_animated(),
            deform,
            visible: true,
            local_from_mesh: DMat4::IDENTITY,
            points: Source { buffer, first: 0 },
            normals,
            heat: None,
            own,
            group: None,
        })
    }

    /// Draws from the points and normals that the crowd writes, without a copy unless they are in
    /// several buffers.
    ///
    /// # Errors
    /// The crowd does not have the mesh's instance.
    pub fn use_crowd(
        &mut self,
        crowd: &Crowd,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let Some(instance) = self.deform.as_ref().and_then(|d| d.instance) else {
            return Ok(());
        };
        let [own_points, own_normals] = &mut self.own;
        if let Some(points) =
            one_source(&crowd.points_on_gpu(instance)?, own_points, device, encoder)
        {
            self.points = points;
        }
        self.normals = one_source(
            &crowd.normals_on_gpu(instance)?,
            own_normals,
            device,
            encoder,
        );
        Ok(())
    }

    /// Uploads the CPU mirror's results.
    pub fn upload(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        results: &Results,
    ) {
        let [own_points, own_normals] = &mut self.own;
        let mut put = |own: &mut Option<wgpu::Buffer>, values: &[Vec3]| {
            let buffer = buffer_of(own, device, size_of_val(values) as u64);
            upload(device, encoder, &buffer, cast_slice(values));
            Source { buffer, first: 0 }
        };
        self.points = put(own_points, &results.points);
        self.normals = (!results.normals.is_empty()).then(|| put(own_normals, &results.normals));
    }

    /// Uploads the points at a time of a mesh without a skin, if they are animated.
    pub fn follow_points(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        mesh: &DrawnMesh,
        time: Time,
    ) {
        let Some(points) = mesh.points.at(time).filter(|_| self.animated) else {
            return;
        };
        let mut put = |own: &mut Option<wgpu::Buffer>, values: &[Vec3]| {
            let buffer = buffer_of(own, device, size_of_val(values) as u64);
            upload(device, encoder, &buffer, cast_slice(values));
            Source { buffer, first: 0 }
        };
        let [own_points, own_normals] = &mut self.own;
        self.points = put(own_points, &points);
        if mesh.normals.is_none() && mesh.subdivided {
            // If normals cannot be computed, this was reported when the mesh was created.
            let normals = deform::smooth_normals(mesh, &points).ok();
            self.normals = normals.map(|normals| put(own_normals, &normals));
        }
    }

    /// Shows the weights of a joint as colours; `None` shows the material again.
    ///
    /// # Errors
    /// The influences are broken at this time.
    pub fn set_heat(
        &mut self,
        device: &wgpu::Device,
        scene: &Scene,
        joint: Option<JointId>,
        time: Time,
    ) -> Result<(), Invalid> {
        self.heat = None;
        let mut weights = match (joint, self.binding()) {
            (None, _) => return Ok(()),
            (Some(JointId { skeleton, joint }), Some(b)) => {
                heat::weights(scene, b, skeleton, &|j| j == joint, time)?
            }
            (Some(_), None) => Vec::new(),
        };
        weights.resize(weights.len().max(self.buffers.points as usize), 0.0);
        let usage = wgpu::BufferUsages::STORAGE;
        self.heat = Some(filled(device, "render.heat", cast_slice(&weights), usage));
        Ok(())
    }

    /// Index into [`Scene::bindings`], if joints move the mesh.
    pub fn binding(&self) -> Option<usize> {
        let rigid = match self.transform {
            MeshTransform::Rigid(b) => Some(b),
            _ => None,
        };
        self.deform.as_ref().map(|d| d.binding).or(rigid)
    }

    /// Creates the bind group again if a buffer was replaced.
    pub fn bind(&mut self, device: &wgpu::Device, layouts: &Layouts) {
        let normals = self
            .normals
            .as_ref()
            .map_or(&layouts.nothing, |n| &n.buffer);
        let heat = self.heat.as_ref().unwrap_or(&layouts.nothing);
        let buffers = [&self.points.buffer, normals, heat];
        if let Some((_, bound)) = &self.group
            && buffers.into_iter().eq(bound)
        {
            return;
        }
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("render.geometry"),
            layout: &layouts.geometry,
            entries: &[
                entry(0, buffers[0].as_entire_binding()),
                entry(1, buffers[1].as_entire_binding()),
                entry(2, buffers[2].as_entire_binding()),
            ],
        });
        self.group = Some((group, buffers.map(Clone::clone)));
    }

    /// The bind group, once [`StageMesh::bind`] was called.
    pub fn group(&self) -> Option<&wgpu::BindGroup> {
        self.group.as_ref().map(|(group, _)| group)
    }

    /// Whether the mesh has normals to draw.
    pub fn has_normals(&self) -> bool {
        self.normals.is_some()
    }

    /// The integers of [`super::frame::MeshUniform`]: the numbers of floats before the first point
    /// and before the first normal, whether there are normals, and whether there is heat.
    pub fn shader_inputs(&self) -> [u32; 4] {
        let normals = self.normals.as_ref();
        [
            self.points.first,
            normals.map_or(0, |n| n.first),
            u32::from(self.has_normals()),
            u32::from(self.heat.is_some()),
        ]
    }
}

/// The output of the crowd as one range. A mesh that is larger than a binding has several slices;
/// they are copied into one buffer.
fn one_source(
    slices: &[OutputSlice<'_>],
    own: &mut Option<wgpu::Buffer>,
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
) -> Option<Source> {
    match slices {
        [] => None,
        [one] => Some(Source {
            buffer: one.buffer.clone(),
            first: (one.offset / 4) as u32,
        }),
        several => {
            let count: usize = several.iter().map(|s| s.count).sum();
            let buffer = buffer_of(own, device, count as u64 * 12);
            for slice in several {
                let (to, bytes) = (slice.first as u64 * 12, slice.count as u64 * 12);
                encoder.copy_buffer_to_buffer(slice.buffer, slice.offset, &buffer, to, bytes);
            }
            Some(Source { buffer, first: 0 })
        }
    }
}

/// A buffer of at least `bytes` bytes: `own`, if it is large enough, otherwise a new one that
/// replaces it.
fn buffer_of(own: &mut Option<wgpu::Buffer>, device: &wgpu::Device, bytes: u64) -> wgpu::Buffer {
    match own {
        Some(buffer) if buffer.size() >= bytes => buffer.clone(),
        _ => {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("render.points"),
                size: bytes.next_multiple_of(4).max(16),
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            own.insert(buffer).clone()
        }
    }
}
