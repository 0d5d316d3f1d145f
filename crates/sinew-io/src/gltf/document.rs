//! A glTF file as read: its JSON, its buffers, and the extensions that it may require. Everything
//! else is looked up in it.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_layer::Files;

use super::coverage::check_required;
use super::json::Json;
use super::uri::Source;
use super::{container, uri};
use sinew::error::{Invalid, Warning};

/// What any file may unpack to: its own size counted so often...
const EXPANSION: u64 = 32;
/// ... and this many bytes besides.
const ALLOWANCE: u64 = 1 << 24;

/// JSON and buffers of one file, checked as far as: the container is whole, the JSON is an object
/// that says glTF 2, nothing unknown is required, and the buffers are there with the bytes they
/// claim.
#[derive(Debug)]
pub(crate) struct Document {
    /// The file it came from; external files are looked for beside it.
    pub(super) file: PathBuf,
    /// Where external files are.
    pub(super) files: Files,
    json: Value,
    pub(super) buffers: Vec<Buffer>,
    /// Decompressed buffer views, decoded when first used.
    pub(super) unpacked: Vec<OnceCell<Vec<u8>>>,
    /// Bytes that may still be unpacked.
    budget: Cell<u64>,
    warnings: RefCell<Vec<Warning>>,
}

/// Bytes of `buffers[i]`.
#[derive(Debug)]
pub(super) enum Buffer {
    Bytes(Vec<u8>),
    /// Stands for uncompressed data that the file leaves out (EXT_meshopt_compression).
    Fallback,
}

impl Document {
    /// Parses the bytes of a .gltf or .glb file and reads the buffers it names.
    ///
    /// # Errors
    /// The first thing broken, with its JSON location but without the file.
    pub(crate) fn parse(bytes: &[u8], files: &Files, file: &Path) -> Result<Self, Invalid> {
        let parts = container::split(bytes)?;
        let json: Value = serde_json::from_slice(parts.json).map_err(|e| {
            let at = format!("line {} column {}", e.line(), e.column());
            Invalid::new(at, "", "JSON", e.to_string())
        })?;
        let mut document = Self {
            file: file.to_owned(),
            files: files.clone(),
            json,
            buffers: Vec::new(),
            unpacked: Vec::new(),
            budget: Cell::new(0),
            warnings: RefCell::default(),
        };
        let root = document.json();
        check_version(&root)?;
        check_required(&root)?;
        let buffers = root
            .list("buffers")?
            .iter()
            .enumerate()
            .map(|(i, buffer)| {
                let bin = parts.bin.filter(|_| i == 0);
                read_buffer(buffer, bin, &document)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let views = root.count("bufferViews")?;
        let size = |buffer: &Buffer| match buffer {
            Buffer::Bytes(bytes) => bytes.len() as u64,
            Buffer::Fallback => 0,
        };
        let size = bytes.len() as u64 + buffers.iter().map(size).sum::<u64>();
        document
            .budget
            .set(size.saturating_mul(EXPANSION).saturating_add(ALLOWANCE));
        document.buffers = buffers;
        document.unpacked = (0..views).map(|_| OnceCell::new()).collect();
        Ok(document)
    }

    /// The whole JSON.
    pub(crate) fn json(&self) -> Json<'_> {
        Json::root(&self.json)
    }

    /// The JSON and the buffers, for a document that is written again.
    pub(super) fn into_parts(self) -> (Value, Vec<Buffer>) {
        (self.json, self.buffers)
    }

    /// One element of a top-level array, such as `nodes`, by a checked reference to it. `what`
    /// names it in errors: `a node`.
    pub(crate) fn follow(
        &self,
        reference: &Json<'_>,
        array: &str,
        what: &str,
    ) -> Result<(usize, Json<'_>), Invalid> {
        let elements = self.json.get(array).and_then(Value::as_array);
        let elements = elements.map_or(&[][..], Vec::as_slice);
        let index = reference.index(what, elements.len())?;
        let element = Json::located(&elements[index], format!("{array}[{index}]"));
        Ok((index, element))
    }

    /// A checked index of a node.
    pub(crate) fn node_index(&self, reference: &Json<'_>) -> Result<usize, Invalid> {
        Ok(self.follow(reference, "nodes", "a node")?.0)
    }

    /// The folder that relative URIs start from.
    pub(crate) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// Whether `extensionsUsed` lists it.
    pub(crate) fn uses(&self, extension: &str) -> bool {
        self.lists("extensionsUsed", extension)
    }

    /// Whether `extensionsRequired` lists it.
    pub(super) fn requires(&self, extension: &str) -> bool {
        self.lists("extensionsRequired", extension)
    }

    fn lists(&self, list: &str, extension: &str) -> bool {
        let list = self.json.get(list).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|e| e == extension))
    }

    /// Says something about the file that does not stop the reading.
    pub(crate) fn warn(&self, code: &'static str, at: &str, message: impl Into<String>) {
        let mut warnings = self.warnings.borrow_mut();
        // Nobody reads more.
        if warnings.len() >= 1000 {
            return;
        }
        let warning = Warning::new(code, at, message);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// The warnings so far, which are then forgotten here.
    pub(super) fn take_warnings(&self) -> Vec<Warning> {
        self.warnings.take()
    }

    /// The elements of a top-level array, of which each is to become a `T`. Few bytes of JSON make
    /// many of some.
    pub(super) fn list_for<T>(&self, array: &str) -> Result<Vec<Json<'_>>, Invalid> {
        let count = self.json().count(array)?;
        self.charge(count, size_of::<T>(), array)?;
        self.json().list(array)
    }

    /// Accounts for bytes about to be allocated. A file of a few bytes can name the same megabytes,
    /// or zeros that it does not hold, over and over.
    pub(super) fn charge(&self, count: usize, bytes_each: usize, at: &str) -> Result<(), Invalid> {
        let bytes = (count as u64).saturating_mul(bytes_each as u64);
        match self.budget.get().checked_sub(bytes) {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(Invalid::new(
                at,
                "",
                format!("data that unpacks to at most {EXPANSION} times the file's size"),
                format!("{bytes} more bytes, while {} are left", self.budget.get()),
            )
            .coded("gltf-too-large")),
        }
    }
}

/// `asset.version` and `asset.minVersion` (glTF 2.0, 3.2).
fn check_version(root: &Json<'_>) -> Result<(), Invalid> {
    let asset = root.need("asset")?;
    let version = asset.need("version")?;
    let numbers = |json: &Json<'_>| -> Result<(u32, u32), Invalid> {
        let text = json.string()?;
        let parts = text.split_once('.').map(|(a, b)| (a.parse(), b.parse()));
        match parts {
            Some((Ok(major), Ok(minor))) => Ok((major, minor)),
            _ => Err(json.wrong("a version such as '2.0'")),
        }
    };
    if numbers(&version)?.0 != 2 {
        return Err(version.wrong("'2.0'"));
    }
    if let Some(least) = asset.get("minVersion")?
        && numbers(&least)? > (2, 0)
    {
        return Err(least.wrong("at most '2.0'"));
    }
    Ok(())
}

fn read_buffer(
    buffer: &Json<'_>,
    bin: Option<&[u8]>,
    document: &Document,
) -> Result<Buffer, Invalid> {
    let length = buffer.need("byteLength")?;
    let size = length.integer()?;
    let mut bytes = match (buffer.get("uri")?, bin) {
        (Some(uri), _) => match uri::resolve(uri.string()?, document.folder()) {
            Ok(Source::Data(bytes)) => bytes,
            Ok(Source::File(path)) => uri::read_file(&document.files, &path, size as u64)
                .map_err(|found| uri.error("a readable file", found))?,
            Err(found) => return Err(uri.error(uri::EXPECTED, found)),
        },
        (None, Some(bin)) => bin[..size.min(bin.len())].to_vec(),
        (None, None) => {
            for name in super::views::NAMES {
                if let Some(extension) = buffer.extension(name)?
                    && extension.boolean_or("fallback", false)?
                {
                    return Ok(Buffer::Fallback);
                }
            }
            return Err(Invalid::new(
                buffer.at_key("uri"),
                "",
                "a URI, or the BIN chunk of a .glb",
                "neither",
            ));
        }
    };
    if bytes.len() < size {
        let expected = format!("at most the {} bytes of the data", bytes.len());
        return Err(length.error(expected, size.to_string()));
    }
    bytes.truncate(size);
    Ok(Buffer::Bytes(bytes))
}
