//! Checks words of unknown origin: after it, nothing reads outside of them.

use super::format::{self, Grid, HEADER_WORDS, Header, LARGEST_STEPS, MAGIC, WIDTHS_BITS};
use super::{JointEntry, PackedClip};
use crate::error::Invalid;
use crate::kernel::registry::{
    CLIP_ANIMATED, CLIP_CHANNEL_TABLE, CLIP_CHANNELS, CLIP_CONSTANT, CLIP_CONSTANTS,
    CLIP_INTERVALS, CLIP_JOINT_TABLE, CLIP_JOINTS, CLIP_RATE, CLIP_RAW, CLIP_RAW_CONSTANT,
    CLIP_SEGMENT_SHIFT, CLIP_SEGMENTS, CLIP_TIMES, CLIP_TRACKS, CLIP_UNIT, CLIP_WIDE, NONE,
};

/// What a joint or channel takes of the tables.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Rotation,
    Vector,
}

impl PackedClip {
    /// Checks every place, width and number that readers rely on.
    pub(super) fn validate(&self) -> Result<(), Invalid> {
        let words = &self.words[..];
        if words.len() < HEADER_WORDS || words[0] != MAGIC {
            return wrong("the words of a packed clip", "other words".into());
        }
        if words[1] as usize != words.len() {
            let expected = format!("{} words", words[1]);
            return wrong(&expected, words.len().to_string());
        }
        let (joints, channels) = (self.head(CLIP_JOINTS), self.head(CLIP_CHANNELS));
        let intervals = self.head(CLIP_INTERVALS);
        let per_joint = match self.head(CLIP_WIDE) {
            0 => 1,
            1 => 2,
            other => return wrong("1 or 2 words per joint", format!("the flag {other}")),
        };
        self.table("joints", CLIP_JOINT_TABLE, joints.checked_mul(per_joint))?;
        self.table("channels", CLIP_CHANNEL_TABLE, Some(channels))?;
        self.table("constants", CLIP_CONSTANTS, Some(0))?;
        self.times(intervals)?;
        let shift = words[CLIP_SEGMENT_SHIFT as usize];
        if shift > 20 || self.head(CLIP_UNIT) > 8 || intervals > 1 << 24 {
            let found = format!("{shift}, {} and {intervals}", self.head(CLIP_UNIT));
            return wrong("sizes of segments, blocks and the clip", found);
        }
        let segments = ((intervals.max(1) - 1) >> shift) + 1;
        self.table("segments", CLIP_SEGMENTS, Some(segments))?;
        let uses = self.uses(joints, channels)?;
        for segment in 0..segments {
            self.segment(segment, &uses)?;
        }
        Ok(())
    }

    /// Whether a table lies inside of the words.
    fn table(&self, what: &str, place: u32, count: Option<usize>) -> Result<(), Invalid> {
        let end = count.and_then(|count| self.head(place).checked_add(count));
        match end {
            Some(end) if end <= self.words.len() => Ok(()),
            _ => wrong(
                &format!("a table of {what} inside of the clip"),
                format!("place {} of {} words", self.head(place), self.words.len()),
            ),
        }
    }

    fn times(&self, intervals: usize) -> Result<(), Invalid> {
        let (duration, rate) = (self.duration(), self.float(CLIP_RATE as usize));
        if !(duration.is_finite() && duration >= 0.0 && rate.is_finite() && rate >= 0.0) {
            return wrong("a duration and a rate", format!("{duration} and {rate}"));
        }
        if self.head(CLIP_TIMES) == NONE as usize {
            return Ok(());
        }
        self.table("times", CLIP_TIMES, intervals.checked_add(1))?;
        let times = self.head(CLIP_TIMES);
        let ascends = |i: usize| self.float(times + i) < self.float(times + i + 1);
        let ends_are_finite = self.float(times) == 0.0 && self.float(times + intervals).is_finite();
        match ends_are_finite && intervals > 0 && (0..intervals).all(ascends) {
            true => Ok(()),
            false => wrong("ascending times", "others".into()),
        }
    }

    /// The use of each track.
    fn uses(&self, joints: usize, channels: usize) -> Result<Vec<Option<Use>>, Invalid> {
        let tracks = self.head(CLIP_TRACKS);
        if tracks > self.words.len() {
            return wrong("headers inside of the clip", format!("{tracks} tracks"));
        }
        let mut uses = vec![None; tracks];
        let constants = self.head(CLIP_CONSTANTS);
        let has_constants = |end: usize| constants.saturating_add(end) <= self.words.len();
        let mut take = |track: u32, by: Use| match uses.get_mut(track as usize) {
            Some(of @ None) => {
                *of = Some(by);
                Ok(())
            }
            _ => wrong("a track of its own", format!("track {track}")),
        };
        for joint in 0..joints {
            let JointEntry {
                kinds,
                mut track,
                constant,
            } = self.entry(joint);
            let mut end = constant as usize;
            for (i, kind) in kinds.into_iter().enumerate() {
                match (kind, i) {
                    (CLIP_ANIMATED, _) => {
                        take(track, if i == 0 { Use::Rotation } else { Use::Vector })?;
                        track += 1;
                    }
                    (CLIP_CONSTANT, 0) => end += 2,
                    (CLIP_RAW_CONSTANT, 0) => end += 4,
                    (CLIP_CONSTANT, _) => end += 3,
                    (0, _) => {}
                    _ => return wrong("kinds of components", format!("{kind} of joint {joint}")),
                }
            }
            if !has_constants(end) {
                return wrong("constants inside of the clip", format!("joint {joint}"));
            }
            // A rotation of 62 bits is finite, whatever the bits are.
            let packed = if kinds[0] == CLIP_CONSTANT { 2 } else { 0 };
            let mut floats = constants + constant as usize + packed..constants + end;
            if !floats.all(|at| self.float(at).is_finite()) {
                return wrong("finite constants", format!("others for joint {joint}"));
            }
        }
        let table = self.head(CLIP_CHANNEL_TABLE);
        for channel in 0..channels {
            let word = self.words[table + channel];
            match word & 3 {
                CLIP_ANIMATED => take(word >> 2, Use::Vector)?,
                CLIP_CONSTANT
                    if has_constants((word >> 2) as usize + 1)
                        && self.float(constants + (word >> 2) as usize).is_finite() => {}
                0 => {}
                _ => return wrong("kinds of channels", format!("channel {channel}")),
            }
        }
        Ok(uses)
    }

    fn segment(&self, segment: usize, uses: &[Option<Use>]) -> Result<(), Invalid> {
        let words = &self.words[..];
        let headers = words[self.head(CLIP_SEGMENTS) + segment] as usize;
        let all_bits = words.len() * 32;
        if headers + uses.len() > words.len() {
            return wrong("headers inside of the clip", format!("place {headers}"));
        }
        let place = self.place((segment << words[CLIP_SEGMENT_SHIFT as usize]) as f32);
        for (track, by) in uses.iter().enumerate() {
            let Some(by) = by else {
                return wrong("a use of each track", format!("none of track {track}"));
            };
            let header = Header::of(words[headers + track]);
            let out_of_clip = || wrong("blocks inside of the clip", format!("track {track}"));
            let block = self.block(&place, header);
            let keys = header.keys(place.count) as usize;
            if header.mode > CLIP_RAW {
                return wrong("a mode", header.mode.to_string());
            }
            if format::is_raw(header) {
                let key = if *by == Use::Rotation { 128 } else { 96 };
                let end = block + keys * key;
                if end > all_bits {
                    return out_of_clip();
                }
                let mut floats = (block..end).step_by(32);
                if !floats.all(|bit| format::raw(words, bit).is_finite()) {
                    return wrong("finite keys", format!("others in track {track}"));
                }
                continue;
            }
            if block + WIDTHS_BITS as usize > all_bits {
                return out_of_clip();
            }
            let widths = format::bits(words, block, WIDTHS_BITS);
            if block + (WIDTHS_BITS + 3 * (widths >> 15)) as usize > all_bits {
                return out_of_clip();
            }
            let grid = Grid::read(words, block, header);
            let key = grid.key_bits() + header.says() as usize;
            if grid.first_key + keys * key > all_bits {
                return out_of_clip();
            }
            let reach = |i: usize| i64::from(grid.low[i]) + (1i64 << grid.bits[i]) - 1;
            let fits = |i: usize| {
                i64::from(grid.low[i]) >= -2 * LARGEST_STEPS && reach(i) <= 2 * LARGEST_STEPS
            };
            if !(0..3).all(fits) {
                return wrong("integers of 25 bits", format!("more in track {track}"));
            }
        }
        Ok(())
    }
}

fn wrong<T>(expected: &str, found: String) -> Result<T, Invalid> {
    Err(Invalid::new("packed clip", "words", expected, found))
}
