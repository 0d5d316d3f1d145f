// Reads static data and palettes, and writes results to the kernel's `out_0` or `out_1`.

fn vector_at(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(skins[at], skins[at + 1u], skins[at + 2u]));
}

fn rows_at(at: u32) -> Rows {
    return Rows(palettes[at], palettes[at + 1u], palettes[at + 2u]);
}

// Results are written as words, because some are not floats.
fn put(binding: u32, at: u32, value: vec3<f32>) {
    let v = bitcast<vec3<u32>>(value);
    if binding == 0u {
        out_0[at] = v.x;
        out_0[at + 1u] = v.y;
        out_0[at + 2u] = v.z;
    } else {
        out_1[at] = v.x;
        out_1[at + 1u] = v.y;
        out_1[at + 2u] = v.z;
    }
}

fn put_one(binding: u32, at: u32, value: u32) {
    if binding == 0u {
        out_0[at] = value;
    } else {
        out_1[at] = value;
    }
}

fn position_left_at(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(out_0[at], out_0[at + 1u], out_0[at + 2u]));
}

fn put_normal(flags: u32, at: u32, n: vec3<f32>) {
    if (flags & OCTAHEDRAL) != 0u {
        put_one(NORMALS_BINDING, at, octahedral(n));
    } else {
        put(NORMALS_BINDING, at, n);
    }
}
