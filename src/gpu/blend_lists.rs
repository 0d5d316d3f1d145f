//! Lists of the blend entries that instances use, in place of the whole list of their skin.
//!
//! A list has the entries of some channels and serves every pose that gives no other channel a weight, of any
//! instance of the skin. It lies in the page of its slice, in room that stays the skin's, so that nothing else is ever
//! written where an encoded frame reads a list. The whole list, which came with the skin, is right for every pose: it
//! serves where a list does not pay or has no room.

use slotmap::SlotMap;

use super::arena::Arena;
use super::frame::{Frame, HeldSkin, Instance};
use super::posing::Posed;
use super::skinner::Skinner;
use super::slices::{Held, Slice};
use super::staging::Upload;
use super::{InstanceId, SkinId};
use crate::kernel::PackedBlend;

/// Words of lists that a frame makes; what is beyond waits for the next and takes the whole list for now. A frame makes one
/// list whatever its size.
const WORDS_PER_FRAME: usize = 1 << 20;

/// The lists of a skin.
#[derive(Clone, Debug, Default)]
pub(super) struct SkinLists {
    /// Entries of each channel.
    channels: Vec<u32>,
    /// First sub-shape of each channel, and how many.
    slots: Vec<[u32; 2]>,
    lists: Vec<List>,
}

#[derive(Clone, Debug)]
struct List {
    /// Bit by bit.
    channels: Vec<u64>,
    sub_shapes: Vec<u32>,
    /// Entries of the whole skin's.
    entries: usize,
    /// In each slice's page; `None` for slices that blend nothing.
    rooms: Vec<Option<Room>>,
    /// What the GPU has of it, see [`Version`].
    uploaded: Option<Version>,
    /// Instances of the coming frame that go by it.
    users: usize,
}

/// Words of a page.
#[derive(Clone, Copy, Debug)]
struct Room {
    first: u32,
    count: usize,
}

/// What uploads depend on: encoders that were dropped, and how often each page was replaced, all counted.
pub(super) type Version = u64;

/// Words of a list on their way.
#[derive(Debug)]
struct Pending {
    page: usize,
    first: u32,
    words: Vec<u32>,
}

/// What a crowd keeps for choosing lists.
#[derive(Debug, Default)]
pub(super) struct BlendLists {
    pending: Vec<Pending>,
    /// Buffers of lists that are uploaded.
    free: Vec<Vec<u32>>,
    /// Instances whose list does not serve their pose, and the entries that they need.
    wanting: Vec<(InstanceId, usize)>,
    /// Times that what was recorded may never have come to the GPU.
    lost: u64,
}

impl SkinLists {
    pub fn new(blend: &PackedBlend) -> Self {
        let counts = blend.entry_counts();
        let entries = |[first, count]: &[u32; 2]| -> u32 {
            counts[*first as usize..(*first + *count) as usize]
                .iter()
                .sum()
        };
        Self {
            channels: blend.slots().iter().map(entries).collect(),
            slots: blend.slots().to_vec(),
            lists: Vec::new(),
        }
    }

    /// Entries of the channels that have a weight. More than the active sub-shapes': between its in-betweens a channel may move
    /// without another list.
    fn needed(&self, weights: &[f32]) -> usize {
        let active = self
            .channels
            .iter()
            .zip(weights)
            .filter(|(_, w)| **w != 0.0);
        active.map(|(entries, _)| *entries as usize).sum()
    }

    fn all(&self) -> usize {
        self.channels.iter().map(|n| *n as usize).sum()
    }

    /// Whether a list of so many entries is worth having.
    fn pays(&self, needed: usize) -> bool {
        needed * 2 < self.all()
    }

    /// Entries of the longest list that is worth keeping where so many are needed. A face that comes to rest keeps a short one.
    fn most(&self, needed: usize) -> usize {
        needed * 2 + self.all() / 16
    }

    /// The list that serves these weights best, without walking much that adds nothing.
    fn serving(&self, weights: &[f32], needed: usize) -> Option<u32> {
        let most = self.most(needed);
        let serves = |list: &&List| list.entries <= most && list.covers(weights);
        let lists = (0..).zip(&self.lists).filter(|(_, list)| serves(list));
        let best = lists.min_by_key(|(_, list)| list.entries);
        best.map(|(number, _)| number)
    }

    /// Sub-shapes of channels.
    fn sub_shapes(&self, channels: &[u64]) -> Vec<u32> {
        let has = |slot: usize| channels[slot / 64] >> (slot % 64) & 1 == 1;
        let slots = self.slots.iter().enumerate().filter(|(slot, _)| has(*slot));
        slots
            .flat_map(|(_, [first, count])| *first..*first + *count)
            .collect()
    }
}

impl List {
    fn new(
        channels: Vec<u64>,
        sub_shapes: Vec<u32>,
        entries: usize,
        rooms: Vec<Option<Room>>,
    ) -> Self {
        Self {
            channels,
            sub_shapes,
            entries,
            rooms,
            uploaded: None,
            users: 0,
        }
    }

    fn covers(&self, weights: &[f32]) -> bool {
        let has = |(channel, weight): (usize, &f32)| {
            *weight == 0.0 || self.channels[channel / 64] >> (channel % 64) & 1 == 1
        };
        weights.iter().enumerate().all(has)
    }
}

impl BlendLists {
    /// What was recorded may not be on the GPU.
    pub fn lose(&mut self) {
        self.lost += 1;
        self.pending.clear();
    }

    fn version(&self, pages: &[Arena]) -> Version {
        self.lost + pages.iter().map(Arena::replaced).sum::<u64>()
    }

    /// Gives each instance of a frame that blends a list that serves its pose, as far as there is room.
    pub fn choose(
        &mut self,
        skinner: &Skinner,
        pages: &mut [Arena],
        skins: &mut SlotMap<SkinId, HeldSkin>,
        instances: &mut SlotMap<InstanceId, Instance>,
        frame: &Frame,
        poses: &[Posed],
    ) {
        if frame.blended.is_empty() {
            return;
        }
        for held in skins.values_mut() {
            held.gpu
                .lists
                .lists
                .iter_mut()
                .for_each(|list| list.users = 0);
        }
        let weights = |id: InstanceId| {
            let pose = poses.get(id.slot() as usize)?.pose.as_ref();
            pose.map(|pose| pose.channel_weights())
        };
        self.wanting.clear();
        let mut last = None;
        for blended in frame
            .blended
            .iter()
            .filter(|b| last.replace(b.id) != Some(b.id))
        {
            let (Some(instance), Some(weights)) =
                (instances.get_mut(blended.id), weights(blended.id))
            else {
                continue;
            };
            let Some(held) = skins.get_mut(instance.skin) else {
                continue;
            };
            let lists = &mut held.gpu.lists;
            let needed = lists.needed(weights);
            if !lists.pays(needed) {
                instance.list = None;
                continue;
            }
            let most = lists.most(needed);
            let list = instance
                .list
                .and_then(|number| lists.lists.get_mut(number as usize));
            match list.filter(|list| list.entries <= most && list.covers(weights)) {
                Some(list) => list.users += 1,
                None => self.wanting.push((blended.id, needed)),
            }
        }
        let mut made = 0;
        for (id, needed) in self.wanting.drain(..) {
            let (Some(instance), Some(weights)) = (instances.get_mut(id), weights(id)) else {
                continue;
            };
            let Some(held) = skins.get_mut(instance.skin) else {
                continue;
            };
            let gpu = &mut held.gpu;
            let before = instance.list.take();
            let mut number = gpu.lists.serving(weights, needed);
            // An entry is a word, and so is the row of a point.
            let words = needed + held.packed.point_count();
            if number.is_none() && (made == 0 || made + words <= WORDS_PER_FRAME) {
                let room = (&mut gpu.held, &mut *pages);
                number = gpu
                    .lists
                    .make(skinner, room, &gpu.slices, weights, needed, before);
                made += number.map_or(0, |_| words);
            }
            if let Some(number) = number {
                gpu.lists.lists[number as usize].users += 1;
            }
            instance.list = number;
        }
    }

    /// Makes the words of lists that the GPU lacks.
    pub fn fill(&mut self, pages: &[Arena], skins: &mut SlotMap<SkinId, HeldSkin>, frame: &Frame) {
        if frame.blended.is_empty() {
            return;
        }
        let version = self.version(pages);
        for held in skins.values_mut() {
            let gpu = &mut held.gpu;
            let lists = gpu.lists.lists.len();
            for number in 0..lists {
                let list = &gpu.lists.lists[number];
                if list.users == 0 || list.uploaded == Some(version) {
                    continue;
                }
                for (slice, room) in gpu.slices.iter().zip(&list.rooms) {
                    let (Some(index), Some(room)) = (&slice.blend, room) else {
                        continue;
                    };
                    let mut words = self.free.pop().unwrap_or_default();
                    index.list(&list.sub_shapes, &mut words);
                    self.pending.push(Pending {
                        page: slice.page,
                        first: room.first,
                        words,
                    });
                }
                gpu.lists.lists[number].uploaded = Some(version);
            }
        }
    }

    /// What the GPU lacks.
    pub fn uploads<'a>(&'a self, pages: &'a [Arena]) -> impl Iterator<Item = Upload<'a>> + Clone {
        self.pending.iter().map(|pending| Upload {
            to: pages[pending.page].buffer(),
            offset: u64::from(pending.first) * 4,
            bytes: bytemuck::cast_slice(&pending.words),
        })
    }

    pub fn set_uploaded(&mut self) {
        self.free
            .extend(self.pending.drain(..).map(|pending| pending.words));
        // Those of a crowd's first frame are not kept.
        self.free.truncate(4);
    }
}

impl SkinLists {
    /// A list for these weights, in the room of one that nobody uses or in new room; `None` where there is none.
    fn make(
        &mut self,
        skinner: &Skinner,
        (held, pages): (&mut Held, &mut [Arena]),
        slices: &[Slice],
        weights: &[f32],
        needed: usize,
        before: Option<u32>,
    ) -> Option<u32> {
        let mut channels = vec![0u64; weights.len().div_ceil(64)];
        for (channel, _) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            channels[channel / 64] |= 1 << (channel % 64);
        }
        let mut entries = needed;
        // Channels that come and go stay, as long as they are few.
        if let Some(before) = before.and_then(|number| self.lists.get(number as usize)) {
            let both: Vec<u64> = channels
                .iter()
                .zip(&before.channels)
                .map(|(a, b)| a | b)
                .collect();
            let has = |channel: usize| both[channel / 64] >> (channel % 64) & 1 == 1;
            let counts = self.channels.iter().enumerate();
            let of_both = counts
                .filter(|(c, _)| has(*c))
                .map(|(_, n)| *n as usize)
                .sum();
            if of_both <= needed + needed / 2 && self.pays(of_both) {
                (channels, entries) = (both, of_both);
            }
        }
        let sub_shapes = self.sub_shapes(&channels);
        let wanted = |slice: &Slice| {
            let index = slice.blend.as_ref();
            index.map_or(0, |index| index.list_words(&sub_shapes))
        };
        let wanted: Vec<usize> = slices.iter().map(wanted).collect();
        let fits = |list: &List| {
            let rooms = list
                .rooms
                .iter()
                .map(|room| room.map_or(0, |room| room.count));
            list.users == 0 && rooms.zip(&wanted).all(|(room, wanted)| room >= *wanted)
        };
        let rooms = match self.lists.iter().position(fits) {
            Some(number) => {
                let list = &mut self.lists[number];
                let rooms = std::mem::take(&mut list.rooms);
                *list = List::new(channels, sub_shapes, entries, rooms);
                return Some(number as u32);
            }
            None => take_rooms(skinner, held, pages, slices, &wanted)?,
        };
        self.lists
            .push(List::new(channels, sub_shapes, entries, rooms));
        Some(self.lists.len() as u32 - 1)
    }

    /// First word of a list in the page of a slice.
    pub fn first_word(&self, list: Option<u32>, slice: usize) -> Option<u32> {
        let room = self.lists.get(list? as usize)?.rooms.get(slice)?;
        room.map(|room| room.first)
    }
}

/// Room for so many words in the pages of slices, and some more; `None` where a page has none.
fn take_rooms(
    skinner: &Skinner,
    held: &mut Held,
    pages: &mut [Arena],
    slices: &[Slice],
    wanted: &[usize],
) -> Option<Vec<Option<Room>>> {
    let mut taken = Vec::new();
    let mut rooms = Vec::with_capacity(slices.len());
    for (slice, wanted) in slices.iter().zip(wanted) {
        if slice.blend.is_none() {
            rooms.push(None);
            continue;
        }
        let count = wanted.next_power_of_two();
        let (page, bytes) = (&mut pages[slice.page], count as u64 * 4);
        let first = match page.has_room(bytes) {
            true => page.take(skinner, bytes).ok(),
            false => None,
        };
        let Some(first) = first else {
            for (page, first, bytes) in taken {
                let page: &mut Arena = &mut pages[page];
                page.give_back(first, bytes);
            }
            return None;
        };
        taken.push((slice.page, first, bytes));
        rooms.push(Some(Room {
            first: (first / 4) as u32,
            count,
        }));
    }
    for (page, first, bytes) in taken {
        held.hold(page, first..first + bytes);
    }
    Some(rooms)
}
