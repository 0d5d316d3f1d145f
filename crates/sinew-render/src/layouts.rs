//! Bind group layouts. A stage and a renderer each create their own; wgpu treats equal layouts as
//! the same.

use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType,
    BufferBindingType, Device, SamplerBindingType, ShaderStages, TextureSampleType,
    TextureViewDimension,
};

/// A layout whose bindings have the numbers of their places in the list.
fn layout(
    device: &Device,
    label: &str,
    visibility: ShaderStages,
    types: impl IntoIterator<Item = BindingType>,
) -> BindGroupLayout {
    let entry = |(binding, ty)| BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    };
    let entries: Vec<_> = (0..).zip(types).map(entry).collect();
    device.create_bind_group_layout(&BindGroupLayoutDescriptor {
        label: Some(label),
        entries: &entries,
    })
}

/// Group 0: the uniforms of a picture, and those of one mesh at a dynamic offset.
pub(super) fn frame(device: &Device) -> BindGroupLayout {
    let of_mesh = buffer(BufferBindingType::Uniform, true);
    layout(
        device,
        "render.frame",
        ShaderStages::VERTEX_FRAGMENT,
        [UNIFORM, of_mesh],
    )
}

/// Group 1 for meshes: points, normals and heat.
pub(super) fn geometry(device: &Device) -> BindGroupLayout {
    let storage = buffer(BufferBindingType::Storage { read_only: true }, false);
    layout(
        device,
        "render.geometry",
        ShaderStages::VERTEX,
        [storage; 3],
    )
}

/// Group 2: the uniforms of a material, its textures and their samplers, which are as many.
pub(super) fn material(device: &Device) -> BindGroupLayout {
    let textures = [TEXTURE; super::material::SLOTS];
    let samplers = [FILTERING; super::material::SLOTS];
    let types = [UNIFORM].into_iter().chain(textures).chain(samplers);
    layout(device, "render.material", ShaderStages::FRAGMENT, types)
}

/// Group 1 for the ground and the blur: a texture, with a sampler if `filtered`.
pub(super) fn texture_only(device: &Device, filtered: bool) -> BindGroupLayout {
    let types = [TEXTURE].into_iter().chain(filtered.then_some(FILTERING));
    layout(device, "render.texture_only", ShaderStages::FRAGMENT, types)
}

/// Group 3 of surfaces and the ground: what is in the way of the lights.
pub(super) fn occlusion(device: &Device) -> BindGroupLayout {
    let types = [
        UNIFORM,
        texture(TextureSampleType::Depth, TextureViewDimension::D2),
        texture(TextureSampleType::Depth, TextureViewDimension::D2Array),
        BindingType::Sampler(SamplerBindingType::Comparison),
    ];
    layout(device, "render.occlusion", ShaderStages::FRAGMENT, types)
}

const UNIFORM: BindingType = buffer(BufferBindingType::Uniform, false);
const TEXTURE: BindingType = texture(
    TextureSampleType::Float { filterable: true },
    TextureViewDimension::D2,
);
const FILTERING: BindingType = BindingType::Sampler(SamplerBindingType::Filtering);

const fn buffer(ty: BufferBindingType, has_dynamic_offset: bool) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset,
        min_binding_size: None,
    }
}

const fn texture(
    sample_type: TextureSampleType,
    view_dimension: TextureViewDimension,
) -> BindingType {
    BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled: false,
    }
}
