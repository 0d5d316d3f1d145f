//! Results as the triangles of acceleration structures, for ray tracing.

use std::ops::Range;

use super::outputs::OutputSlice;
use crate::gpu::device::error::GpuError;

/// Triangles of an instance's positions, as wgpu's bottom-level acceleration structures (BLAS) take
/// them. The structure reads the positions where the crowd writes them; nothing is copied.
///
/// Create the structure once from [`BlasTriangles::size`], of one instance or of several, with
/// `AccelerationStructureUpdateMode::PreferUpdate`. In each frame, after
/// [`Crowd::encode`](crate::gpu::Crowd::encode) and in the same encoder, give
/// `build_acceleration_structures` the [`BlasTriangles::geometry`] of each. Make them anew when
/// [`Crowd::outputs_generation`](crate::gpu::Crowd::outputs_generation) has grown.
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
    positions: OutputSlice<'a>,
    first_vertex: u32,
    indices: &'a wgpu::Buffer,
    first_index: u32,
}

impl<'a> BlasTriangles<'a> {
    /// The triangles of all positions of an instance
    /// ([`Crowd::points_on_gpu`](crate::gpu::Crowd::points_on_gpu)): those that `range` of `indices`
    /// lists. Indices have 32 bits and count from the instance's first position; that they are less
    /// than the number of positions is not checked.
    ///
    /// The positions lie in the crowd's own buffers, made with
    /// [`SkinnerOptions::blas_input`](crate::gpu::SkinnerOptions::blas_input), or in a buffer of the
    /// caller with usage `BLAS_INPUT`. wgpu counts their place in elements, so an interleaved vertex
    /// begins with its position.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] if there are no positions or they lie in several bindings; if a buffer
    /// lacks usage `BLAS_INPUT`; if the first position is not at a multiple of the stride, or the last
    /// element is not whole; if the range is not of triangles or ends behind the indices.
    pub fn new(
        runs: &[OutputSlice<'a>],
        indices: &'a wgpu::Buffer,
        range: Range<u32>,
    ) -> Result<Self, GpuError> {
        let wrong = |text: String| {
            Err(GpuError::Mismatch(format!(
                "acceleration structure: {text}"
            )))
        };
        let Some(positions) = joined(runs) else {
            let runs = runs.len();
            let text = "expected all positions of an instance side by side in one buffer";
            return wrong(format!("{text}, found {runs} runs of them"));
        };
        for (name, buffer) in [("positions", positions.buffer), ("indices", indices)] {
            let usage = buffer.usage();
            if !usage.contains(wgpu::BufferUsages::BLAS_INPUT) {
                let text = format!("{name}: expected a buffer with usage BLAS_INPUT");
                return wrong(format!("{text}, found one with {usage:?}"));
            }
        }
        let OutputSlice { offset, stride, .. } = positions;
        if offset % stride != 0 {
            let text =
                format!("positions: expected the first at a multiple of the stride of {stride}");
            return wrong(format!("{text} bytes, found it at byte {offset}"));
        }
        let (end, size) = (
            offset + positions.count as u64 * stride,
            positions.buffer.size(),
        );
        let (Ok(first_vertex), true) = (u32::try_from(offset / stride), end <= size) else {
            let text = "positions: expected a buffer that ends with a whole element";
            return wrong(format!(
                "{text}, found {size} bytes, and the last ends at byte {end}"
            ));
        };
        let (count, held) = (range.len(), indices.size() / 4);
        if count == 0 || count % 3 != 0 || u64::from(range.end) > held {
            let text = "indices: expected a range of triangles";
            return wrong(format!("{text}, found {range:?} of {held} indices"));
        }
        Ok(Self {
            size: wgpu::BlasTriangleGeometrySizeDescriptor {
                vertex_format: wgpu::VertexFormat::Float32x3,
                vertex_count: positions.count as u32,
                index_format: Some(wgpu::IndexFormat::Uint32),
                index_count: Some(count as u32),
                flags: wgpu::AccelerationStructureGeometryFlags::OPAQUE,
            },
            positions,
            first_vertex,
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
            vertex_buffer: self.positions.buffer,
            first_vertex: self.first_vertex,
            vertex_stride: self.positions.stride,
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
