//! Which vertex of a glTF file is which point of a stage: vertices are split where the values of face corners differ, and polygons
//! become triangles, so positions over time decide.

use std::collections::{BTreeSet, HashMap};

use glam::DVec3;
use libtest_mimic::Failed;

use crate::shown::{Paired, Shown, cheapest};
use common::compare::{bounds, size};

/// Points of a stage's mesh and vertices of a glTF file's that are the same.
pub struct Match {
    /// The largest distance of a vertex from its point at a key, relative to the mesh's size.
    pub error: f64,
    /// Where that is: the vertex and the moment.
    pub worst: (usize, usize),
    /// The largest such distance at each moment, key or not, and the vertex where it is.
    pub moments: Vec<(f64, usize)>,
    /// For each vertex, the points that it may be: several where points stay together.
    pub points: Vec<Vec<usize>>,
}

/// The distance up to which points are looked for, relative to the mesh's size.
const FAR: f64 = 0.1;

/// Distances that count as none, relative to the mesh's size: of points that stay together.
const TOGETHER: f64 = 1e-5;

/// Whether an error is more than what is allowed, or no number.
pub fn exceeds(error: f64, allowed: f64) -> bool {
    error.is_nan() || error > allowed
}

/// What is off, if that is more than what is allowed.
pub fn within(error: f64, allowed: f64) -> Result<(), String> {
    match exceeds(error, allowed) {
        true => Err(format!("off by {error:.2e}, {allowed:.2e} are allowed")),
        false => Ok(()),
    }
}

/// Pairs meshes by where they are, and matches the points of each pair at all moments.
///
/// # Errors
/// Text with the first mesh or point that has no partner, or that `judge` says.
pub fn matched(
    want: &[Shown],
    got: &[Shown],
    judge: impl Fn(&Shown, &Shown, &Match) -> Result<(), String>,
) -> Result<(), Failed> {
    for (want, got) in pair_meshes(want, got, false)?.pairs {
        let found = match_points(want, got, |_| true)?;
        let (vertex, moment) = found.worst;
        judge(want, got, &found).map_err(|e| {
            format!(
                "'{}', worst at vertex {vertex}, moment {moment}: {e}",
                got.name
            )
        })?;
    }
    Ok(())
}

/// Finds the points of all vertices of a mesh, by where they are at the moments that are keys: between keys they may be off by more than
/// from their neighbours.
///
/// # Errors
/// Text, if the mesh has no points, or a vertex is far from all of them.
pub fn match_points(
    want: &Shown,
    got: &Shown,
    is_key: impl Fn(usize) -> bool,
) -> Result<Match, String> {
    let moments = 0..want.points.len();
    let mut keys: Vec<usize> = moments.clone().filter(|t| is_key(*t)).collect();
    if keys.is_empty() {
        keys = moments.collect();
    }
    let used: BTreeSet<usize> = want.corners.iter().copied().collect();
    let mut sizes: Vec<f64> = want.points.iter().map(|p| size(p)).collect();
    // Where the mesh is largest its points are farthest from each other.
    let largest = keys.iter().max_by(|a, b| sizes[**a].total_cmp(&sizes[**b]));
    let base = *largest.filter(|_| !used.is_empty()).ok_or("no points")?;
    let full = sizes[base].max(f64::MIN_POSITIVE);
    // Of what is scaled away, the size at its largest.
    sizes.iter_mut().for_each(|s| *s = s.max(0.01 * full));
    let off_at = |vertex: usize, point: usize, t: usize| {
        got.points[t][vertex].distance(want.points[t][point]) / sizes[t]
    };
    // The largest distance at a key, and the key. A NaN is the largest.
    let off = |vertex: usize, point: usize| -> (f64, usize) {
        let each = keys.iter().map(|t| (off_at(vertex, point, *t), *t));
        each.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
    };
    let x = |point: usize| want.points[base][point].x;
    let mut along_x: Vec<usize> = used.into_iter().collect();
    along_x.sort_by(|a, b| x(*a).total_cmp(&x(*b)));
    // Distances at the base from the points that are at most so far from a vertex along x, and maybe some more.
    let at_base = |vertex: usize, far: f64| {
        let (place, far) = (got.points[base][vertex].x, (1.001 * far).min(FAR) * full);
        let first = along_x.partition_point(|p| x(*p) < place - far);
        let end = along_x.partition_point(|p| x(*p) <= place + far);
        let near = along_x.get(first..end).unwrap_or_default().iter();
        near.map(move |p| (off_at(vertex, *p, base), *p))
    };
    let mut out = Match {
        error: 0.0,
        worst: (0, 0),
        moments: vec![(0.0, 0); sizes.len()],
        points: Vec::new(),
    };
    for vertex in 0..got.points[base].len() {
        // Most are together with their points, and a few points are looked at. What is farther away than they is no nearer.
        let mut far = TOGETHER;
        let nearest = loop {
            let nearest = at_base(vertex, far).min_by(|a, b| a.0.total_cmp(&b.0));
            if far >= FAR || nearest.is_some_and(|n| n.0 <= far) {
                break nearest;
            }
            far *= 10.0;
        };
        let nearest = nearest.filter(|n| n.0 <= FAR);
        let (_, nearest) = nearest.ok_or("vertices that are far from every point")?;
        // Many points may be together at one moment. Any better one is as near at this moment.
        let most = off(vertex, nearest).0 + TOGETHER;
        let near = at_base(vertex, most).filter(|(off, _)| !exceeds(*off, most));
        let off: Vec<_> = near.map(|(_, p)| (off(vertex, p), p)).collect();
        let best = off.iter().min_by(|a, b| a.0.0.total_cmp(&b.0.0));
        let ((error, moment), point) = *best.ok_or("points that are no numbers")?;
        if exceeds(error, out.error) {
            (out.error, out.worst) = (error, (vertex, moment));
        }
        for (t, worst) in out.moments.iter_mut().enumerate() {
            let error = off_at(vertex, point, t);
            if exceeds(error, worst.0) {
                *worst = (error, vertex);
            }
        }
        let together = off.iter().filter(|d| d.0.0 <= error + TOGETHER);
        out.points.push(together.map(|d| d.1).collect());
    }
    Ok(out)
}

impl Match {
    /// The largest distance of a vertex from its point, at keys and relative to the mesh's largest size, where the same
    /// vertices are at other places.
    ///
    /// # Errors
    /// Text, if there are not as many vertices.
    pub fn error_of(
        &self,
        want: &Shown,
        got: &Shown,
        is_key: impl Fn(usize) -> bool,
    ) -> Result<f64, String> {
        let sizes = want.points.iter().map(|p| size(p));
        let full = sizes.fold(f64::MIN_POSITIVE, f64::max);
        let mut out = 0.0f64;
        let moments = want.points.iter().zip(&got.points).enumerate();
        for (_, (want, got)) in moments.filter(|(moment, _)| is_key(*moment)) {
            let (here, baked) = (got.len(), self.points.len());
            if here != baked {
                return Err(format!("{here} vertices, {baked} if baked"));
            }
            for (vertex, points) in got.iter().zip(&self.points) {
                let distances = points.iter().map(|p| want[*p].distance(*vertex));
                out = out.max(distances.fold(f64::INFINITY, f64::min) / full);
            }
        }
        Ok(out)
    }

    /// For each vertex, the least of what is off at one of its points; the largest of those.
    pub fn worst_of(&self, off: impl Fn(usize, usize) -> f64) -> f64 {
        let least = |(vertex, points): (usize, &Vec<usize>)| {
            let each = points.iter().map(|point| off(vertex, *point));
            each.fold(f64::INFINITY, f64::min)
        };
        self.points
            .iter()
            .enumerate()
            .map(least)
            .fold(0.0, f64::max)
    }

    /// Every point of a face is a vertex.
    ///
    /// # Errors
    /// Text with the first that is none.
    pub fn every_point(&self, want: &Shown) -> Result<(), String> {
        let found: BTreeSet<usize> = self.points.iter().flatten().copied().collect();
        let used: BTreeSet<usize> = want.corners.iter().copied().collect();
        match used.difference(&found).next() {
            Some(lost) => Err(format!("point {lost} is no vertex")),
            None => Ok(()),
        }
    }

    /// Every point of a face is a vertex, and triangles are parts of faces and cover them, facing the same way.
    ///
    /// # Errors
    /// Text with the first that is not so.
    pub fn same_faces(&self, want: &Shown, got: &Shown) -> Result<(), String> {
        self.every_point(want)?;
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
        for triangle in got.triangles() {
            let corners = triangle.map(|v| &self.points[v]);
            let of_first = corners[0].iter().filter_map(|p| faces_of.get(p)).flatten();
            let holds =
                |f: &&usize| turns_with(faces[**f], corners, want.left_handed != got.left_handed);
            let holding: Vec<usize> = of_first.filter(holds).copied().collect();
            // Of faces that lie together, the one that lacks triangles.
            let lacking = |f: &&usize| triangles_of[**f] + 2 < faces[**f].len();
            let Some(face) = holding.iter().find(lacking).or(holding.first()) else {
                return Err(format!(
                    "the triangle of the points {corners:?} is no part of a face that turns as it does"
                ));
            };
            triangles_of[*face] += 1;
        }
        let expected: usize = faces.iter().map(|f| f.len().saturating_sub(2)).sum();
        match got.triangles().count() {
            count if count == expected => Ok(()),
            count => Err(format!("{count} triangles, expected {expected}")),
        }
    }
}

/// Whether a face has points of all three lists, in their order or, if it is `turned`, against it.
fn turns_with(face: &[usize], corners: [&Vec<usize>; 3], turned: bool) -> bool {
    let at = |list: &Vec<usize>| -> Vec<usize> {
        let places = 0..face.len();
        places.filter(|i| list.contains(&face[*i])).collect()
    };
    let [a, mut b, mut c] = corners.map(at);
    if turned {
        std::mem::swap(&mut b, &mut c);
    }
    let after = |from: usize, to: usize| (to + face.len() - from) % face.len();
    let in_order = |a: usize, b: usize, c: usize| 0 < after(a, b) && after(a, b) < after(a, c);
    let turns = |a: usize, b: usize| c.iter().any(|c| in_order(a, b, *c));
    a.iter().any(|a| b.iter().any(|b| turns(*a, *b)))
}

/// Pairs the meshes of both sides, the most alike first: by where they are, and by names and numbers of triangles where several are
/// at one place; or `by_name` first, where meshes may be at other places.
///
/// # Errors
/// Text with the first mesh that is no node.
pub fn pair_meshes<'a>(
    want: &'a [Shown],
    got: &'a [Shown],
    by_name: bool,
) -> Result<Paired<'a>, String> {
    let all: Vec<DVec3> = want.iter().flat_map(|m| m.points[0].clone()).collect();
    let whole = size(&all).max(f64::MIN_POSITIVE);
    let mut costs = Vec::new();
    for (i, prim) in want.iter().enumerate() {
        let name = prim.name.rsplit('/').next().unwrap_or_default();
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
            let other_name = match node.name.strip_prefix(name) {
                Some("") => 0,
                Some(_) => 1,
                None => 2,
            };
            let first = if by_name { other_name } else { 0 };
            let more = node.triangles().count().abs_diff(triangles);
            costs.push(((first, nearest, other_name, farthest, more), i, j));
        }
    }
    let paired = Paired::new(want, got, &cheapest(costs));
    match paired.left.first() {
        Some(lost) => Err(format!("{} is not in the glTF file", lost.name)),
        None => Ok(paired),
    }
}
