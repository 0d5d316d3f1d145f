//! Works around: openusd 0.8 hides a map of time samples that holds nothing but blocks. `Attribute::time_samples` gives
//! nothing, although the attribute has no value at any time.
//!
//! See the fault: `float a = 1` with `a.timeSamples = { 0: None }`: `time_samples` gives nothing, `get_at(0)` gives no
//! value.
//!
//! Test: `samples_that_are_all_blocked_are_no_value` in `crates/sinew-bake/tests/rules/semantics.rs`.
//!
//! Goes when: `time_samples` gives the blocked samples.

use openusd::{sdf, usd};

/// Whether an attribute with a default, of which openusd gives no samples, is blocked at every time.
pub(crate) fn is_blocked_at_all_times(attribute: &usd::Attribute) -> Result<bool, openusd::Error> {
    let value = attribute.get_at::<sdf::Value>(usd::TimeCode::new(0.0))?;
    Ok(value.is_none())
}
