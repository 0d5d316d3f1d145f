// The host's own culling. `cull` decides who is seen, and writes the mask that the engine reads. `list` writes the draws.
// The CPU never learns who is seen.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> squad: Squad;
@group(0) @binding(2) var<storage, read> characters: array<Character>;
// The engine's instance indices: those of the first character's parts, then of the second one's.
@group(0) @binding(3) var<storage, read> instances: array<u32>;
// A word per instance index.
@group(0) @binding(4) var<storage, read_write> mask: array<u32>;
// Numbers of the characters that are seen, in their order.
@group(0) @binding(5) var<storage, read_write> seen: array<u32>;

struct Draw {
    index_count: u32,
    instance_count: u32,
    first_index: u32,
    base_vertex: i32,
    first_instance: u32,
}

// One draw of each part, then that of the shadows.
@group(0) @binding(6) var<storage, read_write> draws: array<Draw>;

@group(0) @binding(7) var<storage, read_write> places: array<Place>;

// Everyone is seen.
override SHOW_ALL: bool = false;

// The clock alone says where in its ring a character is.
fn place_of(c: Character) -> Place {
    let angle = c.angle + c.turn * frame.seconds;
    let yaw = c.heading - angle;
    return vec4<f32>(c.radius * cos(angle), c.radius * sin(angle), sin(yaw), cos(yaw));
}

fn is_seen(c: Character, place: Place) -> bool {
    if SHOW_ALL {
        return true;
    }
    let center = vec3<f32>(place.x, squad.middle * c.height, place.y);
    let radius = squad.radius * c.height;
    for (var i = 0u; i < 6u; i++) {
        if dot(frame.planes[i].xyz, center) + frame.planes[i].w < -radius {
            return false;
        }
    }
    return true;
}

@compute @workgroup_size(64)
fn cull(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= squad.count {
        return;
    }
    let character = characters[id.x];
    let place = place_of(character);
    places[id.x] = place;
    let word = select(0u, 1u, is_seen(character, place));
    for (var part = 0u; part < squad.parts; part++) {
        mask[instances[id.x * squad.parts + part]] = word;
    }
}

const LANES: u32 = 256u;

var<workgroup> sums: array<u32, LANES>;

// One workgroup goes through the squad, so that the order of characters is the same in every run.
@compute @workgroup_size(LANES)
fn list(@builtin(local_invocation_index) lane: u32) {
    var total = 0u;
    for (var first = 0u; first < squad.count; first += LANES) {
        let character = first + lane;
        var word = 0u;
        if character < squad.count {
            word = mask[instances[character * squad.parts]];
        }
        // How many of those before it are seen, itself included.
        sums[lane] = word;
        workgroupBarrier();
        for (var step = 1u; step < LANES; step *= 2u) {
            var sum = sums[lane];
            if lane >= step {
                sum += sums[lane - step];
            }
            workgroupBarrier();
            sums[lane] = sum;
            workgroupBarrier();
        }
        if word != 0u {
            seen[total + sums[lane] - 1u] = character;
        }
        total += workgroupUniformLoad(&sums[LANES - 1u]);
    }
    if lane <= squad.parts {
        draws[lane].instance_count = total;
    }
}
