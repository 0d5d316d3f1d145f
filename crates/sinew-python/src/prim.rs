//! Skinned prims of a scene.

use std::sync::Arc;

use glam::{DMat4, Vec3};
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use sinew::Invalid;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, NormalsProperty, OutSpace, SkinBinding};
use sinew::skel::{self, InfluenceInterpolation, SkinningMethod};
use sinew_bake::Sampler;
use sinew_cli::Failure;

use crate::errors;
use crate::logging;
use crate::output::{matrices, output, writable};
use crate::scene::Shared;
use crate::skeleton::Skeleton;
use crate::times::Times;

/// How many values are computed between two looks at signals.
const AT_ONCE: usize = 16 << 20;

/// A prim that is skinned or blended. A scene gives it: scene["/Hero/Body"].
///
/// >>> body = sinew.open("examples/assets/hatchling.usda")["/Hatchling/Geo/Body"]
/// >>> points = body.points(times=range(1, 11))
/// >>> points.shape == (10, body.point_count, 3), str(points.dtype)
/// (True, 'float32')
#[pyclass(frozen, module = "sinew")]
pub struct Prim {
    pub shared: Arc<Shared>,
    pub binding: usize,
}

/// The joint influences of a prim.
///
/// >>> body = sinew.open("examples/assets/hatchling.usda")["/Hatchling/Geo/Body"]
/// >>> body.influences.indices.shape == body.influences.weights.shape
/// True
#[pyclass(frozen, get_all, module = "sinew")]
pub struct Influences {
    /// int32 [N, K], or [1, K] if they are constant: indices into prim.joints.
    indices: Py<PyArray2<i32>>,
    /// float32 of the same shape, as in the file.
    weights: Py<PyArray2<f32>>,
    /// Whether one set of influences moves the whole prim.
    constant: bool,
}

/// A blend shape of a prim.
///
/// >>> shapes = sinew.open("examples/assets/hatchling.usda")["/Hatchling/Geo/Body"].blend_shapes
/// >>> shapes[0].name in sinew.open("examples/assets/hatchling.usda")["/Hatchling/Geo/Body"].channels
/// True
#[pyclass(frozen, get_all, module = "sinew")]
pub struct BlendShape {
    /// Its token in skel:blendShapes.
    name: String,
    /// Prim path.
    path: String,
    /// The points that the offsets belong to, as uint32; None for all points in order.
    point_indices: Option<Py<PyArray1<u32>>>,
    /// Offsets at weight 1, as float32 [M, 3], in prim space.
    offsets: Py<PyArray2<f32>>,
    /// Offsets of normals, as float32 [M, 3], or None.
    normal_offsets: Option<Py<PyArray2<f32>>>,
    /// In-betweens, as (weight, offsets), ascending.
    inbetweens: Vec<(f32, Py<PyArray2<f32>>)>,
}

fn rows<'py>(py: Python<'py>, of: &[Vec3]) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let flat = PyArray1::from_slice(py, bytemuck::cast_slice::<_, f32>(of));
    flat.reshape([of.len(), 3])
}

fn space(py: Python<'_>, name: &str) -> PyResult<OutSpace> {
    match name {
        "prim" => Ok(OutSpace::Prim),
        "skel" => Ok(OutSpace::Skel),
        "world" => Ok(OutSpace::World),
        other => {
            let text = format!("space: expected prim, skel or world, found {other}");
            Err(errors::usage(py, text))
        }
    }
}

impl BlendShape {
    fn of(py: Python<'_>, name: &str, shape: &skel::BlendShape) -> PyResult<Self> {
        let primary = shape.sub_shapes().iter().find(|s| s.weight == 1.0);
        let offsets = primary.map_or(&[][..], |s| &s.offsets);
        let normals = primary.and_then(|s| s.normal_offsets.as_deref());
        let others = shape.sub_shapes().iter().filter(|s| s.weight != 1.0);
        let indices = shape.point_indices().map(|i| PyArray1::from_slice(py, i));
        Ok(Self {
            name: name.to_owned(),
            path: shape.path().to_owned(),
            point_indices: indices.map(Bound::unbind),
            offsets: rows(py, offsets)?.unbind(),
            normal_offsets: normals.map(|n| rows(py, n)).transpose()?.map(Bound::unbind),
            inbetweens: others
                .map(|s| Ok((s.weight, rows(py, &s.offsets)?.unbind())))
                .collect::<PyResult<_>>()?,
        })
    }
}

#[pymethods]
impl BlendShape {
    fn __repr__(&self) -> String {
        format!("<sinew.BlendShape {}>", self.name)
    }
}

impl Prim {
    fn data(&self) -> &SkinBinding {
        &self.shared.scene.bindings[self.binding]
    }

    fn bound(&self) -> BoundSkin<'_> {
        self.shared.scene.bound(self.binding)
    }

    fn times(&self, py: Python<'_>, times: Option<&Bound<'_, PyAny>>) -> PyResult<Times> {
        logging::take_level(py)?;
        Times::read(times, &self.shared.scene, py)
    }

    /// The first time of a request, or the default time.
    fn first(times: &Times) -> Time {
        times.all.first().copied().unwrap_or(Time::Default)
    }

    fn sampler(&self, py: Python<'_>, backend: &str) -> PyResult<Arc<Sampler>> {
        let sampler = py.detach(|| self.shared.sampler(backend));
        sampler.map_err(|e| errors::exception(py, e))
    }

    /// An array with values of this shape for each time, filled in parts, with a look for signals
    /// in between.
    fn filled<'py, T: bytemuck::Pod + Send>(
        times: &Times,
        (out, shape): (Option<Bound<'py, PyAny>>, &[usize]),
        py: Python<'py>,
        fill: impl Fn(&[Time], &mut [T]) -> Result<(), sinew_bake::Error> + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = output::<f32>(py, out.as_ref(), &times.shape(shape))?;
        let mut place = writable(&array)?;
        let values: &mut [T] = bytemuck::cast_slice_mut(place.as_slice_mut()?);
        let share = values.len() / times.all.len().max(1);
        let at_once = (AT_ONCE / share.max(1)).max(1);
        let parts = values.chunks_mut((at_once * share).max(1));
        for (times, part) in times.all.chunks(at_once).zip(parts) {
            let done = py.detach(|| fill(times, part).map_err(Failure::from));
            done.map_err(|e| errors::exception(py, e))?;
            py.check_signals()?;
        }
        drop(place);
        Ok(out.unwrap_or_else(|| array.into_any()))
    }
}

#[pymethods]
impl Prim {
    /// Prim path.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").values()[0].path
    /// '/Hatchling/Geo/Body'
    #[getter]
    fn path(&self) -> &str {
        &self.data().path
    }

    /// Schema type, such as "Mesh".
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").values()[0].type_name
    /// 'Mesh'
    #[getter]
    fn type_name(&self) -> &str {
        &self.data().type_name
    }

    /// Number of points, at the first time if it changes.
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> body.point_count == len(body.rest_points)
    /// True
    #[getter]
    fn point_count(&self) -> usize {
        self.data().points.first().map_or(0, |p| p.len())
    }

    /// Rest points in prim space, as float32 [N, 3], at the first time if they change.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").values()[0].rest_points.shape[1]
    /// 3
    #[getter]
    fn rest_points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        rows(py, self.data().points.first().map_or(&[][..], |p| p))
    }

    /// The skeleton that the prim is bound to.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").values()[0].skeleton
    /// <sinew.Skeleton /Hatchling/Rig/Skel, 37 joints>
    #[getter]
    fn skeleton(&self) -> Skeleton {
        Skeleton {
            shared: self.shared.clone(),
            index: self.data().instance,
        }
    }

    /// The joints that influences refer to: the prim's skel:joints, or all of the skeleton.
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> body.joints == body.skeleton.joints
    /// True
    #[getter]
    fn joints(&self) -> Vec<String> {
        let own = self.data().joints.as_deref();
        let skeleton = self.bound().skeleton().instance.skeleton();
        own.unwrap_or(skeleton.joints()).to_vec()
    }

    /// The joint influences; None if the prim only blends.
    ///
    /// Raises InvalidError if they are broken.
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> body.influences.constant, str(body.influences.weights.dtype)
    /// (False, 'float32')
    #[getter]
    fn influences(&self, py: Python<'_>) -> PyResult<Option<Influences>> {
        let (data, instance) = (self.data(), &self.bound().skeleton().instance);
        let source = data.influences.as_ref();
        let first = source.and_then(|i| i.indices.times().next());
        let time = first.map_or(Time::Default, Time::At);
        let influences = data.influences_at(instance, time, self.point_count());
        let influences =
            influences.map_err(|e| errors::exception(py, e.in_file(&self.shared.scene.file)))?;
        let Some(influences) = influences else {
            return Ok(None);
        };
        let joints: Vec<i32> = influences.joints().iter().map(|j| *j as i32).collect();
        let count = influences.count().max(1);
        let shape = [joints.len() / count, count];
        let weights = PyArray1::from_slice(py, influences.weights());
        Ok(Some(Influences {
            indices: PyArray1::from_vec(py, joints).reshape(shape)?.unbind(),
            weights: weights.reshape(shape)?.unbind(),
            constant: influences.interpolation() == InfluenceInterpolation::Constant,
        }))
    }

    /// The skinning method: "classicLinear" or "dualQuaternion".
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").values()[0].skinning_method
    /// 'classicLinear'
    #[getter]
    fn skinning_method(&self) -> &'static str {
        match self.data().method {
            SkinningMethod::DualQuaternion => "dualQuaternion",
            _ => "classicLinear",
        }
    }

    /// geomBindTransform, as float64 [4, 4], at the first time if it changes.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").values()[0].geom_bind_transform.shape
    /// (4, 4)
    #[getter]
    fn geom_bind_transform<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let bind = self.data().geom_bind.first();
        let bind = bind.map_or(DMat4::IDENTITY, |m| **m);
        PyArray1::from_slice(py, &bind.to_cols_array()).reshape([4, 4])
    }

    /// Names of the blend shapes, in the order of weights().
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> len(body.channels) == body.weights(1).shape[0]
    /// True
    #[getter]
    fn channels(&self) -> Vec<&str> {
        let shapes = self.data().shapes.iter();
        shapes.map(|shape| shape.token.as_str()).collect()
    }

    /// The valid blend shapes.
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> [shape.name for shape in body.blend_shapes] == body.channels
    /// True
    #[getter]
    fn blend_shapes(&self, py: Python<'_>) -> PyResult<Vec<BlendShape>> {
        let shapes = self.data().shapes.iter();
        let found = shapes.filter_map(|channel| {
            let shape = channel.shape.as_ref()?;
            Some(BlendShape::of(py, &channel.token, shape))
        });
        found.collect()
    }

    /// Weights of the blend shapes at times, as float32 [T, S], or [S] for one time.
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> body.weights([1, 2]).shape == (2, len(body.channels))
    /// True
    #[pyo3(signature = (times=None, *, out=None))]
    fn weights<'py>(
        &self,
        py: Python<'py>,
        times: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let times = self.times(py, times.as_ref())?;
        let share = self.data().shapes.len();
        let array = output::<f32>(py, out.as_ref(), &times.shape(&[share]))?;
        let mut place = writable(&array)?;
        let instance = &self.bound().skeleton().instance;
        let values = place.as_slice_mut()?.chunks_mut(share.max(1));
        for (time, out) in times.all.iter().zip(values) {
            let (weights, _) = self.data().channel_weights(instance, *time);
            out.copy_from_slice(&weights);
        }
        drop(place);
        Ok(array)
    }

    /// Deformed points at times, as float32 [T, N, 3], or [N, 3] for one time.
    ///
    /// times: a number, several, "default", or None for all frames of the stage. out: an array to
    /// fill, which is returned. space: "prim", "skel" or "world". backend: "auto" (a hardware GPU,
    /// or else the CPU), "cpu", "gpu", or a part of an adapter's name.
    ///
    /// The bits are those of `sinew bake`, with --rigid points for prims with constant influences.
    ///
    /// >>> import numpy as np
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> buffer = np.empty((96, body.point_count, 3), np.float32)
    /// >>> body.points(out=buffer, space="world") is buffer
    /// True
    #[pyo3(signature = (times=None, *, out=None, space="prim", backend="auto"))]
    fn points<'py>(
        &self,
        py: Python<'py>,
        times: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
        space: &str,
        backend: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (times, to) = (self.times(py, times.as_ref())?, self::space(py, space)?);
        let sampler = self.sampler(py, backend)?;
        let first = Self::first(&times);
        let count = py.detach(|| sampler.point_count(self.binding, first));
        let count = count.map_err(|e| errors::exception(py, e))?;
        Self::filled(&times, (out, &[count, 3]), py, |times, out| {
            sampler.points(self.binding, times, to, out)
        })
    }

    /// Deformed normals at times, as float32 [T, N, 3], or [N, 3] for one time: one per point, or
    /// per face corner. The arguments are those of points().
    ///
    /// property: "normals" or "primvars:normals"; without it the first that the prim has. Normals
    /// are transformed to the space, and not normalised there, as in a bake.
    ///
    /// Raises Error if the prim has no normals that skinning changes.
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> body.normals(1).shape == body.points(1).shape
    /// True
    #[pyo3(signature = (times=None, *, out=None, space="prim", backend="auto", property=None))]
    fn normals<'py>(
        &self,
        py: Python<'py>,
        times: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
        space: &str,
        backend: &str,
        property: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (times, to) = (self.times(py, times.as_ref())?, self::space(py, space)?);
        let has = |p: NormalsProperty| property.is_none_or(|name| p.name() == name);
        let which = self.data().normals.iter().position(|n| has(n.property));
        let sampler = self.sampler(py, backend)?;
        let first = Self::first(&times);
        let count = match which {
            Some(which) => py.detach(|| sampler.normal_count(self.binding, which, first)),
            None => Ok(0),
        };
        let count = count.map_err(|e| errors::exception(py, e))?;
        let Some(which) = which.filter(|_| count > 0) else {
            let expected = "normals of the points or face corners, which skinning changes";
            let name = property.unwrap_or("normals");
            let missing = Invalid::new(&self.data().path, name, expected, "none");
            let missing = missing.in_file(&self.shared.scene.file);
            return Err(errors::exception(py, missing));
        };
        Self::filled(&times, (out, &[count, 3]), py, |times, out| {
            sampler.normals((self.binding, which), times, to, out)
        })
    }

    /// Boxes around the deformed points at times, as float32 [T, 2, 3], or [2, 3] for one time:
    /// minimum and maximum. The arguments are those of points().
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> bool((body.extents(1)[1] == body.points(1).max(axis=0)).all())
    /// True
    #[pyo3(signature = (times=None, *, out=None, space="prim", backend="auto"))]
    fn extents<'py>(
        &self,
        py: Python<'py>,
        times: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
        space: &str,
        backend: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (times, to) = (self.times(py, times.as_ref())?, self::space(py, space)?);
        let sampler = self.sampler(py, backend)?;
        Self::filled(&times, (out, &[2, 3]), py, |times, out| {
            sampler.extents(self.binding, times, to, out)
        })
    }

    /// The prim's transform at times, as float64 [T, 4, 4], or [4, 4] for one time, of row vectors.
    ///
    /// For a prim with constant influences it is the transform that a bake writes, which moves its
    /// rest points; use it or points(), not both. For others it is their own transform.
    ///
    /// space: "parent" (from prim space to the parent's, or to the world if the prim resets its
    /// transform stack) or "world".
    ///
    /// >>> body = sinew.open("examples/assets/hatchling.usda").values()[0]
    /// >>> body.transforms([1, 2], space="world").shape
    /// (2, 4, 4)
    #[pyo3(signature = (times=None, *, out=None, space="parent"))]
    fn transforms<'py>(
        &self,
        py: Python<'py>,
        times: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
        space: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let times = self.times(py, times.as_ref())?;
        if !["parent", "world"].contains(&space) {
            let text = format!("space: expected parent or world, found {space}");
            return Err(errors::usage(py, text));
        }
        let (scene, bound) = (&self.shared.scene, self.bound());
        let prim = bound.binding().prim;
        let at = |time: Time| match (bound.binding().is_rigid(), space) {
            (true, "world") => scene.at(time, OutSpace::World).rigid_out_from_prim(bound),
            (true, _) => bound.rigid_transform(time),
            (false, "world") => Ok(scene.world_from_prim(prim, time)),
            (false, _) => Ok(scene.prims[prim].xform.local(time)),
        };
        let array = matrices(py, out.as_ref(), &times, &[4, 4], |time| {
            Ok(vec![at(time)?])
        })?;
        Ok(out.unwrap_or_else(|| array.into_any()))
    }

    fn __repr__(&self) -> String {
        format!("<sinew.Prim {}>", self.data().path)
    }
}
