// Directions as points of an octahedron, two numbers of 16 bits. -32768 as the first number means
// that there is no direction.

fn octahedral(v: vec3<f32>) -> u32 {
    let largest = max(abs(v.x), max(abs(v.y), abs(v.z)));
    if !(largest > 0.0) {
        return 0x8000u;
    }
    let scaled = v / largest;
    let on_faces = scaled / (abs(scaled.x) + abs(scaled.y) + abs(scaled.z));
    var at = on_faces.xy;
    if on_faces.z < 0.0 {
        at = (1.0 - abs(at.yx)) * select(vec2<f32>(1.0), vec2<f32>(-1.0), at < vec2<f32>(0.0));
    }
    return pack2x16snorm(at);
}
