//! What keeps meshes, materials and pictures from being drawn as the file means them.

use super::Findings;
use sinew::error::Result;
use sinew::scene::Scene;
use sinew_io::usd::UsdFile;

/// Comes last: what skinning had to say of a prim or a property is not told again.
pub(super) fn check(file: &UsdFile, scene: &Scene, findings: &mut Findings) -> Result<()> {
    let geometry = file.geometry(scene)?;
    for error in &geometry.errors {
        if !findings.has_error_at(&error.prim)
            && let Some(code) = error.code
        {
            findings.add(code, &error.prim, &error.property, error.brief());
        }
    }
    for w in &geometry.warnings {
        let told = |f: &super::Finding| f.path == w.path && f.property == w.property;
        if w.property.is_empty() || !findings.list.iter().any(told) {
            findings.add(w.code, &w.path, &w.property, w.message.as_str());
        }
    }
    Ok(())
}
