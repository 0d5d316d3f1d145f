//! Joint palettes for hosts that skin in a shader of their own: here the host is a loop on the CPU.

use crate::{Failure, ensure};
use glam::{DMat4, DVec3, Vec3, Vec4};
use sinew::gpu::{GpuError, PaletteRows};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::skel::SkinningMethod;

use crate::cases::{Influences, Spec};
use crate::compare::{compare, to_f64};
use crate::crowds::Run;
use crate::crowds::made::{Made, made};
use crate::host::Gpu;
use crate::tolerance;

pub const CHECKS: &[(&str, Run)] = &[
    ("palettes_skin_as_the_crowd_does", skin_as_the_crowd),
    ("palettes_keep_the_frame_before", frame_before),
    ("palettes_two_frames_in_one_submit", two_frames),
    ("palettes_of_dual_quaternions", dual_quaternions),
    ("palettes_hold_transforms", transforms),
    ("palettes_begin_with_their_first_pose", first_pose),
    ("palettes_refuse_what_does_not_fit", refused),
];

/// Matrix of three rows.
fn matrix(rows: &[Vec4], at: u32) -> [Vec4; 3] {
    [0, 1, 2].map(|i| rows[at as usize + i])
}

fn apply(m: [Vec4; 3], p: Vec4) -> Vec3 {
    Vec3::from_array(m.map(|row| row.dot(p)))
}

/// What a vertex shader would do, normals as well.
fn skinned(skin: &PackedSkin, rows: &[Vec4], at: PaletteRows) -> (Vec<Vec3>, Vec<Vec3>) {
    let influences = skin.influences().expect("skinned");
    let post = at.post.expect("of a palette");
    let one = |i: usize, p: Vec4, from: u32, out: u32, unit: bool| {
        let mut sum = [Vec4::ZERO; 3];
        for (index, weight) in influences.of_point(i) {
            let m = matrix(rows, from + 3 * u32::from(index));
            for (sum, row) in sum.iter_mut().zip(m) {
                *sum += weight * row;
            }
        }
        let p = apply(sum, p);
        let p = if unit { p.normalize_or_zero() } else { p };
        apply(matrix(rows, out), p.extend(if unit { 0.0 } else { 1.0 }))
    };
    let points = skin.points().iter().enumerate();
    let points = points.map(|(i, p)| one(i, p.extend(1.0), at.points, post, false));
    let normals = match (skin.normals(), at.normals) {
        (Some(normals), Some(from)) => normals
            .iter()
            .enumerate()
            .map(|(i, n)| one(i, n.extend(0.0), from, post + 3, true))
            .collect(),
        _ => Vec::new(),
    };
    (points.collect(), normals)
}

fn agrees(made: &Made, pose: &PackedPose, rows: &[Vec4], at: PaletteRows) -> Result<(), Failure> {
    let want = made.on_cpu(pose);
    let (points, normals) = skinned(&made.packed, rows, at);
    let points = to_f64(&points);
    compare(
        "points",
        &points,
        &to_f64(&want.points),
        tolerance::MIRROR_POINTS,
    )?;
    let want = want.normals.unwrap_or_default();
    Ok(compare(
        "normals",
        &to_f64(&normals),
        &to_f64(&want),
        tolerance::MIRROR_NORMALS,
    )?)
}

fn some() -> Result<Vec<Made>, Failure> {
    (0..7)
        .map(|i| {
            made(&Spec {
                seed: 40 + i as u64,
                points: 100,
                joints: 3 + 5 * i,
                normals: i % 3 != 1,
                own_joints: i % 2 == 0,
                influences: match i {
                    5 => Influences::Constant(2),
                    k => Influences::Vertex(k + 1),
                },
                ..Spec::default()
            })
        })
        .collect()
}

fn frame(gpu: &Gpu, palettes: &mut sinew::gpu::JointPalettes) -> Result<(), Failure> {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    palettes.encode(&mut encoder)?;
    gpu.queue.submit([encoder.finish()]);
    Ok(())
}

fn skin_as_the_crowd(gpu: &Gpu) -> Result<(), Failure> {
    let made = some()?;
    let mut palettes = gpu.skinner(&Default::default())?.joint_palettes()?;
    frame(gpu, &mut palettes)?;
    let ids: Vec<_> = made
        .iter()
        .map(|m| palettes.add(&m.packed))
        .collect::<Result<_, _>>()?;
    for (id, m) in ids.iter().zip(&made) {
        palettes.set_pose(*id, &m.pose(3))?;
    }
    frame(gpu, &mut palettes)?;
    for buffer in [palettes.buffer(), palettes.previous()] {
        // The first pose is its own previous one.
        let rows: Vec<Vec4> = gpu.read(buffer)?;
        for (id, m) in ids.iter().zip(&made) {
            agrees(m, &m.pose(3), &rows, palettes.rows(*id)?)?;
        }
    }
    Ok(())
}

fn frame_before(gpu: &Gpu) -> Result<(), Failure> {
    let made = some()?;
    let mut palettes = gpu.skinner(&Default::default())?.joint_palettes()?;
    let mut ids = Vec::new();
    for m in &made[..4] {
        ids.push(palettes.add(&m.packed)?);
    }
    // Pose of each palette in each frame; what is not posed stays.
    let mut posed = [1u64; 7];
    for (id, m) in ids.iter().zip(&made) {
        palettes.set_pose(*id, &m.pose(1))?;
    }
    frame(gpu, &mut palettes)?;
    for number in 2..6u64 {
        let before = posed;
        if number == 3 {
            // More than there was room for, and one in the place of another.
            palettes.remove(ids[1])?;
            for m in &made[4..] {
                ids.push(palettes.add(&m.packed)?);
            }
            ids[1] = palettes.add(&made[1].packed)?;
            palettes.set_pose(ids[1], &made[1].pose(1))?;
        }
        for (i, (id, m)) in ids.iter().zip(&made).enumerate() {
            let new = number == 3 && (i >= 4 || i == 1);
            if new || (number as usize + i).is_multiple_of(2) {
                posed[i] = 10 * number;
                palettes.set_pose(*id, &m.pose(posed[i]))?;
            }
        }
        frame(gpu, &mut palettes)?;
        let (now, then): (Vec<Vec4>, Vec<Vec4>) =
            (gpu.read(palettes.buffer())?, gpu.read(palettes.previous())?);
        for (i, (id, m)) in ids.iter().zip(&made).enumerate() {
            let new = number == 3 && (i >= 4 || i == 1);
            let at = palettes.rows(*id)?;
            agrees(m, &m.pose(posed[i]), &now, at)?;
            agrees(
                m,
                &m.pose(if new { posed[i] } else { before[i] }),
                &then,
                at,
            )?;
        }
    }
    // On another device (here the same), with room where there was room.
    palettes.remove(ids[2])?;
    let mut again = palettes.rebuild(&gpu.skinner(&Default::default())?)?;
    ensure(again.rows(ids[2]).is_err(), "a removed id")?;
    let third = again.add(&made[2].packed)?;
    again.set_pose(third, &made[2].pose(6))?;
    posed[2] = 6;
    frame(gpu, &mut again)?;
    let rows: Vec<Vec4> = gpu.read(again.buffer())?;
    for (i, (id, m)) in ids.iter().zip(&made).enumerate() {
        let id = if i == 2 { third } else { *id };
        agrees(m, &m.pose(posed[i]), &rows, again.rows(id)?)?;
    }
    ensure(
        again.rows(third)?.points < again.rows(ids[6])?.points,
        "no room was used again",
    )?;
    // A frame without any new pose: all stand still.
    frame(gpu, &mut palettes)?;
    let (now, then): (Vec<Vec4>, Vec<Vec4>) =
        (gpu.read(palettes.buffer())?, gpu.read(palettes.previous())?);
    let used = (palettes.rows(ids[6])?.post.expect("of a palette") + 6) as usize;
    ensure(now[..used] == then[..used], "something still moves")
}

/// A frame before the first pose is none to come from, and a cut is one no more.
fn first_pose(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&Spec::default())?;
    let mut palettes = gpu.skinner(&Default::default())?.joint_palettes()?;
    let id = palettes.add(&made.packed)?;
    frame(gpu, &mut palettes)?;
    for (seed, cut, stands_still) in [(1, false, true), (2, false, false), (3, true, true)] {
        palettes.set_pose(id, &made.pose(seed))?;
        if cut {
            palettes.reset_previous(id)?;
        }
        frame(gpu, &mut palettes)?;
        let (now, then): (Vec<Vec4>, Vec<Vec4>) =
            (gpu.read(palettes.buffer())?, gpu.read(palettes.previous())?);
        agrees(&made, &made.pose(seed), &now, palettes.rows(id)?)?;
        ensure((now == then) == stands_still, &format!("pose {seed}"))?;
    }
    palettes.remove(id)?;
    ensure(palettes.reset_previous(id).is_err(), "one that was removed")
}

fn two_frames(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&Spec::default())?;
    let mut palettes = gpu.skinner(&Default::default())?.joint_palettes()?;
    let id = palettes.add(&made.packed)?;
    palettes.set_pose(id, &made.pose(1))?;
    frame(gpu, &mut palettes)?;
    let size = palettes.buffer().size();
    let kept: Vec<wgpu::Buffer> = (0..4)
        .map(|_| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("test.kept"),
                size,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        })
        .collect();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    for (i, seed) in [2, 3].into_iter().enumerate() {
        palettes.set_pose(id, &made.pose(seed))?;
        palettes.encode(&mut encoder)?;
        encoder.copy_buffer_to_buffer(palettes.buffer(), 0, &kept[2 * i], 0, size);
        encoder.copy_buffer_to_buffer(palettes.previous(), 0, &kept[2 * i + 1], 0, size);
    }
    gpu.queue.submit([encoder.finish()]);
    let at = palettes.rows(id)?;
    for (buffer, seed) in kept.iter().zip([2, 1, 3, 2]) {
        agrees(&made, &made.pose(seed), &gpu.read::<Vec4>(buffer)?, at)?;
    }
    Ok(())
}

/// Everything that a crowd's kernel reads of a pose is there, to the bit.
fn dual_quaternions(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&Spec {
        method: SkinningMethod::DualQuaternion,
        ..Spec::default()
    })?;
    let pose = made.pose(4);
    let palette = pose.palette().expect("posed");
    let mut palettes = gpu.skinner(&Default::default())?.joint_palettes()?;
    let id = palettes.add(&made.packed)?;
    palettes.set_pose(id, &pose)?;
    frame(gpu, &mut palettes)?;
    let rows: Vec<Vec4> = gpu.read(palettes.buffer())?;
    let at = palettes.rows(id)?;
    let parts = [
        (at.points, palette.points()),
        (
            at.normals.expect("normals"),
            palette.normals().expect("normals"),
        ),
        (
            at.motions.expect("motions"),
            palette.rigid().expect("motions").motions(),
        ),
        (
            at.post.expect("post"),
            &[*pose.post(), *pose.post_normal()][..],
        ),
    ];
    for (first, want) in parts {
        let got = &rows[first as usize..first as usize + 3 * want.len()];
        ensure(got == want.as_flattened(), "rows differ")?;
    }
    ensure(
        palettes.set_pose_folded(id, &pose).is_err(),
        "folded dual quaternions",
    )
}

fn transforms(gpu: &Gpu) -> Result<(), Failure> {
    let linear = made(&Spec {
        seed: 3,
        influences: Influences::Vertex(1),
        ..Spec::default()
    })?;
    let mut palettes = gpu.skinner(&Default::default())?.joint_palettes()?;
    let (palette, id) = (palettes.add(&linear.packed)?, palettes.add_transform()?);
    let m = DMat4::from_rotation_x(0.4) * DMat4::from_translation(DVec3::new(1.0, -2.0, 0.5));
    palettes.set_transform(id, m)?;
    palettes.set_pose_folded(palette, &linear.pose(2))?;
    frame(gpu, &mut palettes)?;
    let rows: Vec<Vec4> = gpu.read(palettes.buffer())?;
    let p = Vec3::new(0.3, 0.7, -1.1);
    let at = palettes.rows(id)?;
    let got = apply(matrix(&rows, at.points), p.extend(1.0)).as_dvec3();
    let want = m.transform_point3(p.as_dvec3());
    compare("a point", &[got], &[want], tolerance::POINTS)?;
    let got = apply(matrix(&rows, at.normals.expect("normals")), p.extend(0.0)).as_dvec3();
    compare(
        "a normal",
        &[got],
        &[m.transform_vector3(p.as_dvec3())],
        tolerance::POINTS,
    )?;

    // Folded: the whole way in each joint's matrix, right for weights that sum to 1.
    let (at, pose) = (palettes.rows(palette)?, linear.pose(2));
    let skin = &linear.packed;
    let apart = skinned(skin, &rows, at).0;
    let mut seen = 0;
    for (i, p) in skin.points().iter().enumerate() {
        let (index, _) = skin
            .influences()
            .expect("skinned")
            .of_point(i)
            .next()
            .expect("one");
        let whole = apply(
            matrix(&rows, at.points + 3 * u32::from(index)),
            p.extend(1.0),
        );
        let in_skel = apply(
            pose.palette().expect("posed").points()[usize::from(index)],
            p.extend(1.0),
        );
        let want = apply(*pose.post(), in_skel.extend(1.0));
        compare(
            "folded",
            &[whole.as_dvec3()],
            &[want.as_dvec3()],
            tolerance::MIRROR_POINTS,
        )?;
        seen += usize::from(apart[i] != whole);
    }
    ensure(
        seen > 0,
        "no weight differs from 1, so nothing was told apart",
    )
}

fn refused(gpu: &Gpu) -> Result<(), Failure> {
    let a = made(&Spec::default())?;
    let other = made(&Spec {
        joints: 7,
        ..Spec::default()
    })?;
    let blends = made(&Spec {
        influences: Influences::None,
        shapes: 2,
        ..Spec::default()
    })?;
    let mut palettes = gpu.skinner(&Default::default())?.joint_palettes()?;
    let id = palettes.add(&a.packed)?;
    let lone = palettes.add_transform()?;
    let expect = |what: &str, result: Result<(), GpuError>| match result {
        Err(GpuError::Mismatch(_)) => Ok(()),
        other => Err(Failure::from(format!("{what}: {other:?}"))),
    };
    expect("another skeleton", palettes.set_pose(id, &other.pose(1)))?;
    expect("no palette", palettes.set_pose(id, &blends.pose(1)))?;
    expect("a prim that blends", palettes.add(&blends.packed).map(drop))?;
    expect(
        "a pose for a transform",
        palettes.set_pose(lone, &a.pose(1)),
    )?;
    expect(
        "a transform for a palette",
        palettes.set_transform(id, DMat4::IDENTITY),
    )?;
    palettes.remove(id)?;
    expect("a removed one", palettes.set_pose(id, &a.pose(1)))?;
    expect("removed twice", palettes.remove(id))?;
    // Beyond one binding.
    let tiny = sinew::gpu::SkinnerOptions {
        max_binding_bytes: Some(4096),
        ..Default::default()
    };
    let mut small = gpu.skinner(&tiny)?.joint_palettes()?;
    small.add(&a.packed)?;
    let error = small.add(&a.packed);
    ensure(
        matches!(error, Err(GpuError::Limit { .. })),
        &format!("{error:?}"),
    )
}
