//! Plays clips: computes the local transforms of rigs, and the weights of blend shape channels.

use super::{Bound, Items, Pass, Wanted, only_variant};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::plan::frame::{InstanceItems, Scene};
use crate::gpu::plan::groups::GroupKey;
use crate::gpu::store::pose_buffers::{CHANNELS, JOINTS, PLAYERS};
use crate::kernel::{Kernel, PLAY, PlayItem};

/// Floats of the local transform of a joint.
const FLOATS: u32 = 10;

#[derive(Debug, Default)]
pub struct Play {
    /// Of rigs, and of instances whose channel weights clips drive.
    items: InstanceItems<PlayItem>,
}

impl Pass for Play {
    fn kernel(&self) -> &'static Kernel {
        &PLAY
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        if !scene.stores.clips.is_used() {
            return;
        }
        for (number, page) in scene.poses.pages.iter().enumerate() {
            let items = &mut self.items.items;
            page.rigs.push_play_items(scene.limits, number, items);
        }
        self.add_driven(scene);
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        self.items.remove(removed, |item| item.copies = 0);
        self.add_driven(scene);
    }

    fn items(&mut self) -> Option<&mut dyn Items> {
        Some(&mut self.items.items)
    }

    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>> {
        let (clips, players) = (&to.stores.clips, &to.stores.players);
        let tables = [to.skins()].into_iter();
        tables
            .chain(clips.whole())
            .chain([to.poses(PLAYERS)])
            .chain(players.snapshots())
            .chain([to.poses(JOINTS), to.poses(CHANNELS)])
            .chain(players.clock())
            .collect()
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        only_variant(wanted.uses.clips)
    }
}

impl Play {
    /// Adds the items of instances whose channel weights clips drive.
    fn add_driven(&mut self, scene: &Scene<'_>) {
        if !scene.stores.clips.is_used() {
            return;
        }
        for shown in &scene.shown {
            let Some(table) = scene.stores.clips.channels(shown.instance.skin) else {
                continue;
            };
            let player = scene.poses.find_player(shown.id.index());
            let (Some((player, rig)), Some(shapes)) = (player, shown.skin.shapes) else {
                continue;
            };
            let key = GroupKey {
                skin_page: table.page,
                pose_page: shown.place.page,
                ..GroupKey::default()
            };
            let count = shapes.channel_count;
            let make = |first_workgroup| PlayItem {
                first_workgroup,
                copies: 1,
                count,
                players: player,
                joints: rig.joint_count() as u32 * FLOATS,
                table: table.first,
                channels: shown.place.channels,
            };
            self.items.push(scene, shown, key, count, make);
        }
    }
}
