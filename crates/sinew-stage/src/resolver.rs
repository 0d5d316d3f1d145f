//! From asset paths to layers.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinew_layer::usdz::{Package, split_package_path};
use sinew_layer::{Error, Files, Layer, normalized};

/// Environment variable with search paths, as USD's default resolver has it.
const SEARCH_PATH_VARIABLE: &str = "PXR_AR_DEFAULT_SEARCH_PATH";

/// What follows an asset path to choose how its file is read; no format that is read here has such choices.
const FORMAT_ARGUMENTS: &str = ":SDF_FORMAT_ARGS:";

/// Finds and opens what asset paths name. An identifier is the resolved name of a layer: an absolute file path, a path into a
/// package (`/a/b.usdz[c.usda]`) or a name that only the resolver knows. Two assets with one identifier are one layer.
pub trait Resolver: Send + Sync {
    /// The identifier of `asset` as the layer `anchor` names it. `./x` and `../x` are relative to the folder of the anchor
    /// (inside its package, if it is in one); other relative paths are looked for there too, then in the search paths.
    /// None if nothing is there.
    fn resolve(&self, asset: &str, anchor: Option<&str>) -> Option<String>;

    /// The asset path that means the same in any layer as `asset` means in the layer `anchor`; none if that is `asset` itself:
    /// an absolute path, an address, or a path that leads nowhere and may be searched.
    fn anchored(&self, asset: &str, anchor: &str) -> Option<String>;

    /// Opens a layer.
    ///
    /// # Errors
    /// A file that cannot be read, or is no layer.
    fn open(&self, identifier: &str) -> sinew_layer::Result<Arc<Layer>>;

    /// How many bytes an opened layer's file has, for limits in proportion to it. By default an estimate from its specs.
    fn size(&self, layer: &Layer) -> usize {
        layer.len().saturating_mul(32)
    }
}

/// Finds files as USD's default resolver does, on disk or in memory, and layers in memory by their names.
#[derive(Debug, Default)]
pub struct FileResolver {
    /// Where files are. Of files in memory, identifiers are their paths without a root, and the root is the working directory.
    pub files: Files,
    /// Folders where assets without `./` are looked for after the anchor's folder. The working directory comes before them,
    /// the folders of the environment variable `PXR_AR_DEFAULT_SEARCH_PATH` after them.
    pub search_paths: Vec<PathBuf>,
    environment: Vec<PathBuf>,
    layers: HashMap<String, Arc<Layer>>,
    notes: Mutex<Notes>,
}

/// What is known of the files that were opened.
#[derive(Debug, Default)]
struct Notes {
    opened: BTreeSet<PathBuf>,
    /// Bytes by the layer's name.
    sizes: HashMap<String, usize>,
    /// Packages by path; none if it is no package.
    packages: HashMap<PathBuf, Option<Package>>,
}

impl FileResolver {
    /// A resolver of files on disk, with search paths.
    #[must_use]
    pub fn new(search_paths: Vec<PathBuf>) -> Self {
        // A browser has no variables, and cannot split lists of paths.
        let environment = std::env::var_os(SEARCH_PATH_VARIABLE);
        let environment = environment.iter().flat_map(std::env::split_paths);
        Self {
            search_paths,
            environment: environment.filter(|p| p != Path::new("")).collect(),
            ..Self::default()
        }
    }

    /// A resolver of these files, without search paths.
    #[must_use]
    pub fn of(files: Files) -> Self {
        Self {
            files,
            ..Self::default()
        }
    }

    /// Puts a layer in memory. Assets of this name are this layer.
    pub fn add_layer(&mut self, name: impl Into<String>, layer: Arc<Layer>) {
        self.layers.insert(name.into(), layer);
    }

    /// The files that were opened so far. Of a layer in a package it is the package.
    #[must_use]
    pub fn opened_files(&self) -> Vec<PathBuf> {
        self.notes().opened.iter().cloned().collect()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A package that is a file of its own.
    fn package(&self, path: &Path) -> Option<Package> {
        let mut notes = self.notes();
        if let Some(known) = notes.packages.get(path) {
            return known.clone();
        }
        let package = Package::open_from(&self.files, path).ok();
        if package.is_some() {
            notes.opened.insert(path.to_owned());
        }
        notes.packages.insert(path.to_owned(), package.clone());
        package
    }

    /// Whether a path in a package names a file. It may go through packages in the package.
    fn is_in_package(&self, package: &Path, inner: &str) -> bool {
        let Some(mut package) = self.package(package) else {
            return false;
        };
        let mut rest = inner;
        while let Some((outer, inner)) = split_package_path(rest) {
            match package.package(outer) {
                Ok(next) => (package, rest) = (next, inner),
                Err(_) => return false,
            }
        }
        package.bytes(rest).is_some()
    }

    /// An asset in the package of its anchor: beside the anchor, or at the package's top.
    fn resolve_in_package(&self, asset: &str, anchor: &str) -> Option<String> {
        let first;
        let (package, inner) = match split_package_path(anchor) {
            Some(parts) => parts,
            // A package stands for its root layer.
            None => {
                let is_package = Path::new(anchor)
                    .extension()
                    .is_some_and(|e| e.eq_ignore_ascii_case("usdz"));
                if !is_package {
                    return None;
                }
                first = self
                    .package(Path::new(anchor))?
                    .entries()
                    .next()?
                    .to_owned();
                (anchor, first.as_str())
            }
        };
        // In a package in a package, the innermost counts.
        let (outer, layer) = match inner.rsplit_once('[') {
            Some((outer, layer)) => (Some(outer), layer.trim_end_matches(']')),
            None => (None, inner),
        };
        let folder = Path::new(layer).parent().unwrap_or(Path::new(""));
        let folders = [folder, Path::new("")];
        let folders = match is_search_path(asset) {
            true => &folders[..],
            false => &folders[..1],
        };
        folders.iter().find_map(|folder| {
            let file = normalized(&folder.join(asset));
            let file = file.to_str()?.replace('\\', "/");
            let inner = match outer {
                Some(outer) => format!("{outer}[{file}]{}", "]".repeat(outer.matches('[').count())),
                None => file,
            };
            let is_there = self.is_in_package(Path::new(package), &inner);
            is_there.then(|| format!("{package}[{inner}]"))
        })
    }

    /// Whether there is a file, or a tile of the texture if the path is of UDIM tiles.
    fn has(&self, path: &Path) -> bool {
        match path.to_str().filter(|p| p.contains("<UDIM>")) {
            Some(tiles) => {
                let tile = |t: i32| tiles.replace("<UDIM>", &t.to_string());
                (1001..=1100).any(|t| self.files.is_there(Path::new(&tile(t))))
            }
            None => self.files.is_there(path),
        }
    }

    /// An asset that is a file of its own.
    fn resolve_file(&self, asset: &str, anchor: Option<&str>) -> Option<String> {
        let there = |path: PathBuf| {
            let path = self.files.full_path(&path)?;
            let is_there = self.files.is_there(&path);
            is_there.then(|| path.to_str().map(str::to_owned))?
        };
        if Path::new(asset).is_absolute() {
            return there(asset.into());
        }
        // What a package names outside of it is beside the package.
        let anchor = anchor.map(|a| split_package_path(a).map_or(a, |(package, _)| package));
        if let Some(folder) = anchor.and_then(|a| Path::new(a).parent()) {
            let found = there(folder.join(asset));
            if found.is_some() || !is_search_path(asset) {
                return found;
            }
        }
        there(asset.into()).or_else(|| {
            if !is_search_path(asset) {
                return None;
            }
            let folders = self.search_paths.iter().chain(&self.environment);
            folders.into_iter().find_map(|f| there(f.join(asset)))
        })
    }
}

/// Whether a relative path is looked for in the search paths.
fn is_search_path(asset: &str) -> bool {
    !asset.starts_with("./") && !asset.starts_with("../") && !Path::new(asset).is_absolute()
}

impl Resolver for FileResolver {
    fn resolve(&self, asset: &str, anchor: Option<&str>) -> Option<String> {
        let asset = asset.split(FORMAT_ARGUMENTS).next().unwrap_or(asset);
        if asset.is_empty() {
            return None;
        }
        if let Some(folder) = anchor.and_then(|a| Path::new(a).parent())
            && let Some(name) = normalized(&folder.join(asset)).to_str()
            && self.layers.contains_key(name)
        {
            return Some(name.to_owned());
        }
        if self.layers.contains_key(asset) {
            return Some(asset.to_owned());
        }
        if let Some(anchor) = anchor
            && !Path::new(asset).is_absolute()
            && let Some(found) = self.resolve_in_package(asset, anchor)
        {
            return Some(found);
        }
        if let Some((package, inner)) = split_package_path(asset) {
            let package = self.resolve_file(package, anchor)?;
            let is_there = self.is_in_package(Path::new(&package), inner);
            return is_there.then(|| format!("{package}[{inner}]"));
        }
        self.resolve_file(asset, anchor)
    }

    fn anchored(&self, asset: &str, anchor: &str) -> Option<String> {
        let is_relative = !asset.is_empty()
            && !asset.starts_with('`')
            && !asset.contains("://")
            && !Path::new(asset).is_absolute();
        if !is_relative || self.layers.contains_key(asset) {
            return None;
        }
        let (file, inner) = match asset.split_once('[') {
            Some((file, inner)) => (file, Some(inner)),
            None => (asset, None),
        };
        let is_package = Path::new(anchor)
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("usdz"));
        let packed = match split_package_path(anchor) {
            // A package stands for its root layer, which is not in a folder of it.
            None if is_package => Some((anchor, "")),
            packed => packed,
        };
        let anchored = match packed {
            Some((package, layer)) => match self.resolve_in_package(file, anchor) {
                Some(found) => found,
                None if is_search_path(file) => return None,
                None => {
                    let folder = Path::new(layer).parent().unwrap_or(Path::new(""));
                    let file = normalized(&folder.join(file)).to_str()?.replace('\\', "/");
                    format!("{package}[{file}]")
                }
            },
            None => {
                let is_layer = self.layers.contains_key(anchor);
                let is_memory = self.files.are_in_memory() && !is_layer;
                let folder = Path::new(anchor).parent();
                let folder = folder.filter(|f| is_memory || f.is_absolute())?;
                let beside = normalized(&folder.join(file));
                let found = match is_search_path(file) && !self.has(&beside) {
                    // The layer may end up where nobody searches.
                    true => self.resolve(file, Some(anchor))?,
                    false => beside.to_str()?.to_owned(),
                };
                // From any folder.
                match is_memory && !found.starts_with('/') {
                    true => format!("/{found}"),
                    false => found,
                }
            }
        };
        Some(match inner {
            Some(inner) => format!("{anchored}[{inner}"),
            None => anchored,
        })
    }

    fn open(&self, identifier: &str) -> sinew_layer::Result<Arc<Layer>> {
        if let Some(layer) = self.layers.get(identifier) {
            return Ok(layer.clone());
        }
        let path = Path::new(identifier);
        let (file, layer) = match split_package_path(identifier) {
            Some((package, inner)) => {
                let file = PathBuf::from(package);
                let package = self.package(&file).ok_or_else(|| Error::Malformed {
                    file: package.to_owned(),
                    place: "file".to_owned(),
                    reason: format!("expected a package that has {inner}, found no package"),
                })?;
                (file, package.layer(inner)?)
            }
            None => (path.to_owned(), Layer::open_from(&self.files, path)?),
        };
        let size = self.files.size(&file).unwrap_or(0);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let mut notes = self.notes();
        notes.opened.insert(file);
        notes.sizes.insert(layer.name().to_owned(), size);
        Ok(Arc::new(layer))
    }

    fn size(&self, layer: &Layer) -> usize {
        let estimate = layer.len().saturating_mul(32);
        let known = self.notes().sizes.get(layer.name()).copied();
        known.unwrap_or(estimate)
    }
}
