// Hydra's computation of skinned normals, which inverts a joint's matrix for each influence of each point. Only the
// upper 3x3 is inverted here, to the peer's favour: for affine matrices it comes to the same.

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
@group(0) @binding(2) var<storage, read> influences: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> joints: array<mat4x4<f32>>;
@group(0) @binding(4) var<storage, read_write> skinned: array<f32>;

fn inverse_transpose(m: mat4x4<f32>) -> mat3x3<f32> {
    let yz = cross(m[1].xyz, m[2].xyz);
    let zx = cross(m[2].xyz, m[0].xyz);
    let xy = cross(m[0].xyz, m[1].xyz);
    let scale = 1.0 / dot(m[0].xyz, yz);
    return mat3x3<f32>(yz * scale, zx * scale, xy * scale);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let point = id.x;
    if point >= prim.points {
        return;
    }
    var n = vec3<f32>(rest[point * 3u], rest[point * 3u + 1u], rest[point * 3u + 2u]);
    if prim.influences_per_point > 0u {
        let bound = inverse_transpose(prim.geom_bind) * n;
        let first = select(prim.influences_per_point * point, 0u, prim.constant_influences != 0u);
        var sum = vec3<f32>(0.0);
        for (var i = 0u; i < prim.influences_per_point; i++) {
            let influence = influences[first + i];
            if influence.y > 1e-5 {
                sum += inverse_transpose(joints[u32(influence.x)]) * bound * influence.y;
            }
        }
        n = inverse_transpose(prim.prim_from_world * prim.world_from_skel) * sum;
    }
    skinned[point * 3u] = n.x;
    skinned[point * 3u + 1u] = n.y;
    skinned[point * 3u + 2u] = n.z;
}
