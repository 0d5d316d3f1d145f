// A mesh seen from below the ground. The nearer a point is to the ground, the darker.

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) height: f32,
}

@vertex
fn vertex(@location(0) point: u32) -> Fragment {
    let local = local_point(point);
    let from_center = local - frame.ground_center.xyz;
    let half_width = frame.ground_phase.z;
    var out: Fragment;
    out.height = (dot(local, frame.up.xyz) - frame.up.w) / half_width;
    let across = vec2f(dot(from_center, frame.ground_x.xyz), dot(from_center, frame.ground_y.xyz)) / half_width;
    // Texture rows run downward.
    out.position = vec4f(across.x, -across.y, clamp(1.0 - out.height * 0.25, 0.0, 1.0), 1.0);
    return out;
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    return vec4f(exp(-4.5 * max(in.height, 0.0)));
}
