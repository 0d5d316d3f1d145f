//! What a renderer draws of a stage: meshes, skinned or not, with materials; and cameras.
//!
//! Skinning itself needs none of it. Everything is plain data in the stage's units, checked once: primvars fit their faces, and
//! indices their lists.

use std::sync::Arc;

use glam::{DMat4, Vec2, Vec3};

use super::{Material, Placement, StageCamera, Texture};
use crate::error::{Invalid, Warning};
use crate::sampled::{Lerp, Sampled, Time};
use crate::skel::{MeshTopology, PrimvarInterpolation, PrimvarSlice};

/// Everything of a stage that is drawn.
///
/// Left out are prims other than meshes, prims of purpose `proxy` or `guide`, and what PointInstancers place; there are warnings
/// of what is missing so.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// In the stage's order.
    pub meshes: Vec<DrawnMesh>,
    /// What [`DrawnMesh::material`] and [`Subset::material`] count.
    pub materials: Vec<Material>,
    /// What materials' textures count.
    pub textures: Vec<Texture>,
    /// In the stage's order.
    pub cameras: Vec<StageCamera>,
    /// Meshes that cannot be drawn, with the reason.
    pub errors: Vec<Invalid>,
    /// What is missing or doubtful in the picture.
    pub warnings: Vec<Warning>,
}

/// A mesh (UsdGeomMesh) of purpose `default` or `render`.
#[derive(Clone, Debug)]
pub struct DrawnMesh {
    /// Prim path; an instance proxy's below an instance.
    pub path: String,
    /// Index into [`super::Scene::bindings`] where the mesh is skinned or blended.
    pub binding: Option<usize>,
    /// Index into [`Geometry::meshes`] of the first mesh with the same topology, points, normals, uvs and subsets, or its own.
    pub definition: usize,
    /// Where it stands and whether it is seen, over time.
    pub place: Placement,
    /// Faces; those of the first time where they change.
    pub topology: Arc<MeshTopology>,
    /// Rest points in prim space, the same number at every time.
    pub points: Sampled<Vec<Vec3>>,
    /// `primvars:normals`, else `normals`.
    pub normals: Option<Primvar<Vec3>>,
    /// Which of [`super::SkinBinding::normals`] these normals are, where the mesh is bound and deforms them
    /// ([`super::SkinPart::normals`]).
    pub skin_normals: Option<usize>,
    /// Those that the material's textures read; else `st`, else the first that are there. (0, 0) is at the lower left.
    pub uvs: Option<Primvar<Vec2>>,
    /// Linear colours, drawn where there is no material.
    pub display_color: Option<Primvar<Vec3>>,
    /// Likewise opacities, 1 for opaque.
    pub display_opacity: Option<Primvar<f32>>,
    /// Faces with materials of their own.
    pub subsets: Vec<Subset>,
    /// Index into [`Geometry::materials`], for faces of no subset.
    pub material: Option<usize>,
    /// Back faces are to be seen too.
    pub double_sided: bool,
    /// subdivisionScheme is not `none`: the faces are the cage of a smooth surface.
    pub subdivided: bool,
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

/// Values on the faces of a mesh, over time.
#[derive(Clone, Debug)]
pub struct Primvar<T> {
    /// Property name, such as `primvars:st`.
    pub name: String,
    /// What there is one value (or index) for.
    pub interpolation: PrimvarInterpolation,
    /// Values over time, as many as the interpolation or the indices ask for.
    pub values: Sampled<Vec<T>>,
    /// Which value each element takes; without them there is one value per element.
    pub indices: Option<Arc<Vec<u32>>>,
}

impl<T> Primvar<T> {
    /// The primvar with its values of one time, as [`Primvar::at`] gives them.
    #[must_use]
    pub fn slice<'a>(&'a self, values: &'a [T]) -> PrimvarSlice<'a, T> {
        PrimvarSlice {
            interpolation: self.interpolation,
            values,
            indices: self.indices.as_deref().map(Vec::as_slice),
        }
    }

    /// The first values that are authored.
    #[must_use]
    pub fn first(&self) -> Option<PrimvarSlice<'_, T>> {
        self.values.first().map(|v| self.slice(v))
    }
}

impl<T> Primvar<T>
where
    Vec<T>: Lerp,
{
    /// The values at a time.
    #[must_use]
    pub fn at(&self, time: Time) -> Option<Arc<Vec<T>>> {
        self.values.at(time)
    }
}

impl DrawnMesh {
    /// world_from_prim at a time, in stage units. Skinned points are placed by their pose, not by this.
    #[must_use]
    pub fn world_from_prim(&self, time: Time) -> DMat4 {
        self.place.world_from_prim(time)
    }

    /// Whether neither the mesh nor a prim above it is invisible.
    #[must_use]
    pub fn visible(&self, time: Time) -> bool {
        self.place.is_visible(time)
    }

    /// Number of points, at every time.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.points.first().map_or(0, |p| p.len())
    }
}
