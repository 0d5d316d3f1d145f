//! Joint influences of a skinnable prim (primvars:skel:jointIndices and jointWeights).

use super::utils;
use super::utils::{UtilError, WEIGHT_SUM_EPSILON};
use crate::error::Invalid;

/// How the influences of a prim are laid out (rule 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InfluenceInterpolation {
    /// `count` influences per point.
    Vertex,
    /// One set of `count` influences for the whole prim.
    Constant,
}

/// The validated joint influences of a prim. Joint indices refer to the joint order of the prim:
/// its `skel:joints` if authored, else the order of the skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct JointInfluences {
    interpolation: InfluenceInterpolation,
    count: usize,
    joints: Vec<u32>,
    weights: Vec<f32>,
}

impl JointInfluences {
    /// Validates influences against each other, and against the numbers of points and joints.
    ///
    /// - `count`: elementSize. Influences per point, or in all if they are constant.
    /// - `joint_count`: size of the prim's joint order (rule 22).
    ///
    /// # Errors
    /// Array sizes that do not agree (rules 3, 4); an index out of range, even at weight zero (rule
    /// 22; the error names the point); a weight that is not finite.
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
            return Err(
                Invalid::new(prim, INDICES, "an elementSize of at least 1", "0")
                    .coded("influences-ignored"),
            );
        }
        if joints.len() != weights.len() {
            return Err(Invalid::new(
                prim,
                WEIGHTS,
                format!("{} weights, as many as jointIndices", joints.len()),
                weights.len().to_string(),
            )
            .coded("weights-count"));
        }
        if !joints.len().is_multiple_of(count) {
            return Err(Invalid::new(
                prim,
                INDICES,
                format!("a multiple of elementSize {count}"),
                format!("{} indices", joints.len()),
            )
            .coded("influences-count"));
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
            )
            .coded("influences-count"));
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
                        .coded("joint-index-range")
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
            )
            .coded("weights-not-finite"));
        }
        Ok(Self {
            interpolation,
            count,
            joints: unsigned,
            weights,
        })
    }

    /// One constant influence, of the first joint of the prim's order with weight 1, for a prim
    /// whose only joint is none of the skeleton's.
    pub(super) fn of_no_joint() -> Self {
        Self {
            interpolation: InfluenceInterpolation::Constant,
            count: 1,
            joints: vec![0],
            weights: vec![1.0],
        }
    }

    /// Whether influences are one set per point or one for the prim.
    #[must_use]
    pub fn interpolation(&self) -> InfluenceInterpolation {
        self.interpolation
    }

    /// Influences per point, or in all if they are constant.
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
    /// If `point` is out of range.
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

    /// The same influences with the weights of each point divided by their sum
    /// ([`utils::normalize_weights`]). If the sum is 0, the weights become 0.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        utils::normalize_weights(&mut self.weights, self.count, WEIGHT_SUM_EPSILON)
            .expect("sizes were checked");
        self
    }

    /// The same influences with the largest weights of each point first
    /// ([`utils::sort_influences`]).
    #[must_use]
    pub fn sorted(mut self) -> Self {
        utils::sort_influences(&mut self.joints, &mut self.weights, self.count)
            .expect("sizes were checked");
        self
    }

    /// The same influences with `count` per point ([`utils::resize_influences`]). If there are too
    /// few, joint 0 at weight 0 is added. If there are too many, the first are kept and normalised;
    /// call [`JointInfluences::sorted`] before, to keep the largest.
    ///
    /// # Errors
    /// A `count` of 0.
    pub fn resized(mut self, count: usize) -> Result<Self, UtilError> {
        utils::resize_influences(&mut self.joints, &mut self.weights, self.count, count)?;
        self.count = count;
        Ok(self)
    }

    /// Repeats constant influences for each of `point_count` points
    /// ([`utils::expand_constant_influences_to_varying`]). Vertex influences stay as they are.
    #[must_use]
    pub fn expanded(mut self, point_count: usize) -> Self {
        if self.interpolation == InfluenceInterpolation::Constant {
            utils::expand_constant_influences_to_varying(&mut self.joints, point_count);
            utils::expand_constant_influences_to_varying(&mut self.weights, point_count);
            self.interpolation = InfluenceInterpolation::Vertex;
        }
        self
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
    fn utilities_keep_influences_whole() {
        let c = JointInfluences::new("/M", Constant, 2, &[1, 2], vec![0.5, 1.5], 3, 3).unwrap();
        let v = c.sorted().normalized().expanded(3).resized(1).unwrap();
        assert_eq!((v.interpolation(), v.count()), (Vertex, 1));
        assert_eq!(v.of_point(2).collect::<Vec<_>>(), [(2, 1.0)]);
        assert_eq!(v.joints().len(), 3);
        assert!(v.resized(0).is_err());
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
