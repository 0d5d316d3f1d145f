//! Meshes: primitives with influences and morph targets.

use glam::{Vec2, Vec3, Vec4};

use sinew::skel::InbetweenDef;

/// Primitives that share morph targets and a place in the hierarchy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// As in the file; may be empty, and need not be unique.
    pub name: String,
    pub primitives: Vec<Primitive>,
    /// One per morph target; all primitives have the same targets. A name may be empty.
    pub target_names: Vec<String>,
    /// Morph target weights at rest, one per target.
    pub weights: Vec<f32>,
}

/// Points and faces of one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    pub points: Vec<Vec3>,
    /// One per point, or per corner where [`Primitive::corner_data`] says so; empty where there are none.
    pub normals: Vec<Vec3>,
    /// xyz and handedness, one per point; empty where there are none.
    pub tangents: Vec<Vec4>,
    /// TEXCOORD sets with (0, 0) at the *upper* left, as glTF has it; each as many as the normals would be.
    pub uvs: Vec<Vec<Vec2>>,
    /// First vertex colour, linear RGBA, as many as the normals would be; empty where there is none.
    pub colors: Vec<Vec4>,
    /// Normals, uvs and colours are one per face corner, in the order of [`Faces::indices`], instead of one per point.
    pub corner_data: bool,
    pub faces: Faces,
    /// Influences per point; 0 where the primitive has none.
    pub influences: usize,
    /// Indices into the skin's joints, `influences` per point.
    pub joints: Vec<u32>,
    /// Weights, `influences` per point, as in the file.
    pub weights: Vec<f32>,
    /// One per name of the mesh.
    pub targets: Vec<MorphTarget>,
    /// Index into the asset's materials.
    pub material: Option<usize>,
    pub double_sided: bool,
}

/// Polygons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faces {
    /// Corners of each face; `None` where all faces are triangles.
    pub counts: Option<Vec<u32>>,
    /// Point indices, face by face.
    pub indices: Vec<u32>,
}

/// What one morph target adds at weight 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// The points that the offsets belong to; all points in order where `None`.
    pub point_indices: Option<Vec<u32>>,
    /// Position offsets. Empty where the target moves no points.
    pub offsets: Vec<Vec3>,
    /// Normal offsets, as many as there are points touched; empty where there are none.
    pub normal_offsets: Vec<Vec3>,
    /// Tangent offsets, kept for renderers; empty where there are none.
    pub tangent_offsets: Vec<Vec3>,
    /// In-betweens (FBX), each with as many offsets as the target itself.
    pub inbetweens: Vec<InbetweenDef>,
}
