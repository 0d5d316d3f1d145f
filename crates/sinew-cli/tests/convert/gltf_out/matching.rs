//! Which vertex of a glTF file is which point of a stage: vertices are split where the values of face corners differ, and polygons
//! become triangles, so positions over time decide.

use std::collections::{BTreeSet, HashMap};

use glam::{DVec3, I64Vec3};

use crate::gltf_eval::oracle::MeshPrim;
use common::compare::{bounds, size};
use common::gltf_eval::{Document, Surface};

/// A mesh of a glTF file over time: all primitives of one node.
pub struct MeshNode {
    /// Its number in the file.
    pub node: usize,
    pub name: String,
    /// For each moment.
    pub points: Vec<Vec<DVec3>>,
    /// Point indices of all triangles.
    pub triangles: Vec<[usize; 3]>,
}

impl MeshNode {
    /// The meshes of a document, from its surfaces at each moment.
    pub fn all(document: &Document, moments: &[Vec<Surface>]) -> Vec<Self> {
        let mut out: Vec<(usize, Self)> = Vec::new();
        for (moment, surfaces) in moments.iter().enumerate() {
            for surface in surfaces {
                let node = &document.nodes[surface.node];
                let place = out.iter().position(|(n, _)| *n == surface.node);
                let place = place.unwrap_or_else(|| {
                    let mesh = Self {
                        node: surface.node,
                        name: node.name.clone(),
                        points: vec![Vec::new(); moments.len()],
                        triangles: Vec::new(),
                    };
                    out.push((surface.node, mesh));
                    out.len() - 1
                });
                let mesh = &mut out[place].1;
                let first = mesh.points[moment].len();
                mesh.points[moment].extend(&surface.points);
                if moment == 0 {
                    let drawn = node.mesh.map(|m| &document.meshes[m]);
                    let corners = drawn.map(|m| &m.primitives[surface.primitive].corners);
                    let triangles = corners.into_iter().flat_map(|c| c.chunks_exact(3));
                    mesh.triangles
                        .extend(triangles.map(|t| [t[0] + first, t[1] + first, t[2] + first]));
                }
            }
        }
        out.into_iter().map(|(_, mesh)| mesh).collect()
    }
}

/// Points of a stage's mesh and vertices of a glTF file's that are the same.
pub struct Match {
    /// The largest distance of a vertex from its point, relative to the mesh's size.
    pub error: f64,
    /// Where that is: the vertex and the moment.
    pub worst: (usize, usize),
    /// The largest such distance at each moment, and the vertex where it is.
    pub moments: Vec<(f64, usize)>,
    /// For each vertex, the points that it may be: several where points stay together.
    pub points: Vec<Vec<usize>>,
}

/// Distances up to which points are looked for, relative to the mesh's size.
const RADII: [f64; 5] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1];

/// Points that are looked at for one vertex, nearest first.
const CANDIDATES: usize = 32;

/// Distances that count as none, relative to the mesh's size: of points that stay together.
const TOGETHER: f64 = 1e-5;

/// Finds the points of all vertices of a mesh.
///
/// # Errors
/// Text, if the mesh has no points.
pub fn match_points(want: &MeshPrim, got: &MeshNode) -> Result<Match, String> {
    let used: BTreeSet<usize> = want.corners.iter().copied().collect();
    let sizes: Vec<f64> = want.points.iter().map(|p| size(p)).collect();
    // Where the mesh is largest its points are farthest from each other.
    let base = (0..sizes.len()).max_by(|a, b| sizes[*a].total_cmp(&sizes[*b]));
    let base = base.filter(|_| !used.is_empty()).ok_or("no points")?;
    let full = sizes[base].max(f64::MIN_POSITIVE);
    let mut best: Option<Match> = None;
    for radius in RADII {
        let grid = Grid::new(&want.points[base], &used, radius * full);
        let found = match_within(want, got, &grid, base, &sizes);
        if let Some(found) = found {
            let is_better = best.as_ref().is_none_or(|b| found.error < b.error);
            if is_better {
                best = Some(found);
            }
        }
        // Points farther away are farther off.
        if best.as_ref().is_some_and(|b| b.error <= radius) {
            break;
        }
    }
    best.ok_or_else(|| "vertices that are far from every point".to_owned())
}

/// `None` if a vertex is not near any point.
fn match_within(
    want: &MeshPrim,
    got: &MeshNode,
    grid: &Grid<'_>,
    base: usize,
    sizes: &[f64],
) -> Option<Match> {
    let mut out = Match {
        error: 0.0,
        worst: (0, 0),
        moments: vec![(0.0, 0); sizes.len()],
        points: Vec::new(),
    };
    for vertex in 0..got.points[base].len() {
        let near = grid.near(got.points[base][vertex], CANDIDATES);
        // Of what is scaled away, the size at its largest.
        let share = |moment: usize| sizes[moment].max(0.01 * sizes[base]);
        let off_at = |point: usize, t: usize| {
            got.points[t][vertex].distance(want.points[t][point]) / share(t)
        };
        let off = |point: usize| -> (f64, usize) {
            let each = (0..sizes.len()).map(|t| (off_at(point, t), t));
            // A NaN is the largest.
            each.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
        };
        let distances: Vec<((f64, usize), usize)> = near.iter().map(|p| (off(*p), *p)).collect();
        let best = distances
            .iter()
            .min_by(|a, b| a.0.0.total_cmp(&b.0.0))
            .copied()?;
        if !(best.0.0 <= out.error) {
            (out.error, out.worst) = (best.0.0, (vertex, best.0.1));
        }
        for (t, worst) in out.moments.iter_mut().enumerate() {
            let error = off_at(best.1, t);
            if !(error <= worst.0) {
                *worst = (error, vertex);
            }
        }
        let together = distances
            .iter()
            .filter(|d| d.0.0 <= best.0.0 + TOGETHER)
            .map(|d| d.1);
        out.points.push(together.collect());
    }
    Some(out)
}

impl Match {
    /// Every point of a face is a vertex, and triangles are parts of faces and cover them, facing the same way.
    ///
    /// # Errors
    /// Text with the first that is not so.
    pub fn same_faces(&self, want: &MeshPrim, got: &MeshNode) -> Result<(), String> {
        let found: BTreeSet<usize> = self.points.iter().flatten().copied().collect();
        let used: BTreeSet<usize> = want.corners.iter().copied().collect();
        if let Some(lost) = used.difference(&found).next() {
            return Err(format!("point {lost} is no vertex"));
        }
        let mut faces: Vec<&[usize]> = Vec::new();
        let mut rest = &want.corners[..];
        for count in &want.counts {
            let (face, others) = rest.split_at(*count);
            faces.push(face);
            rest = others;
        }
        let mut faces_of: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, face) in faces.iter().enumerate() {
            for point in *face {
                faces_of.entry(*point).or_default().push(number);
            }
        }
        let mut triangles_of = vec![0usize; faces.len()];
        for triangle in &got.triangles {
            let corners = triangle.map(|v| &self.points[v]);
            let of_first = corners[0].iter().filter_map(|p| faces_of.get(p)).flatten();
            let mut holding = of_first
                .copied()
                .filter(|f| turns_with(faces[*f], corners, want.left_handed));
            // Of faces that lie together, the one that lacks triangles.
            let lacking = |f: &usize| triangles_of[*f] + 2 < faces[*f].len();
            let all: Vec<usize> = holding.by_ref().collect();
            let face = all.iter().copied().find(lacking).or(all.first().copied());
            match face {
                Some(face) => triangles_of[face] += 1,
                None => {
                    return Err(format!(
                        "the triangle of the points {corners:?} is no part of a face that turns as it does"
                    ));
                }
            }
        }
        let expected: usize = faces.iter().map(|f| f.len().saturating_sub(2)).sum();
        match got.triangles.len() == expected {
            true => Ok(()),
            false => Err(format!(
                "{} triangles, expected {expected}",
                got.triangles.len()
            )),
        }
    }
}

/// Whether a face has points of all three lists, in their order or, if it is left-handed, against it.
fn turns_with(face: &[usize], corners: [&Vec<usize>; 3], left_handed: bool) -> bool {
    let at = |list: &Vec<usize>| -> Vec<usize> {
        let places = face.iter().enumerate();
        places
            .filter(|(_, p)| list.contains(p))
            .map(|(i, _)| i)
            .collect()
    };
    let [a, b, c] = corners.map(at);
    let after = |from: usize, to: usize| (to + face.len() - from) % face.len();
    let in_order = |a: usize, b: usize, c: usize| 0 < after(a, b) && after(a, b) < after(a, c);
    a.iter().any(|a| {
        b.iter().any(|b| {
            c.iter().any(|c| match left_handed {
                false => in_order(*a, *b, *c),
                true => in_order(*a, *c, *b),
            })
        })
    })
}

/// Points by the cell that they are in.
struct Grid<'a> {
    points: &'a [DVec3],
    cell: f64,
    cells: HashMap<I64Vec3, Vec<usize>>,
}

impl<'a> Grid<'a> {
    /// Of some of the points; those within `radius` of a place are found.
    fn new(points: &'a [DVec3], used: &BTreeSet<usize>, radius: f64) -> Self {
        let mut grid = Self {
            points,
            cell: radius,
            cells: HashMap::new(),
        };
        for point in used {
            let cell = grid.cell_of(points[*point]);
            grid.cells.entry(cell).or_default().push(*point);
        }
        grid
    }

    fn cell_of(&self, point: DVec3) -> I64Vec3 {
        (point / self.cell).floor().as_i64vec3()
    }

    /// At most so many points within the radius of a place, the nearest ones.
    fn near(&self, place: DVec3, most: usize) -> Vec<usize> {
        let center = self.cell_of(place);
        let mut out = Vec::new();
        for x in -1..=1 {
            for y in -1..=1 {
                for z in -1..=1 {
                    let cell = center + I64Vec3::new(x, y, z);
                    out.extend(self.cells.get(&cell).into_iter().flatten().copied());
                }
            }
        }
        let distance = |p: &usize| self.points[*p].distance(place);
        out.retain(|p| distance(p) <= self.cell);
        out.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        out.truncate(most);
        out
    }
}

/// Meshes with their nodes, and the nodes that are left.
type Paired<'a> = (Vec<(&'a MeshPrim, &'a MeshNode)>, Vec<&'a MeshNode>);

/// Pairs the meshes of both sides, the most alike first: by where they are, and by names and numbers of triangles where several are
/// at one place. Also gives the nodes that are left.
///
/// # Errors
/// Text with the first mesh that is no node.
pub fn pair_meshes<'a>(want: &'a [MeshPrim], got: &'a [MeshNode]) -> Result<Paired<'a>, String> {
    let all: Vec<DVec3> = want.iter().flat_map(|m| m.points[0].clone()).collect();
    let whole = size(&all).max(f64::MIN_POSITIVE);
    let mut costs = Vec::new();
    for (i, prim) in want.iter().enumerate() {
        let name = prim.path.rsplit('/').next().unwrap_or_default();
        let triangles: usize = prim.counts.iter().map(|c| c.saturating_sub(2)).sum();
        for (j, node) in got.iter().enumerate() {
            let boxes = prim.points.iter().zip(&node.points);
            let off = boxes.map(|(a, b)| {
                let (a, b) = (bounds(a), bounds(b));
                a[0].distance(b[0]).max(a[1].distance(b[1]))
            });
            let places: Vec<u64> = off.map(|off| (off / whole * 1e4).round() as u64).collect();
            // Where a mesh does not move as it should, it is in its place at one moment at least.
            let nearest = places.iter().copied().min().unwrap_or_default();
            let farthest = places.iter().copied().max().unwrap_or_default();
            let other_name = !node.name.starts_with(name);
            let more = node.triangles.len().abs_diff(triangles);
            costs.push(((nearest, other_name, farthest, more), i, j));
        }
    }
    costs.sort();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, i, j) in costs {
        if pairs.iter().all(|p| p.0 != i && p.1 != j) {
            pairs.push((i, j));
        }
    }
    if let Some(lost) = (0..want.len()).find(|i| pairs.iter().all(|p| p.0 != *i)) {
        return Err(format!("{} is not in the glTF file", want[lost].path));
    }
    let more = (0..got.len()).filter(|j| pairs.iter().all(|p| p.1 != *j));
    let more = more.map(|j| &got[j]).collect();
    let pairs = pairs.into_iter().map(|(i, j)| (&want[i], &got[j]));
    Ok((pairs.collect(), more))
}
