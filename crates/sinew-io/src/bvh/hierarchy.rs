//! The HIERARCHY part: joints, their offsets and channels.

use glam::DVec3;

use super::lines::Lines;
use sinew::error::Invalid;

/// Levels of joints. Paths of joints are as long as they are deep, so that files deeper than any
/// skeleton would need memory by the square of their size.
const DEEPEST: usize = 512;

/// A ROOT, a JOINT or an End Site; parents come first.
#[derive(Default)]
pub struct Joint {
    pub name: String,
    pub parent: Option<usize>,
    /// From the parent.
    pub offset: DVec3,
    /// In the file's order, which is that of the values in a frame.
    pub channels: Vec<Channel>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Of an axis: 0 is X.
    Position(usize),
    Rotation(usize),
}

impl Channel {
    fn named(word: &str) -> Option<Self> {
        let axis = match word.bytes().next()?.to_ascii_lowercase() {
            b'x' => 0,
            b'y' => 1,
            b'z' => 2,
            _ => return None,
        };
        match word[1..].to_ascii_lowercase().as_str() {
            "position" => Some(Self::Position(axis)),
            "rotation" => Some(Self::Rotation(axis)),
            _ => None,
        }
    }
}

/// A block that is not closed yet.
struct Open {
    joint: usize,
    is_end_site: bool,
    has_offset: bool,
    has_channels: bool,
}

/// Reads up to MOTION, which is left in place.
pub fn read(lines: &mut Lines) -> Result<Vec<Joint>, Invalid> {
    lines.keyword("HIERARCHY")?;
    let mut joints = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    loop {
        let word = if open.is_empty() {
            lines.peek()
        } else {
            lines.word()
        };
        let is = |keyword: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(keyword));
        match open.last_mut() {
            None if is("ROOT") => {
                lines.word();
                open.push(block(lines, &mut joints, None, false)?);
            }
            None if is("MOTION") && !joints.is_empty() => return Ok(joints),
            None if joints.is_empty() => return Err(lines.error("HIERARCHY", "ROOT", word)),
            None => return Err(lines.error("HIERARCHY", "ROOT or MOTION", word)),
            Some(top) if is("OFFSET") => {
                once(lines, &mut top.has_offset, "OFFSET")?;
                let joint = &mut joints[top.joint];
                for axis in 0..3 {
                    joint.offset[axis] = lines.number("OFFSET")?;
                }
            }
            Some(top) if is("CHANNELS") && !top.is_end_site => {
                once(lines, &mut top.has_channels, "CHANNELS")?;
                joints[top.joint].channels = channels(lines)?;
            }
            Some(top) if (is("JOINT") || is("End")) && !top.is_end_site => {
                let (parent, is_end_site) = (top.joint, !is("JOINT"));
                if open.len() == DEEPEST {
                    let expected = format!("at most {DEEPEST} levels of joints");
                    return Err(lines.error("HIERARCHY", expected, word));
                }
                open.push(block(lines, &mut joints, Some(parent), is_end_site)?);
            }
            Some(top) if is("}") => {
                if !top.has_offset {
                    return Err(lines.error(&joints[top.joint].name, "OFFSET", word));
                }
                open.pop();
            }
            Some(top) => {
                let expected = if top.is_end_site {
                    "OFFSET or `}`"
                } else {
                    "OFFSET, CHANNELS, JOINT, End Site or `}`"
                };
                return Err(lines.error(&joints[top.joint].name, expected, word));
            }
        }
    }
}

/// A block's name and opening brace.
fn block(
    lines: &mut Lines,
    joints: &mut Vec<Joint>,
    parent: Option<usize>,
    is_end_site: bool,
) -> Result<Open, Invalid> {
    let name = lines.name();
    let name = match parent {
        Some(parent) if is_end_site => format!("{}_end", joints[parent].name),
        _ if name.is_empty() => {
            let statement = if parent.is_none() { "ROOT" } else { "JOINT" };
            let found = lines.word();
            return Err(lines.error(statement, "a name", found));
        }
        _ => name.to_owned(),
    };
    match lines.word() {
        Some("{") => {}
        found => return Err(lines.error(&name, "`{`", found)),
    }
    let joint = joints.len();
    joints.push(Joint {
        name,
        parent,
        ..Joint::default()
    });
    Ok(Open {
        joint,
        is_end_site,
        has_offset: false,
        has_channels: false,
    })
}

fn once(lines: &Lines, seen: &mut bool, statement: &str) -> Result<(), Invalid> {
    if std::mem::replace(seen, true) {
        return Err(lines.broken(statement, "one for each joint", "a second one"));
    }
    Ok(())
}

/// The count and the names after CHANNELS.
fn channels(lines: &mut Lines) -> Result<Vec<Channel>, Invalid> {
    let count = lines.word();
    let Some(count) = count.and_then(|w| w.parse::<usize>().ok()) else {
        return Err(lines.error("CHANNELS", "a whole number", count));
    };
    // Grown name by name: the count may claim anything.
    let mut channels = Vec::new();
    while channels.len() < count {
        let word = lines.word();
        let Some(channel) = word.and_then(Channel::named) else {
            let expected = format!(
                "{count} channels such as Xposition or Zrotation (this is number {})",
                channels.len() + 1
            );
            return Err(lines.error("CHANNELS", expected, word));
        };
        if matches!(channel, Channel::Position(_)) && channels.contains(&channel) {
            return Err(lines.error("CHANNELS", "each position channel once", word));
        }
        channels.push(channel);
    }
    Ok(channels)
}
