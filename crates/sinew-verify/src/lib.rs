//! Checks every kernel of sinew on one GPU adapter: against the CPU mirror (the same packed bytes, in f32), against the f64
//! reference ([`sinew::skel::reference`]), and against rules that no arithmetic decides (limits, growth, loss of a device).
//!
//! The tests of sinew run these checks on the machine that they are on, and `sinew devices --verify` runs them on a user's.
//! [`checks`] lists them, [`Machine`] is the adapter that they run on, and [`rates`] measures how fast each kernel is there.
//!
//! ```no_run
//! use sinew::gpu::AdapterChoice;
//! use sinew_verify::{Machine, checks};
//!
//! let machine = Machine::open(&AdapterChoice::Any)?;
//! for check in checks() {
//!     let outcome = check.run(Some(&machine));
//!     println!("{} {:?}", check.name(), outcome.failure);
//! }
//! # Ok::<(), sinew::gpu::GpuError>(())
//! ```

// What sinew's own tests share with the checks is hidden: it changes with them.
#[doc(hidden)]
pub mod cases;
mod check;
mod clips;
#[doc(hidden)]
pub mod compare;
mod crowds;
mod failure;
#[doc(hidden)]
pub mod host;
mod kernels;
mod measured;
mod outputs;
mod playing;
#[doc(hidden)]
pub mod posing;
pub mod rates;
pub mod report;
#[doc(hidden)]
pub mod rng;
#[doc(hidden)]
pub mod tolerance;

use check::Run;
pub use check::{Check, Machine, Outcome, Subject};
#[doc(hidden)]
pub use crowds::made;
pub use failure::Failure;
#[doc(hidden)]
pub use failure::ensure;
pub use measured::Measured;

/// All checks, those of one subject beside each other's. Those of most modules run twice: with the adapter's limits
/// (`module::adapter_limits::name`), and with WebGPU's (`module::default_limits::name`).
#[must_use]
pub fn checks() -> Vec<Check> {
    let mut all = kernels::checks();
    all.extend(clips::checks());
    all.extend(outputs::on_cpu());
    for (module, lists) in [
        ("kernels::gpu", kernels::CHECKS),
        ("posing", posing::CHECKS),
        ("playing", playing::CHECKS),
        ("outputs", outputs::CHECKS),
        ("crowds", crowds::CHECKS),
    ] {
        for (subject, list) in lists {
            for (name, run) in *list {
                for (limits, on) in [
                    ("adapter", Run::AdapterLimits(Box::new(*run))),
                    ("default", Run::DefaultLimits(Box::new(*run))),
                ] {
                    let name = format!("{module}::{limits}_limits::{name}");
                    all.push(Check::new(*subject, name, on));
                }
            }
        }
    }
    all
}
