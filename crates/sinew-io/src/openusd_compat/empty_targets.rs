//! Works around: openusd 0.8's flatten drops relationships whose targets are authored as an empty list. An empty
//! `skel:animationSource` blocks the one that a Skeleton would inherit (rule 3), so the drop changes the animation.
//!
//! See the fault: a Skeleton with `rel skel:animationSource = []` below a prim that names an animation; flatten the
//! stage, and the relationship is gone.
//!
//! Test: `targets_authored_as_none_stay_none` in `crates/sinew-cli/tests/commands/stages.rs`.
//!
//! Goes when: that test passes with `restore` left out.

use openusd::{sdf, usd};

/// Relationships whose targets are authored as none at all, which openusd's flatten forgets: an empty
/// skel:animationSource blocks what it would inherit (rule 3).
pub(crate) fn lost_blocks(
    stage: &usd::Stage,
    flat: &sdf::Layer,
) -> Result<Vec<sdf::Path>, openusd::Error> {
    let key = sdf::FieldKey::TargetPaths.as_str();
    let mut out = Vec::new();
    for path in flat.data().spec_paths() {
        if flat.data().spec_type(&path) != Some(sdf::SpecType::Relationship)
            || flat.data().try_field(&path, key)?.is_some()
        {
            continue;
        }
        if stage.relationship(&path)?.has_authored_targets()? {
            out.push(path);
        }
    }
    Ok(out)
}

/// Writes an empty list of targets to each of these relationships of the flattened layer.
pub(crate) fn restore(data: &mut dyn sdf::AbstractData, relationships: Vec<sdf::Path>) {
    for path in relationships {
        let key = sdf::FieldKey::TargetPaths.as_str();
        let none = sdf::PathListOp::explicit(Vec::new());
        data.set_field(&path, key, none.into());
    }
}
