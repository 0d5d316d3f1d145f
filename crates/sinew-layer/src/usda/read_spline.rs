//! Reads splines.

use super::lexer::{Lexer, Parsed, unsupported};
use crate::value::Spline;

pub(super) fn spline(lexer: &mut Lexer, _: &str) -> Parsed<Spline> {
    unsupported(lexer.pos, "splines")
}
