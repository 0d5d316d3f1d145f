//! JOINTS_n and WEIGHTS_n: all sets side by side (glTF 2.0, 3.7.3.3).

use super::accessor::{Accessor, Component, Shape};
use super::document::Document;
use super::json::Json;
use super::meshes::SkinLimit;
use sinew::error::Invalid;

/// Joints and weights of all points, `each` per point.
#[derive(Default)]
pub(super) struct Influences {
    pub each: usize,
    pub joints: Vec<u32>,
    pub weights: Vec<f32>,
}

pub(super) fn read(
    document: &Document,
    attributes: &Json<'_>,
    points: usize,
    limit: Option<SkinLimit>,
) -> Result<Influences, Invalid> {
    let mut sets = Vec::new();
    for (name, reference) in attributes.members()? {
        let number = |prefix| {
            let number = name.strip_prefix(prefix)?;
            number.parse::<u32>().ok()
        };
        if let Some(n) = number("WEIGHTS_") {
            attributes.need(&format!("JOINTS_{n}"))?;
        }
        let Some(n) = number("JOINTS_") else { continue };
        let joints = document.accessor(&reference)?.expect(
            Shape::vector(4),
            &[(Component::U8, false), (Component::U16, false)],
            "UNSIGNED_BYTE VEC4 or UNSIGNED_SHORT VEC4",
        )?;
        let weights = attributes.need(&format!("WEIGHTS_{n}"))?;
        let weights = document.accessor(&weights)?.with_broken().expect(
            Shape::vector(4),
            &[
                (Component::F32, false),
                (Component::U8, true),
                (Component::U16, true),
            ],
            "FLOAT VEC4, or normalized UNSIGNED_BYTE or UNSIGNED_SHORT VEC4",
        )?;
        sets.push((
            n,
            joints.expect_count(points, "one per point")?,
            weights.expect_count(points, "one per point")?,
        ));
    }
    sets.sort_by_key(|(n, ..)| *n);
    let each = 4 * sets.len();
    let numbers: Vec<u32> = sets.iter().map(|(n, ..)| *n).collect();
    let (joints, weights): (Vec<_>, Vec<_>) = sets.into_iter().map(|(_, j, w)| (j, w)).unzip();
    let mut out = Influences {
        each,
        // Exact: whole numbers below 2^16.
        joints: side_by_side(document, &joints, points, |n| n as u32)?,
        weights: side_by_side(document, &weights, points, |n| n as f32)?,
    };
    let odd = normalise(&mut out.weights, each.max(1));
    let warn = |count: usize, code, what: &str| {
        if count > 0 {
            document.warn(
                code,
                attributes.at(),
                format!("weights of {count} points {what}"),
            );
        }
    };
    let what = "do not sum to 1: they are divided by their sum";
    warn(odd.loose, "gltf-weights-sum", what);
    let what = "are not finite numbers: they are left out";
    warn(odd.broken, "gltf-not-finite", what);
    let what = "are all 0: the first joint of each such point has weight 1";
    warn(odd.empty.len(), "gltf-weights-zero", what);
    for point in odd.empty {
        let joint = &mut out.joints[point * each];
        if limit.is_some_and(|limit| *joint as usize >= limit.joints) {
            *joint = 0;
        }
    }
    // What weighs nothing may name a joint that the skin lacks; USD would mind.
    for (joint, weight) in out.joints.iter_mut().zip(&out.weights) {
        if *weight == 0.0 {
            *joint = 0;
        }
    }
    if let Some(SkinLimit { joints, skin }) = limit
        && let Some(i) = out.joints.iter().position(|j| *j as usize >= joints)
    {
        let at = attributes.at_key(&format!("JOINTS_{}", numbers[i % each / 4]));
        let expected =
            format!("joint indices below {joints}, the number of joints of skins[{skin}]");
        let found = format!("{} of point {}", out.joints[i], i / each);
        return Err(Invalid::new(at, "", expected, found));
    }
    Ok(out)
}

/// Sums that are further from 1 are reported: rounded floats and normalised integers stay well
/// below.
const REPORTED: f64 = 1e-3;

/// Sums that are further from 1 are corrected: f32 rounding is below.
const MENDED: f64 = 1e-6;

/// Points whose weights are worth telling of.
#[derive(Debug, Default, PartialEq)]
struct Odd {
    /// Number of those whose sum is not 1.
    loose: usize,
    /// Number of those with weights that are not finite.
    broken: usize,
    /// Those without any weight.
    empty: Vec<usize>,
}

/// Divides the weights of each point by their sum, which has to be 1 (glTF 2.0, 3.7.3.3). A
/// renderer does so too where it is not, by the homogeneous division; UsdSkel does not. Weights that
/// are not finite become 0. Where all are 0, the first becomes 1, as in three.js.
fn normalise(weights: &mut [f32], each: usize) -> Odd {
    let mut odd = Odd::default();
    for (point, weights) in weights.chunks_exact_mut(each).enumerate() {
        let broken = weights.iter_mut().filter(|w| !w.is_finite());
        odd.broken += usize::from(broken.map(|w| *w = 0.0).count() > 0);
        if weights.iter().all(|w| *w == 0.0) {
            weights[0] = 1.0;
            odd.empty.push(point);
            continue;
        }
        let sum: f64 = weights.iter().map(|w| f64::from(*w)).sum();
        let off = (sum - 1.0).abs();
        // A negative sum has no meaning.
        if sum <= 0.0 || off <= MENDED {
            continue;
        }
        odd.loose += usize::from(off > REPORTED);
        for weight in weights {
            *weight = (f64::from(*weight) / sum) as f32;
        }
    }
    odd
}

/// Point by point, the four values of each accessor.
fn side_by_side<T: Clone + Default>(
    document: &Document,
    accessors: &[Accessor<'_>],
    points: usize,
    make: impl Fn(f64) -> T,
) -> Result<Vec<T>, Invalid> {
    let Some(first) = accessors.first() else {
        return Ok(Vec::new());
    };
    let each = 4 * accessors.len();
    document.charge(points, each * size_of::<T>(), &first.used_at)?;
    let mut out = vec![T::default(); points * each];
    for (set, accessor) in accessors.iter().enumerate() {
        let values = accessor.read(|four: [f64; 4]| four.map(&make))?;
        for (to, from) in out.chunks_exact_mut(each).zip(values) {
            to[4 * set..4 * set + 4].clone_from_slice(&from);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_divided_by_their_sum() {
        let mut weights = [
            0.1,
            0.3,
            0.6,
            0.1,
            0.3,
            0.0,
            0.0,
            0.0,
            0.0,
            f32::NAN,
            0.5,
            0.0,
        ];
        let odd = Odd {
            loose: 2,
            broken: 1,
            empty: vec![2],
        };
        assert_eq!(normalise(&mut weights, 3), odd);
        assert_eq!(weights[..6], [0.1, 0.3, 0.6, 0.25, 0.75, 0.0]);
        assert_eq!(weights[6..], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}
