// Blend shapes, and linear blend or dual quaternion skinning of points and normals: one invocation per
// point, or per faceVarying normal.
// Items and palettes are declared apart, in skin_in_storage.wgsl or skin_in_uniforms.wgsl.

override WITH_NORMALS: bool = true;
override WITH_BLEND: bool = true;
override WITH_DUAL_QUATERNIONS: bool = true;

struct SkinItem {
    first_workgroup: u32,
    count: u32,
    rest_points: u32,
    rest_normals: u32,
    normal_records: u32,
    influences: u32,
    influence_stride: u32,
    influence_count: u32,
    palette: u32,
    normal_palette: u32,
    motions: u32,
    bind: u32,
    normal_bind: u32,
    post: u32,
    blend_rows: u32,
    blend_offsets: u32,
    blend_normal_offsets: u32,
    sub_weights: u32,
    out_points: u32,
    out_normals: u32,
}

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(2) var<storage, read> rest: array<f32>;
@group(0) @binding(3) var<storage, read> influences: array<u32>;
@group(0) @binding(5) var<storage, read> blend: array<u32>;
@group(0) @binding(6) var<storage, read> sub_weights: array<f32>;
@group(0) @binding(7) var<storage, read_write> out_points: array<f32>;
@group(0) @binding(8) var<storage, read_write> out_normals: array<f32>;

fn rest_at(at: u32) -> vec3<f32> {
    return vec3<f32>(rest[at], rest[at + 1u], rest[at + 2u]);
}

fn offset_at(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(blend[at], blend[at + 1u], blend[at + 2u]));
}

fn rows_at(at: u32) -> Rows {
    return Rows(palettes[at], palettes[at + 1u], palettes[at + 2u]);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if workgroup >= dispatch.end_workgroup {
        return;
    }
    let item = items[item_of(workgroup)];
    let point = (workgroup - item.first_workgroup) * 64u + lane;
    if point >= item.count {
        return;
    }
    let points = !WITH_NORMALS || item.rest_points != NONE;
    let normals = WITH_NORMALS && item.rest_normals != NONE;

    var p = vec3<f32>(0.0);
    if points {
        p = rest_at(item.rest_points + point * 3u);
    }
    var n = vec3<f32>(0.0);
    if normals {
        n = rest_at(item.rest_normals + point * 3u);
    }

    if WITH_BLEND && item.blend_rows != NONE {
        let end = blend[item.blend_rows + point + 1u];
        // Sub-shape numbers follow the rows, of which there is one more than points.
        let sub_shapes = item.blend_rows + item.count + 1u;
        for (var entry = blend[item.blend_rows + point]; entry < end; entry++) {
            let weight = sub_weights[item.sub_weights + blend[sub_shapes + entry]];
            if weight != 0.0 {
                p += weight * offset_at(item.blend_offsets + entry * 3u);
                if normals && item.blend_normal_offsets != NONE {
                    n += weight * offset_at(item.blend_normal_offsets + entry * 3u);
                }
            }
        }
        // Every normal, touched or not, once a bound shape has normal offsets.
        if normals && item.blend_normal_offsets != NONE {
            n = normalized(n);
        }
    }

    if item.influence_count > 0u {
        var number = point;
        if WITH_NORMALS && item.normal_records != NONE {
            number = influences[item.normal_records + point];
        }
        let record = item.influences + number * item.influence_stride;
        let weights = record + (item.influence_count + 1u) / 2u;
        let none = vec4<f32>(0.0);
        var m = Rows(none, none, none);
        var normal_m = Rows(none, none, none);
        let sums_points = points && (!WITH_DUAL_QUATERNIONS || item.bind == NONE);
        let sums_normals = normals && (!WITH_DUAL_QUATERNIONS || item.normal_bind == NONE);
        var pair = 0u;
        // Slot of the first joint of the largest weight, which says which hemisphere; times three.
        var pivot = 0u;
        var largest = 0.0;
        for (var i = 0u; i < item.influence_count; i++) {
            if (i & 1u) == 0u { pair = influences[record + i / 2u]; } else { pair >>= 16u; }
            let slot = (pair & 0xffffu) * 3u;
            let weight = bitcast<f32>(influences[weights + i]);
            if WITH_DUAL_QUATERNIONS && (i == 0u || largest < weight) {
                largest = weight;
                pivot = slot;
            }
            if sums_points {
                let joint = rows_at(item.palette + slot);
                m.x += weight * joint.x;
                m.y += weight * joint.y;
                m.z += weight * joint.z;
            }
            if sums_normals {
                let joint_normal = rows_at(item.normal_palette + slot);
                normal_m.x += weight * joint_normal.x;
                normal_m.y += weight * joint_normal.y;
                normal_m.z += weight * joint_normal.z;
            }
        }
        if WITH_DUAL_QUATERNIONS && points && !sums_points {
            m = rows_at(item.bind);
        }
        if WITH_DUAL_QUATERNIONS && normals && !sums_normals {
            normal_m = rows_at(item.normal_bind);
        }
        p = transform_point(m, p);
        n = transform_vector(normal_m, n);
        if WITH_DUAL_QUATERNIONS && item.motions != NONE {
            let motion = blended_motion(item.motions, pivot, record, item.influence_count);
            if motion.moves_points {
                p = turned(motion.real, p) + motion.translation;
            }
            if motion.turns_normals {
                n = turned(motion.turn, n);
            }
        }
        p = transform_point(rows_at(item.post), p);
        // Normalised in skeleton space, and not again on the way out of it.
        n = transform_vector(rows_at(item.post + 3u), normalized(n));
    }

    if points {
        let to = item.out_points + point * 3u;
        out_points[to] = p.x;
        out_points[to + 1u] = p.y;
        out_points[to + 2u] = p.z;
    }
    if normals {
        let to_normal = item.out_normals + point * 3u;
        out_normals[to_normal] = n.x;
        out_normals[to_normal + 1u] = n.y;
        out_normals[to_normal + 2u] = n.z;
    }
}

// What a record's joints add up to.
struct Motion {
    real: vec4<f32>,
    turn: vec4<f32>,
    translation: vec3<f32>,
    moves_points: bool,
    turns_normals: bool,
}

// Slot of a record's influence, times three.
fn slot_at(record: u32, i: u32) -> u32 {
    return (influences[record + i / 2u] >> (i % 2u * 16u) & 0xffffu) * 3u;
}

// Rules 25 to 27. Per slot: rotation, half the translation times it, rotation of normals.
fn blended_motion(motions: u32, pivot: u32, record: u32, count: u32) -> Motion {
    let weights = record + (count + 1u) / 2u;
    let of_pivot = motions + pivot;
    let pivot_real = palettes[of_pivot];
    let pivot_turn = palettes[of_pivot + 2u];
    var real = vec4<f32>(0.0);
    var dual = vec4<f32>(0.0);
    var turn = vec4<f32>(0.0);
    var sum = 0.0;
    for (var i = 0u; i < count; i++) {
        let at = motions + slot_at(record, i);
        let weight = bitcast<f32>(influences[weights + i]);
        let joint = palettes[at];
        let signed_weight = select(weight, -weight, dot(joint, pivot_real) < 0.0);
        real += signed_weight * joint;
        dual += signed_weight * palettes[at + 1u];
        if WITH_NORMALS {
            let joint_turn = palettes[at + 2u];
            turn += select(weight, -weight, dot(joint_turn, pivot_turn) < 0.0) * joint_turn;
        }
        sum += abs(weight);
    }
    // A sum of nothing, or what rounding leaves of it, moves nothing.
    let shortest = max(1e-10, 1e-6 * sum);
    var out = Motion(real, turn, vec3<f32>(0.0), false, false);
    let real_length = length(real);
    if real_length > shortest {
        out.moves_points = true;
        out.real = real / real_length;
        let d = dual / real_length;
        let r = out.real;
        out.translation = 2.0 * (r.w * d.xyz - d.w * r.xyz + cross(r.xyz, d.xyz));
    }
    let turn_length = length(turn);
    if WITH_NORMALS && turn_length > shortest {
        out.turns_normals = true;
        out.turn = turn / turn_length;
    }
    return out;
}
