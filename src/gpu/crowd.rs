//! Many instances of many skins, in as few dispatches as the device allows.

use std::sync::Arc;

use glam::Vec3;

use super::error::guarded;
use super::frame::{self, Frame, Instance, OutPlace, dispatches};
use super::growing::Growing;
use super::readback::{Fetch, fetch};
use super::skinner::Skinner;
use super::slices::{self, GpuSkin, SkinPage};
use super::staging::{Staging, Upload};
use super::tables::{Launch, Tables};
use super::timing::Timing;
use super::{Deformed, GpuError, GpuTimes};
use crate::kernel::{PackedPose, PackedSkin, UNIFORM_BYTES};

/// A skin of a [`Crowd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SkinId(u32);

/// An instance of a [`Crowd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstanceId(u32);

/// A run of an instance's results where they lie on the GPU: tight f32 triples, in a buffer that a
/// renderer can bind as vertices or storage.
#[derive(Clone, Copy, Debug)]
pub struct OutputSlice<'a> {
    /// The buffer. Adding instances may replace it.
    pub buffer: &'a wgpu::Buffer,
    /// Byte of the first element.
    pub offset: u64,
    /// First point of the run.
    pub first_point: usize,
    /// Points in the run.
    pub point_count: usize,
}

#[derive(Debug)]
struct OutPage {
    points: Growing,
    normals: Growing,
}

#[derive(Debug)]
struct PoseBuffers {
    palettes: Growing,
    channels: Growing,
    sub_weights: Growing,
}

/// Skins, instances and outputs on one device. A lone mesh is a crowd of one.
///
/// For a bake, make as many instances of a skin as there are times in flight, and pose each at its
/// own time: one submit skins them all.
#[derive(Debug)]
pub struct Crowd {
    skinner: Skinner,
    skins: Vec<(Arc<PackedSkin>, GpuSkin)>,
    instances: Vec<Instance>,
    skin_pages: Vec<SkinPage>,
    pose_pages: Vec<PoseBuffers>,
    out_pages: Vec<OutPage>,
    /// Item tables and dispatch records.
    tables: Option<Growing>,
    staging: Staging,
    readback: Option<wgpu::Buffer>,
    timing: Option<Timing>,
    /// Instances that the last encoded frame wrote.
    encoded: usize,
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
        let (packed, placed) = self
            .skins
            .get(number)
            .ok_or_else(|| GpuError::Mismatch("a skin of another crowd".into()))?;
        let limit = self.skinner.limits.binding_bytes;
        let mut out = Vec::with_capacity(placed.slices.len());
        for slice in &placed.slices {
            let bytes = u64::from(slice.item.point_count) * 12;
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
            let points = take(&mut buffers.points, true)?;
            let normals = take(&mut buffers.normals, packed.normals().is_some())?;
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

    /// Records one frame of all instances: uploads, sub-shape weights, skinning. Submits nothing
    /// and waits for nothing; a later `encode` into the same submit sees its own poses.
    ///
    /// # Errors
    /// An instance without a pose, poses beyond a limit, or no memory.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        self.encoded = 0;
        let placed: Vec<&GpuSkin> = self.skins.iter().map(|(_, gpu)| gpu).collect();
        let frame = frame::plan(&self.skinner.limits, &placed, &self.instances)?;
        let (launches, tables) = self.prepare(&frame)?;
        self.upload(encoder, &frame, &tables)?;

        let skinner = &self.skinner;
        for (kernel, label) in ["sinew.weights", "sinew.skin"].into_iter().enumerate() {
            let mut mine = launches.iter().filter(|l| l.kernel == kernel).peekable();
            let has_work = mine.peek().is_some();
            if let Some(timing) = &mut self.timing {
                timing.wrote[kernel] = has_work;
            }
            if !has_work {
                continue;
            }
            guarded(&skinner.device, || {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some(label),
                    timestamp_writes: self.timing.as_ref().map(|t| t.around(kernel as u32)),
                });
                for launch in mine {
                    pass.set_pipeline(&launch.pipeline);
                    pass.set_bind_group(0, &launch.binds, &[]);
                    pass.dispatch_workgroups(launch.size.0, launch.size.1, 1);
                }
            })?;
        }
        if let Some(timing) = &self.timing {
            guarded(&skinner.device, || timing.resolve(encoder))?;
        }
        self.encoded = self.instances.len();
        Ok(())
    }

    /// Makes room for a frame, lays out its tables and binds everything.
    fn prepare(&mut self, frame: &Frame) -> Result<(Vec<Launch>, Vec<u8>), GpuError> {
        let skinner = &self.skinner;
        let (storage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
        while self.pose_pages.len() < frame.poses.len() {
            self.pose_pages.push(PoseBuffers {
                palettes: Growing::new(
                    skinner,
                    "skin.palettes",
                    storage | wgpu::BufferUsages::UNIFORM,
                    limit,
                )?,
                channels: Growing::new(skinner, "weights.channels", storage, limit)?,
                sub_weights: Growing::new(skinner, "skin.sub_weights", storage, limit)?,
            });
        }
        for (buffers, data) in self.pose_pages.iter_mut().zip(&frame.poses) {
            let palette_bytes = size_of_val(&data.palettes[..]) as u64;
            let palette_bytes = if data.in_uniforms(&skinner.limits) {
                UNIFORM_BYTES
            } else {
                palette_bytes
            };
            buffers.palettes.reserve(skinner, palette_bytes, false)?;
            buffers
                .channels
                .reserve(skinner, size_of_val(&data.channels[..]) as u64, false)?;
            buffers
                .sub_weights
                .reserve(skinner, u64::from(data.sub_weights) * 4, false)?;
        }

        let mut tables = Tables::new(skinner);
        let weights = tables.lay(&frame.weights.all, skinner.limits.workgroups, 0);
        let skin = tables.lay(
            &frame.skin.all,
            skinner.limits.workgroups,
            if skinner.limits.in_uniforms {
                UNIFORM_BYTES
            } else {
                0
            },
        );
        if self.tables.is_none() {
            let usage = storage | wgpu::BufferUsages::UNIFORM;
            self.tables = Some(Growing::new(
                skinner,
                "sinew.items",
                usage,
                skinner.limits.buffer_bytes,
            )?);
        }
        let buffer = self.tables.as_mut().expect("made above");
        buffer.reserve(skinner, tables.bytes.len() as u64, false)?;
        let buffer = &self.tables.as_ref().expect("made above").buffer;

        let mut launches = Vec::new();
        guarded(&skinner.device, || {
            for laid in weights {
                let pages = frame.weights.all[laid.group].pages;
                let pose = &self.pose_pages[pages.pose];
                let others = [
                    self.skin_pages[pages.skin].shapes.whole(),
                    pose.channels.whole(),
                    pose.sub_weights.whole(),
                ];
                launches.push(laid.launch(skinner, 0, &skinner.weights, buffer, 0, others));
            }
            for laid in skin {
                let group = &frame.skin.all[laid.group];
                let (skin, pose) = (
                    &self.skin_pages[group.pages.skin],
                    &self.pose_pages[group.pages.pose],
                );
                let out = &self.out_pages[group.pages.out];
                let in_uniforms = skinner
                    .skin_in_uniforms
                    .as_ref()
                    .filter(|_| frame.poses[group.pages.pose].in_uniforms(&skinner.limits));
                let palettes = if in_uniforms.is_some() {
                    pose.palettes.start(UNIFORM_BYTES)
                } else {
                    pose.palettes.whole()
                };
                let others = [
                    skin.rest.whole(),
                    skin.influences.whole(),
                    palettes,
                    skin.blend.whole(),
                    pose.sub_weights.whole(),
                    out.points.whole(),
                    out.normals.whole(),
                ];
                launches.push(laid.launch(
                    skinner,
                    1,
                    in_uniforms.unwrap_or(&skinner.skin),
                    buffer,
                    group.variant,
                    others,
                ));
            }
        })?;
        Ok((launches, tables.bytes))
    }

    fn upload(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        frame: &Frame,
        tables: &[u8],
    ) -> Result<(), GpuError> {
        let Some(table_buffer) = &self.tables else {
            return Ok(());
        };
        let mut uploads = vec![Upload {
            to: &table_buffer.buffer,
            offset: 0,
            bytes: tables,
        }];
        for (buffers, data) in self.pose_pages.iter().zip(&frame.poses) {
            let (palettes, channels) = (
                bytemuck::cast_slice(&data.palettes),
                bytemuck::cast_slice(&data.channels),
            );
            uploads.push(Upload {
                to: &buffers.palettes.buffer,
                offset: 0,
                bytes: palettes,
            });
            uploads.push(Upload {
                to: &buffers.channels.buffer,
                offset: 0,
                bytes: channels,
            });
        }
        self.staging.record(&self.skinner, encoder, &uploads)
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

    /// Waits for the last submitted frame and reads some instances' results, as many per mapped
    /// buffer as fit.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id or before a frame was encoded; a lost device.
    pub fn read(&mut self, instances: &[InstanceId]) -> Result<Vec<Deformed>, GpuError> {
        let mut out = Vec::with_capacity(instances.len());
        for id in instances {
            let skin = self.skin_of(*id)?;
            let zeros = || vec![Vec3::ZERO; skin.point_count()];
            out.push(Deformed {
                points: zeros(),
                normals: skin.normals().map(|_| zeros()),
            });
        }
        let mut ranges = Vec::new();
        for (id, deformed) in instances.iter().zip(&mut out) {
            let places = self.places(*id)?;
            let mut points = &mut deformed.points[..];
            let mut normals = deformed.normals.as_deref_mut();
            for (place, count) in places {
                let page = &self.out_pages[place.page];
                let (now, later) = points.split_at_mut(count);
                points = later;
                ranges.push(Fetch {
                    from: &page.points.buffer,
                    offset: u64::from(place.points) * 4,
                    to: now,
                });
                if let Some(all) = normals.take() {
                    let (now, later) = all.split_at_mut(count);
                    normals = Some(later);
                    ranges.push(Fetch {
                        from: &page.normals.buffer,
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
        self.on_gpu(instance, |page, place| (&page.points.buffer, place.points))
    }

    /// Where an instance's normals lie on the GPU; empty for a skin without normals.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn normals_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        if self.skin_of(instance)?.normals().is_none() {
            return Ok(Vec::new());
        }
        self.on_gpu(instance, |page, place| {
            (&page.normals.buffer, place.normals)
        })
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

    /// Fills every output buffer with one value, to see what a frame writes.
    #[doc(hidden)]
    pub fn fill_outputs(&mut self, value: f32) -> Result<(), GpuError> {
        guarded(&self.skinner.device, || {
            for buffer in self
                .out_pages
                .iter()
                .flat_map(|p| [&p.points.buffer, &p.normals.buffer])
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
            let count = (buffer.buffer.size() - buffer.used) as usize / 12;
            let mut tail = vec![Vec3::ZERO; count];
            let range = Fetch {
                from: &buffer.buffer,
                offset: buffer.used,
                to: &mut tail,
            };
            fetch(&self.skinner, &mut self.readback, &mut [range])?;
            out.extend(tail.iter().flat_map(|v| v.to_array()));
        }
        Ok(out)
    }

    fn skin_of(&self, instance: InstanceId) -> Result<&PackedSkin, GpuError> {
        let instance = self
            .instances
            .get(instance.0 as usize)
            .ok_or_else(foreign)?;
        Ok(&self.skins[instance.skin].0)
    }

    /// Places of an instance's slices with their point counts, once a frame has written them.
    fn places(
        &self,
        id: InstanceId,
    ) -> Result<impl Iterator<Item = (OutPlace, usize)> + '_, GpuError> {
        if id.0 as usize >= self.encoded {
            return Err(GpuError::Mismatch(
                "no frame was encoded since this instance was added".into(),
            ));
        }
        let instance = self.instances.get(id.0 as usize).ok_or_else(foreign)?;
        let slices = &self.skins[instance.skin].1.slices;
        Ok(instance
            .out
            .iter()
            .zip(slices)
            .map(|(place, slice)| (*place, slice.item.point_count as usize)))
    }

    fn on_gpu<'a>(
        &'a self,
        instance: InstanceId,
        pick: impl Fn(&'a OutPage, &OutPlace) -> (&'a wgpu::Buffer, u32),
    ) -> Result<Vec<OutputSlice<'a>>, GpuError> {
        let instance = self
            .instances
            .get(instance.0 as usize)
            .ok_or_else(foreign)?;
        let slices = &self.skins[instance.skin].1.slices;
        let found = instance.out.iter().zip(slices).map(|(place, slice)| {
            let (buffer, float) = pick(&self.out_pages[place.page], place);
            OutputSlice {
                buffer,
                offset: u64::from(float) * 4,
                first_point: slice.first_point,
                point_count: slice.item.point_count as usize,
            }
        });
        Ok(found.collect())
    }
}

fn foreign() -> GpuError {
    GpuError::Mismatch("an instance of another crowd, or one that was cleared".into())
}
