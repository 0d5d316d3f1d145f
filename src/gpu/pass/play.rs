//! Plays clips: computes the local transforms of rigs, and the weights of blend shape channels.

use super::{Pass, Wanted, only_variant};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::plan::frame::{InstanceItems, Scene};
use crate::gpu::plan::groups::GroupKey;
use crate::gpu::plan::tables::{Layout, PlacedDispatch};
use crate::gpu::store::Stores;
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
        for (number, page) in scene.poses.pages().iter().enumerate() {
            let rigs = page.rigs();
            rigs.push_play_items(scene.limits, number, &mut self.items.items);
        }
        self.add_driven(scene);
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        self.items.remove(removed, |item| item.copies = 0);
        self.add_driven(scene);
    }

    fn update(
        &mut self,
        _: &Stores,
        layout: &mut Layout<'_>,
        dispatches: &mut Vec<PlacedDispatch>,
    ) -> bool {
        layout.update(&mut self.items.items, dispatches)
    }

    fn lay(&mut self, layout: &mut Layout<'_>) -> Vec<PlacedDispatch> {
        layout.lay(&mut self.items.items)
    }

    fn bind<'a>(
        &self,
        _: &'a Skinner,
        stores: &'a Stores,
        key: &GroupKey,
    ) -> Vec<wgpu::BindingResource<'a>> {
        let poses = stores.pose_buffers.page(key.pose_page);
        let tables = [stores.skin_pages.whole(key.skin_page)].into_iter();
        tables
            .chain(stores.clips.whole())
            .chain([poses.players.whole()])
            .chain(stores.players.snapshots())
            .chain([poses.joints.whole(), poses.channels.whole()])
            .chain(stores.players.clock())
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
            let (Some((player, rig)), Some(shapes)) = (player, shown.skin.shapes()) else {
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
