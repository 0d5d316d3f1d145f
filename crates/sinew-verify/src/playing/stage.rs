//! A crowd of figures under test: edits say what each has to show, and each frame compares it.

use std::sync::Arc;

use sinew::gpu::{ClipId, Crowd, InstanceId, RigId, Skinner};
use sinew::kernel::registry::NONE;
use sinew::kernel::{PackedClip, play_joints_on_cpu, play_weight_on_cpu};
use sinew::skel::SkinningMethod;

use super::figure::{CHANNELS, Figure, Uploaded};
use super::show::{Ask, Mirrored, Show, Truth};
use crate::crowds::made::all_bits;
use crate::host::Gpu;
use crate::posing::rigs;
use crate::{Failure, ensure};

/// A figure in the crowd.
pub struct Actor {
    pub figure: Arc<Figure>,
    pub rig: RigId,
    pub instances: Vec<InstanceId>,
    shows: Shows,
    every: u32,
    /// Its pose in the last frame.
    last: Option<Mirrored>,
    /// Its results.
    bits: Vec<Vec<u32>>,
    /// Whether the last frame changed them.
    pub moved: bool,
}

enum Shows {
    Nothing,
    /// What the host posed.
    Joints(Mirrored),
    Clips(Show),
}

pub struct Stage {
    pub figure: Arc<Figure>,
    pub crowd: Crowd,
    pub uploaded: Uploaded,
    /// By their numbers in [`super::show::Clip`].
    pub clips: Vec<Arc<PackedClip>>,
    pub actors: Vec<Actor>,
    /// Whether a frame was dropped, so that the next one ends fades from snapshots.
    has_dropped: bool,
}

impl Stage {
    /// A crowd with this number of copies of a figure.
    pub fn new(mut crowd: Crowd, figure: Arc<Figure>, count: usize) -> Result<Self, Failure> {
        let uploaded = figure.upload(&mut crowd)?;
        let mut stage = Self {
            clips: figure.clips.clone(),
            figure,
            crowd,
            uploaded,
            actors: Vec::new(),
            has_dropped: false,
        };
        for _ in 0..count {
            stage.add()?;
        }
        Ok(stage)
    }

    /// One that is skinned by this method.
    pub fn one(gpu: &Gpu, method: SkinningMethod) -> Result<Self, Failure> {
        Self::new(gpu.crowd()?, Figure::new(method, 30)?, 1)
    }

    /// The same, linear.
    pub fn linear(gpu: &Gpu) -> Result<Self, Failure> {
        Self::one(gpu, SkinningMethod::ClassicLinear)
    }

    /// Adds the figure.
    pub fn add(&mut self) -> Result<(), Failure> {
        let (figure, uploaded) = (Arc::clone(&self.figure), self.uploaded.clone());
        self.add_other(figure, &uploaded)
    }

    /// Adds another figure that has the same clips.
    pub fn add_other(&mut self, figure: Arc<Figure>, of: &Uploaded) -> Result<(), Failure> {
        let (rig, instances) = figure.add(&mut self.crowd, of)?;
        self.actors.push(Actor {
            figure,
            rig,
            instances,
            shows: Shows::Nothing,
            every: 1,
            last: None,
            bits: Vec::new(),
            moved: false,
        });
        Ok(())
    }

    /// Removes a figure, in the middle of whatever it plays.
    pub fn remove(&mut self, at: usize) -> Result<(), Failure> {
        let gone = self.actors.remove(at);
        for id in gone.instances {
            self.crowd.remove_instance(id)?;
        }
        Ok(self.crowd.remove_rig(gone.rig)?)
    }

    /// Adds a clip, and gives its number and its id.
    pub fn add_clip(&mut self, clip: Arc<PackedClip>) -> Result<(usize, ClipId), Failure> {
        let id = self.crowd.add_clip(Arc::clone(&clip))?;
        self.clips.push(clip);
        self.uploaded.clips.push(id);
        Ok((self.clips.len() - 1, id))
    }

    /// Lets a figure play something.
    pub fn play(&mut self, at: usize, ask: &Ask) -> Result<(), Failure> {
        let actor = &mut self.actors[at];
        let playing = ask.playing(&self.uploaded.clips);
        self.crowd.set_playing(actor.rig, &playing)?;
        let (now, is_posed) = match &actor.shows {
            Shows::Nothing => (None, false),
            Shows::Joints(_) => (None, true),
            Shows::Clips(show) => (Some(show), true),
        };
        let last = is_posed.then(|| actor.last.clone());
        let next = Show::next(now, ask, &self.clips, self.crowd.clock(), last);
        (actor.shows, actor.every) = (Shows::Clips(next), ask.every);
        Ok(())
    }

    /// Poses a figure.
    pub fn pose(&mut self, at: usize, seed: u64) -> Result<(), Failure> {
        let actor = &mut self.actors[at];
        let joints = rigs::locals(&actor.figure.spec, seed);
        self.crowd.set_joints(actor.rig, &joints)?;
        // Clips drive nothing any more, whatever the last frame had.
        if let Some(last) = &mut actor.last {
            last.weights.clear();
        }
        let weights = Vec::new();
        (actor.shows, actor.every) = (Shows::Joints(Mirrored { joints, weights }), 1);
        Ok(())
    }

    /// Encodes a frame that is never submitted. The next one finds that what it should have kept is
    /// lost, and ends fades from that.
    pub fn drop_frame(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.begin_frame();
        self.crowd.encode(&mut gpu.encoder())?;
        self.has_dropped = true;
        Ok(())
    }

    /// Ends the fades from what a frame finds lost: after a dropped one, from every snapshot; and from
    /// poses that no frame had.
    fn begin_frame(&mut self) {
        if std::mem::take(&mut self.has_dropped) {
            self.lose_snapshots();
        }
        for actor in &mut self.actors {
            if let Shows::Clips(show) = &mut actor.shows {
                show.held = show.held.take().filter(Option::is_some);
            }
        }
    }

    /// Moves the crowd to another skinner's device.
    pub fn rebuild(&mut self, skinner: &Skinner) -> Result<(), Failure> {
        self.crowd = self.crowd.rebuild(skinner)?;
        self.has_dropped = false;
        self.lose_snapshots();
        Ok(())
    }

    fn lose_snapshots(&mut self) {
        for actor in &mut self.actors {
            actor.last = None;
            if let Shows::Clips(show) = &mut actor.shows {
                show.held = None;
            }
        }
    }

    /// What a figure shows, by the mirror and in f64.
    fn expected(&mut self, at: usize) -> Result<(Mirrored, Truth), Failure> {
        let (actor, clock) = (&mut self.actors[at], self.crowd.clock());
        let show = match &mut actor.shows {
            Shows::Nothing => return Err("nothing to show".into()),
            Shows::Joints(pose) => return Ok((pose.clone(), Truth::from(&*pose))),
            Shows::Clips(show) => show,
        };
        let player = self.crowd.player(actor.rig);
        let [_, second, added] = show.layers.map(|layer| layer.is_some());
        if second && player.second == NONE || added && player.additive == NONE {
            // The crowd let go of clips that have no weight any more.
            show.settle(clock);
        }
        let clips = (show.layers).map(|layer| layer.map(|clip| &*self.clips[clip.number]));
        let ticks = (clock * 65536.0).round() as i64 as u32;
        let (rig, held) = (&actor.figure.rig, show.held.iter().flatten().next());
        let weight = |channel: usize| {
            let before = held.and_then(|held| held.weights.get(channel));
            play_weight_on_cpu(&player, ticks, &clips, channel, *before.unwrap_or(&0.0))
        };
        let joints = held.map(|held| &held.joints[..]);
        let mirror = Mirrored {
            joints: play_joints_on_cpu(rig, &player, ticks, &clips, joints)?,
            weights: (0..CHANNELS).map(weight).collect(),
        };
        Ok((
            mirror,
            show.at(&self.clips, |joint| rig.is_root(joint), clock),
        ))
    }

    /// The pose of a figure in the last frame, by the mirror.
    pub fn last(&self, at: usize) -> Option<&Mirrored> {
        self.actors[at].last.as_ref()
    }

    /// Runs a frame at a time of the clock, and compares everything. A figure at a lower rate may
    /// hold what it had.
    pub fn frame(&mut self, clock: f64) -> Result<(), Failure> {
        self.crowd.set_clock(clock);
        self.begin_frame();
        self.crowd.submit()?;
        for at in 0..self.actors.len() {
            let (mirror, truth) = self.expected(at)?;
            let actor = &mut self.actors[at];
            let found = self.crowd.read(&actor.instances)?;
            let bits = all_bits(&found);
            let changed = bits.iter().zip(&actor.bits).filter(|(a, b)| a != b).count();
            actor.moved = changed > 0 || actor.bits.is_empty();
            if actor.moved || actor.every == 1 {
                let agrees = match actor.instances.is_empty() {
                    true => Ok(()),
                    false => actor.figure.agrees(&found, &mirror, &truth),
                };
                agrees.map_err(|e| format!("figure {at} at {clock} s: {e}"))?;
                actor.last = Some(mirror);
            }
            let is_half = actor.every > 1 && changed == 1;
            ensure(!is_half, "half a figure was updated")?;
            actor.bits = bits;
        }
        Ok(())
    }
}
