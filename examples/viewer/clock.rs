//! The playback clock: which time code is shown, and how it moves on.

use super::model::Times;

/// Plays time codes `start..=end`. Times are f64 time codes; seconds are `codes / codes_per_second`.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    pub start: f64,
    pub end: f64,
    pub codes_per_second: f64,
    /// The time code shown, within `start..=end`.
    pub time: f64,
    pub playing: bool,
    pub looping: bool,
    /// 1 is real time; negative plays backwards.
    pub speed: f64,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            start: 0.0,
            end: 0.0,
            codes_per_second: 24.0,
            time: 0.0,
            playing: false,
            looping: true,
            speed: 1.0,
        }
    }
}

/// Speeds that keys step through.
const SPEEDS: [f64; 7] = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

impl Clock {
    /// Takes over another file's times. `keep_time` is for a file that was read again: the same moment stays shown.
    pub fn set_range(&mut self, times: Times, keep_time: bool) {
        let Times {
            start,
            end,
            codes_per_second,
        } = times;
        let sane = start.is_finite() && end.is_finite() && end >= start;
        (self.start, self.end) = if sane { (start, end) } else { (0.0, 0.0) };
        let is_rate = codes_per_second.is_finite() && codes_per_second > 0.0;
        self.codes_per_second = if is_rate { codes_per_second } else { 24.0 };
        let time = if keep_time { self.time } else { self.start };
        self.time = time.clamp(self.start, self.end);
        self.playing &= self.moves();
    }

    pub fn length(&self) -> f64 {
        self.end - self.start
    }

    /// Whether there is anything to play.
    pub fn moves(&self) -> bool {
        self.length() > 0.0
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        (self.time - self.start) / self.codes_per_second
    }

    pub fn length_seconds(&self) -> f64 {
        self.length() / self.codes_per_second
    }

    /// Moves on by real seconds; true where the time shown changed.
    pub fn advance(&mut self, seconds: f64) -> bool {
        if !self.playing || !self.moves() || !seconds.is_finite() {
            return false;
        }
        let next = self.time + seconds * self.codes_per_second * self.speed;
        let before = self.time;
        self.time = if (self.start..=self.end).contains(&next) {
            next
        } else if self.looping {
            self.start + (next - self.start).rem_euclid(self.length())
        } else {
            self.playing = false;
            next.clamp(self.start, self.end)
        };
        self.time != before
    }

    /// Play or pause; at the end, playing begins anew.
    pub fn toggle(&mut self) {
        self.playing = !self.playing && self.moves();
        let (first, last) = match self.speed < 0.0 {
            true => (self.end, self.start),
            false => (self.start, self.end),
        };
        if self.playing && !self.looping && self.time == last {
            self.time = first;
        }
    }

    /// Shows a time and stays there.
    pub fn scrub(&mut self, time: f64) {
        if time.is_finite() {
            self.playing = false;
            self.time = time.clamp(self.start, self.end);
        }
    }

    /// To the next or an earlier whole time code, and stays there; past either end it goes round.
    pub fn step(&mut self, codes: f64) {
        let whole = if codes < 0.0 {
            self.time.ceil()
        } else {
            self.time.floor()
        };
        let next = whole + codes;
        let next = match next {
            n if n > self.end && self.looping => self.start,
            n if n < self.start && self.looping => self.end,
            n => n,
        };
        self.scrub(next);
    }

    /// The next faster or slower of the usual speeds, in the direction it plays.
    pub fn change_speed(&mut self, faster: bool) {
        let (now, sign) = (self.speed.abs(), self.speed.signum());
        let next = if faster {
            SPEEDS.iter().find(|s| **s > now + 1e-9)
        } else {
            SPEEDS.iter().rev().find(|s| **s < now - 1e-9)
        };
        self.speed = sign * next.copied().unwrap_or(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that plays these time codes.
    fn clock(start: f64, end: f64, codes_per_second: f64) -> Clock {
        let mut clock = Clock {
            playing: true,
            ..Clock::default()
        };
        read(&mut clock, (start, end, codes_per_second), false);
        clock
    }

    fn read(
        clock: &mut Clock,
        (start, end, codes_per_second): (f64, f64, f64),
        keep_time: bool,
    ) -> f64 {
        let times = Times {
            start,
            end,
            codes_per_second,
        };
        clock.set_range(times, keep_time);
        clock.time
    }

    #[test]
    fn a_second_is_as_many_codes_as_the_stage_says_times_speed() {
        // From time code 1 to 25: seconds, speed, whether it loops, and where it then is, playing or not.
        for (seconds, speed, looping, time, playing) in [
            (0.5, 1.0, true, 13.0, true),
            (0.5, 0.5, true, 7.0, true),
            (1.25, 1.0, true, 7.0, true),
            (0.5, -1.0, true, 13.0, true),
            (10.0, 1.0, false, 25.0, false),
        ] {
            let mut clock = clock(1.0, 25.0, 24.0);
            (clock.speed, clock.looping) = (speed, looping);
            assert!(clock.advance(seconds));
            assert_eq!((clock.time, clock.playing), (time, playing));
            assert_eq!(clock.seconds(), (time - 1.0) / 24.0);
            assert_eq!(clock.advance(0.25), playing);
        }
        for (speed, faster, expected) in [(1.0, true, 2.0), (-0.3, false, -0.25), (8.0, true, 8.0)]
        {
            let mut clock = clock(1.0, 25.0, 24.0);
            clock.speed = speed;
            clock.change_speed(faster);
            assert_eq!(clock.speed, expected);
        }
    }

    #[test]
    fn steps_land_on_whole_codes_and_go_round() {
        let mut clock = clock(1.0, 25.0, 24.0);
        for (from, by, to) in [
            (3.4, 1.0, 4.0),
            (3.4, -1.0, 3.0),
            (25.0, 1.0, 1.0),
            (1.0, -1.0, 25.0),
        ] {
            clock.scrub(from);
            clock.step(by);
            assert_eq!((clock.time, clock.playing), (to, false));
        }
        // At the end, playing begins anew.
        clock.looping = false;
        clock.toggle();
        assert_eq!((clock.time, clock.playing), (1.0, true));
    }

    #[test]
    fn a_file_without_times_does_not_play_and_one_read_again_keeps_its_moment() {
        let mut clock = clock(1.0, 25.0, 24.0);
        assert_eq!(read(&mut clock, (5.0, 5.0, 0.0), true), 5.0);
        clock.toggle();
        assert!(!clock.playing);
        assert_eq!(read(&mut clock, (f64::NAN, 1.0, f64::NAN), false), 0.0);
        assert_eq!(clock.codes_per_second, 24.0);
        read(&mut clock, (1.0, 25.0, 24.0), false);
        clock.scrub(20.0);
        assert_eq!(read(&mut clock, (1.0, 12.0, 30.0), true), 12.0);
        assert_eq!(read(&mut clock, (0.0, 100.0, 30.0), false), 0.0);
    }
}
