//! Comparison with what usd-core says of a stage.

use serde_json::Value;
use sinew::scene::BoundSkin;

/// The same Skeleton and animation as usd-core's, given as `{"skeleton": path, "animation": path}`.
///
/// # Errors
/// Text with both.
pub fn same_binding(ours: &BoundSkin<'_>, theirs: &Value) -> Result<(), String> {
    let placed = ours.skeleton();
    let animation = placed.instance.animation().map(|a| a.path.as_str());
    let got = (Some(placed.path.as_str()), animation);
    let want = (theirs["skeleton"].as_str(), theirs["animation"].as_str());
    if got == want {
        return Ok(());
    }
    let prim = &ours.binding().path;
    Err(format!("{prim}: bound to {got:?}, at Pixar's to {want:?}"))
}
