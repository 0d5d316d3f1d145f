//! The item tables and dispatch records of a frame, laid out in one buffer.

use super::groups::{GroupKey, Groups, ItemPlace, Rectangle, cut};
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::memory::dirty_ranges::Mirrored;
use crate::kernel::WORKGROUP_SIZE;

/// A range of bytes in the buffer of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    pub first: u64,
    pub count: u64,
}

/// The words of all tables.
#[derive(Debug, Default)]
pub struct ItemTables {
    words: Mirrored<u32>,
}

/// Tables while they are laid out.
#[derive(Debug)]
pub struct Layout<'a> {
    limits: &'a WorkLimits,
    words: Vec<u32>,
}

/// One dispatch, and where its data lies.
#[derive(Clone, Copy, Debug)]
pub struct Laid {
    pub key: GroupKey,
    /// Its dispatch record.
    pub dispatch: Bytes,
    /// Its item table, if the kernel reads one.
    pub items: Option<Bytes>,
    /// Workgroups in x and y.
    pub size: (u32, u32),
}

/// The byte where the items of each group of a pass begin, to change single items later.
#[derive(Debug, Default)]
pub struct ItemsAt(Vec<u64>);

impl<'a> Layout<'a> {
    pub fn new(limits: &'a WorkLimits) -> Self {
        Self {
            limits,
            words: Vec::new(),
        }
    }

    /// Adds the items of a pass, which are whole words, and their dispatches. Frees the items.
    pub fn lay<T: bytemuck::NoUninit>(&mut self, groups: &mut Groups<T>) -> (Vec<Laid>, ItemsAt) {
        let mut out = Vec::new();
        let mut at = Vec::with_capacity(groups.all().len());
        for group in groups.all() {
            let items = self.put(bytemuck::cast_slice(&group.items));
            at.push(items.first);
            for rectangle in group.dispatches(self.limits.workgroups) {
                out.push(self.lay_dispatch(group.key, Some(items), rectangle));
            }
        }
        groups.free_items();
        (out, ItemsAt(at))
    }

    /// Adds the dispatches of a kernel without items.
    pub fn lay_invocations(&mut self, invocations: u32) -> Vec<Laid> {
        let workgroups = invocations.div_ceil(WORKGROUP_SIZE);
        let rectangles = cut(workgroups, invocations, self.limits.workgroups);
        let lay = |rectangle| self.lay_dispatch(GroupKey::default(), None, rectangle);
        rectangles.into_iter().map(lay).collect()
    }

    /// The finished tables, with everything marked for upload.
    pub fn finish(self) -> ItemTables {
        ItemTables {
            words: self.words.into(),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Bytes {
        let alignment = self.limits.alignment as usize / 4;
        let aligned = self.words.len().next_multiple_of(alignment);
        self.words.resize(aligned + bytes.len() / 4, 0);
        bytemuck::cast_slice_mut(&mut self.words[aligned..]).copy_from_slice(bytes);
        Bytes {
            first: aligned as u64 * 4,
            count: bytes.len() as u64,
        }
    }

    fn lay_dispatch(&mut self, key: GroupKey, items: Option<Bytes>, rectangle: Rectangle) -> Laid {
        Laid {
            key,
            dispatch: self.put(bytemuck::bytes_of(&rectangle.dispatch)),
            items,
            size: (rectangle.width, rectangle.height),
        }
    }
}

impl ItemTables {
    /// The words, with marks for those that still have to be uploaded.
    pub fn words(&self) -> &Mirrored<u32> {
        &self.words
    }

    pub fn words_mut(&mut self) -> &mut Mirrored<u32> {
        &mut self.words
    }

    /// Overwrites the value of type `U` that lies `offset` bytes into an item of type `T`.
    pub fn patch<T, U: bytemuck::Pod + PartialEq>(
        &mut self,
        items: &ItemsAt,
        at: ItemPlace,
        offset: usize,
        change: impl FnOnce(&mut U),
    ) {
        let first = items.0[at.group] as usize + at.number * size_of::<T>() + offset;
        self.words.patch(first / 4, change);
    }
}

#[cfg(test)]
mod tests {
    use super::super::groups::tests::LIMITS;
    use super::*;

    #[test]
    fn tables_are_aligned_and_items_are_found_again() {
        let mut groups: Groups<[u32; 3]> = Groups::default();
        let key = |skin_page| GroupKey {
            skin_page,
            ..GroupKey::default()
        };
        let mut last = None;
        for number in 0..5 {
            let make = |first| [number, first, 7];
            last = groups.push(&LIMITS, key(number as usize % 2), 64, make);
        }
        let mut layout = Layout::new(&LIMITS);
        let boxes = layout.lay_invocations(65);
        let (laid, at) = layout.lay(&mut groups);
        let mut tables = layout.finish();
        assert!(groups.all().iter().all(|group| group.items.is_empty()));
        assert_eq!((boxes.len(), laid.len()), (1, 2));
        assert_eq!((boxes[0].items, boxes[0].size), (None, (2, 1)));
        let bytes = |b: Bytes| b.first as usize / 4..(b.first + b.count) as usize / 4;
        for laid in boxes.iter().chain(&laid) {
            assert!(laid.dispatch.first.is_multiple_of(LIMITS.alignment));
            let record = &tables.words().values()[bytes(laid.dispatch)];
            assert_eq!(record[3], laid.size.0, "the width of a row");
        }
        let items = laid[0].items.expect("items");
        let words = |tables: &ItemTables| tables.words().values()[bytes(items)].to_vec();
        assert_eq!(words(&tables), [0, 0, 7, 2, 1, 7, 4, 2, 7]);
        tables.words_mut().set_uploaded();
        let last = last.expect("an item");
        tables.patch::<[u32; 3], u32>(&at, last, 8, |word| *word = 9);
        assert_eq!(words(&tables), [0, 0, 7, 2, 1, 7, 4, 2, 9]);
        let changed: Vec<_> = tables.words().changes(0).collect();
        assert_eq!(changed[0].0, items.first + 8 * 4);
        assert_eq!(changed.len(), 1);
    }
}
