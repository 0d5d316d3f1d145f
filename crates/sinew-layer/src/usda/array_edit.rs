//! Sparse edits of arrays: `edit [write 9 to [0]; append 3]`.

use super::lexer::{Lexer, Parsed, unsupported};
use super::types::TypeName;
use crate::value::Value;

pub(super) fn read(lexer: &mut Lexer, _: TypeName, _: &str) -> Parsed<Value> {
    unsupported(lexer.pos, "edits of arrays")
}
