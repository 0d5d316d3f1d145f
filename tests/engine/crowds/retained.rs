//! Frames that are kept: what is uploaded again, and that nothing is missing for it.

use std::collections::HashMap;

use libtest_mimic::Failed;
use sinew::gpu::{Attribute, BoundsUse, Crowd, InstanceId, OutputTarget, SkinId, SkinnerOptions};
use sinew::kernel::PackedPose;

use crate::crowds::Run;
use crate::crowds::made::{Gpu, Made, agrees, bits, crowd_of, ensure, made, twenty};
use common::cases::{self, Spec};
use common::rng::Rng;

pub const TRIALS: &[(&str, Run)] = &[
    ("retained_uploads_only_what_changed", only_what_changed),
    ("retained_palettes_part_and_meet", part_and_meet),
    ("retained_frames_survive_dropped_encoders", dropped_encoders),
    ("retained_frames_equal_those_made_anew", equal_anew),
];

fn uploaded(crowd: &mut Crowd) -> Result<u64, Failed> {
    crowd.submit()?;
    Ok(crowd.last_upload_bytes())
}

fn expect(what: &str, found: u64, expected: u64) -> Result<(), Failed> {
    let text = format!("{what}: {found} bytes, and {expected} were expected");
    ensure(found == expected, &text)
}

/// The same palette and way out with other weights.
fn with_weights(made: &Made, pose: &PackedPose, weights: Vec<f32>) -> PackedPose {
    let palette = pose.palette().cloned();
    PackedPose::with_palette(&made.packed, palette, glam::DMat4::IDENTITY, weights)
}

fn only_what_changed(gpu: &Gpu) -> Result<(), Failed> {
    let made = made(&Spec {
        shapes: 5,
        ..Spec::default()
    })?;
    let channels = made.pose(0).channel_weights().len();
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    let ids = crowd.add_instances(skin, 400)?;
    let poses: Vec<PackedPose> = (0..400).map(|i| made.pose(i)).collect();
    for (id, pose) in ids.iter().zip(&poses) {
        crowd.set_pose(*id, &with_weights(&made, pose, vec![0.5; channels]))?;
    }
    let first = uploaded(&mut crowd)?;
    ensure(first > 400 * 96, "the first frame uploads everything")?;
    expect("nothing changed", uploaded(&mut crowd)?, 0)?;

    // The same again, by the same palettes and by equal ones.
    for (id, pose) in ids.iter().zip(&poses) {
        crowd.set_pose(*id, &with_weights(&made, pose, vec![0.5; channels]))?;
        let equal = made.pose(u64::from(id.slot()));
        crowd.set_pose(*id, &with_weights(&made, &equal, vec![0.5; channels]))?;
    }
    expect("equal poses", uploaded(&mut crowd)?, 0)?;

    for (id, pose) in ids.iter().zip(&poses) {
        crowd.set_pose(*id, &with_weights(&made, pose, vec![0.25; channels]))?;
    }
    let all = 400 * channels as u64 * 4;
    expect("all weights", uploaded(&mut crowd)?, all)?;
    let one = with_weights(&made, &poses[7], vec![0.75; channels]);
    crowd.set_pose(ids[7], &one)?;
    expect("one's weights", uploaded(&mut crowd)?, channels as u64 * 4)?;

    // A palette of its own has blocks for points and normals.
    let slots = made.packed.palette_slots() as u64;
    let other = with_weights(&made, &made.pose(1000), vec![0.75; channels]);
    crowd.set_pose(ids[7], &other)?;
    expect("one's palette", uploaded(&mut crowd)?, slots * 2 * 48)?;
    let moved = glam::DMat4::from_translation(glam::DVec3::X);
    for (id, pose) in ids.iter().zip(&poses) {
        let palette = match id.slot() {
            7 => other.palette(),
            _ => pose.palette(),
        };
        let weights = vec![if id.slot() == 7 { 0.75 } else { 0.25 }; channels];
        let pose = PackedPose::with_palette(&made.packed, palette.cloned(), moved, weights);
        crowd.set_pose(*id, &pose)?;
        if id.slot() == 0 {
            expect("one moves", uploaded(&mut crowd)?, 96)?;
        }
    }
    expect("the rest move", uploaded(&mut crowd)?, 399 * 96)?;

    // Structure: everything once.
    crowd.set_hidden(ids[3], true)?;
    ensure(uploaded(&mut crowd)? > first / 2, "another plan")?;
    crowd.set_hidden(ids[3], true)?;
    expect("hidden already", uploaded(&mut crowd)?, 0)?;
    crowd.set_pose(ids[3], &made.pose(5))?;
    expect("a hidden one's pose", uploaded(&mut crowd)?, 0)?;
    crowd.set_hidden(ids[3], false)?;
    let results = crowd.run()?;
    agrees(&results[3], &made.on_cpu(&made.pose(5)))?;
    let pose = PackedPose::with_palette(
        &made.packed,
        other.palette().cloned(),
        moved,
        vec![0.75; channels],
    );
    agrees(&results[7], &made.on_cpu(&pose))
}

/// Instances that share a palette, go apart, and meet again.
fn part_and_meet(gpu: &Gpu) -> Result<(), Failed> {
    let made = made(&Spec::default())?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    let ids = crowd.add_instances(skin, 4)?;
    let slots = made.packed.palette_slots() as u64;
    let palette = slots * 2 * 48;
    let plan = |seeds: [usize; 4], poses: &[PackedPose], crowd: &mut Crowd| {
        for (id, seed) in ids.iter().zip(seeds) {
            crowd.set_pose(*id, &poses[seed])?;
        }
        let bytes = uploaded(crowd)?;
        for (got, seed) in crowd.read(&ids)?.iter().zip(seeds) {
            agrees(got, &made.on_cpu(&made.pose(seed as u64)))?;
        }
        Ok::<u64, Failed>(bytes)
    };
    let poses: Vec<PackedPose> = (0..8).map(|i| made.pose(i)).collect();
    plan([0, 0, 0, 1], &poses, &mut crowd)?;
    // All of a palette go on to another: the plan stays, and one palette is uploaded, with the ways out that differ.
    let bytes = plan([2, 2, 2, 1], &poses, &mut crowd)?;
    ensure(
        bytes <= palette + 3 * 96,
        &format!("{bytes} bytes of one palette"),
    )?;
    // Some do, there and back.
    for id in &ids[..2] {
        crowd.set_pose(*id, &poses[5])?;
    }
    for id in &ids[..2] {
        crowd.set_pose(*id, &poses[2])?;
    }
    plan([2, 2, 2, 1], &poses, &mut crowd)?;
    plan([3, 2, 2, 1], &poses, &mut crowd)?;
    plan([3, 4, 5, 6], &poses, &mut crowd)?;
    plan([7, 7, 7, 7], &poses, &mut crowd)?;
    plan([7, 0, 7, 0], &poses, &mut crowd)?;
    // Palettes that are gone, so that others may come to lie at their addresses.
    for round in 0..20u64 {
        let shared = made.pose(round);
        crowd.set_pose(ids[0], &shared)?;
        crowd.set_pose(ids[1], &shared)?;
        drop(shared);
        crowd.set_pose(ids[1], &made.pose(round + 50))?;
        crowd.set_pose(ids[2], &made.pose(round + 60))?;
        let got = crowd.run()?;
        for (i, seed) in [round, round + 50, round + 60].into_iter().enumerate() {
            agrees(&got[i], &made.on_cpu(&made.pose(seed)))?;
        }
    }
    Ok(())
}

/// What an encoder had that is never submitted comes with the next one.
fn dropped_encoders(gpu: &Gpu) -> Result<(), Failed> {
    let spec = Spec {
        shapes: 3,
        ..Spec::default()
    };
    let (made, mut crowd, skin) = crowd_of(gpu, &spec)?;
    let ids = crowd.add_instances(skin, 3)?;
    let encoder = || gpu.device.create_command_encoder(&Default::default());
    for round in 0..6u64 {
        for (i, id) in ids.iter().enumerate() {
            crowd.set_pose(*id, &made.pose(round * 10 + i as u64))?;
        }
        let mut dropped = encoder();
        crowd.encode(&mut dropped)?;
        match round % 3 {
            0 => drop(dropped),
            1 => drop(dropped.finish()),
            _ => {
                // Another frame in it, and only of one instance.
                crowd.set_pose(ids[1], &made.pose(round * 10 + 5))?;
                crowd.encode(&mut dropped)?;
                drop(dropped);
                crowd.set_pose(ids[1], &made.pose(round * 10 + 1))?;
            }
        }
        let got = crowd.run()?;
        for (i, got) in got.iter().enumerate() {
            agrees(got, &made.on_cpu(&made.pose(round * 10 + i as u64)))?;
        }
        expect("it is all there", uploaded(&mut crowd)?, 0)?;
    }
    Ok(())
}

/// One crowd that lives, beside one that is made anew for every frame.
struct Both {
    made: Vec<Made>,
    skins: Vec<SkinId>,
    crowd: Crowd,
    /// Kind, pose, hidden, with previous positions.
    members: Vec<(InstanceId, usize, PackedPose, bool, bool)>,
}

impl Both {
    fn target(with_previous: bool) -> OutputTarget {
        OutputTarget {
            previous: with_previous.then_some(Attribute::Own),
            ..OutputTarget::default()
        }
    }

    fn add(&mut self, rng: &mut Rng) -> Result<(), Failed> {
        let (kind, previous) = (rng.below(self.made.len()), rng.below(2) == 0);
        let target = Self::target(previous);
        let id = self.crowd.add_instance_to(self.skins[kind], target)?;
        let pose = self.made[kind].pose(rng.below(1000) as u64);
        self.crowd.set_pose(id, &pose)?;
        self.members.push((id, kind, pose, false, previous));
        Ok(())
    }

    /// Changes something.
    fn change(&mut self, rng: &mut Rng) -> Result<(), Failed> {
        let one = rng.below(self.members.len());
        let kind = self.members[one].1;
        match rng.below(16) {
            0 => self.add(rng)?,
            1 if self.members.len() > 5 => {
                let (id, ..) = self.members.remove(one);
                self.crowd.remove_instance(id)?;
            }
            2 => {
                let (id, .., hidden, _) = &mut self.members[one];
                *hidden = !*hidden;
                self.crowd.set_hidden(*id, *hidden)?;
            }
            3 => {
                let (id, .., previous) = &mut self.members[one];
                *previous = !*previous;
                self.crowd.set_target(*id, Self::target(*previous))?;
            }
            4 => self.crowd.reset_previous(self.members[one].0)?,
            5 => self.crowd.enable_bounds(BoundsUse::OnGpu)?,
            6 => self.crowd.disable_bounds(),
            7 => self.crowd.reserve_instances(self.skins[kind], 40)?,
            // Another of its kind has the same palette from now on.
            8..11 => {
                let pose = self.made[kind].pose(rng.below(1000) as u64);
                for member in self.members.iter_mut().filter(|m| m.1 == kind) {
                    self.crowd.set_pose(member.0, &pose)?;
                    member.2 = pose.clone();
                }
            }
            11 | 12 => {
                let pose = self.made[kind].pose(rng.below(1000) as u64);
                self.crowd.set_pose(self.members[one].0, &pose)?;
                self.members[one].2 = pose;
            }
            13 | 14 => {
                let seed = rng.below(1000) as u64;
                let pose = cases::pose(&self.made[kind].skin, seed);
                self.crowd.update_pose(self.members[one].0, &pose)?;
                self.members[one].2 = self.made[kind].pose(seed);
            }
            // All that are shown, where they are kept.
            _ => {
                let seed = rng.below(1000) as u64;
                let (made, members) = (&self.made, &mut self.members);
                let kinds: HashMap<InstanceId, usize> =
                    members.iter().map(|m| (m.0, m.1)).collect();
                self.crowd.update_poses(|id, pose| {
                    *pose = cases::pose(&made[kinds[&id]].skin, seed);
                    Ok::<_, String>(true)
                })?;
                for member in members.iter_mut().filter(|m| !m.3) {
                    member.2 = made[member.1].pose(seed);
                }
            }
        }
        Ok(())
    }

    /// What a crowd has that was made for this frame alone.
    fn anew(&self, gpu: &Gpu, options: &SkinnerOptions) -> Result<Vec<Vec<u32>>, Failed> {
        let mut crowd = gpu.crowd_with(options)?;
        let made = self.made.iter();
        let skins: Vec<SkinId> = made
            .map(|made| crowd.add_skin(made.packed.clone()))
            .collect::<Result<_, _>>()?;
        for (_, kind, pose, ..) in self.members.iter().filter(|m| !m.3) {
            let id = crowd.add_instance(skins[*kind])?;
            crowd.set_pose(id, pose)?;
        }
        Ok(crowd.run()?.iter().map(bits).collect())
    }
}

fn equal_anew(gpu: &Gpu) -> Result<(), Failed> {
    // Bindings that hold everything, and small ones that make many pages.
    for (round, max_binding_bytes) in [(0, None), (1, Some(16 << 10))] {
        let options = SkinnerOptions {
            max_binding_bytes,
            ..SkinnerOptions::default()
        };
        let rng = &mut Rng::new(71 + round);
        let mut crowd = gpu.crowd_with(&options)?;
        let made: Vec<Made> = twenty()?.into_iter().step_by(2).collect();
        let skins = made.iter().map(|m| crowd.add_skin(m.packed.clone()));
        let skins = skins.collect::<Result<_, _>>()?;
        let mut both = Both {
            made,
            skins,
            crowd,
            members: Vec::new(),
        };
        for _ in 0..30 {
            both.add(rng)?;
        }
        // Positions of the frame before, by instance.
        let mut before: Vec<(InstanceId, Vec<glam::Vec3>)> = Vec::new();
        let mut empty_frames = 0;
        for frame in 0..25 {
            // Frames without a change too.
            for _ in 0..rng.below(4) {
                both.change(rng)?;
            }
            let got = both.crowd.run()?;
            empty_frames += u32::from(both.crowd.last_upload_bytes() == 0);
            let want = both.anew(gpu, &options)?;
            let shown: Vec<_> = both.members.iter().filter(|m| !m.3).collect();
            ensure(got.len() == want.len(), "another number of results")?;
            for ((got, want), member) in got.iter().zip(&want).zip(&shown) {
                let text = format!("frame {frame}: slot {} has other bits", member.0.slot());
                ensure(bits(got) == *want, &text)?;
                // It stands still in its first frame and after a cut; else it comes from where it was.
                let Some(previous) = &got.previous else {
                    continue;
                };
                let was = before.iter().find(|(id, _)| *id == member.0);
                let comes = was.is_some_and(|(_, was)| was == previous);
                let text = format!(
                    "frame {frame}: slot {} comes from elsewhere",
                    member.0.slot()
                );
                ensure(comes || *previous == got.points, &text)?;
            }
            let ids = shown.iter().map(|member| member.0);
            before = ids.zip(got.into_iter().map(|got| got.points)).collect();
        }
        ensure(empty_frames > 0, "every frame uploaded something")?;
    }
    Ok(())
}
