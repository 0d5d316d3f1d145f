//! A stage's [`Geometry`]: what a renderer draws.

mod meshes;
mod places;

use super::explain::explain;
use super::read::UsdFile;
use super::values::stage_interpolation;
use crate::error::{Error, Result};
use crate::scene::{Geometry, Scene};
use meshes::MeshReader;
use places::{Places, walk};

impl UsdFile {
    /// Reads what a renderer draws: meshes, skinned or not, with their materials and textures, and cameras. `scene` is
    /// this file's, for which of them are skinned.
    ///
    /// ```
    /// use sinew::sampled::Time;
    ///
    /// let file = sinew::open("examples/assets/hatchling.usda")?;
    /// let scene = file.scene(Default::default())?;
    /// let geometry = file.geometry(&scene)?;
    /// let body = geometry.meshes.iter().find(|m| m.path == "/Hatchling/Geo/Body").expect("the body");
    /// assert!(body.binding.is_some() && body.visible(Time::At(1.0)));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// Values that cannot be decoded. What is merely wrong with single meshes, materials or pictures ends in
    /// [`Geometry::errors`] and [`Geometry::warnings`].
    pub fn geometry(&self, scene: &Scene) -> Result<Geometry> {
        self.read_geometry(scene).map_err(|e| Error::Open {
            file: self.file().to_owned(),
            reason: explain(&e),
        })
    }

    fn read_geometry(&self, scene: &Scene) -> Result<Geometry, openusd::Error> {
        let mut out = Geometry::default();
        let interpolation = stage_interpolation(&self.stage);
        let drawn = walk(&self.stage, &mut out.warnings)?;
        let mut places = Places::new(&self.stage, interpolation);
        for path in drawn.meshes.iter().chain(&drawn.cameras) {
            places.add(path, &mut out.warnings)?;
        }
        let (prims, places) = places.finish();
        let bindings = scene.bindings.iter().enumerate();
        let reader = MeshReader {
            stage: &self.stage,
            interpolation,
            prims: &prims,
            places: &places,
            bindings: bindings.map(|(i, b)| (b.path.as_str(), (i, b))).collect(),
        };
        reader.read(&drawn.meshes, &mut out)?;
        out.errors = out
            .errors
            .into_iter()
            .map(|e| e.in_file(self.file()))
            .collect();
        Ok(out)
    }
}
