//! Bounding boxes that the GPU finds, against those of the points that it wrote, to the bit.

use crate::{Failure, ensure};
use glam::{DMat4, Vec3, Vec4};
use sinew::gpu::{BoundsUse, Crowd};
use sinew::kernel::{PackedPose, Palette, bounds_on_cpu};

use crate::cases::{Influences, Spec};
use crate::check::Checks;
use crate::crowds::made::{add_posed, crowd_of, made};
use crate::host::{Gpu, posed, tight, wrong_use};

pub const CHECKS: Checks = &[
    ("boxes_in_pieces", in_pieces),
    ("boxes_of_what_is_no_number", no_numbers),
    ("boxes_come_back_late", late),
];

/// As the boxes' documentation has it.
const EMPTY: [Vec3; 2] = [Vec3::splat(f32::MAX), Vec3::splat(f32::MIN)];

fn boxes(gpu: &Gpu, crowd: &Crowd) -> Result<Vec<[Vec4; 2]>, Failure> {
    let buffer = crowd.bounds_on_gpu().ok_or("bounds are not enabled")?;
    gpu.read(buffer)
}

/// Every instance's box against its points.
fn check(gpu: &Gpu, crowd: &mut Crowd) -> Result<(), Failure> {
    let boxes = boxes(gpu, crowd)?;
    for id in crowd.instances() {
        let want = match crowd.is_hidden(id)? {
            true => EMPTY,
            false => bounds_on_cpu(&crowd.read_points(id)?).unwrap_or(EMPTY),
        };
        let got = boxes[id.index() as usize];
        let bits = |v: Vec3| v.to_array().map(f32::to_bits);
        let same = got.map(|v| bits(v.truncate())) == want.map(bits);
        ensure(
            same && got[0].w == 0.0,
            &format!("{got:?} of {id:?}, expected {want:?}"),
        )?;
    }
    Ok(())
}

/// Skins of many sizes, in bindings and dispatches that hold everything, or little.
fn in_pieces(gpu: &Gpu) -> Result<(), Failure> {
    let base = Spec::default();
    let made = [0, 1, 20, 1023, 1024, 1025, 5000]
        .map(|points| made(&base.points(points).normals(points.is_multiple_of(2))));
    for (bytes, workgroups) in [
        (None, None),
        (Some(4096), None),
        (Some(20_000), Some(3)),
        (None, Some(1)),
    ] {
        let mut crowd = gpu.crowd_with(&tight(bytes, workgroups))?;
        for made in &made {
            add_posed(
                &mut crowd,
                &made.packed,
                &[0, 1, 2].map(|seed| made.pose(seed)),
            )?;
        }
        let without = crowd.dispatch_count()?;
        crowd.enable_bounds(BoundsUse::OnGpu)?;
        // One more dispatch, and one for all boxes.
        let more = crowd.dispatch_count()? - without;
        let is_whole = bytes.or(workgroups.map(u64::from)).is_none();
        ensure(more == 2 || !is_whole, &format!("{more} dispatches"))?;
        crowd.submit()?;
        check(gpu, &mut crowd)?;
    }
    Ok(())
}

/// Points with a NaN do not count.
fn no_numbers(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) =
        crowd_of(gpu, &Spec::default().influences(Influences::Vertex(1)))?;
    crowd.enable_bounds(BoundsUse::OnGpu)?;
    for (broken, expected) in [(3..4, 10..500), (0..20, 1000..1001)] {
        let mut pose = made.unpacked(5);
        let mut joints = pose.skinning.as_deref().ok_or("not posed")?.clone();
        joints[broken].fill(DMat4::NAN);
        pose.skinning = Some(joints.clone().into());
        // A palette of the caller's own is not looked through; `PackedPose::pack` refuses this one.
        let packed = PackedPose::pack(&made.packed, &pose);
        ensure(packed.is_err(), "packed")?;
        let palette = Palette::pack(made.packed.method(), &joints, pose.geom_bind, true);
        let pose = made.posed_by(Some(palette.into()), Vec::new());
        let id = posed(&mut crowd, skin, &pose)?;
        crowd.submit()?;
        check(gpu, &mut crowd)?;
        let points = crowd.read_points(id)?;
        let count = points.iter().filter(|p| p.is_nan()).count();
        ensure(expected.contains(&count), &format!("{count} NaN"))?;
    }
    Ok(())
}

fn late(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default())?;
    let id = posed(&mut crowd, skin, &made.pose(0))?;
    wrong_use("", crowd.latest_bounds(id))?;
    crowd.enable_bounds(BoundsUse::ReadBack)?;
    ensure(crowd.latest_bounds(id)?.is_none(), "before a frame")?;
    // Frames without a poll: reading stops where the ring is full, and nothing breaks.
    let mut encoder = gpu.encoder();
    for _ in 0..10 {
        crowd.encode(&mut encoder)?;
    }
    ensure(crowd.latest_bounds(id)?.is_none(), "before a submit")?;
    gpu.queue.submit([encoder.finish()]);
    let comes = |crowd: &mut Crowd, id, wanted: Option<[Vec3; 2]>| -> Result<(), Failure> {
        gpu.wait_for(|| {
            crowd.poll()?;
            Ok((crowd.latest_bounds(id)? == wanted).then_some(()))
        })
    };
    for seed in 0..6 {
        crowd.set_pose(id, &made.pose(seed))?;
        crowd.submit()?;
        let want = bounds_on_cpu(&crowd.read_points(id)?);
        comes(&mut crowd, id, want)?;
    }
    // Another instance under its index.
    crowd.remove_instance(id)?;
    let next = crowd.add_instance(skin)?;
    ensure(next.index() == id.index(), "another index")?;
    crowd.set_pose(next, &made.pose(7))?;
    wrong_use("", crowd.latest_bounds(id))?;
    ensure(crowd.latest_bounds(next)?.is_none(), "the box of another")?;
    crowd.submit()?;
    let want = bounds_on_cpu(&crowd.read_points(next)?);
    ensure(want.is_some(), "an empty box")?;
    comes(&mut crowd, next, want)?;
    crowd.set_hidden(next, true)?;
    crowd.submit()?;
    comes(&mut crowd, next, None)?;
    crowd.enable_bounds(BoundsUse::OnGpu)?;
    wrong_use("", crowd.latest_bounds(next))
}
