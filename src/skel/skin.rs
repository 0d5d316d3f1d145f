//! The static half of one prim's deformation.

use std::sync::Arc;

use glam::Vec3;

use super::{BlendShape, JointInfluences};
use crate::error::Invalid;

/// Rest points, normals, influences and shapes of one skinnable prim, validated against each other.
#[derive(Clone, Debug)]
pub struct Skin {
    points: Arc<Vec<Vec3>>,
    normals: Option<Arc<Vec<Vec3>>>,
    influences: Option<JointInfluences>,
    /// Joint of the prim's own order -> joint of the skeleton; identity where the prim has no
    /// order of its own. A joint that the skeleton lacks maps to none and stays put (rule 11).
    joint_map: Option<Vec<Option<u32>>>,
    joint_count: usize,
    shapes: Vec<Option<Arc<BlendShape>>>,
}

impl Skin {
    /// - `points`, `normals`: rest values in prim space, normals one per point.
    /// - `influences`: `None` where the prim only blends.
    /// - `joint_map`: from the prim's skel:joints to the skeleton's joints, where it has its own.
    /// - `joint_count`: joints of the skeleton.
    /// - `shapes`: one slot per blend shape of the prim; an empty slot contributes nothing (rule 17).
    ///
    /// # Errors
    /// Points or normals that are not finite, or normals of the wrong number.
    ///
    /// # Panics
    /// Where `influences` or `shapes` were validated for other points or joints.
    pub fn new(
        prim: &str,
        points: Arc<Vec<Vec3>>,
        normals: Option<Arc<Vec<Vec3>>>,
        influences: Option<JointInfluences>,
        joint_map: Option<Vec<Option<u32>>>,
        joint_count: usize,
        shapes: Vec<Option<Arc<BlendShape>>>,
    ) -> Result<Self, Invalid> {
        let finite =
            |property: &str, values: &[Vec3]| match values.iter().position(|p| !p.is_finite()) {
                Some(i) => Err(Invalid::new(
                    prim,
                    property,
                    "finite values",
                    format!("{} at {i}", values[i]),
                )),
                None => Ok(()),
            };
        finite("points", &points)?;
        if let Some(normals) = &normals {
            if normals.len() != points.len() {
                return Err(Invalid::new(
                    prim,
                    "normals",
                    format!("{} vertex normals", points.len()),
                    normals.len().to_string(),
                ));
            }
            finite("normals", normals)?;
        }
        let own_joints = joint_map.as_ref().map_or(joint_count, Vec::len);
        if let Some(influences) = &influences {
            assert!(
                influences
                    .joints()
                    .iter()
                    .all(|j| (*j as usize) < own_joints),
                "influences validated for this order"
            );
        }
        if let Some(map) = &joint_map {
            assert!(
                map.iter().flatten().all(|j| (*j as usize) < joint_count),
                "joint map into this skeleton"
            );
        }
        Ok(Self {
            points,
            normals,
            influences,
            joint_map,
            joint_count,
            shapes,
        })
    }

    /// Rest points in prim space.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Rest normals, one per point.
    #[must_use]
    pub fn normals(&self) -> Option<&[Vec3]> {
        self.normals.as_deref().map(Vec::as_slice)
    }

    /// Influences, or `None` for a prim that only blends.
    #[must_use]
    pub fn influences(&self) -> Option<&JointInfluences> {
        self.influences.as_ref()
    }

    /// Joints of the skeleton.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.joint_count
    }

    /// Skeleton joint of an influence's joint index; `None` for a joint that the skeleton lacks.
    ///
    /// # Panics
    /// Where `joint` is out of range of the prim's order.
    #[must_use]
    pub fn skeleton_joint(&self, joint: u32) -> Option<u32> {
        match &self.joint_map {
            Some(map) => map[joint as usize],
            None => Some(joint),
        }
    }

    /// Blend shape slots.
    #[must_use]
    pub fn shapes(&self) -> &[Option<Arc<BlendShape>>] {
        &self.shapes
    }

    /// True where a bound shape moves normals; only then do shapes touch them at all (rule 19).
    #[must_use]
    pub fn blends_normals(&self) -> bool {
        let shapes = self.shapes.iter().flatten();
        self.normals.is_some() && shapes.into_iter().any(|s| s.has_normal_offsets())
    }
}
