//! What everyone plays, and when that changes. This is all that the CPU does for a character: a state of 64 bytes, when
//! it changes. The GPU computes poses from it and the clock.

use glam::BVec3;
use sinew::gpu::{ClipId, Crowd, PlayedClip, Playing, RigId};

use crate::cast::{Model, Move};
use crate::places::{Person, chance};
use host::Result;

/// Seconds until everyone has changed what it does.
const ROUND: f64 = 8.0;
/// Seconds of a change.
const FADE: f32 = 0.5;

/// Clips of a model in the crowd.
struct Repertoire {
    clips: Vec<(ClipId, f32)>,
    pace: f32,
}

impl Repertoire {
    /// One of its clips, begun at another time by everyone.
    fn clip(&self, moves: Move, person: &Person) -> PlayedClip {
        let (clip, duration) = self.clips[moves as usize];
        // Clips go on if they are asked for again.
        let begun = PlayedClip::new(clip)
            .at(duration * chance(person.seed, 20))
            .keep_time();
        match moves {
            // Feet must not slide: the clip is as fast as its character.
            Move::Walk => begun.speed(person.pace / (self.pace * person.height)),
            _ => begun.speed(0.8 + 0.4 * chance(person.seed, 21)),
        }
    }

    /// What somebody plays in a round.
    fn act(&self, person: &Person, round: usize) -> Playing {
        let dice = chance(person.seed, 30 + round as u32);
        let clip = |moves| self.clip(moves, person);
        let playing = if person.pace > 0.0 {
            match dice {
                // A wave on top of the walk, as what it changes since its beginning.
                ..0.4 => Playing::new(clip(Move::Walk)).add(clip(Move::Wave), 1.0),
                _ => Playing::new(clip(Move::Walk)),
            }
        } else {
            match dice {
                ..0.5 => Playing::new(clip(Move::Wave)),
                ..0.8 => Playing::new(clip(Move::Perform)),
                // Between the two.
                _ => Playing::new(clip(Move::Wave)).blend(clip(Move::Perform), 0.5),
            }
        };
        // The clips' ways over the ground are left out: a shader moves the characters.
        playing.root_motion(BVec3::new(false, true, false))
    }
}

/// Changes until a time of the clock.
fn due(people: &[Person], seconds: f64) -> usize {
    (seconds.max(0.0) / ROUND * people.len() as f64) as usize
}

/// Lets everyone play.
pub struct Acts {
    repertoires: Vec<Repertoire>,
    /// Everyone's rigs, with the order in which they change.
    rigs: Vec<Vec<RigId>>,
    order: Vec<usize>,
    /// Changes so far.
    changed: usize,
}

impl Acts {
    /// Uploads the clips, and lets everyone begin at a time of the clock.
    pub fn begin(
        crowd: &mut Crowd,
        models: &[Model],
        people: &[Person],
        rigs: Vec<Vec<RigId>>,
        seconds: f64,
    ) -> Result<Self> {
        let mut repertoires = Vec::new();
        for model in models {
            let (mut clips, pace) = (Vec::new(), model.pace);
            for clip in &model.clips {
                clips.push((crowd.add_clip(clip.clone())?, clip.duration()));
            }
            repertoires.push(Repertoire { clips, pace });
        }
        let mut order: Vec<usize> = (0..people.len()).collect();
        order.sort_by(|a, b| chance(*a, 50).total_cmp(&chance(*b, 50)));
        let acts = Self {
            repertoires,
            rigs,
            order,
            changed: due(people, seconds),
        };
        crowd.set_clock(seconds);
        let mut all = Vec::new();
        for (person, rigs) in people.iter().zip(&acts.rigs) {
            let playing = acts.repertoires[person.model].act(person, 0);
            all.extend(rigs.iter().map(|rig| (*rig, playing.clone())));
        }
        crowd.set_playing_all(&all)?;
        Ok(acts)
    }

    /// Sets the clock, and lets those whose turn it is change what they play. Its cost depends on how many change, not on
    /// how many there are.
    pub fn go_on(&mut self, crowd: &mut Crowd, people: &[Person], seconds: f64) -> Result<()> {
        crowd.set_clock(seconds);
        let count = people.len();
        let due = due(people, seconds);
        // After a pause, nobody changes twice.
        self.changed = self.changed.max(due.saturating_sub(count));
        while self.changed < due {
            let who = self.order[self.changed % count];
            let round = 1 + self.changed / count;
            let person = &people[who];
            let playing = self.repertoires[person.model].act(person, round).fade(FADE);
            for rig in &self.rigs[who] {
                crowd.set_playing(*rig, &playing)?;
            }
            self.changed += 1;
        }
        Ok(())
    }
}
