//! Work load G: characters that play clips on the device. What a frame costs the CPU, against how
//! many there are, and against posing them on the CPU.

use std::sync::Arc;
use std::time::Instant;

use sinew::gpu::{
    ClipId, Crowd, GpuDevice, GpuError, InstancePose, PlayedClip, Playing, RigId, Skinner,
    SkinnerOptions,
};
use sinew::kernel::packed_clip::{ClipOptions, ClipSource};
use sinew::kernel::{JointTransform, PackedClip, PackedRig, PackedSkin, Palette};
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::{Pose, SkinningMethod, Topology};
use sinew::wgpu;

use crate::measure::{Runs, Times};
use crate::row::Row;
use crate::workloads::{Kind, Size, Workload, geom_bind};

pub const NAME: &str = "G";

/// How many characters are skinned, and how many have palettes alone.
pub const COUNTS: [usize; 3] = [1_000, 10_000, 20_000];
pub const PALETTES: usize = 100_000;
const CLIPS: usize = 40;
/// Characters of 100 that change what they play in a frame.
const CHANGED_PER_CENT: usize = 1;
/// WebGPU's default limits, which every work load here keeps to.
const BINDING_BYTES: u64 = 128 << 20;
const WORKGROUPS: u32 = 65_535;
pub const OURS: &str = "sinew, GPU";

/// The name of a case: `changed` of `count` characters change what they play.
pub fn case(count: usize, with_skins: bool, changed: usize) -> String {
    let kind = if with_skins { "" } else { ", palettes alone" };
    match changed {
        0 => format!("{count} characters{kind}: all go on"),
        _ => format!("{count} characters{kind}: {changed} change"),
    }
}

/// Characters that change in a frame, of this many.
pub fn changed(count: usize) -> usize {
    count * CHANGED_PER_CENT / 100
}

/// A clip of two seconds, by the joints of a character of the suite at its frames.
fn clip(load: &Workload, number: usize) -> Result<PackedClip, GpuError> {
    let failed = |e: sinew::Invalid| GpuError::Mismatch(e.to_string());
    let rig = load
        .rig
        .as_ref()
        .ok_or_else(|| GpuError::Mismatch("no rig".into()))?;
    let topology = Topology::from_parents(rig.parents.clone());
    let mut source = ClipSource::new(format!("clip {number}"), topology);
    let frames: Vec<_> = (0..60)
        .map(|frame| rig.components(number % 100, frame))
        .collect();
    for joint in 0..rig.joint_count() {
        let keys = frames.iter().enumerate();
        let keys = keys.map(|(i, (_, turns))| (i as f64 / 30.0, Some(turns[joint].as_dquat())));
        let rotation = Sampled::new(None, keys.collect(), Interpolation::Linear);
        source.joints[joint].rotation = rotation;
        source.rest[joint].translation = rig.translations[joint].to_array();
    }
    Ok(PackedClip::pack(&source, &ClipOptions::default())
        .map_err(failed)?
        .0)
}

/// Characters that play.
struct Playground {
    crowd: Crowd,
    rigs: Vec<RigId>,
    clips: Vec<ClipId>,
    packed: Vec<Arc<PackedClip>>,
    rig: Arc<PackedRig>,
    clock: f64,
    /// Frames that a software adapter does not run.
    kept: Vec<wgpu::CommandBuffer>,
}

fn load(count: usize) -> Workload {
    Workload::sized(
        Kind::Crowd,
        Size {
            characters: count,
            ..Size::of(Kind::Crowd, 1.0)
        },
    )
}

impl Playground {
    fn new(load: &Workload, device: &GpuDevice, with_skins: bool) -> Result<Self, GpuError> {
        let failed = |e: sinew::Invalid| GpuError::Mismatch(e.to_string());
        let options = SkinnerOptions {
            max_binding_bytes: Some(BINDING_BYTES),
            max_workgroups_per_dimension: Some(WORKGROUPS),
            ..SkinnerOptions::default()
        };
        let mut crowd = Skinner::new(device.device(), device.queue(), &options)?.crowd();
        let skeleton = load.rig.as_ref().map(|rig| Arc::clone(&rig.skeleton));
        let skeleton = skeleton.ok_or_else(|| GpuError::Mismatch("no rig".into()))?;
        let rig = Arc::new(PackedRig::pack(&skeleton, geom_bind(), false).map_err(failed)?);
        let packed = (0..CLIPS).map(|number| clip(load, number).map(Arc::new));
        let packed: Vec<_> = packed.collect::<Result<_, _>>()?;
        let clips = packed.iter().map(|clip| crowd.add_clip(Arc::clone(clip)));
        let clips: Vec<ClipId> = clips.collect::<Result<_, _>>()?;
        let rigs = (0..load.size.characters).map(|_| crowd.add_rig(Arc::clone(&rig)));
        let rigs: Vec<RigId> = rigs.collect::<Result<_, _>>()?;
        let playing = |(number, rig): (usize, &RigId)| (*rig, state(&clips, number, 0));
        let all: Vec<_> = rigs.iter().enumerate().map(playing).collect();
        crowd.set_playing_all(&all)?;
        if with_skins {
            for (number, skin) in load.skins.iter().enumerate() {
                let skin = PackedSkin::pack("/Mesh", skin).map_err(failed)?;
                let skin = crowd.add_skin(Arc::new(skin))?;
                let own: Vec<RigId> = rigs.iter().copied().skip(number).step_by(20).collect();
                let instances = crowd.add_instances(skin, own.len())?;
                for (rig, instance) in own.into_iter().zip(instances) {
                    let pose = InstancePose::Rig {
                        rig,
                        out_from_skel: &glam::DMat4::IDENTITY,
                        channel_weights: &[],
                    };
                    crowd.set_pose(instance, pose)?;
                }
            }
        } else {
            for rig in &rigs {
                crowd.keep_palette(*rig, true)?;
            }
        }
        Ok(Self {
            crowd,
            rigs,
            clips,
            packed,
            rig,
            clock: 0.0,
            kept: Vec::new(),
        })
    }

    /// Records a frame, and runs it on hardware. Returns the seconds of changing `changed`
    /// characters and recording.
    fn frame(&mut self, device: &GpuDevice, changed: usize) -> Result<f64, GpuError> {
        self.clock += 1.0 / 60.0;
        let round = (self.clock * 60.0) as usize;
        let start = Instant::now();
        self.crowd.set_clock(self.clock);
        let step = self.rigs.len() / changed.max(1);
        for number in 0..changed {
            let index = (number * step + round) % self.rigs.len();
            let playing = state(&self.clips, index, round).fade(0.2);
            self.crowd.set_playing(self.rigs[index], &playing)?;
        }
        let mut encoder = device.device().create_command_encoder(&Default::default());
        self.crowd.encode(&mut encoder)?;
        let seconds = start.elapsed().as_secs_f64();
        let commands = encoder.finish();
        if device.report().software {
            self.kept.push(commands);
        } else {
            device.queue().submit([commands]);
            let _ = device.device().poll(wgpu::PollType::wait_indefinitely());
        }
        Ok(seconds)
    }
}

/// What a character plays.
fn state(clips: &[ClipId], number: usize, round: usize) -> Playing {
    let clip = clips[(number + round) % clips.len()];
    Playing::new(PlayedClip::new(clip).at((number % 60) as f32 / 30.0))
}

/// All rows.
pub fn rows(device: &GpuDevice, scale: f64, runs: Runs) -> Result<Vec<Row>, GpuError> {
    let scaled = |n: usize| ((n as f64 * scale) as usize).max(CLIPS);
    let mut rows = Vec::new();
    for (count, with_skins) in COUNTS
        .map(|n| (n, true))
        .into_iter()
        .chain([(PALETTES, false)])
    {
        let count = scaled(count);
        let mut load = load(count);
        if !with_skins {
            load.size.meshes = 1;
        }
        let start = Instant::now();
        let mut on = Playground::new(&load, device, with_skins)?;
        let set_up = start.elapsed().as_secs_f64();
        let planned = on.frame(device, 0)?;
        for changed in [0, changed(count)] {
            let mut seconds = Vec::new();
            let mut uploads = Vec::new();
            for _ in 0..runs.most.max(20) {
                seconds.push(on.frame(device, changed)?);
                uploads.push(on.crowd.last_upload_bytes());
            }
            uploads.sort_unstable();
            let (uploaded, most) = (uploads[uploads.len() / 2], uploads[uploads.len() - 1]);
            let mut note = format!("{uploaded} bytes uploaded");
            if most > uploaded {
                // A frame in which buffers grow uploads everything.
                note += &format!(", at most {most}");
            }
            if changed == 0 {
                let bytes = on.crowd.buffer_bytes() as f64 / 1e6;
                note += &format!(
                    "; buffers {bytes:.0} MB; set up in {set_up:.2} s; the first frame in {:.1} ms",
                    planned * 1e3
                );
            }
            let case = case(count, with_skins, changed);
            let row = Row::new(NAME, &case, OURS, 0, Times::of(seconds));
            rows.push(row.uploading(uploaded).noted(note));
        }
        if !with_skins {
            rows.push(all_change(&mut on, device, count, runs)?);
        }
        if with_skins && count == scaled(COUNTS[0]) {
            rows.push(posed_on_cpu(&on, &load, count, runs));
        }
        device.check()?;
    }
    Ok(rows)
}

/// All characters are given another clip by one call. The time is that of the call alone.
fn all_change(
    on: &mut Playground,
    device: &GpuDevice,
    count: usize,
    runs: Runs,
) -> Result<Row, GpuError> {
    let mut seconds = Vec::new();
    let mut uploaded = 0;
    for round in 1..=runs.most.clamp(3, 10) {
        let each = on.rigs.iter().enumerate();
        let all: Vec<_> = each
            .map(|(number, rig)| (*rig, state(&on.clips, number, round)))
            .collect();
        let start = Instant::now();
        on.crowd.set_playing_all(&all)?;
        seconds.push(start.elapsed().as_secs_f64());
        on.frame(device, 0)?;
        uploaded = on.crowd.last_upload_bytes().max(uploaded);
    }
    let case = format!("{count} characters: one call changes all");
    let row = Row::new(NAME, &case, OURS, 0, Times::of(seconds));
    let note = format!("{uploaded} bytes uploaded by the next frame");
    Ok(row.uploading(uploaded).noted(note))
}

/// The same clips decoded, posed and packed by the CPU, on one thread.
fn posed_on_cpu(on: &Playground, load: &Workload, count: usize, runs: Runs) -> Row {
    let skeleton = load.rig.as_ref().map(|rig| Arc::clone(&rig.skeleton));
    let joints = on.rig.joint_count();
    let mut clock = 0.0;
    let mut seconds = Vec::new();
    for _ in 0..runs.most.clamp(3, 10) {
        clock += 1.0 / 60.0;
        let start = Instant::now();
        for number in 0..count {
            let clip = &on.packed[number % CLIPS];
            let time = (clock + (number % 60) as f32 / 30.0) % clip.duration();
            let locals: Vec<glam::DMat4> = (0..joints)
                .map(|joint| JointTransform::matrix(&clip.joint(joint, time)))
                .collect();
            let pose = skeleton
                .as_ref()
                .and_then(|s| Pose::from_local(s, &locals).ok());
            let skinning = pose.and_then(|pose| pose.skinning);
            let method = SkinningMethod::ClassicLinear;
            let palette = Palette::pack(method, &skinning.unwrap_or_default(), geom_bind(), false);
            std::hint::black_box(palette);
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    let case = format!("{count} characters: clips decoded and posed on the CPU");
    Row::new(NAME, &case, "sinew, CPU", 0, Times::of(seconds)).on_threads(1)
}
