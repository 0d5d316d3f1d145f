//! The pictures that materials name, as bytes.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use sinew_layer::Files;
use sinew_layer::usdz::{Package, split_package_path};
use sinew_stage::ResolvedAsset;

use crate::usd::from_asset::convert::Pictures;
use sinew::error::Warning;
use sinew::scene::Texture;

/// Bytes that one picture may have, and all together: a file may name anything there is on the machine.
const MOST_BYTES: u64 = 256 << 20;
const MOST_BYTES_IN_ALL: u64 = 1 << 30;

/// What stands for the numbers of tiles in a picture's path.
const UDIM: &str = "<UDIM>";

/// Reads each picture once, wherever it is named.
pub(super) struct TextureReader<'a> {
    files: &'a Files,
    /// Those that are no files.
    pictures: Option<&'a Pictures>,
    /// By the resolved path; none for those that cannot be read.
    known: HashMap<String, Option<usize>>,
    /// The packages that pictures were read from, by path.
    packages: HashMap<String, Package>,
    left: u64,
    pub textures: Vec<Texture>,
}

impl<'a> TextureReader<'a> {
    pub fn new(files: &'a Files, pictures: Option<&'a Pictures>) -> Self {
        Self {
            files,
            pictures,
            known: HashMap::new(),
            packages: HashMap::new(),
            left: MOST_BYTES_IN_ALL,
            textures: Vec::new(),
        }
    }

    /// The index of a picture that `shader` names, or none with a warning.
    pub fn texture(
        &mut self,
        shader: &str,
        asset: &ResolvedAsset,
        warnings: &mut Vec<Warning>,
    ) -> Option<usize> {
        let name = asset.evaluated.as_str();
        let in_memory = self.pictures.and_then(|pictures| pictures.get(name));
        let resolved = match asset.resolved.as_str() {
            "" => name,
            resolved => resolved,
        };
        if let Some(known) = self.known.get(resolved) {
            return *known;
        }
        let bytes = match in_memory {
            Some(bytes) => self.take(bytes.len() as u64).map(|()| Arc::clone(bytes)),
            None if !asset.resolved.is_empty() => self.read(resolved),
            None if name.contains(UDIM) => Err("UDIM textures are not drawn".to_owned()),
            None => Err("is not there".to_owned()),
        };
        let index = match bytes {
            Ok(bytes) => {
                self.textures.push(Texture {
                    asset: name.to_owned(),
                    resolved: resolved.to_owned(),
                    bytes,
                });
                Some(self.textures.len() - 1)
            }
            Err(why) => {
                let message = format!("the image @{name}@ is left out: {why}");
                warnings.push(Warning::new("texture-left-out", shader, message).on("inputs:file"));
                None
            }
        };
        self.known.insert(resolved.to_owned(), index);
        index
    }

    /// Accounts for a picture of so many bytes.
    fn take(&mut self, bytes: u64) -> Result<(), String> {
        let most = MOST_BYTES.min(self.left);
        if bytes > most {
            return Err(format!("it has more than the {most} bytes that are left"));
        }
        self.left -= bytes;
        Ok(())
    }

    fn read(&mut self, resolved: &str) -> Result<Arc<[u8]>, String> {
        if let Some((package, inside)) = split_package_path(resolved) {
            return self.read_packed(package, inside);
        }
        let opened = self.files.open(Path::new(resolved));
        let (file, size) = opened.map_err(|e| e.to_string())?;
        self.take(size)?;
        // A file that grows meanwhile is cut off.
        let mut bytes = Vec::new();
        let read = file.take(size).read_to_end(&mut bytes);
        read.map_err(|e| e.to_string())?;
        Ok(bytes.into())
    }

    /// A picture of a package, or of a package in it.
    fn read_packed(&mut self, package: &str, mut inside: &str) -> Result<Arc<[u8]>, String> {
        let mut package = match self.packages.get(package) {
            Some(open) => open.clone(),
            None => {
                let open = Package::open_from(self.files, Path::new(package))
                    .map_err(|e| e.to_string())?;
                self.packages.insert(package.to_owned(), open.clone());
                open
            }
        };
        while let Some((outer, inner)) = split_package_path(inside) {
            package = package.package(outer).map_err(|e| e.to_string())?;
            inside = inner;
        }
        let bytes = package.bytes(inside).ok_or("is not there")?;
        self.take(bytes.len() as u64)?;
        Ok(bytes.into())
    }
}
