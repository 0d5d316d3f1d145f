//! Curves (UsdGeomBasisCurves) on the GPU: short straight pieces, which the shader turns into ribbons
//! that face the camera. Each piece has the weights of the points at its two ends, so that skinned
//! curves need no other data.

use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

use super::mesh::eight_bits;
use sinew::scene::{CurveBasis, CurveWrap, Curves, DrawnMesh, Primvar};
use sinew::skel::PrimvarInterpolation;

/// Number of pieces of one segment of a cubic curve.
const STEPS: usize = 8;

/// Largest number of pieces of one prim. A prim with more segments gets fewer pieces for each.
const MOST: usize = 1 << 21;

/// Bytes of a piece.
pub(super) const PIECE_BYTES: u64 = size_of::<Piece>() as u64;

/// A straight piece of a curve, in the layout of surface.wgsl.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Piece {
    /// The points that the curve is made of here.
    points: [u32; 4],
    /// Their weights at the beginning and at the end of the piece.
    weights: [[f32; 4]; 2],
    /// The weights that give the direction of the curve there.
    slopes: [[f32; 4]; 2],
    /// Widths at the beginning and at the end, in prim space.
    widths: [f32; 2],
    /// Linear colour and opacity, 8 bits each.
    color: [u8; 4],
}

/// The pieces of all curves of a prim; none if it has faces.
pub(super) fn pieces(mesh: &DrawnMesh) -> Vec<Piece> {
    let Some(curves) = &mesh.curves else {
        return Vec::new();
    };
    let segments = segments(curves);
    let steps = match curves.basis {
        CurveBasis::Linear => 1,
        _ => (MOST / segments.len().max(1)).clamp(1, STEPS),
    };
    let colors = mesh.display_color.as_ref();
    let opacities = mesh.display_opacity.as_ref();
    let mut out = Vec::new();
    for segment in segments.iter().take(MOST) {
        let at = |i: usize| {
            let t = i as f32 / steps as f32;
            let weights = segment.weights(curves.basis, t);
            let slopes = segment.slopes(curves.basis, t).to_array();
            (weights, segment.width(curves, weights).max(0.0), slopes)
        };
        let color = colors.and_then(|p| value(p, segment)).unwrap_or(Vec3::ONE);
        let opacity = opacities.and_then(|p| value(p, segment)).unwrap_or(1.0);
        for step in 0..steps {
            let ends = [at(step), at(step + 1)];
            out.push(Piece {
                points: segment.points,
                weights: ends.map(|(weights, ..)| weights.to_array()),
                slopes: ends.map(|(.., slopes)| slopes),
                widths: ends.map(|(_, width, _)| width),
                color: color.extend(opacity).to_array().map(eight_bits),
            });
        }
    }
    out
}

/// One segment of a curve: four points for a cubic basis, and two for a linear one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    curve: usize,
    points: [u32; 4],
    /// Whether the point before the first, or the one after the last, is a reflection (`pinned`).
    reflected: [bool; 2],
}

/// The segments of all curves. Curves of too few points have none.
fn segments(curves: &Curves) -> Vec<Segment> {
    let mut out = Vec::new();
    let mut start = 0;
    for (curve, &count) in curves.counts.iter().enumerate() {
        let count = count as usize;
        let is_periodic = curves.wrap == CurveWrap::Periodic;
        let is_pinned = curves.wrap == CurveWrap::Pinned;
        let (first, step, number) = match curves.basis {
            _ if count < 2 => (0, 1, 0),
            CurveBasis::Linear if is_periodic => (0, 1, count),
            CurveBasis::Linear => (0, 1, count - 1),
            CurveBasis::Bezier if is_periodic => (0, 3, count / 3),
            CurveBasis::Bezier => (0, 3, (count - 1) / 3),
            _ if is_periodic => (0, 1, count),
            _ if is_pinned => (-1, 1, count - 1),
            _ => (0, 1, count.saturating_sub(3)),
        };
        for segment in 0..number {
            let from = first + (segment * step) as isize;
            let last = count as isize - 1;
            let point = |j: isize| {
                let at = match is_periodic {
                    true => (from + j).rem_euclid(count as isize),
                    false => (from + j).clamp(0, last),
                };
                (start + at as usize) as u32
            };
            out.push(Segment {
                curve,
                points: [point(0), point(1), point(2), point(3)],
                reflected: [is_pinned && from < 0, is_pinned && from + 3 > last],
            });
            if out.len() >= MOST {
                return out;
            }
        }
        start += count;
    }
    out
}

impl Segment {
    /// The weights of the four points at a place from 0 to 1.
    fn weights(&self, basis: CurveBasis, t: f32) -> Vec4 {
        let s = 1.0 - t;
        let (t2, t3) = (t * t, t * t * t);
        let w = match basis {
            CurveBasis::Linear => return Vec4::new(s, t, 0.0, 0.0),
            CurveBasis::Bezier => {
                return Vec4::new(s * s * s, 3.0 * s * s * t, 3.0 * s * t2, t3);
            }
            CurveBasis::BSpline => {
                Vec4::new(
                    s * s * s,
                    3.0 * t3 - 6.0 * t2 + 4.0,
                    -3.0 * t3 + 3.0 * t2 + 3.0 * t + 1.0,
                    t3,
                ) / 6.0
            }
            CurveBasis::CatmullRom => {
                0.5 * Vec4::new(
                    -t3 + 2.0 * t2 - t,
                    3.0 * t3 - 5.0 * t2 + 2.0,
                    -3.0 * t3 + 4.0 * t2 + t,
                    t3 - t2,
                )
            }
        };
        self.folded(w)
    }

    /// The derivatives of the weights at a place from 0 to 1.
    fn slopes(&self, basis: CurveBasis, t: f32) -> Vec4 {
        let s = 1.0 - t;
        let t2 = t * t;
        self.folded(match basis {
            CurveBasis::Linear => return Vec4::new(-1.0, 1.0, 0.0, 0.0),
            CurveBasis::Bezier => {
                let (ss, st) = (s * s, s * t);
                return 3.0 * Vec4::new(-ss, ss - 2.0 * st, 2.0 * st - t2, t2);
            }
            CurveBasis::BSpline => {
                0.5 * Vec4::new(-s * s, 3.0 * t2 - 4.0 * t, -3.0 * t2 + 2.0 * t + 1.0, t2)
            }
            CurveBasis::CatmullRom => {
                0.5 * Vec4::new(
                    -3.0 * t2 + 4.0 * t - 1.0,
                    9.0 * t2 - 10.0 * t,
                    -9.0 * t2 + 8.0 * t + 1.0,
                    3.0 * t2 - 2.0 * t,
                )
            }
        })
    }

    /// Weights without those of reflected points: such a point is twice the end less the point
    /// beside it.
    fn folded(&self, mut w: Vec4) -> Vec4 {
        if self.reflected[0] {
            (w.y, w.z) = (w.y + 2.0 * w.x, w.z - w.x);
            w.x = 0.0;
        }
        if self.reflected[1] {
            (w.z, w.y) = (w.z + 2.0 * w.w, w.y - w.w);
            w.w = 0.0;
        }
        w
    }

    fn width(&self, curves: &Curves, weights: Vec4) -> f32 {
        let Some(widths) = &curves.widths else {
            return 0.0;
        };
        let at = |i: usize| widths.values.get(i).copied().unwrap_or(0.0);
        match widths.interpolation {
            PrimvarInterpolation::Constant => at(0),
            PrimvarInterpolation::Uniform => at(self.curve),
            PrimvarInterpolation::Vertex | PrimvarInterpolation::FaceVarying => {
                weights.dot(Vec4::from(self.points.map(|p| at(p as usize))))
            }
        }
    }
}

/// The value of a primvar at the first point of a segment, at the first time.
fn value<T: Copy>(primvar: &Primvar<T>, segment: &Segment) -> Option<T> {
    let element = match primvar.interpolation {
        PrimvarInterpolation::Constant => 0,
        PrimvarInterpolation::Uniform => segment.curve,
        PrimvarInterpolation::Vertex | PrimvarInterpolation::FaceVarying => {
            segment.points[1] as usize
        }
    };
    let index = match &primvar.indices {
        Some(indices) => *indices.get(element)? as usize,
        None => element,
    };
    primvar.values.first()?.get(index).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(basis: CurveBasis, wrap: CurveWrap, counts: &[u32]) -> Curves {
        Curves {
            counts: counts.to_vec(),
            basis,
            wrap,
            widths: None,
        }
    }

    /// Where a segment is at a place, for points on a line at 0, 1, 2 and so on.
    fn place(curves: &Curves, segment: usize, t: f32) -> f32 {
        let segment = segments(curves)[segment];
        let points = Vec4::from(segment.points.map(|p| p as f32));
        segment.weights(curves.basis, t).dot(points)
    }

    #[test]
    fn curves_begin_and_end_where_their_basis_says() {
        use CurveBasis::{BSpline, Bezier, CatmullRom, Linear};
        use CurveWrap::{Nonperiodic, Periodic, Pinned};
        for (basis, wrap, count, number, first, last) in [
            (Linear, Nonperiodic, 4, 3, 0.0, 3.0),
            (Linear, Periodic, 4, 4, 0.0, 0.0),
            (Bezier, Nonperiodic, 7, 2, 0.0, 6.0),
            (Bezier, Periodic, 6, 2, 0.0, 0.0),
            (BSpline, Nonperiodic, 5, 2, 1.0, 3.0),
            (BSpline, Pinned, 5, 4, 0.0, 4.0),
            (CatmullRom, Nonperiodic, 5, 2, 1.0, 3.0),
            (CatmullRom, Pinned, 5, 4, 0.0, 4.0),
            (CatmullRom, Periodic, 5, 5, 1.0, 1.0),
        ] {
            let curves = curves(basis, wrap, &[count]);
            let name = format!("{basis:?} {wrap:?}");
            assert_eq!(segments(&curves).len(), number, "{name}");
            assert!((place(&curves, 0, 0.0) - first).abs() < 1e-5, "{name}");
            let end = place(&curves, number - 1, 1.0);
            assert!((end - last).abs() < 1e-5, "{name}: {end}");
            for t in [0.0, 0.3, 1.0] {
                let sum = segments(&curves)[0].weights(basis, t).element_sum();
                assert!((sum - 1.0).abs() < 1e-5, "{name}");
                // The slope is what a small step changes.
                let segment = segments(&curves)[0];
                let step = segment.weights(basis, t + 1e-2) - segment.weights(basis, t - 1e-2);
                let off = (segment.slopes(basis, t) - step / 2e-2).abs().max_element();
                assert!(off < 1e-2, "{name} at {t}: {off}");
            }
        }
    }

    #[test]
    fn short_curves_have_no_segments_and_later_ones_their_own_points() {
        let curves = curves(CurveBasis::Bezier, CurveWrap::Nonperiodic, &[0, 1, 3, 4]);
        let all = segments(&curves);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].curve, all[0].points), (3, [4, 5, 6, 7]));
    }
}
