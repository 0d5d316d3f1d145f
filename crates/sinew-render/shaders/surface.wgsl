// Faces of a mesh.

struct Material {
    base: vec4f,
    emissive: vec4f,
    // The first two rows of the matrix that (u, v, 1) is multiplied with.
    uv_u: vec4f,
    uv_v: vec4f,
    roughness: f32,
    metallic: f32,
    // Fragments of masked materials with a lower alpha are not drawn.
    cutoff: f32,
    // 1 if the vertices' colours are used.
    vertex_colors: u32,
}

@group(2) @binding(0) var<uniform> material: Material;
@group(2) @binding(1) var base_texture: texture_2d<f32>;
@group(2) @binding(2) var base_sampler: sampler;

// Whether alpha blends.
override BLENDED: bool = false;
// Whether `cutoff` decides. Where neither is so, alpha is ignored.
override MASKED: bool = false;

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) local: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) color: vec4f,
    @location(4) heat: f32,
}

@vertex
fn vertex(
    @location(0) point: u32,
    @location(1) normal: u32,
    @location(2) uv: vec2f,
    @location(3) color: vec4f,
) -> Fragment {
    var out: Fragment;
    out.local = local_point(point);
    out.position = frame.clip_from_local * vec4f(out.local, 1.0);
    out.normal = vec3f(0.0);
    if mesh.has_normals != 0u {
        out.normal = local_normal(normal);
    }
    out.uv = uv;
    out.color = color;
    out.heat = 0.0;
    if mesh.has_heat != 0u {
        out.heat = heat[point];
    }
    return out;
}

// From dark blue over green to yellow, in even steps of brightness. The stops are sRGB.
fn heat_color(weight: f32) -> vec3f {
    var stops = array(
        vec3f(0.267, 0.005, 0.329), vec3f(0.231, 0.318, 0.545), vec3f(0.129, 0.569, 0.549),
        vec3f(0.369, 0.788, 0.384), vec3f(0.993, 0.906, 0.144),
    );
    let at = clamp(weight, 0.0, 1.0) * 4.0;
    let first = min(u32(at), 3u);
    let srgb = mix(stops[first], stops[first + 1u], at - f32(first));
    return pow(srgb, vec3f(2.2));
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    let uv = vec3f(in.uv, 1.0);
    // v points up, and the rows of an image go down.
    let at = vec2f(dot(material.uv_u.xyz, uv), 1.0 - dot(material.uv_v.xyz, uv));
    let sampled = textureSample(base_texture, base_sampler, at);
    let across = cross(dpdx(in.local), dpdy(in.local));
    let to_eye = toward_eye(in.local);
    // Both sides of a face are drawn, so turn the normal to the visible side.
    var flat_normal = across / max(length(across), 1e-30);
    flat_normal = select(flat_normal, -flat_normal, dot(flat_normal, to_eye) < 0.0);
    var normal = flat_normal;
    let length = length(in.normal);
    if mesh.has_normals != 0u && length > 1e-6 {
        normal = in.normal / length;
        // Keep it if it is nearly parallel to the face, because rounding would decide.
        normal = select(normal, -normal, dot(normal, flat_normal) < -0.2);
    }
    var base = material.base * sampled;
    if material.vertex_colors != 0u {
        base *= in.color;
    }
    if MASKED {
        if base.a < material.cutoff {
            discard;
        }
    }
    if !BLENDED {
        base.a = 1.0;
    }
    var surface: Surface;
    surface.albedo = base.rgb;
    surface.roughness = clamp(material.roughness, 0.08, 1.0);
    surface.metallic = material.metallic;
    var emissive = material.emissive.rgb;
    if mesh.has_heat != 0u {
        surface.albedo = heat_color(in.heat);
        surface.roughness = 1.0;
        surface.metallic = 0.0;
        emissive = vec3f(0.0);
        base.a = 1.0;
    }
    surface.normal = normal;
    surface.to_eye = to_eye;
    let key = key_visible(in.local, normal);
    let open = sky_visible(in.local, normal);
    let color = toned(shaded(surface, key, open) + emissive);
    return to_target(vec4f(color * base.a, base.a));
}
