//! Opens layer files of any format.

use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::Files;
use crate::layer::Layer;
use crate::usda;
use crate::usdc::{self, Bytes};
use crate::usdz::{self, Package};

/// How many bytes tell a crate file from others.
const HEAD: u64 = 8;

/// Reads a regular file into memory, so that whatever becomes of it later changes nothing. A text or a package that is too
/// long is refused before it is read.
pub(crate) fn read(files: &Files, path: &Path) -> Result<Bytes> {
    let io_error = |source| Error::Io {
        file: path.to_owned(),
        source,
    };
    let (mut file, len) = files.open(path).map_err(io_error)?;
    let mut bytes = Vec::new();
    let mut head = (&mut file).take(HEAD.min(len));
    head.read_to_end(&mut bytes).map_err(io_error)?;
    if len > usda::MOST_BYTES && !usdc::is_crate(&bytes) {
        return Err(usda::too_long(&path.to_string_lossy()));
    }
    let left = len.saturating_sub(bytes.len() as u64);
    let room = bytes.try_reserve_exact(usize::try_from(left).unwrap_or(usize::MAX));
    // A file that grows meanwhile is cut off.
    let mut rest = file.take(left);
    let read = room.map_err(io::Error::from);
    read.and_then(|()| rest.read_to_end(&mut bytes))
        .map_err(io_error)?;
    Ok(bytes.into())
}

/// Reads a layer of any format but a package.
pub(crate) fn layer(name: &str, bytes: Bytes) -> Result<Layer> {
    match usdc::is_crate(&bytes) {
        true => usdc::read(name, bytes),
        false => usda::parse(name, &bytes),
    }
}

/// Reads a layer of any format, of a package its root layer.
fn any(name: &str, bytes: Bytes) -> Result<Layer> {
    match usdz::is_package(&bytes) {
        true => Package::read(name, bytes)?.root_layer(),
        false => layer(name, bytes),
    }
}

impl Layer {
    /// Opens a file. What it is, text, crate or package, is up to its content, not its name. Of a package this is
    /// the root layer; `a.usdz[b.usda]` is another layer of a package. The file is read into memory, so it may be
    /// replaced or cut off afterwards.
    ///
    /// # Errors
    /// [`Error::Io`] if it is no regular file or cannot be read, [`Error::Malformed`] if it is broken,
    /// [`Error::Unsupported`] if it is newer than this crate.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_from(&Files::on_disk(), path)
    }

    /// Opens a file as [`open`](Self::open) does, on disk or in memory.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_from(files: &Files, path: &Path) -> Result<Self> {
        let name = path.to_string_lossy();
        if let Some((package, inner)) = usdz::split_package_path(&name)
            && !files.is_there(path)
        {
            return Package::open_from(files, Path::new(package))?.layer(inner);
        }
        any(&name, read(files, path)?)
    }

    /// Reads a layer of any format that is in memory. Messages call it `name`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is broken, [`Error::Unsupported`] if it is newer than this crate.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self> {
        any(name, bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::Path as ScenePath;
    use crate::value::Value;

    #[test]
    fn a_file_that_is_cut_off_while_it_is_open_keeps_its_values() {
        let folder = tempfile::tempdir().unwrap();
        let numbers: Vec<String> = (0..10_000).map(|n| format!("{n}.5")).collect();
        let text = format!(
            "#usda 1.0\ndef \"A\" {{\n double[] a = [{}]\n}}\n",
            numbers.join(", ")
        );
        let layer = usda::parse("a.usda", text.as_bytes()).unwrap();
        let file = folder.path().join("a.usdc");
        usdc::write_layer(&layer, File::create(&file).unwrap()).unwrap();

        let open = Layer::open(&file).unwrap();
        File::create(&file).unwrap().set_len(8).unwrap();
        let value = open.get(&ScenePath::parse("/A.a").unwrap(), "default");
        let Some(Value::DoubleArray(numbers)) = value.unwrap() else {
            panic!("expected an array");
        };
        assert_eq!((numbers.len(), numbers[9_999]), (10_000, 9_999.5));
        assert!(Layer::open(&file).is_err());
    }
}
