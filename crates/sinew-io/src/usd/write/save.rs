//! The root layer, edits and all, saved under another name.

use std::path::Path;

use crate::usd::explain::explain;
use crate::usd::read::scene::UsdFile;
use crate::usd::write::edits::BakeEdits;
use crate::usd::write::output;
use sinew::error::{Error, Result, Warning};

impl UsdFile {
    /// Writes the root layer, as edited, to another file, in the format of its extension. References, sublayers
    /// and textures are not copied: in another folder the paths to them are written anew, relative to it.
    ///
    /// What was made from another format is written whole, to a .usdz too: beside other files the textures go to a
    /// folder of the file's name with `_textures`.
    ///
    /// # Errors
    /// A .usdz on either side of a USD file, which has more than a layer; a file that is read from; a file that
    /// cannot be written.
    pub fn save_as(&self, out: impl AsRef<Path>) -> Result<()> {
        let out = out.as_ref();
        let fail = |reason: String| Error::Write {
            file: out.to_owned(),
            reason,
        };
        if self.made.is_some() {
            self.check_output(out)?;
            let layer = self.root_layer_copy(out).map_err(|e| fail(explain(&e)))?;
            return self.write_whole(layer, out).map(|_| ());
        }
        for file in [self.file(), out] {
            if file
                .extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("usdz"))
            {
                let file = file.display();
                return Err(fail(format!(
                    "{file} is a package, which is more than a layer"
                )));
            }
        }
        self.check_output(out)?;
        self.check_root_values(out)?;
        let layer = self.root_layer_copy(out).map_err(|e| fail(explain(&e)))?;
        output::export(&layer, out)
    }

    /// Writes the whole file, as edited, in the way that the extension wants: [`UsdFile::save_as`], and flattened into one
    /// layer where a package is on either side.
    ///
    /// # Errors
    /// A file that is read from; a file that cannot be written.
    pub fn write(&self, out: impl AsRef<Path>) -> Result<Vec<Warning>> {
        let out = out.as_ref();
        if self.made.is_none() && self.mends_flattened(out) {
            self.check_output(out)?;
            return self.write_flattened(out, BakeEdits::default());
        }
        self.save_as(out).map(|()| Vec::new())
    }
}
