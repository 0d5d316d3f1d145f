//! The formats that the viewer opens, and the files that dialogs name.

use std::path::{Path, PathBuf};

use sinew_io::usd::{Purposes, UsdFile, VariantSelection};
use sinew_io::{Error, OpenOptions, readable_formats};

use super::platform;

/// The reason why a file is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Open,
    SavePicture,
    /// Write the character.
    Glb,
    Usdc,
}

impl Purpose {
    /// The purpose of a file with this name that is to be written.
    pub fn of(path: &Path) -> Self {
        match sinew_io::extension(path).as_str() {
            "glb" => Self::Glb,
            "usdc" => Self::Usdc,
            _ => Self::SavePicture,
        }
    }

    /// The extension of what is written.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Open | Self::SavePicture => "png",
            Self::Glb => "glb",
            Self::Usdc => "usdc",
        }
    }
}

/// The answer of a dialog.
#[derive(Clone, Debug, PartialEq)]
pub enum Picked {
    File(PathBuf),
    /// It was closed.
    Nothing,
    /// There is none on this desktop.
    NoDialog,
}

/// What is chosen of a USD file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selected {
    /// One variant each; they replace the selections of the file.
    pub variants: Vec<VariantSelection>,
    pub purposes: Purposes,
}

impl Selected {
    /// Selects a variant instead of what was selected of the same set.
    pub fn select(&mut self, variant: VariantSelection) {
        let set = |of: &VariantSelection| {
            let sets = of.variants.iter().map(|(set, _)| set.clone());
            (of.prim.clone(), sets.collect::<Vec<_>>())
        };
        self.variants.retain(|other| set(other) != set(&variant));
        self.variants.push(variant);
    }

    /// How a file is opened with it.
    pub fn options(&self) -> OpenOptions {
        OpenOptions {
            variants: self.variants.clone(),
            purposes: self.purposes,
            ..options()
        }
    }

    /// Opens a USD file. Another variant may lack sets in which something was selected before; these
    /// selections are dropped.
    pub fn open(&mut self, file: &Path) -> Result<UsdFile, Error> {
        loop {
            let opened = UsdFile::open_with(file, &self.options());
            let Err(Error::NoSuchVariant { selection, .. }) = &opened else {
                return opened;
            };
            let before = self.variants.len();
            self.variants.retain(|v| v.to_string() != *selection);
            if self.variants.len() == before {
                return opened;
            }
        }
    }
}

/// How all files are opened.
pub fn options() -> OpenOptions {
    OpenOptions {
        files: platform::files(),
        ..OpenOptions::default()
    }
}

/// The extensions that this build reads, in groups by format: `usd usda usdc usdz · gltf glb`.
pub fn formats() -> String {
    let format = |f: sinew_io::FileFormat| f.extensions.join(" ");
    readable_formats()
        .map(format)
        .collect::<Vec<_>>()
        .join(" · ")
}

/// All extensions that this build reads.
pub fn endings() -> Vec<&'static str> {
    let of_formats = readable_formats().flat_map(|f| f.extensions);
    of_formats.copied().collect()
}

/// The names of the formats that this build reads, as a sentence lists them.
pub fn format_names() -> String {
    let mut names: Vec<&str> = readable_formats().map(|f| f.name).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} and {last}", names.join(", "))
}

/// What the window says of a file that could not be opened because it is no 3D file; `None` if its
/// ending is one that this build reads, or it is no file.
pub fn not_readable(file: &Path) -> Option<String> {
    let ending = file.extension().map(|e| e.to_string_lossy().to_lowercase());
    let mut known = endings();
    // A build without FBX says so.
    known.extend(["fbx"].iter().filter(|_| ending.as_deref() == Some("fbx")));
    if platform::files().size(file).is_err() || known.iter().any(|k| Some(*k) == ending.as_deref())
    {
        return None;
    }
    let last = known.pop().unwrap_or_default();
    let name = file.display();
    Some(format!(
        "{name} is no 3D file that the viewer can open. It opens files that end in .{} or .{last}.",
        known.join(", .")
    ))
}

/// The path with this extension, if it has none.
pub fn with_extension(path: PathBuf, extension: &str) -> PathBuf {
    match path.extension() {
        Some(_) => path,
        None => path.with_extension(extension),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fbx_is_offered_where_it_is_built_in() {
        assert_eq!(formats().contains("fbx"), cfg!(feature = "fbx"));
        assert_eq!(format_names().contains("FBX"), cfg!(feature = "fbx"));
        assert!(formats().starts_with("usd usda usdc usdz · gltf glb · vrm vrma · bvh"));
        assert!(format_names().starts_with("USD, glTF, VRM"));
    }

    #[test]
    fn pictures_have_an_extension() {
        for (given, written) in [("a/hero", "a/hero.png"), ("a/hero.PNG", "a/hero.PNG")] {
            assert_eq!(with_extension(given.into(), "png"), Path::new(written));
        }
    }
}
