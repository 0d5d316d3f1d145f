//! Characters on a device: what they play, draw and share.

mod arrays;
mod clips;
mod crowds;
mod draws;
mod made;
mod plays;
mod poses;
mod real;

use std::sync::OnceLock;

use common::tolerance;
use glam::Vec3;
use made::{HERO, scene};
use sinew::clip::{Clip, LocalPose};
use sinew::gpu::{Crowd, Skinner};
use sinew_character::Character;

fn main() {
    common::trials::run([
        ("arrays", arrays::trials()),
        ("clips", clips::trials()),
        ("crowds", crowds::trials()),
        ("draws", draws::trials()),
        ("plays", plays::trials()),
        ("poses", poses::trials()),
        ("real", real::trials()),
    ])
}

/// Trials of functions, which need a device.
macro_rules! trials {
    ($($run:ident),* $(,)?) => {{
        let no_gpu = common::gpu::ignored();
        common::trials::named([$((stringify!($run), $run as fn(), no_gpu)),*])
    }};
}
use trials;

/// The character that the tests write, and a crowd.
struct Stage {
    skinner: Skinner,
    crowd: Crowd,
    hero: Character,
}

impl Stage {
    fn new() -> Self {
        Self::of(HERO)
    }

    /// The same with another scene.
    fn of(name: &str) -> Self {
        let skinner = skinner();
        Self {
            crowd: skinner.crowd(),
            hero: Character::load(&skinner, scene(name)).unwrap(),
            skinner,
        }
    }

    /// A clip of the first skeleton.
    fn clip(&self, name: &str) -> Clip {
        let mut clips = self.hero.clips().iter();
        clips.find(|c| c.name() == name).unwrap().on()[0].clone()
    }

    /// Updates the hero, and computes a frame.
    fn frame(&mut self, dt: f64) -> Vec<Vec<Vec3>> {
        step(&mut self.hero, &mut self.crowd, dt);
        results(&self.hero, &mut self.crowd)
    }

    /// What a pose by the host looks like.
    fn posed(&mut self, pose: &LocalPose) -> Vec<Vec<Vec3>> {
        let mut other = self.hero.another();
        other.set_pose(0, pose.clone()).unwrap();
        other.update(&mut self.crowd).unwrap();
        let out = results(&other, &mut self.crowd);
        other.remove(&mut self.crowd).unwrap();
        out
    }

    /// Compares a frame with a pose.
    fn expect(&mut self, found: &[Vec<Vec3>], pose: &LocalPose) {
        let apart = apart(found, &self.posed(pose));
        assert!(apart <= tolerance::CHARACTERS_MIRRORED, "{apart:.2e}");
    }
}

/// Begins what a character was asked for, and then lets time pass.
fn step(hero: &mut Character, crowd: &mut Crowd, dt: f64) {
    for seconds in [0.0, dt] {
        crowd.advance(seconds).unwrap();
        hero.update(crowd).unwrap();
    }
}

/// One pose blended over another.
fn blended(first: &LocalPose, second: &LocalPose, weight: f32) -> LocalPose {
    let mut out = first.clone();
    out.blend(second, weight).unwrap();
    out
}

/// All tests share its pipelines.
fn skinner() -> Skinner {
    static SKINNER: OnceLock<Skinner> = OnceLock::new();
    let skinner = SKINNER.get_or_init(|| {
        let gpu = common::gpu::device().unwrap();
        Skinner::new(gpu.device(), gpu.queue(), &Default::default()).unwrap()
    });
    skinner.clone()
}

fn asset(name: &str) -> std::path::PathBuf {
    common::repository().join("examples/assets").join(name)
}

/// The vertices of all meshes that a frame computes.
fn results(hero: &Character, crowd: &mut Crowd) -> Vec<Vec<Vec3>> {
    crowd.submit().unwrap();
    let read = crowd.read(hero.instances().unwrap()).unwrap();
    read.into_iter().map(|r| r.points).collect()
}

/// Largest distance of two lists of meshes, in parts of the size of the second.
fn apart(found: &[Vec<Vec3>], expected: &[Vec<Vec3>]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let mut worst = 0.0f32;
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!(a.is_finite());
            worst = worst.max(a.distance(*b));
        }
    }
    f64::from(worst / size(expected))
}

fn size(meshes: &[Vec<Vec3>]) -> f32 {
    let all = meshes.iter().flatten();
    let corners = all.map(|p| (*p, *p));
    let corners = corners.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap();
    (corners.1 - corners.0).length()
}
