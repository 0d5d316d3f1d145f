//! Sparse edits of arrays: `edit [write 9 to [0]; append 3]`.

use half::f16;
use smol_str::SmolStr;

use super::check::Version;
use super::lexer::{Lexer, Parsed, fail_at};
use super::read_values::Element;
use super::types::{Scalar, TypeName};
use super::write_values::{Output, Text, kind_of};
use crate::value::{
    ArrayEdit, AssetPath, Duration, EditOp, EditSource, PathExpression, Quat, TimeCode, Value,
    for_each_element,
};

/// The version of the text format that edits need.
pub(super) const VERSION: Version = Version(2);

/// Reads edits from `edit` to the closing bracket.
pub(super) fn read(lexer: &mut Lexer, kind: TypeName, type_name: &str) -> Parsed<Value> {
    let TypeName::Array(kind) = kind else {
        return lexer.fail(format!("edits need an array, the type is {type_name}"));
    };
    macro_rules! read {
        ($(($one:ident, $array:ident, $rust:ty, $number:literal, $name:literal),)*) => {
            match kind {
                $(Scalar::$one => {
                    let mut literals = Vec::new();
                    let ops = operations(lexer, |lexer| {
                        literals.push(<$rust>::read(lexer, kind)?);
                        Ok(literals.len() - 1)
                    })?;
                    ArrayEdit { literals: Value::$array(literals.into()), ops }
                })*
            }
        };
    }
    let edit = for_each_element!(read);
    Ok(Value::ArrayEdit(edit.into()))
}

/// All operations; `literal` reads a value and gives its index.
fn operations<'a>(
    lexer: &mut Lexer<'a>,
    mut literal: impl FnMut(&mut Lexer<'a>) -> Parsed<usize>,
) -> Parsed<Vec<EditOp>> {
    let mut ops = Vec::new();
    lexer.keyword("edit");
    lexer.space();
    lexer.expect(b'[')?;
    lexer.space();
    while !lexer.eat(b']') {
        let start = lexer.pos;
        let word = lexer.identifier().unwrap_or("");
        lexer.space();
        // A value, or an element of the array by its index in brackets.
        let mut source = |lexer: &mut Lexer<'a>| match lexer.peek() {
            b'[' => index(lexer).map(EditSource::Element),
            _ => literal(lexer).map(EditSource::Literal),
        };
        ops.push(match word {
            "write" => EditOp::Write(source(lexer)?, target(lexer, "to")?),
            "insert" => EditOp::Insert(source(lexer)?, Some(target(lexer, "at")?)),
            "prepend" => EditOp::Insert(source(lexer)?, Some(0)),
            "append" => EditOp::Insert(source(lexer)?, None),
            "erase" => EditOp::Erase(index(lexer)?),
            "maxsize" => EditOp::MaxSize(size(lexer)?),
            "minsize" | "resize" => {
                let size = size(lexer)?;
                let before = lexer.pos;
                lexer.space();
                let fill = match lexer.keyword("fill") {
                    true => {
                        lexer.space();
                        Some(literal(lexer)?)
                    }
                    false => {
                        lexer.pos = before;
                        None
                    }
                };
                match word {
                    "minsize" => EditOp::MinSize(size, fill),
                    _ => EditOp::Resize(size, fill),
                }
            }
            _ => {
                // Spaces may follow the word.
                lexer.pos = start;
                return lexer.expected("an edit such as 'write', 'insert' or 'erase', or ']'");
            }
        });
        lexer.line();
        match lexer.peek() {
            b';' => lexer.pos += 1,
            b']' | b'\n' | b'\r' => {}
            _ => return lexer.expected("';' or ']'"),
        }
        lexer.space();
    }
    Ok(ops)
}

/// A word and an index.
fn target(lexer: &mut Lexer, word: &str) -> Parsed<i64> {
    lexer.space();
    if !lexer.keyword(word) {
        return lexer.expected(&format!("'{word}'"));
    }
    lexer.space();
    index(lexer)
}

/// An integer in brackets.
fn index(lexer: &mut Lexer) -> Parsed<i64> {
    lexer.expect(b'[')?;
    lexer.inline();
    let index = i64::read(lexer, Scalar::Int64)?;
    lexer.inline();
    lexer.expect(b']')?;
    Ok(index)
}

fn size(lexer: &mut Lexer) -> Parsed<u64> {
    let start = lexer.pos;
    match u64::try_from(i64::read(lexer, Scalar::Int64)?) {
        Ok(size) => Ok(size),
        Err(_) => fail_at(start, "the length of an array is not negative"),
    }
}

/// Why edits cannot be written as a value of this type.
pub(super) fn problem(edit: &ArrayEdit, kind: Scalar) -> Option<&'static str> {
    if kind_of(&edit.literals) != Some((kind, true)) {
        return Some("its edits are of another type than declared");
    }
    macro_rules! length {
        ($(($one:ident, $array:ident, $rust:ty, $number:literal, $name:literal),)*) => {
            match &edit.literals {
                $(Value::$array(values) => values.len(),)*
                _ => 0,
            }
        };
    }
    let length = for_each_element!(length);
    let mut literals = edit.ops.iter().filter_map(|op| match *op {
        EditOp::Write(EditSource::Literal(i), _) | EditOp::Insert(EditSource::Literal(i), _) => {
            Some(i)
        }
        EditOp::MinSize(_, fill) | EditOp::Resize(_, fill) => fill,
        _ => None,
    });
    if literals.any(|i| i >= length) {
        return Some("an edit uses a literal that is not there");
    }
    None
}

/// Writes edits that have no problem.
pub(super) fn write(edit: &ArrayEdit, out: &mut Output) {
    macro_rules! write {
        ($(($one:ident, $array:ident, $rust:ty, $number:literal, $name:literal),)*) => {
            match &edit.literals {
                $(Value::$array(values) => write_ops(&edit.ops, &mut out.text, |i, out| {
                    if let Some(value) = values.get(i) {
                        value.text(Scalar::$one, out);
                    }
                }),)*
                _ => {}
            }
        };
    }
    for_each_element!(write);
}

fn write_ops(ops: &[EditOp], out: &mut String, literal: impl Fn(usize, &mut String)) {
    use std::fmt::Write;
    let source = |source: EditSource, out: &mut String| match source {
        EditSource::Literal(i) => literal(i, out),
        EditSource::Element(i) => {
            let _ = write!(out, "[{i}]");
        }
    };
    out.push_str("edit [");
    for (i, op) in ops.iter().enumerate() {
        if i > 0 {
            out.push_str("; ");
        }
        let _ = match *op {
            EditOp::Write(from, to) => {
                out.push_str("write ");
                source(from, out);
                write!(out, " to [{to}]")
            }
            EditOp::Insert(from, at) => {
                out.push_str(match at {
                    None => "append ",
                    Some(0) => "prepend ",
                    Some(_) => "insert ",
                });
                source(from, out);
                match at {
                    None | Some(0) => Ok(()),
                    Some(at) => write!(out, " at [{at}]"),
                }
            }
            EditOp::Erase(at) => write!(out, "erase [{at}]"),
            EditOp::MaxSize(size) => write!(out, "maxsize {size}"),
            EditOp::MinSize(size, fill) | EditOp::Resize(size, fill) => {
                let word = if matches!(op, EditOp::MinSize(..)) {
                    "minsize"
                } else {
                    "resize"
                };
                let _ = write!(out, "{word} {size}");
                if let Some(fill) = fill {
                    out.push_str(" fill ");
                    literal(fill, out);
                }
                Ok(())
            }
        };
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_have_the_type_of_their_attribute() {
        let mut lexer = Lexer::new("edit [append 3]");
        let value = read(&mut lexer, TypeName::Array(Scalar::Int), "int[]");
        let Ok(Value::ArrayEdit(edit)) = value else {
            panic!("no edit")
        };
        assert_eq!(problem(&edit, Scalar::Int), None);
        assert!(problem(&edit, Scalar::Float).is_some());
    }
}
