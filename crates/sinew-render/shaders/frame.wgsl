// Uniforms and functions of all draws of a picture. Local space is world space relative to an
// origin near the character, so that f32 is precise far from the world's origin.

override ENCODE_SRGB: bool = false;

struct Frame {
    clip_from_local: mat4x4f,
    // w: 1 for a perspective camera.
    eye: vec4f,
    // Opposite to the view direction; w: strength of the lines on the ground.
    back: vec4f,
    // w: height of the ground.
    up: vec4f,
    // Axes of the ground; w: spacing of fine and of coarse lines.
    ground_x: vec4f,
    ground_y: vec4f,
    // w: distance at which the lines end.
    ground_center: vec4f,
    // xy: offset of the centre from the coarse lines; z: half the width of the shadow; w: its
    // darkness.
    ground_phase: vec4f,
    // Directions towards the lights, and their colours.
    key: vec4f,
    key_color: vec4f,
    fill: vec4f,
    fill_color: vec4f,
    rim: vec4f,
    rim_color: vec4f,
    sky: vec4f,
    bounce: vec4f,
    // Linear colours of the background; w of top: darkness of the corners.
    top: vec4f,
    bottom: vec4f,
    // Width, height, width of lines in pixels, length of normals.
    viewport: vec4f,
}

@group(0) @binding(0) var<uniform> frame: Frame;

// Encodes a premultiplied linear colour as sRGB, if the target's format does not.
fn to_target(color: vec4f) -> vec4f {
    if !ENCODE_SRGB || color.a <= 0.0 {
        return color;
    }
    let straight = clamp(color.rgb / color.a, vec3f(0.0), vec3f(1.0));
    let low = straight * 12.92;
    let high = 1.055 * pow(straight, vec3f(1.0 / 2.4)) - 0.055;
    return vec4f(select(high, low, straight < vec3f(0.0031308)) * color.a, color.a);
}

fn toward_eye(position: vec3f) -> vec3f {
    if frame.eye.w > 0.5 {
        return normalize(frame.eye.xyz - position);
    }
    return frame.back.xyz;
}
