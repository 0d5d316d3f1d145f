//! Item tables of a frame, and the dispatches that cover them.

use std::collections::HashMap;

use super::skinner::Limits;
use crate::kernel::registry::skin_bits::SHARED_WORKGROUPS;
use crate::kernel::{Dispatch, WORKGROUP_SIZE};

/// Pages that one dispatch binds: skin or shapes, pose (unused by made normals), output set (unused by
/// weights).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pages {
    pub skin: usize,
    pub pose: usize,
    pub out: usize,
}

/// Items of one item table, which share their pages.
#[derive(Debug)]
pub(super) struct Group<T> {
    pub pages: Pages,
    pub items: Vec<T>,
    /// Workgroups, or invocations where items share workgroups.
    pub units: u32,
    /// Bits of the kernel's overrides that some item needs.
    pub variant: usize,
}

impl<T> Group<T> {
    fn shares(&self) -> bool {
        self.variant & SHARED_WORKGROUPS > 0
    }

    pub fn workgroups(&self) -> u32 {
        match self.shares() {
            true => self.units.div_ceil(WORKGROUP_SIZE),
            false => self.units,
        }
    }
}

/// Item tables being filled.
#[derive(Debug)]
pub(super) struct Groups<T> {
    pub all: Vec<Group<T>>,
    /// By pages, and whether items share workgroups.
    open: HashMap<(Pages, bool), usize>,
    /// The group of the item before.
    last: Option<usize>,
    max_items: usize,
}

impl<T> Groups<T> {
    /// Tables that fit a binding.
    pub fn new(limits: &Limits) -> Self {
        let max_items = (limits.binding_bytes as usize / size_of::<T>()).max(1);
        Self {
            all: Vec::new(),
            open: HashMap::new(),
            last: None,
            max_items,
        }
    }

    /// Of each group.
    pub fn workgroups(&self) -> Vec<u32> {
        self.all.iter().map(Group::workgroups).collect()
    }

    /// Adds an item of so many invocations; `make` gets the number of its first workgroup, or invocation where `variant`
    /// has [`SHARED_WORKGROUPS`]. Its group and number, unless there is nothing to do.
    pub fn push(
        &mut self,
        pages: Pages,
        invocations: u32,
        variant: usize,
        make: impl FnOnce(u32) -> T,
    ) -> Option<(usize, usize)> {
        let shares = variant & SHARED_WORKGROUPS > 0;
        let units = match shares {
            true => invocations,
            false => invocations.div_ceil(WORKGROUP_SIZE),
        };
        if units == 0 {
            return None;
        }
        let has_room = |group: &Group<T>| {
            group.items.len() < self.max_items
                && group.units <= u32::MAX / 4
                && units <= u32::MAX / 4
        };
        // Neighbours mostly share their pages.
        let fits = |group: &Group<T>| group.pages == pages && group.shares() == shares;
        let last = self.last.filter(|&index| fits(&self.all[index]));
        let index = match last.or_else(|| self.open.get(&(pages, shares)).copied()) {
            Some(index) if has_room(&self.all[index]) => index,
            _ => {
                self.all.push(Group {
                    pages,
                    items: Vec::new(),
                    units: 0,
                    variant: 0,
                });
                self.open.insert((pages, shares), self.all.len() - 1);
                self.all.len() - 1
            }
        };
        self.last = Some(index);
        let group = &mut self.all[index];
        group.items.push(make(group.units));
        group.units += units;
        group.variant |= variant;
        Some((index, group.items.len() - 1))
    }
}

/// Cuts a group's workgroups into rectangles that no dimension's limit stops.
pub(super) fn dispatches<T>(group: &Group<T>, per_dimension: u32) -> Vec<(Dispatch, u32, u32)> {
    let items = group.items.len() as u32;
    let mut out = cut(group.workgroups(), items, per_dimension);
    for (dispatch, ..) in &mut out {
        dispatch.items_per_unit = items as f32 / group.units as f32;
    }
    out
}

/// The same for any workgroups of `item_count` items.
pub(super) fn cut(
    workgroups: u32,
    item_count: u32,
    per_dimension: u32,
) -> Vec<(Dispatch, u32, u32)> {
    let per_dispatch = u64::from(per_dimension).pow(2).min(u64::from(u32::MAX)) as u32;
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
        out.push((dispatch, width, height));
        first += count;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let pages = Pages {
                skin: 0,
                pose: 0,
                out: 0,
            };
            let group = Group {
                pages,
                items: vec![()],
                units: workgroups,
                variant: 0,
            };
            let mut next = 0;
            for (dispatch, width, height) in dispatches(&group, per_dimension) {
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
        let pages = Pages {
            skin: 0,
            pose: 0,
            out: 0,
        };
        let limits = Limits {
            binding_bytes: 1 << 20,
            buffer_bytes: 1 << 20,
            output_bytes: 1 << 20,
            workgroups: 3,
            alignment: 256,
            active_lists: true,
        };
        let mut groups: Groups<u32> = Groups::new(&limits);
        for (count, variant) in [(1, SHARED_WORKGROUPS), (65, 0), (30, SHARED_WORKGROUPS | 1)] {
            for _ in 0..10 {
                groups.push(pages, count, variant, |first| first);
            }
        }
        let firsts: Vec<u32> = (0..10).chain((0..10).map(|i| 10 + 30 * i)).collect();
        assert_eq!(groups.all[0].items, firsts);
        assert_eq!(groups.all[0].workgroups(), 310u32.div_ceil(64));
        assert_eq!(groups.all[0].variant, SHARED_WORKGROUPS | 1);
        assert_eq!(groups.all[1].items[9], 18);
        assert_eq!(groups.workgroups(), [5, 20]);
        let cuts = dispatches(&groups.all[0], 3);
        assert!(cuts.iter().all(|(d, ..)| d.items_per_unit == 20.0 / 310.0));
    }
}
