// What all draws of a picture share. Local space is world space less an origin near the character, so that f32
// is precise far from the world's own.

override ENCODE_SRGB: bool = false;

struct Frame {
    clip_from_local: mat4x4f,
    // w: 1 for a perspective camera.
    eye: vec4f,
    // Away from where the camera looks.
    back: vec4f,
    // w: height of the ground.
    up: vec4f,
    // Axes of the ground; w: spacing of fine and of coarse lines.
    ground_x: vec4f,
    ground_y: vec4f,
    // w: how far lines reach.
    ground_center: vec4f,
    // Where the centre stands between coarse lines; half the width of the shadow's square; its darkness.
    ground_phase: vec4f,
    // Directions towards the lights, and what they shine.
    key: vec4f,
    key_color: vec4f,
    fill: vec4f,
    fill_color: vec4f,
    rim: vec4f,
    rim_color: vec4f,
    sky: vec4f,
    bounce: vec4f,
    // Linear; w: darkness of the corners, and 0 where nothing is behind the picture.
    top: vec4f,
    bottom: vec4f,
    // Width, height, width of lines in pixels, length of normals.
    viewport: vec4f,
}

@group(0) @binding(0) var<uniform> frame: Frame;

// Premultiplied linear light as the target wants it.
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
