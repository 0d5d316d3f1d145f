//! Times of clips, blends, fades and what interrupts them.

use glam::BVec3;
use sinew::gpu::{Crowd, PlayedClip, Playing};
use sinew::skel::SkinningMethod;

use super::Run;
use super::figure::{Figure, Member, Mirrored, Truth, Uploaded};
use crate::host::Gpu;
use crate::{Failure, ensure};

pub const CHECKS: &[(&str, Run)] = &[
    ("clips_at_any_time", clips_at_any_time),
    ("clips_end_and_loop", clips_end_and_loop),
    ("two_clips_are_blended", two_clips_are_blended),
    ("clips_fade", clips_fade),
    ("an_interrupted_fade_does_not_jump", interrupted),
    ("a_fade_turns_back", turns_back),
    ("additive_clips_come_and_go", additive),
    ("roots_stay_in_place", root_motion),
    ("a_fade_begins_at_the_hosts_pose", from_joints),
    ("uploads_beside_it_leave_it_alone", between_posed_rigs),
    ("times_stay_exact_for_hours", hours),
];

/// A crowd with one figure.
pub struct Stage {
    pub figure: Figure,
    pub crowd: Crowd,
    pub uploaded: Uploaded,
    pub member: Member,
}

impl Stage {
    pub fn new(gpu: &Gpu, method: SkinningMethod) -> Result<Self, Failure> {
        let figure = Figure::new(method, 30)?;
        let mut crowd = gpu.crowd()?;
        let uploaded = figure.upload(&mut crowd)?;
        let member = figure.add(&mut crowd, &uploaded)?;
        Ok(Self {
            figure,
            crowd,
            uploaded,
            member,
        })
    }

    pub fn linear(gpu: &Gpu) -> Result<Self, Failure> {
        Self::new(gpu, SkinningMethod::ClassicLinear)
    }

    pub fn clip(&self, number: usize) -> PlayedClip {
        PlayedClip::new(self.uploaded.clips[number])
    }

    pub fn play(&mut self, playing: &Playing) -> Result<(), Failure> {
        Ok(self.crowd.set_playing(self.member.rig, playing)?)
    }

    /// Runs a frame at a time of the clock and compares it. `numbers` are the clips of the state, and
    /// `held` the pose that it fades from.
    pub fn frame(
        &mut self,
        clock: f64,
        numbers: [Option<usize>; 3],
        held: Option<&Mirrored>,
        truth: &Truth,
    ) -> Result<Mirrored, Failure> {
        self.crowd.set_clock(clock);
        self.crowd.submit()?;
        self.compare(numbers, held, truth)
            .map_err(|e| format!("at {clock} s: {e:?}").into())
    }

    fn compare(
        &mut self,
        numbers: [Option<usize>; 3],
        held: Option<&Mirrored>,
        truth: &Truth,
    ) -> Result<Mirrored, Failure> {
        let rig = self.member.rig;
        let mirror = self.figure.mirror(&self.crowd, rig, numbers, held);
        self.figure
            .agrees(&mut self.crowd, &self.member, &mirror, Some(truth))?;
        Ok(mirror)
    }
}

const ONLY: fn(usize) -> [Option<usize>; 3] = |clip| [Some(clip), None, None];

fn clips_at_any_time(gpu: &Gpu) -> Result<(), Failure> {
    for method in [
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    ] {
        let mut stage = Stage::new(gpu, method)?;
        for (begin, at, speed) in [(0.0, 0.0, 1.0), (7.25, 0.3, 2.5), (-3.5, 0.9, -0.75)] {
            stage.crowd.set_clock(begin);
            let clip = stage.clip(1).at(at).speed(speed);
            stage.play(&Playing::new(clip))?;
            for step in 0..5 {
                let clock = begin + f64::from(step) * 0.3125;
                let time = f64::from(at) + (clock - begin) * f64::from(speed);
                let truth = stage.figure.looped(1, time);
                stage.frame(clock, ONLY(1), None, &truth)?;
            }
        }
        let clip = stage.clip(0).at(0.625).speed(0.0);
        stage.play(&Playing::new(clip))?;
        let truth = stage.figure.at(0, 0.625);
        stage.frame(123.0, ONLY(0), None, &truth)?;
    }
    Ok(())
}

/// The second clip's length is no number of ticks.
fn clips_end_and_loop(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    for clip in [0, 1] {
        let length = f64::from(stage.figure.clips[clip].duration());
        let near = 1.0 / 4096.0;
        // Forwards: before its start, at its ends, long after; backwards the same.
        for (speed, first) in [(1.0, 0.0), (-1.0, length)] {
            let held = stage
                .clip(clip)
                .at(first as f32)
                .speed(speed)
                .since(10.0)
                .clamp();
            stage.crowd.set_clock(10.0);
            stage.play(&Playing::new(held))?;
            for elapsed in [-1.0, 0.0, near, length - near, length, length + near, 500.0] {
                let time = first + elapsed * f64::from(speed);
                let truth = stage.figure.at(clip, time.clamp(0.0, length));
                stage.frame(10.0 + elapsed, ONLY(clip), None, &truth)?;
            }
            let looping = stage.clip(clip).at(first as f32).speed(speed).since(10.0);
            stage.crowd.set_clock(10.0);
            stage.play(&Playing::new(looping))?;
            for loops in [-1.0, 0.0, 1.0, 7.0] {
                for beside in [near, length * 0.5, length - near] {
                    let elapsed = loops * length + beside;
                    let truth = stage
                        .figure
                        .looped(clip, first + elapsed * f64::from(speed));
                    stage.frame(10.0 + elapsed, ONLY(clip), None, &truth)?;
                }
            }
        }
    }
    // The length of the first clip is exact, so its seam is the beginning, and never the end.
    let looping = stage.clip(0).since(0.0);
    stage.play(&Playing::new(looping))?;
    for loops in [0.0, 1.0, 2.0, 100.0] {
        let truth = stage.figure.at(0, 0.0);
        stage.frame(loops, ONLY(0), None, &truth)?;
    }
    Ok(())
}

fn two_clips_are_blended(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::new(gpu, SkinningMethod::DualQuaternion)?;
    let (first, second) = (stage.clip(0), stage.clip(2).at(0.25));
    for weight in [0.0, 0.25, 0.8, 1.0] {
        stage.crowd.set_clock(0.0);
        stage.play(&Playing::new(first).blend(second, weight))?;
        let numbers = match weight {
            0.0 => ONLY(0),
            1.0 => ONLY(2),
            _ => [Some(0), Some(2), None],
        };
        for clock in [0.0, 0.4375, 2.125] {
            let a = stage.figure.looped(0, clock);
            let b = stage.figure.looped(2, clock + 0.25);
            stage.frame(clock, numbers, None, &a.to(&b, weight.into()))?;
        }
    }
    Ok(())
}

fn clips_fade(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let truth = stage.figure.looped(0, 0.5);
    stage.play(&Playing::new(stage.clip(0)))?;
    stage.frame(0.5, ONLY(0), None, &truth)?;
    // Both go on while one fades into the other.
    stage.crowd.set_clock(1.0);
    stage.play(&Playing::new(stage.clip(1)).fade(0.5))?;
    for (clock, share) in [
        (1.0, 0.0),
        (1.125, 0.25),
        (1.375, 0.75),
        (1.5, 1.0),
        (9.0, 1.0),
    ] {
        let (a, b) = (
            stage.figure.looped(0, clock),
            stage.figure.looped(1, clock - 1.0),
        );
        let numbers = [Some(0), Some(1), None];
        stage.frame(clock, numbers, None, &a.to(&b, share))?;
    }
    // The end of one fade is the beginning of another one.
    stage.play(&Playing::new(stage.clip(2)).fade(0.25))?;
    let (a, b) = (stage.figure.looped(1, 8.125), stage.figure.looped(2, 0.125));
    stage.frame(9.125, [Some(1), Some(2), None], None, &a.to(&b, 0.5))?;
    Ok(())
}

/// A third clip interrupts a fade, and a fourth interrupts that. The frame of the interruption shows
/// what the frame before showed.
fn interrupted(gpu: &Gpu) -> Result<(), Failure> {
    for is_planned_anew in [false, true] {
        let mut stage = Stage::linear(gpu)?;
        stage.play(&Playing::new(stage.clip(0)))?;
        let truth = stage.figure.looped(0, 0.0);
        stage.frame(0.0, ONLY(0), None, &truth)?;
        stage.play(&Playing::new(stage.clip(1)).fade(0.5))?;
        let (a, b) = (
            stage.figure.looped(0, 0.1875),
            stage.figure.looped(1, 0.1875),
        );
        let both = [Some(0), Some(1), None];
        let mut before = stage.frame(0.1875, both, None, &a.to(&b, 0.375))?;
        let mut clock = 0.1875;
        for (next, fade) in [(2, 0.5), (3, 0.25), (0, 1.0)] {
            // The fade begins a while after the frame whose pose is held.
            clock += 0.03125;
            stage.crowd.set_clock(clock);
            stage.play(&Playing::new(stage.clip(next)).fade(fade as f32))?;
            if is_planned_anew {
                // Poses lie elsewhere in the next frame.
                let figure = &stage.figure;
                let other = figure.add(&mut stage.crowd, &stage.uploaded)?;
                let playing = Playing::new(stage.uploaded.clips[3]);
                stage.crowd.set_playing(other.rig, &playing)?;
            }
            let from = before.clone();
            let held = Truth::from(&from);
            for (share, is_end) in [(0.0, false), (0.375, false), (0.75, next != 3)] {
                let target = stage.figure.looped(next, fade * share);
                let truth = held.to(&target, share);
                before = stage.frame(clock + fade * share, ONLY(next), Some(&from), &truth)?;
                if is_end {
                    break;
                }
            }
            clock += fade * 0.75;
            if next == 0 {
                let truth = stage.figure.looped(0, fade + 0.5);
                stage.frame(
                    clock - fade * 0.75 + fade + 0.5,
                    ONLY(0),
                    Some(&from),
                    &truth,
                )?;
            }
        }
    }
    Ok(())
}

/// A clip that is asked for again while it fades out comes back from where it is.
fn turns_back(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    stage.play(&Playing::new(stage.clip(0)))?;
    let truth = stage.figure.looped(0, 0.0);
    stage.frame(0.0, ONLY(0), None, &truth)?;
    stage.play(&Playing::new(stage.clip(1)).fade(1.0))?;
    stage.crowd.set_clock(0.5);
    let back = Playing::new(stage.clip(0).keep_time()).fade(1.0);
    stage.play(&back)?;
    let both = [Some(0), Some(1), None];
    for (clock, share) in [(0.5, 0.5), (0.75, 0.375), (1.25, 0.125)] {
        let (a, b) = (stage.figure.looped(0, clock), stage.figure.looped(1, clock));
        stage.frame(clock, both, None, &a.to(&b, share))?;
    }
    // Asking again for what it fades to changes nothing.
    let state = stage.crowd.player(stage.member.rig);
    stage.play(&back)?;
    ensure(
        stage.crowd.player(stage.member.rig) == state,
        "another state",
    )?;
    let truth = stage.figure.looped(0, 2.0);
    stage.frame(2.0, both, None, &truth)?;
    // Another speed from the same time on, without a fade.
    stage.play(&Playing::new(stage.clip(0).keep_time().speed(3.0)))?;
    let truth = stage.figure.looped(0, 2.0 + 0.75);
    stage.frame(2.25, ONLY(0), None, &truth)?;
    Ok(())
}

fn additive(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let walk = stage.clip(0).since(0.0);
    stage.play(&Playing::new(walk))?;
    let truth = stage.figure.looped(0, 0.0);
    stage.frame(0.0, ONLY(0), None, &truth)?;
    let with = |weight: f32| {
        let breathe = PlayedClip::new(stage.uploaded.clips[3]).since(0.0);
        Playing::new(walk).add(breathe, weight).fade(0.5)
    };
    let (more, less, gone) = (with(0.75), with(0.25), Playing::new(walk).fade(0.5));
    let all = [Some(0), None, Some(3)];
    let want = |stage: &Stage, clock: f64, weight: f64| {
        let figure = &stage.figure;
        let (begin, end) = (figure.at(3, 0.0), figure.looped(3, clock));
        figure.looped(0, clock).plus(&begin, &end, weight)
    };
    let mut clock = 0.0;
    for (playing, from, to) in [(more, 0.0, 0.75), (less, 0.75, 0.25), (gone, 0.25, 0.0)] {
        stage.crowd.set_clock(clock);
        stage.play(&playing)?;
        for share in [0.0, 0.25, 1.0] {
            let truth = want(&stage, clock + 0.5 * share, from + (to - from) * share);
            stage.frame(clock + 0.5 * share, all, None, &truth)?;
        }
        clock += 0.75;
    }
    Ok(())
}

fn root_motion(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    for axes in [
        BVec3::FALSE,
        BVec3::new(false, true, false),
        BVec3::new(true, false, true),
    ] {
        stage.crowd.set_clock(0.0);
        let first = stage.clip(0);
        let playing = Playing::new(first)
            .blend(stage.clip(1), 0.5)
            .root_motion(axes);
        stage.play(&playing)?;
        for clock in [0.25, 0.8125] {
            let of = |clip: usize| {
                let mut pose = stage.figure.looped(clip, clock);
                let begin = stage.figure.at(clip, 0.0);
                for joint in 0..stage.figure.rig.joint_count() {
                    for axis in (0..3).filter(|axis| !axes.test(*axis)) {
                        if stage.figure.rig.is_root(joint) {
                            pose.joints[joint].translation[axis] =
                                begin.joints[joint].translation[axis];
                        }
                    }
                }
                pose
            };
            let truth = of(0).to(&of(1), 0.5);
            stage.frame(clock, [Some(0), Some(1), None], None, &truth)?;
        }
    }
    Ok(())
}

/// A rig that the host poses begins to play, and stops.
fn from_joints(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let rig = stage.member.rig;
    let joints = crate::posing::rigs::locals(&stage.figure.spec, 3);
    stage.crowd.set_joints(rig, &joints)?;
    ensure(!stage.crowd.is_playing(rig)?, "it plays")?;
    stage.crowd.submit()?;
    let held = Mirrored {
        joints: joints.clone(),
        weights: vec![0.0; super::figure::CHANNELS],
    };
    stage.play(&Playing::new(stage.clip(1)).fade(0.5))?;
    ensure(stage.crowd.is_playing(rig)?, "it does not play")?;
    for (clock, share) in [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0)] {
        let truth = Truth::from(&held).to(&stage.figure.looped(1, clock), share);
        stage.frame(clock, ONLY(1), Some(&held), &truth)?;
    }
    stage.crowd.set_joints(rig, &joints)?;
    ensure(!stage.crowd.is_playing(rig)?, "it still plays")?;
    stage.crowd.set_clock(0.75);
    stage.crowd.submit()?;
    // As one that never played, blend shapes included.
    let fresh = stage.figure.add(&mut stage.crowd, &stage.uploaded)?;
    let found = stage.crowd.read(&stage.member.instances)?;
    stage.crowd.set_joints(fresh.rig, &joints)?;
    stage.crowd.submit()?;
    let want = stage.crowd.read(&fresh.instances)?;
    for (found, want) in found.iter().zip(&want) {
        ensure(found.points == want.points, "another pose")?;
    }
    Ok(())
}

/// Host-posed rigs on both sides of one that plays at a low rate: their uploads leave it alone.
fn between_posed_rigs(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 4)?;
    let mut crowd = gpu.crowd()?;
    let uploaded = figure.upload(&mut crowd)?;
    let members: Vec<Member> = (0..3)
        .map(|_| figure.add(&mut crowd, &uploaded))
        .collect::<Result<_, _>>()?;
    let pose = |crowd: &mut Crowd, time: u64| -> Result<(), Failure> {
        let joints = crate::posing::rigs::locals(&figure.spec, time);
        let weight = time as f32 * 0.1;
        for member in [&members[0], &members[2]] {
            crowd.set_joints(member.rig, &joints)?;
            let weights = [weight; super::figure::CHANNELS];
            let out = super::figure::out_from_skel();
            let pose = crate::host::by_rig(member.rig, &out, &weights);
            crowd.set_pose(member.instances[1], pose)?;
        }
        Ok(())
    };
    let playing = Playing::new(uploaded.clips[0]).every(200);
    crowd.set_playing(members[1].rig, &playing)?;
    pose(&mut crowd, 0)?;
    crowd.submit()?;
    for time in 1..6 {
        pose(&mut crowd, time)?;
        crowd.submit()?;
        let mirror = figure.mirror(&crowd, members[1].rig, ONLY(0), None);
        let truth = figure.looped(0, 0.0);
        figure.agrees(&mut crowd, &members[1], &mirror, Some(&truth))?;
    }
    Ok(())
}

/// Clips that began hours ago are where f64 says, whatever the clock wraps around.
fn hours(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    stage.play(&Playing::new(stage.clip(0)).blend(stage.clip(1).speed(1.5), 0.5))?;
    let both = [Some(0), Some(1), None];
    // Each step is less than the 9 hours that ticks tell apart.
    for step in 1..=12 {
        let clock = f64::from(step) * 7.0 * 3600.0 + 0.3125;
        stage.crowd.set_clock(clock);
        stage.crowd.submit()?;
        let a = stage.figure.looped(0, clock);
        let b = stage.figure.looped(1, clock * 1.5);
        stage.frame(clock, both, None, &a.to(&b, 0.5))?;
    }
    let truth = stage.figure.at(0, 1.0);
    stage.play(&Playing::new(stage.clip(0).clamp()))?;
    let begin = stage.crowd.clock();
    for hours in [1.0, 8.0, 16.0, 24.0] {
        stage.crowd.set_clock(begin + hours * 3600.0);
        stage.crowd.submit()?;
        stage.frame(begin + hours * 3600.0, ONLY(0), None, &truth)?;
    }
    Ok(())
}
