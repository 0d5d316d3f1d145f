//! Bounding boxes that the GPU finds, against those of the points that it wrote, to the bit.

use crate::{Failure, ensure};
use glam::{DMat4, Vec3, Vec4};
use sinew::gpu::{Attribute, BoundsUse, Crowd, InstanceId, OutputTarget};
use sinew::kernel::{PackedPose, Palette, bounds_on_cpu};
use sinew::skel::Pose;

use crate::cases::{self, Influences, Spec};
use crate::crowds::Run;
use crate::crowds::made::{crowd_of, made, twenty};
use crate::host::{Gpu, posed, posed_to, tight, wrong_use};

pub const CHECKS: &[(&str, Run)] = &[
    ("boxes_enclose_what_was_written", everything),
    ("boxes_in_pieces", in_pieces),
    ("boxes_of_the_callers_buffers", callers),
    ("boxes_of_what_is_no_number", no_numbers),
    ("boxes_come_back_late", late),
    ("boxes_of_nothing", nothing),
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

/// Skins of all sizes and kinds, each three times.
fn fill(crowd: &mut Crowd) -> Result<Vec<(InstanceId, PackedPose, PackedPose)>, Failure> {
    let mut all = twenty()?;
    for points in [0, 1, 1023, 1024, 1025, 5000] {
        all.push(made(
            &Spec::default()
                .seed(7 + points as u64)
                .points(points)
                .normals(points % 2 == 0),
        )?);
    }
    let mut out = Vec::new();
    for made in &all {
        let skin = crowd.add_skin(made.packed.clone())?;
        for seed in 0..3 {
            let id = posed(crowd, skin, &made.pose(seed))?;
            out.push((id, made.pose(seed), made.pose(50 + seed)));
        }
    }
    Ok(out)
}

fn everything(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    let ids = fill(&mut crowd)?;
    let without = crowd.dispatch_count()?;
    crowd.enable_bounds(BoundsUse::OnGpu)?;
    ensure(
        crowd.dispatch_count()? == without + 2,
        "one more dispatch, and one for all boxes",
    )?;
    crowd.submit()?;
    check(gpu, &mut crowd)?;
    // Other poses, fewer instances: nothing of the frame before is left.
    for (i, (id, _, other)) in ids.iter().enumerate() {
        match i % 4 {
            0 => crowd.set_hidden(*id, true)?,
            1 => crowd.remove_instance(*id)?,
            _ => crowd.set_pose(*id, other)?,
        }
    }
    crowd.submit()?;
    check(gpu, &mut crowd)?;
    let boxes = boxes(gpu, &crowd)?;
    let removed = boxes[ids[1].0.index() as usize].map(Vec4::truncate);
    ensure(removed == EMPTY, "a removed instance has a box")?;
    let finite = boxes.iter().filter(|b| b[0].x < b[1].x).count();
    ensure(finite > 30, &format!("{finite} boxes"))
}

fn in_pieces(gpu: &Gpu) -> Result<(), Failure> {
    for (bytes, workgroups) in [(Some(4096), None), (Some(20_000), Some(3)), (None, Some(1))] {
        let options = tight(bytes, workgroups);
        let mut crowd = gpu.skinner(&options)?.crowd();
        fill(&mut crowd)?;
        crowd.enable_bounds(BoundsUse::OnGpu)?;
        crowd.submit()?;
        check(gpu, &mut crowd)?;
    }
    Ok(())
}

/// Interleaved, in a buffer that one binding holds and in one that it does not.
fn callers(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&Spec::default())?;
    let buffer = gpu.filled(
        24_016,
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        0,
    );
    for most_bytes in [None, Some(40_000)] {
        let mut crowd = gpu.crowd_with(&tight(most_bytes, None))?;
        crowd.enable_bounds(BoundsUse::ReadBack)?;
        let skin = crowd.add_skin(made.packed.clone())?;
        for i in 0..3 {
            let part = |offset: u64| Attribute::In {
                buffer: buffer.clone(),
                offset: 64 + 32_000 * i + offset,
                stride: 32,
            };
            let target = OutputTarget {
                positions: part(4),
                normals: Some(part(16)),
                ..OutputTarget::default()
            };
            posed_to(&mut crowd, skin, target, &made.pose(i))?;
        }
        posed(&mut crowd, skin, &made.pose(9))?;
        crowd.submit()?;
        check(gpu, &mut crowd)?;
        let distinct = boxes(gpu, &crowd)?;
        ensure(
            distinct[0] != distinct[1] && distinct[1] != distinct[3],
            "boxes of one pose",
        )?;
    }
    Ok(())
}

/// Points with a NaN do not count.
fn no_numbers(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&Spec::default().influences(Influences::Vertex(1)))?;
    let mut crowd = gpu.crowd()?;
    crowd.enable_bounds(BoundsUse::OnGpu)?;
    let skin = crowd.add_skin(made.packed.clone())?;
    let mut nan_counts = Vec::new();
    for broken in [&[3usize][..], &(0..20).collect::<Vec<_>>()] {
        let pose = cases::pose(&made.skin, 5);
        let mut joints = pose.skinning.as_deref().expect("posed").clone();
        for joint in broken {
            joints[*joint] = DMat4::from_cols_array(&[f64::NAN; 16]);
        }
        let broken_pose = Pose {
            skinning: Some(joints.clone().into()),
            ..pose.clone()
        };
        // A palette of the caller's own is not looked through; `PackedPose::pack` refuses this one.
        ensure(
            PackedPose::pack(&made.packed, &broken_pose).is_err(),
            "packed",
        )?;
        let palette = Palette::pack(
            made.packed.method(),
            &joints,
            pose.geom_bind,
            made.packed.normals().is_some(),
        );
        let packed = PackedPose::with_palette(
            &made.packed,
            Some(palette.into()),
            pose.out_from_skel,
            pose.channel_weights,
        )?;
        let id = posed(&mut crowd, skin, &packed)?;
        crowd.submit()?;
        check(gpu, &mut crowd)?;
        let points = crowd.read_points(id)?;
        nan_counts.push(points.iter().filter(|p| p.is_nan()).count());
    }
    ensure(
        nan_counts[0] > 10 && nan_counts[0] < 500,
        &format!("{nan_counts:?}"),
    )?;
    ensure(nan_counts[1] == 1000, &format!("{nan_counts:?}"))
}

fn late(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default())?;
    let id = posed(&mut crowd, skin, &made.pose(0))?;
    ensure(
        crowd.latest_bounds(id).is_err(),
        "bounds that are not enabled",
    )?;
    crowd.enable_bounds(BoundsUse::ReadBack)?;
    ensure(crowd.latest_bounds(id)?.is_none(), "before a frame")?;
    // Frames without a poll: reading stops where the ring is full, and nothing breaks.
    let mut encoders = Vec::new();
    for _ in 0..10 {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        crowd.encode(&mut encoder)?;
        encoders.push(encoder);
    }
    ensure(crowd.latest_bounds(id)?.is_none(), "before a submit")?;
    gpu.queue.submit(encoders.into_iter().map(|e| e.finish()));
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
    ensure(
        crowd.latest_bounds(id).is_err(),
        "bounds of what is removed",
    )?;
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

fn nothing(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    crowd.enable_bounds(BoundsUse::ReadBack)?;
    crowd.submit()?;
    let made = made(&Spec::default().points(0))?;
    let skin = crowd.add_skin(made.packed.clone())?;
    let id = posed(&mut crowd, skin, &made.pose(1))?;
    crowd.submit()?;
    check(gpu, &mut crowd)?;
    gpu.finish()?;
    ensure(crowd.latest_bounds(id)?.is_none(), "a box of nothing")?;
    crowd.disable_bounds();
    ensure(crowd.bounds_on_gpu().is_none(), "they are off")
}
