//! Reduces the positions of each instance to its bounding box.

use super::{Bound, Items, Pass, Wanted, only_variant};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::pipelines::Variant;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::plan::frame::{InstanceItems, Scene};
use crate::gpu::plan::groups::GroupKey;
use crate::gpu::store::Stores;
use crate::gpu::store::target::POINTS;
use crate::kernel::registry::WORDS_PER_BOX;
use crate::kernel::{BOUNDS, BoundsItem, Kernel, POSITIONS_PER_WORKGROUP, WORKGROUP_SIZE};

#[derive(Debug, Default)]
pub struct Bounds {
    items: InstanceItems<BoundsItem>,
}

impl Pass for Bounds {
    fn kernel(&self) -> &'static Kernel {
        &BOUNDS
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        if scene.stores.bounds.is_none() {
            return;
        }
        for shown in &scene.shown {
            for (slice, out) in shown.skin.slices.iter().zip(&shown.instance.out) {
                let Some(place) = out.kinds[POINTS].filter(|_| slice.has_points()) else {
                    continue;
                };
                let key = GroupKey {
                    out_set: out.set,
                    ..GroupKey::default()
                };
                let count = slice.offsets.count;
                let invocations = count.div_ceil(POSITIONS_PER_WORKGROUP) * WORKGROUP_SIZE;
                let make = |first_workgroup| BoundsItem {
                    first_workgroup,
                    count,
                    positions: place.first,
                    stride: place.stride,
                    keys: shown.id.index() * WORDS_PER_BOX,
                };
                self.items.push(scene, shown, key, invocations, make);
            }
        }
    }

    fn items(&mut self) -> Option<&mut dyn Items> {
        Some(&mut self.items.items)
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        self.items.remove(removed, |item| item.count = 0);
        self.plan(scene);
    }

    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>> {
        let keys = to.stores.bounds.iter();
        let keys = keys.map(|bounds| bounds.keys.whole());
        let points = std::iter::once(to.out(0));
        points.chain(keys).chain([to.state()]).collect()
    }

    fn reserve(
        &self,
        skinner: &Skinner,
        stores: &mut Stores,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let count = stores.instances.index_room();
        let keeps = stores.visibility.is_some();
        let mut bounds = stores.bounds.iter_mut();
        bounds.try_for_each(|bounds| bounds.reserve(skinner, count, keeps, encoder))
    }

    /// Forgets the boxes of earlier frames. If frames skip instances, the kernel `schedule` forgets
    /// only the boxes of those that a frame computes.
    fn prepare(&self, stores: &Stores, encoder: &mut wgpu::CommandEncoder) {
        if let Some(bounds) = stores
            .bounds
            .as_ref()
            .filter(|_| stores.visibility.is_none())
        {
            encoder.clear_buffer(&bounds.keys.buffer, 0, None);
        }
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        only_variant(wanted.uses.bounds)
    }
}
