//! Computes the palettes of rigs from local transforms.

use super::{Bound, Items, Pass, Wanted};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::plan::frame::Scene;
use crate::gpu::plan::groups::Groups;
use crate::gpu::plan::rig_palettes::pose_variant;
use crate::gpu::store::pose_buffers::{CACHED, JOINTS, PALETTES};
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
        for (number, page) in scene.poses.pages.iter().enumerate() {
            let first = page.first_of_rigs();
            page.rigs
                .push_items(scene.limits, number, first, &mut self.items);
        }
        self.items.sort_by_level();
    }

    fn items(&mut self) -> Option<&mut dyn Items> {
        Some(&mut self.items)
    }

    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>> {
        let poses = [JOINTS, PALETTES, CACHED].map(|kind| to.poses(kind));
        std::iter::once(to.skins()).chain(poses).collect()
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        let method = wanted.skin.method();
        match wanted.uses.rigs {
            true => vec![pose_variant(method.has_rigid_motions())],
            false => Vec::new(),
        }
    }
}
