// Rows of 3x4 matrices, and vectors of extreme length.

struct Rows {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

fn transform_point(m: Rows, p: vec3<f32>) -> vec3<f32> {
    let v = vec4<f32>(p, 1.0);
    return vec3<f32>(dot(m.x, v), dot(m.y, v), dot(m.z, v));
}

fn transform_vector(m: Rows, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(m.x.xyz, v), dot(m.y.xyz, v), dot(m.z.xyz, v));
}

// Zero stays zero, and a vector shorter than SHORTEST stays short, as in GfVec3f::Normalize. The
// vector is scaled first, so that the square neither overflows nor underflows.
fn normalized(v: vec3<f32>) -> vec3<f32> {
    let largest = max(abs(v.x), max(abs(v.y), abs(v.z)));
    if !(largest > SHORTEST) {
        return v * 1e10;
    }
    let scaled = v / largest;
    return scaled * inverseSqrt(dot(scaled, scaled));
}

// `v` rotated by a unit quaternion (x, y, z, w).
fn turned(real: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    return v + 2.0 * cross(real.xyz, cross(real.xyz, v) + real.w * v);
}
