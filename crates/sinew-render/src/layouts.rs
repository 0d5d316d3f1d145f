//! Bind group layouts. A stage and a renderer each create their own; wgpu treats equal layouts as
//! the same.

/// Group 0: the uniforms of a picture, and those of one mesh at a dynamic offset.
pub(super) fn frame(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let uniform = |binding, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset,
            min_binding_size: None,
        },
        count: None,
    };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("render.frame"),
        entries: &[uniform(0, false), uniform(1, true)],
    })
}

/// Group 1 for meshes: points, normals and heat.
pub(super) fn geometry(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entries = [0, 1, 2].map(|binding| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    });
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("render.geometry"),
        entries: &entries,
    })
}

/// Group 2: the uniforms of a material, its textures and their samplers, which are as many.
pub(super) fn material(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let fragment = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty,
        count: None,
    };
    let count = super::material::SLOTS as u32;
    let mut entries = vec![fragment(
        0,
        wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
    )];
    entries.extend((1..=count).map(texture));
    let filtering = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
    entries.extend((count + 1..=2 * count).map(|binding| fragment(binding, filtering)));
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("render.material"),
        entries: &entries,
    })
}

/// Group 1 for the ground and the blur: a texture, with a sampler if `filtered`.
pub(super) fn texture_only(device: &wgpu::Device, filtered: bool) -> wgpu::BindGroupLayout {
    let sampler = wgpu::BindGroupLayoutEntry {
        binding: 1,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
        count: None,
    };
    let entries = [texture(0), sampler];
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("render.texture_only"),
        entries: if filtered { &entries } else { &entries[..1] },
    })
}

/// Group 3 of surfaces and the ground: what is in the way of the lights.
pub(super) fn occlusion(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let fragment = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty,
        count: None,
    };
    let depth = |view_dimension| wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Depth,
        view_dimension,
        multisampled: false,
    };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("render.occlusion"),
        entries: &[
            fragment(
                0,
                wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
            ),
            fragment(1, depth(wgpu::TextureViewDimension::D2)),
            fragment(2, depth(wgpu::TextureViewDimension::D2Array)),
            fragment(
                3,
                wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison),
            ),
        ],
    })
}

fn texture(binding: u32) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
        count: None,
    }
}
