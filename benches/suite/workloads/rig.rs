//! Skeletons and how their joints move.

use std::sync::Arc;

use glam::{DMat4, Quat, Vec3};
use sinew::math::make_transform;
use sinew::skel::Skeleton;

use sinew_verify::rng::Rng;

/// A skeleton whose joints turn about axes of their own: a spine and four limbs, each a chain.
pub struct Rig {
    pub skeleton: Arc<Skeleton>,
    pub parents: Vec<Option<u32>>,
    /// Where each joint is in its parent's space; rotations at rest are identity.
    pub translations: Vec<Vec3>,
    /// In skeleton space at bind.
    pub places: Vec<Vec3>,
    axes: Vec<Vec3>,
}

/// Chains that the joints are divided into.
const CHAINS: usize = 5;

impl Rig {
    pub fn new(joints: usize, seed: u64) -> Self {
        let rng = &mut Rng::new(seed);
        let chain = joints.div_ceil(CHAINS).max(1);
        let mut rig = Self {
            skeleton: Arc::new(Skeleton::new("/Rig", Vec::new(), None, None).expect("no joints")),
            parents: Vec::new(),
            translations: Vec::new(),
            places: Vec::new(),
            axes: Vec::new(),
        };
        let mut names: Vec<String> = Vec::new();
        for joint in 0..joints {
            // The first chain is the spine; two others start at its foot and two at its end.
            let parent = match (joint / chain, joint % chain) {
                (0, 0) => None,
                (1 | 2, 0) => Some(0),
                (_, 0) => Some(chain - 1),
                _ => Some(joint - 1),
            };
            let step = match joint % chain {
                0 => direction(rng) * 0.3,
                _ => direction(rng) * 0.05 + Vec3::Y * 0.2,
            };
            let (place, name) = match parent {
                Some(p) => (rig.places[p] + step, format!("{}/J{joint}", names[p])),
                None => (step, format!("J{joint}")),
            };
            rig.parents.push(parent.map(|p| p as u32));
            rig.translations.push(step);
            rig.places.push(place);
            rig.axes.push(direction(rng));
            names.push(name);
        }
        let at = |v: &Vec3| DMat4::from_translation(v.as_dvec3());
        // The sum of the steps in f64, as the hierarchy has it; places are rounded for points alone.
        let mut bind: Vec<DMat4> = Vec::new();
        for (joint, step) in rig.translations.iter().enumerate() {
            let parent = rig.parents[joint].map_or(DMat4::IDENTITY, |p| bind[p as usize]);
            bind.push(parent * at(step));
        }
        let rest = rig.translations.iter().map(at).collect();
        let skeleton = Skeleton::new("/Rig", names, Some(bind), Some(rest));
        rig.skeleton = Arc::new(skeleton.expect("parents come first"));
        rig
    }

    pub fn joint_count(&self) -> usize {
        self.parents.len()
    }

    /// Joint-local translations and rotations of one character at one frame, as a SkelAnimation holds them; scales are 1.
    pub fn components(&self, character: usize, frame: usize) -> (Vec<Vec3>, Vec<Quat>) {
        let mut translations = self.translations.clone();
        if let Some(root) = translations.first_mut() {
            // Characters stand in rows of a hundred.
            *root += Vec3::new((character % 100) as f32, 0.0, (character / 100) as f32) * 1.5;
        }
        let angle = |joint: usize| {
            let phase = character as f32 * 0.7 + joint as f32 * 1.3 + frame as f32 * 0.1;
            0.3 * phase.sin()
        };
        let rotations = self.axes.iter().enumerate();
        let rotations = rotations.map(|(j, axis)| Quat::from_axis_angle(*axis, angle(j)));
        (translations, rotations.collect())
    }

    /// The same as matrices, parent's space from joint space.
    pub fn local(&self, character: usize, frame: usize) -> Vec<DMat4> {
        let (translations, rotations) = self.components(character, frame);
        let joints = translations.iter().zip(&rotations);
        let matrix =
            |(t, r): (&Vec3, &Quat)| make_transform(t.as_dvec3(), r.as_dquat(), glam::DVec3::ONE);
        joints.map(matrix).collect()
    }
}

/// Of unit length.
pub fn direction(rng: &mut Rng) -> Vec3 {
    let mut component = || rng.range(-1.0, 1.0);
    Vec3::new(component(), component(), component()).normalize_or(Vec3::X)
}
