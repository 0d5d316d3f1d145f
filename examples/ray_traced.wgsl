// Traces rays through a character on a mirror of a ground: the sun with hard shadows, a lamp with soft
// ones, and reflections.

enable wgpu_ray_query;

struct Frame {
    world_from_clip: mat4x4<f32>,
    // A point of the ground, and in w the size of the character.
    ground: vec4<f32>,
    // Upwards, and in w whether there is a ground.
    up: vec4<f32>,
    size: vec2<f32>,
}

struct Mesh {
    color: vec4<f32>,
    first_vertex: u32,
    first_index: u32,
    index_count: u32,
}

struct Surface {
    point: vec3<f32>,
    normal: vec3<f32>,
    color: vec3<f32>,
    // The share of light that it mirrors if seen from straight ahead.
    mirrors: f32,
    is_hit: bool,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var scene: acceleration_structure;
@group(0) @binding(2) var<storage, read> meshes: array<Mesh>;
@group(0) @binding(3) var<storage, read> indices: array<u32>;
// Of each vertex the position and the normal, as they are skinned.
@group(0) @binding(4) var<storage, read> vertices: array<f32>;
@group(0) @binding(5) var<storage, read> colors: array<vec4<f32>>;

const SUN = vec3(0.48, 0.72, 0.5);
const LAMP_RAYS = 16;

fn nearest(origin: vec3<f32>, toward: vec3<f32>, flags: u32, far: f32) -> RayIntersection {
    var query: ray_query;
    rayQueryInitialize(&query, scene, RayDesc(flags, 0xff, 1e-4 * frame.ground.w, far, origin, toward));
    while rayQueryProceed(&query) {}
    return rayQueryGetCommittedIntersection(&query);
}

fn is_dark(origin: vec3<f32>, toward: vec3<f32>, far: f32) -> bool {
    return nearest(origin, toward, RAY_FLAG_TERMINATE_ON_FIRST_HIT, far).kind != RAY_QUERY_INTERSECTION_NONE;
}

fn sky(toward: vec3<f32>) -> vec3<f32> {
    return mix(vec3(0.75, 0.72, 0.7), vec3(0.2, 0.36, 0.62), saturate(0.2 + dot(toward, frame.up.xyz)));
}

// What a ray meets first: the character, or the ground.
fn meet(origin: vec3<f32>, toward: vec3<f32>) -> Surface {
    let up = frame.up.xyz;
    let far = 100.0 * frame.ground.w;
    let hit = nearest(origin, toward, RAY_FLAG_NONE, far);
    if hit.kind == RAY_QUERY_INTERSECTION_NONE {
        let distance = dot(frame.ground.xyz - origin, up) / dot(toward, up);
        let point = origin + distance * toward;
        let is_hit = frame.up.w > 0.0 && distance > 1e-3 * frame.ground.w && distance < far;
        return Surface(point, up, vec3(0.3, 0.31, 0.33), 0.2, is_hit);
    }
    let mesh = meshes[hit.geometry_index];
    let shares = vec3(1.0 - hit.barycentrics.x - hit.barycentrics.y, hit.barycentrics);
    var normal = vec3(0.0);
    var color = vec3(0.0);
    for (var corner = 0u; corner < 3u; corner++) {
        let vertex = mesh.first_vertex + indices[mesh.first_index + 3u * hit.primitive_index + corner];
        let at = 6u * vertex + 3u;
        normal += shares[corner] * vec3(vertices[at], vertices[at + 1u], vertices[at + 2u]);
        color += shares[corner] * colors[vertex].rgb;
    }
    normal = normalize(select(-normal, normal, hit.front_face));
    return Surface(origin + hit.t * toward, normal, color * mesh.color.rgb, 0.04, true);
}

// A number from 0 to 1 that differs from pixel to pixel.
fn noise(pixel: vec2<f32>) -> f32 {
    return fract(52.98 * fract(dot(pixel, vec2(0.0671, 0.00584))));
}

fn lit(at: Surface, pixel: vec2<f32>) -> vec3<f32> {
    let size = frame.ground.w;
    let start = at.point + 2e-3 * size * at.normal;
    var light = 0.25 * (0.6 + 0.4 * dot(at.normal, frame.up.xyz)) * vec3(0.8, 0.9, 1.0);
    // The sun is so far and small that its shadows are hard.
    let sun = dot(at.normal, normalize(SUN));
    if sun > 0.0 && !is_dark(start, normalize(SUN), 100.0 * size) {
        light += 0.75 * sun * vec3(1.0, 0.95, 0.85);
    }
    // The lamp is a ball: some of its points are seen where others are hidden.
    let lamp = frame.ground.xyz + size * (1.2 * frame.up.xyz + vec3(-1.3, 0.0, 0.7));
    for (var i = 0; i < LAMP_RAYS; i++) {
        let turn = 2.4 * f32(i) + 6.2832 * noise(pixel);
        let height = (f32(i) + 0.5) / f32(LAMP_RAYS) * 2.0 - 1.0;
        let around = sqrt(1.0 - height * height) * vec2(cos(turn), sin(turn));
        let to_lamp = lamp + 0.22 * size * vec3(around.x, height, around.y) - start;
        let toward = normalize(to_lamp);
        let share = dot(at.normal, toward);
        if share > 0.0 && !is_dark(start, toward, length(to_lamp)) {
            light += 0.45 * share / f32(LAMP_RAYS) * vec3(1.0, 0.8, 0.6);
        }
    }
    return at.color * light;
}

@vertex
fn ray_traced_vertex(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn ray_traced_fragment(@builtin(position) pixel: vec4<f32>) -> @location(0) vec4<f32> {
    let clip = (pixel.xy / frame.size * 2.0 - 1.0) * vec2(1.0, -1.0);
    let near = frame.world_from_clip * vec4(clip, 0.0, 1.0);
    let far = frame.world_from_clip * vec4(clip, 1.0, 1.0);
    let origin = near.xyz / near.w;
    let toward = normalize(far.xyz / far.w - origin);
    let at = meet(origin, toward);
    if !at.is_hit {
        if frame.up.w == 0.0 {
            discard;
        }
        return vec4(sky(toward), 1.0);
    }
    // One mirrored ray: more of it, the flatter the view.
    let mirrored = reflect(toward, at.normal);
    let seen = meet(at.point + 2e-3 * frame.ground.w * at.normal, mirrored);
    var reflection = sky(mirrored);
    if seen.is_hit {
        reflection = lit(seen, pixel.xy);
    }
    let flat = pow(1.0 - saturate(dot(at.normal, -toward)), 5.0);
    return vec4(mix(lit(at, pixel.xy), reflection, mix(at.mirrors, 1.0, flat)), 1.0);
}
