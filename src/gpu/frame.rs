//! The plan of one frame, apart from carrying it out: where every pose goes, and which items make
//! up which dispatch. No GPU calls here.

use std::sync::Arc;

use slotmap::SlotMap;

use super::crowd::foreign_skin;
use super::groups::{Groups, Pages};
use super::outputs::OutPlace;
use super::plain::{PlainItems, PosePlaceAt};
use super::pose_pages::{Placing, PosePages};
use super::posing::Posed;
use super::rigs::Rigs;
use super::skinner::Limits;
use super::slices::{GpuSkin, Slice};
use super::target::{NORMALS, NormalFormat, OutputTarget, POINTS, PREVIOUS, TANGENTS};
use super::{GpuError, InstanceId, SkinId};
use crate::kernel::encoded_skin::SliceOffsets;
use crate::kernel::registry::WORDS_PER_BOX;
use crate::kernel::registry::skin_bits::{
    SHARED_WORKGROUPS, WITH_BLEND, WITH_DUAL_QUATERNIONS, WITH_NORMALS, WITH_PREVIOUS,
    WITH_SOURCES, WITH_TANGENTS,
};
use crate::kernel::{
    BoundsItem, MAX_SHARED_RESULTS, NONE, POSITIONS_PER_WORKGROUP, PackedSkin, PoseOffsets,
    PoseRigItem, ResultPlace, ResultPlaces, SkinItem, WORKGROUP_SIZE, WeightsItem,
};

/// One instance: a skin, and a place in the outputs for each slice.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub skin: SkinId,
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
    /// Which of the skin's lists it went by.
    pub list: Option<u32>,
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
    /// In the order in which they have to run.
    pub pose: Groups<PoseRigItem>,
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
    /// Skin items that walk a list of blend entries. Those of an instance are neighbours.
    pub blended: Vec<Blended>,
}

/// An item that walks a list of blend entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blended {
    pub id: InstanceId,
    /// Number of the slice among its skin's.
    pub slice: usize,
    /// Group of the skin kernel's, and number there.
    pub group: usize,
    pub number: usize,
}

fn flag(is_set: bool, bit: u32) -> u32 {
    if is_set { bit } else { 0 }
}

/// Places all poses, which are there by slot, and lists all items.
///
/// # Errors
/// An instance without a pose, or a single pose that is larger than a binding.
pub(super) fn plan<'a>(
    limits: &Limits,
    skins: &SlotMap<SkinId, HeldSkin>,
    with_bounds: bool,
    instances: impl Iterator<Item = (InstanceId, &'a Instance)>,
    poses: &[Posed],
    rigs: &Rigs,
) -> Result<Frame, GpuError> {
    let shown: Vec<_> = instances.filter(|(_, instance)| !instance.hidden).collect();
    let mut frame = Frame {
        poses: place_poses(limits, skins, &shown, poses, rigs)?,
        pose: Groups::new(limits),
        weights: Groups::new(limits),
        skin: Groups::new(limits),
        plain: PlainItems::new(limits),
        made_normals: Groups::new(limits),
        bounds: Groups::new(limits),
        previous: Vec::new(),
        plain_previous: Vec::new(),
        blended: Vec::new(),
    };
    for (number, page) in frame.poses.pages.iter().enumerate() {
        page.rigs
            .push_items(number, page.first_of_rigs(), &mut frame.pose);
    }
    frame.pose.all.sort_by_key(|group| group.pages.out);
    for (id, instance) in shown {
        let held = skins.get(instance.skin).ok_or_else(foreign_skin)?;
        let pose = poses
            .get(id.slot() as usize)
            .and_then(|posed| posed.pose.as_ref());
        let (Some((site, palette_row, post_row)), Some(pose)) = (frame.poses.find(id.slot()), pose)
        else {
            continue;
        };
        let skin = &held.gpu;
        let octahedral = instance.target.normal_format == NormalFormat::Octahedral;
        let flags = flag(instance.fresh, SkinItem::FRESH)
            | flag(pose.mirrors(), SkinItem::MIRRORED)
            | flag(octahedral, SkinItem::OCTAHEDRAL);
        let mut item = PoseOffsets {
            motions: NONE,
            bind: NONE,
            normal_bind: NONE,
            ..PoseOffsets::default()
        };
        if pose.is_skinned() {
            let slots = held.packed.palette_slots() as u32;
            (item.palette, item.post) = (palette_row, post_row);
            item.normal_palette = item.palette + slots * 3;
            if let Some(palette) = pose.palette().filter(|palette| palette.rigid().is_some()) {
                item.motions = item.palette + (palette.blocks() as u32 - slots) * 3;
                // The last slot is geomBindTransform alone.
                if !pose.scales_points() {
                    item.bind = item.normal_palette - 3;
                }
                if !pose.scales_normals() {
                    item.normal_bind = item.normal_palette + (slots - 1) * 3;
                }
            }
        }
        if let Some(shapes) = skin.shapes {
            item.sub_weights = site.sub_weights;
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
        for (number, (slice, out)) in skin.slices.iter().zip(&instance.out).enumerate() {
            frame.push(
                id,
                (number, slice),
                out,
                site.page,
                pose.is_skinned(),
                (&item, flags),
            );
            if with_bounds {
                frame.push_bounds(slice, out, id.slot() * WORDS_PER_BOX);
            }
        }
    }
    Ok(frame)
}

/// Finds a place for every pose.
fn place_poses(
    limits: &Limits,
    skins: &SlotMap<SkinId, HeldSkin>,
    shown: &[(InstanceId, &Instance)],
    poses: &[Posed],
    rigs: &Rigs,
) -> Result<PosePages, GpuError> {
    let mut placing = Placing::new(limits, poses.len());
    for (id, instance) in shown {
        let held = skins.get(instance.skin).ok_or_else(foreign_skin)?;
        let posed = poses.get(id.slot() as usize);
        let pose = posed.and_then(|posed| posed.pose.as_ref());
        let pose = pose.ok_or_else(|| {
            let (prim, slot) = (held.packed.prim(), id.slot());
            GpuError::Mismatch(format!(
                "{prim}: no pose to skin the instance in slot {slot} by"
            ))
        })?;
        let rig = rigs.of(id.slot());
        if let Some((_, rig)) = rig.filter(|(_, rig)| !rig.is_posed) {
            let path = rig.packed.path();
            let text = format!("{path}: no local transforms to pose the rig by");
            return Err(GpuError::Mismatch(text));
        }
        let sub_shapes = held.gpu.shapes.map(|s| s.sub_shape_count);
        placing.place(id.slot(), pose, rig, sub_shapes)?;
    }
    Ok(placing.finish())
}

impl Frame {
    /// Adds a slice of an instance.
    fn push(
        &mut self,
        id: InstanceId,
        (slice_number, slice): (usize, &Slice),
        out: &OutPlace,
        pose: usize,
        is_posed: bool,
        (of_pose, flags): (&PoseOffsets, u32),
    ) {
        let fixed = &slice.item;
        let place = |kind: usize| {
            let place = out.kinds[kind].unwrap_or_default();
            ResultPlace {
                first: place.first,
                stride: place.stride,
            }
        };
        let with = |kind: usize| out.kinds[kind].is_some();
        let kept = |wanted: bool, offset: u32| if wanted { offset } else { NONE };
        let previous = place(PREVIOUS);
        let item = SkinItem {
            first_workgroup: 0,
            flags: flags | slice.flags,
            slice: SliceOffsets {
                influence_count: if is_posed { fixed.influence_count } else { 0 },
                normals: kept(with(NORMALS), fixed.normals),
                tangents: kept(with(TANGENTS), fixed.tangents),
                ..*fixed
            },
            pose: *of_pose,
            out: ResultPlaces {
                first_point: out.first_point,
                points: place(POINTS),
                normals: place(NORMALS),
                tangents: place(TANGENTS),
                previous: ResultPlace {
                    first: kept(with(PREVIOUS), previous.first),
                    ..previous
                },
            },
        };
        if !slice.has_points() && !with(NORMALS) {
            return;
        }
        let needs = |wanted: bool, bit: usize| if wanted { bit } else { 0 };
        let variant = needs(item.slice.normals != NONE, WITH_NORMALS)
            | needs(item.slice.blend_list != NONE, WITH_BLEND)
            | needs(item.pose.motions != NONE, WITH_DUAL_QUATERNIONS)
            | needs(
                item.slice.sources != NONE || !slice.has_points(),
                WITH_SOURCES,
            )
            | needs(item.slice.tangents != NONE, WITH_TANGENTS)
            | needs(item.out.previous.first != NONE, WITH_PREVIOUS)
            | needs(item.slice.count <= MAX_SHARED_RESULTS, SHARED_WORKGROUPS);
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
                let place = self
                    .plain
                    .push(slice, &plain, out, pages, of_pose, item.flags);
                if let Some(place) = place.filter(|_| with(PREVIOUS)) {
                    self.plain_previous.push((id, place));
                }
            }
            _ => {
                let place = self.skin.push(pages, item.slice.count, variant, numbered);
                if let Some((group, number)) = place.filter(|_| item.slice.blend_list != NONE) {
                    self.blended.push(Blended {
                        id,
                        slice: slice_number,
                        group,
                        number,
                    });
                }
                if let Some((group, number)) = place.filter(|_| with(PREVIOUS)) {
                    self.previous.push((id, group, number));
                }
            }
        }
        if slice.makes_normals() && with(NORMALS) {
            let pages = Pages { pose: 0, ..pages };
            self.made_normals.push(pages, item.slice.count, 0, numbered);
        }
    }
}

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
