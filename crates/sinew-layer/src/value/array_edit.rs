//! Sparse edits of arrays.

/// Edits of a weaker layer's array, such as USD's `VtArrayEdit`.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayEdit {}
