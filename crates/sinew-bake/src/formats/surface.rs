//! A baked mesh with its faces.

use std::sync::Arc;

use sinew::scene::DrawnMesh;
use sinew::skel::{MeshTopology, PrimvarInterpolation};

/// Which normals of a frame a face corner takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalsOf {
    Points,
    Corners,
}

/// A mesh as it is written.
pub(super) struct Surface<'a> {
    /// Of the prim, and of no other.
    pub name: String,
    pub mesh: &'a DrawnMesh,
    pub normals: NormalsOf,
    /// Whether those are made, so that no vertex is split for authored ones.
    pub made_normals: bool,
    /// Whether the way to the output's space mirrors, so that faces have to be turned over.
    pub mirrored: bool,
}

/// How the normals of a mesh come about.
#[derive(Clone, Debug)]
pub(super) enum NormalsFrom {
    /// Authored, and deformed where something deforms them: which of the binding's normals.
    Authored(usize, NormalsOf),
    /// From the deformed points: none are authored, or only such as nothing deforms (constant ones, and one per face).
    Made(Arc<MeshTopology>),
}

impl NormalsFrom {
    pub fn of(mesh: &DrawnMesh) -> Self {
        let kind = mesh.normals.as_ref().and_then(|n| match n.interpolation {
            PrimvarInterpolation::Vertex => Some(NormalsOf::Points),
            PrimvarInterpolation::FaceVarying => Some(NormalsOf::Corners),
            _ => None,
        });
        match (kind, mesh.skin_normals) {
            (Some(kind), Some(normals)) => Self::Authored(normals, kind),
            _ => Self::Made(mesh.topology.clone()),
        }
    }

    pub fn kind(&self) -> NormalsOf {
        match self {
            Self::Authored(_, kind) => *kind,
            Self::Made(_) => NormalsOf::Points,
        }
    }
}

impl Surface<'_> {
    /// Every face that is drawn, once: those of no subset first, then subset by subset.
    pub fn faces_by_material(&self) -> Vec<(Option<usize>, Vec<usize>)> {
        let topology = &self.mesh.topology;
        let mut of_face: Vec<Option<usize>> = vec![None; topology.face_count()];
        for (s, subset) in self.mesh.subsets.iter().enumerate() {
            for face in subset.faces.iter() {
                if let Some(of_face) = of_face.get_mut(*face as usize) {
                    *of_face = Some(s);
                }
            }
        }
        let mut out = vec![(self.mesh.material, Vec::new())];
        out.extend(self.mesh.subsets.iter().map(|s| (s.material, Vec::new())));
        let mut holes = topology.holes().iter().peekable();
        for (face, subset) in of_face.into_iter().enumerate() {
            let is_hole = holes.next_if(|h| **h as usize == face).is_some();
            if !is_hole && topology.corners(face).len() >= 3 {
                out[subset.map_or(0, |s| s + 1)].1.push(face);
            }
        }
        out.retain(|(_, faces)| !faces.is_empty());
        out
    }

    /// The corners of a face, counter-clockwise seen from outside.
    pub fn for_each_corner(&self, face: usize, mut corner: impl FnMut(usize)) {
        let corners = self.mesh.topology.corners(face);
        match self.mesh.topology.is_left_handed() != self.mirrored {
            true => corners.rev().for_each(&mut corner),
            false => corners.for_each(&mut corner),
        }
    }
}
