// Textured triangles, lit from above.

struct Material {
    color: vec4<f32>,
    emissive: vec4<f32>,
    uv_u: vec4<f32>,
    uv_v: vec4<f32>,
    alpha: vec4<f32>,
}

@group(0) @binding(0) var<uniform> clip_from_world: mat4x4<f32>;
@group(1) @binding(0) var<uniform> material: Material;
@group(1) @binding(1) var base_color: texture_2d<f32>;
@group(1) @binding(2) var base_sampler: sampler;

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) normal: vec3<f32>,
    @location(1) uv: vec2<f32>,
    @location(2) color: vec4<f32>,
}

@vertex
fn textured_vertex(
    @location(0) point: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) color: vec4<f32>,
) -> Varying {
    let st = vec2(dot(material.uv_u.xyz, vec3(uv, 1.0)), dot(material.uv_v.xyz, vec3(uv, 1.0)));
    // In USD v = 0 is the lower edge of an image.
    return Varying(clip_from_world * vec4(point, 1.0), normal, vec2(st.x, 1.0 - st.y), color);
}

@fragment
fn textured_fragment(in: Varying, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let texel = textureSample(base_color, base_sampler, in.uv);
    let vertex_color = mix(vec4(1.0), in.color, material.alpha.z);
    let albedo = texel * material.color * vertex_color;
    if material.alpha.y > 0.0 && albedo.a < material.alpha.x {
        discard;
    }
    let n = normalize(select(-in.normal, in.normal, front));
    let sun = max(dot(n, normalize(vec3(0.5, 0.8, 0.6))), 0.0);
    let sky = 0.5 + 0.5 * n.y;
    return vec4(albedo.rgb * (0.25 * sky + 0.1 + 0.85 * sun) + material.emissive.rgb, 1.0);
}
