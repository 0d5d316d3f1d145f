//! Opens layer files of any format.

use std::fs;
use std::io;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, Result};
use crate::layer::Layer;
use crate::usdc::{self, Bytes};
use crate::usdz::{self, Package};

/// Maps a regular file. Anything else, such as a pipe, is refused without opening it.
pub(crate) fn map(path: &Path) -> Result<Bytes> {
    let io_error = |source| Error::Io {
        file: path.to_owned(),
        source,
    };
    let regular = |is: fs::Metadata| match is.is_file() {
        true => Ok(is.len()),
        false => Err(io_error(io::Error::other("it is no regular file"))),
    };
    regular(fs::metadata(path).map_err(io_error)?)?;
    let file = fs::File::open(path).map_err(io_error)?;
    // It may be another one by now.
    if regular(file.metadata().map_err(io_error)?)? == 0 {
        return Ok(Vec::new().into());
    }
    // SAFETY: as with all mapped files, nobody may write to it or cut it off while it is open. Writers of layers
    // replace a file by a new one, which leaves the open one as it is.
    let map = unsafe { Mmap::map(&file) }.map_err(io_error)?;
    Ok(map.into())
}

/// Reads a layer of any format but a package.
pub(crate) fn layer(name: &str, bytes: Bytes) -> Result<Layer> {
    match usdc::is_crate(&bytes) {
        true => usdc::read(name, bytes),
        false => crate::usda::parse(name, &bytes),
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
    /// the root layer; `a.usdz[b.usda]` is another layer of a package. Crate files and packages stay open: nobody
    /// may write to them meanwhile.
    ///
    /// # Errors
    /// [`Error::Io`] if it is no regular file or cannot be read, [`Error::Malformed`] if it is broken,
    /// [`Error::Unsupported`] if it is newer than this crate.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.to_string_lossy();
        if let Some((package, inner)) = usdz::split_package_path(&name)
            && !path.exists()
        {
            return Package::open(Path::new(package))?.layer(inner);
        }
        any(&name, map(path)?)
    }

    /// Reads a layer of any format that is in memory. Messages call it `name`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is broken, [`Error::Unsupported`] if it is newer than this crate.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self> {
        any(name, bytes.into())
    }
}
