//! Joint influences of a skinnable prim (primvars:skel:jointIndices and jointWeights).

use crate::error::Invalid;

/// How the influences of a prim are laid out (rule 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InfluenceInterpolation {
    /// `count` influences for every point.
    Vertex,
    /// One set of influences for the whole prim.
    Constant,
}

/// Validated influences. `joints` counts in the prim's own joint order: `skel:joints` where it is
/// authored, the skeleton's else.
#[derive(Clone, Debug, PartialEq)]
pub struct JointInfluences {
    interpolation: InfluenceInterpolation,
    count: usize,
    joints: Vec<u32>,
    weights: Vec<f32>,
}

impl JointInfluences {
    /// Checks the arrays against each other, the number of points and of joints.
    ///
    /// - `count`: elementSize, influences per point (or in all, where constant).
    /// - `joint_count`: size of the prim's joint order (rule 22).
    ///
    /// # Errors
    /// Sizes that do not agree (rules 3, 4), an index out of range even at weight zero (rule 22,
    /// with the point), a weight that is not finite.
    pub fn new(
        prim: &str,
        interpolation: InfluenceInterpolation,
        count: usize,
        joints: &[i32],
        weights: Vec<f32>,
        point_count: usize,
        joint_count: usize,
    ) -> Result<Self, Invalid> {
        const INDICES: &str = "primvars:skel:jointIndices";
        const WEIGHTS: &str = "primvars:skel:jointWeights";
        if count == 0 {
            return Err(Invalid::new(
                prim,
                INDICES,
                "an elementSize of at least 1",
                "0",
            ));
        }
        if joints.len() != weights.len() {
            return Err(Invalid::new(
                prim,
                WEIGHTS,
                format!("{} weights, as many as jointIndices", joints.len()),
                weights.len().to_string(),
            ));
        }
        if !joints.len().is_multiple_of(count) {
            return Err(Invalid::new(
                prim,
                INDICES,
                format!("a multiple of elementSize {count}"),
                format!("{} indices", joints.len()),
            ));
        }
        let rows = match interpolation {
            InfluenceInterpolation::Vertex => point_count,
            InfluenceInterpolation::Constant => 1,
        };
        if rows.checked_mul(count) != Some(joints.len()) {
            return Err(Invalid::new(
                prim,
                INDICES,
                match interpolation {
                    InfluenceInterpolation::Vertex => {
                        format!(
                            "{point_count} points x {count} influences = {}",
                            point_count.saturating_mul(count)
                        )
                    }
                    InfluenceInterpolation::Constant => {
                        format!("{count} influences, elementSize of a constant primvar")
                    }
                },
                format!("{} indices", joints.len()),
            ));
        }
        let unsigned = joints
            .iter()
            .enumerate()
            .map(|(i, &j)| {
                u32::try_from(j)
                    .ok()
                    .filter(|j| (*j as usize) < joint_count)
                    .ok_or_else(|| {
                        Invalid::new(
                            prim,
                            INDICES,
                            format!("joint indices below {joint_count}"),
                            format!("{j} at point {} (influence {})", i / count, i % count),
                        )
                    })
            })
            .collect::<Result<Vec<u32>, _>>()?;
        if let Some(i) = weights.iter().position(|w| !w.is_finite()) {
            return Err(Invalid::new(
                prim,
                WEIGHTS,
                "finite weights",
                format!(
                    "{} at point {} (influence {})",
                    weights[i],
                    i / count,
                    i % count
                ),
            ));
        }
        Ok(Self {
            interpolation,
            count,
            joints: unsigned,
            weights,
        })
    }

    /// Vertex or constant.
    #[must_use]
    pub fn interpolation(&self) -> InfluenceInterpolation {
        self.interpolation
    }

    /// Influences per point (or in all, where constant).
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Joint indices, point by point, in the prim's joint order.
    #[must_use]
    pub fn joints(&self) -> &[u32] {
        &self.joints
    }

    /// Weights, point by point, as authored (rule 21).
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Joints and weights of one point.
    ///
    /// # Panics
    /// Where `point` is out of range.
    pub fn of_point(&self, point: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let row = match self.interpolation {
            InfluenceInterpolation::Vertex => point,
            InfluenceInterpolation::Constant => 0,
        };
        let range = row * self.count..(row + 1) * self.count;
        self.joints[range.clone()]
            .iter()
            .copied()
            .zip(self.weights[range].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::InfluenceInterpolation::{Constant, Vertex};
    use super::*;

    fn vertex(count: usize, joints: &[i32], weights: &[f32]) -> Result<JointInfluences, Invalid> {
        JointInfluences::new("/M", Vertex, count, joints, weights.to_vec(), 2, 3)
    }

    #[test]
    fn accepts_what_fits() {
        let i = vertex(2, &[0, 1, 2, 0], &[0.5, 0.5, 1.0, 0.0]).unwrap();
        assert_eq!(i.of_point(1).collect::<Vec<_>>(), [(2, 1.0), (0, 0.0)]);
        let c = JointInfluences::new("/M", Constant, 1, &[2], vec![1.0], 7, 3).unwrap();
        assert_eq!(c.of_point(6).collect::<Vec<_>>(), [(2, 1.0)]);
    }

    #[test]
    fn names_what_is_wrong() {
        for (result, word) in [
            (vertex(0, &[], &[]), "elementSize"),
            (
                vertex(2, &[0, 1, 2], &[0.0; 3]),
                "multiple of elementSize 2",
            ),
            (vertex(2, &[0, 1], &[0.0; 2]), "2 points x 2"),
            (vertex(1, &[0, 1], &[0.0; 3]), "2 weights"),
            (vertex(1, &[0, 3], &[0.0; 2]), "3 at point 1"),
            (vertex(1, &[0, -1], &[0.0; 2]), "-1 at point 1"),
            (vertex(1, &[0, 1], &[0.0, f32::NAN]), "NaN at point 1"),
        ] {
            let text = result.unwrap_err().to_string();
            assert!(text.contains(word), "{text} should say {word}");
        }
    }
}
