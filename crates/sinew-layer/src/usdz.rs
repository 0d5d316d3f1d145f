//! Packages: `.usdz`, zip archives whose files are not compressed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::Files;
use crate::layer::Layer;
use crate::open;
use crate::usdc::Bytes;

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";

/// How long the fixed parts of the three headers are.
const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
const END_LEN: usize = 22;

/// Where the data of an entry begins is a multiple of this.
const ALIGN: u64 = 64;

/// The first day that a zip archive knows, 1980-01-01, so that the same files give the same package.
const DATE: u16 = 0x21;

/// Names are UTF-8.
const UTF8: u16 = 1 << 11;

/// The extra field that fills up to the alignment, as usd-core has it.
const PADDING: u16 = 0x1986;

/// Packages in packages.
const MAX_DEPTH: usize = 16;

/// Whether these are the first bytes of a package.
pub(crate) fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(&LOCAL)
}

/// Splits the path of a file in a package, `a.usdz[b.usda]`, into the package's and the file's. The file's may
/// be such a path itself: `b.usdz[c.usda]`.
#[must_use]
pub fn split_package_path(path: &str) -> Option<(&str, &str)> {
    let (package, inner) = path.strip_suffix(']')?.split_once('[')?;
    (!package.is_empty() && !inner.is_empty()).then_some((package, inner))
}

/// An open package. Its files are parts of the archive, which is in memory. Clones share it.
#[derive(Clone, Debug)]
pub struct Package {
    name: String,
    bytes: Bytes,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    data: Range<usize>,
}

impl Package {
    /// Opens a package and reads it into memory.
    ///
    /// # Errors
    /// [`Error::Io`] if it is no regular file or cannot be read, [`Error::Malformed`] if it is no zip archive,
    /// [`Error::Unsupported`] if a file in it is compressed or encrypted.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_from(&Files::on_disk(), path)
    }

    /// Opens a package as [`open`](Self::open) does, on disk or in memory.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_from(files: &Files, path: &Path) -> Result<Self> {
        Self::read(&path.to_string_lossy(), open::read(files, path)?)
    }

    pub(crate) fn read(name: &str, bytes: Bytes) -> Result<Self> {
        let entries = entries(name, &bytes)?;
        Ok(Self {
            name: name.to_owned(),
            bytes,
            entries,
        })
    }

    /// The names of its files, the root layer first.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name.as_str())
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.name == name)
    }

    /// A file's bytes.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.entry(name).map(|e| &self.bytes[e.data.clone()])
    }

    /// How messages call a file of this package: `a.usdz[b.usda]`.
    fn name_of(&self, name: &str) -> String {
        format!("{}[{name}]", self.name)
    }

    fn part(&self, name: &str) -> Result<Bytes> {
        let part = self
            .entry(name)
            .and_then(|e| self.bytes.part(e.data.start, e.data.len()));
        part.ok_or_else(|| Error::Io {
            file: self.name_of(name).into(),
            source: io::Error::new(io::ErrorKind::NotFound, "the package has no such file"),
        })
    }

    /// A package in this package.
    ///
    /// # Errors
    /// As [`Package::open`].
    pub fn package(&self, name: &str) -> Result<Self> {
        Self::read(&self.name_of(name), self.part(name)?)
    }

    /// A layer of this package, or of a package in it (`b.usdz[c.usda]`). Of a package it is the root layer.
    ///
    /// # Errors
    /// As [`Layer::open`].
    pub fn layer(&self, name: &str) -> Result<Layer> {
        self.layer_inside(name, 0)
    }

    /// The root layer: the first file.
    ///
    /// # Errors
    /// As [`Layer::open`].
    pub fn root_layer(&self) -> Result<Layer> {
        self.root_inside(0)
    }

    fn root_inside(&self, depth: usize) -> Result<Layer> {
        match self.entries.first() {
            Some(first) => self.layer_inside(&first.name, depth),
            None => Err(malformed(&self.name, 0, "the package is empty")),
        }
    }

    fn layer_inside(&self, name: &str, depth: usize) -> Result<Layer> {
        if depth > MAX_DEPTH {
            return Err(malformed(&self.name, 0, "packages are nested too deep"));
        }
        if let Some((package, inner)) = split_package_path(name) {
            return self.package(package)?.layer_inside(inner, depth + 1);
        }
        let part = self.part(name)?;
        match is_package(&part) {
            true => Self::read(&self.name_of(name), part)?.root_inside(depth + 1),
            false => open::layer(&self.name_of(name), part),
        }
    }
}

fn malformed(file: &str, at: usize, reason: impl Into<String>) -> Error {
    Error::Malformed {
        file: file.to_owned(),
        place: format!("zip archive at {at}"),
        reason: reason.into(),
    }
}

/// Numbers of a header whose length has been checked.
struct Header<'a>(&'a [u8]);

impl Header<'_> {
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }

    fn size(&self, at: usize) -> usize {
        self.u32(at) as usize
    }
}

fn header<'a>(bytes: &'a [u8], at: usize, len: usize, signature: [u8; 4]) -> Option<Header<'a>> {
    let header = bytes.get(at..at.checked_add(len)?)?;
    header.starts_with(&signature).then_some(Header(header))
}

/// Reads the archive's directory, and checks it against the headers that stand before each file's data.
fn entries(file: &str, bytes: &[u8]) -> Result<Vec<Entry>> {
    // A comment of up to 64 KiB may follow the last header.
    let last = bytes.len().saturating_sub(END_LEN);
    let first = last.saturating_sub(usize::from(u16::MAX));
    let end = (first..=last)
        .rev()
        .find_map(|at| header(bytes, at, END_LEN, END))
        .ok_or_else(|| malformed(file, 0, "the directory's end is not found"))?;
    let count = end.u16(10);
    let mut at = end.size(16);
    let mut found: Vec<(usize, Entry)> = Vec::new();
    let mut names = HashSet::new();
    for _ in 0..count {
        let central = header(bytes, at, CENTRAL_LEN, CENTRAL)
            .ok_or_else(|| malformed(file, at, "an entry of the directory is expected"))?;
        let name_len = usize::from(central.u16(28));
        let local_at = central.size(42);
        let len = central.size(24);
        let name_at = at + CENTRAL_LEN;
        let name = bytes
            .get(name_at..name_at + name_len)
            .ok_or_else(|| malformed(file, at, "the directory is cut off"))?;
        let local = header(bytes, local_at, LOCAL_LEN, LOCAL)
            .ok_or_else(|| malformed(file, local_at, "the header of a file is expected"))?;
        let text = String::from_utf8_lossy(name).into_owned();
        for header in [
            (local.u16(6), local.u16(8)),
            (central.u16(8), central.u16(10)),
        ] {
            let reason = match header {
                (bits, _) if bits & 1 != 0 => "encrypted",
                (_, method) if method != 0 => "compressed",
                _ => continue,
            };
            return Err(Error::Unsupported {
                file: format!("{file}[{text}]"),
                reason: format!("it is {reason}, which packages forbid"),
            });
        }
        let local_name = local_at + LOCAL_LEN;
        let start = local_name + usize::from(local.u16(26)) + usize::from(local.u16(28));
        let same = usize::from(local.u16(26)) == name_len
            && bytes.get(local_name..local_name + name_len) == Some(name)
            && [local.size(18), local.size(22), central.size(20)] == [len; 3];
        if !same {
            let reason = format!("the header of '{text}' contradicts the directory");
            return Err(malformed(file, local_at, reason));
        }
        if bytes.len().checked_sub(start).is_none_or(|left| left < len) {
            let reason = format!("'{text}' has {len} bytes, which are not there");
            return Err(malformed(file, local_at, reason));
        }
        if names.insert(text.clone()) {
            let data = start..start + len;
            found.push((local_at, Entry { name: text, data }));
        }
        at = name_at + name_len + usize::from(central.u16(30)) + usize::from(central.u16(32));
    }
    // The first file in the archive is the root layer, whatever the directory's order is.
    found.sort_by_key(|(at, _)| *at);
    if let Some((at, _)) = found.first().filter(|(at, _)| *at != 0) {
        return Err(malformed(
            file,
            *at,
            "the first file has to be at the start",
        ));
    }
    for pair in found.windows(2) {
        if pair[0].1.data.end > pair[1].0 {
            return Err(malformed(file, pair[1].0, "two files overlap"));
        }
    }
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}

/// What a file of a package is made of.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// These bytes.
    Bytes(Cow<'a, [u8]>),
    /// A copy of this file, on disk or in memory.
    File(Files, PathBuf),
}

impl<'a> From<&'a [u8]> for Content<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<Vec<u8>> for Content<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<PathBuf> for Content<'_> {
    fn from(path: PathBuf) -> Self {
        Self::File(Files::on_disk(), path)
    }
}

/// Writes a package of these files, the root layer first. The same files give the same bytes. `file` is how errors call
/// the package.
///
/// # Errors
/// [`Error::Unwritable`] for a name that is no relative path of the usual kind or that is there twice, or
/// for more than 4 GiB; [`Error::Io`] if a file cannot be read or written.
pub fn write_package<'a>(
    file: &Path,
    mut out: impl Write,
    entries: impl IntoIterator<Item = (String, Content<'a>)>,
) -> Result<()> {
    let io_error = |source| Error::Io {
        file: file.to_owned(),
        source,
    };
    let mut names = HashSet::new();
    let mut directory = Vec::new();
    let mut at = 0u64;
    for (name, content) in entries {
        let unwritable = |reason: &str| Error::Unwritable {
            path: file.display().to_string(),
            field: name.clone(),
            reason: reason.to_owned(),
        };
        let usual = |part: &str| !matches!(part, "" | "." | "..");
        if !name.split('/').all(usual) || name.contains(['\\', '[', ']', ':', '\0']) {
            return Err(unwritable("a package's file needs a relative path"));
        }
        if !names.insert(name.clone()) || names.len() > usize::from(u16::MAX) - 1 {
            return Err(unwritable("the name is there twice, or there are too many"));
        }
        let read;
        let data: &[u8] = match &content {
            Content::Bytes(bytes) => bytes,
            Content::File(files, path) => {
                read = open::read(files, path)?;
                &read
            }
        };
        let (Ok(len), Ok(offset)) = (u32::try_from(data.len()), u32::try_from(at)) else {
            return Err(unwritable("usd-core reads no packages of more than 4 GiB"));
        };
        let Ok(name_len) = u16::try_from(name.len()) else {
            return Err(unwritable("the name is too long"));
        };
        let header_end = at + LOCAL_LEN as u64 + u64::from(name_len);
        // The padding is a field with four bytes of header.
        let padding = match (ALIGN - header_end % ALIGN) % ALIGN {
            padding @ 1..4 => padding + ALIGN,
            padding => padding,
        } as u16;
        let crc = crc32fast::hash(data);

        let mut common = Vec::new();
        for number in [10, UTF8, 0, 0, DATE] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc, len, len] {
            common.extend(number.to_le_bytes());
        }
        common.extend(name_len.to_le_bytes());

        let mut header = [&LOCAL[..], &common, &padding.to_le_bytes(), name.as_bytes()].concat();
        if let Some(len) = padding.checked_sub(4) {
            header.extend(PADDING.to_le_bytes());
            header.extend(len.to_le_bytes());
            header.resize(header.len() + usize::from(len), 0);
        }
        out.write_all(&header).map_err(io_error)?;
        out.write_all(data).map_err(io_error)?;

        directory.extend(CENTRAL);
        directory.extend(10u16.to_le_bytes());
        directory.extend(common);
        // No extra field, no comment, the first disk, no attributes.
        directory.extend([0; 12]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
        at = header_end + u64::from(padding) + u64::from(len);
    }
    let too_large = || Error::Unwritable {
        path: file.display().to_string(),
        field: "directory".to_owned(),
        reason: "usd-core reads no packages of more than 4 GiB".to_owned(),
    };
    let start = u32::try_from(at).map_err(|_| too_large())?;
    let len = u32::try_from(directory.len()).map_err(|_| too_large())?;
    let count = names.len() as u16;
    directory.extend(END);
    for number in [0, 0, count, count] {
        directory.extend(number.to_le_bytes());
    }
    directory.extend(len.to_le_bytes());
    directory.extend(start.to_le_bytes());
    directory.extend(0u16.to_le_bytes());
    out.write_all(&directory).map_err(io_error)?;
    out.flush().map_err(io_error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn package(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        let files = files
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), (*bytes).into()));
        write_package(Path::new("a.usdz"), &mut out, files).unwrap();
        out
    }

    fn open(bytes: Vec<u8>) -> Result<Package> {
        Package::read("a.usdz", bytes.into())
    }

    #[test]
    fn a_package_gives_back_its_files_aligned() {
        let big = vec![7; 1000];
        for first in [
            "r.usda",
            "a-name-so-long-that-it-needs-more-than-a-line.usda",
        ] {
            let bytes = package(&[(first, b"#usda 1.0"), ("t/ä.png", &big), ("empty", b"")]);
            let package = open(bytes).unwrap();
            let names: Vec<_> = package.entries().collect();
            assert_eq!(names, [first, "t/ä.png", "empty"]);
            assert_eq!(package.bytes("t/ä.png"), Some(&big[..]));
            assert_eq!(package.bytes(first), Some(&b"#usda 1.0"[..]));
            assert_eq!(package.bytes("missing"), None);
            assert!(package.entries.iter().all(|e| e.data.start % 64 == 0));
        }
    }

    #[test]
    fn packages_stand_in_packages() {
        let inner = package(&[("c.txt", b"deep")]);
        let outer = open(package(&[("b.usdz", &inner)])).unwrap();
        let deep = outer.package("b.usdz").unwrap();
        assert_eq!(deep.bytes("c.txt"), Some(&b"deep"[..]));
        let error = outer.layer("b.usdz[d.usda]").unwrap_err().to_string();
        assert_eq!(
            error,
            "a.usdz[b.usdz][d.usda]: the package has no such file"
        );
        let nested = "a.usdz[b.usdz[c.usda]]";
        assert_eq!(
            split_package_path(nested),
            Some(("a.usdz", "b.usdz[c.usda]"))
        );
        assert_eq!(split_package_path("a[1].usda"), None);
    }

    #[test]
    fn a_file_on_disk_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.usdz");
        let part = folder.path().join("part.txt");
        fs::write(&part, "from disk").unwrap();
        let entries = [("part.txt".to_owned(), Content::from(part))];
        let write = |entries: &[(String, Content<'static>)]| {
            let out = fs::File::create(folder.path().join("new"))?;
            write_package(&file, out, entries.to_vec()).map_err(std::io::Error::other)?;
            fs::rename(folder.path().join("new"), &file)
        };
        write(&entries).unwrap();
        let open = Package::open(&file).unwrap();
        let twice = [entries[0].clone(), entries[0].clone()];
        assert!(write_package(&file, Vec::new(), twice).is_err());
        write(&[("new".to_owned(), b"x"[..].into())]).unwrap();
        assert_eq!(open.bytes("part.txt"), Some(&b"from disk"[..]));
        let new = Package::open(&file).unwrap();
        assert_eq!(new.bytes("new"), Some(&b"x"[..]));
        let left = fs::read_dir(&folder).unwrap().count();
        assert_eq!(left, 2, "no temporary file is left");
        assert!(
            Package::open(folder.path()).is_err(),
            "a folder is no package"
        );
    }

    #[test]
    fn names_that_lead_out_of_a_package_are_not_written() {
        for name in ["", "/a", "../a", "a//b", "a\\b", "a[b]", "c:a", "./a"] {
            let entries = [(name.to_owned(), b"x"[..].into())];
            let result = write_package(Path::new("a.usdz"), Vec::new(), entries);
            assert!(result.is_err(), "{name}");
        }
    }

    #[test]
    fn broken_archives_are_errors() {
        let good = package(&[("r.usda", b"#usda 1.0"), ("b", b"text")]);
        let len = good.len();
        let directory = len - END_LEN - 2 * CENTRAL_LEN - 7;
        // Offset, new byte, what the error says.
        let cases: [(usize, u8, &str); 8] = [
            (6, 1, "encrypted"),
            (8, 8, "compressed"),
            (directory + 10, 8, "compressed"),
            (22, 10, "contradicts the directory"),
            (30, b'x', "contradicts the directory"),
            (directory, 0, "an entry of the directory"),
            (directory + 42, 1, "the header of a file"),
            (len - END_LEN, 0, "the directory's end"),
        ];
        for (at, byte, expected) in cases {
            let mut bytes = good.clone();
            bytes[at] = byte;
            let error = open(bytes).unwrap_err().to_string();
            assert!(
                error.contains(expected),
                "expected '{expected}', found '{error}'"
            );
        }
        for at in 0..len {
            assert!(open(good[..at].to_vec()).is_err());
            for byte in [0, 1, 255] {
                let mut bytes = good.clone();
                bytes[at] = byte;
                if let Ok(package) = open(bytes) {
                    assert!(package.entries().all(|name| package.bytes(name).is_some()));
                }
            }
        }
    }
}
