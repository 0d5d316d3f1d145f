// Blurs the darkness that shadow_mesh.wgsl draws.

@group(1) @binding(0) var seen: texture_2d<f32>;

struct Fragment {
    @builtin(position) position: vec4f,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Fragment {
    var out: Fragment;
    out.position = vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    return out;
}

fn blurred(at: vec2f, along: vec2i) -> f32 {
    let size = vec2i(textureDimensions(seen));
    var sum = 0.0;
    var weights = 0.0;
    for (var i = -9; i <= 9; i += 1) {
        let weight = exp(-f32(i * i) / 32.0);
        let texel = clamp(vec2i(at) + along * i, vec2i(0), size - 1);
        sum += weight * textureLoad(seen, texel, 0).r;
        weights += weight;
    }
    return sum / weights;
}

@fragment
fn across(in: Fragment) -> @location(0) vec4f {
    return vec4f(blurred(in.position.xy, vec2i(1, 0)));
}

@fragment
fn along(in: Fragment) -> @location(0) vec4f {
    return vec4f(blurred(in.position.xy, vec2i(0, 1)));
}
