//! How much memory a file may ask for.

use sinew::error::Invalid;

/// Bytes that any file may need, however small.
const FLOOR: usize = 256 << 20;
/// Bytes for each byte of the file: what is packed in it may unpack to much more.
const PER_BYTE: usize = 100;

/// Bytes for what ufbx holds of a file of that size, and again for what is made of it.
pub fn allowance(file_size: usize) -> usize {
    FLOOR.saturating_add(file_size.saturating_mul(PER_BYTE))
}

/// What is left for structures that instances, influences or channels multiply.
pub struct Budget {
    left: usize,
}

impl Budget {
    pub fn new(file_size: usize) -> Self {
        Self {
            left: allowance(file_size),
        }
    }

    /// Takes `count` times the size of a `T` off, before that much is allocated.
    pub fn spend<T>(&mut self, count: usize, at: &str) -> Result<(), Invalid> {
        let bytes = count.saturating_mul(size_of::<T>());
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Invalid::new(
                at,
                "",
                format!(
                    "data within {} more bytes, as the file's size has it",
                    self.left
                ),
                format!("{bytes} bytes"),
            )),
        }
    }
}
