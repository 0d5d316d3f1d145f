// What stands between a point and the lights: depth maps of the meshes, seen from the key light and
// from directions all around.

// occlusion.rs has the same number.
const SKY_MAPS: u32 = 12u;

struct Occlusion {
    // To -1 to 1 across each map, and a depth that is larger nearer to the light.
    key_from_local: mat4x4f,
    sky_from_local: array<mat4x4f, SKY_MAPS>,
    // The direction that each map is seen from.
    sky_from: array<vec4f, SKY_MAPS>,
    // Widths of a texel of the key light's map and of the others, in local space.
    texels: vec4f,
}

@group(3) @binding(0) var<uniform> occlusion: Occlusion;
@group(3) @binding(1) var key_map: texture_depth_2d;
@group(3) @binding(2) var sky_maps: texture_depth_2d_array;
@group(3) @binding(3) var nearer: sampler_comparison;

fn across_map(at: vec4f) -> vec2f {
    return vec2f(0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y);
}

// Whether a point lies beyond the sides of a map, where nothing is known to be in the way.
fn is_beside_map(at: vec4f) -> bool {
    return any(abs(at.xy) > vec2f(1.0));
}

// How far a point has to be moved along its face's normal, so that the face is not in its own way
// where the map is read up to `reach` away: a steep face changes its depth most.
fn lift(out: vec3f, to_light: vec3f, reach: f32) -> vec3f {
    return out * reach * max(length(cross(out, to_light)), 0.2);
}

// The part of the key light that reaches a point, as the mean of 16 places around it. `out` is the
// face's own normal; zero where nothing is.
fn key_visible(local: vec3f, out: vec3f) -> f32 {
    let away = local + lift(out, frame.key.xyz, 4.5 * occlusion.texels.x);
    let at = occlusion.key_from_local * vec4f(away, 1.0);
    if is_beside_map(at) {
        return 1.0;
    }
    let uv = across_map(at);
    // Beyond its far side a map shows nothing.
    let depth = max(at.z, 0.0);
    let texel = 1.0 / vec2f(textureDimensions(key_map));
    var sum = 0.0;
    for (var y = -1.5; y < 2.0; y += 1.0) {
        for (var x = -1.5; x < 2.0; x += 1.0) {
            sum += textureSampleCompareLevel(key_map, nearer, uv + 1.6 * vec2f(x, y) * texel, depth);
        }
    }
    return sum / 16.0;
}

// The part of the surroundings that a point of a surface sees, weighted by the cosine of the angle
// to the normal. `out` is as in `key_visible`.
fn sky_visible(local: vec3f, normal: vec3f, out: vec3f) -> f32 {
    let texel = 1.0 / vec2f(textureDimensions(sky_maps));
    var sum = 0.1;
    var weights = 0.1;
    for (var i = 0u; i < SKY_MAPS; i += 1u) {
        let weight = dot(normal, occlusion.sky_from[i].xyz);
        if weight > 0.0 {
            let away = local + lift(out, occlusion.sky_from[i].xyz, 3.0 * occlusion.texels.y);
            let at = occlusion.sky_from_local[i] * vec4f(away, 1.0);
            let uv = across_map(at);
            var seen = 0.0;
            for (var corner = 0u; corner < 4u; corner += 1u) {
                let beside = (vec2f(vec2u(corner & 1u, corner >> 1u)) * 3.0 - 1.5) * texel;
                seen += textureSampleCompareLevel(sky_maps, nearer, uv + beside, i, max(at.z, 0.0));
            }
            sum += weight * select(seen * 0.25, 1.0, is_beside_map(at));
            weights += weight;
        }
    }
    return sum / weights;
}
