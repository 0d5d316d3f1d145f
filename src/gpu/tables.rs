//! Item tables and dispatch records of a frame, laid out in one buffer and bound.

use super::GpuError;
use super::error::guarded;
use super::groups::{Group, cut, dispatches};
use super::pipelines::Pipelines;
use super::skinner::Skinner;
use crate::kernel::{Dispatch, WORKGROUP_SIZE};

/// One dispatch of a frame.
#[derive(Debug)]
pub(super) struct Launch {
    pub kernel: usize,
    pub pipeline: wgpu::ComputePipeline,
    pub binds: wgpu::BindGroup,
    pub size: (u32, u32),
}

/// Item tables and dispatch records, laid out in one buffer.
pub(super) struct Tables {
    pub words: Vec<u32>,
    alignment: usize,
}

/// One dispatch with its places in the tables.
pub(super) struct Laid {
    pub group: usize,
    dispatch: (u64, u64),
    items: Option<(u64, u64)>,
    size: (u32, u32),
}

impl Tables {
    pub fn new(skinner: &Skinner) -> Self {
        Self {
            words: Vec::new(),
            alignment: skinner.limits.alignment as usize,
        }
    }

    /// Bytes that a buffer has to have for them.
    pub fn size(&self) -> u64 {
        self.words.len() as u64 * 4
    }

    fn put(&mut self, bytes: &[u8]) -> (u64, u64) {
        let aligned = self.words.len().next_multiple_of(self.alignment / 4);
        self.words.resize(aligned + bytes.len() / 4, 0);
        bytemuck::cast_slice_mut(&mut self.words[aligned..]).copy_from_slice(bytes);
        (aligned as u64 * 4, bytes.len() as u64)
    }

    /// Puts the groups' items, which are whole words, and their dispatches.
    pub fn lay<T: bytemuck::NoUninit>(
        &mut self,
        groups: &[Group<T>],
        per_dimension: u32,
    ) -> Vec<Laid> {
        let mut out = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let items = self.put(bytemuck::cast_slice(&group.items));
            for dispatch in dispatches(group, per_dimension) {
                out.push(self.lay_dispatch(number, Some(items), dispatch));
            }
        }
        out
    }

    /// Puts the dispatches of a kernel without an item table.
    pub fn lay_plain(&mut self, invocations: u32, per_dimension: u32) -> Vec<Laid> {
        let workgroups = invocations.div_ceil(WORKGROUP_SIZE);
        let dispatches = cut(workgroups, invocations, per_dimension);
        let lay = |dispatch| self.lay_dispatch(0, None, dispatch);
        dispatches.into_iter().map(lay).collect()
    }

    fn lay_dispatch(
        &mut self,
        group: usize,
        items: Option<(u64, u64)>,
        (dispatch, width, height): (Dispatch, u32, u32),
    ) -> Laid {
        Laid {
            group,
            dispatch: self.put(bytemuck::bytes_of(&dispatch)),
            items,
            size: (width, height),
        }
    }
}

impl Laid {
    /// First byte of its items.
    pub fn first_item(&self) -> u64 {
        self.items.map_or(0, |(first, _)| first)
    }

    /// Binds the dispatch record, the items, where there are some, and what else the kernel lists after them.
    pub fn launch<const N: usize>(
        &self,
        skinner: &Skinner,
        kernel: usize,
        pipelines: &Pipelines,
        pipeline: wgpu::ComputePipeline,
        tables: &wgpu::Buffer,
        others: [wgpu::BindingResource<'_>; N],
    ) -> Result<Launch, GpuError> {
        let part = |(offset, size)| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: tables,
                offset,
                size: wgpu::BufferSize::new(size),
            })
        };
        let entries: Vec<_> = [Some(self.dispatch), self.items]
            .into_iter()
            .flatten()
            .map(part)
            .chain(others)
            .enumerate()
            .map(|(i, resource)| wgpu::BindGroupEntry {
                binding: i as u32,
                resource,
            })
            .collect();
        let device = &skinner.device;
        let binds = guarded(device, || {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("sinew.frame"),
                layout: &pipelines.layout,
                entries: &entries,
            })
        })?;
        Ok(Launch {
            kernel,
            pipeline,
            binds,
            size: self.size,
        })
    }
}
