//! Makes the paths of a path expression absolute, as usd-core does when it reads one.

use crate::path::Path;
use crate::value::PathExpression;

/// An expression with its relative paths and references made absolute, `prim` being what they are
/// relative to.
pub(super) fn absolute(text: &str, prim: &Path) -> PathExpression {
    let anchor = prim.strip_variants();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if is_operator(c) {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let end = operand_end(rest);
        let (operand, after) = rest.split_at(end);
        push_operand(operand, &anchor, &mut out);
        rest = after;
    }
    PathExpression(out.into())
}

/// What stands between the paths of an expression.
fn is_operator(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | '\r' | '(' | ')' | '+' | '-' | '&' | '~'
    )
}

/// Where an operand ends. Predicates in braces and character classes in brackets may have any
/// characters.
fn operand_end(text: &str) -> usize {
    let mut closing = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '{' => closing.push('}'),
            '[' => closing.push(']'),
            c if closing.last() == Some(&c) => {
                closing.pop();
            }
            c if closing.is_empty() && is_operator(c) => return i,
            _ => {}
        }
    }
    text.len()
}

fn push_operand(operand: &str, anchor: &Path, out: &mut String) {
    if let Some(reference) = operand.strip_prefix('%') {
        // `%path:name`; without a path, as in `%:name` or `%_`, there is nothing to change.
        out.push('%');
        match reference.split_once(':') {
            Some((path, _)) if !path.is_empty() => push_operand(reference, anchor, out),
            _ => out.push_str(reference),
        }
        return;
    }
    if operand.starts_with('/') {
        return out.push_str(operand);
    }
    let mut base = anchor.clone();
    let mut rest = operand;
    loop {
        if let Some(after) = rest
            .strip_prefix("..")
            .filter(|a| a.is_empty() || a.starts_with('/'))
        {
            base = base.parent().unwrap_or_else(Path::root);
            rest = after;
        } else if let Some(after) = rest
            .strip_prefix('.')
            .filter(|a| a.is_empty() || a.starts_with('/'))
        {
            rest = after;
        } else {
            break;
        }
        // A single slash only separates; `//` means what is below.
        match rest.strip_prefix('/') {
            Some(after) if !after.starts_with('/') => rest = after,
            _ => break,
        }
    }
    let root = base.is_root();
    match rest {
        "" => out.push_str(base.as_str()),
        rest if rest.starts_with('/') && root => out.push_str(rest),
        rest if rest.starts_with(['/', '.']) => {
            out.push_str(base.as_str());
            out.push_str(rest);
        }
        rest => {
            out.push_str(base.as_str());
            if !root {
                out.push('/');
            }
            out.push_str(rest);
        }
    }
}
