//! Results of a crowd: buffers on the GPU, readings and bounding boxes.

use glam::Vec3;

use super::Crowd;
use crate::gpu::device::error::GpuError;
use crate::gpu::store::bounds::{BoundsStore, BoundsUse, not_read_back};
use crate::gpu::store::instances::InstanceId;
use crate::gpu::store::outputs::OutputSlice;
use crate::gpu::store::readings::{Deformed, ReadTicket};
use crate::gpu::store::target::{NORMALS, POINTS, PREVIOUS, TANGENTS};

impl Crowd {
    /// The buffer and byte range of an instance's positions on the GPU. Usually this is one run.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn points_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, POINTS)
    }

    /// The buffer and byte range of an instance's normals on the GPU; empty if it has none.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn normals_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, NORMALS)
    }

    /// The buffer and byte range of an instance's tangents on the GPU; empty if it has none.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn tangents_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, TANGENTS)
    }

    /// The buffer and byte range of an instance's previous positions on the GPU: those of the frame
    /// before the last encoded one. Empty if its target leaves them out.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn previous_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, PREVIOUS)
    }

    fn on_gpu(&self, id: InstanceId, kind: usize) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        let instance = self.stores.instances.get(id)?;
        let skin = self.stores.skins.get(instance.skin)?;
        Ok(self.stores.outputs.slices(instance, skin, kind))
    }

    /// Waits for the last submitted frame and reads the results of some instances. For use without
    /// a frame loop; [`Crowd::request_read`] does not wait.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::NoFrame`] if no frame was encoded
    /// yet, [`GpuError::Invalid`] if results are in a caller's buffer without usage `COPY_SRC`; a
    /// lost device.
    pub fn read(&mut self, instances: &[InstanceId]) -> Result<Vec<Deformed>, GpuError> {
        self.readings.read(&self.skinner, &self.stores, instances)
    }

    /// Reads the points of one instance, in the space of its pose.
    ///
    /// # Errors
    /// As [`Crowd::read`].
    pub fn read_points(&mut self, instance: InstanceId) -> Result<Vec<Vec3>, GpuError> {
        Ok(self.read(&[instance])?.remove(0).points)
    }

    /// Reads the normals of one instance, in the space of its pose; `None` if it has none.
    ///
    /// # Errors
    /// As [`Crowd::read`].
    pub fn read_normals(&mut self, instance: InstanceId) -> Result<Option<Vec<Vec3>>, GpuError> {
        Ok(self.read(&[instance])?.remove(0).normals)
    }

    /// Records copies of the results of some instances into the caller's encoder, to a staging
    /// buffer. The results are those of the last encoded frame. Once the encoder is submitted and
    /// done, the buffer is mapped. Nothing waits: await [`ReadTicket::arrived`] and call
    /// [`Crowd::take`], or call [`Crowd::poll`] and [`Crowd::take`] once a frame until it returns
    /// the results.
    ///
    /// A staging buffer is reused after its results were taken. At most [`Crowd::MOST_READS`] are
    /// in use.
    ///
    /// # Errors
    /// [`GpuError::Busy`] if [`Crowd::MOST_READS`] readings are under way; [`GpuError::Foreign`]
    /// for a foreign id; [`GpuError::NoFrame`] for an instance without an encoded frame;
    /// [`GpuError::Invalid`] if results are in a caller's buffer without usage `COPY_SRC`;
    /// [`GpuError::Limit`] for more bytes than a buffer holds; out of memory.
    pub fn request_read(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        instances: &[InstanceId],
    ) -> Result<ReadTicket, GpuError> {
        self.readings
            .request(&self.skinner, &self.stores, encoder, instances)
    }

    /// Encodes a frame and a reading of some instances' results after it, and submits both without
    /// waiting. [`Crowd::wait`] or [`Crowd::take`] returns the results. More frames may be
    /// submitted before that: they do not overwrite results that are still to be read. So the
    /// device works on one batch while the host prepares the next one and uses the last one.
    ///
    /// # Errors
    /// As [`Crowd::encode`] and [`Crowd::request_read`]. If only the latter fails, the frame is
    /// submitted, and [`Crowd::read`] can read it.
    pub fn submit_and_read(&mut self, instances: &[InstanceId]) -> Result<ReadTicket, GpuError> {
        let mut encoder = self.encoder()?;
        self.encode(&mut encoder)?;
        let ticket = self.request_read(&mut encoder, instances);
        let submission = self.submit_encoder(encoder)?;
        ticket.map(|mut ticket| {
            ticket.set_submission(submission);
            ticket
        })
    }

    /// Waits for a reading whose commands are submitted, and returns its results in the order of
    /// the instances that were asked for. The blocking form of [`ReadTicket::arrived`] with
    /// [`Crowd::take`].
    ///
    /// # Errors
    /// As [`Crowd::take`] and [`crate::gpu::wait_for`].
    pub fn wait(&mut self, ticket: &ReadTicket) -> Result<Vec<Deformed>, GpuError> {
        self.readings.wait(&self.skinner, ticket)
    }

    /// Lets the device call back for finished work, without waiting. A host that polls its device
    /// itself need not call it.
    ///
    /// # Errors
    /// A lost device.
    pub fn poll(&mut self) -> Result<(), GpuError> {
        self.readings.poll(&self.skinner)
    }

    /// Returns the results of a reading, in the order of the instances that were asked for; `None`
    /// while they are under way. They can be taken once: later calls fail.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a ticket of another crowd or one whose results were taken,
    /// [`GpuError::NotSubmitted`] for one whose encoder was dropped; a lost device.
    pub fn take(&mut self, ticket: &ReadTicket) -> Option<Result<Vec<Deformed>, GpuError>> {
        self.readings.take(&self.skinner, ticket)
    }
}

/// Bounding boxes.
impl Crowd {
    /// Computes the bounding box of each instance's positions from the next frame on, in the space
    /// of its pose (`out_from_skel`). That takes two more passes: one dispatch per output buffer,
    /// and one in all. The next frame computes instances with update rates too, as if
    /// [`Crowd::reset_previous`] was called for them.
    ///
    /// # Errors
    /// Out of memory.
    pub fn enable_bounds(&mut self, wanted: BoundsUse) -> Result<(), GpuError> {
        match &mut self.stores.bounds {
            Some(bounds) => bounds.wanted = wanted,
            none => {
                *none = Some(BoundsStore::new(&self.skinner, wanted)?);
                // Or their boxes would be empty until it is their turn.
                self.stores.instances.renew_slowed();
            }
        }
        Ok(())
    }

    /// Stops computing bounding boxes.
    pub fn disable_bounds(&mut self) {
        self.stores.bounds = None;
    }

    /// The boxes that the last encoded frame computes, for binding as `array<vec4<f32>>` (storage).
    /// The minimum corner of an instance is at `2 * id.index()`, the maximum after it, both with
    /// `w` 0. Positions with a NaN are ignored; infinite positions make infinite boxes. The box is
    /// empty for a hidden instance, for one without points and for an index that is free: minimum
    /// 3.4e38, maximum -3.4e38, in every coordinate. An instance that a mask or its update rate
    /// leaves out keeps its box ([`Crowd::set_visibility`]).
    ///
    /// [`Crowd::encode`] replaces the buffer if there are more indices than it holds
    /// ([`Crowd::bounds_generation`]). `None` if bounds are not enabled.
    #[must_use]
    pub fn bounds_on_gpu(&self) -> Option<&wgpu::Buffer> {
        Some(&self.stores.bounds.as_ref()?.boxes.buffer)
    }

    /// A number that grows whenever the buffer of [`Crowd::bounds_on_gpu`] was replaced.
    #[must_use]
    pub fn bounds_generation(&self) -> u64 {
        let bounds = self.stores.bounds.as_ref();
        bounds.map_or(0, |bounds| bounds.boxes.replaced)
    }

    /// The newest box of an instance that was read back: minimum and maximum corner, in the space
    /// of its pose a few frames ago. `None` if none has arrived yet, and if the box is empty. It
    /// does not wait; call [`Crowd::poll`] so that boxes arrive.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::Invalid`] without
    /// [`BoundsUse::ReadBack`]; a lost device.
    pub fn latest_bounds(&mut self, instance: InstanceId) -> Result<Option<[Vec3; 2]>, GpuError> {
        let since = self.stores.instances.get(instance)?.since;
        match &mut self.stores.bounds {
            Some(bounds) => bounds.latest(&self.skinner, instance, since),
            None => Err(not_read_back()),
        }
    }
}
