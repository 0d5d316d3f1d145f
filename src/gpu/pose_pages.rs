//! Poses as the GPU has them: retained from frame to frame, with what has changed since. No GPU calls here.

use std::collections::HashMap;
use std::sync::Arc;

use super::changed::Changed;
use super::posing::{Before, address};
use super::rig_palettes::{RigPalettes, RigPlaces};
use super::rigs::HeldRig;
use super::skinner::Limits;
use super::{GpuError, RigId};
use crate::kernel::{JointTransform, NONE, PackedPose, Palette};
use crate::math::Rows;

const BLOCK: u64 = size_of::<Rows>() as u64;

/// Bytes of palettes between two that changed that are uploaded with them, since a copy costs more than these.
const GAP: u32 = 16 << 10;

/// Pose data of one page: what the buffers hold, or will after the next frame.
#[derive(Debug, Default)]
pub(super) struct PosePage {
    palettes: Vec<Rows>,
    /// Ways out of skeleton space, for points and for normals. They lie behind the palettes in the same buffer, so that a
    /// crowd that moves as a whole changes one range.
    posts: Vec<[Rows; 2]>,
    channels: Vec<f32>,
    /// Palettes that the GPU makes, which lie behind all that is uploaded.
    pub rigs: RigPalettes,
    /// How many the weights kernel writes.
    pub sub_weights: u32,
    changed_palettes: Changed,
    changed_posts: Changed,
    changed_channels: Changed,
}

impl PosePage {
    /// Bytes of palettes and ways out.
    pub fn palette_bytes(&self) -> u64 {
        (self.palettes.len() + 2 * self.posts.len()) as u64 * BLOCK + self.rigs.palette_bytes()
    }

    pub fn channel_bytes(&self) -> u64 {
        self.channels.len() as u64 * 4
    }

    /// Row of the first way out.
    fn first_post(&self) -> u32 {
        self.palettes.len() as u32 * 3
    }

    /// Row of the first palette that the GPU makes.
    pub fn first_of_rigs(&self) -> u32 {
        self.first_post() + self.posts.len() as u32 * 6
    }

    /// What the GPU lacks of palettes and ways out: byte offsets, and bytes.
    pub fn changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        let posts = self.palettes.len() as u64 * BLOCK;
        changes(&self.palettes, &self.changed_palettes, 0).chain(changes(
            &self.posts,
            &self.changed_posts,
            posts,
        ))
    }

    /// The same of channel weights.
    pub fn channel_changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        changes(&self.channels, &self.changed_channels, 0)
    }

    fn join(&mut self) {
        self.changed_palettes.join(GAP / BLOCK as u32);
        self.changed_posts.join(GAP / (2 * BLOCK as u32));
        self.changed_channels.join(GAP / 4);
        self.rigs.join(GAP);
    }

    fn set_uploaded(&mut self) {
        self.changed_palettes.clear();
        self.changed_posts.clear();
        self.changed_channels.clear();
        self.rigs.set_uploaded();
    }

    fn mark_all(&mut self) {
        self.changed_palettes.mark_all(self.palettes.len());
        self.changed_posts.mark_all(self.posts.len());
        self.changed_channels.mark_all(self.channels.len());
        self.rigs.mark_all();
    }
}

/// Changed elements of a copy, by byte of a buffer that it begins at.
pub(super) fn changes<'a, T: bytemuck::NoUninit>(
    all: &'a [T],
    changed: &'a Changed,
    first: u64,
) -> impl Iterator<Item = (u64, &'a [u8])> + Clone {
    changed.ranges().iter().map(move |range| {
        let at = first + u64::from(range.start) * size_of::<T>() as u64;
        let elements = &all[range.start as usize..range.end as usize];
        (at, bytemuck::cast_slice(elements))
    })
}

/// Overwrites elements, and marks them where that changes a bit.
pub(super) fn write<T: bytemuck::NoUninit>(
    all: &mut [T],
    changed: &mut Changed,
    first: u32,
    parts: &[&[T]],
) {
    let mut at = first as usize;
    let mut differs = false;
    for part in parts {
        let to = &mut all[at..at + part.len()];
        differs =
            differs || bytemuck::cast_slice::<T, u8>(to) != bytemuck::cast_slice::<T, u8>(part);
        if differs {
            to.copy_from_slice(part);
        }
        at += part.len();
    }
    if differs {
        changed.mark(first..at as u32);
    }
}

/// Where a pose lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub page: usize,
    /// Number of its way out among those of the page, which lie behind all palettes; [`NONE`] for what only blends.
    post: u32,
    /// First channel weight.
    pub channels: u32,
    /// First sub-shape weight.
    pub sub_weights: u32,
    /// Of [`PosePages::regions`]; [`NONE`] without a palette.
    region: u32,
    /// Of the palettes that the GPU makes, or [`NONE`].
    rig: u32,
    shape: Shape,
}

/// What of a pose says how its items look. A pose of another shape needs another plan.
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
            scales: [pose.scales_points(), pose.scales_normals()],
            mirrors: pose.mirrors(),
        }
    }
}

/// A palette, and who reads it.
#[derive(Debug)]
struct Region {
    /// First block in its page.
    first: u32,
    users: u32,
    /// Address of the palette that was set last; a user has it, so that no other can have the address.
    palette: usize,
    /// Users that are known to have that one.
    agree: u32,
}

/// All pages, and where every pose lies.
#[derive(Debug, Default)]
pub(super) struct PosePages {
    pub pages: Vec<PosePage>,
    regions: Vec<Region>,
    /// By slot; `None` for instances that frames leave out.
    sites: Vec<Option<Site>>,
    rigs: RigPlaces,
    /// Regions whose users have different palettes by now.
    apart: usize,
}

impl PosePages {
    /// Takes another pose of the instance in a slot. False where it needs another plan.
    pub fn update(&mut self, slot: u32, before: Before, new: &PackedPose) -> bool {
        // Those that are hidden have none.
        let Some(Some(site)) = self.sites.get(slot as usize) else {
            return true;
        };
        if site.shape != Shape::of(new) {
            return false;
        }
        let page = &mut self.pages[site.page];
        if let (Some(palette), Some(region)) =
            (new.palette(), self.regions.get_mut(site.region as usize))
        {
            let was_apart = region.agree < region.users;
            let now = address(palette);
            // A palette that is written again is nobody else's.
            if region.palette != now || before.is_rewritten {
                (region.palette, region.agree) = (now, 1);
                let to = &mut page.palettes;
                write(
                    to,
                    &mut page.changed_palettes,
                    region.first,
                    &palette.parts(),
                );
            } else if before.palette != Some(now) {
                region.agree += 1;
            }
            match (was_apart, region.agree < region.users) {
                (false, true) => self.apart += 1,
                (true, false) => self.apart -= 1,
                _ => {}
            }
        }
        if site.post != NONE {
            let post = [*new.post(), *new.post_normal()];
            write(
                &mut page.posts,
                &mut page.changed_posts,
                site.post,
                &[&[post]],
            );
        }
        if site.channels != NONE {
            let weights = new.channel_weights();
            write(
                &mut page.channels,
                &mut page.changed_channels,
                site.channels,
                &[weights],
            );
        }
        true
    }

    /// Takes other local transforms of a rig.
    pub fn update_joints(&mut self, rig: u32, joints: &[JointTransform]) {
        for place in self.rigs.of_rig(rig) {
            self.pages[place.page].rigs.update(place, joints);
        }
    }

    /// Where the pose of the instance in a slot lies, with the first row of its palette and of its way out.
    pub fn find(&self, slot: u32) -> Option<(Site, u32, u32)> {
        let site = (*self.sites.get(slot as usize)?)?;
        let page = &self.pages[site.page];
        let palette = match (self.regions.get(site.region as usize), site.rig) {
            (Some(region), _) => region.first * 3,
            (None, NONE) => 0,
            (None, rig) => page.first_of_rigs() + page.rigs.palette_row(self.rigs.place(rig)),
        };
        let post = match site.post {
            NONE => 0,
            number => page.first_post() + number * 6,
        };
        Some((site, palette, post))
    }

    /// Whether every pose is where items look for it: not so where instances that had one palette have several.
    pub fn is_whole(&self) -> bool {
        self.apart == 0
    }

    /// Sorts and joins what has changed.
    pub fn join(&mut self) {
        self.pages.iter_mut().for_each(PosePage::join);
    }

    /// Everything is uploaded.
    pub fn set_uploaded(&mut self) {
        self.pages.iter_mut().for_each(PosePage::set_uploaded);
    }

    /// Nothing is uploaded.
    pub fn mark_all(&mut self) {
        self.pages.iter_mut().for_each(PosePage::mark_all);
    }
}

/// Pages being filled.
#[derive(Debug)]
pub(super) struct Placing<'a> {
    limits: &'a Limits,
    poses: PosePages,
    /// The region of the pose before: neighbours often share one.
    last: Option<u32>,
    /// Regions of the current page whose palettes something else refers to as well; no other can come again.
    shared: HashMap<usize, u32>,
    /// Rigs of the current page, and where they are posed.
    rigs: HashMap<u32, u32>,
}

impl<'a> Placing<'a> {
    pub fn new(limits: &'a Limits, slots: usize) -> Self {
        Self {
            limits,
            poses: PosePages {
                pages: vec![PosePage::default()],
                sites: vec![None; slots],
                ..PosePages::default()
            },
            last: None,
            shared: HashMap::new(),
            rigs: HashMap::new(),
        }
    }

    /// The pages, nothing of them uploaded.
    pub fn finish(mut self) -> PosePages {
        for page in &mut self.poses.pages {
            page.rigs.settle();
        }
        self.poses.mark_all();
        self.poses
    }

    /// Finds room for the pose of the instance in a slot, which a rig moves or none, and whose shapes have so many
    /// sub-shapes.
    pub fn place(
        &mut self,
        slot: u32,
        pose: &PackedPose,
        rig: Option<(RigId, &HeldRig)>,
        sub_shapes: Option<u32>,
    ) -> Result<(), GpuError> {
        let (number, found) = self.open_page(pose, rig, sub_shapes)?;
        let PosePages {
            pages,
            regions,
            sites,
            rigs,
            ..
        } = &mut self.poses;
        let page = &mut pages[number];
        let mut site = Site {
            page: number,
            post: NONE,
            channels: NONE,
            sub_weights: page.sub_weights,
            region: NONE,
            rig: NONE,
            shape: Shape::of(pose),
        };
        if let Some(palette) = pose.palette() {
            let region = found.unwrap_or_else(|| {
                let first = page.palettes.len() as u32;
                palette
                    .parts()
                    .iter()
                    .for_each(|part| page.palettes.extend_from_slice(part));
                regions.push(Region {
                    first,
                    users: 0,
                    palette: address(palette),
                    agree: 0,
                });
                regions.len() as u32 - 1
            });
            if self.last != Some(region) && Arc::strong_count(palette) > 1 {
                self.shared.insert(address(palette), region);
            }
            self.last = Some(region);
            let of_palette = &mut regions[region as usize];
            (of_palette.users, of_palette.agree) = (of_palette.users + 1, of_palette.agree + 1);
            site.region = region;
        }
        if let Some((id, rig)) = rig {
            let place = self.rigs.entry(id.slot());
            site.rig = *place.or_insert_with(|| rigs.add(number, &mut page.rigs, id, rig));
        }
        if pose.is_skinned() {
            site.post = page.posts.len() as u32;
            page.posts.push([*pose.post(), *pose.post_normal()]);
        }
        if let Some(count) = sub_shapes {
            site.channels = page.channels.len() as u32;
            page.channels.extend_from_slice(pose.channel_weights());
            page.sub_weights += count;
        }
        sites[slot as usize] = Some(site);
        Ok(())
    }

    /// The region of a palette in the current page.
    fn find(&self, palette: &Arc<Palette>) -> Option<u32> {
        let address = address(palette);
        match self.last {
            Some(last) if self.poses.regions[last as usize].palette == address => Some(last),
            _ if Arc::strong_count(palette) == 1 => None,
            _ => self.shared.get(&address).copied(),
        }
    }

    /// The page that the next pose goes to: the last one, or a new one where that is full; and the region of its
    /// palette, where the page has it.
    fn open_page(
        &mut self,
        pose: &PackedPose,
        rig: Option<(RigId, &HeldRig)>,
        sub_shapes: Option<u32>,
    ) -> Result<(usize, Option<u32>), GpuError> {
        let limit = self.limits.binding_bytes;
        let found = match rig {
            Some((id, _)) => self.rigs.get(&id.slot()).copied(),
            None => pose.palette().and_then(|palette| self.find(palette)),
        };
        let packed = rig.map(|(_, rig)| &*rig.packed);
        let blocks = |found: Option<u32>| match (pose.palette(), packed, found) {
            (None, None, _) => 0,
            (_, _, Some(_)) => 2,
            (Some(palette), _, None) => 2 + palette.blocks() as u64,
            (None, Some(rig), None) => 2 + rig.blocks() as u64,
        };
        let bytes = |page: &PosePage, found: Option<u32>| {
            let channels = page.channel_bytes() + pose.channel_weights().len() as u64 * 4;
            let sub_weights = u64::from(page.sub_weights) + u64::from(sub_shapes.unwrap_or(0));
            let more = packed.filter(|_| found.is_none());
            (page.palette_bytes() + blocks(found) * BLOCK)
                .max(channels)
                .max(sub_weights * 4)
                .max(page.rigs.largest_with(more))
        };
        let number = self.poses.pages.len() - 1;
        let last = &self.poses.pages[number];
        if bytes(last, found) <= limit {
            return Ok((number, found));
        }
        self.last = None;
        self.shared.clear();
        self.rigs.clear();
        let fresh = PosePage::default();
        let asked = bytes(&fresh, None);
        if asked > limit {
            return Err(GpuError::Limit {
                what: "bytes of one palette or one pose's weights".into(),
                asked,
                limit,
            });
        }
        self.poses.pages.push(fresh);
        Ok((number + 1, None))
    }
}
