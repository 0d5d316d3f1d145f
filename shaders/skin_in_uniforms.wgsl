// Items and palettes of skin.wgsl, 64 KiB each. Software adapters gather from uniforms, and load from
// storage lane by lane.

@group(0) @binding(1) var<uniform> items: array<SkinItem, 512>;
// Rows: three per palette slot and kind of matrix, and six per item for the way out of skeleton space.
@group(0) @binding(3) var<uniform> palettes: array<vec4<f32>, 4096>;

