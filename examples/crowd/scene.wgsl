// What the other shaders share: a frame, and where characters are in it.

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

// Where in its ring it is, in radians.
fn angle_of(c: Character, seconds: f32) -> f32 {
    return c.angle + c.turn * seconds;
}

fn place_of(c: Character, seconds: f32) -> vec3<f32> {
    let angle = angle_of(c, seconds);
    return c.radius * vec3<f32>(cos(angle), 0.0, sin(angle));
}

// A direction of the model, in the world.
fn turned(c: Character, seconds: f32, v: vec3<f32>) -> vec3<f32> {
    let yaw = c.heading - angle_of(c, seconds);
    let axes = vec2<f32>(sin(yaw), cos(yaw));
    return vec3<f32>(axes.y * v.x + axes.x * v.z, v.y, axes.y * v.z - axes.x * v.x);
}
