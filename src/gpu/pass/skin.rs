//! Blends and skins points, render vertices or faceVarying normals, by linear blend or dual
//! quaternion skinning.

use super::{Bound, Items, Pass, Wanted};
use crate::gpu::device::pipelines::{Variant, bit_if};
use crate::gpu::plan::frame::{FrameInstance, Scene};
use crate::gpu::plan::groups::{GroupKey, Groups, ItemPlace};
use crate::gpu::plan::ranges::Chains;
use crate::gpu::store::Stores;
use crate::gpu::store::instances::Instance;
use crate::gpu::store::output_bindings::{OutPlace, bindings_of};
use crate::gpu::store::pose_buffers::PALETTES;
use crate::gpu::store::skins::Slice;
use crate::gpu::store::target::{KINDS, NORMALS, NormalFormat, POINTS, PREVIOUS, TANGENTS};
use crate::kernel::encoded_skin::SliceOffsets;
use crate::kernel::registry::skin_bits::{
    SHARED_WORKGROUPS, WITH_BLEND, WITH_DUAL_QUATERNIONS, WITH_NORMALS, WITH_PREVIOUS,
    WITH_SOURCES, WITH_TANGENTS,
};
use crate::kernel::registry::{FRESH, MIRRORED, OCTAHEDRAL, RESIDUALS_UNKNOWN};
use crate::kernel::{
    Kernel, MAX_SHARED_RESULTS, NONE, PackedInfluences, PoseOffsets, ResultPlace, ResultPlaces,
    SKIN, SkinItem,
};
use crate::skel::SkinningMethod;

/// The item of a slice of an instance.
#[derive(Clone, Copy, Debug)]
struct SliceAt {
    at: ItemPlace,
    /// Index of the slice in its skin.
    slice: u32,
    /// Whether it writes previous positions.
    previous: bool,
    /// Whether it walks a list of blend entries, which may change from frame to frame.
    blends: bool,
}

#[derive(Debug, Default)]
pub struct SkinPass {
    items: Groups<SkinItem>,
    placed: Chains<SliceAt>,
}

impl Pass for SkinPass {
    fn kernel(&self) -> &'static Kernel {
        &SKIN
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        for shown in &scene.shown {
            let pose = pose_offsets(shown);
            let slices = shown.skin.slices.iter().zip(&shown.instance.out);
            for (number, (slice, out)) in slices.enumerate() {
                self.add(scene, shown, &pose, (number, slice), out);
            }
        }
    }

    fn items(&mut self) -> Option<&mut dyn Items> {
        Some(&mut self.items)
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        for index in removed.iter().rev() {
            while let Some(placed) = self.placed.pop(*index) {
                self.items.remove(placed.at, |item| item.slice.count = 0);
            }
        }
        self.plan(scene);
    }

    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>> {
        let palettes = to.poses(PALETTES);
        vec![to.skins(), palettes, to.state(), to.out(0), to.out(1)]
    }

    fn refresh(&mut self, stores: &Stores) {
        for (id, instance) in stores.instances.freshness_changed() {
            let fresh = fresh_flag(instance);
            for placed in self.placed.of(id.index()).filter(|placed| placed.previous) {
                let flags = &mut self.items.item_mut(placed.at).flags;
                *flags = *flags & !FRESH | fresh;
            }
        }
        for id in &stores.blend_lists.changed {
            let Some(instance) = stores.instances.find(*id) else {
                continue;
            };
            for placed in self.placed.of(id.index()).filter(|placed| placed.blends) {
                let slice = placed.slice as usize;
                let own = stores.blend_lists.first_word(*id, slice);
                let whole = || {
                    let skin = stores.skins.get(instance.skin).ok()?;
                    Some(skin.slices.get(slice)?.offsets.blend_list)
                };
                if let Some(first) = own.or_else(whole) {
                    self.items.item_mut(placed.at).slice.blend_list = first;
                }
            }
        }
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        let Wanted { skin, target, .. } = wanted;
        let kinds = target.kinds(skin);
        let corners = skin.normal_points().filter(|_| skin.vertices().is_none());
        let influences = skin.influences().map_or(0, PackedInfluences::count);
        let influences = fixed_influences(influences);
        let points = Shape {
            has_points: true,
            has_rest_normals: skin.normals().is_some() && corners.is_none(),
            blends: skin.blend().is_some(),
            has_sources: skin.vertices().is_some(),
            has_tangents: skin.tangents().is_some(),
            computes_normals: skin.smooth_normals().is_some(),
            influences,
            count: skin.output_count() as u32,
        };
        let corners = corners.map(|points| Shape {
            has_rest_normals: true,
            has_sources: true,
            influences,
            count: points.len() as u32,
            ..Shape::default()
        });
        let has_motions =
            skin.influences().is_some() && skin.method() == SkinningMethod::DualQuaternion;
        let bindings = bindings_of(&kinds);
        let mut out = Vec::new();
        for shape in [Some(points), corners].into_iter().flatten() {
            let with = std::array::from_fn(|kind| shape.has(kind) && kinds[kind].is_some());
            if shape.count == 0 || (!shape.has_points && !with[NORMALS]) {
                continue;
            }
            // Poses without joints need no dual quaternions.
            out.push(shape.variant(&with, false, &bindings));
            if has_motions {
                out.push(shape.variant(&with, true, &bindings));
            }
        }
        out
    }
}

/// The properties of a slice that choose a pipeline.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    has_points: bool,
    has_rest_normals: bool,
    blends: bool,
    has_sources: bool,
    has_tangents: bool,
    computes_normals: bool,
    /// Influences of every point, if the pipeline has that number fixed; otherwise 0.
    influences: u8,
    count: u32,
}

impl Shape {
    fn of(slice: &Slice) -> Self {
        let offsets = &slice.offsets;
        Self {
            has_points: slice.has_points(),
            has_rest_normals: offsets.normals != NONE,
            blends: offsets.blend_list != NONE,
            has_sources: offsets.sources != NONE,
            has_tangents: slice.has_tangents(),
            computes_normals: slice.computes_normals(),
            influences: fixed_influences(offsets.influence_count),
            count: offsets.count,
        }
    }

    /// Whether it has results of a kind.
    fn has(&self, kind: usize) -> bool {
        match kind {
            NORMALS => self.has_rest_normals || self.computes_normals,
            TANGENTS => self.has_tangents,
            _ => self.has_points,
        }
    }

    /// Whether it shares workgroups with other items. With dual quaternions the kernel that can do so needs 80 vector
    /// registers on AMD GPUs, all other variants at most 64.
    fn shares_workgroups(&self, dual: bool) -> bool {
        self.count <= MAX_SHARED_RESULTS && !dual
    }

    /// The pipeline for an item that writes the kinds in `with` to these output bindings.
    fn variant(&self, with: &[bool; KINDS], dual: bool, bindings: &[u8; KINDS]) -> Variant {
        let bits = bit_if(with[NORMALS] && self.has_rest_normals, WITH_NORMALS)
            | bit_if(self.blends, WITH_BLEND)
            | bit_if(dual, WITH_DUAL_QUATERNIONS)
            | bit_if(self.has_sources || !self.has_points, WITH_SOURCES)
            | bit_if(with[TANGENTS] && self.has_tangents, WITH_TANGENTS)
            | bit_if(with[PREVIOUS], WITH_PREVIOUS)
            | bit_if(self.shares_workgroups(dual), SHARED_WORKGROUPS);
        // Bindings of kinds that are not written do not make another variant.
        let number = |kind: usize, bit: usize| if bits & bit > 0 { bindings[kind] } else { 0 };
        let numbers = [
            number(NORMALS, WITH_NORMALS),
            number(TANGENTS, WITH_TANGENTS),
            number(PREVIOUS, WITH_PREVIOUS),
            self.influences,
        ];
        Variant::with(bits, numbers)
    }
}

/// The number of influences that the pipeline of such a slice has fixed; 0 for any number. Four are
/// what most files and every renderer have.
fn fixed_influences(count: u32) -> u8 {
    if count == 4 { 4 } else { 0 }
}

/// [`FRESH`] for a fresh instance, else 0.
pub fn fresh_flag(instance: &Instance) -> u32 {
    bit_if(instance.fresh, FRESH)
}

/// The offsets of an instance's pose, as its items hold them.
pub fn pose_offsets(shown: &FrameInstance<'_>) -> PoseOffsets {
    let FrameInstance {
        skin, pose, place, ..
    } = shown;
    let mut out = PoseOffsets {
        motions: NONE,
        bind: NONE,
        normal_bind: NONE,
        ..PoseOffsets::default()
    };
    if pose.is_skinned() {
        let count = skin.packed.palette_entry_count() as u32;
        (out.palette, out.post) = (place.palette, place.post);
        let own_normals = !pose.palette().is_some_and(|p| p.turns_normals_as_points());
        out.normal_palette = out.palette + if own_normals { count * 3 } else { 0 };
        if let Some(row) = pose.motion_row {
            out.motions = out.palette + row;
        }
        if let Some(palette) = pose.palette().filter(|palette| palette.rigid().is_some()) {
            out.motions = out.palette + (palette.blocks() as u32 - count) * 3;
            // The last matrix of the palette is geomBindTransform alone.
            if !pose.scales[0] {
                out.bind = out.palette + (count - 1) * 3;
            }
            if !pose.scales[1] {
                out.normal_bind = out.normal_palette + (count - 1) * 3;
            }
        }
    }
    if skin.shapes.is_some() {
        out.sub_weights = place.sub_weights;
    }
    out
}

/// The flags of the items of a slice of an instance.
pub fn item_flags(shown: &FrameInstance<'_>, slice: &Slice) -> u32 {
    let target = &shown.instance.target;
    let octahedral = target.normal_format == NormalFormat::Octahedral;
    fresh_flag(shown.instance)
        | bit_if(shown.pose.mirrors, MIRRORED)
        | bit_if(octahedral, OCTAHEDRAL)
        // Of joints that the GPU splits, nobody else knows whether they scale.
        | bit_if(shown.pose.motion_row.is_some(), RESIDUALS_UNKNOWN)
        | slice.flags
}

/// The item of a slice of an instance, without the number of its first workgroup.
pub fn slice_item(
    shown: &FrameInstance<'_>,
    pose: &PoseOffsets,
    slice: &Slice,
    out: &OutPlace,
) -> SkinItem {
    let fixed = &slice.offsets;
    let place = |kind: usize| {
        let place = out.kinds[kind].unwrap_or_default();
        ResultPlace {
            first: place.first,
            stride: place.stride,
        }
    };
    let kept = |kind: usize, offset: u32| match out.kinds[kind] {
        Some(_) => offset,
        None => NONE,
    };
    let previous = place(PREVIOUS);
    SkinItem {
        first_workgroup: 0,
        flags: item_flags(shown, slice),
        instance: shown.id.index(),
        slice: SliceOffsets {
            influence_count: match shown.pose.is_skinned() {
                true => fixed.influence_count,
                false => 0,
            },
            normals: kept(NORMALS, fixed.normals),
            tangents: kept(TANGENTS, fixed.tangents),
            ..*fixed
        },
        pose: *pose,
        out: ResultPlaces {
            first_point: out.first_point,
            points: place(POINTS),
            normals: place(NORMALS),
            tangents: place(TANGENTS),
            previous: ResultPlace {
                first: kept(PREVIOUS, previous.first),
                ..previous
            },
        },
    }
}

impl SkinPass {
    fn add(
        &mut self,
        scene: &Scene<'_>,
        shown: &FrameInstance<'_>,
        pose: &PoseOffsets,
        (number, slice): (usize, &Slice),
        out: &OutPlace,
    ) {
        let with = std::array::from_fn(|kind| out.kinds[kind].is_some());
        if !slice.has_points() && !with[NORMALS] {
            return;
        }
        let item = slice_item(shown, pose, slice, out);
        let shape = Shape::of(slice);
        let dual = pose.motions != NONE;
        let bindings = scene.stores.outputs.bindings(out.set);
        let key = GroupKey {
            skin_page: slice.page,
            pose_page: shown.place.page,
            out_set: out.set,
            variant: shape.variant(&with, dual, bindings),
            shares_workgroups: shape.shares_workgroups(dual),
            ..GroupKey::default()
        };
        let make = |first_workgroup| SkinItem {
            first_workgroup,
            ..item
        };
        let Some(at) = self.items.push(scene.limits, key, shape.count, make) else {
            return;
        };
        let placed = SliceAt {
            at,
            slice: number as u32,
            previous: with[PREVIOUS],
            blends: shape.blends,
        };
        self.placed.push(shown.id.index(), placed);
    }
}
