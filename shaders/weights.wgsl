// Splits channel weights into sub-shape weights: one invocation per blend shape channel (rules 13
// to 16).

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<WeightsItem>;
// Two words per channel: the first sub-shape and the number of sub-shapes. Then a word per
// sub-shape: the bits of the weight at which it applies fully.
@group(0) @binding(2) var<storage, read> shapes: array<u32>;
@group(0) @binding(3) var<storage, read> channels: array<f32>;
// In the buffer of palettes, behind those.
@group(0) @binding(4) var<storage, read_write> sub_weights: array<f32>;
// From schedule.wgsl.
@group(0) @binding(5) var<storage, read> state: array<u32>;

// Weights within WEIGHT_EPSILON of zero are dropped (rule 16).
fn kept(weight: f32) -> f32 {
    return select(0.0, weight, abs(weight) > WEIGHT_EPSILON);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if workgroup >= dispatch.end_workgroup {
        return;
    }
    let item = items[item_of(workgroup)];
    if (action_of(item.instance) & COMPUTED) == 0u {
        return;
    }
    let channel = (workgroup - item.first_workgroup) * WORKGROUP_SIZE + lane;
    if channel >= item.channel_count {
        return;
    }
    let first = shapes[item.sub_shape_ranges + channel * 2u];
    let count = shapes[item.sub_shape_ranges + channel * 2u + 1u];
    let weight = channels[item.channels + channel];
    let to = item.sub_weights + first;
    if count == 1u {
        // A single primary shape takes the channel weight as it is (rule 14).
        sub_weights[to] = kept(weight);
        return;
    }
    // Sub-shapes in the order of their weights, with the null shape, at weight 0, among them.
    let positions = item.positions + first;
    var null_place = 0u;
    for (var s = 0u; s < count; s++) {
        sub_weights[to + s] = 0.0;
        if bitcast<f32>(shapes[positions + s]) < 0.0 {
            null_place++;
        }
    }
    if count == 0u {
        return;
    }
    // Find the two shapes on either side of the weight. Beyond either end, the last two
    // extrapolate.
    var lower_place = 0u;
    var lower = 0.0;
    if null_place > 0u {
        lower = bitcast<f32>(shapes[positions]);
    }
    var upper_place = 1u;
    var upper = position_at(positions, 1u, null_place);
    while upper_place < count && upper < weight {
        lower_place = upper_place;
        lower = upper;
        upper_place++;
        upper = position_at(positions, upper_place, null_place);
    }
    let alpha = (weight - lower) / (upper - lower);
    if lower_place != null_place {
        sub_weights[to + lower_place - select(0u, 1u, lower_place > null_place)] = kept(1.0 - alpha);
    }
    if upper_place != null_place {
        sub_weights[to + upper_place - select(0u, 1u, upper_place > null_place)] = kept(alpha);
    }
}

// The weight of the sub-shape or null shape at a place in that order.
fn position_at(positions: u32, place: u32, null_place: u32) -> f32 {
    if place == null_place {
        return 0.0;
    }
    return bitcast<f32>(shapes[positions + place - select(0u, 1u, place > null_place)]);
}
