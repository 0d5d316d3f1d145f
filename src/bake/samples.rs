//! Leaves out samples that interpolation gives back.

use crate::io::usd::{BakedPrim, Samples};

/// Thins every property of a prim by itself.
pub(super) fn drop_redundant(prim: &mut BakedPrim) {
    thin(&mut prim.points);
    for (_, normals) in &mut prim.normals {
        thin(normals);
    }
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

/// Drops each sample whose neighbours on both sides equal it to the bit; before the first sample and
/// after the last one USD holds the nearest, so there a single equal neighbour is enough. Holds for
/// linear and held interpolation alike.
fn thin<T: PartialEq>(samples: &mut Samples<T>) {
    if samples.len() < 2 {
        return;
    }
    let same_as_next: Vec<bool> = samples.windows(2).map(|w| w[0].1 == w[1].1).collect();
    let last = samples.len() - 1;
    let all_same = same_as_next.iter().all(|same| *same);
    let mut index = 0;
    samples.retain(|_| {
        let i = index;
        index += 1;
        if all_same {
            return i == 0;
        }
        let like_before = i == 0 || same_as_next[i - 1];
        let like_after = i == last || same_as_next[i];
        !(like_before && like_after)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampled::Time;

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
    }
}
