// Linear blend skinning of points, with one normal each or none: one invocation per point, for
// several poses one after the other, so that data that the poses share is read once. skin.wgsl does
// everything else.

override WITH_NORMALS: bool = true;
override WITH_PREVIOUS: bool = true;
// Palette indices of 8 bits, or of 16.
override NARROW: bool = true;

// As in skin.wgsl.
override NORMALS_BINDING: u32 = 1u;
override PREVIOUS_BINDING: u32 = 1u;
// Influences per point, up to 8, which stay in registers for all poses; 0 for any number, which
// every pose reads again.
override INFLUENCES: u32 = 0u;

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<MultiPoseItem>;
@group(0) @binding(2) var<storage, read> skins: array<u32>;
// Rows: three per palette index and kind of matrix, and six of `out_from_skel` per pose.
@group(0) @binding(3) var<storage, read> palettes: array<vec4<f32>>;
// From schedule.wgsl.
@group(0) @binding(4) var<storage, read> state: array<u32>;
@group(0) @binding(5) var<storage, read_write> out_0: array<u32>;
@group(0) @binding(6) var<storage, read_write> out_1: array<u32>;

// The values of a point that all poses share.
struct Rest {
    p: vec3<f32>,
    n: vec3<f32>,
    // Palette indices times three, and weights. If INFLUENCES is 0, they are read from `record`
    // instead.
    indices: vec4<u32>,
    more_indices: vec4<u32>,
    weights: vec4<f32>,
    more_weights: vec4<f32>,
    record: u32,
    count: u32,
}

// The sums of the weighted matrices of a point's joints.
struct Sums {
    points: Rows,
    normals: Rows,
}

fn word_count(parts: u32, per_word: u32) -> u32 {
    return (parts + per_word - 1u) / per_word;
}

fn index_words(count: u32) -> u32 {
    if NARROW { return word_count(count, 4u); }
    return word_count(count, 2u);
}

fn index_at(record: u32, i: u32) -> u32 {
    if NARROW {
        return ((skins[record + i / 4u] >> (i % 4u * 8u)) & 0xffu) * 3u;
    }
    return ((skins[record + i / 2u] >> (i % 2u * 16u)) & 0xffffu) * 3u;
}

fn bytes_of(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
}

fn halves_of(low: u32, high: u32) -> vec4<u32> {
    return (vec4<u32>(low, low, high, high) >> vec4<u32>(0u, 16u, 0u, 16u)) & vec4<u32>(0xffffu);
}

// Up to four palette indices, beginning with influence `first`.
fn four_indices(record: u32, first: u32) -> vec4<u32> {
    if NARROW {
        let word = skins[record + first / 4u];
        return bytes_of(word) * 3u;
    }
    let low = skins[record + first / 2u];
    var high = 0u;
    if INFLUENCES > first + 2u { high = skins[record + first / 2u + 1u]; }
    return halves_of(low, high) * 3u;
}

// Up to four weights, beginning with influence `first`.
fn four_weights(weights: u32, first: u32) -> vec4<f32> {
    var out = vec4<f32>(bitcast<f32>(skins[weights + first]), 0.0, 0.0, 0.0);
    if INFLUENCES > first + 1u { out.y = bitcast<f32>(skins[weights + first + 1u]); }
    if INFLUENCES > first + 2u { out.z = bitcast<f32>(skins[weights + first + 2u]); }
    if INFLUENCES > first + 3u { out.w = bitcast<f32>(skins[weights + first + 3u]); }
    return out;
}

fn rest_of(item: u32, number: u32, normals: bool) -> Rest {
    var rest: Rest;
    rest.count = items[item].influence_count;
    rest.p = vector_at(items[item].rest_points + number * 3u);
    if normals {
        rest.n = vector_at(items[item].rest_normals + number * 3u);
    }
    let stride = index_words(rest.count) + rest.count;
    rest.record = items[item].influences + number * stride;
    if INFLUENCES > 0u {
        let weights = rest.record + index_words(INFLUENCES);
        rest.indices = four_indices(rest.record, 0u);
        rest.weights = four_weights(weights, 0u);
        if INFLUENCES > 4u {
            rest.more_indices = four_indices(rest.record, 4u);
            rest.more_weights = four_weights(weights, 4u);
        }
    }
    return rest;
}

fn add(sums: ptr<function, Sums>, palette: u32, normal_palette: u32, index: u32, weight: f32) {
    let joint = rows_at(palette + index);
    (*sums).points.x += weight * joint.x;
    (*sums).points.y += weight * joint.y;
    (*sums).points.z += weight * joint.z;
    if WITH_NORMALS {
        let joint_normal = rows_at(normal_palette + index);
        (*sums).normals.x += weight * joint_normal.x;
        (*sums).normals.y += weight * joint_normal.y;
        (*sums).normals.z += weight * joint_normal.z;
    }
}

fn blended(rest: Rest, p: u32, n: u32) -> Sums {
    let none = vec4<f32>(0.0);
    let nothing = Rows(none, none, none);
    var sums = Sums(nothing, nothing);
    if INFLUENCES == 0u {
        let weights = rest.record + index_words(rest.count);
        for (var i = 0u; i < rest.count; i++) {
            add(&sums, p, n, index_at(rest.record, i), bitcast<f32>(skins[weights + i]));
        }
        return sums;
    }
    add(&sums, p, n, rest.indices.x, rest.weights.x);
    if INFLUENCES > 1u { add(&sums, p, n, rest.indices.y, rest.weights.y); }
    if INFLUENCES > 2u { add(&sums, p, n, rest.indices.z, rest.weights.z); }
    if INFLUENCES > 3u { add(&sums, p, n, rest.indices.w, rest.weights.w); }
    if INFLUENCES > 4u { add(&sums, p, n, rest.more_indices.x, rest.more_weights.x); }
    if INFLUENCES > 5u { add(&sums, p, n, rest.more_indices.y, rest.more_weights.y); }
    if INFLUENCES > 6u { add(&sums, p, n, rest.more_indices.z, rest.more_weights.z); }
    if INFLUENCES > 7u { add(&sums, p, n, rest.more_indices.w, rest.more_weights.w); }
    return sums;
}

// Whether an action writes results.
fn has_work(action: u32) -> bool {
    return (action & COMPUTED) != 0u || (WITH_PREVIOUS && (action & HELD) != 0u);
}

// Skins a point in one of its item's poses.
fn skin_by(item: u32, i: u32, number: u32, rest: Rest, normals: bool) {
    let action = action_of(items[item].poses[i].instance);
    if !has_work(action) {
        return;
    }
    let pose = items[item].poses[i];
    if WITH_PREVIOUS && (action & HELD) != 0u {
        if pose.out_previous == NONE {
            return;
        }
        let kept = position_left_at(pose.out_points + number * items[item].points_stride);
        put(PREVIOUS_BINDING, pose.out_previous + number * items[item].previous_stride, kept);
        return;
    }
    let sums = blended(rest, pose.palette, pose.normal_palette);
    let p = transform_point(rows_at(pose.post), transform_point(sums.points, rest.p));
    let to = pose.out_points + number * items[item].points_stride;
    if WITH_PREVIOUS && pose.out_previous != NONE {
        // The position that the previous frame wrote here.
        var before = p;
        if ((pose.flags | action) & FRESH) == 0u {
            before = position_left_at(to);
        }
        put(PREVIOUS_BINDING, pose.out_previous + number * items[item].previous_stride, before);
    }
    put(0u, to, p);
    if normals {
        // Normalised in skeleton space; `out_from_skel` does not normalise again (rule 23).
        let unit = normalized(transform_vector(sums.normals, rest.n));
        let n = transform_vector(rows_at(pose.post + 3u), unit);
        put_normal(pose.flags, pose.out_normals + number * items[item].normals_stride, n);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if workgroup >= dispatch.end_workgroup {
        return;
    }
    let item = item_of(workgroup);
    // Nothing else is read for instances that the frame skips.
    var works = false;
    for (var i = 0u; i < items[item].pose_count; i++) {
        works = works || has_work(action_of(items[item].poses[i].instance));
    }
    if !works {
        return;
    }
    let number = (workgroup - items[item].first_workgroup) * WORKGROUP_SIZE + lane;
    if number >= items[item].count {
        return;
    }
    let normals = WITH_NORMALS && items[item].rest_normals != NONE;
    let rest = rest_of(item, number, normals);
    for (var i = 0u; i < items[item].pose_count; i++) {
        skin_by(item, i, number, rest, normals);
    }
}
