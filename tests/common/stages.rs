//! Tables of stages, such as `tests/data/stages.txt`: each case is a base stage with edits, and what
//! is expected of it.
//!
//! `==== NAME` begins a base stage, `==== cases` the cases that are made from it. A case begins with
//! `## NAME`. Its lines are
//!
//! - `- FROM -> TO`: an edit, which replaces the first FROM; `+ TEXT` is a further line of TO;
//! - `@ NAME`: the lines `+ TEXT` that follow are a file beside the stage; `@ NAME = BASE` copies a
//!   base, which the edits that follow change;
//! - any other: a key and its text, which the runner of the table understands.
//!
//! The key `#` is a comment.

/// A case of a table.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    /// The file `in.usda`, and the files beside it, by name.
    pub files: Vec<(String, String)>,
    /// The lines that are no edits: key and text.
    pub lines: Vec<(String, String)>,
}

impl Case {
    /// The stage itself.
    pub fn text(&self) -> &str {
        &self.files[0].1
    }

    /// The texts of a key, in their order.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.lines.iter().filter(move |(k, _)| k == key);
        lines.map(|(_, text)| text.as_str())
    }

    /// The text of a key that is there once, or empty.
    pub fn one<'a>(&'a self, key: &'a str) -> &'a str {
        self.all(key).next().unwrap_or_default()
    }

    /// Writes the stage and the files beside it into a folder.
    pub fn write(&self, folder: &std::path::Path) {
        for (name, text) in &self.files {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
    }
}

/// A table: its base stages and its cases.
pub struct Table {
    pub bases: Vec<(String, String)>,
    pub cases: Vec<Case>,
}

impl Table {
    /// Reads a table of `tests/data`.
    pub fn read(file: &str) -> Self {
        let path = crate::repository().join("tests/data").join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        Self::parse(&text)
    }

    fn parse(text: &str) -> Self {
        let mut table = Self {
            bases: Vec::new(),
            cases: Vec::new(),
        };
        for section in text.split("\n==== ").skip(1) {
            let (name, body) = section.split_once('\n').unwrap();
            if name != "cases" {
                table.bases.push((name.to_owned(), body.to_owned()));
                continue;
            }
            for case in format!("\n{body}").split("\n## ").skip(1) {
                let case = table.parse_case(case);
                let is_new = table.cases.iter().all(|c| c.name != case.name);
                assert!(is_new, "{} is there twice", case.name);
                table.cases.push(case);
            }
        }
        table
    }

    /// A base stage by its name.
    pub fn base(&self, name: &str) -> &str {
        let found = self.bases.iter().find(|(n, _)| n == name);
        &found.unwrap_or_else(|| panic!("no base {name}")).1
    }

    /// A case by its name.
    pub fn case(&self, name: &str) -> &Case {
        let found = self.cases.iter().find(|case| case.name == name);
        found.unwrap_or_else(|| panic!("no case {name}"))
    }

    fn parse_case(&self, text: &str) -> Case {
        let (name, body) = text.split_once('\n').unwrap_or((text, ""));
        let base = self.bases.last().expect("a base").1.clone();
        let mut case = Case {
            name: name.to_owned(),
            files: vec![("in.usda".to_owned(), base)],
            lines: Vec::new(),
        };
        // FROM and TO of an edit whose lines are not complete.
        let mut open: Option<(&str, String)> = None;
        for line in body.lines().chain([""]) {
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            if key == "+" {
                match &mut open {
                    Some((_, to)) => *to = format!("{to}\n{rest}"),
                    None => case.files.last_mut().unwrap().1 += &format!("{rest}\n"),
                }
                continue;
            }
            if let Some((from, to)) = open.take() {
                let text = &mut case.files.last_mut().unwrap().1;
                assert!(text.contains(from), "{name}: '{from}' is not there");
                *text = text.replacen(from, &to, 1);
            }
            match key {
                "" => {}
                "-" => {
                    let edit = rest.split_once(" -> ").or(rest.split_once(" ->"));
                    let (from, to) = edit.unwrap_or_else(|| panic!("{name}: {line}"));
                    open = Some((from, to.to_owned()));
                }
                "@" => {
                    let (file, base) = rest.split_once(" = ").unwrap_or((rest, ""));
                    let text = if base.is_empty() { "" } else { self.base(base) };
                    case.files.push((file.to_owned(), text.to_owned()));
                }
                key => case.lines.push((key.to_owned(), rest.to_owned())),
            }
        }
        case
    }
}

/// The stages that are broken in one way each (`tests/data/stages.txt`).
pub fn stages() -> Table {
    Table::read("stages.txt")
}

/// Repeats what stands between marks: `«COUNT TEXT»` is TEXT as often, with its number for `%` and the
/// next for `%+`; within it, `‹COUNT TEXT›` is the same with `&`.
pub fn repeated(text: &str) -> String {
    let text = repeated_by(text, ['«', '»', '%']);
    repeated_by(&text, ['‹', '›', '&'])
}

fn repeated_by(text: &str, [open, close, index]: [char; 3]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let (inside, after) = after.split_once(close).unwrap();
        let (count, what) = inside.split_once(' ').unwrap();
        out += before;
        for i in 0..count.parse::<usize>().unwrap() {
            let what = what.replace(&format!("{index}+"), &(i + 1).to_string());
            out += &what.replace(index, &i.to_string());
        }
        rest = after;
    }
    out + rest
}

/// The bytes of a text in which `\xNN` is a byte.
pub fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        let (byte, text) = part.split_at(2);
        bytes.push(u8::from_str_radix(byte, 16).unwrap());
        bytes.extend(text.bytes());
    }
    bytes
}
