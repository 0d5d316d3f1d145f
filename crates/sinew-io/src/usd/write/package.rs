//! Packing a flattened layer and its textures into a .usdz.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::Path;

use openusd::ar::{ResolvedPath, Resolver};
use openusd::{sdf, usd_utils, usdz};

use crate::openusd_compat::crate_file;
use crate::openusd_compat::udim;
use crate::usd::explain::explain;
use crate::usd::resolver::CheckedResolver;
use crate::usd::write::output;
use sinew::error::{Error, Result, Warning};

/// Writes `layer` and every asset it names into one package. Assets that live inside another
/// package are taken out of it, since readers refuse nested ones. Paths to assets that are not
/// there are cleared, with a warning.
pub(crate) fn write_package(
    mut layer: sdf::Layer,
    output: &Path,
    resolver: CheckedResolver,
) -> Result<Vec<Warning>> {
    let fail = |reason: String| Error::Write {
        file: output.to_owned(),
        reason,
    };
    let mut assets = Assets {
        resolver,
        taken: HashMap::new(),
        entries: Vec::new(),
        missing: Vec::new(),
    };
    usd_utils::modify_asset_paths(&mut layer, |path| assets.localise(path), true)
        .map_err(|e| fail(explain(&e)))?;
    let stem = output
        .file_stem()
        .and_then(|s| s.to_str())
        .unwrap_or("scene");
    let mut root = Cursor::new(Vec::new());
    let format = sdf::LayerRegistry::find_by_extension("usdc")
        .ok_or_else(|| fail("no crate format".into()))?;
    crate_file::write(format, layer.data(), &mut root).map_err(|e| fail(explain(&e)))?;
    drop(layer);
    output::replace(output, |file: &mut BufWriter<&mut File>| {
        let mut archive = usdz::ArchiveWriter::new(file);
        // The first entry is the layer that opens.
        archive
            .add_layer(&format!("{stem}.usdc"), root.get_ref())
            .map_err(|e| explain(&e))?;
        for (name, asset) in &assets.entries {
            let bytes = assets.resolver.open_asset(asset);
            let bytes = bytes
                .and_then(|mut a| a.read_all())
                .map_err(|e| format!("{asset}: {e}"))?;
            archive.add_layer(name, &bytes).map_err(|e| explain(&e))?;
        }
        archive.finish().map_err(|e| explain(&e))?;
        Ok(())
    })?;
    let message = "is not there, so it is not packed; the path to it is cleared";
    let missing = assets.missing.into_iter();
    Ok(missing
        .map(|path| Warning::new("asset-missing", path, message))
        .collect())
}

/// Gives assets entries in the package and tells their new paths.
struct Assets {
    resolver: CheckedResolver,
    /// New path by resolved file.
    taken: HashMap<String, String>,
    entries: Vec<(String, ResolvedPath)>,
    missing: Vec<String>,
}

impl Assets {
    fn localise(&mut self, path: &str) -> String {
        if path.is_empty() {
            return String::new();
        }
        // One file may be spelled in several ways.
        let resolved = self.resolver.resolve(path);
        let file = resolved
            .as_ref()
            .map_or_else(|| path.to_owned(), ToString::to_string);
        if let Some(known) = self.taken.get(&file) {
            return known.clone();
        }
        // A folder for each, so that equal names do not meet.
        let folder = self.taken.len().to_string();
        // UDIM textures are one path for many files.
        let files: Vec<(String, ResolvedPath)> = match resolved {
            Some(r) => vec![(path.to_owned(), r)],
            None => udim::tiles(path)
                .filter_map(|tile| Some((tile.clone(), self.resolver.resolve(&tile)?)))
                .collect(),
        };
        let new = if files.is_empty() {
            self.missing.push(path.to_owned());
            String::new()
        } else {
            format!("./{folder}/{}", base_name(path))
        };
        for (path, resolved) in files {
            let entry = format!("{folder}/{}", base_name(&path));
            self.entries.push((entry, resolved));
        }
        self.taken.insert(file, new.clone());
        new
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
