//! What the peers' kernels run on: many arrays in few buffers, one bind group per dispatch, times.

use std::time::Instant;

use bytemuck::Pod;
use glam::Vec3;
use sinew::gpu::{GpuDevice, GpuError};
use wgpu::BufferUsages as Usages;
use wgpu::util::DeviceExt;

use super::Result;

/// Invocations per workgroup of every peer, as Godot and Bevy have it.
pub const WORKGROUP: usize = 64;

/// Where a binding may begin on every device.
const ALIGN: u64 = 256;

/// One dispatch of a frame.
pub struct Dispatch {
    pub pipeline: wgpu::ComputePipeline,
    pub group: wgpu::BindGroup,
    /// Invocations that are needed.
    pub count: usize,
}

impl Dispatch {
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.count.div_ceil(WORKGROUP) as u32, 1, 1);
    }
}

/// Seconds of what an encoder does between two timestamps; where the device has none, from the submit to its end.
pub struct Clock<'a> {
    device: &'a GpuDevice,
    set: Option<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
}

impl<'a> Clock<'a> {
    pub fn new(device: &'a GpuDevice) -> Self {
        let wgpu = device.device();
        let stamped = wgpu.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let set = || {
            wgpu.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("suite.timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        };
        let usage = Usages::QUERY_RESOLVE | Usages::COPY_SRC;
        Self {
            device,
            set: stamped.then(set),
            resolved: buffer(device, "suite.timestamps", 16, usage),
        }
    }

    /// Begins a pass with the first timestamp before it or after it, or the second.
    pub fn pass<'e>(
        &self,
        encoder: &'e mut wgpu::CommandEncoder,
        before: Option<u32>,
        after: Option<u32>,
    ) -> wgpu::ComputePass<'e> {
        let writes = self
            .set
            .as_ref()
            .map(|set| wgpu::ComputePassTimestampWrites {
                query_set: set,
                beginning_of_pass_write_index: before,
                end_of_pass_write_index: after,
            });
        encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("suite"),
            timestamp_writes: writes,
        })
    }

    /// Runs what is recorded.
    pub fn seconds(&self, mut encoder: wgpu::CommandEncoder) -> Result<f64> {
        if let Some(set) = &self.set {
            encoder.resolve_query_set(set, 0..2, &self.resolved, 0);
        }
        let queue = self.device.queue();
        let start = Instant::now();
        queue.submit([encoder.finish()]);
        let waited = self
            .device
            .device()
            .poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(|e| GpuError::Lost(e.to_string()))?;
        let wall = start.elapsed().as_secs_f64();
        if self.set.is_none() {
            return Ok(wall);
        }
        let stamps: Vec<u64> = read(self.device, &self.resolved, 0, 16)?;
        let ticks = stamps[1].saturating_sub(stamps[0]);
        Ok(ticks as f64 * f64::from(queue.get_timestamp_period()) * 1e-9)
    }
}

pub fn buffer(device: &GpuDevice, label: &str, size: u64, usage: Usages) -> wgpu::Buffer {
    device.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage,
        mapped_at_creation: false,
    })
}

fn read<T: Pod>(device: &GpuDevice, from: &wgpu::Buffer, at: u64, size: u64) -> Result<Vec<T>> {
    let to = buffer(
        device,
        "suite.readback",
        size,
        Usages::COPY_DST | Usages::MAP_READ,
    );
    let mut encoder = device.device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(from, at, &to, 0, size);
    device.queue().submit([encoder.finish()]);
    to.slice(..).map_async(wgpu::MapMode::Read, |_| {});
    let failed = |e: &dyn std::fmt::Display| GpuError::Readback(e.to_string());
    let waited = device.device().poll(wgpu::PollType::wait_indefinitely());
    waited.map_err(|e| failed(&e))?;
    let view = to.slice(..).get_mapped_range().map_err(|e| failed(&e))?;
    Ok(bytemuck::pod_collect_to_vec(&view))
}

/// A device with what the peers ask of it.
pub struct Gpu<'a> {
    pub device: &'a GpuDevice,
}

impl Gpu<'_> {
    /// Most bytes of one array.
    pub fn largest_array(&self) -> u64 {
        let limits = self.device.device().limits();
        let binding: u64 = limits.max_storage_buffer_binding_size as _;
        binding.min(limits.max_buffer_size) / ALIGN * ALIGN
    }

    pub fn kernel(&self, name: &str, wgsl: &str) -> wgpu::ComputePipeline {
        let device = self.device.device();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        });
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        })
    }

    /// Arrays that kernels read from storage or from uniforms.
    pub fn arrays<T: Pod>(&self, label: &str, arrays: &[Vec<T>]) -> Result<Arrays> {
        let bytes: Vec<&[u8]> = arrays.iter().map(|a| bytemuck::cast_slice(a)).collect();
        let sizes: Vec<u64> = bytes.iter().map(|b| b.len() as u64).collect();
        let (places, pages) = self.laid_out(label, &sizes, true)?;
        let mut pages: Vec<_> = pages.into_iter().map(|n| vec![0u8; n as usize]).collect();
        for (place, bytes) in places.iter().zip(bytes) {
            pages[place.buffer][place.offset as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        let buffers = pages.iter().map(|page| {
            let usage = Usages::STORAGE | Usages::UNIFORM;
            self.filled(label, page, usage)
        });
        Ok(Arrays {
            buffers: buffers.collect(),
            places,
        })
    }

    /// Arrays that kernels write, of so many bytes each: in as few buffers as there may be, or each in a buffer of its own, so
    /// that no dispatch waits for another's results.
    pub fn outputs(&self, label: &str, sizes: &[u64], is_shared: bool) -> Result<Arrays> {
        let (places, pages) = self.laid_out(label, sizes, is_shared)?;
        let usage = Usages::STORAGE | Usages::COPY_SRC;
        let pages = pages.into_iter();
        let buffers = pages.map(|size| buffer(self.device, label, size, usage));
        Ok(Arrays {
            buffers: buffers.collect(),
            places,
        })
    }

    /// An array whose length the kernel asks for.
    pub fn exact(&self, label: &str, words: &[u32]) -> wgpu::Buffer {
        self.filled(label, bytemuck::cast_slice(words), Usages::STORAGE)
    }

    fn filled(&self, label: &str, contents: &[u8], usage: Usages) -> wgpu::Buffer {
        let descriptor = wgpu::util::BufferInitDescriptor {
            label: Some(label),
            contents,
            usage,
        };
        let buffer = self.device.device().create_buffer_init(&descriptor);
        // Or all that is written would wait in memory for the first frame.
        self.device.queue().submit([]);
        buffer
    }

    /// Where arrays are, and the bytes of the buffers.
    fn laid_out(
        &self,
        label: &str,
        sizes: &[u64],
        is_shared: bool,
    ) -> Result<(Vec<Place>, Vec<u64>)> {
        let largest = self.largest_array();
        let (mut pages, mut places) = (Vec::new(), Vec::with_capacity(sizes.len()));
        for size in sizes {
            // Empty arrays are bound too, as one element of the largest kind.
            let size = size.max(&64).next_multiple_of(16);
            if size > largest {
                let what = format!("bytes of {label} in one binding");
                let (asked, limit) = (size, largest);
                return Err(GpuError::Limit { what, asked, limit }.into());
            }
            let end = pages.last().map(|end: &u64| end.next_multiple_of(ALIGN));
            let offset = match end.filter(|end| is_shared && end + size <= largest) {
                Some(end) => end,
                None => {
                    pages.push(0);
                    0
                }
            };
            let buffer = pages.len() - 1;
            pages[buffer] = offset + size;
            places.push(Place {
                buffer,
                offset,
                size,
            });
        }
        Ok((places, pages))
    }

    /// A dispatch over resources that are bound in order.
    pub fn dispatch(
        &self,
        pipeline: &wgpu::ComputePipeline,
        resources: &[wgpu::BindingResource<'_>],
        count: usize,
    ) -> Result<Dispatch> {
        let device = self.device.device();
        let groups = device.limits().max_compute_workgroups_per_dimension as usize;
        if count > groups * WORKGROUP {
            let what = "points of one dispatch".into();
            let (asked, limit) = (count as u64, (groups * WORKGROUP) as u64);
            return Err(GpuError::Limit { what, asked, limit }.into());
        }
        let entries = resources.iter().cloned().zip(0..);
        let entries = entries.map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries.collect::<Vec<_>>(),
        });
        Ok(Dispatch {
            pipeline: pipeline.clone(),
            group,
            count,
        })
    }

    /// Seconds of a frame's dispatches in one pass.
    pub fn frame(&self, clock: &Clock<'_>, dispatches: &[Dispatch]) -> Result<f64> {
        let device = self.device.device();
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = clock.pass(&mut encoder, Some(0), Some(1));
        for dispatch in dispatches {
            dispatch.record(&mut pass);
        }
        drop(pass);
        clock.seconds(encoder)
    }

    /// What a kernel wrote to an array.
    pub fn array<T: Pod>(&self, arrays: &Arrays, number: usize) -> Result<Vec<T>> {
        let place = &arrays.places[number];
        let buffer = &arrays.buffers[place.buffer];
        read(self.device, buffer, place.offset, place.size)
    }

    /// The first so many points or normals that a kernel wrote to an array of floats.
    pub fn vectors(&self, arrays: &Arrays, number: usize, count: usize) -> Result<Vec<Vec3>> {
        let floats: Vec<f32> = self.array(arrays, number)?;
        let vectors = floats.chunks_exact(3).map(Vec3::from_slice);
        Ok(vectors.take(count).collect())
    }
}

/// Arrays one after the other in as few buffers as the device's limits allow.
pub struct Arrays {
    buffers: Vec<wgpu::Buffer>,
    places: Vec<Place>,
}

struct Place {
    buffer: usize,
    offset: u64,
    size: u64,
}

impl Arrays {
    pub fn binding(&self, number: usize) -> wgpu::BindingResource<'_> {
        let place = &self.places[number];
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.buffers[place.buffer],
            offset: place.offset,
            size: wgpu::BufferSize::new(place.size),
        })
    }
}
