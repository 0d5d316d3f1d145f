//! Both tables of codes as one.

use super::code::Code;
use super::codes::CODES;
use super::file_codes::FILE_CODES;

/// Looks up a code, such as `joint-order`; `None` if there is no such code.
#[must_use]
pub fn code(name: &str) -> Option<&'static Code> {
    all_codes().find(|c| c.code == name)
}

/// All codes: first [`CODES`], then [`FILE_CODES`].
pub fn all_codes() -> impl Iterator<Item = &'static Code> {
    CODES.iter().chain(FILE_CODES)
}
