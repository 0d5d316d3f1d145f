//! Sparse edits of arrays: `edit [write 9 to [0]; append 3]`.

use super::check::Version;
use super::lexer::{Lexer, Parsed, unsupported};
use super::types::{Scalar, TypeName};
use super::write_values::Output;
use crate::value::{ArrayEdit, Value};

pub(super) fn read(lexer: &mut Lexer, _: TypeName, _: &str) -> Parsed<Value> {
    unsupported(lexer.pos, "edits of arrays")
}

pub(super) fn write(_: &ArrayEdit, _: &mut Output) {}

pub(super) fn fits(_: &ArrayEdit, _: Scalar) -> bool {
    false
}

pub(super) fn version(_: &ArrayEdit) -> Version {
    Version(2)
}
