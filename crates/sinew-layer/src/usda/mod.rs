//! Text layers: `.usda`.
//!
//! [`parse`] reads what usd-core 26.11 reads, headers `#usda 1.0` to `#usda 1.4`, into the fields
//! that its `Sdf` has. [`write()`] writes text that usd-core reads back equal. Everything is
//! checked: deep nesting is an error, and time and memory are in proportion to the text.

mod arcs;
mod array_edit;
mod check;
mod fields;
mod lexer;
mod list_edits;
mod metadata;
mod numbers;
mod parser;
mod path_expression;
mod read_dictionary;
mod read_spline;
mod read_values;
mod strings;
#[cfg(test)]
mod tests;
mod types;
mod write;
mod write_fields;
mod write_spline;
mod write_values;

use std::io::Write;

use crate::error::{Error, Result};
use crate::layer::Layer;
pub use check::is_readable_as;
use lexer::Fail;
use parser::Parser;
use write_values::Output;

/// How deep prims, dictionaries and lists may nest.
const MAX_NESTING: usize = 1000;

/// The longest text that is read. Layers of this size are crate files.
pub(crate) const MOST_BYTES: u64 = 1 << 32;

/// How much of the first line is looked at for the version.
const LONGEST_HEADER: usize = 256;

/// The newest version of the text format, after `1.`.
const NEWEST_MINOR: u32 = 4;

/// Reads a layer from text. `name` is how messages call it: the file's name.
///
/// # Errors
/// [`Error::Malformed`] with line, column and spec if the text is no layer; [`Error::Unsupported`]
/// if its version is newer than 1.4, or if it has a value that this crate cannot hold.
pub fn parse(name: &str, text: &[u8]) -> Result<Layer> {
    let malformed = |place: String, reason: String| Error::Malformed {
        file: name.to_owned(),
        place,
        reason,
    };
    // Before anything looks at all of it.
    if text.len() as u64 > MOST_BYTES {
        return Err(too_long(name));
    }
    // What is no text at all is told by its beginning.
    let end = text.iter().position(|b| matches!(b, b'\n' | b'\r'));
    let header = &text[..end.unwrap_or(text.len()).min(LONGEST_HEADER)];
    check_header(name, &String::from_utf8_lossy(header))?;
    let text = std::str::from_utf8(text).map_err(|error| {
        let place = line_and_column(text, error.valid_up_to());
        malformed(place, "the text is not UTF-8".to_owned())
    })?;
    let header = text.split(['\n', '\r']).next().unwrap_or("");
    let mut parser = Parser::new(name, text);
    parser.lexer.pos = header.len();
    match parser.layer() {
        Ok(()) => Ok(parser.layer),
        Err(fail) => {
            let Fail {
                at,
                reason,
                unsupported,
            } = *fail;
            let place = line_and_column(text.as_bytes(), at);
            let place = format!("{place}, in <{}>", parser.path);
            Err(match unsupported {
                true => Error::Unsupported {
                    file: name.to_owned(),
                    reason: format!("{place}: {reason} are not supported"),
                },
                false => malformed(place, reason),
            })
        }
    }
}

/// The error of a file that is longer than texts and packages can be.
pub(crate) fn too_long(name: &str) -> Error {
    Error::Unsupported {
        file: name.to_owned(),
        reason: format!("it has more than {MOST_BYTES} bytes, and is no crate file"),
    }
}

/// Writes a layer as text, with the lowest version that the layer needs. Values in a crate file are
/// loaded one by one, once to check them and once to write them.
///
/// # Errors
/// [`Error::Unwritable`] with spec and field if text cannot hold the layer; then nothing is
/// written. [`Error::Malformed`] if a value lies in a file that is broken there, [`Error::Io`] if
/// `out` fails.
pub fn write(layer: &Layer, out: &mut dyn Write) -> Result<()> {
    let version = check::check(layer)?;
    let mut output = Output::new(layer.name(), out);
    write::layer(layer, version, &mut output)
}

/// Checks the first line: `#usda 1.0` and maybe more words.
fn check_header(name: &str, header: &str) -> Result<()> {
    let version = header
        .strip_prefix("#usda ")
        .and_then(|rest| rest.split_whitespace().next());
    let minor = version
        .and_then(|version| version.strip_prefix("1."))
        .and_then(|minor| minor.parse::<u32>().ok());
    let newer = version.and_then(|version| {
        let (major, minor) = version.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?) > (1, NEWEST_MINOR))
    });
    match minor {
        Some(minor) if minor <= NEWEST_MINOR => Ok(()),
        _ if newer == Some(true) => Err(Error::Unsupported {
            file: name.to_owned(),
            reason: format!(
                "the text is of version {}, the newest supported one is 1.{NEWEST_MINOR}",
                version.unwrap_or("")
            ),
        }),
        _ => {
            let found: String = header.chars().take(24).collect();
            let found = found.escape_debug();
            Err(Error::Malformed {
                file: name.to_owned(),
                place: "line 1, column 1".to_owned(),
                reason: format!(
                    "expected '#usda 1.0' to '#usda 1.{NEWEST_MINOR}', or 'PXR-USDC' of a crate, found '{found}'"
                ),
            })
        }
    }
}

/// The place of a byte. Columns count characters.
fn line_and_column(text: &[u8], at: usize) -> String {
    let before = &text[..at.min(text.len())];
    let lines = before.iter().filter(|b| **b == b'\n').count();
    let start = before
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |i| i + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count();
    format!("line {}, column {}", lines + 1, column + 1)
}
