//! Frames that are kept: what is uploaded again, and that nothing is missing for it.

use crate::{Failure, ensure};
use sinew::gpu::{Crowd, InstancePose};
use sinew::kernel::PackedPose;

use crate::cases::{self, Spec};
use crate::crowds::Run;
use crate::crowds::made::{Made, agrees, made};
use crate::host::Gpu;

pub const CHECKS: &[(&str, Run)] = &[
    ("retained_uploads_only_what_changed", only_what_changed),
    ("retained_palettes_part_and_meet", part_and_meet),
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
