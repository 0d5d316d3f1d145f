//! The items of a pass that instances own.

use super::frame::{Scene, Shown};
use super::groups::{GroupKey, Groups, ItemPlace};
use super::ranges::Chains;

/// Items, and those of each instance among them.
#[derive(Debug)]
pub struct Placed<T> {
    pub items: Groups<T>,
    of: Chains<ItemPlace>,
}

impl<T> Default for Placed<T> {
    fn default() -> Self {
        Self {
            items: Groups::default(),
            of: Chains::default(),
        }
    }
}

impl<T> Placed<T> {
    /// Adds an item of an instance, as [`Groups::push_owned`] does.
    pub fn push(
        &mut self,
        scene: &Scene<'_>,
        shown: &Shown<'_>,
        key: GroupKey,
        invocations: u32,
        make: impl FnOnce(u32) -> T,
    ) {
        let owner = [shown.owner()];
        let items = &mut self.items;
        if let Some(at) = items.push_owned(scene.limits, key, invocations, &owner, make) {
            self.of.push(shown.id.index(), at);
        }
    }

    /// Removes the items of instances, by index. `end` leaves an item without results.
    pub fn remove(&mut self, removed: &[u32], end: impl Fn(&mut T)) {
        for index in removed {
            while let Some(at) = self.of.pop(*index) {
                self.items.remove(at, &end);
            }
        }
    }
}
