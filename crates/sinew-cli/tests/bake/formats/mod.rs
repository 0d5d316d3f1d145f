//! OBJ sequences, point caches, vertex animation textures and bone textures: read back by readers of the tests' own, and compared with the
//! f64 reference and with the same bake as USD. And USD that is written as it is deformed.

mod bench;
mod bones;
mod caches;
mod obj;
mod pc2;
mod real;
mod requests;
mod sequences;
mod stage;
mod streams;
mod textures;
pub mod truth;
mod vat;

use common::trials::Trial;

pub fn trials() -> Vec<Trial> {
    let gpu = common::gpu::ignored();
    let assets = std::env::var_os("SINEW_ASSETS").is_none();
    if assets {
        eprintln!("real files are ignored because SINEW_ASSETS names no folder of them");
    }
    let python = std::env::var_os("SINEW_PYTHON").is_none();
    if python {
        eprintln!(
            "what usd-core reads is ignored because SINEW_PYTHON names no Python that has it"
        );
    }
    let trials: Vec<common::trials::Named> = vec![
        (
            "caches::point_caches_hold_the_points_to_the_bit",
            caches::point_caches_hold_the_points_to_the_bit,
            false,
        ),
        (
            "caches::one_prim_has_the_cache_of_the_name",
            caches::one_prim_has_the_cache_of_the_name,
            false,
        ),
        (
            "caches::clips_are_sampled_at_the_stages_rate",
            caches::clips_are_sampled_at_the_stages_rate,
            false,
        ),
        (
            "bones::a_shader_finds_the_points_of_the_ordinary_bake",
            bones::a_shader_finds_the_points_of_the_ordinary_bake,
            false,
        ),
        (
            "bones::clips_share_a_texture",
            bones::clips_share_a_texture,
            false,
        ),
        (
            "bones::many_frames_go_on_to_the_right",
            bones::many_frames_go_on_to_the_right,
            false,
        ),
        (
            "bones::what_is_left_out_is_told",
            bones::what_is_left_out_is_told,
            false,
        ),
        (
            "bones::meshes_that_any_clip_shows_are_there",
            bones::meshes_that_any_clip_shows_are_there,
            false,
        ),
        (
            "bones::requests_that_make_no_sense_are_refused",
            bones::requests_that_make_no_sense_are_refused,
            false,
        ),
        (
            "bones::real_files_come_out_as_in_usd",
            bones::real_files_come_out_as_in_usd,
            assets,
        ),
        (
            "real::real_files_come_out_as_in_usd",
            real::real_files_come_out_as_in_usd,
            assets,
        ),
        (
            "requests::requests_that_make_no_sense_are_refused",
            requests::requests_that_make_no_sense_are_refused,
            false,
        ),
        (
            "requests::a_clip_that_breaks_leaves_nothing",
            requests::a_clip_that_breaks_leaves_nothing,
            false,
        ),
        (
            "requests::the_command_reports_in_json",
            requests::the_command_reports_in_json,
            false,
        ),
        (
            "sequences::a_sequence_holds_the_points_faces_and_normals_of_every_frame",
            sequences::a_sequence_holds_the_points_faces_and_normals_of_every_frame,
            false,
        ),
        (
            "sequences::boxes_look_outward_whatever_stands_in_the_way",
            sequences::boxes_look_outward_whatever_stands_in_the_way,
            false,
        ),
        (
            "sequences::a_sequence_has_uvs_and_materials",
            sequences::a_sequence_has_uvs_and_materials,
            false,
        ),
        (
            "sequences::a_gpu_gives_the_same_frames",
            sequences::a_gpu_gives_the_same_frames,
            gpu,
        ),
        (
            "textures::float_textures_hold_every_vertex_to_the_bit",
            textures::float_textures_hold_every_vertex_to_the_bit,
            false,
        ),
        (
            "textures::integer_textures_are_within_half_a_step",
            textures::integer_textures_are_within_half_a_step,
            false,
        ),
        (
            "textures::half_floats_keep_eleven_bits",
            textures::half_floats_keep_eleven_bits,
            false,
        ),
        (
            "textures::normal_textures_follow_the_surface",
            textures::normal_textures_follow_the_surface,
            false,
        ),
        (
            "textures::the_mesh_of_textures_has_uvs_materials_and_parts",
            textures::the_mesh_of_textures_has_uvs_materials_and_parts,
            false,
        ),
        (
            "streams::a_streamed_file_holds_what_a_held_one_does",
            streams::a_streamed_file_holds_what_a_held_one_does,
            false,
        ),
        (
            "streams::usd_core_finds_the_same_in_both",
            streams::usd_core_finds_the_same_in_both,
            python,
        ),
        (
            "streams::usd_core_saves_in_place",
            streams::usd_core_saves_in_place,
            python,
        ),
        (
            "streams::the_same_bytes_every_time_and_in_one_thread",
            streams::the_same_bytes_every_time_and_in_one_thread,
            false,
        ),
        #[cfg(target_os = "linux")]
        (
            "streams::memory_does_not_grow_with_the_frames",
            streams::memory_does_not_grow_with_the_frames,
            false,
        ),
        #[cfg(unix)]
        (
            "streams::a_file_that_grows_too_large_is_told_and_leaves_nothing",
            streams::a_file_that_grows_too_large_is_told_and_leaves_nothing,
            false,
        ),
    ];
    common::trials::named(trials)
}
