//! A crowd's results: read back, or where they lie on the GPU.

use glam::{Vec3, Vec4};

use super::arena::Arena;
use super::crowd::{foreign, foreign_skin};
use super::error::guarded;
use super::frame::{HeldSkin, Instance};
use super::outputs::{OutBuffer, has};
use super::readback::{Fetch, fetch};
use super::target::{KINDS, NORMALS, POINTS, PREVIOUS, TANGENTS, WIDTHS, counts};
use super::{Crowd, Deformed, GpuError, InstanceId};

/// A run of an instance's results where they lie on the GPU: f32 triples, four to a tangent, in a buffer that a
/// renderer can bind as vertices or storage.
#[derive(Clone, Copy, Debug)]
pub struct OutputSlice<'a> {
    /// The buffer. Adding instances may replace one of the crowd's own, and then [`Crowd::outputs_generation`] grows;
    /// nothing else does.
    pub buffer: &'a wgpu::Buffer,
    /// Byte of the first element.
    pub offset: u64,
    /// Bytes from one element to the next: 12, or 16 for tangents, in the crowd's own buffers.
    pub stride: u64,
    /// First point, render vertex, or faceVarying normal of the run.
    pub first: usize,
    /// Elements in the run.
    pub count: usize,
}

impl Crowd {
    /// Waits for the last submitted frame and reads some instances' results, as many per mapped
    /// buffer as fit.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, before a frame was encoded, or for results in a buffer of the
    /// caller's without usage `COPY_SRC`; a lost device.
    pub fn read(&mut self, instances: &[InstanceId]) -> Result<Vec<Deformed>, GpuError> {
        let mut out = Vec::with_capacity(instances.len());
        for id in instances {
            let (instance, held) = self.find(*id)?;
            if !instance.written {
                return Err(GpuError::Mismatch(
                    "no frame was encoded since this instance was added".into(),
                ));
            }
            let (counts, wanted) = (counts(&held.packed), instance.target.kinds(&held.packed));
            let count = |kind: usize| wanted[kind].and(counts[kind]);
            let zeros = |kind: usize| count(kind).map(|n| vec![Vec3::ZERO; n]);
            out.push(Deformed {
                points: zeros(POINTS).unwrap_or_default(),
                normals: zeros(NORMALS),
                tangents: count(TANGENTS).map(|n| vec![Vec4::ZERO; n]),
                previous: zeros(PREVIOUS),
            });
        }
        // Ranges borrow the crowd.
        let mut staging = self.readback.take();
        let mut ranges = Vec::new();
        for (id, deformed) in instances.iter().zip(&mut out) {
            let rest: [&mut [u8]; KINDS] = [
                bytemuck::cast_slice_mut(&mut deformed.points),
                bytemuck::cast_slice_mut(deformed.normals.as_deref_mut().unwrap_or_default()),
                bytemuck::cast_slice_mut(deformed.tangents.as_deref_mut().unwrap_or_default()),
                bytemuck::cast_slice_mut(deformed.previous.as_deref_mut().unwrap_or_default()),
            ];
            for (kind, mut rest) in rest.into_iter().enumerate() {
                for slice in self.on_gpu(*id, kind)? {
                    if !slice.buffer.usage().contains(wgpu::BufferUsages::COPY_SRC) {
                        return Err(GpuError::Mismatch(
                            "results in a buffer without usage COPY_SRC cannot be read".into(),
                        ));
                    }
                    let width = WIDTHS[kind] as usize;
                    let (to, later) = rest.split_at_mut(slice.count * width);
                    rest = later;
                    ranges.push(Fetch {
                        from: slice.buffer,
                        offset: slice.offset,
                        width,
                        stride: slice.stride as usize,
                        to,
                    });
                }
            }
        }
        fetch(&self.skinner, &mut staging, &mut ranges)?;
        self.readback = staging;
        Ok(out)
    }

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

    /// What lies behind the last output of every output buffer.
    #[doc(hidden)]
    pub fn read_behind_outputs(&mut self) -> Result<Vec<f32>, GpuError> {
        let mut out = Vec::new();
        for buffer in self.out_pages.iter().flat_map(|p| &p.kinds) {
            let count = (buffer.buffer().size() - buffer.high()) as usize / 4;
            let mut tail = vec![0.0f32; count];
            let range = Fetch {
                from: buffer.buffer(),
                offset: buffer.high(),
                width: 4,
                stride: 4,
                to: bytemuck::cast_slice_mut(&mut tail),
            };
            fetch(&self.skinner, &mut self.readback, &mut [range])?;
            out.extend(tail);
        }
        Ok(out)
    }

    pub(super) fn find(&self, id: InstanceId) -> Result<(&Instance, &HeldSkin), GpuError> {
        let instance = self.instances.get(id).ok_or_else(foreign)?;
        let held = self.skins.get(instance.skin).ok_or_else(foreign_skin)?;
        Ok((instance, held))
    }

    fn on_gpu(&self, instance: InstanceId, kind: usize) -> Result<Vec<OutputSlice<'_>>, GpuError> {
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
