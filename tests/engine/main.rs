//! The engine: the checks of sinew-verify on this machine; what needs no device; its layers and shaders; and the suite's work
//! loads and peers, which its numbers rest on.

mod clips;
mod cpu;
mod culling;
mod layers;
mod posing;
mod processes;
mod shaders;
mod suite_peers;
mod suite_workloads;
mod times;

#[path = "../../benches/suite/export.rs"]
mod export;
#[path = "../../benches/suite/measure.rs"]
#[allow(dead_code, reason = "times mean nothing here")]
mod measure;
#[path = "../../benches/suite/peers/mod.rs"]
#[allow(dead_code, reason = "the suite uses the list, this test the parts")]
mod peers;
#[path = "../../benches/suite/workloads/mod.rs"]
mod workloads;

use common::gpu;
use common::trials::Trial;
use sinew_verify::Check;

fn main() {
    common::trials::run([
        ("", verified()),
        ("kernels::mirror", cpu::trials()),
        ("posing", posing::trials()),
        ("clips", clips::trials()),
        ("culling", culling::trials()),
        ("layers", layers::trials()),
        ("processes", processes::trials()),
        ("shaders", shaders::trials()),
        ("times", times::trials()),
        ("peers", suite_peers::trials()),
        ("workloads", suite_workloads::trials()),
    ])
}

/// The checks that `sinew devices --verify` runs on a user's machine.
fn verified() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let trial = |check: Check| {
        let is_ignored = ignored && check.needs_gpu();
        let trial = Trial::test(check.name().to_owned(), move || {
            let machine = match check.needs_gpu() {
                true => Some(gpu::machine()?),
                false => None,
            };
            match check.run(machine).failure {
                None => Ok(()),
                Some(failure) => Err(failure.into()),
            }
        });
        trial.with_ignored_flag(is_ignored)
    };
    sinew_verify::checks().into_iter().map(trial).collect()
}
