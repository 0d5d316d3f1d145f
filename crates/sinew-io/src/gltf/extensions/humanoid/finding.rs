//! What is wrong or doubtful about a file's use of EXT_skeleton_humanoid.

use std::fmt;

use sinew::error::{Invalid, Warning};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Clips apply, but perhaps not as meant.
    Warning,
    /// The file breaks the extension's rules and is refused.
    Error,
}

/// One thing that is wrong or doubtful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HumanoidFinding {
    /// Stable code, such as `NODE_REUSED`.
    pub code: &'static str,
    pub severity: Severity,
    /// Where in the JSON, such as `animations[0].channels[2].target.path`.
    pub location: String,
    /// What the rule asks for.
    pub expected: String,
    /// What was there.
    pub found: String,
}

impl HumanoidFinding {
    pub(super) fn error(
        code: &'static str,
        location: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            location: location.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    pub(super) fn warning(
        code: &'static str,
        location: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, location, expected, found)
        }
    }

    /// What was expected and what was found, without the location.
    #[must_use]
    pub fn message(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }

    pub(super) fn invalid(&self) -> Invalid {
        Invalid::new(&self.location, "", &self.expected, &self.found).coded(self.code)
    }

    pub(super) fn as_warning(&self) -> Warning {
        Warning::new(self.code, &self.location, self.message())
    }
}

impl fmt::Display for HumanoidFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.location, self.message(), self.code)
    }
}
