//! The data of a stage that renderers need: meshes, skinned or not, their materials, and cameras.
//! Skinning does not need it.
//!
//! Everything is plain data in stage units. The reader has checked it: primvars have the lengths
//! that faces need, and indices are in range.

use std::sync::Arc;

use glam::{DMat4, Vec2, Vec3};

use super::{Material, Placement, StageCamera, Texture};
use crate::error::{Invalid, Warning};
use crate::math;
use crate::mesh::RenderInputs;
use crate::sampled::{Lerp, Sampled, Time};
use crate::skel::{MeshTopology, PrimvarInterpolation, PrimvarSlice};

/// Everything of a stage that a renderer draws.
///
/// It leaves out prims that are neither meshes nor curves, and prims of purpose `proxy` or `guide`. Warnings list
/// the prims that are left out.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// Meshes in the order of the stage, then those that instances of PointInstancers show.
    pub meshes: Vec<DrawnMesh>,
    /// Curves in the order of the stage. Each has [`DrawnMesh::curves`] and no faces.
    pub curves: Vec<DrawnMesh>,
    /// Materials. [`DrawnMesh::material`] and [`Subset::material`] are indices into it.
    pub materials: Vec<Material>,
    /// Images. [`super::TextureUse::texture`] is an index into it.
    pub textures: Vec<Texture>,
    /// Cameras, in the order of the stage.
    pub cameras: Vec<StageCamera>,
    /// Meshes that cannot be drawn, with the reason.
    pub errors: Vec<Invalid>,
    /// Warnings: parts of the picture that are missing or doubtful.
    pub warnings: Vec<Warning>,
}

impl Geometry {
    /// The mesh with an index, or the curves with the indices after those of the meshes; `None`
    /// beyond them.
    #[must_use]
    pub fn drawn(&self, index: usize) -> Option<&DrawnMesh> {
        let curves = || self.curves.get(index - self.meshes.len());
        self.meshes.get(index).or_else(curves)
    }
}

/// A mesh (UsdGeomMesh), or curves, of purpose `default` or `render`.
#[derive(Clone, Debug)]
pub struct DrawnMesh {
    /// Prim path. Below an instance it is the path of the instance proxy.
    pub path: String,
    /// Index into [`super::Scene::bindings`], if the mesh is skinned or blended.
    pub binding: Option<usize>,
    /// Index into [`Geometry::meshes`] of the first mesh with the same topology, points, normals,
    /// uvs and subsets. It may be this mesh itself.
    pub definition: usize,
    /// Its transform and its visibility, over time. For a mesh that an instance shows, those of the
    /// prototype's mesh.
    pub place: Placement,
    /// The instances of PointInstancers that show it, the innermost first: more than one if
    /// instancers are nested, and none for a mesh that stands for itself.
    pub instances: Vec<Instanced>,
    /// Faces. If they change over time, those of the first time.
    pub topology: Arc<MeshTopology>,
    /// Rest points in prim space, the same number at every time.
    pub points: Sampled<Vec<Vec3>>,
    /// The values of `primvars:normals`, or of `normals` if there are none.
    pub normals: Option<Primvar<Vec3>>,
    /// Index of these normals into [`super::SkinBinding::normals`], if the mesh is bound and its
    /// skin deforms them ([`super::SkinPart::normals`]).
    pub skin_normals: Option<usize>,
    /// Texture coordinates: the primvar that the material's textures read, or else `st`, or else
    /// the first one of the mesh. (0, 0) is the lower left corner.
    pub uvs: Option<Primvar<Vec2>>,
    /// Further sets of texture coordinates by property name, if the reader was asked for all.
    pub other_uvs: Vec<Primvar<Vec2>>,
    /// Linear colours, for a mesh without a material.
    pub display_color: Option<Primvar<Vec3>>,
    /// Opacities for a mesh without a material; 1 is opaque.
    pub display_opacity: Option<Primvar<f32>>,
    /// Faces with materials of their own.
    pub subsets: Vec<Subset>,
    /// Index into [`Geometry::materials`], for faces without a subset.
    pub material: Option<usize>,
    /// Whether back faces are visible.
    pub double_sided: bool,
    /// Whether the faces are the cage of a smooth surface: subdivisionScheme is not `none`.
    pub subdivided: bool,
    /// Curves in place of faces.
    pub curves: Option<Arc<Curves>>,
}

/// Curves through the points of a prim (UsdGeomBasisCurves). The reader has checked that the counts
/// add up to the number of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// Number of points of each curve, one curve after the other.
    pub counts: Vec<u32>,
    /// How the points become a curve.
    pub basis: CurveBasis,
    /// What happens at the ends.
    pub wrap: CurveWrap,
    /// Widths in prim space, one for all ([`PrimvarInterpolation::Constant`]), one for each curve
    /// (`Uniform`) or one for each point. Without widths, curves are thin lines.
    pub widths: Option<CurveWidths>,
}

/// Widths of curves.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveWidths {
    /// The elements that have a width each.
    pub interpolation: PrimvarInterpolation,
    /// The widths at the first time.
    pub values: Vec<f32>,
}

/// How points become a curve (`type` and `basis`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveBasis {
    Linear,
    Bezier,
    BSpline,
    CatmullRom,
}

/// The ends of curves (`wrap`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveWrap {
    /// The curve ends where its basis lets it.
    Nonperiodic,
    /// The last point leads to the first.
    Periodic,
    /// The curve goes from its first to its last point.
    Pinned,
}

/// An instance of a PointInstancer. Velocities are not used.
#[derive(Clone, Debug)]
pub struct Instanced {
    /// The root prim of the prototype.
    pub prototype: Placement,
    /// The instance itself, below the instancer.
    pub place: Placement,
}

/// Faces of a mesh with a material of their own (UsdGeomSubset of the family `materialBind`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subset {
    /// Prim path.
    pub path: String,
    /// Face indices, ascending; each face is in one subset at most.
    pub faces: Arc<Vec<u32>>,
    /// Index into [`Geometry::materials`].
    pub material: Option<usize>,
}

/// A primvar of a mesh, over time.
#[derive(Clone, Debug)]
pub struct Primvar<T> {
    /// Property name, such as `primvars:st`.
    pub name: String,
    /// The elements that have a value, or an index.
    pub interpolation: PrimvarInterpolation,
    /// Values over time.
    pub values: Sampled<Vec<T>>,
    /// The index of the value of each element. Without indices, there is one value per element.
    pub indices: Option<Arc<Vec<u32>>>,
}

impl<T> Primvar<T> {
    /// The primvar at one time. `values` are those of [`Primvar::at`].
    #[must_use]
    pub fn slice<'a>(&'a self, values: &'a [T]) -> PrimvarSlice<'a, T> {
        PrimvarSlice {
            interpolation: self.interpolation,
            values,
            indices: self.indices.as_deref().map(Vec::as_slice),
        }
    }

    /// The first authored values.
    #[must_use]
    pub fn first(&self) -> Option<PrimvarSlice<'_, T>> {
        self.values.first().map(|v| self.slice(v))
    }
}

impl<T> Primvar<T>
where
    Vec<T>: Lerp,
{
    /// The values at a time; `None` if there are none then.
    #[must_use]
    pub fn at(&self, time: Time) -> Option<Arc<Vec<T>>> {
        self.values.at(time)
    }
}

impl DrawnMesh {
    /// What [`RenderMesh`](crate::mesh::RenderMesh) is made of, at the first times.
    #[must_use]
    pub fn render_inputs(&self) -> RenderInputs<'_> {
        RenderInputs {
            points: self.points.first().map_or(&[], |points| points),
            normals: self.normals.as_ref().and_then(Primvar::first),
            uvs: self.uvs.as_ref().and_then(Primvar::first),
            colors: self.display_color.as_ref().and_then(Primvar::first),
            opacities: self.display_opacity.as_ref().and_then(Primvar::first),
        }
    }

    /// The transform from prim space to the world at a time, in stage units. Skinned points do not
    /// need it, because their pose leads to the space of the results.
    #[must_use]
    pub fn world_from_prim(&self, time: Time) -> DMat4 {
        self.world_from_prototype(time) * self.place.world_from_prim(time)
    }

    /// The transform from the world in which the prototype stands to that of the instance: the
    /// identity for a mesh that stands for itself. Skinned points need it too.
    #[must_use]
    pub fn world_from_prototype(&self, time: Time) -> DMat4 {
        let mut world = DMat4::IDENTITY;
        for instance in &self.instances {
            // The prototype's root keeps its own transform, without those above it.
            let above = instance.prototype.world_from_parent(time);
            let inverse = math::try_inverse(above).unwrap_or(DMat4::IDENTITY);
            world = instance.place.world_from_prim(time) * inverse * world;
        }
        world
    }

    /// Whether the mesh and all its ancestors are visible, and the instances that show it.
    #[must_use]
    pub fn visible(&self, time: Time) -> bool {
        let places = std::iter::once(&self.place).chain(self.instances.iter().map(|i| &i.place));
        let roots = self.instances.iter().map(|i| Some(&i.prototype));
        // What is above a prototype's root does not hide its instances.
        let mut levels = places.zip(roots.chain([None]));
        levels.all(|(place, root)| place.is_visible_below(root, time))
    }

    /// The material of each face, as an index into [`Geometry::materials`]: that of its subset, or
    /// else that of the mesh.
    #[must_use]
    pub fn face_materials(&self) -> Vec<Option<usize>> {
        let mut out = vec![self.material; self.topology.face_count()];
        for subset in &self.subsets {
            for face in subset.faces.iter() {
                if let Some(of_face) = out.get_mut(*face as usize) {
                    *of_face = subset.material.or(self.material);
                }
            }
        }
        out
    }

    /// Number of points, the same at every time.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.points.first().map_or(0, |p| p.len())
    }
}
