//! Which clips of an asset are written.

use crate::error::Result;
use crate::usd::{ClipChoice, find_asset_clip, first_clip};
use sinew_animate::asset::Asset;

/// The asset with some of its clips only. Names joined by `+` are clips that become one; if both
/// move the same, the earlier one counts.
///
/// # Errors
/// Those of [`find_asset_clip`].
pub fn choose_clips(mut asset: Asset, choice: &ClipChoice) -> Result<Asset> {
    match choice {
        ClipChoice::All => {}
        ClipChoice::First => {
            let first = first_clip(&asset).map(|clip| asset.clips.swap_remove(clip));
            asset.clips = first.into_iter().collect();
        }
        ClipChoice::Named(name) => asset.clips = vec![find_asset_clip(&asset, name)?],
    }
    Ok(asset)
}
