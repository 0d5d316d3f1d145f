//! The instances of a crowd: their skins, where their results go, and which frames they are part
//! of.

use std::sync::Arc;

use super::output_bindings::OutPlace;
use super::skins::SkinId;
use super::slots::{Id, Slots, new_id};
use super::target::OutputTarget;
use super::visibility::UpdateRate;
use crate::gpu::device::error::GpuError;

new_id! {
    /// Identifies an instance of a [`crate::gpu::Crowd`]. After the instance is removed the id is
    /// refused, whatever is added later. So is an id of another crowd.
    InstanceId, "an instance"
}

impl InstanceId {
    /// The instance index: a small number that no two instances share at the same time. It is below
    /// [`crate::gpu::Crowd::index_count`] and is reused after a removal. A host can index its own
    /// tables by it.
    #[must_use]
    pub fn index(self) -> u32 {
        Id::index(self)
    }
}

/// Largest number of instances of a crowd: item tables and indices then stay far below what u32
/// addresses.
const MAX_INSTANCES: u64 = 1 << 24;

/// One instance.
#[derive(Clone, Debug)]
pub struct Instance {
    pub skin: SkinId,
    pub target: Arc<OutputTarget>,
    /// Where the results of each slice of the skin go.
    pub out: Vec<OutPlace>,
    /// Whether frames skip it.
    pub hidden: bool,
    /// An instance is *fresh* until one frame has written its previous positions.
    pub fresh: bool,
    /// Whether some encoded frame wrote its results.
    pub written: bool,
    /// The first frame that it can be part of.
    pub since: u64,
    /// How often it is computed.
    pub rate: UpdateRate,
}

/// The instances of a crowd.
#[derive(Debug, Default)]
pub struct InstanceStore {
    instances: Slots<InstanceId, Instance>,
    /// Instances in the order in which they were added, including some that were removed.
    order: Vec<InstanceId>,
    /// One more than the largest index that was ever used.
    pub index_count: u32,
    /// The default target, which most instances share.
    default_target: Arc<OutputTarget>,
    /// Number of frames that were encoded.
    pub frames: u64,
    /// Instances that need other items, or none, than in the last frame: they were added, removed,
    /// hidden, shown, or sent or bound elsewhere. Some may be gone.
    pub edited: Vec<InstanceId>,
    /// Instances whose items may not say yet whether they are fresh.
    freshness_changed: Vec<InstanceId>,
    /// Number of instances that are not computed in every frame.
    pub slowed: usize,
    /// Instances whose rate changed since the last frame.
    other_rates: Vec<InstanceId>,
}

impl InstanceStore {
    /// Returns the shared default target if `target` equals it.
    pub fn shared(&self, target: OutputTarget) -> Arc<OutputTarget> {
        match target == *self.default_target {
            true => Arc::clone(&self.default_target),
            false => Arc::new(target),
        }
    }

    /// Checks that `count` more instances may be added.
    pub fn check_room(&self, prim: &str, count: u64) -> Result<(), GpuError> {
        let asked = (self.instances.len() as u64).checked_add(count);
        match asked {
            Some(asked) if asked <= MAX_INSTANCES => Ok(()),
            asked => {
                let what = format!("{prim}: instances of the crowd");
                Err(GpuError::limit(
                    what,
                    asked.unwrap_or(u64::MAX),
                    MAX_INSTANCES,
                ))
            }
        }
    }

    /// Makes room for `count` more instances.
    pub fn reserve(&mut self, count: usize) {
        self.order.reserve(count);
        self.instances.reserve(count);
    }

    pub fn insert(
        &mut self,
        skin: SkinId,
        target: Arc<OutputTarget>,
        out: Vec<OutPlace>,
    ) -> InstanceId {
        let id = self.instances.insert(Instance {
            skin,
            target,
            out,
            hidden: false,
            fresh: true,
            written: false,
            since: self.frames + 1,
            rate: UpdateRate::default(),
        });
        self.order.push(id);
        self.index_count = self.index_count.max(id.index() + 1);
        self.edit(id);
        id
    }

    pub fn remove(&mut self, id: InstanceId) -> Result<Instance, GpuError> {
        let gone = self.instances.remove(id)?;
        self.slowed -= usize::from(gone.rate.every > 1);
        self.edit(id);
        // Removed instances cost a lookup each, so they are dropped once they are half of all.
        if self.order.len() > 2 * self.instances.len() {
            let instances = &self.instances;
            self.order.retain(|id| instances.find(*id).is_some());
        }
        Ok(gone)
    }

    /// Removes all instances.
    pub fn clear(&mut self) {
        self.instances.clear();
        self.order.clear();
        self.slowed = 0;
        self.edited.clear();
        self.freshness_changed.clear();
        self.other_rates.clear();
    }

    pub fn get(&self, id: InstanceId) -> Result<&Instance, GpuError> {
        self.instances.get(id)
    }

    /// The instance of an id, if there is one.
    pub fn find(&self, id: InstanceId) -> Option<&Instance> {
        self.instances.find(id)
    }

    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Number of instance indices that a plan makes room for.
    pub fn index_room(&self) -> u32 {
        self.index_count.next_power_of_two().max(64)
    }

    /// Notes that an instance needs other items, or none.
    pub fn edit(&mut self, id: InstanceId) {
        note(&mut self.edited, id);
    }

    /// All instances, in the order in which they were added.
    pub fn in_order(&self) -> impl Iterator<Item = (InstanceId, &Instance)> + Clone + '_ {
        let found = |id: &InstanceId| self.instances.find(*id).map(|instance| (*id, instance));
        self.order.iter().filter_map(found)
    }

    /// The ids of all instances, in the order in which they were added.
    pub fn ids(&self) -> Vec<InstanceId> {
        self.in_order().map(|(id, _)| id).collect()
    }

    /// The instances that are not hidden.
    pub fn shown(&self) -> impl Iterator<Item = (InstanceId, &Instance)> + Clone + '_ {
        self.in_order().filter(|(_, instance)| !instance.hidden)
    }

    pub fn set_hidden(&mut self, id: InstanceId, hidden: bool) -> Result<(), GpuError> {
        let instance = self.instances.get_mut(id)?;
        if instance.hidden != hidden {
            instance.hidden = hidden;
            self.edit(id);
        }
        Ok(())
    }

    /// Changes where results go, and returns where they went before. The instance is fresh again.
    pub fn send(
        &mut self,
        id: InstanceId,
        target: Arc<OutputTarget>,
        out: Vec<OutPlace>,
    ) -> Result<(Arc<OutputTarget>, Vec<OutPlace>), GpuError> {
        let instance = self.instances.get_mut(id)?;
        (instance.fresh, instance.written) = (true, false);
        let old_target = std::mem::replace(&mut instance.target, target);
        let old = std::mem::replace(&mut instance.out, out);
        self.edit(id);
        Ok((old_target, old))
    }

    /// Changes how often an instance is computed. The plan stays valid.
    pub fn set_rate(&mut self, id: InstanceId, rate: UpdateRate) -> Result<(), GpuError> {
        if rate.every == 0 {
            let expected = "every 1 or more frames";
            return Err(GpuError::invalid(
                "an update rate",
                expected,
                "every 0 frames",
            ));
        }
        let instance = self.instances.get_mut(id)?;
        if instance.rate == rate {
            return Ok(());
        }
        let before = std::mem::replace(&mut instance.rate, rate);
        self.slowed -= usize::from(before.every > 1);
        self.slowed += usize::from(rate.every > 1);
        note(&mut self.other_rates, id);
        Ok(())
    }

    /// Instances whose rate changed since the last frame.
    pub fn other_rates(&self) -> impl Iterator<Item = (InstanceId, &Instance)> {
        self.living(&self.other_rates)
    }

    /// Those of some instances that were not removed. What took the index of one that was has
    /// another id.
    fn living<'a>(
        &'a self,
        ids: &'a [InstanceId],
    ) -> impl Iterator<Item = (InstanceId, &'a Instance)> {
        ids.iter().filter_map(|id| Some((*id, self.find(*id)?)))
    }

    /// Makes an instance fresh.
    pub fn reset_previous(&mut self, id: InstanceId) -> Result<(), GpuError> {
        self.instances.get_mut(id)?.fresh = true;
        note(&mut self.freshness_changed, id);
        Ok(())
    }

    /// Makes the instances fresh that are not computed in every frame.
    pub fn renew_slowed(&mut self) {
        let slowed = self.instances.iter().filter(|(_, i)| i.rate.every > 1);
        slowed.for_each(|(id, _)| note(&mut self.freshness_changed, id));
        let slowed = self.instances.values_mut().filter(|i| i.rate.every > 1);
        slowed.for_each(|i| i.fresh = true);
    }

    /// Makes all instances fresh, because the frame that wrote their positions may have been
    /// dropped.
    pub fn forget_previous(&mut self) {
        self.instances.values_mut().for_each(|i| i.fresh = true);
        self.freshness_changed = self.instances.iter().map(|(id, _)| id).collect();
    }

    /// Instances whose items may not say yet whether they are fresh.
    pub fn freshness_changed(&self) -> impl Iterator<Item = (InstanceId, &Instance)> {
        self.living(&self.freshness_changed)
    }

    /// Records that a frame was encoded, and which instances it wrote.
    pub fn set_encoded(&mut self) {
        self.frames += 1;
        self.other_rates.clear();
        let changed = std::mem::take(&mut self.freshness_changed);
        for id in self.edited.drain(..).chain(changed) {
            let Ok(instance) = self.instances.get_mut(id) else {
                continue;
            };
            instance.written |= !instance.hidden;
            // The last positions of a hidden instance are older than the last frame.
            let was_fresh = std::mem::replace(&mut instance.fresh, instance.hidden);
            if was_fresh && !instance.hidden {
                // The items say so until the next frame.
                self.freshness_changed.push(id);
            }
        }
    }

    /// Copies the instances as they were before any frame.
    pub fn again(&self) -> Self {
        let mut out = Self {
            instances: self.instances.clone(),
            order: self.order.clone(),
            index_count: self.index_count,
            slowed: self.slowed,
            default_target: Arc::clone(&self.default_target),
            ..Self::default()
        };
        out.instances.values_mut().for_each(|i| i.since = 0);
        out
    }
}

/// Adds an instance to a list. Things that are set again and again between frames must not make it
/// grow without end.
pub fn note(list: &mut Vec<InstanceId>, id: InstanceId) {
    if list.len() == list.capacity() {
        list.sort_unstable();
        list.dedup();
        // Or few free places would have it sorted again and again.
        list.reserve(list.len());
    }
    list.push(id);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_an_index_is_not_settled_for_another() {
        let mut store = InstanceStore::default();
        let insert = |store: &mut InstanceStore| {
            let target = store.shared(OutputTarget::default());
            store.insert(SkinId::default(), target, Vec::new())
        };
        let old = insert(&mut store);
        store.set_encoded();
        let freshness_changed = |store: &InstanceStore| -> Vec<_> {
            store
                .freshness_changed()
                .map(|(id, i)| (id, i.fresh))
                .collect()
        };
        assert_eq!(freshness_changed(&store), [(old, false)]);
        store.remove(old).expect("its own id");
        let new = insert(&mut store);
        assert_eq!((new.index(), old.index()), (0, 0));
        assert_eq!(freshness_changed(&store), []);
        assert!(store.find(new).is_some_and(|instance| instance.fresh));
        store.set_encoded();
        assert_eq!(freshness_changed(&store), [(new, false)]);
    }

    #[test]
    fn what_is_noted_again_and_again_does_not_pile_up() {
        let mut store = InstanceStore::default();
        let target = store.shared(OutputTarget::default());
        let id = store.insert(SkinId::default(), target, Vec::new());
        (0..10_000).for_each(|_| store.edit(id));
        assert!(store.edited.len() <= 4);
    }
}
