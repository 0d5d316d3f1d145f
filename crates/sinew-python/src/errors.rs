//! Errors of the libraries as Python exceptions: the classes of `sinew.errors`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sinew_cli::{Failure, Kind};

/// The exception of an error of any library.
pub fn exception(py: Python<'_>, failure: impl Into<Failure>) -> PyErr {
    let failure: Failure = failure.into();
    build(py, &failure).unwrap_or_else(|e| e)
}

/// The exception of wrong arguments.
pub fn usage(py: Python<'_>, message: impl Into<String>) -> PyErr {
    exception(py, Failure::usage(message))
}

fn build(py: Python<'_>, failure: &Failure) -> PyResult<PyErr> {
    let class = match failure.kind {
        Kind::Invalid => "InvalidError",
        Kind::Usage => "UsageError",
        Kind::File => "FileError",
        Kind::UnknownPrim => "UnknownPrimError",
        Kind::NothingToSkin => "NothingToSkinError",
        Kind::Gpu => "GpuError",
        Kind::Cancelled => "CancelledError",
        _ => "Error",
    };
    let details = PyDict::new(py);
    details.set_item("code", failure.code)?;
    details.set_item("prim", failure.prim.as_deref())?;
    details.set_item("property", failure.property.as_deref())?;
    let file = failure.file.as_ref().map(|f| f.display().to_string());
    details.set_item("file", file)?;
    let class = py.import("sinew.errors")?.getattr(class)?;
    let error = class.call((failure.message.as_str(),), Some(&details))?;
    Ok(PyErr::from_value(error))
}
