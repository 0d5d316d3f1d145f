//! Open scenes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use sinew::scene::Scene as SceneData;
use sinew::skel::AnimSource;
use sinew_bake::{Backend, Sampler};
use sinew_cli::Failure;
use sinew_io::usd::{ReadOptions, VariantSelection};
use sinew_io::{ClipChoice, OpenOptions};

use crate::prim::Prim;
use crate::skeleton::Skeleton;
use crate::work::Stop;
use crate::{errors, work};

/// A scene, which its prims and skeletons share.
pub struct Shared {
    pub scene: Arc<SceneData>,
    /// The backends that were asked for so far, by their names.
    samplers: Mutex<HashMap<String, Arc<Sampler>>>,
}

impl Shared {
    /// The sampler of a backend: `auto`, `cpu`, `gpu`, or a part of an adapter's name.
    ///
    /// # Errors
    /// The GPU that was asked for is not available.
    pub fn sampler(&self, backend: &str) -> Result<Arc<Sampler>, Failure> {
        let mut samplers = self.samplers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sampler) = samplers.get(backend) {
            return Ok(sampler.clone());
        }
        let chosen = match backend {
            "auto" => Backend::Auto,
            "cpu" => Backend::Cpu,
            "gpu" => Backend::Gpu,
            name => Backend::Adapter(name.to_owned()),
        };
        let sampler = Arc::new(Sampler::new(self.scene.clone(), &chosen)?);
        samplers.insert(backend.to_owned(), sampler.clone());
        Ok(sampler)
    }
}

/// A file, opened for skinning: a mapping from paths to skinned prims.
///
/// sinew.open() makes it.
///
/// >>> scene = sinew.open("examples/assets/hatchling.usda")
/// >>> scene["/Hatchling/Geo/Body"]
/// <sinew.Prim /Hatchling/Geo/Body>
/// >>> "/Hatchling/Geo/Body" in scene, "/no/such" in scene
/// (True, False)
#[pyclass(frozen, mapping, module = "sinew")]
pub struct Scene {
    shared: Arc<Shared>,
}

/// Opens a file of any format. The package's function `open` also accepts stages, and warns.
#[pyfunction]
#[pyo3(signature = (path, variants, search_path, clip, anim_source))]
pub fn open_scene(
    py: Python<'_>,
    path: PathBuf,
    variants: Vec<String>,
    search_path: Vec<PathBuf>,
    clip: Option<String>,
    anim_source: &str,
) -> PyResult<Scene> {
    let variants = variants.iter().map(|text| text.parse());
    let variants: Result<Vec<VariantSelection>, _> = variants.collect();
    let variants = variants.map_err(|e| errors::usage(py, format!("variants: {e}")))?;
    let options = OpenOptions {
        variants,
        search_paths: search_path,
        clips: clip.map_or(ClipChoice::First, ClipChoice::Named),
        ..OpenOptions::default()
    };
    let anim_source = match anim_source {
        "skeleton" => AnimSource::AtSkeleton,
        "binding" => AnimSource::AtBinding,
        other => {
            let text = format!("anim_source: expected skeleton or binding, found {other}");
            return Err(errors::usage(py, text));
        }
    };
    let opened = work::alone(py, &Stop::default(), || {
        let file = sinew_io::open_with(&path, &options)?;
        file.scene(ReadOptions { anim_source })
    })?;
    let scene = opened.map_err(|e| errors::exception(py, e))?;
    let shared = Shared {
        scene: Arc::new(scene),
        samplers: Mutex::default(),
    };
    Ok(Scene {
        shared: Arc::new(shared),
    })
}

impl Scene {
    fn data(&self) -> &SceneData {
        &self.shared.scene
    }

    fn paths(&self) -> Vec<&str> {
        let bindings = self.data().bindings.iter();
        bindings.map(|b| b.path.as_str()).collect()
    }
}

#[pymethods]
impl Scene {
    fn __len__(&self) -> usize {
        self.data().bindings.len()
    }

    fn __contains__(&self, path: &Bound<'_, PyAny>) -> bool {
        let path = path.str().map(|p| p.to_string());
        path.is_ok_and(|path| self.data().bindings.iter().any(|b| b.path == path))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.paths())?.try_iter()?.into_any())
    }

    /// The skinned prim at a path, given as text or as an Sdf.Path.
    fn __getitem__(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Prim> {
        if path.extract::<i64>().is_ok() {
            return Err(PyTypeError::new_err(
                "expected the path of a prim, found a number",
            ));
        }
        let path = path.str()?.to_string();
        let found = self.data().resolve(&path).map(|bound| bound.index());
        let binding = found.map_err(|e| errors::exception(py, e))?;
        Ok(Prim {
            shared: self.shared.clone(),
            binding,
        })
    }

    /// The skinned prim at a path, or `default`.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").get("/no/such", "none")
    /// 'none'
    #[pyo3(signature = (path, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        path: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.__contains__(path) {
            true => Ok(Some(
                Bound::new(py, self.__getitem__(py, path)?)?.into_any(),
            )),
            false => Ok(default),
        }
    }

    /// Paths of all skinned prims.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").keys()[:2]
    /// ['/Hatchling/Geo/Body', '/Hatchling/Geo/WingL']
    fn keys(&self) -> Vec<&str> {
        self.paths()
    }

    /// All skinned prims.
    ///
    /// >>> [prim.path for prim in sinew.open("examples/assets/hatchling.usda").values()][0]
    /// '/Hatchling/Geo/Body'
    fn values(&self) -> Vec<Prim> {
        let prim = |binding| Prim {
            shared: self.shared.clone(),
            binding,
        };
        (0..self.data().bindings.len()).map(prim).collect()
    }

    /// Pairs of the path and the prim of all skinned prims.
    ///
    /// >>> dict(sinew.open("examples/assets/hatchling.usda").items())["/Hatchling/Geo/Body"]
    /// <sinew.Prim /Hatchling/Geo/Body>
    fn items(&self) -> Vec<(&str, Prim)> {
        self.paths().into_iter().zip(self.values()).collect()
    }

    /// The file that was opened.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").file
    /// 'examples/assets/hatchling.usda'
    #[getter]
    fn file(&self) -> String {
        self.data().file.display().to_string()
    }

    /// startTimeCode and endTimeCode; None unless the stage has both.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").time_range
    /// (1.0, 96.0)
    #[getter]
    fn time_range(&self) -> Option<(f64, f64)> {
        self.data().time_line.range
    }

    /// timeCodesPerSecond.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").time_codes_per_second
    /// 24.0
    #[getter]
    fn time_codes_per_second(&self) -> f64 {
        self.data().time_line.time_codes_per_second
    }

    /// framesPerSecond.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").frames_per_second
    /// 24.0
    #[getter]
    fn frames_per_second(&self) -> f64 {
        self.data().time_line.frames_per_second
    }

    /// The up axis, "Y" or "Z".
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").up_axis
    /// 'Y'
    #[getter]
    fn up_axis(&self) -> char {
        self.data().up_axis
    }

    /// Metres per unit of the stage. Nothing is scaled by it.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").meters_per_unit
    /// 1.0
    #[getter]
    fn meters_per_unit(&self) -> f64 {
        self.data().meters_per_unit
    }

    /// All skeletons: those that prims are bound to, then the others.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").skeletons
    /// [<sinew.Skeleton /Hatchling/Rig/Skel, 37 joints>]
    #[getter]
    fn skeletons(&self) -> Vec<Skeleton> {
        let count = self.data().instances.len() + self.data().unbound_skeletons.len();
        let skeleton = |index| Skeleton {
            shared: self.shared.clone(),
            index,
        };
        (0..count).map(skeleton).collect()
    }

    /// Warnings of reading, as (code, path, property, message). sinew.open() has issued them.
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").warnings
    /// []
    #[getter]
    fn warnings(&self) -> Vec<(&str, &str, &str, &str)> {
        let all = self.data().warnings.iter();
        all.map(|w| {
            (
                w.code,
                w.path.as_str(),
                w.property.as_str(),
                w.message.as_str(),
            )
        })
        .collect()
    }

    /// Prims that cannot be skinned, as (code, path, property, message).
    ///
    /// >>> sinew.open("examples/assets/hatchling.usda").errors
    /// []
    #[getter]
    fn errors(&self) -> Vec<(Option<&str>, &str, &str, String)> {
        let all = self.data().errors.iter();
        all.map(|e| (e.code, e.prim.as_str(), e.property.as_str(), e.to_string()))
            .collect()
    }

    fn __repr__(&self) -> String {
        format!("<sinew.Scene {}, {} prims>", self.file(), self.__len__())
    }
}
