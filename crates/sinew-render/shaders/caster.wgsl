// The depth of faces, seen from a light. It follows surface.wgsl, whose vertices and materials it
// uses.

@fragment
fn caster(in: Fragment) {
    let uv = vec3f(in.uv, 1.0);
    let at = vec2f(dot(material.uv_u.xyz, uv), 1.0 - dot(material.uv_v.xyz, uv));
    var alpha = material.base.a * textureSample(base_texture, base_sampler, at).a;
    if material.vertex_colors != 0u {
        alpha *= in.color.a;
    }
    if alpha < material.cutoff {
        discard;
    }
}
