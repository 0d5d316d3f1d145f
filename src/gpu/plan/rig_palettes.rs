//! Palettes that the GPU computes from local transforms, and where they lie.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::groups::{GroupKey, Groups};
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::device::pipelines::{Variant, bit_if};
use crate::gpu::memory::dirty_ranges::Mirrored;
use crate::gpu::store::rigs::{ResidentRig, RigId, RigTables};
use crate::kernel::registry::pose_bits::WITH_DUAL_QUATERNIONS;
use crate::kernel::{JointTransform, NONE, PackedRig, PlayItem, Player, PoseRigItem};
use crate::math::Rows;

/// The pipeline that computes palettes of a rig.
pub fn pose_variant(has_motions: bool) -> Variant {
    Variant::with(bit_if(has_motions, WITH_DUAL_QUATERNIONS), [])
}

/// The palettes of one page. Palettes that share a rig's tables lie one after the other.
#[derive(Debug, Default)]
pub struct RigPalettes {
    batches: Vec<Batch>,
    /// The batch of each [`PackedRig`], by its address. The batch keeps the rig alive.
    open: HashMap<usize, usize>,
    blocks: u32,
    cached: u32,
    joint_count: u32,
    copies: u32,
    /// The states of rigs that play, batch by batch; empty if none ever played.
    pub players: Mirrored<Player>,
}

/// A rig that is placed, and its state if rigs play.
#[derive(Clone, Copy, Debug)]
pub struct PlacedRig<'a> {
    pub id: RigId,
    pub rig: &'a ResidentRig,
    pub player: Option<Player>,
}

#[derive(Debug)]
struct Batch {
    rig: Arc<PackedRig>,
    tables: RigTables,
    copies: u32,
    /// The local transforms of its copies, if the host poses any of them. Those of rigs that play
    /// are the identity here.
    joints: Option<Mirrored<JointTransform>>,
    /// The states of its copies, until [`RigPalettes::settle`] moves them.
    players: Vec<Player>,
    first_joint: u32,
    first_block: u32,
    first_cached: u32,
    first_player: u32,
}

impl Batch {
    /// Writes the local transforms of a copy. If the GPU has overwritten them, they are uploaded
    /// although they may be the same.
    fn write(&mut self, copy: u32, joints: &[JointTransform], is_overwritten: bool) {
        let each = self.rig.joint_count();
        let mirrored = self.joints.get_or_insert_default();
        let missing = (self.copies as usize * each).saturating_sub(mirrored.len());
        if missing > 0 {
            mirrored.extend_from_slice(&vec![JointTransform::IDENTITY; missing]);
        }
        if is_overwritten {
            mirrored.restore(copy * each as u32, joints);
        } else {
            mirrored.write(copy * each as u32, &[joints]);
        }
    }

    /// The item of some levels of all copies. `levels` is a range of the rig's order of joints.
    fn item(&self, levels: &Range<u32>, first_row: u32, first_workgroup: u32) -> PoseRigItem {
        let (rig, tables) = (&self.rig, &self.tables);
        let (blocks, cached) = (rig.blocks() as u32, rig.hierarchy.cached);
        PoseRigItem {
            first_workgroup,
            copies: self.copies,
            count: levels.len() as u32,
            entry_count: rig.entry_count() as u32,
            // In pairs of floats.
            joints: self.first_joint * 5,
            order: tables.order + levels.start,
            parents: tables.parents,
            binds: tables.binds,
            normal_binds: tables.normal_binds,
            palette: first_row + self.first_block * 3,
            palette_stride: blocks * 3,
            cached: self.first_cached * 3,
            cached_stride: cached * 3,
            motions: rig.motion_row().unwrap_or(NONE),
            attachments: tables.attachments,
            attached: rig.attached_row(),
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
    /// Each rig and its last place, by index.
    of_rig: Vec<Option<(RigId, u32)>>,
}

impl RigPlaces {
    /// Adds a rig to a page and returns the index of its place.
    pub fn add(&mut self, page: usize, palettes: &mut RigPalettes, rig: &PlacedRig<'_>) -> u32 {
        let (batch, copy) = palettes.add(rig);
        let index = rig.id.index() as usize;
        if index >= self.of_rig.len() {
            self.of_rig.resize(index + 1, None);
        }
        let number = self.places.len() as u32;
        let before = self.of_rig[index].replace((rig.id, number));
        let next = before.map_or(NONE, |(_, place)| place);
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

    /// Every place of a rig. A rig that took the slot of another has none before the next plan.
    pub fn of_rig(&self, rig: RigId) -> impl Iterator<Item = RigPlace> + '_ {
        let at = |number: u32| self.places.get(number as usize).copied();
        let found = self.of_rig.get(rig.index() as usize).copied().flatten();
        let first = found
            .filter(|(id, _)| *id == rig)
            .map_or(NONE, |(_, place)| place);
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
        let of = |rig: &PackedRig| (rig.joint_count(), rig.hierarchy.cached as usize);
        let (joints, cached) = more.map_or((0, 0), of);
        let joints = self.joint_bytes() + (joints * size_of::<JointTransform>()) as u64;
        let players = u64::from(self.copies + 1) * size_of::<Player>() as u64;
        joints
            .max(players)
            .max(self.cached_bytes() + (cached * size_of::<Rows>()) as u64)
    }

    fn add(&mut self, placed: &PlacedRig<'_>) -> (usize, u32) {
        let rig = placed.rig;
        let address = Arc::as_ptr(&rig.packed) as usize;
        let number = *self.open.entry(address).or_insert_with(|| {
            self.batches.push(Batch {
                rig: Arc::clone(&rig.packed),
                tables: rig.tables,
                copies: 0,
                joints: None,
                players: Vec::new(),
                first_joint: 0,
                first_block: 0,
                first_cached: 0,
                first_player: 0,
            });
            self.batches.len() - 1
        });
        let batch = &mut self.batches[number];
        batch.copies += 1;
        if rig.is_posed {
            batch.write(batch.copies - 1, &rig.joints, false);
        }
        batch.players.extend(placed.player);
        self.copies += 1;
        self.blocks += rig.packed.blocks() as u32;
        self.cached += rig.packed.hierarchy.cached;
        self.joint_count += rig.packed.joint_count() as u32;
        (number, batch.copies - 1)
    }

    /// Lays out the batches one after the other, with everything marked for upload. Nothing may be
    /// added afterwards.
    pub fn settle(&mut self) {
        let (mut block, mut cached, mut joint) = (0, 0, 0);
        let mut players = Vec::new();
        for batch in &mut self.batches {
            (batch.first_block, batch.first_cached) = (block, cached);
            (batch.first_joint, batch.first_player) = (joint, players.len() as u32);
            players.append(&mut std::mem::take(&mut batch.players));
            if batch.joints.is_some() {
                // Copies after the last one that the host poses.
                batch.write(0, &[], false);
            }
            batch.joints.iter_mut().for_each(Mirrored::mark_all);
            block += batch.copies * batch.rig.blocks() as u32;
            cached += batch.copies * batch.rig.hierarchy.cached;
            joint += batch.copies * batch.rig.joint_count() as u32;
        }
        self.players = players.into();
    }

    /// First row of a palette, counted from the first palette that the GPU computes.
    pub fn palette_row(&self, place: RigPlace) -> u32 {
        let batch = &self.batches[place.batch];
        (batch.first_block + place.copy * batch.rig.blocks() as u32) * 3
    }

    /// First byte of the local transforms of a place.
    pub fn joint_byte(&self, place: RigPlace) -> u64 {
        let batch = &self.batches[place.batch];
        let first = batch.first_joint + place.copy * batch.rig.joint_count() as u32;
        u64::from(first) * size_of::<JointTransform>() as u64
    }

    /// Index of the player of a place.
    pub fn player_index(&self, place: RigPlace) -> u32 {
        self.batches[place.batch].first_player + place.copy
    }

    /// The rig of a place.
    pub fn rig(&self, place: RigPlace) -> &PackedRig {
        &self.batches[place.batch].rig
    }

    /// Updates the local transforms of a place, which the GPU may have overwritten.
    pub fn update(&mut self, place: RigPlace, joints: &[JointTransform], is_overwritten: bool) {
        self.batches[place.batch].write(place.copy, joints, is_overwritten);
    }

    /// Whether rigs play, so that the GPU writes joints and channel weights beside those that are
    /// uploaded.
    pub fn has_players(&self) -> bool {
        self.players.len() > 0
    }

    /// Updates the player of a place.
    pub fn update_player(&mut self, place: RigPlace, player: &Player) {
        let index = self.player_index(place);
        if self.has_players() {
            self.players.write(index, &[std::slice::from_ref(player)]);
        }
    }

    /// Adds the items that play clips on these rigs. They lie in page `page`.
    pub fn push_play_items(&self, limits: &WorkLimits, page: usize, to: &mut Groups<PlayItem>) {
        if !self.has_players() {
            return;
        }
        for batch in &self.batches {
            let key = GroupKey {
                skin_page: batch.tables.page,
                pose_page: page,
                ..GroupKey::default()
            };
            let count = batch.rig.joint_count() as u32;
            to.push(limits, key, count * batch.copies, |first_workgroup| {
                PlayItem {
                    first_workgroup,
                    copies: batch.copies,
                    count,
                    players: batch.first_player,
                    joints: batch.first_joint * 5,
                    table: batch.tables.parents,
                    channels: NONE,
                }
            });
        }
    }

    /// Adds the items that compute these palettes. The palettes lie in page `page`, the first of
    /// them at row `first_row`.
    pub fn push_items(
        &self,
        limits: &WorkLimits,
        page: usize,
        first_row: u32,
        to: &mut Groups<PoseRigItem>,
    ) {
        for batch in &self.batches {
            let rig = &batch.rig;
            let mut first = 0;
            for (level, end) in rig.hierarchy.ends.iter().enumerate() {
                let levels = first..*end;
                first = *end;
                let key = GroupKey {
                    skin_page: batch.tables.page,
                    pose_page: page,
                    level,
                    variant: pose_variant(rig.motion_row().is_some()),
                    ..GroupKey::default()
                };
                let count = levels.len() as u32;
                to.push(limits, key, count * batch.copies, |first_workgroup| {
                    batch.item(&levels, first_row, first_workgroup)
                });
            }
        }
    }

    /// The ranges of local transforms that still have to be uploaded: byte offsets and bytes.
    pub fn joint_changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        self.batches.iter().flat_map(|batch| {
            let first = u64::from(batch.first_joint) * size_of::<JointTransform>() as u64;
            let joints = batch.joints.iter();
            joints.flat_map(move |joints| joints.changes(first))
        })
    }

    /// The same for players.
    pub fn player_changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        self.players.changes(0)
    }

    /// Sorts and joins the changed ranges. What the GPU writes between them is left alone.
    pub fn join(&mut self, gap: u32) {
        let gap = if self.has_players() { 0 } else { gap };
        self.each_joints(|joints| joints.join(gap));
        self.players.join(PLAYER_GAP);
    }

    /// Clears the marks, after everything was uploaded.
    pub fn set_uploaded(&mut self) {
        self.each_joints(Mirrored::set_uploaded);
        self.players.set_uploaded();
    }

    fn each_joints(&mut self, each: impl FnMut(&mut Mirrored<JointTransform>)) {
        let joints = self.batches.iter_mut().filter_map(|b| b.joints.as_mut());
        joints.for_each(each);
    }
}

/// Two changed players with at most this many bytes between them are uploaded as one range: few
/// enough that players that change here and there do not upload the others.
const PLAYER_GAP: u32 = 192;
