//! Arrays that results are written to: the caller's, or new ones.

use glam::DMat4;
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use sinew::Invalid;
use sinew::sampled::Time;

use crate::errors;
use crate::times::Times;

/// The array for a result of this shape: `out`, or a new one of zeros. `out` is used in place.
///
/// # Errors
/// `UsageError` if `out` is not a writable, C-contiguous array of this type and shape.
pub fn output<'py, T: Element>(
    py: Python<'py>,
    out: Option<&Bound<'py, PyAny>>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let Some(out) = out else {
        return Ok(PyArrayDyn::zeros(py, shape, false));
    };
    let refuse = |found: String| {
        let expected = format!("a writable C-contiguous {} array", T::get_dtype(py));
        errors::usage(
            py,
            format!("out: expected {expected} of shape {shape:?}, found {found}"),
        )
    };
    let numpy = py.import("numpy")?;
    let array = match out.is_instance(&numpy.getattr("ndarray")?)? {
        true => out.clone(),
        // Anything else with a buffer, such as array.array; a list would be copied.
        false => match py.import("builtins")?.call_method1("memoryview", (out,)) {
            Ok(view) => numpy.call_method1("asarray", (view,))?,
            Err(_) => return Err(refuse(out.get_type().to_string())),
        },
    };
    let Ok(typed) = array.cast::<PyArrayDyn<T>>() else {
        let dtype = array.getattr("dtype")?;
        return Err(refuse(format!("one of {dtype}")));
    };
    if typed.shape() != shape {
        return Err(refuse(format!("shape {:?}", typed.shape())));
    }
    if !typed.is_c_contiguous() {
        return Err(refuse("one with strides".into()));
    }
    if !array
        .getattr("flags")?
        .getattr("writeable")?
        .extract::<bool>()?
    {
        return Err(refuse("one that is read-only".into()));
    }
    Ok(typed.clone())
}

/// Borrows an array for writing.
///
/// # Errors
/// `UsageError` if another argument of the call is the same memory.
pub fn writable<'py, T: Element>(
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<numpy::PyReadwriteArrayDyn<'py, T>> {
    let py = array.py();
    let overlap = "out: expected memory of its own, found that of another argument or call";
    array
        .try_readwrite()
        .map_err(|_| errors::usage(py, overlap))
}

/// An array of the matrices that `at` gives for each time, computed on all cores.
///
/// # Errors
/// Those of [`output`], [`writable`] and `at`.
pub fn matrices<'py>(
    py: Python<'py>,
    out: Option<&Bound<'py, PyAny>>,
    times: &Times,
    shape: &[usize],
    at: impl Fn(Time) -> Result<Vec<DMat4>, Invalid> + Sync,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let array = output::<f64>(py, out, &times.shape(shape))?;
    let mut place = writable(&array)?;
    let values = place.as_slice_mut()?;
    let share = shape.iter().product::<usize>().max(1);
    let done = py.detach(|| {
        let work = times.all.par_iter().zip(values.par_chunks_mut(share));
        work.try_for_each(|(time, out)| {
            out.copy_from_slice(bytemuck::cast_slice(&at(*time)?));
            Ok(())
        })
    });
    done.map_err(|e: Invalid| errors::exception(py, e))?;
    drop(place);
    Ok(array)
}
