//! Values on a mesh (UsdGeomPrimvar): one for the whole mesh, or one per face, point or face
//! corner.

use super::MeshTopology;
use crate::error::Invalid;

/// The elements of a mesh that a primvar has values for. On polygon meshes `varying` is the same as
/// `vertex`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrimvarInterpolation {
    /// One for the whole mesh.
    #[default]
    Constant,
    /// One per face.
    Uniform,
    /// One per point.
    Vertex,
    /// One per face corner.
    FaceVarying,
}

impl PrimvarInterpolation {
    /// The interpolation of a token; `None` for one that UsdGeom does not know.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        Some(match token {
            "constant" => Self::Constant,
            "uniform" => Self::Uniform,
            "vertex" | "varying" => Self::Vertex,
            "faceVarying" => Self::FaceVarying,
            _ => return None,
        })
    }

    /// Number of values that a mesh needs.
    #[must_use]
    pub fn count(self, topology: &MeshTopology, points: usize) -> usize {
        match self {
            Self::Constant => 1,
            Self::Uniform => topology.face_count(),
            Self::Vertex => points,
            Self::FaceVarying => topology.corner_count(),
        }
    }

    /// The name of the interpolation and its element, for messages.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Uniform => "uniform (one per face)",
            Self::Vertex => "vertex (one per point)",
            Self::FaceVarying => "faceVarying (one per face corner)",
        }
    }

    /// The index of the value that a corner of a face takes.
    #[must_use]
    pub(crate) fn element(self, face: usize, corner: usize, point: u32) -> usize {
        match self {
            Self::Constant => 0,
            Self::Uniform => face,
            Self::Vertex => point as usize,
            Self::FaceVarying => corner,
        }
    }
}

/// The values of a primvar at one time.
#[derive(Clone, Copy, Debug)]
pub struct PrimvarSlice<'a, T> {
    /// The elements that have a value, or an index.
    pub interpolation: PrimvarInterpolation,
    /// The values.
    pub values: &'a [T],
    /// The index of the value of each element. Without indices, there is one value per element.
    pub indices: Option<&'a [u32]>,
}

impl<'a, T> PrimvarSlice<'a, T> {
    /// Values without indices.
    #[must_use]
    pub fn new(interpolation: PrimvarInterpolation, values: &'a [T]) -> Self {
        Self {
            interpolation,
            values,
            indices: None,
        }
    }

    /// Checks that each element has a value. `prim` and `property` are for messages.
    ///
    /// # Errors
    /// A number of values, or of indices, that does not fit the mesh (a constant primvar may have
    /// more than one value); an index without a value.
    pub fn check(
        &self,
        prim: &str,
        property: &str,
        topology: &MeshTopology,
        points: usize,
    ) -> Result<(), Invalid> {
        let fail = |expected: String, found: String| {
            Err(Invalid::new(prim, property, expected, found).coded("primvar-count"))
        };
        let wanted = self.interpolation.count(topology, points);
        let there = self.indices.map_or(self.values.len(), <[u32]>::len);
        // A constant primvar needs one value. Arrays with several are common; the first value is
        // used.
        let enough =
            there == wanted || self.interpolation == PrimvarInterpolation::Constant && there > 0;
        if !enough {
            let what = match self.indices {
                Some(_) => "indices",
                None => "values",
            };
            let noun = self.interpolation.noun();
            return fail(format!("{wanted} {what}, {noun}"), there.to_string());
        }
        let values = self.values.len();
        let mut indices = self.indices.unwrap_or_default().iter().enumerate();
        match indices.find(|(_, i)| **i as usize >= values) {
            Some((at, index)) => fail(
                format!("indices of {values} values"),
                format!("{index} at {at}"),
            ),
            None => Ok(()),
        }
    }
}

impl<T: Copy> PrimvarSlice<'_, T> {
    /// The position in `values` of the value of a corner. Call [`PrimvarSlice::check`] before.
    pub fn index(&self, face: usize, corner: usize, point: u32) -> usize {
        let element = self.interpolation.element(face, corner, point);
        self.indices.map_or(element, |i| i[element] as usize)
    }
}
