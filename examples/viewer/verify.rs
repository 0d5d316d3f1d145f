//! The engine's own checks on this GPU, as `sinew devices --verify` runs them, while the window stays alive.

use serde_json::{Value, json};
use sinew::gpu::AdapterChoice;
use sinew_verify::Machine;
use sinew_verify::rates;
use sinew_verify::report::{Report, Verified, wanted};

use super::platform::{self, Instant};

/// How far the checks are.
#[derive(Clone, Debug, PartialEq)]
pub enum Verify {
    /// So many of all checks, or kernels that are timed, are done.
    Running {
        what: &'static str,
        done: usize,
        all: usize,
    },
    Done(Box<Report>),
    /// Why nothing was checked.
    Failed(String),
}

impl Verify {
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// For scripts, and to be copied.
    pub fn json(&self) -> Value {
        match self {
            Self::Running { what, done, all } => json!({"what": what, "done": done, "all": all}),
            Self::Done(report) => json!(report),
            Self::Failed(reason) => json!({ "error": reason }),
        }
    }
}

/// Runs the checks whose names contain one of these texts, or else all of them, and then measures the kernels. `tell` is
/// called before each.
///
/// # Errors
/// No check has such a name; the adapter cannot be opened.
pub fn run(adapter: &str, names: &[String], tell: impl Fn(Verify)) -> Result<Report, String> {
    let checks = wanted(names);
    if checks.is_empty() {
        return Err(format!("{}: no check has such a name", names.join(", ")));
    }
    let began = Instant::now();
    let progress = |what, done, all| {
        tell(Verify::Running { what, done, all });
        platform::turn();
    };
    progress("checks", 0, checks.len());
    let machine = Machine::open(&AdapterChoice::Named(adapter.to_owned()));
    let machine = machine.map_err(|e| e.to_string())?;
    let gpu = machine.adapter_limits();
    let mut verified = Verified::new(gpu.opened().report());
    if verified.adapter.name.is_empty() {
        verified.adapter.name = platform::adapter_name();
    }
    for (done, check) in checks.iter().enumerate() {
        progress("checks", done, checks.len());
        verified.add(check, check.run(Some(&machine)));
    }
    if names.is_empty() {
        let (mut done, all) = (0, rates::count());
        progress("kernels timed", done, all);
        let rates = rates::rates(gpu, || {
            done += 1;
            progress("kernels timed", done, all);
        });
        match rates {
            Ok(rates) => verified.rates = rates,
            Err(e) => verified.error = Some(format!("cannot time the kernels: {e}")),
        }
    }
    verified.seconds = began.elapsed().as_secs_f64();
    Ok(Report {
        sinew: env!("CARGO_PKG_VERSION"),
        system: platform::system(),
        adapters: vec![verified],
    })
}
