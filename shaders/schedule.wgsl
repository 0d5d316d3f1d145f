// Decides which instances a frame computes: one invocation per instance index. The host's mask says
// which are visible, and each instance has an update rate. Other kernels read the words of `state`.

// Counts the frame, after its decisions; otherwise decides.
override TICKS: bool = true;
// Whether there is a mask; otherwise every instance is visible.
override WITH_MASK: bool = true;
// The mask has one bit per instance, not one word.
override MASK_OF_BITS: bool = true;
// Forgets the boxes of instances that are computed.
override WITH_BOUNDS: bool = true;

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<ScheduleItem>;
@group(0) @binding(2) var<storage, read> mask: array<u32>;
// The number of frames before this one, then a word per instance index: what this frame does with
// it, and VISIBLE and PREVIOUS_IS_CURRENT for the next frame.
@group(0) @binding(3) var<storage, read_write> state: array<u32>;
// Keys of boxes, as in bounds.wgsl.
@group(0) @binding(4) var<storage, read_write> keys: array<u32>;

fn is_visible(index: u32) -> bool {
    if !WITH_MASK {
        return true;
    }
    if MASK_OF_BITS {
        return ((mask[index / 32u] >> (index % 32u)) & 1u) != 0u;
    }
    return mask[index] != 0u;
}

fn forget_box(index: u32) {
    if WITH_BOUNDS {
        for (var i = 0u; i < WORDS_PER_BOX; i++) {
            keys[index * WORDS_PER_BOX + i] = 0u;
        }
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    let number = workgroup * WORKGROUP_SIZE + lane;
    if workgroup >= dispatch.end_workgroup || number >= dispatch.item_count {
        return;
    }
    if TICKS {
        if number == 0u {
            state[0] += 1u;
        }
        return;
    }
    let item = items[number];
    let index = item.index;
    // Instances without a rate have no part in the frame. The mask may be too short for them.
    if item.every == 0u || !is_visible(index) {
        if item.every == 0u || (item.flags & FRESH) != 0u {
            // The box may be that of another instance, which had this index before.
            forget_box(index);
        }
        state[1u + index] = 0u;
        return;
    }
    let before = state[1u + index];
    let fresh = (item.flags & FRESH) != 0u || (before & VISIBLE) == 0u;
    var now = VISIBLE | (before & PREVIOUS_IS_CURRENT);
    if fresh {
        now = VISIBLE | PREVIOUS_IS_CURRENT | COMPUTED | FRESH;
    } else if (state[0] + 1u + item.phase) % item.every == 0u {
        now = VISIBLE | COMPUTED;
    } else if (before & PREVIOUS_IS_CURRENT) == 0u {
        now = VISIBLE | PREVIOUS_IS_CURRENT | UPDATES_PREVIOUS;
    }
    if (now & COMPUTED) != 0u {
        forget_box(index);
    }
    state[1u + index] = now;
}
