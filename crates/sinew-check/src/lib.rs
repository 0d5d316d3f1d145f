//! What is wrong or doubtful in a file, each with a stable code, and mends for some of it.
//!
//! Most of it comes from reading and binding themselves, whose errors and warnings carry the
//! same codes; the rest looks at what is authored, whether or not it reaches any prim.
//!
//! ```
//! use sinew_check::{CheckOptions, Severity, check_file};
//!
//! let mut report = check_file("../../examples/assets/hatchling.usda", &CheckOptions::default())?;
//! report.keep(Severity::Warning);
//! assert!(report.findings.is_empty());
//! # Ok::<(), sinew::Error>(())
//! ```

mod animations;
mod bound;
mod code;
mod codes;
mod context;
mod drawn;
mod file_codes;
mod fix;
mod influences;
mod refused;
mod shapes;
mod skeletons;
mod stage;
mod table;

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use sinew::error::{Error, Result};
use sinew::skel::AnimSource;
use sinew_io::usd::{ReadOptions, UsdFile};
use sinew_io::{self as io, OpenOptions};

pub use code::{Code, Severity};
pub use codes::CODES;
pub use file_codes::FILE_CODES;
pub use fix::{FixOptions, FixReport, Mended, fix};
pub use table::{all_codes, code};

/// What to check against.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// How the stage is composed.
    pub open: OpenOptions,
    /// Most influences that a point may have; any number where `None`.
    pub max_influences: Option<usize>,
    /// Where a skeleton's animation is looked for.
    pub anim_source: AnimSource,
}

/// One thing that is wrong or doubtful.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// A code of [`CODES`] or [`FILE_CODES`].
    pub code: &'static str,
    pub severity: Severity,
    /// Prim path, or the file's name where the whole file is meant.
    pub path: String,
    /// Property at fault; empty where the prim itself is.
    pub property: String,
    /// What was found here.
    pub message: String,
    /// What to do about it.
    pub advice: &'static str,
    /// `sinew fix` mends it.
    pub fixable: bool,
}

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub errors: usize,
    pub warnings: usize,
    pub infos: usize,
}

/// Everything found in one file.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub file: String,
    pub counts: Counts,
    /// By prim in stage order, the worst of each first.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The findings of a code.
    pub fn of<'a>(&'a self, code: &'a str) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(move |f| f.code == code)
    }

    /// Keeps findings of at least `least`. The counts stay those of the whole file.
    pub fn keep(&mut self, least: Severity) {
        self.findings.retain(|f| f.severity >= least);
    }
}

/// Opens and checks a file. Of a glTF, VRM, BVH or FBX file both what its reader finds, at locations in that file, and the
/// UsdSkel stage that it becomes are checked.
///
/// # Errors
/// A file that cannot be opened or decoded. Whatever else is wrong is in the report.
pub fn check_file(path: impl AsRef<Path>, options: &CheckOptions) -> Result<Report> {
    let path = path.as_ref();
    let checked = match io::open_with(path, &options.open) {
        Ok(file) => check(&file, options),
        Err(e) => Err(e.into()),
    };
    match checked {
        Err(Error::Invalid(invalid)) => Ok(refused::refused(path, &invalid)),
        checked => checked,
    }
}

/// Checks an open file.
///
/// # Errors
/// Values that cannot be decoded. Whatever else is wrong is in the report.
pub fn check(file: &UsdFile, options: &CheckOptions) -> Result<Report> {
    let authored = file.authored()?;
    let scene = file.scene(ReadOptions {
        anim_source: options.anim_source,
    })?;
    let context = context::Context::new(&authored);
    let mut findings = Findings::default();
    stage::check(&context, &scene, &mut findings);
    skeletons::check(&context, &mut findings);
    animations::check(&context, &scene, &mut findings);
    shapes::check(&context, &scene, &mut findings);
    influences::check(&context, options, &mut findings);
    bound::check(&context, &scene, &mut findings);
    drawn::check(file, &scene, &mut findings)?;
    if scene.bindings.is_empty() && !findings.list.iter().any(|f| f.severity == Severity::Error) {
        let file = scene.file.display().to_string();
        findings.add("nothing-to-skin", &file, "", "no prim is skinned");
    }
    let mut list = findings.list;
    let place = |f: &Finding| context.index_of(&f.path);
    // What is about the whole file comes first, then locations in a file of another format, which are no prims.
    let whole = scene.file.display().to_string();
    list.sort_by(|a, b| {
        let key = |f: &Finding| (place(f), f.path != whole, std::cmp::Reverse(f.severity));
        key(a).cmp(&key(b))
    });
    // A fix is written beside what is composed, and a file of another format is not.
    let is_usd = file.origin().is_none();
    for finding in &mut list {
        finding.fixable &= is_usd
            && place(finding).is_none_or(|i| context.why_unmendable(i, finding.code).is_none());
    }
    Ok(report(file.file(), list))
}

/// The report of these findings.
fn report(file: &Path, findings: Vec<Finding>) -> Report {
    let count = |s: Severity| findings.iter().filter(|f| f.severity == s).count();
    Report {
        file: file.display().to_string(),
        counts: Counts {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
        },
        findings,
    }
}

/// Findings so far, each once.
#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
    seen: HashSet<(&'static str, String, String)>,
    /// Codes and paths alone.
    places: HashSet<(&'static str, String)>,
    /// Paths with an error.
    failed: HashSet<String>,
}

impl Findings {
    /// Adds a finding, unless the same code was found at the same place. An empty property is the
    /// code's usual one.
    fn add(&mut self, name: &'static str, path: &str, property: &str, message: impl Into<String>) {
        let row = table::code(name);
        let property = match (property, row) {
            ("", Some(row)) => row.property,
            (named, _) => named,
        };
        if !self
            .seen
            .insert((name, path.to_owned(), property.to_owned()))
        {
            return;
        }
        self.places.insert((name, path.to_owned()));
        // A reader's warning that the table does not list yet: tests/check/checks.rs keeps it whole.
        let severity = row.map_or(Severity::Warning, |r| r.severity);
        if severity == Severity::Error {
            self.failed.insert(path.to_owned());
        }
        self.list.push(Finding {
            code: name,
            severity,
            path: path.to_owned(),
            property: property.to_owned(),
            message: message.into(),
            advice: row.map_or("see the message", |r| r.advice),
            fixable: row.is_some_and(|r| r.fixable),
        });
    }

    fn has(&self, code: &'static str, path: &str) -> bool {
        self.places.contains(&(code, path.to_owned()))
    }

    fn has_error_at(&self, path: &str) -> bool {
        self.failed.contains(path)
    }
}

/// The first few of many names, for a message.
fn some_of<T: std::fmt::Display>(names: &[T]) -> String {
    sinew::error::first_few(names, 4)
}

/// Tokens that are listed more than once, each once.
fn duplicates(tokens: &[String]) -> Vec<&str> {
    let mut seen = HashSet::new();
    let mut told = HashSet::new();
    tokens
        .iter()
        .map(String::as_str)
        .filter(|t| !seen.insert(*t) && told.insert(*t))
        .collect()
}
