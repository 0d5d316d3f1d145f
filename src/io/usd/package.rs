//! Packing a flattened layer and its textures into a .usdz.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use openusd::ar::Resolver;
use openusd::{sdf, usd, usd_utils};

use super::output;
use super::read::explain;
use super::resolver::CheckedResolver;
use crate::error::{Error, Result, Warning};

/// Writes `layer` and every asset it names into one package. Assets that live inside another
/// package are taken out of it, since readers refuse nested ones. Assets that are not there keep
/// their paths, with a warning.
pub(super) fn write_package(mut layer: sdf::Layer, output: &Path) -> Result<Vec<Warning>> {
    let fail = |reason: String| Error::Write {
        file: output.to_owned(),
        reason,
    };
    let work = work_folder_beside(output).map_err(|e| fail(e.to_string()))?;
    let mut assets = Assets {
        folder: work.path().to_owned(),
        resolver: CheckedResolver::new(),
        taken: HashMap::new(),
        missing: Vec::new(),
        error: None,
    };
    usd_utils::modify_asset_paths(&mut layer, |path| assets.localise(path), true)
        .map_err(|e| fail(explain(&e)))?;
    if let Some(e) = assets.error {
        return Err(fail(e));
    }
    let stem = output
        .file_stem()
        .and_then(|s| s.to_str())
        .unwrap_or("scene");
    let name = format!("{stem}.usdc");
    let root = work.path().join(&name);
    let root_text = root
        .to_str()
        .ok_or_else(|| fail("its name is not UTF-8".into()))?;
    output::export(&layer, &root)?;
    drop(layer);
    let stage = usd::Stage::builder()
        .schema_registry(openusd_schemas::schema_registry())
        .open(root_text)
        .map_err(|e| fail(explain(&e)))?;
    usd_utils::create_new_usdz_package(&stage, root_text, output, Some(&name))
        .map_err(|e| fail(explain(&e)))?;
    Ok(assets
        .missing
        .into_iter()
        .map(|path| {
            Warning::new(
                "asset-missing",
                path,
                "is not there, so it is not packed; the path to it is cleared",
            )
        })
        .collect())
}

/// Copies assets beside the layer and tells their new paths.
struct Assets {
    folder: PathBuf,
    resolver: CheckedResolver,
    taken: HashMap<String, String>,
    missing: Vec<String>,
    error: Option<String>,
}

impl Assets {
    fn localise(&mut self, path: &str) -> String {
        if path.is_empty() {
            return String::new();
        }
        // One file may be spelled in several ways.
        let file = self
            .resolver
            .resolve(path)
            .map_or_else(|| path.to_owned(), |p| p.to_string());
        if let Some(known) = self.taken.get(&file) {
            return known.clone();
        }
        let new = self.copy(path);
        self.taken.insert(file, new.clone());
        new
    }

    fn copy(&mut self, path: &str) -> String {
        // UDIM textures are one path for many files; each tile there is copied.
        if path.contains("<UDIM>") {
            let number = self.taken.len();
            let mut any = false;
            for tile in 1001..=1100 {
                let tile_path = path.replace("<UDIM>", &tile.to_string());
                any |= self.copy_one(&tile_path, number).is_some();
            }
            if any {
                return format!("./{number}/{}", base_name(path));
            }
        } else if let Some(new) = self.copy_one(path, self.taken.len()) {
            return new;
        }
        self.missing.push(path.to_owned());
        String::new()
    }

    fn copy_one(&mut self, path: &str, number: usize) -> Option<String> {
        let resolved = self.resolver.resolve(path)?;
        let name = base_name(path);
        let folder = self.folder.join(number.to_string());
        let result = fs::create_dir_all(&folder)
            .and_then(|()| self.resolver.open_asset(&resolved)?.read_all())
            .and_then(|bytes| fs::write(folder.join(&name), bytes));
        if let Err(e) = result {
            self.error.get_or_insert(format!("asset {path}: {e}"));
            return None;
        }
        Some(format!("./{number}/{name}"))
    }
}

/// File name of an asset path, of the innermost file where it is inside a package.
fn base_name(path: &str) -> String {
    let inner = path
        .trim_end_matches(']')
        .rsplit('[')
        .next()
        .unwrap_or(path);
    inner.rsplit(['/', '\\']).next().unwrap_or(inner).to_owned()
}

/// A scratch folder beside the output (on the same disk, so that no other one can fill), gone when
/// dropped.
fn work_folder_beside(output: &Path) -> std::io::Result<tempfile::TempDir> {
    let parent = match output.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    tempfile::Builder::new()
        .prefix(".")
        .suffix(".tmp")
        .tempdir_in(parent.canonicalize()?)
}
