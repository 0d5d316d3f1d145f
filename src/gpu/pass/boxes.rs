//! Turns the reduced corners of all instances into bounding boxes of floats.

use super::{Bound, Items, Pass, Wanted, only_variant};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::plan::frame::Scene;
use crate::gpu::plan::tables::{Layout, PlacedDispatch};
use crate::kernel::{BOXES, Kernel};

#[derive(Debug, Default)]
pub struct Boxes {
    /// Number of boxes: one for each instance index that edits may use.
    count: u32,
}

impl Pass for Boxes {
    fn kernel(&self) -> &'static Kernel {
        &BOXES
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        let is_enabled = scene.stores.bounds.is_some();
        let count = scene.stores.instances.index_room();
        self.count = if is_enabled { count } else { 0 };
    }

    fn items(&mut self) -> Option<&mut dyn Items> {
        None
    }

    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch> {
        layout.lay_invocations(self.count)
    }

    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>> {
        let bounds = to.stores.bounds.iter();
        bounds
            .flat_map(|bounds| [bounds.keys.whole(), bounds.boxes.whole()])
            .collect()
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        only_variant(wanted.uses.bounds)
    }
}
