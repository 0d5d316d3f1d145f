//! Where bytes outside the JSON come from: data URIs and files beside the document.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use sinew_layer::Files;

use crate::files::read_at_most;

/// Base64 with or without its padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a URI leads to.
pub(super) enum Source {
    Data(Vec<u8>),
    /// A file, with the name that the URI gives it.
    File(PathBuf),
}

/// Resolves a URI beside `folder`: `data:` or a relative path, never a URL or an absolute path.
/// Paths may go through `..`, as the common viewers have it; textures beside the model's folder are
/// usual.
///
/// # Errors
/// What was found instead, in words.
pub(super) fn resolve(uri: &str, folder: &Path) -> Result<Source, String> {
    if let Some(rest) = strip_scheme(uri, "data:") {
        return data(rest).map(Source::Data);
    }
    let scheme = uri.find(':').filter(|end| {
        let scheme = &uri[..*end];
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if scheme.is_some() {
        return Err(format!("'{}'", shorten(uri)));
    }
    let path = percent_decode_str(uri)
        .decode_utf8()
        .map_err(|_| format!("'{}', which is not UTF-8", shorten(uri)))?;
    if path.is_empty() || path.contains('\0') || path.starts_with(['/', '\\']) {
        return Err(format!("'{}'", shorten(uri)));
    }
    // Two Windows tools write backslashes; elsewhere no file of a glTF has one in its name.
    let path = path.replace('\\', "/");
    // Also keeps `C:` out, which the scheme check took already.
    if Path::new(&path).is_absolute() {
        return Err(format!("'{}'", shorten(uri)));
    }
    Ok(Source::File(folder.join(path)))
}

/// The files beside `folder` that the buffers and images of a document name.
pub(super) fn files(json: &Value, folder: &Path) -> Vec<PathBuf> {
    let lists = ["buffers", "images"].into_iter();
    let named = lists
        .filter_map(|list| json.get(list)?.as_array())
        .flatten();
    let uris = named.filter_map(|item| item.get("uri")?.as_str());
    let uris = uris.filter(|uri| strip_scheme(uri, "data:").is_none());
    let found = uris.filter_map(|uri| match resolve(uri, folder) {
        Ok(Source::File(path)) => Some(path),
        _ => None,
    });
    found.collect()
}

/// What a URI must be, for errors.
pub(super) const EXPECTED: &str = "a data: URI or a relative path";

/// A file's bytes, `limit` at most; only of regular files, so that nothing waits on a device.
pub(super) fn read_file(files: &Files, path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let describe = |e: std::io::Error| format!("'{}', which gives: {e}", path.display());
    read_at_most(files, path, limit).map_err(describe)
}

fn strip_scheme<'a>(uri: &'a str, scheme: &str) -> Option<&'a str> {
    let start = uri.get(..scheme.len())?;
    start
        .eq_ignore_ascii_case(scheme)
        .then(|| &uri[scheme.len()..])
}

/// RFC 2397: `[<mediatype>][;base64],<data>`.
fn data(rest: &str) -> Result<Vec<u8>, String> {
    let Some((kind, data)) = rest.split_once(',') else {
        return Err("a data: URI without a comma".to_owned());
    };
    if !kind.to_ascii_lowercase().ends_with(";base64") {
        return Ok(percent_decode_str(data).collect());
    }
    let decoded = BASE64.decode(data);
    decoded.map_err(|e| format!("broken base64: {e}"))
}

fn shorten(uri: &str) -> String {
    uri.chars().take(80).collect()
}
