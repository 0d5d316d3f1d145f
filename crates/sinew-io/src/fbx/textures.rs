//! Pictures: embedded, or files below the FBX's folder.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::budget::Budget;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::Image;

/// No picture file is read beyond this.
const LARGEST: u64 = 1 << 30;
/// Letters of a picture's name that are kept.
const LONGEST_NAME: usize = 80;

/// Pictures that materials use, each once.
pub struct Images<'a> {
    folder: PathBuf,
    stem: String,
    budget: &'a mut Budget,
    pub images: Vec<Image>,
    pub warnings: Vec<Warning>,
    /// By ufbx's texture file.
    known: HashMap<u32, Option<usize>>,
    names: HashSet<String>,
}

impl<'a> Images<'a> {
    pub fn new(path: &Path, budget: &'a mut Budget) -> Self {
        Self {
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            stem: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            budget,
            images: Vec::new(),
            warnings: Vec::new(),
            known: HashMap::new(),
            names: HashSet::new(),
        }
    }

    /// The picture of a texture; one that cannot be read is there without bytes, and warned about. `None` where a texture
    /// has no picture at all.
    pub fn index(
        &mut self,
        scene: &ufbx::Scene,
        texture: &ufbx::Texture,
    ) -> Result<Option<usize>, Invalid> {
        if !texture.has_file {
            return Ok(None);
        }
        if let Some(known) = self.known.get(&texture.file_index) {
            return Ok(*known);
        }
        let Some(file) = scene.texture_files.get(texture.file_index as usize) else {
            return Ok(None);
        };
        let name = last_part(&file.filename, &file.relative_filename);
        let bytes = if file.content.is_empty() {
            self.beside(file, name)
        } else {
            self.budget.spend::<u8>(file.content.len(), name)?;
            Some(file.content.to_vec())
        };
        let format = bytes.as_deref().and_then(ending);
        match (&bytes, format) {
            (None, _) => self.warn(
                "fbx-image-unreadable",
                name,
                "neither embedded nor to be found below the FBX file's folder",
            ),
            (Some(_), None) => self.warn(
                "fbx-image-format",
                name,
                "no PNG, JPEG, EXR or AVIF; the image is left out",
            ),
            _ => {}
        }
        let file_name = self.free_name(name, format.unwrap_or("png"));
        self.images.push(Image {
            file_name,
            bytes: bytes.filter(|_| format.is_some()).unwrap_or_default(),
        });
        let index = Some(self.images.len() - 1);
        self.known.insert(texture.file_index, index);
        Ok(index)
    }

    fn warn(&mut self, code: &'static str, name: &str, message: &str) {
        self.warnings.push(Warning::new(code, name, message));
    }

    /// By the path relative to the FBX file, and by name in the folders where exporters put pictures. Other
    /// folders are left alone: the picture would go into what sinew writes.
    fn beside(&self, file: &ufbx::TextureFile, name: &str) -> Option<Vec<u8>> {
        let relative = file.relative_filename.replace('\\', "/");
        let unpacked = format!("{}.fbm/{name}", self.stem);
        let textures = format!("textures/{name}");
        let places = [&relative, name, &unpacked, &textures];
        let paths = places.iter().map(Path::new).filter(|p| is_below(p));
        paths.map(|p| self.folder.join(p)).find_map(|p| picture(&p))
    }

    /// A file name of letters that every file system takes, and that no other image has.
    fn free_name(&mut self, name: &str, ending: &str) -> String {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let mut stem: String = stem
            .chars()
            .take(LONGEST_NAME)
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect();
        if stem.trim_matches('_').is_empty() {
            stem = format!("image{}", self.images.len());
        }
        let mut file_name = format!("{stem}.{ending}");
        let mut number = 1;
        // File systems that know no case exist.
        while !self.names.insert(file_name.to_ascii_lowercase()) {
            number += 1;
            file_name = format!("{stem}_{number}.{ending}");
        }
        file_name
    }
}

/// A path's last part, of the first path that has one.
fn last_part<'a>(path: &'a str, other: &'a str) -> &'a str {
    let last = |p: &'a str| p.rsplit(['/', '\\']).next().unwrap_or_default();
    match last(path) {
        "" => last(other),
        name => name,
    }
}

fn is_below(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
}

/// A file's bytes, where it is a picture's: no device, and nothing else that happens to have that name.
fn picture(path: &Path) -> Option<Vec<u8>> {
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > LARGEST {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What the first bytes say it is.
fn ending(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("jpg"),
        [0x76, 0x2F, 0x31, 0x01, ..] => Some("exr"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', ..] => Some("avif"),
        _ => None,
    }
}
