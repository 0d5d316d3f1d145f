//! The extension module `sinew._sinew` of the Python package `sinew`.

use pyo3::prelude::*;

/// The native part of the package `sinew`. Use the names of the package itself.
#[pymodule]
mod _sinew {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Runs a command line as the program `sinew` does, and returns its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, args: Vec<OsString>) -> u8 {
        py.detach(|| sinew_cli::run(args))
    }
}
