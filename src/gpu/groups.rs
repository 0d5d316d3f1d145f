//! Item tables of a frame, and the dispatches that cover them.

use std::collections::HashMap;

use super::skinner::Limits;
use crate::kernel::{Dispatch, UNIFORM_BYTES, WORKGROUP_SIZE};

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
    pub workgroups: u32,
    /// Bits of the kernel's overrides that some item needs.
    pub variant: usize,
}

/// Item tables being filled.
#[derive(Debug)]
pub(super) struct Groups<T> {
    pub all: Vec<Group<T>>,
    open: HashMap<Pages, usize>,
    /// The group of the item before.
    last: Option<usize>,
    max_items: usize,
}

impl<T> Groups<T> {
    /// Tables that fit a binding, or a uniform.
    pub fn new(limits: &Limits, in_uniforms: bool) -> Self {
        let bytes = match in_uniforms {
            true => UNIFORM_BYTES,
            false => limits.binding_bytes,
        };
        let max_items = (bytes as usize / size_of::<T>()).max(1);
        Self {
            all: Vec::new(),
            open: HashMap::new(),
            last: None,
            max_items,
        }
    }

    /// Of each group.
    pub fn workgroups(&self) -> Vec<u32> {
        self.all.iter().map(|group| group.workgroups).collect()
    }

    /// Adds an item of so many invocations; `make` gets the number of its first workgroup. Its group and number,
    /// unless there is nothing to do.
    pub fn push(
        &mut self,
        pages: Pages,
        invocations: u32,
        variant: usize,
        make: impl FnOnce(u32) -> T,
    ) -> Option<(usize, usize)> {
        let workgroups = invocations.div_ceil(WORKGROUP_SIZE);
        if workgroups == 0 {
            return None;
        }
        let has_room = |group: &Group<T>| {
            group.items.len() < self.max_items
                && group.workgroups <= u32::MAX / 4
                && workgroups <= u32::MAX / 4
        };
        // Neighbours mostly share their pages.
        let last = self.last.filter(|&index| self.all[index].pages == pages);
        let index = match last.or_else(|| self.open.get(&pages).copied()) {
            Some(index) if has_room(&self.all[index]) => index,
            _ => {
                self.all.push(Group {
                    pages,
                    items: Vec::new(),
                    workgroups: 0,
                    variant: 0,
                });
                self.open.insert(pages, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        self.last = Some(index);
        let group = &mut self.all[index];
        group.items.push(make(group.workgroups));
        group.workgroups += workgroups;
        group.variant |= variant;
        Some((index, group.items.len() - 1))
    }
}

/// Cuts a group's workgroups into rectangles that no dimension's limit stops.
pub(super) fn dispatches<T>(group: &Group<T>, per_dimension: u32) -> Vec<(Dispatch, u32, u32)> {
    cut(group.workgroups, group.items.len() as u32, per_dimension)
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
                workgroups,
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
}
