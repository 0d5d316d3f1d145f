//! What accessors are made of: components and shapes (glTF 2.0, 3.6.2.2).

use super::json::Json;
use sinew::error::Invalid;

/// Type of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

/// Columns and rows of one element; vectors are one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub columns: usize,
    pub rows: usize,
}

impl Shape {
    pub(crate) const SCALAR: Self = Self::vector(1);
    pub(crate) const MAT4: Self = Self {
        columns: 4,
        rows: 4,
    };

    pub(crate) const fn vector(rows: usize) -> Self {
        Self { columns: 1, rows }
    }

    pub(super) const fn components(self) -> usize {
        self.columns * self.rows
    }
}

impl Component {
    pub(super) fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        Ok(match json.integer()? {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return Err(json.wrong("5120, 5121, 5122, 5123, 5125 or 5126")),
        })
    }

    pub(super) const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::I8 => "BYTE",
            Self::U8 => "UNSIGNED_BYTE",
            Self::I16 => "SHORT",
            Self::U16 => "UNSIGNED_SHORT",
            Self::U32 => "UNSIGNED_INT",
            Self::F32 => "FLOAT",
        }
    }

    /// What a normalised integer is divided by.
    pub(super) const fn divisor(self) -> f64 {
        match self {
            Self::I8 => 127.0,
            Self::U8 => 255.0,
            Self::I16 => 32767.0,
            Self::U16 => 65535.0,
            Self::U32 => 4_294_967_295.0,
            Self::F32 => 1.0,
        }
    }

    /// The component at an offset that is known to be inside.
    pub(super) fn read(self, bytes: &[u8], at: usize) -> f64 {
        fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
            let slice = bytes.get(at..at + N).and_then(|s| s.try_into().ok());
            slice.unwrap_or([0; N])
        }
        match self {
            Self::I8 => f64::from(i8::from_le_bytes(take(bytes, at))),
            Self::U8 => f64::from(u8::from_le_bytes(take(bytes, at))),
            Self::I16 => f64::from(i16::from_le_bytes(take(bytes, at))),
            Self::U16 => f64::from(u16::from_le_bytes(take(bytes, at))),
            Self::U32 => f64::from(u32::from_le_bytes(take(bytes, at))),
            Self::F32 => f64::from(f32::from_le_bytes(take(bytes, at))),
        }
    }
}

/// Bytes of an element and from one of its columns to the next, which start at multiples of 4 in matrices.
pub(super) fn element_layout(component: Component, shape: Shape) -> (usize, usize) {
    let column = component.size() * shape.rows;
    if shape.columns == 1 {
        return (column, column);
    }
    let padded = column.next_multiple_of(4);
    (padded * (shape.columns - 1) + column, padded)
}
