// The depth of faces, seen from a light. It follows surface.wgsl, whose vertices and materials it
// uses.

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
