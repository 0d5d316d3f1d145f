//! Reads dictionaries, and values of unknown types as text.

use std::sync::Arc;

use smol_str::SmolStr;

use super::MAX_NESTING;
use super::lexer::{Lexer, Parsed, fail_at};
use super::numbers::decimal_number;
use super::read_values::{array, scalar};
use super::strings::{asset_text, quoted};
use super::types::TypeName;
use crate::value::{Dictionary, Value};

/// A dictionary in braces. Nested ones are read with a stack of this function's own.
pub(super) fn dictionary(lexer: &mut Lexer) -> Parsed<Dictionary> {
    lexer.expect(b'{')?;
    let mut outer: Vec<(SmolStr, Dictionary)> = Vec::new();
    let mut current = Dictionary::new();
    loop {
        lexer.space();
        if lexer.eat(b'}') {
            let Some((key, mut dictionary)) = outer.pop() else {
                return Ok(current);
            };
            dictionary.insert(key, Value::Dictionary(Arc::new(current)));
            current = dictionary;
        } else if lexer.keyword("dictionary") {
            lexer.gap()?;
            let key = key(lexer)?;
            lexer.assignment()?;
            lexer.expect(b'{')?;
            if outer.len() >= MAX_NESTING {
                return lexer.fail(format!(
                    "more than {MAX_NESTING} dictionaries in dictionaries"
                ));
            }
            outer.push((key, std::mem::take(&mut current)));
            continue;
        } else {
            let (key, value) = entry(lexer)?;
            current.insert(key, value);
        }
        lexer.line();
        match lexer.peek() {
            b';' => lexer.pos += 1,
            b'}' | b'\n' | b'\r' => {}
            _ if outer.is_empty() && lexer.at_end() => return lexer.expected("'}'"),
            _ => return lexer.expected("the end of the line, ';' or '}'"),
        }
    }
}

fn key(lexer: &mut Lexer) -> Parsed<SmolStr> {
    if let Some(key) = lexer.string()? {
        return Ok(key);
    }
    match lexer.identifier() {
        Some(key) => Ok(SmolStr::new(key)),
        None => lexer.expected("a key: a name or a string"),
    }
}

/// `type key = value`.
fn entry(lexer: &mut Lexer) -> Parsed<(SmolStr, Value)> {
    let start = lexer.pos;
    let Some(name) = lexer.type_name() else {
        return lexer.expected("a type and a key, or '}'");
    };
    let kind = TypeName::new(name, brackets(lexer)?);
    lexer.gap()?;
    let key = key(lexer)?;
    lexer.assignment()?;
    let value = match kind {
        TypeName::Scalar(kind) => scalar(lexer, kind)?,
        TypeName::Array(kind) => array(lexer, kind)?,
        TypeName::Opaque | TypeName::Unknown => {
            return fail_at(
                start,
                format!("'{name}' is no type of a dictionary's value"),
            );
        }
    };
    Ok((key, value))
}

/// `[]` after the name of a type, if it is there.
pub(super) fn brackets(lexer: &mut Lexer) -> Parsed<bool> {
    let start = lexer.pos;
    lexer.inline();
    if !lexer.eat(b'[') {
        lexer.pos = start;
        return Ok(false);
    }
    lexer.inline();
    lexer.expect(b']')?;
    Ok(true)
}

/// A value of an unknown type, as the text that usd-core makes of it: blanks and numbers are
/// normalized.
pub(super) fn text(lexer: &mut Lexer) -> Parsed<String> {
    let mut out = String::new();
    let mut open: Vec<u8> = Vec::new();
    let mut comma = false;
    loop {
        if comma {
            out.push_str(", ");
        }
        match lexer.peek() {
            b'[' if open.contains(&b')') => return lexer.expected("a value of a tuple"),
            b'<' if !open.is_empty() => return lexer.expected("a value of a list"),
            bracket @ (b'[' | b'(') => {
                if open.len() >= MAX_NESTING {
                    return lexer.fail(format!("more than {MAX_NESTING} brackets in brackets"));
                }
                lexer.pos += 1;
                out.push(char::from(bracket));
                open.push(if bracket == b'[' { b']' } else { b')' });
                comma = false;
                lexer.space();
                // Only a whole value may be an empty list.
                if open != [b']'] || lexer.peek() != b']' {
                    continue;
                }
            }
            _ => atom(lexer, &mut out)?,
        }
        // Brackets that end here.
        loop {
            let Some(close) = open.last() else {
                return Ok(out);
            };
            lexer.space();
            if lexer.eat(b',') {
                lexer.space();
                if lexer.peek() != *close {
                    comma = true;
                    break;
                }
            }
            lexer.expect(*close)?;
            out.push(char::from(*close));
            open.pop();
        }
    }
}

fn atom(lexer: &mut Lexer, out: &mut String) -> Parsed<()> {
    let start = lexer.pos;
    if let Some(number) = lexer.number()? {
        decimal_number(number, out);
    } else if let Some(text) = lexer.string()? {
        quoted(&text, out);
    } else if let Some(path) = lexer.asset()? {
        asset_text(&path, out);
    } else if lexer.path()?.is_some() {
        out.push_str(lexer.since(start));
    } else if let Some(word) = lexer.type_name() {
        out.push_str(word);
    } else {
        return lexer.expected("a value");
    }
    Ok(())
}
