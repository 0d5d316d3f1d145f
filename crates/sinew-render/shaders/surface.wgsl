// Faces of a mesh.

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

// One corner of a piece of a curve: a ribbon that faces the camera, at least a pixel wide. Its normals
// are those of a tube.
@vertex
fn curve(
    @builtin(vertex_index) index: u32,
    @location(0) points: vec4u,
    @location(1) begin: vec4f,
    @location(2) end: vec4f,
    @location(3) begin_slope: vec4f,
    @location(4) end_slope: vec4f,
    @location(5) widths: vec2f,
    @location(6) color: vec4f,
) -> Fragment {
    let a = local_point(points.x);
    let b = local_point(points.y);
    let c = local_point(points.z);
    let d = local_point(points.w);
    let from_local = a * begin.x + b * begin.y + c * begin.z + d * begin.w;
    let to_local = a * end.x + b * end.y + c * end.z + d * end.w;
    let is_end = (index & 1u) != 0u;
    let side = select(-1.0, 1.0, (index & 2u) != 0u);
    let at = select(from_local, to_local, is_end);
    let slope = select(begin_slope, end_slope, is_end);
    let direction = a * slope.x + b * slope.y + c * slope.z + d * slope.w;
    // Where points coincide the curve has no direction, but the piece has.
    let along = select(to_local - from_local, direction, dot(direction, direction) > 0.0);
    let to_eye = toward_eye(at);
    let sideways = cross(along, to_eye);
    let unit = sideways / max(length(sideways), 1e-30);
    // The width is in the space of the points.
    let scale = length(mesh.local_from_mesh[0].xyz);
    var half_width = 0.5 * scale * select(widths.x, widths.y, is_end);
    let clip = frame.clip_from_local * vec4f(at, 1.0);
    let step = (frame.clip_from_local * vec4f(unit, 0.0)).xy * frame.viewport.xy * 0.5;
    let pixels = length(step) / max(abs(clip.w), 1e-6);
    half_width = max(half_width, 0.5 * frame.viewport.z / max(pixels, 1e-6));
    var out: Fragment;
    out.local = at + unit * side * half_width;
    out.position = frame.clip_from_local * vec4f(out.local, 1.0);
    let front = cross(unit, along);
    let toward = front / max(length(front), 1e-30);
    out.normal = unit * side + select(-toward, toward, dot(toward, to_eye) > 0.0) * 0.6;
    out.uv = vec2f(0.5);
    out.color = color;
    out.heat = 0.0;
    if mesh.has_heat != 0u {
        let weights = select(begin, end, is_end);
        out.heat = dot(weights, vec4f(heat[points.x], heat[points.y], heat[points.z], heat[points.w]));
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

// A normal out of a normal map. The directions of u and v on the surface come from how the position
// and the uvs change from pixel to pixel, so that no mesh needs tangents.
fn bent(normal: vec3f, texel: vec3f, local: vec3f, uv: vec2f) -> vec3f {
    let step_x = dpdx(local);
    let step_y = dpdy(local);
    let uv_x = dpdx(uv);
    let uv_y = dpdy(uv);
    let across_y = cross(step_y, normal);
    let across_x = cross(normal, step_x);
    // Pixels are counted downward, and faces are seen from both sides.
    let turned = select(1.0, -1.0, dot(step_x, across_y) < 0.0);
    let along_u = (across_y * uv_x.x + across_x * uv_y.x) * turned;
    let along_v = (across_y * uv_x.y + across_x * uv_y.y) * turned;
    let longest = max(dot(along_u, along_u), dot(along_v, along_v));
    let unit = inverseSqrt(max(longest, 1e-37));
    let out = along_u * unit * texel.x + along_v * unit * texel.y + normal * max(texel.z, 0.0);
    let length = length(out);
    // Where uvs do not change, or the map says nothing, the normal stays.
    return select(normal, out / max(length, 1e-6), longest > 1e-37 && length > 1e-6);
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    let across = cross(dpdx(in.local), dpdy(in.local));
    let to_eye = toward_eye(in.local);
    // Both sides of a face are drawn, so turn the normal to the visible side.
    var flat_normal = across / max(length(across), 1e-30);
    flat_normal = select(flat_normal, -flat_normal, dot(flat_normal, to_eye) < 0.0);
    var normal = flat_normal;
    let length = length(in.normal);
    if length > 1e-6 {
        normal = in.normal / length;
        // Keep it if it is nearly parallel to the face, because rounding would decide.
        normal = select(normal, -normal, dot(normal, flat_normal) < -0.2);
    }
    var base = vec4f(material.base.rgb, opacity_at(in.uv));
    var shade = material.shade.rgb;
    if has(BASE) {
        let image = texel(BASE, base_texture, base_sampler, in.uv);
        base = vec4f(max(scaled(BASE, image).rgb, vec3f(0.0)), base.a);
        shade *= mix(vec3f(1.0), image.rgb, material.shade.w);
    }
    if has(NORMAL) {
        let map = scaled(NORMAL, texel(NORMAL, normal_texture, normal_sampler, in.uv));
        normal = bent(normal, map.xyz, in.local, uv_of(NORMAL, in.uv));
    }
    var surface: Surface;
    surface.roughness = material.roughness;
    if has(ROUGHNESS) {
        let image = texel(ROUGHNESS, roughness_texture, roughness_sampler, in.uv);
        surface.roughness = number(ROUGHNESS, image);
    }
    surface.metallic = material.metallic;
    if has(METALLIC) {
        let image = texel(METALLIC, metallic_texture, metallic_sampler, in.uv);
        surface.metallic = number(METALLIC, image);
    }
    var occlusion = material.occlusion;
    if has(OCCLUSION) {
        let image = texel(OCCLUSION, occlusion_texture, occlusion_sampler, in.uv);
        occlusion = number(OCCLUSION, image);
    }
    var emissive = material.emissive.rgb;
    if has(EMISSIVE) {
        let image = texel(EMISSIVE, emissive_texture, emissive_sampler, in.uv);
        emissive = max(scaled(EMISSIVE, image).rgb, vec3f(0.0));
    }
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
    surface.albedo = base.rgb;
    surface.reflected = material.reflected.rgb;
    var is_toon = material.is_toon != 0u;
    if mesh.has_heat != 0u {
        surface.albedo = heat_color(in.heat);
        surface.roughness = 1.0;
        surface.metallic = 0.0;
        surface.reflected = vec3f(0.04);
        emissive = vec3f(0.0);
        occlusion = 1.0;
        base.a = 1.0;
        is_toon = false;
    }
    surface.roughness = clamp(surface.roughness, 0.08, 1.0);
    surface.normal = normal;
    surface.to_eye = to_eye;
    let key = key_visible(in.local, flat_normal);
    var color: vec3f;
    if is_toon {
        color = two_tones(surface, shade, key) + toned(emissive);
    } else {
        let open = sky_visible(in.local, normal, flat_normal) * occlusion;
        color = toned(shaded(surface, key, open) + emissive);
    }
    return to_target(vec4f(color * base.a, base.a));
}
