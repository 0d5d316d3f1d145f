// Blend shapes, and linear blend or dual quaternion skinning of points, normals and tangents: one
// invocation per result. A result is a point, a render vertex, or a faceVarying normal.

override WITH_NORMALS: bool = true;
override WITH_BLEND: bool = true;
override WITH_DUAL_QUATERNIONS: bool = true;
// Results look up their points: render vertices and faceVarying normals.
override WITH_SOURCES: bool = true;
override WITH_TANGENTS: bool = true;
override WITH_PREVIOUS: bool = true;
// Items have less than a workgroup each: several share one, and `first_workgroup` counts
// invocations.
override SHARED_WORKGROUPS: bool = true;

// The output binding of each kind of result: 0 in the buffer of positions, else 1. WebGPU binds no
// writable bytes twice.
override NORMALS_BINDING: u32 = 1u;
override TANGENTS_BINDING: u32 = 1u;
override PREVIOUS_BINDING: u32 = 1u;
// Influences per point, so that the loop over them has a fixed count; 0 for any number.
override INFLUENCES: u32 = 0u;

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<SkinItem>;
// Static data: rest values, influences, blend offsets, and the lists of blend entries.
@group(0) @binding(2) var<storage, read> skins: array<u32>;
// Rows: three per palette index and kind of matrix, and six of `out_from_skel` per item. Then the
// weights of sub-shapes, four to a row.
@group(0) @binding(3) var<storage, read> palettes: array<vec4<f32>>;
// From schedule.wgsl.
@group(0) @binding(4) var<storage, read> state: array<u32>;
// Positions, and results that share their buffer.
@group(0) @binding(5) var<storage, read_write> out_0: array<u32>;
// The other results.
@group(0) @binding(6) var<storage, read_write> out_1: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if workgroup >= dispatch.end_workgroup {
        return;
    }
    var unit = workgroup;
    if SHARED_WORKGROUPS {
        unit = workgroup * WORKGROUP_SIZE + lane;
    }
    let at = item_of(unit);
    // Nothing else is read for an instance that the frame skips.
    let action = action_of(items[at].instance);
    if (action & (COMPUTED | UPDATES_PREVIOUS)) == 0u || (!WITH_PREVIOUS && (action & UPDATES_PREVIOUS) != 0u) {
        return;
    }
    let item = items[at];
    var number = unit - item.first_workgroup;
    if !SHARED_WORKGROUPS {
        number = number * WORKGROUP_SIZE + lane;
    }
    if number >= item.slice.count {
        return;
    }
    if WITH_PREVIOUS && (action & UPDATES_PREVIOUS) != 0u {
        if item.out.previous.first == NONE {
            return;
        }
        let kept = position_left_at(item.out.points.first + number * item.out.points.stride);
        put(PREVIOUS_BINDING, item.out.previous.first + number * item.out.previous.stride, kept);
        return;
    }
    // The point of this result, as an index in the item.
    var point = number;
    if WITH_SOURCES && item.slice.sources != NONE {
        point = skins[item.slice.sources + number];
    }
    // Without normals or without sources, every item has points.
    let points = !(WITH_NORMALS && WITH_SOURCES) || item.slice.points != NONE;
    let normals = WITH_NORMALS && item.slice.normals != NONE;
    let tangents = WITH_TANGENTS && item.slice.tangents != NONE;

    var p = vec3<f32>(0.0);
    if points {
        p = vector_at(item.slice.points + point * 3u);
    }
    var n = vec3<f32>(0.0);
    if normals {
        n = vector_at(item.slice.normals + number * 3u);
    }
    var t = vec3<f32>(0.0);
    if tangents {
        t = vector_at(item.slice.tangents + number * 4u);
    }

    if WITH_BLEND && item.slice.blend_list != NONE {
        // An entry is a sub-shape, and an index within the point's block.
        let entry_bits = item.slice.blend_bits & 0xffu;
        let entry_mask = (1u << entry_bits) - 1u;
        let first = skins[item.slice.blend_offsets + (point >> (item.slice.blend_bits >> 8u))];
        let row = item.slice.blend_list + point;
        let end = item.slice.blend_list + skins[row + 1u];
        for (var at = item.slice.blend_list + skins[row]; at < end; at++) {
            let entry = skins[at];
            let of_shape = item.pose.sub_weights + (entry >> entry_bits);
            let weight = palettes[of_shape / 4u][of_shape % 4u];
            if weight != 0.0 {
                let offset = first + (entry & entry_mask) * 3u;
                p += weight * vector_at(item.slice.blend_offsets + offset);
                if normals && item.slice.blend_normal_offsets != NONE {
                    n += weight * vector_at(item.slice.blend_normal_offsets + offset);
                }
            }
        }
        // If any bound shape has normal offsets, every normal is normalised, also one without an
        // offset (rule 19).
        if normals && item.slice.blend_normal_offsets != NONE {
            n = normalized(n);
        }
    }

    if item.slice.influence_count > 0u {
        let count = select(item.slice.influence_count, INFLUENCES, INFLUENCES > 0u);
        let record = item.slice.influences + point * item.slice.influence_stride;
        // Palette indices have 16 or 8 bits, two or four to a word.
        let narrow = (item.flags & NARROW_JOINTS) != 0u;
        let per_word = select(2u, 4u, narrow);
        let index_bits = 32u / per_word;
        let index_mask = (1u << index_bits) - 1u;
        let weights = record + (count + per_word - 1u) / per_word;
        let none = vec4<f32>(0.0);
        var m = Rows(none, none, none);
        var normal_m = Rows(none, none, none);
        // Without scale and shear, the sum of points turns normals too.
        let turns_both = normals && item.pose.normal_palette == item.pose.palette;
        let sums_points = (points || turns_both) && (!WITH_DUAL_QUATERNIONS || item.pose.bind == NONE);
        let sums_normals = normals && !turns_both && (!WITH_DUAL_QUATERNIONS || item.pose.normal_bind == NONE);
        var indices = 0u;
        // Palette index times three of the first joint of the largest weight. It chooses the
        // hemisphere of quaternions.
        var pivot = 0u;
        var largest = 0.0;
        for (var i = 0u; i < count; i++) {
            if (i & (per_word - 1u)) == 0u { indices = skins[record + i / per_word]; } else { indices >>= index_bits; }
            let index = (indices & index_mask) * 3u;
            let weight = bitcast<f32>(skins[weights + i]);
            if WITH_DUAL_QUATERNIONS && (i == 0u || largest < weight) {
                largest = weight;
                pivot = index;
            }
            if sums_points {
                let joint = rows_at(item.pose.palette + index);
                m.x += weight * joint.x;
                m.y += weight * joint.y;
                m.z += weight * joint.z;
            }
        }
        if sums_normals {
            for (var i = 0u; i < count; i++) {
                let weight = bitcast<f32>(skins[weights + i]);
                let joint = rows_at(item.pose.normal_palette + index_at(record, i, narrow));
                normal_m.x += weight * joint.x;
                normal_m.y += weight * joint.y;
                normal_m.z += weight * joint.z;
            }
        }
        if WITH_DUAL_QUATERNIONS && (item.flags & RESIDUALS_UNKNOWN) != 0u {
            // The palette of a rig: whether joints scale shows only here. Without scale, the weights
            // of the linear part are not used, whatever their sum (rule 25).
            let sum = sum_of_weights(weights, count);
            if sums_points {
                m = without_equal_residuals(m, rows_at(item.pose.normal_palette - 3u), sum);
            }
            if sums_normals {
                normal_m = without_equal_residuals(normal_m, rows_at(item.pose.motions - 3u), sum);
            }
        }
        if WITH_DUAL_QUATERNIONS && points && !sums_points {
            m = rows_at(item.pose.bind);
        }
        if WITH_DUAL_QUATERNIONS && normals && !sums_normals {
            normal_m = rows_at(item.pose.normal_bind);
        }
        if turns_both {
            normal_m = m;
        }
        p = transform_point(m, p);
        n = transform_vector(normal_m, n);
        if WITH_TANGENTS {
            t = transform_vector(m, t);
        }
        if WITH_DUAL_QUATERNIONS && item.pose.motions != NONE {
            let motion = blended_motion(item.pose.motions, pivot, record, count, narrow);
            if motion.moves_points {
                p = turned(motion.real, p) + motion.translation;
                if WITH_TANGENTS {
                    t = turned(motion.real, t);
                }
            }
            if motion.turns_normals {
                n = turned(motion.turn, n);
            }
        }
        let post = rows_at(item.pose.post);
        p = transform_point(post, p);
        if WITH_TANGENTS {
            t = transform_vector(post, t);
        }
        // Normalised in skeleton space; `out_from_skel` does not normalise again (rule 23).
        n = transform_vector(rows_at(item.pose.post + 3u), normalized(n));
    }

    if points {
        let to = item.out.points.first + number * item.out.points.stride;
        if WITH_PREVIOUS && item.out.previous.first != NONE {
            // The position that the previous frame wrote here.
            var before = p;
            if ((item.flags | action) & FRESH) == 0u {
                before = position_left_at(to);
            }
            put(PREVIOUS_BINDING, item.out.previous.first + number * item.out.previous.stride, before);
        }
        put(0u, to, p);
    }
    if normals {
        put_normal(item.flags, item.out.normals.first + number * item.out.normals.stride, n);
    }
    if tangents {
        let to_tangent = item.out.tangents.first + number * item.out.tangents.stride;
        put(TANGENTS_BINDING, to_tangent, normalized(t));
        put_one(TANGENTS_BINDING, to_tangent + 3u, skins[item.slice.tangents + number * 4u + 3u]);
    }
}

fn sum_of_weights(first: u32, count: u32) -> f32 {
    var sum = 0.0;
    for (var i = 0u; i < count; i++) {
        sum += bitcast<f32>(skins[first + i]);
    }
    return sum;
}

// A weighted sum of matrices; or `bind` alone, if all of them are `bind` but for rounding.
fn without_equal_residuals(m: Rows, bind: Rows, sum: f32) -> Rows {
    let off = max(abs(m.x - sum * bind.x), max(abs(m.y - sum * bind.y), abs(m.z - sum * bind.z)));
    let of_bind = max(abs(bind.x), max(abs(bind.y), abs(bind.z)));
    let largest = max(of_bind.x, max(of_bind.y, of_bind.z));
    if max(off.x, max(off.y, off.z)) <= SMALLEST_SCALE * largest * max(abs(sum), 1.0) {
        return bind;
    }
    return m;
}

// The blended rigid motion of a record's joints.
struct Motion {
    real: vec4<f32>,
    turn: vec4<f32>,
    translation: vec3<f32>,
    moves_points: bool,
    turns_normals: bool,
}

// Palette index of a record's influence, times three.
fn index_at(record: u32, i: u32, narrow: bool) -> u32 {
    if narrow {
        return ((skins[record + i / 4u] >> (i % 4u * 8u)) & 0xffu) * 3u;
    }
    return ((skins[record + i / 2u] >> (i % 2u * 16u)) & 0xffffu) * 3u;
}

// Rules 25 to 27. Each joint has three vec4s: the rotation of points, half their translation times
// that rotation, and the rotation of normals.
fn blended_motion(motions: u32, pivot: u32, record: u32, count: u32, narrow: bool) -> Motion {
    let per_word = select(2u, 4u, narrow);
    let weights = record + (count + per_word - 1u) / per_word;
    let of_pivot = motions + pivot;
    let pivot_real = palettes[of_pivot];
    let pivot_turn = palettes[of_pivot + 2u];
    var real = vec4<f32>(0.0);
    var dual = vec4<f32>(0.0);
    var turn = vec4<f32>(0.0);
    var sum = 0.0;
    for (var i = 0u; i < count; i++) {
        let at = motions + index_at(record, i, narrow);
        let weight = bitcast<f32>(skins[weights + i]);
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
    // A sum of zero, or one that is only rounding, moves nothing.
    let shortest = max(SHORTEST, CANCELLED * sum);
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
