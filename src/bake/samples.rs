//! Leaves out samples that interpolation gives back.

use glam::Vec3;

use crate::io::usd::{BakedPrim, Samples};
use crate::sampled::Time;

/// Thins each property of a prim by itself that is not thinned by a [`Thinner`] as it comes.
pub(super) fn drop_redundant(prim: &mut BakedPrim) {
    thin(&mut prim.extent);
    if let Some(transform) = &mut prim.transform {
        thin(&mut transform.samples);
    }
}

/// Thins the samples of a hint, whose default value may stand beside timed ones.
pub(super) fn thin_hint<T: PartialEq>(samples: &mut Samples<T>) {
    let timed = samples.iter().position(|(time, _)| time.code().is_some());
    let mut rest = samples.split_off(timed.unwrap_or(samples.len()));
    thin(&mut rest);
    samples.append(&mut rest);
}

/// Drops each sample whose neighbours on both sides equal it; before the first sample and after the last one USD holds
/// the nearest, so there a single equal neighbour is enough. Holds for linear and held interpolation alike.
fn thin<T: PartialEq>(samples: &mut Samples<T>) {
    let mut thinner = Thinner::new(|a: &T, b: &T| a == b);
    let mut kept = Samples::new();
    for (time, value) in samples.drain(..) {
        if let Came::Needed(time, value) = thinner.push(time, value) {
            kept.push((time, value));
        }
    }
    kept.extend(thinner.finish());
    *samples = kept;
}

/// Thins samples as they come, as [`thin`] says; holds one of them.
pub(super) struct Thinner<T> {
    same: fn(&T, &T) -> bool,
    last: Option<Last<T>>,
    /// Time of the first sample, while all that came equal it.
    all_same_since: Option<Time>,
}

struct Last<T> {
    time: Time,
    value: T,
    /// Whether the sample before equals it, or there is none.
    like_before: bool,
}

/// What a new sample tells of the one before.
#[derive(Debug, PartialEq)]
pub(super) enum Came<T> {
    /// It was the first.
    Nothing,
    /// It is to be written.
    Needed(Time, T),
    /// Interpolation gives it back.
    Redundant(T),
}

/// Of points and normals: equal to the bit.
pub(super) type ArrayThinner = Thinner<Vec<Vec3>>;

impl Default for ArrayThinner {
    fn default() -> Self {
        Self::new(|a, b| bytemuck::cast_slice::<_, u8>(a) == bytemuck::cast_slice::<_, u8>(b))
    }
}

impl<T> Thinner<T> {
    fn new(same: fn(&T, &T) -> bool) -> Self {
        Self {
            same,
            last: None,
            all_same_since: None,
        }
    }

    /// Takes the next sample, and tells what becomes of the one before.
    pub fn push(&mut self, time: Time, value: T) -> Came<T> {
        let Some(before) = self.last.take() else {
            self.all_same_since = Some(time);
            self.last = Some(Last {
                time,
                value,
                like_before: true,
            });
            return Came::Nothing;
        };
        let same = (self.same)(&before.value, &value);
        if !same {
            self.all_same_since = None;
        }
        self.last = Some(Last {
            time,
            value,
            like_before: same,
        });
        match before.like_before && same {
            true => Came::Redundant(before.value),
            false => Came::Needed(before.time, before.value),
        }
    }

    /// What is still to be written. The thinner is as new.
    pub fn finish(&mut self) -> Option<(Time, T)> {
        let last = self.last.take()?;
        match self.all_same_since.take() {
            Some(first) => Some((first, last.value)),
            None => (!last.like_before).then_some((last.time, last.value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinned(values: &str) -> String {
        let mut samples: Samples<char> = values
            .chars()
            .enumerate()
            .map(|(i, c)| (Time::At(i as f64), c))
            .collect();
        thin(&mut samples);
        let mut out = ".".repeat(values.len());
        for (time, c) in samples {
            let i = time.code().unwrap() as usize;
            out.replace_range(i..=i, &c.to_string());
        }
        out
    }

    #[test]
    fn keeps_what_interpolation_needs() {
        assert_eq!(thinned("aaa"), "a..");
        assert_eq!(thinned("aaab"), "..ab");
        assert_eq!(thinned("abbbbc"), "ab..bc");
        assert_eq!(thinned("abbb"), "ab..");
        assert_eq!(thinned("abab"), "abab");
        assert_eq!(thinned("aabbaa"), ".abba.");
        assert_eq!(thinned("a"), "a");
        assert_eq!(thinned(""), "");
    }

    #[test]
    fn what_is_redundant_comes_back_at_once() {
        let mut thinner = ArrayThinner::default();
        let at = |t: f64| Time::At(t);
        let array = |x: f32| vec![Vec3::splat(x)];
        assert_eq!(thinner.push(at(0.0), array(0.0)), Came::Nothing);
        // Zeros of both signs are not the same.
        let first = Came::Needed(at(0.0), array(0.0));
        assert_eq!(thinner.push(at(1.0), array(-0.0)), first);
        let second = Came::Needed(at(1.0), array(-0.0));
        assert_eq!(thinner.push(at(2.0), array(-0.0)), second);
        let third = Came::Redundant(array(-0.0));
        assert_eq!(thinner.push(at(3.0), array(-0.0)), third);
        assert_eq!(thinner.finish(), None);
        assert_eq!(thinner.finish(), None);
    }
}
