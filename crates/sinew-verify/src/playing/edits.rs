//! Edits in every order: a crowd that lives, beside one that is made anew for each frame.

use std::sync::Arc;

use glam::{DMat4, Vec3, Vec4};
use sinew::gpu::{
    Attribute, BoundsUse, Crowd, Deformed, InstanceId, InstancePose, OutputTarget, PaletteId,
    PlayedClip, Playing, RigId, SkinnerOptions, UpdateRate, VisibilityMask,
};
use sinew::kernel::registry::{COMPUTED, FRESH, UPDATES_PREVIOUS};
use sinew::kernel::{PackedPose, Palette, ScheduleItem, bounds_on_cpu, schedule_on_cpu};
use sinew::skel::SkinningMethod;
use wgpu::BufferUsages;

use super::Run;
use super::figure::{CHANNELS, Figure, TABLE, Uploaded, out_from_skel};
use crate::crowds::made::{Made, twenty};
use crate::host::{Gpu, by_rig, tight};
use crate::outputs::shown::without_previous;
use crate::posing::rigs;
use crate::rng::Rng;
use crate::{Failure, ensure};

pub const CHECKS: &[(&str, Run)] = &[("edits_in_every_order_equal_a_crowd_made_anew", every_order)];

/// What can happen to a crowd between frames.
const EDITS: [Edit; 21] = [
    Edit::Add,
    Edit::AddElsewhere,
    Edit::Remove,
    Edit::Replace,
    Edit::Hide,
    Edit::Show,
    Edit::Own,
    Edit::Host,
    Edit::Pose,
    Edit::Rebind,
    Edit::Still,
    Edit::Cut,
    Edit::Play,
    Edit::Rest,
    Edit::Drive,
    Edit::Rig,
    Edit::Palette,
    Edit::Boxes,
    Edit::Mask,
    Edit::Rate,
    Edit::Drop,
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Edit {
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
    /// A mask says who is visible, or does so no more.
    Mask,
    /// It is computed in every frame, or in some.
    Rate,
    /// A frame is encoded and never submitted.
    Drop,
}

/// Buffers of the host, and from one position to the next in each.
const STRIDES: [usize; 3] = [12, 16, 20];
/// Most instances, each with its room in every buffer.
const MOST: usize = 24;
const FEWEST: usize = 6;
/// Most positions of one.
const POINTS: usize = 160;
/// What the host's buffers hold before a frame.
const BEFORE: u32 = 0x4321_1234;

#[derive(Clone, Copy, PartialEq)]
enum To {
    Own { normals: bool, previous: bool },
    Host(usize),
}

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
    /// Its last positions.
    before: Vec<u32>,
    /// Its previous positions, as the last frame left them.
    previous: Option<Vec<u32>>,
    /// What the last frame that computed it made of it.
    last: Option<Vec<u32>>,
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

struct Walk<'a> {
    gpu: &'a Gpu,
    options: SkinnerOptions,
    rng: Rng,
    figure: Figure,
    /// Skins: some of all kinds, and the two of the figure.
    made: Vec<Made>,
    crowd: Crowd,
    uploaded: Uploaded,
    skins: Vec<sinew::gpu::SkinId>,
    members: Vec<Member>,
    rigs: Vec<(RigId, Moves)>,
    /// The kind of skin that each is for.
    palettes: Vec<(usize, PaletteId, Arc<Palette>)>,
    hosts: Vec<wgpu::Buffer>,
    is_driven: bool,
    has_boxes: bool,
    mask: Option<wgpu::Buffer>,
    /// While frames skip instances, the state of [`schedule_on_cpu`].
    state: Option<Vec<u32>>,
    clock: f64,
}

fn target(to: To, slot: usize, hosts: &[wgpu::Buffer]) -> OutputTarget {
    match to {
        To::Own { normals, previous } => OutputTarget {
            normals: normals.then(Attribute::default),
            previous: previous.then(Attribute::default),
            ..OutputTarget::default()
        },
        To::Host(number) => OutputTarget {
            positions: Attribute::In {
                buffer: hosts[number].clone(),
                offset: (slot * POINTS * STRIDES[number]) as u64,
                stride: STRIDES[number] as u64,
            },
            ..OutputTarget::default()
        },
    }
}

fn set_source(
    crowd: &mut Crowd,
    id: InstanceId,
    source: &Source,
    palettes: &[PaletteId],
    rigs: &[RigId],
) -> Result<(), Failure> {
    match source {
        Source::Own(pose) => crowd.set_pose(id, pose)?,
        Source::Shared(number, pose) => {
            let palette = palettes[*number];
            crowd.set_pose(id, InstancePose::Shared { palette, pose })?;
        }
        Source::Rig(number, weights) => {
            crowd.set_pose(id, by_rig(rigs[*number], &out_from_skel(), weights))?;
        }
    }
    Ok(())
}

fn set_moves(
    crowd: &mut Crowd,
    figure: &Figure,
    uploaded: &Uploaded,
    rig: RigId,
    moves: Moves,
) -> Result<(), Failure> {
    match moves {
        Moves::Plays(clip, at) => {
            let clip = PlayedClip::new(uploaded.clips[clip]).at(at).since(0.0);
            crowd.set_playing(rig, &Playing::new(clip))?;
        }
        Moves::Rests(seed) => crowd.set_joints(rig, &rigs::locals(&figure.spec, seed))?,
    }
    Ok(())
}

impl<'a> Walk<'a> {
    fn new(gpu: &'a Gpu, options: SkinnerOptions, seed: u64) -> Result<Self, Failure> {
        let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
        let mut crowd = gpu.crowd_with(&options)?;
        let mut made: Vec<Made> = twenty()?.into_iter().step_by(2).collect();
        let made_of = |(skin, packed): &(_, Arc<_>)| Made {
            skin: Clone::clone(skin),
            packed: Arc::clone(packed),
        };
        made.extend(figure.skins.iter().map(made_of));
        let uploaded = figure.upload(&mut crowd)?;
        let few = &made[..made.len() - 2];
        let skins = few.iter().map(|m| crowd.add_skin(Arc::clone(&m.packed)));
        let mut skins: Vec<_> = skins.collect::<Result<_, _>>()?;
        skins.extend(&uploaded.skins);
        let usage = BufferUsages::STORAGE | BufferUsages::VERTEX | BufferUsages::COPY_SRC;
        let host = |stride| gpu.filled(MOST * POINTS * stride / 4, usage, BEFORE);
        let mut walk = Self {
            gpu,
            options,
            rng: Rng::new(seed),
            figure,
            made,
            crowd,
            uploaded,
            skins,
            members: Vec::new(),
            rigs: Vec::new(),
            palettes: Vec::new(),
            hosts: STRIDES.map(host).to_vec(),
            is_driven: true,
            has_boxes: false,
            mask: None,
            state: None,
            clock: 0.0,
        };
        for number in 0..4 {
            walk.add_rig(if number % 2 == 0 {
                Moves::Plays(number, 0.1)
            } else {
                Moves::Rests(7)
            })?;
        }
        for kind in 0..walk.made.len() {
            for seed in 0..2 {
                let Some(palette) = walk.made[kind].pose(seed).palette().cloned() else {
                    continue;
                };
                let id = walk.crowd.add_palette(Arc::clone(&palette));
                walk.palettes.push((kind, id, palette));
            }
        }
        for number in 0..MOST / 2 {
            let to = walk.own();
            walk.add(to, number % walk.made.len())?;
        }
        Ok(walk)
    }

    fn add_rig(&mut self, moves: Moves) -> Result<(), Failure> {
        let rig = self.crowd.add_rig(Arc::clone(&self.figure.rig))?;
        set_moves(&mut self.crowd, &self.figure, &self.uploaded, rig, moves)?;
        self.rigs.push((rig, moves));
        Ok(())
    }

    fn own(&mut self) -> To {
        To::Own {
            normals: self.rng.below(4) > 0,
            previous: self.rng.below(2) == 0,
        }
    }

    fn weights(&mut self, kind: usize) -> Vec<f32> {
        let count = self.made[kind].packed.channel_count();
        let rng = &mut self.rng;
        let weight = |_| match rng.below(2) {
            0 => 0.0,
            _ => rng.range(0.1, 0.9),
        };
        (0..count).map(weight).collect()
    }

    /// A pose for a skin: its own, of a palette, or of a rig.
    fn source(&mut self, kind: usize) -> Source {
        let pose = self.made[kind].pose(self.rng.below(1000) as u64);
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
                Source::Rig(self.rng.below(self.rigs.len()), weights)
            }
            _ => Source::Own(pose),
        }
    }

    fn put(&mut self, at: usize) -> Result<(), Failure> {
        let palettes: Vec<_> = self.palettes.iter().map(|(_, id, _)| *id).collect();
        let rigs: Vec<_> = self.rigs.iter().map(|(rig, _)| *rig).collect();
        let member = &self.members[at];
        set_source(&mut self.crowd, member.id, &member.source, &palettes, &rigs)
    }

    fn add(&mut self, to: To, kind: usize) -> Result<(), Failure> {
        let is_free = |slot: &usize| self.members.iter().all(|m| m.slot != *slot);
        let Some(slot) = (0..MOST).find(is_free) else {
            return Ok(());
        };
        let target = target(to, slot, &self.hosts);
        let id = self.crowd.add_instance_to(self.skins[kind], target)?;
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
            before: Vec::new(),
            previous: None,
            last: None,
            bounds: None,
        });
        self.put(self.members.len() - 1)
    }

    fn send(&mut self, at: usize, to: To) -> Result<(), Failure> {
        let member = &mut self.members[at];
        (member.to, member.fresh) = (to, true);
        (member.last, member.previous) = (None, None);
        let target = target(to, member.slot, &self.hosts);
        Ok(self.crowd.set_target(member.id, target)?)
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
        let (kinds, rigs) = (self.made.len(), self.rigs.len());
        match edit {
            Edit::Add => {
                let (to, kind) = (self.own(), self.rng.below(kinds));
                self.add(to, kind)?;
            }
            Edit::AddElsewhere => {
                let (to, kind) = (self.host(self.members[at].to), self.rng.below(kinds));
                self.add(to, kind)?;
            }
            Edit::Remove if self.members.len() <= FEWEST => {}
            Edit::Remove => {
                let gone = self.members.remove(at);
                self.crowd.remove_instance(gone.id)?;
            }
            Edit::Replace => {
                let gone = self.members.remove(at);
                self.crowd.remove_instance(gone.id)?;
                let to = match gone.to {
                    To::Own { .. } => self.own(),
                    to => self.host(to),
                };
                self.add(to, gone.kind)?;
            }
            Edit::Hide | Edit::Show => {
                let member = &mut self.members[at];
                member.hidden = edit == Edit::Hide;
                self.crowd.set_hidden(member.id, member.hidden)?;
            }
            Edit::Own => {
                let to = self.own();
                self.send(at, to)?;
            }
            Edit::Host => {
                let to = self.host(self.members[at].to);
                self.send(at, to)?;
            }
            Edit::Pose => {
                let kind = self.members[at].kind;
                let pose = self.made[kind].pose(self.rng.below(1000) as u64);
                let weights = self.weights(kind);
                match &mut self.members[at].source {
                    Source::Own(own) => *own = pose,
                    Source::Shared(_, rest) => *rest = pose,
                    Source::Rig(_, of_rig) => *of_rig = weights,
                }
                self.put(at)?;
            }
            Edit::Rebind => {
                self.members[at].source = self.source(self.members[at].kind);
                self.put(at)?;
            }
            Edit::Still => {
                let kind = self.members[at].kind;
                let weights = match self.rng.below(2) {
                    0 => vec![0.0; self.made[kind].packed.channel_count()],
                    _ => self.weights(kind),
                };
                match &mut self.members[at].source {
                    Source::Own(pose) | Source::Shared(_, pose) => {
                        let (packed, palette) = (&self.made[kind].packed, pose.palette().cloned());
                        *pose =
                            PackedPose::with_palette(packed, palette, DMat4::IDENTITY, weights)?;
                    }
                    Source::Rig(_, of_rig) => *of_rig = weights,
                }
                self.put(at)?;
            }
            Edit::Cut => {
                self.members[at].fresh = true;
                self.crowd.reset_previous(self.members[at].id)?;
            }
            Edit::Play | Edit::Rest => {
                let number = self.rng.below(rigs);
                let moves = match edit {
                    Edit::Play => Moves::Plays(self.rng.below(4), self.rng.range(0.0, 0.5)),
                    _ => Moves::Rests(self.rng.below(50) as u64),
                };
                let rig = self.rigs[number].0;
                set_moves(&mut self.crowd, &self.figure, &self.uploaded, rig, moves)?;
                self.rigs[number].1 = moves;
            }
            Edit::Drive => {
                self.is_driven = !self.is_driven;
                let table = if self.is_driven {
                    TABLE
                } else {
                    [None; CHANNELS]
                };
                self.crowd
                    .set_clip_channels(self.uploaded.skins[1], &table)?;
            }
            Edit::Rig => self.replace_rig()?,
            Edit::Palette => {
                let number = self.rng.below(self.palettes.len());
                let (kind, id, palette) = &mut self.palettes[number];
                let pose = self.made[*kind].pose(self.rng.below(1000) as u64);
                *palette = pose.palette().cloned().ok_or("a pose without joints")?;
                self.crowd.set_palette(*id, palette)?;
            }
            Edit::Boxes => {
                self.has_boxes = !self.has_boxes;
                match self.has_boxes {
                    true => {
                        self.crowd.enable_bounds(BoundsUse::OnGpu)?;
                        // They do not wait for their turn.
                        let slowed = self.members.iter_mut().filter(|m| m.rate.every > 1);
                        slowed.for_each(|m| m.fresh = true);
                    }
                    false => self.crowd.disable_bounds(),
                }
                self.members.iter_mut().for_each(|m| m.bounds = None);
            }
            Edit::Mask => {
                self.mask = match self.mask {
                    Some(_) => None,
                    None => Some(self.gpu.filled(2 * MOST, BufferUsages::STORAGE, 1)),
                };
                let mask = self.mask.clone().map(VisibilityMask::words);
                self.crowd.set_visibility(mask)?;
                let slowed = self.members.iter().any(|m| m.rate.every > 1);
                if self.mask.is_some() || slowed {
                    self.state.get_or_insert_with(|| vec![0; 1 + 2 * MOST]);
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
                self.crowd.set_update_rate(self.members[at].id, rate)?;
                if every > 1 {
                    self.state.get_or_insert_with(|| vec![0; 1 + 2 * MOST]);
                }
            }
            Edit::Drop => {
                self.clock += 0.0625;
                self.crowd.set_clock(self.clock);
                let device = &self.gpu.device;
                let mut encoder = device.create_command_encoder(&Default::default());
                self.crowd.encode(&mut encoder)?;
                self.members.iter_mut().for_each(|m| m.fresh = true);
            }
        }
        Ok(())
    }

    /// All that move with the last rig move with the first. It goes, and another comes.
    fn replace_rig(&mut self) -> Result<(), Failure> {
        let last = self.rigs.len() - 1;
        for at in 0..self.members.len() {
            if let Source::Rig(number, _) = &mut self.members[at].source
                && *number == last
            {
                *number = 0;
                self.put(at)?;
            }
        }
        let (gone, _) = self.rigs.remove(last);
        self.crowd.remove_rig(gone)?;
        let moves = match self.rng.below(2) {
            0 => Moves::Plays(self.rng.below(4), 0.2),
            _ => Moves::Rests(self.rng.below(50) as u64),
        };
        self.add_rig(moves)
    }

    /// What a crowd has that is made for this frame alone: each instance's results.
    fn anew(&self) -> Result<Vec<Deformed>, Failure> {
        let mut crowd = self.gpu.crowd_with(&self.options)?;
        let uploaded = self.figure.upload(&mut crowd)?;
        if !self.is_driven {
            crowd.set_clip_channels(uploaded.skins[1], &[None; CHANNELS])?;
        }
        let few = &self.made[..self.made.len() - 2];
        let skins = few.iter().map(|m| crowd.add_skin(Arc::clone(&m.packed)));
        let mut skins: Vec<_> = skins.collect::<Result<_, _>>()?;
        skins.extend(&uploaded.skins);
        crowd.set_clock(self.clock);
        let mut all = Vec::new();
        for (_, moves) in &self.rigs {
            let rig = crowd.add_rig(Arc::clone(&self.figure.rig))?;
            set_moves(&mut crowd, &self.figure, &uploaded, rig, *moves)?;
            all.push(rig);
        }
        let palettes = self.palettes.iter();
        let palettes: Vec<_> = palettes
            .map(|(_, _, palette)| crowd.add_palette(Arc::clone(palette)))
            .collect();
        for member in self.members.iter().filter(|member| !member.hidden) {
            let to = match member.to {
                To::Host(_) => To::Own {
                    normals: true,
                    previous: false,
                },
                to => to,
            };
            let id =
                crowd.add_instance_to(skins[member.kind], target(to, member.slot, &self.hosts))?;
            set_source(&mut crowd, id, &member.source, &palettes, &all)?;
        }
        Ok(crowd.run()?)
    }

    /// Decides who is visible, and what the next frame does with each instance: by index.
    fn schedule(&mut self) -> Vec<u32> {
        let Some(state) = &mut self.state else {
            let mut all = vec![COMPUTED; 2 * MOST];
            for member in self.members.iter().filter(|member| member.fresh) {
                all[member.id.index() as usize] |= FRESH;
            }
            return all;
        };
        let mut visible = vec![1; 2 * MOST];
        if let Some(mask) = &self.mask {
            visible.fill_with(|| self.rng.below(3).min(1) as u32);
            let bytes = bytemuck::cast_slice(&visible);
            self.gpu.queue.write_buffer(mask, 0, bytes);
        }
        let shown = self.members.iter().filter(|member| !member.hidden);
        let item = |member: &Member| ScheduleItem {
            index: member.id.index(),
            every: member.rate.every,
            phase: member.rate.phase.unwrap_or(match &member.source {
                Source::Own(_) => member.id.index(),
                // None was removed, so its number is its index.
                Source::Shared(number, _) => *number as u32,
                Source::Rig(number, _) => self.rigs[*number].0.index(),
            }),
            flags: if member.fresh { FRESH } else { 0 },
        };
        let items: Vec<ScheduleItem> = shown.map(item).collect();
        // Who is hidden or gone has no part in the frame.
        let mut before = std::mem::replace(state, vec![0; 1 + 2 * MOST]);
        state[0] = before[0];
        for item in &items {
            let at = 1 + item.index as usize;
            state[at] = std::mem::take(&mut before[at]);
        }
        schedule_on_cpu(&items, |index| visible[index as usize] > 0, state);
        state[1..].to_vec()
    }

    /// Encodes a frame, and compares everything that it writes.
    fn frame(&mut self) -> Result<(), Failure> {
        self.clock += 0.0625;
        self.crowd.set_clock(self.clock);
        for host in &self.hosts {
            let words = vec![BEFORE; host.size() as usize / 4];
            let bytes = bytemuck::cast_slice(&words);
            self.gpu.queue.write_buffer(host, 0, bytes);
        }
        let actions = self.schedule();
        let found = self.crowd.run()?;
        let wanted = self.anew()?;
        ensure(found.len() == wanted.len(), "another number of results")?;
        let mut hosts: Vec<Vec<u32>> = (self.hosts.iter())
            .map(|host| vec![BEFORE; host.size() as usize / 4])
            .collect();
        let mut results = found.iter().zip(&wanted);
        for member in &mut self.members {
            let text = |what: &str| format!("instance {}: {what}", member.id.index());
            if member.hidden {
                (member.fresh, member.bounds) = (true, None);
                // It keeps what it had.
                if let (Some(last), To::Own { .. }) = (&member.last, member.to) {
                    let found = self.crowd.read(&[member.id])?.remove(0);
                    let kept = without_previous(&found) == *last;
                    ensure(kept, &text("it is hidden, and was written"))?;
                }
                continue;
            }
            let Some((found, wanted)) = results.next() else {
                return Err("too few results".into());
            };
            let action = actions[member.id.index() as usize];
            let was_fresh = std::mem::take(&mut member.fresh);
            let bits = without_previous(found);
            let points: Vec<u32> = bytemuck::cast_slice(&found.points).to_vec();
            let previous = found.previous.as_ref().map(|previous| {
                let words: &[u32] = bytemuck::cast_slice(previous);
                words.to_vec()
            });
            if action & COMPUTED == 0 {
                // It keeps what it had, apart from its motion. The host's buffers were cleared.
                if was_fresh && action & UPDATES_PREVIOUS == 0 {
                    member.bounds = None;
                }
                if let (Some(last), To::Own { .. }) = (&member.last, member.to) {
                    ensure(bits == *last, &text("it is skipped, and was written"))?;
                    let settled = (action & UPDATES_PREVIOUS != 0).then_some(&points);
                    let expected = settled.or(member.previous.as_ref());
                    let same = previous.is_none() || previous.as_ref() == expected;
                    ensure(same, &text("it is skipped, and moves"))?;
                    member.previous = previous;
                }
                continue;
            }
            ensure(bits == without_previous(wanted), &text("other bits"))?;
            if let Some(previous) = &previous {
                let expected = match action & FRESH {
                    0 => &member.before,
                    _ => &points,
                };
                ensure(previous == expected, &text("comes from elsewhere"))?;
            }
            member.previous = previous;
            member.bounds = bounds_on_cpu(&found.points).filter(|_| self.has_boxes);
            if let To::Host(number) = member.to {
                let stride = STRIDES[number] / 4;
                let first = member.slot * POINTS * stride;
                for (at, point) in points.chunks_exact(3).enumerate() {
                    hosts[number][first + at * stride..][..3].copy_from_slice(point);
                }
            }
            (member.before, member.last) = (points, Some(bits));
        }
        for (number, (host, expected)) in self.hosts.iter().zip(&hosts).enumerate() {
            let is_right = self.gpu.read::<u32>(host)? == *expected;
            ensure(is_right, &format!("buffer {number} holds something else"))?;
        }
        self.check_boxes()
    }

    fn check_boxes(&self) -> Result<(), Failure> {
        let Some(boxes) = self.crowd.bounds_on_gpu() else {
            return ensure(!self.has_boxes, "no boxes");
        };
        let boxes: Vec<[Vec4; 2]> = self.gpu.read(boxes)?;
        let mut wanted = vec![None; self.crowd.index_count() as usize];
        let shown = self.members.iter().filter(|member| !member.hidden);
        for member in shown {
            wanted[member.id.index() as usize] = member.bounds;
        }
        for (index, wanted) in wanted.iter().enumerate() {
            let [low, high] = boxes[index].map(Vec4::truncate);
            let found = low.cmple(high).all().then_some([low, high]);
            let text = format!("instance {index}: a box of {found:?}, not {wanted:?}");
            ensure(found == *wanted, &text)?;
        }
        Ok(())
    }
}

/// Pairs of edits of one instance, with and without a frame between them, and then some of three at
/// random: a fifth of them, or with SINEW_ALL all. In bindings that hold everything, and in small
/// ones that make many pages.
fn every_order(gpu: &Gpu) -> Result<(), Failure> {
    let clips = Figure::new(SkinningMethod::ClassicLinear, 12)?.clips;
    let clips: usize = clips.iter().map(|clip| clip.words().len() * 4).sum();
    let pages = [None, Some((clips as u64 + 1024).max(16 << 10))];
    let is_all = std::env::var_os("SINEW_ALL").is_some();
    for (round, max_binding_bytes) in pages.into_iter().enumerate() {
        let mut walk = Walk::new(gpu, tight(max_binding_bytes, None), 71 + round as u64)?;
        walk.frame()?;
        let pairs = EDITS
            .into_iter()
            .flat_map(|a| EDITS.map(|b| vec![a, b]))
            // Between two that need another plan, and leave nothing of themselves.
            .chain(EDITS.map(|edit| vec![Edit::Boxes, edit, Edit::Boxes]))
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
            for (step, edit) in edits.iter().enumerate() {
                let mut done = walk.edit(*edit, at);
                if step + 1 == edits.len() || (number + round) % 2 == 0 {
                    done = done.and_then(|()| walk.frame());
                }
                done.map_err(|wrong| format!("{number}: {edits:?}, after {step}: {wrong}"))?;
            }
        }
    }
    Ok(())
}
