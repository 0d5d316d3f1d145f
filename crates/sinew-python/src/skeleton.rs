//! Skeletons of a scene.

use std::sync::Arc;

use numpy::{PyArray1, PyArrayDyn};
use pyo3::prelude::*;
use sinew::Invalid;
use sinew::sampled::Time;
use sinew::scene::PlacedSkeleton;

use crate::errors;
use crate::output::{matrices, output, writable};
use crate::scene::Shared;
use crate::times::Times;

/// A Skeleton with the animation that drives it.
///
/// Matrices are float64 arrays of row vectors, as in pxr: a translation is in the last row.
///
/// >>> skeleton = sinew.open("examples/assets/hatchling.usda").skeletons[0]
/// >>> skeleton.path
/// '/Hatchling/Rig/Skel'
#[pyclass(frozen, module = "sinew")]
pub struct Skeleton {
    pub shared: Arc<Shared>,
    /// Index into the instances of the scene, followed by the unbound skeletons.
    pub index: usize,
}

impl Skeleton {
    fn placed(&self) -> &PlacedSkeleton {
        let bound = &self.shared.scene.instances;
        match bound.get(self.index) {
            Some(placed) => placed,
            None => &self.shared.scene.unbound_skeletons[self.index - bound.len()],
        }
    }

    fn matrices<'py>(py: Python<'py>, of: &[glam::DMat4]) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let array = output::<f64>(py, None, &[of.len(), 4, 4])?;
        let mut place = writable(&array)?;
        place
            .as_slice_mut()?
            .copy_from_slice(bytemuck::cast_slice(of));
        Ok(array)
    }
}

#[pymethods]
impl Skeleton {
    /// Prim path.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").skeletons[0].path
    /// '/Hatchling/Rig/Skel'
    #[getter]
    fn path(&self) -> &str {
        &self.placed().path
    }

    /// Paths of the joints, in the order of all arrays of joints.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").skeletons[0].joints[0]
    /// 'root'
    #[getter]
    fn joints(&self) -> Vec<String> {
        self.placed().instance.skeleton().joints().to_vec()
    }

    /// The parent of each joint, as int32 [J]; -1 for a root.
    ///
    /// >>> int(sinew.open("examples/assets/hatchling.usda").skeletons[0].parents[0])
    /// -1
    #[getter]
    fn parents<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        let topology = self.placed().instance.skeleton().topology();
        let parents = topology.parents().map(|p| p.map_or(-1, |p| p as i32));
        PyArray1::from_vec(py, parents.collect())
    }

    /// Bind transforms from joint space to the world, as float64 [J, 4, 4].
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").skeletons[0].bind_transforms.shape[1:]
    /// (4, 4)
    #[getter]
    fn bind_transforms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        Self::matrices(py, self.placed().instance.skeleton().bind())
    }

    /// Rest transforms from joint space to the parent's, as float64 [J, 4, 4]; None if the file has
    /// none.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").skeletons[0].rest_transforms.shape[1:]
    /// (4, 4)
    #[getter]
    fn rest_transforms<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let rest = self.placed().instance.skeleton().rest();
        rest.map(|rest| Self::matrices(py, rest)).transpose()
    }

    /// The transforms of the joints at times, as float64 [T, J, 4, 4], or [J, 4, 4] for one time.
    ///
    /// space: "local" (from joint space to the parent's), "skel" (to skeleton space), "world", or
    /// "skinning" (from the bind pose to the pose, in skeleton space: the palette of the skin_*
    /// functions).
    ///
    /// >>> skeleton = sinew.open("examples/assets/hatchling.usda").skeletons[0]
    /// >>> skeleton.transforms([1, 2, 3], space="world").shape[0]
    /// 3
    #[pyo3(signature = (times=None, *, out=None, space="skel"))]
    fn transforms<'py>(
        &self,
        py: Python<'py>,
        times: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
        space: &str,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let scene = &self.shared.scene;
        let times = Times::read(times.as_ref(), scene, py)?;
        let placed = self.placed();
        let world = move |time| scene.world_from_prim(placed.prim, time);
        let at = move |time: Time| -> Result<Vec<glam::DMat4>, Invalid> {
            let instance = &placed.instance;
            let joints = match space {
                "local" => instance.joint_local_transforms(time),
                "skinning" => instance.skinning_transforms(time),
                "skel" => instance.skel_from_joint(time),
                _ => instance.skel_from_joint(time).map(|mut joints| {
                    let world = world(time);
                    joints.iter_mut().for_each(|j| *j = world * *j);
                    joints
                }),
            };
            joints.map_err(|e| e.in_file(&scene.file))
        };
        if !["local", "skinning", "skel", "world"].contains(&space) {
            let text = format!("space: expected local, skel, world or skinning, found {space}");
            return Err(errors::usage(py, text));
        }
        let joints = placed.instance.skeleton().joints().len();
        matrices(py, out.as_ref(), &times, &[joints, 4, 4], at)
    }

    fn __repr__(&self) -> String {
        let joints = self.placed().instance.skeleton().joints().len();
        format!("<sinew.Skeleton {}, {joints} joints>", self.placed().path)
    }
}
