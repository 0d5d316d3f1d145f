//! What is known of one kind of finding.

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; results are as meant.
    Info,
    /// There is a result, but probably not what is meant, or other tools will disagree.
    Warning,
    /// Pixar's result or sinew's is missing or wrong for some prim.
    Error,
}

impl Severity {
    /// `error`, `warning` or `info`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One kind of finding.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Code {
    /// Stable name: kebab-case, or capitals for EXT_skeleton_humanoid.
    pub code: &'static str,
    pub severity: Severity,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// What to do about it.
    pub advice: &'static str,
    /// [`fix`](super::fix) can mend it without guessing.
    pub fixable: bool,
    /// Property at fault, where the finding names none itself.
    #[serde(skip)]
    pub(super) property: &'static str,
}

pub(super) const fn row(
    code: &'static str,
    severity: Severity,
    property: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Code {
    Code {
        code,
        severity,
        meaning,
        advice,
        fixable: false,
        property,
    }
}

impl Code {
    pub(super) const fn mendable(mut self) -> Self {
        self.fixable = true;
        self
    }
}
