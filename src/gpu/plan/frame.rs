//! The contents of a frame: the instances that are shown, where their poses lie, and which items are
//! theirs.

use super::groups::{GroupKey, Groups, ItemPlace};
use super::pose_pages::{NewPose, PosePacker, PosePages, PosePlace};
use super::ranges::Chains;
use super::rig_palettes::PlacedRig;
use crate::gpu::device::error::GpuError;
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::store::Stores;
use crate::gpu::store::instances::{Instance, InstanceId};
use crate::gpu::store::poses::Source;
use crate::gpu::store::rigs::{ResidentRig, RigId};
use crate::gpu::store::skins::ResidentSkin;
use crate::kernel::PackedPose;

/// An instance of a frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameInstance<'a> {
    pub id: InstanceId,
    pub instance: &'a Instance,
    pub skin: &'a ResidentSkin,
    pub pose: &'a PackedPose,
    /// Where its pose lies.
    pub place: PosePlace,
    /// Where its palette comes from.
    pub source: Source,
}

/// The data from which passes make their items.
#[derive(Debug)]
pub struct Scene<'a> {
    pub limits: &'a WorkLimits,
    pub stores: &'a Stores,
    pub poses: &'a PosePages,
    /// The instances that need items: all that are shown, in the order in which they were added; or
    /// those of an edit.
    pub shown: Vec<FrameInstance<'a>>,
}

impl<'a> Scene<'a> {
    /// The scene of some instances that are shown.
    pub fn new(
        limits: &'a WorkLimits,
        stores: &'a Stores,
        poses: &'a PosePages,
        instances: impl Iterator<Item = (InstanceId, &'a Instance)>,
    ) -> Result<Self, GpuError> {
        let mut shown = Vec::new();
        for (id, instance) in instances {
            let skin = stores.skins.get(instance.skin)?;
            let pose = stores.poses.get(id.index());
            if let (Some((pose, source)), Some(place)) = (pose, poses.find(id.index())) {
                shown.push(FrameInstance {
                    id,
                    instance,
                    skin,
                    pose,
                    place,
                    source,
                });
            }
        }
        Ok(Self {
            limits,
            stores,
            poses,
            shown,
        })
    }

    /// Whether frames skip instances.
    pub fn skips(&self) -> bool {
        self.stores.visibility.is_some()
    }
}

/// The items of a pass that instances own, and which are whose.
#[derive(Debug)]
pub struct InstanceItems<T> {
    pub items: Groups<T>,
    of: Chains<ItemPlace>,
}

impl<T> Default for InstanceItems<T> {
    fn default() -> Self {
        Self {
            items: Groups::default(),
            of: Chains::default(),
        }
    }
}

impl<T> InstanceItems<T> {
    /// Adds an item of an instance, as [`Groups::push`] does.
    pub fn push(
        &mut self,
        scene: &Scene<'_>,
        shown: &FrameInstance<'_>,
        key: GroupKey,
        invocations: u32,
        make: impl FnOnce(u32) -> T,
    ) {
        if let Some(at) = self.items.push(scene.limits, key, invocations, make) {
            self.of.push(shown.id.index(), at);
        }
    }

    /// Removes the items of instances, by index. `end` leaves an item without results. What was freed
    /// last is taken first: so an instance that stays takes the places that it had.
    pub fn remove(&mut self, removed: &[u32], end: impl Fn(&mut T)) {
        for index in removed.iter().rev() {
            while let Some(at) = self.of.pop(*index) {
                self.items.remove(at, &end);
            }
        }
    }
}

/// The pose of an instance that is shown.
///
/// # Errors
/// An instance without a pose.
pub fn pose_of<'a>(
    stores: &'a Stores,
    id: InstanceId,
    instance: &Instance,
) -> Result<NewPose<'a>, GpuError> {
    let skin = stores.skins.get(instance.skin)?;
    let Some((pose, source)) = stores.poses.get(id.index()) else {
        let (prim, index) = (skin.packed.prim(), id.index());
        return Err(GpuError::NoPose {
            what: format!("{prim}: instance {index}"),
            expected: "a pose",
        });
    };
    Ok(NewPose {
        id,
        pose,
        source,
        sub_shapes: skin.shapes.map(|s| s.sub_shape_count),
    })
}

/// Finds a place for the pose of every instance that is shown.
///
/// # Errors
/// An instance without a pose, a rig without local transforms, or a single pose that is larger than
/// a binding.
pub fn place_poses(limits: &WorkLimits, stores: &Stores) -> Result<PosePages, GpuError> {
    let mut packer = PosePacker::new(limits, stores.poses.len());
    for (id, instance) in stores.instances.shown() {
        let new = pose_of(stores, id, instance)?;
        let rig = match new.source {
            Source::Rig(id) => Some(placed(stores, id, stores.rigs.get(id)?)?),
            _ => None,
        };
        packer.place(&new, rig)?;
    }
    for (id, rig) in stores.rigs.kept() {
        packer.place_rig(placed(stores, id, rig)?)?;
    }
    Ok(packer.finish())
}

/// A rig with its state. It needs local transforms, or clips to play.
fn placed<'a>(stores: &Stores, id: RigId, rig: &'a ResidentRig) -> Result<PlacedRig<'a>, GpuError> {
    if !rig.is_posed && !stores.players.plays(id) {
        return Err(GpuError::NoPose {
            what: format!("the rig of {}", rig.packed.path()),
            expected: "local transforms, or a clip to play,",
        });
    }
    let player = stores.clips.is_used().then(|| stores.players.player(id));
    Ok(PlacedRig { id, rig, player })
}
