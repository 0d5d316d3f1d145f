//! Leaves out samples that interpolation gives back.

use sinew::sampled::Time;
use sinew_io::usd::{BakedPrim, Samples};

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

/// Thins samples as they come, as [`thin`] says; holds one of them, and while all are equal the first.
pub(super) struct Thinner<T> {
    last: Option<Last<T>>,
    /// The first sample, while all that came equal it; without a value where it is the last one too.
    all_like: Option<(Time, Option<T>)>,
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
    /// Not known yet.
    Nothing,
    /// It is to be written.
    Needed(Time, T),
    /// Interpolation gives it back.
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
    /// Takes the next sample, and tells what becomes of the one before.
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
            // Equal zeros may have two signs, so it has to be this one.
            (true, Some((_, first @ None))) => {
                *first = Some(before.value);
                Came::Nothing
            }
            (true, _) => Came::Redundant(before.value),
        }
    }

    /// What is still to be written. The thinner is as new.
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
        // The first one, should all be equal.
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
