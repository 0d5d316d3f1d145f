//! One way to open every format.

use std::path::{Path, PathBuf};

use super::files::{extension, read_at_most};
use super::usd::{OpenOptions, UsdFile};
use super::{bvh, fbx, gltf};
use crate::error::{Error, Result};
use sinew_animate::asset::Asset;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_layer::Files;

/// The reader of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Usd,
    Gltf,
    Bvh,
    Fbx,
}

/// A file format, as dialogs and help list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileFormat {
    /// Name of the format, such as `glTF`.
    pub name: &'static str,
    /// The extensions of its files, in lower case and without a dot.
    pub extensions: &'static [&'static str],
}

const fn format(name: &'static str, extensions: &'static [&'static str]) -> FileFormat {
    FileFormat { name, extensions }
}

/// All formats, and the reader of each.
const FORMATS: [(FileFormat, Reader); 5] = [
    (format("USD", &["usd", "usda", "usdc", "usdz"]), Reader::Usd),
    (format("glTF", &["gltf", "glb"]), Reader::Gltf),
    (format("VRM", &["vrm", "vrma"]), Reader::Gltf),
    (format("BVH", &["bvh"]), Reader::Bvh),
    (format("FBX", &["fbx"]), Reader::Fbx),
];

/// The formats that [`open`] reads in this build: FBX only with the feature `fbx`.
pub fn readable_formats() -> impl Iterator<Item = FileFormat> {
    let in_build = |reader: Reader| reader != Reader::Fbx || cfg!(feature = "fbx");
    let formats = FORMATS.into_iter().filter(move |(_, r)| in_build(*r));
    formats.map(|(format, _)| format)
}

/// By the file's extension, or by its first bytes if the extension is unknown.
///
/// # Errors
/// [`Error::Open`] if the file is there, and neither says what it is.
fn reader(files: &Files, file: &Path) -> Result<Reader> {
    let extension = extension(file);
    let mut formats = FORMATS.iter();
    if let Some((_, reader)) = formats.find(|(f, _)| f.extensions.contains(&extension.as_str())) {
        return Ok(*reader);
    }
    // A file that cannot be read is reported by its reader.
    let Ok(head) = read_at_most(files, file, 32) else {
        return Ok(Reader::Usd);
    };
    let starts: [(&[u8], Reader); 8] = [
        (b"#usda", Reader::Usd),
        (b"#sdf", Reader::Usd),
        (b"PXR-USDC", Reader::Usd),
        (b"PK\x03\x04", Reader::Usd),
        (b"glTF", Reader::Gltf),
        (b"HIERARCHY", Reader::Bvh),
        (b"Kaydara FBX", Reader::Fbx),
        (b"; FBX", Reader::Fbx),
    ];
    let known = starts.iter().find(|(start, _)| head.starts_with(start));
    match known {
        Some((_, reader)) => Ok(*reader),
        None => Err(unknown(file, &extension)),
    }
}

/// The error of a file of an unknown format.
fn unknown(file: &Path, extension: &str) -> Error {
    let extensions = readable_formats().flat_map(|f| f.extensions);
    let extensions: Vec<String> = extensions.map(|e| format!(".{e}")).collect();
    let found = match extension {
        "" => "no extension".to_owned(),
        extension => format!(".{extension}"),
    };
    let expected = extensions.join(", ");
    let reason = format!("the format is not known: expected one of {expected}; found {found}");
    Error::open(file, reason)
}

/// Opens a character or a clip of any format.
///
/// A USD file is opened as it is. A glTF, VRM, VRM Animation, BVH or FBX file (with the feature
/// `fbx`) becomes the UsdSkel stage that `sinew convert` writes, in memory, and its first clip is
/// bound.
///
/// ```
/// let puppet = sinew_io::open("../../examples/assets/puppet.glb")?;
/// let scene = puppet.scene(Default::default())?;
/// assert_eq!(scene.instances[0].instance.skeleton().joints().len(), 21);
/// # Ok::<(), sinew_io::Error>(())
/// ```
///
/// # Errors
/// [`Error::Open`] or [`Error::Invalid`] if the file is not there, cut short or broken; the message
/// says where it is broken.
pub fn open(file: impl AsRef<Path>) -> Result<UsdFile> {
    open_with(file, &OpenOptions::default())
}

/// Opens a file as [`open`] does, with a clip, variants or search paths chosen, or from memory.
///
/// Files in memory are found by their paths, as on disk: textures, layers, and the buffers of a .gltf file.
///
/// ```
/// use sinew_io::{Files, OpenOptions};
///
/// # let read = |name: &str| std::fs::read(format!("../../examples/assets/{name}"));
/// let bytes = read("puppet.glb")?;
/// let options = OpenOptions {
///     files: Files::in_memory([("puppet.glb", bytes)]),
///     ..OpenOptions::default()
/// };
/// let puppet = sinew_io::open_with("puppet.glb", &options)?;
/// assert!(puppet.scene(Default::default())?.instances.len() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`open`]. [`Error::NoSuchClip`] or [`Error::NoSuchVariant`] if the file does not
/// have what is chosen; [`Error::AmbiguousClip`] or [`Error::ClipFitsNothing`] as for
/// [`UsdFile::open_with`]. [`Error::Unsupported`] if a variant of another format is chosen: there
/// are none.
pub fn open_with(file: impl AsRef<Path>, options: &OpenOptions) -> Result<UsdFile> {
    let file = file.as_ref();
    let refuse = |reason: String| {
        Err(Error::Unsupported {
            file: file.to_owned(),
            reason,
        })
    };
    match read_asset_from(&options.files, file)? {
        Some(_) if !options.variants.is_empty() => {
            refuse("variants were requested, but only USD files have variants".into())
        }
        Some(asset) => UsdFile::from_asset(&on_own_skeleton(asset), options),
        None => UsdFile::open_with(file, options),
    }
}

/// Reads a glTF, VRM, BVH or FBX file, and gives its clips unique names. `None` if the file is USD.
///
/// # Errors
/// [`Error::Open`] if the format is not known: neither the extension nor the first bytes are those
/// of one in [`readable_formats`]. [`Error::Open`] or [`Error::Invalid`] if the file is not there, cut short or broken.
pub fn read_asset(file: impl AsRef<Path>) -> Result<Option<Asset>> {
    read_asset_from(&Files::on_disk(), file)
}

/// Reads a file as [`read_asset`] does, on disk or in memory.
///
/// # Errors
/// Those of [`read_asset`].
pub fn read_asset_from(files: &Files, file: impl AsRef<Path>) -> Result<Option<Asset>> {
    let file = file.as_ref();
    let mut asset = match reader(files, file)? {
        Reader::Usd => return Ok(None),
        Reader::Gltf => gltf::read_from(files, file)?,
        Reader::Bvh => bvh::read_from(files, file)?,
        Reader::Fbx => fbx::read_from(files, file)?,
    };
    asset.make_clip_names_unique();
    Ok(Some(asset))
}

/// The files that a file is read from or refers to, itself first; of one that cannot be read it alone.
#[must_use]
pub fn sources(file: &Path, options: &OpenOptions) -> Vec<PathBuf> {
    let mut sources = vec![file.to_owned()];
    match read_asset_from(&options.files, file) {
        Ok(Some(asset)) => sources.extend(asset.sources),
        Ok(None) => {
            let opened = UsdFile::open_with(file, options);
            sources.extend(opened.iter().flat_map(UsdFile::sources));
        }
        Err(_) => {}
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_offers_what_it_reads() {
        let offered: Vec<_> = readable_formats().flat_map(|f| f.extensions).collect();
        let folder = tempfile::tempdir().unwrap();
        for extension in FORMATS.iter().flat_map(|(f, _)| f.extensions) {
            let file = folder.path().join("file").with_extension(extension);
            std::fs::write(&file, "").unwrap();
            // Of an empty file every reader says what is wrong, and a missing one that it is missing.
            let error = open(&file).unwrap_err().to_string();
            let missing = error.contains("not in this build");
            assert_eq!(offered.contains(&extension), !missing, "{error}");
        }
    }

    #[test]
    fn the_extension_decides_and_then_the_first_bytes() {
        let reader = |file: &Path| super::reader(&Files::on_disk(), file).unwrap();
        assert_eq!(reader(Path::new("no/such/Hero.GLB")), Reader::Gltf);
        assert_eq!(reader(Path::new("no/such/hero")), Reader::Usd);
        let folder = tempfile::tempdir().unwrap();
        for (text, expected) in [
            ("glTF\u{2}", Reader::Gltf),
            ("HIERARCHY\nROOT", Reader::Bvh),
            ("Kaydara FBX Binary  ", Reader::Fbx),
            ("; FBX 7.4.0 project file", Reader::Fbx),
            ("#usda 1.0", Reader::Usd),
            ("PXR-USDC\0", Reader::Usd),
            ("PK\u{3}\u{4}\n", Reader::Usd),
        ] {
            let file = folder.path().join("file.dat");
            std::fs::write(&file, text).unwrap();
            assert_eq!(reader(&file), expected, "{text}");
        }
    }
    #[test]
    fn an_unknown_format_is_told_with_those_that_are_read() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes, found) in [
            ("notes.md", &b"# Notes"[..], "found .md"),
            ("a.png", b"\x89PNG", "found .png"),
            ("LICENSE", b"Free", "found no extension"),
            ("empty.txt", b"", "found .txt"),
        ] {
            let file = folder.path().join(name);
            std::fs::write(&file, bytes).unwrap();
            let error = open(&file).unwrap_err().to_string();
            assert!(error.contains(name) && error.ends_with(found), "{error}");
            for extension in readable_formats().flat_map(|f| f.extensions) {
                assert!(error.contains(&format!(".{extension}")), "{error}");
            }
            assert!(!error.contains("#usda"), "{error}");
        }
        // A name that says what it is gets its reader's message.
        let file = folder.path().join("notes.usd");
        std::fs::write(&file, "# Notes").unwrap();
        let error = open(&file).unwrap_err().to_string();
        assert!(error.contains("expected '#usda 1.0'"), "{error}");
        assert!(error.contains("found '# Notes'"), "{error}");
    }
}
