//! Writes a document to its files.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::super::container::write_glb;
use super::Document;
use crate::error::{Error, Result};
use crate::output::{Outputs, free_name};

/// What a file name keeps in a URI.
const IN_URI: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

fn uri(name: &str) -> String {
    utf8_percent_encode(name, IN_URI).to_string()
}

/// Whether a file of this name is a .glb.
///
/// # Errors
/// It is neither that nor a .gltf.
pub(super) fn is_binary(output: &Path) -> Result<bool> {
    match crate::extension(output).as_str() {
        "glb" => Ok(true),
        "gltf" => Ok(false),
        other => Err(Error::write(
            output,
            format!("expected .glb or .gltf, found .{other}"),
        )),
    }
}

/// The output, and the buffer beside a .gltf. Textures get names that no other file has.
pub(super) fn files(output: &Path, binary: bool) -> impl Iterator<Item = PathBuf> {
    let buffer = output.with_file_name(beside(output, ".bin"));
    std::iter::once(output.to_owned()).chain((!binary).then_some(buffer))
}

/// Writes `output`, and for a .gltf its buffer and images first.
pub(super) fn save(
    mut document: Document,
    output: &Path,
    binary: bool,
    outputs: &mut Outputs,
) -> Result<()> {
    if binary {
        let bytes = glb_bytes(document, output)?;
        return outputs.file(output, |file| {
            file.write_all(&bytes).map_err(|e| e.to_string())
        });
    }
    write_beside(&mut document, output, outputs)?;
    if !document.bin.is_empty() {
        let name = uri(&beside(output, ".bin"));
        let buffer = json!({ "byteLength": document.bin.len(), "uri": name });
        document.json.insert("buffers".into(), json!([buffer]));
    }
    let text = serde_json::to_vec_pretty(&Value::Object(document.json));
    let text = text.map_err(|e| Error::write(output, e))?;
    outputs.file(output, |file| {
        file.write_all(&text).map_err(|e| e.to_string())
    })
}

/// The bytes of a .glb. `output` names it in errors.
pub(super) fn glb_bytes(mut document: Document, output: &Path) -> Result<Vec<u8>> {
    embed_images(&mut document);
    if !document.bin.is_empty() {
        let buffer = json!({ "byteLength": document.bin.len() });
        document.json.insert("buffers".into(), json!([buffer]));
    }
    let text = serde_json::to_vec(&Value::Object(document.json));
    let text = text.map_err(|e| Error::write(output, e))?;
    let mut bytes = Vec::new();
    let bin = Some(document.bin).filter(|bin| !bin.is_empty());
    write_glb(&mut bytes, text, bin).map_err(|e| Error::write(output, e))?;
    Ok(bytes)
}

/// The output's name with another ending.
fn beside(output: &Path, ending: &str) -> String {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}{ending}")
}

/// Puts images into the buffer.
fn embed_images(document: &mut Document) {
    let mut images = Vec::new();
    let mut views = match document.json.remove("bufferViews") {
        Some(Value::Array(views)) => views,
        _ => Vec::new(),
    };
    for image in std::mem::take(&mut document.images) {
        let offset = document.bin.len().next_multiple_of(4);
        document.bin.resize(offset, 0);
        document.bin.extend_from_slice(&image.bytes);
        views.push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": image.bytes.len() }));
        let name = image
            .file_name
            .rsplit_once('.')
            .map_or(&*image.file_name, |(stem, _)| stem);
        images.push(json!({
            "name": name, "mimeType": image.media_type, "bufferView": views.len() - 1,
        }));
    }
    if !views.is_empty() {
        document.json.insert("bufferViews".into(), json!(views));
    }
    if !images.is_empty() {
        document.json.insert("images".into(), json!(images));
    }
}

/// Writes the buffer and the images beside `output`, and has the document name them.
fn write_beside(document: &mut Document, output: &Path, outputs: &mut Outputs) -> Result<()> {
    if !document.bin.is_empty() {
        let bin = output.with_file_name(beside(output, ".bin"));
        outputs.file(&bin, |file| {
            file.write_all(&document.bin).map_err(|e| e.to_string())
        })?;
    }
    if document.images.is_empty() {
        return Ok(());
    }
    let folder_name = beside(output, "_textures");
    let folder = output.with_file_name(&folder_name);
    let mut images = Vec::new();
    let mut taken = HashSet::new();
    for image in &document.images {
        // Another file there may be one that the images were read from.
        let name = free_name(&folder, &image.file_name, &image.bytes, &mut taken);
        outputs.file(&folder.join(&name), |file| {
            file.write_all(&image.bytes).map_err(|e| e.to_string())
        })?;
        let path = format!("{}/{}", uri(&folder_name), uri(&name));
        images.push(json!({ "mimeType": image.media_type, "uri": path }));
    }
    document.json.insert("images".into(), json!(images));
    Ok(())
}
