//! The faces of a mesh (UsdGeomMesh). Triangles, render vertices and smooth normals are computed
//! from them.

use crate::error::Invalid;

/// Validated faces: faceVertexCounts, faceVertexIndices and orientation of a UsdGeomMesh.
///
/// Faces of fewer than three corners are kept, so that corner indices are those of the file. They
/// are not drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshTopology {
    /// First corner of each face, and the number of all corners at the end.
    first_corners: Vec<u32>,
    points: Vec<u32>,
    left_handed: bool,
    holes: Vec<u32>,
}

impl MeshTopology {
    /// Validates the faces of a mesh.
    ///
    /// - `prim`: path of the mesh, for messages.
    /// - `counts`: number of corners of each face.
    /// - `indices`: the point of each corner, one face after the other.
    /// - `left_handed`: whether corners run clockwise as seen from outside (orientation
    ///   `leftHanded`).
    ///
    /// # Errors
    /// Counts that are negative or do not add up to the indices, and indices that name no point.
    pub fn new(
        prim: &str,
        counts: &[i32],
        indices: &[i32],
        left_handed: bool,
        point_count: usize,
    ) -> Result<Self, Invalid> {
        let mut first_corners = Vec::with_capacity(counts.len() + 1);
        let mut corners = 0u64;
        first_corners.push(0);
        for (face, count) in counts.iter().enumerate() {
            corners += u64::try_from(*count).map_err(|_| {
                let found = format!("{count} at face {face}");
                Invalid::new(prim, "faceVertexCounts", "counts of 0 or more", found)
                    .coded("mesh-topology")
            })?;
            // A sum beyond u32 is an error below.
            first_corners.push(u32::try_from(corners).unwrap_or(u32::MAX));
        }
        if corners != indices.len() as u64 || corners > u64::from(u32::MAX) {
            let expected = format!("{corners} indices, the sum of faceVertexCounts");
            let found = indices.len().to_string();
            return Err(
                Invalid::new(prim, "faceVertexIndices", expected, found).coded("mesh-topology")
            );
        }
        let points = indices.iter().enumerate().map(|(corner, index)| {
            let point = u32::try_from(*index).ok();
            point
                .filter(|p| (*p as usize) < point_count)
                .ok_or_else(|| {
                    let expected = format!("indices of {point_count} points");
                    let found = format!("{index} at {corner}");
                    Invalid::new(prim, "faceVertexIndices", expected, found).coded("mesh-topology")
                })
        });
        Ok(Self {
            points: points.collect::<Result<_, _>>()?,
            first_corners,
            left_handed,
            holes: Vec::new(),
        })
    }

    /// The same faces, with those of `holes` not drawn (holeIndices). Indices that name no face are
    /// ignored.
    #[must_use]
    pub fn with_holes(mut self, holes: &[i32]) -> Self {
        let faces = self.face_count();
        self.holes = holes
            .iter()
            .filter_map(|h| u32::try_from(*h).ok())
            .filter(|h| (*h as usize) < faces)
            .collect();
        self.holes.sort_unstable();
        self.holes.dedup();
        self
    }

    /// Number of faces.
    #[must_use]
    pub fn face_count(&self) -> usize {
        self.first_corners.len().saturating_sub(1)
    }

    /// Number of face corners.
    #[must_use]
    pub fn corner_count(&self) -> usize {
        self.points.len()
    }

    /// The point of each corner.
    #[must_use]
    pub fn corner_points(&self) -> &[u32] {
        &self.points
    }

    /// The range of corners of a face.
    ///
    /// # Panics
    /// If there is no such face.
    #[must_use]
    pub fn corners(&self, face: usize) -> std::ops::Range<usize> {
        self.first_corners[face] as usize..self.first_corners[face + 1] as usize
    }

    /// Whether corners run clockwise as seen from outside.
    #[must_use]
    pub fn is_left_handed(&self) -> bool {
        self.left_handed
    }

    /// Faces that are not drawn; ascending.
    #[must_use]
    pub fn holes(&self) -> &[u32] {
        &self.holes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_keep_their_corners() {
        let mesh = MeshTopology::new("/M", &[3, 0, 4], &[0, 1, 2, 2, 1, 3, 4], true, 5).unwrap();
        assert_eq!((mesh.face_count(), mesh.corner_count()), (3, 7));
        assert_eq!(
            (mesh.corners(0), mesh.corners(1), mesh.corners(2)),
            (0..3, 3..3, 3..7)
        );
        let mesh = mesh.with_holes(&[2, -1, 7, 2]);
        assert_eq!(mesh.holes(), [2]);
    }

    #[test]
    fn broken_faces_are_refused() {
        for (counts, indices, what) in [
            (&[3, -1][..], &[0, 1, 2][..], "faceVertexCounts"),
            (&[3], &[0, 1], "faceVertexIndices"),
            (
                &[i32::MAX, i32::MAX, i32::MAX],
                &[0, 1],
                "faceVertexIndices",
            ),
            (&[3], &[0, 1, 3], "faceVertexIndices"),
            (&[3], &[0, -1, 2], "faceVertexIndices"),
        ] {
            let error = MeshTopology::new("/M", counts, indices, false, 3).unwrap_err();
            assert_eq!(error.property, what, "{error}");
        }
    }
}
