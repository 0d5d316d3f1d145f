//! Crowds, apart from the kernels' arithmetic (tests/kernels.rs): instances that come and go, limits, bounds,
//! palettes, reading, lost devices.

mod blend_lists;
mod boxes;
mod instances;
mod loss;
mod made;
mod palettes;
mod posing;
mod reading;
mod repeat;
mod retained;

use common::gpu;
use libtest_mimic::{Arguments, Failed, Trial};
use made::Gpu;

/// A host keeps them where its threads reach them.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<sinew::gpu::Crowd>();
    shared::<sinew::gpu::JointPalettes>();
    shared::<sinew::gpu::Skinner>();
};

type Run = fn(&Gpu) -> Result<(), Failed>;

fn main() {
    let args = Arguments::from_args();
    let ignored = gpu::ignored();
    let mut trials: Vec<Trial> = loss::child().into_iter().collect();
    // Everything on a device with all that the adapter gives, and on one with WebGPU's default limits.
    let all = [
        instances::TRIALS,
        palettes::TRIALS,
        posing::TRIALS,
        blend_lists::TRIALS,
        boxes::TRIALS,
        reading::TRIALS,
        repeat::TRIALS,
        retained::TRIALS,
        loss::TRIALS,
    ];
    for (name, run) in all.concat() {
        for (device, open) in [
            ("adapter_limits", Gpu::shared as fn() -> Result<Gpu, Failed>),
            ("default_limits", Gpu::default_limits),
        ] {
            trials.push(
                Trial::test(format!("{device}::{name}"), move || {
                    let gpu = open()?;
                    run(&gpu)?;
                    gpu.check()
                })
                .with_ignored_flag(ignored),
            );
        }
    }
    libtest_mimic::run(&args, trials).exit();
}
