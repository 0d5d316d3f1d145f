// Computes boxes from the keys of bounds.wgsl: one invocation per box.

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
// The minimum and the maximum corner of each box; w is 0.
@group(0) @binding(2) var<storage, read_write> boxes: array<vec4<f32>>;

const LARGEST: f32 = 3.4028234e38;

fn number_of(key: vec3<u32>) -> vec3<f32> {
    let positive = key >= vec3<u32>(0x80000000u);
    return bitcast<vec3<f32>>(key ^ select(vec3<u32>(0xffffffffu), vec3<u32>(0x80000000u), positive));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    // The dispatch counts boxes, not items.
    let number = workgroup * WORKGROUP_SIZE + lane;
    if workgroup >= dispatch.end_workgroup || number >= dispatch.item_count {
        return;
    }
    let at = number * WORDS_PER_BOX;
    var low = vec3<f32>(LARGEST);
    var high = vec3<f32>(-LARGEST);
    if keys[at] != 0u {
        high = number_of(vec3<u32>(keys[at], keys[at + 1u], keys[at + 2u]));
        low = number_of(~vec3<u32>(keys[at + 3u], keys[at + 4u], keys[at + 5u]));
    }
    boxes[number * 2u] = vec4<f32>(low, 0.0);
    boxes[number * 2u + 1u] = vec4<f32>(high, 0.0);
}
