//! Palettes that the GPU makes of local transforms, and where they lie. No GPU calls here.

use std::collections::HashMap;
use std::sync::Arc;

use super::RigId;
use super::changed::Changed;
use super::groups::{Groups, Pages};
use super::pose_pages::{changes, write};
use super::rigs::{HeldRig, RigTables};
use crate::kernel::{JointTransform, NONE, PackedRig, PoseRigItem};
use crate::math::Rows;

/// Palettes of one page. Those of one rig's tables lie one behind the other.
#[derive(Debug, Default)]
pub(super) struct RigPalettes {
    batches: Vec<Batch>,
    /// By address of what they are made by, which a batch holds.
    open: HashMap<usize, usize>,
    blocks: u32,
    stored: u32,
    joint_count: u32,
    /// Local transforms, batch by batch.
    joints: Vec<JointTransform>,
    changed: Changed,
}

#[derive(Debug)]
struct Batch {
    rig: Arc<PackedRig>,
    tables: RigTables,
    copies: u32,
    /// Until all are known.
    joints: Vec<JointTransform>,
    first_joint: u32,
    first_block: u32,
    first_stored: u32,
}

/// Where a rig's palette lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct RigPlace {
    pub page: usize,
    batch: usize,
    copy: u32,
    /// The same rig in another page, or [`NONE`].
    next: u32,
}

/// The places of all rigs in all pages.
#[derive(Debug, Default)]
pub(super) struct RigPlaces {
    places: Vec<RigPlace>,
    /// The last of each rig, by slot.
    of_rig: Vec<u32>,
}

impl RigPlaces {
    /// Adds a rig to a page; the number of its place.
    pub fn add(
        &mut self,
        page: usize,
        palettes: &mut RigPalettes,
        id: RigId,
        rig: &HeldRig,
    ) -> u32 {
        let (batch, copy) = palettes.add(rig);
        let slot = id.slot() as usize;
        if slot >= self.of_rig.len() {
            self.of_rig.resize(slot + 1, NONE);
        }
        let number = self.places.len() as u32;
        let next = std::mem::replace(&mut self.of_rig[slot], number);
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

    /// Every place of the rig in a slot.
    pub fn of_rig(&self, slot: u32) -> impl Iterator<Item = RigPlace> + '_ {
        let at = |number: u32| self.places.get(number as usize).copied();
        let first = self.of_rig.get(slot as usize).copied().unwrap_or(NONE);
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

    pub fn stored_bytes(&self) -> u64 {
        u64::from(self.stored) * size_of::<Rows>() as u64
    }

    /// Bytes of the largest of its other buffers, with one rig more.
    pub fn largest_with(&self, more: Option<&PackedRig>) -> u64 {
        let (joints, stored) = more.map_or((0, 0), |rig| (rig.joint_count(), rig.cached()));
        let joints = self.joint_bytes() + (joints * size_of::<JointTransform>()) as u64;
        joints.max(self.stored_bytes() + (stored * size_of::<Rows>()) as u64)
    }

    fn add(&mut self, rig: &HeldRig) -> (usize, u32) {
        let address = Arc::as_ptr(&rig.packed) as usize;
        let number = *self.open.entry(address).or_insert_with(|| {
            self.batches.push(Batch {
                rig: Arc::clone(&rig.packed),
                tables: rig.tables,
                copies: 0,
                joints: Vec::new(),
                first_joint: 0,
                first_block: 0,
                first_stored: 0,
            });
            self.batches.len() - 1
        });
        let batch = &mut self.batches[number];
        batch.joints.extend_from_slice(&rig.joints);
        batch.copies += 1;
        self.blocks += rig.packed.blocks() as u32;
        self.stored += rig.packed.cached() as u32;
        self.joint_count += rig.joints.len() as u32;
        (number, batch.copies - 1)
    }

    /// Lays the batches one behind the other; nothing is added afterwards.
    pub fn settle(&mut self) {
        self.joints.reserve_exact(self.joint_count as usize);
        let (mut block, mut stored) = (0, 0);
        for batch in &mut self.batches {
            (batch.first_block, batch.first_stored) = (block, stored);
            batch.first_joint = self.joints.len() as u32;
            self.joints.append(&mut batch.joints);
            batch.joints = Vec::new();
            block += batch.copies * batch.rig.blocks() as u32;
            stored += batch.copies * batch.rig.cached() as u32;
        }
    }

    /// First row of a palette, counted from the first of all that are posed.
    pub fn palette_row(&self, place: RigPlace) -> u32 {
        let batch = &self.batches[place.batch];
        (batch.first_block + place.copy * batch.rig.blocks() as u32) * 3
    }

    /// Takes other local transforms.
    pub fn update(&mut self, place: RigPlace, joints: &[JointTransform]) {
        let batch = &self.batches[place.batch];
        let first = batch.first_joint + place.copy * batch.rig.joint_count() as u32;
        write(&mut self.joints, &mut self.changed, first, &[joints]);
    }

    /// Lists what makes these palettes. Groups of levels are told apart in place of output sets.
    pub fn push_items(&self, page: usize, first_row: u32, to: &mut Groups<PoseRigItem>) {
        for batch in &self.batches {
            let (rig, tables) = (&batch.rig, &batch.tables);
            let mut first = 0;
            for (level, end) in rig.ends().iter().enumerate() {
                let (order, count) = (tables.order + first, end - first);
                first = *end;
                let pages = Pages {
                    skin: tables.page,
                    pose: page,
                    out: level,
                };
                to.push(pages, count * batch.copies, 0, |first_workgroup| {
                    PoseRigItem {
                        first_workgroup,
                        copies: batch.copies,
                        count,
                        slots: rig.slots() as u32,
                        // In pairs of floats.
                        joints: batch.first_joint * 5,
                        order,
                        parents: tables.parents,
                        binds: tables.binds,
                        normal_binds: tables.normal_binds,
                        palette: first_row + batch.first_block * 3,
                        palette_stride: rig.blocks() as u32 * 3,
                        cached: batch.first_stored * 3,
                        cached_stride: rig.cached() as u32 * 3,
                    }
                });
            }
        }
    }

    /// What the GPU lacks of local transforms: byte offsets, and bytes.
    pub fn changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        changes(&self.joints, &self.changed, 0)
    }

    pub fn join(&mut self, gap: u32) {
        self.changed.join(gap / size_of::<JointTransform>() as u32);
    }

    pub fn set_uploaded(&mut self) {
        self.changed.clear();
    }

    pub fn mark_all(&mut self) {
        self.changed.mark_all(self.joints.len());
    }
}
