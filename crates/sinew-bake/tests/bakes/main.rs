//! Whole bakes by `bake()`: every format read back by readers of the tests' own and compared with the f64 reference and with
//! the same bake as USD; value clips, shards and resumed bakes; motion blur; and what is refused. The rules of UsdSkel by hand
//! (`tests/data/rules.txt`, `conformance`), and its utilities against usd-core's answers.

mod bench;
mod bones;
mod corpus;
mod motion;
mod readers;
mod real;
mod sequences;
mod sinks;
mod spaces;
mod streams;
mod table;
mod textures;
mod truth;
mod utils;
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
        bones::clips_share_a_texture,
        bones::many_frames_go_on_to_the_right,
        motion::fewer_samples_stay_near,
        motion::the_largest_error_has_the_jumps,
        motion::velocities_are_the_slopes_of_the_reference,
        sequences::a_sequence_has_uvs_and_materials,
        sequences::a_sequence_holds_the_points_faces_and_normals_of_every_frame,
        sequences::boxes_look_outward_whatever_stands_in_the_way,
        sequences::point_caches_hold_the_points_to_the_bit,
        sinks::a_cancelled_bake_leaves_nothing_and_the_baker_goes_on,
        sinks::a_caller_with_little_stack_bakes_a_deep_stage,
        sinks::a_format_from_outside_holds_what_ours_does,
        sinks::errors_have_kinds,
        sinks::prims_have_times_of_their_own,
        sinks::the_search_for_few_samples_is_told_and_can_be_cancelled,
        sinks::two_times_of_one_scene,
        sinks::what_a_sink_says_comes_out,
        spaces::rule_30_the_picture_is_the_same_in_every_space,
        spaces::rule_28_a_rigid_prims_transform_serves_an_instance,
        spaces::rule_28_what_hangs_on_a_rigid_prim_follows_it,
        spaces::prims_of_another_scene_are_its_own,
        spaces::rule_10_joints_are_where_skinning_takes_their_bind_poses,
        streams::the_same_bytes_every_time_and_in_one_thread,
        table::every_rule_has_its_case,
        textures::float_textures_hold_every_vertex_to_the_bit,
        textures::half_floats_keep_eleven_bits,
        textures::integer_textures_are_within_half_a_step,
        textures::normal_textures_follow_the_surface,
        textures::the_mesh_of_textures_has_uvs_materials_and_parts,
        utils::weights_normalise_as_pixars,
        utils::influences_sort_and_resize_as_pixars,
        utils::constant_influences_expand_as_pixars,
        utils::rule_07_topologies_and_what_is_wrong_with_them_are_pixars,
        utils::joint_transforms_go_to_skeleton_space_and_back_as_pixars,
        utils::transforms_without_an_inverse_are_named,
        utils::rule_26_transforms_come_apart_as_pixars,
        utils::rule_12_transforms_are_made_as_pixars,
        utils::joints_extents_are_pixars,
        utils::rule_33_extents_of_skel_roots_are_pixars,
        utils::rule_34_extents_of_skeletons_are_pixars,
        utils::rule_28_constant_influences_move_a_prim_as_pixars,
        utils::rule_11_mappers_remap_as_pixars,
        utils::rule_11_missing_transforms_are_identity,
        utils::packed_shape_tables_are_pixars,
        utils::rules_14_to_17_sub_shape_weights_are_pixars,
    ];
    let on_a_gpu = trials![
        sequences::a_gpu_gives_the_same_frames,
        sinks::one_device_of_the_hosts_bakes_many_scenes,
    ];
    let no_gpu = common::gpu::ignored();
    trials.extend(on_a_gpu.into_iter().map(|t| t.with_ignored_flag(no_gpu)));
    trials.extend(trials_of_python![
        corpus::usd_core_scores_as_kept,
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
    common::trials::run([
        ("", trials),
        ("table", table::trials("bakes.txt")),
        ("rules", table::trials("rules.txt")),
        ("corpus", corpus::trials()),
    ])
}

/// Trials that need the real files of SINEW_ASSETS.
fn of_real_files() -> [Trial; 2] {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let is_missing = assets.is_none();
    let [first, second] = [(); 2].map(|()| assets.clone().unwrap_or_default());
    let all = [
        Trial::test("real::real_files_come_out_as_in_usd", move || {
            real::real_files_come_out_as_in_usd(&first);
            Ok(())
        }),
        python::trial("motion::usd_core_finds_the_velocities_of_real_files", {
            move |with| motion::usd_core_finds_the_velocities_of_real_files(with, &second)
        }),
    ];
    match is_missing {
        true => all.map(|t| t.with_kind("needs SINEW_ASSETS").with_ignored_flag(true)),
        false => all,
    }
}
