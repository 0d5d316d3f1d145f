//! Names of clips: made unique, and found by what a user types.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::Asset;

/// The name of a clip that has none, where a name is needed.
const UNNAMED: &str = "Clip";

/// The clip that a text names, of a list of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundName {
    /// No name fits.
    None,
    /// The index of the only name that fits, or of the first one that is equal to the text.
    One(usize),
    /// Indices of several different names that fit.
    Several(Vec<usize>),
}

/// Finds the clip that a text names. A name that is equal to the text wins. Otherwise the text is
/// a glob if it has `*` (any characters) or `?` (one character), else the last words of a name:
/// `Wave` finds `Armature|Wave`. A name that only ends in the same letters, as `Airwave` does, does
/// not fit. If nothing fits, upper and lower case count as equal.
pub fn find_clip_name<S: AsRef<str>>(names: &[S], asked: &str) -> FoundName {
    let names = || names.iter().map(AsRef::as_ref);
    if let Some(equal) = names().position(|name| name == asked) {
        return FoundName::One(equal);
    }
    let mut found = fitting(names(), asked);
    if found.is_empty() {
        let (lower, asked) = (names().map(str::to_lowercase), asked.to_lowercase());
        let lower: Vec<String> = lower.collect();
        let all = || lower.iter().map(String::as_str);
        let equal = all().enumerate().filter(|(_, name)| *name == asked);
        found = equal.map(|(i, _)| i).collect();
        if found.is_empty() {
            found = fitting(all(), &asked);
        }
    }
    match found[..] {
        [] => FoundName::None,
        [one] => FoundName::One(one),
        _ => FoundName::Several(found),
    }
}

/// Indices of the names that fit a glob, or that end in words.
fn fitting<'a>(names: impl Iterator<Item = &'a str>, asked: &str) -> Vec<usize> {
    let fits = |name: &str| match asked.contains(['*', '?']) {
        true => is_like(name, asked),
        false => ends_in_words(name, asked),
    };
    let found = names.enumerate().filter(|(_, name)| fits(name));
    found.map(|(i, _)| i).collect()
}

/// Whether a name ends in `words`, which begin after a character that is neither letter nor digit.
fn ends_in_words(name: &str, words: &str) -> bool {
    let before = name.strip_suffix(words).filter(|_| !words.is_empty());
    before.is_some_and(|b| b.ends_with(|c: char| !c.is_alphanumeric()))
}

/// Whether a name fits a glob of `*` and `?`.
fn is_like(name: &str, glob: &str) -> bool {
    let (name, glob): (Vec<char>, Vec<char>) = (name.chars().collect(), glob.chars().collect());
    let (mut n, mut g) = (0, 0);
    // Where the last `*` stands, and how much of the name is before what it stands for.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, n));
                g += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                n += 1;
                g += 1;
            }
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (n, g) = (*taken, *at + 1);
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

/// Returns a name that is not in `taken`: `wanted`, or `wanted` with the first free number from 2.
#[must_use]
pub fn unique_clip_name(wanted: &str, taken: &HashSet<String>) -> String {
    if !taken.contains(wanted) {
        return wanted.to_owned();
    }
    numbered(wanted, &mut 2, taken)
}

/// A name with the first number from `next` that is not in `taken`. The number after that is `next` then.
fn numbered(wanted: &str, next: &mut u64, taken: &HashSet<String>) -> String {
    let base = match wanted {
        "" => UNNAMED,
        named => named,
    };
    loop {
        let name = format!("{base}_{next}");
        *next += 1;
        if !taken.contains(&name) {
            return name;
        }
    }
}

impl Asset {
    /// Gives clips unique names: of clips with the same name, the second becomes `NAME_2`.
    pub fn make_clip_names_unique(&mut self) {
        let mut taken: HashSet<String> = self.clips.iter().map(|c| c.name.clone()).collect();
        // The number that the next clip of each name is tried with.
        let mut seen = HashMap::with_capacity(self.clips.len());
        for clip in &mut self.clips {
            match seen.entry(clip.name.clone()) {
                Entry::Vacant(first) => {
                    first.insert(2);
                }
                Entry::Occupied(mut next) => {
                    clip.name = numbered(&clip.name, next.get_mut(), &taken);
                    taken.insert(clip.name.clone());
                }
            }
        }
    }

    /// Finds a clip as [`find_clip_name`] does.
    #[must_use]
    pub fn find_clip(&self, asked: &str) -> FoundName {
        let names: Vec<&str> = self.clips.iter().map(|c| c.name.as_str()).collect();
        find_clip_name(&names, asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::AssetClip;

    #[test]
    fn equal_names_win_and_words_and_globs_must_be_unambiguous() {
        let names = [
            "Armature|Wave",
            "Wave*",
            "Airwave",
            "Rig|Walk",
            "mixamo.com",
        ];
        let find = |asked: &str| find_clip_name(&names, asked);
        assert_eq!(find("Wave*"), FoundName::One(1));
        assert_eq!(find("Wave"), FoundName::One(0));
        assert_eq!(find("wave"), FoundName::One(0));
        assert_eq!(find("AIRWAVE"), FoundName::One(2));
        assert_eq!(find("com"), FoundName::One(4));
        assert_eq!(find("*W*"), FoundName::Several(vec![0, 1, 3]));
        assert_eq!(find("*al?"), FoundName::One(3));
        assert_eq!(find("?irwav?"), FoundName::One(2));
        assert_eq!(find("all"), FoundName::None);
        assert_eq!(find(""), FoundName::None);
        let two = ["A|Run", "B|Run"];
        assert_eq!(find_clip_name(&two, "Run"), FoundName::Several(vec![0, 1]));
        let cases = ["Run", "RUN"];
        let several = FoundName::Several(vec![0, 1]);
        assert_eq!(find_clip_name(&cases, "run"), several);
        assert_eq!(find_clip_name(&cases, "RUN"), FoundName::One(1));
    }

    #[test]
    fn names_become_unique() {
        let mut asset = Asset::default();
        for name in ["Wave", "Wave", "Wave_2", "", "", "Wave"] {
            asset.clips.push(AssetClip {
                name: name.to_owned(),
                ..AssetClip::default()
            });
        }
        asset.make_clip_names_unique();
        let names: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
        let expected = ["Wave", "Wave_3", "Wave_2", "", "Clip_2", "Wave_4"];
        assert_eq!(names, expected);
    }
}
