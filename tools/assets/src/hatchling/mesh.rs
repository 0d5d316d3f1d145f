//! A mesh as UsdSkel describes it: points, skin, blend shapes and extent.

use glam::{Mat4, Quat, Vec3};

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
    /// All points follow this joint.
    Rigid(usize),
    /// Each point has its own influences.
    Smooth(Vec<Influences>),
}

impl Skin {
    /// The largest number of influences of a point.
    pub fn influences(&self) -> usize {
        match self {
            Self::Rigid(_) => 1,
            Self::Smooth(points) => points.iter().map(Vec::len).max().unwrap_or(1),
        }
    }
}

impl Mesh {
    /// A mesh without points.
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

    /// The points, skinned by the joints' `skinning` transforms.
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

/// A grid of points, row by row. Its first point is the mesh's point `first`.
pub struct Grid {
    pub first: usize,
    pub rows: usize,
    pub cols: usize,
    /// Whether each row is a ring: its last point is then joined to its first.
    pub closed: bool,
}

impl Grid {
    /// The faces between neighbouring rows and columns. `flip` reverses their winding.
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

/// Normals of the points: the mean of their faces' normals, weighted by area.
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

/// A blend shape with an in-between at weight 0.5.
pub struct Shape {
    pub name: &'static str,
    /// Indices of the points that the shape moves (`pointIndices`).
    pub points: Vec<usize>,
    pub full: Offsets,
    pub half: Offsets,
}

/// What a blend shape adds to points and normals.
pub struct Offsets {
    pub points: Vec<Vec3>,
    pub normals: Vec<Vec3>,
}

impl Shape {
    /// Offsets that are shorter than this are left out.
    const LEAST: f32 = 8e-4;

    /// A sparse shape, from offsets of all points.
    pub fn new(name: &'static str, full: Offsets, half: Offsets) -> Self {
        let moves = |o: &Offsets, i: usize| o.points[i].length() > Self::LEAST;
        let points: Vec<usize> = (0..full.points.len())
            .filter(|&i| moves(&full, i) || moves(&half, i))
            .collect();
        Self {
            name,
            full: full.only(&points),
            half: half.only(&points),
            points,
        }
    }
}

impl Offsets {
    /// Offsets of all points of `mesh`, and the offsets of its normals that follow from them.
    pub fn new(mesh: &Mesh, offsets: Vec<Vec3>) -> Self {
        let moved: Vec<Vec3> = mesh
            .points
            .iter()
            .zip(&offsets)
            .map(|(p, o)| *p + *o)
            .collect();
        let from = normals_of(&mesh.points, &mesh.faces);
        let to = normals_of(&moved, &mesh.faces);
        // The mesh's own normals turn as the normals of its faces do.
        let normals = (mesh.normals.iter().zip(from.iter().zip(to)))
            .map(|(n, (from, to))| Quat::from_rotation_arc(*from, to) * *n - *n)
            .collect();
        Self {
            points: offsets,
            normals,
        }
    }

    fn only(&self, points: &[usize]) -> Self {
        let pick = |all: &[Vec3]| points.iter().map(|&i| all[i]).collect();
        Self {
            points: pick(&self.points),
            normals: pick(&self.normals),
        }
    }
}

/// Joints and weights of a point, the largest weight first.
pub type Influences = Vec<(usize, f32)>;

/// The most influences of a point: more than the four that many renderers support.
const MOST: usize = 6;

/// Weights are multiples of 1 / `UNITS`, since they are written with four digits.
const UNITS: i32 = 10_000;

/// The largest weights, without those below `least`. They are rounded as they will be written, so
/// the weights in the file sum to exactly 1.
pub fn keep_largest(weights: &[f32], least: f32) -> Influences {
    let mut largest: Influences = weights
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, w)| *w >= least)
        .collect();
    largest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    largest.truncate(MOST);
    let sum: f32 = largest.iter().map(|(_, w)| w).sum();
    let mut units: Vec<(usize, i32)> = largest
        .iter()
        .map(|(joint, w)| (*joint, (w / sum * UNITS as f32).round() as i32))
        .filter(|(_, n)| *n > 0)
        .collect();
    units[0].1 += UNITS - units.iter().map(|(_, n)| n).sum::<i32>();
    units.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    units
        .into_iter()
        .map(|(joint, n)| (joint, n as f32 / UNITS as f32))
        .collect()
}

/// Points that are moved half of the way to the mean of their neighbours.
pub fn evened(points: &[Vec3], faces: &[Quad]) -> Vec<Vec3> {
    let near = neighbours(points.len(), faces);
    let moved = |(p, near): (&Vec3, &Vec<usize>)| {
        let mean = near.iter().map(|&o| points[o]).sum::<Vec3>() / near.len() as f32;
        p.lerp(mean, 0.5)
    };
    points.iter().zip(&near).map(moved).collect()
}

/// The points that follow each point along the edges of its faces.
fn neighbours(points: usize, faces: &[Quad]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); points];
    for face in faces {
        for k in 0..4 {
            neighbours[face[k]].push(face[(k + 1) % 4]);
        }
    }
    neighbours
}

/// Smooths weights: each round mixes half of a point's weights with half of its neighbours' mean.
pub fn smooth(mut weights: Vec<Vec<f32>>, faces: &[Quad], rounds: usize) -> Vec<Vec<f32>> {
    let neighbours = neighbours(weights.len(), faces);
    for _ in 0..rounds {
        let blurred = |(own, near): (&Vec<f32>, &Vec<usize>)| {
            let mean = |j: usize| near.iter().map(|&o| weights[o][j]).sum::<f32>();
            (0..own.len())
                .map(|j| 0.5 * own[j] + 0.5 * mean(j) / near.len() as f32)
                .collect()
        };
        weights = weights.iter().zip(&neighbours).map(blurred).collect();
    }
    weights
}

#[derive(Clone, Copy)]
/// An axis-aligned box (`extent`).
pub struct Bounds {
    pub min: Vec3,
    pub max: Vec3,
}

impl Bounds {
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Self {
        let none = Self {
            min: Vec3::INFINITY,
            max: Vec3::NEG_INFINITY,
        };
        points.into_iter().fold(none, |b, p| Self {
            min: b.min.min(p),
            max: b.max.max(p),
        })
    }

    /// The box, larger by `margin` on every side.
    pub fn grown(self, margin: f32) -> Self {
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }
}
