//! How files are opened and read.

use std::path::PathBuf;

use crate::usd::variants::VariantSelection;
use sinew::skel::AnimSource;

/// How a stage is composed.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Variants to select, stronger than any selection in the files; of two for one set the last.
    pub variants: Vec<VariantSelection>,
    /// Folders where assets named without `./` are looked for, before the folders that
    /// `PXR_AR_DEFAULT_SEARCH_PATH` lists and after the folder of the layer that names them and the
    /// working directory.
    pub search_paths: Vec<PathBuf>,
    /// Which clips of a file of another format than USD.
    pub clips: ClipChoice,
}

/// How a file is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Where a skeleton's animation is looked for.
    pub anim_source: AnimSource,
}

/// Which clips are converted. One of them is bound to the Skeletons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClipChoice {
    /// The first of the file, where there is any.
    #[default]
    First,
    /// The one of this name. Where there is none, names joined by `+` are clips that play at once, as one: Blender exports
    /// a character's bones and its shape keys as two. Where both move the same, the earlier in the list counts.
    Named(String),
    /// All; the first is bound.
    All,
}
