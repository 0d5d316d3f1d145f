//! The arguments of every command that opens a stage.

use std::path::PathBuf;

use sinew_io::usd::VariantSelection;
use sinew_io::{ClipChoice, OpenOptions};

/// How IN is composed.
#[derive(clap::Args)]
pub struct OpenArgs {
    /// Variant to select, over what the files select; name several sets one behind the other. May be
    /// repeated.
    #[arg(long, value_name = "PRIM{SET=NAME}")]
    variant: Vec<VariantSelection>,
    /// Folder where assets named without ./ are looked for, before those that
    /// PXR_AR_DEFAULT_SEARCH_PATH lists. May be repeated.
    #[arg(long, value_name = "DIR")]
    search_path: Vec<PathBuf>,
    /// Clip to take from a glTF, VRM, BVH or FBX file, instead of its first.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
}

impl OpenArgs {
    /// # Errors
    /// A search path that is no folder.
    pub fn options(&self) -> sinew::Result<OpenOptions> {
        if let Some(folder) = self.search_path.iter().find(|p| !p.is_dir()) {
            return Err(sinew::Error::Request(format!(
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
