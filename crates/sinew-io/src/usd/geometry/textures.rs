//! The pictures that materials name, as bytes.

use std::collections::HashMap;
use std::io::Read;

use openusd::ar::{ResolvedPath, Resolver};
use openusd::sdf;

use crate::openusd_compat::udim_paths;
use crate::usd::resolver::CheckedResolver;
use crate::usd::write::flatten::outermost_file;
use sinew::error::Warning;
use sinew::scene::Texture;

/// Bytes that one picture may have, and all together: a file may name anything there is on the machine.
const MOST_BYTES: u64 = 256 << 20;
const MOST_BYTES_IN_ALL: u64 = 1 << 30;

/// Reads each picture once, wherever it is named.
pub(super) struct TextureReader {
    resolver: CheckedResolver,
    /// By the resolved path; none for those that cannot be read.
    known: HashMap<String, Option<usize>>,
    left: u64,
    pub textures: Vec<Texture>,
}

impl TextureReader {
    pub fn new(resolver: CheckedResolver) -> Self {
        Self {
            resolver,
            known: HashMap::new(),
            left: MOST_BYTES_IN_ALL,
            textures: Vec::new(),
        }
    }

    /// The index of a picture that `shader` names, or none with a warning.
    pub fn texture(
        &mut self,
        shader: &str,
        asset: &sdf::AssetPath,
        warnings: &mut Vec<Warning>,
    ) -> Option<usize> {
        let name = asset.asset_path();
        let resolved = match asset.resolved_path() {
            Some(resolved) if !resolved.is_empty() => Some(resolved.to_owned()),
            _ => self.resolver.resolve(name).map(|r| r.to_string()),
        };
        let key = resolved.clone().unwrap_or_else(|| name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let read = match resolved {
            Some(resolved) => self.read(&resolved).map(|bytes| Texture {
                asset: name.to_owned(),
                resolved,
                bytes: bytes.into(),
            }),
            None if udim_paths::tiles(name).next().is_some() => {
                Err("UDIM textures are not drawn".to_owned())
            }
            None => Err("is not there".to_owned()),
        };
        let index = match read {
            Ok(texture) => {
                self.textures.push(texture);
                Some(self.textures.len() - 1)
            }
            Err(why) => {
                let message = format!("the picture @{name}@ is left out: {why}");
                warnings.push(Warning::new("texture-left-out", shader, message).on("inputs:file"));
                None
            }
        };
        self.known.insert(key, index);
        index
    }

    fn read(&mut self, resolved: &str) -> Result<Vec<u8>, String> {
        // Opening a pipe would wait for ever.
        let file = outermost_file(resolved);
        if file.exists() && !file.is_file() {
            return Err("not a file".to_owned());
        }
        let path = ResolvedPath::new(resolved);
        let mut asset = self.resolver.open_asset(&path).map_err(|e| e.to_string())?;
        let most = MOST_BYTES.min(self.left);
        if asset.size().is_ok_and(|size| size > most) {
            return Err(format!("it has more than the {most} bytes that are left"));
        }
        let mut bytes = Vec::new();
        let read = asset.by_ref().take(most + 1).read_to_end(&mut bytes);
        read.map_err(|e| e.to_string())?;
        if bytes.len() as u64 > most {
            return Err(format!("it has more than the {most} bytes that are left"));
        }
        self.left -= bytes.len() as u64;
        Ok(bytes)
    }
}
