//! `sinew devices --verify`. Other implementations of Vulkan run it, beside the driver that the other tests run on: SwiftShader,
//! and a newer Mesa.

use std::process::{Command, Output};

use common::command::{Bench, executable, stderr, stdout};
use common::gpu;
use common::trials::Trial;
use libtest_mimic::Failed;
use serde_json::Value;

/// A driver beside that of the other tests.
struct Driver {
    trial: &'static str,
    /// The variable that says where it is; tests/run.sh fetches it.
    variable: &'static str,
    adapter: &'static str,
    /// The command on the driver at that place.
    command: fn(&str) -> Command,
    /// Names of checks of the kernels for skins.
    kernels: &'static [&'static str],
}

/// Its place is its manifest.
static SWIFTSHADER: Driver = Driver {
    trial: "swiftshader_is_right",
    variable: "SINEW_SWIFTSHADER",
    adapter: "SwiftShader",
    command: |manifest| {
        let mut command = Command::new(executable());
        command.env("VK_DRIVER_FILES", manifest);
        command
    },
    kernels: &["kernels::gpu::"],
};

/// Its place is a program that runs another one on it. `chunked_by_both` has thousands of tables. Mesa 26.1.6 maps memory for each
/// bind group, and ends by a segmentation fault at the first mapping that Linux refuses (vm.max_map_count, 65,530).
static MESA: Driver = Driver {
    trial: "a_newer_mesa_is_right",
    variable: "SINEW_MESA",
    adapter: "llvmpipe",
    command: |launcher| {
        let mut command = Command::new(launcher);
        command.arg(executable());
        command
    },
    kernels: &[
        "kernels::gpu::d",
        "kernels::gpu::influences",
        "kernels::gpu::points",
        "kernels::gpu::blend",
        "kernels::gpu::chunked",
    ],
};

/// A trial for each driver; it is left out where the driver is not there.
pub fn driver_trials() -> [Trial; 2] {
    [&SWIFTSHADER, &MESA].map(|driver| {
        let variable = driver.variable;
        let place = std::env::var(variable).ok().filter(|p| !p.is_empty());
        let is_missing = place.is_none();
        let reason = match is_missing {
            true => format!("needs {variable}"),
            false => String::new(),
        };
        let run = move || {
            is_right(driver, &place.ok_or("unnamed")?);
            Ok(())
        };
        Trial::test(driver.trial, run)
            .with_kind(reason)
            .with_ignored_flag(is_missing)
    })
}

fn run(drivers: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(executable());
    command.arg("devices").args(arguments);
    command.env("VK_DRIVER_FILES", drivers).output().unwrap()
}

/// What was said, of a command that ended so.
fn told(code: i32, output: &Output) -> String {
    let told = stdout(output) + &stderr(output);
    assert_eq!(output.status.code(), Some(code), "{told}");
    told
}

#[cfg(target_os = "linux")]
pub fn without_an_adapter_it_fails() {
    let output = run("/nonexistent", &["--verify"]);
    assert!(told(1, &output).contains("driver") && output.stdout.is_empty());
    let output = run("/nonexistent", &["--verify", "--adapter", "x", "--json"]);
    told(1, &output);
    let failure: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(failure["error"].to_string().contains("driver"), "{failure}");
}

/// The number of checks of the first adapter of a report.
fn checks(report: &Value) -> u64 {
    let subjects = report["adapters"][0]["subjects"].as_array().unwrap();
    subjects.iter().filter_map(|s| s["checks"].as_u64()).sum()
}

fn is_right(driver: &Driver, place: &str) {
    let bench = Bench::new();
    let file = bench.path("verified.json");
    // On SwiftShader the other crowds take minutes; all of them passed by hand, as did the rates.
    let others = [
        "posing::adapter",
        "clips::gpu",
        "outputs::adapter",
        "loss_is_an_error",
    ];
    let chosen = [driver.kernels, &others].concat();
    let mut command = (driver.command)(place);
    command.args(["devices", "--verify", "--adapter", driver.adapter]);
    command.arg("--report").arg(&file);
    command.args(chosen.iter().flat_map(|name| ["--check", name]));
    let text = told(0, &command.output().unwrap());
    for subject in
        "linear skinning, dual quaternions, blend shapes, posing, clips, smooth normals, \
        tangents, limits, loss of device"
            .split(", ")
    {
        assert!(text.contains(subject), "{subject}: {text}");
    }
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let all = sinew_verify::checks();
    let is_chosen = |c: &&sinew_verify::Check| chosen.iter().any(|n| c.name().contains(n));
    let wanted = all.iter().filter(is_chosen).count();
    assert_eq!(checks(&report), wanted as u64);
    let subjects = report["adapters"][0]["subjects"].as_array().unwrap();
    for worst in subjects
        .iter()
        .map(|s| &s["worst"])
        .filter(|w| !w.is_null())
    {
        let number = |name: &str| worst[name].as_f64().unwrap();
        assert!(
            number("error") > 0.0 && number("error") <= number("allowed"),
            "{worst}"
        );
    }
}

/// One kernel on whatever adapter there is, with its rates.
pub fn this_adapter_has_errors_and_rates() -> Result<(), Failed> {
    let name = &gpu::device()?.report().name;
    let mut command = Command::new(executable());
    command.args(["devices", "--verify", "--json", "--check", "influences_4"]);
    let output = command.args(["--adapter", name]).output()?;
    told(0, &output);
    let found: Value = serde_json::from_slice(&output.stdout)?;
    assert!(
        checks(&found) > 1 && found["adapters"][0]["name"] == **name,
        "{found}"
    );
    let mut calls = 0;
    let rates = sinew_verify::rates::rates(gpu::machine()?.adapter_limits(), || calls += 1)?;
    let is_measured = |rate: f64| rate > 0.0 && rate.is_finite();
    assert!(
        rates.iter().all(|r| is_measured(r.per_second())),
        "{rates:?}"
    );
    assert_eq!([calls, rates.len()], [sinew_verify::rates::count(); 2]);
    Ok(())
}
