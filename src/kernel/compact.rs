//! The items that a frame needs, moved to the front: `shaders/compact.wgsl` and its mirror.

use super::layout::{gpu_struct, wgsl};
use super::registry::{
    BEGINS, COMPUTED, ELEMENTS_PER_BLOCK, FRESH, HELD, OWNER_MASK, SETTLES, compact_bits,
};
use super::{Access, Binding, Dispatch, Kernel, NONE};

gpu_struct! {
    /// A table of items, whose elements are kept or left out. An element is an item, or a pose of
    /// an item of `multi_pose_lbs`. Words of an item are counted from its first.
    pub struct CompactTable {
        /// Elements of an item: 1, or [`super::POSES_PER_ITEM`].
        elements_per_item: u32,
        /// Words of an item.
        item_words: u32,
        /// The word of an item with its flags, or the word of a pose; [`NONE`] without flags.
        flags_word: u32,
        /// The word with the number of poses.
        pose_count_word: u32,
        /// First word of the first pose.
        poses_word: u32,
        /// Words of a pose.
        pose_words: u32,
        /// Number of units of all items: workgroups, or invocations if items share workgroups.
        unit_count: u32,
        /// Units of a workgroup: 1, or [`super::WORKGROUP_SIZE`].
        units_per_workgroup: u32,
        /// Index of the sums of its first block.
        first_sum: u32,
        /// Number of its blocks of [`ELEMENTS_PER_BLOCK`] elements.
        block_count: u32,
        /// First word of its launches.
        first_launch: u32,
        /// Number of its launches.
        launch_count: u32,
        /// Words from one launch to the next.
        launch_stride: u32,
        /// Most workgroups in one dimension of a dispatch.
        per_dimension: u32,
        /// Most workgroups of a dispatch.
        per_dispatch: u32,
    }
}

/// Words of a launch: its [`Dispatch`], then its workgroups in x, y and z.
pub const LAUNCH_WORDS: u32 = 8;

/// The kernel that keeps the items which a frame needs. [`compact_on_cpu`] is its mirror.
pub const COMPACT: Kernel = Kernel {
    name: "compact",
    wgsl: wgsl!["common/dispatch", "compact"],
    entry: "main",
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>() as u64),
        Binding::new(1, "items", Access::Read, size_of::<CompactTable>() as u64),
        Binding::new(2, "words", Access::Read, 4),
        Binding::new(3, "owners", Access::Read, 4),
        Binding::new(4, "actions", Access::Read, 4),
        Binding::new(5, "sums", Access::ReadWrite, 8),
        Binding::new(6, "kept", Access::ReadWrite, 4),
        Binding::new(7, "launches", Access::ReadWrite, 4 * LAUNCH_WORDS as u64),
    ],
    structs: &[Dispatch::LAYOUT, CompactTable::LAYOUT],
    overrides: compact_bits::NAMES,
    numbers: &[],
};

/// The items of a table that a frame needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compacted {
    /// The items, as words.
    pub words: Vec<u32>,
    /// Number of items.
    pub item_count: u32,
    /// Number of their units.
    pub unit_count: u32,
    /// The table's dispatches, each with its workgroups in x and y. One without workgroups does
    /// nothing.
    pub launches: Vec<(Dispatch, [u32; 2])>,
}

/// What a frame does with an element; 0 for nothing.
fn action_of(owner: u32, actions: &[u32]) -> u32 {
    if owner == NONE {
        return 0;
    }
    if owner & OWNER_MASK == OWNER_MASK {
        return COMPUTED;
    }
    match actions[(owner & OWNER_MASK) as usize] {
        action if action & HELD != 0 && owner & SETTLES == 0 => 0,
        action => action,
    }
}

/// Keeps the items that a frame needs, to the same bits as on the GPU. There, only
/// [`Dispatch::items_per_unit`] may differ in its last bit.
///
/// `words` has all items; `owners` has a word per element: the index of the action that it depends
/// on, with `BEGINS` for the first of a run and `SETTLES` if it has previous positions;
/// `OWNER_MASK` in place of the index if every frame needs it; or [`NONE`].
///
/// # Panics
/// If `words` or `actions` is too short for the elements.
#[must_use]
pub fn compact_on_cpu(
    table: &CompactTable,
    words: &[u32],
    owners: &[u32],
    actions: &[u32],
) -> Compacted {
    let per_item = table.elements_per_item as usize;
    let item_words = table.item_words as usize;
    let item_count = owners.len() / per_item;
    let units_of = |item: usize| {
        let next = if item + 1 < item_count {
            words[(item + 1) * item_words]
        } else {
            table.unit_count
        };
        next - words[item * item_words]
    };
    let mut out = Compacted::default();
    for (block, owners) in owners.chunks(ELEMENTS_PER_BLOCK as usize).enumerate() {
        let mut rank = 0;
        for (number, owner) in owners.iter().enumerate() {
            let element = block * ELEMENTS_PER_BLOCK as usize + number;
            if *owner != NONE && owner & BEGINS != 0 {
                rank = 0;
            }
            let action = action_of(*owner, actions);
            if action == 0 {
                continue;
            }
            let place = rank % per_item;
            rank += 1;
            let item = &words[element / per_item * item_words..][..item_words];
            if place == 0 {
                out.words.extend_from_slice(item);
                let at = out.words.len() - item_words;
                out.words[at] = out.unit_count;
                out.item_count += 1;
                out.unit_count += units_of(element / per_item);
                if per_item > 1 {
                    out.words[at + table.poses_word as usize..].fill(0);
                }
            }
            let at = out.words.len() - item_words;
            let kept = &mut out.words[at..];
            let mut flags = table.flags_word as usize;
            if per_item > 1 {
                let pose_words = table.pose_words as usize;
                let from = table.poses_word as usize + element % per_item * pose_words;
                let to = table.poses_word as usize + place * pose_words;
                kept[to..to + pose_words].copy_from_slice(&item[from..from + pose_words]);
                kept[table.pose_count_word as usize] = place as u32 + 1;
                flags += to;
            }
            if table.flags_word != NONE {
                kept[flags] = kept[flags] & !FRESH | action & (FRESH | HELD);
            }
        }
    }
    out.launches = launches(table, out.item_count, out.unit_count);
    out
}

fn launches(table: &CompactTable, item_count: u32, unit_count: u32) -> Vec<(Dispatch, [u32; 2])> {
    let workgroups = unit_count.div_ceil(table.units_per_workgroup);
    let launch = |number: u32| {
        let first = number.saturating_mul(table.per_dispatch).min(workgroups);
        let count = (workgroups - first).min(table.per_dispatch);
        let height = count.div_ceil(table.per_dimension);
        let width = count
            .checked_div(height)
            .map_or(0, |_| count.div_ceil(height));
        let dispatch = Dispatch {
            item_count,
            first_workgroup: first,
            end_workgroup: first + count,
            row_width: width,
            items_per_unit: match count {
                0 => 0.0,
                _ => item_count as f32 / unit_count as f32,
            },
        };
        (dispatch, [width, height])
    };
    (0..table.launch_count).map(launch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_move_to_the_front_and_cover_their_units() {
        // First unit, flags, a word.
        let words = [0, FRESH, 70, 3, 8, 71, 4, FRESH | 8, 72, 9, 0, 73];
        let table = CompactTable {
            elements_per_item: 1,
            item_words: 3,
            flags_word: 1,
            unit_count: 10,
            units_per_workgroup: 1,
            launch_count: 2,
            per_dimension: 2,
            per_dispatch: 4,
            ..CompactTable::default()
        };
        let actions = [COMPUTED | FRESH, 0, COMPUTED, HELD];
        let kept = compact_on_cpu(&table, &words, &[3, 0, 2, 3 | SETTLES], &actions);
        assert_eq!(kept.words, [0, 8 | FRESH, 71, 1, 8, 72, 6, HELD, 73]);
        assert_eq!((kept.item_count, kept.unit_count), (3, 7));
        let ranges: Vec<_> = kept
            .launches
            .iter()
            .map(|(d, size)| (d.first_workgroup, d.end_workgroup, *size))
            .collect();
        assert_eq!(ranges, [(0, 4, [2, 2]), (4, 7, [2, 2])]);
        let nothing = compact_on_cpu(&table, &words, &[1; 4], &actions);
        assert_eq!((nothing.item_count, nothing.words.len()), (0, 0));
        assert!(nothing.launches.iter().all(|(_, size)| *size == [0, 0]));
    }

    #[test]
    fn poses_of_a_run_share_items() {
        // First unit, number of poses, then four poses of a flag and a number.
        let item = |first: u32, of: u32| {
            let poses = (0..4).flat_map(|pose| [FRESH, of * 10 + pose]);
            [first, 4].into_iter().chain(poses).collect::<Vec<u32>>()
        };
        let words: Vec<u32> = (0..4).flat_map(|i| item(i * 5, i)).collect();
        let table = CompactTable {
            elements_per_item: 4,
            item_words: 10,
            flags_word: 0,
            pose_count_word: 1,
            poses_word: 2,
            pose_words: 2,
            unit_count: 20,
            units_per_workgroup: 1,
            launch_count: 1,
            per_dimension: 100,
            per_dispatch: 10_000,
            ..CompactTable::default()
        };
        let mut owners: Vec<u32> = (0..16).collect();
        // Three items of one run, and another.
        (owners[0], owners[12]) = (BEGINS, 12 | BEGINS);
        owners[11] = NONE;
        let mut actions = vec![0; 16];
        for kept in [1, 2, 4, 6, 10, 13] {
            actions[kept] = COMPUTED;
        }
        let kept = compact_on_cpu(&table, &words, &owners, &actions);
        let numbers: Vec<Vec<u32>> = kept
            .words
            .chunks(10)
            .map(|item| (0..item[1] as usize).map(|p| item[3 + p * 2]).collect())
            .collect();
        assert_eq!(numbers, [vec![1, 2, 10, 12], vec![22], vec![31]]);
        assert!(kept.words.chunks(10).all(|item| item[2] == 0), "flags");
        assert_eq!(kept.unit_count, 15);
    }
}
