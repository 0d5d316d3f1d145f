//! What instances write besides a prim's own points and normals: render vertices, tangents, made normals, previous
//! positions; and where they write it. On a device with all that the adapter gives, and on one with WebGPU's
//! default limits.

mod made_normals;
mod sharing;
pub mod shown;
mod targets;
mod vertices;

use crate::host::Gpu;
use crate::{Check, Failure, Subject};

type Run = fn(&Gpu) -> Result<(), Failure>;
type RunOnCpu = fn() -> Result<(), Failure>;

pub fn checks() -> Vec<Check> {
    let mut checks = Vec::new();
    let on_cpu = [
        (Subject::Tangents, vertices::ON_CPU),
        (Subject::SmoothNormals, made_normals::ON_CPU),
    ];
    for (subject, list) in on_cpu {
        for (name, run) in list {
            checks.push(Check::cpu(subject, format!("outputs::cpu::{name}"), *run));
        }
    }
    let on_gpu = [
        (Subject::Tangents, vertices::CHECKS),
        (Subject::SmoothNormals, made_normals::CHECKS),
        (Subject::Outputs, targets::CHECKS),
        (Subject::Outputs, sharing::CHECKS),
    ];
    for (subject, list) in on_gpu {
        for (name, run) in list {
            checks.extend(Check::with_both_limits(subject, "outputs", name, *run));
        }
    }
    checks
}
