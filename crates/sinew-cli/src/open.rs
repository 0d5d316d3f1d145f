//! The arguments of every command that opens a stage.

use crate::error::{Error, Result};
use std::path::PathBuf;

use clap::ValueEnum;
use sinew::skel::AnimSource;
use sinew_io::usd::{ReadOptions, VariantSelection};
use sinew_io::{ClipChoice, OpenOptions};

/// Where the animation of a Skeleton is searched. Flattened into the arguments of several commands.
#[derive(clap::Args, Clone, Copy)]
pub struct AnimArgs {
    /// Where the animation is searched: at the Skeleton and above it, as in Pixar's code, or at the
    /// prim that binds skel:skeleton, as in the schema's text.
    #[arg(long, value_enum, default_value_t = AnimSourceArg::Skeleton)]
    anim_source: AnimSourceArg,
}

#[derive(Clone, Copy, ValueEnum)]
enum AnimSourceArg {
    Skeleton,
    Binding,
}

impl AnimArgs {
    /// Where to search.
    pub fn source(self) -> AnimSource {
        match self.anim_source {
            AnimSourceArg::Skeleton => AnimSource::AtSkeleton,
            AnimSourceArg::Binding => AnimSource::AtBinding,
        }
    }

    /// The options with which a scene is read.
    pub fn read(self) -> ReadOptions {
        ReadOptions {
            anim_source: self.source(),
        }
    }
}

/// How IN is composed. Flattened into the arguments of several commands.
#[derive(clap::Args)]
pub struct OpenArgs {
    /// Variant to select instead of the file's own selection. For several sets of one prim append
    /// them: PRIM{A=x}{B=y}. May be repeated.
    #[arg(long, value_name = "PRIM{SET=NAME}")]
    variant: Vec<VariantSelection>,
    /// Folder in which assets named without ./ are searched, before the folders of
    /// PXR_AR_DEFAULT_SEARCH_PATH. May be repeated.
    #[arg(long, value_name = "DIR")]
    search_path: Vec<PathBuf>,
    /// Clip to take from a glTF, VRM, BVH or FBX file, instead of the first one.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
}

impl OpenArgs {
    /// The options for the library.
    ///
    /// # Errors
    /// A search path is not a folder.
    pub fn options(&self) -> Result<OpenOptions> {
        if let Some(folder) = self.search_path.iter().find(|p| !p.is_dir()) {
            return Err(Error::Message(format!(
                "--search-path: there is no folder {}",
                folder.display()
            )));
        }
        Ok(OpenOptions {
            variants: self.variant.clone(),
            search_paths: self.search_path.clone(),
            clips: match &self.clip {
                Some(name) => ClipChoice::Named(name.clone()),
                None => ClipChoice::First,
            },
        })
    }
}
