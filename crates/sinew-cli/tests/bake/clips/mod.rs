//! Bakes cut into clips: the values of one file, by usd-core; what a kill leaves; shards, and the schedulers that run them.

mod bench;
mod lost_prims;
mod requests;
#[cfg(target_os = "linux")]
mod resume;
#[cfg(unix)]
mod schedulers;
mod shards;
#[cfg(unix)]
mod slurm;
mod values;

use common::trials::Trial;

pub fn trials() -> Vec<Trial> {
    let no_gpu = common::gpu::ignored();
    let mut trials = vec![
        common::python::trial("values::goldens_are_as_in_one_file", values::goldens),
        common::python::trial("values::layers_and_spaces_too", values::layers_and_spaces),
        common::python::trial("values::other_formats_too", values::other_formats),
        common::python::trial("values::what_differs_is_noticed", values::noticed),
        common::python::trial("lost_prims::as_in_one_file", lost_prims::as_in_one_file),
        trial("lost_prims::in_shards", lost_prims::in_shards, false),
        trial("values::a_still_stage", values::a_still_stage, false),
        trial("shards::on_the_cpu", shards::on_the_cpu, false),
        trial("shards::on_a_gpu", shards::on_a_gpu, no_gpu),
        trial(
            "shards::prims_in_any_order",
            shards::prims_in_any_order,
            false,
        ),
        trial("shards::more_than_clips", shards::more_than_clips, false),
        trial(
            "shards::what_does_not_fit_is_not_stitched",
            shards::what_does_not_fit,
            false,
        ),
        trial("requests::nonsense", requests::nonsense, false),
        trial(
            "requests::one_folder_of_two_stages",
            requests::one_folder_of_two_stages,
            false,
        ),
        trial("requests::json", requests::json, false),
        trial(
            "requests::what_is_read_is_not_written",
            requests::what_is_read,
            false,
        ),
        trial(
            "requests::foreign_files_stay",
            requests::foreign_files_stay,
            false,
        ),
    ];
    #[cfg(target_os = "linux")]
    trials.extend([
        trial("resume::after_kills", resume::after_kills, false),
        trial("resume::what_changed_is_baked_anew", resume::changed, false),
        trial(
            "resume::what_a_kill_left_is_cleared",
            resume::leftovers,
            false,
        ),
        trial(
            "resume::a_rebake_removes_the_old_stage",
            resume::rebake,
            false,
        ),
        trial(
            "resume::an_interrupt_keeps_what_is_whole",
            resume::interrupt,
            false,
        ),
    ]);
    #[cfg(unix)]
    {
        let parallel = schedulers::parallel_is_missing();
        let missing = if parallel { "needs GNU parallel" } else { "" };
        trials.push(
            trial(
                "schedulers::gnu_parallel",
                schedulers::gnu_parallel,
                parallel,
            )
            .with_kind(missing),
        );
        trials.extend([
            trial("schedulers::slurm", schedulers::slurm, false),
            trial("schedulers::kubernetes", schedulers::kubernetes, false),
        ]);
        let missing = slurm::is_missing();
        let run = schedulers::slurm_cluster;
        trials.push(
            trial("schedulers::slurm_cluster", run, missing.is_some())
                .with_kind(missing.unwrap_or_default()),
        );
        trials.extend([
            common::python::ignorable(
                "schedulers::kubernetes_schema",
                schedulers::kubernetes_schema,
            ),
            common::python::ignorable("schedulers::opencue_schema", schedulers::opencue_schema),
        ]);
        trials.push(common::python::trial(
            "schedulers::opencue",
            schedulers::opencue,
        ));
    }
    trials
}

fn trial(name: &str, run: fn(), ignored: bool) -> Trial {
    let run = move || {
        run();
        Ok(())
    };
    Trial::test(name, run).with_ignored_flag(ignored)
}
