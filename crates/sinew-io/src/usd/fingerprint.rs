//! Numbers that tell whether two machines, or two runs, read the same input.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use crate::usd::file::UsdFile;
use sinew::error::{Error, Result};

/// FNV-1a of 64 bits: it finds accidents, and is no seal against forgers.
#[derive(Clone, Copy)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn of(bytes: &[u8]) -> u64 {
        let mut out = Self::new();
        out.add(bytes);
        out.0
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl UsdFile {
    /// A number of what the layers hold that the stage is composed of, and the value clips that were read by now, wherever
    /// they lie; textures do not count. In hexadecimal digits.
    ///
    /// # Errors
    /// A layer that cannot be read any more.
    pub fn fingerprint(&self) -> Result<String> {
        let mut of_layers: Vec<u64> = Vec::new();
        let same = |file: &PathBuf| file.canonicalize().unwrap_or_else(|_| file.clone());
        let mut known: HashSet<PathBuf> = HashSet::new();
        let files = self.layer_files().into_iter().chain(self.opened.files());
        for file in files.filter(|file| known.insert(same(file))) {
            let fail = |e: std::io::Error| Error::Open {
                file: file.clone(),
                reason: e.to_string(),
            };
            let mut input = File::open(&file).map_err(fail)?;
            let (mut number, mut buffer) = (Fingerprint::new(), vec![0; 1 << 20]);
            // Which layer holds what: two that are exchanged make another stage. The root goes by any name.
            if let Some(name) = file.file_name().filter(|_| !of_layers.is_empty()) {
                number.add(name.as_encoded_bytes());
            }
            loop {
                match input.read(&mut buffer).map_err(fail)? {
                    0 => break,
                    read => number.add(&buffer[..read]),
                }
            }
            of_layers.push(number.0);
        }
        of_layers.extend(self.made.as_ref().map(|m| m.fingerprint));
        // Folders differ between machines, and so may the order of layers that are found by them.
        of_layers[1..].sort_unstable();
        let mut all = Fingerprint::new();
        for number in of_layers {
            all.add(&number.to_le_bytes());
        }
        Ok(format!("{:016x}", all.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        // Of the authors' test suite (draft-eastlake-fnv).
        assert_eq!(Fingerprint::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fingerprint::of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fingerprint::of(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
