//! Files that appear under their name only when they are whole.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// openusd writes value by value, tens of thousands of them; unbuffered they cost more than the bake.
const BUFFER: usize = 1 << 20;

/// Has `write` fill a file beside `output`, buffered, and renames it there.
///
/// # Errors
/// Whatever `write` says, a folder that cannot be written to, a full disk.
pub(crate) fn replace(
    output: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), String>,
) -> Result<()> {
    let fail = |reason: String| Error::Write {
        file: output.to_owned(),
        reason,
    };
    let mut temporary = temporary_beside(output).map_err(|e| fail(e.to_string()))?;
    let mut sink = BufWriter::with_capacity(BUFFER, temporary.as_file_mut());
    write(&mut sink).map_err(fail)?;
    sink.flush().map_err(|e| fail(e.to_string()))?;
    drop(sink);
    temporary
        .persist(output)
        .map_err(|e| fail(e.error.to_string()))?;
    Ok(())
}

/// A file in the output's folder, so that renaming it never crosses disks; it is removed again where
/// the bake fails. It gets the permissions of the file that it replaces, or those of any new file.
fn temporary_beside(output: &Path) -> std::io::Result<tempfile::NamedTempFile<File>> {
    let folder = match output.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    if let Ok(old) = fs::metadata(output) {
        file.as_file().set_permissions(old.permissions())?;
    }
    Ok(file)
}
