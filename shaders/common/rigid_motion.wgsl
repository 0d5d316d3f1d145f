// Splits the matrix of a joint into a rigid motion and a residual scale and shear, for dual
// quaternion skinning (rules 25 to 27). `src/kernel/rigid_motion.rs` has the same steps.

struct Basis {
    x: vec3<f32>,
    y: vec3<f32>,
    z: vec3<f32>,
}

struct JointMotion {
    real: vec4<f32>,
    dual: vec4<f32>,
    residual: Basis,
}

struct NormalTurn {
    turn: vec4<f32>,
    residual: Basis,
}

fn identity_basis() -> Basis {
    return Basis(vec3<f32>(1.0, 0.0, 0.0), vec3<f32>(0.0, 1.0, 0.0), vec3<f32>(0.0, 0.0, 1.0));
}

fn scaled_basis(m: Basis, s: f32) -> Basis {
    return Basis(m.x * s, m.y * s, m.z * s);
}

fn largest_element(m: Basis) -> f32 {
    let of_each = max(abs(m.x), max(abs(m.y), abs(m.z)));
    return max(of_each.x, max(of_each.y, of_each.z));
}

// The matrix of cofactors, row by row: the inverse transpose times the determinant.
fn cofactors(m: Basis) -> Basis {
    return Basis(cross(m.y, m.z), cross(m.z, m.x), cross(m.x, m.y));
}

// `transpose(a) * b`.
fn transposed_product(a: Basis, b: Basis) -> Basis {
    return Basis(
        a.x.x * b.x + a.y.x * b.y + a.z.x * b.z,
        a.x.y * b.x + a.y.y * b.y + a.z.y * b.z,
        a.x.z * b.x + a.y.z * b.y + a.z.z * b.z);
}

// The quaternion of a rotation, with the sign that usd-core gives it.
fn quaternion_of(m: Basis) -> vec4<f32> {
    let skew = vec3<f32>(m.z.y - m.y.z, m.x.z - m.z.x, m.y.x - m.x.y);
    let sums = vec3<f32>(m.y.z + m.z.y, m.x.z + m.z.x, m.x.y + m.y.x);
    let d = vec3<f32>(m.x.x, m.y.y, m.z.z);
    let trace = d.x + d.y + d.z;
    var largest = 2u;
    if d.x > d.y {
        if d.x > d.z { largest = 0u; }
    } else if d.y > d.z {
        largest = 1u;
    }
    var of_largest = d.z;
    if largest == 0u { of_largest = d.x; }
    if largest == 1u { of_largest = d.y; }
    if trace > of_largest {
        let four_w = 2.0 * sqrt(trace + 1.0);
        return vec4<f32>(skew / four_w, clamp(four_w * 0.25, -1.0, 1.0));
    }
    let four_i = 2.0 * sqrt(max(2.0 * of_largest - trace + 1.0, SHORTEST));
    let part = four_i * 0.25;
    if largest == 0u {
        return vec4<f32>(part, sums.z / four_i, sums.y / four_i, clamp(skew.x / four_i, -1.0, 1.0));
    }
    if largest == 1u {
        return vec4<f32>(sums.z / four_i, part, sums.x / four_i, clamp(skew.y / four_i, -1.0, 1.0));
    }
    return vec4<f32>(sums.y / four_i, sums.x / four_i, part, clamp(skew.z / four_i, -1.0, 1.0));
}

// The rotation of a matrix that is not singular: its orthogonal polar factor, negated if the matrix
// mirrors. Higham's iteration, scaled by the determinant.
fn rotation_of(m: Basis, mirrors: bool) -> Basis {
    var x = scaled_basis(m, select(1.0, -1.0, mirrors) / largest_element(m));
    for (var i = 0u; i < POLAR_STEPS; i++) {
        let inverse = cofactors(x);
        let determinant = dot(x.x, inverse.x);
        var scale = 1.0;
        if abs(determinant - 1.0) > 0.01 {
            scale = 1.0 / pow(max(determinant, SMALLEST_DETERMINANT), 1.0 / 3.0);
        }
        let a = scale * 0.5;
        let b = 0.5 / (scale * max(determinant, SMALLEST_DETERMINANT));
        let next = Basis(a * x.x + b * inverse.x, a * x.y + b * inverse.y, a * x.z + b * inverse.z);
        let change = largest_element(Basis(next.x - x.x, next.y - x.y, next.z - x.z));
        x = next;
        if change < 1e-6 {
            break;
        }
    }
    return x;
}

// Splits a joint's matrix for points. A singular joint has no motion and the identity as its
// residual.
fn split_joint(linear: Basis, translation: vec3<f32>) -> JointMotion {
    let determinant = dot(linear.x, cross(linear.y, linear.z));
    if !(abs(determinant) >= SINGULAR_JOINT) {
        return JointMotion(vec4<f32>(0.0), vec4<f32>(0.0), identity_basis());
    }
    let rotation = rotation_of(linear, determinant < 0.0);
    let real = normalize(quaternion_of(rotation));
    let t = translation * 0.5;
    let dual = vec4<f32>(t * real.w + cross(t, real.xyz), -dot(t, real.xyz));
    return JointMotion(real, dual, transposed_product(rotation, linear));
}

fn unit_or_short(v: vec3<f32>) -> vec3<f32> {
    return v / max(length(v), SHORTEST);
}

fn far_apart(a: vec3<f32>, b: vec3<f32>) -> bool {
    let d = a - b;
    return dot(d, d) > SMALLEST_TURN;
}

fn without(v: vec3<f32>, a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let u = v - a * dot(a, v);
    return u - b * dot(b, u);
}

// Splits the inverse transpose of a joint's matrix, which transforms normals. A singular joint does
// not turn normals, and its residual outweighs those of other joints.
fn split_normals(linear: Basis) -> NormalTurn {
    let largest = largest_element(linear);
    let cofactor = cofactors(scaled_basis(linear, 1.0 / max(largest, SMALLEST_DETERMINANT)));
    let determinant = dot(linear.x, cofactor.x) / max(largest, SMALLEST_DETERMINANT);
    if !(abs(determinant) > SMALLEST_DETERMINANT) {
        return NormalTurn(vec4<f32>(0.0, 0.0, 0.0, 1.0), scaled_basis(identity_basis(), LARGEST_NORMAL_ELEMENT));
    }
    let carrier = scaled_basis(cofactor, 1.0 / determinant / largest);
    // The axes are columns: transposed, so that each is a vector.
    var x = unit_or_short(vec3<f32>(carrier.x.x, carrier.y.x, carrier.z.x));
    var y = unit_or_short(vec3<f32>(carrier.x.y, carrier.y.y, carrier.z.y));
    var z = unit_or_short(vec3<f32>(carrier.x.z, carrier.y.z, carrier.z.z));
    if far_apart(x, y) && far_apart(x, z) && far_apart(y, z) {
        for (var i = 0u; i < 20u; i++) {
            let nx = unit_or_short((x + without(x, y, z)) * 0.5);
            let ny = unit_or_short((y + without(y, x, z)) * 0.5);
            let nz = unit_or_short((z + without(z, x, y)) * 0.5);
            let change = dot(nx - x, nx - x) + dot(ny - y, ny - y) + dot(nz - z, nz - z);
            if change < SMALLEST_TURN {
                break;
            }
            x = nx;
            y = ny;
            z = nz;
        }
    }
    let rows = Basis(vec3<f32>(x.x, y.x, z.x), vec3<f32>(x.y, y.y, z.y), vec3<f32>(x.z, y.z, z.z));
    // The inverse of the basis is the transpose of its inverse transpose.
    let inverse = cofactors(rows);
    let of_rows = dot(rows.x, inverse.x);
    let residual = transposed_product(scaled_basis(inverse, 1.0 / of_rows), carrier);
    return NormalTurn(quaternion_of(rows), residual);
}
