//! Edits in every order: a crowd that lives, beside one that is made anew for each frame.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Vec3;
use sinew::gpu::{
    Attribute, BoundsUse, Crowd, Deformed, InstanceId, InstancePose, MaskLayout, OutputTarget,
    PaletteId, PlayedClip, Playing, RigId, SkinId, SkinnerOptions, UpdateRate, VisibilityMask,
};
use sinew::kernel::{PackedPose, Palette};
use sinew::skel::{MeshTopology, SkinningMethod};
use wgpu::BufferUsages;

use super::figure::{CHANNELS, Figure, TABLE, Uploaded, out_from_skel};
use crate::cases::Spec;
use crate::check::Checks;
use crate::crowds::made::{Made, TWENTY, made};
use crate::host::{Gpu, by_rig, tight};
use crate::outputs::shown::vertices;
use crate::posing::rigs;
use crate::rng::Rng;
use crate::{Failure, ensure};

mod frames;

pub const CHECKS: Checks = &[("edits_in_every_order_equal_a_crowd_made_anew", every_order)];

macro_rules! edits {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq)]
        enum Edit {
            $($(#[$doc])* $name,)*
        }
        const EDITS: &[Edit] = &[$(Edit::$name),*];
    };
}

// What can happen to a crowd between frames.
edits! {
    Add,
    /// With results in a buffer of the host.
    AddElsewhere,
    Remove,
    /// Another takes its index at once.
    Replace,
    Hide,
    Show,
    /// Its results go to the crowd's own buffers.
    Own,
    /// They go to the next buffer of the host.
    Host,
    /// Another pose from where the last one came.
    Pose,
    /// A pose from elsewhere: its own, a palette, a rig.
    Rebind,
    /// No weights of blend shapes, or some.
    Still,
    /// Its previous positions are forgotten.
    Cut,
    /// A rig plays another clip.
    Play,
    /// The host poses a rig.
    Rest,
    /// Clips drive the blend shapes of a skin, or do so no more.
    Drive,
    /// One rig goes, and another comes into its slot.
    Rig,
    /// A palette that instances share moves.
    Palette,
    /// Bounding boxes are computed, or not any more.
    Boxes,
    /// A mask of words or of bits says who is visible, or none does so any more.
    Mask,
    /// It is computed in every frame, or in some.
    Rate,
    /// A frame is encoded and never submitted.
    Drop,
    /// A function poses some of all that are shown.
    PoseMany,
    /// More instances come than buffers have room for, and those of the last time go.
    Grow,
    /// A skin without instances goes, and comes again.
    Skin,
    /// The crowd is made again.
    Rebuild,
}

/// Buffers of the host, and from one position to the next in each.
const STRIDES: [usize; 3] = [12, 16, 20];
/// Most instances, each with its room in every buffer.
const MOST: usize = 24;
const FEWEST: usize = 6;
/// Most positions of one.
const POINTS: usize = 160;
/// More than the largest index of an instance.
const INDICES: usize = 512;
/// What the host's buffers hold before a frame.
const BEFORE: u32 = 0x4321_1234;

#[derive(Clone, Copy, PartialEq)]
enum To {
    Own { normals: bool, previous: bool },
    Host(usize),
}

/// Everything but previous positions.
const OWN: To = To::Own {
    normals: true,
    previous: false,
};

#[derive(Clone)]
enum Source {
    Own(PackedPose),
    /// A palette by its number, and the rest of the pose.
    Shared(usize, PackedPose),
    /// A rig by its number, and weights.
    Rig(usize, Vec<f32>),
}

struct Member {
    id: InstanceId,
    kind: usize,
    /// Its room in the host's buffers.
    slot: usize,
    to: To,
    source: Source,
    hidden: bool,
    rate: UpdateRate,
    /// Whether the host says that it has no frame before.
    fresh: bool,
    /// What the last frame that computed it made of it, with the previous positions that it has now.
    shows: Option<Deformed>,
    /// Whether a frame of the last submit computed it.
    is_new: bool,
    /// Its box, if a frame computed one.
    bounds: Option<[Vec3; 2]>,
}

#[derive(Clone, Copy)]
enum Moves {
    /// A clip, and where it begins.
    Plays(usize, f32),
    /// The seed of local transforms.
    Rests(u64),
}

/// A crowd with all that instances refer to by number.
struct Live {
    figure: Arc<Figure>,
    crowd: Crowd,
    uploaded: Uploaded,
    skins: Vec<SkinId>,
    palettes: Vec<PaletteId>,
    rigs: Vec<RigId>,
}

struct Walk<'a> {
    gpu: &'a Gpu,
    options: SkinnerOptions,
    rng: Rng,
    /// Skins: some of all kinds, and the two of the figure.
    made: Vec<Made>,
    live: Live,
    /// Hidden instances for which buffers grew.
    more: Vec<InstanceId>,
    members: Vec<Member>,
    /// Of each rig.
    moves: Vec<Moves>,
    /// The kind of skin that each is for.
    palettes: Vec<(usize, Arc<Palette>)>,
    hosts: Vec<wgpu::Buffer>,
    /// What they hold.
    expected: Vec<Vec<u32>>,
    is_driven: bool,
    has_boxes: bool,
    mask: Option<VisibilityMask>,
    /// Which indices the mask shows.
    visible: Vec<u32>,
    /// While frames skip instances, the state of [`sinew::kernel::schedule_on_cpu`].
    state: Option<Vec<u32>>,
    clock: f64,
}

fn target(to: To, slot: usize, hosts: &[wgpu::Buffer]) -> OutputTarget {
    let mut out = OutputTarget::default();
    match to {
        To::Own { normals, previous } => {
            out.normals = normals.then(Attribute::default);
            out.previous = previous.then(Attribute::default);
        }
        To::Host(number) => {
            out.positions = Attribute::In {
                buffer: hosts[number].clone(),
                offset: (slot * POINTS * STRIDES[number]) as u64,
                stride: STRIDES[number] as u64,
            };
        }
    }
    out
}

impl Live {
    /// The last two of the skins are those of the figure.
    fn new(
        mut crowd: Crowd,
        made: &[Made],
        palettes: &[(usize, Arc<Palette>)],
        moves: &[Moves],
    ) -> Result<Self, Failure> {
        let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
        let uploaded = figure.upload(&mut crowd)?;
        let mut skins = Vec::new();
        for made in &made[..made.len() - 2] {
            skins.push(crowd.add_skin(Arc::clone(&made.packed))?);
        }
        skins.extend(&uploaded.skins);
        let palettes = palettes.iter();
        let palettes = palettes.map(|(_, palette)| crowd.add_palette(Arc::clone(palette)));
        let mut live = Self {
            palettes: palettes.collect(),
            figure,
            crowd,
            uploaded,
            skins,
            rigs: Vec::new(),
        };
        moves.iter().try_for_each(|moves| live.add_rig(*moves))?;
        Ok(live)
    }

    fn add_rig(&mut self, moves: Moves) -> Result<(), Failure> {
        let rig = self.crowd.add_rig(Arc::clone(&self.figure.rig))?;
        self.rigs.push(rig);
        self.set_moves(rig, moves)
    }

    fn set_moves(&mut self, rig: RigId, moves: Moves) -> Result<(), Failure> {
        match moves {
            Moves::Plays(clip, at) => {
                let clip = PlayedClip::new(self.uploaded.clips[clip]).at(at).since(0.0);
                self.crowd.set_playing(rig, &Playing::new(clip))?;
            }
            Moves::Rests(seed) => {
                let joints = rigs::locals(&self.figure.spec, seed);
                self.crowd.set_joints(rig, &joints)?;
            }
        }
        Ok(())
    }

    fn set_source(&mut self, id: InstanceId, source: &Source) -> Result<(), Failure> {
        let crowd = &mut self.crowd;
        match source {
            Source::Own(pose) => crowd.set_pose(id, pose)?,
            Source::Shared(number, pose) => {
                let palette = self.palettes[*number];
                crowd.set_pose(id, InstancePose::Shared { palette, pose })?;
            }
            Source::Rig(number, weights) => {
                crowd.set_pose(id, by_rig(self.rigs[*number], &out_from_skel(), weights))?;
            }
        }
        Ok(())
    }
}

/// Skins of every kind: with many blend shapes, with render vertices, with normals that are computed,
/// one of more than a block of a box; and the two of the figure.
fn kinds() -> Result<Vec<Made>, Failure> {
    let mut all: Vec<Made> = TWENTY.iter().step_by(2).cloned().collect();
    let base = Spec::default().points(60);
    all.push(made(&base.joints(3).shapes(40)));
    let shown = made(&base.shapes(3));
    let places = vertices(&shown.skin, 8, true);
    all.push(shown.packed_as(|packed| packed.with_vertices(places)));
    let corners: Vec<i32> = (0..58).flat_map(|i| [i, i + 1, i + 2]).collect();
    let faces = MeshTopology::new("/Case", &[3; 58], &corners, false, 60)?;
    all.push(made(&base.normals(false)).with_faces(faces));
    all.push(made(&base.points(1100)));
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    all.extend(figure.skins.iter().cloned());
    Ok(all)
}

impl<'a> Walk<'a> {
    fn new(gpu: &'a Gpu, options: SkinnerOptions, seed: u64) -> Result<Self, Failure> {
        let made = kinds()?;
        let mut palettes = Vec::new();
        for (kind, made) in made.iter().enumerate() {
            for pose in [0, 1].map(|seed| made.pose(seed)) {
                palettes.extend(pose.palette().map(|palette| (kind, Arc::clone(palette))));
            }
        }
        let (first, second) = (Moves::Plays(0, 0.1), Moves::Plays(2, 0.1));
        let moves = vec![first, Moves::Rests(7), second, Moves::Rests(7)];
        let crowd = gpu.crowd_with(&options)?;
        let live = Live::new(crowd, &made, &palettes, &moves)?;
        let usage = BufferUsages::STORAGE | BufferUsages::VERTEX | BufferUsages::COPY_SRC;
        let host = |stride| gpu.filled(MOST * POINTS * stride / 4, usage, BEFORE);
        let mut walk = Self {
            gpu,
            options,
            rng: Rng::new(seed),
            made,
            live,
            more: Vec::new(),
            members: Vec::new(),
            moves,
            palettes,
            hosts: STRIDES.map(host).to_vec(),
            expected: Vec::new(),
            is_driven: true,
            has_boxes: false,
            mask: None,
            visible: Vec::new(),
            state: None,
            clock: 0.0,
        };
        for number in 0..MOST * 2 / 3 {
            let to = walk.own();
            walk.add(to, number % walk.made.len())?;
        }
        Ok(walk)
    }

    fn own(&mut self) -> To {
        To::Own {
            normals: self.rng.below(4) > 0,
            previous: self.rng.below(2) == 0,
        }
    }

    /// Weights of blend shapes, half or most of them 0.
    fn weights(&mut self, kind: usize) -> Vec<f32> {
        let rng = &mut self.rng;
        let few = [2, 8][rng.below(2)];
        let weight = |_| match rng.below(few) {
            0 => rng.range(0.1, 0.9),
            _ => 0.0,
        };
        let count = self.made[kind].packed.channel_count();
        (0..count).map(weight).collect()
    }

    fn seed(&mut self) -> u64 {
        self.rng.below(1000) as u64
    }

    /// A pose for a skin: its own, of a palette, or of a rig.
    fn source(&mut self, kind: usize) -> Source {
        let seed = self.seed();
        let pose = self.made[kind].pose(seed);
        let of_kind: Vec<usize> = (0..self.palettes.len())
            .filter(|number| self.palettes[*number].0 == kind)
            .collect();
        let is_figure = kind + 2 >= self.made.len();
        match self.rng.below(4) {
            0 if !of_kind.is_empty() => {
                Source::Shared(of_kind[self.rng.below(of_kind.len())], pose)
            }
            1.. if is_figure => {
                let weights = self.weights(kind);
                Source::Rig(self.rng.below(self.moves.len()), weights)
            }
            _ => Source::Own(pose),
        }
    }

    fn put(&mut self, at: usize) -> Result<(), Failure> {
        let member = &self.members[at];
        self.live.set_source(member.id, &member.source)
    }

    fn add(&mut self, to: To, kind: usize) -> Result<(), Failure> {
        let is_free = |slot: &usize| self.members.iter().all(|m| m.slot != *slot);
        let Some(slot) = (0..MOST).find(is_free) else {
            return Ok(());
        };
        let to = self.fitting(to, kind);
        let target = target(to, slot, &self.hosts);
        let id = self
            .live
            .crowd
            .add_instance_to(self.live.skins[kind], target)?;
        let source = self.source(kind);
        self.members.push(Member {
            id,
            kind,
            slot,
            to,
            source,
            hidden: false,
            rate: UpdateRate::default(),
            fresh: true,
            shows: None,
            is_new: false,
            bounds: None,
        });
        self.put(self.members.len() - 1)
    }

    /// The crowd's own buffers for what has no room in those of the host.
    fn fitting(&mut self, to: To, kind: usize) -> To {
        match self.made[kind].packed.output_count() > POINTS {
            true => self.own(),
            false => to,
        }
    }

    fn send(&mut self, at: usize, to: To) -> Result<(), Failure> {
        let to = self.fitting(to, self.members[at].kind);
        let member = &mut self.members[at];
        (member.to, member.fresh, member.shows) = (to, true, None);
        let target = target(to, member.slot, &self.hosts);
        Ok(self.live.crowd.set_target(member.id, target)?)
    }

    /// The next buffer of the host.
    fn host(&mut self, to: To) -> To {
        match to {
            To::Host(number) => To::Host((number + 1) % self.hosts.len()),
            To::Own { .. } => To::Host(self.rng.below(self.hosts.len())),
        }
    }

    /// Makes an edit, to this instance if it concerns one.
    fn edit(&mut self, edit: Edit, at: usize) -> Result<(), Failure> {
        let at = at % self.members.len();
        let (id, kind) = (self.members[at].id, self.members[at].kind);
        match edit {
            Edit::Add | Edit::AddElsewhere => {
                let to = match edit {
                    Edit::Add => self.own(),
                    _ => self.host(self.members[at].to),
                };
                let kind = self.rng.below(self.made.len());
                self.add(to, kind)?;
            }
            Edit::Remove if self.members.len() <= FEWEST => {}
            Edit::Remove | Edit::Replace => {
                let gone = self.members.remove(at);
                self.live.crowd.remove_instance(gone.id)?;
                if edit == Edit::Replace {
                    let to = match gone.to {
                        To::Own { .. } => self.own(),
                        to => self.host(to),
                    };
                    self.add(to, kind)?;
                }
            }
            Edit::Hide | Edit::Show => {
                self.members[at].hidden = edit == Edit::Hide;
                self.live.crowd.set_hidden(id, edit == Edit::Hide)?;
            }
            Edit::Own | Edit::Host => {
                let to = match edit {
                    Edit::Own => self.own(),
                    _ => self.host(self.members[at].to),
                };
                self.send(at, to)?;
            }
            Edit::Pose => {
                let (seed, weights) = (self.seed(), self.weights(kind));
                let pose = self.made[kind].pose(seed);
                match &mut self.members[at].source {
                    Source::Own(own) => *own = pose,
                    Source::Shared(_, rest) => *rest = pose,
                    Source::Rig(_, of_rig) => *of_rig = weights,
                }
                self.put(at)?;
            }
            Edit::Rebind => {
                self.members[at].source = self.source(kind);
                self.put(at)?;
            }
            Edit::Still => {
                let mut weights = self.weights(kind);
                if self.rng.below(2) == 0 {
                    weights.fill(0.0);
                }
                match &mut self.members[at].source {
                    Source::Own(pose) | Source::Shared(_, pose) => {
                        *pose = self.made[kind].posed_by(pose.palette().cloned(), weights);
                    }
                    Source::Rig(_, of_rig) => *of_rig = weights,
                }
                self.put(at)?;
            }
            Edit::Cut => {
                // Without another pose there is no motion to forget.
                self.edit(Edit::Pose, at)?;
                self.members[at].fresh = true;
                self.live.crowd.reset_previous(id)?;
            }
            Edit::Play | Edit::Rest => {
                let number = self.rng.below(self.moves.len());
                let moves = match edit {
                    Edit::Play => Moves::Plays(self.rng.below(4), self.rng.range(0.0, 0.5)),
                    _ => Moves::Rests(self.seed()),
                };
                self.live.set_moves(self.live.rigs[number], moves)?;
                self.moves[number] = moves;
            }
            Edit::Drive => {
                self.is_driven = !self.is_driven;
                let skin = self.live.uploaded.skins[1];
                self.live.crowd.set_clip_channels(skin, &self.driven())?;
            }
            Edit::Rig => self.replace_rig()?,
            Edit::Palette => {
                let (mut number, seed) = (self.rng.below(self.palettes.len()), self.seed());
                // One that somebody moves with, if there is one.
                let sources = self.members.iter().map(|member| &member.source);
                let used: Vec<usize> = sources
                    .filter_map(|source| match source {
                        Source::Shared(number, _) => Some(*number),
                        _ => None,
                    })
                    .collect();
                if !used.is_empty() {
                    number = used[number % used.len()];
                }
                let (kind, palette) = &mut self.palettes[number];
                let pose = self.made[*kind].pose(seed);
                *palette = pose.palette().cloned().ok_or("a pose without joints")?;
                self.live
                    .crowd
                    .set_palette(self.live.palettes[number], palette)?;
            }
            Edit::Boxes => {
                self.has_boxes = !self.has_boxes;
                match self.has_boxes {
                    true => {
                        self.live.crowd.enable_bounds(BoundsUse::OnGpu)?;
                        // They do not wait for their turn.
                        let slowed = self.members.iter_mut().filter(|m| m.rate.every > 1);
                        slowed.for_each(|m| m.fresh = true);
                    }
                    false => self.live.crowd.disable_bounds(),
                }
                self.members.iter_mut().for_each(|m| m.bounds = None);
            }
            Edit::Mask => {
                let buffer = || self.gpu.filled(INDICES, BufferUsages::STORAGE, 1);
                let last = self.mask.take();
                self.mask = match last.map(|mask| mask.layout) {
                    Some(MaskLayout::Bits) => None,
                    Some(MaskLayout::Words) => Some(VisibilityMask::bits(buffer())),
                    None => Some(VisibilityMask::words(buffer())),
                };
                self.live.crowd.set_visibility(self.mask.clone())?;
                let slowed = self.members.iter().any(|m| m.rate.every > 1);
                if self.mask.is_some() || slowed {
                    self.state.get_or_insert_default();
                } else {
                    self.state = None;
                    // None of them has a frame before that computed all.
                    self.members.iter_mut().for_each(|m| m.fresh = true);
                }
            }
            Edit::Rate => {
                let [every, phase] = [1 + self.rng.below(3), self.rng.below(4)].map(|n| n as u32);
                let phase = Some(phase).filter(|phase| *phase < 2);
                let rate = UpdateRate { every, phase };
                self.members[at].rate = rate;
                self.live.crowd.set_update_rate(id, rate)?;
                if every > 1 {
                    self.state.get_or_insert_default();
                }
            }
            Edit::Drop => {
                self.clock += 0.0625;
                self.live.crowd.set_clock(self.clock);
                self.live.crowd.encode(&mut self.gpu.encoder())?;
                self.members.iter_mut().for_each(|m| m.fresh = true);
            }
            Edit::PoseMany => {
                let seed = self.seed();
                let mut chosen = BTreeMap::new();
                for member in self.members.iter_mut().filter(|member| !member.hidden) {
                    if self.rng.chance(0.5) {
                        let made = &self.made[member.kind];
                        member.source = Source::Own(made.pose(seed));
                        chosen.insert(member.id.index(), made);
                    }
                }
                self.live.crowd.update_poses(|id, pose| {
                    let made = chosen.get(&id.index());
                    made.inspect(|made| made.fill(seed, pose));
                    Ok::<_, String>(made.is_some())
                })?;
            }
            Edit::Grow => {
                let count = (self.more.len() + 40).min(INDICES / 2);
                for id in std::mem::take(&mut self.more) {
                    self.live.crowd.remove_instance(id)?;
                }
                self.more = self.live.crowd.add_instances(self.live.skins[0], count)?;
                for id in &self.more {
                    self.live.crowd.set_hidden(*id, true)?;
                }
            }
            Edit::Skin => {
                // Not the first, which hidden ones have, and none of the figure's.
                let mut unused = 1..self.made.len() - 2;
                let is_unused = |kind: &usize| self.members.iter().all(|m| m.kind != *kind);
                if let Some(kind) = unused.find(is_unused) {
                    self.live.crowd.remove_skin(self.live.skins[kind])?;
                    self.live.skins[kind] =
                        self.live.crowd.add_skin(self.made[kind].packed.clone())?;
                }
            }
            Edit::Rebuild => {
                self.live.crowd = self.live.crowd.rebuild(&self.gpu.skinner(&self.options)?)?;
                for member in &mut self.members {
                    (member.fresh, member.shows, member.bounds) = (true, None, None);
                    if let To::Host(_) = member.to {
                        member.to = OWN;
                    }
                }
                self.mask = None;
                let slowed = self.members.iter().any(|m| m.rate.every > 1);
                self.state = slowed.then(Vec::new);
            }
        }
        Ok(())
    }

    /// Which channels of clips drive those of the figure's second skin.
    fn driven(&self) -> [Option<u32>; CHANNELS] {
        if self.is_driven {
            TABLE
        } else {
            [None; CHANNELS]
        }
    }

    /// All that move with the last rig move with the first. It goes, and another comes.
    fn replace_rig(&mut self) -> Result<(), Failure> {
        let last = self.moves.len() - 1;
        for at in 0..self.members.len() {
            if let Source::Rig(number, _) = &mut self.members[at].source
                && *number == last
            {
                *number = 0;
                self.put(at)?;
            }
        }
        let gone = self.live.rigs.remove(last);
        self.live.crowd.remove_rig(gone)?;
        let moves = match self.rng.below(2) {
            0 => Moves::Plays(self.rng.below(4), 0.2),
            _ => Moves::Rests(self.seed()),
        };
        self.moves[last] = moves;
        self.live.add_rig(moves)
    }
}

/// Pairs of edits of one instance, with and without a frame between them, and then some of three at
/// random: a fifth of them, or with SINEW_ALL all. In bindings that hold everything, and in small
/// ones that make many pages.
fn every_order(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let small = tight(Some(figure.clip_page(16 << 10)), Some(3));
    let is_all = std::env::var_os("SINEW_ALL").is_some();
    for (round, options) in [SkinnerOptions::default(), small].into_iter().enumerate() {
        let mut walk = Walk::new(gpu, options, 71 + round as u64)?;
        walk.frames(false)?;
        let (mut generation, mut grew) = (walk.live.crowd.outputs_generation(), false);
        let pairs = (EDITS.iter())
            .flat_map(|a| EDITS.iter().map(|b| vec![*a, *b]))
            // Between two that need another plan, and leave nothing of themselves.
            .chain(
                EDITS
                    .iter()
                    .map(|edit| vec![Edit::Boxes, *edit, Edit::Boxes]),
            )
            .chain((0..EDITS.len() * 2).map(|_| Vec::new()));
        // One of the two ways in each round; the edits that follow a pair follow it in both.
        for (number, mut edits) in pairs.enumerate() {
            if !is_all && !(number + 2 * round).is_multiple_of(5) {
                continue;
            }
            if edits.is_empty() {
                edits.extend((0..3).map(|_| EDITS[walk.rng.below(EDITS.len())]));
            }
            let at = walk.rng.below(MOST);
            let mut run = || {
                for (step, edit) in edits.iter().enumerate() {
                    walk.edit(*edit, at)?;
                    if step + 1 == edits.len() || (number + round) % 2 == 0 {
                        let is_double = walk.rng.below(4) == 0;
                        walk.frames(is_double)?;
                    }
                }
                match walk.rng.below(8) {
                    0 => walk.quiet(),
                    _ => Ok(()),
                }
            };
            run().map_err(|wrong| format!("{number}: {edits:?}: {wrong}"))?;
            // A crowd that is made again counts anew.
            let now = walk.live.crowd.outputs_generation();
            (grew, generation) = (grew || now > generation, now);
        }
        ensure(grew, "no buffer of results grew")?;
    }
    Ok(())
}
