//! Rows of `plays.txt`: what a character plays on the GPU, compared with the same clips on the CPU.
//!
//! A row begins with `## NAME`. Its lines are done in their order:
//!
//! | line | what it does |
//! |---|---|
//! | `play CLIP`, `crossfade SECONDS CLIP`, `stop SECONDS` | plays; `at=`, `speed=` and `once` may follow the clip |
//! | `blend WEIGHT SECONDS CLIP`, `add WEIGHT SECONDS CLIP` | plays a second clip; `add ... none` ends an addition |
//! | `roots stay`, `roots move` | sets whether clips move the root |
//! | `pose POSE` | poses the skeleton by the host |
//! | `change crowds` | moves the character to another crowd |
//! | `frame SECONDS` | computes the next frame |
//! | `is POSE` | the frame has this pose |
//! | `shows CLIP SECONDS`, `shows rest` | the frame is that of the clip alone at this time, or of the rest pose |
//! | `differs CLIP SECONDS` | the frame is not that of the clip alone at this time |
//! | `way X Y Z` | how far the root moved in the last frame |
//! | `let NAME = POSE` | gives a pose a name |
//!
//! A pose is `CLIP@SECONDS` or a name. Changes may follow, which are made from left to right: `blend POSE
//! WEIGHT`, `add FROM TO WEIGHT`, `below JOINT POSE` (JOINT and those below have POSE), `in place of POSE`
//! (the root stays where it is in POSE).

use std::collections::HashMap;

use common::tolerance;
use common::trials::Trial;
use glam::{BVec3, DVec3, Vec3};
use libtest_mimic::Failed;
use sinew::clip::{JointMask, LocalPose};
use sinew_character::PlayClip;

use crate::{Stage, apart};

pub fn trials() -> Vec<Trial> {
    let ignored = common::gpu::ignored();
    let rows = include_str!("plays.txt").split("\n## ").skip(1);
    let trials = rows.map(|row| {
        let (name, lines) = row.split_once('\n').unwrap();
        Trial::test(name, move || {
            let mut player = Player {
                stage: Stage::new(),
                found: Vec::new(),
                poses: HashMap::new(),
            };
            let lines = lines.lines();
            for line in lines.filter(|l| !l.is_empty() && !l.starts_with('#')) {
                player.line(line).map_err(|e| format!("{line}: {e:?}"))?;
            }
            Ok(())
        })
        .with_ignored_flag(ignored)
    });
    trials.collect()
}

struct Player {
    stage: Stage,
    /// The last frame.
    found: Vec<Vec<Vec3>>,
    poses: HashMap<String, LocalPose>,
}

impl Player {
    fn line(&mut self, line: &str) -> Result<(), Failed> {
        let words: Vec<&str> = line.split(' ').collect();
        let hero = &mut self.stage.hero;
        match words[..] {
            ["play", ref of @ ..] => hero.play(clip(of)?)?,
            ["crossfade", seconds, ref of @ ..] => hero.crossfade(clip(of)?, seconds.parse()?)?,
            ["stop", seconds] => hero.stop(seconds.parse()?)?,
            ["blend", weight, seconds, ref of @ ..] => {
                hero.blend(clip(of)?, weight.parse()?, seconds.parse()?)?;
            }
            ["add", weight, seconds, "none"] => {
                hero.add(None, weight.parse()?, seconds.parse()?)?;
            }
            ["add", weight, seconds, ref of @ ..] => {
                hero.add(Some(clip(of)?), weight.parse()?, seconds.parse()?)?;
            }
            ["roots", "stay"] => hero.set_root_motion(BVec3::FALSE),
            ["roots", "move"] => hero.set_root_motion(BVec3::TRUE),
            ["pose", ref of @ ..] => {
                let pose = self.pose(of)?;
                self.stage.hero.set_pose(0, pose)?;
            }
            ["change", "crowds"] => {
                hero.remove(&mut self.stage.crowd)?;
                self.stage.crowd = self.stage.skinner.crowd();
            }
            ["frame", dt] => self.found = self.stage.frame(dt.parse()?),
            ["is", ref of @ ..] => {
                let pose = self.pose(of)?;
                self.stage.expect(&self.found, &pose);
            }
            ["shows", ref of @ ..] | ["differs", ref of @ ..] => {
                let alone = match *of {
                    [name, seconds] => hero.positions(Some(name), seconds.parse()?)?,
                    _ => hero.positions(None, 0.0)?,
                };
                let apart = apart(&self.found, &alone);
                let is_so = match words[0] {
                    "shows" => apart <= tolerance::CHARACTERS_MIRRORED,
                    _ => apart > 1e-2,
                };
                assert!(is_so, "{line}: {apart:.2e}");
            }
            ["way", x, y, z] => {
                let way = DVec3::new(x.parse()?, y.parse()?, z.parse()?);
                let found = hero.root_motion();
                assert!(found.distance(way) < 1e-3, "{line}: {found}");
            }
            ["let", name, "=", ref of @ ..] => {
                let pose = self.pose(of)?;
                self.poses.insert(name.to_owned(), pose);
            }
            _ => return Err("no such line".into()),
        }
        Ok(())
    }

    fn pose(&self, words: &[&str]) -> Result<LocalPose, Failed> {
        let one = |word: &str| match word.split_once('@') {
            Some((name, seconds)) => Ok(self.stage.clip(name).sample(seconds.parse()?)),
            None => self
                .poses
                .get(word)
                .cloned()
                .ok_or(Failed::from("no such pose")),
        };
        let (first, mut rest) = words.split_first().ok_or("a pose")?;
        let mut pose = one(first)?;
        while !rest.is_empty() {
            rest = match *rest {
                ["blend", over, weight, ref rest @ ..] => {
                    pose.blend(&one(over)?, weight.parse()?)?;
                    rest
                }
                ["add", from, to, weight, ref rest @ ..] => {
                    pose.add(&one(from)?, &one(to)?, weight.parse()?)?;
                    rest
                }
                ["below", joint, over, ref rest @ ..] => {
                    let skeleton = &self.stage.hero.skeletons()[0].skeleton;
                    let mask = JointMask::below(skeleton, &[joint])?;
                    let before = pose.joints.clone();
                    pose.blend_masked(&one(over)?, 1.0, &mask)?;
                    assert_eq!(pose.joints[0], before[0]);
                    assert_ne!(pose.joints[1], before[1]);
                    rest
                }
                ["in", "place", "of", start, ref rest @ ..] => {
                    pose.in_place(0, &one(start)?, BVec3::FALSE)?;
                    rest
                }
                _ => return Err("no such change of a pose".into()),
            };
        }
        Ok(pose)
    }
}

/// A clip and how it is played.
fn clip(words: &[&str]) -> Result<PlayClip, Failed> {
    let (name, settings) = words.split_first().ok_or("a clip")?;
    let mut clip = PlayClip::new(*name);
    for setting in settings {
        clip = match setting.split_once('=') {
            Some(("at", seconds)) => clip.at(seconds.parse()?),
            Some(("speed", speed)) => clip.speed(speed.parse()?),
            _ if *setting == "once" => clip.once(),
            _ => return Err("no such setting of a clip".into()),
        };
    }
    Ok(clip)
}
