//! Meshes: points, topology, what is on their faces, and subsets with materials of their own.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::Vec3;
use sinew_layer::Path;
use sinew_stage::{Predicate, Prim};

use super::materials::MaterialReader;
use super::primvars::{Inherited, MaterialBindings, PrimvarReader};
use crate::usd::read::shapes::read_shape;
use crate::usd::read::values::{Token, read_sampled, read_uniform};
use sinew::error::{Invalid, Warning};
use sinew::sampled::{Interpolation, Sampled, Time};
use sinew::scene::{
    DrawnMesh, Geometry, Instanced, Material, NormalsProperty, PlacedPrim, Placement, Primvar,
    SkinBinding, Subset, Texture,
};
use sinew::skel::{MeshTopology, PrimvarInterpolation};

/// Where drawn prims stand: the prims, and the index of each path.
pub(super) type Places<'a> = (&'a Arc<[PlacedPrim]>, &'a HashMap<Path, usize>);

/// What meshes that share data are known by: their place in an instanced prototype, and the uvs that their materials read.
type Definition = (Path, Vec<String>);

/// What all meshes are read with.
pub(super) struct MeshReader<'a> {
    pub(super) interpolation: Interpolation,
    pub(super) places: Places<'a>,
    /// The scene's bindings by path.
    pub(super) skins: HashMap<&'a str, (usize, &'a SkinBinding)>,
    materials: MaterialReader<'a>,
    material_bindings: MaterialBindings,
    /// Whether to read all uv sets of a mesh, not only the one that is drawn.
    all_uvs: bool,
    /// Index into the meshes, or what is wrong with all of them.
    definitions: HashMap<Definition, Result<usize, Invalid>>,
    /// Subsets by the place in the prototype, or the path.
    subsets: HashMap<Path, Arc<Vec<SubsetFaces>>>,
    /// displayColor and displayOpacity by the prim that authors them, or its place in the prototype.
    pub(super) colors: Inherited<Vec3>,
    pub(super) opacities: Inherited<f32>,
}

impl<'a> MeshReader<'a> {
    pub fn new(
        interpolation: Interpolation,
        places: Places<'a>,
        skins: &'a [SkinBinding],
        materials: MaterialReader<'a>,
        all_uvs: bool,
    ) -> Self {
        let skins = skins.iter().enumerate();
        Self {
            interpolation,
            places,
            skins: skins.map(|(i, b)| (b.path.as_str(), (i, b))).collect(),
            materials,
            material_bindings: MaterialBindings::default(),
            all_uvs,
            definitions: HashMap::new(),
            subsets: HashMap::new(),
            colors: Inherited::default(),
            opacities: Inherited::default(),
        }
    }

    pub fn read(
        &mut self,
        prims: &[Prim<'_>],
        out: &mut Geometry,
    ) -> Result<(), sinew_stage::Error> {
        for prim in prims {
            match self.mesh(*prim, out)? {
                Ok(mesh) => out.meshes.push(mesh),
                Err(broken) => out.errors.push(broken),
            }
        }
        Ok(())
    }

    /// Reads a mesh of a prototype as an instance shows it. A broken one is reported once.
    pub fn read_instance(
        &mut self,
        prim: Prim<'_>,
        instances: Vec<Instanced>,
        out: &mut Geometry,
    ) -> Result<(), sinew_stage::Error> {
        match self.mesh(prim, out)? {
            Ok(mesh) => out.meshes.push(DrawnMesh { instances, ..mesh }),
            Err(broken) if !out.errors.contains(&broken) => out.errors.push(broken),
            Err(_) => {}
        }
        Ok(())
    }

    /// The materials and textures that the meshes' indices mean.
    pub fn finish(self) -> (Vec<Material>, Vec<Texture>) {
        (self.materials.materials, self.materials.textures.textures)
    }

    fn mesh(
        &mut self,
        prim: Prim<'_>,
        out: &mut Geometry,
    ) -> Result<Result<DrawnMesh, Invalid>, sinew_stage::Error> {
        let path = &prim.path();
        let shared = prim.prim_in_prototype().unwrap_or(prim).path();
        let material = self.material(prim, &mut out.warnings)?;
        let parts = self.parts(prim, &shared, &mut out.warnings)?;
        let uv_names = self.uv_names(material, &parts);
        let definition = (shared, uv_names);
        let known = self.definitions.get(&definition).cloned();
        let mut mesh = match known {
            Some(Err(mut broken)) => {
                path.as_str().clone_into(&mut broken.prim);
                return Ok(Err(broken));
            }
            Some(Ok(known)) => out.meshes[known].clone(),
            None => {
                let read = self.definition(prim, &definition.1, &mut out.warnings)?;
                let index = read.as_ref().map(|_| out.meshes.len());
                self.definitions
                    .insert(definition, index.map_err(Clone::clone));
                match read {
                    Ok(mut mesh) => {
                        mesh.definition = out.meshes.len();
                        mesh
                    }
                    Err(broken) => return Ok(Err(broken)),
                }
            }
        };
        path.as_str().clone_into(&mut mesh.path);
        mesh.place = Placement::new(self.places.0.clone(), self.places.1[path]);
        mesh.material = material;
        mesh.subsets = parts;
        let faces = mesh.topology.face_count() as u32;
        for subset in &mut mesh.subsets {
            // Ascending, so what is no face of the mesh comes last.
            let there = subset.faces.partition_point(|f| *f < faces);
            if there < subset.faces.len() {
                let message = format!("faces beyond the mesh's {faces}: left out");
                out.warnings
                    .push(Warning::new("subset-faces", &subset.path, message).on("indices"));
                subset.faces = Arc::new(subset.faces[..there].to_vec());
            }
        }
        let skin = self.skins.get(path.as_str());
        let skin = skin.filter(|(_, b)| b.unsupported.is_none());
        mesh.binding = skin.map(|(i, _)| *i);
        mesh.skin_normals = skin.and_then(|(_, b)| skin_normals(mesh.normals.as_ref(), b));
        let mut primvars = PrimvarReader {
            interpolation: self.interpolation,
            prim,
            topology: &mesh.topology,
            points: mesh.point_count(),
            left_out: Vec::new(),
            warnings: &mut out.warnings,
        };
        mesh.display_color = primvars.inherited("primvars:displayColor", &mut self.colors)?;
        mesh.display_opacity =
            primvars.inherited("primvars:displayOpacity", &mut self.opacities)?;
        Ok(Ok(mesh))
    }

    pub(super) fn material(
        &mut self,
        prim: Prim<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<usize>, sinew_stage::Error> {
        match self.material_bindings.bound(prim)? {
            Some(material) => self.materials.material(&material, warnings),
            None => Ok(None),
        }
    }

    /// The mesh's subsets with their materials.
    fn parts(
        &mut self,
        prim: Prim<'_>,
        shared: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<Subset>, sinew_stage::Error> {
        let known = match self.subsets.get(shared) {
            Some(known) => known.clone(),
            None => {
                let read = Arc::new(read_subsets(prim, warnings)?);
                self.subsets.insert(shared.clone(), read.clone());
                read
            }
        };
        let mut out = Vec::with_capacity(known.len());
        for subset in known.iter() {
            // The same name below another instance's mesh.
            let Some(prim) = prim.child(subset.path.name()) else {
                continue;
            };
            out.push(Subset {
                material: self.material(prim, warnings)?,
                path: prim.path().as_str().to_owned(),
                faces: subset.faces.clone(),
            });
        }
        Ok(out)
    }

    /// Names of the uv sets that a mesh's materials read, the mesh's own material's before its subsets'.
    fn uv_names(&self, material: Option<usize>, subsets: &[Subset]) -> Vec<String> {
        let materials = material.into_iter();
        let materials = materials.chain(subsets.iter().filter_map(|s| s.material));
        let mut out: Vec<String> = Vec::new();
        for material in materials {
            for texture in self.materials.materials[material].textures() {
                if !out.contains(&texture.uv_primvar) {
                    out.push(texture.uv_primvar.clone());
                }
            }
        }
        out
    }

    /// What instances of one prototype share.
    fn definition(
        &self,
        prim: Prim<'_>,
        uv_names: &[String],
        warnings: &mut Vec<Warning>,
    ) -> Result<Result<DrawnMesh, Invalid>, sinew_stage::Error> {
        let shape = read_shape(&prim, self.interpolation)?;
        let points = match &shape {
            Some(shape) => all_finite(prim, shape.points.clone()),
            None => read_points(prim, self.interpolation, warnings)?,
        };
        let points = match points {
            Ok(points) => points,
            Err(broken) => return Ok(Err(broken)),
        };
        let count = points.first().map_or(0, |p| p.len());
        let topology = match &shape {
            Some(shape) => {
                let (counts, indices) = (&shape.counts, &shape.indices);
                MeshTopology::new(prim.path().as_str(), counts, indices, false, count)
            }
            None => read_topology(prim, self.interpolation, count, warnings)?,
        };
        let topology = match topology {
            Ok(topology) => Arc::new(topology),
            Err(broken) => return Ok(Err(broken)),
        };
        let mut primvars = PrimvarReader {
            interpolation: self.interpolation,
            prim,
            topology: &topology,
            points: count,
            left_out: Vec::new(),
            warnings,
        };
        let normals = match &shape {
            Some(shape) => Some(Primvar {
                name: NormalsProperty::Primvar.name().to_owned(),
                interpolation: PrimvarInterpolation::Vertex,
                values: shape.normals.clone(),
                indices: None,
            }),
            None => primvars.normals()?,
        };
        let uvs = primvars.uvs(uv_names)?;
        let other_uvs = match &uvs {
            Some(uvs) if self.all_uvs => primvars.other_uvs(&uvs.name)?,
            _ => Vec::new(),
        };
        if let (Some(uvs), Some(other), false) = (&uvs, uv_names.get(1), self.all_uvs) {
            let message = format!(
                "its materials read more than one set of uvs: textures at those of {} are drawn, \
                 those at {other} are not",
                uvs.name
            );
            warnings.push(Warning::new("uv-sets", prim.path().as_str(), message));
        }
        let scheme: Option<Token> = read_uniform(&prim.attribute("subdivisionScheme"))?;
        Ok(Ok(DrawnMesh {
            instances: Vec::new(),
            path: String::new(),
            binding: None,
            definition: 0,
            place: Placement::default(),
            topology,
            points,
            normals,
            skin_normals: None,
            uvs,
            other_uvs,
            display_color: None,
            display_opacity: None,
            subsets: Vec::new(),
            material: None,
            double_sided: read_uniform(&prim.attribute("doubleSided"))?.unwrap_or(false),
            subdivided: shape.is_none() && scheme.is_none_or(|s| s.0 != "none"),
            curves: None,
        }))
    }
}

/// Which of a binding's normals these are.
fn skin_normals(normals: Option<&Primvar<Vec3>>, binding: &SkinBinding) -> Option<usize> {
    let normals = normals?;
    let deformed = [
        PrimvarInterpolation::Vertex,
        PrimvarInterpolation::FaceVarying,
    ];
    if !deformed.contains(&normals.interpolation) {
        return None;
    }
    let mut all = binding.normals.iter();
    all.position(|n| n.property.name() == normals.name)
}

/// A subset as every instance of its mesh has it.
pub(super) struct SubsetFaces {
    /// Of the first instance's.
    pub path: Path,
    pub faces: Arc<Vec<u32>>,
}

/// The subsets of a mesh that materials are bound to, with their faces, ascending: each is in the first that has it. Whether the
/// mesh has such faces is for the caller to see.
fn read_subsets(
    mesh: Prim<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<SubsetFaces>, sinew_stage::Error> {
    let mut out = Vec::new();
    let mut taken: HashSet<u32> = HashSet::new();
    let shown = Predicate {
        active: Some(true),
        defined: Some(true),
        ..Predicate::ALL_PROXIES
    };
    for prim in mesh.children(shown) {
        if !prim.is_a("GeomSubset") {
            continue;
        }
        let token = |name: &str| -> Result<Option<String>, sinew_stage::Error> {
            Ok(read_uniform::<Token>(&prim.attribute(name))?.map(|t| t.0))
        };
        let of_faces = token("elementType")?.is_none_or(|t| t == "face");
        if !of_faces || token("familyName")?.as_deref() != Some("materialBind") {
            continue;
        }
        let indices: Vec<i32> = read_uniform(&prim.attribute("indices"))?.unwrap_or_default();
        let named = indices.len();
        let faces = indices.into_iter().filter_map(|i| u32::try_from(i).ok());
        let mut list: Vec<u32> = faces.filter(|f| taken.insert(*f)).collect();
        if list.len() < named {
            let message = format!(
                "{} of its faces are below 0 or in a subset already: left out",
                named - list.len()
            );
            let path = prim.path();
            let warning = Warning::new("subset-faces", path.as_str(), message);
            warnings.push(warning.on("indices"));
        }
        list.sort_unstable();
        out.push(SubsetFaces {
            path: prim.path(),
            faces: Arc::new(list),
        });
    }
    Ok(out)
}

/// Points over time, as many at every time as at the first.
pub(super) fn read_points(
    prim: Prim<'_>,
    interpolation: Interpolation,
    warnings: &mut Vec<Warning>,
) -> Result<Result<Sampled<Vec<Vec3>>, Invalid>, sinew_stage::Error> {
    let path = prim.path();
    let path = path.as_str();
    let points: Sampled<Vec<Vec3>> = read_sampled(&prim.attribute("points"), interpolation)?;
    let Some(first) = points.first() else {
        let faces: Sampled<Vec<i32>> =
            read_sampled(&prim.attribute("faceVertexIndices"), interpolation)?;
        if faces.first().is_none_or(|f| f.is_empty()) {
            return Ok(Ok(Sampled::default())); // Nothing at all is no mistake.
        }
        let missing = Invalid::new(path, "points", "points", "no value");
        return Ok(Err(missing.coded("points-not-drawn")));
    };
    let count = first.len();
    let points = match all_finite(prim, points) {
        Ok(points) => points,
        Err(broken) => return Ok(Err(broken)),
    };
    if points.values().all(|v| v.len() == count) {
        return Ok(Ok(points));
    }
    let message = format!(
        "the number of points changes: only times with {count}, as at first, are drawn as they are"
    );
    let warning = Warning::new("faces-change", path, message);
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
    Ok(Ok(Sampled::new(default, samples, interpolation)))
}

/// The points, if all of them are finite.
fn all_finite(prim: Prim<'_>, points: Sampled<Vec<Vec3>>) -> Result<Sampled<Vec<Vec3>>, Invalid> {
    let infinite = points
        .values()
        .find_map(|v| v.iter().position(|p| !p.is_finite()));
    let Some(at) = infinite else {
        return Ok(points);
    };
    let found = format!("others at point {at}");
    let broken = Invalid::new(prim.path().as_str(), "points", "finite points", found);
    Err(broken.coded("points-not-drawn"))
}

fn read_topology(
    prim: Prim<'_>,
    interpolation: Interpolation,
    points: usize,
    warnings: &mut Vec<Warning>,
) -> Result<Result<MeshTopology, Invalid>, sinew_stage::Error> {
    let path = prim.path();
    let path = path.as_str();
    let mut faces = [Vec::new(), Vec::new(), Vec::new()];
    let names = ["faceVertexCounts", "faceVertexIndices", "holeIndices"];
    for (name, list) in names.into_iter().zip(&mut faces) {
        let values: Sampled<Vec<i32>> = read_sampled(&prim.attribute(name), interpolation)?;
        if let Some(first) = values.first() {
            if values.values().any(|v| v != first) {
                let message = "faces change over time: those of the first time are drawn";
                warnings.push(Warning::new("faces-change", path, message).on(name));
            }
            list.clone_from(first);
        }
    }
    let left_handed = is_left_handed(&prim)?;
    let [counts, indices, holes] = faces;
    let topology = MeshTopology::new(path, &counts, &indices, left_handed, points);
    Ok(topology.map(|t| t.with_holes(&holes)))
}

/// Whether the faces of a prim are left-handed.
pub(crate) fn is_left_handed(prim: &Prim<'_>) -> Result<bool, sinew_stage::Error> {
    let orientation: Option<Token> = read_uniform(&prim.attribute("orientation"))?;
    Ok(orientation.is_some_and(|o| o.0 == "leftHanded"))
}
