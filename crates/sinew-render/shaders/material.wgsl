// What a material is at a place of a surface: its numbers, or what its textures have there.

// How the texels of a texture become an input.
struct Slot {
    // The first two rows of the matrix that (u, v, 1) is multiplied with. w of the first: 1 if there
    // is a texture; w of the second: the channel that a number is read from.
    uv_u: vec4f,
    uv_v: vec4f,
    // Texels are multiplied by this, and the bias is added.
    scale: vec4f,
    bias: vec4f,
}

// material.rs has the same order.
const BASE: u32 = 0u;
const OPACITY: u32 = 1u;
const NORMAL: u32 = 2u;
const ROUGHNESS: u32 = 3u;
const METALLIC: u32 = 4u;
const OCCLUSION: u32 = 5u;
const EMISSIVE: u32 = 6u;

struct Material {
    // Values of the inputs without a texture. w of the first: opacity.
    base: vec4f,
    emissive: vec4f,
    // What is reflected at normal incidence, unless the surface is metal.
    reflected: vec4f,
    // Colour of the shade, for two tones; w: 1 if the image of the base colour multiplies it.
    shade: vec4f,
    roughness: f32,
    metallic: f32,
    occlusion: f32,
    // Fragments of masked materials with a lower alpha are not drawn.
    cutoff: f32,
    // The cosines to the key light between which the shade becomes the base colour.
    toon_low: f32,
    toon_high: f32,
    // 1 for two tones.
    is_toon: u32,
    // 1 if the vertices' colours are used.
    vertex_colors: u32,
    slots: array<Slot, 7>,
}

@group(2) @binding(0) var<uniform> material: Material;
@group(2) @binding(1) var base_texture: texture_2d<f32>;
@group(2) @binding(2) var opacity_texture: texture_2d<f32>;
@group(2) @binding(3) var normal_texture: texture_2d<f32>;
@group(2) @binding(4) var roughness_texture: texture_2d<f32>;
@group(2) @binding(5) var metallic_texture: texture_2d<f32>;
@group(2) @binding(6) var occlusion_texture: texture_2d<f32>;
@group(2) @binding(7) var emissive_texture: texture_2d<f32>;
@group(2) @binding(8) var base_sampler: sampler;
@group(2) @binding(9) var opacity_sampler: sampler;
@group(2) @binding(10) var normal_sampler: sampler;
@group(2) @binding(11) var roughness_sampler: sampler;
@group(2) @binding(12) var metallic_sampler: sampler;
@group(2) @binding(13) var occlusion_sampler: sampler;
@group(2) @binding(14) var emissive_sampler: sampler;

// A material without a texture in a slot must not pay for it. All fragments of a draw agree.
fn has(slot: u32) -> bool {
    return material.slots[slot].uv_u.w > 0.5;
}

fn uv_of(slot: u32, uv: vec2f) -> vec2f {
    let at = vec3f(uv, 1.0);
    return vec2f(dot(material.slots[slot].uv_u.xyz, at), dot(material.slots[slot].uv_v.xyz, at));
}

// v points up, and the rows of an image go down.
fn texel(slot: u32, image: texture_2d<f32>, how: sampler, uv: vec2f) -> vec4f {
    let at = uv_of(slot, uv);
    return textureSample(image, how, vec2f(at.x, 1.0 - at.y));
}

fn scaled(slot: u32, texel: vec4f) -> vec4f {
    return texel * material.slots[slot].scale + material.slots[slot].bias;
}

// The channel that a number is read from.
fn number(slot: u32, texel: vec4f) -> f32 {
    let value = scaled(slot, texel);
    let channel = u32(material.slots[slot].uv_v.w);
    return clamp(value[min(channel, 3u)], 0.0, 1.0);
}

fn opacity_at(uv: vec2f) -> f32 {
    if has(OPACITY) {
        return number(OPACITY, texel(OPACITY, opacity_texture, opacity_sampler, uv));
    }
    return material.base.a;
}
