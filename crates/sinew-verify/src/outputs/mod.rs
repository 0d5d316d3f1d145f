//! What instances write besides a prim's own points and normals: render vertices, tangents, made normals, previous
//! positions; and where they write it. On a device with all that the adapter gives, and on one with WebGPU's
//! default limits.

mod made_normals;
pub mod shown;
mod targets;
mod vertices;

use crate::check::{Check, Checks, Run, Subject};
use crate::crowds::made::mirror_agrees;

pub const CHECKS: &[(Subject, Checks)] = &[
    (Subject::Tangents, vertices::CHECKS),
    (Subject::SmoothNormals, made_normals::CHECKS),
    (Subject::Outputs, targets::CHECKS),
];

pub fn on_cpu() -> [Check; 2] {
    let vertices = Run::Cpu(Box::new(|| mirror_agrees(&vertices::CASES)));
    let normals = Run::Cpu(Box::new(|| mirror_agrees(&made_normals::CASES)));
    [
        (Subject::Tangents, "vertices", vertices),
        (Subject::SmoothNormals, "made_normals", normals),
    ]
    .map(|(subject, what, run)| {
        let name = format!("outputs::cpu::{what}_equal_the_reference");
        Check::new(subject, name, run)
    })
}
