//! The kinds of findings: their codes and severities.

use serde::Serialize;

use super::effect::Effect;

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
    /// What becomes of the prims.
    pub effect: Effect,
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

/// A kind of finding in a stage: an error leaves something out.
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
        effect: match severity {
            Severity::Error => Effect::LeftOut,
            Severity::Warning | Severity::Info => Effect::Used,
        },
        meaning,
        advice,
        fixable: false,
        property,
    }
}

/// A kind of finding in a file of another format, where readers and writers stop at an error.
pub(super) const fn file_row(
    code: &'static str,
    severity: Severity,
    property: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Code {
    let row = row(code, severity, property, meaning, advice);
    match severity {
        Severity::Error => row.with(Effect::Refused),
        Severity::Warning | Severity::Info => row,
    }
}

impl Code {
    pub(super) const fn with(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    pub(super) const fn fixable(mut self) -> Self {
        self.fixable = true;
        self
    }
}
