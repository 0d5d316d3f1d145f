// Finds the item of a unit in the `items` of a `dispatch`. A unit is a workgroup, so that all
// invocations of a workgroup have the same item; or an invocation, if items share workgroups.

fn item_of(unit: u32) -> u32 {
    // The first guess is right if all items have the same size, as is common in a crowd: then this
    // takes two reads. Otherwise it searches with doubling steps, and then bisects.
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
