//! The static half of one prim, flat.

use glam::Vec3;

use super::palette::OwnSlots;
use super::{PackedBlend, PackedInfluences};
use crate::error::Invalid;
use crate::skel::{Skin, SkinningMethod};

/// Palette slots that a u16 index reaches.
const MAX_SLOTS: usize = 65_535;

/// A [`Skin`] as the kernels read it: everything that does not change with time.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedSkin {
    prim: String,
    pub(super) points: Vec<Vec3>,
    pub(super) normals: Option<Vec<Vec3>>,
    pub(super) normal_points: Option<Vec<u32>>,
    pub(super) influences: Option<PackedInfluences>,
    pub(super) blend: Option<PackedBlend>,
    method: SkinningMethod,
    slots: u32,
    pub(super) own_slots: OwnSlots,
    channels: usize,
}

impl PackedSkin {
    /// Packs a validated skin. `prim` is its path, for messages.
    ///
    /// # Errors
    /// A skeleton of more than 65,534 joints (slots are u16 and one stands for missing joints), or
    /// arrays that u32 offsets cannot address.
    pub fn pack(prim: &str, skin: &Skin) -> Result<Self, Invalid> {
        let slots = skin.joint_count() + 1;
        if slots > MAX_SLOTS {
            return Err(Invalid::new(
                prim,
                "skel:joints",
                format!("a skeleton of at most {} joints", MAX_SLOTS - 1),
                skin.joint_count().to_string(),
            ));
        }
        // Kernels count floats, three per point; one more row than points must fit too.
        fits_u32(
            prim,
            "points",
            "floats of points",
            (skin.points().len() as u64 + 1) * 3,
        )?;
        fits_u32(
            prim,
            "normals",
            "floats of normals",
            (skin.normal_count() as u64 + 1) * 3,
        )?;
        let own_slots = match (skin.has_own_joints(), skin.method()) {
            (true, SkinningMethod::DualQuaternion) => {
                let joints = 0..skin.own_joint_count() as u32;
                // Joints that the skeleton lacks are identity and have no scale.
                OwnSlots::Some(joints.filter_map(|j| skin.skeleton_joint(j)).collect())
            }
            _ => OwnSlots::All,
        };
        Ok(Self {
            prim: prim.to_owned(),
            points: skin.points().to_vec(),
            normals: skin.normals().map(<[Vec3]>::to_vec),
            normal_points: skin.normal_points().map(<[u32]>::to_vec),
            influences: PackedInfluences::pack(prim, skin)?,
            blend: PackedBlend::pack(prim, skin)?,
            method: skin.method(),
            slots: slots as u32,
            own_slots,
            channels: skin.shapes().len(),
        })
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

    /// Whether there are normals, one per point.
    #[must_use]
    pub fn has_point_normals(&self) -> bool {
        self.normals.is_some() && self.normal_points.is_none()
    }

    /// Point of each normal, for faceVarying ones.
    #[must_use]
    pub fn normal_points(&self) -> Option<&[u32]> {
        self.normal_points.as_deref()
    }

    /// Number of normals: what a result has of them; 0 without any.
    #[must_use]
    pub fn normal_count(&self) -> usize {
        self.normals.as_ref().map_or(0, Vec::len)
    }

    /// How joint transforms are combined; a pose's palette has to be made for it.
    #[must_use]
    pub fn method(&self) -> SkinningMethod {
        self.method
    }

    /// Influences, or `None` for a prim that only blends.
    #[must_use]
    pub fn influences(&self) -> Option<&PackedInfluences> {
        self.influences.as_ref()
    }

    /// Blend shapes, or `None` where every slot is empty.
    #[must_use]
    pub fn blend(&self) -> Option<&PackedBlend> {
        self.blend.as_ref()
    }

    /// Palette slots: one per joint of the skeleton and one for joints that it lacks.
    #[must_use]
    pub fn palette_slots(&self) -> usize {
        self.slots as usize
    }

    /// Blend shape slots, which is how many channel weights a pose has.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.channels
    }
}

pub(super) fn fits_u32(prim: &str, property: &str, what: &str, count: u64) -> Result<(), Invalid> {
    if count < u64::from(u32::MAX) {
        return Ok(());
    }
    Err(Invalid::new(
        prim,
        property,
        format!("fewer than {} {what}", u32::MAX),
        count.to_string(),
    ))
}
