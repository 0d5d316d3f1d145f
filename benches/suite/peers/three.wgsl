// three.js's vertex stage for skinned meshes with morph targets, as a kernel that writes what the stage computes: one
// dispatch per mesh, as it draws one by one.

struct Mesh {
    bind: mat4x4<f32>,
    bind_inverse: mat4x4<f32>,
    vertex_count: u32,
    has_normal: u32,
    has_skeleton: u32,
    morph_targets: u32,
    // Texels of a row of the morph texture.
    morph_width: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> mesh: Mesh;
@group(0) @binding(1) var<storage, read> positions: array<f32>;
@group(0) @binding(2) var<storage, read> normals: array<f32>;
@group(0) @binding(3) var<storage, read> skin_indices: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> skin_weights: array<vec4<f32>>;
// Four texels of a matrix after each other, in rows.
@group(0) @binding(5) var bones: texture_2d<f32>;
// Four in each; MORPHTARGETS_COUNT stands before this text.
@group(0) @binding(6) var<uniform> influences: array<vec4<f32>, (MORPHTARGETS_COUNT + 3u) / 4u>;
@group(0) @binding(7) var morphs: texture_2d_array<f32>;
// Positions, then normals.
@group(0) @binding(8) var<storage, read_write> transformed: array<f32>;

fn bone(number: u32) -> mat4x4<f32> {
    let width = textureDimensions(bones).x;
    let texel = number * 4u;
    let at = vec2<u32>(texel % width, texel / width);
    return mat4x4<f32>(
        textureLoad(bones, at, 0),
        textureLoad(bones, at + vec2<u32>(1u, 0u), 0),
        textureLoad(bones, at + vec2<u32>(2u, 0u), 0),
        textureLoad(bones, at + vec2<u32>(3u, 0u), 0),
    );
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let vertex = id.x;
    if vertex >= mesh.vertex_count {
        return;
    }
    let at = vertex * 3u;
    var p = vec3<f32>(positions[at], positions[at + 1u], positions[at + 2u]);
    var n = vec3<f32>(0.0);
    if mesh.has_normal != 0u {
        n = vec3<f32>(normals[at], normals[at + 1u], normals[at + 2u]);
    }
    let texel = vec2<u32>(vertex % mesh.morph_width, vertex / mesh.morph_width);
    for (var i = 0u; i < mesh.morph_targets; i++) {
        let influence = influences[i / 4u][i % 4u];
        if influence != 0.0 {
            p += textureLoad(morphs, texel, i, 0).xyz * influence;
        }
    }
    if mesh.has_skeleton != 0u {
        let pairs = skin_indices[vertex];
        let w = skin_weights[vertex];
        let x = bone(pairs.x & 0xffffu);
        let y = bone(pairs.x >> 16u);
        let z = bone(pairs.y & 0xffffu);
        let v = bone(pairs.y >> 16u);
        let bound = mesh.bind * vec4<f32>(p, 1.0);
        p = (mesh.bind_inverse * (x * bound * w.x + y * bound * w.y + z * bound * w.z + v * bound * w.w)).xyz;
        let m = mesh.bind_inverse * (x * w.x + y * w.y + z * w.z + v * w.w) * mesh.bind;
        n = normalize((m * vec4<f32>(n, 0.0)).xyz);
    }
    transformed[at] = p.x;
    transformed[at + 1u] = p.y;
    transformed[at + 2u] = p.z;
    if mesh.has_normal != 0u {
        let to = mesh.vertex_count * 3u + at;
        transformed[to] = n.x;
        transformed[to + 1u] = n.y;
        transformed[to + 2u] = n.z;
    }
}
