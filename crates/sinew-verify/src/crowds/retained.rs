//! Frames that are kept: what is uploaded again, and that nothing is missing for it.

use crate::{Failure, ensure};
use sinew::gpu::{Crowd, InstancePose};
use sinew::kernel::PackedPose;
use sinew::skel::Pose;

use crate::cases::Spec;
use crate::check::Checks;
use crate::crowds::made::{agrees, crowd_of, made};
use crate::host::{Gpu, posed, wrong_use};

pub const CHECKS: Checks = &[
    ("retained_uploads_only_what_changed", only_what_changed),
    ("shared_palettes_are_uploaded_once", shared),
];

fn uploaded(crowd: &mut Crowd) -> Result<u64, Failure> {
    crowd.submit()?;
    Ok(crowd.last_upload_bytes())
}

fn expect(what: &str, found: u64, expected: u64) -> Result<(), Failure> {
    let text = format!("{what}: {found} bytes, and {expected} were expected");
    ensure(found == expected, &text)
}

fn only_what_changed(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default().shapes(5))?;
    let channels = made.packed.channel_count();
    // The same palette and way out with other weights.
    let with = |pose: &PackedPose, weight: f32| {
        made.posed_by(pose.palette().cloned(), vec![weight; channels])
    };
    let ids = crowd.add_instances(skin, 400)?;
    let poses: Vec<PackedPose> = (0..400).map(|i| made.pose(i)).collect();
    for (id, pose) in ids.iter().zip(&poses) {
        crowd.set_pose(*id, &with(pose, 0.5))?;
    }
    let first = uploaded(&mut crowd)?;
    ensure(first > 400 * 96, "the first frame uploads everything")?;
    expect("nothing changed", uploaded(&mut crowd)?, 0)?;

    // The same again, by the same palettes and by equal ones.
    for (id, pose) in ids.iter().zip(&poses) {
        crowd.set_pose(*id, &with(pose, 0.5))?;
        let equal = made.pose(u64::from(id.index()));
        crowd.set_pose(*id, &with(&equal, 0.5))?;
    }
    expect("equal poses", uploaded(&mut crowd)?, 0)?;

    for (id, pose) in ids.iter().zip(&poses) {
        crowd.set_pose(*id, &with(pose, 0.25))?;
    }
    let all = 400 * channels as u64 * 4;
    expect("all weights", uploaded(&mut crowd)?, all)?;
    let one = with(&poses[7], 0.75);
    crowd.set_pose(ids[7], &one)?;
    expect("one's weights", uploaded(&mut crowd)?, channels as u64 * 4)?;

    // A palette of its own has blocks for points and normals.
    let entries = made.packed.palette_entry_count() as u64;
    let other = with(&made.pose(1000), 0.75);
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

/// Instances that share a palette by its id: it is uploaded once, and they move with it.
fn shared(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default())?;
    let of = |seed: u64| made.pose(seed).palette().cloned().expect("posed");
    let palette = crowd.add_palette(of(0));
    let pose = made.pose(0);
    let refer = InstancePose::Shared {
        palette,
        pose: &pose,
    };
    for _ in 0..3 {
        posed(&mut crowd, skin, refer)?;
    }
    uploaded(&mut crowd)?;
    // Nothing scales in these two, so that an entry is one matrix.
    let bytes = made.packed.palette_entry_count() as u64 * 48;
    for (what, seed, expected) in [("the same palette", 0, 0), ("another palette", 6, bytes)] {
        crowd.set_palette(palette, &of(seed))?;
        expect(what, uploaded(&mut crowd)?, expected)?;
    }
    for seed in [7, 9, 8] {
        crowd.set_palette(palette, &of(seed))?;
        let Pose {
            out_from_skel,
            channel_weights,
            ..
        } = made.unpacked(0);
        let palette = Some(of(seed));
        let want = PackedPose::with_palette(&made.packed, palette, out_from_skel, channel_weights)?;
        for got in crowd.run()? {
            agrees(&got, &made.on_cpu(&want))?;
        }
    }
    let all = crowd.instances();
    let other = self::made(&Spec::default().joints(7));
    let small = other.pose(1).palette().cloned().expect("posed");
    let refused = crowd.set_palette(palette, &small);
    wrong_use("", refused)?;
    let small = InstancePose::Shared {
        palette: crowd.add_palette(small),
        pose: &pose,
    };
    wrong_use("", crowd.set_pose(all[0], small))?;
    wrong_use("instances that use it", crowd.remove_palette(palette))?;
    for id in &all {
        crowd.set_pose(*id, &pose)?;
    }
    crowd.remove_palette(palette)?;
    let gone = "a palette of another crowd";
    wrong_use(gone, crowd.set_palette(palette, &of(1)))?;
    wrong_use(gone, crowd.remove_palette(palette))?;
    wrong_use(gone, crowd.set_pose(all[0], refer))
}
