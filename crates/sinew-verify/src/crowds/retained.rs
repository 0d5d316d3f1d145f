//! Frames that are kept: what is uploaded again, and that nothing is missing for it.

use std::collections::HashMap;

use crate::{Failure, ensure};
use sinew::gpu::{
    Attribute, BoundsUse, Crowd, InstanceId, InstancePose, OutputTarget, Prewarm, SkinId,
    SkinnerOptions, pipeline_variants,
};
use sinew::kernel::PackedPose;
use sinew::skel::SkinningMethod;

use crate::cases::{self, Spec};
use crate::crowds::Run;
use crate::crowds::made::{Made, agrees, bits, crowd_of, made, twenty};
use crate::host::{Gpu, tight};
use crate::outputs::shown::without_previous;
use crate::rng::Rng;

pub const CHECKS: &[(&str, Run)] = &[
    ("retained_uploads_only_what_changed", only_what_changed),
    ("retained_palettes_part_and_meet", part_and_meet),
    ("neighbours_change_no_bits_and_compile_nothing", neighbours),
    ("retained_frames_survive_dropped_encoders", dropped_encoders),
    ("retained_frames_equal_those_made_anew", equal_anew),
];

fn uploaded(crowd: &mut Crowd) -> Result<u64, Failure> {
    crowd.submit()?;
    Ok(crowd.last_upload_bytes())
}

fn expect(what: &str, found: u64, expected: u64) -> Result<(), Failure> {
    let text = format!("{what}: {found} bytes, and {expected} were expected");
    ensure(found == expected, &text)
}

/// The same palette and way out with other weights.
fn with_weights(made: &Made, pose: &PackedPose, weights: Vec<f32>) -> PackedPose {
    let palette = pose.palette().cloned();
    PackedPose::with_palette(&made.packed, palette, glam::DMat4::IDENTITY, weights)
        .expect("sizes that fit")
}

fn only_what_changed(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&Spec::default().shapes(5))?;
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
        let equal = made.pose(u64::from(id.index()));
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
    let entries = made.packed.palette_entry_count() as u64;
    let other = with_weights(&made, &made.pose(1000), vec![0.75; channels]);
    crowd.set_pose(ids[7], &other)?;
    expect("one's palette", uploaded(&mut crowd)?, entries * 2 * 48)?;
    let moved = glam::DMat4::from_translation(glam::DVec3::X);
    for (id, pose) in ids.iter().zip(&poses) {
        let palette = match id.index() {
            7 => other.palette(),
            _ => pose.palette(),
        };
        let weights = vec![if id.index() == 7 { 0.75 } else { 0.25 }; channels];
        let pose = PackedPose::with_palette(&made.packed, palette.cloned(), moved, weights)?;
        crowd.set_pose(*id, &pose)?;
        if id.index() == 0 {
            expect("one moves", uploaded(&mut crowd)?, 96)?;
        }
    }
    expect("the rest move", uploaded(&mut crowd)?, 399 * 96)?;

    // The counts of its item and of its weights' item.
    crowd.set_hidden(ids[3], true)?;
    expect("one is hidden", uploaded(&mut crowd)?, 8)?;
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
    )?;
    agrees(&results[7], &made.on_cpu(&pose))
}

/// Instances that share palettes by id, go apart, and meet again.
fn part_and_meet(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&Spec::default())?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    let ids = crowd.add_instances(skin, 4)?;
    let palette = made.packed.palette_entry_count() as u64 * 2 * 48;
    let poses: Vec<PackedPose> = (0..8).map(|i| made.pose(i)).collect();
    let of = |seed: usize| poses[seed].palette().cloned().expect("posed");
    let shared = [crowd.add_palette(of(0)), crowd.add_palette(of(1))];
    // Which palette each instance refers to, or none; and the pose of each.
    let frame = |crowd: &mut Crowd, refer: [Option<usize>; 4], seeds: [usize; 4]| {
        for ((id, seed), palette) in ids.iter().zip(seeds).zip(refer) {
            let pose = &poses[seed];
            match palette.map(|p| shared[p]) {
                Some(palette) => {
                    crowd.set_palette(palette, &of(seed))?;
                    crowd.set_pose(*id, InstancePose::Shared { palette, pose })?;
                }
                None => crowd.set_pose(*id, pose)?,
            }
        }
        let bytes = uploaded(crowd)?;
        for (got, seed) in crowd.read(&ids)?.iter().zip(seeds) {
            agrees(got, &made.on_cpu(&made.pose(seed as u64)))?;
        }
        Ok::<u64, Failure>(bytes)
    };
    let (a, b) = (Some(0), Some(1));
    frame(&mut crowd, [a, a, a, b], [0, 0, 0, 1])?;
    // All of a palette move: it is uploaded once, with the matrices out of skeleton space that differ.
    let bytes = frame(&mut crowd, [a, a, a, b], [2, 2, 2, 1])?;
    expect("one palette and three ways out", bytes, palette + 3 * 96)?;
    // A palette alone moves, and those that refer to it with it.
    crowd.set_palette(shared[1], &of(1))?;
    expect("the same palette", uploaded(&mut crowd)?, 0)?;
    crowd.set_palette(shared[0], &of(6))?;
    expect("another palette", uploaded(&mut crowd)?, palette)?;
    for id in &ids[..3] {
        let moved = PackedPose::with_palette(
            &made.packed,
            Some(of(6)),
            cases::pose(&made.skin, 2).out_from_skel,
            Vec::new(),
        )?;
        agrees(&crowd.read(&[*id])?[0], &made.on_cpu(&moved))?;
    }
    // Some go to another palette, there and back, or have their own.
    frame(&mut crowd, [b, a, a, b], [1, 2, 2, 1])?;
    frame(&mut crowd, [a, a, a, b], [3, 3, 3, 1])?;
    frame(&mut crowd, [None; 4], [3, 4, 5, 6])?;
    frame(&mut crowd, [None, a, None, b], [7, 7, 7, 0])?;
    let in_use = crowd.remove_palette(shared[0]);
    ensure(in_use.is_err(), "a palette that is in use was removed")?;
    frame(&mut crowd, [None; 4], [7, 0, 7, 0])?;
    crowd.remove_palette(shared[0])?;
    let palette = shared[0];
    ensure(
        crowd.set_palette(palette, &of(1)).is_err()
            && crowd.remove_palette(palette).is_err()
            && crowd
                .set_pose(
                    ids[0],
                    InstancePose::Shared {
                        palette,
                        pose: &poses[0],
                    },
                )
                .is_err(),
        "a palette that was removed",
    )?;
    let other = self::made(&Spec::default().joints(7))?;
    let small = other.pose(1).palette().cloned().expect("posed");
    ensure(
        crowd.set_palette(shared[1], &small).is_err(),
        "a palette of another size",
    )?;
    let small = crowd.add_palette(small);
    let (palette, pose) = (small, &poses[0]);
    ensure(
        crowd
            .set_pose(ids[0], InstancePose::Shared { palette, pose })
            .is_err(),
        "a palette for another skin",
    )
}

/// A dual quaternion character beside others changes none of their bits, and no pipeline is compiled in a frame that was prepared.
fn neighbours(gpu: &Gpu) -> Result<(), Failure> {
    let of = |seed, method, shapes, points| {
        made(
            &Spec::default()
                .seed(seed)
                .method(method)
                .shapes(shapes)
                .points(points),
        )
    };
    let (linear, dual) = (
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    );
    let mine = [
        of(1, linear, 0, 500)?,
        of(2, linear, 4, 300)?,
        of(3, linear, 0, 20)?,
    ];
    let others = [
        of(4, dual, 0, 500)?,
        of(5, dual, 3, 200)?,
        of(6, dual, 0, 20)?,
    ];
    let add = |crowd: &mut Crowd, all: &[Made]| {
        let mut ids = Vec::new();
        for made in all {
            let skin = crowd.add_skin(made.packed.clone())?;
            for seed in 0..3 {
                let id = crowd.add_instance_to(skin, Both::target(seed == 1))?;
                crowd.set_pose(id, &made.pose(seed))?;
                ids.push(id);
            }
        }
        Ok::<Vec<InstanceId>, Failure>(ids)
    };
    let mut alone = gpu.crowd()?;
    add(&mut alone, &mine)?;
    let alone: Vec<_> = alone.run()?.iter().map(bits).collect();

    let skinner = gpu.new_skinner(&SkinnerOptions::default())?;
    let mut variants = Vec::new();
    for made in mine.iter().chain(&others) {
        for previous in [false, true] {
            let target = Both::target(previous);
            let of_skin = pipeline_variants(&made.packed, &target, Prewarm::default());
            variants.extend(of_skin);
        }
    }
    ensure(skinner.compiled() == 0, "something is compiled already")?;
    skinner.prewarm(&variants)?;
    let compiled = skinner.compiled();
    ensure(compiled > 4, &format!("{compiled} pipelines"))?;
    let mut crowd = skinner.crowd();
    add(&mut crowd, &others[..1])?;
    let ids = add(&mut crowd, &mine)?;
    add(&mut crowd, &others[1..])?;
    crowd.submit()?;
    let beside: Vec<_> = crowd.read(&ids)?.iter().map(bits).collect();
    ensure(beside == alone, "a neighbour changed bits")?;
    ensure(
        skinner.compiled() == compiled,
        &format!("{compiled} pipelines, and {} later", skinner.compiled()),
    )
}

/// What an encoder had that is never submitted comes with the next one.
fn dropped_encoders(gpu: &Gpu) -> Result<(), Failure> {
    let spec = Spec::default().shapes(3);
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

    fn add(&mut self, rng: &mut Rng) -> Result<(), Failure> {
        let (kind, previous) = (rng.below(self.made.len()), rng.below(2) == 0);
        let target = Self::target(previous);
        let id = self.crowd.add_instance_to(self.skins[kind], target)?;
        let pose = self.made[kind].pose(rng.below(1000) as u64);
        self.crowd.set_pose(id, &pose)?;
        self.members.push((id, kind, pose, false, previous));
        Ok(())
    }

    /// Changes something.
    fn change(&mut self, rng: &mut Rng) -> Result<(), Failure> {
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
                self.crowd.set_pose(self.members[one].0, &pose)?;
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
    fn anew(&self, gpu: &Gpu, options: &SkinnerOptions) -> Result<Vec<Vec<u32>>, Failure> {
        let mut crowd = gpu.crowd_with(options)?;
        let made = self.made.iter();
        let skins: Vec<SkinId> = made
            .map(|made| crowd.add_skin(made.packed.clone()))
            .collect::<Result<_, _>>()?;
        for (_, kind, pose, ..) in self.members.iter().filter(|m| !m.3) {
            let id = crowd.add_instance(skins[*kind])?;
            crowd.set_pose(id, pose)?;
        }
        Ok(crowd.run()?.iter().map(without_previous).collect())
    }
}

fn equal_anew(gpu: &Gpu) -> Result<(), Failure> {
    // Bindings that hold everything, and small ones that make many pages.
    for (round, max_binding_bytes) in [(0, None), (1, Some(16 << 10))] {
        let options = tight(max_binding_bytes, None);
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
                let text = format!(
                    "frame {frame}: instance {} has other bits",
                    member.0.index()
                );
                ensure(without_previous(got) == *want, &text)?;
                // It stands still in its first frame and after a cut; else it comes from where it was.
                let Some(previous) = &got.previous else {
                    continue;
                };
                let was = before.iter().find(|(id, _)| *id == member.0);
                let comes = was.is_some_and(|(_, was)| was == previous);
                let text = format!(
                    "frame {frame}: instance {} comes from elsewhere",
                    member.0.index()
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
