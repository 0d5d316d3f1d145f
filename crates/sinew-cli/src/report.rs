//! Printing and formatting that the commands share.

use crate::error::{Error, Result, with_code};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;

use serde::Serialize;
use sinew::{Invalid, Warning};

/// How many warnings of one code are printed.
const SHOWN: usize = 5;

/// Formats `1234567` as `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number with its noun: `1 prim`, `3 prims`.
pub fn count(n: usize, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        thousands(n as u64),
        if n == 1 { "" } else { "s" }
    )
}

/// Prints an error to stderr.
pub fn print_error(error: &Error) {
    print_message("error", error);
}

/// Prints a line such as `warning: MESSAGE` to stderr, as [plain] text, because messages quote
/// files.
pub fn print_message(kind: &str, message: impl Display) {
    eprintln!("{kind}: {}", plain(&message.to_string()));
}

/// The text with control characters escaped, except newlines and tabs. Text from a file then
/// neither controls a terminal nor changes the direction of writing.
pub fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.escape_default().to_string())
}

fn escaped(text: &str, how: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_control(c) {
            true => out.push_str(&how(c)),
            false => out.push(c),
        }
    }
    out.into()
}

/// Whether a character is a control character (C0 or C1) other than newline and tab, or a mark that
/// changes the direction of text.
fn is_control(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Prints errors to stderr, and the first few warnings of each code.
pub fn print_findings(errors: &[Invalid], warnings: &[Warning]) {
    for e in errors {
        print_message("error", with_code(e));
    }
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for w in warnings {
        let n = match seen.iter_mut().find(|(code, _)| *code == w.code) {
            Some((_, n)) => {
                *n += 1;
                *n
            }
            None => {
                seen.push((w.code, 1));
                1
            }
        };
        if n <= SHOWN {
            print_message("warning", w);
        }
    }
    for (code, n) in seen.iter().filter(|(_, n)| *n > SHOWN) {
        eprintln!(
            "warning: {} more with the code [{code}]; `sinew inspect` prints all",
            n - SHOWN
        );
    }
}

/// A value as indented JSON that ends with a newline.
///
/// # Errors
/// The value cannot be serialised.
pub fn to_json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::Message(format!("cannot print JSON: {e}")))?;
    // JSON itself escapes only some of these characters; here they can only be inside strings.
    let text = escaped(&text, |c| format!("\\u{:04x}", c as u32));
    Ok(text.into_owned() + "\n")
}

/// Writes results to stdout, as [plain] text. It is no error if the reader closes the pipe early
/// (`| head`).
///
/// # Errors
/// Stdout cannot be written to.
pub fn print_result(text: &str) -> Result<()> {
    print_coloured(&plain(text))
}

/// Like [`print_result`], for a text that is already plain except for its colours.
///
/// # Errors
/// Stdout cannot be written to.
pub fn print_coloured(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::Message(format!("cannot write to stdout: {e}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands() {
        assert_eq!(super::thousands(0), "0");
        assert_eq!(super::thousands(999), "999");
        assert_eq!(super::thousands(1_234_567), "1,234,567");
    }

    #[test]
    fn control_characters_are_escaped() {
        use super::{plain, to_json};
        assert_eq!(
            plain("Geo/Körper: 「手」\n\t-> 👋"),
            "Geo/Körper: 「手」\n\t-> 👋"
        );
        let bad = "a\u{1b}]0;b\u{7}c\rd\u{9b}2J\u{7f}\u{202e}e";
        let escaped = r"a\u{1b}]0;b\u{7}c\rd\u{9b}2J\u{7f}\u{202e}e";
        assert_eq!(plain(bad), escaped);
        let json = to_json(&[bad]).unwrap();
        assert_eq!(plain(&json), json);
        assert_eq!(serde_json::from_str::<[String; 1]>(&json).unwrap(), [bad]);
    }
}
