//! The poses of a frame as the GPU reads them. They are kept from frame to frame, with marks for
//! changed ranges.

use std::collections::HashMap;

use super::ranges::{Ranges, is_sparse, spare};
use super::rig_palettes::{PlacedRig, RigPalettes, RigPlace, RigPlaces};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::memory::dirty_ranges::Mirrored;
use crate::gpu::store::instances::{InstanceId, note};
use crate::gpu::store::palettes::PaletteId;
use crate::gpu::store::pose_buffers::{CHANNELS, JOINTS, PALETTES, PLAYERS, PoseBytes};
use crate::gpu::store::poses::Source;
use crate::gpu::store::rigs::RigId;
use crate::kernel::{JointTransform, NONE, PackedPose, PackedRig, Palette, Player};
use crate::math::Rows;

const BLOCK: u64 = size_of::<Rows>() as u64;

/// Two changed ranges with at most this many bytes between them are uploaded as one, because a copy
/// costs more than these bytes (benches/NOTES.md).
pub const GAP: u32 = 512;

/// Least number of values of each kind that a page has room for beside those of the plan.
const SPARE: u32 = 64;

/// Size of this many sub-shape weights in whole rows, in bytes.
fn weight_bytes(count: u32) -> u64 {
    u64::from(count).next_multiple_of(4) * 4
}

/// Values of instances, and a copy of what their buffer holds or will hold after the next frame.
#[derive(Debug, Default)]
struct Region<T> {
    values: Mirrored<T>,
    ranges: Ranges,
}

impl<T: bytemuck::Pod> Region<T> {
    /// Finds room for these values, and copies them. `None` without room.
    fn add(&mut self, parts: &[&[T]]) -> Option<u32> {
        let count: usize = parts.iter().map(|part| part.len()).sum();
        let first = self.ranges.take(count as u32)?;
        let known = self.values.len();
        self.values.grow(first as usize + count);
        self.values.write(first, parts);
        // The buffer may have something of an older plan behind what this one has put there.
        self.values.mark_from(known);
        Some(first)
    }

    /// Size of its part of a buffer, in bytes.
    fn bytes(&self) -> u64 {
        u64::from(self.ranges.room()) * size_of::<T>() as u64
    }

    /// Fixes its room, within `left` bytes more than it has, and takes those off.
    fn settle(&mut self, part: u32, left: &mut u64) {
        let most = (*left / size_of::<T>() as u64).min(u64::from(u32::MAX)) as u32;
        let more = spare(self.ranges.room(), part, SPARE).min(most);
        self.ranges.settle(more);
        *left -= u64::from(more) * size_of::<T>() as u64;
    }
}

/// The poses of one page: a copy of what its buffers hold, or will hold after the next frame.
#[derive(Debug, Default)]
pub struct PosePage {
    palettes: Region<Rows>,
    /// `out_from_skel` matrices for points and for normals. They lie after the palettes in the same
    /// buffer, so that one changed range covers a crowd that moves as a whole.
    posts: Region<[Rows; 2]>,
    channels: Region<f32>,
    /// Palettes that the GPU computes. They lie after everything that is uploaded.
    pub rigs: RigPalettes,
    /// Sub-shape weights, which the weights kernel writes. They lie last in the buffer of palettes.
    sub_weights: Ranges,
}

impl PosePage {
    /// Size of the palettes, `out_from_skel` matrices and sub-shape weights, in bytes.
    fn palette_bytes(&self) -> u64 {
        let weights = weight_bytes(self.sub_weights.room());
        self.palettes.bytes() + self.posts.bytes() + self.rigs.palette_bytes() + weights
    }

    /// Bytes that it needs of each buffer.
    pub fn bytes(&self) -> PoseBytes {
        [
            self.palette_bytes(),
            self.channels.bytes(),
            self.rigs.joint_bytes(),
            self.rigs.cached_bytes(),
            self.rigs.players.bytes(),
        ]
    }

    /// Row of the first `out_from_skel` matrix.
    fn first_post(&self) -> u32 {
        self.palettes.ranges.room() * 3
    }

    /// Row of the first palette that the GPU computes.
    pub fn first_of_rigs(&self) -> u32 {
        self.first_post() + self.posts.ranges.room() * 6
    }

    /// Float of the first sub-shape weight.
    fn first_weight(&self) -> u32 {
        self.first_of_rigs() * 4 + (self.rigs.palette_bytes() / 4) as u32
    }

    /// The ranges that still have to be uploaded: the buffer of each, its first byte, and the bytes.
    pub fn changes(&self) -> impl Iterator<Item = (usize, u64, &[u8])> + Clone {
        let to = |kind| move |(at, bytes)| (kind, at, bytes);
        let posts = self.posts.values.changes(self.palettes.bytes());
        let palettes = self.palettes.values.changes(0).chain(posts);
        palettes
            .map(to(PALETTES))
            .chain(self.channels.values.changes(0).map(to(CHANNELS)))
            .chain(self.rigs.joint_changes().map(to(JOINTS)))
            .chain(self.rigs.player_changes().map(to(PLAYERS)))
    }

    fn join(&mut self) {
        self.palettes.values.join(GAP);
        self.posts.values.join(GAP);
        // Between the weights of the host, the GPU writes those that clips drive.
        let gap = if self.rigs.has_players() { 0 } else { GAP };
        self.channels.values.join(gap);
        self.rigs.join(GAP);
    }

    fn set_uploaded(&mut self) {
        self.palettes.values.set_uploaded();
        self.posts.values.set_uploaded();
        self.channels.values.set_uploaded();
        self.rigs.set_uploaded();
    }

    /// Fixes where everything lies, with room for what edits add.
    fn settle(&mut self, limit: u64) {
        self.rigs.settle();
        let mut left = limit.saturating_sub(self.palette_bytes());
        // Palettes are large.
        self.posts.settle(1, &mut left);
        self.palettes.settle(4, &mut left);
        self.channels
            .settle(4, &mut limit.saturating_sub(self.channels.bytes()));
        // Whole rows.
        let left = (left / 4).min(u64::from(u32::MAX)) as u32;
        let more = spare(self.sub_weights.room(), 4, SPARE).min(left) & !3;
        self.sub_weights.settle(more);
    }

    /// Whether an edit may add the pose of an instance that moves with a rig of this page, has a
    /// palette of its own, or shares one of this page.
    fn has_room(&self, pose: &PackedPose, own_blocks: u32, sub_shapes: Option<u32>) -> bool {
        let channels = sub_shapes.map_or(0, |_| pose.channel_weights().len() as u32);
        self.palettes.ranges.has(own_blocks)
            && self.posts.ranges.has(u32::from(pose.is_skinned()))
            && self.channels.ranges.has(channels)
            && self.sub_weights.has(sub_shapes.unwrap_or(0))
    }
}

/// Where a pose lies, as the items of its instance refer to it.
#[derive(Clone, Copy, Debug)]
pub struct PosePlace {
    pub page: usize,
    /// First row of its palette.
    pub palette: u32,
    /// First row of its `out_from_skel` matrices.
    pub post: u32,
    /// First channel weight.
    pub channels: u32,
    /// Float of the first sub-shape weight.
    pub sub_weights: u32,
}

/// Where a pose lies, with what is needed to update it.
#[derive(Clone, Copy, Debug)]
struct Site {
    id: InstanceId,
    page: usize,
    /// Index of its `out_from_skel` matrices in the page; [`NONE`] for a prim that only blends.
    post: u32,
    /// First channel weight, and their number.
    channels: u32,
    channel_count: u32,
    /// First sub-shape weight, and their number.
    sub_weights: u32,
    sub_weight_count: u32,
    /// First block of its palette in the page, or [`NONE`].
    palette: u32,
    /// The palette that other instances may use, too.
    shared: Option<PaletteId>,
    /// Its place among the palettes that the GPU computes.
    rig: Option<RigPlace>,
    shape: Shape,
}

/// The properties of a pose that items depend on. If they change, the instance needs other items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    blocks: usize,
    scales: [bool; 2],
    mirrors: bool,
}

impl Shape {
    fn of(pose: &PackedPose) -> Self {
        Self {
            blocks: pose.palette().map_or(0, |palette| palette.blocks()),
            scales: pose.scales,
            mirrors: pose.mirrors,
        }
    }
}

/// A palette that instances share, in one page.
#[derive(Clone, Copy, Debug)]
struct SharedPlace {
    page: usize,
    /// Its first block, and their number.
    first: u32,
    blocks: usize,
    /// Number of instances of the page that use it.
    users: u32,
}

/// All pages, and the place of every pose.
#[derive(Debug, Default)]
pub struct PosePages {
    pub pages: Vec<PosePage>,
    /// By instance index; `None` for instances that are not shown.
    sites: Vec<Option<Site>>,
    /// Where each shared palette lies. It may lie in several pages.
    shared: HashMap<PaletteId, Vec<SharedPlace>>,
    rigs: RigPlaces,
    /// Instances whose channel weights changed since the last frame.
    pub reweighted: Vec<InstanceId>,
    /// Whether the next frame uploads over what clips drive, so that it has to update all rigs that
    /// play, whatever their rate.
    pub overwrites_players: bool,
}

impl PosePages {
    /// Updates the pose of an instance. [`PosePages::update_palette`] updates a shared palette. False
    /// if the pose changed its shape, so that the instance needs other items.
    pub fn update(&mut self, id: InstanceId, new: &PackedPose) -> bool {
        // Hidden instances have no site, and new ones have none yet.
        let site = self.sites.get(id.index() as usize).copied().flatten();
        let Some(site) = site.filter(|site| site.id == id) else {
            return true;
        };
        if site.shape != Shape::of(new) {
            return false;
        }
        let page = &mut self.pages[site.page];
        if let Some(palette) = new.palette().filter(|_| site.shared.is_none()) {
            page.palettes.values.write(site.palette, &palette.parts());
        }
        if site.post != NONE {
            let post = [*new.post(), *new.post_normal()];
            page.posts.values.write(site.post, &[&[post]]);
        }
        if site.channels != NONE {
            let weights = new.channel_weights();
            if page.channels.values.write(site.channels, &[weights]) {
                self.overwrites_players |= page.rigs.has_players();
                note(&mut self.reweighted, id);
            }
        }
        true
    }

    /// Updates a palette that instances share. One of another size gets another place, as the poses of
    /// its instances do.
    pub fn update_palette(&mut self, id: PaletteId, palette: &Palette) {
        let places = self.shared.get(&id).into_iter().flatten();
        for place in places.filter(|place| place.blocks == palette.blocks()) {
            let palettes = &mut self.pages[place.page].palettes.values;
            palettes.write(place.first, &palette.parts());
        }
    }

    /// Updates the local transforms of a rig. If it played, the GPU has written others, and other
    /// channel weights of its instances than the host's.
    pub fn update_joints(&mut self, rig: RigId, joints: &[JointTransform], played: bool) {
        for place in self.rigs.of_rig(rig) {
            let page = &mut self.pages[place.page];
            page.rigs.update(place, joints, played);
            if played && page.channels.values.len() > 0 {
                page.channels.values.mark_all();
                self.overwrites_players = true;
            }
        }
    }

    /// Updates the state of a rig that plays.
    pub fn update_player(&mut self, rig: RigId, player: &Player) {
        for place in self.rigs.of_rig(rig) {
            self.pages[place.page].rigs.update_player(place, player);
        }
    }

    /// A place of a rig: its page, and the place in it.
    fn place_of(&self, rig: RigId) -> Option<(&PosePage, RigPlace)> {
        let place = self.rigs.of_rig(rig).next()?;
        Some((&self.pages[place.page], place))
    }

    /// Page and first byte of the local transforms of a rig.
    pub fn find_joints(&self, rig: RigId) -> Option<(usize, u64)> {
        let (page, place) = self.place_of(rig)?;
        Some((place.page, page.rigs.joint_byte(place)))
    }

    /// Page and first row of the palette that the GPU computes for a rig.
    pub fn find_palette(&self, rig: RigId) -> Option<(usize, u32)> {
        let (page, place) = self.place_of(rig)?;
        let row = page.first_of_rigs() + page.rigs.palette_row(place);
        Some((place.page, row))
    }

    /// The player of the rig that an instance moves with, and that rig.
    pub fn find_player(&self, index: u32) -> Option<(u32, &PackedRig)> {
        let site = (*self.sites.get(index as usize)?)?;
        let (page, place) = (&self.pages[site.page], site.rig?);
        Some((page.rigs.player_index(place), page.rigs.rig(place)))
    }

    /// Where the pose of an instance lies, by index.
    pub fn find(&self, index: u32) -> Option<PosePlace> {
        let site = (*self.sites.get(index as usize)?)?;
        let page = &self.pages[site.page];
        let palette = match (site.palette, site.rig) {
            (NONE, None) => 0,
            (NONE, Some(rig)) => page.first_of_rigs() + page.rigs.palette_row(rig),
            (block, _) => block * 3,
        };
        let post = match site.post {
            NONE => 0,
            number => page.first_post() + number * 6,
        };
        Some(PosePlace {
            page: site.page,
            palette,
            post,
            channels: site.channels,
            sub_weights: page.first_weight() + site.sub_weights,
        })
    }

    /// Whether edits left more ranges idle than poses use, of some kind.
    pub fn is_sparse(&self) -> bool {
        let kinds: [fn(&PosePage) -> &Ranges; 4] = [
            |page| &page.palettes.ranges,
            |page| &page.posts.ranges,
            |page| &page.channels.ranges,
            |page| &page.sub_weights,
        ];
        kinds.iter().any(|ranges| {
            let of = self.pages.iter().map(|page| ranges(page).idle_and_used());
            let (idle, used) = of.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            is_sparse(idle, used)
        })
    }

    /// Sorts and joins the changed ranges.
    pub fn join(&mut self) {
        self.pages.iter_mut().for_each(PosePage::join);
    }

    /// Clears the marks, after everything was uploaded.
    pub fn set_uploaded(&mut self) {
        self.pages.iter_mut().for_each(PosePage::set_uploaded);
        self.overwrites_players = false;
        self.reweighted.clear();
    }

    /// Frees the room of the pose of whatever instance had this index.
    pub fn remove(&mut self, index: u32) {
        let site = self.sites.get_mut(index as usize).and_then(Option::take);
        let Some(site) = site else {
            return;
        };
        let page = &mut self.pages[site.page];
        let others = site
            .shared
            .map_or(0, |id| leave(&mut self.shared, id, site.page));
        if site.palette != NONE && others == 0 {
            let blocks = site.shape.blocks as u32;
            page.palettes.ranges.give_back(site.palette, blocks);
        }
        if site.post != NONE {
            page.posts.ranges.give_back(site.post, 1);
        }
        if site.channels != NONE {
            page.channels
                .ranges
                .give_back(site.channels, site.channel_count);
            page.sub_weights
                .give_back(site.sub_weights, site.sub_weight_count);
        }
    }

    /// Finds room for the pose of one more instance. False if there is none, or if no page has its
    /// rig or shared palette: then the frame needs another plan.
    pub fn add(&mut self, new: &NewPose<'_>) -> bool {
        let blocks = new
            .pose
            .palette()
            .map_or(0, |palette| palette.blocks() as u32);
        let numbers = (0..self.pages.len()).rev();
        let number = match (new.source, new.pose.palette()) {
            (Source::Rig(rig), _) => {
                let pages = self
                    .rigs
                    .of_rig(rig)
                    .map(|place| (place.page, NONE, Some(place)));
                self.with_room(new, 0, pages)
            }
            (Source::Palette(id), Some(_)) => {
                let there = self.shared.get(&id).into_iter().flatten();
                let there = there.map(|place| (place.page, place.first, None));
                let found = self.with_room(new, 0, there);
                found
                    .or_else(|| self.with_room(new, blocks, numbers.map(|page| (page, NONE, None))))
            }
            _ => self.with_room(new, blocks, numbers.map(|page| (page, NONE, None))),
        };
        let Some((number, palette, rig)) = number else {
            return false;
        };
        self.put(number, new, palette, rig)
    }

    /// The first of some pages that has room.
    fn with_room<T>(
        &self,
        new: &NewPose<'_>,
        own_blocks: u32,
        mut pages: impl Iterator<Item = (usize, u32, T)>,
    ) -> Option<(usize, u32, T)> {
        let sub_shapes = new.sub_shapes;
        pages.find(|(page, ..)| self.pages[*page].has_room(new.pose, own_blocks, sub_shapes))
    }

    /// Copies a pose to a page. `palette`: the first block of the palette that it shares, if that
    /// is there. False without room.
    fn put(
        &mut self,
        number: usize,
        new: &NewPose<'_>,
        palette: u32,
        rig: Option<RigPlace>,
    ) -> bool {
        let pose = new.pose;
        let page = &mut self.pages[number];
        let mut site = Site {
            id: new.id,
            page: number,
            post: NONE,
            channels: NONE,
            channel_count: 0,
            sub_weights: 0,
            sub_weight_count: 0,
            palette,
            shared: match new.source {
                Source::Palette(id) => pose.palette().map(|_| id),
                _ => None,
            },
            rig,
            shape: Shape::of(pose),
        };
        let mut copy = || {
            if let Some(palette) = pose.palette().filter(|_| site.palette == NONE) {
                site.palette = page.palettes.add(&palette.parts())?;
            }
            if let Some(id) = site.shared {
                let places = self.shared.entry(id).or_default();
                match places.iter_mut().find(|place| place.page == number) {
                    Some(place) => place.users += 1,
                    None => places.push(SharedPlace {
                        page: number,
                        first: site.palette,
                        blocks: site.shape.blocks,
                        users: 1,
                    }),
                }
            }
            if pose.is_skinned() {
                site.post = page.posts.add(&[&[[*pose.post(), *pose.post_normal()]]])?;
            }
            if let Some(count) = new.sub_shapes {
                let weights = pose.channel_weights();
                site.channels = page.channels.add(&[weights])?;
                if page.rigs.has_players() {
                    // The GPU may have written others there.
                    page.channels.values.restore(site.channels, weights);
                    self.overwrites_players = true;
                }
                site.channel_count = weights.len() as u32;
                site.sub_weights = page.sub_weights.take(count)?;
                site.sub_weight_count = count;
            }
            Some(())
        };
        let is_put = copy().is_some();
        let index = new.id.index() as usize;
        if index >= self.sites.len() {
            self.sites.resize(index + 1, None);
        }
        self.sites[index] = is_put.then_some(site);
        is_put
    }
}

/// Takes an instance from those that share a palette in a page, and returns how many are left.
fn leave(shared: &mut HashMap<PaletteId, Vec<SharedPlace>>, id: PaletteId, page: usize) -> u32 {
    let Some(places) = shared.get_mut(&id) else {
        return 0;
    };
    let mut left = 0;
    places.retain_mut(|place| {
        if place.page == page {
            place.users -= 1;
            left = place.users;
        }
        place.users > 0
    });
    if places.is_empty() {
        shared.remove(&id);
    }
    left
}

/// The pose of an instance that needs a place.
#[derive(Clone, Copy, Debug)]
pub struct NewPose<'a> {
    pub id: InstanceId,
    pub pose: &'a PackedPose,
    /// Where its palette comes from.
    pub source: Source,
    /// The number of sub-shapes of the skin's blend shapes.
    pub sub_shapes: Option<u32>,
}

/// Pages that are being filled with poses.
#[derive(Debug)]
pub struct PosePacker<'a> {
    limits: &'a WorkLimits,
    poses: PosePages,
    /// Index of the place of each rig in the current page, by rig index.
    rigs: HashMap<u32, u32>,
}

impl<'a> PosePacker<'a> {
    /// Creates pages for `index_count` instance indices.
    pub fn new(limits: &'a WorkLimits, index_count: usize) -> Self {
        Self {
            limits,
            poses: PosePages {
                pages: vec![PosePage::default()],
                sites: vec![None; index_count],
                ..PosePages::default()
            },
            rigs: HashMap::new(),
        }
    }

    /// The finished pages, with everything marked for upload.
    pub fn finish(mut self) -> PosePages {
        for page in &mut self.poses.pages {
            page.settle(self.limits.binding_bytes);
        }
        self.poses.overwrites_players = false;
        self.poses
    }

    /// Finds room for the pose of an instance. `rig`: the rig that it moves with, if the GPU
    /// computes its palette.
    pub fn place(&mut self, new: &NewPose<'_>, rig: Option<PlacedRig<'_>>) -> Result<(), GpuError> {
        let shared = match new.source {
            Source::Palette(id) => Some(id),
            _ => None,
        };
        let number = self.open_page(new.pose, shared, rig, new.sub_shapes)?;
        let poses = &mut self.poses;
        let rig = rig.map(|rig| {
            let palettes = &mut poses.pages[number].rigs;
            let place = self.rigs.entry(rig.id.index());
            let place = *place.or_insert_with(|| poses.rigs.add(number, palettes, &rig));
            poses.rigs.place(place)
        });
        let there = self.shared_here(shared);
        self.poses.put(number, new, there.unwrap_or(NONE), rig);
        Ok(())
    }

    /// First block of a shared palette in the current page.
    fn shared_here(&self, id: Option<PaletteId>) -> Option<u32> {
        let page = self.poses.pages.len() - 1;
        let place = self.poses.shared.get(&id?)?.last()?;
        (place.page == page).then_some(place.first)
    }

    /// Finds room for the palette of a rig, also if no instance moves with it.
    pub fn place_rig(&mut self, rig: PlacedRig<'_>) -> Result<(), GpuError> {
        if self.rigs.contains_key(&rig.id.index()) {
            return Ok(());
        }
        let number = self.open_page(&PackedPose::default(), None, Some(rig), None)?;
        let poses = &mut self.poses;
        let palettes = &mut poses.pages[number].rigs;
        let place = poses.rigs.add(number, palettes, &rig);
        self.rigs.insert(rig.id.index(), place);
        Ok(())
    }

    /// Finds the page of the next pose: the last page, or a new one if that is full.
    fn open_page(
        &mut self,
        pose: &PackedPose,
        shared: Option<PaletteId>,
        rig: Option<PlacedRig<'_>>,
        sub_shapes: Option<u32>,
    ) -> Result<usize, GpuError> {
        let limit = self.limits.binding_bytes;
        let is_there = match (rig, shared) {
            (Some(rig), _) => self.rigs.contains_key(&rig.id.index()),
            (None, id) => self.shared_here(id).is_some(),
        };
        let packed = rig.map(|placed| &*placed.rig.packed);
        let blocks = |is_there: bool| match (pose.palette(), packed) {
            (None, None) => 0,
            _ if is_there => 2,
            (Some(palette), _) => 2 + palette.blocks() as u64,
            (None, Some(rig)) => 2 + rig.blocks() as u64,
        };
        let bytes = |page: &PosePage, is_there: bool| {
            let channels = page.channels.bytes() + pose.channel_weights().len() as u64 * 4;
            let sub_weights = weight_bytes(sub_shapes.unwrap_or(0));
            let more = packed.filter(|_| !is_there);
            (page.palette_bytes() + blocks(is_there) * BLOCK + sub_weights)
                .max(channels)
                .max(page.rigs.largest_with(more))
        };
        let number = self.poses.pages.len() - 1;
        if bytes(&self.poses.pages[number], is_there) <= limit {
            return Ok(number);
        }
        self.rigs.clear();
        let fresh = PosePage::default();
        let asked = bytes(&fresh, false);
        if asked > limit {
            let what = "bytes of one palette or one pose's weights";
            return Err(GpuError::limit(what, asked, limit));
        }
        self.poses.pages.push(fresh);
        Ok(number + 1)
    }
}

#[cfg(test)]
mod tests;
