//! Computes the palettes of rigs from local transforms.

use super::{Pass, Wanted};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::plan::frame::Scene;
use crate::gpu::plan::groups::{GroupKey, Groups};
use crate::gpu::plan::rig_palettes::pose_variant;
use crate::gpu::plan::tables::{Layout, PlacedDispatch};
use crate::gpu::store::Stores;
use crate::kernel::{Kernel, POSE_RIG, PoseRigItem};

#[derive(Debug, Default)]
pub struct PoseRig {
    items: Groups<PoseRigItem>,
}

impl Pass for PoseRig {
    fn kernel(&self) -> &'static Kernel {
        &POSE_RIG
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        for (number, page) in scene.poses.pages().iter().enumerate() {
            let first = page.first_of_rigs();
            page.rigs()
                .push_items(scene.limits, number, first, &mut self.items);
        }
        self.items.sort_by_level();
    }

    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch> {
        layout.lay(&mut self.items)
    }

    fn bind<'a>(
        &self,
        _: &'a Skinner,
        stores: &'a Stores,
        key: &GroupKey,
    ) -> Vec<wgpu::BindingResource<'a>> {
        let poses = stores.pose_buffers.page(key.pose_page);
        vec![
            stores.skin_pages.whole(key.skin_page),
            poses.joints.whole(),
            poses.palettes.whole(),
            poses.cached.whole(),
        ]
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        let method = wanted.skin.method();
        match wanted.uses.rigs {
            true => vec![pose_variant(method.has_rigid_motions())],
            false => Vec::new(),
        }
    }
}
