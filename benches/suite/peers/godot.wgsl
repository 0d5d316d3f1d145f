// Godot's compute skeleton: one dispatch per surface instance, one invocation per vertex. Positions stand first in a vertex
// buffer, then normals as octahedra of two 16-bit numbers.

struct Surface {
    vertex_count: u32,
    has_normal: u32,
    has_skeleton: u32,
    // Words of a vertex's bones and weights, and where among them weights begin: 4 and 2, or 8 and 4.
    skin_stride: u32,
    skin_weights: u32,
    blend_shape_count: u32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> surface: Surface;
@group(0) @binding(1) var<storage, read> vertices: array<u32>;
@group(0) @binding(2) var<storage, read> bones: array<u32>;
@group(0) @binding(3) var<storage, read> blend_shapes: array<u32>;
@group(0) @binding(4) var<storage, read> blend_weights: array<f32>;
// Three rows each.
@group(0) @binding(5) var<storage, read> joints: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> skinned: array<u32>;

fn from_octahedron(word: u32) -> vec3<f32> {
    let e = unpack2x16unorm(word) * 2.0 - 1.0;
    var v = vec3<f32>(e, 1.0 - abs(e.x) - abs(e.y));
    let below = max(-v.z, 0.0);
    v.x += select(below, -below, v.x >= 0.0);
    v.y += select(below, -below, v.y >= 0.0);
    return normalize(v);
}

fn to_octahedron(v: vec3<f32>) -> u32 {
    let n = v / (abs(v.x) + abs(v.y) + abs(v.z));
    let folded = (1.0 - abs(n.yx)) * select(vec2<f32>(-1.0), vec2<f32>(1.0), n.xy >= vec2<f32>(0.0));
    let e = select(folded, n.xy, n.z >= 0.0);
    let whole = vec2<u32>(clamp((e * 0.5 + 0.5) * 65535.0, vec2<f32>(0.0), vec2<f32>(65535.0)));
    return whole.x | (whole.y << 16u);
}

struct Rows {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

fn add(m: ptr<function, Rows>, bone: u32, weight: f32) {
    let row = bone * 3u;
    (*m).x += joints[row] * weight;
    (*m).y += joints[row + 1u] * weight;
    (*m).z += joints[row + 2u] * weight;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let vertex = id.x;
    if vertex >= surface.vertex_count {
        return;
    }
    let at = vertex * 3u;
    let normal_at = surface.vertex_count * 3u + vertex;
    var p = bitcast<vec3<f32>>(vec3<u32>(vertices[at], vertices[at + 1u], vertices[at + 2u]));
    var n = vec3<f32>(0.0);
    if surface.has_normal != 0u {
        n = from_octahedron(vertices[normal_at]);
    }
    for (var i = 0u; i < surface.blend_shape_count; i++) {
        let weight = blend_weights[i];
        if abs(weight) > 0.0001 {
            let shape_at = (surface.vertex_count * i + vertex) * 3u;
            let words = vec3<u32>(blend_shapes[shape_at], blend_shapes[shape_at + 1u], blend_shapes[shape_at + 2u]);
            p += bitcast<vec3<f32>>(words) * weight;
        }
    }
    if surface.has_skeleton != 0u {
        let none = vec4<f32>(0.0);
        var m = Rows(none, none, none);
        // Four influences at a time.
        for (var pair = 0u; pair < surface.skin_weights; pair += 2u) {
            let record = vertex * surface.skin_stride + pair;
            let indices = vec2<u32>(bones[record], bones[record + 1u]);
            let w01 = unpack2x16unorm(bones[record + surface.skin_weights]);
            let w23 = unpack2x16unorm(bones[record + surface.skin_weights + 1u]);
            add(&m, indices.x & 0xffffu, w01.x);
            add(&m, indices.x >> 16u, w01.y);
            add(&m, indices.y & 0xffffu, w23.x);
            add(&m, indices.y >> 16u, w23.y);
        }
        let q = vec4<f32>(p, 1.0);
        p = vec3<f32>(dot(m.x, q), dot(m.y, q), dot(m.z, q));
        n = normalize(vec3<f32>(dot(m.x.xyz, n), dot(m.y.xyz, n), dot(m.z.xyz, n)));
    }
    skinned[at] = bitcast<u32>(p.x);
    skinned[at + 1u] = bitcast<u32>(p.y);
    skinned[at + 2u] = bitcast<u32>(p.z);
    if surface.has_normal != 0u {
        skinned[normal_at] = to_octahedron(n);
    }
}
