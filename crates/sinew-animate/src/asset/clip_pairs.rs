//! Clips that belong together: Blender exports a character's bones and its shape keys as two.

use std::collections::HashMap;

use super::{Asset, AssetClip, Keys, TrackTarget};

/// What a clip moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipMoves {
    /// Joints, and nothing else.
    Joints,
    /// Blend shapes or expressions, and nothing else.
    Shapes,
    /// Both, or nothing.
    Both,
}

/// A clip, as [`clip_pairs`] sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipKind<'a> {
    /// Name of the clip.
    pub name: &'a str,
    /// What it moves.
    pub moves: ClipMoves,
    /// Times of the first and the last key; `None` if it has no keys.
    pub range: Option<(f64, f64)>,
}

/// Pairs of a clip that moves joints and one that moves shapes, which are one movement: their names
/// are the same but for words such as `Shapes` or `Action`, or they are the only clips of the file
/// and overlap in time. The results are indices of the clip of joints and of the clip of shapes. No
/// clip is in two pairs.
///
/// ```
/// use sinew_animate::asset::{ClipKind, ClipMoves, clip_pairs};
///
/// let clip = |name, moves| ClipKind { name, moves, range: Some((0.0, 1.0)) };
/// let clips = [
///     clip("Walk", ClipMoves::Joints),
///     clip("Run", ClipMoves::Joints),
///     clip("WalkShapes", ClipMoves::Shapes),
/// ];
/// assert_eq!(clip_pairs(&clips), [(0, 2)]);
/// ```
#[must_use]
pub fn clip_pairs(clips: &[ClipKind<'_>]) -> Vec<(usize, usize)> {
    // The clips of shapes that are free, by stem, the first one last.
    let mut free: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    for (index, clip) in clips.iter().enumerate().rev() {
        let stem = stem(clip.name);
        if clip.moves == ClipMoves::Shapes && !stem.is_empty() {
            free.entry(stem).or_default().push(index);
        }
    }
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (joints, clip) in clips.iter().enumerate() {
        if clip.moves == ClipMoves::Joints
            && let Some(shapes) = free.get_mut(&stem(clip.name)).and_then(Vec::pop)
        {
            out.push((joints, shapes));
        }
    }
    if let ([a, b], true) = (clips, out.is_empty())
        && let (Some(x), Some(y)) = (a.range, b.range)
        && x.0 < y.1
        && y.0 < x.1
    {
        match (a.moves, b.moves) {
            (ClipMoves::Joints, ClipMoves::Shapes) => out.push((0, 1)),
            (ClipMoves::Shapes, ClipMoves::Joints) => out.push((1, 0)),
            _ => {}
        }
    }
    out
}

/// Words of a clip's name that say what kind of clip it is, and not which movement.
const KINDS: [&str; 14] = [
    "action",
    "anim",
    "animation",
    "clip",
    "shape",
    "shapes",
    "key",
    "keys",
    "shapekey",
    "shapekeys",
    "morph",
    "morphs",
    "weights",
    "blendshapes",
];

/// The words and numbers of a name that say which movement it is, in lower case. Of
/// `Armature|Walk` the last part counts, and of a prim path too. Numbers that Blender adds to make
/// names unique, as in `Walk.001`, do not count.
fn stem(name: &str) -> Vec<String> {
    let last = name.rsplit(['|', '/']).next().unwrap_or(name);
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in last.chars() {
        let is_other_kind = c.is_numeric() != before.is_numeric();
        let is_camel = c.is_uppercase() && before.is_lowercase();
        if (is_other_kind && before != '.') || is_camel || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    let is_added = |w: &str| {
        let digits = w.strip_prefix('.').unwrap_or_default();
        digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let words = words.into_iter().filter(|w| !is_added(w));
    let plain = words.map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
    plain
        .filter(|w| !w.is_empty() && !KINDS.contains(&w.as_str()))
        .collect()
}

impl AssetClip {
    /// What the clip moves.
    #[must_use]
    pub fn moves(&self) -> ClipMoves {
        let is_shape = |t: &super::Track| {
            matches!(t.target, TrackTarget::Expression(_))
                || matches!(t.curve.keys, Keys::Weights { .. })
        };
        let shapes = self.tracks.iter().filter(|t| is_shape(t)).count();
        match (shapes, self.tracks.len()) {
            (0, n) if n > 0 => ClipMoves::Joints,
            (shapes, n) if n > 0 && shapes == n => ClipMoves::Shapes,
            _ => ClipMoves::Both,
        }
    }
}

impl Asset {
    /// The pairs of clips that belong together ([`clip_pairs`]).
    #[must_use]
    pub fn clip_pairs(&self) -> Vec<(usize, usize)> {
        let kind = |c: &'_ AssetClip| (c.moves(), c.range());
        let kinds: Vec<_> = self.clips.iter().map(kind).collect();
        let kinds: Vec<ClipKind<'_>> = std::iter::zip(&self.clips, kinds)
            .map(|(clip, (moves, range))| ClipKind {
                name: &clip.name,
                moves,
                range,
            })
            .collect();
        clip_pairs(&kinds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds<'a>(clips: &[(&'a str, ClipMoves)]) -> Vec<ClipKind<'a>> {
        let kind = |(name, moves): &(&'a str, ClipMoves)| ClipKind {
            name,
            moves: *moves,
            range: Some((0.0, 1.0)),
        };
        clips.iter().map(kind).collect()
    }

    #[test]
    fn names_that_differ_in_words_for_kinds_only_are_one_movement() {
        use ClipMoves::{Both, Joints, Shapes};
        let clips = kinds(&[
            ("Walk", Joints),
            ("Armature|Run", Joints),
            ("WalkShapes", Shapes),
            ("Key.001|Run_Key", Shapes),
            ("Wave1", Joints),
            ("Wave2Shapes", Shapes),
            ("Jump", Both),
            ("JumpKeys", Shapes),
        ]);
        assert_eq!(clip_pairs(&clips), [(0, 2), (1, 3)]);
        // A name that says nothing else is related to nothing.
        let nameless = kinds(&[("Action", Joints), ("KeyAction", Shapes), ("Run", Joints)]);
        assert_eq!(clip_pairs(&nameless), []);
        // Of two with the same name the first free one.
        let twice = kinds(&[
            ("Walk", Joints),
            ("Walk_2", Joints),
            ("walk keys", Shapes),
            ("Walk.002", Joints),
        ]);
        assert_eq!(clip_pairs(&twice), [(0, 2)]);
    }

    /// Two lists are matched without asking each clip about each other one, which took minutes.
    #[test]
    fn thousands_of_clips_are_matched_at_once() {
        let count = 20_000;
        let names: Vec<[String; 2]> = (0..count)
            .map(|i| [format!("Clip{i}"), format!("Clip{}Shapes", count - 1 - i)])
            .collect();
        let joints = names.iter().map(|[name, _]| (&name[..], ClipMoves::Joints));
        let shapes = names.iter().map(|[_, name]| (&name[..], ClipMoves::Shapes));
        let clips: Vec<(&str, ClipMoves)> = joints.chain(shapes).collect();
        let pairs = clip_pairs(&kinds(&clips));
        assert_eq!(pairs.len(), count);
        for (joints, shapes) in pairs {
            assert_eq!(shapes, 2 * count - 1 - joints);
        }
    }

    #[test]
    fn the_only_two_clips_are_one_movement_if_they_overlap() {
        use ClipMoves::{Joints, Shapes};
        let two = kinds(&[("BodyAction", Shapes), ("RigAction", Joints)]);
        assert_eq!(clip_pairs(&two), [(1, 0)]);
        let mut apart = two.clone();
        apart[1].range = Some((2.0, 3.0));
        assert_eq!(clip_pairs(&apart), []);
        let bones = kinds(&[("A", Joints), ("B", Joints)]);
        assert_eq!(clip_pairs(&bones), []);
    }
}
