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
use super::plan::groups::GroupKey;
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

/// One pass of a frame: all dispatches of one kernel.
pub trait Pass: Debug + Send + Sync {
    /// Its kernel.
    fn kernel(&self) -> &'static Kernel;

    /// Adds its items for a frame. Called once per plan.
    fn plan(&mut self, scene: &Scene<'_>);

    /// Removes the items of instances, by index, and adds those of the scene.
    fn edit(&mut self, _removed: &[u32], _scene: &Scene<'_>) {}

    /// Lays out its items and its dispatches.
    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch>;

    /// The resources that a dispatch binds after its items, in the order of the kernel's bindings.
    fn bind<'a>(
        &self,
        skinner: &'a Skinner,
        stores: &'a Stores,
        key: &GroupKey,
    ) -> Vec<wgpu::BindingResource<'a>>;

    /// Updates the items that depend on more than the plan and edits, and then its tables and
    /// dispatches. Called before each frame. False if an edit needs more room than the plan has.
    fn update(
        &mut self,
        _stores: &Stores,
        _layout: &mut Layout<'_>,
        _dispatches: &mut Vec<PlacedDispatch>,
    ) -> bool {
        true
    }

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
