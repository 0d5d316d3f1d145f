//! A character of another format than USD, as the USD file that a layer can reference.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew::error::Warning;
use sinew_layer::Layer;

use crate::OpenOptions;
use crate::error::Result;
use crate::output::Outputs;
use crate::usd::UsdFile;
use crate::usd::write::flatten::relative_to;
use crate::usd::write::save;

/// A converted character, which is written beside the layer.
#[derive(Debug)]
pub(super) struct Converted {
    /// The stage that was made of its file.
    made: UsdFile,
    /// `OUT_character.usdc`.
    file: PathBuf,
    /// The layer in memory. Its textures are not written yet.
    layer: Arc<Layer>,
}

impl Converted {
    /// Converts a character for the layer `out`. Nothing is written.
    ///
    /// # Errors
    /// A scene that cannot be read; an output that is one of the character's files.
    pub fn new(mut made: UsdFile, out: &Path) -> Result<Self> {
        let stem = out.file_stem().unwrap_or_default().to_string_lossy();
        let file = out.with_file_name(format!("{stem}_character.usdc"));
        made.check_outputs([out, &file])?;
        let scene = made.scene(Default::default())?;
        made.author_extents(&scene, None)?;
        let layer = Arc::new(made.root_layer());
        Ok(Self { made, file, layer })
    }

    /// The file that is written.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The stage of the file that is written.
    ///
    /// # Errors
    /// A stage that cannot be composed.
    pub fn stage(&self) -> Result<UsdFile> {
        let name = std::path::absolute(&self.file).unwrap_or_else(|_| self.file.clone());
        let name = name.to_string_lossy().into_owned();
        let root = [(name.clone(), Arc::clone(&self.layer))];
        UsdFile::compose(&self.file, &name, &OpenOptions::default(), root)
    }

    /// Its asset path in the layer `out`, and the layer that stands for it until it is written.
    pub fn in_memory(&self, out: &Path) -> (String, Arc<Layer>) {
        (relative_to(&self.file, out), Arc::clone(&self.layer))
    }

    /// The warning that says what was converted.
    pub fn warning(&self) -> Warning {
        let source = self.made.file().display();
        let message = format!(
            "converted to {}, because a layer can reference only USD files; later changes of {source} do not reach it",
            self.file.display()
        );
        Warning::new("character-copied", source.to_string(), message)
    }

    /// Writes the file and its textures.
    ///
    /// # Errors
    /// A file or a folder that cannot be written.
    pub fn save(&self, outputs: &mut Outputs) -> Result<()> {
        let mut layer = Layer::clone(&self.layer);
        self.made.move_paths(&mut layer, &self.file)?;
        self.made.write_pictures(&mut layer, &self.file, outputs)?;
        save::export_with(&layer, &self.file, outputs)
    }
}
