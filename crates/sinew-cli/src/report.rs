//! Printing and formatting that the commands share.

use crate::error::{Error, Result, with_code};
use crate::exit::Exit;
use crate::host;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;

use serde::Serialize;
use sinew::scene::UnskinnedPrim;
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
    print_line(&format!("{kind}: {}", plain(&message.to_string())));
}

/// Prints a line to stderr. A stderr that is full or closed is no error, because nobody can be told.
/// Inside another program nothing is printed: the result has the errors and warnings.
pub fn print_line(line: &str) {
    if host::is_set() {
        return;
    }
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Prints each prim that OUT does not have as it was asked for.
pub fn print_failed(failed: &[FailedPrim]) {
    for prim in failed {
        let code = prim.code.map_or(String::new(), |code| format!(" [{code}]"));
        print_message("failed", format!("{}: {}{code}", prim.path, prim.reason));
    }
}

/// A prim that OUT does not have as it was asked for, as JSON has it.
#[derive(Clone, Debug, Serialize)]
pub struct FailedPrim {
    pub path: String,
    pub code: Option<&'static str>,
    pub reason: String,
}

impl From<&sinew_bake::FailedPrim> for FailedPrim {
    fn from(prim: &sinew_bake::FailedPrim) -> Self {
        Self {
            path: prim.path.clone(),
            code: prim.code,
            reason: prim.reason.clone(),
        }
    }
}

impl From<&UnskinnedPrim> for FailedPrim {
    fn from(prim: &UnskinnedPrim) -> Self {
        let own = prim.error.prim == prim.path;
        Self {
            path: prim.path.clone(),
            code: prim.error.code,
            reason: match own {
                true => prim.error.brief(),
                false => prim.error.to_string(),
            },
        }
    }
}

/// An invalid attribute, as JSON has it.
#[derive(Serialize)]
pub struct InvalidReport {
    code: Option<&'static str>,
    path: String,
    property: String,
    pub message: String,
}

/// Invalid attributes, as JSON has them.
pub fn invalid_reports(errors: &[Invalid]) -> Vec<InvalidReport> {
    let report = |e: &Invalid| InvalidReport {
        code: e.code,
        path: e.prim.clone(),
        property: e.property.clone(),
        message: e.to_string(),
    };
    errors.iter().map(report).collect()
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
        let more = n - SHOWN;
        print_line(&format!(
            "warning: {more} more with the code [{code}]; `sinew inspect` prints all"
        ));
    }
}

/// Version of the JSON that commands print. It changes if a key changes its meaning or vanishes.
const SCHEMA_VERSION: u32 = 1;

/// What every command prints with --json: an object with these keys and the command's own.
#[derive(Serialize)]
struct Envelope<'a, T> {
    schema_version: u32,
    command: &'a str,
    exit_code: u8,
    #[serde(flatten)]
    body: &'a T,
}

/// The result of a command as JSON. `body` is a struct or a map.
///
/// # Errors
/// The value cannot be serialised.
pub fn result_json(command: &str, exit: Exit, body: &impl Serialize) -> Result<String> {
    to_json(&Envelope {
        schema_version: SCHEMA_VERSION,
        command,
        exit_code: exit.code(),
        body,
    })
}

/// The failure of a command as JSON: the same object, with `error` in place of the command's keys.
///
/// # Errors
/// The value cannot be serialised.
pub fn failure_json(command: &str, exit: Exit, error: &Error) -> Result<String> {
    #[derive(Serialize)]
    struct Failure {
        error: Reason,
    }
    #[derive(Serialize)]
    struct Reason {
        code: Option<&'static str>,
        message: String,
    }
    let error = Reason {
        code: error.code(),
        message: error.to_string(),
    };
    result_json(command, exit, &Failure { error })
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
    if host::take_output(text) {
        return Ok(());
    }
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
