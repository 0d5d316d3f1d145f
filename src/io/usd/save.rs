//! The root layer, edits and all, saved under another name.

use std::path::{Path, PathBuf};

use openusd::{sdf, usd_utils};

use super::output;
use super::read::{UsdFile, explain};
use super::write::relative_to;
use crate::error::{Error, Result};

impl UsdFile {
    /// Writes the root layer, as edited, to another file, in the format of its extension. References, sublayers
    /// and textures are not copied: in another folder the paths to them are written anew, relative to it.
    ///
    /// # Errors
    /// A .usdz on either side, which has more than a layer; a file that is read from; a file that
    /// cannot be written.
    pub fn save_as(&self, out: impl AsRef<Path>) -> Result<()> {
        let out = out.as_ref();
        let fail = |reason: String| Error::Write {
            file: out.to_owned(),
            reason,
        };
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
        let mut layer = self.root_layer_copy().map_err(|e| fail(explain(&e)))?;
        let folder = parent(self.file());
        let same_folder = parent(out).canonicalize().ok() == folder.canonicalize().ok();
        if !same_folder {
            usd_utils::modify_asset_paths(&mut layer, |path| moved(path, &folder, out), true)
                .map_err(|e| fail(explain(&e)))?;
        }
        output::export(&layer, out)
    }

    fn root_layer_copy(&self) -> std::result::Result<sdf::Layer, openusd::Error> {
        let root = self.stage.root_layer();
        let from = root.data();
        let mut specs = Vec::new();
        for path in from.spec_paths() {
            let mut fields = Vec::new();
            for field in from.list_fields(&path).unwrap_or_default() {
                if let Some(value) = from.try_field(&path, &field)? {
                    fields.push((field, value.into_owned()));
                }
            }
            specs.push((from.spec_type(&path), path, fields));
        }
        let mut copy = sdf::Layer::new_anonymous("copy");
        copy.edit(|edit| {
            for (kind, path, fields) in specs {
                if let Some(kind) = kind {
                    edit.data_mut().create_spec(path.clone(), kind);
                }
                for (field, value) in fields {
                    edit.data_mut().set_field(&path, &field, value);
                }
            }
            Ok(())
        })?;
        Ok(copy)
    }
}

fn parent(file: &Path) -> PathBuf {
    match file.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A layer's asset path as seen from `out`. Paths that start with `./` or `../` are the layer's own; others are
/// where the file is found beside the layer, and else are left to the search paths.
fn moved(path: &str, folder: &Path, out: &Path) -> String {
    // A file in a package: package.usdz[file].
    let (file, inside) = path.split_at(path.find('[').unwrap_or(path.len()));
    let anchored = file.starts_with("./") || file.starts_with("../");
    let beside = || {
        let whole = folder.join(file);
        whole.exists() || super::udim::tiles(file).any(|tile| folder.join(tile).exists())
    };
    if file.is_empty() || Path::new(file).is_absolute() || !(anchored || beside()) {
        return path.to_owned();
    }
    format!("{}{inside}", relative_to(&folder.join(file), out))
}
