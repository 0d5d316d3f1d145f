//! Works around: openusd 0.8 makes asset paths absolute in a flattened layer only where a file has that name. No file is named
//! `skin.<UDIM>.png`, so UDIM paths stay relative and no longer lead to their tiles.
//!
//! See the fault: flatten a layer with `asset inputs:file = @./tex/skin.<UDIM>.png@` to another folder.
//!
//! Test: `udim_textures_keep_resolving` in `crates/sinew-cli/tests/commands/cli.rs`.
//!
//! Goes when: that test passes without [`anchor`]. [`tiles`] stays: packages and copies look for tiles too.

use std::path::{Path, PathBuf};

const MARK: &str = "<UDIM>";

/// The path of each tile that may be there, 1001 to 1100; none for a path without `<UDIM>`.
pub(crate) fn tiles(path: &str) -> impl Iterator<Item = String> + '_ {
    (1001..=1100)
        .filter(|_| path.contains(MARK))
        .map(move |tile| path.replace(MARK, &tile.to_string()))
}

/// A relative UDIM path made absolute by the first of `folders` where a tile of it is. Composition
/// anchors other paths itself, and leaves these because no file has their name.
pub(crate) fn anchor(path: &str, folders: &[PathBuf]) -> Option<String> {
    if !path.contains(MARK) || Path::new(path).is_absolute() {
        return None;
    }
    let clean = path.strip_prefix("./").unwrap_or(path);
    let folder = folders
        .iter()
        .find(|folder| tiles(clean).any(|tile| folder.join(tile).is_file()))?;
    Some(folder.join(clean).to_string_lossy().into_owned())
}
