//! Buffer views (glTF 2.0, 3.6.1.2), plain and compressed.

use super::document::{Buffer, Document};
use super::json::Json;
use super::meshopt;
use sinew::error::Invalid;

/// Bytes of a buffer view.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'d> {
    pub index: usize,
    pub bytes: &'d [u8],
    /// Bytes from one element to the next, where the view says so.
    pub stride: Option<usize>,
}

impl Document {
    /// The buffer view that `reference` names, decompressed where it is compressed.
    pub(super) fn view<'d>(&'d self, reference: &Json<'_>) -> Result<View<'d>, Invalid> {
        let (index, view) = self.follow(reference, "bufferViews", "a buffer view")?;
        let stride = match view.get("byteStride")? {
            Some(stride) => Some(stride_of(&stride)?),
            None => None,
        };
        let bytes = match meshopt::extension(&view)? {
            Some((name, extension)) => {
                let cell = &self.unpacked[index];
                match cell.get() {
                    Some(bytes) => bytes,
                    None => {
                        let bytes = meshopt::decode(self, &view, name, &extension)?;
                        cell.get_or_init(|| bytes)
                    }
                }
            }
            None => self.slice(&view)?,
        };
        Ok(View {
            index,
            bytes,
            stride,
        })
    }

    /// The bytes that `buffer`, `byteOffset` and `byteLength` of a view (or of an extension of one) name.
    pub(super) fn slice<'d>(&'d self, view: &Json<'_>) -> Result<&'d [u8], Invalid> {
        let reference = view.need("buffer")?;
        let buffer = &self.buffers[reference.index("a buffer", self.buffers.len())?];
        let Buffer::Bytes(bytes) = buffer else {
            return Err(reference.error(
                "a buffer with data",
                "one that only stands for data left out",
            ));
        };
        let offset = view.integer_or("byteOffset", 0)?;
        let length = view.need("byteLength")?;
        let size = length.integer()?;
        let slice = offset
            .checked_add(size)
            .and_then(|end| bytes.get(offset..end));
        slice.ok_or_else(|| {
            let left = bytes.len().saturating_sub(offset);
            let expected = format!("at most {left} bytes, which the buffer has from {offset} on");
            length.error(expected, size.to_string())
        })
    }
}

/// Strides are 4 to 252.
fn stride_of(stride: &Json<'_>) -> Result<usize, Invalid> {
    let size = stride.integer()?;
    if (4..=252).contains(&size) {
        return Ok(size);
    }
    Err(stride.wrong("4 to 252"))
}
