//! A walker and a hero in files, and the calls that move the walker's clip to the hero.

use std::path::{Path, PathBuf};

use common::command::Bench;
use common::rigs::{Build, Made, random_turn, vroid};
use common::rng::Rng;
use glam::{DMat4, DQuat, DVec3};
use libtest_mimic::Failed;
use sinew::math::Trs;
use sinew_animate::retarget::{BoneMap, MatchChoice, NoMatch, RigPlacement};
use sinew_check::Severity;
use sinew_io::retarget::{Error, Request, Retargeted, Source, SourceRequest, Target, retarget};

use crate::stages::{Poses, Stage};

/// Path of the skeleton of each figure.
pub const SKEL: &str = "/Char/Skel";

/// A clip, a character, and how the one is moved to the other.
#[derive(Clone)]
pub struct Job {
    pub source: SourceRequest,
    pub target: PathBuf,
    pub target_skeleton: Option<String>,
    pub request: Request,
}

impl Job {
    pub fn new(clip: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Self {
        Self {
            source: SourceRequest::new(clip),
            target: target.into(),
            target_skeleton: None,
            request: Request::default(),
        }
    }

    /// The job with changes.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The job with the pairs of a map.
    pub fn mapped(self, map: BoneMap) -> Self {
        self.with(|job| job.request.matches = MatchChoice::Map(map))
    }

    pub fn run(&self) -> Result<(Target, Retargeted), Error> {
        let source = Source::open(&self.source)?;
        let target = Target::open(&self.target, self.target_skeleton.as_deref(), &source)?;
        let moved = retarget(&source, &target, &self.request)?;
        Ok((target, moved))
    }

    /// Writes the character with the clip. What is written breaks no rule.
    pub fn write(&self, out: &Path) -> Result<Retargeted, Failed> {
        let (mut target, moved) = self.run()?;
        let (skeleton, clip) = (&moved.skeleton, &moved.animation);
        target
            .file
            .set_animation(skeleton, "Animation", clip, &moved.time_line)?;
        target.file.write(out)?;
        let report = sinew_check::check_file(out, &Default::default())?;
        let mut errors = report.findings.iter();
        match errors.find(|f| f.severity == Severity::Error) {
            Some(error) => Err(format!("{}: {error:?}", out.display()).into()),
            None => Ok(moved),
        }
    }

    /// Writes only the clip.
    pub fn write_alone(&self, out: &Path) -> Result<Retargeted, Failed> {
        let (target, moved) = self.run()?;
        target
            .file
            .write_animation(out, "Animation", &moved.animation, &moved.time_line)?;
        Ok(moved)
    }

    /// The error, whose text has all the words.
    pub fn refused(&self, words: &[&str]) -> Error {
        let Err(error) = self.run() else {
            panic!("expected an error with {words:?}");
        };
        let text = error.to_string();
        for word in words {
            assert!(text.contains(word), "'{text}' should say '{word}'");
        }
        error
    }

    /// Why the rigs cannot be matched, and the best guess.
    pub fn unmatched(&self, words: &[&str]) -> NoMatch {
        let Error::Animate(error) = self.refused(words) else {
            panic!("expected rigs that cannot be matched");
        };
        match *error {
            sinew_animate::Error::NoMatch(no_match) => *no_match,
            other => panic!("{other}"),
        }
    }
}

/// Whether a warning has this code.
pub fn warns(moved: &Retargeted, code: &str) -> bool {
    moved.warnings.iter().any(|w| w.code == code)
}

/// A Z-up walker in centimetres with Mixamo's names, and a Y-up hero in metres with VRoid's.
pub struct Pair {
    pub bench: Bench,
    pub source: Made,
    pub target: Made,
    pub poses: Poses,
}

pub fn pair(seed: u64) -> Pair {
    let bench = Bench::new();
    let mut rng = Rng::new(seed);
    let source = Build {
        orient: Box::new(|_| random_turn(&mut rng)),
        placement: RigPlacement {
            world_from_skel: DMat4::from_translation(DVec3::new(30.0, -20.0, 0.0)),
            up: DVec3::Z,
            meters_per_unit: 0.01,
        },
        skel_from_body: DMat4::from_scale(DVec3::splat(100.0))
            * DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2),
        ..Build::default()
    }
    .make();
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        reshape: &|_, at| at * 0.8,
        extra: vec![
            ("LUpperArm", "J_Sec_L_Twist", true),
            ("head", "J_Sec_Hair", false),
        ],
        root: Some("Root"),
        placement: RigPlacement {
            world_from_skel: DMat4::from_translation(DVec3::new(0.5, 0.0, 0.0)),
            ..RigPlacement::default()
        },
        ..Build::default()
    }
    .make();
    let poses = turning(&source, &mut rng);
    let walk = Stage {
        made: &source,
        up: 'Z',
        meters_per_unit: 0.01,
        rate: 30.0,
        clips: vec![("Walk", poses.clone()), ("Still", poses[..1].to_vec())],
        channels: &["Wink", "Smile"],
        shapes: &[],
    };
    bench.write("walk.usda", walk.text());
    let hero = Stage {
        shapes: &["Smile", "Frown"],
        ..Stage::of(&target)
    };
    bench.write("hero.usda", hero.text());
    Pair {
        bench,
        source,
        target,
        poses,
    }
}

/// Nine poses that turn on, so that quaternions pass through half turns.
fn turning(made: &Made, rng: &mut Rng) -> Poses {
    let last = made.random_pose(rng, 3.1);
    let pose = |i: u32| {
        let i = f64::from(i);
        let mut pose: Vec<Trs> = made.rig.rest().to_vec();
        for (local, last) in pose.iter_mut().zip(&last) {
            let (axis, _) = (local.rotation.inverse() * last.rotation).to_axis_angle();
            let turn = DQuat::from_axis_angle(axis, i * 0.8);
            local.rotation = (local.rotation * turn).normalize();
            local.translation = local.translation.lerp(last.translation, i / 8.0);
        }
        (i + 1.0, pose)
    };
    (0..9).map(pose).collect()
}

impl Pair {
    /// The walker's clip for the hero.
    pub fn job(&self) -> Job {
        Job::new(self.bench.path("walk.usda"), self.bench.path("hero.usda"))
    }

    /// Writes the hero with the walker's clip.
    pub fn write(&self, out: &str) -> Result<PathBuf, Failed> {
        let out = self.bench.path(out);
        self.job().write(&out)?;
        Ok(out)
    }

    /// Replaces text in one of the files.
    pub fn edit(&self, file: &str, change: impl FnOnce(String) -> String) {
        let text = std::fs::read_to_string(self.bench.path(file)).expect("a file");
        self.bench.write(file, change(text));
    }
}
