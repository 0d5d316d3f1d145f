//! Groups of a pass's items, one per dispatch, and the dispatches that cover them.

use std::collections::HashMap;

use crate::gpu::device::limits::WorkLimits;
use crate::gpu::device::pipelines::Variant;
use crate::kernel::registry::{BEGINS, OWNER_MASK, SETTLES};
use crate::kernel::{Dispatch, NONE, WORKGROUP_SIZE};

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
    /// Number of the table that a dispatch of the kernel `compact` works on.
    pub table: usize,
}

/// The group of an item, and its index in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemPlace {
    pub group: usize,
    /// Index of the item in its group.
    pub number: usize,
}

/// What decides whether a frame needs an element: an item, or a pose of an item of
/// `multi_pose_lbs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// Of an element that no frame needs.
    pub const NOBODY: Self = Self(NONE);

    /// Of an element that every frame needs.
    pub const EVERYBODY: Self = Self(OWNER_MASK);

    /// The action with this index: an instance index, or one behind those, of a rig.
    pub fn action(index: u32) -> Self {
        Self(index)
    }

    /// Whether the element also has work if the instance keeps its results.
    pub fn settling(self, settles: bool) -> Self {
        Self(self.0 | if settles { SETTLES } else { 0 })
    }

    /// Whether the element is the first of a run, whose poses may share items.
    pub fn beginning(self, begins: bool) -> Self {
        Self(self.0 | if begins { BEGINS } else { 0 })
    }

    /// As the kernel `compact` reads it.
    pub fn word(self) -> u32 {
        self.0
    }
}

/// The items of one table.
#[derive(Debug)]
pub struct Group<T> {
    pub key: GroupKey,
    pub items: Vec<T>,
    /// The owners of their elements, the same number for every item; none if frames need all items.
    pub owners: Vec<u32>,
    /// Number of workgroups, or of invocations if items share workgroups.
    units: u32,
}

impl<T> Group<T> {
    fn workgroups(&self) -> u32 {
        match self.key.shares_workgroups {
            true => self.units.div_ceil(WORKGROUP_SIZE),
            false => self.units,
        }
    }

    /// Number of workgroups, or of invocations if items share workgroups.
    pub fn units(&self) -> u32 {
        self.units
    }

    /// Splits its workgroups into rectangles within the limit of each dimension.
    pub fn dispatches(&self, per_dimension: u32) -> Vec<Rectangle> {
        let items = self.items.len() as u32;
        let mut out = cut(self.workgroups(), items, per_dimension);
        for rectangle in &mut out {
            rectangle.dispatch.items_per_unit = items as f32 / self.units as f32;
        }
        out
    }
}

/// The items of a pass.
#[derive(Debug)]
pub struct Groups<T> {
    groups: Vec<Group<T>>,
    /// The newest group of each key.
    open: HashMap<GroupKey, usize>,
    /// The group of the item that was added last.
    last: Option<usize>,
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self {
            groups: Vec::new(),
            open: HashMap::new(),
            last: None,
        }
    }
}

impl<T> Groups<T> {
    pub fn all(&self) -> &[Group<T>] {
        &self.groups
    }

    /// Frees the items, after they were copied to the tables.
    pub fn free_items(&mut self) {
        for group in &mut self.groups {
            (group.items, group.owners) = (Vec::new(), Vec::new());
        }
    }

    /// Puts groups of lower levels first.
    pub fn sort_by_level(&mut self) {
        self.groups.sort_by_key(|group| group.key.level);
    }

    /// An item that was added before.
    pub fn item_mut(&mut self, at: ItemPlace) -> &mut T {
        &mut self.groups[at.group].items[at.number]
    }

    /// The owner of an element of an item that was added with owners.
    pub fn set_owner(&mut self, at: ItemPlace, element: usize, owner: Owner) {
        let group = &mut self.groups[at.group];
        let each = group.owners.len() / group.items.len();
        group.owners[at.number * each + element] = owner.word();
    }

    /// Adds an item that every frame needs; otherwise the same as [`Groups::push_owned`].
    pub fn push(
        &mut self,
        limits: &WorkLimits,
        key: GroupKey,
        invocations: u32,
        make: impl FnOnce(u32) -> T,
    ) -> Option<ItemPlace> {
        self.push_owned(limits, key, invocations, &[], make)
    }

    /// Adds an item with this number of invocations, and the owners of its elements. All items of a
    /// pass have the same number of elements. `make` gets the number of its first workgroup,
    /// or of its first invocation if items share workgroups. Returns its place, or `None` if it has
    /// no invocations.
    pub fn push_owned(
        &mut self,
        limits: &WorkLimits,
        key: GroupKey,
        invocations: u32,
        owners: &[Owner],
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
        let has_room = |group: &Group<T>| {
            group.items.len() < max_items && group.units <= u32::MAX / 4 && units <= u32::MAX / 4
        };
        // Items that are added one after the other often have the same key.
        let last = self.last.filter(|&index| self.groups[index].key == key);
        let index = match last.or_else(|| self.open.get(&key).copied()) {
            Some(index) if has_room(&self.groups[index]) => index,
            _ => {
                self.groups.push(Group {
                    key,
                    items: Vec::new(),
                    owners: Vec::new(),
                    units: 0,
                });
                self.open.insert(key, self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        self.last = Some(index);
        let group = &mut self.groups[index];
        group.items.push(make(group.units));
        group.owners.extend(owners.iter().map(|owner| owner.word()));
        group.units += units;
        Some(ItemPlace {
            group: index,
            number: group.items.len() - 1,
        })
    }
}

/// A dispatch: the record that its kernel reads, and its workgroups in x and y.
#[derive(Clone, Copy, Debug)]
pub struct Rectangle {
    pub dispatch: Dispatch,
    pub width: u32,
    pub height: u32,
}

/// Most workgroups of a dispatch.
pub fn per_dispatch(per_dimension: u32) -> u32 {
    u64::from(per_dimension).pow(2).min(u64::from(u32::MAX)) as u32
}

/// Splits the workgroups of `item_count` items into rectangles within the limit of each dimension.
pub fn cut(workgroups: u32, item_count: u32, per_dimension: u32) -> Vec<Rectangle> {
    let per_dispatch = per_dispatch(per_dimension);
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
            let group = Group {
                key: GroupKey::default(),
                items: vec![()],
                owners: Vec::new(),
                units: workgroups,
            };
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
        let [small, large] = groups.all() else {
            panic!("{} groups", groups.all().len());
        };
        assert_eq!(small.items, firsts);
        assert_eq!(small.workgroups(), 310u32.div_ceil(64));
        assert_eq!(large.items[9], 18);
        assert_eq!(large.workgroups(), 20);
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
        assert_eq!(groups.all().len(), 3);
        for group in groups.all() {
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
        let counts: Vec<usize> = groups.all().iter().map(|g| g.items.len()).collect();
        assert_eq!(counts, [10, 10, 5]);
        let (group, number) = (2, 4);
        assert_eq!(places[24], Some(ItemPlace { group, number }));
        assert_eq!(groups.all()[2].items, [0, 1, 2, 3, 4]);
        assert_eq!(groups.push(&limits, GroupKey::default(), 0, |n| n), None);
    }
}
