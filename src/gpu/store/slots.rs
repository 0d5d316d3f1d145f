//! Ids of what a crowd holds, and the slots that they name.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

/// What an id is made of. Ids of two tables of slots are never equal; the default one is of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId {
    /// The table of slots that gave it.
    table: u32,
    pub(super) index: u32,
    /// How often the slot was used before.
    generation: u32,
}

/// The ids of one kind of thing.
pub trait Id: Copy {
    fn new(id: SlotId) -> Self;
    fn slot(self) -> SlotId;
}

/// Defines the id of a kind of thing.
macro_rules! new_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($crate::gpu::store::slots::SlotId);

        impl $crate::gpu::store::slots::Id for $name {
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
            });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.thing = Some(thing);
        K::new(SlotId {
            table: self.table,
            index,
            generation: slot.generation,
        })
    }

    /// Removes a thing. Its id is refused from now on.
    pub fn remove(&mut self, id: K) -> Option<T> {
        let thing = self.slot_mut(id)?.thing.take()?;
        self.free_slot(id.slot().index);
        Some(thing)
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

    pub fn get(&self, id: K) -> Option<&T> {
        let id = id.slot();
        let slot = self.slots.get(id.index as usize)?;
        let is_its = id.table == self.table && id.generation == slot.generation;
        slot.thing.as_ref().filter(|_| is_its)
    }

    pub fn get_mut(&mut self, id: K) -> Option<&mut T> {
        self.slot_mut(id)?.thing.as_mut()
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

#[cfg(test)]
mod tests {
    use super::*;

    new_id!(TestId);

    type Table = Slots<TestId, &'static str>;

    #[test]
    fn a_reused_slot_refuses_its_old_id() {
        let mut table = Table::default();
        let [a, b] = ["a", "b"].map(|thing| table.insert(thing));
        assert_eq!(table.remove(a), Some("a"));
        assert_eq!(table.remove(a), None);
        let c = table.insert("c");
        assert_eq!(c.slot().index, a.slot().index, "the slot is reused");
        assert_eq!(table.get(a), None);
        assert_eq!(table.get_mut(a), None);
        assert_eq!((table.get(b), table.get(c)), (Some(&"b"), Some(&"c")));
        assert_eq!(table.iter().map(|(id, _)| id).collect::<Vec<_>>(), [c, b]);
        table.clear();
        assert_eq!(table.len(), 0);
        assert_eq!([a, b, c].map(|id| table.get(id)), [None; 3]);
        let again = table.insert("again");
        assert_eq!((again.slot().index, table.len()), (0, 1));
    }

    #[test]
    fn ids_of_another_table_are_refused_and_a_clone_takes_them() {
        let (mut one, mut two) = (Table::default(), Table::default());
        let (a, b) = (one.insert("a"), two.insert("b"));
        assert_eq!((one.get(b), two.get(a)), (None, None));
        assert_eq!((one.remove(b), two.remove(a)), (None, None));
        assert_eq!(one.get(TestId::default()), None);
        assert_eq!(one.clone().get(a), Some(&"a"));
    }
}
