//! The passes of a frame, one file each: its kernel, the items that it adds to a frame, and what it
//! binds.

mod bounds;
mod boxes;
pub mod frame;
mod play;
mod pose_rig;
mod schedule;
mod skin;
mod smooth_normals;
mod weights;

use std::fmt::Debug;

use super::device::error::GpuError;
use super::device::pipelines::{PipelineVariant, Variant};
use super::device::skinner::Skinner;
use super::plan::frame::Scene;
use super::plan::groups::{GroupKey, Groups};
use super::plan::tables::{Layout, PlacedDispatch};
use super::store::Stores;
use super::store::target::OutputTarget;
use crate::kernel::{Kernel, PackedSkin};

/// All passes, in the order in which they run. Nothing else lists them.
fn all() -> Vec<Box<dyn Pass>> {
    vec![
        Box::<schedule::Schedule>::default(),
        Box::<play::Play>::default(),
        Box::<pose_rig::PoseRig>::default(),
        Box::<weights::Weights>::default(),
        Box::<skin::SkinPass>::default(),
        Box::<smooth_normals::SmoothNormals>::default(),
        Box::<bounds::Bounds>::default(),
        Box::<boxes::Boxes>::default(),
    ]
}

/// The items of a pass.
pub trait Items {
    /// Lays out tables and dispatches.
    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch>;

    /// Brings both up to date. False if an edit needs more room than the plan has.
    fn update(&mut self, layout: &mut Layout<'_>, dispatches: &mut Vec<PlacedDispatch>) -> bool;
}

impl<T: bytemuck::NoUninit> Items for Groups<T> {
    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch> {
        layout.lay(self)
    }

    fn update(&mut self, layout: &mut Layout<'_>, dispatches: &mut Vec<PlacedDispatch>) -> bool {
        layout.update(self, dispatches)
    }
}

/// What a dispatch binds.
pub struct Bound<'a> {
    pub skinner: &'a Skinner,
    pub stores: &'a Stores,
    pub key: GroupKey,
}

impl<'a> Bound<'a> {
    fn skins(&self) -> wgpu::BindingResource<'a> {
        self.stores.skin_pages.whole(self.key.skin_page)
    }

    /// A buffer of poses, such as `PALETTES`.
    fn poses(&self, kind: usize) -> wgpu::BindingResource<'a> {
        let buffers = &self.stores.pose_buffers;
        buffers.buffer(self.key.pose_page, kind).as_entire_binding()
    }

    /// One of the two output buffers.
    fn out(&self, binding: usize) -> wgpu::BindingResource<'a> {
        let outputs = &self.stores.outputs;
        outputs.binding(self.skinner, self.key.out_set, binding)
    }

    /// What frames do with each instance. Kernels read it only in frames that skip some.
    fn state(&self) -> wgpu::BindingResource<'a> {
        match &self.stores.visibility {
            Some(visibility) => visibility.state.whole(),
            None => self.skinner.unused[0].as_entire_binding(),
        }
    }
}

/// One pass of a frame: all dispatches of one kernel.
pub trait Pass: Debug + Send + Sync {
    /// Its kernel.
    fn kernel(&self) -> &'static Kernel;

    /// Adds its items for a frame. Called once per plan.
    fn plan(&mut self, scene: &Scene<'_>);

    /// Removes the items of instances, by index, and adds those of the scene.
    fn edit(&mut self, _removed: &[u32], _scene: &Scene<'_>) {}

    /// Its items, if its kernel reads any.
    fn items(&mut self) -> Option<&mut dyn Items>;

    /// Lays out its items and its dispatches.
    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch> {
        let items = self.items();
        items.map_or(Vec::new(), |items| items.lay(layout))
    }

    /// The resources that a dispatch binds after its items, in the order of the kernel's bindings.
    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>>;

    /// Updates the items that depend on more than the plan and edits. Called before each frame.
    fn refresh(&mut self, _stores: &Stores) {}

    /// Reserves the buffers that it writes to. Called before all passes bind, once per plan and when a
    /// buffer that it binds was replaced, with the encoder of the frame.
    fn reserve(
        &self,
        _skinner: &Skinner,
        _stores: &mut Stores,
        _encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        Ok(())
    }

    /// Records commands that have to run before its dispatches.
    fn prepare(&self, _stores: &Stores, _encoder: &mut wgpu::CommandEncoder) {}

    /// The pipelines that instances of a skin need for this pass, for any pose.
    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant>;
}

/// The skin, target and uses for which pipelines are compiled in advance.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub skin: &'a PackedSkin,
    pub target: &'a OutputTarget,
    pub uses: Prewarm,
}

/// Uses of a crowd, apart from skinning, for which [`Skinner::prewarm`] compiles pipelines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prewarm {
    /// Rigs that the GPU poses ([`crate::gpu::Crowd::add_rig`]).
    pub rigs: bool,
    /// Rigs that play clips ([`crate::gpu::Crowd::set_playing`]).
    pub clips: bool,
    /// Bounding boxes ([`crate::gpu::Crowd::enable_bounds`]).
    pub bounds: bool,
    /// Visibility masks and update rates ([`crate::gpu::Crowd::set_visibility`]).
    pub visibility: bool,
}

impl Prewarm {
    /// Everything.
    pub const ALL: Self = Self {
        rigs: true,
        clips: true,
        bounds: true,
        visibility: true,
    };
}

/// Lists the pipelines that frames with instances of a skin need, for any pose.
pub fn pipeline_variants(
    skin: &PackedSkin,
    target: &OutputTarget,
    uses: Prewarm,
) -> Vec<PipelineVariant> {
    let wanted = Wanted { skin, target, uses };
    let mut out: Vec<PipelineVariant> = Vec::new();
    for pass in all() {
        let kernel = pass.kernel();
        for variant in pass.variants(&wanted) {
            let variant = PipelineVariant { kernel, variant };
            if !out.contains(&variant) {
                out.push(variant);
            }
        }
    }
    out
}

/// The kernels of all passes, in the order in which they run.
pub fn kernels() -> Vec<&'static Kernel> {
    all().iter().map(|pass| pass.kernel()).collect()
}

/// The kernel's only pipeline, if there is work for it.
fn only_variant(is_wanted: bool) -> Vec<Variant> {
    is_wanted.then(Variant::default).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::KERNELS;

    #[test]
    fn every_kernel_has_one_pass() {
        let mut passes: Vec<&str> = kernels().iter().map(|kernel| kernel.name).collect();
        let mut kernels: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
        passes.sort_unstable();
        kernels.sort_unstable();
        assert_eq!(passes, kernels);
    }
}
