//! Rest normals of a skinnable prim.

use std::sync::Arc;

use glam::Vec3;

use crate::error::Invalid;

/// Rest normals in prim space: one per point (interpolation vertex or varying) or one per face
/// corner (faceVarying). Constant and uniform normals cannot be expressed, because skinning does
/// not change them (rule 24).
#[derive(Clone, Debug, PartialEq)]
pub struct RestNormals {
    /// The normals.
    pub values: Arc<Vec<Vec3>>,
    /// The point of each normal, if normals are faceVarying; `None` if there is one normal per
    /// point. faceVarying normals never blend (rule 19).
    pub points: Option<Arc<Vec<u32>>>,
}

impl RestNormals {
    /// One normal per point. Blend shapes may change them.
    #[must_use]
    pub fn per_point(values: Arc<Vec<Vec3>>) -> Self {
        Self {
            values,
            points: None,
        }
    }

    /// One normal per face corner, with the influences of the corner's point. If the index of a
    /// corner is out of range, its normal has the influences of the first point, as in
    /// `UsdSkelSkinFaceVaryingNormals` (rule 24).
    ///
    /// # Errors
    /// Another number of normals than of corners, or corners of a prim without points. (Pixar's
    /// bake skins the points and does not change such normals.)
    pub fn face_varying(
        prim: &str,
        values: Arc<Vec<Vec3>>,
        face_vertex_indices: &[i32],
        point_count: usize,
    ) -> Result<Self, Invalid> {
        let expected = match () {
            () if values.len() != face_vertex_indices.len() => {
                format!("{} faceVarying normals", face_vertex_indices.len())
            }
            () if point_count == 0 && !values.is_empty() => {
                "no normals, because there are no points".into()
            }
            () => {
                let points = face_vertex_indices.iter().map(|&i| {
                    let point = u32::try_from(i).ok();
                    point.filter(|p| (*p as usize) < point_count).unwrap_or(0)
                });
                return Ok(Self {
                    points: Some(Arc::new(points.collect())),
                    values,
                });
            }
        };
        Err(Invalid::new(
            prim,
            "normals",
            expected,
            values.len().to_string(),
        ))
    }

    /// Checks the arrays against each other and against the number of points.
    ///
    /// # Errors
    /// Another number of normals; a normal of a point that does not exist; normals that are not
    /// finite.
    pub(super) fn check(&self, prim: &str, point_count: usize) -> Result<(), Invalid> {
        let found = self.values.len();
        let (count, kind) = match &self.points {
            Some(points) => (points.len(), "faceVarying"),
            None => (point_count, "vertex"),
        };
        if found != count {
            return Err(Invalid::new(
                prim,
                "normals",
                format!("{count} {kind} normals"),
                found.to_string(),
            ));
        }
        let points = self.points.iter().flat_map(|p| p.iter());
        if let Some((corner, point)) = points
            .enumerate()
            .find(|(_, p)| **p as usize >= point_count)
        {
            return Err(Invalid::new(
                prim,
                "faceVertexIndices",
                format!("points below {point_count}"),
                format!("{point} at corner {corner}"),
            ));
        }
        super::skin::check_finite(prim, "normals", &self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_out_of_range_takes_the_first_point() {
        let values = Arc::new(vec![Vec3::X; 4]);
        let normals = RestNormals::face_varying("/M", values, &[2, -1, 3, 1], 3).unwrap();
        assert_eq!(normals.points.as_deref(), Some(&vec![2, 0, 0, 1]));
        assert!(normals.check("/M", 3).is_ok());
    }

    #[test]
    fn names_what_is_wrong() {
        let values = |n| Arc::new(vec![Vec3::X; n]);
        let corners = |n: usize, points: Vec<u32>| RestNormals {
            values: values(n),
            points: Some(Arc::new(points)),
        };
        for (result, word) in [
            (
                RestNormals::face_varying("/M", values(3), &[0, 1], 2).map(drop),
                "expected 2 faceVarying normals, found 3",
            ),
            (
                RestNormals::face_varying("/M", values(1), &[0], 0).map(drop),
                "no points",
            ),
            (
                RestNormals::per_point(values(3)).check("/M", 2),
                "expected 2 vertex normals, found 3",
            ),
            (corners(1, vec![0, 1]).check("/M", 2), "2 faceVarying"),
            (corners(2, vec![0, 2]).check("/M", 2), "2 at corner 1"),
            (
                RestNormals::per_point(Arc::new(vec![Vec3::NAN])).check("/M", 1),
                "finite",
            ),
        ] {
            let text = result.unwrap_err().to_string();
            assert!(text.contains(word), "{text} should say {word}");
        }
    }
}
