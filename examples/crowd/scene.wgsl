// What the other shaders share: a frame, and who is in it.

struct Frame {
    clip_from_world: mat4x4<f32>,
    world_from_clip: mat4x4<f32>,
    // A point is seen if dot(plane.xyz, point) + plane.w >= 0 for each of them.
    planes: array<vec4<f32>, 6>,
    eye: vec3<f32>,
    seconds: f32,
}

// As `Placed` in places.rs.
struct Character {
    radius: f32,
    angle: f32,
    turn: f32,
    heading: f32,
    first: vec3<f32>,
    height: f32,
    second: vec3<f32>,
    unused: f32,
}

// Characters of one model.
struct Squad {
    count: u32,
    // Meshes of a character.
    parts: u32,
    // A sphere around a character of one metre: height of its middle, and radius.
    middle: f32,
    radius: f32,
}

// Where a character is in a frame: x and z in the world, then sine and cosine of its turn about the vertical.
// cull.wgsl writes it for draw.wgsl.
alias Place = vec4<f32>;
