//! FBX files of our own: a small character with all that is odd about FBX, and where its points are at a time: f64, from
//! the definitions in Autodesk's documentation, nothing from src.

pub mod binary;
pub mod maker;
mod play;
mod tube;
mod write;

use glam::{DMat3, DVec3};

use maker::Keys;

/// A joint with everything that goes into an FBX transform. Angles are degrees.
#[derive(Clone)]
pub struct Joint {
    pub name: &'static str,
    pub parent: Option<usize>,
    pub translation: DVec3,
    pub rotation: DVec3,
    pub scale: DVec3,
    /// FBX's number: which axis turns first, second and third.
    pub order: usize,
    pub pre: DVec3,
    pub post: DVec3,
    pub rotation_offset: DVec3,
    pub rotation_pivot: DVec3,
    pub scaling_offset: DVec3,
    pub scaling_pivot: DVec3,
    /// Rrs: does not inherit its parent's own scale.
    pub ignores_parent_scale: bool,
}

/// Properties of joint, mesh and channels that a clip moves.
#[derive(Clone)]
pub struct Motion {
    pub joint: usize,
    /// `Lcl Translation`, `Lcl Rotation` or `Lcl Scaling`.
    pub property: &'static str,
    /// By axis.
    pub keys: Vec<(usize, Keys)>,
}

#[derive(Clone)]
pub struct Clip {
    pub name: &'static str,
    pub seconds: f64,
    pub motions: Vec<Motion>,
    /// Percent, by channel.
    pub channels: Vec<(usize, Keys)>,
}

/// Offsets of the points listed.
#[derive(Clone)]
pub struct Shape {
    pub name: &'static str,
    pub points: Vec<usize>,
    pub offsets: Vec<DVec3>,
    /// Percent.
    pub full_weight: f64,
}

#[derive(Clone)]
pub struct Channel {
    pub name: &'static str,
    /// Percent at rest.
    pub percent: f64,
    /// By rising weights.
    pub shapes: Vec<Shape>,
}

/// The file's axes: FBX's numbers.
#[derive(Clone, Copy)]
pub struct Axes {
    pub up: (i64, i64),
    pub front: (i64, i64),
    pub coord: (i64, i64),
    /// World as the asset has it (right-handed, +Y up) from the file's.
    pub asset_from_file: DMat3,
}

/// A texture of a material.
#[derive(Clone)]
pub struct Picture {
    /// 0 or 1.
    pub material: usize,
    /// Of the material, such as `DiffuseColor`.
    pub property: &'static str,
    /// From the file's folder, as FBX writes it.
    pub relative: &'static str,
    pub embedded: Option<Vec<u8>>,
    /// Of uvs, with their origin at the lower left.
    pub translation: DVec3,
    pub scaling: DVec3,
}

#[derive(Clone)]
pub struct Character {
    pub axes: Axes,
    /// Centimetres to the unit.
    pub unit: f64,
    pub joints: Vec<Joint>,
    pub points: Vec<DVec3>,
    /// Faces of any number of corners, and their material.
    pub faces: Vec<(Vec<usize>, usize)>,
    /// Of the mesh's node, for the points alone.
    pub geometric_translation: DVec3,
    pub geometric_rotation: DVec3,
    /// The mesh's node.
    pub place: DVec3,
    /// Joint and weight, by point; they need not sum to 1, and may be none.
    pub weights: Vec<Vec<(usize, f64)>>,
    pub channels: Vec<Channel>,
    pub clips: Vec<Clip>,
    /// `Linear`, `DualQuaternion`.
    pub skinning: &'static str,
    pub pictures: Vec<Picture>,
}

/// Right-handed, +Y up: as the asset has it.
pub const Y_UP: Axes = Axes {
    up: (1, 1),
    front: (2, 1),
    coord: (0, 1),
    asset_from_file: DMat3::IDENTITY,
};

/// Blender's and 3ds Max's.
pub const Z_UP: Axes = Axes {
    up: (2, 1),
    front: (1, -1),
    coord: (0, 1),
    asset_from_file: DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y),
};

/// Left-handed.
pub const LEFT_HANDED: Axes = Axes {
    up: (1, 1),
    front: (2, -1),
    coord: (0, 1),
    asset_from_file: DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::NEG_Z),
};
