// Finds the item of a unit among the `items` and by the `dispatch` that the kernel binds. A unit is a workgroup, whose
// invocations all take the same way, or an invocation where items share workgroups.

fn item_of(unit: u32) -> u32 {
    // Where it is if all items are of one size, as most are in a crowd: two reads then, and else a search that gets wider by
    // doubling.
    let count = dispatch.item_count;
    var low = min(u32((f32(unit) + 0.5) * dispatch.items_per_unit), count - 1u);
    var high = low + 1u;
    var step = 1u;
    while low > 0u && items[low].first_workgroup > unit {
        high = low;
        low -= min(low, step);
        step *= 2u;
    }
    while high < count && items[high].first_workgroup <= unit {
        low = high;
        high = min(high + step, count);
        step *= 2u;
    }
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if items[middle].first_workgroup <= unit { low = middle; } else { high = middle; }
    }
    return low;
}
