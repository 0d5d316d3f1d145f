// Plain compressed sparse rows: every point walks the entries of all shapes that move it, and skips those of weight 0.

@group(0) @binding(0) var<storage, read> rest: array<f32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> sub_shapes: array<u32>;
@group(0) @binding(3) var<storage, read> offsets: array<f32>;
@group(0) @binding(4) var<storage, read> weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> blended: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let point = id.x;
    if point + 1u >= arrayLength(&rows) {
        return;
    }
    var p = vec3(rest[point * 3u], rest[point * 3u + 1u], rest[point * 3u + 2u]);
    for (var at = rows[point]; at < rows[point + 1u]; at++) {
        let weight = weights[sub_shapes[at]];
        if weight != 0.0 {
            p += weight * vec3(offsets[at * 3u], offsets[at * 3u + 1u], offsets[at * 3u + 2u]);
        }
    }
    blended[point * 3u] = p.x;
    blended[point * 3u + 1u] = p.y;
    blended[point * 3u + 2u] = p.z;
}
