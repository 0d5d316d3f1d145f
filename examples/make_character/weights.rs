//! Joint influences from weights of all the joints.

use crate::mesh::Quad;

/// Joint and weight, the largest first.
pub type Influences = Vec<(usize, f32)>;

/// More than the four that many a renderer stops at.
const MOST: usize = 6;

/// Weights are written with four digits.
const UNITS: i32 = 10_000;

/// The largest weights that are not less than `least`, rounded as they are written, so that what is
/// read sums to exactly one.
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

/// Every point's weights, half its own and half its neighbours' mean, `rounds` times over.
pub fn smooth(mut weights: Vec<Vec<f32>>, faces: &[Quad], rounds: usize) -> Vec<Vec<f32>> {
    let mut neighbours = vec![Vec::new(); weights.len()];
    for face in faces {
        for k in 0..4 {
            neighbours[face[k]].push(face[(k + 1) % 4]);
        }
    }
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
