//! Meshes with their faces and points.

use std::collections::HashMap;
use std::sync::Arc;

use openusd::{sdf, usd};

use crate::error::{Invalid, Warning};
use crate::io::usd::values::{Token, read_sampled, read_uniform};
use crate::sampled::{Interpolation, Sampled, Time};
use crate::scene::{DrawnMesh, Geometry, PlacedPrim, Placement, SkinBinding};
use crate::skel::MeshTopology;

/// What all meshes are read with.
pub(super) struct MeshReader<'a> {
    pub stage: &'a usd::Stage,
    pub interpolation: Interpolation,
    pub prims: &'a Arc<[PlacedPrim]>,
    pub places: &'a HashMap<sdf::Path, usize>,
    /// The scene's bindings by path.
    pub bindings: HashMap<&'a str, (usize, &'a SkinBinding)>,
}

impl MeshReader<'_> {
    pub fn read(&self, paths: &[sdf::Path], out: &mut Geometry) -> Result<(), openusd::Error> {
        for path in paths {
            match self.mesh(path, &mut out.warnings)? {
                Ok(mut mesh) => {
                    mesh.definition = out.meshes.len();
                    out.meshes.push(mesh);
                }
                Err(broken) => out.errors.push(broken),
            }
        }
        Ok(())
    }

    fn mesh(
        &self,
        path: &sdf::Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<Result<DrawnMesh, Invalid>, openusd::Error> {
        let prim = self.stage.prim(path)?;
        let points = match self.points(&prim, warnings)? {
            Ok(points) => points,
            Err(broken) => return Ok(Err(broken)),
        };
        let count = points.first().map_or(0, |p| p.len());
        let topology = match self.topology(&prim, count, warnings)? {
            Ok(topology) => Arc::new(topology),
            Err(broken) => return Ok(Err(broken)),
        };
        let bound = self.bindings.get(path.as_str());
        let bound = bound.filter(|(_, b)| b.unsupported.is_none());
        let scheme: Option<Token> = read_uniform(&prim.attribute("subdivisionScheme"))?;
        Ok(Ok(DrawnMesh {
            path: path.as_str().to_owned(),
            binding: bound.map(|(i, _)| *i),
            definition: 0,
            place: Placement::new(self.prims.clone(), self.places[path]),
            topology,
            points,
            normals: None,
            skin_normals: None,
            uvs: None,
            display_color: None,
            display_opacity: None,
            subsets: Vec::new(),
            material: None,
            double_sided: read_uniform(&prim.attribute("doubleSided"))?.unwrap_or(false),
            subdivided: scheme.is_none_or(|s| s.0 != "none"),
        }))
    }

    /// Points over time, as many at every time as at the first.
    fn points(
        &self,
        prim: &usd::Prim,
        warnings: &mut Vec<Warning>,
    ) -> Result<Result<Sampled<Vec<glam::Vec3>>, Invalid>, openusd::Error> {
        let path = prim.path().as_str();
        let points: Sampled<Vec<glam::Vec3>> =
            read_sampled(&prim.attribute("points"), self.interpolation)?;
        let Some(first) = points.first() else {
            let missing = Invalid::new(path, "points", "points", "no value");
            return Ok(Err(missing.coded("points-missing")));
        };
        let count = first.len();
        let infinite = points
            .values()
            .find_map(|v| v.iter().position(|p| !p.is_finite()));
        if let Some(at) = infinite {
            let found = format!("others at point {at}");
            let broken = Invalid::new(path, "points", "finite points", found);
            return Ok(Err(broken.coded("points-not-finite")));
        }
        if points.values().all(|v| v.len() == count) {
            return Ok(Ok(points));
        }
        let message = format!(
            "the number of points changes: only times with {count}, as at first, are drawn as they are"
        );
        let warning = Warning::new("points-count-varies", path, message);
        warnings.push(warning.on("points"));
        let mut default = None;
        let mut samples = Vec::new();
        for (time, value) in points.authored() {
            let value = value.filter(|v| v.len() == count).cloned();
            match time {
                Time::Default => default = value,
                // A time without a value would hide the mesh: the sample before it holds.
                Time::At(t) if value.is_some() => samples.push((t, value)),
                Time::At(_) => {}
            }
        }
        Ok(Ok(Sampled::new(default, samples, self.interpolation)))
    }

    fn topology(
        &self,
        prim: &usd::Prim,
        points: usize,
        warnings: &mut Vec<Warning>,
    ) -> Result<Result<MeshTopology, Invalid>, openusd::Error> {
        let path = prim.path().as_str();
        let mut faces = [Vec::new(), Vec::new(), Vec::new()];
        let names = ["faceVertexCounts", "faceVertexIndices", "holeIndices"];
        for (name, list) in names.into_iter().zip(&mut faces) {
            let values: Sampled<Vec<i32>> =
                read_sampled(&prim.attribute(name), self.interpolation)?;
            if let Some(first) = values.first() {
                if values.values().any(|v| v != first) {
                    let message = "faces change over time: those of the first time are drawn";
                    warnings.push(Warning::new("faces-change", path, message).on(name));
                }
                list.clone_from(first);
            }
        }
        let orientation: Option<Token> = read_uniform(&prim.attribute("orientation"))?;
        let left_handed = orientation.is_some_and(|o| o.0 == "leftHanded");
        let [counts, indices, holes] = faces;
        let topology = MeshTopology::new(path, &counts, &indices, left_handed, points);
        Ok(topology.map(|t| t.with_holes(&holes)))
    }
}
