//! Computes the weights of sub-shapes from the weights of blend shape channels.

use super::{Bound, Items, Pass, Wanted, only_variant};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::plan::frame::{InstanceItems, Scene};
use crate::gpu::plan::groups::GroupKey;
use crate::gpu::store::pose_buffers::{CHANNELS, PALETTES};
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
            let Some(shapes) = shown.skin.shapes else {
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

    fn items(&mut self) -> Option<&mut dyn Items> {
        Some(&mut self.items.items)
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        self.items.remove(removed, |item| item.channel_count = 0);
        self.plan(scene);
    }

    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>> {
        let (channels, palettes) = (to.poses(CHANNELS), to.poses(PALETTES));
        vec![to.skins(), channels, palettes, to.state()]
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        only_variant(wanted.skin.blend().is_some())
    }
}
