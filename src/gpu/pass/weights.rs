//! Computes the weights of sub-shapes from the weights of blend shape channels.

use super::{Pass, Wanted, only_variant};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::plan::frame::{InstanceItems, Scene};
use crate::gpu::plan::groups::GroupKey;
use crate::gpu::plan::tables::{Layout, PlacedDispatch};
use crate::gpu::store::Stores;
use crate::kernel::{Kernel, WEIGHTS, WeightsItem};

#[derive(Debug, Default)]
pub struct Weights {
    items: InstanceItems<WeightsItem>,
}

impl Pass for Weights {
    fn kernel(&self) -> &'static Kernel {
        &WEIGHTS
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        for shown in &scene.shown {
            let Some(shapes) = shown.skin.shapes() else {
                continue;
            };
            let key = GroupKey {
                skin_page: shapes.page,
                pose_page: shown.place.page,
                ..GroupKey::default()
            };
            let make = |first_workgroup| WeightsItem {
                first_workgroup,
                channel_count: shapes.channel_count,
                sub_shape_ranges: shapes.channels,
                positions: shapes.positions,
                channels: shown.place.channels,
                sub_weights: shown.place.sub_weights,
                instance: shown.id.index(),
            };
            self.items
                .push(scene, shown, key, shapes.channel_count, make);
        }
    }

    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch> {
        layout.lay(&mut self.items.items)
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        self.items.remove(removed, |item| item.channel_count = 0);
        self.plan(scene);
    }

    fn update(
        &mut self,
        _: &Stores,
        layout: &mut Layout<'_>,
        dispatches: &mut Vec<PlacedDispatch>,
    ) -> bool {
        layout.update(&mut self.items.items, dispatches)
    }

    fn bind<'a>(
        &self,
        skinner: &'a Skinner,
        stores: &'a Stores,
        key: &GroupKey,
    ) -> Vec<wgpu::BindingResource<'a>> {
        let poses = stores.pose_buffers.page(key.pose_page);
        vec![
            stores.skin_pages.whole(key.skin_page),
            poses.channels.whole(),
            poses.palettes.whole(),
            stores.state(skinner),
        ]
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        only_variant(wanted.skin.blend().is_some())
    }
}
