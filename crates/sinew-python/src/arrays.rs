//! Skinning of plain arrays. The package's functions bring their arguments into these types.

use bytemuck::{cast_slice, cast_slice_mut};
use glam::{DMat4, Vec3};
use numpy::{PyArrayDyn, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use sinew::kernel::{
    ArrayInfluences, Palette, add_blend_shape as add, skin_normals_of_arrays, skin_points_of_arrays,
};
use sinew::skel::SkinningMethod;

use crate::errors;
use crate::output::{output, writable};

/// Skins points or normals; `sinew.skin_points_lbs` and `sinew.skin_normals_lbs` have the manual.
#[pyfunction]
#[pyo3(signature = (name, rest, joint_indices, joint_weights, count, palette, geom_bind, dual_quaternion, normals, out))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by position")]
pub fn skin<'py>(
    py: Python<'py>,
    name: &str,
    rest: PyReadonlyArray2<'py, f32>,
    joint_indices: PyReadonlyArray1<'py, i32>,
    joint_weights: PyReadonlyArray1<'py, f32>,
    count: usize,
    palette: PyReadonlyArray3<'py, f64>,
    geom_bind: PyReadonlyArray2<'py, f64>,
    dual_quaternion: bool,
    normals: bool,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    let rest: &[Vec3] = cast_slice(rest.as_slice()?);
    let joints: &[f64] = palette.as_slice()?;
    let skinning: Vec<DMat4> = joints
        .chunks_exact(16)
        .map(DMat4::from_cols_slice)
        .collect();
    let bind = DMat4::from_cols_slice(geom_bind.as_slice()?);
    if let Some(at) = skinning.iter().position(|m| !m.is_finite()) {
        let text = format!("{name}: palette[{at}] is not finite");
        return Err(errors::usage(py, text));
    }
    if skinning.len() > 65_534 {
        let text = format!("{name}: expected at most 65534 joints");
        return Err(errors::usage(py, text));
    }
    let indices = joint_indices.as_slice()?;
    let influences = ArrayInfluences {
        joints: indices,
        weights: joint_weights.as_slice()?,
        count,
        constant: indices.len() == count && rest.len() != 1,
    };
    let array = output::<f32>(py, out.as_ref(), &[rest.len(), 3])?;
    let mut place = writable(&array)?;
    let values: &mut [Vec3] = cast_slice_mut(place.as_slice_mut()?);
    let method = match dual_quaternion {
        true => SkinningMethod::DualQuaternion,
        false => SkinningMethod::ClassicLinear,
    };
    let done = py.detach(|| {
        let palette = Palette::pack(method, &skinning, bind, normals);
        match normals {
            true => skin_normals_of_arrays(name, influences, &palette, rest, values),
            false => skin_points_of_arrays(name, influences, &palette, rest, values),
        }
    });
    done.map_err(|e| errors::exception(py, e))?;
    drop(place);
    Ok(array)
}

/// Adds the offsets of a shape; `sinew.apply_blend_shape` has the manual.
#[pyfunction]
#[pyo3(signature = (points, offsets, weight, point_indices, out))]
pub fn add_blend_shape<'py>(
    py: Python<'py>,
    points: Bound<'py, PyAny>,
    offsets: PyReadonlyArray2<'py, f32>,
    weight: f32,
    point_indices: Option<PyReadonlyArray1<'py, i32>>,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    let in_place = out.as_ref().is_some_and(|out| out.is(&points));
    let rest: Option<PyReadonlyArray2<'py, f32>> = match in_place {
        true => None,
        false => Some(points.extract()?),
    };
    let shape = points.getattr("shape")?.extract::<Vec<usize>>()?;
    let array = output::<f32>(py, out.as_ref(), &shape)?;
    let mut place = writable(&array)?;
    let values = place.as_slice_mut()?;
    if let Some(rest) = &rest {
        values.copy_from_slice(rest.as_slice()?);
    }
    let offsets: &[Vec3] = cast_slice(offsets.as_slice()?);
    let indices = point_indices.as_ref().map(|i| i.as_slice()).transpose()?;
    let done = py.detach(|| {
        add(
            "apply_blend_shape",
            weight,
            offsets,
            indices,
            cast_slice_mut(values),
        )
    });
    done.map_err(|e| errors::exception(py, e))?;
    drop(place);
    Ok(array)
}
