//! The poses of a frame as the GPU reads them. They are kept from frame to frame, with marks for
//! changed ranges.

use std::collections::HashMap;

use super::rig_palettes::{PlacedRig, RigPalettes, RigPlace, RigPlaces};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::memory::dirty_ranges::Mirrored;
use crate::gpu::store::palettes::PaletteId;
use crate::gpu::store::pose_buffers::PoseBytes;
use crate::gpu::store::rigs::RigId;
use crate::kernel::{JointTransform, NONE, PackedPose, PackedRig, Palette, Player};
use crate::math::Rows;

const BLOCK: u64 = size_of::<Rows>() as u64;

/// Two changed ranges with at most this many bytes between them are uploaded as one, because a copy
/// costs more than these bytes.
const GAP: u32 = 16 << 10;

/// The poses of one page: a copy of what its buffers hold, or will hold after the next frame.
#[derive(Debug, Default)]
pub struct PosePage {
    palettes: Mirrored<Rows>,
    /// `out_from_skel` matrices for points and for normals. They lie after the palettes in the same
    /// buffer, so that one changed range covers a crowd that moves as a whole.
    posts: Mirrored<[Rows; 2]>,
    channels: Mirrored<f32>,
    /// Palettes that the GPU computes. They lie after everything that is uploaded.
    rigs: RigPalettes,
    /// Number of sub-shape weights. The weights kernel writes them.
    sub_weights: u32,
}

impl PosePage {
    /// Size of the palettes and `out_from_skel` matrices, in bytes.
    fn palette_bytes(&self) -> u64 {
        self.palettes.bytes() + self.posts.bytes() + self.rigs.palette_bytes()
    }

    /// Bytes that it needs of each buffer.
    pub fn bytes(&self) -> PoseBytes {
        PoseBytes {
            palettes: self.palette_bytes(),
            channels: self.channels.bytes(),
            sub_weights: u64::from(self.sub_weights) * 4,
            joints: self.rigs.joint_bytes(),
            cached: self.rigs.cached_bytes(),
            players: self.rigs.player_bytes(),
        }
    }

    /// The palettes that the GPU computes.
    pub fn rigs(&self) -> &RigPalettes {
        &self.rigs
    }

    /// Row of the first `out_from_skel` matrix.
    fn first_post(&self) -> u32 {
        self.palettes.len() as u32 * 3
    }

    /// Row of the first palette that the GPU computes.
    pub fn first_of_rigs(&self) -> u32 {
        self.first_post() + self.posts.len() as u32 * 6
    }

    /// The ranges of palettes and `out_from_skel` matrices that still have to be uploaded: byte
    /// offsets and bytes.
    pub fn palette_changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        let posts = self.palettes.bytes();
        self.palettes.changes(0).chain(self.posts.changes(posts))
    }

    /// The same for channel weights.
    pub fn channel_changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        self.channels.changes(0)
    }

    /// The same for local transforms.
    pub fn joint_changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        self.rigs.joint_changes()
    }

    /// The same for states of rigs that play.
    pub fn player_changes(&self) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        self.rigs.player_changes()
    }

    fn join(&mut self) {
        self.palettes.join(GAP);
        self.posts.join(GAP);
        // Between the weights of the host, the GPU writes those that clips drive.
        let gap = if self.rigs.has_players() { 0 } else { GAP };
        self.channels.join(gap);
        self.rigs.join(GAP);
    }

    fn set_uploaded(&mut self) {
        self.palettes.set_uploaded();
        self.posts.set_uploaded();
        self.channels.set_uploaded();
        self.rigs.set_uploaded();
    }

    fn mark_all(&mut self) {
        self.palettes.mark_all();
        self.posts.mark_all();
        self.channels.mark_all();
        self.rigs.mark_all();
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
    /// First sub-shape weight.
    pub sub_weights: u32,
}

/// Where a pose lies, with what is needed to update it.
#[derive(Clone, Copy, Debug)]
struct Site {
    page: usize,
    /// Index of its `out_from_skel` matrices in the page; [`NONE`] for a prim that only blends.
    post: u32,
    /// First channel weight.
    channels: u32,
    /// First sub-shape weight.
    sub_weights: u32,
    /// First block of its palette in the page, or [`NONE`].
    palette: u32,
    /// Whether other instances may use the same palette.
    is_shared: bool,
    /// Index of its place among the palettes that the GPU computes, or [`NONE`].
    rig: u32,
    shape: Shape,
}

/// The properties of a pose that items depend on. If they change, the frame needs another plan.
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

/// All pages, and the place of every pose.
#[derive(Debug, Default)]
pub struct PosePages {
    pages: Vec<PosePage>,
    /// By instance index; `None` for instances that are not shown.
    sites: Vec<Option<Site>>,
    /// Page and first block of each shared palette. A palette may lie in several pages.
    shared: HashMap<PaletteId, Vec<(usize, u32)>>,
    rigs: RigPlaces,
    /// Whether a pose changed its shape, so that the frame needs another plan.
    is_outdated: bool,
    /// Whether the next frame uploads over what clips drive, so that all rigs have to be updated.
    overwrites_players: bool,
}

impl PosePages {
    pub fn pages(&self) -> &[PosePage] {
        &self.pages
    }

    /// Whether a pose changed its shape, so that the frame needs another plan.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// Whether the next frame uploads over what clips drive, so that it has to update all rigs that
    /// play, whatever their rate.
    pub fn overwrites_players(&self) -> bool {
        self.overwrites_players
    }

    /// Updates the pose of an instance, by index. [`PosePages::update_palette`] updates a shared
    /// palette.
    pub fn update(&mut self, index: u32, new: &PackedPose) {
        // Hidden instances have no site.
        let Some(Some(site)) = self.sites.get(index as usize) else {
            return;
        };
        if site.shape != Shape::of(new) {
            self.is_outdated = true;
            return;
        }
        let page = &mut self.pages[site.page];
        if let Some(palette) = new.palette().filter(|_| !site.is_shared) {
            page.palettes.write(site.palette, &palette.parts());
        }
        if site.post != NONE {
            let post = [*new.post(), *new.post_normal()];
            page.posts.write(site.post, &[&[post]]);
        }
        if site.channels != NONE {
            let changes = page.channels.write(site.channels, &[new.channel_weights()]);
            self.overwrites_players |= changes && page.rigs.has_players();
        }
    }

    /// Updates a palette that instances share.
    pub fn update_palette(&mut self, id: PaletteId, palette: &Palette) {
        for (page, first) in self.shared.get(&id).into_iter().flatten() {
            self.pages[*page].palettes.write(*first, &palette.parts());
        }
    }

    /// Updates the local transforms of a rig. If it played, the GPU has written others, and other
    /// channel weights of its instances than the host's.
    pub fn update_joints(&mut self, rig: RigId, joints: &[JointTransform], played: bool) {
        for place in self.rigs.of_rig(rig) {
            let page = &mut self.pages[place.page];
            page.rigs.update(place, joints, played);
            if played && page.channels.len() > 0 {
                page.channels.mark_all();
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
        if site.rig == NONE {
            return None;
        }
        let (page, place) = (&self.pages[site.page], self.rigs.place(site.rig));
        Some((page.rigs.player_index(place), page.rigs.rig(place)))
    }

    /// Where the pose of an instance lies, by index.
    pub fn find(&self, index: u32) -> Option<PosePlace> {
        let site = (*self.sites.get(index as usize)?)?;
        let page = &self.pages[site.page];
        let palette = match (site.palette, site.rig) {
            (NONE, NONE) => 0,
            (NONE, rig) => page.first_of_rigs() + page.rigs.palette_row(self.rigs.place(rig)),
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
            sub_weights: site.sub_weights,
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
    }

    /// Marks everything for upload again.
    pub fn mark_all(&mut self) {
        self.pages.iter_mut().for_each(PosePage::mark_all);
    }
}

/// Pages that are being filled with poses.
#[derive(Debug)]
pub struct Placing<'a> {
    limits: &'a WorkLimits,
    poses: PosePages,
    /// First block of each shared palette of the current page.
    shared: HashMap<PaletteId, u32>,
    /// Index of the place of each rig in the current page, by rig index.
    rigs: HashMap<u32, u32>,
}

impl<'a> Placing<'a> {
    /// Creates pages for `index_count` instance indices.
    pub fn new(limits: &'a WorkLimits, index_count: usize) -> Self {
        Self {
            limits,
            poses: PosePages {
                pages: vec![PosePage::default()],
                sites: vec![None; index_count],
                ..PosePages::default()
            },
            shared: HashMap::new(),
            rigs: HashMap::new(),
        }
    }

    /// The finished pages, with everything marked for upload.
    pub fn finish(mut self) -> PosePages {
        for page in &mut self.poses.pages {
            page.rigs.settle();
        }
        self.poses.mark_all();
        self.poses
    }

    /// Finds room for the pose of an instance, by index.
    ///
    /// - `shared`: the palette, if instances share it.
    /// - `rig`: the rig that the instance moves with, if the GPU computes its palette.
    /// - `sub_shapes`: the number of sub-shapes of the skin's blend shapes.
    pub fn place(
        &mut self,
        index: u32,
        pose: &PackedPose,
        shared: Option<PaletteId>,
        rig: Option<PlacedRig<'_>>,
        sub_shapes: Option<u32>,
    ) -> Result<(), GpuError> {
        let number = self.open_page(pose, shared, rig, sub_shapes)?;
        let poses = &mut self.poses;
        let page = &mut poses.pages[number];
        let mut site = Site {
            page: number,
            post: NONE,
            channels: NONE,
            sub_weights: page.sub_weights,
            palette: NONE,
            is_shared: shared.is_some(),
            rig: NONE,
            shape: Shape::of(pose),
        };
        if let Some(palette) = pose.palette() {
            let found = shared.and_then(|id| self.shared.get(&id).copied());
            site.palette = found.unwrap_or_else(|| {
                let first = page.palettes.len() as u32;
                for part in palette.parts() {
                    page.palettes.extend_from_slice(part);
                }
                if let Some(id) = shared {
                    self.shared.insert(id, first);
                    poses.shared.entry(id).or_default().push((number, first));
                }
                first
            });
        }
        if let Some(rig) = rig {
            let place = self.rigs.entry(rig.id.index());
            let add = || poses.rigs.add(number, &mut page.rigs, &rig);
            site.rig = *place.or_insert_with(add);
        }
        if pose.is_skinned() {
            site.post = page.posts.len() as u32;
            page.posts
                .extend_from_slice(&[[*pose.post(), *pose.post_normal()]]);
        }
        if let Some(count) = sub_shapes {
            site.channels = page.channels.len() as u32;
            page.channels.extend_from_slice(pose.channel_weights());
            page.sub_weights += count;
        }
        poses.sites[index as usize] = Some(site);
        Ok(())
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
            (None, Some(id)) => self.shared.contains_key(&id),
            (None, None) => false,
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
            let sub_weights = u64::from(page.sub_weights) + u64::from(sub_shapes.unwrap_or(0));
            let more = packed.filter(|_| !is_there);
            (page.palette_bytes() + blocks(is_there) * BLOCK)
                .max(channels)
                .max(sub_weights * 4)
                .max(page.rigs.largest_with(more))
        };
        let number = self.poses.pages.len() - 1;
        if bytes(&self.poses.pages[number], is_there) <= limit {
            return Ok(number);
        }
        self.shared.clear();
        self.rigs.clear();
        let fresh = PosePage::default();
        let asked = bytes(&fresh, false);
        if asked > limit {
            return Err(GpuError::Limit {
                what: "bytes of one palette or one pose's weights".into(),
                asked,
                limit,
            });
        }
        self.poses.pages.push(fresh);
        Ok(number + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DMat4, DVec3, Vec3};

    use super::super::groups::tests::LIMITS;
    use super::*;
    use crate::gpu::store::slots::Slots;
    use crate::kernel::PackedSkin;
    use crate::skel::{InfluenceInterpolation, JointInfluences, Skin, SkinningMethod};

    const JOINTS: usize = 3;
    /// Blocks of a palette: a matrix for each joint and one for joints that are missing.
    const BLOCKS: u32 = JOINTS as u32 + 1;

    fn skin() -> PackedSkin {
        let influences = JointInfluences::new(
            "/Skin",
            InfluenceInterpolation::Vertex,
            1,
            &[0, 1],
            vec![1.0, 1.0],
            2,
            JOINTS,
        );
        let points = Arc::new(vec![Vec3::ZERO, Vec3::X]);
        let influences = Some(influences.expect("valid influences"));
        let skin = Skin::new("/Skin", points, None, influences, None, JOINTS, Vec::new());
        PackedSkin::pack("/Skin", &skin.expect("a valid skin")).expect("a small skin")
    }

    fn palette(x: f64) -> Arc<Palette> {
        let joints = [DMat4::from_translation(DVec3::X * x); JOINTS];
        let method = SkinningMethod::ClassicLinear;
        Arc::new(Palette::pack(method, &joints, DMat4::IDENTITY, false))
    }

    fn pose(skin: &PackedSkin, palette: &Arc<Palette>, x: f64) -> PackedPose {
        let out = DMat4::from_translation(DVec3::X * x);
        PackedPose::with_palette(skin, Some(Arc::clone(palette)), out, Vec::new()).unwrap()
    }

    fn changes(poses: &PosePages) -> Vec<(u64, usize)> {
        let pages = poses.pages().iter();
        pages
            .flat_map(PosePage::palette_changes)
            .map(|(at, bytes)| (at, bytes.len()))
            .collect()
    }

    #[test]
    fn palettes_lie_where_items_look_for_them() {
        let skin = skin();
        let mut ids: Slots<PaletteId, ()> = Slots::default();
        let (id, shared) = (ids.insert(()), palette(1.0));
        let mut placing = Placing::new(&LIMITS, 5);
        for index in [0, 1, 3] {
            let pose = pose(&skin, &shared, f64::from(index));
            let placed = placing.place(index, &pose, Some(id), None, None);
            placed.expect("room for a small pose");
        }
        let own = pose(&skin, &palette(2.0), 4.0);
        let placed = placing.place(4, &own, None, None, None);
        placed.expect("room for a small pose");
        let mut poses = placing.finish();
        let places = [0, 1, 3, 4].map(|index| poses.find(index).expect("a place"));
        // Two palettes, then four pairs of matrices.
        assert_eq!(places.map(|p| p.palette), [0, 0, 0, BLOCKS * 3]);
        assert_eq!(
            places.map(|p| p.post),
            [0, 6, 12, 18].map(|r| BLOCKS * 6 + r)
        );
        assert!(poses.find(2).is_none());
        assert_eq!(poses.pages()[0].bytes().palettes, (2 * 4 + 4 * 2) * BLOCK);
        poses.set_uploaded();

        // The shared palette is written once; `out_from_skel` matrices are written where they
        // differ.
        let other = palette(3.0);
        poses.update_palette(id, &other);
        for index in [0, 1, 3] {
            let x = if index == 1 { 9.0 } else { f64::from(index) };
            poses.update(index, &pose(&skin, &other, x));
        }
        poses.join();
        let palette_bytes = u64::from(BLOCKS) * BLOCK;
        let post = (2 * palette_bytes + 2 * BLOCK, 2 * BLOCK as usize);
        assert_eq!(changes(&poses), [(0, palette_bytes as usize), post]);
        assert!(!poses.is_outdated());
        poses.set_uploaded();
        poses.update(4, &own);
        assert_eq!(changes(&poses), []);

        // A pose without joints has another shape, so items change.
        poses.update(
            4,
            &PackedPose::with_palette(&skin, None, DMat4::IDENTITY, Vec::new()).unwrap(),
        );
        assert!(poses.is_outdated());
    }

    #[test]
    fn a_full_page_is_followed_by_another() {
        let skin = skin();
        let mut ids: Slots<PaletteId, ()> = Slots::default();
        let (id, shared) = (ids.insert(()), palette(1.0));
        let limits = WorkLimits {
            // One palette and three pairs of matrices.
            binding_bytes: (u64::from(BLOCKS) + 3 * 2) * BLOCK,
            ..LIMITS
        };
        let mut placing = Placing::new(&limits, 5);
        for index in 0..5 {
            let pose = pose(&skin, &shared, f64::from(index));
            let placed = placing.place(index, &pose, Some(id), None, None);
            placed.expect("room for a small pose");
        }
        let mut poses = placing.finish();
        let pages: Vec<usize> = (0..5)
            .map(|index| poses.find(index).expect("a place").page)
            .collect();
        assert_eq!(pages, [0, 0, 0, 1, 1]);
        poses.set_uploaded();
        poses.update_palette(id, &palette(2.0));
        assert_eq!(changes(&poses).len(), 2, "the palette is in both pages");
        let tiny = WorkLimits {
            binding_bytes: 64,
            ..LIMITS
        };
        let pose = pose(&skin, &shared, 0.0);
        let refused = Placing::new(&tiny, 1).place(0, &pose, Some(id), None, None);
        assert!(matches!(refused, Err(GpuError::Limit { .. })));
    }
}
