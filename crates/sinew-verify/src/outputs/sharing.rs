//! Bytes of a point, and octahedral normals.

use std::sync::Arc;

use crate::{Failure, ensure};
use glam::{DVec3, Vec3};
use sinew::gpu::{Attribute, NormalFormat, OutputTarget};
use sinew::kernel::{PackedPose, PackedSkin, unpack_normal};
use sinew::skel::{InfluenceInterpolation, JointInfluences, Pose, RestNormals, Skin};

use crate::cases::{self, Spec};
use crate::compare::compare;
use crate::host::{Gpu, posed_to};
use crate::outputs::shown::{every_kind, on_cpu};
use crate::outputs::{Run, RunOnCpu};
use crate::rng::Rng;
use crate::tolerance;

pub const ON_CPU: &[(&str, RunOnCpu)] = &[("bytes_per_point_add_up", bytes)];

pub const CHECKS: &[(&str, Run)] = &[
    ("octahedral_normals", octahedral),
    ("octahedral_normals_in_a_callers_buffer", interleaved),
];

const JOINTS: usize = 24;

/// A skin with weights that sum to 1.
fn skin(influences: usize, joints: usize, normals: bool, seed: u64) -> Skin {
    let points = 700;
    let rng = &mut Rng::new(seed);
    let mut vector = |size: f32| {
        let mut one = || rng.range(-size, size);
        Vec3::new(one(), one(), one())
    };
    let rest: Vec<Vec3> = (0..points)
        .map(|_| vector(1.5) + Vec3::new(7.0, 0.0, -2.0))
        .collect();
    let mut directions: Vec<Vec3> = (0..points).map(|_| vector(1.0)).collect();
    directions[3] = Vec3::ZERO;
    directions[4] = -Vec3::Z;
    let mut picked = Vec::new();
    let mut weights = Vec::new();
    for _ in 0..points {
        let mut own: Vec<f32> = (0..influences)
            .map(|_| rng.range(0.0, 1.0).powi(2))
            .collect();
        if rng.chance(0.1) {
            own.fill(0.0);
            own[influences / 2] = 1.0;
        }
        let sum: f32 = own.iter().sum();
        weights.extend(own.iter().map(|w| w / sum));
        picked.extend((0..influences).map(|_| rng.below(joints) as i32));
    }
    let vertex = InfluenceInterpolation::Vertex;
    let influences =
        JointInfluences::new("/P", vertex, influences, &picked, weights, points, joints);
    let normals = normals.then(|| RestNormals::per_point(Arc::new(directions)));
    let influences = Some(influences.expect("valid"));
    Skin::new(
        "/P",
        Arc::new(rest),
        normals,
        influences,
        None,
        joints,
        Vec::new(),
    )
    .expect("valid")
}

fn pack(skin: &Skin) -> PackedSkin {
    PackedSkin::pack("/P", skin).expect("packs")
}

fn poses(skin: &Skin, count: usize) -> Vec<Pose> {
    (0..count as u64)
        .map(|time| cases::pose(skin, 40 + time))
        .collect()
}

fn bytes() -> Result<(), Failure> {
    let four = pack(&skin(4, 100, true, 1)).bytes_per_point();
    // Rest points and normals of 12 bytes, four palette indices of 1 and weights of 4.
    ensure(
        four.read == 44.0 && four.written == 24.0,
        "bytes of a point",
    )?;
    let wide = pack(&skin(4, 300, true, 1)).bytes_per_point();
    ensure(wide.read == 48.0, "palette indices of 2 bytes")
}

fn unit(normals: &[Vec3]) -> Vec<DVec3> {
    normals
        .iter()
        .map(|n| n.as_dvec3().normalize_or_zero())
        .collect()
}

/// Of plain skins, blended ones, render vertices, faceVarying and made normals.
fn octahedral(gpu: &Gpu) -> Result<(), Failure> {
    let targets =
        [NormalFormat::Floats, NormalFormat::Octahedral].map(|normal_format| OutputTarget {
            normal_format,
            ..OutputTarget::default()
        });
    let [want, got] = targets.map(|target| -> Result<_, Failure> {
        let mut crowd = gpu.crowd()?;
        for shown in every_kind()? {
            let id = crowd.add_skin(Arc::clone(&shown.packed))?;
            posed_to(
                &mut crowd,
                id,
                target.clone(),
                &shown.pack(&shown.poses()[0]),
            )?;
        }
        for made in [false, true] {
            let spec = Spec::default().face_varying(true).shapes(2);
            let skin = cases::skin(&spec);
            let mut packed = PackedSkin::pack("/P", &skin)?;
            if made {
                let faces: Vec<i32> = (0..900).collect();
                let faces = sinew::skel::MeshTopology::new("/P", &[3; 300], &faces, false, 1000)?;
                packed = packed.with_smooth_normals(&faces)?;
            }
            let pose = PackedPose::pack(&packed, &cases::pose(&skin, 3))?;
            let id = crowd.add_skin(Arc::new(packed))?;
            posed_to(&mut crowd, id, target.clone(), &pose)?;
        }
        Ok(crowd.run()?)
    });
    let (want, got) = (want?, got?);
    ensure(
        want.len() == got.len() && !want.is_empty(),
        "a result for each",
    )?;
    for (want, got) in want.iter().zip(&got) {
        ensure(want.points == got.points, "other points")?;
        let (want, got) = (want.normals.as_deref(), got.normals.as_deref());
        let (want, got) = (unit(want.unwrap_or_default()), got.unwrap_or_default());
        compare("normals", got, &want, tolerance::OCTAHEDRAL_NORMALS)?;
    }
    Ok(())
}

/// Sixteen bytes to a vertex: its place, and its normal.
fn interleaved(gpu: &Gpu) -> Result<(), Failure> {
    let skin = skin(4, JOINTS, true, 6);
    let packed = Arc::new(pack(&skin));
    let pose = PackedPose::pack(&packed, &poses(&skin, 1)[0])?;
    let words = packed.point_count() * 4 + 2;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let buffer = gpu.filled(words, usage, 0x5555_5555);
    let at = |offset| Attribute::In {
        buffer: buffer.clone(),
        offset,
        stride: 16,
    };
    let target = OutputTarget {
        positions: at(4),
        normals: Some(at(16)),
        normal_format: NormalFormat::Octahedral,
        ..OutputTarget::default()
    };
    let mut crowd = gpu.crowd()?;
    let id = crowd.add_skin(Arc::clone(&packed))?;
    let too_narrow = OutputTarget {
        normal_format: NormalFormat::Floats,
        ..target.clone()
    };
    let floats = crowd.add_instance_to(id, too_narrow);
    ensure(
        floats.is_err(),
        "normals of 12 bytes between places 16 bytes apart",
    )?;
    posed_to(&mut crowd, id, target, &pose)?;
    let read = crowd.run()?.remove(0);
    let found = gpu.read::<u32>(&buffer)?;
    ensure(
        found[0] == 0x5555_5555 && found[words - 1] == 0x5555_5555,
        "something else was touched",
    )?;
    let normals = read.normals.ok_or("normals were asked for")?;
    let want = on_cpu(&packed, &pose);
    compare(
        "points",
        &read.points,
        &want.points,
        tolerance::MIRROR_POINTS,
    )?;
    for (i, vertex) in found[1..words - 1].chunks_exact(4).enumerate() {
        let place = [vertex[0], vertex[1], vertex[2]].map(f32::from_bits);
        ensure(Vec3::from(place) == read.points[i], "another place")?;
        ensure(unpack_normal(vertex[3]) == normals[i], "another normal")?;
    }
    let want = unit(&want.normals.unwrap_or_default());
    compare("normals", &normals, &want, tolerance::OCTAHEDRAL_NORMALS)?;
    Ok(())
}
