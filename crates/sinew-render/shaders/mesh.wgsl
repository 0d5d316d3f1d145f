// Points and normals of a mesh, in the output of the skinning kernel or in a buffer that the CPU
// filled.

struct Mesh {
    local_from_mesh: mat4x4f,
    normal_from_mesh: mat4x4f,
    // Numbers of floats before the first point and before the first normal.
    first_point: u32,
    first_normal: u32,
    has_normals: u32,
    // 1 if the colours show the weights in `heat`.
    has_heat: u32,
}

@group(0) @binding(1) var<uniform> mesh: Mesh;
@group(1) @binding(0) var<storage, read> points: array<f32>;
@group(1) @binding(1) var<storage, read> normals: array<f32>;
@group(1) @binding(2) var<storage, read> heat: array<f32>;

fn local_point(point: u32) -> vec3f {
    let at = mesh.first_point + 3u * point;
    let p = vec3f(points[at], points[at + 1u], points[at + 2u]);
    return (mesh.local_from_mesh * vec4f(p, 1.0)).xyz;
}

fn local_normal(normal: u32) -> vec3f {
    let at = mesh.first_normal + 3u * normal;
    let n = (mesh.normal_from_mesh * vec4f(normals[at], normals[at + 1u], normals[at + 2u], 0.0)).xyz;
    let length = length(n);
    return n / max(length, 1e-20);
}
