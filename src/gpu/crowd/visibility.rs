//! Frames that compute only what is seen, or whose turn it is.

use super::Crowd;
use crate::gpu::device::error::GpuError;
use crate::gpu::store::instances::InstanceId;
use crate::gpu::store::visibility::{UpdateRate, VisibilityMask, VisibilityStore};

impl Crowd {
    /// Lets a buffer of the host say which instances are visible: frames compute only those, and
    /// the CPU never learns which. The host's own culling writes the mask, by
    /// [`InstanceId::index`], usually with a compute pass that comes earlier in the same encoder.
    /// Words of indices without an instance are not read. Instances that [`Crowd::set_hidden`]
    /// hides stay hidden. `None` shows all instances again.
    ///
    /// An instance that is not visible keeps its results and its box
    /// ([`Crowd::bounds_on_gpu`]) from the last frame in which it was, and its workgroups end at
    /// their first instructions: no weights, no points. Rigs are posed and play out of sight too,
    /// because a fade may begin at a pose that nobody saw. Results that no frame has computed yet
    /// are undefined, and such a box is empty, so a host that culls by boxes shows instances with an
    /// empty box.
    ///
    /// When an instance becomes visible again, the frame computes it whatever its update rate, and
    /// writes the new positions as the previous positions too: there is no motion across the gap.
    ///
    /// The results of visible instances are the same to the bit as without a mask. A small pass,
    /// `schedule`, writes a word for each instance, which the workgroups of the other passes read
    /// first. Setting another mask makes a new plan, so write one buffer instead of setting two in
    /// turns. With the same mask, frames upload nothing for it.
    ///
    /// In a crowd without update rates, the first mask makes all instances new to the next frame,
    /// so their previous positions equal the new ones. So does `None` when it takes the mask away.
    ///
    /// ```
    /// use sinew::gpu::{Crowd, GpuError, VisibilityMask};
    ///
    /// /// Creates the crowd's mask, with every instance visible until the host's shader writes it.
    /// fn watch(device: &wgpu::Device, crowd: &mut Crowd) -> Result<wgpu::Buffer, GpuError> {
    ///     let mask = device.create_buffer(&wgpu::BufferDescriptor {
    ///         label: Some("visible"),
    ///         size: u64::from(crowd.index_count()).max(1) * 4,
    ///         usage: wgpu::BufferUsages::STORAGE,
    ///         mapped_at_creation: true,
    ///     });
    ///     if let Ok(mut words) = mask.slice(..).get_mapped_range_mut() {
    ///         let all = vec![1; words.len()];
    ///         words.slice(..).copy_from_slice(&all);
    ///     }
    ///     mask.unmap();
    ///     crowd.set_visibility(Some(VisibilityMask::words(mask.clone())))?;
    ///     Ok(mask)
    /// }
    /// # use sinew::wgpu;
    /// # fn main() -> Result<(), GpuError> {
    /// # use sinew::gpu::{AdapterChoice, GpuDevice, Skinner, SkinnerOptions};
    /// # let Ok(gpu) = GpuDevice::new(&AdapterChoice::Any) else { return Ok(()) };
    /// # let skinner = Skinner::new(gpu.device(), gpu.queue(), &SkinnerOptions::default())?;
    /// let mut crowd = skinner.crowd();
    /// let mask = watch(gpu.device(), &mut crowd)?;
    /// // Every frame: the host's culling writes `mask`, then:
    /// crowd.submit()?;
    /// # assert_eq!(mask.size(), 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`GpuError::Invalid`] if the buffer lacks usage `STORAGE`, or for an offset that cannot be
    /// bound; out of memory.
    /// [`Crowd::encode`] fails with [`GpuError::Invalid`] if the mask is shorter than
    /// [`Crowd::index_count`].
    pub fn set_visibility(&mut self, mask: Option<VisibilityMask>) -> Result<(), GpuError> {
        if mask.is_none() && self.stores.instances.slowed == 0 {
            if self.stores.visibility.take().is_some() {
                // The last frame of some is older than the last one.
                self.stores.instances.forget_previous();
            }
            return Ok(());
        }
        let skinner = &self.skinner;
        match &mut self.stores.visibility {
            Some(visibility) => visibility.set_mask(skinner, mask),
            none => {
                let mut visibility = VisibilityStore::new(skinner)?;
                visibility.set_mask(skinner, mask)?;
                *none = Some(visibility);
                Ok(())
            }
        }
    }

    /// The host's mask.
    #[must_use]
    pub fn visibility(&self) -> Option<&VisibilityMask> {
        self.stores.visibility.as_ref()?.mask.as_ref()
    }

    /// Computes an instance only in some frames, such as every fourth for a distant one
    /// (`set_update_rate(id, 4)`). Instances with the same rate are spread over frames by
    /// [`UpdateRate::phase`]. Changing a rate uploads a few words and keeps the plan, apart from
    /// the first rate above 1 in a crowd without a mask: that makes a new plan, as a mask does.
    /// [`Crowd::set_visibility`] with `None` makes the pass `schedule` go away again, if all rates
    /// are 1.
    ///
    /// In other frames the instance keeps its results, its box and its pose: a pose that is set
    /// meanwhile waits. In the first of those frames its previous positions become equal to its
    /// positions, so it has no motion while it stands still. When it is computed, its previous
    /// positions are those of the last frame in which it was. [`Crowd::reset_previous`] computes it
    /// in the next frame, whatever its rate.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::Invalid`] for a rate of 0; out of
    /// memory. After an error the rate is unchanged.
    pub fn set_update_rate(
        &mut self,
        instance: InstanceId,
        rate: impl Into<UpdateRate>,
    ) -> Result<(), GpuError> {
        let rate = rate.into();
        self.stores.instances.get(instance)?;
        if rate.every > 1 && self.stores.visibility.is_none() {
            self.stores.visibility = Some(VisibilityStore::new(&self.skinner)?);
        }
        self.stores.instances.set_rate(instance, rate)
    }

    /// How often an instance is computed.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn update_rate(&self, instance: InstanceId) -> Result<UpdateRate, GpuError> {
        Ok(self.stores.instances.get(instance)?.rate)
    }
}
