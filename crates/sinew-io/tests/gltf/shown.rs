//! Meshes in the world over time, as every side shows them, and their comparison point by point.

use glam::DVec3;
use libtest_mimic::Failed;

use crate::eval::clip::Clip;
use crate::eval::{Document, Surface};
use crate::play::Moment;
use common::compare::{compare_within, size};

/// A mesh of usd-core, of three.js, of Blender, of sinew's scene or of the evaluator.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The path of a prim, or the name of a node.
    pub name: String,
    /// In a glTF file, the numbers of the node and of the primitive.
    pub place: (usize, usize),
    /// By a skin or morph targets that move points, where that is known.
    pub deforms: bool,
    /// For each moment.
    pub points: Vec<Vec<DVec3>>,
    /// For each moment; empty lists where it has none.
    pub normals: Vec<Vec<DVec3>>,
    /// Point indices, face by face; empty where they are not looked at.
    pub corners: Vec<usize>,
    /// Corners of each face.
    pub counts: Vec<usize>,
    /// Whether faces turn clockwise as seen from outside in the world, at the first moment.
    pub left_handed: bool,
}

impl Shown {
    /// Its name, and where it is in a glTF file.
    pub fn label(&self) -> String {
        let (node, primitive) = self.place;
        format!("'{}' (node {node}, primitive {primitive})", self.name)
    }

    pub fn triangles(&self) -> impl Iterator<Item = [usize; 3]> {
        self.corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]])
    }
}

/// What the evaluator shows of some clips played together: every primitive.
pub fn shown(document: &Document, clips: &[&Clip], seconds: &[f64]) -> Vec<Shown> {
    let mut out: Vec<Shown> = Vec::new();
    for seconds in seconds {
        for (i, surface) in document.surfaces(clips, *seconds).into_iter().enumerate() {
            if out.len() == i {
                // What is skinned does not move with its node: that turns its faces as it rests.
                let world = match document.nodes[surface.node].skin {
                    Some(_) => document.world(&[], 0.0),
                    None => document.world(clips, *seconds),
                };
                let left_handed = world[surface.node].determinant() < 0.0;
                out.push(Shown {
                    left_handed,
                    ..empty(document, &surface)
                });
            }
            out[i].points.push(surface.points);
            out[i].normals.push(surface.normals);
        }
    }
    out
}

/// A surface at no moment yet.
fn empty(document: &Document, surface: &Surface) -> Shown {
    let node = &document.nodes[surface.node];
    let mesh = &document.meshes[node.mesh.expect("it has surfaces")];
    let drawn = &mesh.primitives[surface.primitive];
    let moves = drawn.targets.iter().flat_map(|t| &t.points);
    Shown {
        name: node.name.clone(),
        place: (surface.node, surface.primitive),
        deforms: node.skin.is_some() || moves.into_iter().any(|p| *p != DVec3::ZERO),
        counts: vec![3; drawn.corners.len() / 3],
        corners: drawn.corners.clone(),
        ..Shown::default()
    }
}

/// The primitives of one node as one mesh.
pub fn by_node(primitives: Vec<Shown>) -> Vec<Shown> {
    let mut out: Vec<Shown> = Vec::new();
    for primitive in primitives {
        let Some(node) = out.iter_mut().find(|s| s.place.0 == primitive.place.0) else {
            out.push(primitive);
            continue;
        };
        let first = node.points[0].len();
        node.corners
            .extend(primitive.corners.iter().map(|c| c + first));
        node.counts.extend(primitive.counts);
        for (points, more) in node.points.iter_mut().zip(primitive.points) {
            points.extend(more);
        }
    }
    out
}

/// The primitives that have triangles, with a point for each corner, and a normal where they have some.
pub fn by_corner(mut primitives: Vec<Shown>) -> Vec<Shown> {
    primitives.retain(|p| !p.corners.is_empty());
    for primitive in &mut primitives {
        let corners = outward(&primitive.corners, primitive.left_handed);
        let lists = primitive.points.iter_mut().chain(&mut primitive.normals);
        for vectors in lists.filter(|vectors| !vectors.is_empty()) {
            *vectors = corners.iter().map(|c| vectors[*c]).collect();
        }
    }
    primitives
}

/// Corners of triangles so that the front is to the outside, whether a mirror turns them or the file.
pub fn outward(corners: &[usize], left_handed: bool) -> Vec<usize> {
    let mut corners = corners.to_vec();
    if left_handed {
        let triangles = corners.chunks_exact_mut(3);
        triangles.for_each(|triangle| triangle.swap(1, 2));
    }
    corners
}

/// Pairs of what costs least, each used once.
pub fn cheapest<C: Ord>(mut costs: Vec<(C, usize, usize)>) -> Vec<(usize, usize)> {
    costs.sort();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, i, j) in costs {
        if pairs.iter().all(|p| p.0 != i && p.1 != j) {
            pairs.push((i, j));
        }
    }
    pairs
}

/// Pairs of meshes, and those of either side that are left.
pub struct Paired<'a> {
    pub pairs: Vec<(&'a Shown, &'a Shown)>,
    pub left: Vec<&'a Shown>,
    pub more: Vec<&'a Shown>,
}

impl<'a> Paired<'a> {
    pub fn new(want: &'a [Shown], got: &'a [Shown], pairs: &[(usize, usize)]) -> Self {
        let left = (0..want.len()).filter(|i| pairs.iter().all(|p| p.0 != *i));
        let more = (0..got.len()).filter(|j| pairs.iter().all(|p| p.1 != *j));
        Self {
            left: left.map(|i| &want[i]).collect(),
            more: more.map(|j| &got[j]).collect(),
            pairs: pairs.iter().map(|(i, j)| (&want[*i], &got[*j])).collect(),
        }
    }

    /// Every mesh has a partner.
    pub fn all(self) -> Result<Vec<(&'a Shown, &'a Shown)>, Failed> {
        if let Some(left) = self.left.first() {
            return Err(format!("{} is not there", left.label()).into());
        }
        if let Some(more) = self.more.first() {
            return Err(format!("{} is nothing that the file shows", more.name).into());
        }
        Ok(self.pairs)
    }
}

/// Pairs meshes of as many points, the most alike first: names differ, so positions decide.
pub fn pair<'a>(want: &'a [Shown], got: &'a [Shown]) -> Paired<'a> {
    let mut costs = Vec::new();
    for (i, want) in want.iter().enumerate() {
        for (j, got) in got.iter().enumerate() {
            if let Some(cost) = cost(want, got) {
                // Distances are not negative, so their bits are in their order; NaN is the largest.
                costs.push((cost.to_bits(), i, j));
            }
        }
    }
    Paired::new(want, got, &cheapest(costs))
}

/// The largest distance at a few moments; none where they have different numbers of points.
fn cost(want: &Shown, got: &Shown) -> Option<f64> {
    let last = want.points.len() - 1;
    let mut worst = 0.0f64;
    for frame in [0, last / 2, last] {
        let (want, got) = (&want.points[frame], &got.points[frame]);
        if want.len() != got.len() {
            return None;
        }
        let distances = want.iter().zip(got).map(|(a, b)| a.distance(*b));
        worst = distances.fold(worst, f64::max);
    }
    Some(worst)
}

/// How far points and normals may be apart.
#[derive(Clone, Copy)]
pub struct Allowed<'a> {
    /// Of the points of one mesh, at keys and between, relative to its size.
    pub points: (f64, f64),
    /// Of unit normals at keys.
    pub normals: f64,
    pub normals_may_lack: bool,
    /// Sizes below this one count as this one: of small meshes far down a tree.
    pub size: f64,
    /// Sizes below this part of the distance from the origin count as that: roundings of f32 grow with it.
    pub far: f64,
    pub moments: &'a [Moment],
}

impl<'a> Allowed<'a> {
    /// Normals have to be there, and each mesh counts by its own size.
    pub fn new(points: (f64, f64), normals: f64, moments: &'a [Moment]) -> Self {
        Self {
            points,
            normals,
            normals_may_lack: false,
            size: 0.0,
            far: 0.0,
            moments,
        }
    }

    /// Compares every pair; every mesh has to have a partner.
    pub fn compare_all(&self, paired: Paired<'_>) -> Result<(), Failed> {
        let mut pairs = paired.all()?.into_iter();
        pairs.try_for_each(|pair| self.compare(pair))
    }

    /// Compares every moment.
    pub fn compare(&self, (want, got): (&Shown, &Shown)) -> Result<(), Failed> {
        if !got.corners.is_empty() && got.corners != want.corners {
            return Err(format!("{}: other faces at {}", want.label(), got.name).into());
        }
        if !got.corners.is_empty() && got.left_handed != want.left_handed {
            let text = format!("{}: inside out at {}", want.label(), got.name);
            return Err(text.into());
        }
        for (i, moment) in self.moments.iter().enumerate() {
            // Of what a clip scales away, the size that it began with.
            let size = size(&want.points[i]).max(size(&want.points[0]));
            let farthest = want.points[i]
                .iter()
                .map(|p| p.length())
                .fold(0.0, f64::max);
            let size = size.max(self.size).max(self.far * farthest);
            let (share, when) = match moment.is_key {
                true => (self.points.0, "a key"),
                false => (self.points.1, "between keys"),
            };
            let (name, seconds) = (want.label(), moment.seconds);
            let what = format!("{name} at {seconds} s ({when}), {}", got.name);
            compare_within(&what, &got.points[i], &want.points[i], share * size)
                .map_err(|e| format!("{e}; {share:.2e} of the size {size:.3} are allowed"))?;
            if moment.is_key {
                self.compare_normals(&what, &want.normals[i], &got.normals[i])?;
            }
        }
        Ok(())
    }

    fn compare_normals(&self, what: &str, want: &[DVec3], got: &[DVec3]) -> Result<(), Failed> {
        // A scene has no normals where nothing moves them.
        if want.is_empty() || (got.is_empty() && self.normals_may_lack) {
            return Ok(());
        }
        let what = format!("normals of {what}");
        if got.len() != want.len() {
            return Err(format!("{what}: {}, expected {}", got.len(), want.len()).into());
        }
        // What is scaled to nothing has no normals.
        let both = got.iter().zip(want).filter(|(_, w)| **w != DVec3::ZERO);
        let (got, want): (Vec<DVec3>, Vec<DVec3>) = both.unzip();
        Ok(compare_within(&what, &got, &want, self.normals)?)
    }
}
