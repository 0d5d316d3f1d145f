//! Printing and formatting that the commands share.

use crate::error::{Error, Result, with_code};
use crate::exit::Exit;
use crate::finding::{self, Finding};
use crate::{host, interrupt};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::{Display, Write as _};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew::{Invalid, Warning};
use sinew_bake::bytes_as_text;
use sinew_check::Severity;

/// How many warnings of one code are printed without --verbose.
const SHOWN: usize = 5;

/// How much a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbosity {
    /// Errors, and the JSON of --json.
    Quiet,
    /// Also warnings and a short result.
    Normal,
    /// Everything.
    Verbose,
}

impl Verbosity {
    /// Whether nothing but errors is printed.
    pub fn is_quiet(self) -> bool {
        self == Self::Quiet
    }

    /// Whether everything is printed.
    pub fn is_verbose(self) -> bool {
        self == Self::Verbose
    }
}

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

/// A name as texts show it.
pub fn or_unnamed(name: &str) -> &str {
    match name {
        "" => "(unnamed)",
        name => name,
    }
}

/// A path, or a property of it, as texts show it.
pub fn place(path: &str, property: &str) -> String {
    match property {
        "" => path.to_owned(),
        property => format!("{path}.{property}"),
    }
}

/// A number with its noun: `1 prim`, `3 prims`, `2 meshes`.
pub fn count(n: usize, noun: &str) -> String {
    let number = thousands(n as u64);
    match (n, noun) {
        (1, _) => format!("{number} {noun}"),
        (_, "vertex") => format!("{number} vertices"),
        (_, "mesh") => format!("{number} meshes"),
        _ => format!("{number} {noun}s"),
    }
}

thread_local! {
    /// The file of a batch that this thread works on.
    static SUBJECT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work` on one of many files: lines on stderr that do not name the file then begin with it.
pub fn about<T>(file: &Path, work: impl FnOnce() -> T) -> T {
    SUBJECT.set(Some(file.display().to_string()));
    let done = work();
    SUBJECT.set(None);
    done
}

/// Prints an error to stderr.
pub fn print_error(error: &Error) {
    print_message("error", error);
}

/// Prints a line such as `warning: MESSAGE` to stderr, as [plain] text, because messages quote
/// files.
pub fn print_message(kind: &str, message: impl Display) {
    let mut message = message.to_string();
    SUBJECT.with_borrow(|file| {
        if let Some(file) = file.as_ref().filter(|file| !message.contains(*file)) {
            message = format!("{file}: {message}");
        }
    });
    print_line(&format!("{kind}: {}", plain(&message)));
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
pub fn print_failed(failed: &[Finding]) {
    for prim in failed {
        print_message("failed", prim.told());
    }
}

/// The size of what a command wrote, beside that of its input.
#[derive(Default, Serialize)]
pub struct Sizes {
    /// The input's name in the command's synopsis.
    #[serde(skip)]
    name: &'static str,
    /// Bytes of the input, without the files that it refers to.
    pub input_bytes: u64,
    /// Bytes of the files that were written.
    pub output_bytes: u64,
}

impl Sizes {
    /// The size of what was written, such as `1.2 MB`.
    pub fn written(&self) -> String {
        bytes_as_text(self.output_bytes)
    }

    /// The sizes of files that are there now. `name` is what the command's synopsis calls the input.
    pub fn of<P: AsRef<Path>>(name: &'static str, input: &Path, outputs: &[P]) -> Self {
        let size = |file: &Path| file.metadata().map_or(0, |m| m.len());
        Self {
            name,
            input_bytes: size(input),
            output_bytes: outputs.iter().map(|file| size(file.as_ref())).sum(),
        }
    }
}

impl Display for Sizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [input, output] = [self.input_bytes, self.output_bytes].map(bytes_as_text);
        write!(f, "{output} written, {} has {input}", self.name)
    }
}

/// The files, one per line; of a long list the first few and the last.
pub fn listed(files: &[PathBuf]) -> String {
    const SHOWN: usize = 4;
    let mut out = String::new();
    for file in files.iter().take(SHOWN) {
        let _ = writeln!(out, "{}", file.display());
    }
    if let [.., last] = files
        && files.len() > SHOWN
    {
        let _ = writeln!(out, "... {} ({} files)", last.display(), files.len());
    }
    out
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

/// Prints errors to stderr and, unless quiet, the first few warnings of each code, or all of them.
pub fn print_findings(errors: &[Invalid], warnings: &[Warning], verbosity: Verbosity) {
    for e in errors {
        print_message("error", with_code(e));
    }
    let shown = match verbosity {
        Verbosity::Quiet => return,
        Verbosity::Normal => SHOWN,
        Verbosity::Verbose => usize::MAX,
    };
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for w in finding::distinct(warnings) {
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
        if n <= shown {
            print_warning(w);
        }
    }
    for (code, n) in seen.iter().filter(|(_, n)| *n > shown) {
        let more = n - shown;
        print_message(
            kind_of(code),
            format!("{more} more with the code [{code}]; --verbose prints all"),
        );
    }
}

/// Prints a warning to stderr, as a note if its code has the severity info.
pub fn print_warning(warning: &Warning) {
    print_message(kind_of(warning.code), warning);
}

fn kind_of(code: &str) -> &'static str {
    match sinew_check::code(code).map(|code| code.severity) {
        Some(Severity::Info) => "note",
        _ => "warning",
    }
}

/// Version of the JSON that commands print. It changes if a key changes its meaning or vanishes.
/// docs/schema/sinew.schema.json describes it.
const SCHEMA_VERSION: u32 = 2;

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

/// Prints the result of a command: with --json as JSON, otherwise, unless quiet, as text.
///
/// # Errors
/// Stdout cannot be written to.
pub fn print_report<T: Serialize>(
    command: &str,
    exit: Exit,
    (json, verbosity): (bool, Verbosity),
    report: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<Exit> {
    match (json, verbosity.is_quiet()) {
        (true, _) => print_result(&result_json(command, exit, report)?)?,
        (false, true) => {}
        (false, false) => print_result(&text(report))?,
    }
    Ok(exit)
}

/// The failure of a command as JSON: the same object, with `error` in place of the command's keys.
///
/// # Errors
/// The value cannot be serialised.
pub fn failure_json(command: &str, exit: Exit, error: &Error) -> Result<String> {
    #[derive(Serialize)]
    struct Failure {
        error: Finding,
    }
    let error = Finding::error(error);
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
    let _until_written = interrupt::result_begins();
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::Message(format!("cannot write to stdout: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes a JSON text to stdout while the command ends for another reason. The reason is on stderr
/// already, so a full stdout changes nothing.
pub fn print_unasked(json: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(json.as_bytes()).and_then(|()| out.flush());
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
    fn sizes_name_the_input_as_the_command_does() {
        let manifest = std::path::Path::new(env!("CARGO_MANIFEST_PATH"));
        let sizes = super::Sizes::of("TARGET", manifest, &[manifest]);
        let text = sizes.to_string();
        assert!(text.contains(" written, TARGET has "), "{text}");
        let json = serde_json::to_value(&sizes).unwrap();
        assert_eq!(json.as_object().unwrap().len(), 2);
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
