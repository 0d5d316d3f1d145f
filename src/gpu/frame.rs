//! The plan of one frame, apart from carrying it out: where every pose goes, and which items make
//! up which dispatch. No GPU calls here.

use std::collections::HashMap;
use std::sync::Arc;

use slotmap::SlotMap;

use super::crowd::foreign_skin;
use super::groups::{Groups, Pages};
use super::outputs::OutPlace;
use super::plain::{PlainItems, PosePlaceAt};
use super::pose_pages::{Placing, PosePages};
use super::skinner::Limits;
use super::slices::{GpuSkin, Slice};
use super::target::{NORMALS, NormalFormat, OutputTarget, POINTS, PREVIOUS, TANGENTS};
use super::{GpuError, InstanceId, SkinId};
use crate::kernel::{
    BoundsItem, NONE, POSITIONS_PER_WORKGROUP, PackedPose, PackedSkin, SkinItem, WORKGROUP_SIZE,
    WeightsItem,
};

/// One instance: a skin, its pose, and a place in the outputs for each slice.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub skin: SkinId,
    pub pose: Option<PackedPose>,
    pub target: Arc<OutputTarget>,
    pub out: Vec<OutPlace>,
    /// Left out of frames.
    pub hidden: bool,
    /// No frame before this one left its positions.
    pub fresh: bool,
    /// Some encoded frame wrote its results.
    pub written: bool,
    /// The first frame that it can be part of.
    pub since: u64,
}

/// A skin and its place on the GPU.
#[derive(Clone, Debug)]
pub(super) struct HeldSkin {
    pub packed: Arc<PackedSkin>,
    pub gpu: GpuSkin,
    /// Instances of it.
    pub users: usize,
}

/// A frame, ready to be uploaded and dispatched.
#[derive(Debug)]
pub(super) struct Frame {
    pub poses: PosePages,
    pub weights: Groups<WeightsItem>,
    pub skin: Groups<SkinItem>,
    /// Of plain skins, whose instances share items.
    pub plain: PlainItems,
    pub made_normals: Groups<SkinItem>,
    /// Empty where no bounds are wanted.
    pub bounds: Groups<BoundsItem>,
    /// Skin items that write the positions of the frame before: whose they are, group and number.
    pub previous: Vec<(InstanceId, usize, usize)>,
    /// The same of plain skins.
    pub plain_previous: Vec<(InstanceId, PosePlaceAt)>,
}

/// Override bits of the skin kernel, in the order of its list.
pub(super) const WITH_NORMALS: usize = 1;
const WITH_BLEND: usize = 2;
const WITH_DUAL_QUATERNIONS: usize = 4;
const WITH_SOURCES: usize = 8;
pub(super) const WITH_TANGENTS: usize = 16;
pub(super) const WITH_PREVIOUS: usize = 32;

fn flag(is_set: bool, bit: u32) -> u32 {
    if is_set { bit } else { 0 }
}

/// Places all poses and lists all items.
///
/// # Errors
/// An instance without a pose, or a single pose that is larger than a binding.
pub(super) fn plan<'a>(
    limits: &Limits,
    skins: &SlotMap<SkinId, HeldSkin>,
    with_bounds: bool,
    instances: impl Iterator<Item = (InstanceId, &'a Instance)>,
    slots: u32,
) -> Result<Frame, GpuError> {
    let mut frame = Frame {
        poses: PosePages::default(),
        weights: Groups::new(limits, false),
        skin: Groups::new(limits, limits.in_uniforms),
        plain: PlainItems::new(limits),
        made_normals: Groups::new(limits, false),
        bounds: Groups::new(limits, false),
        previous: Vec::new(),
        plain_previous: Vec::new(),
    };
    let mut placing = Placing::new(limits, slots);
    let mut shown: Vec<_> = instances.filter(|(_, instance)| !instance.hidden).collect();
    if limits.in_uniforms {
        side_by_side(&mut shown);
    }
    for (id, instance) in shown {
        let held = skins.get(instance.skin).ok_or_else(foreign_skin)?;
        let pose = instance.pose.as_ref().ok_or_else(|| {
            let (prim, slot) = (held.packed.prim(), id.slot());
            GpuError::Mismatch(format!(
                "{prim}: no pose to skin the instance in slot {slot} by"
            ))
        })?;
        let skin = &held.gpu;
        let sub_shapes = skin.shapes.map(|s| s.sub_shape_count);
        let (site, page) = placing.place(id.slot(), pose, sub_shapes)?;

        let octahedral = instance.target.normal_format == NormalFormat::Octahedral;
        let mut item = SkinItem {
            motions: NONE,
            bind: NONE,
            normal_bind: NONE,
            flags: flag(instance.fresh, SkinItem::FRESH)
                | flag(pose.mirrors(), SkinItem::MIRRORED)
                | flag(octahedral, SkinItem::OCTAHEDRAL),
            ..SkinItem::default()
        };
        if let Some(palette) = pose.palette() {
            item.palette = site.palette;
            let slots = palette.slots() as u32;
            item.normal_palette = item.palette + slots * 3;
            if palette.rigid().is_some() {
                item.motions = item.palette + (palette.blocks() as u32 - slots) * 3;
                // The last slot is geomBindTransform alone.
                if !pose.scales_points() {
                    item.bind = item.normal_palette - 3;
                }
                if !pose.scales_normals() {
                    item.normal_bind = item.normal_palette + (slots - 1) * 3;
                }
            }
            // Where ways out begin is known when all palettes of the page are.
            item.post = site.post * 6;
        }
        if let Some(shapes) = skin.shapes {
            item.sub_weights = page.sub_weights;
            page.sub_weights += shapes.sub_shape_count;
            let pages = Pages {
                skin: shapes.page,
                pose: site.page,
                out: 0,
            };
            frame
                .weights
                .push(pages, shapes.slot_count, 0, |first_workgroup| WeightsItem {
                    first_workgroup,
                    slot_count: shapes.slot_count,
                    slots: shapes.slots,
                    positions: shapes.positions,
                    channels: site.channels,
                    sub_weights: item.sub_weights,
                });
        }
        for (slice, out) in skin.slices.iter().zip(&instance.out) {
            frame.push(id, slice, out, site.page, pose.palette().is_some(), &item);
            if with_bounds {
                frame.push_bounds(slice, out, id.slot() * KEYS_PER_SLOT);
            }
        }
    }
    frame.poses = placing.finish();
    for group in &mut frame.skin.all {
        let first = frame.poses.pages[group.pages.pose].first_post();
        group.items.iter_mut().for_each(|item| item.post += first);
    }
    frame.plain.place_posts(&frame.poses);
    Ok(frame)
}

/// Brings instances of one skin side by side, but leaves those that share a palette together: pages of palettes are
/// small in uniforms, and only what a page holds shares items.
fn side_by_side(instances: &mut [(InstanceId, &Instance)]) {
    let palette = |instance: &Instance| {
        let palette = instance.pose.as_ref().and_then(|pose| pose.palette());
        palette.map(Arc::as_ptr)
    };
    let mut first_skin = HashMap::new();
    for (_, instance) in &*instances {
        first_skin.entry(palette(instance)).or_insert(instance.skin);
    }
    instances.sort_by_key(|(_, instance)| first_skin.get(&palette(instance)).copied());
}

impl Frame {
    /// Adds a slice of an instance; `of_instance` has what the pose says.
    fn push(
        &mut self,
        id: InstanceId,
        slice: &Slice,
        out: &OutPlace,
        pose: usize,
        is_posed: bool,
        of_instance: &SkinItem,
    ) {
        let fixed = &slice.item;
        let place = |kind: usize| out.kinds[kind].unwrap_or_default();
        let (points, normals) = (place(POINTS), place(NORMALS));
        let (tangents, previous) = (place(TANGENTS), place(PREVIOUS));
        let with = |kind: usize| out.kinds[kind].is_some();
        let kept = |wanted: bool, offset: u32| if wanted { offset } else { NONE };
        let item = SkinItem {
            influence_count: if is_posed { fixed.influence_count } else { 0 },
            palette: of_instance.palette,
            normal_palette: of_instance.normal_palette,
            motions: of_instance.motions,
            bind: of_instance.bind,
            normal_bind: of_instance.normal_bind,
            post: of_instance.post,
            sub_weights: of_instance.sub_weights,
            rest_normals: kept(with(NORMALS), fixed.rest_normals),
            rest_tangents: kept(with(TANGENTS), fixed.rest_tangents),
            first_point: out.first_point,
            out_points: points.first,
            points_stride: points.stride,
            out_normals: normals.first,
            normals_stride: normals.stride,
            out_tangents: tangents.first,
            tangents_stride: tangents.stride,
            out_previous: kept(with(PREVIOUS), previous.first),
            previous_stride: previous.stride,
            flags: of_instance.flags | fixed.flags,
            ..*fixed
        };
        if !slice.has_points() && !with(NORMALS) {
            return;
        }
        let needs = |wanted: bool, bit: usize| if wanted { bit } else { 0 };
        let variant = needs(item.rest_normals != NONE, WITH_NORMALS)
            | needs(item.blend_list != NONE, WITH_BLEND)
            | needs(item.motions != NONE, WITH_DUAL_QUATERNIONS)
            | needs(item.sources != NONE || !slice.has_points(), WITH_SOURCES)
            | needs(item.rest_tangents != NONE, WITH_TANGENTS)
            | needs(item.out_previous != NONE, WITH_PREVIOUS);
        let pages = Pages {
            skin: slice.page,
            pose,
            out: out.set,
        };
        let numbered = |first_workgroup| SkinItem {
            first_workgroup,
            ..item
        };
        match slice.plain {
            Some(plain) if is_posed => {
                let flags = item.flags;
                let place = self
                    .plain
                    .push(slice, &plain, out, pages, of_instance, flags);
                if let Some(place) = place.filter(|_| with(PREVIOUS)) {
                    self.plain_previous.push((id, place));
                }
            }
            _ => {
                let place = self.skin.push(pages, item.count, variant, numbered);
                if let Some((group, number)) = place.filter(|_| with(PREVIOUS)) {
                    self.previous.push((id, group, number));
                }
            }
        }
        if slice.makes_normals() && with(NORMALS) {
            let pages = Pages { pose: 0, ..pages };
            self.made_normals.push(pages, item.count, 0, numbered);
        }
    }
}

/// Words of the keys of a box.
const KEYS_PER_SLOT: u32 = 8;

impl Frame {
    /// Adds the positions of a slice to a box.
    fn push_bounds(&mut self, slice: &Slice, out: &OutPlace, keys: u32) {
        let Some(place) = out.kinds[POINTS].filter(|_| slice.has_points()) else {
            return;
        };
        let pages = Pages {
            skin: 0,
            pose: 0,
            out: out.set,
        };
        let count = slice.item.count;
        let invocations = count.div_ceil(POSITIONS_PER_WORKGROUP) * WORKGROUP_SIZE;
        self.bounds
            .push(pages, invocations, 0, |first_workgroup| BoundsItem {
                first_workgroup,
                count,
                positions: place.first,
                stride: place.stride,
                keys,
            });
    }
}
