//! Meshes, their skin and their normals.

use glam::{Mat4, Vec3};

use crate::shape::Shape;
use crate::weights::Influences;

pub type Quad = [usize; 4];

pub struct Mesh {
    pub name: String,
    pub points: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub colors: Vec<Vec3>,
    pub faces: Vec<Quad>,
    /// `geomBindTransform`.
    pub bind: Mat4,
    pub skin: Skin,
    pub shapes: Vec<Shape>,
}

pub enum Skin {
    /// All points follow one joint.
    Rigid(usize),
    /// Per point.
    Smooth(Vec<Influences>),
}

impl Skin {
    /// How many there are at the most at a point.
    pub fn influences(&self) -> usize {
        match self {
            Self::Rigid(_) => 1,
            Self::Smooth(points) => points.iter().map(Vec::len).max().unwrap_or(1),
        }
    }
}

impl Mesh {
    /// One without points.
    pub fn new(name: impl Into<String>, skin: Skin) -> Self {
        Self {
            name: name.into(),
            points: Vec::new(),
            normals: Vec::new(),
            colors: Vec::new(),
            faces: Vec::new(),
            bind: Mat4::IDENTITY,
            skin,
            shapes: Vec::new(),
        }
    }

    /// The points as skinned by the joints' `skinning` transforms.
    pub fn skinned<'a>(&'a self, skinning: &'a [Mat4]) -> impl Iterator<Item = Vec3> + 'a {
        self.points.iter().enumerate().map(move |(i, p)| {
            let p = self.bind.transform_point3(*p);
            match &self.skin {
                Skin::Rigid(joint) => skinning[*joint].transform_point3(p),
                Skin::Smooth(points) => points[i]
                    .iter()
                    .map(|(joint, weight)| skinning[*joint].transform_point3(p) * *weight)
                    .sum(),
            }
        })
    }
}

/// Points in rows of `cols`, of which the first one is the mesh's point `first`.
pub struct Grid {
    pub first: usize,
    pub rows: usize,
    pub cols: usize,
    /// Whether every row is a ring.
    pub closed: bool,
}

impl Grid {
    /// The faces between neighbouring rows and columns; `flip` turns them over.
    pub fn quads(&self, flip: bool) -> impl Iterator<Item = Quad> {
        let Self {
            first, rows, cols, ..
        } = *self;
        let gaps = if self.closed { cols } else { cols - 1 };
        (0..(rows - 1) * gaps).map(move |n| {
            let row = first + n / gaps * cols;
            let (a, b) = (row + n % gaps, row + (n % gaps + 1) % cols);
            if flip {
                [a, a + cols, b + cols, b]
            } else {
                [a, b, b + cols, a + cols]
            }
        })
    }
}

/// Normals from the faces, weighted by area.
pub fn normals_of(points: &[Vec3], faces: &[Quad]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; points.len()];
    for &[a, b, c, d] in faces {
        for triangle in [[a, b, c], [a, c, d]] {
            let [p, q, r] = triangle.map(|i| points[i]);
            let area = (q - p).cross(r - p);
            for i in triangle {
                normals[i] += area;
            }
        }
    }
    normals
        .into_iter()
        .map(|n| n.normalize_or(Vec3::Y))
        .collect()
}
