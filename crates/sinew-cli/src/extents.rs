//! The extents of SkelRoots that convert, retarget and humanoid write.

use sinew::scene::Scene;
use sinew_io::usd::UsdFile;

use crate::error::Result;

/// Authors the extent of every SkelRoot at or above `prim`, or of all SkelRoots, for the animation
/// that is bound.
///
/// # Errors
/// The file cannot be edited.
pub fn author(file: &mut UsdFile, scene: &Scene, prim: Option<&str>) -> Result<()> {
    let mut extents = Vec::new();
    for root in &scene.skel_roots {
        let path = root.path.as_str();
        let concerns = prim.is_none_or(|prim| {
            let below = prim.strip_prefix(path);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if concerns && let Some(extent) = scene.skel_root_extent_of_clip(path)? {
            extents.push((path.to_owned(), extent));
        }
    }
    file.set_extents(&extents)?;
    Ok(())
}
