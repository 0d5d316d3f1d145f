//! Works around: openusd 0.8 writes the name of the field `inheritPaths` to usda text, where the grammar has the keyword
//! `inherits`. It then cannot read the file that it wrote.
//!
//! See the fault: set `inheritPaths` on a prim and save the layer as .usda.
//!
//! Test: `instances_that_come_out_the_same_are_written_once` in `crates/sinew-cli/tests/commands/stages.rs`.
//!
//! Goes when: openusd writes `inherits`.

use openusd::sdf;

/// The name under which a layer has to hold a prim's classes, so that its file says `inherits`.
pub(crate) fn inherits_field(as_text: bool) -> &'static str {
    match as_text {
        true => "inherits",
        false => sdf::FieldKey::InheritPaths.as_str(),
    }
}
