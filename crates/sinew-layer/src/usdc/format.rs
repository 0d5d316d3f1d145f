//! The layout of crate files that reading and writing share.
//!
//! Source: pxr/usd/sdf/crateFile.h and crateDataTypes.h of OpenUSD (`ValueRep`, `TypeEnum`).

/// The first bytes of every crate file.
pub(crate) const MAGIC: &[u8; 8] = b"PXR-USDC";

/// How deep dictionaries and lists may nest: readers and writers recurse into them. Real files
/// have a few levels.
pub(crate) const MAX_DEPTH: usize = 64;

/// Magic, version and the offset of the table of sections, with room to spare.
pub(crate) const HEADER: u64 = 88;

/// Major, minor and patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub u8, pub u8, pub u8);

/// How a field refers to its value: the type and either an offset or the value itself, in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rep(pub u64);

impl Rep {
    const ARRAY: u64 = 1 << 63;
    const INLINED: u64 = 1 << 62;
    const COMPRESSED: u64 = 1 << 61;
    const ARRAY_EDIT: u64 = 1 << 60;
    const PAYLOAD: u64 = (1 << 48) - 1;

    pub const fn new(kind: u8, payload: u64) -> Self {
        Self((kind as u64) << 48 | (payload & Self::PAYLOAD))
    }

    pub const fn array(self) -> Self {
        Self(self.0 | Self::ARRAY)
    }

    pub const fn inlined(self) -> Self {
        Self(self.0 | Self::INLINED)
    }

    pub const fn compressed(self) -> Self {
        Self(self.0 | Self::COMPRESSED)
    }

    pub const fn array_edit(self) -> Self {
        Self(self.0 | Self::ARRAY_EDIT)
    }

    pub const fn is_array(self) -> bool {
        self.0 & Self::ARRAY != 0
    }

    pub const fn is_inlined(self) -> bool {
        self.0 & Self::INLINED != 0
    }

    pub const fn is_compressed(self) -> bool {
        self.0 & Self::COMPRESSED != 0
    }

    pub const fn is_array_edit(self) -> bool {
        self.0 & Self::ARRAY_EDIT != 0
    }

    /// The number of the type (`kind`).
    pub const fn kind(self) -> u8 {
        (self.0 >> 48) as u8
    }

    /// An offset in the file, or the bits of an inlined value.
    pub const fn payload(self) -> u64 {
        self.0 & Self::PAYLOAD
    }

    /// The payload as an offset; outside of every file if it is larger than addresses are.
    pub fn offset(self) -> usize {
        usize::try_from(self.payload()).unwrap_or(usize::MAX)
    }
}

/// Numbers of the types that are not in `for_each_element`.
pub(crate) mod kind {
    pub const DICTIONARY: u8 = 31;
    pub const TOKEN_LIST_OP: u8 = 32;
    pub const STRING_LIST_OP: u8 = 33;
    pub const PATH_LIST_OP: u8 = 34;
    pub const REFERENCE_LIST_OP: u8 = 35;
    pub const INT_LIST_OP: u8 = 36;
    pub const INT64_LIST_OP: u8 = 37;
    pub const UINT_LIST_OP: u8 = 38;
    pub const UINT64_LIST_OP: u8 = 39;
    pub const PATH_VECTOR: u8 = 40;
    pub const TOKEN_VECTOR: u8 = 41;
    pub const SPECIFIER: u8 = 42;
    pub const PERMISSION: u8 = 43;
    pub const VARIABILITY: u8 = 44;
    pub const VARIANT_SELECTION_MAP: u8 = 45;
    pub const TIME_SAMPLES: u8 = 46;
    pub const PAYLOAD: u8 = 47;
    pub const DOUBLE_VECTOR: u8 = 48;
    pub const LAYER_OFFSET_VECTOR: u8 = 49;
    pub const STRING_VECTOR: u8 = 50;
    pub const VALUE_BLOCK: u8 = 51;
    pub const VALUE: u8 = 52;
    pub const UNREGISTERED: u8 = 53;
    pub const UNREGISTERED_LIST_OP: u8 = 54;
    pub const PAYLOAD_LIST_OP: u8 = 55;
    pub const RELOCATES: u8 = 58;
    pub const SPLINE: u8 = 59;
    pub const ANIMATION_BLOCK: u8 = 60;
}
