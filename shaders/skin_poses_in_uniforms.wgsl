// Items and palettes of skin_poses.wgsl in 64 KiB each, as skin_in_uniforms.wgsl has them.

@group(0) @binding(1) var<uniform> items: array<PosesItem, 341>;
// Rows: three per palette slot and kind of matrix, and six per pose for the way out of skeleton space.
@group(0) @binding(3) var<uniform> palettes: array<vec4<f32>, 4096>;

