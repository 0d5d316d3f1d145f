//! The crate's [`Error`], the [`Invalid`] record of an invalid attribute, and [`Warning`]s about
//! problems that do not stop the work.

use std::fmt;
use std::path::PathBuf;

/// An error of the model and of scenes. The GPU side has an error of its own, `gpu::GpuError`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scene has no prim of this kind at the path.
    #[error("{}: no {kind} at {path}; the scene has {}", file.display(), listed(known))]
    UnknownPrim {
        /// The file of the scene.
        file: PathBuf,
        /// The requested path.
        path: String,
        /// The requested kind: `skinned prim` or `SkelRoot`.
        kind: &'static str,
        /// The first few prims of this kind.
        known: Vec<String>,
    },
    /// One attribute of one prim breaks a UsdSkel rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

fn listed(known: &[String]) -> String {
    match known {
        [] => "none".to_owned(),
        some => some.join(", "),
    }
}

/// A result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid attribute: its prim and property, the value that the rule expects, and the value that
/// was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Stable kebab-case code, such as `joint-order`, if the rule has one. `sinew check --codes`
    /// lists them.
    pub code: Option<&'static str>,
    /// The file with the prim, if it is known. It is boxed to keep results small.
    pub file: Option<Box<PathBuf>>,
    /// Prim path.
    pub prim: String,
    /// Property name; empty if the prim itself is invalid.
    pub property: String,
    /// The value that the rule expects, in words.
    pub expected: String,
    /// The value that was found, in words.
    pub found: String,
}

impl Invalid {
    /// Creates a record without code and file; [`Invalid::coded`] and [`Invalid::in_file`] add
    /// them.
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

    /// Returns the record with a stable code.
    #[must_use]
    pub fn coded(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// Returns an error if an array has more elements than a u32 can count.
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

    /// The text without file and prim, for a message that names them already.
    #[must_use]
    pub fn brief(&self) -> String {
        format!(
            "{}: expected {}, found {}",
            self.property, self.expected, self.found
        )
    }

    /// Returns the record with the file that contains the prim.
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

/// Escapes control characters, including line ends, so that a text from a file fits one line.
pub fn one_line(text: &str) -> String {
    let spelled = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(spelled).collect()
}

/// Lists the first `most` of many items for a message: `a, b, c and 4 more`.
pub fn first_few<T: fmt::Display>(items: &[T], most: usize) -> String {
    let shown: Vec<String> = items.iter().take(most).map(T::to_string).collect();
    match items.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A problem that does not stop the work.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// Stable kebab-case code, for scripts, such as `animation-ignored`.
    pub code: &'static str,
    /// Path of the prim, or the layer.
    pub path: String,
    /// Property name; empty if the warning is not about one property.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub property: String,
    /// The problem, and what sinew did about it.
    pub message: String,
}

impl Warning {
    /// Creates a warning about one prim.
    pub fn new(code: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            path: path.into(),
            property: String::new(),
            message: message.into(),
        }
    }

    /// Returns the warning as one about this property.
    #[must_use]
    pub fn on(mut self, property: impl Into<String>) -> Self {
        self.property = property.into();
        self
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} [{}]", self.message, self.code)
    }
}
