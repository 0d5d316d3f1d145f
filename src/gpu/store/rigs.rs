//! Skeletons that the GPU poses: their tables and local transforms.

use std::collections::HashMap;
use std::sync::Arc;

use super::skin_pages::{OwnedRanges, SkinPages};
use super::slots::{Id, Slots, new_id};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::skinner::Skinner;
use crate::kernel::{JointTransform, NONE, PackedRig};

new_id! {
    /// Identifies a rig of a [`crate::gpu::Crowd`]. After the rig is removed the id is refused.
    RigId, "a rig"
}

impl RigId {
    /// A small number that no two rigs share at the same time.
    pub fn index(self) -> u32 {
        Id::index(self)
    }
}

/// Where the palette of a rig lies on the GPU, for hosts that skin in their own shader. Rows are
/// `vec4<f32>`; a 3x4 matrix is three of them: `p' = (dot(row0, (p, 1)), dot(row1, (p, 1)),
/// dot(row2, (p, 1)))`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RigPalette<'a> {
    /// The rows, to be bound as `array<vec4<f32>>` (read-only storage).
    pub buffer: &'a wgpu::Buffer,
    /// First row of the matrices for points. The matrix of palette index `i` begins at `points + 3
    /// * i`. It goes from prim space to skeleton space and includes geomBindTransform.
    pub points: u32,
    /// First row of the matrices for normals, if the rig was packed with normals.
    pub normals: Option<u32>,
    /// First row of the rigid motions, if the rig was packed for dual quaternions.
    pub motions: Option<u32>,
    /// First row of the matrices of the joints of [`crate::kernel::PackedRig::attachments`], from
    /// the joint's space to skeleton space.
    pub attachments: Option<u32>,
}

/// Where the tables of a [`PackedRig`] lie.
#[derive(Clone, Copy, Debug, Default)]
pub struct RigTables {
    pub page: usize,
    /// First word of each table, as `PoseRigItem` refers to it.
    pub order: u32,
    pub parents: u32,
    pub binds: u32,
    pub normal_binds: u32,
    pub attachments: u32,
}

/// Tables that several rigs may use.
#[derive(Debug)]
struct SharedTables {
    tables: RigTables,
    ranges: OwnedRanges,
    users: usize,
}

/// A posed skeleton.
#[derive(Clone, Debug)]
pub struct ResidentRig {
    pub packed: Arc<PackedRig>,
    pub tables: RigTables,
    /// The local transforms that the host set last; empty if it set none, or if the rig plays.
    pub joints: Vec<JointTransform>,
    /// Whether the host set local transforms.
    pub is_posed: bool,
    /// Whether its palette is computed although no instance may move with it.
    pub keeps_palette: bool,
}

/// The rigs of a crowd.
#[derive(Debug, Default)]
pub struct RigStore {
    /// The users of a rig are the instances that move with it.
    pub slots: Slots<RigId, ResidentRig>,
    /// Tables by the address of the [`PackedRig`] that they were built from. A rig keeps it alive.
    tables: HashMap<usize, SharedTables>,
    /// Counts changes that need another plan.
    pub version: u64,
}

impl RigStore {
    /// Adds a rig. Rigs of the same `Arc` share their tables.
    pub fn add(
        &mut self,
        skinner: &Skinner,
        pages: &mut SkinPages,
        rig: Arc<PackedRig>,
    ) -> Result<RigId, GpuError> {
        let tables = self.share_tables(skinner, pages, &rig)?;
        Ok(self.slots.insert(ResidentRig {
            joints: Vec::new(),
            packed: rig,
            tables,
            is_posed: false,
            keeps_palette: false,
        }))
    }

    /// Removes a rig that no instance moves with.
    pub fn remove(&mut self, pages: &mut SkinPages, id: RigId) -> Result<(), GpuError> {
        let name = |rig: &ResidentRig| format!("the rig of {}", rig.packed.path());
        let rig = self.slots.remove_unused(id, "instances", name)?;
        let address = Arc::as_ptr(&rig.packed) as usize;
        self.version += u64::from(rig.keeps_palette);
        if let Some(shared) = self.tables.get_mut(&address) {
            shared.users -= 1;
            if shared.users == 0
                && let Some(shared) = self.tables.remove(&address)
            {
                // A plan may still pose it.
                self.version += 1;
                pages.give_back(shared.ranges);
            }
        }
        Ok(())
    }

    pub fn get(&self, id: RigId) -> Result<&ResidentRig, GpuError> {
        self.slots.get(id)
    }

    /// Checks local transforms and copies them.
    pub fn set_joints(&mut self, id: RigId, joints: &[JointTransform]) -> Result<(), GpuError> {
        let rig = self.slots.get_mut(id)?;
        rig.packed.check(joints)?;
        rig.joints.clear();
        rig.joints.extend_from_slice(joints);
        rig.is_posed = true;
        Ok(())
    }

    /// Forgets the transforms that the host set, because the rig plays.
    pub fn forget_joints(&mut self, id: RigId) {
        if let Ok(rig) = self.slots.get_mut(id) {
            rig.joints = Vec::new();
            rig.is_posed = false;
        }
    }

    /// Sets whether the palette of a rig is computed although no instance may move with it.
    pub fn set_keeps_palette(&mut self, id: RigId, keeps: bool) -> Result<(), GpuError> {
        let rig = self.slots.get_mut(id)?;
        if rig.keeps_palette != keeps {
            rig.keeps_palette = keeps;
            self.version += 1;
        }
        Ok(())
    }

    /// The rigs whose palettes are computed although no instance may move with them.
    pub fn kept(&self) -> impl Iterator<Item = (RigId, &ResidentRig)> {
        self.slots.iter().filter(|(_, rig)| rig.keeps_palette)
    }

    /// Creates the same rigs in other pages.
    pub fn rebuild(&self, skinner: &Skinner, pages: &mut SkinPages) -> Result<Self, GpuError> {
        let mut out = Self::default();
        let mut slots = self.slots.clone();
        for rig in slots.values_mut() {
            rig.tables = out.share_tables(skinner, pages, &rig.packed)?;
        }
        out.slots = slots;
        Ok(out)
    }

    fn share_tables(
        &mut self,
        skinner: &Skinner,
        pages: &mut SkinPages,
        packed: &Arc<PackedRig>,
    ) -> Result<RigTables, GpuError> {
        let address = Arc::as_ptr(packed) as usize;
        if let Some(shared) = self.tables.get_mut(&address) {
            shared.users += 1;
            return Ok(shared.tables);
        }
        let (tables, ranges) = pages.owning(|pages| upload(skinner, pages, packed))?;
        let shared = SharedTables {
            tables,
            ranges,
            users: 1,
        };
        self.tables.insert(address, shared);
        Ok(tables)
    }
}

/// Appends the tables of a rig to a page.
fn upload(
    skinner: &Skinner,
    pages: &mut SkinPages,
    rig: &PackedRig,
) -> Result<RigTables, GpuError> {
    let binds = bytemuck::cast_slice::<_, u32>(&rig.binds);
    let normal_binds = rig
        .normal_binds
        .as_deref()
        .map(bytemuck::cast_slice::<_, u32>);
    let attachments = rig.attachment_places();
    let parts = [
        &rig.hierarchy.order[..],
        &rig.hierarchy.parents,
        binds,
        normal_binds.unwrap_or_default(),
        &attachments,
    ];
    let bytes = parts.iter().map(|part| part.len() as u64).sum::<u64>() * 4;
    if bytes > skinner.limits.binding_bytes {
        let what = format!("{}: bytes of a rig's tables", rig.path());
        return Err(GpuError::limit(what, bytes, skinner.limits.binding_bytes));
    }
    let (page, first) = pages.append(skinner, &parts.map(bytemuck::cast_slice))?;
    let mut at = first;
    let firsts = parts.map(|part| {
        at += part.len() as u32;
        at - part.len() as u32
    });
    Ok(RigTables {
        page,
        order: firsts[0],
        parents: firsts[1],
        binds: firsts[2],
        normal_binds: normal_binds.map_or(NONE, |_| firsts[3]),
        attachments: match attachments.is_empty() {
            true => NONE,
            false => firsts[4],
        },
    })
}
