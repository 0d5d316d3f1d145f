//! UDIM textures: one asset path, with `<UDIM>` in it, for many files.

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
