//! A crowd's results: read back, or where they lie on the GPU.

use glam::Vec3;

use super::crowd::{foreign, foreign_skin};
use super::error::guarded;
use super::frame::{HeldSkin, Instance, OutPlace};
use super::outputs::OutPage;
use super::readback::{Fetch, fetch};
use super::slices::Slice;
use super::{Crowd, Deformed, GpuError, InstanceId};

/// A run of an instance's results where they lie on the GPU: tight f32 triples, in a buffer that a
/// renderer can bind as vertices or storage.
#[derive(Clone, Copy, Debug)]
pub struct OutputSlice<'a> {
    /// The buffer. Adding instances may replace it, and then [`Crowd::outputs_generation`] grows;
    /// nothing else does.
    pub buffer: &'a wgpu::Buffer,
    /// Byte of the first element.
    pub offset: u64,
    /// First point, or normal, of the run.
    pub first: usize,
    /// Points, or normals, in the run.
    pub count: usize,
}

impl Crowd {
    /// Waits for the last submitted frame and reads some instances' results, as many per mapped
    /// buffer as fit.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id or before a frame was encoded; a lost device.
    pub fn read(&mut self, instances: &[InstanceId]) -> Result<Vec<Deformed>, GpuError> {
        let mut out = Vec::with_capacity(instances.len());
        for id in instances {
            let skin = &self.find(*id)?.1.packed;
            let zeros = |count| vec![Vec3::ZERO; count];
            out.push(Deformed {
                points: zeros(skin.point_count()),
                normals: skin.normals().map(|_| zeros(skin.normal_count())),
            });
        }
        let mut ranges = Vec::new();
        for (id, deformed) in instances.iter().zip(&mut out) {
            let places = self.places(*id)?;
            let mut points = &mut deformed.points[..];
            let mut normals = deformed.normals.as_deref_mut().unwrap_or_default();
            for (place, slice) in places {
                let page = &self.out_pages[place.page];
                let count = slice.item.count as usize;
                if slice.has_points() {
                    let (now, later) = points.split_at_mut(count);
                    points = later;
                    ranges.push(Fetch {
                        from: page.points.buffer(),
                        offset: u64::from(place.points) * 4,
                        to: now,
                    });
                }
                if slice.has_normals() {
                    let (now, later) = normals.split_at_mut(count);
                    normals = later;
                    ranges.push(Fetch {
                        from: page.normals.buffer(),
                        offset: u64::from(place.normals) * 4,
                        to: now,
                    });
                }
            }
        }
        fetch(&self.skinner, &mut self.readback, &mut ranges)?;
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

    /// Where an instance's points lie on the GPU, usually one run.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn points_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, Slice::has_points, |page, place| {
            (page.points.buffer(), place.points)
        })
    }

    /// Where an instance's normals lie on the GPU; empty for a skin without normals.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn normals_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, Slice::has_normals, |page, place| {
            (page.normals.buffer(), place.normals)
        })
    }

    /// Fills every output buffer with one value, to see what a frame writes.
    #[doc(hidden)]
    pub fn fill_outputs(&mut self, value: f32) -> Result<(), GpuError> {
        guarded(&self.skinner.device, || {
            for buffer in self
                .out_pages
                .iter()
                .flat_map(|p| [p.points.buffer(), p.normals.buffer()])
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
        for buffer in self.out_pages.iter().flat_map(|p| [&p.points, &p.normals]) {
            let count = (buffer.buffer().size() - buffer.high()) as usize / 12;
            let mut tail = vec![Vec3::ZERO; count];
            let range = Fetch {
                from: buffer.buffer(),
                offset: buffer.high(),
                to: &mut tail,
            };
            fetch(&self.skinner, &mut self.readback, &mut [range])?;
            out.extend(tail.iter().flat_map(|v| v.to_array()));
        }
        Ok(out)
    }

    pub(super) fn find(&self, id: InstanceId) -> Result<(&Instance, &HeldSkin), GpuError> {
        let instance = self.instances.get(id).ok_or_else(foreign)?;
        let held = self.skins.get(instance.skin).ok_or_else(foreign_skin)?;
        Ok((instance, held))
    }

    /// Places of an instance's slices, once a frame has written them.
    fn places(
        &self,
        id: InstanceId,
    ) -> Result<impl Iterator<Item = (OutPlace, &Slice)> + '_, GpuError> {
        let (instance, held) = self.find(id)?;
        if !instance.written {
            return Err(GpuError::Mismatch(
                "no frame was encoded since this instance was added".into(),
            ));
        }
        let places = instance.out.iter().zip(&held.gpu.slices);
        Ok(places.map(|(place, slice)| (*place, slice)))
    }

    fn on_gpu<'a>(
        &'a self,
        instance: InstanceId,
        wanted: impl Fn(&Slice) -> bool,
        pick: impl Fn(&'a OutPage, &OutPlace) -> (&'a wgpu::Buffer, u32),
    ) -> Result<Vec<OutputSlice<'a>>, GpuError> {
        let (instance, held) = self.find(instance)?;
        let places = instance.out.iter().zip(&held.gpu.slices);
        let found = places
            .filter(|(_, slice)| wanted(slice))
            .map(|(place, slice)| {
                let (buffer, float) = pick(&self.out_pages[place.page], place);
                OutputSlice {
                    buffer,
                    offset: u64::from(float) * 4,
                    first: slice.first,
                    count: slice.item.count as usize,
                }
            });
        Ok(found.collect())
    }
}
