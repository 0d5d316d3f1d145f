// The sky, the ground, shadows and characters.

@group(0) @binding(0) var<uniform> frame: Frame;

const SUN: vec3<f32> = vec3<f32>(0.48, 0.62, 0.62);
const SUNLIGHT: vec3<f32> = vec3<f32>(1.0, 0.9, 0.74);
const HAZE: vec3<f32> = vec3<f32>(0.60, 0.68, 0.76);
const ZENITH: vec3<f32> = vec3<f32>(0.16, 0.32, 0.58);

// Far things fade into the haze.
fn in_haze(color: vec3<f32>, world: vec3<f32>) -> vec4<f32> {
    let share = 1.0 - exp(-distance(world, frame.eye) / 130.0);
    return vec4<f32>(mix(color, HAZE, share * share), 1.0);
}

struct Sky {
    @builtin(position) clip: vec4<f32>,
    @location(0) at: vec2<f32>,
}

// A triangle over the whole picture.
@vertex
fn sky_vertex(@builtin(vertex_index) vertex: u32) -> Sky {
    let at = vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u)) * 4.0 - 1.0;
    return Sky(vec4<f32>(at, 1.0, 1.0), at);
}

@fragment
fn sky_fragment(in: Sky) -> @location(0) vec4<f32> {
    let far = frame.world_from_clip * vec4<f32>(in.at, 1.0, 1.0);
    let up = normalize(far.xyz / far.w - frame.eye).y;
    return vec4<f32>(mix(HAZE, ZENITH, smoothstep(-0.01, 0.3, up)), 1.0);
}

struct Ground {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
}

@vertex
fn ground_vertex(@builtin(vertex_index) vertex: u32) -> Ground {
    let corner = vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
    let world = vec3<f32>(corner.x * 900.0, 0.0, corner.y * 900.0);
    return Ground(frame.clip_from_world * vec4<f32>(world, 1.0), world);
}

fn hash(at: vec2<f32>) -> f32 {
    return fract(sin(dot(at, vec2<f32>(12.9898, 78.233))) * 43758.547);
}

// How much of a joint between stones a pixel has. `at` counts stones.
fn joints(at: f32, wide: f32) -> f32 {
    let pixel = max(fwidth(at), 1e-4);
    let away = abs(fract(at - 0.5) - 0.5);
    let sharp = 1.0 - smoothstep(wide, wide + pixel, away);
    return sharp * clamp(0.35 / pixel, 0.0, 1.0);
}

// Paving in rings, as the crowd stands.
@fragment
fn ground_fragment(in: Ground) -> @location(0) vec4<f32> {
    let radius = length(in.world.xz);
    let ring = radius / 0.75;
    let around = atan2(in.world.z, in.world.x) / 6.2831855 * floor(6.2831855 * floor(ring + 1.0));
    let tone = hash(vec2<f32>(floor(ring), floor(around)));
    var stone = mix(vec3<f32>(0.40, 0.36, 0.31), vec3<f32>(0.50, 0.46, 0.40), tone);
    // A darker band every five rings of the crowd.
    let band = fract((radius - 3.25) / 7.5);
    stone *= 1.0 - 0.22 * smoothstep(0.2, 0.21, band) * (1.0 - smoothstep(0.4, 0.41, band));
    stone *= 1.0 - 0.35 * max(joints(ring, 0.02), joints(around, 0.015));
    let light = SUNLIGHT * SUN.y * 0.9 + HAZE * 0.32;
    return in_haze(stone * light, in.world);
}

@group(0) @binding(1) var<storage, read> characters: array<Character>;
@group(0) @binding(2) var<storage, read> seen: array<u32>;
@group(0) @binding(3) var<storage, read> places: array<Place>;

// A direction of the model, in the world.
fn turned(place: Place, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(place.w * v.x + place.z * v.z, v.y, place.w * v.z - place.z * v.x);
}

struct Shadow {
    @builtin(position) clip: vec4<f32>,
    @location(0) at: vec2<f32>,
}

// A soft blot under each character, away from the sun.
@vertex
fn shadow_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) number: u32,
) -> Shadow {
    let place = places[seen[number]];
    let height = characters[seen[number]].height;
    let at = vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
    let away = -SUN.xz * 0.3;
    let along = normalize(away);
    let offset = along * (at.x * 0.46) + vec2<f32>(-along.y, along.x) * (at.y * 0.26) + away;
    let on_ground = place.xy + offset * height;
    let world = vec3<f32>(on_ground.x, 0.01, on_ground.y);
    return Shadow(frame.clip_from_world * vec4<f32>(world, 1.0), at);
}

@fragment
fn shadow_fragment(in: Shadow) -> @location(0) vec4<f32> {
    let dark = 1.0 - smoothstep(0.25, 1.0, length(in.at));
    return vec4<f32>(0.02, 0.025, 0.04, 0.62 * dark);
}

// What the engine wrote: three floats per vertex, and all vertices of the first character before those of the next.
@group(1) @binding(0) var<storage, read> points: array<f32>;
@group(1) @binding(1) var<storage, read> normals: array<f32>;
// Vertices of the mesh.
@group(1) @binding(2) var<uniform> vertex_count: vec4<u32>;

struct Body {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec3<f32>,
    // Height above the ground, for a character of one metre.
    @location(3) height: f32,
}

@vertex
fn body_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) number: u32,
    @location(0) color: vec4<f32>,
) -> Body {
    let who = seen[number];
    let character = characters[who];
    let first = 3u * (who * vertex_count.x + vertex);
    let point = vec3<f32>(points[first], points[first + 1u], points[first + 2u]);
    let normal = vec3<f32>(normals[first], normals[first + 1u], normals[first + 2u]);
    let place = places[who];
    let world = vec3<f32>(place.x, 0.0, place.y) + turned(place, point) * character.height;
    var painted = color.rgb;
    // As `PAINT_...` in cast.rs.
    switch u32(color.a) {
        case 1u: { painted = character.first; }
        case 2u: { painted = character.second; }
        case 3u: { painted *= character.first * 1.25; }
        default: {}
    }
    return Body(
        frame.clip_from_world * vec4<f32>(world, 1.0),
        world,
        turned(place, normal),
        painted,
        point.y,
    );
}

@fragment
fn body_fragment(in: Body, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let n = normalize(select(-in.normal, in.normal, front));
    let to_eye = normalize(frame.eye - in.world);
    let sun = max(dot(n, SUN), 0.0);
    // Sky from above, light of the paving from below, less of both near the ground.
    let open = 0.45 + 0.55 * smoothstep(0.0, 0.8, in.height);
    let around = mix(vec3<f32>(0.20, 0.17, 0.14), vec3<f32>(0.36, 0.42, 0.52), 0.5 + 0.5 * n.y) * open;
    let rim = pow(1.0 - max(dot(n, to_eye), 0.0), 4.0) * 0.18 * open;
    let shine = pow(max(dot(reflect(-to_eye, n), SUN), 0.0), 24.0) * 0.10 * sun;
    let light = SUNLIGHT * sun * 1.05 + around;
    return in_haze(in.color * light + HAZE * rim + SUNLIGHT * shine, in.world);
}
