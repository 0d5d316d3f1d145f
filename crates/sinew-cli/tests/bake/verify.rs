//! `sinew devices --verify`. A second implementation of Vulkan runs it whole: SwiftShader, beside the driver that the other
//! tests run on.

use std::process::{Command, Output};

use common::command::{Bench, executable, stderr, stdout};
use common::gpu;
use common::trials::Trial;
use libtest_mimic::Failed;

/// Names SwiftShader's manifest (tests/run.sh fetches it).
const SWIFTSHADER: &str = "SINEW_SWIFTSHADER";

/// The manifest of SwiftShader, or why its trial is left out.
pub fn swiftshader_trial() -> Trial {
    let manifest = std::env::var(SWIFTSHADER).ok().filter(|m| !m.is_empty());
    let (reason, is_missing) = match &manifest {
        Some(_) => ("", false),
        None => ("needs SINEW_SWIFTSHADER", true),
    };
    let run = move || swiftshader(&manifest.ok_or("unnamed")?);
    Trial::test("swiftshader_is_right", run)
        .with_kind(reason)
        .with_ignored_flag(is_missing)
}

fn run(drivers: &str, arguments: &[&str]) -> Result<Output, Failed> {
    let mut command = Command::new(executable());
    command.arg("devices").args(arguments);
    Ok(command.env("VK_DRIVER_FILES", drivers).output()?)
}

fn expect(holds: bool, output: &Output) -> Result<(), Failed> {
    match holds {
        true => Ok(()),
        false => Err(format!(
            "{:?}\n{}\n{}",
            output.status,
            stdout(output),
            stderr(output)
        )
        .into()),
    }
}

#[cfg(target_os = "linux")]
pub fn without_an_adapter_it_fails() -> Result<(), Failed> {
    let output = run("/nonexistent", &["--verify"])?;
    let said = stderr(&output);
    expect(
        output.status.code() == Some(1) && said.contains("driver") && stdout(&output).is_empty(),
        &output,
    )?;
    let output = run("/nonexistent", &["--verify", "--adapter", "x", "--json"])?;
    let failure: serde_json::Value = serde_json::from_str(&stdout(&output))?;
    expect(
        output.status.code() == Some(1) && failure["error"].to_string().contains("driver"),
        &output,
    )
}

fn swiftshader(manifest: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let file = bench.path("verified.json");
    let report = file.to_str().ok_or("a path")?;
    // The crowds take it minutes. All of them passed there by hand, as did the rates.
    let chosen = [
        "kernels::gpu::",
        "posing::adapter",
        "clips::gpu",
        "outputs::adapter",
    ];
    let mut arguments = vec!["--verify", "--adapter", "SwiftShader", "--report", report];
    arguments.extend(chosen.iter().flat_map(|name| ["--check", name]));
    let output = run(manifest, &arguments)?;
    expect(output.status.success(), &output)?;
    let text = stdout(&output);
    for subject in [
        "linear skinning",
        "dual quaternions",
        "blend shapes",
        "posing",
        "clips",
        "smooth normals",
        "tangents",
        "packed formats",
        "limits",
        "growth",
        "loss of device",
    ] {
        expect(text.contains(subject), &output)?;
    }
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let adapter = &written["adapters"][0];
    let subjects = adapter["subjects"].as_array().ok_or("no subjects")?;
    let checks: u64 = subjects.iter().filter_map(|s| s["checks"].as_u64()).sum();
    let all = sinew_verify::checks();
    let wanted = all
        .iter()
        .filter(|c| chosen.iter().any(|n| c.name().contains(n)));
    if checks != wanted.count() as u64 {
        return Err(format!("{checks} checks").into());
    }
    for subject in subjects.iter().filter(|s| !s["worst"].is_null()) {
        let number = |name: &str| subject["worst"][name].as_f64().unwrap_or(f64::NAN);
        let is_within = number("error") > 0.0 && number("error") <= number("allowed");
        if !is_within {
            return Err(format!("{subject}: no error was measured, or it passed").into());
        }
    }
    Ok(())
}

/// One kernel on whatever adapter there is, with its rates.
pub fn this_adapter_has_errors_and_rates() -> Result<(), Failed> {
    let name = gpu::device()?.report().name.clone();
    let arguments = [
        "--verify",
        "--adapter",
        &name,
        "--json",
        "--check",
        "influences_4",
    ];
    let output = Command::new(executable())
        .arg("devices")
        .args(arguments)
        .output()?;
    expect(output.status.success(), &output)?;
    let found: serde_json::Value = serde_json::from_str(&stdout(&output))?;
    let subjects = found["adapters"][0]["subjects"].as_array().ok_or("none")?;
    let checks: u64 = subjects.iter().filter_map(|s| s["checks"].as_u64()).sum();
    expect(checks > 1 && found["adapters"][0]["name"] == name, &output)?;
    let machine = gpu::machine()?;
    let mut calls = 0;
    let rates = sinew_verify::rates::rates(machine.adapter_limits(), || calls += 1)?;
    let is_measured = rates
        .iter()
        .all(|r| r.per_second() > 0.0 && r.per_second().is_finite());
    match is_measured && calls == rates.len() && calls == sinew_verify::rates::count() {
        true => Ok(()),
        false => Err(format!("{rates:?}").into()),
    }
}
