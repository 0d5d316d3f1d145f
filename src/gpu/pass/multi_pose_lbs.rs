//! Skins one mesh in several poses at once: linear blend skinning of points, and of a normal for
//! each.

use std::collections::{BTreeSet, HashMap};

use super::skin::{fresh_flag, item_flags, pose_offsets};
use super::{Pass, Wanted};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::plan::frame::{Scene, Shown};
use crate::gpu::plan::groups::{GroupKey, Groups, ItemPlace};
use crate::gpu::plan::ranges::Chains;
use crate::gpu::plan::tables::{Laid, Layout};
use crate::gpu::store::Stores;
use crate::gpu::store::output_bindings::{OutPlace, bindings_of};
use crate::gpu::store::skins::Slice;
use crate::gpu::store::target::{KINDS, NORMALS, POINTS, PREVIOUS};
use crate::kernel::encoded_skin::{ValueLayout, is_for_multi_pose_lbs};
use crate::kernel::registry::multi_pose_bits::{NARROW, WITH_NORMALS, WITH_PREVIOUS};
use crate::kernel::{
    ItemPose, Kernel, MULTI_POSE_LBS, MultiPoseItem, NONE, POSES_PER_ITEM, PoseOffsets, SkinItem,
};

/// Largest number of influences per point that the kernel holds in registers.
const MOST_IN_REGISTERS: u32 = 8;

/// The pipeline for items with these encoded values, this number of influences, and these output
/// bindings of kinds of results.
fn variant(
    values: &ValueLayout,
    influences: u32,
    normals: bool,
    previous: bool,
    bindings: &[u8; KINDS],
) -> Variant {
    let bit = |is_set: bool, bit: usize| if is_set { bit } else { 0 };
    let binding = |is_set: bool, kind: usize| if is_set { bindings[kind] } else { 0 };
    let bits =
        bit(normals, WITH_NORMALS) | bit(previous, WITH_PREVIOUS) | bit(values.narrow, NARROW);
    // 0 stands for any number of influences.
    let influences = match influences {
        0..=MOST_IN_REGISTERS => influences as u8,
        _ => 0,
    };
    let (normals, previous) = (binding(normals, NORMALS), binding(previous, PREVIOUS));
    Variant::with(bits, [normals, previous, influences])
}

/// Instances can share an item if they have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ItemKey {
    group: GroupKey,
    /// First word of the slice's influences, which no other slice has.
    influences: u32,
    points_stride: u32,
    /// `None` without normals.
    normals_stride: Option<u32>,
    /// `None` without positions of the frame before.
    previous_stride: Option<u32>,
}

/// Place of an item, and of a pose of an instance in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PoseAt {
    item: ItemPlace,
    /// Index of the pose among the item's poses.
    pose: usize,
    /// Whether it writes previous positions too.
    previous: bool,
    /// Index of the kind of its item.
    kind: usize,
}

/// Items of the same key.
#[derive(Debug)]
struct Kind {
    key: ItemKey,
    /// Those that have room for another pose.
    open: BTreeSet<ItemPlace>,
    /// Number of items.
    count: usize,
}

#[derive(Debug, Default)]
pub struct MultiPoseLbs {
    items: Groups<MultiPoseItem>,
    /// The poses of each instance.
    placed: Chains<PoseAt>,
    numbers: HashMap<ItemKey, usize>,
    kinds: Vec<Kind>,
    /// Indices of kinds without items.
    free: Vec<usize>,
}

impl Pass for MultiPoseLbs {
    fn kernel(&self) -> &'static Kernel {
        &MULTI_POSE_LBS
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        for shown in scene.shown.iter().filter(|s| s.pose.is_skinned()) {
            let mut pose = None;
            for (slice, out) in shown.skin.slices().iter().zip(&shown.instance.out) {
                let Some(layout) = &slice.multi_pose else {
                    continue;
                };
                let pose = pose.get_or_insert_with(|| pose_offsets(shown));
                self.add(scene, shown, (slice, layout), out, pose);
            }
        }
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        for index in removed {
            while let Some(at) = self.placed.pop(*index) {
                self.remove(at);
            }
        }
        self.plan(scene);
    }

    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<Laid> {
        layout.lay(&mut self.items)
    }

    fn bind<'a>(
        &self,
        skinner: &'a Skinner,
        stores: &'a Stores,
        key: &GroupKey,
    ) -> Vec<wgpu::BindingResource<'a>> {
        let out = |binding| stores.outputs.binding(skinner, key.out_set, binding);
        vec![
            stores.skin_pages.whole(key.skin_page),
            stores.pose_buffers.page(key.pose_page).palettes.whole(),
            stores.state(skinner),
            out(0),
            out(1),
        ]
    }

    fn update(&mut self, stores: &Stores, layout: &mut Layout<'_>, laid: &mut Vec<Laid>) -> bool {
        for (id, instance) in stores.instances.unsettled() {
            let fresh = fresh_flag(instance);
            for at in self.placed.of(id.index()).filter(|at| at.previous) {
                let flags = &mut self.items.item_mut(at.item).poses[at.pose].flags;
                *flags = *flags & !SkinItem::FRESH | fresh;
            }
        }
        layout.update(&mut self.items, laid)
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        let Wanted { skin, target, .. } = wanted;
        let Some(influences) = skin.influences().filter(|_| is_for_multi_pose_lbs(skin)) else {
            return Vec::new();
        };
        let kinds = target.kinds(skin);
        let normals = kinds[NORMALS].is_some() && skin.has_point_normals();
        let previous = kinds[PREVIOUS].is_some();
        let bindings = bindings_of(&kinds);
        let (values, count) = (skin.value_layout(), influences.count());
        vec![variant(&values, count, normals, previous, &bindings)]
    }
}

impl MultiPoseLbs {
    /// Adds a slice of an instance.
    fn add(
        &mut self,
        scene: &Scene<'_>,
        shown: &Shown<'_>,
        (slice, layout): (&Slice, &ValueLayout),
        out: &OutPlace,
        offsets: &PoseOffsets,
    ) {
        let fixed = &slice.offsets;
        let points = out.kinds[POINTS].unwrap_or_default();
        let normals = out.kinds[NORMALS].filter(|_| fixed.normals != NONE);
        let previous = out.kinds[PREVIOUS];
        let pose = ItemPose {
            palette: offsets.palette,
            normal_palette: offsets.normal_palette,
            post: offsets.post,
            out_points: points.first,
            out_normals: normals.map_or(0, |place| place.first),
            out_previous: previous.map_or(NONE, |place| place.first),
            flags: item_flags(shown, slice),
            instance: shown.id.index(),
        };
        let bindings = scene.stores.outputs.bindings(out.set);
        let influences = fixed.influence_count;
        let (has_normals, has_previous) = (normals.is_some(), previous.is_some());
        let group = GroupKey {
            skin_page: slice.page,
            pose_page: shown.place.page,
            out_set: out.set,
            variant: variant(layout, influences, has_normals, has_previous, bindings),
            ..GroupKey::default()
        };
        let key = ItemKey {
            group,
            influences: fixed.influences,
            points_stride: points.stride,
            normals_stride: normals.map(|place| place.stride),
            previous_stride: previous.map(|place| place.stride),
        };
        let kind = self.kind(key);
        if let Some(item) = self.kinds[kind].open.last().copied() {
            let to = self.items.item_mut(item);
            let pose_at = to.pose_count as usize;
            to.poses[pose_at] = pose;
            to.pose_count += 1;
            if to.pose_count == POSES_PER_ITEM {
                self.kinds[kind].open.pop_last();
            }
            self.place(shown, item, pose_at, has_previous, kind);
            return;
        }
        let make = |first_workgroup| {
            let mut item = MultiPoseItem {
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
                ..MultiPoseItem::default()
            };
            item.poses[0] = pose;
            item
        };
        let Some(item) = self.items.push(scene.limits, group, fixed.count, make) else {
            return;
        };
        self.kinds[kind].open.insert(item);
        self.kinds[kind].count += 1;
        self.place(shown, item, 0, has_previous, kind);
    }

    /// The index of the kind of items of a key.
    fn kind(&mut self, key: ItemKey) -> usize {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let kind = Kind {
            key,
            open: BTreeSet::new(),
            count: 0,
        };
        let number = match self.free.pop() {
            Some(number) => {
                self.kinds[number] = kind;
                number
            }
            None => {
                self.kinds.push(kind);
                self.kinds.len() - 1
            }
        };
        self.numbers.insert(key, number);
        number
    }

    fn place(
        &mut self,
        shown: &Shown<'_>,
        item: ItemPlace,
        pose: usize,
        previous: bool,
        kind: usize,
    ) {
        let at = PoseAt {
            item,
            pose,
            previous,
            kind,
        };
        self.placed.push(shown.id.index(), at);
    }

    /// Removes a pose from its item. The item's last pose takes its place. An item of no pose is
    /// removed: its skin may be next, and another may come where that lies.
    fn remove(&mut self, at: PoseAt) {
        let item = self.items.item_mut(at.item);
        let kind = &mut self.kinds[at.kind];
        item.pose_count -= 1;
        if item.pose_count == 0 {
            kind.open.remove(&at.item);
            kind.count -= 1;
            if kind.count == 0 {
                self.numbers.remove(&kind.key);
                self.free.push(at.kind);
            }
            self.items.remove(at.item, |item| item.count = 0);
            return;
        }
        kind.open.insert(at.item);
        let last = item.pose_count as usize;
        let moved = std::mem::take(&mut item.poses[last]);
        if last != at.pose {
            item.poses[at.pose] = moved;
            let is_it = |other: &PoseAt| other.item == at.item && other.pose == last;
            let change = |other: &mut PoseAt| other.pose = at.pose;
            self.placed.change(moved.instance, is_it, change);
        }
    }
}
