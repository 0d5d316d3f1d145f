//! The error of a command as a value, for programs that run commands inside themselves.

use std::fmt;
use std::path::PathBuf;

use sinew::Invalid;
use sinew::gpu::GpuError;

/// What went wrong, as kinds that a caller can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An attribute of a prim, or a part of a file, breaks a rule.
    Invalid,
    /// Arguments that are wrong whatever the files contain.
    Usage,
    /// A file could not be read or written.
    File,
    /// There is no prim at a path that was asked for.
    UnknownPrim,
    /// Nothing in the file can be skinned.
    NothingToSkin,
    /// The GPU failed, or there is none.
    Gpu,
    /// The caller stopped the work.
    Cancelled,
    /// Anything else; the message says what.
    Other,
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The kind of the error.
    pub kind: Kind,
    /// Stable kebab-case code, if it has one; `sinew check --codes` explains it.
    pub code: Option<&'static str>,
    /// The file that it is about, if it is known.
    pub file: Option<PathBuf>,
    /// Path of the prim that it is about, if there is one.
    pub prim: Option<String>,
    /// Name of the property, if it is about one.
    pub property: Option<String>,
    /// The whole message, as the command prints it after `error: `.
    pub message: String,
}

impl Failure {
    /// An error of no particular kind.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Other,
            code: None,
            file: None,
            prim: None,
            property: None,
            message: message.into(),
        }
    }

    /// An error of arguments.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::of(Kind::Usage, message)
    }

    /// The caller stopped the work.
    pub(crate) fn cancelled() -> Self {
        Self::of(Kind::Cancelled, sinew_bake::Error::Cancelled.to_string())
    }

    fn of(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            ..Self::new(message)
        }
    }

    /// The error with a text behind its message.
    pub(crate) fn with_advice(mut self, advice: &str) -> Self {
        self.message.push_str(advice);
        self
    }

    fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    fn on_prim(mut self, prim: impl Into<String>) -> Self {
        self.prim = Some(prim.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<&Invalid> for Failure {
    fn from(invalid: &Invalid) -> Self {
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Self {
            kind: Kind::Invalid,
            code: invalid.code,
            file: invalid.file.as_deref().cloned(),
            prim: some(&invalid.prim),
            property: some(&invalid.property),
            message: crate::error::with_code(invalid),
        }
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::from(&invalid)
    }
}

impl From<GpuError> for Failure {
    fn from(error: GpuError) -> Self {
        Self::of(Kind::Gpu, error.to_string())
    }
}

impl From<sinew::Error> for Failure {
    fn from(error: sinew::Error) -> Self {
        match error {
            sinew::Error::Invalid(invalid) => invalid.into(),
            sinew::Error::UnknownPrim {
                ref file, ref path, ..
            } => Self::of(Kind::UnknownPrim, error.to_string())
                .in_file(file)
                .on_prim(path),
            other => Self::new(other.to_string()),
        }
    }
}

impl From<sinew_io::Error> for Failure {
    fn from(error: sinew_io::Error) -> Self {
        use sinew_io::Error as Io;
        let text = error.to_string();
        match error {
            Io::Invalid(invalid) => invalid.into(),
            Io::Engine(error) => (*error).into(),
            Io::Open { file, .. } | Io::Write { file, .. } => {
                Self::of(Kind::File, text).in_file(file)
            }
            Io::OutputIsInput { output, .. } => Self::of(Kind::File, text).in_file(output),
            Io::NoSuchFolder { folder } => Self::of(Kind::File, text).in_file(folder),
            Io::NoSuchClip { file, .. }
            | Io::AmbiguousClip { file, .. }
            | Io::ClipFitsNothing { file, .. }
            | Io::Unsupported { file, .. }
            | Io::TooLarge { file, .. }
            | Io::Edit { file, .. } => Self::new(text).in_file(file),
            _ => Self::new(text),
        }
    }
}

impl From<sinew_bake::Error> for Failure {
    fn from(error: sinew_bake::Error) -> Self {
        use sinew_bake::Error as Bake;
        let text = error.to_string();
        match error {
            Bake::Invalid(invalid) => invalid.into(),
            Bake::Io(error) => (*error).into(),
            Bake::Gpu(error) => error.into(),
            Bake::NothingToSkin(nothing) => {
                Self::of(Kind::NothingToSkin, text).in_file(nothing.file)
            }
            Bake::UnknownPrim { file, path, .. } => Self::of(Kind::UnknownPrim, text)
                .in_file(file)
                .on_prim(path),
            Bake::Options(_) | Bake::EmptyRange { .. } => Self::usage(text),
            Bake::PrimPath { path } => Self::usage(text).on_prim(path),
            Bake::PrimLost { prim, .. } => Self::new(text).on_prim(prim),
            Bake::Output { file, .. } | Bake::DiskSpace { file, .. } => {
                Self::of(Kind::File, text).in_file(file)
            }
            Bake::MissingClips { folder: file, .. } | Bake::OtherClip { file, .. } => {
                Self::of(Kind::File, text).in_file(file)
            }
            Bake::TooManyFrames { file, .. }
            | Bake::TooLarge { file, .. }
            | Bake::FrameNumber { file, .. } => Self::new(text).in_file(file),
            Bake::Cancelled => Self::of(Kind::Cancelled, text),
            _ => Self::new(text),
        }
    }
}

impl From<sinew_render::Error> for Failure {
    fn from(error: sinew_render::Error) -> Self {
        use sinew_render::Error as Render;
        let text = error.to_string();
        match error {
            Render::Io(error) => (*error).into(),
            Render::Gpu(error) => error.into(),
            Render::NothingToDraw { file, .. } => Self::new(text).in_file(file),
            _ => Self::new(text),
        }
    }
}
