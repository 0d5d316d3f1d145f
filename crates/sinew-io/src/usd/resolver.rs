//! openusd's default resolver, with every layer looked at before it is parsed or composed, and files in
//! memory.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use openusd::ar::{Asset, AssetInfo, DefaultResolver, ResolvedPath, Resolver};
use openusd::sdf;

use crate::openusd_compat::class_arcs;
use crate::openusd_compat::crate_paths;
use crate::openusd_compat::crate_values;
use crate::openusd_compat::crate_version;
use crate::openusd_compat::hazards::Marks;
use crate::openusd_compat::text;
use sinew::error::Invalid;

/// Environment variable with search paths, as ArDefaultResolver has it.
const SEARCH_PATH_VARIABLE: &str = "PXR_AR_DEFAULT_SEARCH_PATH";

/// What the names of files in memory begin with; no file on a disk is named so by a layer.
const IN_MEMORY: &str = "sinew:";

/// Name of the session layer.
pub(crate) const SESSION: &str = "sinew:session.usda";

/// Files in memory by name: the session layer, a root layer made from another format, its pictures.
pub(crate) type MemoryFiles = HashMap<String, Arc<[u8]>>;

/// The asset path of a picture in memory.
pub(crate) fn picture_path(file_name: &str) -> String {
    format!("{IN_MEMORY}textures/{file_name}")
}

/// Resolves as [`DefaultResolver`] does; usda text is checked and repaired (see [`text`]), crates' versions,
/// paths and values are checked (see [`crate_version`], [`crate_paths`] and [`crate_values`]), and classes are followed (see [`class_arcs`]).
pub(crate) struct CheckedResolver {
    files: DefaultResolver,
    memory: MemoryFiles,
    opened: Opened,
}

/// What is known of every file that was opened: layers, and value clips, which no list of layers has.
#[derive(Clone, Default)]
pub(crate) struct Opened(Arc<Mutex<Notes>>);

#[derive(Default)]
struct Notes {
    files: BTreeSet<PathBuf>,
    /// Crates of versions that are not read: file and version.
    refused: Vec<(String, String)>,
    marks: Marks,
}

impl Opened {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are files of their own.
    pub fn files(&self) -> Vec<PathBuf> {
        let notes = self.notes();
        let files = notes.files.iter();
        files.filter(|f| f.is_file()).cloned().collect()
    }

    /// The kinds of values in any of the files that openusd reads or writes wrongly.
    pub fn marks(&self) -> Marks {
        self.notes().marks
    }

    /// Refuses a stage that a crate of a version that is not read belongs to. openusd leaves such a layer or clip out.
    ///
    /// # Errors
    /// `crate-version`, naming the crate.
    pub fn check_versions(&self, stage: &Path) -> Result<(), Invalid> {
        let Some((file, version)) = self.notes().refused.first().cloned() else {
            return Ok(());
        };
        let is_stage = Path::new(&file) == stage || crate::is_same_file(Path::new(&file), stage);
        let error = Invalid::new(file, "", crate_version::READ, version).coded("crate-version");
        Err(match is_stage {
            true => error,
            false => error.in_file(stage),
        })
    }
}

impl CheckedResolver {
    /// Search paths are looked in one after another, then those of `PXR_AR_DEFAULT_SEARCH_PATH`; the
    /// working directory comes before all, as in ArDefaultResolver.
    pub fn new(search_paths: &[PathBuf], memory: MemoryFiles) -> Self {
        let here = std::env::current_dir().ok();
        let files = DefaultResolver::with_search_paths(here.into_iter().chain(all(search_paths)));
        Self {
            files,
            memory,
            opened: Opened::default(),
        }
    }

    /// What will have been opened.
    pub fn opened(&self) -> Opened {
        self.opened.clone()
    }
}

/// The search paths asked for and the environment's.
pub(crate) fn all(search_paths: &[PathBuf]) -> Vec<PathBuf> {
    let environment = std::env::var_os(SEARCH_PATH_VARIABLE).unwrap_or_default();
    let environment: Vec<PathBuf> = std::env::split_paths(&environment).collect();
    let mut out = search_paths.to_vec();
    out.extend(environment.into_iter().filter(|p| p != Path::new("")));
    out
}

impl Resolver for CheckedResolver {
    fn create_identifier(&self, asset_path: &str, anchor: Option<&ResolvedPath>) -> String {
        if self.memory.contains_key(asset_path) {
            return asset_path.to_owned();
        }
        self.files.create_identifier(asset_path, anchor)
    }

    fn resolve(&self, asset_path: &str) -> Option<ResolvedPath> {
        if self.memory.contains_key(asset_path) {
            return Some(ResolvedPath::new(asset_path));
        }
        self.files.resolve(asset_path)
    }

    fn resolve_for_new_asset(&self, asset_path: &str) -> Option<ResolvedPath> {
        self.files.resolve_for_new_asset(asset_path)
    }

    fn open_asset(&self, resolved_path: &ResolvedPath) -> io::Result<Box<dyn Asset>> {
        // What we made ourselves needs no checks.
        if let Some(bytes) = self.memory.get(&resolved_path.to_string()) {
            return Ok(Box::new(Cursor::new(bytes.to_vec())));
        }
        let mut asset = self.files.open_asset(resolved_path)?;
        let known: &Path = resolved_path;
        self.opened.notes().files.insert(known.to_owned());
        let mut head = Vec::new();
        asset.by_ref().take(11).read_to_end(&mut head)?;
        let refuse = |e: String| io::Error::new(io::ErrorKind::InvalidData, e);
        let refuse_version = |version: String| {
            let text = format!("expected {}, found {version}", crate_version::READ);
            let file = resolved_path.to_string();
            self.opened.notes().refused.push((file, version));
            refuse(text)
        };
        crate_version::check(&head).map_err(refuse_version)?;
        crate_paths::check(asset.as_mut())?;
        let marks = crate_values::check(asset.as_mut())?;
        crate_version::check_values(&head, marks).map_err(refuse_version)?;
        self.opened.notes().marks.add(marks);
        asset.seek(SeekFrom::Start(0))?;
        // What is no layer after all is refused, with the reason, by who asked for one.
        let check_classes = |bytes: Vec<u8>| match sdf::Layer::from_bytes("classes", bytes) {
            Ok(layer) => class_arcs::check(std::iter::once(layer.data())).map_err(refuse),
            Err(_) => Ok(()),
        };
        if head.starts_with(b"PXR-U") {
            check_classes(asset.read_all()?)?;
            asset.seek(SeekFrom::Start(0))?;
            return Ok(asset);
        }
        if !head.starts_with(b"#usda") {
            return Ok(asset);
        }
        let bytes = asset.read_all()?;
        let bytes = text::repair(&bytes).map_err(refuse)?.unwrap_or(bytes);
        self.opened.notes().marks.add(Marks::of_text(&bytes));
        if class_arcs::mentioned(&bytes) {
            check_classes(bytes.clone())?;
        }
        Ok(Box::new(Cursor::new(bytes)))
    }

    fn is_context_dependent_path(&self, asset_path: &str) -> bool {
        self.files.is_context_dependent_path(asset_path)
    }

    fn in_memory_identifier<'a>(&self, asset_path: &'a str) -> Cow<'a, str> {
        self.files.in_memory_identifier(asset_path)
    }

    fn get_asset_info(&self, asset_path: &str, resolved_path: &ResolvedPath) -> AssetInfo {
        self.files.get_asset_info(asset_path, resolved_path)
    }

    fn get_modification_timestamp(
        &self,
        asset_path: &str,
        resolved_path: &ResolvedPath,
    ) -> Option<SystemTime> {
        self.files
            .get_modification_timestamp(asset_path, resolved_path)
    }

    fn identity(&self) -> String {
        self.files.identity()
    }

    fn cache_id(&self) -> Option<u64> {
        self.files.cache_id()
    }
}
