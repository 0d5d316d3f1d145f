//! What was found of adapters, as `sinew devices --verify` and the viewer report it.

use std::fmt::Write;

use sinew::gpu::AdapterReport;

use crate::rates::{Rate, Unit};
use crate::{Check, Measured, Outcome, Subject};

/// What was found on one machine.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report {
    /// Version of the program that checked.
    pub sinew: &'static str,
    /// Operating system and processor, or the browser's own description of itself.
    pub system: String,
    /// What was found of each adapter.
    pub adapters: Vec<Verified>,
}

/// What was found of one adapter.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Verified {
    /// What it is.
    #[serde(flatten)]
    pub adapter: AdapterReport,
    /// How long everything took.
    pub seconds: f64,
    /// Why the adapter could not be opened, or its rates could not be measured.
    pub error: Option<String>,
    /// The checks that were run, by subject.
    pub subjects: Vec<SubjectReport>,
    /// The checks that failed.
    pub failures: Vec<FailedCheck>,
    /// How fast the kernels are, if that was measured.
    pub rates: Vec<Rate>,
}

/// The checks of one subject.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SubjectReport {
    /// What they are about.
    pub subject: Subject,
    /// How many were run.
    pub checks: usize,
    /// How many of them failed.
    pub failed: usize,
    /// The error that takes the largest share of its limit.
    pub worst: Option<Measured>,
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FailedCheck {
    /// Its name.
    pub check: String,
    /// What it is about.
    pub subject: Subject,
    /// Why it failed.
    pub message: String,
}

impl Verified {
    /// Nothing is known of an adapter yet.
    #[must_use]
    pub fn new(adapter: &AdapterReport) -> Self {
        Self {
            adapter: adapter.clone(),
            seconds: 0.0,
            error: None,
            subjects: Vec::new(),
            failures: Vec::new(),
            rates: Vec::new(),
        }
    }

    /// Whether a check failed, or could not be run.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.error.is_some() || !self.failures.is_empty()
    }

    /// Counts what came of a check.
    pub fn add(&mut self, check: &Check, outcome: Outcome) {
        let subject = check.subject();
        let at = self.subjects.binary_search_by_key(&subject, |s| s.subject);
        let at = at.unwrap_or_else(|at| {
            let none = SubjectReport {
                subject,
                checks: 0,
                failed: 0,
                worst: None,
            };
            self.subjects.insert(at, none);
            at
        });
        let of = &mut self.subjects[at];
        of.checks += 1;
        of.worst = match (of.worst, outcome.worst) {
            (Some(a), Some(b)) => Some(a.or_worse(b)),
            (a, b) => a.or(b),
        };
        if let Some(failure) = outcome.failure {
            of.failed += 1;
            self.failures.push(FailedCheck {
                check: check.name().to_owned(),
                subject,
                message: failure.to_string(),
            });
        }
    }

    /// Lines of a table: the subjects, the rates, and how many checks passed.
    #[must_use]
    pub fn table(&self) -> String {
        // Writing to a String cannot fail, so its results are dropped.
        let mut out = String::new();
        if !self.subjects.is_empty() {
            let _ = writeln!(
                out,
                "  {:<18} {:>6} {:>6}  {:>11}  {:>8}",
                "", "checks", "failed", "worst error", "limit"
            );
        }
        for subject in &self.subjects {
            let (error, allowed) = subject.worst.map_or_else(
                || (String::new(), String::new()),
                |m| (format!("{:.1e}", m.error), format!("{:.1e}", m.allowed)),
            );
            let _ = writeln!(
                out,
                "  {:<18} {:>6} {:>6}  {error:>11}  {allowed:>8}",
                subject.subject.name(),
                subject.checks,
                subject.failed
            );
        }
        for rate in &self.rates {
            let unit = match rate.unit {
                Unit::Points => "points",
                Unit::Joints => "joints",
            };
            let what = format!("{}: {}", rate.subject.name(), rate.case);
            let million = rate.per_second() / 1e6;
            let _ = writeln!(out, "  {what:<52} {million:>9.1} million {unit}/s");
        }
        let total: usize = self.subjects.iter().map(|s| s.checks).sum();
        let passed = total - self.failures.len();
        let _ = writeln!(
            out,
            "  {passed} of {} passed in {:.0} s",
            count(total),
            self.seconds
        );
        out
    }
}

/// `1 check`, `2 checks`.
fn count(checks: usize) -> String {
    format!("{checks} check{}", if checks == 1 { "" } else { "s" })
}

/// The checks whose names contain one of these texts; all if there are no texts.
#[must_use]
pub fn wanted(names: &[String]) -> Vec<Check> {
    let mut all = crate::checks();
    all.retain(|c| names.is_empty() || names.iter().any(|n| c.name().contains(n.as_str())));
    all
}
