//! Results as the triangles of acceleration structures, for ray tracing.

use std::ops::Range;

use super::outputs::OutputSlice;
use crate::gpu::device::error::GpuError;

/// Triangles of an instance's positions, as wgpu's bottom-level acceleration structures (BLAS) take
/// them. The structure reads the positions where the crowd writes them; nothing is copied.
///
/// The device has to be opened with the feature `EXPERIMENTAL_RAY_QUERY`. Then the crowd's own
/// buffers of positions have the usage `BLAS_INPUT`; a buffer of the caller's needs it too.
///
/// Create the structure once from [`BlasTriangles::size`], of one instance or of several, with
/// `AccelerationStructureUpdateMode::PreferUpdate`. In each frame, after
/// [`Crowd::encode`](crate::gpu::Crowd::encode) and in the same encoder, make the triangles and give
/// [`BlasTriangles::geometry`] of each to `build_acceleration_structures`. An instance that a frame
/// does not compute, since it is hidden, keeps its last positions: leave its structure out of the
/// top-level structure (TLAS).
///
/// ```no_run
/// # use sinew::gpu::{BlasTriangles, Crowd, GpuError, InstanceId};
/// # use sinew::wgpu;
/// # fn frame(crowd: &Crowd, hero: InstanceId, indices: &wgpu::Buffer, device: &wgpu::Device,
/// #     tlas: &wgpu::Tlas, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
/// // `indices` are those of the render vertices, three of 32 bits for each triangle.
/// let triangles = BlasTriangles::new(&crowd.points_on_gpu(hero)?, indices, 0..3000)?;
/// // Once:
/// let descriptor = wgpu::CreateBlasDescriptor {
///     label: Some("hero"),
///     flags: wgpu::AccelerationStructureFlags::ALLOW_UPDATE,
///     update_mode: wgpu::AccelerationStructureUpdateMode::PreferUpdate,
/// };
/// let descriptors = vec![triangles.size.clone()];
/// let sizes = wgpu::BlasGeometrySizeDescriptors::Triangles { descriptors };
/// let blas = device.create_blas(&descriptor, sizes);
/// // Every frame, after `crowd.encode(encoder)`:
/// let geometry = wgpu::BlasGeometries::TriangleGeometries(vec![triangles.geometry()]);
/// encoder.build_acceleration_structures(&[wgpu::BlasBuildEntry { blas: &blas, geometry }], [tlas]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BlasTriangles<'a> {
    /// The counts and formats that the structure is created with. Its triangles are opaque;
    /// change `flags` if a shader should decide at each hit.
    pub size: wgpu::BlasTriangleGeometrySizeDescriptor,
    vertices: &'a wgpu::Buffer,
    first_vertex: u32,
    vertex_stride: u64,
    indices: &'a wgpu::Buffer,
    first_index: u32,
}

impl<'a> BlasTriangles<'a> {
    /// The triangles that `range` of `indices` lists, of all positions of an instance
    /// ([`Crowd::points_on_gpu`](crate::gpu::Crowd::points_on_gpu)). Indices have 32 bits and count
    /// from the instance's first position.
    ///
    /// wgpu counts the place of the first position in elements, as Metal requires
    /// (<https://github.com/gfx-rs/wgpu/pull/9220>). So in a buffer of the caller's its byte has to
    /// be a multiple of the stride: an interleaved vertex begins with its position. wgpu
    /// checks the rest when the structure is built: the usages, that the last element is whole, and
    /// that the range is of triangles and ends within the indices. Nobody checks that the indices
    /// are less than the number of positions.
    ///
    /// # Errors
    /// [`GpuError::Invalid`] if there are no positions, or if they are not side by side in one
    /// buffer; if the first one is not at a multiple of the stride.
    pub fn new(
        positions: &[OutputSlice<'a>],
        indices: &'a wgpu::Buffer,
        range: Range<u32>,
    ) -> Result<Self, GpuError> {
        let wrong = |expected, found| GpuError::invalid("acceleration structure", expected, found);
        let all = joined(positions).ok_or_else(|| {
            let expected = "all positions of an instance side by side in one buffer";
            wrong(
                expected.to_owned(),
                format!("{} runs of them", positions.len()),
            )
        })?;
        let OutputSlice { offset, stride, .. } = all;
        let elements = offset
            .checked_div(stride)
            .filter(|first| first * stride == offset);
        let first_vertex = elements
            .and_then(|first| first.try_into().ok())
            .ok_or_else(|| {
                let expected =
                    format!("the first position at a multiple of its stride, {stride} bytes");
                wrong(expected, format!("it at byte {offset}"))
            })?;
        Ok(Self {
            size: wgpu::BlasTriangleGeometrySizeDescriptor {
                vertex_format: wgpu::VertexFormat::Float32x3,
                vertex_count: all.count as u32,
                index_format: Some(wgpu::IndexFormat::Uint32),
                index_count: Some(range.len() as u32),
                flags: wgpu::AccelerationStructureGeometryFlags::OPAQUE,
            },
            vertices: all.buffer,
            first_vertex,
            vertex_stride: stride,
            indices,
            first_index: range.start,
        })
    }

    /// What `build_acceleration_structures` reads of them. The positions are in the space of the
    /// instance's pose (`out_from_skel`).
    #[must_use]
    pub fn geometry(&self) -> wgpu::BlasTriangleGeometry<'_> {
        wgpu::BlasTriangleGeometry {
            size: &self.size,
            vertex_buffer: self.vertices,
            first_vertex: self.first_vertex,
            vertex_stride: self.vertex_stride,
            index_buffer: Some(self.indices),
            first_index: Some(self.first_index),
            transform_buffer: None,
            transform_buffer_offset: None,
        }
    }
}

/// The runs as one, if they follow each other in one buffer from the first element on.
fn joined<'a>(runs: &[OutputSlice<'a>]) -> Option<OutputSlice<'a>> {
    let mut all = *runs.first()?;
    for next in &runs[1..] {
        let follows = next.buffer == all.buffer
            && next.stride == all.stride
            && next.first == all.first + all.count
            && next.offset == all.offset + all.count as u64 * all.stride;
        all.count += follows.then_some(next.count)?;
    }
    (all.first == 0 && all.count > 0).then_some(all)
}
