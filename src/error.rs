//! One root [`Error`], the [`Invalid`] record that every broken attribute is reported with, and
//! [`Warning`]s for what can be overlooked.

use std::fmt;
use std::path::PathBuf;

/// Everything that can go wrong in sinew.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, parsed or composed.
    #[error("{}: cannot open: {reason}", file.display())]
    Open { file: PathBuf, reason: String },
    /// A file could not be written.
    #[error("{}: cannot write: {reason}", file.display())]
    Write { file: PathBuf, reason: String },
    /// The file is readable but holds nothing to skin.
    #[error("{}: {reason}", file.display())]
    NothingToSkin { file: PathBuf, reason: String },
    /// The scene has no prim of the wanted kind at a path.
    #[error("{}: no {kind} at {path}; there {}", file.display(), there(known))]
    UnknownPrim {
        /// The scene's file.
        file: PathBuf,
        /// The path that was asked for.
        path: String,
        /// What was wanted there: `skinned prim` or `SkelRoot`.
        kind: &'static str,
        /// The first few prims of this kind.
        known: Vec<String>,
    },
    /// The caller's request makes no sense.
    #[error("{0}")]
    Request(String),
    /// One attribute of one prim breaks a UsdSkel rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The GPU side: no adapter, a lost device, a limit.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
}

fn there(known: &[String]) -> String {
    match known {
        [] => "are none".to_owned(),
        [one] => format!("is {one}"),
        more => format!("are {}", more.join(", ")),
    }
}

/// Shorthand for results with the root [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A broken attribute: which prim, which property, what the schema asks for and what was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Stable kebab-case code, such as `joint-order`, where the rule has one; `sinew check --codes` lists them.
    pub code: Option<&'static str>,
    /// File that holds the prim, where known; boxed to keep results small.
    pub file: Option<Box<PathBuf>>,
    /// Prim path.
    pub prim: String,
    /// Property name, empty where the prim itself is at fault.
    pub property: String,
    /// What the rule asks for.
    pub expected: String,
    /// What was there.
    pub found: String,
}

impl Invalid {
    /// A report without a file; [`Invalid::in_file`] adds it where it is known.
    pub fn new(
        prim: impl Into<String>,
        property: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            code: None,
            file: None,
            prim: prim.into(),
            property: property.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// The same report with a stable code.
    #[must_use]
    pub fn coded(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// Refuses more elements of an array than a u32 counts.
    pub(crate) fn unless_u32_counts(
        prim: &str,
        property: &str,
        what: &str,
        count: u64,
    ) -> Result<(), Self> {
        if count < u64::from(u32::MAX) {
            return Ok(());
        }
        let expected = format!("fewer than {} {what}", u32::MAX);
        Err(Self::new(prim, property, expected, count.to_string()))
    }

    /// The report without file and prim, for where they are already named.
    #[must_use]
    pub fn brief(&self) -> String {
        format!(
            "{}: expected {}, found {}",
            self.property, self.expected, self.found
        )
    }

    /// The same report with the file's name in front.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(Box::new(file.into()));
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        f.write_str(&self.prim)?;
        if !self.property.is_empty() {
            write!(f, ".{}", self.property)?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for Invalid {}

/// A text from a file, for the middle of a line: with control characters spelled, ends of lines among them.
pub fn one_line(text: &str) -> String {
    let spelled = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(spelled).collect()
}

/// The first `most` of many items, for a message: `a, b, c and 4 more`.
pub fn first_few<T: fmt::Display>(items: &[T], most: usize) -> String {
    let shown: Vec<String> = items.iter().take(most).map(T::to_string).collect();
    match items.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Something doubtful that does not stop the work. `code` is stable, for scripts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// Stable kebab-case code, such as `animation-ignored`.
    pub code: &'static str,
    /// Prim (or layer) it is about.
    pub path: String,
    /// Property that it is about, where one is at fault; empty else.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub property: String,
    /// What is wrong and what sinew did about it.
    pub message: String,
}

impl Warning {
    /// A warning about one prim.
    pub fn new(code: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            path: path.into(),
            property: String::new(),
            message: message.into(),
        }
    }

    /// The same warning about one property.
    #[must_use]
    pub fn on(mut self, property: impl Into<String>) -> Self {
        self.property = property.into();
        self
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.path, self.message, self.code)
    }
}
