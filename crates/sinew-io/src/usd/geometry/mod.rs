//! A stage's [`Geometry`]: what a renderer draws.

mod curves;
mod instancers;
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
use sinew::scene::{Geometry, Instanced, Placement, Scene};
use sinew_layer::Path;
use sinew_stage::{Predicate, Prim};
use textures::TextureReader;

impl UsdFile {
    /// Reads what a renderer draws: meshes, skinned or not, with their materials and textures, and cameras. `scene` is
    /// this file's, for which of them are skinned. Prims of other purposes than [`OpenOptions::purposes`](super::OpenOptions::purposes) are
    /// left out.
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
        self.all_read(self.read_geometry(scene, false))
    }

    /// Whether the `orientation` of a prim is leftHanded; not if there is no such prim.
    ///
    /// # Errors
    /// A value that cannot be decoded.
    pub fn is_left_handed(&self, prim: &str) -> Result<bool> {
        let prim = Path::parse(prim).ok().and_then(|p| self.stage.prim(&p));
        let read = prim.map_or(Ok(false), |prim| meshes::is_left_handed(&prim));
        self.all_read(read)
    }

    /// Whether something stands below a prim that moves with it: a mesh, a light or a camera, for
    /// example; not if there is no such prim.
    #[must_use]
    pub fn carries(&self, prim: &str) -> bool {
        let prim = Path::parse(prim).ok().and_then(|p| self.stage.prim(&p));
        let Some(prim) = prim else { return false };
        let mut below: Vec<Prim<'_>> = prim.children(Predicate::DEFAULT_PROXIES).collect();
        while let Some(next) = below.pop() {
            if next.is_a("Xformable") {
                return true;
            }
            below.extend(next.children(Predicate::DEFAULT_PROXIES));
        }
        false
    }

    /// As [`UsdFile::geometry`], with all sets of texture coordinates of each mesh.
    pub(crate) fn geometry_with_all_uvs(&self, scene: &Scene) -> Result<Geometry> {
        self.all_read(self.read_geometry(scene, true))
    }

    fn read_geometry(&self, scene: &Scene, all_uvs: bool) -> Result<Geometry, sinew_stage::Error> {
        let mut out = Geometry::default();
        let stage = &self.stage;
        let interpolation = Interpolation::Linear;
        let purposes = self.opened_with.purposes;
        let drawn = walk(stage, purposes, &mut out.warnings)?;
        let mut places = Places::new(scene, interpolation);
        let placed = drawn.meshes.iter().chain(&drawn.curves);
        for prim in placed.chain(&drawn.cameras) {
            places.add(*prim, &mut out.warnings)?;
        }
        let instancers = instancers::read(
            stage,
            interpolation,
            purposes,
            &drawn.instancers,
            &mut out.warnings,
        )?;
        let shown = instancers::shown(&instancers, drawn.instancers.len(), &mut out.warnings);
        for (mesh, _) in &shown {
            places.add(*mesh, &mut out.warnings)?;
        }
        // Per instancer the places of its instances and of their prototypes' roots.
        let mut instance_places: Vec<Vec<(usize, Path)>> = Vec::new();
        for instancer in &instancers {
            places.add(instancer.prim, &mut out.warnings)?;
            for prototype in instancer.prototypes.iter().flatten() {
                places.add(prototype.root, &mut out.warnings)?;
            }
            let parent = places.index_of(&instancer.prim.path());
            let mut of_instancer = Vec::new();
            for instance in instancer.instances() {
                let place = places.add_instance(instancer.place(instance, parent));
                let prototype = instancer.prototypes[instance.prototype].as_ref();
                let root = prototype.map_or_else(Path::root, |p| p.root.path());
                of_instancer.push((place, root));
            }
            instance_places.push(of_instancer);
        }
        let (prims, places) = places.finish();
        let pictures = self.made.as_ref().map(|m| &m.pictures);
        let mut reader = MeshReader::new(
            interpolation,
            (&prims, &places),
            &scene.bindings,
            MaterialReader::new(stage, TextureReader::new(&self.resolver.files, pictures)),
            all_uvs,
        );
        reader.read(&drawn.meshes, &mut out)?;
        reader.read_curves(&drawn.curves, &mut out)?;
        for (mesh, chain) in &shown {
            let instances = chain.iter().map(|(instancer, number)| {
                let (place, root) = &instance_places[*instancer][*number];
                Instanced {
                    prototype: Placement::new(prims.clone(), places[root]),
                    place: Placement::new(prims.clone(), *place),
                }
            });
            reader.read_instance(*mesh, instances.collect(), &mut out)?;
        }
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
