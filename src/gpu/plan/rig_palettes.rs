//! Palettes that the GPU computes from local transforms, and where they lie.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::groups::{GroupKey, Groups, Owner};
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::device::pipelines::Variant;
use crate::gpu::memory::dirty_ranges::Mirrored;
use crate::gpu::store::rigs::{HeldRig, RigTables};
use crate::kernel::registry::pose_rig_bits::SHARED_WORKGROUPS;
use crate::kernel::{JointTransform, NONE, PackedRig, PoseRigItem};
use crate::math::Rows;

/// The palettes of one page. Palettes that share a rig's tables lie one after the other.
#[derive(Debug, Default)]
pub struct RigPalettes {
    batches: Vec<Batch>,
    /// The batch of each [`PackedRig`], by its address. The batch keeps the rig alive.
    open: HashMap<usize, usize>,
    blocks: u32,
    cached: u32,
    joint_count: u32,
    /// Local transforms, batch by batch.
    joints: Mirrored<JointTransform>,
}

#[derive(Debug)]
struct Batch {
    rig: Arc<PackedRig>,
    tables: RigTables,
    copies: u32,
    /// The rig of each copy, by index.
    rigs: Vec<u32>,
    /// The local transforms of its copies, until [`RigPalettes::settle`] moves them.
    joints: Vec<JointTransform>,
    first_joint: u32,
    first_block: u32,
    first_cached: u32,
}

impl Batch {
    /// The item of some levels of some copies. `levels` is a range of the rig's order of joints.
    fn item(
        &self,
        levels: &Range<u32>,
        copies: Range<u32>,
        first_row: u32,
        first_workgroup: u32,
    ) -> PoseRigItem {
        let (rig, tables) = (&self.rig, &self.tables);
        let (blocks, cached) = (rig.blocks() as u32, rig.cached() as u32);
        PoseRigItem {
            first_workgroup,
            copies: copies.len() as u32,
            count: levels.len() as u32,
            entry_count: rig.entry_count() as u32,
            // In pairs of floats.
            joints: (self.first_joint + copies.start * rig.joint_count() as u32) * 5,
            order: tables.order + levels.start,
            parents: tables.parents,
            binds: tables.binds,
            normal_binds: tables.normal_binds,
            palette: first_row + (self.first_block + copies.start * blocks) * 3,
            palette_stride: blocks * 3,
            cached: (self.first_cached + copies.start * cached) * 3,
            cached_stride: cached * 3,
        }
    }
}

/// Where a rig's palette lies.
#[derive(Clone, Copy, Debug)]
pub struct RigPlace {
    pub page: usize,
    batch: usize,
    copy: u32,
    /// Index of the place of the same rig in another page, or [`NONE`].
    next: u32,
}

/// The places of all rigs in all pages.
#[derive(Debug, Default)]
pub struct RigPlaces {
    places: Vec<RigPlace>,
    /// The last place of each rig, by index.
    of_rig: Vec<u32>,
}

impl RigPlaces {
    /// Adds a rig to a page and returns the index of its place.
    pub fn add(
        &mut self,
        page: usize,
        palettes: &mut RigPalettes,
        index: u32,
        rig: &HeldRig,
    ) -> u32 {
        let (batch, copy) = palettes.add(index, rig);
        let index = index as usize;
        if index >= self.of_rig.len() {
            self.of_rig.resize(index + 1, NONE);
        }
        let number = self.places.len() as u32;
        let next = std::mem::replace(&mut self.of_rig[index], number);
        self.places.push(RigPlace {
            page,
            batch,
            copy,
            next,
        });
        number
    }

    pub fn place(&self, number: u32) -> RigPlace {
        self.places[number as usize]
    }

    /// Every place of a rig, by index.
    pub fn of_rig(&self, index: u32) -> impl Iterator<Item = RigPlace> + '_ {
        let at = |number: u32| self.places.get(number as usize).copied();
        let first = self.of_rig.get(index as usize).copied().unwrap_or(NONE);
        std::iter::successors(at(first), move |place| at(place.next))
    }
}

impl RigPalettes {
    pub fn palette_bytes(&self) -> u64 {
        u64::from(self.blocks) * size_of::<Rows>() as u64
    }

    pub fn joint_bytes(&self) -> u64 {
        u64::from(self.joint_count) * size_of::<JointTransform>() as u64
    }

    pub fn cached_bytes(&self) -> u64 {
        u64::from(self.cached) * size_of::<Rows>() as u64
    }

    /// Size of the largest of its other buffers in bytes, if `more` were added.
    pub fn largest_with(&self, more: Option<&PackedRig>) -> u64 {
        let (joints, cached) = more.map_or((0, 0), |rig| (rig.joint_count(), rig.cached()));
        let joints = self.joint_bytes() + (joints * size_of::<JointTransform>()) as u64;
        joints.max(self.cached_bytes() + (cached * size_of::<Rows>()) as u64)
    }

    fn add(&mut self, index: u32, rig: &HeldRig) -> (usize, u32) {
        let address = Arc::as_ptr(&rig.packed) as usize;
        let number = *self.open.entry(address).or_insert_with(|| {
            self.batches.push(Batch {
                rig: Arc::clone(&rig.packed),
                tables: rig.tables,
                copies: 0,
                rigs: Vec::new(),
                joints: Vec::new(),
                first_joint: 0,
                first_block: 0,
                first_cached: 0,
            });
            self.batches.len() - 1
        });
        let batch = &mut self.batches[number];
        batch.joints.extend_from_slice(&rig.joints);
        batch.copies += 1;
        batch.rigs.push(index);
        self.blocks += rig.packed.blocks() as u32;
        self.cached += rig.packed.cached() as u32;
        self.joint_count += rig.joints.len() as u32;
        (number, batch.copies - 1)
    }

    /// Lays out the batches one after the other. Nothing may be added afterwards.
    pub fn settle(&mut self) {
        let mut joints = Vec::with_capacity(self.joint_count as usize);
        let (mut block, mut cached) = (0, 0);
        for batch in &mut self.batches {
            (batch.first_block, batch.first_cached) = (block, cached);
            batch.first_joint = joints.len() as u32;
            joints.append(&mut batch.joints);
            batch.joints = Vec::new();
            block += batch.copies * batch.rig.blocks() as u32;
            cached += batch.copies * batch.rig.cached() as u32;
        }
        self.joints = joints.into();
    }

    /// First row of a palette, counted from the first palette that the GPU computes.
    pub fn palette_row(&self, place: RigPlace) -> u32 {
        let batch = &self.batches[place.batch];
        (batch.first_block + place.copy * batch.rig.blocks() as u32) * 3
    }

    /// Updates the local transforms of a place.
    pub fn update(&mut self, place: RigPlace, joints: &[JointTransform]) {
        let batch = &self.batches[place.batch];
        let first = batch.first_joint + place.copy * batch.rig.joint_count() as u32;
        self.joints.write(first, &[joints]);
    }

    /// Adds the items that compute these palettes. The palettes lie in page `page`, the first of
    /// them at row `first_row`. `owners` gives the first index of the rigs' actions if frames leave
    /// out rigs: then each rig has an item of its own.
    pub fn push_items(
        &self,
        limits: &WorkLimits,
        page: usize,
        first_row: u32,
        owners: Option<u32>,
        to: &mut Groups<PoseRigItem>,
    ) {
        for batch in &self.batches {
            let rig = &batch.rig;
            let mut first = 0;
            for (level, end) in rig.ends().iter().enumerate() {
                let levels = first..*end;
                first = *end;
                let key = GroupKey {
                    skin_page: batch.tables.page,
                    pose_page: page,
                    level,
                    ..GroupKey::default()
                };
                let count = levels.len() as u32;
                let Some(first_action) = owners else {
                    to.push(limits, key, count * batch.copies, |first_unit| {
                        batch.item(&levels, 0..batch.copies, first_row, first_unit)
                    });
                    continue;
                };
                let key = GroupKey {
                    variant: Variant::with(SHARED_WORKGROUPS, []),
                    shares_workgroups: true,
                    ..key
                };
                for (copy, index) in (0..).zip(&batch.rigs) {
                    let owner = Owner::action(first_action + index);
                    to.push_owned(limits, key, count, &[owner], |first_unit| {
                        batch.item(&levels, copy..copy + 1, first_row, first_unit)
                    });
                }
            }
        }
    }

    /// Local transforms, with marks for those that still have to be uploaded.
    pub fn joints(&self) -> &Mirrored<JointTransform> {
        &self.joints
    }

    pub fn joints_mut(&mut self) -> &mut Mirrored<JointTransform> {
        &mut self.joints
    }
}
