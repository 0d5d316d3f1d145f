//! `sinew devices --verify`: the engine's own checks on the adapters of this machine.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sinew::gpu::{AdapterChoice, AdapterReport};
use sinew_verify::rates::{self, Rate};
use sinew_verify::report::{Report, Verified, wanted};
use sinew_verify::{Check, Failure, Machine, Outcome};

use super::{Args, named};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::progress::Progress;
use crate::report::{print_line, print_message, print_result, result_json, to_json};

pub fn run(adapters: &[AdapterReport], args: &Args, quiet: bool) -> Result<Exit> {
    if wanted(&args.check).is_empty() {
        let names = args.check.join(", ");
        return Err(Error::Usage(format!(
            "--check {names}: no check has such a name"
        )));
    }
    let chosen = chosen(adapters, args.adapter.as_deref())?;
    let mut report = Report {
        sinew: env!("CARGO_PKG_VERSION"),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        adapters: Vec::new(),
    };
    let mut progress = Progress::new(quiet || args.json);
    for adapter in chosen {
        let verified = verify(adapter, &args.check, &mut progress);
        if !args.json {
            progress.aside(|| -> Result<()> {
                if !quiet {
                    print_result(&format!(
                        "{}\n{}",
                        named(&verified.adapter),
                        verified.table()
                    ))?;
                }
                failures(&verified);
                Ok(())
            })?;
        }
        report.adapters.push(verified);
    }
    drop(progress);
    let exit = match report.adapters.iter().any(Verified::is_wrong) {
        true => Exit::Failed,
        false => Exit::Done,
    };
    if let Some(file) = &args.report {
        write_report(file, &report)?;
    }
    if args.json {
        print_result(&result_json("devices", exit, &report)?)?;
    }
    Ok(exit)
}

/// The adapters to check, each name once.
fn chosen<'a>(adapters: &'a [AdapterReport], name: Option<&str>) -> Result<Vec<&'a AdapterReport>> {
    let fits = |a: &AdapterReport| match name {
        Some(name) => a.name.to_lowercase().contains(&name.to_lowercase()),
        None => !a.software,
    };
    let mut out: Vec<&AdapterReport> = Vec::new();
    for adapter in adapters.iter().filter(|a| fits(a)) {
        // An adapter is opened by its name.
        if out.iter().all(|a| a.name != adapter.name) {
            out.push(adapter);
        }
    }
    if name.is_some() {
        out.truncate(1);
    }
    if !out.is_empty() {
        return Ok(out);
    }
    let there: Vec<&str> = adapters.iter().map(|a| a.name.as_str()).collect();
    if there.is_empty() {
        let text = "this machine has no GPU adapter: is a Vulkan, Metal or DX12 driver installed?";
        return Err(Error::Message(text.into()));
    }
    let there = there.join(", ");
    Err(Error::Message(match name {
        Some(name) => format!("no adapter's name contains \"{name}\"; there are: {there}"),
        None => format!(
            "this machine has no hardware adapter; choose a software adapter with --adapter: {there}"
        ),
    }))
}

fn verify(adapter: &AdapterReport, names: &[String], progress: &mut Progress) -> Verified {
    let start = Instant::now();
    progress.doing(&format!("opening {}", adapter.name));
    let mut out = Verified::new(adapter);
    match Machine::open(&AdapterChoice::Named(adapter.name.clone())) {
        Err(error) => out.error = Some(error.to_string()),
        Ok(machine) => {
            out.adapter = machine.adapter_limits().opened().report().clone();
            let checks = wanted(names);
            let outcomes = run_all(
                &checks,
                &machine,
                &format!("checking {}", adapter.name),
                progress,
            );
            for (check, outcome) in checks.iter().zip(outcomes) {
                out.add(check, outcome);
            }
            if names.is_empty() {
                match rates(&machine, &format!("timing {}", adapter.name), progress) {
                    Ok(rates) => out.rates = rates,
                    Err(error) => out.error = Some(format!("cannot time the kernels: {error}")),
                }
            }
        }
    }
    out.seconds = start.elapsed().as_secs_f64();
    out
}

fn rates(
    machine: &Machine,
    what: &str,
    progress: &mut Progress,
) -> std::result::Result<Vec<Rate>, Failure> {
    let (mut done, total) = (0, rates::count());
    progress.done(what, "kernels", done, total);
    rates::rates(machine.adapter_limits(), || {
        done += 1;
        progress.done(what, "kernels", done, total);
    })
}

/// Runs all checks on a few threads: most of the time goes into the references.
fn run_all(
    checks: &[Check],
    machine: &Machine,
    what: &str,
    progress: &mut Progress,
) -> Vec<Outcome> {
    const MOST_THREADS: usize = 8;
    let threads = rayon::current_num_threads().clamp(1, MOST_THREADS);
    let next = AtomicUsize::new(0);
    let mut outcomes: Vec<Option<Outcome>> = checks.iter().map(|_| None).collect();
    let (sender, finished) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((i, check)) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    checks.get(i).map(|check| (i, check))
                } {
                    // The receiver lives as long as the threads.
                    let _ = sender.send((i, check.run(Some(machine))));
                }
            });
        }
        drop(sender);
        for (done, (i, outcome)) in finished.iter().enumerate() {
            outcomes[i] = Some(outcome);
            progress.done(what, "checks", done + 1, checks.len());
        }
    });
    let unknown = || Outcome {
        failure: Some("did not end".into()),
        worst: None,
        took: Duration::ZERO,
    };
    let outcomes = outcomes.into_iter();
    outcomes
        .map(|outcome| outcome.unwrap_or_else(unknown))
        .collect()
}

/// Tells what is wrong.
fn failures(verified: &Verified) {
    if let Some(error) = &verified.error {
        print_message("error", format!("{}: {error}", verified.adapter.name));
    }
    for failure in &verified.failures {
        print_message("failed", format!("{}: {}", failure.check, failure.message));
    }
    if !verified.failures.is_empty() {
        print_line("please report this, with the file that --report writes");
    }
}

fn write_report(file: &Path, report: &Report) -> Result<()> {
    let text = to_json(report)?;
    Ok(sinew_io::output::replace_text(file, &text)?)
}
