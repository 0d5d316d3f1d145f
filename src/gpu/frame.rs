//! The plan of one frame, apart from carrying it out: where every pose goes, and which items make
//! up which dispatch. No GPU calls here.

use std::collections::HashMap;
use std::sync::Arc;

use slotmap::SlotMap;

use super::crowd::foreign_skin;
use super::groups::{Groups, Pages};
use super::outputs::OutPlace;
use super::plain::PlainItems;
use super::skinner::Limits;
use super::slices::{GpuSkin, Slice};
use super::target::{NORMALS, OutputTarget, POINTS, PREVIOUS, TANGENTS};
use super::{GpuError, InstanceId, SkinId};
use crate::kernel::{
    BoundsItem, NONE, POSITIONS_PER_WORKGROUP, PackedPose, PackedSkin, Palette, SkinItem,
    UNIFORM_BYTES, WORKGROUP_SIZE, WeightsItem,
};
use crate::math::Rows;

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

/// Pose data of one page, as uploaded.
#[derive(Debug, Default)]
pub(super) struct PosePage {
    pub palettes: Vec<Rows>,
    pub channels: Vec<f32>,
    pub sub_weights: u32,
}

impl PosePage {
    /// Whether its dispatches find their palettes in a uniform.
    pub fn in_uniforms(&self, limits: &Limits) -> bool {
        limits.in_uniforms && size_of_val(&self.palettes[..]) as u64 <= UNIFORM_BYTES
    }
}

/// A frame, ready to be uploaded and dispatched.
#[derive(Debug)]
pub(super) struct Frame {
    pub poses: Vec<PosePage>,
    pub weights: Groups<WeightsItem>,
    pub skin: Groups<SkinItem>,
    /// Of plain skins, whose instances share items.
    pub plain: PlainItems,
    pub made_normals: Groups<SkinItem>,
    /// Empty where no bounds are wanted.
    pub bounds: Groups<BoundsItem>,
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
) -> Result<Frame, GpuError> {
    let mut frame = Frame {
        poses: vec![PosePage::default()],
        weights: Groups::new(limits, false),
        skin: Groups::new(limits, limits.in_uniforms),
        plain: PlainItems::new(limits),
        made_normals: Groups::new(limits, false),
        bounds: Groups::new(limits, false),
    };
    let mut placed = Placed::default();
    for (id, instance) in instances.filter(|(_, instance)| !instance.hidden) {
        let held = skins.get(instance.skin).ok_or_else(foreign_skin)?;
        let pose = instance.pose.as_ref().ok_or_else(|| {
            let (prim, slot) = (held.packed.prim(), id.slot());
            GpuError::Mismatch(format!(
                "{prim}: no pose to skin the instance in slot {slot} by"
            ))
        })?;
        let skin = &held.gpu;
        let sub_shapes = skin.shapes.map_or(0, |s| s.sub_shape_count);
        let (page, palette_row) =
            open_page(limits, &mut frame.poses, &mut placed, pose, sub_shapes)?;
        let poses = &mut frame.poses[page];

        let mut item = SkinItem {
            motions: NONE,
            bind: NONE,
            normal_bind: NONE,
            flags: flag(instance.fresh, SkinItem::FRESH) | flag(pose.mirrors(), SkinItem::MIRRORED),
            ..SkinItem::default()
        };
        if let Some(palette) = pose.palette() {
            item.palette = palette_row.unwrap_or_else(|| {
                let first = poses.palettes.len() as u32 * 3;
                poses.palettes.extend_from_slice(palette.points());
                poses
                    .palettes
                    .extend_from_slice(palette.normals().unwrap_or_default());
                if let Some(rigid) = palette.rigid() {
                    poses.palettes.extend_from_slice(rigid.motions());
                }
                first
            });
            placed.remember(palette, item.palette);
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
            item.post = poses.palettes.len() as u32 * 3;
            poses.palettes.extend([*pose.post(), *pose.post_normal()]);
        }
        if let Some(shapes) = skin.shapes {
            item.sub_weights = poses.sub_weights;
            poses.sub_weights += shapes.sub_shape_count;
            let channels = poses.channels.len() as u32;
            poses.channels.extend_from_slice(pose.channel_weights());
            let pages = Pages {
                skin: shapes.page,
                pose: page,
                out: 0,
            };
            frame
                .weights
                .push(pages, shapes.slot_count, 0, |first_workgroup| WeightsItem {
                    first_workgroup,
                    slot_count: shapes.slot_count,
                    slots: shapes.slots,
                    positions: shapes.positions,
                    channels,
                    sub_weights: item.sub_weights,
                });
        }
        for (slice, out) in skin.slices.iter().zip(&instance.out) {
            frame.push(slice, out, page, pose.palette().is_some(), &item);
            if with_bounds {
                frame.push_bounds(slice, out, id.slot() * KEYS_PER_SLOT);
            }
        }
    }
    Ok(frame)
}

impl Frame {
    /// Adds a slice of an instance; `of_instance` has what the pose says.
    fn push(
        &mut self,
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
            | needs(item.blend_rows != NONE, WITH_BLEND)
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
            // Those whose positions of the frame before are wanted have items of their own.
            Some(plain) if is_posed && item.out_previous == NONE => {
                let flags = item.flags;
                self.plain
                    .push(slice, &plain, out, pages, of_instance, flags);
            }
            _ => {
                self.skin.push(pages, item.count, variant, numbered);
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

/// First row of each palette that the current page holds.
#[derive(Debug, Default)]
struct Placed {
    /// The palette before: neighbours often share one.
    last: Option<(*const Palette, u32)>,
    /// Palettes that something else refers to as well; no other can come again.
    shared: HashMap<*const Palette, u32>,
}

impl Placed {
    fn find(&self, palette: &Arc<Palette>) -> Option<u32> {
        let address = Arc::as_ptr(palette);
        match self.last {
            Some((last, row)) if last == address => Some(row),
            _ if Arc::strong_count(palette) == 1 => None,
            _ => self.shared.get(&address).copied(),
        }
    }

    fn remember(&mut self, palette: &Arc<Palette>, row: u32) {
        let now = Some((Arc::as_ptr(palette), row));
        if self.last != now && Arc::strong_count(palette) > 1 {
            self.shared.insert(Arc::as_ptr(palette), row);
        }
        self.last = now;
    }

    fn clear(&mut self) {
        self.last = None;
        self.shared.clear();
    }
}

/// The page that the next pose goes to: the last one, or a new one where that is full; and the first
/// row of its palette, where the page has it.
fn open_page(
    limits: &Limits,
    poses: &mut Vec<PosePage>,
    placed: &mut Placed,
    pose: &PackedPose,
    sub_shapes: u32,
) -> Result<(usize, Option<u32>), GpuError> {
    let limit = limits.binding_bytes;
    let found = pose.palette().and_then(|palette| placed.find(palette));
    let rows = |found: Option<u32>| match (pose.palette(), found) {
        (None, _) => 0,
        (Some(_), Some(_)) => 2,
        (Some(palette), None) => 2 + palette.blocks(),
    };
    let palette_bytes = |page: &PosePage, rows: usize| {
        (page.palettes.len() + rows) as u64 * size_of::<Rows>() as u64
    };
    let bytes = |page: &PosePage, rows: usize| {
        let palettes = palette_bytes(page, rows);
        let channels = (page.channels.len() + pose.channel_weights().len()) as u64 * 4;
        palettes
            .max(channels)
            .max((u64::from(page.sub_weights) + u64::from(sub_shapes)) * 4)
    };
    let last = poses.len() - 1;
    // A page that has outgrown a uniform, by one large palette, may as well be filled.
    let stays_in_uniform = !poses[last].in_uniforms(limits)
        || poses[last].palettes.is_empty()
        || palette_bytes(&poses[last], rows(found)) <= UNIFORM_BYTES;
    if stays_in_uniform && bytes(&poses[last], rows(found)) <= limit {
        return Ok((last, found));
    }
    placed.clear();
    let fresh = PosePage::default();
    let asked = bytes(&fresh, rows(None));
    if asked > limit {
        return Err(GpuError::Limit {
            what: "bytes of one palette or one pose's weights".into(),
            asked,
            limit,
        });
    }
    poses.push(fresh);
    Ok((last + 1, None))
}
