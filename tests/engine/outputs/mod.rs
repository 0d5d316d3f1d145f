//! What instances write besides a prim's own points and normals: render vertices, tangents, made normals, previous
//! positions; and where they write it. On a device with all that the adapter gives, and on one with WebGPU's
//! default limits.

mod made_normals;
mod packing;
mod previous;
mod shown;
mod targets;
mod vertices;

use common::trials::Trial;
use common::{compare, gpu};
use libtest_mimic::Failed;
use shown::Gpu;

type Run = fn(&Gpu) -> Result<(), Failed>;
type RunOnCpu = fn() -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let mut trials = vec![Trial::test("comparer::negative", || {
        Ok(compare::self_test()?)
    })];
    for (name, run) in [vertices::ON_CPU, made_normals::ON_CPU, packing::ON_CPU].concat() {
        trials.push(Trial::test(format!("cpu::{name}"), run));
    }
    let all = [
        vertices::TRIALS,
        made_normals::TRIALS,
        targets::TRIALS,
        previous::TRIALS,
        packing::TRIALS,
    ];
    for (name, run) in all.concat() {
        for (device, open) in [
            ("adapter_limits", Gpu::shared as fn() -> Result<Gpu, Failed>),
            ("default_limits", Gpu::default_limits),
        ] {
            let trial = Trial::test(format!("{device}::{name}"), move || {
                let gpu = open()?;
                run(&gpu)?;
                gpu.check()
            });
            trials.push(trial.with_ignored_flag(ignored));
        }
    }
    trials
}
