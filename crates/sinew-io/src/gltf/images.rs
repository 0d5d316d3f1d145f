//! Images: bytes in buffer views, data URIs or files.

use std::collections::HashSet;

use super::document::Document;
use super::json::Json;
use super::uri::{self, Source};
use sinew::error::Invalid;
use sinew_animate::asset::Image;

/// No image file is read beyond this.
const LARGEST: u64 = 1 << 30;

/// All images. One that cannot be read, or is in no format that USD shows, is left empty with a warning.
pub(super) fn read(document: &Document) -> Result<Vec<Image>, Invalid> {
    let mut names = HashSet::new();
    let mut files = HashSet::new();
    let list = document.list_for::<Image>("images")?;
    let mut images = Vec::with_capacity(list.len());
    for (i, json) in list.iter().enumerate() {
        let bytes = bytes(document, json, &mut files)?;
        let format = bytes.as_deref().map(ending);
        let ending = match format {
            Some(Some(ending)) => ending,
            Some(None) => {
                let message = "no PNG, JPEG, EXR or AVIF; the image is left out";
                document.warn("gltf-image-format", json.at(), message);
                "png"
            }
            None => ending_of_name(json.text("uri")?),
        };
        let stem = stem(json)?.unwrap_or_else(|| format!("image{i}"));
        let mut file_name = format!("{stem}.{ending}");
        let mut number = 1;
        // File systems that know no case exist.
        while !names.insert(file_name.to_ascii_lowercase()) {
            number += 1;
            file_name = format!("{stem}_{number}.{ending}");
        }
        let bytes = bytes.filter(|_| format.flatten().is_some());
        images.push(Image {
            file_name,
            bytes: bytes.unwrap_or_default(),
        });
    }
    Ok(images)
}

/// `None`, with a warning, where a file is not to be had.
fn bytes(
    document: &Document,
    json: &Json<'_>,
    files: &mut HashSet<std::path::PathBuf>,
) -> Result<Option<Vec<u8>>, Invalid> {
    if let Some(view) = json.get("bufferView")? {
        let view = document.view(&view)?;
        document.charge(view.bytes.len(), 1, json.at())?;
        return Ok(Some(view.bytes.to_vec()));
    }
    let uri = json.need("uri")?;
    let unreadable = |found: String| {
        document.warn(
            "gltf-image-unreadable",
            uri.at(),
            format!("cannot read {found}"),
        );
        Ok(None)
    };
    match uri::resolve(uri.string()?, document.folder()) {
        Ok(Source::Data(bytes)) => Ok(Some(bytes)),
        Ok(Source::File(path)) => match uri::read_file(&path, LARGEST) {
            Ok(bytes) => {
                if !files.insert(path) {
                    document.charge(bytes.len(), 1, uri.at())?;
                }
                Ok(Some(bytes))
            }
            Err(found) => unreadable(found),
        },
        Err(found) => unreadable(format!("{found}: expected {}", uri::EXPECTED)),
    }
}

/// What the first bytes say it is; what the file says is wrong often enough.
fn ending(bytes: &[u8]) -> Option<&'static str> {
    let avif = || bytes.get(4..8) == Some(b"ftyp") && bytes.get(8..11) == Some(b"avi");
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("jpg"),
        [0x76, 0x2F, 0x31, 0x01, ..] => Some("exr"),
        _ if avif() => Some("avif"),
        _ => None,
    }
}

/// The ending that a missing file would have.
fn ending_of_name(uri: String) -> &'static str {
    let uri = uri.to_ascii_lowercase();
    if uri.ends_with(".jpg") || uri.ends_with(".jpeg") {
        "jpg"
    } else {
        "png"
    }
}

/// A file name without its ending, from the image's name or its file, of letters that every file system takes.
fn stem(json: &Json<'_>) -> Result<Option<String>, Invalid> {
    let name = json.text("name")?;
    let uri = json.text("uri")?;
    let from = if !name.is_empty() {
        &name
    } else if uri
        .get(..5)
        .is_some_and(|s| s.eq_ignore_ascii_case("data:"))
    {
        return Ok(None);
    } else {
        &uri
    };
    let from = from.rsplit(['/', '\\']).next().unwrap_or_default();
    let from = match from.rsplit_once('.') {
        Some((stem, ending))
            if ["png", "jpg", "jpeg", "exr", "avif", "webp"]
                .contains(&&*ending.to_ascii_lowercase()) =>
        {
            stem
        }
        _ => from,
    };
    let clean: String = from
        .chars()
        .take(80)
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    Ok((!clean.trim_matches('_').is_empty()).then_some(clean))
}
