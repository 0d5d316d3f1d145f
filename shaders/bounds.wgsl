// Smallest and largest coordinates of each item's positions: first within the workgroup, then by
// one atomic maximum per coordinate. A maximum does not depend on the order, so every run gives the
// same bits.

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<BoundsItem>;
@group(0) @binding(2) var<storage, read> positions: array<f32>;
// Keys of each box: three maxima, three negated minima, and two unused words. 0 is below every key.
@group(0) @binding(3) var<storage, read_write> keys: array<atomic<u32>>;

// From schedule.wgsl.
@group(0) @binding(4) var<storage, read> state: array<u32>;

var<workgroup> highs: array<vec3<u32>, WORKGROUP_SIZE>;
var<workgroup> lows: array<vec3<u32>, WORKGROUP_SIZE>;

// An integer that compares as the float does.
fn key_of(bits: vec3<u32>) -> vec3<u32> {
    let negative = bits >= vec3<u32>(0x80000000u);
    return bits ^ select(vec3<u32>(0x80000000u), vec3<u32>(0xffffffffu), negative);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if workgroup >= dispatch.end_workgroup {
        return;
    }
    let item = items[item_of(workgroup)];
    if (action_of(item.keys / WORDS_PER_BOX) & COMPUTED) == 0u {
        return;
    }
    let first = (workgroup - item.first_workgroup) * WORKGROUP_SIZE * POSITIONS_PER_INVOCATION + lane;
    var high = vec3<u32>(0u);
    var low = vec3<u32>(0u);
    for (var i = 0u; i < POSITIONS_PER_INVOCATION; i++) {
        let number = first + i * WORKGROUP_SIZE;
        if number < item.count {
            let at = item.positions + number * item.stride;
            let bits = bitcast<vec3<u32>>(
                vec3<f32>(positions[at], positions[at + 1u], positions[at + 2u]));
            // Shader compilers may assume that there are no NaNs, so test the bits:
            // https://github.com/gpuweb/gpuweb/issues/2270.
            let size = bits & vec3<u32>(0x7fffffffu);
            if all(size <= vec3<u32>(0x7f800000u)) {
                let key = key_of(bits);
                high = max(high, key);
                low = max(low, ~key);
            }
        }
    }
    highs[lane] = high;
    lows[lane] = low;
    for (var half = WORKGROUP_SIZE / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            highs[lane] = max(highs[lane], highs[lane + half]);
            lows[lane] = max(lows[lane], lows[lane + half]);
        }
    }
    if lane == 0u {
        let all_high = highs[0];
        let all_low = lows[0];
        atomicMax(&keys[item.keys], all_high.x);
        atomicMax(&keys[item.keys + 1u], all_high.y);
        atomicMax(&keys[item.keys + 2u], all_high.z);
        atomicMax(&keys[item.keys + 3u], all_low.x);
        atomicMax(&keys[item.keys + 4u], all_low.y);
        atomicMax(&keys[item.keys + 5u], all_low.z);
    }
}
