// The depth of faces, seen from a light. It follows surface.wgsl, whose vertices and materials it
// uses.

// Opaque faces need nothing but their place, and there are many maps.
@vertex
fn place(@location(0) point: u32) -> @builtin(position) vec4f {
    return frame.clip_from_local * vec4f(local_point(point), 1.0);
}

@fragment
fn caster(in: Fragment) {
    var alpha = opacity_at(in.uv);
    if material.vertex_colors != 0u {
        alpha *= in.color.a;
    }
    if alpha < material.cutoff {
        discard;
    }
}
