// Computes smooth normals from deformed points: one invocation per point or render vertex. Each
// gathers the corners of its point, in the order of faces.

// The output binding of normals, as in skin.wgsl; points are in the first.
override NORMALS_BINDING: u32 = 1u;

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<SkinItem>;
@group(0) @binding(2) var<storage, read> skins: array<u32>;
@group(0) @binding(3) var<storage, read_write> out_0: array<u32>;
@group(0) @binding(4) var<storage, read_write> out_1: array<u32>;
// From schedule.wgsl.
@group(0) @binding(5) var<storage, read> state: array<u32>;

fn position_at(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(out_0[at], out_0[at + 1u], out_0[at + 2u]));
}

fn put_word(at: u32, word: u32) {
    if NORMALS_BINDING == 0u {
        out_0[at] = word;
    } else {
        out_1[at] = word;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if workgroup >= dispatch.end_workgroup {
        return;
    }
    let at = item_of(workgroup);
    if (action_of(items[at].instance) & COMPUTED) == 0u {
        return;
    }
    let item = items[at];
    let number = (workgroup - item.first_workgroup) * WORKGROUP_SIZE + lane;
    if number >= item.slice.count {
        return;
    }
    var point = number;
    if item.slice.sources != NONE {
        point = skins[item.slice.sources + number];
    }
    let p = position_at(item.out.points.first + number * item.out.points.stride);
    let end = skins[item.slice.neighbor_rows + point + 1u];
    var n = vec3<f32>(0.0);
    for (var corner = skins[item.slice.neighbor_rows + point]; corner < end; corner++) {
        // Neighbours are indices of results of the whole skin.
        let next = skins[item.slice.neighbors + corner * 2u];
        let previous = skins[item.slice.neighbors + corner * 2u + 1u];
        let to_next = position_at(item.out.first_point + next * item.out.points.stride) - p;
        let to_previous = position_at(item.out.first_point + previous * item.out.points.stride) - p;
        n += cross(to_next, to_previous);
    }
    // A sum of any length is normalised, because areas shrink with the square of the mesh's unit.
    // If it left the range of f32, it has no direction.
    let size = abs(n.x) + abs(n.y) + abs(n.z);
    var unit = vec3<f32>(0.0);
    if size > SMALLEST_AREA && size < LARGEST_AREA {
        let scaled = n / size;
        unit = scaled * inverseSqrt(dot(scaled, scaled));
    }
    if (item.flags & MIRRORED) != 0u {
        unit = -unit;
    }
    let to = item.out.normals.first + number * item.out.normals.stride;
    if (item.flags & OCTAHEDRAL) != 0u {
        put_word(to, octahedral(unit));
    } else {
        let words = bitcast<vec3<u32>>(unit);
        put_word(to, words.x);
        put_word(to + 1u, words.y);
        put_word(to + 2u, words.z);
    }
}
