//! The work loads A to F, from a seed: the same on every machine and in every run.
//!
//! | | |
//! |---|---|
//! | A | 1 M points, 100 joints, 4 influences, points and normals |
//! | B | the same with 1 to 12 influences mixed, in one mesh of elementSize 12 |
//! | C | 10,000 characters of 5,000 points, 60 joints, 20 distinct meshes, each with its own pose |
//! | D | a face of 50,000 points, 800 sparse shapes of 3 to 10 %, three in-betweens on every fifth, 120 active |
//! | E | one hero of 200,000 points, 1,000 frames |
//! | F | 1 point and 1 joint, 100,000 meshes |
//!
//! D's shapes are local patches, as sculpted ones are; [`Kind::ScatteredFace`] has the same sizes over scattered points.
#![allow(
    dead_code,
    unused_imports,
    reason = "the suite and the test use parts of their own"
)]

mod mesh;
mod rig;

use std::sync::Arc;

use sinew::skel::{Pose, Skin};

use crate::peers::Load;
pub use mesh::{INBETWEEN_EVERY, Influences, Mesh, Patches, geom_bind};
pub use rig::Rig;
use sinew_verify::rng::Rng;

/// Which work load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Body,
    MixedBody,
    Crowd,
    Face,
    ScatteredFace,
    Hero,
    Dust,
}

impl Kind {
    pub const ALL: [Self; 7] = [
        Self::Body,
        Self::MixedBody,
        Self::Crowd,
        Self::Face,
        Self::ScatteredFace,
        Self::Hero,
        Self::Dust,
    ];

    /// What the tables call it.
    pub fn name(self) -> &'static str {
        self.named().0
    }

    pub fn words(self) -> &'static str {
        self.named().1
    }

    fn named(self) -> (&'static str, &'static str) {
        match self {
            Self::Body => ("A", "one mesh, 100 joints, 4 influences"),
            Self::MixedBody => (
                "B",
                "one mesh, 100 joints, 1 to 12 influences (elementSize 12, the rest of weight 0)",
            ),
            Self::Crowd => (
                "C",
                "characters of 5,000 points, 60 joints, 4 influences, 20 meshes, a pose each",
            ),
            Self::Face => (
                "D",
                "a face, 800 sparse shapes as local patches, 120 active, no joints",
            ),
            Self::ScatteredFace => (
                "D-scattered",
                "the same face, with shapes over scattered points",
            ),
            Self::Hero => (
                "E",
                "one mesh, 100 joints, 4 influences, baked to disk (points times frames)",
            ),
            Self::Dust => ("F", "meshes of 1 point and 1 joint"),
        }
    }
}

/// How large a work load is made; [`Size::of`] gives what the issue asks for, times a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Points of each mesh.
    pub points: usize,
    pub joints: usize,
    /// Distinct meshes.
    pub meshes: usize,
    /// Characters, each with a pose of its own.
    pub characters: usize,
    pub shapes: usize,
    /// Shapes with a weight at a time.
    pub active: usize,
    pub frames: usize,
}

impl Size {
    /// C and F scale by their number of characters, the others by points, E by frames as well.
    pub fn of(kind: Kind, scale: f64) -> Self {
        let scaled = |n: usize| ((n as f64 * scale).round() as usize).max(1);
        let one = Self {
            points: 1,
            joints: 0,
            meshes: 1,
            characters: 1,
            shapes: 0,
            active: 0,
            frames: 1,
        };
        match kind {
            Kind::Body | Kind::MixedBody => Self {
                points: scaled(1_000_000),
                joints: 100,
                ..one
            },
            Kind::Crowd => Self {
                points: 5_000,
                joints: 60,
                meshes: 20.min(scaled(10_000)),
                characters: scaled(10_000),
                ..one
            },
            Kind::Face | Kind::ScatteredFace => Self {
                points: scaled(50_000),
                shapes: 800,
                active: 120,
                ..one
            },
            Kind::Hero => Self {
                points: scaled(200_000),
                joints: 100,
                frames: scaled(1_000),
                ..one
            },
            Kind::Dust => Self {
                joints: 1,
                meshes: scaled(100_000),
                characters: scaled(100_000),
                ..one
            },
        }
    }
}

/// A work load: meshes, a rig, and characters that are poses of a mesh each.
pub struct Workload {
    pub kind: Kind,
    pub size: Size,
    pub meshes: Vec<Mesh>,
    /// The skins of `meshes`.
    pub skins: Vec<Arc<Skin>>,
    /// None for faces.
    pub rig: Option<Rig>,
}

const SEED: u64 = 6;

impl Workload {
    pub fn new(kind: Kind, scale: f64) -> Self {
        Self::sized(kind, Size::of(kind, scale))
    }

    pub fn sized(kind: Kind, size: Size) -> Self {
        let rig = (size.joints > 0).then(|| Rig::new(size.joints, SEED));
        let body = |influences, normals| {
            let rig = rig.as_ref().expect("has joints");
            (0..size.meshes as u64)
                .map(|i| mesh::body(rig, size.points, influences, normals, SEED + i))
                .collect()
        };
        let face = |patches| vec![mesh::face(size.points, size.shapes, patches, SEED)];
        let meshes: Vec<Mesh> = match kind {
            Kind::Body => body(Influences::Each(4), true),
            Kind::MixedBody => body(Influences::UpTo(12), true),
            Kind::Crowd | Kind::Hero => body(Influences::Each(4), false),
            Kind::Dust => body(Influences::Each(1), false),
            Kind::Face => face(Patches::Local),
            Kind::ScatteredFace => face(Patches::Scattered),
        };
        Self::of_meshes(kind, size, meshes, rig)
    }

    /// A's load with other influences.
    pub fn body_of(size: Size, influences: Influences) -> Self {
        let rig = Rig::new(size.joints, SEED);
        let mesh = mesh::body(&rig, size.points, influences, true, SEED);
        Self::of_meshes(Kind::Body, size, vec![mesh], Some(rig))
    }

    fn of_meshes(kind: Kind, size: Size, meshes: Vec<Mesh>, rig: Option<Rig>) -> Self {
        Self {
            kind,
            size,
            skins: meshes.iter().map(|m| Arc::clone(&m.skin)).collect(),
            meshes,
            rig,
        }
    }

    /// The same load without rest normals.
    pub fn without_normals(self) -> Self {
        let bare = |skin: &Arc<Skin>| {
            let (points, influences) = (skin.points().to_vec(), skin.influences().cloned());
            let (joints, shapes) = (skin.joint_count(), skin.shapes().to_vec());
            let skin = Skin::new(
                "/Mesh",
                points.into(),
                None,
                influences,
                None,
                joints,
                shapes,
            );
            Arc::new(skin.expect("valid"))
        };
        Self {
            skins: self.skins.iter().map(bare).collect(),
            ..self
        }
    }

    /// Points of all characters.
    pub fn points(&self) -> usize {
        self.size.points * self.size.characters
    }

    /// Which mesh a character is.
    pub fn mesh_of(&self, character: usize) -> usize {
        character % self.size.meshes
    }

    /// A character's pose at a frame.
    pub fn pose(&self, character: usize, frame: usize) -> Pose {
        match &self.rig {
            Some(rig) => {
                let pose = Pose::from_local(&rig.skeleton, &rig.local(character, frame));
                pose.expect("one matrix per joint")
                    .with_geom_bind(geom_bind())
            }
            None => Pose::of_shapes(self.weights(0, frame)),
        }
    }

    /// Channel weights at a frame: `active` of them are not zero. Another `set` has other shapes active, the same in
    /// every frame.
    pub fn weights(&self, set: usize, frame: usize) -> Vec<f32> {
        let rng = &mut Rng::new(SEED + frame as u64);
        let mut weights = vec![0.0; self.size.shapes];
        for i in 0..self.size.active {
            let channel = (i * self.size.shapes / self.size.active + set) % self.size.shapes;
            weights[channel] = rng.range(0.1, 0.95);
        }
        weights
    }

    pub fn has_normals(&self) -> bool {
        self.skins.iter().any(|s| s.normals().is_some())
    }

    /// Points alone, and with normals where there are some.
    pub fn with_normals(&self) -> &'static [bool] {
        if self.has_normals() {
            &[false, true]
        } else {
            &[false]
        }
    }

    /// The load as peers take it.
    pub fn at<'a>(&'a self, instances: &'a [(usize, Pose)]) -> Load<'a> {
        Load {
            name: self.kind.name(),
            skins: &self.skins,
            instances,
        }
    }

    /// Number of the mesh and pose of every character.
    pub fn instances(&self, frame: usize) -> Vec<(usize, Pose)> {
        let characters = 0..self.size.characters;
        characters
            .map(|c| (self.mesh_of(c), self.pose(c, frame)))
            .collect()
    }
}
