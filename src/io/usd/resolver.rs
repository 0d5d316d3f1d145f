//! openusd's default resolver, with every text layer looked at before it is parsed.

use std::borrow::Cow;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::time::SystemTime;

use openusd::ar::{Asset, AssetInfo, DefaultResolver, ResolvedPath, Resolver};

use super::text;

/// Resolves as [`DefaultResolver`] does; usda text is checked and repaired (see [`text`]).
pub(super) struct CheckedResolver(DefaultResolver);

impl CheckedResolver {
    pub fn new() -> Self {
        Self(DefaultResolver::new())
    }
}

impl Resolver for CheckedResolver {
    fn create_identifier(&self, asset_path: &str, anchor: Option<&ResolvedPath>) -> String {
        self.0.create_identifier(asset_path, anchor)
    }

    fn resolve(&self, asset_path: &str) -> Option<ResolvedPath> {
        self.0.resolve(asset_path)
    }

    fn resolve_for_new_asset(&self, asset_path: &str) -> Option<ResolvedPath> {
        self.0.resolve_for_new_asset(asset_path)
    }

    fn open_asset(&self, resolved_path: &ResolvedPath) -> io::Result<Box<dyn Asset>> {
        let mut asset = self.0.open_asset(resolved_path)?;
        let mut head = Vec::new();
        asset.by_ref().take(5).read_to_end(&mut head)?;
        asset.seek(SeekFrom::Start(0))?;
        if head != b"#usda" {
            return Ok(asset);
        }
        let bytes = asset.read_all()?;
        let repaired =
            text::repair(&bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        Ok(Box::new(Cursor::new(repaired.unwrap_or(bytes))))
    }

    fn is_context_dependent_path(&self, asset_path: &str) -> bool {
        self.0.is_context_dependent_path(asset_path)
    }

    fn in_memory_identifier<'a>(&self, asset_path: &'a str) -> Cow<'a, str> {
        self.0.in_memory_identifier(asset_path)
    }

    fn get_asset_info(&self, asset_path: &str, resolved_path: &ResolvedPath) -> AssetInfo {
        self.0.get_asset_info(asset_path, resolved_path)
    }

    fn get_modification_timestamp(
        &self,
        asset_path: &str,
        resolved_path: &ResolvedPath,
    ) -> Option<SystemTime> {
        self.0.get_modification_timestamp(asset_path, resolved_path)
    }

    fn identity(&self) -> String {
        self.0.identity()
    }

    fn cache_id(&self) -> Option<u64> {
        self.0.cache_id()
    }
}
