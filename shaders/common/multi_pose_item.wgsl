// A range of a skin's points, and the instances that one workgroup skins one after the other.

struct ItemPose {
    palette: u32,
    normal_palette: u32,
    post: u32,
    out_points: u32,
    out_normals: u32,
    out_previous: u32,
    flags: u32,
    instance: u32,
}

struct MultiPoseItem {
    first_workgroup: u32,
    count: u32,
    rest_points: u32,
    rest_normals: u32,
    influences: u32,
    influence_count: u32,
    pose_count: u32,
    points_stride: u32,
    normals_stride: u32,
    previous_stride: u32,
    unused_0: u32,
    unused_1: u32,
    poses: array<ItemPose, POSES_PER_ITEM>,
}
