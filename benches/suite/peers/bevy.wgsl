// Bevy's cache of skinned vertices: one dispatch over all mesh instances, one invocation per vertex, which finds its instance
// by a binary search of the tasks.

struct Mesh {
    // First of its skinned vertices.
    first_cached: u32,
    // First of its vertices in the slab.
    first_vertex: u32,
    // First of its joints, or NONE.
    skin: u32,
    morph: u32,
}

struct Morph {
    first_weight: u32,
    weight_count: u32,
    first_target: u32,
    vertex_count: u32,
}

struct Offsets {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
}

struct Skinned {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec4<f32>,
}

const NONE: u32 = 0xffffffffu;
// VERTEX_NORMALS stands before this text.
const NORMAL_WORDS: u32 = select(0u, 3u, VERTEX_NORMALS);
const VERTEX_WORDS: u32 = 9u + NORMAL_WORDS;

@group(0) @binding(0) var<storage, read> tasks: array<u32>;
@group(0) @binding(1) var<storage, read_write> skinned: array<Skinned>;
// Position, normal where there are some, weights, joints as u16.
@group(0) @binding(2) var<storage, read> vertices: array<u32>;
@group(0) @binding(3) var<storage, read> meshes: array<Mesh>;
@group(0) @binding(4) var<storage, read> joints: array<mat4x4<f32>>;
@group(0) @binding(5) var<storage, read> morph_weights: array<f32>;
@group(0) @binding(6) var<storage, read> morph_targets: array<Offsets>;
@group(0) @binding(7) var<storage, read> morphs: array<Morph>;

// The last task, a sentinel, begins where the vertices end.
fn task_of(vertex: u32) -> u32 {
    var low = 0u;
    var high = arrayLength(&tasks) - 1u;
    while low + 1u < high {
        let middle = (low + high) / 2u;
        if meshes[tasks[middle]].first_cached <= vertex {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

fn vector(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(vertices[at], vertices[at + 1u], vertices[at + 2u]));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let vertex = id.x;
    if vertex >= arrayLength(&skinned) {
        return;
    }
    let mesh = meshes[tasks[task_of(vertex)]];
    let own = vertex - mesh.first_cached;
    let at = (mesh.first_vertex + own) * VERTEX_WORDS;
    var p = vector(at);
    var n = vec3<f32>(0.0);
    if VERTEX_NORMALS {
        n = vector(at + 3u);
    }
    if mesh.morph != NONE {
        let morph = morphs[mesh.morph];
        for (var i = 0u; i < morph.weight_count; i++) {
            let weight = morph_weights[morph.first_weight + i];
            if weight == 0.0 {
                continue;
            }
            let target_at = morph.first_target + i * morph.vertex_count + own;
            p += weight * morph_targets[target_at].position;
            if VERTEX_NORMALS {
                n += weight * morph_targets[target_at].normal;
            }
        }
    }
    if mesh.skin != NONE {
        let own_weights = at + 3u + NORMAL_WORDS;
        let pairs = vec2<u32>(vertices[own_weights + 4u], vertices[own_weights + 5u]);
        let w = bitcast<vec4<f32>>(vec4<u32>(
            vertices[own_weights],
            vertices[own_weights + 1u],
            vertices[own_weights + 2u],
            vertices[own_weights + 3u],
        ));
        let m = joints[mesh.skin + (pairs.x & 0xffffu)] * w.x + joints[mesh.skin + (pairs.x >> 16u)] * w.y
            + joints[mesh.skin + (pairs.y & 0xffffu)] * w.z + joints[mesh.skin + (pairs.y >> 16u)] * w.w;
        p = (m * vec4<f32>(p, 1.0)).xyz;
        if VERTEX_NORMALS {
            // The inverse transpose of the blend, not the blend of inverse transposes.
            let yz = cross(m[1].xyz, m[2].xyz);
            let zx = cross(m[2].xyz, m[0].xyz);
            let xy = cross(m[0].xyz, m[1].xyz);
            n = (yz * n.x + zx * n.y + xy * n.z) / dot(m[0].xyz, yz);
        }
    }
    skinned[vertex].position = p;
    if VERTEX_NORMALS {
        skinned[vertex].normal = normalize(n);
    }
}
