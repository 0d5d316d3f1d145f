// Computes palette rows from local transforms of joints: one invocation per palette index, one
// dispatch per four levels of the hierarchy. Each invocation multiplies from its joint up to the
// root, or up to a joint whose matrix an earlier dispatch has cached.

// Palettes are for dual quaternion skinning: rigid motions, and matrices of what remains.
override WITH_DUAL_QUATERNIONS: bool = true;

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<PoseRigItem>;
// Static data: the order of joints, their parents, and bind matrices.
@group(0) @binding(2) var<storage, read> skins: array<u32>;
// Five pairs of floats per joint: translation, rotation (x, y, z, w), scale.
@group(0) @binding(3) var<storage, read> joints: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> palettes: array<vec4<f32>>;
// Rows of the matrices that later dispatches start from.
@group(0) @binding(5) var<storage, read_write> cached: array<vec4<f32>>;

// `T * R * S` of a joint. The rotation is used as it is, also if it does not have unit length.
fn parent_from_joint(at: u32) -> Rows {
    let a = joints[at];
    let b = joints[at + 1u];
    let c = joints[at + 2u];
    let d = joints[at + 3u];
    let scale = vec3<f32>(d.y, joints[at + 4u]);
    let q = vec4<f32>(b.y, c, d.x);
    return Rows(
        vec4<f32>(vec3<f32>(
            1.0 - 2.0 * (q.y * q.y + q.z * q.z),
            2.0 * (q.x * q.y - q.z * q.w),
            2.0 * (q.z * q.x + q.y * q.w)) * scale, a.x),
        vec4<f32>(vec3<f32>(
            2.0 * (q.x * q.y + q.z * q.w),
            1.0 - 2.0 * (q.z * q.z + q.x * q.x),
            2.0 * (q.y * q.z - q.x * q.w)) * scale, a.y),
        vec4<f32>(vec3<f32>(
            2.0 * (q.x * q.z - q.y * q.w),
            2.0 * (q.y * q.z + q.x * q.w),
            1.0 - 2.0 * (q.y * q.y + q.x * q.x)) * scale, b.x));
}

fn combined(row: vec4<f32>, m: Rows) -> vec4<f32> {
    return row.x * m.x + row.y * m.y + row.z * m.z + vec4<f32>(0.0, 0.0, 0.0, row.w);
}

fn multiplied(a: Rows, b: Rows) -> Rows {
    return Rows(combined(a.x, b), combined(a.y, b), combined(a.z, b));
}

fn fixed_rows(at: u32) -> Rows {
    return Rows(fixed_row(at), fixed_row(at + 4u), fixed_row(at + 8u));
}

fn fixed_row(at: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(vec4<u32>(skins[at], skins[at + 1u], skins[at + 2u], skins[at + 3u]));
}

// The inverse transpose of the 3x3 part, or its cofactors if it is singular. The matrix is scaled
// first, so that the determinant neither overflows nor underflows.
fn normal_rows(m: Rows) -> Rows {
    let of_each = max(abs(m.x.xyz), max(abs(m.y.xyz), abs(m.z.xyz)));
    let largest = max(of_each.x, max(of_each.y, of_each.z));
    if !(largest > 0.0) {
        return Rows(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    }
    let x = m.x.xyz / largest;
    let y = m.y.xyz / largest;
    let z = m.z.xyz / largest;
    let cx = cross(y, z);
    let cy = cross(z, x);
    let cz = cross(x, y);
    let determinant = dot(x, cx);
    var factor = largest * largest;
    if abs(determinant) > SMALLEST_DETERMINANT {
        factor = 1.0 / determinant / largest;
    }
    let cofactors = max(abs(cx), max(abs(cy), abs(cz)));
    let longest = max(cofactors.x, max(cofactors.y, cofactors.z));
    if longest > 0.0 && !(longest * abs(factor) <= LARGEST_NORMAL_ELEMENT) {
        factor = sign(factor) * (LARGEST_NORMAL_ELEMENT / longest);
    }
    return Rows(vec4<f32>(cx * factor, 0.0), vec4<f32>(cy * factor, 0.0), vec4<f32>(cz * factor, 0.0));
}

fn rows_of(m: Basis) -> Rows {
    return Rows(vec4<f32>(m.x, 0.0), vec4<f32>(m.y, 0.0), vec4<f32>(m.z, 0.0));
}

// Scales a matrix down so that no element is larger than LARGEST_NORMAL_ELEMENT.
fn within_range(m: Rows) -> Rows {
    let largest = largest_element(Basis(m.x.xyz, m.y.xyz, m.z.xyz));
    if largest <= LARGEST_NORMAL_ELEMENT {
        return m;
    }
    let scale = LARGEST_NORMAL_ELEMENT / largest;
    return Rows(m.x * scale, m.y * scale, m.z * scale);
}

fn put(at: u32, m: Rows) {
    palettes[at] = m.x;
    palettes[at + 1u] = m.y;
    palettes[at + 2u] = m.z;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if workgroup >= dispatch.end_workgroup {
        return;
    }
    let item = items[item_of(workgroup)];
    let number = (workgroup - item.first_workgroup) * WORKGROUP_SIZE + lane;
    let copy = number / item.count;
    if copy >= item.copies {
        return;
    }
    let joints_at = item.joints + copy * (item.entry_count - 1u) * 5u;
    let cached_at = item.cached + copy * item.cached_stride;
    // The palette index, and in the high half one more than the index of its cached matrix.
    let word = skins[item.order + number % item.count];
    let index = word & 0xffffu;
    var m = Rows(vec4<f32>(1.0, 0.0, 0.0, 0.0), vec4<f32>(0.0, 1.0, 0.0, 0.0), vec4<f32>(0.0, 0.0, 1.0, 0.0));
    // The last index is for joints that the skeleton lacks: it has no local transform.
    if index + 1u < item.entry_count {
        m = parent_from_joint(joints_at + index * 5u);
        var above = skins[item.parents + index];
        while above < CACHED {
            m = multiplied(parent_from_joint(joints_at + above * 5u), m);
            above = skins[item.parents + above];
        }
        if above != NONE {
            let at = cached_at + (above & ~CACHED) * 3u;
            m = multiplied(Rows(cached[at], cached[at + 1u], cached[at + 2u]), m);
        }
    }
    let place = word >> 16u;
    if place > 0u {
        let at = cached_at + (place - 1u) * 3u;
        cached[at] = m.x;
        cached[at + 1u] = m.y;
        cached[at + 2u] = m.z;
    }
    let palette = item.palette + copy * item.palette_stride;
    // The matrix of the joint itself, for things that are attached to it.
    if item.attachments != NONE {
        let slot = skins[item.attachments + index];
        if slot != NONE {
            put(palette + item.attached + slot * 3u, m);
        }
    }
    let to = palette + index * 3u;
    let to_normal = to + item.entry_count * 3u;
    if WITH_DUAL_QUATERNIONS {
        // The inverse bind transform comes before the split, and geomBindTransform after it.
        let skinning = multiplied(m, fixed_rows(item.binds + index * 12u));
        let linear = Basis(skinning.x.xyz, skinning.y.xyz, skinning.z.xyz);
        let joint = split_joint(linear, vec3<f32>(skinning.x.w, skinning.y.w, skinning.z.w));
        put(to, multiplied(rows_of(joint.residual), fixed_rows(item.binds + item.entry_count * 12u)));
        var turn = vec4<f32>(0.0);
        if item.normal_binds != NONE {
            let of_normals = split_normals(linear);
            turn = of_normals.turn;
            put(to_normal, within_range(multiplied(rows_of(of_normals.residual), fixed_rows(item.normal_binds))));
        }
        put(palette + item.motions + index * 3u, Rows(joint.real, joint.dual, turn));
        return;
    }
    put(to, multiplied(m, fixed_rows(item.binds + index * 12u)));
    if item.normal_binds != NONE {
        let normal_bind = fixed_rows(item.normal_binds + index * 12u);
        put(to_normal, multiplied(normal_rows(m), normal_bind));
    }
}
