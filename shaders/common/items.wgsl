// Finds a workgroup's item among the `items` and by the `dispatch` that the kernel binds. Every
// invocation of a workgroup takes the same way.

fn item_of(workgroup: u32) -> u32 {
    var low = 0u;
    var high = dispatch.item_count;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if items[middle].first_workgroup <= workgroup { low = middle; } else { high = middle; }
    }
    return low;
}
