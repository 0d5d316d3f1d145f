// Reads packed clips: the local transform of a joint, or the weight of a channel, at any time of
// a clip. A kernel that includes this file binds `clips: array<u32>`. `clip` is the first word of
// a clip in it. Times are in seconds from the beginning of the clip; a time outside of it is
// clamped to its ends.

struct Joint {
    translation: vec3<f32>,
    // Quaternion (x, y, z, w).
    rotation: vec4<f32>,
    scale: vec3<f32>,
}

// Length of a clip in seconds.
fn clip_duration(clip: u32) -> f32 {
    return bitcast<f32>(clips[clip + CLIP_DURATION]);
}

// Number of the joints of a clip; those of the rig that it was packed for.
fn clip_joint_count(clip: u32) -> u32 {
    return clips[clip + CLIP_JOINTS];
}

// Number of the blend shape channels of a clip.
fn clip_channel_count(clip: u32) -> u32 {
    return clips[clip + CLIP_CHANNELS];
}

// A time as a number of intervals between samples, with a fraction.
fn clip_position(clip: u32, seconds: f32) -> f32 {
    let last = f32(clips[clip + CLIP_INTERVALS]);
    // Written so that NaN becomes 0.
    return min(max(0.0, seconds) * bitcast<f32>(clips[clip + CLIP_RATE]), last);
}

fn clip_vec3(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(clips[at], clips[at + 1u], clips[at + 2u]));
}

fn clip_vec4(at: u32) -> vec4<f32> {
    return vec4<f32>(clip_vec3(at), bitcast<f32>(clips[at + 3u]));
}

// The rotation between two unit quaternions along the shorter arc, by linear interpolation.
fn clip_rotation(a: vec4<f32>, b: vec4<f32>, alpha: f32) -> vec4<f32> {
    var near = b;
    if dot(a, b) < 0.0 {
        near = -b;
    }
    let q = a + (near - a) * alpha;
    return q / sqrt(dot(q, q));
}

fn clip_joint(clip: u32, joint: u32, seconds: f32) -> Joint {
    let position = clip_position(clip, seconds);
    let lower = min(u32(position), max(clips[clip + CLIP_INTERVALS], 1u) - 1u);
    let alpha = position - f32(lower);
    let stride = clips[clip + CLIP_JOINTS] * 10u;
    let a = clip + clips[clip + CLIP_TRACKS] + lower * stride + joint * 10u;
    let b = a + select(0u, stride, clips[clip + CLIP_INTERVALS] > 0u);
    let from_t = clip_vec3(a);
    let from_s = clip_vec3(a + 7u);
    return Joint(
        from_t + (clip_vec3(b) - from_t) * alpha,
        clip_rotation(clip_vec4(a + 3u), clip_vec4(b + 3u), alpha),
        from_s + (clip_vec3(b + 7u) - from_s) * alpha);
}

fn clip_weight(clip: u32, channel: u32, seconds: f32) -> f32 {
    let position = clip_position(clip, seconds);
    let lower = min(u32(position), max(clips[clip + CLIP_INTERVALS], 1u) - 1u);
    let alpha = position - f32(lower);
    let stride = clips[clip + CLIP_CHANNELS];
    let a = clip + clips[clip + CLIP_WEIGHTS] + lower * stride + channel;
    let b = a + select(0u, stride, clips[clip + CLIP_INTERVALS] > 0u);
    let from_w = bitcast<f32>(clips[a]);
    return from_w + (bitcast<f32>(clips[b]) - from_w) * alpha;
}
