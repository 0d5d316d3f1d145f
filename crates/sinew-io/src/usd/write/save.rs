//! Layers as files: the edited root layer under another name, and packages (.usdz) of a layer and its textures.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::{Path, PathBuf};

use sinew_layer::usdz::{Content, Package};
use sinew_layer::{Layer, Token, assets, usda, usdc, usdz};
use sinew_stage::resolver::{FileResolver, Resolver};

use super::edits::BakeEdits;
use super::flatten::{has_extension, outermost_file, relative_to};
use crate::error::explain;
use crate::error::{Error, Result, Source};
pub(crate) use crate::output::{Outputs, replace};
use crate::usd::file::UsdFile;
use crate::usd::from_asset::convert::Pictures;
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
            return self
                .write_whole(self.root_layer_copy(out)?, out)
                .map(|_| ());
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
        export(&self.root_layer_copy(out)?, out)
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
    pub(crate) fn root_layer_copy(&self, out: &Path) -> Result<Layer> {
        let mut layer = Layer::clone(self.stage.root_layer());
        let folder = outermost_file(self.stage.root_identifier())
            .parent()
            .map_or_else(Default::default, Path::to_owned);
        assets::map(&mut layer, |path| {
            let new = anchored(path, &folder, out);
            (new != path).then(|| new.into())
        })
        .map_err(|e| Error::open(self.file(), e))?;
        Ok(layer)
    }
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
    let tiled = tiles(file).any(|tile| folder.join(tile).is_file());
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
pub(crate) fn export(layer: &Layer, output: &Path) -> Result<()> {
    let mut outputs = Outputs::default();
    export_with(layer, output, &mut outputs)?;
    outputs.finish()
}

/// As [`export`], appearing with what else is in `outputs`.
pub(crate) fn export_with(layer: &Layer, output: &Path, outputs: &mut Outputs) -> Result<()> {
    let extension = crate::extension(output);
    match extension.as_str() {
        "usda" => outputs.file(output, |file| {
            usda::write(layer, file).map_err(|e| explain(&e))
        }),
        "usdc" | "usd" => outputs.file(output, |file| {
            let written = usdc::write_layer(layer, file);
            written.map(drop).map_err(|e| explain(&e))
        }),
        _ => Err(Error::write(
            output,
            format!("no USD format is named .{extension}"),
        )),
    }
    .map(drop)
}

/// Writes `layer` and every asset it names into one package. Assets that live inside another
/// package are taken out of it, since readers refuse nested ones. A path to an asset that is not
/// there stays as it is, with a warning; so do addresses such as `https://...`.
pub(crate) fn write_package(
    mut layer: Layer,
    output: &Path,
    resolver: &FileResolver,
    pictures: Option<&Pictures>,
) -> Result<Vec<Warning>> {
    let fail = |source: Source| Error::write(output, source);
    let mut packed = PackedAssets {
        resolver,
        pictures,
        taken: HashMap::new(),
        entries: Vec::new(),
        missing: Vec::new(),
    };
    assets::map(&mut layer, |path| {
        let new = packed.localise(path);
        (new != path).then(|| Token::from(new))
    })
    .map_err(|e| fail(e.into()))?;
    let stem = output
        .file_stem()
        .and_then(|s| s.to_str())
        .unwrap_or("scene");
    let root = usdc::write_layer(&layer, Cursor::new(Vec::new())).map_err(|e| fail(e.into()))?;
    drop(layer);
    // The first entry is the layer that opens.
    let root = root.into_inner();
    let mut entries = vec![(format!("{stem}.usdc"), Content::from(root.as_slice()))];
    let mut packages: HashMap<&str, Package> = HashMap::new();
    let within = packed.entries.iter().filter_map(|(_, file)| usdz::split_package_path(file));
    for (package, _) in within {
        if !packages.contains_key(package) {
            let opened = Package::open(Path::new(package)).map_err(|e| fail(e.into()))?;
            packages.insert(package, opened);
        }
    }
    for (name, file) in &packed.entries {
        let within = usdz::split_package_path(file)
            .and_then(|(package, entry)| packages.get(package)?.bytes(entry));
        let picture = pictures.and_then(|p| p.get(file.as_str()));
        let content = match (picture, within) {
            (Some(bytes), _) => Content::from(&bytes[..]),
            (None, Some(bytes)) => Content::from(bytes),
            (None, None) => Content::from(PathBuf::from(file)),
        };
        entries.push((name.clone(), content));
    }
    replace(output, |file: &mut BufWriter<&mut File>| {
        usdz::write_package(output, file, entries).map_err(|e| explain(&e))
    })?;
    let message = "is not there, so it is not packed; the path to it stays";
    let missing = packed.missing.into_iter();
    Ok(missing
        .map(|path| Warning::new("asset-missing", path, message))
        .collect())
}

/// Gives assets entries in the package, and new paths.
struct PackedAssets<'a> {
    resolver: &'a FileResolver,
    pictures: Option<&'a Pictures>,
    /// New path by resolved file.
    taken: HashMap<String, String>,
    /// The entry's name, and the file or the picture.
    entries: Vec<(String, String)>,
    missing: Vec<String>,
}

impl PackedAssets<'_> {
    fn resolve(&self, path: &str) -> Option<String> {
        match self.pictures.is_some_and(|p| p.contains_key(path)) {
            true => Some(path.to_owned()),
            false => self.resolver.resolve(path, None),
        }
    }

    fn localise(&mut self, path: &str) -> String {
        if path.is_empty() || path.contains("://") {
            return path.to_owned();
        }
        // One file may be spelled in several ways.
        let resolved = self.resolve(path);
        let file = resolved.clone().unwrap_or_else(|| path.to_owned());
        if let Some(known) = self.taken.get(&file) {
            return known.clone();
        }
        // A folder for each, so that equal names do not meet.
        let folder = self.taken.len().to_string();
        // UDIM textures are one path for many files.
        let files: Vec<(String, String)> = match resolved {
            Some(r) => vec![(path.to_owned(), r)],
            None => tiles(path)
                .filter_map(|tile| Some((tile.clone(), self.resolve(&tile)?)))
                .collect(),
        };
        let new = if files.is_empty() {
            self.missing.push(path.to_owned());
            path.to_owned()
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

/// The part of a path that stands for the number of a UDIM tile.
const UDIM: &str = "<UDIM>";

/// The path of each tile that may be there, 1001 to 1100; none for a path without `<UDIM>`.
pub(crate) fn tiles(path: &str) -> impl Iterator<Item = String> + '_ {
    (1001..=1100)
        .filter(|_| path.contains(UDIM))
        .map(move |tile| path.replace(UDIM, &tile.to_string()))
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
