//! Splits faces into triangles.

use glam::{DVec2, DVec3, Vec3};

/// A face with more corners becomes a fan even if it is not convex. Ear clipping takes quadratic
/// time in the worst case, and a file may have a face with millions of corners.
const MOST_CORNERS_TO_CUT: usize = 4096;

/// Splits one face into triangles with the orientation of the face, as indices of its corners.
/// There are always `points.len() - 2`: no corner is left out, and no gap opens to neighbouring
/// faces when points move.
///
/// The triangles are a fan from the first corner, as in Hydra's HdMeshUtil, if the fan stays inside
/// the face. Otherwise ears are clipped from the outline of the face, seen along its normal.
pub(super) fn triangulate(points: &[Vec3], out: &mut Vec<[usize; 3]>) {
    out.clear();
    let corners = points.len();
    let fan = |out: &mut Vec<[usize; 3]>| {
        out.clear();
        out.extend((1..corners.saturating_sub(1)).map(|i| [0, i, i + 1]));
    };
    if corners > 3 && corners <= MOST_CORNERS_TO_CUT {
        let outline = outline(points);
        let inside = outline.as_ref().is_none_or(|o| {
            let mut others = (1..corners - 1).map(|i| doubled_area(o[0], o[i], o[i + 1]));
            others.all(|area| area >= 0.0)
        });
        if let Some(outline) = outline.filter(|_| !inside)
            && cut_ears(&outline, out)
        {
            return;
        }
    }
    fan(out);
}

/// Twice the area of a triangle; positive if its corners run counter-clockwise.
fn doubled_area(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// A face seen along its normal, counter-clockwise and within the unit square. `None` if it has no
/// area.
fn outline(points: &[Vec3]) -> Option<Vec<DVec2>> {
    let first = points[0].as_dvec3();
    let from_first = points.iter().map(|p| p.as_dvec3() - first);
    let size = from_first.clone().fold(0.0f64, |s, p| s.max(p.length()));
    // Newell's normal. The points are scaled first, because products of tiny numbers underflow.
    let scaled: Vec<DVec3> = from_first.map(|p| p / size).collect();
    let next = scaled.iter().cycle().skip(1);
    let normal = scaled
        .iter()
        .zip(next)
        .map(|(a, b)| a.cross(*b))
        .sum::<DVec3>();
    let normal = normal.try_normalize()?;
    let (right, up) = normal.any_orthonormal_pair();
    let flat = scaled.iter().map(|p| DVec2::new(p.dot(right), p.dot(up)));
    let flat: Vec<DVec2> = flat.collect();
    let low = flat.iter().copied().reduce(DVec2::min)?;
    let high = flat.iter().copied().reduce(DVec2::max)?;
    let scale = (high - low).max_element();
    let unit: Vec<DVec2> = flat.iter().map(|p| (p - low) / scale).collect();
    unit.iter().all(|p| p.is_finite()).then_some(unit)
}

/// Clips ears from an outline. Returns false if that fails, which happens only if the outline
/// crosses itself.
fn cut_ears(outline: &[DVec2], out: &mut Vec<[usize; 3]>) -> bool {
    let flat: Vec<f64> = outline.iter().flat_map(|p| p.to_array()).collect();
    let Ok(ears) = earcutr::earcut(&flat, &[], 2) else {
        return false;
    };
    out.clear();
    for ear in ears.chunks_exact(3) {
        let mut triangle = [ear[0], ear[1], ear[2]];
        // Corners in the order of the face have the orientation of the face.
        triangle.sort_unstable();
        if triangle[2] >= outline.len() {
            return false;
        }
        out.push(triangle);
    }
    put_back(outline.len(), out);
    let area = |t: &[usize; 3]| doubled_area(outline[t[0]], outline[t[1]], outline[t[2]]);
    let around = outline.iter().zip(outline.iter().cycle().skip(1));
    let whole: f64 = around.map(|(a, b)| a.perp_dot(*b)).sum();
    let sum: f64 = out.iter().map(|t| area(t).abs()).sum();
    out.len() == outline.len() - 2 && (sum - whole).abs() <= 1e-9 * whole.abs().max(1.0)
}

/// Adds the corners that ear clipping left out because they lie on a straight line, by splitting
/// the triangle at that line.
fn put_back(corners: usize, triangles: &mut Vec<[usize; 3]>) {
    let mut used = vec![false; corners];
    for corner in triangles.iter().flatten() {
        used[*corner] = true;
    }
    let kept: Vec<usize> = (0..corners).filter(|c| used[*c]).collect();
    if kept.len() == corners || kept.len() < 3 {
        return;
    }
    let after = kept.iter().cycle().skip(1);
    for (&from, &to) in kept.iter().zip(after) {
        let between = (to + corners - from) % corners;
        if between < 2 {
            continue;
        }
        let has = |t: &[usize; 3]| t.contains(&from) && t.contains(&to);
        let Some(at) = triangles.iter().position(has) else {
            continue;
        };
        let old = triangles.swap_remove(at);
        let Some(&tip) = old.iter().find(|c| **c != from && **c != to) else {
            continue;
        };
        for step in 0..between {
            let mut new = [(from + step) % corners, (from + step + 1) % corners, tip];
            new.sort_unstable();
            triangles.push(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area_of(points: &[Vec3]) -> (f64, f64) {
        let mut triangles = Vec::new();
        triangulate(points, &mut triangles);
        assert_eq!(triangles.len(), points.len().saturating_sub(2));
        let at = |i: usize| points[i].as_dvec3();
        let vector = |t: &[usize; 3]| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])) / 2.0;
        let whole: DVec3 = (1..points.len() - 1).map(|i| vector(&[0, i, i + 1])).sum();
        let direction = whole.normalize_or_zero();
        let sum: f64 = triangles.iter().map(|t| vector(t).length()).sum();
        let signed: f64 = triangles.iter().map(|t| vector(t).dot(direction)).sum();
        assert!(
            (sum - signed).abs() < 1e-9 * sum.max(1e-30),
            "a triangle lies upside down"
        );
        (sum, whole.length())
    }

    fn flat(points: &[[f32; 2]]) -> Vec<Vec3> {
        // The plane is not one of the axes', and coordinates are large.
        let place = |p: &[f32; 2]| Vec3::new(p[0], p[1], p[0] + 2.0 * p[1]) * 64.0;
        points.iter().map(place).collect()
    }

    #[test]
    fn areas_are_the_polygons() {
        let star: Vec<[f32; 2]> = (0..10)
            .map(|i| {
                let (sin, cos) = (i as f32 * std::f32::consts::TAU / 10.0).sin_cos();
                let r = if i % 2 == 0 { 1.0 } else { 0.3 };
                [cos * r, sin * r]
            })
            .collect();
        let comb: Vec<[f32; 2]> = (0..200)
            .map(|i| [i as f32, if i % 2 == 0 { 0.0 } else { -50.0 }])
            .chain([[199.0, 10.0], [0.0, 10.0]])
            .rev()
            .collect();
        let cases: [&[[f32; 2]]; 8] = [
            &[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]],
            // Concave, at each of its corners in turn.
            &[[0.0, 0.0], [2.0, 0.0], [0.5, 0.5], [0.0, 2.0]],
            &[[2.0, 0.0], [0.5, 0.5], [0.0, 2.0], [0.0, 0.0]],
            &[[0.5, 0.5], [0.0, 2.0], [0.0, 0.0], [2.0, 0.0]],
            // A concave face with corners on its straight sides.
            &[
                [0.5, 0.5],
                [0.0, 2.0],
                [0.0, 1.5],
                [0.0, 0.5],
                [0.0, 0.0],
                [1.0, 0.0],
                [2.0, 0.0],
            ],
            // A C, clockwise.
            &[
                [0.0, 0.0],
                [0.0, 3.0],
                [3.0, 3.0],
                [3.0, 2.0],
                [1.0, 2.0],
                [1.0, 1.0],
                [3.0, 1.0],
                [3.0, 0.0],
            ],
            &star,
            &comb,
        ];
        for points in cases {
            let (sum, whole) = area_of(&flat(points));
            assert!(
                (sum - whole).abs() < 1e-9 * whole,
                "{sum} of {whole}: {points:?}"
            );
        }
    }

    #[test]
    fn faces_without_area_are_fans() {
        let mut out = Vec::new();
        for points in [
            vec![Vec3::ONE; 5],
            (0..5).map(|i| Vec3::X * i as f32).collect(),
        ] {
            triangulate(&points, &mut out);
            assert_eq!(out, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
        }
        triangulate(&[], &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn a_crossed_outline_still_has_its_triangles() {
        let mut out = Vec::new();
        let bow = flat(&[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 1.0], [1.0, -1.0]]);
        triangulate(&bow, &mut out);
        assert_eq!(out.len(), 3);
        let huge: Vec<Vec3> = (0..50_000)
            .map(|i| Vec3::new((i * 7919 % 1013) as f32, i as f32, 0.0))
            .collect();
        triangulate(&huge, &mut out);
        assert_eq!(out.len(), 49_998);
    }
}
