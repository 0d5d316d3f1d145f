//! Work load G: characters that play clips on the device. What a frame costs the CPU, against how
//! many there are, and against posing them on the CPU.

use std::sync::Arc;
use std::time::Instant;

use glam::DMat4;
use sinew::gpu::{
    ClipId, Crowd, GpuDevice, InstanceId, InstancePose, PlayedClip, Playing, RigId, SkinId,
    Skinner, SkinnerOptions,
};
use sinew::kernel::packed_clip::{ClipOptions, ClipSource};
use sinew::kernel::{PackedClip, PackedRig, PackedSkin, Palette};
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::{Pose, SkinningMethod, Topology};
use sinew::wgpu;

use crate::cpu;
use crate::measure::{Runs, Times};
use crate::on_gpu::WHO;
use crate::peers::Result;
use crate::results::Row;
use crate::workloads::{Kind, Rig, Size, Workload, geom_bind};

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
fn clip(rig: &Rig, number: usize) -> Result<Arc<PackedClip>> {
    let topology = Topology::from_parents(rig.parents.clone());
    let mut source = ClipSource::new(format!("clip {number}"), topology);
    let frames = (0..60).map(|frame| rig.components(number % 100, frame).1);
    let frames: Vec<_> = frames.collect();
    for joint in 0..rig.joint_count() {
        let keys = frames.iter().enumerate();
        let keys = keys.map(|(i, turns)| (i as f64 / 30.0, Some(turns[joint].as_dquat())));
        let rotation = Sampled::new(None, keys.collect(), Interpolation::Linear);
        source.joints[joint].rotation = rotation;
        source.rest[joint].translation = rig.translations[joint].to_array();
    }
    let (packed, _) = PackedClip::pack(&source, &ClipOptions::default())?;
    Ok(Arc::new(packed))
}

/// Characters that play.
pub struct Playground {
    pub crowd: Crowd,
    pub rigs: Vec<RigId>,
    pub skins: Vec<SkinId>,
    pub instances: Vec<InstanceId>,
    clips: Vec<ClipId>,
    packed: Vec<Arc<PackedClip>>,
    clock: f64,
    /// Frames that a software adapter does not run.
    kept: Vec<wgpu::CommandBuffer>,
}

impl Playground {
    pub fn new(load: &Workload, rig: &Rig, device: &GpuDevice, with_skins: bool) -> Result<Self> {
        let mut options = SkinnerOptions::default();
        options.max_binding_bytes = Some(BINDING_BYTES);
        options.max_workgroups_per_dimension = Some(WORKGROUPS);
        let mut crowd = Skinner::new(device.device(), device.queue(), &options)?.crowd();
        let packed = (0..CLIPS).map(|number| clip(rig, number));
        let packed: Vec<_> = packed.collect::<Result<_>>()?;
        let mut clips = Vec::new();
        for clip in &packed {
            clips.push(crowd.add_clip(Arc::clone(clip))?);
        }
        let rig = Arc::new(PackedRig::pack(&rig.skeleton, geom_bind(), false)?);
        let mut rigs = Vec::new();
        for _ in 0..load.size.characters {
            rigs.push(crowd.add_rig(Arc::clone(&rig))?);
        }
        let mut on = Self {
            crowd,
            rigs,
            skins: Vec::new(),
            instances: Vec::new(),
            clips,
            packed,
            clock: 0.0,
            kept: Vec::new(),
        };
        on.set_all(0)?;
        let crowd = &mut on.crowd;
        if !with_skins {
            for rig in &on.rigs {
                crowd.keep_palette(*rig, true)?;
            }
            return Ok(on);
        }
        for (number, skin) in load.skins.iter().enumerate() {
            let skin = crowd.add_skin(Arc::new(PackedSkin::pack("/Mesh", skin)?))?;
            let own: Vec<RigId> = on
                .rigs
                .iter()
                .copied()
                .skip(number)
                .step_by(load.skins.len())
                .collect();
            let instances = crowd.add_instances(skin, own.len())?;
            on.skins.push(skin);
            on.instances.extend(&instances);
            for (rig, instance) in own.into_iter().zip(instances) {
                let pose = InstancePose::Rig {
                    rig,
                    out_from_skel: &DMat4::IDENTITY,
                    channel_weights: &[],
                };
                crowd.set_pose(instance, pose)?;
            }
        }
        Ok(on)
    }

    /// What a character plays.
    fn state(&self, number: usize, round: usize) -> Playing {
        let clip = self.clips[(number + round) % CLIPS];
        Playing::new(PlayedClip::new(clip).at((number % 60) as f32 / 30.0))
    }

    /// One call for all. Returns its seconds.
    fn set_all(&mut self, round: usize) -> Result<f64> {
        let each = self.rigs.iter().enumerate();
        let all = each.map(|(number, rig)| (*rig, self.state(number, round)));
        let all: Vec<_> = all.collect();
        let start = Instant::now();
        self.crowd.set_playing_all(&all)?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Records a frame, and runs it on hardware. Returns the seconds of changing `changed`
    /// characters and recording.
    pub fn frame(&mut self, device: &GpuDevice, changed: usize) -> Result<f64> {
        let start = Instant::now();
        self.advance();
        let round = (self.clock * 60.0) as usize;
        let step = self.rigs.len() / changed.max(1);
        for number in 0..changed {
            let index = (number * step + round) % self.rigs.len();
            let playing = self.state(index, round).fade(0.2);
            self.crowd.set_playing(self.rigs[index], &playing)?;
        }
        let mut encoder = device.device().create_command_encoder(&Default::default());
        self.crowd.encode(&mut encoder)?;
        let seconds = start.elapsed().as_secs_f64();
        self.finish(device, encoder)?;
        Ok(seconds)
    }

    /// Moves the clock on by a frame.
    pub fn advance(&mut self) {
        self.clock += 1.0 / 60.0;
        self.crowd.set_clock(self.clock);
    }

    /// Runs a frame on hardware.
    pub fn finish(&mut self, device: &GpuDevice, encoder: wgpu::CommandEncoder) -> Result<()> {
        let commands = encoder.finish();
        if device.report().software {
            self.kept.push(commands);
        } else {
            device.queue().submit([commands]);
            device.device().poll(wgpu::PollType::wait_indefinitely())?;
        }
        Ok(())
    }
}

/// All rows.
pub fn rows(device: &GpuDevice, scale: f64, runs: Runs) -> Result<Vec<Row>> {
    let scaled = |n: usize| ((n as f64 * scale) as usize).max(CLIPS);
    let mut rows = Vec::new();
    let skinned = COUNTS.map(|n| (n, true));
    for (count, with_skins) in skinned.into_iter().chain([(PALETTES, false)]) {
        let count = scaled(count);
        let mut size = Size::of(Kind::Crowd, 1.0);
        size.characters = count;
        let mut load = Workload::sized(Kind::Crowd, size);
        if !with_skins {
            load.size.meshes = 1;
        }
        let rig = load.rig.as_ref().ok_or("no rig")?;
        let start = Instant::now();
        let mut on = Playground::new(&load, rig, device, with_skins)?;
        let set_up = start.elapsed().as_secs_f64();
        let planned = on.frame(device, 0)?;
        for changed in [0, changed(count)] {
            let (mut seconds, mut uploads) = (Vec::new(), Vec::new());
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
                let (bytes, ms) = (on.crowd.buffer_bytes() as f64 / 1e6, planned * 1e3);
                note += &format!(
                    "; buffers {bytes:.0} MB; set up in {set_up:.2} s; the first frame in {ms:.1} ms"
                );
            }
            let case = case(count, with_skins, changed);
            rows.push(Row {
                uploaded: Some(uploaded),
                note,
                ..Row::new(NAME, &case, WHO, 0, Times::of(seconds))
            });
        }
        if !with_skins {
            rows.push(all_change(&mut on, device, count, runs)?);
        }
        if with_skins && count == scaled(COUNTS[0]) {
            let times = posed_on_cpu(&on.packed, rig, count, runs);
            let case = format!("{count} characters: clips decoded and posed on the CPU");
            rows.push(Row::new(NAME, &case, cpu::WHO, 0, times).on_threads(1));
        }
        device.check()?;
    }
    Ok(rows)
}

/// All characters are given another clip by one call. The time is that of the call alone.
fn all_change(on: &mut Playground, device: &GpuDevice, count: usize, runs: Runs) -> Result<Row> {
    let (mut seconds, mut uploaded) = (Vec::new(), 0);
    for round in 1..=runs.most.clamp(3, 10) {
        seconds.push(on.set_all(round)?);
        on.frame(device, 0)?;
        uploaded = on.crowd.last_upload_bytes().max(uploaded);
    }
    let case = format!("{count} characters: one call changes all");
    Ok(Row {
        uploaded: Some(uploaded),
        note: format!("{uploaded} bytes uploaded by the next frame"),
        ..Row::new(NAME, &case, WHO, 0, Times::of(seconds))
    })
}

/// The same clips decoded, posed and packed by the CPU, on one thread.
fn posed_on_cpu(clips: &[Arc<PackedClip>], rig: &Rig, count: usize, runs: Runs) -> Times {
    let mut clock = 0.0;
    Runs::exactly(runs.most.clamp(3, 10)).time(|| {
        clock += 1.0 / 60.0;
        for number in 0..count {
            let clip = &clips[number % CLIPS];
            let time = (clock + (number % 60) as f32 / 30.0) % clip.duration();
            let locals = (0..rig.joint_count()).map(|joint| clip.joint(joint, time).matrix());
            let locals: Vec<DMat4> = locals.collect();
            let pose = Pose::from_local(&rig.skeleton, &locals).ok();
            let skinning = pose.and_then(|pose| pose.skinning).unwrap_or_default();
            let linear = SkinningMethod::ClassicLinear;
            let palette = Palette::pack(linear, &skinning, geom_bind(), false);
            std::hint::black_box(palette);
        }
    })
}
