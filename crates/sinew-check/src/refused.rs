//! Files that their readers refuse.

use std::collections::HashSet;
use std::path::Path;

use super::{Finding, Report, Severity, report, table};
use sinew::error::Invalid;
use sinew_io::gltf::extensions;

/// The code of what a reader refuses without a code of its own.
const INVALID: &str = "file-invalid";

/// What is wrong with a file that is not read at all: everything about its humanoid skeletons, where it is glTF, and
/// where its reader stopped.
pub(super) fn refused(path: &Path, error: &Invalid) -> Report {
    let mut list = Vec::new();
    let mut seen = HashSet::new();
    for f in extensions::humanoid_findings(path) {
        seen.insert((f.code, f.location.clone()));
        let severity = match f.severity {
            extensions::FindingSeverity::Error => Severity::Error,
            extensions::FindingSeverity::Warning => Severity::Warning,
        };
        list.push(finding(f.code, severity, &f.location, f.message()));
    }
    let code = error.code.unwrap_or(INVALID);
    let location = match error.property.as_str() {
        "" => error.prim.clone(),
        property => format!("{}.{property}", error.prim),
    };
    if !seen.contains(&(code, location.clone())) {
        let message = format!("expected {}, found {}", error.expected, error.found);
        // Some codes are warnings where the reader can go on.
        list.push(finding(code, Severity::Error, &location, message));
    }
    list.sort_by_key(|f| std::cmp::Reverse(f.severity));
    report(path, list)
}

fn finding(code: &'static str, severity: Severity, path: &str, message: String) -> Finding {
    Finding {
        code,
        severity,
        path: path.to_owned(),
        property: String::new(),
        message,
        advice: table::code(code).map_or("see the message", |row| row.advice),
        fixable: false,
    }
}
