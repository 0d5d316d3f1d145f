//! The clip files of a bake, as they are found on disk.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use openusd::sdf::{self, Value};

use crate::error::{Error, Result, Source};
use crate::openusd_compat::crate_paths;
use crate::openusd_compat::crate_values;

const CUSTOM_LAYER_DATA: &str = "customLayerData";
/// The entry of customLayerData that is ours.
const ENTRY: &str = "sinew";

/// How a clip was made. Two clips with the same record hold the same samples, to the bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipRecord {
    /// File name of the stage that plays the clip.
    pub stage: String,
    /// Version of this crate.
    pub version: String,
    /// Fingerprint of the layers that were read.
    pub input: String,
    /// The options of the bake, as far as the samples depend on them.
    pub options: String,
    /// The backend that ran the kernels.
    pub backend: String,
    /// Which of the bake's clips it is, such as "3 of 12".
    pub clip: String,
    /// Its first and last time code.
    pub frames: String,
}

impl ClipRecord {
    fn entries(&self) -> [(&'static str, &String); 7] {
        [
            ("stage", &self.stage),
            ("version", &self.version),
            ("input", &self.input),
            ("options", &self.options),
            ("backend", &self.backend),
            ("clip", &self.clip),
            ("frames", &self.frames),
        ]
    }

    /// Returns the first entry in which two records differ, and both values.
    pub fn difference<'a>(&'a self, other: &'a Self) -> Option<(&'static str, &'a str, &'a str)> {
        let pairs = self.entries().into_iter().zip(other.entries());
        let mut differing = pairs.filter(|((_, a), (_, b))| a != b);
        differing
            .next()
            .map(|((name, a), (_, b))| (name, a.as_str(), b.as_str()))
    }

    pub(crate) fn write(&self, data: &mut dyn sdf::AbstractData) {
        let entries = self.entries().into_iter();
        let record: HashMap<String, Value> = entries
            .map(|(name, text)| (name.to_owned(), Value::String(text.clone())))
            .collect();
        let all = HashMap::from([(ENTRY.to_owned(), Value::Dictionary(record))]);
        let root = sdf::Path::abs_root();
        data.set_field(&root, CUSTOM_LAYER_DATA, Value::Dictionary(all));
    }

    fn read(data: &dyn sdf::AbstractData) -> Option<Self> {
        let field = data.try_field(&sdf::Path::abs_root(), CUSTOM_LAYER_DATA);
        let field = field.ok().flatten()?;
        let Value::Dictionary(all) = field.as_ref() else {
            return None;
        };
        let Some(Value::Dictionary(record)) = all.get(ENTRY) else {
            return None;
        };
        let text = |name: &str| match record.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            _ => None,
        };
        Some(Self {
            stage: text("stage")?,
            version: text("version")?,
            input: text("input")?,
            options: text("options")?,
            backend: text("backend")?,
            clip: text("clip")?,
            frames: text("frames")?,
        })
    }
}

/// Bytes that are read of a file that may be anything, to find out what made it.
const MOST: u64 = 1 << 30;

/// What is on disk under a clip's name.
pub enum FoundClip {
    Nothing,
    /// A file that no bake into clips has written, or that is cut short.
    Foreign,
    Clip(Box<ClipFile>),
}

/// A complete clip file.
pub struct ClipFile {
    layer: sdf::Layer,
    pub record: ClipRecord,
}

impl FoundClip {
    /// Looks at a file without reading its samples.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn at(file: &Path) -> Result<Self> {
        let fail = |source: Source| Error::Open {
            file: file.to_owned(),
            source,
        };
        match std::fs::metadata(file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(e) => return Err(fail(e.into())),
            Ok(metadata) if !metadata.is_file() => return Ok(Self::Foreign),
            Ok(_) => {}
        }
        let Some(bytes) = structure(file).map_err(|e| fail(e.into()))? else {
            return Ok(Self::Foreign);
        };
        if let Some(clip) = ClipFile::read(bytes) {
            return Ok(Self::Clip(Box::new(clip)));
        }
        // Another writer may have laid it out otherwise.
        let size = std::fs::metadata(file).map_err(|e| fail(e.into()))?;
        if size.len() > MOST {
            return Ok(Self::Foreign);
        }
        let bytes = std::fs::read(file).map_err(|e| fail(e.into()))?;
        let clip = ClipFile::read(bytes).map(Box::new);
        Ok(clip.map_or(Self::Foreign, Self::Clip))
    }
}

impl ClipFile {
    fn read(bytes: Vec<u8>) -> Option<Self> {
        look_through(&bytes).ok()?;
        let layer = sdf::Layer::from_bytes("clip", bytes).ok()?;
        let record = ClipRecord::read(layer.data())?;
        Some(Self { layer, record })
    }
}

/// Refuses what openusd must not see.
fn look_through(bytes: &[u8]) -> std::io::Result<()> {
    crate_paths::check(&mut Cursor::new(bytes))?;
    crate_values::check(&mut Cursor::new(bytes)).map(drop)
}

/// A crate file's bytes, but for most values: large arrays are in front in what we write, and stay zero here. None where it
/// is no crate file, or a section lies beyond its end.
fn structure(file: &Path) -> std::io::Result<Option<Vec<u8>>> {
    const HEAD: u64 = 1 << 12;
    /// What is read in front of the sections: references to arrays, small values, the record.
    const VALUES: u64 = 4 << 20;
    let mut input = File::open(file)?;
    let size = input.metadata()?.len();
    let mut head = Vec::new();
    input.by_ref().take(HEAD.min(size)).read_to_end(&mut head)?;
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 8)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    };
    let Some(table) = word(&head, 16).filter(|_| head.starts_with(b"PXR-USDC")) else {
        return Ok(None);
    };
    let mut sections = Vec::new();
    // Nothing is written behind the table of sections that would make it longer than this.
    if table >= size || size - table > 1 << 12 {
        return Ok(None);
    }
    input.seek(SeekFrom::Start(table))?;
    input.read_to_end(&mut sections)?;
    let count = word(&sections, 0).unwrap_or(0).min(64) as usize;
    let mut first = table;
    for i in 0..count {
        let at = 8 + i * 32 + 16;
        match (word(&sections, at), word(&sections, at + 8)) {
            (Some(start), Some(length)) if start.saturating_add(length) <= table => {
                first = first.min(start);
            }
            _ => return Ok(None),
        }
    }
    let Ok(length) = usize::try_from(size) else {
        return Ok(None);
    };
    first = first.saturating_sub(VALUES);
    if size - first > MOST {
        return Ok(None);
    }
    // Pages of zeros that nobody looks at take no memory, but there may be too many of them.
    let Ok(bytes) = bytemuck::try_zeroed_slice_box(length) else {
        return Ok(None);
    };
    let mut bytes: Vec<u8> = bytes.into_vec();
    bytes[..head.len()].copy_from_slice(&head);
    input.seek(SeekFrom::Start(first))?;
    input.read_exact(&mut bytes[first as usize..])?;
    Ok(Some(bytes))
}

/// What all clips of a bake hold together.
#[derive(Default)]
pub struct ClipContents {
    /// Type names of what has samples, and in how many clips it has some.
    pub(crate) sampled: BTreeMap<String, (String, usize)>,
    /// Type names and values of what has one value at all times, by their attribute.
    pub(crate) still: BTreeMap<String, (String, Value)>,
    pub(crate) clips: usize,
}

impl ClipContents {
    /// Adds the next clip. Values that are the same at all times are in the first clip alone, so
    /// that one is read again, whole.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn add(&mut self, file: &Path, clip: &ClipFile) -> Result<()> {
        let fail = |source: Source| Error::Open {
            file: file.to_owned(),
            source,
        };
        self.clips += 1;
        let data = clip.layer.data();
        let mut still = Vec::new();
        for path in data.spec_paths() {
            if data.spec_type(&path) != Some(sdf::SpecType::Attribute) {
                continue;
            }
            let type_name = data.try_field(&path, sdf::FieldKey::TypeName.as_str());
            let type_name = match type_name.map_err(|e| fail(e.into()))?.as_deref() {
                Some(Value::Token(name)) => name.as_str().to_owned(),
                _ => return Err(fail(format!("{path} has no type").into())),
            };
            if data.has_field(&path, sdf::FieldKey::TimeSamples.as_str()) {
                let entry = self.sampled.entry(path.as_str().to_owned());
                entry.or_insert((type_name.clone(), 0)).1 += 1;
            }
            if data.has_field(&path, sdf::FieldKey::Default.as_str()) {
                still.push((path, type_name));
            }
        }
        if still.is_empty() {
            return Ok(());
        }
        let bytes = std::fs::read(file).map_err(|e| fail(e.into()))?;
        look_through(&bytes).map_err(|e| fail(e.into()))?;
        let whole = sdf::Layer::from_bytes("clip", bytes).map_err(|e| fail(e.into()))?;
        for (path, type_name) in still {
            let value = whole
                .data()
                .try_field(&path, sdf::FieldKey::Default.as_str());
            if let Some(value) = value.map_err(|e| fail(e.into()))? {
                let path = path.as_str().to_owned();
                self.still.insert(path, (type_name, value.into_owned()));
            }
        }
        Ok(())
    }

    /// Whether some clip holds anything of a prim, given by its path in the output.
    pub fn has(&self, prim: &str) -> bool {
        let start = format!("{prim}.");
        let begins = |key: Option<&String>| key.is_some_and(|k| k.starts_with(&start));
        begins(self.sampled.range(start.clone()..).next().map(|e| e.0))
            || begins(self.still.range(start.clone()..).next().map(|e| e.0))
    }

    /// Whether some clip lacks what another one has.
    pub(crate) fn has_gaps(&self) -> bool {
        self.sampled.values().any(|(_, n)| *n < self.clips)
    }
}
