//! Finds errors and doubtful data in character files, each with a stable code, and fixes those that
//! need no guess.
//!
//! Most findings are errors and warnings of reading and binding, which have the same codes. The
//! others come from checks of everything that is authored, even if no skinned prim uses it.
//!
//! ```
//! use sinew_check::{CheckOptions, Severity, check_file};
//!
//! let mut report = check_file("../../examples/assets/hatchling.usda", &CheckOptions::default())?;
//! report.keep(Severity::Warning);
//! assert!(report.findings.is_empty());
//! # Ok::<(), sinew_check::Error>(())
//! ```

mod animations;
mod bound;
mod code;
mod codes;
mod context;
mod drawn;
mod effect;
mod error;
mod file_codes;
mod fix;
mod influences;
mod layout;
mod plan;
mod refused;
mod shapes;
mod skeletons;
mod stage;
mod table;

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use sinew::error::Invalid;
use sinew::scene::Scene;
use sinew::skel::AnimSource;
use sinew_io::usd::{ReadOptions, UsdFile};
use sinew_io::{self as io, OpenOptions};

pub use code::{Code, Severity};
pub use codes::CODES;
pub use effect::{Effect, Ends, is_switched_off};
pub use error::{Error, Result};
pub use file_codes::FILE_CODES;
pub use fix::{FixEntry, FixOptions, FixReport, fix};
pub use table::{all_codes, code};

/// How to open and check a file. Start from `CheckOptions::default()` and set fields.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CheckOptions {
    /// How the stage is composed.
    pub open: OpenOptions,
    /// The largest number of influences that a point may have; `None` for no limit.
    pub max_influences: Option<usize>,
    /// Where to look for the animation of a skeleton.
    pub anim_source: AnimSource,
}

/// One error, or one thing that is doubtful or worth knowing, at one place of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// A code of [`CODES`] or [`FILE_CODES`].
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Path of the file that was checked, as it was given.
    pub file: String,
    /// A prim path, a location in a file of another format such as `nodes[3]`, or the file's path
    /// if the finding is about the whole file.
    pub path: String,
    /// Name of the property at fault; empty if the prim itself is at fault.
    pub property: String,
    /// What was found at this place.
    pub message: String,
    /// What to do about it, the same text for all findings of this code.
    pub advice: &'static str,
    /// Whether [`fix`] can fix this finding.
    pub fixable: bool,
}

impl Finding {
    /// What becomes of the prims that it is about.
    #[must_use]
    pub fn effect(&self) -> Effect {
        code(self.code).map_or(Effect::Used, |row| row.effect)
    }
}

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Findings of [`Severity::Error`].
    pub errors: usize,
    /// Findings of [`Severity::Warning`].
    pub warnings: usize,
    /// Findings of [`Severity::Info`].
    pub infos: usize,
}

/// Everything found in one file.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Path of the file, as it was given.
    pub file: String,
    /// Counts of all findings, also of those that [`Report::keep`] has removed.
    pub counts: Counts,
    /// How commands will end on the file.
    pub ends: Ends,
    /// First the findings about the whole file and about locations in a file of another format,
    /// then those of prims in stage order. The findings of one prim are sorted by severity, worst
    /// first.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The findings with this code.
    pub fn of<'a>(&'a self, code: &'a str) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(move |f| f.code == code)
    }

    /// Removes findings that are less severe than `least`. [`Report::counts`] does not change.
    pub fn keep(&mut self, least: Severity) {
        self.findings.retain(|f| f.severity >= least);
    }
}

/// Opens and checks a file. A glTF, VRM, BVH or FBX file is checked twice: as it is, with findings
/// at locations in that file, and as the UsdSkel stage that it is converted to.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened or decoded. A file that breaks a rule of its format
/// is no error: the broken rule is in the report.
pub fn check_file(path: impl AsRef<Path>, options: &CheckOptions) -> Result<Report> {
    let path = path.as_ref();
    let checked = match io::open_with(path, &options.open) {
        Ok(file) => check(&file, options),
        Err(e) => Err(e.into()),
    };
    match checked {
        Err(Error::Io(io::Error::Invalid(invalid))) => Ok(refused::refused(path, &invalid)),
        checked => checked,
    }
}

/// Checks a file that is already open. [`CheckOptions::open`] is not used.
///
/// # Errors
/// [`Error::Io`] if values cannot be decoded. Everything else that is wrong is in the report.
pub fn check(file: &UsdFile, options: &CheckOptions) -> Result<Report> {
    let scene = file.scene(ReadOptions {
        anim_source: options.anim_source,
    })?;
    check_scene(file, &scene, options)
}

/// Checks a file whose scene is already read. [`CheckOptions::open`] is not used.
///
/// # Errors
/// Those of [`check`].
pub fn check_scene(file: &UsdFile, scene: &Scene, options: &CheckOptions) -> Result<Report> {
    let authored = file.authored()?;
    let context = context::Context::new(&authored);
    let mut findings = Findings::default();
    authored_in(&context, scene, options, &mut findings);
    let posed = bound::posed(scene, &mut findings);
    let draws = drawn::check(file, scene, &mut findings)?;
    let is_off = is_switched_off(scene, findings.list.iter().map(|f| f.code));
    let moves = io::retarget::is_target(file, scene);
    let ends = Ends::of(&findings, posed || is_off, draws, moves);
    if scene.bindings.is_empty() && !is_off && findings.failed.is_empty() {
        let file = scene.file.display().to_string();
        findings.add("nothing-to-skin", &file, "", "no prim is skinned");
    }
    let mut list = findings.list;
    let place = |f: &Finding| context.index_of(&f.path);
    // First come findings about the whole file, then those at locations in a file of another
    // format, which are not prims.
    let whole = scene.file.display().to_string();
    list.sort_by(|a, b| {
        let key = |f: &Finding| (place(f), f.path != whole, std::cmp::Reverse(f.severity));
        key(a).cmp(&key(b))
    });
    // Fixes are written as USD opinions, so a file of another format cannot be fixed.
    let is_usd = file.origin().is_none();
    let wanted: Vec<&Finding> = list.iter().filter(|f| f.fixable && is_usd).collect();
    let (_, outcomes) = plan::plan(&context, &wanted, false, options.max_influences);
    let mut outcomes = outcomes.into_iter();
    for finding in list.iter_mut().filter(|f| f.fixable) {
        finding.fixable = matches!(outcomes.next(), Some(plan::Outcome::Fixed(_)));
    }
    Ok(report(file.file(), list, ends))
}

/// What a stage leaves out: the findings with [`Effect::LeftOut`]. Those that are an error of the
/// scene are not repeated. Without a file it is what the scene alone tells.
///
/// `posed` asks for the errors of all skins and poses at all times too. Whoever makes them for the
/// times of its own finds those.
///
/// # Errors
/// Values that cannot be decoded.
pub fn left_out(
    file: Option<&UsdFile>,
    scene: &Scene,
    posed: bool,
) -> Result<Vec<Finding>, io::Error> {
    let mut findings = Findings::default();
    match file {
        Some(file) => {
            let authored = file.authored()?;
            let context = context::Context::new(&authored);
            authored_in(&context, scene, &CheckOptions::default(), &mut findings);
        }
        None => bound::check(None, scene, &mut findings),
    }
    if posed {
        bound::posed(scene, &mut findings);
    }
    let mut list = findings.list;
    list.retain(|f| {
        let is_same = |e: &Invalid| e.prim == f.path && e.code == Some(f.code);
        f.effect() == Effect::LeftOut && !scene.errors.iter().any(is_same)
    });
    Ok(list)
}

/// Everything that is found without posing or drawing a prim.
fn authored_in(
    context: &context::Context<'_>,
    scene: &Scene,
    options: &CheckOptions,
    findings: &mut Findings,
) {
    stage::check(context, scene, findings);
    skeletons::check(context, findings);
    animations::check(context, scene, findings);
    shapes::check(context, scene, findings);
    influences::check(context, options, findings);
    bound::check(Some(context), scene, findings);
    shapes::skipped(context, findings);
}

/// A report with these findings.
fn report(file: &Path, mut findings: Vec<Finding>, ends: Ends) -> Report {
    for finding in &mut findings {
        finding.file = file.display().to_string();
    }
    let count = |s: Severity| findings.iter().filter(|f| f.severity == s).count();
    Report {
        file: file.display().to_string(),
        counts: Counts {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
        },
        ends,
        findings,
    }
}

/// The findings so far, without duplicates.
#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
    seen: HashSet<(&'static str, String, String)>,
    /// Codes and paths of `list`.
    places: HashSet<(&'static str, String)>,
    /// Paths of the findings of [`Severity::Error`].
    failed: HashSet<String>,
}

impl Findings {
    /// Adds a finding, unless there is already one with this code at this path and property. If
    /// `property` is empty, the property that the table gives for the code is used.
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
        // tests/check/checks.rs makes sure that the table has every code of the readers.
        let severity = row.map_or(Severity::Warning, |r| r.severity);
        if severity == Severity::Error {
            self.failed.insert(path.to_owned());
        }
        self.list.push(Finding {
            code: name,
            severity,
            // The report of all findings names it.
            file: String::new(),
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

/// The first few names of a list, for a message.
fn some_of<T: std::fmt::Display>(names: &[T]) -> String {
    sinew::error::first_few(names, 4)
}

/// The tokens that occur more than once in a list, each of them once.
fn duplicates(tokens: &[String]) -> Vec<&str> {
    let mut seen = HashSet::new();
    let mut listed = HashSet::new();
    tokens
        .iter()
        .map(String::as_str)
        .filter(|t| !seen.insert(*t) && listed.insert(*t))
        .collect()
}
