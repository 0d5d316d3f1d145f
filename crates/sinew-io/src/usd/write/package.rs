//! Packages (.usdz) of a layer, of the layers that it names, and of their textures.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::{Path, PathBuf};

use sinew_layer::usdz::{Content, Package};
use sinew_layer::{Layer, assets, usda, usdc, usdz};
use sinew_stage::Stage;
use sinew_stage::resolver::{FileResolver, Resolver};

use super::save::{replace, tiles};
use crate::error::{Error, Result, Source, explain};
use crate::usd::file::UsdFile;
use crate::usd::from_asset::convert::Pictures;
use sinew::error::Warning;

impl UsdFile {
    /// Writes a layer, and every layer and file that it names, into one package. What lives inside another package is taken
    /// out of it, since not all readers open packages in packages. A path that leads nowhere stays as it is, with a warning;
    /// addresses such as `https://...` stay without one.
    ///
    /// `anchor` is the layer's identifier, if its paths are relative to it.
    pub(crate) fn write_package(
        &self,
        layer: Layer,
        anchor: Option<&str>,
        output: &Path,
    ) -> Result<Vec<Warning>> {
        let fail = |source: Source| Error::write(output, source);
        let mut packer = Packer {
            stage: &self.stage,
            resolver: &self.resolver,
            pictures: self.made.as_ref().map(|m| &m.pictures),
            taken: HashMap::new(),
            entries: Vec::new(),
            todo: Vec::new(),
            missing: Vec::new(),
        };
        let stem = output.file_stem().and_then(|s| s.to_str());
        // The first entry is the layer that opens. A folder is named by a number, so none has this name.
        let root = format!("{}.usdc", stem.unwrap_or("scene"));
        packer.add(layer, anchor, &root).map_err(fail)?;
        while let Some((entry, identifier)) = packer.todo.pop() {
            let layer = self
                .resolver
                .open(&identifier)
                .map_err(|e| fail(e.into()))?;
            let layer = Layer::clone(&layer);
            packer.add(layer, Some(&identifier), &entry).map_err(fail)?;
        }
        packer.write(output)?;
        let message = "is not there, so it is not packed; the path to it stays";
        let missing = packer.missing.into_iter();
        Ok(missing
            .map(|path| Warning::new("asset-missing", path, message))
            .collect())
    }
}

/// Gives files entries in the package, and new paths.
struct Packer<'a> {
    stage: &'a Stage,
    resolver: &'a FileResolver,
    pictures: Option<&'a Pictures>,
    /// The entry of each resolved file.
    taken: HashMap<String, String>,
    entries: Vec<(String, Entry)>,
    /// Layers that have an entry and are not written yet: the entry and the identifier.
    todo: Vec<(String, String)>,
    missing: Vec<String>,
}

enum Entry {
    Layer(Vec<u8>),
    /// The identifier of a file, or the name of a picture in memory.
    File(String),
}

impl Packer<'_> {
    /// Adds a layer whose files are in the package.
    fn add(&mut self, mut layer: Layer, anchor: Option<&str>, entry: &str) -> Result<(), Source> {
        // Paths in the package are relative to the layer's folder there.
        let up = match entry.contains('/') {
            true => "../",
            false => "./",
        };
        let place = self.entries.len();
        assets::map_dependencies(&mut layer, |path| {
            let packed = self.localise(path, anchor)?;
            Some(format!("{up}{packed}").into())
        })?;
        let bytes = match entry.ends_with(".usda") {
            true => {
                let mut text = Vec::new();
                usda::write(&layer, &mut text)?;
                text
            }
            false => usdc::write_layer(&layer, Cursor::new(Vec::new()))?.into_inner(),
        };
        // In front of what it names, so that the layer that opens is the first.
        let layer = (entry.to_owned(), Entry::Layer(bytes));
        self.entries.insert(place, layer);
        Ok(())
    }

    fn resolve(&self, path: &str, anchor: Option<&str>) -> Option<String> {
        match self.pictures.is_some_and(|p| p.contains_key(path)) {
            true => Some(path.to_owned()),
            false => self.resolver.resolve(path, anchor),
        }
    }

    /// The path in the package of what an asset path names; none if it is not packed.
    fn localise(&mut self, path: &str, anchor: Option<&str>) -> Option<String> {
        if path.starts_with('`') {
            // With the variables of the stage, which are stronger than those of a layer that it refers to.
            let evaluated = self.stage.evaluated(path)?;
            return match evaluated.starts_with('`') {
                true => None,
                false => self.localise(&evaluated, anchor),
            };
        }
        if path.is_empty() || path.contains("://") {
            return None;
        }
        if let Some(file) = self.resolve(path, anchor) {
            if let Some(known) = self.taken.get(&file) {
                return Some(known.clone());
            }
            // A folder for each, so that equal names do not meet.
            let folder = self.taken.len();
            let name = base_name(&file);
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
            let entry = match extension.to_ascii_lowercase().as_str() {
                "usdz" => format!("{folder}/{stem}.usdc"),
                _ => format!("{folder}/{name}"),
            };
            match extension.to_ascii_lowercase().as_str() {
                "usd" | "usda" | "usdc" | "usdz" => self.todo.push((entry.clone(), file.clone())),
                _ => self
                    .entries
                    .push((entry.clone(), Entry::File(file.clone()))),
            }
            self.taken.insert(file, entry.clone());
            return Some(entry);
        }
        // The tiles of a texture are one path for many files.
        let folder = self.taken.len();
        let mut found = None;
        for tile in tiles(path) {
            if let Some(file) = self.resolve(&tile, anchor) {
                let entry = format!("{folder}/{}", base_name(&tile));
                self.entries.push((entry, Entry::File(file.clone())));
                found = Some(file);
            }
        }
        match found {
            Some(file) => {
                let entry = format!("{folder}/{}", base_name(path));
                self.taken.insert(file, entry.clone());
                Some(entry)
            }
            None => {
                if !self.missing.iter().any(|m| m == path) {
                    self.missing.push(path.to_owned());
                }
                None
            }
        }
    }

    fn write(&self, output: &Path) -> Result<()> {
        let mut packages: HashMap<&str, Package> = HashMap::new();
        let files = self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::File(file) => usdz::split_package_path(file),
            Entry::Layer(_) => None,
        });
        for (package, _) in files {
            if !packages.contains_key(package) {
                let opened = Package::open_from(&self.resolver.files, Path::new(package));
                packages.insert(package, opened.map_err(|e| Error::write(output, e))?);
            }
        }
        let entries = self.entries.iter().map(|(name, entry)| {
            let content = match entry {
                Entry::Layer(bytes) => Content::from(bytes.as_slice()),
                Entry::File(file) => {
                    let picture = self.pictures.and_then(|p| p.get(file.as_str()));
                    let packed = usdz::split_package_path(file)
                        .and_then(|(package, inner)| packages.get(package)?.bytes(inner));
                    match (picture, packed) {
                        (Some(bytes), _) => Content::from(&bytes[..]),
                        (None, Some(bytes)) => Content::from(bytes),
                        (None, None) => {
                            Content::File(self.resolver.files.clone(), PathBuf::from(file))
                        }
                    }
                }
            };
            (name.clone(), content)
        });
        replace(output, |file: &mut BufWriter<&mut File>| {
            usdz::write_package(output, file, entries).map_err(|e| explain(&e))
        })
    }
}

/// File name of an asset path, of the innermost file where it is inside a package.
fn base_name(path: &str) -> &str {
    let inner = path
        .trim_end_matches(']')
        .rsplit('[')
        .next()
        .unwrap_or(path);
    inner.rsplit(['/', '\\']).next().unwrap_or(inner)
}
