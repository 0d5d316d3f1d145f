//! `sinew devices --verify`. A second implementation of Vulkan runs it whole: SwiftShader, beside the driver that the other
//! tests run on.

use std::process::{Command, Output};

use common::command::{Bench, executable, stderr, stdout};
use common::trials::Trial;
use libtest_mimic::Failed;

/// Names SwiftShader's manifest (tests/run.sh fetches it).
const SWIFTSHADER: &str = "SINEW_SWIFTSHADER";

pub fn trials() -> Vec<Trial> {
    let manifest = std::env::var(SWIFTSHADER).ok().filter(|m| !m.is_empty());
    let reason = if manifest.is_none() {
        "needs SINEW_SWIFTSHADER"
    } else {
        ""
    };
    let is_missing = manifest.is_none();
    let impossible = !cfg!(target_os = "linux");
    vec![
        Trial::test("without_an_adapter_it_fails", without_an_adapter)
            .with_kind(if impossible { "needs Linux" } else { "" })
            .with_ignored_flag(impossible),
        Trial::test("options_belong_to_it", options),
        Trial::test("swiftshader_is_right", move || {
            swiftshader(&manifest.ok_or("unnamed")?)
        })
        .with_kind(reason)
        .with_ignored_flag(is_missing),
    ]
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

fn without_an_adapter() -> Result<(), Failed> {
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

/// They mean nothing without it.
fn options() -> Result<(), Failed> {
    for arguments in [&["--adapter", "x"], &["--report", "x.json"]] {
        let output = run("/nonexistent", arguments)?;
        expect(output.status.code() == Some(2), &output)?;
    }
    Ok(())
}

fn swiftshader(manifest: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let file = bench.path("verified.json");
    let report = file.to_str().ok_or("a path")?;
    let output = run(
        manifest,
        &["--verify", "--adapter", "SwiftShader", "--report", report],
    )?;
    expect(output.status.success(), &output)?;
    let text = stdout(&output);
    for subject in [
        "linear skinning",
        "dual quaternions",
        "blend shapes",
        "posing",
        "smooth normals",
        "tangents",
        "packed formats",
        "bounds",
        "limits",
        "growth",
        "loss of device",
        "points/s",
    ] {
        expect(text.contains(subject), &output)?;
    }
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let adapter = &written["adapters"][0];
    let subjects = adapter["subjects"].as_array().ok_or("no subjects")?;
    let checks: u64 = subjects.iter().filter_map(|s| s["checks"].as_u64()).sum();
    if checks != sinew_verify::checks().len() as u64 {
        return Err(format!("{checks} checks").into());
    }
    for subject in subjects.iter().filter(|s| !s["worst"].is_null()) {
        let number = |name: &str| subject["worst"][name].as_f64().unwrap_or(f64::NAN);
        let is_within = number("error") > 0.0 && number("error") <= number("allowed");
        if !is_within {
            return Err(format!("{subject}: no error was measured, or it passed").into());
        }
    }
    let rates = adapter["rates"].as_array().ok_or("no rates")?;
    match rates.iter().all(|r| r["seconds"].as_f64() > Some(0.0)) && rates.len() > 8 {
        true => Ok(()),
        false => Err(format!("{rates:?}").into()),
    }
}
