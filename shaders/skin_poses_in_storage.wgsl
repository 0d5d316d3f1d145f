// Items and palettes of skin_poses.wgsl, of any size.

@group(0) @binding(1) var<storage, read> items: array<PosesItem>;
// Rows: three per palette slot and kind of matrix, and six per pose for the way out of skeleton space.
@group(0) @binding(3) var<storage, read> palettes: array<vec4<f32>>;

