//! Small formatting shared by the commands.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;

use serde::Serialize;
use sinew::{Invalid, Warning};

/// How often one kind of warning is printed in full.
const SHOWN: usize = 5;

/// `1234567` as `1,234,567`.
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

/// `1 prim`, `3 prims`.
pub fn count(n: usize, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        thousands(n as u64),
        if n == 1 { "" } else { "s" }
    )
}

/// Prints an error to stderr, with the code that `sinew check --codes` explains where it has one.
pub fn print_error(error: &sinew::Error) {
    match error {
        sinew::Error::Invalid(invalid) => print_invalid(invalid),
        other => tell("error", other),
    }
}

fn print_invalid(invalid: &Invalid) {
    match invalid.code {
        Some(code) => tell("error", format!("{invalid} [{code}]")),
        None => tell("error", invalid),
    }
}

/// Prints a line such as `warning: what is wrong` to stderr. Whatever files say in it does nothing to a terminal.
pub fn tell(kind: &str, what: impl Display) {
    eprintln!("{kind}: {}", plain(&what.to_string()));
}

/// A text in which nothing but ends of lines and tabs controls a terminal, or the order of what stands there.
pub fn plain(text: &str) -> Cow<'_, str> {
    spelled(text, |c| c.escape_default().to_string())
}

fn spelled(text: &str, how: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(controls) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match controls(c) {
            true => out.push_str(&how(c)),
            false => out.push(c),
        }
    }
    out.into()
}

/// Control characters of both sets, and marks that turn the direction of text.
fn controls(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Prints errors and warnings to stderr, the first few of each code.
pub fn print_findings(errors: &[Invalid], warnings: &[Warning]) {
    for e in errors {
        print_invalid(e);
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
            tell("warning", w);
        }
    }
    for (code, n) in seen.iter().filter(|(_, n)| *n > SHOWN) {
        eprintln!(
            "warning: {} more of [{code}]; `sinew inspect` shows all",
            n - SHOWN
        );
    }
}

/// One JSON value, on lines of its own.
pub fn to_json(value: &impl Serialize) -> sinew::Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| sinew::Error::Request(format!("cannot print JSON: {e}")))?;
    // They are within strings, and beyond those that JSON itself wants spelled.
    let text = spelled(&text, |c| format!("\\u{:04x}", c as u32));
    Ok(text.into_owned() + "\n")
}

/// Writes results to stdout, as [plain] text; a reader that hangs up early (`| head`) is no error.
pub fn print_result(text: &str) -> sinew::Result<()> {
    print_coloured(&plain(text))
}

/// As [`print_result`], of a text that is plain but for its colours.
pub fn print_coloured(text: &str) -> sinew::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(sinew::Error::Request(
            format!("cannot write to stdout: {e}"),
        )),
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
    fn what_controls_a_terminal_is_spelled() {
        use super::{plain, to_json};
        assert_eq!(
            plain("Geo/Körper: 「手」\n\t-> 👋"),
            "Geo/Körper: 「手」\n\t-> 👋"
        );
        let bad = "a\u{1b}]0;b\u{7}c\rd\u{9b}2J\u{7f}\u{202e}e";
        let spelled = r"a\u{1b}]0;b\u{7}c\rd\u{9b}2J\u{7f}\u{202e}e";
        assert_eq!(plain(bad), spelled);
        let json = to_json(&[bad]).unwrap();
        assert_eq!(plain(&json), json);
        assert_eq!(serde_json::from_str::<[String; 1]>(&json).unwrap(), [bad]);
    }
}
