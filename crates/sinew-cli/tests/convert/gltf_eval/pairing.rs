//! Which mesh of one side is which of the other: names differ, so positions decide.

use glam::DVec3;
use libtest_mimic::Failed;

use crate::gltf_eval::moments::Moment;
use common::compare::{compare_within, size};

/// A mesh in the world over time.
#[derive(Clone, Debug)]
pub struct Shown {
    pub name: String,
    /// By a skin or morph targets that move points, where that is known.
    pub deforms: bool,
    /// For each moment.
    pub points: Vec<Vec<DVec3>>,
    /// For each moment; empty lists where it has none.
    pub normals: Vec<Vec<DVec3>>,
    /// Point indices of all triangles; empty where they are not looked at.
    pub corners: Vec<usize>,
}

impl Shown {
    /// Some of the moments.
    pub fn at(&self, moments: &[usize]) -> Self {
        let pick = |all: &[Vec<DVec3>]| moments.iter().map(|i| all[*i].clone()).collect();
        Self {
            points: pick(&self.points),
            normals: pick(&self.normals),
            ..self.clone()
        }
    }
}

/// Pairs meshes of as many points, the most alike first; gives what is left on either side.
pub fn pair<'a>(
    want: &'a [Shown],
    got: &'a [Shown],
) -> (Vec<(&'a Shown, &'a Shown)>, Vec<&'a Shown>, Vec<&'a Shown>) {
    let mut costs = Vec::new();
    for (i, want) in want.iter().enumerate() {
        for (j, got) in got.iter().enumerate() {
            if let Some(cost) = cost(want, got) {
                costs.push((cost, i, j));
            }
        }
    }
    costs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut wanted, mut used) = (vec![false; want.len()], vec![false; got.len()]);
    let mut pairs = Vec::new();
    for (_, i, j) in costs {
        if !wanted[i] && !used[j] {
            (wanted[i], used[j]) = (true, true);
            pairs.push((&want[i], &got[j]));
        }
    }
    let left = |list: &'a [Shown], used: &[bool]| -> Vec<&'a Shown> {
        list.iter()
            .zip(used)
            .filter(|(_, used)| !**used)
            .map(|(shown, _)| shown)
            .collect()
    };
    (pairs, left(want, &wanted), left(got, &used))
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
    pub moments: &'a [Moment],
}

impl Allowed<'_> {
    /// Compares every moment.
    pub fn compare(&self, (want, got): (&Shown, &Shown)) -> Result<(), Failed> {
        if !got.corners.is_empty() && got.corners != want.corners {
            return Err(format!("{}: other faces at {}", want.name, got.name).into());
        }
        for (i, moment) in self.moments.iter().enumerate() {
            // Of what a clip scales away, the size that it began with.
            let size = size(&want.points[i])
                .max(size(&want.points[0]))
                .max(self.size);
            let share = if moment.is_key {
                self.points.0
            } else {
                self.points.1
            };
            let what = format!(
                "{} at {} s ({}), {}",
                want.name,
                moment.seconds,
                if moment.is_key {
                    "a key"
                } else {
                    "between keys"
                },
                got.name
            );
            let points = compare_within(&what, &got.points[i], &want.points[i], share * size);
            points.map_err(|e| format!("{e}; {:.2e} of the size {size:.3} are allowed", share))?;
            let (want, got) = (&want.normals[i], &got.normals[i]);
            // A scene has no normals where nothing moves them.
            if !moment.is_key || want.is_empty() || (got.is_empty() && self.normals_may_lack) {
                continue;
            }
            let what = format!("normals of {what}");
            if got.len() != want.len() {
                return Err(format!("{what}: {}, expected {}", got.len(), want.len()).into());
            }
            // What is scaled to nothing has no normals.
            let both = got.iter().zip(want).filter(|(_, w)| **w != DVec3::ZERO);
            let (got, want): (Vec<DVec3>, Vec<DVec3>) = both.unzip();
            compare_within(&what, &got, &want, self.normals)?;
        }
        Ok(())
    }
}
