//! What a crowd keeps from frame to frame: the plan, its tables, and what carries it out.

use std::mem::offset_of;

use super::changed::Changed;
use super::crowd::PoseBuffers;
use super::frame::{Blended, Frame};
use super::growing::Growing;
use super::pipelines::Variant;
use super::pose_pages::changes;
use super::tables::{Launch, Tables};
use super::target::NORMALS;
use super::timing::POSE_PASS;
use super::{Crowd, GpuError, InstanceId};
use crate::kernel::{ItemPose, MultiPoseItem, SkinItem};

/// What bind groups depend on beside the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub outputs: u64,
    pub skins: u64,
}

/// A frame that can be encoded time and again.
#[derive(Debug)]
pub(super) struct Retained {
    pub frame: Frame,
    pub launches: Vec<Launch>,
    pub stamp: Stamp,
    /// Words of the item tables and dispatch records.
    tables: Vec<u32>,
    changed_tables: Changed,
    /// First byte of the items of each group of the skin kernel.
    skin_items: Vec<u64>,
    /// The same of each class of plain skins.
    plain_items: Vec<Vec<u64>>,
}

impl Retained {
    fn new(
        frame: Frame,
        launches: Vec<Launch>,
        tables: Vec<u32>,
        skin_items: Vec<u64>,
        plain_items: Vec<Vec<u64>>,
        stamp: Stamp,
    ) -> Self {
        let mut changed_tables = Changed::default();
        changed_tables.mark_all(tables.len());
        Self {
            frame,
            launches,
            stamp,
            tables,
            changed_tables,
            skin_items,
            plain_items,
        }
    }

    /// Has everything uploaded again.
    pub fn mark_all(&mut self) {
        self.changed_tables.mark_all(self.tables.len());
        self.frame.poses.mark_all();
    }

    /// Sorts and joins what has changed.
    pub fn join(&mut self) {
        self.changed_tables.join(1024);
        self.frame.poses.join();
    }

    /// What the GPU lacks of the tables, by byte.
    pub fn table_changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        changes(&self.tables, &self.changed_tables, 0)
    }

    /// Everything is uploaded.
    pub fn set_uploaded(&mut self) {
        self.changed_tables.clear();
        self.frame.poses.set_uploaded();
    }

    /// Changes an item of the skin kernel, by its group and its number there.
    fn patch(&mut self, group: usize, number: usize, change: impl FnOnce(&mut SkinItem)) {
        const WORDS: usize = size_of::<SkinItem>() / 4;
        let first = self.skin_items[group] as usize / 4 + number * WORDS;
        let words = &mut self.tables[first..first + WORDS];
        let item: &mut SkinItem = bytemuck::from_bytes_mut(bytemuck::cast_slice_mut(words));
        let before = *item;
        change(item);
        if *item != before {
            self.changed_tables
                .mark(first as u32..(first + WORDS) as u32);
        }
    }

    /// Says anew which instances have no frame before this one.
    pub fn set_fresh(&mut self, is_fresh: impl Fn(InstanceId) -> bool) {
        let previous = std::mem::take(&mut self.frame.previous);
        for (id, group, number) in &previous {
            let fresh = if is_fresh(*id) { SkinItem::FRESH } else { 0 };
            let others = !SkinItem::FRESH;
            self.patch(*group, *number, |item| {
                item.flags = item.flags & others | fresh
            });
        }
        self.frame.previous = previous;
        for (id, at) in &self.frame.plain_previous {
            let fresh = if is_fresh(*id) { SkinItem::FRESH } else { 0 };
            let item = at.number * size_of::<MultiPoseItem>();
            let of_pose = offset_of!(MultiPoseItem, poses) + at.pose * size_of::<ItemPose>();
            let first = self.plain_items[at.class][at.group] as usize + item + of_pose;
            let word = (first + offset_of!(ItemPose, flags)) / 4;
            let flags = self.tables[word] & !SkinItem::FRESH | fresh;
            if self.tables[word] != flags {
                self.tables[word] = flags;
                self.changed_tables.mark(word as u32..word as u32 + 1);
            }
        }
    }
}

impl Retained {
    /// Says which list of blend entries each item walks, by its first word.
    pub fn set_lists(&mut self, first: impl Fn(&Blended) -> Option<u32>) {
        let all = std::mem::take(&mut self.frame.blended);
        for blended in &all {
            if let Some(first) = first(blended) {
                self.patch(blended.group, blended.number, |item| {
                    item.slice.blend_list = first
                });
            }
        }
        self.frame.blended = all;
    }
}

impl Crowd {
    /// Makes room for a frame, lays out its tables and binds everything.
    pub(super) fn prepare(&mut self, mut frame: Frame) -> Result<Retained, GpuError> {
        let skinner = &self.skinner;
        let (storage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
        while self.pose_pages.len() < frame.poses.pages.len() {
            self.pose_pages.push(PoseBuffers {
                palettes: Growing::new(skinner, "skin.palettes", storage, limit)?,
                channels: Growing::new(skinner, "weights.channels", storage, limit)?,
                sub_weights: Growing::new(skinner, "skin.sub_weights", storage, limit)?,
                joints: Growing::new(skinner, "pose.joints", storage, limit)?,
                stored: Growing::new(skinner, "pose.stored", storage, limit)?,
            });
        }
        for (buffers, data) in self.pose_pages.iter_mut().zip(&frame.poses.pages) {
            buffers
                .palettes
                .reserve(skinner, data.palette_bytes(), None)?;
            buffers
                .channels
                .reserve(skinner, data.channel_bytes(), None)?;
            buffers
                .sub_weights
                .reserve(skinner, u64::from(data.sub_weights) * 4, None)?;
            buffers
                .joints
                .reserve(skinner, data.rigs.joint_bytes(), None)?;
            buffers
                .stored
                .reserve(skinner, data.rigs.stored_bytes(), None)?;
        }

        let mut tables = Tables::new(skinner);
        let pose = tables.lay(&frame.pose.all, skinner.limits.workgroups);
        let weights = tables.lay(&frame.weights.all, skinner.limits.workgroups);
        let skin = tables.lay(&frame.skin.all, skinner.limits.workgroups);
        let mut skin_items = vec![0; frame.skin.all.len()];
        for laid in &skin {
            skin_items[laid.group] = laid.first_item();
        }
        let plain: Vec<_> = frame
            .plain
            .classes
            .iter()
            .map(|(_, groups)| tables.lay(&groups.all, skinner.limits.workgroups))
            .collect();
        let plain_items = frame
            .plain
            .classes
            .iter()
            .zip(&plain)
            .map(|((_, groups), laid)| {
                let mut firsts = vec![0; groups.all.len()];
                laid.iter()
                    .for_each(|laid| firsts[laid.group] = laid.first_item());
                firsts
            });
        let plain_items: Vec<_> = plain_items.collect();
        let made = tables.lay(&frame.made_normals.all, skinner.limits.workgroups);
        let per_dimension = skinner.limits.workgroups;
        let bounds = tables.lay(&frame.bounds.all, per_dimension);
        let boxes = match &mut self.bounds {
            Some(bounds) => {
                bounds.reserve(skinner, self.slots)?;
                tables.lay_plain(self.slots, per_dimension)
            }
            None => Vec::new(),
        };
        let held = match &mut self.tables {
            Some(held) => held,
            none => none.insert(Growing::new(
                skinner,
                "sinew.items",
                storage | wgpu::BufferUsages::UNIFORM,
                skinner.limits.buffer_bytes,
            )?),
        };
        held.reserve(skinner, tables.size(), None)?;
        let buffer = &held.buffer;

        let mut launches = Vec::new();
        let device = &skinner.device;
        for laid in pose {
            let pages = frame.pose.all[laid.group].pages;
            let pose = &self.pose_pages[pages.pose];
            let others = [
                self.skin_pages[pages.skin].whole(),
                pose.joints.whole(),
                pose.palettes.whole(),
                pose.stored.whole(),
            ];
            let kernel = &skinner.pose;
            let pipeline = kernel.get(device, Variant::default())?;
            launches.push(laid.launch(skinner, POSE_PASS, kernel, pipeline, buffer, others)?);
        }
        for laid in weights {
            let pages = frame.weights.all[laid.group].pages;
            let pose = &self.pose_pages[pages.pose];
            let others = [
                self.skin_pages[pages.skin].whole(),
                pose.channels.whole(),
                pose.sub_weights.whole(),
            ];
            let kernel = &skinner.weights;
            let pipeline = kernel.get(device, Variant::default())?;
            launches.push(laid.launch(skinner, 0, kernel, pipeline, buffer, others)?);
        }
        for laid in skin {
            let group = &frame.skin.all[laid.group];
            let (pages, pose) = (group.pages, &self.pose_pages[group.pages.pose]);
            let set = self.out_sets.get(pages.out);
            let out = |slot| set.binding(skinner, &self.out_pages, slot);
            let others = [
                self.skin_pages[pages.skin].whole(),
                pose.palettes.whole(),
                pose.sub_weights.whole(),
                out(0),
                out(1),
                out(2),
                out(3),
            ];
            let kernel = &skinner.skin;
            let pipeline = kernel.get(device, set.skin_variant(group.variant))?;
            launches.push(laid.launch(skinner, 1, kernel, pipeline, buffer, others)?);
        }
        for ((class, groups), laid) in frame.plain.classes.iter().zip(plain) {
            for laid in laid {
                let group = &groups.all[laid.group];
                let pages = group.pages;
                let pose = &self.pose_pages[pages.pose];
                let set = self.out_sets.get(pages.out);
                let palettes = pose.palettes.whole();
                let out = |slot| set.binding(skinner, &self.out_pages, slot);
                let skins = self.skin_pages[pages.skin].whole();
                let others = [skins, palettes, out(0), out(1), out(2), out(3)];
                let kernel = &skinner.plain;
                let pipeline = kernel.get(device, class.variant(set))?;
                launches.push(laid.launch(skinner, 1, kernel, pipeline, buffer, others)?);
            }
        }
        for laid in made {
            let pages = frame.made_normals.all[laid.group].pages;
            let set = self.out_sets.get(pages.out);
            let slot = set.slots[NORMALS];
            let normals = match slot {
                0 => skinner.unused[0].as_entire_binding(),
                slot => set.binding(skinner, &self.out_pages, slot.into()),
            };
            let others = [
                self.skin_pages[pages.skin].whole(),
                set.binding(skinner, &self.out_pages, 0),
                normals,
            ];
            let kernel = &skinner.made_normals;
            let variant = Variant {
                bits: 0,
                slots: [slot.min(1), 0, 0],
            };
            let pipeline = kernel.get(device, variant)?;
            launches.push(laid.launch(skinner, 2, kernel, pipeline, buffer, others)?);
        }
        if let Some(of_crowd) = &self.bounds {
            let (keys, found) = (of_crowd.keys.whole(), of_crowd.boxes.whole());
            for laid in bounds {
                let set = self.out_sets.get(frame.bounds.all[laid.group].pages.out);
                let others = [set.binding(skinner, &self.out_pages, 0), keys.clone()];
                let kernel = &of_crowd.reduce;
                let pipeline = kernel.get(device, Variant::default())?;
                launches.push(laid.launch(skinner, 3, kernel, pipeline, buffer, others)?);
            }
            for laid in boxes {
                let kernel = &of_crowd.finish;
                let pipeline = kernel.get(device, Variant::default())?;
                let others = [keys.clone(), found.clone()];
                launches.push(laid.launch(skinner, 3, kernel, pipeline, buffer, others)?);
            }
        }
        // They are in the tables.
        frame
            .skin
            .all
            .iter_mut()
            .for_each(|group| group.items = Vec::new());
        for (_, groups) in &mut frame.plain.classes {
            groups
                .all
                .iter_mut()
                .for_each(|group| group.items = Vec::new());
        }
        frame
            .pose
            .all
            .iter_mut()
            .for_each(|group| group.items = Vec::new());
        frame
            .weights
            .all
            .iter_mut()
            .for_each(|group| group.items = Vec::new());
        frame
            .made_normals
            .all
            .iter_mut()
            .for_each(|group| group.items = Vec::new());
        frame
            .bounds
            .all
            .iter_mut()
            .for_each(|group| group.items = Vec::new());
        self.unsettled = 2;
        let stamp = self.stamp();
        Ok(Retained::new(
            frame,
            launches,
            tables.words,
            skin_items,
            plain_items,
            stamp,
        ))
    }
}
