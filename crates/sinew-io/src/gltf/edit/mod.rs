//! Edits of glTF files: adds clips and humanoid skeletons to the JSON of a file and keeps
//! everything else.
//!
//! In a .glb, new data is appended to the BIN chunk. In a .gltf, it is one more buffer in a data
//! URI. If the output is in the folder of the model, it refers to the same external buffers and
//! images. Otherwise they are copied into the output, so that it is self-contained.

mod clip;
mod save;

use std::path::{Path, PathBuf};

pub use clip::described_as;
use serde_json::{Map, Value, json};
use sinew_layer::Files;

use super::document::{Buffer, Document};
use crate::error::{Error, Result};
use sinew::error::{Invalid, Warning};

/// A glTF document that can be edited and written.
#[derive(Debug)]
pub struct GltfEdit {
    file: PathBuf,
    json: Value,
    /// Of each buffer; `None` for one that only stands for data left out.
    buffers: Vec<Option<Vec<u8>>>,
    /// The buffer that additions go to, once there are any.
    added: Option<usize>,
    warnings: Vec<Warning>,
}

impl GltfEdit {
    /// Opens a .gltf, .glb or .vrm file.
    ///
    /// # Errors
    /// Those of [`super::read`] about the container, the JSON and the buffers.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = crate::read_bytes(&Files::on_disk(), path)?;
        let document =
            Document::parse(&bytes, &Files::on_disk(), path).map_err(|e| e.in_file(path))?;
        let (json, buffers) = document.into_parts();
        let buffers = buffers.into_iter().map(|b| match b {
            Buffer::Bytes(bytes) => Some(bytes),
            Buffer::Fallback => None,
        });
        Ok(Self {
            file: path.to_owned(),
            json,
            buffers: buffers.collect(),
            added: None,
            warnings: Vec::new(),
        })
    }

    /// Warnings about data that could not be kept.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The JSON of the document, with the edits so far.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    fn broken(&self, at: &str, expected: &str, found: &Value) -> Error {
        let found = found.to_string().chars().take(80).collect::<String>();
        Invalid::new(at, "", expected, found)
            .in_file(&self.file)
            .into()
    }

    fn root(&mut self) -> Result<&mut Map<String, Value>> {
        if !self.json.is_object() {
            return Err(self.broken("the document", "an object", &self.json));
        }
        match &mut self.json {
            Value::Object(root) => Ok(root),
            _ => Err(unexpected(&self.file, "the document is not an object")),
        }
    }

    /// Appends to a top-level array, which is made where it is not there; gives the index.
    fn push(&mut self, array: &str, item: Value) -> Result<usize> {
        let list = self.root()?.entry(array).or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(item);
            return Ok(list.len() - 1);
        }
        let found = list.clone();
        Err(self.broken(array, "an array", &found))
    }

    /// A member of an object that is made where it is not there.
    fn object(&mut self, key: &str) -> Result<&mut Map<String, Value>> {
        let found = self.json.get(key).filter(|v| !v.is_object()).cloned();
        if let Some(found) = found {
            return Err(self.broken(key, "an object", &found));
        }
        let file = self.file.clone();
        match self.root()?.entry(key).or_insert_with(|| json!({})) {
            Value::Object(object) => Ok(object),
            _ => Err(unexpected(&file, format!("{key} is not an object"))),
        }
    }

    /// Lists an extension as used, once.
    fn use_extension(&mut self, name: &str) -> Result<()> {
        let used = self.json.get("extensionsUsed").and_then(Value::as_array);
        if !used.is_some_and(|u| u.iter().any(|e| e == name)) {
            self.push("extensionsUsed", json!(name))?;
        }
        Ok(())
    }

    /// A buffer view of these bytes, in the buffer of additions.
    fn add_bytes(&mut self, bytes: &[u8]) -> Result<usize> {
        let index = match self.added {
            Some(index) => index,
            None => {
                let index = self.push("buffers", json!({ "byteLength": 0 }))?;
                self.buffers.push(Some(Vec::new()));
                self.added = Some(index);
                index
            }
        };
        let Some(Some(buffer)) = self.buffers.get_mut(index) else {
            return Err(unexpected(
                &self.file,
                "the buffers of the document are not a list",
            ));
        };
        buffer.resize(buffer.len().next_multiple_of(4), 0);
        let offset = buffer.len();
        buffer.extend(bytes);
        self.json["buffers"][index]["byteLength"] = json!(buffer.len());
        let view = json!({ "buffer": index, "byteOffset": offset, "byteLength": bytes.len() });
        self.push("bufferViews", view)
    }
}

fn unexpected(file: &Path, reason: impl Into<String>) -> Error {
    Error::Edit {
        file: file.to_owned(),
        reason: reason.into(),
    }
}
