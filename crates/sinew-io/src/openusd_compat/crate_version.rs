//! Works around: versions of crate files that openusd 0.8 reads wrongly without an error. Here they are refused.
//!
//! Before 0.7 arrays were counted in 32 bits. openusd takes counts of all else for 32 bits there too, or of strings and asset
//! paths for 64: the times of samples become zeros and values next to zero (0.5, 0.6) or none at all, so that the samples are
//! gone (0.4), without an error; arrays of strings do not decode.
//!
//! See the fault: read a crate of version 0.5 or 0.6 that has time samples with openusd alone.
//!
//! Test: `crate_versions` and `no_command_reads_a_crate_of_another_version` in `crates/sinew-cli/tests/commands/types.rs`.
//!
//! Goes when: openusd reads such a file as usd-core does.

use crate::openusd_compat::hazards::Marks;

/// What is read, in words.
pub(crate) const READ: &str = "crate version 0.7 to 0.12, or 0.4 without time samples and arrays of strings (have USD's own usdcat \
     write the file anew)";

/// Refuses a crate by its first eleven bytes; what is no crate passes.
///
/// # Errors
/// The version that was found, in words.
pub(crate) fn check(head: &[u8]) -> Result<(), String> {
    match version(head) {
        None | Some([0, 4 | 7..=12, _]) => Ok(()),
        Some([major, minor, patch]) => Err(format!("crate version {major}.{minor}.{patch}")),
    }
}

/// Refuses a crate of a version that is read, for values that are not.
///
/// # Errors
/// The version that was found, in words.
pub(crate) fn check_values(head: &[u8], marks: Marks) -> Result<(), String> {
    match version(head) {
        Some([0, 4, patch]) if marks.counted => Err(format!(
            "crate version 0.4.{patch} with time samples or arrays of strings"
        )),
        _ => Ok(()),
    }
}

fn version(head: &[u8]) -> Option<[u8; 3]> {
    head.strip_prefix(b"PXR-USDC")?.first_chunk().copied()
}
