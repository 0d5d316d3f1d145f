//! What frames upload for rigs that play, rates of updates, clips and rigs that come and go, and
//! devices that go away.

use std::sync::Arc;

use sinew::gpu::{
    Attribute, Crowd, GpuError, InstanceId, OutputTarget, PlayedClip, Playing, SkinnerOptions,
};
use sinew::kernel::packed_clip::{ClipOptions, ClipSource};
use sinew::kernel::{Clock, PackedClip, Player};
use sinew::skel::{SkinningMethod, Topology};

use super::figure::{CHANNELS, Figure, out_from_skel};
use super::show::{clip, play};
use super::stage::Stage;
use crate::check::Checks;
use crate::crowds::made::all_bits;
use crate::host::{Gpu, by_rig, tight, wrong_use};
use crate::{Failure, ensure};

pub const CHECKS: Checks = &[
    ("rigs_that_play_upload_the_clock_alone", uploads),
    ("edits_upload_what_they_change", edits),
    ("a_crowd_that_shrinks_is_packed", shrinking),
    ("tables_outgrow_their_buffer", outgrown),
    ("lower_rates_hold_results_and_take_turns", rates),
    ("clips_and_rigs_go_while_they_play", come_and_go),
    ("wrong_use_is_an_error", errors),
    ("played_joints_are_the_gpus", played_joints),
    ("small_pages_change_nothing", small_pages),
    ("skeletons_share_clips", skeletons_share),
];

/// A crowd of `count` figures that play one of the clips each.
fn many(gpu: &Gpu, count: usize) -> Result<Stage, Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let mut stage = Stage::new(gpu.crowd()?, figure, count)?;
    for at in 0..count {
        stage.play(at, &play(clip(at % 4).at(at as f64 * 0.01)))?;
    }
    Ok(stage)
}

/// The bytes that a frame uploads at a time of the clock.
fn bytes(crowd: &mut Crowd, seconds: f64) -> Result<u64, Failure> {
    crowd.set_clock(seconds);
    crowd.submit()?;
    Ok(crowd.last_upload_bytes())
}

fn uploads(gpu: &Gpu) -> Result<(), Failure> {
    let clock = size_of::<Clock>() as u64;
    let expect = |what: &str, found: u64, expected: u64| {
        let text = format!("{found} bytes for {what}, not {expected} and the clock");
        ensure(found == clock + expected, &text)
    };
    for count in [1, 150] {
        let mut stage = many(gpu, count)?;
        bytes(&mut stage.crowd, 0.0)?;
        bytes(&mut stage.crowd, 0.25)?;
        for seconds in 1..5 {
            let found = bytes(&mut stage.crowd, seconds.into())?;
            expect("figures that only play", found, 0)?;
        }
        // One of them is asked for another clip; then for the same one.
        for (expected, number) in [(64, 2), (0, 2), (64, 3)] {
            let next = clip(number).since(Some(1.0));
            stage.play(count - 1, &play(next))?;
            expect("a clip", bytes(&mut stage.crowd, 5.0)?, expected)?;
        }
        // An interrupted fade takes its pose along on the GPU; its weights come from here.
        let weights = 4 * (1 + CHANNELS) as u64;
        for (expected, number) in [(64, 0), (64 + weights, 1)] {
            stage.play(count - 1, &play(clip(number)).fade(5.0))?;
            let found = bytes(&mut stage.crowd, 6.0 + 0.25 * number as f64)?;
            expect("a fade", found, expected)?;
        }
    }
    Ok(())
}

/// An edit uploads what it changes, to the byte the same in a small crowd and in a large one, and
/// makes no other plan.
fn edits(gpu: &Gpu) -> Result<(), Failure> {
    let mut found = Vec::new();
    for count in [40, 400] {
        let mut stage = many(gpu, count)?;
        let (skin, rig) = (stage.uploaded.skins[0], stage.actors[5].rig);
        let matrix = out_from_skel();
        // Without blend shapes, so nothing but its rig is driven by clips.
        let mut id = stage.actors[count / 2].instances[0];
        let crowd = &mut stage.crowd;
        type Edit<'a> = &'a mut dyn FnMut(&mut Crowd, &mut InstanceId) -> Result<(), GpuError>;
        let without_normals = OutputTarget {
            normals: None,
            ..OutputTarget::default()
        };
        let edits: [(&str, Edit<'_>); 6] = [
            ("hidden", &mut |crowd, id| crowd.set_hidden(*id, true)),
            ("shown", &mut |crowd, id| crowd.set_hidden(*id, false)),
            ("moved by another rig", &mut |crowd, id| {
                crowd.set_pose(*id, by_rig(rig, &matrix, &[]))
            }),
            ("sent elsewhere", &mut |crowd, id| {
                crowd.set_target(*id, without_normals.clone())
            }),
            ("removed", &mut |crowd, id| crowd.remove_instance(*id)),
            ("added", &mut |crowd, id| {
                *id = crowd.add_instance(skin)?;
                crowd.set_pose(*id, by_rig(rig, &matrix, &[]))
            }),
        ];
        for seconds in 0..3 {
            bytes(crowd, seconds.into())?;
        }
        let generation = crowd.palettes_generation();
        let mut of_edits = Vec::new();
        for (number, (what, edit)) in edits.into_iter().enumerate() {
            edit(crowd, &mut id)?;
            for frame in 0..3 {
                let seconds = 3.0 + number as f64 + 0.25 * f64::from(frame);
                let uploaded = bytes(crowd, seconds)? - size_of::<Clock>() as u64;
                match frame {
                    0 => of_edits.push((what, uploaded)),
                    _ => ensure(uploaded == 0, &format!("{what}: {uploaded} bytes later"))?,
                }
            }
        }
        ensure(
            crowd.palettes_generation() == generation,
            "an edit made another plan",
        )?;
        found.push(of_edits);
    }
    ensure(
        found[0] == found[1],
        &format!("the size of the crowd shows: {found:?}"),
    )?;
    // An item of the kernel is 132 bytes, of which the words from the first to the last that changes
    // are uploaded: an item that goes writes its count alone, 4 bytes. The first of a kind brings a
    // table, and a record of six words for its dispatch; the last of a kind clears five of them. The
    // pair of matrices is that of whoever had its place.
    let expected = [4, 4, 72, 4 + 132 + 24, 4 + 20, 100];
    let bytes: Vec<u64> = found[0].iter().map(|(_, bytes)| *bytes).collect();
    ensure(bytes == expected, &format!("{:?}", found[0]))
}

/// A crowd that loses one instance a frame keeps neither the work nor the room of those that left.
fn shrinking(gpu: &Gpu) -> Result<(), Failure> {
    let Stage {
        mut crowd, actors, ..
    } = many(gpu, 160)?;
    // One instance of each moves with its rig alone.
    for actor in &actors {
        crowd.set_hidden(actor.instances[1], true)?;
    }
    crowd.submit()?;
    let generation = crowd.palettes_generation();
    let mut packed = None;
    for (number, actor) in actors[..110].iter().enumerate() {
        crowd.set_hidden(actor.instances[0], true)?;
        crowd.submit()?;
        if crowd.palettes_generation() != generation && packed.is_none() {
            packed = Some(number);
        }
    }
    // The 81st edit is more than the 80 instances that were shown before it.
    ensure(packed == Some(80), &format!("packed at {packed:?}"))
}

/// Instances that are sent to buffers of their own bring a table each, until all tables need a
/// larger buffer: without another plan, and items that were there before stay.
fn outgrown(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = many(gpu, 24)?;
    stage.frame(1.0)?;
    let crowd = &mut stage.crowd;
    let (generation, size) = (crowd.palettes_generation(), crowd.buffer_bytes());
    let count = stage.figure.skins[0].packed.point_count();
    for actor in &stage.actors {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let target = OutputTarget {
            positions: Attribute::In {
                buffer: gpu.filled(count * 3, usage, 0),
                offset: 0,
                stride: 12,
            },
            ..OutputTarget::default()
        };
        crowd.set_target(actor.instances[0], target)?;
        crowd.submit()?;
    }
    let other = crowd.palettes_generation() != generation;
    ensure(!other, "an edit made another plan")?;
    ensure(crowd.buffer_bytes() > size, "no buffer grew")?;
    stage.frame(2.0)
}

/// A quarter of the figures of a lower rate take their turn in each frame.
fn rates(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let mut stage = Stage::new(gpu.crowd()?, figure, 16)?;
    for at in 0..16 {
        let every = [1, 4][at % 2];
        stage.play(at, &play(clip(at % 3)).every(every))?;
    }
    stage.frame(0.0)?;
    let mut updates = [0; 16];
    for frame in 1..=12 {
        stage.frame(f64::from(frame) * 0.0625)?;
        let moved = || stage.actors.iter().map(|actor| usize::from(actor.moved));
        let together: usize = moved().skip(1).step_by(2).sum();
        ensure(together == 2, &format!("{together} of 8 took their turn"))?;
        updates.iter_mut().zip(moved()).for_each(|(u, m)| *u += m);
    }
    let expected: [usize; 16] = std::array::from_fn(|at| [12, 3][at % 2]);
    ensure(updates == expected, &format!("{updates:?} updates"))?;
    // A change of state updates a figure whatever its turn; a new plan updates all.
    for number in [1, 2, 3] {
        stage.play(15, &play(clip(number)).every(200))?;
        stage.frame(0.75)?;
        ensure(stage.actors[15].moved, "it waits for its turn")?;
    }
    stage.add()?;
    stage.play(16, &play(clip(0)))?;
    stage.frame(5.0)?;
    ensure(stage.actors[15].moved, "a new plan shows an old pose")
}

fn come_and_go(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let ids = stage.uploaded.clips.clone();
    let is_used = "no rigs that use it";
    stage.play(0, &play(clip(0)))?;
    stage.frame(0.0)?;
    wrong_use(is_used, stage.crowd.remove_clip(ids[0]))?;
    stage.play(0, &play(clip(1)).fade(1.0))?;
    stage.frame(0.5)?;
    // It fades out, but is not gone.
    wrong_use(is_used, stage.crowd.remove_clip(ids[0]))?;
    stage.frame(1.5)?;
    stage.crowd.remove_clip(ids[0])?;
    stage.frame(1.5)?;
    let foreign = "a clip of another crowd";
    wrong_use(foreign, stage.crowd.remove_clip(ids[0]))?;
    let (rig, gone) = (stage.actors[0].rig, Playing::new(ids[0]));
    wrong_use(foreign, stage.crowd.set_playing(rig, &gone))?;
    // Users of clips come along to another device. Another clip takes its place.
    stage.rebuild(&gpu.skinner(&SkinnerOptions::default())?)?;
    wrong_use(is_used, stage.crowd.remove_clip(ids[1]))?;
    let (again, id) = stage.add_clip(Arc::clone(&stage.figure.clips[2]))?;
    stage.play(0, &play(clip(again)).fade(0.5))?;
    stage.frame(1.75)?;
    // A rig goes while it plays, in the middle of a fade, and gives its clips free.
    wrong_use("no instances that use it", stage.crowd.remove_rig(rig))?;
    stage.remove(0)?;
    ensure(stage.crowd.is_playing(rig).is_err(), "a removed rig plays")?;
    for clip in [id, ids[1], ids[2], ids[3]] {
        stage.crowd.remove_clip(clip)?;
    }
    Ok(stage.crowd.submit()?)
}

fn errors(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let (rig, ids) = (stage.actors[0].rig, stage.uploaded.clips.clone());
    wrong_use("local transforms, or a clip to play", stage.crowd.submit())?;
    let short = ClipSource::new("short", Topology::from_parents(vec![None, Some(0)]));
    let short = PackedClip::pack(&short, &ClipOptions::default())?.0;
    let short = stage.crowd.add_clip(Arc::new(short))?;
    let (clip, other) = (PlayedClip::new(ids[0]), ids[1]);
    let playing = || Playing::new(clip);
    let wrong = [
        ("expected a clip of 30 joints, found 2", Playing::new(short)),
        ("blend: expected a clip of 30", playing().blend(short, 0.5)),
        ("blend: expected a weight", playing().blend(other, 1.5)),
        ("blend: expected a weight", playing().blend(other, f32::NAN)),
        ("add: expected a weight", playing().add(other, -0.1)),
        ("a finite speed", Playing::new(clip.speed(f32::INFINITY))),
        ("a finite speed", Playing::new(clip.at(f32::NAN))),
        ("a finite time of the", Playing::new(clip.since(f64::NAN))),
        ("fade: expected seconds", playing().fade(-1.0)),
        ("every: expected 1 to 255", playing().every(0)),
        ("every: expected 1 to 255", playing().every(256)),
    ];
    for (words, playing) in &wrong {
        wrong_use(words, stage.crowd.set_playing(rig, playing))?;
    }
    ensure(!stage.crowd.is_playing(rig)?, "it plays what was refused")?;
    // All or none.
    let all = [(rig, playing()), (rig, wrong[0].1.clone())];
    wrong_use("found 2", stage.crowd.set_playing_all(&all))?;
    let is_idle = stage.crowd.player(rig) == Player::idle();
    ensure(is_idle, "half of a bulk call")?;
    stage.crowd.set_playing_all(&all[..1])?;
    ensure(stage.crowd.is_playing(rig)?, "a bulk call did nothing")?;
    let skin = stage.uploaded.skins[1];
    let channels = stage.crowd.set_clip_channels(skin, &[None]);
    wrong_use("expected 4 channels", channels)
}

fn played_joints(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let rig = stage.actors[0].rig;
    let joints = |stage: &Stage| stage.crowd.played_joints(rig);
    ensure(joints(&stage)?.is_none(), "joints of a rig at rest")?;
    stage.play(0, &play(clip(0)).blend(Some((clip(2), 0.5))))?;
    stage.frame(0.5)?;
    let last = stage.last(0).map(|pose| pose.joints.clone());
    ensure(joints(&stage)? == last, "other joints")?;
    stage.play(0, &play(clip(3)).fade(1.0))?;
    ensure(joints(&stage)?.is_none(), "joints of a snapshot")
}

/// Figures of dual quaternions that are spread over many pages and dispatches give the same bits.
fn small_pages(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::DualQuaternion, 12)?;
    let run = |options: &SkinnerOptions| -> Result<Vec<Vec<u32>>, Failure> {
        let mut stage = Stage::new(gpu.crowd_with(options)?, Arc::clone(&figure), 60)?;
        for (number, (clock, count)) in [(0.0, 60), (0.25, 60), (0.375, 30)].iter().enumerate() {
            stage.crowd.set_clock(*clock);
            for at in 0..*count {
                stage.play(at, &play(clip((at + number) % 4)).fade(0.5))?;
            }
            stage.crowd.submit()?;
        }
        stage.crowd.set_clock(0.5);
        Ok(all_bits(&stage.crowd.run()?))
    };
    let whole = run(&SkinnerOptions::default())?;
    let few = tight(Some(figure.clip_page(65_536)), None);
    for options in [few, tight(None, Some(2))] {
        let same = run(&options)? == whole;
        ensure(same, &format!("{options:?} changes results"))?;
    }
    Ok(())
}

/// Two skeletons with the same joints, bound in different poses and skinned by different methods,
/// play the same clips of one crowd.
fn skeletons_share(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let sibling = stage.figure.sibling(SkinningMethod::DualQuaternion)?;
    let clips = stage.uploaded.clips.clone();
    let uploaded = sibling.upload_for(&mut stage.crowd, clips.clone())?;
    stage.add_other(sibling, &uploaded)?;
    for at in [0, 1] {
        stage.play(at, &play(clip(1).since(Some(0.0))))?;
    }
    for clock in [0.0, 0.4375, 1.6875] {
        stage.frame(clock)?;
    }
    // One of them fades to another clip while the other goes on.
    stage.crowd.set_clock(2.0);
    stage.play(1, &play(clip(2)).fade(0.5))?;
    stage.frame(2.25)?;
    // The clip stays as long as one of them plays it.
    stage.remove(0)?;
    stage.frame(2.375)?;
    wrong_use("no rigs that use it", stage.crowd.remove_clip(clips[1]))?;
    stage.frame(2.5)?;
    Ok(stage.crowd.remove_clip(clips[1])?)
}
