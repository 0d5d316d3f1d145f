//! Render vertices with normals and tangents: reference, mirror and GPU.

use crate::{Failure, ensure};
use glam::Vec4;
use sinew::gpu::Crowd;
use sinew::kernel::PackedSkin;
use sinew::mesh::RenderVertices;

use crate::cases::{self, Spec};
use crate::compare::compare;
use crate::crowds::made::{add_posed, prewarmed, run_twice, same_in_pieces};
use crate::host::{Gpu, tight};
use crate::outputs::shown::{every_kind, on_cpu};
use crate::outputs::{Run, RunOnCpu};
use crate::tolerance;

pub const ON_CPU: &[(&str, RunOnCpu)] = &[
    ("vertices_equal_the_reference", mirror),
    ("wrong_vertices_are_refused", refused),
];

pub const CHECKS: &[(&str, Run)] = &[
    ("vertices_equal_the_reference", on_gpu),
    ("vertices_chunked_by_bindings", chunked),
    ("dispatches_do_not_grow_with_instances", dispatches),
];

fn mirror() -> Result<(), Failure> {
    for shown in every_kind()? {
        for pose in shown.poses() {
            let got = on_cpu(&shown.packed, &shown.pack(&pose));
            shown.agrees_with_reference(&got, &pose)?;
        }
    }
    Ok(())
}

/// A crowd of all.
fn fill(mut crowd: Crowd) -> Result<Crowd, Failure> {
    for shown in every_kind()? {
        let poses = shown.poses().map(|pose| shown.pack(&pose));
        add_posed(&mut crowd, &shown.packed, &poses)?;
    }
    Ok(crowd)
}

fn on_gpu(gpu: &Gpu) -> Result<(), Failure> {
    let mut results = run_twice(gpu, fill(gpu.crowd()?)?)?.into_iter();
    for shown in every_kind()? {
        for pose in shown.poses() {
            let got = results.next().ok_or("a result for each")?;
            shown.agrees_with_reference(&got, &pose)?;
        }
    }
    ensure(results.next().is_none(), "no more results than instances")
}

fn chunked(gpu: &Gpu) -> Result<(), Failure> {
    let small = [4096, 20_000].map(|bytes| tight(Some(bytes), Some(3)));
    same_in_pieces(gpu, &small, fill)
}

/// One for weights, and one for each pipeline that skins, however many instances there are.
fn dispatches(gpu: &Gpu) -> Result<(), Failure> {
    let (_, most) = prewarmed(gpu, every_kind()?.iter().map(|shown| &shown.packed))?;
    let mut crowd = gpu.crowd()?;
    let mut counts = Vec::new();
    for _ in 0..2 {
        crowd = fill(crowd)?;
        counts.push(crowd.dispatch_count()?);
    }
    let text = format!("{counts:?} dispatches, {most} pipelines");
    ensure(
        counts[0] == counts[1] && (2..=most).contains(&counts[0]),
        &text,
    )
}

fn refused() -> Result<(), Failure> {
    let spec = Spec::default().points(10);
    let plain = PackedSkin::pack("/Case", &cases::skin(&spec))?;
    let corners = spec.face_varying(true);
    let corners = PackedSkin::pack("/Case", &cases::skin(&corners))?;
    let bare = spec.normals(false);
    let bare = PackedSkin::pack("/Case", &cases::skin(&bare))?;
    let new = RenderVertices::new;
    let other = corners.normal_points().ok_or("corners")?[0] + 1;
    for (skin, vertices, words) in [
        (&plain, new(vec![0, 10]), "point 10 at vertex 1"),
        (&corners, new(vec![0, 1]), "one per face corner"),
        (
            &corners,
            new(vec![other]).with_normals(vec![0]),
            "normal 0 at vertex 0",
        ),
        (
            &corners,
            new(vec![0]).with_normals(vec![9999]),
            "normal 9999",
        ),
        (
            &plain,
            new(vec![0, 1]).with_normals(vec![0, 2]),
            "normal 2 at vertex 1",
        ),
        (
            &plain,
            new(vec![0, 1]).with_normals(vec![0]),
            "found 1 normals",
        ),
        (
            &bare,
            new(vec![0]).with_normals(vec![0]),
            "a skin with rest normals",
        ),
        (
            &plain,
            new(vec![0]).with_tangents(vec![]),
            "found 0 tangents",
        ),
        (
            &plain,
            new(vec![0]).with_tangents(vec![Vec4::NAN]),
            "finite tangents",
        ),
    ] {
        let error = skin.clone().with_vertices(vertices).map(drop).unwrap_err();
        ensure(
            error.to_string().contains(words),
            &format!("{error} names {words}"),
        )?;
    }
    // Every vertex of a point has its place.
    let twice = plain.clone().with_vertices(new(vec![3, 3]))?;
    let pose = cases::pose(&cases::skin(&spec), 1);
    let pose = sinew::kernel::PackedPose::pack(&twice, &pose)?;
    let (two, all) = (on_cpu(&twice, &pose), on_cpu(&plain, &pose));
    compare(
        "points",
        &two.points,
        &[all.points[3]; 2],
        tolerance::EXTENT,
    )?;
    Ok(())
}
