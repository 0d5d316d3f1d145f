//! Decides which instances a frame computes, from the host's mask and from update rates. Other
//! passes read what it decides, and skip the rest.

use super::skin::fresh_flag;
use super::{Bound, Items, Pass, Wanted};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::pipelines::{Variant, bit_if};
use crate::gpu::device::skinner::Skinner;
use crate::gpu::plan::frame::Scene;
use crate::gpu::plan::groups::{GroupKey, Groups, ItemPlace};
use crate::gpu::plan::tables::{Layout, PlacedDispatch};
use crate::gpu::store::Stores;
use crate::gpu::store::instances::{Instance, InstanceId};
use crate::gpu::store::poses::Source;
use crate::gpu::store::slots::Id;
use crate::gpu::store::visibility::MaskLayout;
use crate::kernel::registry::schedule_bits::{MASK_OF_BITS, TICKS, WITH_BOUNDS, WITH_MASK};
use crate::kernel::{Kernel, SCHEDULE, ScheduleItem};

#[derive(Debug, Default)]
pub struct Schedule {
    items: Groups<ScheduleItem>,
    /// By instance index, its item.
    places: Vec<ItemPlace>,
}

/// The variant that decides.
fn variant(stores: &Stores) -> Variant {
    let mask = stores.visibility.as_ref().and_then(|v| v.mask.as_ref());
    let is_of_bits = mask.is_some_and(|mask| mask.layout == MaskLayout::Bits);
    let bits = bit_if(mask.is_some(), WITH_MASK)
        | bit_if(is_of_bits, MASK_OF_BITS)
        | bit_if(stores.bounds.is_some(), WITH_BOUNDS);
    Variant::with(bits, [])
}

/// The item of an instance that is not hidden. The meshes of a character have the same phase.
fn item(source: Source, id: InstanceId, instance: &Instance) -> ScheduleItem {
    let phase = match source {
        Source::Own => id.index(),
        Source::Palette(palette) => palette.index(),
        Source::Rig(rig) => rig.index(),
    };
    ScheduleItem {
        index: id.index(),
        every: instance.rate.every,
        phase: instance.rate.phase.unwrap_or(phase),
        flags: fresh_flag(instance),
    }
}

/// The item of an index whose instance has no part in the frame, if there is one.
fn nobody(index: u32) -> ScheduleItem {
    ScheduleItem {
        index,
        ..ScheduleItem::default()
    }
}

impl Schedule {
    fn set(&mut self, item: ScheduleItem) {
        if let Some(place) = self.places.get(item.index as usize) {
            *self.items.item_mut(*place) = item;
        }
    }

    fn set_shown(&mut self, scene: &Scene<'_>) {
        for shown in &scene.shown {
            self.set(item(shown.source, shown.id, shown.instance));
        }
    }
}

impl Pass for Schedule {
    fn kernel(&self) -> &'static Kernel {
        &SCHEDULE
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        if !scene.skips() {
            return;
        }
        let key = GroupKey {
            variant: variant(scene.stores),
            shares_workgroups: true,
            ..GroupKey::default()
        };
        // Every index that an edit may add has an item.
        let push = |index| self.items.push(scene.limits, key, 1, |_| nobody(index));
        let room = scene.stores.instances.index_room();
        self.places = (0..room).filter_map(push).collect();
        self.set_shown(scene);
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        for index in removed {
            self.set(nobody(*index));
        }
        self.set_shown(scene);
    }

    fn items(&mut self) -> Option<&mut dyn Items> {
        Some(&mut self.items)
    }

    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch> {
        let mut dispatches = layout.lay(&mut self.items);
        // One workgroup counts the frame. It comes last: an update finds the others from the first
        // on.
        let tick = dispatches.first().map(|first| PlacedDispatch {
            key: GroupKey {
                variant: Variant::with(TICKS, []),
                ..first.key
            },
            size: (1, 1),
            ..*first
        });
        dispatches.extend(tick);
        dispatches
    }

    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>> {
        let unused = |number: usize| to.skinner.unused[number].as_entire_binding();
        let mask = to.stores.visibility.as_ref().and_then(|v| v.mask.as_ref());
        let limits = &to.skinner.limits;
        let mask = mask.map(|mask| limits.window(&mask.buffer, mask.offset));
        let keys = to.stores.bounds.as_ref().map(|bounds| bounds.keys.whole());
        vec![
            mask.unwrap_or(unused(0)),
            to.state(),
            keys.unwrap_or(unused(1)),
        ]
    }

    fn refresh(&mut self, stores: &Stores) {
        let instances = &stores.instances;
        for (id, instance) in instances.freshness_changed().chain(instances.other_rates()) {
            if !self.places.is_empty() && !instance.hidden {
                let source = stores.poses.get(id.index()).map(|(_, source)| source);
                self.set(item(source.unwrap_or_default(), id, instance));
            }
        }
    }

    fn reserve(
        &self,
        skinner: &Skinner,
        stores: &mut Stores,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let room = stores.instances.index_room();
        let mut visibility = stores.visibility.iter_mut();
        visibility.try_for_each(|v| v.reserve(skinner, room, encoder))
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        if !wanted.uses.visibility {
            return Vec::new();
        }
        let bounds = bit_if(wanted.uses.bounds, WITH_BOUNDS);
        let masks = [0, WITH_MASK, WITH_MASK | MASK_OF_BITS];
        let decide = masks.map(|mask| Variant::with(mask | bounds, []));
        std::iter::once(Variant::with(TICKS, []))
            .chain(decide)
            .collect()
    }
}
