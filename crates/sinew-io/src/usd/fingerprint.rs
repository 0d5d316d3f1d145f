//! Numbers that tell whether two machines, or two runs, read the same input.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::usd::file::UsdFile;

impl UsdFile {
    /// A number of the contents of the layers that the stage is composed of, and of the value clips that were read by now,
    /// wherever they lie. Textures do not count. The number is XXH3 of 64 bits, in hexadecimal digits: it finds accidents, and
    /// is no seal against forgers.
    ///
    /// # Errors
    /// A layer that cannot be read any more.
    pub fn fingerprint(&self) -> Result<String> {
        let mut of_layers: Vec<u64> = Vec::new();
        let same = |file: &PathBuf| file.canonicalize().unwrap_or_else(|_| file.clone());
        let mut known: HashSet<PathBuf> = HashSet::new();
        let files = self.layer_files().into_iter().chain(self.opened.files());
        let mut buffer = vec![0; 1 << 20];
        for file in files.filter(|file| known.insert(same(file))) {
            let fail = |e: std::io::Error| Error::open(&file, e);
            let mut input = File::open(&file).map_err(fail)?;
            let mut hash = Xxh3::new();
            // Which layer holds what: two that are exchanged make another stage. The root goes by any name.
            if let Some(name) = file.file_name().filter(|_| !of_layers.is_empty()) {
                hash.update(name.as_encoded_bytes());
            }
            loop {
                match input.read(&mut buffer).map_err(fail)? {
                    0 => break,
                    read => hash.update(&buffer[..read]),
                }
            }
            of_layers.push(hash.digest());
        }
        of_layers.extend(self.made.as_ref().map(|m| m.fingerprint));
        // Folders differ between machines, and so may the order of layers that are found by them.
        of_layers[1..].sort_unstable();
        let mut all = Xxh3::new();
        for number in of_layers {
            all.update(&number.to_le_bytes());
        }
        Ok(format!("{:016x}", all.digest()))
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    /// Clips on disk hold these numbers, so another hash would have them all baked anew.
    #[test]
    fn published_values() {
        // XXH3_64bits of nothing, from the authors' test suite (xxHash/tests).
        assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
    }
}
