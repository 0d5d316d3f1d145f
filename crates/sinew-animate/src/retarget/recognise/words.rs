//! What the names of joints say.
//!
//! A name is cut into words, whatever its case, separators, prefixes and language. A dictionary says
//! which parts of the body a word may mean. Words that most joints share, such as the name of the
//! character, say nothing. [`super::body`] decides by hierarchy which of the meanings is right.

use std::collections::{HashMap, HashSet};

use super::dictionary::{LONGEST, MEANINGS, Meaning, Role, SHORT, Segment, Side};
use Meaning::{Helper, Noise, Roles};
use Role::{Arm, Eye, Finger, Head, Hips, Jaw, Leg, Neck, Spine};

/// What a name says.
#[derive(Clone, Debug, Default)]
pub(super) struct Clue {
    pub side: Option<Side>,
    /// The parts of the body that the name may mean, with weights up to 1.
    pub roles: Vec<(Role, f64)>,
    /// Whether the joint is none of the body's bones: a twist, an end, a control, hair, cloth.
    pub is_helper: bool,
    /// Whether the name has the word tip.
    pub is_tip: bool,
    /// Whether the name has the word base.
    pub is_base: bool,
    /// The numbers in the name, in order.
    pub numbers: Vec<String>,
    pub segment: Option<Segment>,
    /// Whether numbers begin at 0, as those of a thumb in MMD.
    pub from_zero: bool,
    /// 0 for the word spine, 1 for chest, 2 for upper chest.
    pub trunk: Option<usize>,
    /// Whether the name has the mark of a generated rig's deforming joint.
    pub deforms: bool,
    /// The name without the mark of its layer in a generated rig, in lower case.
    pub key: String,
}

impl Clue {
    /// The weight of a role; 0 for helpers.
    pub fn weight(&self, role: Role) -> f64 {
        let found = self.roles.iter().find(|(r, _)| *r == role);
        found.filter(|_| !self.is_helper).map_or(0.0, |(_, w)| *w)
    }

    /// The role with the largest weight.
    pub fn best(&self) -> Option<(Role, f64)> {
        let roles = self.roles.iter().filter(|_| !self.is_helper).copied();
        // The first one of equal weights.
        roles.rev().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The finger that the name says, and whether it says any.
    pub fn finger(&self) -> Option<Option<usize>> {
        self.roles.iter().find_map(|(role, _)| match role {
            Role::Finger(finger) => Some(*finger),
            _ => None,
        })
    }
}

/// The longest part of a name that is looked at, in characters.
const MOST_OF_NAME: usize = 256;

/// What each name says, in view of the others.
pub(super) fn clues(names: &[String]) -> Vec<Clue> {
    let names = &without_counts(names);
    let glued = glued_prefix(names);
    let words: Vec<Vec<Word>> = names.iter().map(|n| words(n, &glued)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for words in &words {
        let mut seen: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
        seen.sort_unstable();
        seen.dedup();
        for word in seen {
            *counts.entry(word).or_default() += 1;
        }
    }
    // A word of most joints does not tell them apart. A word of the body that most joints have is
    // the name of the character or of a part of it.
    let says_nothing = |word: &str| {
        let count = counts.get(word).copied().unwrap_or(0);
        let share = count as f64 / names.len().max(1) as f64;
        let is_known = MEANINGS.contains_key(word) || matches!(word, "l" | "r");
        count > 3 && share > if is_known { 0.7 } else { 0.25 }
    };
    let all: HashSet<&str> = names.iter().map(String::as_str).collect();
    let clue = |(words, name): (&Vec<Word>, &String)| {
        let mut out = clue(words, name, &says_nothing);
        // MakeHuman's `__UpLeg_L` leads from the middle of the body to `UpLeg_L`.
        let is_led_to = |(before, after)| all.contains(&*format!("{before}{after}"));
        out.is_helper |= name.split_once("__").is_some_and(is_led_to);
        out
    };
    words.iter().zip(names).map(clue).collect()
}

/// The fewest names that are taken to be counted.
const ENOUGH_COUNTED: usize = 8;

/// The names without the numbers that Sketchfab counts the nodes of a file with, such as 015 in
/// `DEF-thigh.R_015`: nearly all names end in one, and no two in the same.
fn without_counts(names: &[String]) -> Vec<String> {
    let counted = |name: &str| {
        let (own, count) = name.rsplit_once('_')?;
        let is_count = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
        is_count.then(|| (own.to_owned(), count.to_owned()))
    };
    let all: Vec<Option<(String, String)>> = names.iter().map(|n| counted(n)).collect();
    let counts: Vec<&String> = all.iter().flatten().map(|(_, count)| count).collect();
    let distinct: HashSet<&String> = counts.iter().copied().collect();
    let are_most = counts.len() >= ENOUGH_COUNTED && counts.len() * 10 >= names.len() * 9;
    if !are_most || distinct.len() < counts.len() {
        return names.to_vec();
    }
    let own = |(counted, name): (Option<(String, String)>, &String)| match counted {
        Some((own, _)) => own,
        None => name.clone(),
    };
    all.into_iter().zip(names).map(own).collect()
}

#[derive(Clone, Debug, PartialEq)]
struct Word {
    text: String,
    is_number: bool,
}

/// A name without its namespace, cut off if it is very long, with ASCII for the wide letters and
/// digits of Japanese texts.
fn own(name: &str) -> String {
    let mut parts = name.rsplit([':', '|']);
    let own = parts.find(|p| p.chars().any(char::is_alphabetic));
    let own = own.unwrap_or(name);
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    };
    own.chars().take(MOST_OF_NAME).map(narrow).collect()
}

/// A prefix that more than half of the names have, if it is glued to words in lower case, such as
/// `hero` in `heroleftarm`; else empty.
fn glued_prefix(names: &[String]) -> String {
    let mut all: Vec<String> = names.iter().map(|n| own(n)).collect();
    all.sort_unstable();
    let most = all.len() / 2 + 1;
    let shared = |a: &str, b: &str| {
        let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
        same.map(|(a, _)| a).collect::<String>()
    };
    let spans = all.windows(most).filter(|_| all.len() > 3);
    let ends = spans.filter_map(|span| Some(shared(span.first()?, span.last()?)));
    let longest = ends.max_by_key(String::len).unwrap_or_default();
    let is_word = longest.chars().all(|c| c.is_ascii_lowercase());
    let starts_word = MEANINGS.keys().any(|w| w.starts_with(&longest));
    match is_word && longest.len() >= 3 && !starts_word {
        true => longest,
        false => String::new(),
    }
}

/// The words and numbers of a name, in lower case. A word that the dictionary does not have is cut
/// into words that it has, if it consists of such.
fn words(name: &str, glued: &str) -> Vec<Word> {
    let own = own(name);
    let own = own.strip_prefix(glued).unwrap_or(&own);
    let chars: Vec<char> = own.chars().collect();
    let mut runs: Vec<String> = Vec::new();
    let mut last = Kind::Gap;
    for (i, c) in chars.iter().enumerate() {
        let kind = Kind::of(*c);
        let next = chars.get(i + 1).map_or(Kind::Gap, |c| Kind::of(*c));
        let continues = kind == last
            || (last == Kind::Upper && kind == Kind::Lower)
            || (kind == Kind::Lower && last == Kind::Lower);
        // The last capital of a run begins the word that follows: `LHip`.
        let begins = kind == Kind::Upper && last == Kind::Upper && next == Kind::Lower;
        if kind != Kind::Gap {
            if !continues || begins {
                runs.push(String::new());
            }
            if let Some(run) = runs.last_mut() {
                run.extend(c.to_lowercase());
            }
        }
        last = kind;
    }
    let mut out = Vec::new();
    for run in runs {
        let is_number = run.starts_with(|c: char| c.is_ascii_digit());
        let parts = match is_number || MEANINGS.contains_key(run.as_str()) {
            true => None,
            false => cut(&run),
        };
        let parts = parts.unwrap_or_else(|| vec![run]);
        out.extend(parts.into_iter().map(|text| Word { text, is_number }));
    }
    out
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Gap,
    Lower,
    Upper,
    Digit,
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            _ if c.is_ascii_digit() => Self::Digit,
            // Signs that lengthen or repeat a syllable are letters.
            _ if !c.is_alphanumeric() => Self::Gap,
            _ if c.is_uppercase() => Self::Upper,
            _ if c.is_lowercase() => Self::Lower,
            _ => Self::Other,
        }
    }
}

/// Cuts a run of letters into the fewest words of the dictionary. A single l or r at its beginning
/// or end is a side. Runs of other scripts may have unknown parts, as their words have no gaps.
fn cut(run: &str) -> Option<Vec<String>> {
    let chars: Vec<char> = run.chars().collect();
    if !run.is_ascii() {
        let mut out: Vec<String> = Vec::new();
        let mut i = 0;
        while i < chars.len() {
            let longest = (1..=LONGEST.min(chars.len() - i)).rev().find_map(|n| {
                let word: String = chars[i..i + n].iter().collect();
                MEANINGS.contains_key(word.as_str()).then_some(word)
            });
            let word = longest.unwrap_or_else(|| chars[i].to_string());
            i += word.chars().count();
            out.push(word);
        }
        return Some(out);
    }
    let whole = |from: usize, to: usize| {
        // best[i]: the words up to i.
        let mut best: Vec<Option<Vec<String>>> = vec![None; to - from + 1];
        best[0] = Some(Vec::new());
        for end in 1..=to - from {
            for start in end.saturating_sub(LONGEST)..end {
                let word = &run[from + start..from + end];
                let is_word =
                    MEANINGS.contains_key(word) && (word.len() > 2 || SHORT.contains(&word));
                let Some(before) = best[start].as_ref().filter(|_| is_word) else {
                    continue;
                };
                if best[end]
                    .as_ref()
                    .is_none_or(|b| b.len() > before.len() + 1)
                {
                    let mut words = before.clone();
                    words.push(word.to_owned());
                    best[end] = Some(words);
                }
            }
        }
        best.pop().flatten().filter(|words| !words.is_empty())
    };
    let side = |c: char| matches!(c, 'l' | 'r').then(|| c.to_string());
    let all = whole(0, run.len());
    let first = side(chars[0]).and_then(|side| {
        let rest = whole(1, run.len())?;
        Some([vec![side], rest].concat())
    });
    let last = side(chars[chars.len() - 1]).and_then(|side| {
        let rest = whole(0, run.len() - 1)?;
        Some([rest, vec![side]].concat())
    });
    all.or(first).or(last)
}

/// Weight of a role for each word of its name that the dictionary does not have.
const UNKNOWN: f64 = 0.6;

fn clue(words: &[Word], name: &str, says_nothing: &impl Fn(&str) -> bool) -> Clue {
    let mut out = Clue::default();
    let mut rest: Vec<&str> = Vec::new();
    let (mut side_word, mut side_letter) = (None, None);
    let mut layer = "";
    for (place, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        if word.is_number {
            // Bip01 counts characters, not joints.
            let counts = place.checked_sub(1).is_some_and(|before| {
                let before = words[before].text.as_str();
                !says_nothing(before) && !matches!(MEANINGS.get(before), Some(Noise))
            });
            if counts {
                out.numbers.push(word.text.clone());
            }
            continue;
        }
        if matches!(text, "def" | "org" | "mch") {
            out.deforms = text == "def";
            layer = text;
        }
        // Of two equal words the first one is the name of the character.
        let earlier = words[..place].iter().any(|w| w.text == text);
        if says_nothing(text) && !(earlier && MEANINGS.contains_key(text)) {
            continue;
        }
        match (MEANINGS.get(text), text) {
            (Some(Meaning::Side(side)), _) => side_word = Some(*side),
            (_, "l" | "lf") => side_letter = Some(Side::Left),
            (_, "r" | "rt") => side_letter = Some(Side::Right),
            _ => rest.push(text),
        }
    }
    out.side = side_word.or(side_letter);
    let texts = words.iter().map(|w| w.text.as_str());
    out.key = texts.filter(|t| layer.is_empty() || *t != layer).collect();
    let is_foreign = !name.is_ascii();
    let mut roles: Vec<(Role, f64)> = Vec::new();
    let mut unknown = 0_i32;
    let mut ordinal = None;
    let mut i = 0;
    while i < rest.len() {
        // The longest word that the next ones make together.
        let joined = (2..=3.min(rest.len() - i)).rev().find_map(|n| {
            let word = rest[i..i + n].concat();
            let meaning = MEANINGS.get(word.as_str())?;
            Some((n, word, *meaning))
        });
        let (count, word, meaning) = match joined {
            Some((n, word, meaning)) => (n, word, Some(meaning)),
            None => (1, rest[i].to_owned(), MEANINGS.get(rest[i]).copied()),
        };
        i += count;
        match meaning {
            Some(Roles(found)) => {
                out.trunk = out.trunk.or(match word.as_str() {
                    "spine" => Some(0),
                    "chest" => Some(1),
                    "upperchest" => Some(2),
                    _ => None,
                });
                // Of several words the last one counts most: `head_neck`.
                roles.iter_mut().for_each(|(_, w)| *w *= 0.6);
                roles.extend(found);
            }
            Some(Helper) => out.is_helper = true,
            Some(Meaning::Segment(segment)) => out.segment = Some(segment),
            Some(Noise | Meaning::Side(_)) => {}
            None if word.chars().count() == 1 => {
                // 肩P, 肩C and 足D accompany 肩 and 足.
                out.is_helper |= is_foreign && matches!(word.as_str(), "p" | "c" | "d");
                unknown += i32::from(!word.is_ascii());
            }
            None => match finger_of_ordinal(&word) {
                Some(finger) => ordinal = Some(finger),
                None => match segment_of_letters(&word) {
                    Some(segment) => out.segment = Some(segment),
                    None => unknown += 1,
                },
            },
        }
    }
    // Xsens counts the fingers, and third may also be the ring finger of MMD.
    let counted = rest.iter().any(|w| segment_of_letters(w).is_some());
    let third = rest.contains(&"third").then_some(2);
    if let Some(finger) = ordinal.or(third).filter(|_| counted) {
        roles = vec![(Finger(Some(finger)), 1.0)];
    }
    out.from_zero = rest.contains(&"親指") || rest.contains(&"おやゆび");
    out.is_tip = rest.contains(&"tip");
    out.is_base = rest.contains(&"base");
    out.roles = decide(roles, out.side);
    if out.roles.is_empty() && rest.iter().all(|w| *w == "t") {
        out.vertebra(words);
    }
    // The joints of a neck may be called twist, because they share its turn. Human3.6M has a joint
    // for neck and nose.
    let is_neck = out.side.is_none() && out.roles.iter().any(|(r, _)| *r == Neck);
    if is_neck {
        let others = rest.iter().filter(|w| !matches!(**w, "twist" | "nose"));
        let mut others = others.filter_map(|w| MEANINGS.get(w));
        out.is_helper = others.any(|m| matches!(m, Helper));
    }
    let factor = UNKNOWN.powi(unknown).max(0.3);
    out.roles.iter_mut().for_each(|(_, w)| *w *= factor);
    out
}

impl Clue {
    /// L5, L3, T12 and T8 are vertebrae.
    fn vertebra(&mut self, words: &[Word]) {
        if let [.., letter, number] = words
            && number.is_number
            && matches!(letter.text.as_str(), "l" | "t")
        {
            self.side = None;
            self.roles = vec![(Spine, 0.8)];
        }
    }
}

/// The roles of a name from those of its words.
fn decide(roles: Vec<(Role, f64)>, side: Option<Side>) -> Vec<(Role, f64)> {
    let fingers: Vec<(Role, f64)> = roles
        .iter()
        .filter(|(r, _)| matches!(r, Finger(_)))
        .copied()
        .collect();
    let is_foot = |(r, _): &(Role, f64)| matches!(r, Leg(2 | 3));
    let most = roles.iter().map(|(_, w)| *w).fold(0.0, f64::max);
    if !fingers.is_empty() && roles.iter().any(is_foot) {
        // The toes have names of fingers too.
        return vec![(Leg(3), 0.1)];
    }
    // The middle of an arm or of the spine is no finger, but a finger's name may begin with hand.
    let is_other = |(r, _): &&(Role, f64)| !matches!(r, Finger(_) | Arm(3));
    let is_finger = fingers.iter().any(|(_, w)| *w >= most);
    if is_finger && !roles.iter().any(|r| is_other(&r)) {
        let named = fingers.iter().find(|(r, _)| *r != Finger(None));
        return vec![(named.unwrap_or(&fingers[0]).0, 1.0)];
    }
    let mut roles = roles;
    roles.retain(|(r, _)| !(is_finger && matches!(r, Finger(_))));
    let fits = |role: &Role| match role {
        Hips | Spine | Neck | Head | Jaw => side.is_none(),
        Eye | Arm(_) | Leg(_) => side.is_some(),
        Finger(_) => true,
    };
    let mut out: Vec<(Role, f64)> = Vec::new();
    for (role, weight) in roles.into_iter().filter(|(r, _)| fits(r)) {
        match out.iter_mut().find(|(r, _)| *r == role) {
            Some(known) => known.1 = known.1.max(weight),
            None => out.push((role, weight)),
        }
    }
    out
}

/// The fingers of Xsens, as in `FirstPP`.
fn finger_of_ordinal(word: &str) -> Option<usize> {
    ["first", "second", "third", "fourth", "fifth"]
        .iter()
        .position(|o| *o == word)
}

fn segment_of_letters(word: &str) -> Option<Segment> {
    match word {
        "mc" | "cmc" => Some(Segment::Metacarpal),
        "pp" => Some(Segment::Proximal),
        "mp" => Some(Segment::Intermediate),
        "dp" => Some(Segment::Distal),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str) -> Clue {
        clues(&[name.to_owned()]).remove(0)
    }

    fn says(name: &str) -> (Option<Side>, Option<Role>) {
        let clue = one(name);
        (clue.side, clue.best().map(|(role, _)| role))
    }

    #[test]
    fn names_of_any_spelling_say_the_same() {
        let left = Some(Side::Left);
        for name in [
            "LeftForeArm",
            "mixamorig:LeftForeArm",
            "left_forearm_joint",
            "forearm.L",
            "lForearmBend",
            "Bip01 L Forearm",
            "lowerarm_l",
            "J_Bip_L_LowerArm",
            "LElbow",
            "lradius",
            "Arm_Lower_L",
            "leftforearm",
            "左ひじ",
            "L_ForeArm_jnt",
        ] {
            assert_eq!(says(name), (left, Some(Arm(2))), "{name}");
        }
        for name in [
            "RightUpLeg",
            "rThigh",
            "R_UpperLeg",
            "rfemur",
            "thigh_r",
            "RHip",
            "右足",
        ] {
            assert_eq!(says(name), (Some(Side::Right), Some(Leg(0))), "{name}");
        }
        for (name, role) in [
            ("Hip", Hips),
            ("L5", Spine),
            ("T12", Spine),
            ("lowerback", Spine),
            ("CC_Base_NeckTwist01", Neck),
            ("neckUpper", Neck),
            ("上半身2", Spine),
            ("グルーブ", Hips),
            ("HeadBone", Head),
        ] {
            assert_eq!(says(name), (None, Some(role)), "{name}");
        }
        for (name, finger) in [
            ("LeftHandPinky1", 4),
            ("f_index.01.L", 1),
            ("lMid2", 2),
            ("左薬指１", 3),
            ("LeftFirstPP", 0),
            ("LeftThirdMP", 2),
            ("third1_L", 3),
            ("left_handThumbStart_joint", 0),
        ] {
            assert_eq!(says(name), (left, Some(Finger(Some(finger)))), "{name}");
        }
    }

    #[test]
    fn other_joints_say_nothing() {
        for name in [
            "upperarm_twist_01_l",
            "ik_foot_l",
            "HeadTop_End",
            "LeftHandAttach",
            "hair_head_01",
            "L_Breast",
            "armor",
            "handle",
            "rear",
            "左肩P",
            "左足ＩＫ",
            "左腕捩",
            "left_eyeLowerLid_joint",
            "Bip01 L Toe0Nub",
            "MCH-thigh.L",
        ] {
            assert_eq!(says(name).1, None, "{name}");
        }
    }

    #[test]
    fn what_all_joints_share_says_nothing() {
        let rig = |prefix: &str| {
            let own = [
                "Hips", "Spine", "Head", "LeftArm", "RightArm", "LeftLeg", "Prop",
            ];
            clues(&own.map(|n| format!("{prefix}{n}")))
        };
        for prefix in ["", "TorsoMan_", "Hero", "ns:sub:", "the_Head_", "L_", "r0"] {
            let roles: Vec<_> = rig(prefix).iter().map(|c| c.best().map(|b| b.0)).collect();
            assert_eq!(roles[0], Some(Hips), "{prefix}");
            assert_eq!(
                roles[2..5],
                [Some(Head), Some(Arm(1)), Some(Arm(1))],
                "{prefix}"
            );
            assert_eq!(roles[6], None, "{prefix}");
        }
        let low = clues(&["herohips", "heroleftarm", "heroleftleg", "herohead"].map(String::from));
        assert_eq!(low[1].best(), Some((Arm(1), 0.9)));
    }

    #[test]
    fn hostile_names_end() {
        one(&"larm".repeat(100_000));
        one(&"左".repeat(100_000));
        for name in ["", ":", "|||", "_._", "\u{0}", "٣", "ﬀ", "İ", "l", "r1"] {
            one(name);
        }
    }
}
