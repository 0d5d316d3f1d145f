//! Writes the edited document.

use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::container::write_glb;
use super::super::uri::{self, Source};
use super::GltfEdit;
use crate::error::{Error, Result};
use crate::output;
use sinew::error::Warning;

/// No image is taken in beyond this.
const LARGEST_IMAGE: u64 = 1 << 30;

impl GltfEdit {
    /// Writes the document: `.gltf` as JSON, `.glb` and `.vrm` as one binary file. The file appears
    /// under its name only when it is complete. Returns warnings about files that could not be
    /// copied.
    ///
    /// # Errors
    /// `output` has another extension or is the model's own file, the file cannot be written, or a
    /// .glb would be larger than 4 GiB.
    pub fn save(mut self, output: &Path) -> Result<Vec<Warning>> {
        let fail = |reason: String| Error::write(output, reason);
        let extension = crate::extension(output);
        let binary = match extension.as_str() {
            "gltf" => false,
            "glb" | "vrm" => true,
            _ => {
                return Err(fail(format!(
                    "expected .gltf, .glb or .vrm, found .{extension}"
                )));
            }
        };
        let mut inputs = uri::files(&self.json, self.file.parent().unwrap_or(Path::new("")));
        inputs.push(self.file.clone());
        output::check([output], || &inputs)?;
        let place = |p: &Path| p.canonicalize().ok();
        let folder = |p: &Path| match p.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => place(parent),
            _ => place(Path::new(".")),
        };
        let beside = folder(output).is_some_and(|o| Some(o) == folder(&self.file));
        let bin = if binary { self.take_bin() } else { None };
        self.embed_buffers(bin.is_some(), beside);
        if !beside {
            self.embed_images();
        }
        let text = serde_json::to_vec(&self.json).map_err(|e| Error::write(output, e))?;
        output::replace(output, |file| {
            let written = match binary {
                true => write_glb(file, text, bin),
                false => file.write_all(&text),
            };
            written.map_err(|e| e.to_string())
        })?;
        Ok(self.warnings)
    }

    /// The first buffer as BIN chunk, with the additions behind it. `None` where the first buffer
    /// has no data.
    fn take_bin(&mut self) -> Option<Vec<u8>> {
        let mut bin = self.buffers.first_mut()?.take()?;
        if let Some(added) = self.added.take().filter(|a| *a > 0)
            && let Some(more) = self.buffers.get_mut(added).and_then(Option::take)
        {
            bin.resize(bin.len().next_multiple_of(4), 0);
            let offset = bin.len();
            bin.extend(more);
            let views = self
                .json
                .get_mut("bufferViews")
                .and_then(Value::as_array_mut);
            for view in views.into_iter().flatten().filter(|v| v["buffer"] == added) {
                let from = view["byteOffset"].as_u64().unwrap_or(0) as usize;
                view["buffer"] = json!(0);
                view["byteOffset"] = json!(offset + from);
            }
            // Additions are the last buffer, so no other index moves.
            self.buffers.pop();
            if let Some(list) = self.json.get_mut("buffers").and_then(Value::as_array_mut) {
                list.pop();
            }
        }
        let buffer = self
            .json
            .get_mut("buffers")
            .and_then(|b| b.get_mut(0))?
            .as_object_mut()?;
        buffer.remove("uri");
        buffer.insert("byteLength".to_owned(), json!(bin.len()));
        Some(bin)
    }

    /// Buffers outside the JSON that the output would not find, as data URIs.
    fn embed_buffers(&mut self, first_is_bin: bool, beside: bool) {
        let list = self.json.get_mut("buffers").and_then(Value::as_array_mut);
        for (i, buffer) in list.into_iter().flatten().enumerate() {
            let found = buffer["uri"]
                .as_str()
                .is_some_and(|uri| is_data(uri) || beside);
            let Some(Some(bytes)) = self.buffers.get(i) else {
                continue;
            };
            let in_chunk = i == 0 && first_is_bin;
            if !found && !in_chunk {
                buffer["uri"] = json!(data_uri("application/octet-stream", bytes));
            }
        }
    }

    fn embed_images(&mut self) {
        let folder = self.file.parent().unwrap_or(Path::new("")).to_owned();
        let list = self.json.get_mut("images").and_then(Value::as_array_mut);
        for (i, image) in list.into_iter().flatten().enumerate() {
            let Some(uri) = image["uri"].as_str().filter(|u| !is_data(u)) else {
                continue;
            };
            let bytes = match uri::resolve(uri, &folder) {
                Ok(Source::Data(bytes)) => Ok(bytes),
                Ok(Source::File(path)) => {
                    uri::read_file(&sinew_layer::Files::on_disk(), &path, LARGEST_IMAGE)
                }
                Err(found) => Err(found),
            };
            match bytes {
                Ok(bytes) => {
                    let kind = media_type(&bytes);
                    let given = image["mimeType"].as_str().or(kind);
                    image["uri"] = json!(data_uri(
                        given.unwrap_or("application/octet-stream"),
                        &bytes
                    ));
                }
                Err(found) => self.warnings.push(Warning::new(
                    "gltf-image-unreadable",
                    format!("images[{i}].uri"),
                    format!("cannot read {found}: its URI is not changed"),
                )),
            }
        }
    }
}

fn is_data(uri: &str) -> bool {
    uri.get(..5)
        .is_some_and(|s| s.eq_ignore_ascii_case("data:"))
}

fn data_uri(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}

fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 3] = [
        (b"\x89PNG", "image/png"),
        (b"\xFF\xD8\xFF", "image/jpeg"),
        (b"\xABKTX 20", "image/ktx2"),
    ];
    let found = known.iter().find(|(start, _)| bytes.starts_with(start));
    found.map(|(_, kind)| *kind)
}
