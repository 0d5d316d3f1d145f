//! Octahedral normals.

use std::sync::Arc;

use crate::{Failure, ensure};
use glam::{DVec3, Vec3};
use sinew::gpu::{Attribute, NormalFormat, OutputTarget};
use sinew::kernel::unpack_normal;
use sinew::skel::MeshTopology;

use crate::cases::Spec;
use crate::compare::compare;
use crate::crowds::made::{crowd_of, made};
use crate::host::{Gpu, posed_to};
use crate::outputs::Run;
use crate::outputs::shown::every_kind;
use crate::tolerance;

pub const CHECKS: &[(&str, Run)] = &[
    ("octahedral_normals", octahedral),
    ("octahedral_normals_in_a_callers_buffer", interleaved),
];

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
            posed_to(&mut crowd, id, target.clone(), &shown.pose(7))?;
        }
        let corners = made(&Spec::default().face_varying(true).shapes(2))?;
        let faces: Vec<i32> = (0..900).collect();
        let faces = MeshTopology::new("/P", &[3; 300], &faces, false, 1000)?;
        for made in [corners.clone(), corners.with_faces(faces)?] {
            let id = crowd.add_skin(Arc::clone(&made.packed))?;
            posed_to(&mut crowd, id, target.clone(), &made.pose(3))?;
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
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default())?;
    let (packed, pose) = (&made.packed, made.pose(1));
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
    let too_narrow = OutputTarget {
        normal_format: NormalFormat::Floats,
        ..target.clone()
    };
    let floats = crowd.add_instance_to(skin, too_narrow);
    ensure(
        floats.is_err(),
        "normals of 12 bytes between places 16 bytes apart",
    )?;
    posed_to(&mut crowd, skin, target, &pose)?;
    let read = crowd.run()?.remove(0);
    let found = gpu.read::<u32>(&buffer)?;
    ensure(
        found[0] == 0x5555_5555 && found[words - 1] == 0x5555_5555,
        "something else was touched",
    )?;
    let normals = read.normals.ok_or("normals were asked for")?;
    let want = made.on_cpu(&pose);
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
