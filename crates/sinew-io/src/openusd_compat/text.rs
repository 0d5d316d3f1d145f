//! Works around: two faults of openusd 0.8's parser of usda text. It recurses once per nested prim, so a hostile file
//! overflows the stack and ends the process. And it does not read numbers that start with their point, such as the `.01`
//! in Pixar's own skinnedArm.usda.
//!
//! See the fault: parse 100,000 times `def "A" {`, or `float a = .5`, with `openusd::sdf::Layer::from_bytes`.
//!
//! Test: `refuses_deep_nesting` and `completes_bare_decimals_only` below.
//!
//! Goes when: openusd refuses deep nesting with an error and reads `.5`.

/// Deeper than any real scene nests, and far above what the parser's stack needs.
pub(crate) const MAX_NESTING: usize = 1000;

/// Checks nesting and writes `.5` as `0.5`. `None` where the text is fine as it is.
///
/// # Errors
/// Braces, brackets or parentheses nested deeper than [`MAX_NESTING`].
pub(crate) fn repair(text: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let mut inserts = Vec::new();
    let mut depth = 0usize;
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            b'#' => i = skip_to(text, i, |c| c == b'\n'),
            q @ (b'"' | b'\'') => i = skip_string(text, i, q),
            b'@' => i = skip_asset(text, i),
            b'/' if text[i..].starts_with(b"//") => i = skip_to(text, i, |c| c == b'\n'),
            b'/' if text[i..].starts_with(b"/*") => i = skip_past(text, i + 2, b"*/"),
            b'{' | b'[' | b'(' => {
                depth += 1;
                if depth > MAX_NESTING {
                    return Err(format!(
                        "prims or values nest deeper than {MAX_NESTING} levels"
                    ));
                }
            }
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'.' => {
                let starts_number = text.get(i + 1).is_some_and(u8::is_ascii_digit);
                let after = i.checked_sub(1).map(|p| text[p]);
                let bare = after.is_none_or(|c| c.is_ascii_whitespace() || b"=([,-+:".contains(&c));
                if starts_number && bare {
                    inserts.push(i);
                }
            }
            _ => {}
        }
        i += 1;
    }
    if inserts.is_empty() {
        return Ok(None);
    }
    let mut out = Vec::with_capacity(text.len() + inserts.len());
    let mut from = 0;
    for at in inserts {
        out.extend_from_slice(&text[from..at]);
        out.push(b'0');
        from = at;
    }
    out.extend_from_slice(&text[from..]);
    Ok(Some(out))
}

/// Index of the next byte that matches, or the end.
fn skip_to(text: &[u8], from: usize, stop: impl Fn(u8) -> bool) -> usize {
    text[from.min(text.len())..]
        .iter()
        .position(|c| stop(*c))
        .map_or(text.len(), |n| from + n)
}

/// Index of the last byte of the next `end`, or the end of the text.
fn skip_past(text: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = &text[from.min(text.len())..];
    let found = rest.windows(end.len()).position(|w| w == end);
    found.map_or(text.len(), |n| from + n + end.len() - 1)
}

/// Index of the last byte of an asset path: `@path@`, or `@@@path with @ inside@@@`.
fn skip_asset(text: &[u8], start: usize) -> usize {
    match text[start..].starts_with(b"@@@") {
        true => skip_past(text, start + 3, b"@@@"),
        false => skip_past(text, start + 1, b"@"),
    }
}

/// Index of a string's closing quote (the last one of three, for a long string).
fn skip_string(text: &[u8], start: usize, quote: u8) -> usize {
    let long = text[start..].starts_with(&[quote; 3]);
    let mut i = start + if long { 3 } else { 1 };
    while i < text.len() {
        match text[i] {
            b'\\' => i += 1,
            c if c == quote && !long => return i,
            c if c == quote && text[i..].starts_with(&[quote; 3]) => return i + 2,
            _ => {}
        }
        i += 1;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> String {
        let out = repair(text.as_bytes()).unwrap();
        String::from_utf8(out.unwrap_or_else(|| text.as_bytes().to_vec())).unwrap()
    }

    #[test]
    fn completes_bare_decimals_only() {
        assert_eq!(
            repaired("a = .01 (-.5, 1.5, .25)"),
            "a = 0.01 (-0.5, 1.5, 0.25)"
        );
        for untouched in [
            "rel a = </A.5x>",
            "# .5\n\"x .5 \\\" .6\" @./.7.usda@ '''.8' .9'''",
            "float a.connect = 1.e5",
            "@@@a@b .5@@@ @c .5@ // don't .5\n/* it's .5 */",
        ] {
            assert_eq!(repaired(untouched), untouched);
        }
    }

    #[test]
    fn refuses_deep_nesting() {
        let deep = "def \"a\" {".repeat(5000);
        assert!(repair(deep.as_bytes()).unwrap_err().contains("1000"));
        assert!(repair("{".repeat(900).as_bytes()).is_ok());
        assert!(
            repair(b"\"").is_ok()
                && repair(b"@").is_ok()
                && repair(b"\"\\").is_ok()
                && repair(b"'''").is_ok()
        );
    }
}
