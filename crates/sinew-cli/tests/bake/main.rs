//! What the command bakes and draws, as a process: tables of commands and what they write, requests that it refuses, kills,
//! signals, full disks, schedulers, JSON, pictures, adapters and how it starts. What bakes hold is tested in crates/sinew-bake.

mod bench;
mod completions;
#[cfg(target_os = "linux")]
mod full_disks;
// Signals are sent and masks are read as Linux has them.
#[cfg(target_os = "linux")]
mod interrupt;
mod json;
#[cfg(target_os = "linux")]
mod process;
mod render;
#[cfg(target_os = "linux")]
mod resume;
mod runs;
#[cfg(unix)]
mod schedulers;
mod start;
mod usd_core;
mod verify;

use common::trials::{Ended, Trial};
use common::{node, python};

/// Trials of functions of a module, which are ignored if that is so.
macro_rules! trials {
    ($ignored:expr, $module:ident: $($name:ident),* $(,)?) => {
        vec![$(Trial::ignorable(stringify!($name), || $module::$name().ended())
            .with_ignored_flag($ignored)),*]
    };
}

fn completions() -> Vec<Trial> {
    let shells = [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")];
    let trials = shells.map(|(shell, parse)| {
        let name = format!("{shell}_takes_its_script");
        Trial::ignorable(name, move || completions::taken(shell, parse))
    });
    trials.into()
}

fn json() -> Vec<Trial> {
    let is_missing = node::missing().is_some();
    let trials = trials![is_missing, json:
        inspect_counts_as_check_does,
        what_does_not_fit_is_noticed,
        what_is_printed_fits_the_schema,
    ];
    let kind = node::missing().unwrap_or_default();
    trials.into_iter().map(|t| t.with_kind(kind)).collect()
}

#[cfg(target_os = "linux")]
fn of_linux(no_gpu: bool) -> [Vec<Trial>; 3] {
    let mut interrupt = trials![false, interrupt:
        a_kill_leaves_the_old_file,
        a_second_one_at_once,
        a_signal_while_it_deforms,
        a_signal_while_it_streams,
        a_signal_while_it_writes,
        ignored_signals_stay_ignored,
        json_says_it_too,
    ];
    interrupt.extend(trials![no_gpu, interrupt: a_signal_while_a_gpu_runs]);
    let resume = trials![false, resume:
        a_rebake_removes_the_old_stage,
        after_kills,
        an_interrupt_keeps_what_is_whole,
    ];
    let full_disks = trials![false, full_disks:
        a_disk_that_is_too_small_is_told_before_and_while_writing,
        a_file_that_grows_too_large_is_told_and_leaves_nothing,
        full_and_closed_streams_are_no_panic,
        memory_does_not_grow_with_the_frames,
    ];
    [interrupt, resume, full_disks]
}

fn main() {
    let no_gpu = common::gpu::ignored();
    #[cfg(target_os = "linux")]
    let [interrupt, resume, full_disks] = of_linux(no_gpu);
    #[cfg(not(target_os = "linux"))]
    let [interrupt, resume, full_disks] = [(); 3].map(|()| Vec::new());
    #[cfg(unix)]
    let schedulers = schedulers::trials();
    #[cfg(not(unix))]
    let schedulers = Vec::new();
    let mut render = trials![no_gpu, render:
        clips_are_one_file,
        heat_has_a_legend,
        sheets_have_their_cells,
        the_adapter_is_told,
    ];
    #[cfg(unix)]
    render.extend(trials![no_gpu, render: videos_need_ffmpeg]);
    let mut runs = trials![false, runs: motion, runs];
    runs.extend(trials![no_gpu, runs: pictures]);
    let mut start = trials![false, start: inspect_of_a_megabyte_is_quick];
    start.extend(trials![no_gpu, start:
        drivers_are_loaded_when_needed,
        pipelines_are_kept_in_the_hosts_cache,
    ]);
    let mut verify = trials![no_gpu, verify: this_adapter_has_errors_and_rates];
    verify.extend(verify::driver_trials());
    #[cfg(target_os = "linux")]
    verify.extend(trials![false, verify: without_an_adapter_it_fails]);
    let usd_core = vec![
        python::trial(
            "convert_and_retarget_author_the_extents_of_skel_roots",
            usd_core::convert_and_retarget_author_the_extents_of_skel_roots,
        ),
        python::trial(
            "instances_stand_where_usd_core_places_them",
            usd_core::instances_stand_where_usd_core_places_them,
        ),
    ];
    common::trials::run([
        // It has the longest trials, which begin first so that the others run beside them.
        ("verify", verify),
        ("completions", completions()),
        ("full_disks", full_disks),
        ("interrupt", interrupt),
        ("json", json()),
        ("render", render),
        ("requests", trials![false, bench: nonsense_is_refused]),
        ("resume", resume),
        ("runs", runs),
        ("schedulers", schedulers),
        ("start", start),
        ("usd_core", usd_core),
    ])
}
