// A dispatch is a rectangle of workgroups, numbered row by row. Each item has a range of these
// numbers.

fn workgroup_number(id: vec3<u32>, first: u32, row_width: u32) -> u32 {
    return first + id.y * row_width + id.x;
}
