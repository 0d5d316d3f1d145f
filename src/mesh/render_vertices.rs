//! Render vertices: the point of a prim that each vertex of a renderer shows.

use glam::Vec4;

use crate::error::Invalid;

/// The point and the rest normal of each vertex of a vertex buffer, in the order of that buffer.
/// Renderers split points into several vertices at UV seams, and where face corners have different
/// normals. See [`PackedSkin::with_vertices`].
///
/// [`PackedSkin::with_vertices`]: crate::kernel::PackedSkin::with_vertices
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderVertices {
    points: Vec<u32>,
    normals: Option<Vec<u32>>,
    tangents: Option<Vec<Vec4>>,
}

impl RenderVertices {
    /// Vertices with these points. A point may have many vertices, or none.
    #[must_use]
    pub fn new(points: Vec<u32>) -> Self {
        Self {
            points,
            ..Self::default()
        }
    }

    /// Sets the rest normal of each vertex, as an index into the normals of the skin. Needed if
    /// normals are one per face corner. If they are one per point, a vertex has the normal of its
    /// point.
    #[must_use]
    pub fn with_normals(self, normals: Vec<u32>) -> Self {
        Self {
            normals: Some(normals),
            ..self
        }
    }

    /// Sets the rest tangent of each vertex, in prim space. `w` is the handedness, 1 or -1, and is
    /// copied to the result. The matrices for points transform tangents, not those for normals.
    /// Results have unit length. Blend shapes do not change tangents, because UsdSkel has no
    /// offsets for them.
    #[must_use]
    pub fn with_tangents(self, tangents: Vec<Vec4>) -> Self {
        Self {
            tangents: Some(tangents),
            ..self
        }
    }

    /// Removes the rest normals of vertices.
    pub(crate) fn drop_normals(&mut self) {
        self.normals = None;
    }

    /// Number of vertices.
    #[must_use]
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// The point of each vertex.
    #[must_use]
    pub fn points(&self) -> &[u32] {
        &self.points
    }

    /// The rest normal of each vertex; `None` if a vertex has the normal of its point.
    #[must_use]
    pub fn normals(&self) -> Option<&[u32]> {
        self.normals.as_deref()
    }

    /// Rest tangents, one per vertex.
    #[must_use]
    pub fn tangents(&self) -> Option<&[Vec4]> {
        self.tangents.as_deref()
    }

    /// Checks the vertices against a skin. `normal_points` is the point of each normal, if normals
    /// are one per face corner.
    pub(crate) fn check(
        &self,
        prim: &str,
        point_count: usize,
        has_normals: bool,
        normal_points: Option<&[u32]>,
    ) -> Result<(), Invalid> {
        const WHAT: &str = "render vertices";
        let wrong =
            |expected: String, found: String| Err(Invalid::new(prim, WHAT, expected, found));
        // Kernels count floats: three or four per vertex.
        Invalid::unless_u32_counts(
            prim,
            WHAT,
            "floats of vertices",
            (self.count() as u64 + 1) * 4,
        )?;
        let mut points = self.points.iter().enumerate();
        if let Some((vertex, point)) = points.find(|(_, p)| **p as usize >= point_count) {
            let found = format!("point {point} at vertex {vertex}");
            return wrong(format!("points below {point_count}"), found);
        }
        match (&self.normals, normal_points) {
            (None, Some(_)) => {
                let expected =
                    "the normal of each vertex, because the skin's are one per face corner";
                return wrong(expected.into(), "none".into());
            }
            (Some(_), None) if !has_normals => {
                return wrong("a skin with rest normals".into(), "none".into());
            }
            (Some(normals), of_corners) => {
                if normals.len() != self.count() {
                    let found = format!("{} normals", normals.len());
                    return wrong(format!("{} normals", self.count()), found);
                }
                // A normal uses the influences of its vertex's point.
                let point_of = |normal: u32| match of_corners {
                    Some(points) => points.get(normal as usize).copied(),
                    None => Some(normal),
                };
                let mut pairs = normals.iter().zip(&self.points).enumerate();
                if let Some((vertex, (normal, point))) =
                    pairs.find(|(_, (n, p))| point_of(**n) != Some(**p))
                {
                    let found = format!("normal {normal} at vertex {vertex}");
                    return wrong(format!("a normal of point {point}"), found);
                }
            }
            (None, None) => {}
        }
        if let Some(tangents) = &self.tangents {
            if tangents.len() != self.count() {
                let found = format!("{} tangents", tangents.len());
                return wrong(format!("{} tangents", self.count()), found);
            }
            if let Some(vertex) = tangents.iter().position(|t| !t.is_finite()) {
                let found = format!("{} at vertex {vertex}", tangents[vertex]);
                return wrong("finite tangents".into(), found);
            }
        }
        Ok(())
    }
}
