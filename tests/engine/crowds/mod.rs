//! Crowds, apart from the kernels' arithmetic (kernels.rs): instances that come and go, limits, bounds,
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
use common::trials::Trial;
use libtest_mimic::Failed;
use made::Gpu;

/// A host keeps them where its threads reach them.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<sinew::gpu::Crowd>();
    shared::<sinew::gpu::JointPalettes>();
    shared::<sinew::gpu::Skinner>();
};

type Run = fn(&Gpu) -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
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
        let impossible = name == loss::LITTLE_MEMORY && !cfg!(target_os = "linux");
        let reason = if impossible { "needs Linux" } else { "" };
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
                .with_kind(reason)
                .with_ignored_flag(ignored || impossible),
            );
        }
    }
    trials
}
