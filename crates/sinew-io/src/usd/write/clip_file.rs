//! The clip files of a bake, as they are found on disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::{Dictionary, Layer, Path as ScenePath, SpecKind, Value};

use crate::error::{Error, Result};

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

    pub(crate) fn write(&self, layer: &mut Layer) {
        let entries = self.entries().into_iter();
        let record: Dictionary = entries
            .map(|(name, text)| (name.into(), Value::string(text.as_str())))
            .collect();
        let all = Dictionary::from([(ENTRY.into(), Value::Dictionary(Arc::new(record)))]);
        let all = Value::Dictionary(Arc::new(all));
        layer.root_mut().fields.set(CUSTOM_LAYER_DATA, all);
    }

    fn read(layer: &Layer) -> Option<Self> {
        let all = layer.get(&ScenePath::root(), CUSTOM_LAYER_DATA).ok()??;
        let Value::Dictionary(all) = all else {
            return None;
        };
        let Some(Value::Dictionary(record)) = all.get(ENTRY) else {
            return None;
        };
        let text = |name: &str| match record.get(name) {
            Some(Value::String(text)) => Some(text.as_str().to_owned()),
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

/// What is on disk under a clip's name.
pub enum FoundClip {
    Nothing,
    /// A file that no bake into clips has written, or that is cut short.
    Foreign,
    Clip(Box<ClipFile>),
}

/// A complete clip file.
pub struct ClipFile {
    layer: Layer,
    pub record: ClipRecord,
}

impl FoundClip {
    /// Looks at a file without reading its samples.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn at(file: &Path) -> Result<Self> {
        match std::fs::metadata(file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(e) => return Err(Error::open(file, e)),
            Ok(metadata) if !metadata.is_file() => return Ok(Self::Foreign),
            Ok(_) => {}
        }
        let Ok(layer) = Layer::open(file) else {
            return Ok(Self::Foreign);
        };
        Ok(match ClipRecord::read(&layer) {
            Some(record) => Self::Clip(Box::new(ClipFile { layer, record })),
            None => Self::Foreign,
        })
    }
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
    /// Adds the next clip. Values that are the same at all times are in the first clip alone.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn add(&mut self, file: &Path, clip: &ClipFile) -> Result<()> {
        self.clips += 1;
        let mut broken = None;
        clip.layer.walk(&ScenePath::root(), &mut |path, spec| {
            if spec.kind != SpecKind::Attribute {
                return;
            }
            let type_name = match spec.get(field::TYPE_NAME) {
                Some(Value::Token(name)) => name.as_str().to_owned(),
                _ => {
                    broken = Some(Error::open(file, format!("{path} has no type")));
                    return;
                }
            };
            let key = path.as_str().to_owned();
            if spec.get(field::TIME_SAMPLES).is_some() {
                let entry = self.sampled.entry(key.clone());
                entry.or_insert((type_name.clone(), 0)).1 += 1;
            }
            if let Some(value) = spec.get(field::DEFAULT) {
                match value.load() {
                    Ok(value) => drop(self.still.insert(key, (type_name, value))),
                    Err(e) => broken = Some(Error::open(file, e)),
                }
            }
        });
        broken.map_or(Ok(()), Err)
    }

    /// Whether some clip holds anything of a prim, given by its path in the output.
    pub fn has(&self, prim: &str) -> bool {
        let start = format!("{prim}.");
        let begins = |key: Option<&String>| key.is_some_and(|k| k.starts_with(&start));
        begins(self.sampled.range(start.clone()..).next().map(|e| e.0))
            || begins(self.still.range(start.clone()..).next().map(|e| e.0))
    }

    /// Whether some clip holds values of a property, given by its path in the output.
    pub(crate) fn has_values(&self, property: &str) -> bool {
        self.sampled.contains_key(property) || self.still.contains_key(property)
    }

    /// Whether some clip lacks what another one has.
    pub(crate) fn has_gaps(&self) -> bool {
        self.sampled.values().any(|(_, n)| *n < self.clips)
    }
}
