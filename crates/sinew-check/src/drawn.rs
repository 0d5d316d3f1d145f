//! Meshes, materials and images that cannot be drawn as authored.

use super::{Findings, Result};
use sinew::scene::Scene;
use sinew_io::usd::UsdFile;

/// Returns whether there is something to draw. It must run last, because it skips prims and
/// properties that other checks have already reported.
pub(super) fn check(file: &UsdFile, scene: &Scene, findings: &mut Findings) -> Result<bool> {
    let geometry = file.geometry(scene)?;
    for error in &geometry.errors {
        if !findings.has_error_at(&error.prim)
            && let Some(code) = error.code
        {
            findings.add(code, &error.prim, &error.property, error.brief());
        }
    }
    for w in &geometry.warnings {
        let reported = |f: &super::Finding| f.path == w.path && f.property == w.property;
        if w.property.is_empty() || !findings.list.iter().any(reported) {
            findings.add(w.code, &w.path, &w.property, w.message.as_str());
        }
    }
    let mut skeletons = scene.instances.iter().chain(&scene.unbound_skeletons);
    let has_joints = skeletons.any(|s| !s.instance.skeleton().joints().is_empty());
    Ok(has_joints
        || geometry.meshes.iter().any(|m| m.topology.face_count() > 0)
        || !geometry.curves.is_empty())
}
