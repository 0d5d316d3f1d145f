//! Render vertices with normals and tangents: reference, mirror and GPU.

use std::sync::LazyLock;

use crate::check::Checks;
use crate::crowds::made::{Case, add_cases, gpu_agrees, prewarmed, same_in_pieces};
use crate::host::{Gpu, tight};
use crate::outputs::shown::EVERY_KIND;
use crate::{Failure, ensure};

pub const CHECKS: Checks = &[
    ("vertices_equal_the_reference", |gpu| {
        gpu_agrees(gpu, &CASES)
    }),
    ("vertices_chunked_by_bindings", |gpu| {
        let small = [4096, 20_000].map(|bytes| tight(Some(bytes), Some(3)));
        same_in_pieces(gpu, &small, &CASES)
    }),
    ("dispatches_do_not_grow_with_instances", dispatches),
];

pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let made = EVERY_KIND.iter().cloned();
    made.map(|made| Case::new(made, [40, 41])).collect()
});

/// One for weights, and one for each pipeline that skins, however many instances there are.
fn dispatches(gpu: &Gpu) -> Result<(), Failure> {
    let (_, most) = prewarmed(gpu, EVERY_KIND.iter().map(|made| &made.packed))?;
    let mut crowd = gpu.crowd()?;
    let mut counts = Vec::new();
    for _ in 0..2 {
        add_cases(&mut crowd, &CASES)?;
        counts.push(crowd.dispatch_count()?);
    }
    let text = format!("{counts:?} dispatches, {most} pipelines");
    ensure(
        counts[0] == counts[1] && (2..=most).contains(&counts[0]),
        &text,
    )
}
