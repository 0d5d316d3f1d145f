//! Times of clips, blends, fades and what interrupts them.

use std::sync::Arc;

use glam::BVec3;
use sinew::gpu::SkinnerOptions;
use sinew::skel::SkinningMethod;

use super::figure::{Figure, LENGTHS};
use super::show::{Ask, clip, play};
use super::stage::Stage;
use crate::check::Checks;
use crate::host::{Gpu, tight};
use crate::rng::Rng;
use crate::{Failure, ensure};

pub const CHECKS: Checks = &[
    ("clips_at_any_time", clips_at_any_time),
    ("clips_end_and_loop", clips_end_and_loop),
    ("a_fade_turns_back", turns_back),
    ("uploads_beside_it_leave_it_alone", between_posed_rigs),
    ("times_stay_exact_for_hours", hours),
    ("fades_in_every_order", every_order),
];

fn clips_at_any_time(gpu: &Gpu) -> Result<(), Failure> {
    for method in [
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    ] {
        let mut stage = Stage::one(gpu, method)?;
        for (begin, at, speed) in [
            (0.0, 0.0, 1.0),
            (7.25, 0.3, 2.5),
            (-3.5, 0.9, -0.75),
            (123.0, 0.625, 0.0),
        ] {
            stage.crowd.set_clock(begin);
            stage.play(0, &play(clip(1).at(at).speed(speed)))?;
            for step in 0..5 {
                stage.frame(begin + f64::from(step) * 0.3125)?;
            }
        }
    }
    Ok(())
}

/// The second clip's length is no number of ticks.
fn clips_end_and_loop(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let near = 1.0 / 4096.0;
    for number in [0, 1] {
        let length = f64::from(stage.clips[number].duration());
        // Forwards: before its start, at its ends, long after; backwards the same.
        for (speed, first) in [(1.0, 0.0), (-1.0, length)] {
            let clip = clip(number).at(first).speed(speed).since(Some(10.0));
            stage.play(0, &play(clip.clamps(true)))?;
            for elapsed in [-1.0, 0.0, near, length - near, length, length + near, 500.0] {
                stage.frame(10.0 + elapsed)?;
            }
            stage.play(0, &play(clip))?;
            for loops in [-1.0, 0.0, 1.0, 7.0] {
                for beside in [near, length * 0.5, length - near] {
                    stage.frame(10.0 + loops * length + beside)?;
                }
            }
        }
    }
    // The length of the first clip is exact, so its seam is the beginning, and never the end.
    ensure(LENGTHS[0] == 1.0, "another length")?;
    stage.play(0, &play(clip(0).since(Some(0.0))))?;
    [0.0, 1.0, 2.0, 100.0]
        .into_iter()
        .try_for_each(|clock| stage.frame(clock))
}

/// A clip that is asked for again while it fades out comes back from where it is.
fn turns_back(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let rig = stage.actors[0].rig;
    stage.play(0, &play(clip(0)))?;
    stage.frame(0.0)?;
    stage.play(0, &play(clip(1)).fade(1.0))?;
    stage.crowd.set_clock(0.5);
    let back = play(clip(0).keeps(true)).fade(1.0);
    stage.play(0, &back)?;
    for clock in [0.5, 0.75, 1.25] {
        stage.frame(clock)?;
    }
    // Asking again for what it fades to changes nothing.
    let player = stage.crowd.player(rig);
    stage.play(0, &back)?;
    ensure(stage.crowd.player(rig) == player, "another state")?;
    stage.frame(2.0)?;
    stage.play(0, &play(clip(0).keeps(true).speed(3.0)))?;
    stage.frame(2.25)
}

/// Host-posed rigs on both sides of one that plays at a low rate: their uploads leave it alone.
fn between_posed_rigs(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 4)?;
    let mut stage = Stage::new(gpu.crowd()?, figure, 3)?;
    stage.play(1, &play(clip(0)).every(200))?;
    for time in 0..6 {
        stage.pose(0, time)?;
        stage.pose(2, time)?;
        stage.frame(0.0)?;
        ensure(stage.actors[1].moved == (time == 0), "it was updated")?;
    }
    Ok(())
}

/// Clips that began hours ago are where f64 says, whatever the clock wraps around.
fn hours(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let second = clip(1).speed(1.5);
    stage.play(0, &play(clip(0)).blend(Some((second, 0.5))))?;
    // Each step is less than the 9 hours that ticks tell apart.
    for step in 1..=12 {
        let clock = f64::from(step) * 7.0 * 3600.0 + 0.3125;
        stage.frame(clock)?;
        stage.frame(clock)?;
    }
    let begin = stage.crowd.clock();
    stage.play(0, &play(clip(0).clamps(true)))?;
    for hours in [1.0, 8.0, 16.0, 24.0] {
        stage.frame(begin + hours * 3600.0)?;
        stage.frame(begin + hours * 3600.0)?;
    }
    Ok(())
}

/// Something to play, whose times have no rounding in ticks, and are never near the end of a clip.
fn some(rng: &mut Rng) -> Ask {
    let mut one = || {
        let number = rng.below(LENGTHS.len());
        clip(number)
            .at([0.0078125, 0.3203125][rng.below(2)])
            .speed([1.0, 1.0, 2.0, -0.5, 0.0][rng.below(5)])
            .clamps(rng.below(4) == 0)
            .keeps(number == 0 && rng.below(2) == 0)
    };
    let [first, second, third] = [one(), one(), one()];
    let weight = [0.25, 0.5, 0.75, 1.0][rng.below(4)];
    let mut ask = play(first).fade([0.0, 0.25, 0.5, 0.5, 1.0][rng.below(5)]);
    if rng.below(3) == 0 {
        ask = ask.blend(Some((second, weight)));
    }
    if rng.below(3) == 0 {
        ask = ask.add(Some((third, weight)));
    }
    let axes = |rng: &mut Rng| BVec3::new(rng.chance(0.5), rng.chance(0.5), rng.chance(0.5));
    match rng.below(6) {
        0 => ask.root_motion(axes(rng)),
        _ => ask,
    }
}

/// Figures that play, are posed, come and go at random, between frames that are dropped or not, and
/// move to another device: in one binding, in small ones, and in small dispatches. With SINEW_ALL there
/// are more seeds.
fn every_order(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let seeds = match std::env::var_os("SINEW_ALL") {
        Some(_) => 8,
        None => 1,
    };
    let pages = figure.clip_page(65_536);
    for (round, options) in [(None, None), (Some(pages), None), (None, Some(2))]
        .map(|(bytes, workgroups)| tight(bytes, workgroups))
        .iter()
        .enumerate()
    {
        for seed in 0..seeds {
            let crowd = gpu.crowd_with(options)?;
            let stage = Stage::new(crowd, Arc::clone(&figure), 3)?;
            let rng = &mut Rng::new(5 + round as u64 + 3 * seed);
            let walked = walk(gpu, stage, options, rng);
            walked.map_err(|e| format!("round {round}, seed {seed}, {e}"))?;
        }
    }
    Ok(())
}

fn walk(
    gpu: &Gpu,
    mut stage: Stage,
    options: &SkinnerOptions,
    rng: &mut Rng,
) -> Result<(), Failure> {
    for at in 0..3 {
        stage.play(at, &some(rng))?;
    }
    let mut clock = 0.0;
    for step in 0..60 {
        clock += [0.0, 0.03125, 0.125, 0.375][rng.below(4)];
        stage.crowd.set_clock(clock);
        let at = rng.below(stage.actors.len());
        match rng.below(16) {
            0 => stage.pose(at, step)?,
            1 => stage.drop_frame(gpu)?,
            2 if stage.actors.len() > 2 => stage.remove(at)?,
            2 | 3 => {
                stage.add()?;
                let last = stage.actors.len() - 1;
                if rng.below(2) == 0 {
                    stage.pose(last, step)?;
                }
                stage.play(last, &some(rng))?;
            }
            4 => stage.rebuild(&gpu.skinner(options)?)?,
            _ => stage.play(at, &some(rng))?,
        }
        if rng.below(4) > 0 {
            clock += 0.0625;
            let frame = stage.frame(clock);
            frame.map_err(|e| format!("step {step}: {e}"))?;
        }
    }
    Ok(())
}
