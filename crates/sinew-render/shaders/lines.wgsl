// Lines with a width in pixels: edges of meshes, normals, and free lines.

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) color: vec4f,
}

// One corner of the quad around a line. It is a little nearer to the eye than the surface under the
// line.
fn corner(from_clip: vec4f, to_clip: vec4f, index: u32, width: f32) -> vec4f {
    var a = from_clip;
    var b = to_clip;
    // Keep the part in front of the eye.
    let least = 1e-6;
    if a.w < least && b.w < least {
        return vec4f(0.0, 0.0, 0.0, 1.0);
    }
    if a.w < least {
        a = mix(a, b, (least - a.w) / (b.w - a.w));
    } else if b.w < least {
        b = mix(b, a, (least - b.w) / (a.w - b.w));
    }
    let size = frame.viewport.xy;
    let screen_a = a.xy / a.w * size;
    let screen_b = b.xy / b.w * size;
    let along = screen_b - screen_a;
    let unit = along / max(length(along), 1e-6);
    let sideways = vec2f(-unit.y, unit.x);
    var corners = array(0u, 1u, 2u, 2u, 1u, 3u);
    let which = corners[index];
    let end = select(a, b, (which & 1u) != 0u);
    let side = select(-1.0, 1.0, (which & 2u) != 0u);
    let offset = (sideways * side + unit * select(-0.5, 0.5, (which & 1u) != 0u)) * width / size;
    let nearer = select(end.z + 2e-6, end.z * 1.0008, frame.eye.w > 0.5);
    return vec4f(end.xy + offset * end.w, nearer, end.w);
}

@vertex
fn free(
    @builtin(vertex_index) index: u32,
    @location(0) from_local: vec3f,
    @location(1) to_local: vec3f,
    @location(2) color: vec4f,
) -> Fragment {
    let a = frame.clip_from_local * vec4f(from_local, 1.0);
    let b = frame.clip_from_local * vec4f(to_local, 1.0);
    return Fragment(corner(a, b, index, frame.viewport.z * 1.4), color);
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    return to_target(vec4f(in.color.rgb * in.color.a, in.color.a));
}
