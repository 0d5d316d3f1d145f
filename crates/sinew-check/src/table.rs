//! Both tables of codes as one.

use super::code::Code;
use super::codes::CODES;
use super::file_codes::FILE_CODES;

/// The row of a code.
#[must_use]
pub fn code(name: &str) -> Option<&'static Code> {
    all_codes().find(|c| c.code == name)
}

/// Every row there is: of stages, then of files of other formats.
pub fn all_codes() -> impl Iterator<Item = &'static Code> {
    CODES.iter().chain(FILE_CODES)
}
