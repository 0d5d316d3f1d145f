// Hydra's computation of skinned points: one dispatch per prim, one invocation per point.

struct Prim {
    geom_bind: mat4x4<f32>,
    prim_from_world: mat4x4<f32>,
    world_from_skel: mat4x4<f32>,
    points: u32,
    influences_per_point: u32,
    constant_influences: u32,
    offset_ranges: u32,
}

@group(0) @binding(0) var<uniform> prim: Prim;
@group(0) @binding(1) var<storage, read> rest: array<f32>;
// Joint as a float, weight.
@group(0) @binding(2) var<storage, read> influences: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> joints: array<mat4x4<f32>>;
@group(0) @binding(4) var<storage, read> offset_ranges: array<vec2<i32>>;
// Offset, and its sub-shape as a float.
@group(0) @binding(5) var<storage, read> offsets: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> shape_weights: array<f32>;
@group(0) @binding(7) var<storage, read_write> skinned: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let point = id.x;
    if point >= prim.points {
        return;
    }
    var p = vec3<f32>(rest[point * 3u], rest[point * 3u + 1u], rest[point * 3u + 2u]);
    if point < prim.offset_ranges {
        let range = offset_ranges[point];
        for (var i = range.x; i < range.y; i++) {
            let offset = offsets[i];
            p += offset.xyz * shape_weights[u32(offset.w)];
        }
    }
    if prim.influences_per_point > 0u {
        let bound = prim.geom_bind * vec4<f32>(p, 1.0);
        let first = select(prim.influences_per_point * point, 0u, prim.constant_influences != 0u);
        var sum = vec3<f32>(0.0);
        for (var i = 0u; i < prim.influences_per_point; i++) {
            let influence = influences[first + i];
            if influence.y > 1e-5 {
                sum += (joints[u32(influence.x)] * bound).xyz * influence.y;
            }
        }
        p = (prim.prim_from_world * prim.world_from_skel * vec4<f32>(sum, 1.0)).xyz;
    }
    skinned[point * 3u] = p.x;
    skinned[point * 3u + 1u] = p.y;
    skinned[point * 3u + 2u] = p.z;
}
