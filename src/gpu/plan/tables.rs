//! The item tables and dispatch records of a frame, laid out in one buffer.

use super::groups::{Group, GroupKey, Groups, Rectangle, Room, cut};
use super::ranges::spare;
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::memory::dirty_ranges::Mirrored;
use crate::kernel::{Dispatch, WORKGROUP_SIZE};

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

/// Least number of items that a table has room for beside those of the plan.
const SPARE_ITEMS: u32 = 32;

/// Lays out tables: all of a plan, or those that an edit adds.
#[derive(Debug)]
pub struct Layout<'a> {
    limits: &'a WorkLimits,
    /// The words of all tables.
    words: &'a mut Mirrored<u32>,
    /// Whether frames skip instances ([`Dispatch::skips`]).
    skips: bool,
    /// Whether tables have room for items that edits add.
    pub has_spare: bool,
}

/// One dispatch, and where its data lies.
#[derive(Clone, Copy, Debug)]
pub struct PlacedDispatch {
    pub key: GroupKey,
    /// Its dispatch record.
    pub record: Bytes,
    /// Its item table, if the kernel reads one.
    pub items: Option<Bytes>,
    /// Workgroups in x and y.
    pub size: (u32, u32),
}

impl PlacedDispatch {
    /// Whether it has workgroups.
    pub fn has_work(&self) -> bool {
        self.size.0 > 0
    }
}

impl<'a> Layout<'a> {
    /// `skips`: whether frames skip instances.
    pub fn new(limits: &'a WorkLimits, words: &'a mut Mirrored<u32>, skips: bool) -> Self {
        Self {
            limits,
            words,
            skips,
            has_spare: true,
        }
    }

    /// Adds the items of a pass, which are whole words and begin with the number of their first
    /// unit, and their dispatches.
    pub fn lay<T: bytemuck::NoUninit>(&mut self, groups: &mut Groups<T>) -> Vec<PlacedDispatch> {
        let mut out = Vec::new();
        for group in &mut groups.groups {
            self.lay_group(group, &mut out);
        }
        out
    }

    fn lay_group<T: bytemuck::NoUninit>(
        &mut self,
        group: &mut Group<T>,
        out: &mut Vec<PlacedDispatch>,
    ) {
        let (count, units) = (group.items.len() as u32, group.units);
        let (mut more, mut more_units) = (0, 0);
        if self.has_spare {
            let most = (self.limits.binding_bytes / size_of::<T>() as u64).max(1);
            more = spare(count, 1, SPARE_ITEMS).min((most as u32).saturating_sub(count));
            more_units = (u64::from(units) * u64::from(more)).div_ceil(u64::from(count)) as u32;
        }
        let room = (count + more) as usize * size_of::<T>();
        let items = self.put(bytemuck::cast_slice(&group.items), room);
        let first = out.len();
        let per_dimension = self.limits.workgroups;
        let now = group.dispatches(per_dimension);
        let later = group.dispatches_of(units.saturating_add(more_units), per_dimension);
        for number in 0..now.len().max(later.len()) {
            let rectangle = now.get(number).copied().unwrap_or_default();
            out.push(self.lay_dispatch(group.key, Some(items), rectangle));
        }
        group.room = Some(Room {
            first: items.first,
            items: (count + more) as usize,
            written: group.items.len(),
            first_dispatch: first,
            dispatches: out.len() - first,
        });
    }

    /// Brings tables up to date with items that were added, removed or changed since they were laid
    /// out. Returns whether there was room.
    pub fn update<T: bytemuck::NoUninit>(
        &mut self,
        groups: &mut Groups<T>,
        dispatches: &mut Vec<PlacedDispatch>,
    ) -> bool {
        let (changed, mut resized) = groups.take_changed();
        if groups.is_full || groups.is_sparse() {
            return false;
        }
        for group in groups.groups.iter_mut().filter(|g| g.room.is_none()) {
            self.lay_group(group, dispatches);
        }
        for at in changed {
            let group = &mut groups.groups[at.group];
            let Some(room) = &mut group.room else {
                continue;
            };
            let item = std::slice::from_ref(&group.items[at.number]);
            let words = bytemuck::cast_slice(item);
            let first = (room.first as usize + at.number * size_of::<T>()) / 4;
            if at.number < room.written {
                self.words.write_changed(first, words);
            } else {
                // The buffer may have something of an older plan there.
                self.words.restore(first as u32, words);
                room.written = at.number + 1;
            }
        }
        resized.sort_unstable();
        resized.dedup();
        for number in resized {
            let group = &groups.groups[number];
            let Some(room) = group.room else {
                continue;
            };
            let now = group.dispatches(self.limits.workgroups);
            let all = &mut dispatches[room.first_dispatch..][..room.dispatches];
            for (number, placed) in all.iter_mut().enumerate() {
                let rectangle = now.get(number).copied().unwrap_or_default();
                placed.size = (rectangle.width, rectangle.height);
                let dispatch = self.record(rectangle);
                let words: &[u32] = bytemuck::cast_slice(bytemuck::bytes_of(&dispatch));
                let first = placed.record.first as usize / 4;
                self.words.write_changed(first, words);
            }
        }
        self.words.bytes() <= self.limits.buffer_bytes
    }

    /// Adds the dispatches of a kernel without items.
    pub fn lay_invocations(&mut self, invocations: u32) -> Vec<PlacedDispatch> {
        let workgroups = invocations.div_ceil(WORKGROUP_SIZE);
        let rectangles = cut(workgroups, invocations, self.limits.workgroups);
        let lay = |rectangle| self.lay_dispatch(GroupKey::default(), None, rectangle);
        rectangles.into_iter().map(lay).collect()
    }

    /// Adds bytes, with room for some more behind them.
    fn put(&mut self, bytes: &[u8], room: usize) -> Bytes {
        let words = &mut *self.words;
        let first = words
            .len()
            .next_multiple_of(self.limits.alignment as usize / 4);
        words.grow(first + room / 4);
        words.restore(first as u32, bytemuck::cast_slice(bytes));
        Bytes {
            first: first as u64 * 4,
            count: room as u64,
        }
    }

    /// The record of a dispatch.
    fn record(&self, rectangle: Rectangle) -> Dispatch {
        Dispatch {
            skips: u32::from(self.skips),
            ..rectangle.dispatch
        }
    }

    fn lay_dispatch(
        &mut self,
        key: GroupKey,
        items: Option<Bytes>,
        rectangle: Rectangle,
    ) -> PlacedDispatch {
        let record = self.record(rectangle);
        PlacedDispatch {
            key,
            record: self.put(bytemuck::bytes_of(&record), size_of::<Dispatch>()),
            items,
            size: (rectangle.width, rectangle.height),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::groups::ItemPlace;
    use super::super::groups::tests::LIMITS;
    use super::*;
    use crate::kernel::SkinItem;

    #[test]
    fn tables_are_aligned_and_items_are_found_again() {
        const LIMITS: WorkLimits = WorkLimits {
            workgroups: 100,
            ..super::super::groups::tests::LIMITS
        };
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
        let mut tables = Mirrored::default();
        let mut layout = Layout::new(&LIMITS, &mut tables, false);
        let boxes = layout.lay_invocations(65);
        let mut dispatches = layout.lay(&mut groups);
        assert_eq!((boxes.len(), dispatches.len()), (1, 2));
        assert_eq!((boxes[0].items, boxes[0].size), (None, (2, 1)));
        let bytes = |b: Bytes| b.first as usize / 4..(b.first + b.count) as usize / 4;
        for placed in boxes.iter().chain(&dispatches) {
            assert!(placed.record.first.is_multiple_of(LIMITS.alignment));
            let record = &tables.values()[bytes(placed.record)];
            assert_eq!(record[3], placed.size.0, "the width of a row");
        }
        let items = dispatches[0].items.expect("items");
        let words = |tables: &Mirrored<u32>| tables.values()[bytes(items)][..12].to_vec();
        assert_eq!(words(&tables)[..9], [0, 0, 7, 2, 1, 7, 4, 2, 7]);

        // What an edit uploads is what it changes.
        let mut edit = |tables: &mut Mirrored<u32>, change: &dyn Fn(&mut Groups<[u32; 3]>)| {
            tables.set_uploaded();
            change(&mut groups);
            let has_room = Layout::new(&LIMITS, tables, false).update(&mut groups, &mut dispatches);
            let changes: Vec<_> = tables.changes(0).map(|(at, b)| (at, b.len())).collect();
            (
                has_room,
                changes,
                dispatches
                    .iter()
                    .map(|placed| placed.size)
                    .collect::<Vec<_>>(),
            )
        };
        let last = last.expect("an item");
        let byte = items.first;
        let (has_room, changes, sizes) = edit(&mut tables, &|g| g.item_mut(last)[2] = 9);
        assert!(has_room);
        assert_eq!(changes, [(byte + 8 * 4, 4)]);
        assert_eq!(sizes, [(3, 1), (2, 1)]);
        // One goes, and another takes its place and its workgroup.
        let (_, changes, _) = edit(&mut tables, &|g| g.remove(last, |item| item[2] = 0));
        assert_eq!(changes, [(byte + 8 * 4, 4)]);
        let (_, changes, _) = edit(&mut tables, &|g| {
            assert_eq!(
                g.push(&LIMITS, key(0), 64, |first| [8, first, 3]),
                Some(last)
            );
        });
        assert_eq!(changes, [(byte + 6 * 4, 12)]);
        // A larger one comes last. Its table has more workgroups.
        let (has_room, changes, sizes) = edit(&mut tables, &|g| {
            g.push(&LIMITS, key(0), 65, |first| [0, first, 0]);
        });
        assert!(has_room);
        // All of it, though most of it is 0: the room may hold what an older plan left there.
        assert_eq!(
            changes.iter().map(|(_, bytes)| bytes).sum::<usize>(),
            12 + 20
        );
        assert_eq!(sizes[0], (5, 1));
        // The first of another key brings a table.
        let (has_room, _, sizes) = edit(&mut tables, &|g| {
            g.push(&LIMITS, key(2), 64, |first| [6, first, 3]);
        });
        assert!(has_room);
        assert_eq!(sizes.len(), 3);
        // More than there is room for needs another plan.
        let (has_room, ..) = edit(&mut tables, &|g| {
            for _ in 0..40 {
                g.push(&LIMITS, key(0), 64, |first| [6, first, 3]);
            }
        });
        assert!(!has_room);
    }

    /// A plan of `count` items.
    fn plan(
        count: u32,
    ) -> (
        Groups<u32>,
        Mirrored<u32>,
        Vec<PlacedDispatch>,
        Vec<ItemPlace>,
    ) {
        let (mut groups, mut words) = (Groups::default(), Mirrored::default());
        let mut add = |n| groups.push(&LIMITS, GroupKey::default(), 64, |_| n);
        let places = (0..count).filter_map(&mut add).collect();
        let dispatches = Layout::new(&LIMITS, &mut words, false).lay(&mut groups);
        (groups, words, dispatches, places)
    }

    #[test]
    fn a_table_has_room_for_as_many_again() {
        for (count, room) in [(1, 32), (40, 40), (300, 300)] {
            let (mut groups, mut words, mut dispatches, _) = plan(count);
            let planned = words.bytes();
            let mut add = || {
                groups.push(&LIMITS, GroupKey::default(), 64, |first| first);
                Layout::new(&LIMITS, &mut words, false).update(&mut groups, &mut dispatches)
            };
            assert_eq!((0..=room).position(|_| !add()), Some(room), "{count} items");
            assert_eq!(words.bytes(), planned);
        }
    }

    #[test]
    fn tables_of_many_host_buffers_take_few_bytes() {
        let (mut groups, mut words) = (Groups::default(), Mirrored::default());
        let limits = WorkLimits {
            workgroups: 65_535,
            ..LIMITS
        };
        for out_set in 0..100 {
            let key = GroupKey {
                out_set,
                ..GroupKey::default()
            };
            groups.push(&limits, key, 64, |_| SkinItem::default());
        }
        let dispatches = Layout::new(&limits, &mut words, false).lay(&mut groups);
        assert_eq!(dispatches.len(), 100);
        let bytes = words.bytes();
        assert!(bytes < 1 << 19, "{bytes} bytes");
    }

    #[test]
    fn items_that_come_and_go_need_no_other_plan() {
        let (mut groups, mut words, mut dispatches, mut places) = plan(200);
        let mut update = |groups: &mut Groups<u32>| {
            Layout::new(&LIMITS, &mut words, false).update(groups, &mut dispatches)
        };
        // Some are sent to another table and back, again and again.
        for round in 1..20 {
            let key = GroupKey {
                skin_page: round % 2,
                ..GroupKey::default()
            };
            for place in &mut places[..50] {
                groups.remove(*place, |item| *item = 0);
                *place = groups.push(&LIMITS, key, 64, |first| first).expect("room");
            }
            assert!(update(&mut groups), "round {round}");
        }
        // Of 250 items, 50 have no work so far.
        let mut left = places[50..].iter();
        let packed = left.position(|place| {
            groups.remove(*place, |item| *item = 0);
            !update(&mut groups)
        });
        assert_eq!(packed, Some(75));
    }
}
