//! The extension module `sinew._sinew` of the Python package `sinew`.
//!
//! The package's Python files turn arguments into those of the functions here, and results into
//! warnings and reports. `_sinew.pyi` has the types.

mod arrays;
mod errors;
mod logging;
mod output;
mod prim;
mod scene;
mod skeleton;
mod times;
mod work;

use pyo3::prelude::*;

/// The native part of the package `sinew`. Use the names of the package itself.
#[pymodule]
mod _sinew {
    use std::ffi::OsString;
    use std::ops::ControlFlow;
    use std::sync::mpsc::channel;

    use numpy::{PyArray3, PyArrayMethods};
    use pyo3::prelude::*;
    use sinew_bake::Progress;
    use sinew_cli::Step;

    use crate::work::Stop;
    use crate::{errors, logging, work};

    #[pymodule_export]
    use crate::arrays::{add_blend_shape, skin};
    #[pymodule_export]
    use crate::prim::{BlendShape, Influences, Prim};
    #[pymodule_export]
    use crate::scene::{Scene, open_scene};
    #[pymodule_export]
    use crate::skeleton::Skeleton;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        logging::install();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs a command line as the program `sinew` does, and returns its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, args: Vec<OsString>) -> u8 {
        logging::as_command(&args);
        py.detach(|| sinew_cli::run(args))
    }

    /// Exit code, output and pictures of a command.
    type Called<'py> = (u8, String, Vec<Bound<'py, PyArray3<u8>>>);

    /// Runs a command line without printing. Returns its exit code, its output, and pictures.
    ///
    /// `progress` is called with the numbers of samples of a bake that are done and that there are,
    /// and before that, with `max_error`, of times that the search for samples looks at; or of files
    /// if `of_files`.
    #[pyfunction]
    #[pyo3(signature = (args, progress=None, of_files=false))]
    fn call<'py>(
        py: Python<'py>,
        args: Vec<OsString>,
        progress: Option<Bound<'py, PyAny>>,
        of_files: bool,
    ) -> PyResult<Called<'py>> {
        let stop = Stop::default();
        let (answer, answered) = channel();
        let asked = stop.clone();
        let is_sample = |now| {
            use Progress::{Choosing, Deforming};
            matches!(now, Step::Bake(Choosing { .. } | Deforming { .. }))
        };
        let work = move |sender: std::sync::mpsc::Sender<Step>| {
            let watch = move |now: Step| {
                // A bake goes on while its samples are told. At every other step the command waits,
                // so that a callback that raises, or Ctrl-C, stops it before it writes a file.
                if sender.send(now).is_ok() && !is_sample(now) {
                    let _ = answered.recv();
                }
                match asked.is_asked() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            sinew_cli::call(args, Box::new(watch))
        };
        let tell = |py: Python<'_>, now: Step| {
            let counts = match now {
                Step::Bake(
                    Progress::Choosing { done, total } | Progress::Deforming { done, total },
                ) if !of_files => Some((done, total)),
                Step::Files { done, total } if of_files => Some((done, total)),
                _ => None,
            };
            let told = match (&progress, counts) {
                _ if stop.is_asked() => Ok(()),
                (Some(progress), Some(counts)) => progress.call1(counts).map(drop),
                _ => Ok(()),
            };
            let told = told.and_then(|()| py.check_signals());
            if told.is_err() {
                stop.ask();
            }
            if !is_sample(now) {
                let _ = answer.send(());
            }
            told
        };
        let done = work::run(py, &stop, work, tell)?;
        let outcome = done.map_err(|e| errors::exception(py, e))?;
        let mut pictures = Vec::with_capacity(outcome.pictures.len());
        for picture in outcome.pictures {
            let shape = [picture.height() as usize, picture.width() as usize, 4];
            let flat = numpy::PyArray1::from_vec(py, picture.into_raw());
            pictures.push(flat.reshape(shape)?);
        }
        Ok((outcome.exit, outcome.output, pictures))
    }
}
