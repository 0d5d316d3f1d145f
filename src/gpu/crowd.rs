//! Many instances of many skins, in as few dispatches as the device allows.

use std::sync::Arc;

use super::error::guarded;
use super::frame::{self, Instance, OutPlace, dispatches};
use super::growing::Growing;
use super::skinner::Skinner;
use super::slices::{self, GpuSkin, SkinPage};
use super::staging::Staging;
use super::timing::Timing;
use super::{Deformed, GpuError, GpuTimes};
use crate::kernel::{PackedPose, PackedSkin};

/// A skin of a [`Crowd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SkinId(u32);

/// An instance of a [`Crowd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstanceId(pub(super) u32);

#[derive(Debug)]
pub(super) struct OutPage {
    pub points: Growing,
    pub normals: Growing,
}

#[derive(Debug)]
pub(super) struct PoseBuffers {
    pub palettes: Growing,
    pub channels: Growing,
    pub sub_weights: Growing,
}

/// Skins, instances and outputs on one device. A lone mesh is a crowd of one.
///
/// For a bake, make as many instances of a skin as there are times in flight, and pose each at its
/// own time: one submit skins them all.
#[derive(Debug)]
pub struct Crowd {
    pub(super) skinner: Skinner,
    pub(super) skins: Vec<(Arc<PackedSkin>, GpuSkin)>,
    pub(super) instances: Vec<Instance>,
    pub(super) skin_pages: Vec<SkinPage>,
    pub(super) pose_pages: Vec<PoseBuffers>,
    pub(super) out_pages: Vec<OutPage>,
    /// Item tables and dispatch records.
    pub(super) tables: Option<Growing>,
    pub(super) staging: Staging,
    pub(super) readback: Option<wgpu::Buffer>,
    pub(super) timing: Option<Timing>,
    /// Instances that the last encoded frame wrote.
    pub(super) encoded: usize,
}

impl Crowd {
    pub(super) fn new(skinner: &Skinner) -> Self {
        Self {
            skinner: skinner.clone(),
            skins: Vec::new(),
            instances: Vec::new(),
            skin_pages: Vec::new(),
            pose_pages: Vec::new(),
            out_pages: Vec::new(),
            tables: None,
            staging: Staging::new(),
            readback: None,
            timing: skinner.timestamps.then(|| Timing::new(&skinner.device)),
            encoded: 0,
        }
    }

    /// Uploads a skin's rest data, once for all its instances.
    ///
    /// # Errors
    /// [`GpuError::Limit`] where one point's data is larger than a binding; out of memory.
    pub fn add_skin(&mut self, skin: Arc<PackedSkin>) -> Result<SkinId, GpuError> {
        let placed = slices::upload(&self.skinner, &mut self.skin_pages, &skin)?;
        self.skins.push((skin, placed));
        Ok(SkinId(self.skins.len() as u32 - 1))
    }

    /// Adds an instance and makes room for its results. It needs a pose before the next frame, and
    /// results of earlier frames may be gone.
    ///
    /// # Errors
    /// A skin of another crowd; no memory for the results.
    pub fn add_instance(&mut self, skin: SkinId) -> Result<InstanceId, GpuError> {
        let number = skin.0 as usize;
        let (_, placed) = self
            .skins
            .get(number)
            .ok_or_else(|| GpuError::Mismatch("a skin of another crowd".into()))?;
        let limit = self.skinner.limits.binding_bytes;
        let mut out = Vec::with_capacity(placed.slices.len());
        for slice in &placed.slices {
            let bytes = u64::from(slice.item.count) * 12;
            let fits = |page: &OutPage| {
                page.points.used + bytes <= limit && page.normals.used + bytes <= limit
            };
            if !self.out_pages.last().is_some_and(fits) {
                let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX;
                self.out_pages.push(OutPage {
                    points: Growing::new(&self.skinner, "skin.points", usage, limit)?,
                    normals: Growing::new(&self.skinner, "skin.normals", usage, limit)?,
                });
            }
            let page = self.out_pages.len() - 1;
            let take = |buffer: &mut Growing, wanted: bool| -> Result<u32, GpuError> {
                let first = buffer.used;
                if wanted {
                    buffer.reserve(&self.skinner, first + bytes, false)?;
                    buffer.used += bytes;
                }
                Ok((first / 4) as u32)
            };
            let buffers = &mut self.out_pages[page];
            let points = take(&mut buffers.points, slice.has_points())?;
            let normals = take(&mut buffers.normals, slice.has_normals())?;
            out.push(OutPlace {
                page,
                points,
                normals,
            });
        }
        self.instances.push(Instance {
            skin: number,
            pose: None,
            out,
        });
        self.encoded = 0;
        Ok(InstanceId(self.instances.len() as u32 - 1))
    }

    /// Removes all instances and keeps the skins; instance ids begin anew.
    pub fn clear_instances(&mut self) {
        self.instances.clear();
        self.encoded = 0;
        for page in &mut self.out_pages {
            page.points.used = 0;
            page.normals.used = 0;
        }
        // Only the last page is filled, so keep the first and let the others go.
        self.out_pages.truncate(1);
    }

    /// Every instance, in the order they were added.
    #[must_use]
    pub fn instances(&self) -> Vec<InstanceId> {
        (0..self.instances.len() as u32).map(InstanceId).collect()
    }

    /// Sets an instance's pose for the frames to come. Poses that share a palette's `Arc` share its
    /// upload.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for an id of another crowd or a pose of another skin.
    pub fn set_pose(&mut self, instance: InstanceId, pose: &PackedPose) -> Result<(), GpuError> {
        let target = self
            .instances
            .get_mut(instance.0 as usize)
            .ok_or_else(foreign)?;
        let skin = &self.skins[target.skin].0;
        pose.fits(skin)
            .map_err(|reason| GpuError::Mismatch(format!("{}: {reason}", skin.prim())))?;
        target.pose = Some(pose.clone());
        Ok(())
    }

    /// Encodes a frame and submits it, without waiting.
    ///
    /// # Errors
    /// As [`Crowd::encode`].
    pub fn submit(&mut self) -> Result<(), GpuError> {
        let device = self.skinner.device.clone();
        let mut encoder = guarded(&device, || {
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("sinew"),
            })
        })?;
        self.encode(&mut encoder)?;
        guarded(&device, || self.skinner.queue.submit([encoder.finish()])).map(|_| ())
    }

    /// Encodes and submits a frame, waits and reads every instance, in the order they were added.
    ///
    /// # Errors
    /// As [`Crowd::encode`] and [`Crowd::read`].
    pub fn run(&mut self) -> Result<Vec<Deformed>, GpuError> {
        self.submit()?;
        self.read(&self.instances())
    }

    /// GPU times of the last frame, once it is submitted; waits for it. `None` without timestamps
    /// (see [`super::SkinnerOptions`]) or before the first frame.
    ///
    /// # Errors
    /// A lost device.
    pub fn last_gpu_time(&self) -> Result<Option<GpuTimes>, GpuError> {
        match &self.timing {
            Some(timing) if timing.wrote != [false; 2] => timing.read(&self.skinner).map(Some),
            _ => Ok(None),
        }
    }

    /// Dispatches that the next frame will take; tells whether a crowd is batched as hoped.
    ///
    /// # Errors
    /// As [`Crowd::encode`].
    pub fn dispatch_count(&self) -> Result<usize, GpuError> {
        let placed: Vec<&GpuSkin> = self.skins.iter().map(|(_, gpu)| gpu).collect();
        let frame = frame::plan(&self.skinner.limits, &placed, &self.instances)?;
        let most = self.skinner.limits.workgroups;
        Ok(frame
            .weights
            .all
            .iter()
            .map(|g| dispatches(g, most).len())
            .sum::<usize>()
            + frame
                .skin
                .all
                .iter()
                .map(|g| dispatches(g, most).len())
                .sum::<usize>())
    }
}

pub(super) fn foreign() -> GpuError {
    GpuError::Mismatch("an instance of another crowd, or one that was cleared".into())
}
