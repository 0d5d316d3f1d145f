//! Whole bakes by `bake()`: every format read back by readers of the tests' own and compared with the f64 reference and with
//! the same bake as USD; value clips, shards and resumed bakes; motion blur; and what is refused.

mod bench;
mod bones;
mod motion;
mod readers;
mod real;
mod requests;
mod resumed;
mod sequences;
mod shards;
mod streams;
mod textures;
mod truth;
mod values;
mod vat;
mod written;

use std::path::PathBuf;

use common::python;
use common::trials::Trial;

/// Trials of functions, by their names.
macro_rules! trials {
    ($($module:ident::$run:ident),* $(,)?) => {
        vec![$(Trial::test(concat!(stringify!($module), "::", stringify!($run)), || {
            $module::$run();
            Ok(())
        })),*]
    };
}

/// Trials of functions that take the Python with usd-core.
macro_rules! trials_of_python {
    ($($module:ident::$run:ident),* $(,)?) => {
        [$(python::trial(concat!(stringify!($module), "::", stringify!($run)), $module::$run)),*]
    };
}

fn main() {
    let mut trials = trials![
        bones::a_shader_finds_the_points_of_the_ordinary_bake,
        bones::clips_share_a_texture,
        bones::many_frames_go_on_to_the_right,
        bones::what_is_left_out_is_told,
        motion::clips_have_the_velocities_of_one_file,
        motion::fewer_samples_stay_near,
        motion::shutters_sample_each_frame,
        motion::the_largest_error_has_the_jumps,
        motion::too_many_samples_are_refused_at_once,
        motion::velocities_are_the_slopes_of_the_reference,
        requests::a_clip_that_breaks_leaves_nothing,
        requests::estimates_are_near,
        requests::nonsense_is_refused,
        requests::what_is_reported,
        resumed::foreign_files_stay,
        resumed::one_folder_of_two_stages,
        resumed::what_a_kill_left_is_cleared,
        resumed::what_changed_is_baked_anew,
        resumed::what_is_read_is_not_written,
        resumed::what_is_reported,
        sequences::a_sequence_has_uvs_and_materials,
        sequences::a_sequence_holds_the_points_faces_and_normals_of_every_frame,
        sequences::boxes_look_outward_whatever_stands_in_the_way,
        sequences::clips_are_sampled_at_the_stages_rate,
        sequences::one_prim_has_the_cache_of_the_name,
        sequences::point_caches_hold_the_points_to_the_bit,
        shards::more_than_clips,
        shards::of_lost_prims,
        shards::on_the_cpu,
        shards::prims_in_any_order,
        shards::what_does_not_fit_is_not_stitched,
        streams::a_streamed_file_holds_what_a_held_one_does,
        streams::the_same_bytes_every_time_and_in_one_thread,
        textures::float_textures_hold_every_vertex_to_the_bit,
        textures::half_floats_keep_eleven_bits,
        textures::integer_textures_are_within_half_a_step,
        textures::normal_textures_follow_the_surface,
        textures::the_mesh_of_textures_has_uvs_materials_and_parts,
        values::a_still_stage,
    ];
    let on_a_gpu = trials![sequences::a_gpu_gives_the_same_frames, shards::on_a_gpu];
    let no_gpu = common::gpu::ignored();
    trials.extend(on_a_gpu.into_iter().map(|t| t.with_ignored_flag(no_gpu)));
    trials.extend(trials_of_python![
        motion::usd_core_finds_velocities_and_errors,
        motion::velocities_of_the_input_are_blocked,
        streams::usd_core_finds_the_same_in_both,
        streams::usd_core_saves_in_place,
        values::goldens_are_as_in_one_file,
        values::lost_prims_are_as_in_one_file,
        values::other_bakes_too,
        values::what_differs_is_noticed,
        written::a_bake_needs_no_bindings,
    ]);
    trials.extend(of_real_files());
    common::trials::run([("", trials)])
}

/// Trials that need the real files of SINEW_ASSETS.
fn of_real_files() -> [Trial; 3] {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let is_missing = assets.is_none();
    let [first, second, third] = [(); 3].map(|()| assets.clone().unwrap_or_default());
    let all = [
        Trial::test("real::real_files_come_out_as_in_usd", move || {
            real::real_files_come_out_as_in_usd(&first);
            Ok(())
        }),
        Trial::test("bones::real_files_come_out_as_in_usd", move || {
            bones::real_files_come_out_as_in_usd(&second);
            Ok(())
        }),
        python::trial("motion::usd_core_finds_the_velocities_of_real_files", {
            move |with| motion::usd_core_finds_the_velocities_of_real_files(with, &third)
        }),
    ];
    match is_missing {
        true => all.map(|t| t.with_kind("needs SINEW_ASSETS").with_ignored_flag(true)),
        false => all,
    }
}
