//! Crate files: `.usdc`.

pub(crate) mod format;
mod read;
mod write;

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::value::{Value, for_each_element};
use format::Rep;

pub(crate) use read::{Bytes, is_crate, read};
pub use write::{CrateWriter, Element, write_layer};

/// A value that still lies in a crate file: mostly an array. It keeps the file open.
#[derive(Clone)]
pub struct Stored {
    file: Arc<read::File>,
    rep: Rep,
}

impl Stored {
    pub(crate) fn load(&self) -> Result<Value> {
        read::load(&self.file, self.rep)
    }

    /// What tells this value from others while its file is open.
    pub(crate) fn key(&self) -> (usize, Rep) {
        (Arc::as_ptr(&self.file) as usize, self.rep)
    }

    /// The type as usda text calls it, such as `float3[]`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        macro_rules! name {
            ($(($variant:ident, $array:ident, $type:ty, $kind:literal, $name:literal)),* $(,)?) => {
                match (self.rep.kind(), self.rep.is_array()) {
                    $(($kind, false) => $name, ($kind, true) => concat!($name, "[]"),)*
                    _ => "",
                }
            };
        }
        for_each_element!(name)
    }

    /// Whether this is an array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        self.rep.is_array()
    }

    /// How many elements an array claims to have; 1 for what is none.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.rep.is_array() {
            true => read::len(&self.file, self.rep),
            false => 1,
        }
    }

    /// Whether this is an array without elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Two values are equal if they are the same part of the same file; they are not decoded to compare them.
impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file) && self.rep == other.rep
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.rep.payload();
        write!(f, "{} at {at} of {}", self.type_name(), self.file.name)
    }
}

/// A value that a writer has put into its file already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub(crate) rep: u64,
    /// Which writer's.
    pub(crate) writer: u64,
}
