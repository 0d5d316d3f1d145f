//! What the command bakes and draws, as a process: one run for each format, requests that it refuses, kills, signals, full
//! disks, schedulers, JSON, pictures, adapters and how it starts. What bakes hold is tested in crates/sinew-bake.

mod bench;
mod completions;
#[cfg(target_os = "linux")]
mod full_disks;
mod instances;
// Signals are sent by the kill of Linux.
#[cfg(target_os = "linux")]
mod interrupt;
mod json;
mod render;
mod requests;
#[cfg(target_os = "linux")]
mod resume;
#[cfg(unix)]
mod schedulers;
#[cfg(unix)]
mod slurm;
mod start;
mod verify;
mod written;

use common::trials::Trial;
use common::{node, python};

/// Trials of functions, by their names.
macro_rules! trials {
    ($($run:path),* $(,)?) => {
        vec![$(Trial::test(name(stringify!($run)), || {
            $run();
            Ok(())
        })),*]
    };
}

/// The name of a function without its module, which is the subject.
fn name(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path).trim()
}

/// Those that need an adapter, which show as ignored where there is none.
fn on_a_gpu(trials: Vec<Trial>) -> impl Iterator<Item = Trial> {
    let ignored = common::gpu::ignored();
    let trials = trials.into_iter();
    trials.map(move |trial| trial.with_ignored_flag(ignored))
}

fn render() -> Vec<Trial> {
    let mut trials = trials![
        render::broken_files_write_nothing,
        render::clips_are_one_file,
        render::frames_and_turntables_are_numbered,
        render::heat_has_a_legend,
        render::missing_images_are_told,
        render::movements_without_a_mesh_show_bones,
        render::one_picture_and_its_report,
        render::sheets_have_their_cells,
        render::warnings_are_told,
    ];
    #[cfg(unix)]
    trials.extend(trials![render::videos_need_ffmpeg]);
    on_a_gpu(trials).collect()
}

/// Trials that ask a package of node.js.
macro_rules! trials_of_node {
    ($($run:path),* $(,)?) => {
        vec![$(node::trial(name(stringify!($run)), || {
            $run();
            Ok(())
        })),*]
    };
}

fn start() -> Vec<Trial> {
    let mut trials = trials![start::inspect_of_a_megabyte_is_quick];
    let mut others = trials![start::drivers_are_loaded_when_needed];
    others.push(Trial::test(
        "pipelines_are_compiled_when_needed",
        start::pipelines_are_compiled_when_needed,
    ));
    others.push(Trial::ignorable(
        "pipelines_are_kept_in_the_hosts_cache",
        start::pipelines_are_kept_in_the_hosts_cache,
    ));
    trials.extend(on_a_gpu(others));
    trials
}

fn written() -> Vec<Trial> {
    let mut trials = trials![
        written::check_finds_nothing_in_a_bake,
        written::the_animation_source_can_be_chosen_everywhere,
    ];
    trials.extend(on_a_gpu(trials![
        written::the_animation_source_of_pictures_can_be_chosen,
        instances::instances_of_skinned_prototypes_are_drawn,
    ]));
    trials.push(python::trial(
        "convert_and_retarget_author_the_extents_of_skel_roots",
        written::convert_and_retarget_author_the_extents_of_skel_roots,
    ));
    trials.push(python::trial(
        "instances_stand_where_usd_core_places_them",
        instances::instances_stand_where_usd_core_places_them,
    ));
    trials
}

fn verify() -> Vec<Trial> {
    let needs_linux = !cfg!(target_os = "linux");
    let mut trials = vec![
        Trial::test("without_an_adapter_it_fails", verify::without_an_adapter)
            .with_kind(if needs_linux { "needs Linux" } else { "" })
            .with_ignored_flag(needs_linux),
        verify::swiftshader_trial(),
    ];
    let here = Trial::test("this_adapter_has_errors_and_rates", verify::here);
    trials.extend(on_a_gpu(vec![here]));
    trials
}

#[cfg(unix)]
fn schedulers() -> Vec<Trial> {
    use libtest_mimic::Completion;

    let mut trials = trials![schedulers::slurm, schedulers::kubernetes];
    trials.push(Trial::ignorable("gnu_parallel", || {
        if !schedulers::has_parallel() {
            return Ok(Completion::ignored_with("needs GNU parallel"));
        }
        schedulers::gnu_parallel();
        Ok(Completion::Completed)
    }));
    trials.push(Trial::ignorable("slurm_cluster", || {
        if let Some(missing) = slurm::is_missing() {
            return Ok(Completion::ignored_with(missing));
        }
        schedulers::slurm_cluster();
        Ok(Completion::Completed)
    }));
    trials.push(python::trial("opencue", schedulers::opencue));
    for (name, run) in [
        (
            "kubernetes_schema",
            schedulers::kubernetes_schema as fn(&str) -> _,
        ),
        ("opencue_schema", schedulers::opencue_schema),
    ] {
        trials.push(python::ignorable(name, run));
    }
    trials
}

#[cfg(target_os = "linux")]
fn of_linux() -> [Vec<Trial>; 3] {
    let mut interrupt = trials![
        interrupt::a_second_one_at_once,
        interrupt::a_signal_while_it_deforms,
        interrupt::a_signal_while_it_streams,
        interrupt::a_signal_while_it_writes,
        interrupt::ignored_signals_stay_ignored,
        interrupt::json_says_it_too,
    ];
    interrupt.extend(on_a_gpu(trials![interrupt::a_signal_while_a_gpu_runs]));
    let resume = trials![
        resume::a_rebake_removes_the_old_stage,
        resume::after_kills,
        resume::an_interrupt_keeps_what_is_whole,
    ];
    let mut full_disks = trials![
        full_disks::a_file_that_grows_too_large_is_told_and_leaves_nothing,
        full_disks::full_and_closed_streams_are_no_panic,
        full_disks::memory_does_not_grow_with_the_frames,
    ];
    full_disks.push(Trial::ignorable(
        "a_disk_that_is_too_small_is_told_before_and_while_writing",
        full_disks::a_disk_that_is_too_small_is_told_before_and_while_writing,
    ));
    [interrupt, resume, full_disks]
}

fn main() {
    #[cfg(target_os = "linux")]
    let [interrupt, resume, full_disks] = of_linux();
    #[cfg(not(target_os = "linux"))]
    let [interrupt, resume, full_disks] = [(); 3].map(|()| Vec::new());
    #[cfg(not(unix))]
    let schedulers = Vec::new;
    common::trials::run([
        ("completions", completions::trials()),
        ("full_disks", full_disks),
        ("interrupt", interrupt),
        (
            "json",
            trials_of_node![
                json::a_finding_has_the_same_keys_everywhere,
                json::failures_fit_the_schema,
                json::inspect_counts_as_check_does,
                json::results_fit_the_schema,
                json::sizes_are_those_of_the_files,
                json::what_does_not_fit_is_noticed,
            ],
        ),
        ("render", render()),
        (
            "requests",
            trials![
                requests::every_format_is_written,
                requests::nonsense_is_refused,
                requests::what_clips_say_does_nothing_to_a_terminal,
            ],
        ),
        ("resume", resume),
        ("schedulers", schedulers()),
        ("start", start()),
        ("verify", verify()),
        ("written", written()),
    ])
}
