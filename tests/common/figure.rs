//! Random models and clips, built by hand, and their poses as matrices.

use glam::{DMat4, DQuat, DVec3};
use sinew_animate::asset::{
    Asset, AssetClip, AssetSkin, Curve, CurveInterpolation, HumanoidSkeleton, Keys, LocalTransform,
    Node, Track, TrackTarget, Trs,
};
use sinew_animate::retarget::Bone;

use crate::rng::Rng;

pub fn vector(rng: &mut Rng, size: f32) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| f64::from(rng.range(-size, size))))
}

pub fn rotation(rng: &mut Rng) -> DQuat {
    let q = DQuat::from_array([(); 4].map(|()| f64::from(rng.range(-1.0, 1.0))));
    if q.length() < 0.1 {
        return rotation(rng);
    }
    q.normalize()
}

/// Uniformly scaled where `scaled`.
pub fn trs(rng: &mut Rng, scaled: bool) -> Trs {
    let scale = if scaled {
        f64::from(rng.range(0.6, 1.5))
    } else {
        1.0
    };
    Trs {
        translation: vector(rng, 1.0),
        rotation: rotation(rng),
        scale: DVec3::splat(scale),
    }
}

/// A model under construction.
#[derive(Clone)]
pub struct Figure {
    pub asset: Asset,
}

impl Default for Figure {
    fn default() -> Self {
        Self::new()
    }
}

impl Figure {
    pub fn new() -> Self {
        let mut asset = Asset {
            file: "figure.glb".into(),
            meters_per_unit: 1.0,
            ..Asset::default()
        };
        asset.humanoids.push(HumanoidSkeleton {
            location: "figure".into(),
            ..HumanoidSkeleton::default()
        });
        Self { asset }
    }

    pub fn node(&mut self, parent: Option<usize>, name: &str, local: Trs) -> usize {
        let index = self.asset.nodes.len();
        if parent.is_none() {
            self.asset.roots.push(index);
        }
        self.asset.nodes.push(Node {
            name: name.to_owned(),
            parent,
            local: LocalTransform::Trs(local),
            ..Node::default()
        });
        index
    }

    /// Every bone of the list with a rotated node between it and the one above, below two nodes of a random root.
    pub fn random(rng: &mut Rng, bones: &[Bone], scaled: bool) -> Self {
        let mut figure = Self::new();
        let scene = figure.node(None, "scene", trs(rng, scaled));
        let armature = figure.node(Some(scene), "armature", trs(rng, scaled));
        for bone in bones {
            let above = bone.ancestors().find_map(|a| figure.bone(a));
            let parent = above.unwrap_or(armature);
            let spacer = figure.node(Some(parent), &format!("above {bone}"), trs(rng, scaled));
            let node = figure.node(Some(spacer), bone.name(), trs(rng, scaled));
            figure.asset.humanoids[0].bones.insert(*bone, node);
        }
        figure
    }

    pub fn bone(&self, bone: Bone) -> Option<usize> {
        self.asset.humanoids[0].bones.get(&bone).copied()
    }

    pub fn at(&self, bone: Bone) -> usize {
        self.bone(bone).expect("the figure has the bone")
    }

    /// A skin whose bind space is `bind_from_scene` away from the scene, and whose joints stood at `world`.
    pub fn skin(
        &mut self,
        joints: &[usize],
        bind_from_scene: DMat4,
        world: impl Fn(usize) -> DMat4,
    ) {
        self.asset.skins.push(AssetSkin {
            name: String::new(),
            joints: joints.to_vec(),
            inverse_bind: joints
                .iter()
                .map(|j| (bind_from_scene * world(*j)).inverse())
                .collect(),
            ..AssetSkin::default()
        });
    }

    /// Locals at a time of a clip with node tracks.
    pub fn local(&self, clip: &AssetClip, node: usize, time: f64) -> Trs {
        let mut local = self.asset.nodes[node].local.trs();
        for track in clip
            .tracks
            .iter()
            .filter(|t| t.target == TrackTarget::Node(node))
        {
            match track.curve.keys {
                Keys::Translation(_) => local.translation = track.curve.vector(time).unwrap(),
                Keys::Rotation(_) => local.rotation = track.curve.rotation(time).unwrap(),
                Keys::Scale(_) => local.scale = track.curve.vector(time).unwrap(),
                Keys::Weights { .. } => {}
            }
        }
        local
    }

    pub fn world(&self, clip: &AssetClip, node: usize, time: f64) -> DMat4 {
        let local = self.local(clip, node, time).matrix();
        match self.asset.nodes[node].parent {
            Some(parent) => self.world(clip, parent, time) * local,
            None => local,
        }
    }

    /// What the clip turns a node by, seen in the world.
    pub fn turn(&self, clip: &AssetClip, node: usize, time: f64) -> DQuat {
        let world = |clip: &AssetClip| {
            let mut q = DQuat::IDENTITY;
            let mut at = Some(node);
            while let Some(n) = at {
                q = self.local(clip, n, time).rotation * q;
                at = self.asset.nodes[n].parent;
            }
            q
        };
        world(clip) * world(&AssetClip::default()).inverse()
    }
}

/// A curve of random keys between 0 and 2 seconds.
pub fn curve(rng: &mut Rng, interpolation: CurveInterpolation, keys: Keys) -> Curve {
    let count = match &keys {
        Keys::Translation(k) | Keys::Scale(k) => k.len(),
        Keys::Rotation(k) => k.len(),
        Keys::Weights { values, .. } => values.len(),
    };
    let times = match interpolation {
        CurveInterpolation::CubicSpline => count / 3,
        _ => count,
    };
    let mut time = f64::from(rng.range(0.0, 0.2));
    let times = (0..times).map(|_| {
        time += f64::from(rng.range(0.1, 0.5));
        time
    });
    Curve {
        times: times.collect(),
        interpolation,
        keys,
    }
}

fn any_interpolation(rng: &mut Rng) -> (CurveInterpolation, usize) {
    [
        (CurveInterpolation::Linear, 4),
        (CurveInterpolation::Step, 4),
        (CurveInterpolation::CubicSpline, 12),
    ][rng.below(3)]
}

pub fn rotations(rng: &mut Rng) -> Curve {
    let (interpolation, count) = any_interpolation(rng);
    let keys = (0..count).map(|_| rotation(rng)).collect();
    curve(rng, interpolation, Keys::Rotation(keys))
}

pub fn translations(rng: &mut Rng) -> Curve {
    let (interpolation, count) = any_interpolation(rng);
    let keys = (0..count).map(|_| vector(rng, 1.0)).collect();
    curve(rng, interpolation, Keys::Translation(keys))
}

pub fn scales(rng: &mut Rng) -> Curve {
    let (interpolation, count) = any_interpolation(rng);
    let keys = (0..count).map(|_| DVec3::ONE + vector(rng, 0.3)).collect();
    curve(rng, interpolation, Keys::Scale(keys))
}

pub fn clip(tracks: impl IntoIterator<Item = (TrackTarget, Curve)>) -> AssetClip {
    AssetClip {
        name: "clip".into(),
        tracks: tracks
            .into_iter()
            .map(|(target, curve)| Track { target, curve })
            .collect(),
        ..AssetClip::default()
    }
}

pub fn times() -> impl Iterator<Item = f64> {
    (0..40).map(|i| f64::from(i) * 0.057)
}

/// The angle between two rotations, exact for small ones too.
pub fn angle(a: DQuat, b: DQuat) -> f64 {
    let d = a.inverse() * b;
    2.0 * d.xyz().length().atan2(d.w.abs())
}

/// Whether a time is a sample of every curve of a bone and of those above it that has more than `plain` keys: one that
/// was made of several.
pub fn sampled_at(figure: &Figure, clip: &AssetClip, bone: Bone, time: f64, plain: usize) -> bool {
    let above = bone.ancestors().chain([bone]);
    above.filter_map(|b| figure.bone(b)).all(|node| {
        let mut own = clip
            .tracks
            .iter()
            .filter(|t| t.target == TrackTarget::Node(node));
        own.all(|t| t.curve.times.len() <= plain || t.curve.times.contains(&time))
    })
}
