//! Meshes: primitives with influences and morph targets.

use glam::{Vec2, Vec3, Vec4};
use serde_json::Value;

use sinew::skel::InbetweenDef;

/// Primitives with the same morph targets, which a node shows together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Name in the file. It may be empty, and several meshes may have the same name.
    pub name: String,
    /// The parts, one per material.
    pub primitives: Vec<Primitive>,
    /// Names of the morph targets, which all primitives have. A name may be empty.
    pub target_names: Vec<String>,
    /// Morph target weights at rest, one per target.
    pub weights: Vec<f32>,
    /// Data of the application that wrote the file, without the names of morph targets.
    pub extras: Option<Value>,
}

/// Points and faces with one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Positions in mesh space at rest.
    pub points: Vec<Vec3>,
    /// One per point, or one per face corner if [`Primitive::corner_data`] is set; empty if there
    /// are none.
    pub normals: Vec<Vec3>,
    /// xyz and handedness, one per point; empty if there are none.
    pub tangents: Vec<Vec4>,
    /// Sets of texture coordinates, with (0, 0) at the *upper* left as in glTF. Each set has one
    /// value per point or per face corner, like `normals`.
    pub uvs: Vec<Vec<Vec2>>,
    /// Vertex colours, linear RGBA, one per point or per face corner like `normals`; empty if there
    /// are none.
    pub colors: Vec<Vec4>,
    /// Whether normals, uvs and colours have one value per face corner, in the order of
    /// [`Faces::indices`], instead of one per point.
    pub corner_data: bool,
    /// The polygons.
    pub faces: Faces,
    /// Number of influences per point; 0 if the primitive is not skinned.
    pub influences: usize,
    /// Indices into the skin's joints, `influences` per point.
    pub joints: Vec<u32>,
    /// Weights, `influences` per point, as in the file.
    pub weights: Vec<f32>,
    /// One per name in [`Mesh::target_names`].
    pub targets: Vec<MorphTarget>,
    /// Index into the asset's materials.
    pub material: Option<usize>,
    /// Indices of a variant in [`Asset::material_variants`](super::Asset::material_variants) and of
    /// the material that the primitive has in it, each variant at most once. In other variants the
    /// primitive has [`Primitive::material`].
    pub variant_materials: Vec<(usize, usize)>,
    /// Whether back faces are drawn.
    pub double_sided: bool,
}

/// The polygons of a primitive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faces {
    /// Number of corners of each face; `None` if all faces are triangles.
    pub counts: Option<Vec<u32>>,
    /// Point indices, face by face.
    pub indices: Vec<u32>,
}

/// The offsets that one morph target adds at weight 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Indices of the points that the offsets belong to; `None` for all points in order.
    pub point_indices: Option<Vec<u32>>,
    /// Position offsets; empty if the target moves no points.
    pub offsets: Vec<Vec3>,
    /// Normal offsets, one per point that the target moves; empty if there are none.
    pub normal_offsets: Vec<Vec3>,
    /// Tangent offsets for renderers, one per point that the target moves; empty if there are none.
    pub tangent_offsets: Vec<Vec3>,
    /// In-betweens (FBX), each with as many offsets as the target itself.
    pub inbetweens: Vec<InbetweenDef>,
}
