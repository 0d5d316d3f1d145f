//! Render vertices with normals and tangents: reference, mirror and GPU.

use crate::{Failure, ensure};
use sinew::gpu::Crowd;

use crate::crowds::made::{crowd_of_all, prewarmed, run_twice, same_in_pieces};
use crate::host::{Gpu, tight};
use crate::outputs::shown::every_kind;
use crate::outputs::{Run, RunOnCpu};

pub const ON_CPU: &[(&str, RunOnCpu)] = &[("vertices_equal_the_reference", mirror)];

pub const CHECKS: &[(&str, Run)] = &[
    ("vertices_equal_the_reference", on_gpu),
    ("vertices_chunked_by_bindings", chunked),
    ("dispatches_do_not_grow_with_instances", dispatches),
];

const SEEDS: &[u64] = &[40, 41];

fn mirror() -> Result<(), Failure> {
    for made in every_kind()? {
        for seed in SEEDS {
            let want = made.expected(*seed)?;
            made.agrees(&want.mirror, &want)?;
        }
    }
    Ok(())
}

/// A crowd of all.
fn fill(crowd: Crowd) -> Result<Crowd, Failure> {
    crowd_of_all(crowd, every_kind()?.iter().map(|made| (made, SEEDS)))
}

fn on_gpu(gpu: &Gpu) -> Result<(), Failure> {
    let mut results = run_twice(gpu, fill(gpu.crowd()?)?)?.into_iter();
    for made in every_kind()? {
        for seed in SEEDS {
            let got = results.next().ok_or("a result for each")?;
            made.agrees(&got, &made.expected(*seed)?)?;
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
    let (_, most) = prewarmed(gpu, every_kind()?.iter().map(|made| &made.packed))?;
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
