// Bones, over everything else.

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) local: vec3f,
    @location(1) color: vec4f,
}

@vertex
fn vertex(@location(0) local: vec3f, @location(1) color: vec4f) -> Fragment {
    return Fragment(frame.clip_from_local * vec4f(local, 1.0), local, color);
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    let across = cross(dpdx(in.local), dpdy(in.local));
    let to_eye = toward_eye(in.local);
    let normal = across / max(length(across), 1e-30);
    let facing = abs(dot(normal, to_eye));
    let from_above = 0.5 + 0.5 * dot(select(normal, -normal, dot(normal, to_eye) < 0.0), frame.key.xyz);
    let light = 0.25 + 0.25 * facing + 0.5 * from_above;
    return to_target(vec4f(in.color.rgb * light * in.color.a, in.color.a));
}
