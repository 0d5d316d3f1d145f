//! What takes a process of its own: the CPU backend's loops for any CPU, and memory that is not there.

use std::process::Command;

use common::cases::Spec;
use common::gpu;
use common::trials::Trial;
use libtest_mimic::Failed;
use sinew::gpu::{AdapterChoice, Crowd, GpuDevice, GpuError, Skinner, SkinnerOptions};
use sinew_verify::ensure;
use sinew_verify::made::{bits, made};

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = child().into_iter().collect();
    if std::env::var_os(CPU).is_none() {
        trials.push(Trial::test("baseline_loops", baseline_loops));
    }
    let impossible = !cfg!(target_os = "linux");
    let trial = Trial::test("memory_beyond_what_there_is", little_memory)
        .with_kind(if impossible { "needs Linux" } else { "" })
        .with_ignored_flag(gpu::ignored() || impossible);
    trials.push(trial);
    trials
}

/// Chooses the CPU backend's loops.
const CPU: &str = "SINEW_CPU";

/// Every mirror trial again with the loops for any CPU.
fn baseline_loops() -> Result<(), Failed> {
    let output = std::process::Command::new(std::env::current_exe()?)
        .arg("kernels::mirror::")
        .env(CPU, "baseline")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !text.contains("kernels::mirror::influences_4") {
        return Err(text.into_owned().into());
    }
    Ok(())
}

/// Kilobytes that [`in_little_memory`] has.
const KILOBYTES: &str = "SINEW_TEST_KILOBYTES";

/// The trial that [`little_memory`] runs in a process of its own.
const IN_LITTLE_MEMORY: &str = "in_little_memory";

/// Runs a trial in a process whose address space ends soon.
fn little_memory() -> Result<(), Failed> {
    let script =
        format!("ulimit -v 4000000; exec \"$0\" --exact processes::{IN_LITTLE_MEMORY} --nocapture");
    let output = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe()?)
        .env(KILOBYTES, "4000000")
        // Each thread has a stack and perhaps a heap: the address space does not depend on the number of processors.
        .envs([("RAYON_NUM_THREADS", "2"), ("LP_NUM_THREADS", "2")])
        .env("MALLOC_ARENA_MAX", "4")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    Ok(ensure(
        output.status.success() && text.contains("1 passed"),
        &format!("{}\n{text}\n{errors}", output.status),
    )?)
}

/// That trial, where this is the process for it.
fn child() -> Option<Trial> {
    std::env::var_os(KILOBYTES)?;
    Some(Trial::test(IN_LITTLE_MEMORY, in_little_memory))
}

fn in_little_memory() -> Result<(), Failed> {
    let device = GpuDevice::new(&AdapterChoice::Any)?;
    let skinner = Skinner::new(device.device(), device.queue(), &SkinnerOptions::default())?;
    let made = made(&Spec::default());
    let mut crowd: Crowd = skinner.crowd();
    let skin = crowd.add_skin(made.packed.clone())?;
    let id = crowd.add_instance(skin)?;
    crowd.set_pose(id, &made.pose(1))?;
    let before = crowd.run()?;
    // 24 MB a time.
    let mut more = 0;
    let error = loop {
        match crowd.add_instances(skin, 1000) {
            Ok(ids) => ids.iter().try_for_each(|id| crowd.set_hidden(*id, true))?,
            Err(error) => break error,
        }
        more += 1;
        ensure(more < 300, "there is no end of memory")?;
    };
    ensure(
        matches!(error, GpuError::OutOfMemory(_)),
        &format!("after {more}: {error:?}"),
    )?;
    ensure(
        crowd.instance_count() == 1 + 1000 * more,
        "some are there by half",
    )?;
    // What is there works on.
    let again = crowd.run()?;
    ensure(bits(&again[0]) == bits(&before[0]), "other results")?;
    device.check()?;
    Ok(())
}
