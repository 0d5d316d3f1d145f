// Plays clips: one invocation per joint of each rig, and one per blend shape channel of each
// instance. The time of each clip comes from one clock, so a rig that only plays needs no upload.
// `kernel::Player` documents the state of a rig.

@group(0) @binding(0) var<uniform> dispatch: Dispatch;
@group(0) @binding(1) var<storage, read> items: array<PlayItem>;
// Static data: the parents of joints, and which channel of clips drives a channel.
@group(0) @binding(2) var<storage, read> skins: array<u32>;
@group(0) @binding(3) var<storage, read> clips: array<u32>;
@group(0) @binding(4) var<storage, read> players: array<Player>;
// Poses that rigs fade from: ten floats per joint, and then the weights of channels.
@group(0) @binding(5) var<storage, read> snapshots: array<f32>;
// Five pairs of floats per joint: translation, rotation (x, y, z, w), scale.
@group(0) @binding(6) var<storage, read_write> joints: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> channels: array<f32>;
@group(0) @binding(8) var<uniform> clock: Clock;

// Players are named by their index, and a field is read where it is used: a whole player takes 16
// registers in each invocation.

// Seconds since a tick, negative before it. Ticks wrap around.
fn seconds_since(tick: u32) -> f32 {
    return f32(bitcast<i32>(clock.ticks - tick)) * SECONDS_PER_TICK;
}

// The time in a clip. A clip of speed 0 rests at the time that stands in place of its start.
fn time_in(clip: u32, start: u32, speed: f32, loops: bool) -> f32 {
    if speed == 0.0 {
        return bitcast<f32>(start);
    }
    let time = seconds_since(start) * speed;
    let duration = clip_duration(clip);
    if !loops || !(duration > 0.0) {
        return clamp(time, 0.0, duration);
    }
    var within = time - floor(time / duration) * duration;
    if within >= duration {
        within -= duration;
    }
    return max(within, 0.0);
}

// Two fractions of 16 bits, mixed.
fn mixed_fractions(fractions: u32, share: f32) -> f32 {
    let first = f32(fractions & 0xffffu) * FRACTION_STEP;
    let last = f32(fractions >> 16u) * FRACTION_STEP;
    return first + (last - first) * share;
}

// How far a fade has come, from 0 to 1.
fn faded(player: u32) -> f32 {
    if !(players[player].fade_seconds > 0.0) {
        return 1.0;
    }
    let since = seconds_since(players[player].fade_start);
    return clamp(since / players[player].fade_seconds, 0.0, 1.0);
}

// The rotation between two quaternions along the shorter arc, by normalised linear interpolation.
fn blended_rotation(a: vec4<f32>, b: vec4<f32>, share: f32) -> vec4<f32> {
    var near = b;
    if dot(a, b) < 0.0 {
        near = -b;
    }
    let q = a + (near - a) * share;
    let square = dot(q, q);
    if !(square > SMALLEST_AREA) {
        return b;
    }
    return q / sqrt(square);
}

fn blended(a: Joint, b: Joint, share: f32) -> Joint {
    if share <= 0.0 {
        return a;
    }
    if share >= 1.0 {
        return b;
    }
    return Joint(
        a.translation + (b.translation - a.translation) * share,
        blended_rotation(a.rotation, b.rotation, share),
        a.scale + (b.scale - a.scale) * share);
}

fn quaternion_product(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(
        a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz),
        a.w * b.w - dot(a.xyz, b.xyz));
}

// Adds what a clip changes since its beginning.
fn added(to: Joint, begin: Joint, end: Joint, weight: f32) -> Joint {
    let inverse = vec4<f32>(-begin.rotation.xyz, begin.rotation.w);
    let turn = quaternion_product(inverse, end.rotation);
    let share = blended_rotation(vec4<f32>(0.0, 0.0, 0.0, 1.0), turn, weight);
    return Joint(
        to.translation + (end.translation - begin.translation) * weight,
        quaternion_product(to.rotation, share),
        to.scale + (end.scale - begin.scale) * weight);
}

// A clip of a player.
struct PlayedClip {
    clip: u32,
    // Its time now.
    time: f32,
    // How much of it there is; it is not read at 0.
    weight: f32,
}

// The clips of a player by number: the first, the second, the additive one. Kernels go over them in
// a loop, so that the code that reads a clip is there once: all calls are inlined.
const ADDITIVE: u32 = 2u;

fn played_clip(player: u32, number: u32, share: f32) -> PlayedClip {
    var clip = players[player].clip;
    var start = players[player].start;
    var speed = players[player].speed;
    var loops = PLAYER_LOOPS;
    // Without a second clip, the first has all weight.
    let weights = players[player].weights;
    let second = select(0.0, mixed_fractions(weights, share), players[player].second != NONE);
    var weight = 1.0 - second;
    if number == 1u {
        clip = players[player].second;
        start = players[player].second_start;
        speed = players[player].second_speed;
        loops = PLAYER_SECOND_LOOPS;
        weight = second;
    } else if number == ADDITIVE {
        clip = players[player].additive;
        start = players[player].additive_start;
        speed = players[player].additive_speed;
        loops = PLAYER_ADDITIVE_LOOPS;
        weight = mixed_fractions(players[player].additive_weights, share);
    }
    if clip == NONE || !(weight > 0.0) {
        return PlayedClip(NONE, 0.0, 0.0);
    }
    let is_looping = (players[player].flags & loops) != 0u;
    return PlayedClip(clip, time_in(clip, start, speed, is_looping), weight);
}

fn joint_of(player: u32, joint: u32, is_root: bool) -> Joint {
    let share = faded(player);
    // A root keeps the translation of the beginning of a clip along axes without root motion.
    let moves = vec3<bool>(
        (players[player].flags & PLAYER_ROOT_X) != 0u,
        (players[player].flags & PLAYER_ROOT_Y) != 0u,
        (players[player].flags & PLAYER_ROOT_Z) != 0u);
    let stays = is_root && !all(moves);
    var out: Joint;
    for (var number = 0u; number <= ADDITIVE; number++) {
        let played = played_clip(player, number, share);
        if played.clip == NONE {
            continue;
        }
        let is_additive = number == ADDITIVE;
        var begin: Joint;
        var now: Joint;
        for (var i = select(1u, 0u, is_additive || stays); i < 2u; i++) {
            begin = now;
            now = clip_joint(played.clip, joint, select(0.0, played.time, i == 1u));
        }
        if is_additive {
            out = added(out, begin, now, played.weight);
            continue;
        }
        if stays {
            now.translation = select(begin.translation, now.translation, moves);
        }
        if number == 1u {
            out = blended(out, now, played.weight);
        } else {
            out = now;
        }
    }
    if players[player].snapshot != NONE && share < 1.0 {
        let at = players[player].snapshot + joint * 10u;
        let before = Joint(
            vec3<f32>(snapshots[at], snapshots[at + 1u], snapshots[at + 2u]),
            vec4<f32>(snapshots[at + 3u], snapshots[at + 4u], snapshots[at + 5u], snapshots[at + 6u]),
            vec3<f32>(snapshots[at + 7u], snapshots[at + 8u], snapshots[at + 9u]));
        out = blended(before, out, share);
    }
    return out;
}

// The weight of a channel in a clip; 0 if the clip lacks the channel.
fn weight_in(clip: u32, channel: u32, time: f32) -> f32 {
    if channel >= clip_channel_count(clip) {
        return 0.0;
    }
    return clip_weight(clip, channel, time);
}

fn channel_of(player: u32, channel: u32, snapshot_weights: u32) -> f32 {
    let share = faded(player);
    var out = 0.0;
    for (var number = 0u; number <= ADDITIVE; number++) {
        let played = played_clip(player, number, share);
        if played.clip == NONE {
            continue;
        }
        var begin = 0.0;
        var now = 0.0;
        for (var i = select(1u, 0u, number == ADDITIVE); i < 2u; i++) {
            begin = now;
            now = weight_in(played.clip, channel, select(0.0, played.time, i == 1u));
        }
        if number == ADDITIVE {
            out += (now - begin) * played.weight;
        } else if number == 1u && played.weight < 1.0 {
            out += (now - out) * played.weight;
        } else {
            out = now;
        }
    }
    if players[player].snapshot != NONE && share < 1.0 {
        var before = 0.0;
        let count = u32(snapshots[players[player].snapshot + snapshot_weights]);
        if channel < count {
            before = snapshots[players[player].snapshot + snapshot_weights + 1u + channel];
        }
        out = before + (out - before) * share;
    }
    return out;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let workgroup = workgroup_number(group, dispatch.first_workgroup, dispatch.row_width);
    if workgroup >= dispatch.end_workgroup {
        return;
    }
    let item = items[item_of(workgroup)];
    let number = (workgroup - item.first_workgroup) * WORKGROUP_SIZE + lane;
    let copy = number / item.count;
    if copy >= item.copies {
        return;
    }
    let player = item.players + copy;
    if (players[player].flags & PLAYER_PLAYS) == 0u {
        return;
    }
    // Between its turns, a rig of a lower rate keeps what it has.
    let every = max((players[player].flags >> 8u) & 0xffu, 1u);
    let phase = (players[player].flags >> 16u) & 0xffu;
    if clock.all == 0u && players[player].updated != clock.frame && (clock.frame + phase) % every != 0u {
        return;
    }
    let index = number % item.count;
    if item.channels != NONE {
        let channel = skins[item.table + index];
        if channel != NONE {
            channels[item.channels + index] = channel_of(player, channel, item.joints);
        }
        return;
    }
    let out = joint_of(player, index, skins[item.table + index] == NONE);
    let to = item.joints + number * 5u;
    joints[to] = out.translation.xy;
    joints[to + 1u] = vec2<f32>(out.translation.z, out.rotation.x);
    joints[to + 2u] = out.rotation.yz;
    joints[to + 3u] = vec2<f32>(out.rotation.w, out.scale.x);
    joints[to + 4u] = out.scale.yz;
}
