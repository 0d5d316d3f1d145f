// Items and palettes of skin.wgsl, of any size.

@group(0) @binding(1) var<storage, read> items: array<SkinItem>;
// Rows: three per palette slot and kind of matrix, and six per item for the way out of skeleton space.
@group(0) @binding(3) var<storage, read> palettes: array<vec4<f32>>;

