//! Buffer views (glTF 2.0, 3.6.1.2), plain and compressed (EXT_meshopt_compression, and
//! KHR_meshopt_compression, which adds a newer vertex codec and a filter for colours).
//!
//! Decoded by `meshoptimizer-rs`, a port of meshoptimizer to safe Rust, built here without its SIMD
//! (so without any `unsafe`): it needs no C++ compiler, returns errors where a stream is broken,
//! and takes a limit on memory. The `meshopt` crate wraps the C++ library itself: better known, but
//! every build of sinew would compile C++, or these files would not open by default.

use meshoptimizer_rs::codec::{BufferView, Filter, Mode};
use meshoptimizer_rs::{Limits, Workspace, codec};

use super::document::{Buffer, Document};
use super::json::Json;
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
        let bytes = match extension(&view)? {
            Some((name, extension)) => {
                let cell = &self.unpacked[index];
                match cell.get() {
                    Some(bytes) => bytes,
                    None => {
                        let bytes = decode(self, &view, name, &extension)?;
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

    /// The bytes that `buffer`, `byteOffset` and `byteLength` of a view (or of an extension of one)
    /// name.
    pub(super) fn slice<'d>(&'d self, view: &Json<'_>) -> Result<&'d [u8], Invalid> {
        let reference = view.need("buffer")?;
        let buffer = &self.buffers[reference.index("a buffer", self.buffers.len())?];
        let Buffer::Bytes(bytes) = buffer else {
            return Err(reference.error("a buffer with data", "a placeholder without data"));
        };
        let offset = view.integer_or("byteOffset", 0)?;
        let length = view.need("byteLength")?;
        let size = length.integer()?;
        let slice = offset
            .checked_add(size)
            .and_then(|end| bytes.get(offset..end));
        slice.ok_or_else(|| {
            let left = bytes.len().saturating_sub(offset);
            let expected = format!(
                "at most {left} bytes, which is the rest of the buffer from byte {offset} on"
            );
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

/// The two names of the extension.
pub(super) const NAMES: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// The extension on a buffer view.
pub(super) fn extension<'a>(view: &Json<'a>) -> Result<Option<(&'static str, Json<'a>)>, Invalid> {
    for name in NAMES {
        if let Some(extension) = view.extension(name)? {
            return Ok(Some((name, extension)));
        }
    }
    Ok(None)
}

/// Decodes a compressed view. Its `byteLength` has to be what count and stride make.
pub(super) fn decode(
    document: &Document,
    view: &Json<'_>,
    name: &str,
    extension: &Json<'_>,
) -> Result<Vec<u8>, Invalid> {
    let source = document.slice(extension)?;
    let count = extension.need("count")?.integer()?;
    let stride = extension.need("byteStride")?.integer()?;
    let mode_json = extension.need("mode")?;
    let mode = match mode_json.string()? {
        "ATTRIBUTES" => Mode::Attributes,
        "TRIANGLES" => Mode::Triangles,
        "INDICES" => Mode::Indices,
        _ => return Err(mode_json.wrong("ATTRIBUTES, TRIANGLES or INDICES")),
    };
    let khr = name == NAMES[1];
    let (filter, color) = match extension.get("filter")? {
        None => (Filter::None, false),
        Some(json) => match json.string()? {
            "NONE" => (Filter::None, false),
            "OCTAHEDRAL" => (Filter::Octahedral, false),
            "QUATERNION" => (Filter::Quaternion, false),
            "EXPONENTIAL" => (Filter::Exponential, false),
            "COLOR" if khr => (Filter::None, true),
            _ => return Err(json.wrong("NONE, OCTAHEDRAL, QUATERNION or EXPONENTIAL")),
        },
    };
    let broken = |e: meshoptimizer_rs::Error| extension.error("meshopt data", e.to_string());
    let layout = BufferView::new(mode, filter, count, stride).map_err(broken)?;
    let length = view.need("byteLength")?;
    if length.integer()? != layout.byte_length() {
        let expected = format!(
            "{} bytes, by the layout in the extension",
            layout.byte_length()
        );
        return Err(length.wrong(&expected));
    }
    document.charge(count, stride, extension.at())?;
    let mut workspace = Workspace::new(Limits::default());
    if !khr || mode != Mode::Attributes {
        return layout.decode(source, &mut workspace).map_err(broken);
    }
    // `BufferView` keeps to the older extension: no second version of the vertex codec, no colours.
    let mut bytes =
        codec::decode_vertex_buffer(count, stride, source, &mut workspace).map_err(broken)?;
    let apply = match filter {
        _ if color => codec::decode_filter_color,
        Filter::None => return Ok(bytes),
        Filter::Octahedral => codec::decode_filter_oct,
        Filter::Quaternion => codec::decode_filter_quat,
        Filter::Exponential => codec::decode_filter_exp,
    };
    apply(&mut bytes, count, stride, &mut workspace).map_err(broken)?;
    Ok(bytes)
}
