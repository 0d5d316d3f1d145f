//! What frames upload for rigs that play, rates of updates, clips and rigs that come and go, and
//! devices that go away.

use std::sync::Arc;

use sinew::gpu::{
    Attribute, Crowd, Deformed, GpuError, InstanceId, OutputTarget, PlayedClip, Playing,
    SkinnerOptions,
};
use sinew::kernel::packed_clip::{ClipOptions, ClipSource};
use sinew::kernel::registry::NONE;
use sinew::kernel::{Clock, PackedClip, Player};
use sinew::skel::{SkinningMethod, Topology};

use super::Run;
use super::fades::Stage;
use super::figure::{CHANNELS, Figure, Member, Mirrored, Uploaded, out_from_skel};
use crate::host::{Gpu, by_rig, tight, wrong_use};
use crate::{Failure, ensure};

pub const CHECKS: &[(&str, Run)] = &[
    ("rigs_that_play_upload_the_clock_alone", uploads),
    ("edits_upload_what_they_change", edits),
    ("a_crowd_that_shrinks_is_packed", shrinking),
    ("tables_outgrow_their_buffer", outgrown),
    ("lower_rates_hold_results_and_take_turns", rates),
    ("clips_and_rigs_go_while_they_play", come_and_go),
    ("a_rig_in_a_reused_slot_has_its_own_past", reused_slots),
    ("wrong_use_is_an_error", errors),
    ("dropped_frames_change_nothing", dropped),
    ("loss_is_rebuilt", rebuilt),
    ("played_joints_are_the_gpus", played_joints),
    ("small_pages_change_nothing", small_pages),
];

/// A crowd of `count` figures that play one of the clips each.
fn many(
    crowd: &mut Crowd,
    figure: &Figure,
    count: usize,
) -> Result<(Uploaded, Vec<Member>), Failure> {
    let uploaded = figure.upload(crowd)?;
    let members = (0..count).map(|_| figure.add(crowd, &uploaded));
    let members: Vec<Member> = members.collect::<Result<_, _>>()?;
    let playing = |(number, member): (usize, &Member)| {
        let clip = PlayedClip::new(uploaded.clips[number % 4]).at(number as f32 * 0.01);
        (member.rig, Playing::new(clip))
    };
    let all: Vec<_> = members.iter().enumerate().map(playing).collect();
    crowd.set_playing_all(&all)?;
    Ok((uploaded, members))
}

fn uploads(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let clock = size_of::<Clock>() as u64;
    for count in [1, 150] {
        let mut crowd = gpu.crowd()?;
        let (uploaded, members) = many(&mut crowd, &figure, count)?;
        let frame = |crowd: &mut Crowd, seconds: f64| -> Result<u64, Failure> {
            crowd.set_clock(seconds);
            crowd.submit()?;
            Ok(crowd.last_upload_bytes())
        };
        frame(&mut crowd, 0.0)?;
        frame(&mut crowd, 0.25)?;
        for seconds in 1..5 {
            let bytes = frame(&mut crowd, f64::from(seconds))?;
            let text = format!("{bytes} bytes for {count} figures that only play");
            ensure(bytes == clock, &text)?;
        }
        // One of them is asked for another clip; then for the same one.
        let last = members[count - 1].rig;
        for (expected, clip) in [(64, 2), (0, 2), (64, 3)] {
            let clip = PlayedClip::new(uploaded.clips[clip]).since(1.0);
            crowd.set_playing(last, &Playing::new(clip))?;
            let bytes = frame(&mut crowd, 5.0)?;
            ensure(
                bytes == clock + expected,
                &format!("{bytes} bytes, not {expected}"),
            )?;
        }
        // An interrupted fade takes its pose along on the GPU; its weights come from here.
        for clip in [0, 1] {
            let playing = Playing::new(uploaded.clips[clip]).fade(5.0);
            crowd.set_playing(last, &playing)?;
            frame(&mut crowd, 6.0 + 0.25 * clip as f64)?;
        }
        let weights = 4 * (1 + CHANNELS) as u64;
        let bytes = crowd.last_upload_bytes();
        ensure(
            bytes == clock + 64 + weights,
            &format!("{bytes} bytes of a snapshot"),
        )?;
    }
    Ok(())
}

/// An edit uploads what it changes, to the byte the same in a small crowd and in a large one, and
/// makes no other plan.
fn edits(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let mut found = Vec::new();
    for count in [40, 400] {
        let mut crowd = gpu.crowd()?;
        let (uploaded, members) = many(&mut crowd, &figure, count)?;
        let (skin, rig) = (uploaded.skins[0], members[5].rig);
        let matrix = out_from_skel();
        // Without blend shapes, so nothing but its rig is driven by clips.
        let mut id = members[count / 2].instances[0];
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
            crowd.set_clock(f64::from(seconds));
            crowd.submit()?;
        }
        let generation = crowd.palettes_generation();
        let mut bytes = Vec::new();
        for (number, (what, edit)) in edits.into_iter().enumerate() {
            edit(&mut crowd, &mut id)?;
            for frame in 0..3 {
                crowd.set_clock(3.0 + number as f64 + 0.25 * f64::from(frame));
                crowd.submit()?;
                let uploaded = crowd.last_upload_bytes() - size_of::<Clock>() as u64;
                match frame {
                    0 => bytes.push((what, uploaded)),
                    _ => ensure(uploaded == 0, &format!("{what}: {uploaded} bytes later"))?,
                }
            }
        }
        ensure(
            crowd.palettes_generation() == generation,
            "an edit made another plan",
        )?;
        found.push(bytes);
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
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let mut crowd = gpu.crowd()?;
    let (_, members) = many(&mut crowd, &figure, 160)?;
    // One instance of each moves with its rig alone.
    for id in members.iter().flat_map(|member| &member.instances[1..]) {
        crowd.set_hidden(*id, true)?;
    }
    crowd.submit()?;
    let generation = crowd.palettes_generation();
    let mut packed = None;
    for (number, member) in members[..110].iter().enumerate() {
        crowd.set_hidden(member.instances[0], true)?;
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
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let mut crowd = gpu.crowd()?;
    let (_, members) = many(&mut crowd, &figure, 24)?;
    let at = |crowd: &mut Crowd, seconds: f64| -> Result<Vec<Vec<u32>>, Failure> {
        crowd.set_clock(seconds);
        crowd.submit()?;
        bits(crowd, &members)
    };
    let expected = at(&mut crowd, 2.0)?;
    ensure(at(&mut crowd, 1.0)? != expected, "nothing moves")?;
    let (generation, bytes) = (crowd.palettes_generation(), crowd.buffer_bytes());
    for member in &members {
        let id = member.instances[0];
        let count = crowd
            .points_on_gpu(id)?
            .iter()
            .map(|s| s.count)
            .sum::<usize>();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let target = OutputTarget {
            positions: Attribute::In {
                buffer: gpu.filled(count * 3, usage, 0),
                offset: 0,
                stride: 12,
            },
            ..OutputTarget::default()
        };
        crowd.set_target(id, target)?;
        crowd.submit()?;
    }
    let other = crowd.palettes_generation() != generation;
    ensure(!other, "an edit made another plan")?;
    ensure(crowd.buffer_bytes() > bytes, "no buffer grew")?;
    ensure(at(&mut crowd, 2.0)? == expected, "other points")
}

/// The points of all instances, as bits.
fn bits(crowd: &mut Crowd, members: &[Member]) -> Result<Vec<Vec<u32>>, Failure> {
    let ids: Vec<_> = members.iter().flat_map(|m| m.instances.clone()).collect();
    let bits = |d: &Deformed| bytemuck::cast_slice(&d.points).to_vec();
    Ok(crowd.read(&ids)?.iter().map(bits).collect())
}

fn rates(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let mut crowd = gpu.crowd()?;
    let (uploaded, members) = many(&mut crowd, &figure, 16)?;
    for (number, member) in members.iter().enumerate() {
        let every = [1, 4][number % 2];
        let playing = Playing::new(uploaded.clips[number % 3]).every(every);
        crowd.set_playing(member.rig, &playing)?;
    }
    crowd.submit()?;
    let mut before = bits(&mut crowd, &members)?;
    let mut updates = vec![0; members.len()];
    for frame in 1..=12 {
        crowd.set_clock(f64::from(frame) * 0.0625);
        crowd.submit()?;
        let now = bits(&mut crowd, &members)?;
        let mut together = 0;
        for number in 0..members.len() {
            let changed = now[number * 2] != before[number * 2];
            let with_shapes = now[number * 2 + 1] != before[number * 2 + 1];
            ensure(changed == with_shapes, "half a figure was updated")?;
            updates[number] += usize::from(changed);
            together += usize::from(changed && number % 2 == 1);
            if changed {
                let clip = number % 3;
                let truth = figure.looped(clip, f64::from(frame) * 0.0625);
                let numbers = [Some(clip), None, None];
                let mirror = figure.mirror(&crowd, members[number].rig, numbers, None);
                figure.agrees(&mut crowd, &members[number], &mirror, Some(&truth))?;
            }
        }
        ensure(together == 2, &format!("{together} of 8 took their turn"))?;
        before = now;
    }
    for (number, updates) in updates.iter().enumerate() {
        let expected = [12, 3][number % 2];
        ensure(
            *updates == expected,
            &format!("{updates} updates, not {expected}"),
        )?;
    }
    // A change of state updates a figure whatever its turn; a new plan updates all.
    let last = &members[15];
    for clip in [1, 2, 3] {
        crowd.set_playing(last.rig, &Playing::new(uploaded.clips[clip]).every(200))?;
        crowd.submit()?;
        let mirror = figure.mirror(&crowd, last.rig, [Some(clip), None, None], None);
        figure.agrees(&mut crowd, last, &mirror, None)?;
    }
    crowd.set_clock(5.0);
    figure.add(&mut crowd, &uploaded).and_then(|added| {
        crowd.set_playing(added.rig, &Playing::new(uploaded.clips[0]))?;
        Ok(crowd.submit()?)
    })?;
    let mirror = figure.mirror(&crowd, last.rig, [Some(3), None, None], None);
    figure.agrees(&mut crowd, last, &mirror, None)
}

/// A rig takes the slot of one that was removed. No frame has posed it, so its clip begins at once,
/// and not at the pose of the other rig.
fn reused_slots(gpu: &Gpu) -> Result<(), Failure> {
    for joints in [30, 60] {
        let mut stage = Stage::linear(gpu)?;
        stage.play(&Playing::new(stage.clip(1)))?;
        stage.crowd.submit()?;
        let Member { rig, instances } = stage.member.clone();
        for id in instances {
            stage.crowd.remove_instance(id)?;
        }
        stage.crowd.remove_rig(rig)?;
        stage.figure = Figure::new(SkinningMethod::ClassicLinear, joints)?;
        stage.uploaded = stage.figure.upload(&mut stage.crowd)?;
        stage.member = stage.figure.add(&mut stage.crowd, &stage.uploaded)?;
        let other = stage.member.rig;
        ensure(other.index() == rig.index(), "another slot")?;
        ensure(stage.crowd.is_playing(rig).is_err(), "a removed rig plays")?;
        let locals = crate::posing::rigs::locals(&stage.figure.spec, 3);
        stage.crowd.set_joints(other, &locals)?;
        stage.play(&Playing::new(stage.clip(1)).fade(0.5))?;
        let truth = stage.figure.looped(1, 0.25);
        stage.frame(0.25, [Some(1), None, None], None, &truth)?;
    }
    Ok(())
}

fn come_and_go(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let clips = stage.uploaded.clips.clone();
    let truth = stage.figure.looped(0, 0.0);
    stage.play(&Playing::new(clips[0]))?;
    stage.frame(0.0, [Some(0), None, None], None, &truth)?;
    wrong_use("no rigs that use it", stage.crowd.remove_clip(clips[0]))?;
    stage.play(&Playing::new(clips[1]).fade(1.0))?;
    stage.crowd.set_clock(0.5);
    stage.crowd.submit()?;
    // It fades out, but is not gone.
    wrong_use("no rigs that use it", stage.crowd.remove_clip(clips[0]))?;
    stage.crowd.set_clock(1.5);
    stage.crowd.submit()?;
    stage.crowd.remove_clip(clips[0])?;
    let truth = stage.figure.looped(1, 1.5);
    stage.frame(1.5, [Some(1), None, None], None, &truth)?;
    wrong_use("a clip of another crowd", stage.crowd.remove_clip(clips[0]))?;
    wrong_use(
        "a clip of another crowd",
        stage
            .crowd
            .set_playing(stage.member.rig, &Playing::new(clips[0])),
    )?;
    // Another clip takes its place.
    let again = stage.crowd.add_clip(Arc::clone(&stage.figure.clips[2]))?;
    stage.play(&Playing::new(again).fade(0.5))?;
    let (a, b) = (stage.figure.looped(1, 1.75), stage.figure.looped(2, 0.25));
    stage.frame(1.75, [Some(1), Some(2), None], None, &a.to(&b, 0.5))?;
    // A rig goes while it plays, in the middle of a fade, and gives its clips free.
    let Member { rig, instances } = stage.member.clone();
    wrong_use("no instances that use it", stage.crowd.remove_rig(rig))?;
    for id in instances {
        stage.crowd.remove_instance(id)?;
    }
    stage.crowd.remove_rig(rig)?;
    ensure(stage.crowd.is_playing(rig).is_err(), "a removed rig plays")?;
    for clip in [again, clips[1], clips[2], clips[3]] {
        stage.crowd.remove_clip(clip)?;
    }
    stage.crowd.submit()?;
    Ok(())
}

fn errors(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let rig = stage.member.rig;
    wrong_use("local transforms, or a clip to play", stage.crowd.submit())?;
    let short = ClipSource::new("short", Topology::from_parents(vec![None, Some(0)]));
    let short = PackedClip::pack(&short, &ClipOptions::default())?.0;
    let short = stage.crowd.add_clip(Arc::new(short))?;
    let clip = stage.clip(0);
    let other = stage.clip(1);
    let wrong = [
        ("expected a clip of 30 joints, found 2", Playing::new(short)),
        (
            "blend: expected a clip of 30",
            Playing::new(clip).blend(short, 0.5),
        ),
        (
            "blend: expected a weight",
            Playing::new(clip).blend(other, 1.5),
        ),
        (
            "blend: expected a weight",
            Playing::new(clip).blend(other, f32::NAN),
        ),
        (
            "add: expected a weight",
            Playing::new(clip).add(other, -0.1),
        ),
        (
            "expected a finite speed",
            Playing::new(clip.speed(f32::INFINITY)),
        ),
        ("expected a finite speed", Playing::new(clip.at(f32::NAN))),
        (
            "a finite time of the clock",
            Playing::new(clip.since(f64::NAN)),
        ),
        ("fade: expected seconds", Playing::new(clip).fade(-1.0)),
        ("every: expected 1 to 255", Playing::new(clip).every(0)),
        ("every: expected 1 to 255", Playing::new(clip).every(256)),
    ];
    for (words, playing) in &wrong {
        wrong_use(words, stage.crowd.set_playing(rig, playing))?;
    }
    ensure(!stage.crowd.is_playing(rig)?, "it plays what was refused")?;
    // All or none.
    let all = [(rig, Playing::new(clip)), (rig, wrong[0].1.clone())];
    wrong_use("found 2", stage.crowd.set_playing_all(&all))?;
    ensure(
        stage.crowd.player(rig) == Player::idle(),
        "half of a bulk call",
    )?;
    let skin = stage.uploaded.skins[1];
    wrong_use(
        "expected 4 channels",
        stage.crowd.set_clip_channels(skin, &[None]),
    )?;
    Ok(())
}

/// An encoder that is dropped takes neither states nor the results of lower rates with it.
fn dropped(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    stage.play(&Playing::new(stage.clip(0)))?;
    let truth = stage.figure.looped(0, 0.0);
    stage.frame(0.0, [Some(0), None, None], None, &truth)?;
    stage.play(&Playing::new(stage.clip(1)).every(100))?;
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    stage.crowd.set_clock(0.5);
    stage.crowd.encode(&mut encoder)?;
    drop(encoder);
    let truth = stage.figure.looped(1, 0.75);
    stage.frame(0.75, [Some(1), None, None], None, &truth)?;
    // A pose that a dropped encoder should have kept is lost: the fade from it ends at once.
    stage.play(&Playing::new(stage.clip(2)).fade(0.5))?;
    stage.crowd.set_clock(1.0);
    stage.crowd.submit()?;
    stage.play(&Playing::new(stage.clip(3)).fade(0.5))?;
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    stage.crowd.encode(&mut encoder)?;
    drop(encoder);
    let truth = stage.figure.looped(3, 0.25);
    stage.frame(1.25, [Some(3), None, None], None, &truth)?;
    // The next one is kept again.
    stage.play(&Playing::new(stage.clip(0)).fade(1.0))?;
    stage.crowd.set_clock(1.5);
    stage.crowd.submit()?;
    stage.play(&Playing::new(stage.clip(1)).fade(1.0))?;
    let (a, b) = (stage.figure.looped(3, 0.5), stage.figure.looped(0, 0.25));
    let from = a.to(&b, 0.25);
    let player = stage.crowd.player(stage.member.rig);
    ensure(player.snapshot != NONE, "no snapshot")?;
    let held = Mirrored::from(&from);
    let truth = from.to(&stage.figure.looped(1, 0.5), 0.5);
    stage.frame(2.0, [Some(1), None, None], Some(&held), &truth)?;
    Ok(())
}

fn rebuilt(gpu: &Gpu) -> Result<(), Failure> {
    let old = gpu.another()?;
    let mut stage = Stage::linear(&old)?;
    let both = [Some(0), Some(1), None];
    stage.play(&Playing::new(stage.clip(0)))?;
    let truth = stage.figure.looped(0, 0.0);
    stage.frame(0.0, [Some(0), None, None], None, &truth)?;
    stage.play(&Playing::new(stage.clip(1)).fade(1.0))?;
    old.device.destroy();
    match stage.crowd.submit() {
        Err(GpuError::Lost(_)) => {}
        other => return Err(format!("{other:?}").into()),
    }
    match stage.crowd.add_clip(Arc::clone(&stage.figure.clips[0])) {
        Err(GpuError::Lost(_)) => {}
        other => return Err(format!("{other:?}").into()),
    }
    // The fade goes on on another device.
    let new = gpu.another()?;
    stage.crowd = stage
        .crowd
        .rebuild(&new.skinner(&SkinnerOptions::default())?)?;
    let (a, b) = (stage.figure.looped(0, 0.25), stage.figure.looped(1, 0.25));
    stage.frame(0.25, both, None, &a.to(&b, 0.25))?;
    // A fade from a snapshot ends where that pose is lost.
    stage.play(&Playing::new(stage.clip(2)).fade(1.0))?;
    stage.crowd.submit()?;
    stage.crowd = stage
        .crowd
        .rebuild(&gpu.skinner(&SkinnerOptions::default())?)?;
    let truth = stage.figure.looped(2, 0.25);
    stage.frame(0.5, [Some(2), None, None], None, &truth)?;
    // Users of clips came along.
    let clip = stage.uploaded.clips[2];
    wrong_use("no rigs that use it", stage.crowd.remove_clip(clip))?;
    stage.crowd.remove_clip(stage.uploaded.clips[0])?;
    Ok(())
}

fn played_joints(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let rig = stage.member.rig;
    ensure(
        stage.crowd.played_joints(rig)?.is_none(),
        "joints of a rig at rest",
    )?;
    stage.play(&Playing::new(stage.clip(0)).blend(stage.clip(2), 0.5))?;
    let truth = stage
        .figure
        .looped(0, 0.5)
        .to(&stage.figure.looped(2, 0.5), 0.5);
    let mirror = stage.frame(0.5, [Some(0), Some(2), None], None, &truth)?;
    ensure(
        stage.crowd.played_joints(rig)? == Some(mirror.joints),
        "other joints",
    )?;
    stage.play(&Playing::new(stage.clip(3)).fade(1.0))?;
    ensure(
        stage.crowd.played_joints(rig)?.is_none(),
        "joints of a snapshot",
    )
}

/// Figures that are spread over many pages and dispatches give the same bits.
fn small_pages(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::DualQuaternion, 12)?;
    let run = |options: &SkinnerOptions| -> Result<Vec<Vec<u32>>, Failure> {
        let mut crowd = gpu.crowd_with(options)?;
        let (uploaded, members) = many(&mut crowd, &figure, 60)?;
        crowd.submit()?;
        for (number, member) in members.iter().enumerate() {
            let playing = Playing::new(uploaded.clips[(number + 1) % 4]).fade(0.5);
            crowd.set_playing(member.rig, &playing)?;
        }
        crowd.set_clock(0.25);
        crowd.submit()?;
        for member in &members[..30] {
            crowd.set_playing(member.rig, &Playing::new(uploaded.clips[3]).fade(0.5))?;
        }
        crowd.set_clock(0.375);
        crowd.submit()?;
        bits(&mut crowd, &members)
    };
    let whole = run(&SkinnerOptions::default())?;
    let clips: usize = figure.clips.iter().map(|clip| clip.words().len() * 4).sum();
    // All clips lie in one binding.
    let few = tight(Some((clips as u64 + 1024).max(65_536)), None);
    let narrow = tight(None, Some(2));
    for options in [few, narrow] {
        ensure(
            run(&options)? == whole,
            &format!("{options:?} changes results"),
        )?;
    }
    Ok(())
}
