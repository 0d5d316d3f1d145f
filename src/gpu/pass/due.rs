//! Decides which instances a frame computes, from the host's mask and from update rates.

use super::skin::fresh_flag;
use super::{Pass, Wanted};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::pipelines::Variant;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::plan::frame::Scene;
use crate::gpu::plan::groups::{GroupKey, Groups, ItemPlace};
use crate::gpu::plan::tables::{Laid, Layout};
use crate::gpu::store::Stores;
use crate::gpu::store::instances::InstanceId;
use crate::gpu::store::poses::Source;
use crate::gpu::store::visibility::MaskLayout;
use crate::kernel::registry::due_bits::{MASK_OF_BITS, TICKS, WITH_BOUNDS, WITH_MASK};
use crate::kernel::{DUE, DueItem, Kernel, NONE};

#[derive(Debug, Default)]
pub struct Due {
    items: Groups<DueItem>,
    /// By instance index, its item.
    places: Vec<ItemPlace>,
    /// One more than the largest index of a rig.
    rig_count: u32,
}

/// The variant that decides.
fn variant(stores: &Stores) -> Variant {
    let mask = stores.visibility.as_ref().and_then(|v| v.mask());
    let bit = |is_set: bool, bit: usize| if is_set { bit } else { 0 };
    let bits = bit(mask.is_some(), WITH_MASK)
        | bit(
            mask.is_some_and(|m| m.layout == MaskLayout::Bits),
            MASK_OF_BITS,
        )
        | bit(stores.bounds.is_some(), WITH_BOUNDS);
    Variant::with(bits, [])
}

/// The phase of an instance that has none of its own: the meshes of a character have the same.
fn phase(source: Source, id: InstanceId) -> u32 {
    match source {
        Source::Own => id.index(),
        Source::Palette(palette) => palette.index(),
        Source::Rig(rig) => rig.index(),
    }
}

impl Pass for Due {
    fn kernel(&self) -> &'static Kernel {
        &DUE
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        if !scene.leaves_out() {
            return;
        }
        let count = scene.stores.instances.index_count();
        let nobody = |index| DueItem {
            index,
            rig: NONE,
            ..DueItem::default()
        };
        let mut items: Vec<DueItem> = (0..count).map(nobody).collect();
        for shown in &scene.shown {
            let (id, rate) = (shown.id, shown.instance.rate);
            let item = &mut items[id.index() as usize];
            item.every = rate.every;
            item.phase = rate.phase.unwrap_or(phase(shown.source, id));
            item.flags = fresh_flag(shown.instance);
            if let Source::Rig(rig) = shown.source {
                item.rig = count + rig.index();
                self.rig_count = self.rig_count.max(rig.index() + 1);
            }
        }
        let key = GroupKey {
            variant: variant(scene.stores),
            shares_workgroups: true,
            ..GroupKey::default()
        };
        let push = |item| self.items.push(scene.limits, key, 1, |_| item);
        self.places = items.into_iter().filter_map(push).collect();
    }

    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<Laid> {
        let decide = layout.lay(&mut self.items);
        // The same items twice.
        let ticks = decide.iter().map(|laid| Laid {
            key: GroupKey {
                variant: Variant::with(TICKS, []),
                ..laid.key
            },
            ..*laid
        });
        ticks.chain(decide.iter().copied()).collect()
    }

    fn bind<'a>(
        &self,
        skinner: &'a Skinner,
        stores: &'a Stores,
        _: &GroupKey,
    ) -> Vec<wgpu::BindingResource<'a>> {
        let Some(visibility) = &stores.visibility else {
            return Vec::new();
        };
        let unused = |number: usize| skinner.unused[number].as_entire_binding();
        let mask = visibility.mask();
        vec![
            mask.map_or(unused(0), |mask| {
                skinner.limits.window(&mask.buffer, mask.offset)
            }),
            visibility.state().whole(),
            visibility.actions().whole(),
            stores
                .bounds
                .as_ref()
                .map_or(unused(1), |bounds| bounds.keys().whole()),
        ]
    }

    fn update(&mut self, stores: &Stores, layout: &mut Layout<'_>, laid: &mut Vec<Laid>) -> bool {
        let instances = &stores.instances;
        for (id, instance) in instances.unsettled().chain(instances.other_rates()) {
            let Some(place) = self.places.get(id.index() as usize) else {
                continue;
            };
            let item = self.items.item_mut(*place);
            // Hidden instances have no part in the frame.
            if item.every > 0 {
                let source = stores.poses.get(id.index()).map(|(_, source)| source);
                let own = phase(source.unwrap_or_default(), id);
                item.every = instance.rate.every;
                item.phase = instance.rate.phase.unwrap_or(own);
                item.flags = fresh_flag(instance);
            }
        }
        layout.update(&mut self.items, laid)
    }

    fn reserve(
        &self,
        skinner: &Skinner,
        stores: &mut Stores,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let count = stores.instances.index_count();
        let mut visibility = stores.visibility.iter_mut();
        visibility.try_for_each(|v| v.reserve_instances(skinner, count, self.rig_count, encoder))
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        if !wanted.uses.visibility {
            return Vec::new();
        }
        let bounds = if wanted.uses.bounds { WITH_BOUNDS } else { 0 };
        let masks = [0, WITH_MASK, WITH_MASK | MASK_OF_BITS];
        let decide = masks.map(|mask| Variant::with(mask | bounds, []));
        std::iter::once(Variant::with(TICKS, []))
            .chain(decide)
            .collect()
    }
}
