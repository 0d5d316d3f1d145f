// Reads packed clips: the local transform of a joint, or the weight of a channel, at any time of
// a clip. A kernel that includes this file binds `clips: array<u32>`. `clip` is the first word of
// a clip in it. Times are in seconds from the beginning of the clip; a time outside of it is
// clamped to its ends. src/kernel/packed_clip/mod.rs describes the words.

struct Joint {
    translation: vec3<f32>,
    // Quaternion (x, y, z, w).
    rotation: vec4<f32>,
    scale: vec3<f32>,
}

// A time in a segment of a clip.
struct ClipPlace {
    // The word of the segment's first header.
    headers: u32,
    // The first bit after the headers.
    blocks: u32,
    // Bytes of a unit of the places of blocks, as a power of two.
    unit: u32,
    // Intervals from the beginning of the segment, with a fraction.
    position: f32,
    // Number of intervals of the segment.
    count: u32,
}

// The two keys of a track that a time lies between.
struct ClipKeys {
    lower: u32,
    upper: u32,
    alpha: f32,
}

// The keys of a track as integers on a grid.
struct ClipGrid {
    first_key: u32,
    bits: vec3<u32>,
    low: vec3<i32>,
    step: f32,
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

fn clip_float(at: u32) -> f32 {
    return bitcast<f32>(clips[at]);
}

fn clip_vec3(at: u32) -> vec3<f32> {
    return vec3<f32>(clip_float(at), clip_float(at + 1u), clip_float(at + 2u));
}

// `count` bits from a bit of the buffer on; at most 32.
fn clip_bits(bit: u32, count: u32) -> u32 {
    if count == 0u {
        return 0u;
    }
    let word = bit >> 5u;
    let shift = bit & 31u;
    var bits = clips[word] >> shift;
    if shift + count > 32u {
        bits |= clips[word + 1u] << (32u - shift);
    }
    // extractBits needs a newer Metal than everything else here.
    return bits & (0xffffffffu >> (32u - count));
}

fn clip_signed_bits(bit: u32, count: u32) -> i32 {
    if count == 0u {
        return 0;
    }
    return bitcast<i32>(clip_bits(bit, count) << (32u - count)) >> (32u - count);
}

// A time as a number of intervals between samples, with a fraction.
fn clip_position(clip: u32, seconds: f32) -> f32 {
    let intervals = clips[clip + CLIP_INTERVALS];
    // NaN becomes 0.
    let time = select(0.0, seconds, seconds > 0.0);
    let times = clips[clip + CLIP_TIMES];
    if times == NONE {
        return min(time * clip_float(clip + CLIP_RATE), f32(intervals));
    }
    var low = 0u;
    var high = intervals;
    while low + 1u < high {
        let middle = (low + high) >> 1u;
        if clip_float(clip + times + middle) <= time {
            low = middle;
        } else {
            high = middle;
        }
    }
    let before = clip_float(clip + times + low);
    let to = clip_float(clip + times + high);
    return f32(low) + min((time - before) / (to - before), 1.0);
}

fn clip_place(clip: u32, seconds: f32) -> ClipPlace {
    let position = clip_position(clip, seconds);
    let intervals = clips[clip + CLIP_INTERVALS];
    let shift = clips[clip + CLIP_SEGMENT_SHIFT];
    let last = (max(intervals, 1u) - 1u) >> shift;
    let segment = min(u32(position) >> shift, last);
    let first = segment << shift;
    let headers = clip + clips[clip + clips[clip + CLIP_SEGMENTS] + segment];
    return ClipPlace(
        headers,
        (headers + clips[clip + CLIP_TRACKS]) * 32u,
        clips[clip + CLIP_UNIT],
        position - f32(first),
        min(1u << shift, intervals - first));
}

fn clip_keys(place: ClipPlace, header: u32) -> ClipKeys {
    if place.count == 0u {
        return ClipKeys(0u, 0u, 0.0);
    }
    let stride = (header >> 9u) & 7u;
    let lower = min(u32(place.position), place.count - 1u) >> stride;
    let first = lower << stride;
    let to = min((lower + 1u) << stride, place.count);
    var alpha = (place.position - f32(first)) / f32(to - first);
    if (header & CLIP_STEP_KEYS) != 0u {
        alpha = select(0.0, 1.0, alpha >= CLIP_STEP_UNTIL);
    }
    return ClipKeys(lower, lower + 1u, alpha);
}

fn clip_block(place: ClipPlace, header: u32) -> u32 {
    return place.blocks + (header >> 13u) * (8u << place.unit);
}

fn clip_step(header: u32) -> f32 {
    // A power of two, from 2^-40 on.
    return bitcast<f32>(((header & 63u) + 87u) << 23u);
}

fn clip_grid(block: u32, header: u32) -> ClipGrid {
    let widths = clip_bits(block, 20u);
    let low = widths >> 15u;
    return ClipGrid(
        block + 20u + 3u * low,
        vec3<u32>(widths & 31u, (widths >> 5u) & 31u, (widths >> 10u) & 31u),
        vec3<i32>(
            clip_signed_bits(block + 20u, low),
            clip_signed_bits(block + 20u + low, low),
            clip_signed_bits(block + 20u + 2u * low, low)),
        clip_step(header));
}

// The product is exact: integers of at most 24 bits times a power of two.
fn clip_grid_value(grid: ClipGrid, bit: u32) -> vec3<f32> {
    let steps = vec3<u32>(
        clip_bits(bit, grid.bits.x),
        clip_bits(bit + grid.bits.x, grid.bits.y),
        clip_bits(bit + grid.bits.x + grid.bits.y, grid.bits.z));
    return vec3<f32>(grid.low + vec3<i32>(steps)) * grid.step;
}

fn clip_raw(bit: u32) -> f32 {
    return bitcast<f32>(clip_bits(bit, 32u));
}

fn clip_raw_vec3(bit: u32) -> vec3<f32> {
    return vec3<f32>(clip_raw(bit), clip_raw(bit + 32u), clip_raw(bit + 64u));
}

// A unit quaternion from all components but one, which is not negative.
fn clip_whole_rotation(v: vec3<f32>, missing: u32) -> vec4<f32> {
    let rest = sqrt(max(1.0 - (v.x * v.x + v.y * v.y + v.z * v.z), 0.0));
    switch missing {
        case 0u: { return vec4<f32>(rest, v.x, v.y, v.z); }
        case 1u: { return vec4<f32>(v.x, rest, v.y, v.z); }
        case 2u: { return vec4<f32>(v.x, v.y, rest, v.z); }
        default: { return vec4<f32>(v.x, v.y, v.z, rest); }
    }
}

// The rotation between two quaternions along the shorter arc. It is a normalized linear
// interpolation, whose parameter is bent so that the rotation has constant speed: a slerp without
// trigonometry.
fn clip_mixed_rotation(a: vec4<f32>, b: vec4<f32>, alpha: f32) -> vec4<f32> {
    let cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    let near = select(b, -b, cosine < 0.0);
    let e = max(1.0 - abs(cosine), 0.0);
    let h = alpha - 0.5;
    let bend = e * ((0.02150621 + e * (0.26251262 + e * 0.79113754)) * (h * h)
        + (0.67164531 + e * (0.0909861 + e * 0.08642335)));
    let t = alpha + alpha * h * (alpha - 1.0) * bend;
    let q = a + (near - a) * t;
    return q * (1.0 / sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w));
}

// Reads both keys of a track at one place in the code, since all calls are inlined.
fn clip_track_rotation(place: ClipPlace, track: u32) -> vec4<f32> {
    let header = clips[place.headers + track];
    let keys = clip_keys(place, header);
    let block = clip_block(place, header);
    let mode = (header >> 6u) & 7u;
    var grid: ClipGrid;
    if mode != CLIP_RAW {
        grid = clip_grid(block, header);
    }
    // With CLIP_SMALLEST_THREE each key says which component is missing.
    let says = select(0u, 2u, mode == CLIP_SMALLEST_THREE);
    let stride = says + grid.bits.x + grid.bits.y + grid.bits.z;
    var a: vec4<f32>;
    var b: vec4<f32>;
    // Raw rotations need not have unit length.
    var lengths = vec2<f32>(1.0);
    for (var i = 0u; i < 2u; i++) {
        let key = select(keys.lower, keys.upper, i == 1u);
        a = b;
        if mode == CLIP_RAW {
            let at = block + key * 128u;
            let q = vec4<f32>(clip_raw_vec3(at), clip_raw(at + 96u));
            lengths = vec2<f32>(lengths.y, sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w));
            b = q / lengths.y;
        } else {
            let at = grid.first_key + key * stride;
            let missing = select(mode, clip_bits(at, says), says > 0u);
            b = clip_whole_rotation(clip_grid_value(grid, at + says), missing);
        }
    }
    let unit = clip_mixed_rotation(a, b, keys.alpha);
    return unit * (lengths.x + (lengths.y - lengths.x) * keys.alpha);
}

fn clip_track_vector(place: ClipPlace, track: u32) -> vec3<f32> {
    let header = clips[place.headers + track];
    let keys = clip_keys(place, header);
    let block = clip_block(place, header);
    let is_raw = ((header >> 6u) & 7u) == CLIP_RAW;
    var grid: ClipGrid;
    if !is_raw {
        grid = clip_grid(block, header);
    }
    let stride = grid.bits.x + grid.bits.y + grid.bits.z;
    var a: vec3<f32>;
    var b: vec3<f32>;
    for (var i = 0u; i < 2u; i++) {
        let key = select(keys.lower, keys.upper, i == 1u);
        a = b;
        if is_raw {
            b = clip_raw_vec3(block + key * 96u);
        } else {
            b = clip_grid_value(grid, grid.first_key + key * stride);
        }
    }
    return a + (b - a) * keys.alpha;
}

// Place of the first constant of a clip.
fn clip_constants(clip: u32) -> u32 {
    let joints = clips[clip + CLIP_JOINT_WORDS] * clips[clip + CLIP_JOINTS];
    return clip + CLIP_HEADER + joints + clips[clip + CLIP_CHANNELS];
}

fn clip_joint(clip: u32, joint: u32, seconds: f32) -> Joint {
    let place = clip_place(clip, seconds);
    let width = clips[clip + CLIP_JOINT_WORDS];
    let entry = clip + CLIP_HEADER + width * joint;
    let kinds = clips[entry];
    var track = (kinds >> 6u) & 0x1fffu;
    var constant = kinds >> 19u;
    if width == 2u {
        track = kinds >> 6u;
        constant = clips[entry + 1u];
    }
    constant += clip_constants(clip);
    var out = Joint(vec3<f32>(0.0), vec4<f32>(0.0, 0.0, 0.0, 1.0), vec3<f32>(1.0));
    let rotates = kinds & 3u;
    if rotates == CLIP_ANIMATED {
        out.rotation = clip_track_rotation(place, track);
        track += 1u;
    } else if rotates != 0u {
        out.rotation = vec4<f32>(clip_vec3(constant), clip_float(constant + 3u));
        constant += 4u;
    }
    let translates = (kinds >> 2u) & 3u;
    if translates == CLIP_ANIMATED {
        out.translation = clip_track_vector(place, track);
        track += 1u;
    } else if translates != 0u {
        out.translation = clip_vec3(constant);
        constant += 3u;
    }
    let scales = (kinds >> 4u) & 3u;
    if scales == CLIP_ANIMATED {
        out.scale = clip_track_vector(place, track);
    } else if scales != 0u {
        out.scale = clip_vec3(constant);
    }
    return out;
}

fn clip_weight(clip: u32, channel: u32, seconds: f32) -> f32 {
    let constants = clip_constants(clip);
    // The channels end where the constants begin.
    let word = clips[constants - clips[clip + CLIP_CHANNELS] + channel];
    let index = word >> 2u;
    switch word & 3u {
        case CLIP_ANIMATED: {
            return clip_track_vector(clip_place(clip, seconds), index).x;
        }
        case CLIP_CONSTANT: {
            return clip_float(constants + index);
        }
        default: {
            return 0.0;
        }
    }
}
