//! Messages as people see them: without paths of the machine that built the viewer, and with the line of the file that
//! they name.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex_lite::Regex;

use super::platform;

/// A path of a folder in which Cargo or the Rust compiler keeps source, as far as it belongs to the machine, and the text
/// before it on its line. Folders may hold spaces.
static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    let path = r#"(?m)^(.*[ "'`(<\t]|)(?:[A-Za-z]:)?[/\\](?:.*[/\\])?"#;
    let machine = r"(?:registry[/\\]src|git[/\\]checkouts[/\\][^/\\]*|rustc)[/\\][^/\\]*[/\\]";
    Regex::new(&format!("{path}{machine}")).expect("a pattern")
});

/// The text without the folders in which the source of dependencies lay when the viewer was built:
/// `/home/me/.cargo/registry/src/index-1/wgpu-30.0.1/src/lib.rs` becomes `wgpu-30.0.1/src/lib.rs`. Paths of the Rust
/// compiler's own source lose its hash.
pub fn clean(text: &str) -> String {
    let mut out = text.to_owned();
    // Each time, the last one of every line.
    while let Cow::Owned(cleaned) = SOURCE.replace_all(&out, "$1") {
        out = cleaned;
    }
    out
}

/// Lines of a text file around the one that a message names.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt {
    pub file: PathBuf,
    /// The line that the message names, counted from 1.
    pub line: usize,
    /// The lines, numbered and with a mark before the named one.
    pub text: String,
}

/// Files larger than this are not searched for a line.
const LARGEST: u64 = 64 << 20;
/// Characters of a line that are shown.
const WIDTH: usize = 90;
/// Lines that are shown before the named one.
const BEFORE: usize = 2;

impl Excerpt {
    /// The lines that a message such as `hero.usda: line 4, column 1: expected a number` names; `None` if it names none,
    /// or the file is binary or gone.
    pub fn of(message: &str) -> Option<Self> {
        LINE.captures_iter(message).find_map(|found| {
            let number = |i| found.get(i)?.as_str().parse().ok().filter(|n| *n > 0);
            let line = number(1)?;
            let file = file_before(&message[..found.get(0)?.start()])?;
            let text = lines_around(&file, line, number(2))?;
            Some(Self { file, line, text })
        })
    }
}

/// `line 4, column 7`, `line 4 column 7` or `line 4`.
static LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"line (\d+)(?:[, ]+column (\d+))?").expect("a pattern"));

/// The file whose name ends this text.
fn file_before(text: &str) -> Option<PathBuf> {
    let text = text.trim_end_matches([' ', ':', ',']);
    let starts = text.rmatch_indices(": ").map(|(i, _)| i + 2);
    let files = platform::files();
    starts
        .chain([0])
        .map(|i| Path::new(&text[i..]))
        .find(|p| files.size(p).is_ok())
        .map(Path::to_owned)
}

fn lines_around(file: &Path, line: usize, column: Option<usize>) -> Option<String> {
    let (mut source, size) = platform::files().open(file).ok()?;
    if size > LARGEST {
        return None;
    }
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).ok()?;
    if bytes.iter().take(4096).any(|b| *b == 0) {
        return None;
    }
    let all: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
    // Text that ends with a line break has nothing after it.
    let count = all.len() - usize::from(all.last().is_some_and(|l| l.is_empty()));
    let digits = (line + 1).to_string().len();
    let mut out = Vec::new();
    for number in line.saturating_sub(BEFORE).max(1)..=line + 1 {
        let named = number == line;
        let text = match all.get(number - 1).filter(|_| number <= count) {
            Some(text) => String::from_utf8_lossy(text)
                .trim_end()
                .replace('\t', "    "),
            None if named => "(the file ends here)".into(),
            None => continue,
        };
        let place = column.unwrap_or(1) - 1;
        let first = match place > WIDTH * 3 / 4 {
            true => place - WIDTH / 2,
            false => 0,
        };
        let shown: String = text.chars().skip(first).take(WIDTH).collect();
        let mark = if named { '>' } else { ' ' };
        let line = format!("{mark} {number:>digits$} | {shown}");
        out.push(line.trim_end().to_owned());
        if let Some(column) = column.filter(|_| named) {
            let within = (column - 1).min(text.chars().count()).saturating_sub(first);
            out.push(format!("  {:>digits$} | {}^", "", " ".repeat(within)));
        }
    }
    Some(out.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_machine_that_built_it_are_left_out() {
        for (given, shown) in [
            (
                "panicked at /root/.cargo/registry/src/index.crates.io-1949cf/wgpu-30.0.1/src/lib.rs:7:1",
                "panicked at wgpu-30.0.1/src/lib.rs:7:1",
            ),
            (
                r"at C:\Users\An Other\.cargo\registry\src\index-1\naga-30\src\a.rs and",
                r"at naga-30\src\a.rs and",
            ),
            (
                "(/home/a b/.cargo/git/checkouts/egui-12ab/9f3c/crates/egui/src/x.rs) `/rustc/59807/library/core/src/o.rs`",
                "(crates/egui/src/x.rs) `library/core/src/o.rs`",
            ),
            (
                "two:\n/x/registry/src/i/a-1/b.rs\n/x/registry/src/i/c-1/d.rs",
                "two:\na-1/b.rs\nc-1/d.rs",
            ),
            ("/home/me/hero.usda: line 3", "/home/me/hero.usda: line 3"),
        ] {
            assert_eq!(clean(given), shown);
        }
    }

    #[test]
    fn the_line_that_a_message_names_is_shown_with_a_mark() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a: b.usda");
        std::fs::write(&file, "one\ntwo\n\tthree = [(0, x)]\nfour\n").unwrap();
        let name = file.display();
        let message =
            format!("{name}: cannot open: {name}: line 3, column 12, in </M>: expected a number");
        let excerpt = Excerpt::of(&message).unwrap();
        assert_eq!((excerpt.file, excerpt.line), (file.clone(), 3));
        let lines: Vec<&str> = excerpt.text.lines().collect();
        assert_eq!(lines[2], "> 3 |     three = [(0, x)]");
        assert_eq!((lines[0], lines[4]), ("  1 | one", "  4 | four"));
        // A message about the end of the file, and other ways to write it.
        let end = Excerpt::of(&format!("{name}: line 5.HIERARCHY: expected ROOT")).unwrap();
        assert!(
            end.text.contains("> 5 | (the file ends here)"),
            "{}",
            end.text
        );
        let json = Excerpt::of(&format!("{name}: line 2 column 3: expected JSON")).unwrap();
        assert!(json.text.contains("\n    |   ^\n"), "{}", json.text);
        // The mark of a long line is shown with what is around it.
        std::fs::write(&file, format!("{}HERE", "x".repeat(5000))).unwrap();
        let long = Excerpt::of(&format!("{name}: line 1, column 5001: x")).unwrap();
        assert!(
            long.text.contains("HERE") && long.text.len() < 300,
            "{}",
            long.text
        );
    }

    #[test]
    fn messages_without_a_line_of_a_text_file_have_no_excerpt() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("a.glb");
        std::fs::write(&binary, b"glTF\0\0\n\n\n").unwrap();
        for message in [
            format!("{}: line 2: cut short", binary.display()),
            "no/such/file.usda: line 2: broken".into(),
            "a line of text".into(),
            "hero.usda: the line 0".into(),
        ] {
            assert_eq!(Excerpt::of(&message), None, "{message}");
        }
    }
}
