//! Errors of the utilities. The utilities work on arrays and cannot name a prim. A caller that
//! knows the prim can put them into a [`crate::Invalid`].

/// Arrays that do not fit each other, or values that a utility cannot work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UtilError {
    /// Two arrays of different length.
    #[error("{what}: expected {expected}, found {found}")]
    Length {
        what: &'static str,
        expected: usize,
        found: usize,
    },
    /// An elementSize of 0.
    #[error("elementSize: expected at least 1, found 0")]
    ElementSize,
    /// An array whose length is no multiple of elementSize.
    #[error("{what}: expected a multiple of elementSize {element_size}, found {found}")]
    NotWhole {
        what: &'static str,
        element_size: usize,
        found: usize,
    },
    /// The joint of influence `at` is out of range, which is an error at any weight (rule 22).
    #[error("joint index: expected one below {joint_count}, found {joint} at {at}")]
    Joint {
        joint: u32,
        at: usize,
        joint_count: usize,
    },
    /// A matrix that has no inverse, or that is not finite.
    #[error("{what} {at}: expected an invertible, finite matrix, found a singular one")]
    Singular { what: &'static str, at: usize },
}

/// Returns [`UtilError::Length`] unless the lengths are equal.
pub(super) fn same_length(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), UtilError> {
    if expected == found {
        return Ok(());
    }
    Err(UtilError::Length {
        what,
        expected,
        found,
    })
}
