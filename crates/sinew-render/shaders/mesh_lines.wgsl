// Lines that follow a mesh's points.

@vertex
fn edge(@builtin(vertex_index) index: u32, @location(0) ends: vec2u) -> Fragment {
    let a = frame.clip_from_local * vec4f(local_point(ends.x), 1.0);
    let b = frame.clip_from_local * vec4f(local_point(ends.y), 1.0);
    return Fragment(corner(a, b, index, frame.viewport.z * 0.8), vec4f(0.01, 0.012, 0.015, 0.8));
}

@vertex
fn normal(@builtin(vertex_index) index: u32, @location(0) point: u32, @location(1) normal: u32) -> Fragment {
    let from_local = local_point(point);
    let to_local = from_local + local_normal(normal) * frame.viewport.w;
    let a = frame.clip_from_local * vec4f(from_local, 1.0);
    let b = frame.clip_from_local * vec4f(to_local, 1.0);
    return Fragment(corner(a, b, index, frame.viewport.z * 0.8), vec4f(0.05, 0.35, 0.9, 0.9));
}
