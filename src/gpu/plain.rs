//! Items of plain skins, which share what does not change with time: several instances of one skin to an item.

use std::collections::HashMap;

use super::groups::{Groups, Pages};
use super::out_sets::OutSet;
use super::outputs::OutPlace;
use super::pipelines::Variant;
use super::skinner::Limits;
use super::slices::Slice;
use super::target::{NORMALS, POINTS, PREVIOUS};
use crate::kernel::encoded_skin::MultiPoseValues;
use crate::kernel::registry::multi_pose_bits::{
    COMPACT, FINE, NARROW, WITH_NORMALS, WITH_PREVIOUS,
};
use crate::kernel::{ItemPose, MultiPoseItem, NONE, POSES_PER_ITEM, Packing, PoseOffsets};

const POSES: usize = POSES_PER_ITEM as usize;

/// What the kernel's constants say of a skin; a dispatch has items of one class alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// Bits of the kernel's overrides.
    bits: usize,
    /// Influences that are held in registers; 0 for any number.
    influences: u8,
}

impl Class {
    fn new(plain: &MultiPoseValues, influences: u32, normals: bool, previous: bool) -> Self {
        let bit = |is_set: bool, bit: usize| if is_set { bit } else { 0 };
        let packing = plain.layout.packing;
        Self {
            bits: bit(normals, WITH_NORMALS)
                | bit(previous, WITH_PREVIOUS)
                | bit(plain.layout.narrow, NARROW)
                | bit(packing == Packing::Fine, FINE)
                | bit(packing == Packing::Compact, COMPACT),
            influences: if influences <= 8 { influences as u8 } else { 0 },
        }
    }

    /// The pipeline for results in a set of buffers.
    pub fn variant(self, set: &OutSet) -> Variant {
        let slot = |kind: usize, bit: usize| {
            if self.bits & bit > 0 {
                set.slots[kind]
            } else {
                0
            }
        };
        Variant {
            bits: self.bits,
            slots: [
                slot(NORMALS, WITH_NORMALS),
                slot(PREVIOUS, WITH_PREVIOUS),
                self.influences,
            ],
        }
    }
}

/// What instances have to have in common to share an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    pages: Pages,
    /// First word of the slice's influences, which no other slice has.
    influences: u32,
    points_stride: u32,
    /// `None` without normals.
    normals_stride: Option<u32>,
    /// `None` without positions of the frame before.
    previous_stride: Option<u32>,
}

/// An instance's place in the items of plain skins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PosePlaceAt {
    pub class: usize,
    pub group: usize,
    /// Of the item.
    pub number: usize,
    /// Among the item's poses.
    pub pose: usize,
}

/// Items of plain skins by class.
#[derive(Debug)]
pub(super) struct PlainItems {
    pub classes: Vec<(Class, Groups<MultiPoseItem>)>,
    /// Where the last one went.
    open: HashMap<Key, PosePlaceAt>,
    limits: Limits,
}

impl PlainItems {
    pub fn new(limits: &Limits) -> Self {
        Self {
            classes: Vec::new(),
            open: HashMap::new(),
            limits: *limits,
        }
    }

    /// Of each group.
    pub fn workgroups(&self) -> Vec<u32> {
        self.classes
            .iter()
            .flat_map(|(_, groups)| groups.workgroups())
            .collect()
    }

    /// Adds a slice of an instance; `of_pose` has what its pose says. Its place, unless there is nothing to do.
    pub fn push(
        &mut self,
        slice: &Slice,
        plain: &MultiPoseValues,
        out: &OutPlace,
        pages: Pages,
        of_pose: &PoseOffsets,
        flags: u32,
    ) -> Option<PosePlaceAt> {
        let fixed = &slice.item;
        let points = out.kinds[POINTS].unwrap_or_default();
        let normals = out.kinds[NORMALS].filter(|_| fixed.normals != NONE);
        let previous = out.kinds[PREVIOUS];
        let pose = ItemPose {
            palette: of_pose.palette,
            normal_palette: of_pose.normal_palette,
            post: of_pose.post,
            out_points: points.first,
            out_normals: normals.map_or(0, |place| place.first),
            out_previous: previous.map_or(NONE, |place| place.first),
            flags,
            ..ItemPose::default()
        };
        let key = Key {
            pages,
            influences: fixed.influences,
            points_stride: points.stride,
            normals_stride: normals.map(|place| place.stride),
            previous_stride: previous.map(|place| place.stride),
        };
        if let Some(at) = self.open.get_mut(&key).filter(|at| at.pose + 1 < POSES) {
            at.pose += 1;
            let item = &mut self.classes[at.class].1.all[at.group].items[at.number];
            item.poses[at.pose] = pose;
            item.pose_count += 1;
            return Some(*at);
        }
        let class = Class::new(
            plain,
            fixed.influence_count,
            normals.is_some(),
            previous.is_some(),
        );
        let found = self.classes.iter().position(|(other, _)| *other == class);
        let class_number = found.unwrap_or_else(|| {
            let groups = Groups::new(&self.limits);
            self.classes.push((class, groups));
            self.classes.len() - 1
        });
        let groups = &mut self.classes[class_number].1;
        let place = groups.push(pages, fixed.count, 0, |first_workgroup| MultiPoseItem {
            first_workgroup,
            count: fixed.count,
            rest_points: fixed.points,
            rest_normals: normals.map_or(NONE, |_| fixed.normals),
            influences: fixed.influences,
            influence_count: fixed.influence_count,
            pose_count: 1,
            points_stride: points.stride,
            normals_stride: normals.map_or(0, |place| place.stride),
            previous_stride: previous.map_or(0, |place| place.stride),
            step: plain.grid.step,
            low_x: plain.grid.low.x,
            low_y: plain.grid.low.y,
            low_z: plain.grid.low.z,
            poses: first_of(pose),
            ..MultiPoseItem::default()
        });
        let (group, number) = place?;
        let at = PosePlaceAt {
            class: class_number,
            group,
            number,
            pose: 0,
        };
        self.open.insert(key, at);
        Some(at)
    }
}

fn first_of(pose: ItemPose) -> [ItemPose; POSES] {
    let mut poses = [ItemPose::default(); POSES];
    poses[0] = pose;
    poses
}
