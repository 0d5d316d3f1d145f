//! A stage's [`Geometry`]: what a renderer draws.

mod materials;
mod meshes;
mod places;
mod primvars;
mod textures;

use std::collections::HashSet;

use crate::error::Result;
use crate::usd::file::UsdFile;
use materials::MaterialReader;
use meshes::MeshReader;
use places::{Places, walk};
use sinew::sampled::Interpolation;
use sinew::scene::{Geometry, Placement, Scene};
use textures::TextureReader;

impl UsdFile {
    /// Reads what a renderer draws: meshes, skinned or not, with their materials and textures, and cameras. `scene` is
    /// this file's, for which of them are skinned.
    ///
    /// ```
    /// use sinew::sampled::Time;
    ///
    /// let file = sinew_io::open("../../examples/assets/hatchling.usda")?;
    /// let scene = file.scene(Default::default())?;
    /// let geometry = file.geometry(&scene)?;
    /// let body = geometry.meshes.iter().find(|m| m.path == "/Hatchling/Geo/Body").expect("the body");
    /// assert!(body.binding.is_some() && body.visible(Time::At(1.0)));
    /// # Ok::<(), sinew_io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Values that cannot be decoded. What is merely wrong with single meshes, materials or pictures ends in
    /// [`Geometry::errors`] and [`Geometry::warnings`].
    pub fn geometry(&self, scene: &Scene) -> Result<Geometry> {
        self.all_read(self.read_geometry(scene))
    }

    fn read_geometry(&self, scene: &Scene) -> Result<Geometry, sinew_stage::Error> {
        let mut out = Geometry::default();
        let stage = &self.stage;
        let interpolation = Interpolation::Linear;
        let drawn = walk(stage, &mut out.warnings)?;
        let mut places = Places::new(interpolation);
        for prim in drawn.meshes.iter().chain(&drawn.cameras) {
            places.add(*prim, &mut out.warnings)?;
        }
        let (prims, places) = places.finish();
        let pictures = self.made.as_ref().map(|m| &m.pictures);
        let mut reader = MeshReader::new(
            interpolation,
            (&prims, &places),
            &scene.bindings,
            MaterialReader::new(stage, TextureReader::new(pictures)),
        );
        reader.read(&drawn.meshes, &mut out)?;
        (out.materials, out.textures) = reader.finish();
        for prim in drawn.cameras {
            let place = Placement::new(prims.clone(), places[&prim.path()]);
            let camera = places::read_camera(prim, place, interpolation)?;
            out.cameras.push(camera);
        }
        let errors = out.errors.into_iter();
        out.errors = errors.map(|e| e.in_file(self.file())).collect();
        // Transforms above skinned prims were read for the scene too.
        let reported: HashSet<(&str, &str, &str)> = scene
            .warnings
            .iter()
            .map(|w| (w.code, w.path.as_str(), w.message.as_str()))
            .collect();
        out.warnings
            .retain(|w| !reported.contains(&(w.code, w.path.as_str(), w.message.as_str())));
        Ok(out)
    }
}
