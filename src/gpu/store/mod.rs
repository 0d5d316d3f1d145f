//! The data that a crowd holds on its device. Each store owns its state and knows no crowd; passes
//! read the stores.

pub mod blas;
pub mod blend_lists;
pub mod bounds;
pub mod clips;
pub mod instances;
pub mod output_bindings;
pub mod outputs;
pub mod palettes;
pub mod players;
pub mod playing;
pub mod pose_buffers;
pub mod poses;
pub mod readings;
pub mod rigs;
pub mod skin_pages;
pub mod skins;
pub mod slots;
pub mod target;
pub mod visibility;

use super::device::error::GpuError;
use super::device::skinner::Skinner;
use blend_lists::BlendLists;
use bounds::BoundsStore;
use clips::ClipStore;
use instances::InstanceStore;
use outputs::OutputStore;
use palettes::PaletteStore;
use players::PlayerStore;
use pose_buffers::PoseBuffers;
use poses::PoseStore;
use rigs::RigStore;
use skin_pages::SkinPages;
use skins::SkinStore;
use visibility::VisibilityStore;

/// All stores of a crowd.
#[derive(Debug, Default)]
pub struct Stores {
    pub skin_pages: SkinPages,
    pub skins: SkinStore,
    pub blend_lists: BlendLists,
    pub instances: InstanceStore,
    pub poses: PoseStore,
    pub palettes: PaletteStore,
    pub rigs: RigStore,
    pub clips: ClipStore,
    pub players: PlayerStore,
    pub pose_buffers: PoseBuffers,
    pub outputs: OutputStore,
    /// `None` unless bounding boxes are enabled.
    pub bounds: Option<BoundsStore>,
    /// `None` while frames compute every instance that is not hidden.
    pub visibility: Option<VisibilityStore>,
}

/// Counters of everything that a plan depends on, apart from instances, which edit it. A plan is
/// valid as long as they have not changed.
pub type Versions = [u64; 5];

impl Stores {
    pub fn versions(&self) -> Versions {
        [
            self.bounds.as_ref().map_or(0, |bounds| bounds.number),
            (self.visibility.as_ref()).map_or(0, |visibility| visibility.number),
            self.rigs.version,
            self.clips.version(),
            self.players.version(),
        ]
    }

    /// How often buffers of the crowd were replaced that a plan binds, but does not reserve itself.
    /// Buffers of the host have versions ([`OutputStore::set_version`]).
    pub fn replaced(&self) -> u64 {
        self.outputs.generation() + self.skin_pages.replaced()
    }

    /// Bytes of all buffers on the device, used or not.
    pub fn buffer_bytes(&self) -> u64 {
        self.skin_pages.buffer_bytes()
            + self.pose_buffers.buffer_bytes()
            + self.outputs.buffer_bytes()
            + self.clips.buffer_bytes()
            + self.players.buffer_bytes()
            + self.bounds.as_ref().map_or(0, BoundsStore::buffer_bytes)
            + (self.visibility.as_ref()).map_or(0, |v| v.state.size())
    }

    /// Creates the same stores on another device. Results go to the crowd's own buffers.
    pub fn rebuild(&self, skinner: &Skinner) -> Result<Self, GpuError> {
        let mut out = Self {
            palettes: self.palettes.clone(),
            poses: self.poses.again(),
            instances: self.instances.again(),
            ..Self::default()
        };
        out.skins = self.skins.rebuild(skinner, &mut out.skin_pages)?;
        for (id, skin) in out.skins.iter() {
            if let Some(blend) = skin.packed.blend() {
                out.blend_lists.add_skin(id, blend);
            }
        }
        out.rigs = self.rigs.rebuild(skinner, &mut out.skin_pages)?;
        out.clips = self.clips.rebuild(skinner, &mut out.skin_pages)?;
        out.players = self.players.rebuild(skinner, &out.clips)?;
        for id in out.instances.ids() {
            let instance = out.instances.get(id)?;
            let skin = out.skins.get(instance.skin)?;
            let target = out.instances.shared(instance.target.in_own_buffers());
            out.outputs.check_room(skinner, skin, 1, &target)?;
            let places = out.outputs.place(skinner, skin, &target)?;
            out.instances.send(id, target, places)?;
        }
        if let Some(bounds) = &self.bounds {
            out.bounds = Some(BoundsStore::new(skinner, bounds.wanted)?);
        }
        if out.instances.slowed > 0 {
            out.visibility = Some(VisibilityStore::new(skinner)?);
        }
        Ok(out)
    }
}
