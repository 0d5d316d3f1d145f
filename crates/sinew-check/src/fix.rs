//! Fixes findings of [`check`](super::check) that need no guess.

use std::path::Path;

use serde::Serialize;

use super::context::Context;
use super::plan::{Outcome, plan};
use super::{CheckOptions, Error, Finding, Report, Result, Severity, check, table};
use sinew_io::usd::UsdFile;

/// Which findings to fix, and how to check before and after. Start from `FixOptions::default()` and
/// set fields.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FixOptions {
    /// How to check the file. With [`CheckOptions::max_influences`], `fix` also reduces each point
    /// to that many influences.
    pub check: CheckOptions,
    /// Codes to fix. If empty, all codes whose [`Code`](super::Code) is fixable.
    pub only: Vec<String>,
}

/// A finding that was fixed, or one that could not be fixed and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FixEntry {
    /// The finding's code.
    pub code: &'static str,
    /// The finding's severity.
    pub severity: Severity,
    /// Path of the input file.
    pub file: String,
    /// Path of the prim.
    pub path: String,
    /// Name of the property; empty if the finding is about the prim itself.
    pub property: String,
    /// What was done, or why it could not be done.
    pub message: String,
    /// Whether skinned results change. Otherwise a fix changes only the order or type of values. Of
    /// a finding that could not be fixed: whether it was fixed in part.
    pub changes_results: bool,
}

/// What [`fix`] fixed and what it did not.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FixReport {
    /// Path of the input file.
    pub file: String,
    /// Findings that were fixed.
    pub fixed: Vec<FixEntry>,
    /// Findings that could not be fixed at their prim, although their code is fixable.
    pub not_fixed: Vec<FixEntry>,
    /// Whether the composed stage was flattened into one layer, because the input or the output is
    /// a `.usdz` package.
    pub flattened: bool,
    /// Findings in the input.
    pub before: Report,
    /// Findings in the output; `None` if no output was written.
    pub after: Option<Report>,
}

impl FixReport {
    /// How many errors are left: in the output or, if none was written, in the input without those
    /// that would be fixed.
    #[must_use]
    pub fn remaining_errors(&self) -> usize {
        let fixed = self.fixed.iter().filter(|f| f.severity == Severity::Error);
        let fixed = fixed.count();
        match &self.after {
            Some(after) => after.counts.errors,
            None => self.before.counts.errors.saturating_sub(fixed),
        }
    }
}

/// Fixes all findings that need no guess and writes the result to `out`: a copy of the root layer
/// with added opinions or, if the input or the output is a `.usdz` package, the flattened stage.
/// Without `out` it only reports what it would do.
///
/// # Errors
/// - [`Error::UnknownCode`] or [`Error::NotFixable`] for a code in [`FixOptions::only`].
/// - [`Error::Io`] if the output is one of the files of the input, or if a file cannot be read or
///   written.
pub fn fix(file: &UsdFile, out: Option<&Path>, options: &FixOptions) -> Result<FixReport> {
    for name in &options.only {
        match table::code(name) {
            Some(c) if c.fixable => {}
            Some(_) => return Err(Error::NotFixable { code: name.clone() }),
            None => return Err(Error::UnknownCode { code: name.clone() }),
        }
    }
    if let Some(out) = out {
        file.check_output(out)?;
    }
    let flattened = file.fixes_are_flattened(out.unwrap_or(file.file()));
    let before = check(file, &options.check)?;
    let authored = file.authored()?;
    let context = Context::new(&authored);
    let wanted = |f: &&Finding| {
        table::code(f.code).is_some_and(|c| c.fixable)
            && (options.only.is_empty() || options.only.iter().any(|o| o == f.code))
    };
    let wanted: Vec<&Finding> = before.findings.iter().filter(wanted).collect();
    let (fixes, outcomes) = plan(&context, &wanted, flattened, options.check.max_influences);
    let (mut fixed, mut not_fixed) = (Vec::new(), Vec::new());
    for (finding, outcome) in wanted.into_iter().zip(outcomes) {
        match outcome {
            Outcome::Fixed(what) => {
                let changes_results = !matches!(
                    finding.code,
                    "weights-unsorted" | "point-indices-uint" | "inbetween-skipped"
                );
                fixed.push(entry(finding, what, changes_results));
            }
            Outcome::FixedInPart(what) => not_fixed.push(entry(finding, what, true)),
            Outcome::Left(why) => not_fixed.push(entry(finding, why, false)),
        }
    }
    let after = match out {
        None => None,
        Some(out) => {
            file.write_fixed(out, &fixes)?;
            let written = UsdFile::open_with(out, &options.check.open)?;
            Some(check(&written, &options.check)?)
        }
    };
    Ok(FixReport {
        file: file.file().display().to_string(),
        fixed,
        not_fixed,
        flattened,
        before,
        after,
    })
}

fn entry(f: &Finding, message: String, changes_results: bool) -> FixEntry {
    FixEntry {
        code: f.code,
        severity: f.severity,
        file: f.file.clone(),
        path: f.path.clone(),
        property: f.property.clone(),
        message,
        changes_results,
    }
}
