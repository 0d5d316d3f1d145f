//! What the peers' kernels run on: many arrays in few buffers, one bind group per dispatch, times.

use std::time::Instant;

use sinew::gpu::{GpuDevice, GpuError};

/// Invocations per workgroup of every peer, as Godot and Bevy have it.
pub const WORKGROUP: usize = 64;

/// Where a binding may begin on every device.
const ALIGN: u64 = 256;

const OUTPUT: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC);

/// One dispatch of a frame.
pub struct Dispatch {
    pub pipeline: wgpu::ComputePipeline,
    pub group: wgpu::BindGroup,
    /// Invocations that are needed.
    pub count: usize,
}

/// A device with what the peers ask of it.
pub struct Gpu<'a> {
    pub device: &'a GpuDevice,
}

impl<'a> Gpu<'a> {
    pub fn new(device: &'a GpuDevice) -> Self {
        Self { device }
    }

    fn wgpu(&self) -> &wgpu::Device {
        self.device.device()
    }

    /// Most bytes of one array.
    pub fn largest_array(&self) -> u64 {
        let limits = self.wgpu().limits();
        let binding: u64 = limits.max_storage_buffer_binding_size as _;
        binding.min(limits.max_buffer_size) / ALIGN * ALIGN
    }

    pub fn kernel(&self, name: &str, wgsl: &str) -> wgpu::ComputePipeline {
        let module = self
            .wgpu()
            .create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(wgsl.into()),
            });
        self.wgpu()
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: None,
            })
    }

    /// Arrays that kernels read from storage or from uniforms.
    pub fn arrays<T: bytemuck::Pod>(
        &self,
        label: &str,
        arrays: &[Vec<T>],
    ) -> Result<Arrays, GpuError> {
        let bytes: Vec<&[u8]> = arrays.iter().map(|a| bytemuck::cast_slice(a)).collect();
        let sizes: Vec<u64> = bytes.iter().map(|b| b.len() as u64).collect();
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::UNIFORM
            | wgpu::BufferUsages::COPY_DST;
        let out = self.laid_out(label, &sizes, usage)?;
        // One write per buffer: a write per array would be as many staging buffers.
        for (number, buffer) in out.buffers.iter().enumerate() {
            let mut page = vec![0u8; buffer.size() as usize];
            for (place, bytes) in out
                .places
                .iter()
                .zip(&bytes)
                .filter(|(p, _)| p.buffer == number)
            {
                page[place.offset as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            self.device.queue().write_buffer(buffer, 0, &page);
            self.device.queue().submit([]);
        }
        Ok(out)
    }

    /// Arrays that kernels write, of so many bytes each, in as few buffers as there may be.
    pub fn outputs(&self, label: &str, sizes: &[u64]) -> Result<Arrays, GpuError> {
        self.laid_out(label, sizes, OUTPUT)
    }

    /// The same with a buffer for each, so that no dispatch waits for another's results.
    pub fn own_outputs(&self, label: &str, sizes: &[u64]) -> Result<Arrays, GpuError> {
        let mut out = Arrays {
            buffers: Vec::with_capacity(sizes.len()),
            places: Vec::with_capacity(sizes.len()),
        };
        for size in sizes {
            let one = self.laid_out(label, &[*size], OUTPUT)?;
            let buffer = out.buffers.len();
            out.buffers.extend(one.buffers);
            out.places
                .extend(one.places.into_iter().map(|p| Place { buffer, ..p }));
        }
        Ok(out)
    }

    /// An array whose length the kernel asks for.
    pub fn exact(&self, label: &str, words: &[u32]) -> wgpu::Buffer {
        let buffer = self.wgpu().create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: size_of_val(words) as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.device
            .queue()
            .write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        buffer
    }

    fn laid_out(
        &self,
        label: &str,
        sizes: &[u64],
        usage: wgpu::BufferUsages,
    ) -> Result<Arrays, GpuError> {
        let largest = self.largest_array();
        let (mut ends, mut places) = (vec![0u64], Vec::with_capacity(sizes.len()));
        for size in sizes {
            // Empty arrays are bound too, as one element of the largest kind.
            let size = size.max(&64).next_multiple_of(16);
            if size > largest {
                return Err(GpuError::Limit {
                    what: format!("bytes of {label} in one binding"),
                    asked: size,
                    limit: largest,
                });
            }
            let mut offset = ends[ends.len() - 1].next_multiple_of(ALIGN);
            if offset + size > largest {
                ends.push(0);
                offset = 0;
            }
            let buffer = ends.len() - 1;
            ends[buffer] = offset + size;
            places.push(Place {
                buffer,
                offset,
                size,
            });
        }
        let buffers = ends.iter().map(|size| {
            self.wgpu().create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: (*size).max(64),
                usage,
                mapped_at_creation: false,
            })
        });
        Ok(Arrays {
            buffers: buffers.collect(),
            places,
        })
    }

    /// A dispatch over resources that are bound in order.
    pub fn dispatch(
        &self,
        pipeline: &wgpu::ComputePipeline,
        resources: &[wgpu::BindingResource<'_>],
        count: usize,
    ) -> Result<Dispatch, GpuError> {
        let limit = self.wgpu().limits().max_compute_workgroups_per_dimension as usize * WORKGROUP;
        if count > limit {
            return Err(GpuError::Limit {
                what: "points of one dispatch".into(),
                asked: count as u64,
                limit: limit as u64,
            });
        }
        let entries: Vec<_> = resources
            .iter()
            .zip(0..)
            .map(|(resource, binding)| wgpu::BindGroupEntry {
                binding,
                resource: resource.clone(),
            })
            .collect();
        Ok(Dispatch {
            pipeline: pipeline.clone(),
            group: self.wgpu().create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            }),
            count,
        })
    }

    /// Runs a frame's dispatches in one pass, so many times and twice before that to warm up: seconds, by timestamps around
    /// the pass where the device has them, else from the submit to its end.
    pub fn measure(&self, dispatches: &[Dispatch], runs: usize) -> Result<Vec<f64>, GpuError> {
        self.device.check()?;
        let (device, queue) = (self.wgpu(), self.device.queue());
        let stamped = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let set = stamped.then(|| {
            device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("peer.timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        });
        let stamps = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("peer.timestamps"),
            size: 16,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut times = Vec::new();
        for run in 0..runs.max(1) + 2 {
            let mut encoder = device.create_command_encoder(&Default::default());
            {
                let around = set.as_ref().map(|set| wgpu::ComputePassTimestampWrites {
                    query_set: set,
                    beginning_of_pass_write_index: Some(0),
                    end_of_pass_write_index: Some(1),
                });
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some("peer"),
                    timestamp_writes: around,
                });
                for dispatch in dispatches {
                    pass.set_pipeline(&dispatch.pipeline);
                    pass.set_bind_group(0, &dispatch.group, &[]);
                    pass.dispatch_workgroups(dispatch.count.div_ceil(WORKGROUP) as u32, 1, 1);
                }
            }
            if let Some(set) = &set {
                encoder.resolve_query_set(set, 0..2, &stamps, 0);
            }
            let commands = encoder.finish();
            let start = Instant::now();
            queue.submit([commands]);
            let waited = device.poll(wgpu::PollType::wait_indefinitely());
            waited.map_err(|e| GpuError::Lost(e.to_string()))?;
            let mut time = start.elapsed().as_secs_f64();
            if stamped {
                let stamps: Vec<u64> = self.read(&stamps, 0, 16)?;
                let ticks = stamps[1].saturating_sub(stamps[0]);
                time = ticks as f64 * f64::from(queue.get_timestamp_period()) * 1e-9;
            }
            if run >= 2 {
                times.push(time);
            }
        }
        self.device.check()?;
        Ok(times)
    }

    /// What a kernel wrote to an array.
    pub fn array<T: bytemuck::Pod>(
        &self,
        arrays: &Arrays,
        number: usize,
    ) -> Result<Vec<T>, GpuError> {
        let place = &arrays.places[number];
        self.read(&arrays.buffers[place.buffer], place.offset, place.size)
    }

    fn read<T: bytemuck::Pod>(
        &self,
        from: &wgpu::Buffer,
        offset: u64,
        size: u64,
    ) -> Result<Vec<T>, GpuError> {
        let failed = |error: &dyn std::fmt::Display| GpuError::Readback(error.to_string());
        let to = self.wgpu().create_buffer(&wgpu::BufferDescriptor {
            label: Some("peer.readback"),
            size,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.wgpu().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, offset, &to, 0, size);
        self.device.queue().submit([encoder.finish()]);
        to.slice(..).map_async(wgpu::MapMode::Read, |_| {});
        let waited = self.wgpu().poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(|e| failed(&e))?;
        let view = to.slice(..).get_mapped_range().map_err(|e| failed(&e))?;
        Ok(bytemuck::pod_collect_to_vec(&view))
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
