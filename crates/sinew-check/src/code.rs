//! The kinds of findings: their codes and severities.

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing. The results are as intended.
    Info,
    /// There is a result, but it is probably not the intended one, or other tools will disagree.
    Warning,
    /// The result of some prim is missing or wrong, in sinew or in Pixar's tools.
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
#[non_exhaustive]
pub struct Code {
    /// Stable name: in kebab-case, or in capitals for the codes of EXT_skeleton_humanoid.
    pub code: &'static str,
    /// How bad findings of this kind are.
    pub severity: Severity,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// What to do about it.
    pub advice: &'static str,
    /// Whether [`fix`](super::fix) can fix findings of this kind without guessing.
    pub fixable: bool,
    /// Property at fault, for findings that do not name one themselves.
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
    pub(super) const fn fixable(mut self) -> Self {
        self.fixable = true;
        self
    }
}
