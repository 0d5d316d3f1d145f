// One triangle over the whole picture.

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Fragment {
    var out: Fragment;
    let corner = vec2f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    // Behind everything: depth is reversed.
    out.position = vec4f(corner, 0.0, 1.0);
    out.at = corner;
    return out;
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    let color = mix(frame.bottom.rgb, frame.top.rgb, smoothstep(-1.0, 1.0, in.at.y));
    let corner = 1.0 - frame.top.w * smoothstep(0.5, 1.9, dot(in.at, in.at));
    return to_target(vec4f(color * corner, 1.0));
}
