//! Ids of what a crowd holds, and the slots that they name.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::gpu::device::error::GpuError;

/// What an id is made of. Ids of two tables of slots are never equal; the default one is of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId {
    /// The table of slots that gave it.
    table: u32,
    index: u32,
    /// How often the slot was used before.
    generation: u32,
}

/// The ids of one kind of thing.
pub trait Id: Copy {
    /// The kind of thing, for messages.
    const WHAT: &'static str;
    fn new(id: SlotId) -> Self;
    fn slot(self) -> SlotId;

    /// A small number that no two things share at the same time.
    fn index(self) -> u32 {
        self.slot().index
    }
}

/// Defines the id of a kind of thing.
macro_rules! new_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($crate::gpu::store::slots::SlotId);

        impl $crate::gpu::store::slots::Id for $name {
            const WHAT: &'static str = $what;

            fn new(id: $crate::gpu::store::slots::SlotId) -> Self {
                Self(id)
            }

            fn slot(self) -> $crate::gpu::store::slots::SlotId {
                self.0
            }
        }
    };
}
pub(in crate::gpu) use new_id;

/// Things by id. A clone has the same ids.
#[derive(Clone, Debug)]
pub struct Slots<K, T> {
    table: u32,
    slots: Vec<Slot<T>>,
    /// Indices of slots without a thing.
    free: Vec<u32>,
    kind: PhantomData<K>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    thing: Option<T>,
    /// How many others use the thing.
    users: usize,
}

impl<K, T> Default for Slots<K, T> {
    fn default() -> Self {
        static TABLES: AtomicU32 = AtomicU32::new(1);
        Self {
            table: TABLES.fetch_add(1, Ordering::Relaxed),
            slots: Vec::new(),
            free: Vec::new(),
            kind: PhantomData,
        }
    }
}

impl<K: Id, T> Slots<K, T> {
    pub fn insert(&mut self, thing: T) -> K {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                thing: None,
                users: 0,
            });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        (slot.thing, slot.users) = (Some(thing), 0);
        K::new(SlotId {
            table: self.table,
            index,
            generation: slot.generation,
        })
    }

    /// Removes a thing. Its id is refused from now on.
    pub fn remove(&mut self, id: K) -> Result<T, GpuError> {
        let thing = self.slot_mut(id).and_then(|slot| slot.thing.take());
        let thing = thing.ok_or_else(foreign::<K>)?;
        self.free_slot(id.index());
        Ok(thing)
    }

    /// Removes a thing that nobody uses. For the error: its users' kind, and its name.
    pub fn remove_unused(
        &mut self,
        id: K,
        by: &'static str,
        name: impl FnOnce(&T) -> String,
    ) -> Result<T, GpuError> {
        let thing = self.get(id)?;
        match self.slots[id.index() as usize].users {
            0 => self.remove(id),
            users => Err(GpuError::InUse {
                what: name(thing),
                by,
                users,
            }),
        }
    }

    /// Records that one more uses a thing.
    pub fn add_user(&mut self, id: K) {
        self.slot_mut(id)
            .into_iter()
            .for_each(|slot| slot.users += 1);
    }

    /// Records that one fewer uses a thing.
    pub fn remove_user(&mut self, id: K) {
        self.slot_mut(id)
            .into_iter()
            .for_each(|slot| slot.users -= 1);
    }

    /// Records that nothing is used.
    pub fn remove_users(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.users = 0);
    }

    fn free_slot(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
    }

    pub fn clear(&mut self) {
        for index in (0..self.slots.len() as u32).rev() {
            if self.slots[index as usize].thing.take().is_some() {
                self.free_slot(index);
            }
        }
    }

    pub fn get(&self, id: K) -> Result<&T, GpuError> {
        self.find(id).ok_or_else(foreign::<K>)
    }

    /// The thing of an id, if there is one.
    pub fn find(&self, id: K) -> Option<&T> {
        let id = id.slot();
        let slot = self.slots.get(id.index as usize)?;
        let is_its = id.table == self.table && id.generation == slot.generation;
        slot.thing.as_ref().filter(|_| is_its)
    }

    pub fn get_mut(&mut self, id: K) -> Result<&mut T, GpuError> {
        let found = self.slot_mut(id).and_then(|slot| slot.thing.as_mut());
        found.ok_or_else(foreign::<K>)
    }

    fn slot_mut(&mut self, id: K) -> Option<&mut Slot<T>> {
        let id = id.slot();
        let slot = self.slots.get_mut(id.index as usize)?;
        (id.table == self.table && id.generation == slot.generation).then_some(slot)
    }

    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn reserve(&mut self, count: usize) {
        self.slots.reserve(count.saturating_sub(self.free.len()));
    }

    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> + Clone {
        (0..).zip(&self.slots).filter_map(|(index, slot)| {
            let id = SlotId {
                table: self.table,
                index,
                generation: slot.generation,
            };
            Some((K::new(id), slot.thing.as_ref()?))
        })
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| slot.thing.as_mut())
    }
}

fn foreign<K: Id>() -> GpuError {
    GpuError::foreign(K::WHAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    new_id!(TestId, "a test");

    type Table = Slots<TestId, &'static str>;

    #[test]
    fn a_reused_slot_refuses_its_old_id() {
        let mut table = Table::default();
        let [a, b] = ["a", "b"].map(|thing| table.insert(thing));
        assert_eq!(table.remove(a), Ok("a"));
        assert_eq!(table.remove(a), Err(foreign::<TestId>()));
        let c = table.insert("c");
        assert_eq!(c.index(), a.index(), "the slot is reused");
        assert_eq!(table.find(a), None);
        assert!(table.get_mut(a).is_err());
        assert_eq!((table.find(b), table.get(c)), (Some(&"b"), Ok(&"c")));
        assert_eq!(table.iter().map(|(id, _)| id).collect::<Vec<_>>(), [c, b]);
        table.clear();
        assert_eq!(table.len(), 0);
        assert_eq!([a, b, c].map(|id| table.find(id)), [None; 3]);
        let again = table.insert("again");
        assert_eq!((again.index(), table.len()), (0, 1));
    }

    #[test]
    fn ids_of_another_table_are_refused_and_a_clone_takes_them() {
        let (mut one, mut two) = (Table::default(), Table::default());
        let (a, b) = (one.insert("a"), two.insert("b"));
        assert_eq!((one.find(b), two.find(a)), (None, None));
        assert!(one.remove(b).is_err() && two.remove(a).is_err());
        assert_eq!(one.find(TestId::default()), None);
        assert_eq!(one.clone().find(a), Some(&"a"));
    }
}
