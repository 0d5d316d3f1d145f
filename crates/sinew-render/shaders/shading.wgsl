// Three lights and a hemisphere on a rough or metallic surface.

const PI: f32 = 3.14159265;

struct Surface {
    albedo: vec3f,
    roughness: f32,
    metallic: f32,
    // What is reflected at normal incidence, unless the surface is metal.
    reflected: vec3f,
    normal: vec3f,
    to_eye: vec3f,
}

// GGX with the height-correlated Smith term in its usual approximation, and Lambert below.
fn lit(s: Surface, to_light: vec3f, color: vec3f) -> vec3f {
    let n_l = dot(s.normal, to_light);
    if n_l <= 0.0 {
        return vec3f(0.0);
    }
    let half_way = normalize(to_light + s.to_eye);
    let n_v = max(dot(s.normal, s.to_eye), 1e-3);
    let n_h = max(dot(s.normal, half_way), 0.0);
    let v_h = max(dot(s.to_eye, half_way), 0.0);
    let a = s.roughness * s.roughness;
    let spread = n_h * n_h * (a * a - 1.0) + 1.0;
    let distribution = a * a / (PI * spread * spread);
    let visibility = 0.5 / mix(2.0 * n_l * n_v, n_l + n_v, a);
    let at_front = mix(s.reflected, s.albedo, s.metallic);
    // A surface that reflects nothing does not reflect at its edge either.
    // Rough ones reflect less at their edge, because their parts hide each other.
    let strongest = max(at_front.r, max(at_front.g, at_front.b));
    let at_edge = clamp(25.0 * strongest, 0.0, 1.0) * max(1.0 - s.roughness, strongest);
    let fresnel = at_front + (at_edge - at_front) * pow(1.0 - v_h, 5.0);
    let diffuse = s.albedo * (1.0 - s.metallic) * (1.0 - fresnel) / PI;
    return (diffuse + fresnel * min(distribution * visibility, 16.0)) * color * n_l * PI;
}

// `key` and `open` are the parts of the key light and of the surroundings that reach the surface.
fn shaded(s: Surface, key: f32, open: f32) -> vec3f {
    var light = lit(s, frame.key.xyz, frame.key_color.rgb * key);
    // These lights have no maps of their own: what is hidden from the surroundings is hidden from
    // them.
    light += lit(s, frame.fill.xyz, frame.fill_color.rgb * open);
    light += lit(s, frame.rim.xyz, frame.rim_color.rgb * open * open);
    // Smooth metal shows the surroundings where they are reflected, rough metal as a blur.
    let mirrored = reflect(-s.to_eye, s.normal);
    let toward = normalize(mix(s.normal, mirrored, 0.9 * s.metallic * (1.0 - s.roughness)));
    let height = 0.5 + 0.5 * dot(toward, frame.up.xyz);
    light += s.albedo * mix(frame.bounce.rgb, frame.sky.rgb, height) * open;
    return light;
}

// The base colour where the key light falls, and the shade elsewhere, with a sharp edge (MToon).
// The light comes from farther to the side than the key light, so that the shade is seen. The colours
// stay as they are to each other: they are darkened to the white of lit surfaces, not compressed.
fn two_tones(s: Surface, shade: vec3f, key: f32) -> vec3f {
    let ahead = frame.back.xyz * dot(frame.key.xyz, frame.back.xyz);
    let cosine = dot(s.normal, normalize(frame.key.xyz - 0.65 * ahead));
    let width = max(material.toon_high - material.toon_low, 1e-3);
    let lit = clamp((cosine - material.toon_low) / width, 0.0, 1.0);
    return 0.7 * mix(shade, s.albedo, lit * key);
}

// Keeps dark and middling colours, and compresses bright ones, so that white surfaces keep their
// form: Khronos' PBR neutral tone mapper with a shoulder from 0.25 and not 0.76, so that an albedo of
// 0.8 stays below 85 % white in full light. What surfaces reflect without a colour of their own is
// subtracted, so that colours look as in their textures: 0.02, and not 0.04 as there.
fn toned(light: vec3f) -> vec3f {
    let start = 0.25;
    let low = min(light.r, min(light.g, light.b));
    let color = light - select(0.02, low - 12.5 * low * low, low < 0.04);
    let peak = max(color.r, max(color.g, color.b));
    if peak < start {
        return color;
    }
    let d = 1.0 - start;
    let new_peak = 1.0 - d * d / (peak + d - start);
    let grey = 1.0 - 1.0 / (0.15 * (peak - new_peak) + 1.0);
    return mix(color * (new_peak / peak), vec3f(new_peak), grey);
}
