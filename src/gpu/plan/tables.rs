//! The item tables and dispatch records of a frame, laid out in one buffer.

use std::borrow::Cow;

use super::groups::{Group, GroupKey, Groups, ItemPlace, Owner, Rectangle, cut, per_dispatch};
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::memory::dirty_ranges::Mirrored;
use crate::kernel::registry::ELEMENTS_PER_BLOCK;
use crate::kernel::{CompactTable, NONE, WORKGROUP_SIZE};

/// A range of bytes in the buffer of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    pub first: u64,
    pub count: u64,
}

/// Binds a range of bytes of a buffer.
pub fn part(buffer: &wgpu::Buffer, bytes: Bytes) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer,
        offset: bytes.first,
        size: wgpu::BufferSize::new(bytes.count),
    })
}

/// The words of all tables.
#[derive(Debug, Default)]
pub struct ItemTables {
    words: Mirrored<u32>,
}

/// The words of an item that the kernel `compact` changes. Words of an item are counted from its
/// first.
#[derive(Clone, Copy, Debug)]
pub struct ItemShape {
    /// The word with the flags: of an item, or of a pose if items have poses; [`NONE`] without.
    pub flags: usize,
    /// The poses of an item, if it has any.
    pub poses: Option<PoseWords>,
}

/// The poses of an item, in words.
#[derive(Clone, Copy, Debug)]
pub struct PoseWords {
    /// The word of the item with the number of poses.
    pub count: usize,
    /// First word of the first pose.
    pub first: usize,
    /// Words of a pose.
    pub each: usize,
}

impl ItemShape {
    /// Items without flags and without poses.
    pub const PLAIN: Self = Self {
        flags: NONE as usize,
        poses: None,
    };

    /// Items with flags at this byte.
    pub const fn flags_at(byte: usize) -> Self {
        Self {
            flags: byte / 4,
            poses: None,
        }
    }
}

/// A table whose items have owners, so that a frame can leave some out.
#[derive(Clone, Copy, Debug)]
pub struct OwnedTable {
    pub items: Bytes,
    /// A word per element.
    pub owners: Bytes,
    pub element_count: u32,
    /// Its record, without the places of its sums and launches.
    pub record: CompactTable,
    /// Number of its first launch.
    pub first_launch: u32,
}

/// Tables while they are laid out.
#[derive(Debug)]
pub struct Layout<'a> {
    limits: &'a WorkLimits,
    words: Vec<u32>,
    /// The tables whose items have owners; `None` if frames need all items.
    owned: Option<Vec<OwnedTable>>,
    launch_count: u32,
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
    /// If a frame may leave out some of its items, the number of the launch that the kernel
    /// `compact` writes.
    pub launch: Option<u32>,
}

/// The byte where the items of each group of a pass begin, to change single items later.
#[derive(Debug, Default)]
pub struct ItemsAt(Vec<u64>);

impl<'a> Layout<'a> {
    /// `leaves_out`: whether frames leave out items, according to their owners.
    pub fn new(limits: &'a WorkLimits, leaves_out: bool) -> Self {
        Self {
            limits,
            words: Vec::new(),
            owned: leaves_out.then(Vec::new),
            launch_count: 0,
        }
    }

    /// Adds the items of a pass, which are whole words and have no flags, and their dispatches.
    /// Frees the items.
    pub fn lay<T: bytemuck::NoUninit>(&mut self, groups: &mut Groups<T>) -> (Vec<Laid>, ItemsAt) {
        self.lay_shaped(groups, ItemShape::PLAIN)
    }

    /// Adds the items of a pass, which are whole words and begin with the number of their first
    /// unit, and their dispatches. Frees the items.
    pub fn lay_shaped<T: bytemuck::NoUninit>(
        &mut self,
        groups: &mut Groups<T>,
        shape: ItemShape,
    ) -> (Vec<Laid>, ItemsAt) {
        let mut out = Vec::new();
        let mut at = Vec::with_capacity(groups.all().len());
        for group in groups.all() {
            let items = self.put(bytemuck::cast_slice(&group.items));
            at.push(items.first);
            let first = out.len();
            for rectangle in group.dispatches(self.limits.workgroups) {
                out.push(self.lay_dispatch(group.key, Some(items), rectangle));
            }
            self.lay_owners(group, items, shape, &mut out[first..]);
        }
        groups.free_items();
        (out, ItemsAt(at))
    }

    /// Adds the owners of a table, and numbers its launches.
    fn lay_owners<T>(
        &mut self,
        group: &Group<T>,
        items: Bytes,
        shape: ItemShape,
        laid: &mut [Laid],
    ) {
        if self.owned.is_none() || group.owners.is_empty() {
            return;
        }
        let each = group.owners.len() / group.items.len();
        let nobody = Owner::NOBODY.word();
        let one_each = |item: &[u32]| item[1..].iter().all(|owner| *owner == nobody);
        let (shape, owners) = match shape.poses {
            // Items of a single pose have nothing to share.
            Some(poses) if group.owners.chunks(each).all(one_each) => {
                let shape = ItemShape {
                    flags: poses.first + shape.flags,
                    poses: None,
                };
                let first = group.owners.iter().step_by(each).copied();
                (shape, Cow::Owned(first.collect()))
            }
            _ => (shape, Cow::Borrowed(&group.owners[..])),
        };
        let element_count = owners.len() as u32;
        let owners = self.put(bytemuck::cast_slice(&owners));
        let first_launch = self.launch_count;
        for laid in &mut *laid {
            laid.launch = Some(self.launch_count);
            self.launch_count += 1;
        }
        let poses = shape.poses.unwrap_or(PoseWords {
            count: NONE as usize,
            first: NONE as usize,
            each: 1,
        });
        let record = CompactTable {
            elements_per_item: element_count / group.items.len() as u32,
            item_words: (size_of::<T>() / 4) as u32,
            flags_word: shape.flags as u32,
            pose_count_word: poses.count as u32,
            poses_word: poses.first as u32,
            pose_words: poses.each as u32,
            unit_count: group.units(),
            units_per_workgroup: match group.key.shares_workgroups {
                true => WORKGROUP_SIZE,
                false => 1,
            },
            block_count: element_count.div_ceil(ELEMENTS_PER_BLOCK),
            launch_count: laid.len() as u32,
            per_dimension: self.limits.workgroups,
            per_dispatch: per_dispatch(self.limits.workgroups),
            ..CompactTable::default()
        };
        self.owned.iter_mut().for_each(|owned| {
            owned.push(OwnedTable {
                items,
                owners,
                element_count,
                record,
                first_launch,
            });
        });
    }

    /// The tables whose items have owners, and the number of their launches. Empty if frames need
    /// all items.
    pub fn take_owned(&mut self) -> (Vec<OwnedTable>, u32) {
        (self.owned.take().unwrap_or_default(), self.launch_count)
    }

    /// Adds one record as the only item of the dispatches of some workgroups over `item_count`
    /// things.
    pub fn lay_record<T: bytemuck::NoUninit>(
        &mut self,
        key: GroupKey,
        record: &T,
        workgroups: u32,
        item_count: u32,
    ) -> Vec<Laid> {
        let items = self.put(bytemuck::bytes_of(record));
        let rectangles = cut(workgroups, item_count, self.limits.workgroups);
        let lay = |rectangle| self.lay_dispatch(key, Some(items), rectangle);
        rectangles.into_iter().map(lay).collect()
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
            launch: None,
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
        let mut layout = Layout::new(&LIMITS, false);
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
