//! Groups of a pass's items, one per dispatch, and the dispatches that cover them.

use std::collections::{BTreeMap, HashMap};

use super::ranges::is_sparse;
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::device::pipelines::Variant;
use crate::kernel::{Dispatch, WORKGROUP_SIZE};

/// Items with the same key form one group: their dispatch binds the same things and uses the same
/// pipeline. A number that a kernel does not use is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GroupKey {
    pub skin_page: usize,
    pub pose_page: usize,
    pub out_set: usize,
    /// Groups of a higher level need the results of those of a lower one.
    pub level: usize,
    /// The pipeline. Each item has its own, so no neighbour changes how an item is compiled.
    pub variant: Variant,
    /// Whether items share workgroups, because each of them needs less than one.
    pub shares_workgroups: bool,
}

/// The group of an item, and its index in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemPlace {
    pub group: usize,
    /// Index of the item in its group.
    pub number: usize,
}

/// The items of one table.
#[derive(Debug)]
pub struct Group<T> {
    pub key: GroupKey,
    pub items: Vec<T>,
    /// The first unit of each item. A unit is a workgroup, or an invocation if items share
    /// workgroups. An item keeps its units for as long as the plan lives.
    firsts: Vec<u32>,
    /// Number of units.
    pub units: u32,
    /// Items that were removed, by their number of units.
    free: BTreeMap<u32, Vec<u32>>,
    /// Number of items that were not removed.
    live: usize,
    /// Where it lies, once it does.
    pub room: Option<Room>,
}

/// Where a table lies, and the room that it has there.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Its first byte.
    pub first: u64,
    /// Number of items that it has room for.
    pub items: usize,
    /// Number of items that were written there. What the device has behind them is unknown.
    pub written: usize,
    /// Its first dispatch among those of its pass, and their number. Some may have no workgroups.
    pub first_dispatch: usize,
    pub dispatches: usize,
}

impl<T> Group<T> {
    fn new(key: GroupKey) -> Self {
        Self {
            key,
            items: Vec::new(),
            firsts: Vec::new(),
            units: 0,
            free: BTreeMap::new(),
            live: 0,
            room: None,
        }
    }

    /// Splits its workgroups into rectangles within the limit of each dimension; none if all its
    /// items were removed.
    pub fn dispatches(&self, per_dimension: u32) -> Vec<Rectangle> {
        match self.live {
            0 => Vec::new(),
            _ => self.dispatches_of(self.units, per_dimension),
        }
    }

    /// The same if it had so many units.
    pub fn dispatches_of(&self, units: u32, per_dimension: u32) -> Vec<Rectangle> {
        let items = self.items.len() as u32;
        let workgroups = match self.key.shares_workgroups {
            true => units.div_ceil(WORKGROUP_SIZE),
            false => units,
        };
        let mut out = cut(workgroups, items, per_dimension);
        for rectangle in &mut out {
            rectangle.dispatch.items_per_unit = items as f32 / units as f32;
        }
        out
    }

    /// Takes the place of an item that was removed and had as many units.
    fn take_free(&mut self, units: u32) -> Option<usize> {
        let number = self.free.get_mut(&units)?.pop()?;
        self.live += 1;
        Some(number as usize)
    }

    fn units_of(&self, number: usize) -> u32 {
        self.firsts.get(number + 1).unwrap_or(&self.units) - self.firsts[number]
    }
}

/// The items of a pass. Until they are laid out, any number can be added. Later, one by one, as far
/// as there is room.
#[derive(Debug)]
pub struct Groups<T> {
    pub groups: Vec<Group<T>>,
    /// The newest group of each key.
    open: HashMap<GroupKey, usize>,
    /// The group of the item that was added last.
    last: Option<usize>,
    /// Items that changed since they were laid out.
    changed: Vec<ItemPlace>,
    /// Groups whose dispatches changed.
    resized: Vec<usize>,
    /// Whether an item found no room since they were laid out.
    pub is_full: bool,
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self {
            groups: Vec::new(),
            open: HashMap::new(),
            last: None,
            changed: Vec::new(),
            resized: Vec::new(),
            is_full: false,
        }
    }
}

impl<T> Groups<T> {
    /// Whether more items were removed than there are.
    pub fn is_sparse(&self) -> bool {
        let live = self.groups.iter().map(|group| group.live).sum();
        let all: usize = self.groups.iter().map(|group| group.items.len()).sum();
        is_sparse(all - live, live)
    }

    /// Takes the items that changed since they were laid out, and the groups whose dispatches did.
    pub fn take_changed(&mut self) -> (Vec<ItemPlace>, Vec<usize>) {
        let changed = std::mem::take(&mut self.changed);
        (changed, std::mem::take(&mut self.resized))
    }

    /// Puts groups of lower levels first.
    pub fn sort_by_level(&mut self) {
        self.groups.sort_by_key(|group| group.key.level);
    }

    /// An item that was added before, to change it.
    pub fn item_mut(&mut self, at: ItemPlace) -> &mut T {
        let group = &mut self.groups[at.group];
        if group.room.is_some() {
            self.changed.push(at);
        }
        &mut group.items[at.number]
    }

    /// Removes an item: `end` leaves it without results, and another item of as many units may take
    /// its place.
    pub fn remove(&mut self, at: ItemPlace, end: impl FnOnce(&mut T)) {
        end(self.item_mut(at));
        let group = &mut self.groups[at.group];
        let units = group.units_of(at.number);
        group.free.entry(units).or_default().push(at.number as u32);
        group.live -= 1;
        if group.live == 0 {
            self.resized.push(at.group);
        }
    }

    /// Adds an item with this number of invocations. `make` gets the number of its first workgroup,
    /// or of its first invocation if items share workgroups. Returns its place, or `None` if it has
    /// no invocations, or no room (`is_full`).
    pub fn push(
        &mut self,
        limits: &WorkLimits,
        key: GroupKey,
        invocations: u32,
        make: impl FnOnce(u32) -> T,
    ) -> Option<ItemPlace> {
        let units = match key.shares_workgroups {
            true => invocations,
            false => invocations.div_ceil(WORKGROUP_SIZE),
        };
        if units == 0 {
            return None;
        }
        // A table has to fit one binding.
        let max_items = (limits.binding_bytes as usize / size_of::<T>()).max(1);
        let fits = |units| units <= u32::MAX / 4;
        let has_room = |group: &Group<T>| match &group.room {
            None => group.items.len() < max_items && fits(group.units) && fits(units),
            // Never another table for one that is full.
            Some(_) => true,
        };
        // Items that are added one after the other often have the same key.
        let last = self.last.filter(|&index| self.groups[index].key == key);
        let index = match last.or_else(|| self.open.get(&key).copied()) {
            Some(index) if has_room(&self.groups[index]) => index,
            _ => {
                self.groups.push(Group::new(key));
                self.open.insert(key, self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        self.last = Some(index);
        let group = &mut self.groups[index];
        let was_empty = group.live == 0;
        if let Some(number) = group.take_free(units) {
            let at = ItemPlace {
                group: index,
                number,
            };
            group.items[number] = make(group.firsts[number]);
            self.changed.push(at);
            if was_empty {
                self.resized.push(index);
            }
            return Some(at);
        }
        let at = ItemPlace {
            group: index,
            number: group.items.len(),
        };
        if let Some(room) = &group.room {
            let all = group.units.saturating_add(units);
            let needed = group.dispatches_of(all, limits.workgroups).len();
            if group.items.len() >= room.items || needed > room.dispatches || !fits(all) {
                self.is_full = true;
                return None;
            }
            self.changed.push(at);
            self.resized.push(index);
        }
        group.items.push(make(group.units));
        group.firsts.push(group.units);
        group.units += units;
        group.live += 1;
        Some(at)
    }
}

/// A dispatch: the record that its kernel reads, and its workgroups in x and y.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rectangle {
    pub dispatch: Dispatch,
    pub width: u32,
    pub height: u32,
}

/// Splits the workgroups of `item_count` items into rectangles within the limit of each dimension.
pub fn cut(workgroups: u32, item_count: u32, per_dimension: u32) -> Vec<Rectangle> {
    let most = u64::from(per_dimension).pow(2);
    let per_dispatch = most.min(u64::from(u32::MAX)) as u32;
    let mut out = Vec::new();
    let mut first = 0;
    while first < workgroups {
        let count = (workgroups - first).min(per_dispatch);
        let height = count.div_ceil(per_dimension);
        let width = count.div_ceil(height);
        let dispatch = Dispatch {
            item_count,
            first_workgroup: first,
            end_workgroup: first + count,
            row_width: width,
            items_per_unit: 0.0,
            skips: 0,
        };
        out.push(Rectangle {
            dispatch,
            width,
            height,
        });
        first += count;
    }
    out
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const LIMITS: WorkLimits = WorkLimits {
        binding_bytes: 1 << 20,
        buffer_bytes: 1 << 20,
        output_bytes: 1 << 20,
        workgroups: 3,
        alignment: 256,
        active_lists: true,
    };

    #[test]
    fn dispatches_cover_every_workgroup_once() {
        for (workgroups, per_dimension) in [
            (1, 1),
            (7, 2),
            (9, 3),
            (10, 3),
            (65_536, 65_535),
            (1000, 65_535),
        ] {
            let mut group = Group::new(GroupKey::default());
            (group.items, group.units, group.live) = (vec![()], workgroups, 1);
            let mut next = 0;
            for Rectangle {
                dispatch,
                width,
                height,
            } in group.dispatches(per_dimension)
            {
                assert!(width <= per_dimension && height <= per_dimension);
                assert_eq!(
                    (dispatch.first_workgroup, dispatch.row_width),
                    (next, width)
                );
                assert!(width * height >= dispatch.end_workgroup - next);
                next = dispatch.end_workgroup;
            }
            assert_eq!(next, workgroups);
        }
    }

    #[test]
    fn small_items_lie_side_by_side() {
        let shared = GroupKey {
            shares_workgroups: true,
            ..GroupKey::default()
        };
        let mut groups: Groups<u32> = Groups::default();
        for (count, key) in [(1, shared), (65, GroupKey::default()), (30, shared)] {
            for _ in 0..10 {
                groups.push(&LIMITS, key, count, |first| first);
            }
        }
        let firsts: Vec<u32> = (0..10).chain((0..10).map(|i| 10 + 30 * i)).collect();
        let [small, large] = &groups.groups[..] else {
            panic!("{} groups", groups.groups.len());
        };
        assert_eq!(small.items, firsts);
        assert_eq!(small.units, 310);
        assert_eq!(large.items[9], 18);
        assert_eq!(large.units, 20);
        let cuts = small.dispatches(3);
        assert!(
            cuts.iter()
                .all(|r| r.dispatch.items_per_unit == 20.0 / 310.0)
        );
    }

    #[test]
    fn a_neighbour_changes_no_items_pipeline() {
        let of = |bits| GroupKey {
            variant: Variant {
                bits,
                ..Variant::default()
            },
            ..GroupKey::default()
        };
        let mut groups: Groups<usize> = Groups::default();
        for number in 0..9 {
            groups.push(&LIMITS, of(number % 3), 64, |_| number);
        }
        assert_eq!(groups.groups.len(), 3);
        for group in &groups.groups {
            let bits = group.key.variant.bits;
            assert!(group.items.iter().all(|number| number % 3 == bits));
        }
    }

    #[test]
    fn a_table_that_fills_a_binding_is_followed_by_another() {
        let limits = WorkLimits {
            binding_bytes: 40,
            ..LIMITS
        };
        let mut groups: Groups<u32> = Groups::default();
        let places: Vec<_> = (0..25)
            .map(|_| groups.push(&limits, GroupKey::default(), 1, |first| first))
            .collect();
        let counts: Vec<usize> = groups.groups.iter().map(|g| g.items.len()).collect();
        assert_eq!(counts, [10, 10, 5]);
        let (group, number) = (2, 4);
        assert_eq!(places[24], Some(ItemPlace { group, number }));
        assert_eq!(groups.groups[2].items, [0, 1, 2, 3, 4]);
        assert_eq!(groups.push(&limits, GroupKey::default(), 0, |n| n), None);
    }
}
