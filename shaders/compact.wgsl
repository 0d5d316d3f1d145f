// Copies the items of one table that a frame needs to the front of another table, and writes the
// dispatches that cover them. First every workgroup counts what its block of elements needs, then
// every workgroup adds up the blocks before its own and copies.
//
// An element is an item, or a pose of an item of multi_pose_lbs. Poses move together: the poses of
// a run are divided among new items, within a block.

// Copies; otherwise counts.
override WRITES: bool = true;

struct CompactTable {
    elements_per_item: u32,
    item_words: u32,
    flags_word: u32,
    pose_count_word: u32,
    poses_word: u32,
    pose_words: u32,
    unit_count: u32,
    units_per_workgroup: u32,
    first_sum: u32,
    block_count: u32,
    first_launch: u32,
    launch_count: u32,
    launch_stride: u32,
    per_dimension: u32,
    per_dispatch: u32,
}

// Of this kernel, a dispatch counts elements and has one item: the table.
@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<CompactTable>;
// The items of the table, as words.
@group(0) @binding(2) var<storage, read> words: array<u32>;
// A word per element: the action that it depends on, and the bits BEGINS and SETTLES; OWNER_MASK in
// place of the action if every frame needs it; or NONE.
@group(0) @binding(3) var<storage, read> owners: array<u32>;
// From due.wgsl.
@group(0) @binding(4) var<storage, read> actions: array<u32>;
// Items and units of each block.
@group(0) @binding(5) var<storage, read_write> sums: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> kept: array<u32>;
// Of each launch: its dispatch record, then its workgroups in x, y and z.
@group(0) @binding(7) var<storage, read_write> launches: array<u32>;

// Two values of each lane.
var<workgroup> scan: array<vec2<u32>, 2u * WORKGROUP_SIZE>;
// The element of each pose of each new item, counted from the block's first, or NONE.
var<workgroup> members: array<u32, ELEMENTS_PER_BLOCK>;
// The first unit of each new item, counted from the block's first.
var<workgroup> firsts: array<u32, ELEMENTS_PER_BLOCK>;

// What a frame does with an element; 0 for nothing.
fn action_of(owner: u32) -> u32 {
    if owner == NONE {
        return 0u;
    }
    if (owner & OWNER_MASK) == OWNER_MASK {
        return COMPUTED;
    }
    let action = actions[owner & OWNER_MASK];
    if (action & HELD) != 0u && (owner & SETTLES) == 0u {
        return 0u;
    }
    return action;
}

// The sums of the values of all lanes before this one, and of all lanes, as (x, y, x, y).
fn summed(lane: u32, value: vec2<u32>) -> vec4<u32> {
    workgroupBarrier();
    scan[lane] = value;
    var from_first = true;
    for (var step = 1u; step < WORKGROUP_SIZE; step *= 2u) {
        workgroupBarrier();
        // One half is read while the other is written.
        let read = select(WORKGROUP_SIZE, 0u, from_first);
        var sum = scan[read + lane];
        if lane >= step {
            sum += scan[read + lane - step];
        }
        scan[WORKGROUP_SIZE - read + lane] = sum;
        from_first = !from_first;
    }
    workgroupBarrier();
    let last = select(WORKGROUP_SIZE, 0u, from_first);
    var before = vec2<u32>(0u);
    if lane > 0u {
        before = scan[last + lane - 1u];
    }
    return vec4<u32>(before, scan[last + WORKGROUP_SIZE - 1u]);
}

// The largest value of all lanes before this one.
fn largest_before(lane: u32, value: u32) -> u32 {
    workgroupBarrier();
    scan[lane].x = value;
    workgroupBarrier();
    var largest = 0u;
    for (var other = 0u; other < lane; other++) {
        largest = max(largest, scan[other].x);
    }
    return largest;
}

fn units_of(item: u32, item_count: u32) -> u32 {
    let first = words[item * items[0].item_words];
    if item + 1u < item_count {
        return words[(item + 1u) * items[0].item_words] - first;
    }
    return items[0].unit_count - first;
}

fn divided(a: u32, b: u32) -> u32 {
    return a / b + select(0u, 1u, a % b > 0u);
}

// The dispatches of `all.x` items with `all.y` units.
fn write_launches(lane: u32, all: vec2<u32>) {
    let table = items[0];
    let workgroups = divided(all.y, table.units_per_workgroup);
    for (var i = lane; i < table.launch_count; i += WORKGROUP_SIZE) {
        let first = min(i * table.per_dispatch, workgroups);
        let count = min(workgroups - first, table.per_dispatch);
        var width = 0u;
        var height = 0u;
        var items_per_unit = 0.0;
        if count > 0u {
            height = divided(count, table.per_dimension);
            width = divided(count, height);
            items_per_unit = f32(all.x) / f32(all.y);
        }
        let at = table.first_launch + i * table.launch_stride;
        launches[at] = all.x;
        launches[at + 1u] = first;
        launches[at + 2u] = first + count;
        launches[at + 3u] = width;
        launches[at + 4u] = bitcast<u32>(items_per_unit);
        launches[at + 5u] = width;
        launches[at + 6u] = height;
        launches[at + 7u] = 1u;
    }
}

// A word of new item `number`, counted from the block's first.
fn word_of(first_element: u32, number: u32, word: u32) -> u32 {
    let table = items[0];
    let in_pose = table.elements_per_item > 1u && word >= table.poses_word;
    // The word in its pose, or in an item without poses.
    var inner = word;
    var place = 0u;
    if in_pose {
        inner = (word - table.poses_word) % table.pose_words;
        place = (word - table.poses_word) / table.pose_words;
    }
    let member = members[number * table.elements_per_item + place];
    if member == NONE {
        return 0u;
    }
    let element = first_element + member;
    var at = element / table.elements_per_item * table.item_words + word;
    if in_pose {
        at += (element % table.elements_per_item) * table.pose_words;
        at -= place * table.pose_words;
    }
    var out = words[at];
    if inner == table.flags_word && in_pose == (table.elements_per_item > 1u) {
        out = (out & ~FRESH) | (action_of(owners[element]) & (FRESH | HELD));
    }
    return out;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if block >= dispatch.end_workgroup {
        return;
    }
    let per_item = items[0].elements_per_item;
    let item_count = dispatch.item_count / per_item;
    let first_element = block * ELEMENTS_PER_BLOCK;
    let of_lane = lane * ELEMENTS_PER_LANE;

    // Number of elements that are kept before those of this lane, and where the lane's run begins.
    // Without poses, every kept element is an item of its own.
    var kept_before = 0u;
    var begin_before = 0u;
    if per_item > 1u {
        var kept_here = 0u;
        for (var i = 0u; i < ELEMENTS_PER_LANE; i++) {
            let element = first_element + of_lane + i;
            if element < dispatch.item_count && action_of(owners[element]) != 0u {
                kept_here++;
            }
        }
        kept_before = summed(lane, vec2<u32>(kept_here, 0u)).x;
        var run = 0u;
        var number = kept_before;
        for (var i = 0u; i < ELEMENTS_PER_LANE; i++) {
            let element = first_element + of_lane + i;
            if element < dispatch.item_count {
                let owner = owners[element];
                if owner != NONE && (owner & BEGINS) != 0u { run = number; }
                if action_of(owner) != 0u { number++; }
            }
        }
        begin_before = largest_before(lane, run);
    }

    // Number of new items that begin in this lane, and their units.
    var new_items = 0u;
    var new_units = 0u;
    var begin = begin_before;
    var rank = kept_before;
    for (var i = 0u; i < ELEMENTS_PER_LANE; i++) {
        let element = first_element + of_lane + i;
        if element < dispatch.item_count {
            let owner = owners[element];
            if owner != NONE && (owner & BEGINS) != 0u { begin = rank; }
            if action_of(owner) != 0u {
                if (rank - begin) % per_item == 0u {
                    new_items++;
                    new_units += units_of(element / per_item, item_count);
                }
                rank++;
            }
        }
    }
    // Of the lanes before, and of the block.
    let in_block = summed(lane, vec2<u32>(new_items, new_units));
    if !WRITES {
        if lane == 0u {
            sums[items[0].first_sum + block] = in_block.zw;
        }
        return;
    }

    // What the blocks before this one need. The first block adds up all blocks, for the dispatches.
    var end = block;
    if block == 0u {
        end = items[0].block_count;
    }
    var added = vec2<u32>(0u);
    for (var i = lane; i < end; i += WORKGROUP_SIZE) {
        added += sums[items[0].first_sum + i];
    }
    var before = summed(lane, added).zw;
    if block == 0u {
        write_launches(lane, before);
        before = vec2<u32>(0u);
    }

    for (var i = lane; i < ELEMENTS_PER_BLOCK; i += WORKGROUP_SIZE) {
        members[i] = NONE;
    }
    workgroupBarrier();
    var next = in_block.x;
    var unit = in_block.y;
    begin = begin_before;
    rank = kept_before;
    for (var i = 0u; i < ELEMENTS_PER_LANE; i++) {
        let element = first_element + of_lane + i;
        if element < dispatch.item_count {
            let owner = owners[element];
            if owner != NONE && (owner & BEGINS) != 0u { begin = rank; }
            if action_of(owner) != 0u {
                let place = (rank - begin) % per_item;
                if place == 0u {
                    firsts[next] = unit;
                    unit += units_of(element / per_item, item_count);
                    next++;
                }
                members[(next - 1u) * per_item + place] = of_lane + i;
                rank++;
            }
        }
    }
    workgroupBarrier();
    let item_words = items[0].item_words;
    let total = in_block.z * item_words;
    for (var i = lane; i < total; i += WORKGROUP_SIZE) {
        let number = i / item_words;
        let word = i % item_words;
        var out = word_of(first_element, number, word);
        if word == 0u {
            out = before.y + firsts[number];
        } else if per_item > 1u && word == items[0].pose_count_word {
            out = 0u;
            for (var place = 0u; place < per_item; place++) {
                out += select(0u, 1u, members[number * per_item + place] != NONE);
            }
        }
        kept[(before.x + number) * item_words + word] = out;
    }
}
