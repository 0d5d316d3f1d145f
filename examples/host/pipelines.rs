//! Buffers, bind groups and render pipelines, with the values that all of them share.

use sinew::wgpu;
use wgpu::util::DeviceExt;

use super::{DEPTH, Gpu, SAMPLES};

/// Makes a buffer that something writes later.
pub fn buffer(gpu: &Gpu, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes,
        usage,
        mapped_at_creation: false,
    })
}

/// Makes a buffer that does not change.
pub fn upload<T: bytemuck::NoUninit>(
    gpu: &Gpu,
    usage: wgpu::BufferUsages,
    values: &[T],
) -> wgpu::Buffer {
    let contents = bytemuck::cast_slice(values);
    gpu.device
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents,
            usage,
        })
}

/// Makes an acceleration structure of these triangles, which frames can update, and a scene of it alone.
pub fn traced(
    gpu: &Gpu,
    descriptors: Vec<wgpu::BlasTriangleGeometrySizeDescriptor>,
) -> (wgpu::Blas, wgpu::Tlas) {
    let update_mode = wgpu::AccelerationStructureUpdateMode::PreferUpdate;
    let flags = wgpu::AccelerationStructureFlags::ALLOW_UPDATE;
    let blas = gpu.device.create_blas(
        &wgpu::CreateBlasDescriptor {
            label: None,
            flags,
            update_mode,
        },
        wgpu::BlasGeometrySizeDescriptors::Triangles { descriptors },
    );
    let mut tlas = gpu.device.create_tlas(&wgpu::CreateTlasDescriptor {
        label: None,
        max_instances: 1,
        flags,
        update_mode,
    });
    // The identity: three rows of four.
    let place = std::array::from_fn(|i| f32::from(i % 5 == 0));
    tlas[0] = Some(wgpu::TlasInstance::new(&blas, place, 0, 0xff));
    (blas, tlas)
}

/// Makes the layout of a bind group of buffers, bound in this order.
pub fn layout(
    gpu: &Gpu,
    visibility: wgpu::ShaderStages,
    kinds: &[wgpu::BufferBindingType],
) -> wgpu::BindGroupLayout {
    let entries = (0..)
        .zip(kinds)
        .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty: wgpu::BindingType::Buffer {
                ty: *ty,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        });
    gpu.device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries.collect::<Vec<_>>(),
        })
}

/// Makes the layout of a pipeline with these bind groups.
pub fn pipeline_layout(gpu: &Gpu, groups: &[&wgpu::BindGroupLayout]) -> wgpu::PipelineLayout {
    let groups: Vec<_> = groups.iter().map(|group| Some(*group)).collect();
    gpu.device
        .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &groups,
            immediate_size: 0,
        })
}

/// Binds buffers in this order.
pub fn group(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        });
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries.collect::<Vec<_>>(),
    })
}

/// Compiles a shader.
pub fn shader(gpu: &Gpu, text: &str) -> wgpu::ShaderModule {
    gpu.device
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        })
}

/// How a render pipeline differs from the others.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// The shader's entry points are `NAME_vertex` and `NAME_fragment`.
    pub name: &'a str,
    pub topology: wgpu::PrimitiveTopology,
    pub depth_compare: wgpu::CompareFunction,
    pub writes_depth: bool,
    pub blend: Option<wgpu::BlendState>,
    pub buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
}

impl<'a> Look<'a> {
    /// Opaque triangles without vertex buffers.
    pub fn new(name: &'a str) -> Self {
        Self {
            name,
            topology: wgpu::PrimitiveTopology::TriangleList,
            depth_compare: wgpu::CompareFunction::Less,
            writes_depth: true,
            blend: None,
            buffers: &[],
        }
    }

    /// Makes the pipeline. Without a layout the shader says what it binds.
    pub fn pipeline(
        self,
        gpu: &Gpu,
        module: &wgpu::ShaderModule,
        layout: Option<&wgpu::PipelineLayout>,
    ) -> wgpu::RenderPipeline {
        let entry = |stage| format!("{}_{stage}", self.name);
        gpu.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(self.name),
                layout,
                vertex: wgpu::VertexState {
                    module,
                    entry_point: Some(&entry("vertex")),
                    compilation_options: Default::default(),
                    buffers: self.buffers,
                },
                primitive: wgpu::PrimitiveState {
                    topology: self.topology,
                    ..Default::default()
                },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(self.writes_depth),
                    depth_compare: Some(self.depth_compare),
                    stencil: Default::default(),
                    bias: Default::default(),
                }),
                multisample: wgpu::MultisampleState {
                    count: SAMPLES,
                    ..Default::default()
                },
                fragment: Some(wgpu::FragmentState {
                    module,
                    entry_point: Some(&entry("fragment")),
                    compilation_options: Default::default(),
                    targets: &[Some(wgpu::ColorTargetState {
                        format: gpu.format,
                        blend: self.blend,
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
    }
}
