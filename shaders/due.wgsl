// Decides which instances a frame computes: one invocation per instance index. The host's mask says
// which are visible, and each instance has an update rate.

// Counts the frame and forgets the actions of the last one; otherwise decides.
override TICKS: bool = true;
// Whether there is a mask; otherwise every instance is visible.
override WITH_MASK: bool = true;
// The mask has one bit per instance, not one word.
override MASK_OF_BITS: bool = true;
// Forgets the boxes of instances that are computed.
override WITH_BOUNDS: bool = true;

struct DueItem {
    index: u32,
    every: u32,
    phase: u32,
    flags: u32,
    rig: u32,
}

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<DueItem>;
@group(0) @binding(2) var<storage, read> mask: array<u32>;
// The number of frames, then a word per instance index: the last frame in which it was visible,
// times two, plus one if its previous positions equal its positions.
@group(0) @binding(3) var<storage, read_write> state: array<u32>;
// What a frame does with each instance, and after those with each rig.
@group(0) @binding(4) var<storage, read_write> actions: array<atomic<u32>>;
// Keys of boxes, as in bounds.wgsl.
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;

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
    let item = items[number];
    if TICKS {
        atomicStore(&actions[item.index], 0u);
        if item.rig != NONE {
            atomicStore(&actions[item.rig], 0u);
        }
        if item.index == 0u {
            state[0] = (state[0] + 1u) & FRAME_MASK;
        }
        return;
    }
    if item.every == 0u {
        // It has no part in the frame.
        forget_box(item.index);
        return;
    }
    if !is_visible(item.index) {
        if (item.flags & FRESH) != 0u {
            // The box may be that of another instance, which had this index before.
            forget_box(item.index);
        }
        return;
    }
    // The first frame has number 2, so no instance was visible in the frame before it.
    let frame = (state[0] + 1u) & FRAME_MASK;
    let word = state[1u + item.index];
    let fresh = (item.flags & FRESH) != 0u || ((word >> 1u) + 1u) != frame;
    var settled = word & 1u;
    if fresh || (frame + item.phase) % item.every == 0u {
        settled = select(0u, 1u, fresh);
        atomicStore(&actions[item.index], COMPUTED | select(0u, FRESH, fresh));
        if item.rig != NONE {
            atomicOr(&actions[item.rig], COMPUTED);
        }
        forget_box(item.index);
    } else if settled == 0u {
        settled = 1u;
        atomicStore(&actions[item.index], HELD);
    }
    state[1u + item.index] = (frame << 1u) | settled;
}
