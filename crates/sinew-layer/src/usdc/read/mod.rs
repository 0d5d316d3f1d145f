//! Reads crate files: their structure when a file is opened, arrays when they are asked for.

mod arrays;
pub(super) mod bytes;
pub(super) mod ints;
pub(super) mod paths;
mod sections;
mod specs;
#[cfg(test)]
mod tests;
mod values;

use std::sync::Arc;

use smol_str::SmolStr;

use crate::error::{Error, Result};
use crate::layer::Layer;
use crate::usdc::format::{MAGIC, Rep, Version};
use crate::value::Value;
use bytes::{Bad, Checked};

pub(crate) use bytes::Bytes;

/// An open crate file, as far as arrays need it.
pub(super) struct File {
    /// How messages call it.
    pub name: String,
    bytes: Bytes,
    version: Version,
    tokens: Vec<SmolStr>,
    /// Tokens by index.
    strings: Vec<u32>,
}

impl File {
    fn token(&self, index: u32, at: usize) -> Checked<&SmolStr> {
        self.tokens.get(index as usize).ok_or_else(|| {
            let reason = format!("token {index} is named, there are {}", self.tokens.len());
            Bad::new(at, reason)
        })
    }

    fn string(&self, index: u32, at: usize) -> Checked<&SmolStr> {
        let token = self.strings.get(index as usize).ok_or_else(|| {
            let reason = format!("string {index} is named, there are {}", self.strings.len());
            Bad::new(at, reason)
        })?;
        self.token(*token, at)
    }
}

/// An error about a section or a value, whose offset is given too.
fn error(file: &str, what: &str, bad: Bad) -> Error {
    match bad.unsupported {
        true => Error::Unsupported {
            file: file.to_owned(),
            reason: format!("{what}: {}", bad.reason),
        },
        false => Error::Malformed {
            file: file.to_owned(),
            place: format!("{what} at {}", bad.at),
            reason: bad.reason,
        },
    }
}

/// Whether a file is a crate file.
pub(crate) fn is_crate(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads a crate file's structure and its values other than arrays.
pub(crate) fn read(name: &str, bytes: Bytes) -> Result<Layer> {
    let (version, sections) = sections::header(&bytes).map_err(|bad| error(name, "header", bad))?;
    let in_section = |(what, bad)| error(name, what, bad);
    let [tokens, strings, fields, field_sets, paths, specs] = sections;
    let tokens = tokens
        .read(&bytes, |c| sections::tokens(c, &bytes))
        .map_err(in_section)?;
    let strings = strings
        .read(&bytes, |c| sections::strings(c, tokens.len()))
        .map_err(in_section)?;
    let fields = fields
        .read(&bytes, |c| sections::fields(c, &bytes, tokens.len()))
        .map_err(in_section)?;
    let sets = field_sets
        .read(&bytes, |c| sections::field_sets(c, &bytes, fields.0.len()))
        .map_err(in_section)?;
    let paths = paths
        .read(&bytes, |c| paths::read(c, &bytes, &tokens))
        .map_err(in_section)?;
    let specs = specs
        .read(&bytes, |c| {
            sections::specs(c, &bytes, paths.paths.len(), &sets)
        })
        .map_err(in_section)?;
    let file = Arc::new(File {
        name: name.to_owned(),
        bytes,
        version,
        tokens,
        strings,
    });
    specs::layer(&file, &fields, &sets, &paths, &specs)
}

/// Decodes a value that a [`super::Stored`] stands for.
pub(super) fn load(file: &File, rep: Rep) -> Result<Value> {
    let value = match rep.is_array() {
        true => arrays::array(file, rep),
        false => values::single(file, rep),
    };
    match value {
        Ok(Some(value)) => Ok(value),
        Ok(None) => unreachable!("only arrays and single values are left in the file"),
        Err(bad) => Err(error(&file.name, "value", bad)),
    }
}

/// How many elements an array claims to have.
pub(super) fn len(file: &File, rep: Rep) -> usize {
    let len = arrays::len(file, rep).map_or(0, |(len, _)| len);
    usize::try_from(len).unwrap_or(usize::MAX)
}
