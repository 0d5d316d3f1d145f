//! Layers that this crate reads and writes, against usd-core 26.11, and texts that are broken in thousands of ways.
//!
//! `SINEW_PYTHON` names a Python with usd-core; without one the comparisons show as ignored.

mod crate_reader;
mod crate_writer;
mod splines;
mod text;
#[path = "../../../../tests/common/usd_core.rs"]
mod usd_core;

use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};

use usd_core::{Done, against_usd_core};

fn main() {
    let mut trials = vec![
        Trial::test("mutated_texts_are_errors_or_layers", text::mutated),
        Trial::test(
            "deep_and_long_texts_take_linear_time",
            text::take_linear_time,
        ),
        Trial::test("splines_have_the_values_of_usd_core", splines::kept),
        against_usd_core("many_splines_have_the_values_of_usd_core", splines::many),
        against_usd_core("usd_core_reads_back_what_it_wrote", text::read_back),
        against_usd_core("every_value_type", crate_writer::every_value_type),
        against_usd_core("every_kind_of_spec", crate_writer::every_kind_of_spec),
        against_usd_core("values_in_metadata", crate_writer::values_in_metadata),
        against_usd_core("splines_and_edits", crate_writer::splines_and_edits),
        against_usd_core("long_arrays", crate_writer::long_arrays),
        against_usd_core("placed_samples", crate_writer::placed_samples),
        against_usd_core("values_without_text", crate_writer::values_without_text),
        against_usd_core("versions", crate_writer::versions),
    ];
    trials.extend(crate_reader::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Runs a script of this folder, and gives what it prints.
fn python(script: &str, arguments: &[&str]) -> Result<String, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layers");
    usd_core::run(&folder, script, arguments)
}
