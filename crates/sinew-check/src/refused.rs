//! Reports about files that cannot be read because they break a rule of their format.

use std::collections::HashSet;
use std::path::Path;

use super::{Ends, Finding, Report, Severity, report, table};
use sinew::error::Invalid;
use sinew_io::gltf::extensions;

/// The code of a reader's error that has no code.
const INVALID: &str = "file-invalid";

/// The report about a file that could not be read: the reader's error and, if the file is glTF, all
/// findings about its humanoid skeletons.
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
        // Always an error, although some codes are warnings when the reader can continue.
        list.push(finding(code, Severity::Error, &location, message));
    }
    list.sort_by_key(|f| std::cmp::Reverse(f.severity));
    report(path, list, Ends::REFUSED)
}

fn finding(code: &'static str, severity: Severity, path: &str, message: String) -> Finding {
    Finding {
        code,
        severity,
        // The report of all findings names it.
        file: String::new(),
        path: path.to_owned(),
        property: String::new(),
        message,
        advice: table::code(code).map_or("see the message", |row| row.advice),
        fixable: false,
    }
}
