//! Recording a crowd's frame: room for it, its uploads, its passes.

use super::crowd::PoseBuffers;
use super::error::guarded;
use super::frame::{self, Frame};
use super::growing::Growing;
use super::staging::Upload;
use super::tables::{Launch, Tables};
use super::{Crowd, GpuError};
use crate::kernel::UNIFORM_BYTES;

impl Crowd {
    /// Records one frame of all instances that are not hidden: uploads, sub-shape weights, skinning. Submits nothing
    /// and waits for nothing; a later `encode` into the same submit sees its own poses.
    ///
    /// # Errors
    /// An instance without a pose, poses beyond a limit, or no memory.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        let frame = frame::plan(&self.skinner.limits, &self.skins, self.in_order())?;
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
        for (_, instance) in &mut self.instances {
            instance.written |= !instance.hidden;
        }
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
        let held = match &mut self.tables {
            Some(held) => held,
            none => none.insert(Growing::new(
                skinner,
                "sinew.items",
                storage | wgpu::BufferUsages::UNIFORM,
                skinner.limits.buffer_bytes,
            )?),
        };
        held.reserve(skinner, tables.bytes.len() as u64, None)?;
        let buffer = &held.buffer;

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
}
