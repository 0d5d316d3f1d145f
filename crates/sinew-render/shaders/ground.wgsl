// Lines on the ground, and the shadow of the meshes above it.

@group(1) @binding(0) var shadow: texture_2d<f32>;
@group(1) @binding(1) var shadow_sampler: sampler;

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Fragment {
    var out: Fragment;
    let reach = frame.ground_center.w;
    out.at = vec2f(f32(index & 1u) * 2.0 - 1.0, f32(index >> 1u) * 2.0 - 1.0) * reach;
    let local = frame.ground_center.xyz + frame.ground_x.xyz * out.at.x + frame.ground_y.xyz * out.at.y;
    out.position = frame.clip_from_local * vec4f(local, 1.0);
    // A little farther away, so that meshes on the ground are in front of it.
    out.position.z = select(out.position.z - 2e-6, out.position.z * 0.9995, frame.eye.w > 0.5);
    return out;
}

// The part of a pixel that a line covers. Lines that are closer than two pixels fade into their
// mean.
fn line(at: vec2f, width: f32) -> f32 {
    let step = max(fwidth(at), vec2f(1e-9));
    let distance = abs(fract(at - 0.5) - 0.5) / step;
    let on = clamp(0.5 * width + 0.5 - distance, vec2f(0.0), vec2f(1.0));
    let dense = smoothstep(vec2f(0.2), vec2f(0.6), step);
    let covered = mix(on, min(step * width, vec2f(1.0)) * 0.3, dense);
    return max(covered.x, covered.y);
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    let at = in.at + frame.ground_phase.xy;
    let fine = line(at / frame.ground_x.w, 1.0);
    let coarse = line(at / frame.ground_y.w, 1.4);
    let fade = 1.0 - smoothstep(0.15, 1.0, length(in.at) / frame.ground_center.w);
    let lines = max(fine * 0.22, coarse * 0.5) * fade * frame.back.w;
    let half_width = frame.ground_phase.z;
    let in_shadow = in.at / (2.0 * half_width) + 0.5;
    let dark = textureSampleLevel(shadow, shadow_sampler, in_shadow, 0.0).r * frame.ground_phase.w;
    let inside = all(in_shadow > vec2f(0.0)) && all(in_shadow < vec2f(1.0));
    let below_meshes = select(0.0, dark, inside);
    let local = frame.ground_center.xyz + frame.ground_x.xyz * in.at.x + frame.ground_y.xyz * in.at.y;
    let behind_meshes = 0.3 * (1.0 - key_visible(local, vec3f(0.0)));
    let below = 1.0 - (1.0 - below_meshes) * (1.0 - behind_meshes);
    // The shadow over the lines; both are nearly black and premultiplied.
    let alpha = lines + below - lines * below;
    return to_target(vec4f(vec3f(0.02) * lines * (1.0 - below), alpha));
}
