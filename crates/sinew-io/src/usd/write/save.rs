//! Layers as files: the edited root layer under another name, and packages (.usdz) of a layer and its textures.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::Path;

use openusd::ar::{ResolvedPath, Resolver};
use openusd::{sdf, usd_utils, usdz};

use super::edits::BakeEdits;
use super::flatten::{Authoring, has_extension, outermost_file, relative_to};
use crate::error::explain;
use crate::error::{Error, Result, Source};
use crate::openusd_compat::{crate_first_token, udim_paths};
pub(crate) use crate::output::{Outputs, replace};
use crate::usd::file::UsdFile;
use crate::usd::resolver::CheckedResolver;
use sinew::error::Warning;

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
        let fail = |source: Source| Error::Write {
            file: out.to_owned(),
            source,
        };
        if self.made.is_some() {
            self.check_output(out)?;
            let layer = self.root_layer_copy(out).map_err(|e| fail(e.into()))?;
            return self.write_whole(layer, out).map(|_| ());
        }
        for file in [self.file(), out] {
            if has_extension(file, "usdz") {
                let file = file.display();
                return Err(fail(
                    format!("{file} is a package, which is more than a layer").into(),
                ));
            }
        }
        self.check_output(out)?;
        self.check_root_values(out)?;
        let layer = self.root_layer_copy(out).map_err(|e| fail(e.into()))?;
        export(&layer, out)
    }

    /// Writes the whole file, as edited, in the format of the extension. If the file or the output
    /// is a package, the stage is flattened into one layer; else this is [`UsdFile::save_as`].
    ///
    /// # Errors
    /// An output that is one of the files that are read; a file that cannot be written.
    pub fn write(&self, out: impl AsRef<Path>) -> Result<Vec<Warning>> {
        let out = out.as_ref();
        if self.made.is_none() && self.fixes_are_flattened(out) {
            self.check_output(out)?;
            return self.write_flattened(out, BakeEdits::default());
        }
        self.save_as(out).map(|()| Vec::new())
    }
}

impl UsdFile {
    /// The root layer as it is in memory, to be written as `out`.
    pub(crate) fn root_layer_copy(
        &self,
        out: &Path,
    ) -> std::result::Result<sdf::Layer, openusd::Error> {
        let root = self.stage.root_layer();
        let mut layer = sdf::Layer::new_anonymous("copy");
        layer.edit(|edit| copy(root.data(), edit.data_mut()))?;
        let folder = outermost_file(root.identifier())
            .parent()
            .map_or_else(Default::default, Path::to_owned);
        usd_utils::modify_asset_paths(&mut layer, |path| anchored(path, &folder, out), true)?;
        Ok(layer)
    }
}

fn copy(from: &dyn sdf::AbstractData, to: &mut dyn sdf::AbstractData) -> Authoring {
    for path in from.spec_paths() {
        if let Some(kind) = from.spec_type(&path) {
            to.create_spec(path.clone(), kind);
        }
        for field in from.list_fields(&path).unwrap_or_default() {
            let value = from.get_field(&path, &field)?.into_owned();
            to.set_field(&path, &field, value);
        }
    }
    Ok(())
}

/// A path of a layer in `folder` as seen from the folder of `out`. Search paths, absolute paths,
/// addresses and expressions stay.
fn anchored(path: &str, folder: &Path, out: &Path) -> String {
    let (file, inside) = match path.find('[') {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    let spelled = file.starts_with("./") || file.starts_with("../");
    let odd = file.is_empty() || file.starts_with('`') || file.contains("://");
    if odd || Path::new(file).is_absolute() {
        return path.to_owned();
    }
    // A plain name is looked for beside the layer before it is searched for.
    let beside = folder.join(file);
    let tiled = udim_paths::tiles(file).any(|tile| folder.join(tile).is_file());
    if !spelled && !beside.exists() && !tiled {
        return path.to_owned();
    }
    let same_folder = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    let out_folder = match out.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    if same_folder(folder, out_folder) {
        return path.to_owned();
    }
    relative_to(&beside, out) + inside
}

/// Writes a layer beside `output` in the format of its extension, and renames it there.
///
/// # Errors
/// A folder that cannot be written to, a full disk, a value that the format cannot hold.
pub(crate) fn export(layer: &sdf::Layer, output: &Path) -> Result<()> {
    let mut outputs = Outputs::default();
    export_with(layer, output, &mut outputs)?;
    outputs.finish()
}

/// As [`export`], appearing with what else is in `outputs`.
pub(crate) fn export_with(layer: &sdf::Layer, output: &Path, outputs: &mut Outputs) -> Result<()> {
    let fail = |source: Source| Error::Write {
        file: output.to_owned(),
        source,
    };
    let extension = crate::extension(output);
    let format = sdf::LayerRegistry::find_by_extension(&extension)
        .ok_or_else(|| fail(format!("no USD format is named .{extension}").into()))?;
    outputs.file(output, |file| {
        crate_first_token::write(format, layer.data(), file).map_err(|e| explain(&e))
    })
}

/// Writes `layer` and every asset it names into one package. Assets that live inside another
/// package are taken out of it, since readers refuse nested ones. Paths to assets that are not
/// there are cleared, with a warning.
pub(crate) fn write_package(
    mut layer: sdf::Layer,
    output: &Path,
    resolver: CheckedResolver,
) -> Result<Vec<Warning>> {
    let fail = |source: Source| Error::Write {
        file: output.to_owned(),
        source,
    };
    let mut assets = Assets {
        resolver,
        taken: HashMap::new(),
        entries: Vec::new(),
        missing: Vec::new(),
    };
    usd_utils::modify_asset_paths(&mut layer, |path| assets.localise(path), true)
        .map_err(|e| fail(e.into()))?;
    let stem = output
        .file_stem()
        .and_then(|s| s.to_str())
        .unwrap_or("scene");
    let mut root = Cursor::new(Vec::new());
    let format = sdf::LayerRegistry::find_by_extension("usdc")
        .ok_or_else(|| fail("no crate format".into()))?;
    crate_first_token::write(format, layer.data(), &mut root).map_err(|e| fail(e.into()))?;
    drop(layer);
    replace(output, |file: &mut BufWriter<&mut File>| {
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

/// Gives assets entries in the package, and new paths.
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
            None => udim_paths::tiles(path)
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
