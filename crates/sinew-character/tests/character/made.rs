//! Characters of these tests: a skinned body of two materials, a face that only blends, a hat that stands still, and two
//! clips. The skeleton is turned by 90 degrees about Y, so that its x axis is -z of the world.

use std::path::PathBuf;

/// The character.
pub const HERO: &str = "hero.usda";

/// With a second character in the file, which has a skeleton of its own.
pub const TWINS: &str = "twins.usda";

/// [`TWINS`] whose second skeleton has no restTransforms, and of the clips only `Walk`.
pub const TWIN_WITHOUT_REST: &str = "twin_without_rest.usda";

/// The same without any clip.
pub const TWIN_WITHOUT_CLIPS: &str = "twin_without_clips.usda";

pub fn scene(name: &str) -> PathBuf {
    let folder = common::repository().join("crates/sinew-character/tests/character/scenes");
    folder.join(name)
}

/// The character with changes of its text, in a folder with its texture.
pub fn changed(changes: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let mut text = std::fs::read_to_string(scene(HERO)).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(HERO);
    std::fs::write(&file, text).unwrap();
    std::fs::copy(scene("cloth.png"), folder.path().join("cloth.png")).unwrap();
    (folder, file)
}
