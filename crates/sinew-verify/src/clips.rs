//! Packed clips: f64 curves, the f32 mirror and the GPU agree at any time of any clip.

use std::sync::OnceLock;

use glam::{DAffine3, DQuat, DVec3};
use sinew::kernel::JointTransform;
use sinew::kernel::packed_clip::{ClipOptions, ClipSource, PACKED_CLIP_WGSL, PackedClip};
use sinew::kernel::registry::WORKGROUP_SIZE;
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::Topology;
use wgpu::util::DeviceExt;

use crate::check::Run;
use crate::compare::{compare, compare_within};
use crate::failure::ensure;
use crate::host::Gpu;
use crate::measured::during;
use crate::posing::rigs;
use crate::rng::Rng;
use crate::{Check, Failure, Subject, tolerance};

pub fn checks() -> [Check; 4] {
    [
        ("mirror::keeps_the_bound", Run::Cpu(Box::new(keeps_bounds))),
        (
            "gpu::equals_mirror",
            Run::AdapterLimits(Box::new(gpu_equals_mirror)),
        ),
        (
            "gpu::keeps_the_bound",
            Run::AdapterLimits(Box::new(gpu_keeps_bound)),
        ),
        (
            "negative::a_wrong_key_is_seen",
            Run::Cpu(Box::new(negative)),
        ),
    ]
    .map(|(name, run)| Check::new(Subject::Clips, format!("clips::{name}"), run))
}

/// Number of random clips.
const CLIPS: u64 = 24;

/// Reads each joint and each channel of a clip at each time: one invocation per time.
const READER: &str = "
@group(0) @binding(0) var<storage, read> clips: array<u32>;
// The first word of the clip, then the times.
@group(0) @binding(1) var<storage, read> times: array<f32>;
@group(0) @binding(2) var<storage, read_write> found: array<f32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x + 1u >= arrayLength(&times) {
        return;
    }
    let clip = bitcast<u32>(times[0]);
    let seconds = times[id.x + 1u];
    let joints = clip_joint_count(clip);
    let channels = clip_channel_count(clip);
    var at = id.x * (joints * 10u + channels + 1u);
    for (var i = 0u; i < joints; i++) {
        let joint = clip_joint(clip, i, seconds);
        for (var k = 0u; k < 3u; k++) {
            found[at + k] = joint.translation[k];
            found[at + 3u + k] = joint.rotation[k];
            found[at + 7u + k] = joint.scale[k];
        }
        found[at + 6u] = joint.rotation.w;
        at += 10u;
    }
    for (var i = 0u; i < channels; i++) {
        found[at] = clip_weight(clip, i, seconds);
        at += 1u;
    }
    found[at] = clip_duration(clip);
}
";

/// The values of a clip at some times.
struct Read {
    joints: Vec<JointTransform>,
    weights: Vec<f32>,
    durations: Vec<f32>,
}

fn on_gpu(gpu: &Gpu, clips: &[&PackedClip], which: usize, times: &[f32]) -> Result<Read, Failure> {
    let device = &gpu.device;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("clips"),
        source: wgpu::ShaderSource::Wgsl(format!("{PACKED_CLIP_WGSL}{READER}").into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("clips"),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let words: Vec<u32> = clips.iter().flat_map(|c| c.words()).copied().collect();
    let before: usize = clips[..which].iter().map(|c| c.words().len()).sum();
    let mut input = vec![f32::from_bits(before as u32)];
    input.extend(times);
    let storage = |contents: &[u8]| {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("clips"),
            contents,
            usage: wgpu::BufferUsages::STORAGE,
        })
    };
    let clip = clips[which];
    let (joints, channels) = (clip.joint_count(), clip.channel_count());
    let stride = joints * 10 + channels + 1;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let found = gpu.filled(times.len() * stride, usage, f32::NAN.to_bits());
    let (clips, input) = (
        storage(bytemuck::cast_slice(&words)),
        storage(bytemuck::cast_slice(&input)),
    );
    fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
        wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        }
    }
    let entries = [entry(0, &clips), entry(1, &input), entry(2, &found)];
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("clips"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups((times.len() as u32).div_ceil(WORKGROUP_SIZE), 1, 1);
    drop(pass);
    gpu.queue.submit([encoder.finish()]);
    let all: Vec<f32> = gpu.read(&found)?;
    let mut read = Read {
        joints: Vec::new(),
        weights: Vec::new(),
        durations: Vec::new(),
    };
    for at_time in all.chunks_exact(stride) {
        let (of_joints, rest) = at_time.split_at(joints * 10);
        read.joints
            .extend(bytemuck::cast_slice::<f32, JointTransform>(of_joints));
        read.weights.extend(&rest[..channels]);
        read.durations.push(rest[channels]);
    }
    Ok(read)
}

/// The values of a clip at some times, by the mirror.
fn on_cpu(clip: &PackedClip, times: &[f32]) -> Read {
    let joints = times
        .iter()
        .flat_map(|t| (0..clip.joint_count()).map(move |j| clip.joint(j, *t)));
    let weights = times
        .iter()
        .flat_map(|t| (0..clip.channel_count()).map(move |c| clip.weight(c, *t)));
    Read {
        joints: joints.collect(),
        weights: weights.collect(),
        durations: vec![clip.duration(); times.len()],
    }
}

/// A random clip: a jointed figure of the checks of posing, some of whose joints move.
fn random(seed: u64) -> ClipSource {
    let rng = &mut Rng::new(seed ^ 0xc11b);
    let spec = rigs::Spec::default()
        .seed(seed)
        .joints(1 + rng.below(40))
        .shape([rigs::Shape::Tree, rigs::Shape::Chain, rigs::Shape::Forest][rng.below(3)])
        .least_scale([1.0, 0.8][rng.below(2)]);
    let mut source = ClipSource::new(
        format!("random {seed}"),
        Topology::from_parents(rigs::parents(&spec)),
    );
    source.rest = rigs::locals(&spec, 0);
    let samples = [1, 2, 30, 75][rng.below(4)];
    let time = |i: usize| i as f64 / 30.0;
    for (joint, rest) in source.joints.iter_mut().zip(&source.rest) {
        let how = [Interpolation::Linear, Interpolation::Held][rng.below(2)];
        if rng.chance(0.7) {
            let base = DQuat::from_array(rest.rotation.map(f64::from)).normalize();
            let mut number = |size: f32| f64::from(rng.range(-size, size));
            let axis = DVec3::new(number(1.0), number(1.0), number(1.0)).normalize_or(DVec3::X);
            let (reach, speed) = (number(2.0), number(0.4));
            let turn = |i: usize| DQuat::from_axis_angle(axis, reach * (i as f64 * speed).sin());
            // The sign of a quaternion means nothing.
            let sign = |i: usize| if i % 7 == 3 { -1.0 } else { 1.0 };
            let keys = (0..samples).map(|i| (time(i), Some(turn(i) * base * sign(i))));
            joint.rotation = Sampled::new(None, keys.collect(), how);
        }
        if rng.chance(0.3) {
            let base = DVec3::from_array(rest.translation.map(f64::from));
            let mut number = |size: f32| f64::from(rng.range(-size, size));
            let way = DVec3::new(number(0.5), number(0.5), number(0.5));
            let keys = (0..samples).map(|i| (time(i), Some(base + way * (i as f64 * 0.2).cos())));
            joint.translation = Sampled::new(None, keys.collect(), how);
        }
    }
    for _ in 0..rng.below(5) {
        let speed = f64::from(rng.range(0.1, 0.5));
        let keys = (0..samples).map(|i| (time(i), Some((i as f64 * speed).sin())));
        let curve = Sampled::new(None, keys.collect(), Interpolation::Linear);
        source.weights.push(curve);
    }
    source
}

type Clips = (Vec<ClipSource>, Vec<PackedClip>);

/// The random clips. Packing takes seconds without optimisation, so all checks share them.
fn packed() -> Result<&'static Clips, Failure> {
    static PACKED: OnceLock<Result<Clips, Failure>> = OnceLock::new();
    PACKED.get_or_init(pack_all).as_ref().map_err(Clone::clone)
}

fn pack_all() -> Result<Clips, Failure> {
    let sources: Vec<ClipSource> = (0..CLIPS).map(random).collect();
    let pack = |source| -> Result<_, Failure> {
        let (clip, report) = PackedClip::pack(source, &ClipOptions::default())?;
        let bound = ClipOptions::default().bound_metres;
        ensure(report.worst.metres <= bound, "a report beyond the bound")?;
        Ok(clip)
    };
    let clips = sources.iter().map(pack).collect::<Result<_, _>>()?;
    Ok((sources, clips))
}

/// Times of samples, six more between each two, and times beyond the ends.
fn times(clip: &PackedClip) -> Vec<f32> {
    let mut times = vec![-1.0, clip.duration() + 1.0];
    let sevenths = (clip.duration() * 210.0).round() as u32;
    times.extend((0..=sevenths).map(|i| (i as f32 / 210.0).min(clip.duration())));
    times
}

/// The points three centimetres from each joint of a pose, after the hierarchy.
fn points(source: &ClipSource, locals: impl Fn(usize) -> DAffine3) -> Vec<DVec3> {
    let mut joints: Vec<DAffine3> = Vec::new();
    for joint in 0..source.topology.len() {
        let local = locals(joint);
        joints.push(match source.topology.parent(joint) {
            Some(parent) => joints[parent] * local,
            None => local,
        });
    }
    let around = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ZERO].map(|p| p * 0.03);
    let all = joints.iter();
    all.flat_map(|joint| around.map(|p| joint.transform_point3(p)))
        .collect()
}

/// Compares values of a clip with its curves in f64, after the hierarchy.
fn keeps_bound(source: &ClipSource, times: &[f32], read: &Read) -> Result<(), Failure> {
    let end = source
        .joints
        .iter()
        .flat_map(|j| j.rotation.times())
        .fold(0.0, f64::max);
    let joints = source.topology.len();
    for (at, time) in times.iter().enumerate() {
        let time = f64::from(*time).clamp(0.0, end);
        // Just before a held key, f32 cannot say on which side of it a time is.
        let frame = time * 30.0;
        let time = if (frame - frame.round()).abs() < 1e-4 {
            frame.round() / 30.0
        } else {
            time
        };
        let of = |joint: usize| read.joints[at * joints + joint].matrix();
        let found = points(source, |joint| DAffine3::from_mat4(of(joint)));
        let wanted = points(source, |joint| {
            DAffine3::from_mat4(source.joint(joint, time).matrix())
        });
        let what = format!("{} at {time} s", source.name);
        compare_within(&what, &found, &wanted, tolerance::PACKED_CLIPS_METRES)?;
    }
    Ok(())
}

fn keeps_bounds() -> Result<(), Failure> {
    let (sources, clips) = packed()?;
    for (source, clip) in sources.iter().zip(clips) {
        let times = times(clip);
        keeps_bound(source, &times, &on_cpu(clip, &times))?;
    }
    Ok(())
}

/// The bound is narrow enough to see that one joint turns by a tenth of a degree.
fn negative() -> Result<(), Failure> {
    let (sources, clips) = packed()?;
    let (source, clip) = (&sources[0], &clips[0]);
    let times = times(clip);
    let mut read = on_cpu(clip, &times);
    let turned = &mut read.joints[0].rotation;
    let turn = DQuat::from_rotation_x(0.0017) * DQuat::from_array(turned.map(f64::from));
    *turned = turn.as_quat().to_array();
    // What is wrong on purpose is not what the check measures.
    match during(|| keeps_bound(source, &times, &read)).0 {
        Ok(()) => Err("passed".into()),
        Err(_) => Ok(()),
    }
}

fn gpu_keeps_bound(gpu: &Gpu) -> Result<(), Failure> {
    let (sources, clips) = packed()?;
    let clips: Vec<&PackedClip> = clips.iter().collect();
    for (which, source) in sources.iter().enumerate() {
        let times = times(clips[which]);
        keeps_bound(source, &times, &on_gpu(gpu, &clips, which, &times)?)?;
    }
    Ok(())
}

fn gpu_equals_mirror(gpu: &Gpu) -> Result<(), Failure> {
    let (_, clips) = packed()?;
    let clips: Vec<&PackedClip> = clips.iter().collect();
    for (which, clip) in clips.iter().enumerate() {
        let mut times = times(clip);
        let rng = &mut Rng::new(which as u64);
        times.extend((0..100).map(|_| rng.range(0.0, clip.duration().max(1e-3))));
        let (found, mirror) = (on_gpu(gpu, &clips, which, &times)?, on_cpu(clip, &times));
        ensure(found.durations == mirror.durations, "another duration")?;
        let parts = |read: &Read| -> Vec<DVec3> {
            let vector = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
            let joints = read.joints.iter().flat_map(|j| {
                let [x, y, z, w] = j.rotation;
                [
                    vector(j.translation),
                    vector([x, y, z]),
                    vector([w, 0.0, 0.0]),
                    vector(j.scale),
                ]
            });
            let weights = read.weights.iter().map(|w| vector([*w, 0.0, 0.0]));
            joints.chain(weights).collect()
        };
        let (what, allowed) = (format!("clip {which}"), tolerance::MIRROR_CLIPS);
        compare(&what, &parts(&found), &parts(&mirror), allowed)?;
    }
    Ok(())
}
