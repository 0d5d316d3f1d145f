// Rectangles on top of the picture.

struct Rectangle {
    // In pixels, from the upper left.
    corner: vec2<f32>,
    size: vec2<f32>,
    color: vec4<f32>,
}

@group(0) @binding(0) var<uniform> picture: vec4<f32>;
@group(0) @binding(1) var<storage, read> rectangles: array<Rectangle>;

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) color: vec4<f32>,
}

@vertex
fn graph_vertex(@builtin(vertex_index) vertex: u32, @builtin(instance_index) number: u32) -> Varying {
    let rectangle = rectangles[number];
    let at = rectangle.corner + rectangle.size * vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u));
    let clip = at / picture.xy * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0);
    return Varying(vec4<f32>(clip, 0.0, 1.0), rectangle.color);
}

@fragment
fn graph_fragment(in: Varying) -> @location(0) vec4<f32> {
    return in.color;
}
