//! Helpers for paths and files that every format needs.

use std::io::{self, Read};
use std::path::Path;

use sinew_layer::Files;

use crate::error::{Error, Result};

/// The extension of a file name, in lower case and without the dot; empty if there is none.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(sinew_io::extension(Path::new("Hero.GLB")), "glb");
/// assert_eq!(sinew_io::extension(Path::new("hero")), "");
/// ```
#[must_use]
pub fn extension(file: &Path) -> String {
    let extension = file.extension().and_then(|e| e.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

/// Whether two paths lead to the same file. It may be missing, but not its folder. The names of missing files may differ
/// in case: many disks have one file for both.
#[must_use]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |file: &Path| {
        file.canonicalize().ok().or_else(|| {
            // An empty path, that of the working folder, has no canonical form.
            let folder = Path::new(".").join(file.parent()?).canonicalize().ok()?;
            let name = file.file_name()?.to_string_lossy().to_lowercase();
            Some(folder.join(name))
        })
    };
    place(a).is_some_and(|a| place(b) == Some(a))
}

/// The largest file that is read whole: a .glb cannot say that it is longer.
const MOST_BYTES: u64 = 1 << 32;

/// The largest file that is read as a small text.
const MOST_TEXT: u64 = 1 << 24;

/// The bytes of a regular file, `limit` of them at most.
///
/// # Errors
/// As [`Files::open`]; a file that cannot be read.
pub(crate) fn read_at_most(files: &Files, file: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let (open, _) = files.open(file)?;
    open.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a regular file of at most [`MOST_BYTES`].
///
/// # Errors
/// [`Error::Open`].
pub(crate) fn read_bytes(files: &Files, file: &Path) -> Result<Vec<u8>> {
    read_whole(files, file, MOST_BYTES).map_err(|e| Error::open(file, e))
}

/// The text of a small regular file, such as a bone map: at most 16 MiB of UTF-8.
///
/// # Errors
/// [`Error::Open`].
pub fn read_text(file: &Path) -> Result<String> {
    let bytes = read_whole(&Files::on_disk(), file, MOST_TEXT).map_err(|e| Error::open(file, e))?;
    String::from_utf8(bytes).map_err(|e| Error::open(file, e))
}

/// The bytes of a regular file, which is refused unread if it has more than `most`.
fn read_whole(files: &Files, file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (open, size) = files.open(file)?;
    if size > most {
        let reason = format!("it has {size} bytes, and at most {most} are read");
        return Err(io::Error::other(reason));
    }
    let mut bytes = Vec::new();
    // A file that grows meanwhile is cut off.
    open.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let read_at_most = |file: &Path, most| read_at_most(&Files::on_disk(), file, most);
        assert!(read_at_most(Path::new("/dev/null"), 5).is_err());
        assert!(read_at_most(&std::env::temp_dir(), 5).is_err());
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hello").unwrap();
        assert_eq!(read_at_most(file.path(), 4).unwrap(), b"hell");
        assert!(is_same_file(file.path(), file.path()));
        assert!(!is_same_file(file.path(), Path::new("no/such/file")));
        assert!(is_same_file(
            Path::new("Missing.json"),
            Path::new("./missing.JSON")
        ));
    }
}
