//! The data of a prim that does not change with time, in flat arrays.

use glam::{Vec3, Vec4};

use super::palette::OwnIndices;
use super::{PackedBlend, PackedInfluences, SmoothNormals};
use crate::error::Invalid;
use crate::mesh::{RenderMesh, RenderVertices};
use crate::skel::{MeshTopology, Skin, SkinningMethod};

/// A [`Skin`] as the kernels read it: rest values, influences and blend shapes. It holds everything
/// that does not change with time.
///
/// ```
/// use glam::Vec3;
/// use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
/// use sinew::mesh::RenderVertices;
/// use sinew::skel::{BlendShapeDef, MeshTopology, Pose, Skeleton, SkinBuilder};
///
/// // A square that one blend shape lifts, drawn as two triangles with smooth normals.
/// let points = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
/// let faces = MeshTopology::new("Square", &[4], &[0, 1, 2, 3], false, points.len())?;
/// let skeleton = Skeleton::from_parents("None", vec![], &[], vec![], None)?;
/// let lift = BlendShapeDef { name: "Lift".into(), offsets: vec![Vec3::Z; 4], ..Default::default() };
/// let skin = SkinBuilder::new("Square", points).shape(lift).build(&skeleton)?;
/// let skin = PackedSkin::pack("Square", &skin)?
///     .with_smooth_normals(&faces)?
///     .with_vertices(RenderVertices::new(vec![0, 1, 2, 0, 2, 3]))?;
///
/// let pose = PackedPose::pack(&skin, &Pose::of_shapes(vec![0.5]))?;
/// let mut results = vec![Vec3::ZERO; skin.output_count()];
/// let mut normals = vec![Vec3::ZERO; skin.output_normal_count()];
/// skin_on_cpu(&skin, &pose, &mut results, Some(&mut normals))?; // or `Crowd::add_skin`
/// assert_eq!((results[5], normals[5]), (Vec3::new(0.0, 1.0, 0.5), Vec3::Z));
/// # Ok::<(), sinew::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PackedSkin {
    prim: String,
    pub(super) points: Vec<Vec3>,
    pub(super) normals: Option<Vec<Vec3>>,
    pub(super) normal_points: Option<Vec<u32>>,
    pub(super) influences: Option<PackedInfluences>,
    pub(super) blend: Option<PackedBlend>,
    method: SkinningMethod,
    entries: u32,
    pub(super) own_indices: OwnIndices,
    channels: usize,
    pub(super) smooth_normals: Option<SmoothNormals>,
    pub(super) vertices: Option<RenderVertices>,
}

impl PackedSkin {
    /// The largest number of joints of a skeleton. With one more matrix, for joints that are
    /// missing, an index of a palette fits 16 bits.
    pub const MAX_JOINTS: usize = 65_534;

    /// Packs a validated skin. `prim` is the prim's path, for messages.
    ///
    /// # Errors
    /// A skeleton of more than 65,534 joints (a palette index has 16 bits, and one index stands for
    /// missing joints), or arrays that are too large for u32 offsets.
    pub fn pack(prim: &str, skin: &Skin) -> Result<Self, Invalid> {
        if skin.joint_count() > Self::MAX_JOINTS {
            return Err(Invalid::new(
                prim,
                "skel:joints",
                format!("a skeleton of at most {} joints", Self::MAX_JOINTS),
                skin.joint_count().to_string(),
            ));
        }
        // Kernels count floats, three per point; one more row than points must fit too.
        Invalid::unless_u32_counts(
            prim,
            "points",
            "floats of points",
            (skin.points().len() as u64 + 1) * 3,
        )?;
        Invalid::unless_u32_counts(
            prim,
            "normals",
            "floats of normals",
            (skin.normal_count() as u64 + 1) * 3,
        )?;
        let own_indices = match (skin.has_own_joints(), skin.method()) {
            (true, SkinningMethod::DualQuaternion) => {
                let joints = 0..skin.own_joint_count() as u32;
                // Joints that the skeleton lacks are identity and have no scale.
                OwnIndices::Some(joints.filter_map(|j| skin.skeleton_joint(j)).collect())
            }
            _ => OwnIndices::All,
        };
        Ok(Self {
            prim: prim.to_owned(),
            points: skin.points().to_vec(),
            normals: skin.normals().map(<[Vec3]>::to_vec),
            normal_points: skin.normal_points().map(<[u32]>::to_vec),
            influences: PackedInfluences::pack(prim, skin)?,
            blend: PackedBlend::pack(prim, skin)?,
            method: skin.method(),
            entries: skin.joint_count() as u32 + 1,
            own_indices,
            channels: skin.shapes().len(),
            smooth_normals: None,
            vertices: None,
        })
    }

    /// Returns this skin with smooth normals, which are computed from the deformed points in every
    /// frame. For meshes without authored normals; smooth normals replace rest normals.
    ///
    /// Smooth normals are in the space of the results and have unit length. Every face corner adds
    /// the cross product of its edges, as in Hydra, so the inner corner of a concave face counts
    /// negatively. The normal is zero at a point without faces, or if its faces have no area. With
    /// render vertices, a corner counts only if its neighbours have a render vertex.
    ///
    /// # Errors
    /// Faces that refer to points that the skin lacks.
    pub fn with_smooth_normals(mut self, topology: &MeshTopology) -> Result<Self, Invalid> {
        let made = SmoothNormals::pack(&self.prim, topology, self.points.len())?;
        self.normals = None;
        self.normal_points = None;
        if let Some(blend) = &mut self.blend {
            blend.normal_offsets = None;
        }
        if let Some(vertices) = &mut self.vertices {
            vertices.drop_normals();
        }
        self.smooth_normals = Some(made);
        self.keep_shown_neighbors();
        Ok(self)
    }

    /// Returns this skin with one result per render vertex, for points and normals, in the order of
    /// the vertices.
    ///
    /// # Errors
    /// Vertices that refer to points or normals that the skin lacks, or to a normal of another
    /// point; lists of different lengths; tangents that are not finite.
    pub fn with_vertices(mut self, vertices: RenderVertices) -> Result<Self, Invalid> {
        vertices.check(
            &self.prim,
            self.points.len(),
            self.normals.is_some(),
            self.normal_points.as_deref(),
        )?;
        self.vertices = Some(vertices);
        self.keep_shown_neighbors();
        Ok(self)
    }

    /// The render vertices of a mesh that was built from the faces of this skin, for
    /// [`PackedSkin::with_vertices`]. Their normals are this skin's rest normals, if it has any.
    /// They equal the mesh's normals if both were built with the same ones.
    #[must_use]
    pub fn vertices_of(&self, mesh: &RenderMesh) -> RenderVertices {
        let vertices = RenderVertices::new(mesh.points.clone());
        match self.normal_points {
            Some(_) => vertices.with_normals(mesh.corners.clone()),
            None => vertices,
        }
    }

    /// Drops face corners whose neighbours have no render vertex, because smooth normals are
    /// computed from results.
    fn keep_shown_neighbors(&mut self) {
        let (Some(made), Some(vertices)) = (&mut self.smooth_normals, &self.vertices) else {
            return;
        };
        let mut shown = vec![false; self.points.len()];
        for point in vertices.points() {
            shown[*point as usize] = true;
        }
        made.keep_shown(&shown);
    }

    /// Prim path, for messages.
    #[must_use]
    pub fn prim(&self) -> &str {
        &self.prim
    }

    /// Number of points.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.points.len()
    }

    /// Rest points in prim space.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Rest normals in prim space, one per point or per face corner.
    #[must_use]
    pub fn normals(&self) -> Option<&[Vec3]> {
        self.normals.as_deref()
    }

    /// Whether there is one rest normal per point.
    #[must_use]
    pub fn has_point_normals(&self) -> bool {
        self.normals.is_some() && self.normal_points.is_none()
    }

    /// The point of each normal, if normals are faceVarying.
    #[must_use]
    pub fn normal_points(&self) -> Option<&[u32]> {
        self.normal_points.as_deref()
    }

    /// Number of rest normals; 0 if there are none.
    #[must_use]
    pub fn normal_count(&self) -> usize {
        self.normals.as_ref().map_or(0, Vec::len)
    }

    /// The render vertices, if results are one per vertex.
    #[must_use]
    pub fn vertices(&self) -> Option<&RenderVertices> {
        self.vertices.as_ref()
    }

    /// The neighbours that smooth normals are computed from; `None` if the skin has no smooth
    /// normals.
    #[must_use]
    pub fn smooth_normals(&self) -> Option<&SmoothNormals> {
        self.smooth_normals.as_ref()
    }

    /// Number of positions in the result: one per render vertex if there are render vertices, else
    /// one per point.
    #[must_use]
    pub fn output_count(&self) -> usize {
        self.vertices
            .as_ref()
            .map_or(self.points.len(), RenderVertices::count)
    }

    /// Whether the result has normals, either skinned rest normals or smooth ones.
    #[must_use]
    pub fn has_output_normals(&self) -> bool {
        self.normals.is_some() || self.smooth_normals.is_some()
    }

    /// Number of normals in the result: one per render vertex if there are render vertices, else
    /// one per point or per face corner; 0 without normals.
    #[must_use]
    pub fn output_normal_count(&self) -> usize {
        match (&self.vertices, &self.normals) {
            _ if !self.has_output_normals() => 0,
            (None, Some(normals)) => normals.len(),
            _ => self.output_count(),
        }
    }

    /// Rest tangents in prim space, one per render vertex, with handedness in `w`. The result has
    /// as many.
    #[must_use]
    pub fn tangents(&self) -> Option<&[Vec4]> {
        self.vertices.as_ref()?.tangents()
    }

    /// The skinning method. The palette of a pose has to be packed for the same method.
    #[must_use]
    pub fn method(&self) -> SkinningMethod {
        self.method
    }

    /// Influences; `None` if the prim only blends.
    #[must_use]
    pub fn influences(&self) -> Option<&PackedInfluences> {
        self.influences.as_ref()
    }

    /// Blend shapes; `None` if every one is missing.
    #[must_use]
    pub fn blend(&self) -> Option<&PackedBlend> {
        self.blend.as_ref()
    }

    /// Number of matrices of a palette: one per joint of the skeleton, and one for joints that the
    /// skeleton lacks.
    #[must_use]
    pub fn palette_entry_count(&self) -> usize {
        self.entries as usize
    }

    /// Number of blend shapes, including missing ones. A pose has as many channel weights.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.channels
    }
}
