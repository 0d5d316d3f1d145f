//! Drops samples that interpolation can reproduce.

use sinew::sampled::Time;
use sinew_io::usd::{BakedPrim, Samples};

/// Thins each property of a prim that was not thinned by a [`Thinner`] before.
pub(super) fn drop_redundant(prim: &mut BakedPrim) {
    thin(&mut prim.extent);
    if let Some(transform) = &mut prim.transform {
        thin(&mut transform.samples);
    }
}

/// Thins the samples of a hint, which may have a default value and time samples.
pub(super) fn thin_hint<T: PartialEq>(samples: &mut Samples<T>) {
    let timed = samples.iter().position(|(time, _)| time.code().is_some());
    let mut rest = samples.split_off(timed.unwrap_or(samples.len()));
    thin(&mut rest);
    samples.append(&mut rest);
}

/// Drops each sample that equals its neighbours on both sides. At the ends a single equal neighbour
/// is enough, because USD holds the first and the last value. It is correct for linear and for held
/// interpolation.
fn thin<T: PartialEq>(samples: &mut Samples<T>) {
    let mut thinner = Thinner::default();
    let mut kept = Samples::new();
    for (time, value) in samples.drain(..) {
        if let Came::Needed(time, value) = thinner.push(time, value) {
            kept.push((time, value));
        }
    }
    kept.extend(thinner.finish());
    *samples = kept;
}

/// Thins samples one by one, by the rule of [`thin`]. It keeps the last sample and, while all are
/// equal, the first one.
pub(super) struct Thinner<T> {
    last: Option<Last<T>>,
    /// The first sample, while all samples are equal to it. It has no value if it is also the last
    /// sample.
    all_like: Option<(Time, Option<T>)>,
}

struct Last<T> {
    time: Time,
    value: T,
    /// Whether the previous sample is equal, or there is none.
    like_before: bool,
}

/// What is decided about a sample when the next one is known.
#[derive(Debug, PartialEq)]
pub(super) enum Came<T> {
    /// Not decided yet.
    Nothing,
    /// It is to be written.
    Needed(Time, T),
    /// Linear interpolation of its neighbours reproduces this sample.
    Redundant(T),
}

impl<T> Default for Thinner<T> {
    fn default() -> Self {
        Self {
            last: None,
            all_like: None,
        }
    }
}

impl<T: PartialEq> Thinner<T> {
    /// Adds the next sample and returns what is decided about the previous one.
    pub fn push(&mut self, time: Time, value: T) -> Came<T> {
        let Some(before) = self.last.take() else {
            self.all_like = Some((time, None));
            self.last = Some(Last {
                time,
                value,
                like_before: true,
            });
            return Came::Nothing;
        };
        let same = before.value == value;
        self.last = Some(Last {
            time,
            value,
            like_before: same,
        });
        if !same {
            self.all_like = None;
        }
        match (before.like_before && same, &mut self.all_like) {
            (false, _) => Came::Needed(before.time, before.value),
            // 0 and -0 are equal, so the value has to be that of this sample.
            (true, Some((_, first @ None))) => {
                *first = Some(before.value);
                Came::Nothing
            }
            (true, _) => Came::Redundant(before.value),
        }
    }

    /// Returns the samples that are still to be written, and resets the thinner.
    pub fn finish(&mut self) -> Option<(Time, T)> {
        let last = self.last.take()?;
        match self.all_like.take() {
            Some((time, first)) => Some((time, first.unwrap_or(last.value))),
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
        let mut thinner = Thinner::default();
        let at = Time::At;
        assert_eq!(thinner.push(at(0.0), 'a'), Came::Nothing);
        // The first one, if all are equal.
        assert_eq!(thinner.push(at(1.0), 'a'), Came::Nothing);
        assert_eq!(thinner.push(at(2.0), 'a'), Came::Redundant('a'));
        assert_eq!(thinner.push(at(3.0), 'b'), Came::Needed(at(2.0), 'a'));
        assert_eq!(thinner.push(at(4.0), 'b'), Came::Needed(at(3.0), 'b'));
        assert_eq!(thinner.push(at(5.0), 'b'), Came::Redundant('b'));
        assert_eq!(thinner.finish(), None);
        assert_eq!(thinner.finish(), None);
    }

    #[test]
    fn the_first_of_equal_zeros_is_kept() {
        let mut samples: Samples<f32> = vec![(Time::At(1.0), -0.0), (Time::At(2.0), 0.0)];
        thin(&mut samples);
        assert_eq!(samples, [(Time::At(1.0), 0.0)]);
        assert!(samples[0].1.is_sign_negative());
    }
}
