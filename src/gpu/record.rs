//! Recording a crowd's frame: room for it, its uploads, its passes.

use super::crowd::PoseBuffers;
use super::error::{alive, guarded};
use super::frame::{self, Frame};
use super::growing::Growing;
use super::outputs::OutPage;
use super::pipelines::Variant;
use super::staging::Upload;
use super::tables::{Launch, Tables};
use super::target::NORMALS;
use super::{Crowd, GpuError};
use crate::kernel::UNIFORM_BYTES;

impl Crowd {
    /// Records one frame of all instances that are not hidden: uploads, sub-shape weights, skinning. Submits nothing
    /// and waits for nothing; a later `encode` into the same submit sees its own poses.
    ///
    /// # Errors
    /// An instance without a pose, poses beyond a limit, no memory, or a lost device.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        alive(&self.skinner.device)?;
        let frame = self.plan()?;
        let (launches, tables) = self.prepare(&frame)?;
        self.upload(encoder, &frame, &tables)?;
        for page in &self.out_pages {
            page.bring(&self.skinner, encoder)?;
        }

        let skinner = &self.skinner;
        let labels = [
            "sinew.weights",
            "sinew.skin",
            "sinew.made_normals",
            "sinew.bounds",
        ];
        for (kernel, label) in labels.into_iter().enumerate() {
            let mut mine = launches.iter().filter(|l| l.kernel == kernel).peekable();
            let has_work = mine.peek().is_some();
            if let Some(timing) = &mut self.timing {
                timing.wrote[kernel] = has_work;
            }
            if !has_work {
                continue;
            }
            if let Some(bounds) = self.bounds.as_ref().filter(|_| kernel == 3) {
                bounds.clear_keys(skinner, encoder)?;
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
        self.frames += 1;
        if let Some(bounds) = &mut self.bounds {
            bounds.read_back(skinner, encoder, self.slots, self.frames)?;
        }
        for (_, instance) in &mut self.instances {
            instance.written |= !instance.hidden;
            // A hidden one's positions are of a frame longer ago.
            instance.fresh = instance.hidden;
        }
        self.out_pages.iter_mut().for_each(OutPage::set_encoded);
        Ok(())
    }

    pub(super) fn plan(&self) -> Result<Frame, GpuError> {
        let limits = &self.skinner.limits;
        let with_bounds = self.bounds.is_some();
        frame::plan(limits, &self.skins, with_bounds, self.in_order())
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
            buffers.palettes.reserve(skinner, palette_bytes, None)?;
            buffers
                .channels
                .reserve(skinner, size_of_val(&data.channels[..]) as u64, None)?;
            buffers
                .sub_weights
                .reserve(skinner, u64::from(data.sub_weights) * 4, None)?;
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
        let least = if skinner.limits.in_uniforms {
            UNIFORM_BYTES
        } else {
            0
        };
        let plain: Vec<_> = frame
            .plain
            .classes
            .iter()
            .map(|(_, groups)| tables.lay(&groups.all, skinner.limits.workgroups, least))
            .collect();
        let made = tables.lay(&frame.made_normals.all, skinner.limits.workgroups, 0);
        let per_dimension = skinner.limits.workgroups;
        let bounds = tables.lay(&frame.bounds.all, per_dimension, 0);
        let boxes = match &mut self.bounds {
            Some(bounds) => {
                bounds.reserve(skinner, self.slots)?;
                tables.lay_plain(self.slots, per_dimension)
            }
            None => Vec::new(),
        };
        let held = match &mut self.tables {
            Some(held) => held,
            none => none.insert(Growing::new(
                skinner,
                "sinew.items",
                storage | wgpu::BufferUsages::UNIFORM,
                skinner.limits.buffer_bytes,
            )?),
        };
        held.reserve(skinner, tables.size(), None)?;
        let buffer = &held.buffer;

        let mut launches = Vec::new();
        let device = &skinner.device;
        for laid in weights {
            let pages = frame.weights.all[laid.group].pages;
            let pose = &self.pose_pages[pages.pose];
            let others = [
                self.skin_pages[pages.skin].whole(),
                pose.channels.whole(),
                pose.sub_weights.whole(),
            ];
            let kernel = &skinner.weights;
            let pipeline = kernel.get(device, Variant::default())?;
            launches.push(laid.launch(skinner, 0, kernel, pipeline, buffer, others)?);
        }
        for laid in skin {
            let group = &frame.skin.all[laid.group];
            let (pages, pose) = (group.pages, &self.pose_pages[group.pages.pose]);
            let set = self.out_sets.get(pages.out);
            let in_uniforms = skinner
                .skin_in_uniforms
                .as_ref()
                .filter(|_| frame.poses[pages.pose].in_uniforms(&skinner.limits));
            let palettes = match in_uniforms {
                Some(_) => pose.palettes.start(UNIFORM_BYTES),
                None => pose.palettes.whole(),
            };
            let out = |slot| set.binding(skinner, &self.out_pages, slot);
            let others = [
                self.skin_pages[pages.skin].whole(),
                palettes,
                pose.sub_weights.whole(),
                out(0),
                out(1),
                out(2),
                out(3),
            ];
            let kernel = in_uniforms.unwrap_or(&skinner.skin);
            let pipeline = kernel.get(device, set.skin_variant(group.variant))?;
            launches.push(laid.launch(skinner, 1, kernel, pipeline, buffer, others)?);
        }
        for ((class, groups), laid) in frame.plain.classes.iter().zip(plain) {
            for laid in laid {
                let pages = groups.all[laid.group].pages;
                let pose = &self.pose_pages[pages.pose];
                let set = self.out_sets.get(pages.out);
                let in_uniforms = frame.poses[pages.pose].in_uniforms(&skinner.limits);
                let in_uniforms = skinner.plain_in_uniforms.as_ref().filter(|_| in_uniforms);
                let palettes = match in_uniforms {
                    Some(_) => pose.palettes.start(UNIFORM_BYTES),
                    None => pose.palettes.whole(),
                };
                let out = |slot| set.binding(skinner, &self.out_pages, slot);
                let skins = self.skin_pages[pages.skin].whole();
                let others = [skins, palettes, out(0), out(1), out(2), out(3)];
                let kernel = in_uniforms.unwrap_or(&skinner.plain);
                let pipeline = kernel.get(device, class.variant(set))?;
                launches.push(laid.launch(skinner, 1, kernel, pipeline, buffer, others)?);
            }
        }
        for laid in made {
            let pages = frame.made_normals.all[laid.group].pages;
            let set = self.out_sets.get(pages.out);
            let slot = set.slots[NORMALS];
            let normals = match slot {
                0 => skinner.unused[0].as_entire_binding(),
                slot => set.binding(skinner, &self.out_pages, slot.into()),
            };
            let others = [
                self.skin_pages[pages.skin].whole(),
                set.binding(skinner, &self.out_pages, 0),
                normals,
            ];
            let kernel = &skinner.made_normals;
            let variant = Variant {
                bits: 0,
                slots: [slot.min(1), 0, 0],
            };
            let pipeline = kernel.get(device, variant)?;
            launches.push(laid.launch(skinner, 2, kernel, pipeline, buffer, others)?);
        }
        if let Some(of_crowd) = &self.bounds {
            let (keys, found) = (of_crowd.keys.whole(), of_crowd.boxes.whole());
            for laid in bounds {
                let set = self.out_sets.get(frame.bounds.all[laid.group].pages.out);
                let others = [set.binding(skinner, &self.out_pages, 0), keys.clone()];
                let kernel = &of_crowd.reduce;
                let pipeline = kernel.get(device, Variant::default())?;
                launches.push(laid.launch(skinner, 3, kernel, pipeline, buffer, others)?);
            }
            for laid in boxes {
                let kernel = &of_crowd.finish;
                let pipeline = kernel.get(device, Variant::default())?;
                let others = [keys.clone(), found.clone()];
                launches.push(laid.launch(skinner, 3, kernel, pipeline, buffer, others)?);
            }
        }
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
}
