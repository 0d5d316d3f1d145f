// A slice of the results of one instance: where its data lies, and where its results go.
// `kernel::SkinItem` and its parts document each member.

struct SliceOffsets {
    count: u32,
    sources: u32,
    points: u32,
    normals: u32,
    tangents: u32,
    influences: u32,
    influence_stride: u32,
    influence_count: u32,
    blend_list: u32,
    blend_bits: u32,
    blend_offsets: u32,
    blend_normal_offsets: u32,
    neighbor_rows: u32,
    neighbors: u32,
}

struct PoseOffsets {
    palette: u32,
    normal_palette: u32,
    motions: u32,
    bind: u32,
    normal_bind: u32,
    post: u32,
    sub_weights: u32,
}

struct ResultPlace {
    first: u32,
    stride: u32,
}

struct ResultPlaces {
    first_point: u32,
    points: ResultPlace,
    normals: ResultPlace,
    tangents: ResultPlace,
    previous: ResultPlace,
}

struct SkinItem {
    first_workgroup: u32,
    flags: u32,
    instance: u32,
    slice: SliceOffsets,
    pose: PoseOffsets,
    out: ResultPlaces,
}
