// A range of results of one instance: where everything that makes them lies, and where they go.

struct SkinItem {
    first_workgroup: u32,
    count: u32,
    sources: u32,
    rest_points: u32,
    rest_normals: u32,
    rest_tangents: u32,
    influences: u32,
    influence_stride: u32,
    influence_count: u32,
    palette: u32,
    normal_palette: u32,
    motions: u32,
    bind: u32,
    normal_bind: u32,
    post: u32,
    blend_list: u32,
    blend_bits: u32,
    blend_offsets: u32,
    blend_normal_offsets: u32,
    sub_weights: u32,
    neighbor_rows: u32,
    neighbors: u32,
    first_point: u32,
    out_points: u32,
    points_stride: u32,
    out_normals: u32,
    normals_stride: u32,
    out_tangents: u32,
    tangents_stride: u32,
    out_previous: u32,
    previous_stride: u32,
    flags: u32,
}

// Bits of `flags`.
const FRESH: u32 = 1u;
const MIRRORED: u32 = 2u;
