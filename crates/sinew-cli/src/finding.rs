//! The finding: how every command tells, as JSON, what is wrong or doubtful.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;
use sinew::scene::UnskinnedPrim;
use sinew::{Invalid, Warning};
use sinew_check::Severity;

use crate::error::Error;

/// One error or warning, with the same keys in the JSON of every command. `check` adds advice.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Stable code, which `sinew check --codes` explains; `None` if there is none.
    code: Option<&'static str>,
    /// The severity that the code has in `sinew check` too.
    severity: Severity,
    /// The file that it is about, if it is known.
    file: Option<String>,
    /// A prim path, a location in a file of another format, or a layer; empty if it is about the
    /// whole file or no file.
    pub path: String,
    /// Name of the property; empty if it is not about one.
    property: String,
    /// The text without what the other keys say.
    pub message: String,
}

impl Finding {
    /// An invalid attribute. `file` is that of records which name none.
    pub fn invalid(invalid: &Invalid, file: Option<&Path>) -> Self {
        let own = invalid.file.as_ref().map(|f| f.as_path());
        Self {
            code: invalid.code,
            severity: Severity::Error,
            file: own.or(file).map(shown),
            path: invalid.prim.clone(),
            property: invalid.property.clone(),
            message: format!("expected {}, found {}", invalid.expected, invalid.found),
        }
    }

    /// A warning about a part of `file`.
    pub fn warning(warning: &Warning, file: Option<&Path>) -> Self {
        let row = sinew_check::code(warning.code);
        Self {
            code: Some(warning.code),
            severity: row.map_or(Severity::Warning, |row| row.severity),
            file: file.map(shown),
            path: warning.path.clone(),
            property: warning.property.clone(),
            message: warning.message.clone(),
        }
    }

    /// A prim that OUT lacks, or does not have as it was asked for.
    pub fn failed(
        path: &str,
        code: Option<&'static str>,
        reason: impl Into<String>,
        file: Option<&Path>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            file: file.map(shown),
            path: path.to_owned(),
            property: String::new(),
            message: reason.into(),
        }
    }

    /// A prim that cannot be skinned.
    pub fn unskinned(prim: &UnskinnedPrim, file: Option<&Path>) -> Self {
        let reason = match prim.error.prim == prim.path {
            true => prim.error.brief().trim_start_matches(": ").to_owned(),
            false => prim.error.to_string(),
        };
        Self::failed(&prim.path, prim.error.code, reason, file)
    }

    /// The error that ended a command.
    pub fn error(error: &Error) -> Self {
        match error {
            Error::Invalid(invalid) => Self::invalid(invalid, None),
            Error::Failed(failure) => Self {
                property: failure.property.clone().unwrap_or_default(),
                ..Self::failed(
                    failure.prim.as_deref().unwrap_or_default(),
                    failure.code,
                    &failure.message,
                    failure.file.as_deref(),
                )
            },
            Error::Usage(text) | Error::Message(text) => Self::failed("", None, text, None),
        }
    }

    /// The code in brackets behind the message, as lines on stderr have it.
    pub fn told(&self) -> String {
        let code = self.code.map_or(String::new(), |code| format!(" [{code}]"));
        format!("{}: {}{code}", self.path, self.message)
    }
}

/// Invalid attributes and warnings of one file.
pub fn of_invalid(errors: &[Invalid], file: Option<&Path>) -> Vec<Finding> {
    errors.iter().map(|e| Finding::invalid(e, file)).collect()
}

/// The same for warnings, each once.
pub fn of_warnings(warnings: &[Warning], file: Option<&Path>) -> Vec<Finding> {
    distinct(warnings)
        .map(|w| Finding::warning(w, file))
        .collect()
}

/// The warnings without repetitions: one file may be both model and clip, and meshes of other
/// formats may have the same name.
pub fn distinct(warnings: &[Warning]) -> impl Iterator<Item = &Warning> {
    let mut seen = HashSet::new();
    warnings.iter().filter(move |w| seen.insert(w.to_string()))
}

/// What OUT lacks: prims that cannot be skinned, and what `sinew check` finds to be left out.
pub fn of_left_out(
    unskinned: &[UnskinnedPrim],
    left_out: &[sinew_check::Finding],
    file: Option<&Path>,
) -> Vec<Finding> {
    let mut failed = of_unskinned(unskinned, file);
    for found in left_out {
        let mut known = failed.iter();
        if !known.any(|f| f.path == found.path && f.code == Some(found.code)) {
            failed.push(Finding {
                property: found.property.clone(),
                ..Finding::failed(&found.path, Some(found.code), &found.message, file)
            });
        }
    }
    failed
}

/// The warnings that are not the reason of a failed prim, which is printed with the prim.
pub fn other_warnings(warnings: &[Warning], failed: &[Finding]) -> Vec<Warning> {
    let tells = |w: &Warning| {
        let mut failed = failed.iter();
        failed.any(|f| f.path == w.path && f.code == Some(w.code))
    };
    warnings.iter().filter(|w| !tells(w)).cloned().collect()
}

/// The same for prims that cannot be skinned.
pub fn of_unskinned(prims: &[UnskinnedPrim], file: Option<&Path>) -> Vec<Finding> {
    prims.iter().map(|p| Finding::unskinned(p, file)).collect()
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}
