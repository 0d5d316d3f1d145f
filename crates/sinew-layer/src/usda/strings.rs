//! Strings and asset paths in quotes, as usd-core writes them.

/// Appends a text in quotes: double ones, or single ones if the text has double ones only; three if
/// it has several lines.
pub(super) fn quoted(text: &str, out: &mut String) {
    use std::fmt::Write;
    let quote = if text.contains('"') && !text.contains('\'') {
        '\''
    } else {
        '"'
    };
    let triple = text.contains('\n');
    let quotes = if triple { 3 } else { 1 };
    out.extend(std::iter::repeat_n(quote, quotes));
    for c in text.chars() {
        match c {
            '\n' => out.push('\n'),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(quote);
            }
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.extend(std::iter::repeat_n(quote, quotes));
}

/// Appends an asset path between `@`, or between `@@@` if it has a `@`.
pub(super) fn asset_text(path: &str, out: &mut String) {
    let mark = if path.contains('@') { "@@@" } else { "@" };
    out.push_str(mark);
    match mark.len() {
        1 => out.push_str(path),
        _ => out.push_str(&path.replace("@@@", "\\@@@")),
    }
    out.push_str(mark);
}
