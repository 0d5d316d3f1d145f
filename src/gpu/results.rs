//! A crowd's results: read back, or where they lie on the GPU.

use glam::Vec3;

use super::arena::Arena;
use super::crowd::{foreign, foreign_skin};
use super::error::guarded;
use super::frame::{HeldSkin, Instance};
use super::out_sets::OutBuffer;
use super::outputs::has;
use super::target::{NORMALS, POINTS, PREVIOUS, TANGENTS};
use super::{Crowd, GpuError, InstanceId};

/// A run of an instance's results where they lie on the GPU: f32 triples, four to a tangent (or a word to a normal, see [`super::NormalFormat`]), in a buffer that a
/// renderer can bind as vertices or storage.
#[derive(Clone, Copy, Debug)]
pub struct OutputSlice<'a> {
    /// The buffer. Adding instances may replace one of the crowd's own, and then [`Crowd::outputs_generation`] grows;
    /// nothing else does.
    pub buffer: &'a wgpu::Buffer,
    /// Byte of the first element.
    pub offset: u64,
    /// Bytes from one element to the next: 12, 16 for tangents or 4 for octahedral normals, in the crowd's own buffers.
    pub stride: u64,
    /// First point, render vertex, or faceVarying normal of the run.
    pub first: usize,
    /// Elements in the run.
    pub count: usize,
}

impl Crowd {
    /// Points of one instance, as [`Crowd::read`].
    ///
    /// # Errors
    /// As [`Crowd::read`].
    pub fn read_points(&mut self, instance: InstanceId) -> Result<Vec<Vec3>, GpuError> {
        Ok(self.read(&[instance])?.remove(0).points)
    }

    /// Normals of one instance, `None` where its skin has none.
    ///
    /// # Errors
    /// As [`Crowd::read`].
    pub fn read_normals(&mut self, instance: InstanceId) -> Result<Option<Vec<Vec3>>, GpuError> {
        Ok(self.read(&[instance])?.remove(0).normals)
    }

    /// Where an instance's positions lie on the GPU, usually one run.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn points_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, POINTS)
    }

    /// Where an instance's normals lie on the GPU; empty where it has none.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn normals_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, NORMALS)
    }

    /// Where an instance's tangents lie on the GPU; empty where it has none.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn tangents_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, TANGENTS)
    }

    /// Where an instance's positions of the frame before lie on the GPU; empty where it was not asked for them.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn previous_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, PREVIOUS)
    }

    /// Fills every output buffer with one value, to see what a frame writes.
    #[doc(hidden)]
    pub fn fill_outputs(&mut self, value: f32) -> Result<(), GpuError> {
        guarded(&self.skinner.device, || {
            for buffer in self
                .out_pages
                .iter()
                .flat_map(|p| &p.kinds)
                .map(Arena::buffer)
            {
                let values = vec![value; buffer.size() as usize / 4];
                self.skinner
                    .queue
                    .write_buffer(buffer, 0, bytemuck::cast_slice(&values));
            }
            self.skinner.queue.submit([]);
        })
    }

    pub(super) fn find(&self, id: InstanceId) -> Result<(&Instance, &HeldSkin), GpuError> {
        let instance = self.instances.get(id).ok_or_else(foreign)?;
        let held = self.skins.get(instance.skin).ok_or_else(foreign_skin)?;
        Ok((instance, held))
    }

    pub(super) fn on_gpu(
        &self,
        instance: InstanceId,
        kind: usize,
    ) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        let (instance, held) = self.find(instance)?;
        let places = instance.out.iter().zip(&held.gpu.slices);
        let found = places.filter_map(|(out, slice)| {
            let place = out.kinds[kind].filter(|_| has(slice, kind))?;
            let set = self.out_sets.get(out.set);
            let (buffer, window) = match &set.buffers[usize::from(set.slots[kind])] {
                OutBuffer::Own(page, kind) => (self.out_pages[*page].kinds[*kind].buffer(), 0),
                OutBuffer::Of(buffer, window) => (buffer, *window),
                OutBuffer::Unused => return None,
            };
            Some(OutputSlice {
                buffer,
                offset: window + u64::from(place.first) * 4,
                stride: u64::from(place.stride) * 4,
                first: slice.first,
                count: slice.item.count as usize,
            })
        });
        Ok(found.collect())
    }
}
