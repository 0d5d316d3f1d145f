//! Where files are read from: the disk, or files in memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Where files are read from: the disk, or files in memory that stand for it. Clones share the files.
///
/// In memory, folders exist by the names of their files alone, and all paths start from one root: `a/b.png`, `/a/b.png` and
/// `a/c/../b.png` are one file.
///
/// ```
/// use std::path::Path;
/// use sinew_layer::{Files, Layer};
///
/// let files = Files::in_memory([("hero.usda", b"#usda 1.0\ndef \"Hero\" {}\n".to_vec())]);
/// let layer = Layer::open_from(&files, Path::new("hero.usda"))?;
/// assert_eq!(layer.name(), "hero.usda");
/// # Ok::<(), sinew_layer::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// By their paths without a root; none for the disk.
    memory: Option<Arc<BTreeMap<PathBuf, Arc<[u8]>>>>,
}

impl Files {
    /// The disk.
    #[must_use]
    pub fn on_disk() -> Self {
        Self::default()
    }

    /// Files in memory: the path and the bytes of each. Of two with one path the later one counts.
    #[must_use]
    pub fn in_memory<P: AsRef<Path>, B: Into<Arc<[u8]>>>(
        files: impl IntoIterator<Item = (P, B)>,
    ) -> Self {
        let files = files.into_iter();
        let files = files.map(|(path, bytes)| (rootless(path.as_ref()), bytes.into()));
        Self {
            memory: Some(Arc::new(files.collect())),
        }
    }

    /// Whether these are files in memory.
    #[must_use]
    pub fn are_in_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Opens a regular file and gives its length in bytes, to read at most so many. Anything else, such as a pipe, is an
    /// error, without opening it: a device has no end, and a pipe may never have a start.
    ///
    /// # Errors
    /// There is no such file, it is not a regular one, or it cannot be opened.
    pub fn open(&self, path: &Path) -> io::Result<(Box<dyn Read + Send>, u64)> {
        if self.memory.is_some() {
            let bytes = self.bytes(path)?;
            let size = bytes.len() as u64;
            return Ok((Box::new(Cursor::new(bytes)), size));
        }
        regular(&fs::metadata(path)?)?;
        let file = File::open(path)?;
        // It may be another one by now.
        let size = regular(&file.metadata()?)?;
        Ok((Box::new(file), size))
    }

    /// Length in bytes of a regular file.
    ///
    /// # Errors
    /// There is no such file, or it is not a regular one.
    pub fn size(&self, path: &Path) -> io::Result<u64> {
        match &self.memory {
            Some(_) => Ok(self.bytes(path)?.len() as u64),
            None => regular(&fs::metadata(path)?),
        }
    }

    /// Whether there is anything at a path: a file or a folder.
    #[must_use]
    pub fn is_there(&self, path: &Path) -> bool {
        match &self.memory {
            Some(_) => self.bytes(path).is_ok() || self.is_folder(path),
            None => path.exists(),
        }
    }

    /// Whether a path is that of a folder.
    #[must_use]
    pub fn is_folder(&self, path: &Path) -> bool {
        let Some(files) = &self.memory else {
            return path.is_dir();
        };
        let path = rootless(path);
        let mut from = files.range(path.clone()..);
        from.find(|(file, _)| **file != path)
            .is_some_and(|(file, _)| file.starts_with(&path))
    }

    /// The one path of what a path leads to, without `.` and `..`: on disk the absolute one, in memory the one without a root.
    /// None if the working directory, from which it would start, is not known.
    #[must_use]
    pub fn full_path(&self, path: &Path) -> Option<PathBuf> {
        match &self.memory {
            Some(_) => Some(rootless(path)),
            None => Some(normalized(&std::path::absolute(path).ok()?)),
        }
    }

    fn bytes(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        let found = self.memory.as_ref().and_then(|f| f.get(&rootless(path)));
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no file of this name was given");
        found.cloned().ok_or_else(missing)
    }
}

fn regular(file: &fs::Metadata) -> io::Result<u64> {
    match file.is_file() {
        true => Ok(file.len()),
        false => Err(io::Error::other("not a file")),
    }
}

/// A path without `.` and `..`, as far as its text says.
#[must_use]
pub fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => drop(out.pop()),
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            part => out.push(part),
        }
    }
    out
}

/// A path in memory as its file is called.
fn rootless(path: &Path) -> PathBuf {
    let path = normalized(path);
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    PathBuf::from(parts.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_found_as_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["a/b.txt", "a.txt", "c/d/e.txt"];
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let memory = Files::in_memory(names.map(|name| (name, name.as_bytes())));
        let text = |files: &Files, path: &Path| -> Option<String> {
            let (mut file, size) = files.open(path).ok()?;
            let mut text = String::new();
            file.read_to_string(&mut text).ok()?;
            assert_eq!(size, text.len() as u64);
            Some(text)
        };
        for (path, expected) in [
            ("a/b.txt", Some("a/b.txt")),
            ("./a.txt", Some("a.txt")),
            ("c/d/../../a/b.txt", Some("a/b.txt")),
            ("c/d", None),
            ("c/d/e", None),
            ("A.txt", None),
        ] {
            let there = folder.path().join(path);
            let (disk, path) = (Files::on_disk(), Path::new(path));
            assert_eq!(text(&memory, path).as_deref(), expected, "{path:?}");
            assert_eq!(text(&disk, &there).as_deref(), expected, "{path:?}");
            assert_eq!(memory.size(path).ok(), disk.size(&there).ok(), "{path:?}");
            assert_eq!(memory.is_there(path), disk.is_there(&there), "{path:?}");
            assert_eq!(memory.is_folder(path), disk.is_folder(&there), "{path:?}");
        }
        let full = |files: &Files, path: &str| files.full_path(Path::new(path));
        assert_eq!(full(&memory, "/c/../a.txt"), Some("a.txt".into()));
        assert_eq!(full(&memory, "../a.txt"), Some("a.txt".into()));
        let here = std::env::current_dir().unwrap().join("a.txt");
        assert_eq!(full(&Files::on_disk(), "c/../a.txt"), Some(here));
    }
}
