//! Lists of the blend entries that instances use. An instance walks such a list instead of the
//! whole list of its skin.
//!
//! A list has the entries of some channels. It is valid for every pose that gives no other channel
//! a weight, for any instance of the skin. It lies in the page of its slice, in room that stays the
//! skin's, so nothing else is ever written where an encoded frame reads a list. The whole list,
//! which was uploaded with the skin, is valid for every pose. Instances walk it if a shorter list
//! would not pay or has no room.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::instances::{InstanceId, InstanceStore};
use super::poses::PoseStore;
use super::skin_pages::{OwnedRanges, SkinPages};
use super::skins::{SkinId, SkinStore, Slice};
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::upload::{Content, Upload};
use crate::kernel::{BlendIndex, PackedBlend};

/// Largest number of words of lists that one frame builds, unless it builds a single list.
/// Instances whose lists are not built yet walk the whole list of their skin, and a later frame
/// builds theirs.
const WORDS_PER_FRAME: usize = 1 << 20;

/// The lists of a skin.
#[derive(Debug, Default)]
struct SkinLists {
    /// Number of entries of each channel.
    channels: Vec<u32>,
    /// First sub-shape and number of sub-shapes of each channel.
    sub_shapes: Vec<[u32; 2]>,
    lists: Vec<List>,
    /// The room of the lists in the pages.
    ranges: OwnedRanges,
}

#[derive(Debug, Default)]
struct List {
    /// Whether it has the entries of each channel.
    channels: Vec<bool>,
    sub_shapes: Arc<[u32]>,
    /// Number of the skin's entries that it contains.
    entries: usize,
    /// Its room in the page of each slice; `None` for a slice without blend entries.
    rooms: Vec<Option<Room>>,
    /// The [`Version`] that was uploaded.
    uploaded: Option<Version>,
    /// Number of instances that walk this list.
    users: usize,
}

/// Words of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Room {
    first: u32,
    count: usize,
}

/// A count of dropped encoders and replaced pages. A list of an older version has to be uploaded
/// again.
type Version = u64;

/// A list of a slice that the next frame uploads.
#[derive(Debug)]
struct Pending {
    page: usize,
    first: u32,
    index: Arc<BlendIndex>,
    sub_shapes: Arc<[u32]>,
}

/// An instance with blend shapes that frames show.
#[derive(Debug)]
struct Walker {
    skin: SkinId,
    /// Index of the list that it walks, among the lists of its skin; `None` for the whole list.
    list: Option<u32>,
}

/// The lists of a crowd's skins, and the list that each instance walks.
#[derive(Debug, Default)]
pub struct BlendLists {
    of_skins: BTreeMap<SkinId, SkinLists>,
    walkers: HashMap<InstanceId, Walker>,
    /// Instances whose list may not be valid for their pose.
    marked: Vec<InstanceId>,
    /// Of those, the ones whose list is not valid, the number of entries that they need, and that
    /// list.
    wanting: Vec<(InstanceId, usize, Option<u32>)>,
    /// Instances that may walk another list in the coming frame than in the last one.
    pub changed: Vec<InstanceId>,
    pending: Vec<Pending>,
    /// How often uploads of lists may have been lost with an encoder.
    lost: u64,
    /// The version of all lists that are walked.
    filled: Version,
    /// The count of what clips drive when lists were last chosen.
    clips: u64,
}

impl SkinLists {
    fn new(blend: &PackedBlend) -> Self {
        let counts = blend.entry_counts();
        let entries = |[first, count]: &[u32; 2]| -> u32 {
            counts[*first as usize..(*first + *count) as usize]
                .iter()
                .sum()
        };
        Self {
            channels: blend.sub_shape_ranges().iter().map(entries).collect(),
            sub_shapes: blend.sub_shape_ranges().to_vec(),
            lists: Vec::new(),
            ranges: OwnedRanges::default(),
        }
    }

    /// Number of entries of the channels that have a weight. It includes sub-shapes without weight,
    /// so that a channel can move through its in-betweens without another list.
    fn needed(&self, weights: &[f32]) -> usize {
        self.entries(weights.iter().map(|w| *w != 0.0))
    }

    /// Number of entries of some channels.
    fn entries(&self, has: impl Iterator<Item = bool>) -> usize {
        let counts = self.channels.iter().zip(has);
        counts
            .map(|(n, has)| if has { *n as usize } else { 0 })
            .sum()
    }

    fn all(&self) -> usize {
        self.entries(std::iter::repeat(true))
    }

    /// Whether a list with this many entries is cheaper than the whole list.
    fn pays(&self, needed: usize) -> bool {
        needed * 2 < self.all()
    }

    /// Largest number of entries of a list that is kept if `needed` are needed: a face that comes
    /// to rest gets a short list again.
    fn most(&self, needed: usize) -> usize {
        needed * 2 + self.all() / 16
    }

    /// The shortest list that is valid for these weights and not much longer than needed.
    fn serving(&self, weights: &[f32], needed: usize) -> Option<u32> {
        let most = self.most(needed);
        let serves = |list: &&List| list.entries <= most && list.covers(weights);
        let lists = (0..).zip(&self.lists).filter(|(_, list)| serves(list));
        let best = lists.min_by_key(|(_, list)| list.entries);
        best.map(|(number, _)| number)
    }

    /// The sub-shapes of channels.
    fn sub_shapes(&self, channels: &[bool]) -> Arc<[u32]> {
        let ranges = self
            .sub_shapes
            .iter()
            .zip(channels)
            .filter(|(_, has)| **has);
        ranges
            .flat_map(|([first, count], _)| *first..*first + *count)
            .collect()
    }
}

impl List {
    fn covers(&self, weights: &[f32]) -> bool {
        let mut channels = weights.iter().zip(&self.channels);
        channels.all(|(weight, has)| *weight == 0.0 || *has)
    }
}

impl BlendLists {
    /// Prepares the lists of a new skin.
    pub fn add_skin(&mut self, id: SkinId, blend: &PackedBlend) {
        self.of_skins.insert(id, SkinLists::new(blend));
    }

    /// Frees the room of the lists of a removed skin.
    pub fn remove_skin(&mut self, id: SkinId, pages: &mut SkinPages) {
        if let Some(lists) = self.of_skins.remove(&id) {
            pages.give_back(lists.ranges);
        }
    }

    /// Records that uploads were lost with an encoder: all lists have to be uploaded again.
    pub fn lose(&mut self) {
        self.lost += 1;
        self.pending.clear();
    }

    /// Forgets all instances, because a frame is planned anew.
    pub fn forget_walkers(&mut self) {
        self.walkers.clear();
        self.marked.clear();
        let lists = self.of_skins.values_mut().flat_map(|of| &mut of.lists);
        lists.for_each(|list| list.users = 0);
    }

    /// Takes note of an instance that was added, edited or removed.
    pub fn follow(&mut self, id: InstanceId, instances: &InstanceStore) {
        if self.of_skins.is_empty() && self.walkers.is_empty() {
            return;
        }
        self.walk(id, None);
        self.walkers.remove(&id);
        let instance = instances.find(id).filter(|instance| !instance.hidden);
        let skin = instance.map(|instance| instance.skin);
        if let Some(skin) = skin.filter(|skin| self.of_skins.contains_key(skin)) {
            self.walkers.insert(id, Walker { skin, list: None });
            self.marked.push(id);
        }
    }

    /// Lets an instance walk a list.
    fn walk(&mut self, id: InstanceId, list: Option<u32>) {
        let Some(walker) = self.walkers.get_mut(&id) else {
            return;
        };
        let before = std::mem::replace(&mut walker.list, list);
        // The skin of an instance that was removed may be, too.
        let Some(lists) = self.of_skins.get_mut(&walker.skin) else {
            return;
        };
        if let Some(number) = before {
            lists.lists[number as usize].users -= 1;
        }
        if let Some(number) = list {
            lists.lists[number as usize].users += 1;
        }
        if before != list {
            self.changed.push(id);
        }
    }

    /// Chooses a list that is valid for its pose, if there is room, for each instance with other
    /// weights, and for those that came or changed; and takes note of the lists that still have to be
    /// uploaded.
    ///
    /// `clips` counts changes of what clips drive. `is_driven` tells whether they drive the weights
    /// of an instance of a skin. The host does not know them then, so the instance walks the whole
    /// list.
    #[expect(clippy::too_many_arguments, reason = "the stores of a crowd")]
    pub fn choose(
        &mut self,
        reweighted: &[InstanceId],
        clips: u64,
        is_driven: impl Fn(InstanceId, SkinId) -> bool,
        skinner: &Skinner,
        pages: &mut SkinPages,
        skins: &SkinStore,
        poses: &PoseStore,
    ) {
        self.changed.clear();
        let mut marked = std::mem::take(&mut self.marked);
        if std::mem::replace(&mut self.clips, clips) == clips {
            marked.extend_from_slice(reweighted);
        } else {
            marked.extend(self.walkers.keys());
        }
        marked.sort_unstable();
        marked.dedup();
        // All that keep their list do so before a list without users is given to another.
        for id in marked.drain(..) {
            let Some(walker) = self.walkers.get(&id) else {
                continue;
            };
            let (Some(lists), Some((pose, _))) =
                (self.of_skins.get(&walker.skin), poses.get(id.index()))
            else {
                continue;
            };
            let (before, weights) = (walker.list, pose.channel_weights());
            let needed = lists.needed(weights);
            if is_driven(id, walker.skin) || !lists.pays(needed) {
                self.walk(id, None);
                continue;
            }
            let is_valid = before.is_some_and(|number| {
                let list = &lists.lists[number as usize];
                list.entries <= lists.most(needed) && list.covers(weights)
            });
            if !is_valid {
                self.walk(id, None);
                self.wanting.push((id, needed, before));
            }
        }
        self.marked = marked;
        let mut made = 0;
        let mut wanting = std::mem::take(&mut self.wanting);
        for (id, needed, before) in wanting.drain(..) {
            let Some(skin) = self.walkers.get(&id).map(|walker| walker.skin) else {
                continue;
            };
            let (Some(lists), Ok(skin), Some((pose, _))) = (
                self.of_skins.get_mut(&skin),
                skins.get(skin),
                poses.get(id.index()),
            ) else {
                continue;
            };
            let weights = pose.channel_weights();
            let mut number = lists.serving(weights, needed);
            // One word per entry, and one per point for its row.
            let words = needed + skin.packed.point_count();
            if number.is_none() && (made == 0 || made + words <= WORDS_PER_FRAME) {
                number = lists.make(skinner, pages, &skin.slices, weights, needed, before);
                made += number.map_or(0, |_| words);
            } else if number.is_none() {
                // The next frame builds it.
                self.marked.push(id);
            }
            self.walk(id, number);
        }
        self.wanting = wanting;
        let version = self.lost + pages.replaced();
        if !self.changed.is_empty() || self.filled != version {
            self.filled = version;
            self.fill(version, skins);
        }
    }

    /// Takes note of the lists that still have to be uploaded.
    fn fill(&mut self, version: Version, skins: &SkinStore) {
        for (id, lists) in &mut self.of_skins {
            let Ok(skin) = skins.get(*id) else {
                continue;
            };
            for list in &mut lists.lists {
                if list.users == 0 || list.uploaded == Some(version) {
                    continue;
                }
                for (slice, room) in skin.slices.iter().zip(&list.rooms) {
                    let (Some(index), Some(room)) = (&slice.blend, room) else {
                        continue;
                    };
                    self.pending.push(Pending {
                        page: slice.page,
                        first: room.first,
                        index: index.clone(),
                        sub_shapes: list.sub_shapes.clone(),
                    });
                }
                list.uploaded = Some(version);
            }
        }
    }

    /// First word of the list that an instance walks in a slice of its skin; `None` if it walks the
    /// whole list.
    pub fn first_word(&self, id: InstanceId, slice: usize) -> Option<u32> {
        let walker = self.walkers.get(&id)?;
        let lists = &self.of_skins.get(&walker.skin)?.lists;
        lists[walker.list? as usize]
            .rooms
            .get(slice)?
            .map(|room| room.first)
    }

    /// The lists that still have to be uploaded. Their words are built as they are written.
    pub fn uploads<'a>(&'a self, pages: &'a SkinPages) -> impl Iterator<Item = Upload<'a>> + Clone {
        self.pending.iter().map(|pending| Upload {
            to: pages.buffer(pending.page),
            offset: u64::from(pending.first) * 4,
            content: Content::List(&pending.index, &pending.sub_shapes),
        })
    }

    /// Records that all lists were uploaded.
    pub fn set_uploaded(&mut self) {
        self.pending.clear();
    }
}

impl SkinLists {
    /// Builds a list for these weights, in the room of a list without users or in new room. `None`
    /// if there is no room.
    fn make(
        &mut self,
        skinner: &Skinner,
        pages: &mut SkinPages,
        slices: &[Slice],
        weights: &[f32],
        needed: usize,
        before: Option<u32>,
    ) -> Option<u32> {
        let mut channels: Vec<bool> = weights.iter().map(|w| *w != 0.0).collect();
        let mut entries = needed;
        // Keeps channels that come and go, as long as they are few.
        if let Some(before) = before.and_then(|number| self.lists.get(number as usize)) {
            let both = channels.iter().zip(&before.channels);
            let both: Vec<bool> = both.map(|(a, b)| a | b).collect();
            let of_both = self.entries(both.iter().copied());
            if of_both <= needed + needed / 4 && self.pays(of_both) {
                (channels, entries) = (both, of_both);
            }
        }
        let sub_shapes = self.sub_shapes(&channels);
        let wanted = |slice: &Slice| {
            let index = slice.blend.as_ref();
            index.map_or(0, |index| index.list_words(&sub_shapes))
        };
        let wanted: Vec<usize> = slices.iter().map(wanted).collect();
        let list = List {
            channels,
            sub_shapes,
            entries,
            ..List::default()
        };
        self.place(list, &wanted, |ranges| {
            take_rooms(skinner, ranges, pages, slices, &wanted)
        })
    }

    /// Adds a list that wants these words of each slice. `take` takes new room.
    fn place(
        &mut self,
        list: List,
        wanted: &[usize],
        take: impl FnOnce(&mut OwnedRanges) -> Option<Vec<Option<Room>>>,
    ) -> Option<u32> {
        let fits = |list: &List| {
            let rooms = list.rooms.iter();
            let mut rooms = rooms
                .map(|room| room.map_or(0, |room| room.count))
                .zip(wanted);
            list.users == 0 && rooms.all(|(room, wanted)| room >= *wanted)
        };
        let number = match self.lists.iter().position(fits) {
            Some(number) => number,
            None => {
                let rooms = take(&mut self.ranges)?;
                self.lists.push(List {
                    rooms,
                    ..List::default()
                });
                self.lists.len() - 1
            }
        };
        let rooms = std::mem::take(&mut self.lists[number].rooms);
        self.lists[number] = List { rooms, ..list };
        Some(number as u32)
    }
}

/// Takes room for `wanted` words, or some more, in the pages of slices; `None` if a page has none.
fn take_rooms(
    skinner: &Skinner,
    ranges: &mut OwnedRanges,
    pages: &mut SkinPages,
    slices: &[Slice],
    wanted: &[usize],
) -> Option<Vec<Option<Room>>> {
    let mut taken = OwnedRanges::default();
    let mut rooms = Vec::with_capacity(slices.len());
    for (slice, wanted) in slices.iter().zip(wanted) {
        if slice.blend.is_none() {
            rooms.push(None);
            continue;
        }
        let count = wanted.next_power_of_two();
        let bytes = count as u64 * 4;
        let Some(first) = pages.take(skinner, slice.page, bytes) else {
            pages.give_back(taken);
            return None;
        };
        taken.hold(slice.page, first..first + bytes);
        rooms.push(Some(Room {
            first: (first / 4) as u32,
            count,
        }));
    }
    ranges.join(taken);
    Some(rooms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_without_walkers_is_used_again() {
        let mut lists = SkinLists::default();
        let mut taken = 0;
        let mut place = |lists: &mut SkinLists, entries, wanted: [usize; 2]| {
            let list = List {
                entries,
                uploaded: Some(1),
                ..List::default()
            };
            let number = lists.place(list, &wanted, |_| {
                taken += 1;
                let room = |count| {
                    Some(Room {
                        first: taken,
                        count,
                    })
                };
                Some(wanted.map(room).to_vec())
            });
            (number, taken)
        };
        assert_eq!(place(&mut lists, 10, [4, 8]), (Some(0), 1));
        lists.lists[0].users = 1;
        assert_eq!(place(&mut lists, 20, [4, 8]), (Some(1), 2), "it is walked");
        lists.lists[0].users = 0;
        assert_eq!(place(&mut lists, 30, [3, 8]), (Some(0), 2), "it has room");
        let room = |count| Some(Room { first: 1, count });
        let list = &lists.lists[0];
        assert_eq!((list.entries, &list.rooms), (30, &vec![room(4), room(8)]));
        assert_eq!(place(&mut lists, 40, [4, 9]), (Some(2), 3), "too small");
        let refused = lists.place(List::default(), &[16, 16], |_| None);
        assert_eq!((refused, lists.lists.len()), (None, 3));
    }
}
