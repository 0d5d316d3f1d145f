//! The arguments of every command that opens a stage.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use sinew::skel::AnimSource;
use sinew_io::usd::{ReadOptions, VariantSelection};
use sinew_io::{ClipChoice, OpenOptions};

/// The extensions of USD files.
pub const USD: [&str; 4] = ["usda", "usdc", "usd", "usdz"];

/// Refuses an output with another extension than these, before anything is read.
///
/// # Errors
/// Wrong usage; the error lists the extensions.
pub fn check_extension(output: &Path, expected: &[&str]) -> Result<()> {
    let found = sinew_io::extension(output);
    if expected.contains(&found.as_str()) {
        return Ok(());
    }
    let found = match found.as_str() {
        "" => "none".to_owned(),
        found => format!(".{found}"),
    };
    let (last, others) = expected.split_last().unwrap_or((&"", &[]));
    let reason = format!(
        "expected the extension .{} or .{last}, found {found}",
        others.join(", .")
    );
    Err(Error::bad_output(output, reason))
}

/// Parses one of these words, each of which stands for a value. The help lists them.
pub fn one_of<T: Clone + Send + Sync + 'static, const N: usize>(
    values: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let words = values.iter().map(|(word, _)| *word);
    let words = PossibleValuesParser::new(words.collect::<Vec<_>>());
    words.try_map(move |word| {
        let found = values.iter().find(|(known, _)| *known == word);
        found.map(|(_, value)| value.clone()).ok_or("unknown")
    })
}

/// Where the animation of a Skeleton is searched. Flattened into the arguments of several commands.
#[derive(clap::Args, Clone, Copy)]
pub struct AnimArgs {
    /// Where to look for the animation of a Skeleton.
    ///
    /// skeleton: at the Skeleton and at the prims above it, as Pixar's code does. binding: at the
    /// prim that binds skel:skeleton, as the schema's text says.
    #[arg(long, default_value = "skeleton")]
    #[arg(value_parser = one_of([
        ("skeleton", AnimSource::AtSkeleton),
        ("binding", AnimSource::AtBinding),
    ]))]
    anim_source: AnimSource,
}

impl AnimArgs {
    /// Where to search.
    pub fn source(self) -> AnimSource {
        self.anim_source
    }

    /// The options with which a scene is read.
    pub fn read(self) -> ReadOptions {
        ReadOptions {
            anim_source: self.source(),
        }
    }
}

/// How IN is composed. Flattened into the arguments of several commands.
#[derive(clap::Args, Clone)]
pub struct OpenArgs {
    #[command(flatten)]
    compose: ComposeArgs,
    #[command(flatten)]
    clip: ClipArgs,
}

/// Which clip of IN plays. Flattened into the arguments of several commands.
#[derive(clap::Args, Clone)]
pub struct ClipArgs {
    /// Clip to play.
    ///
    /// NAME is the name of the clip, or if only one clip matches, the last words of its name (Wave
    /// for Armature|Wave) or a glob. In a USD file every SkelAnimation is a clip, which NAME may also
    /// name by its prim path. The clip moves the skeletons that have the joints of the clip. Without
    /// this, a USD file plays the clip that skel:animationSource names, and any other file its first
    /// clip that moves anything.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
}

/// How the layers of IN are put together. Flattened into the arguments of several commands.
#[derive(clap::Args, Clone)]
pub struct ComposeArgs {
    /// Variant to select instead of the file's own selection.
    ///
    /// Several variant sets of one prim are written one after another: PRIM{A=x}{B=y}. May be
    /// repeated.
    #[arg(long, value_name = "PRIM{SET=NAME}")]
    variant: Vec<VariantSelection>,
    /// Folder to search for assets whose paths do not begin with ./, ../ or /.
    ///
    /// It is searched before the folders of PXR_AR_DEFAULT_SEARCH_PATH. May be repeated.
    #[arg(long, value_name = "DIR")]
    search_path: Vec<PathBuf>,
}

impl OpenArgs {
    /// The options for the library.
    ///
    /// # Errors
    /// A search path is not a folder.
    pub fn options(&self) -> Result<OpenOptions> {
        self.compose.options(match &self.clip.clip {
            Some(name) => ClipChoice::Named(name.clone()),
            None => ClipChoice::First,
        })
    }
}

impl ComposeArgs {
    /// The options for the library.
    ///
    /// # Errors
    /// A search path is not a folder.
    pub fn options(&self, clips: ClipChoice) -> Result<OpenOptions> {
        if let Some(folder) = self.search_path.iter().find(|p| !p.is_dir()) {
            return Err(Error::Message(format!(
                "--search-path: there is no folder {}",
                folder.display()
            )));
        }
        Ok(OpenOptions {
            variants: self.variant.clone(),
            search_paths: self.search_path.clone(),
            clips,
            ..OpenOptions::default()
        })
    }
}
