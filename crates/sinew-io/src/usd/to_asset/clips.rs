//! SkelAnimations as clips: which Skeleton each one moves, and what the clips are called.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::nodes::steps;
use super::skeletons::name_of;
use super::time::{Clock, merged};
use crate::error::Result;
use crate::usd::clips::StageClip;
use crate::usd::file::UsdFile;
use sinew::scene::{Scene, SkinBinding};
use sinew::skel::{AnimMapper, SkelAnimation, Skeleton, SkeletonInstance};
use sinew_animate::asset::{Curve, CurveInterpolation, Keys, Track, TrackTarget};

/// A Skeleton as clips see it.
pub(super) struct ClipSkeleton<'a> {
    pub path: &'a str,
    pub skeleton: &'a Arc<Skeleton>,
    /// The animation that is bound to it.
    pub bound: Option<&'a Arc<SkelAnimation>>,
    /// Tokens of the blend shapes of all prims that are bound to it.
    pub shapes: HashSet<&'a str>,
}

/// A clip: the animation of each Skeleton that it moves.
#[derive(Debug)]
pub(super) struct ClipPlan {
    pub name: String,
    /// The Skeleton's index, and its animation.
    pub parts: Vec<(usize, Arc<SkelAnimation>)>,
    /// Whether this is what the stage shows, so that prims move with it.
    pub is_stage: bool,
}

/// A clip of a scene: what it moves each Skeleton with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SceneClip {
    /// Name of the clip, unique among those of the scene.
    pub name: String,
    /// Whether it is what the stage shows. Transforms of prims that are no joints move with this
    /// clip alone.
    pub is_bound: bool,
    /// Index into [`Scene::instances`] of each Skeleton that it moves, and its animation.
    pub parts: Vec<(usize, Arc<SkelAnimation>)>,
}

impl UsdFile {
    /// Lists the clips of a scene of this file, those of files of other formats if it was opened
    /// with [`ClipChoice::All`](crate::ClipChoice::All): first what the stage shows, then the other
    /// SkelAnimations. One that is bound to no Skeleton moves those that it fits and that are
    /// nearest to it in the stage. Clips that move no Skeleton with prims are left out.
    ///
    /// ```
    /// use sinew_io::{ClipChoice, OpenOptions};
    ///
    /// let all = OpenOptions { clips: ClipChoice::All, ..Default::default() };
    /// let file = sinew_io::open_with("../../examples/assets/puppet.glb", &all)?;
    /// let scene = file.scene(Default::default())?;
    /// for clip in file.scene_clips(&scene)? {
    ///     let (skeleton, animation) = &clip.parts[0];
    ///     println!("{} moves {} joints of {}", clip.name, animation.joints.len(), scene.instances[*skeleton].path);
    /// }
    /// # Ok::<(), sinew_io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn scene_clips(&self, scene: &Scene) -> Result<Vec<SceneClip>> {
        let animations = self.animations()?;
        let plans = self.all_read(self.plan_clips(scene, &animations))?;
        let mut out = Vec::with_capacity(plans.len());
        for mut plan in plans {
            plan.parts.retain(|(s, _)| *s < scene.instances.len());
            if !plan.parts.is_empty() {
                out.push(SceneClip {
                    name: plan.name,
                    is_bound: plan.is_stage,
                    parts: plan.parts,
                });
            }
        }
        Ok(out)
    }

    /// The clips of a scene of this file. Skeletons are those of its instances, then its unbound
    /// ones.
    pub(super) fn plan_clips(
        &self,
        scene: &Scene,
        animations: &[SkelAnimation],
    ) -> Result<Vec<ClipPlan>, sinew_stage::Error> {
        let shapes = |path: &str| {
            let bindings = scene.bindings.iter();
            let bound = bindings.filter(|b| scene.instances[b.instance].path == path);
            bound
                .flat_map(|b| b.shapes.iter().map(|s| s.token.as_str()))
                .collect()
        };
        let placed = scene.instances.iter().chain(&scene.unbound_skeletons);
        let skeletons: Vec<ClipSkeleton<'_>> = placed
            .map(|p| ClipSkeleton {
                path: &p.path,
                skeleton: p.instance.skeleton(),
                bound: p.instance.animation(),
                shapes: shapes(&p.path),
            })
            .collect();
        Ok(plan(&skeletons, animations, &self.read_stage_clips()?))
    }
}

/// What the stage is called as a clip if its animations do not say.
pub(super) const STAGE: &str = "Animation";

/// Plans the clips: first what the stage shows, then all other animations. An animation that is
/// bound to no Skeleton moves those that it fits and that are nearest to it in the stage; animations
/// of one name that move different Skeletons are one clip. `named` has the names of the animations,
/// and the Skeletons that they were made for.
pub(super) fn plan(
    skeletons: &[ClipSkeleton<'_>],
    animations: &[SkelAnimation],
    named: &[StageClip],
) -> Vec<ClipPlan> {
    let named: HashMap<&str, &StageClip> = named.iter().map(|c| (c.path.as_str(), c)).collect();
    let name_of = |path: &str| {
        named
            .get(path)
            .map_or(name_of(path), |clip| clip.name.as_str())
            .to_owned()
    };
    let is_meant = |path: &str, skeleton: &str| {
        let made_for = named.get(path).map_or(&[][..], |clip| &clip.made_for);
        made_for.is_empty() || made_for.iter().any(|s| s == skeleton)
    };
    let mut out: Vec<ClipPlan> = Vec::new();
    let bound: Vec<(usize, &Arc<SkelAnimation>)> = skeletons
        .iter()
        .enumerate()
        .filter_map(|(i, s)| Some((i, s.bound?)))
        .collect();
    if !bound.is_empty() {
        let mut names: Vec<String> = bound.iter().map(|(_, a)| name_of(&a.path)).collect();
        names.dedup();
        let name = match &names[..] {
            [name] => name.clone(),
            _ => STAGE.to_owned(),
        };
        out.push(ClipPlan {
            name,
            parts: bound.iter().map(|(i, a)| (*i, (*a).clone())).collect(),
            is_stage: true,
        });
    }
    let is_bound: HashSet<&str> = bound.iter().map(|(_, a)| a.path.as_str()).collect();
    let first = out.len();
    for animation in animations
        .iter()
        .filter(|a| !is_bound.contains(a.path.as_str()))
    {
        let fitting: Vec<usize> = (0..skeletons.len())
            .filter(|i| is_meant(&animation.path, skeletons[*i].path))
            .filter(|i| fits(animation, &skeletons[*i]))
            .collect();
        let nearness = |i: &usize| common(&animation.path, skeletons[*i].path);
        let Some(nearest) = fitting.iter().map(nearness).max() else {
            continue;
        };
        let moved: Vec<usize> = fitting
            .into_iter()
            .filter(|i| nearness(i) == nearest)
            .collect();
        let name = name_of(&animation.path);
        let animation = Arc::new(animation.clone());
        let parts = moved.iter().map(|i| (*i, animation.clone()));
        let same = out[first..]
            .iter_mut()
            .find(|clip| clip.name == name && clip.parts.iter().all(|(i, _)| !moved.contains(i)));
        match same {
            Some(clip) => clip.parts.extend(parts),
            None => out.push(ClipPlan {
                name,
                parts: parts.collect(),
                is_stage: false,
            }),
        }
    }
    let mut names = HashSet::new();
    for clip in &mut out {
        let numbered = (2..).map(|n: u32| format!("{}_{n}", clip.name));
        let mut candidates = std::iter::once(clip.name.clone()).chain(numbered);
        if let Some(name) = candidates.find(|name| !names.contains(name)) {
            names.insert(name.clone());
            clip.name = name;
        }
    }
    out
}

/// Whether an animation is for a Skeleton: at least half of its joints are there, or one of its
/// channels if it has no joints.
fn fits(animation: &SkelAnimation, skeleton: &ClipSkeleton<'_>) -> bool {
    if animation.joints.is_empty() {
        let mut channels = animation.blend_shapes.iter();
        return channels.any(|c| skeleton.shapes.contains(c.as_str()));
    }
    let mapper = AnimMapper::new(&animation.joints, skeleton.skeleton.joints());
    let there = mapper.targets().flatten().count();
    there > 0 && there * 2 >= animation.joints.len()
}

/// Number of path elements at the beginning that two paths have in common.
fn common(a: &str, b: &str) -> usize {
    let pairs = a.split('/').zip(b.split('/'));
    pairs.take_while(|(a, b)| a == b).count()
}

/// The track of a prim's blend shape weights; `None` if they are always 0. `node` shows the prim's
/// mesh, and `channels` are the indices of its shapes that are morph targets.
pub(super) fn weights_track(
    binding: &SkinBinding,
    skeleton: &Arc<Skeleton>,
    animation: &Arc<SkelAnimation>,
    (node, channels): (usize, &[usize]),
    clock: &Clock,
) -> Option<Track> {
    let times = merged(animation.blend_shape_weights.times().collect());
    let times = match times.is_empty() {
        true => vec![clock.start()],
        false => times,
    };
    let mut values = Vec::with_capacity(times.len() * channels.len());
    let driven = driven_by(binding, animation);
    let instance = SkeletonInstance::new(skeleton.clone(), Some(animation.clone()));
    for time in &times {
        let weights = driven
            .channel_weights(&instance, sinew::sampled::Time::At(*time))
            .0;
        values.extend(channels.iter().map(|c| f64::from(weights[*c])));
    }
    if channels.is_empty() || values.iter().all(|w| *w == 0.0) {
        return None;
    }
    let count = channels.len();
    let mut seconds: Vec<f64> = times.iter().map(|t| clock.seconds(*t)).collect();
    let rows: Vec<&[f64]> = values.chunks_exact(count).collect();
    let mut interpolation = CurveInterpolation::Linear;
    if let Some(kept) = steps(&seconds, &rows) {
        interpolation = CurveInterpolation::Step;
        seconds = kept.iter().map(|i| seconds[*i]).collect();
        values = kept.iter().flat_map(|i| rows[*i]).copied().collect();
    }
    Some(Track {
        target: TrackTarget::Node(node),
        curve: Curve {
            times: seconds,
            interpolation,
            keys: Keys::Weights { count, values },
        },
    })
}

/// A prim's binding as if this animation were bound to its Skeleton.
pub(super) fn driven_by(binding: &SkinBinding, animation: &SkelAnimation) -> SkinBinding {
    let mut out = binding.clone();
    let tokens: Vec<&str> = binding.shapes.iter().map(|s| s.token.as_str()).collect();
    out.channel_mapper = Some(AnimMapper::new(&animation.blend_shapes, &tokens));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn animation(path: &str, joints: &[&str]) -> SkelAnimation {
        SkelAnimation {
            path: path.into(),
            joints: joints.iter().map(|j| (*j).to_owned()).collect(),
            ..SkelAnimation::default()
        }
    }

    fn skeleton() -> Arc<Skeleton> {
        let joints = vec!["A".to_owned(), "A/B".to_owned()];
        Arc::new(Skeleton::new("/S", joints, None, None).unwrap())
    }

    #[test]
    fn animations_move_the_nearest_skeletons_that_they_fit() {
        let skel = skeleton();
        let walk = Arc::new(animation("/X/Anim/Walk", &["A", "A/B"]));
        let of = |path, bound| ClipSkeleton {
            path,
            skeleton: &skel,
            bound,
            shapes: HashSet::new(),
        };
        let skeletons = [of("/X/Skel", Some(&walk)), of("/Y/Skel", None)];
        let all = [
            animation("/X/Anim/Walk", &["A", "A/B"]),
            animation("/X/Anim/Run", &["A", "A/B"]),
            animation("/Y/Anim/Run", &["A"]),
            animation("/Z/Idle", &["A"]),
            animation("/X/Anim/Foreign", &["Q", "R", "A"]),
            animation("/Y/Anim/Walk", &["A"]),
        ];
        let clips = plan(&skeletons, &all, &[]);
        let found: Vec<(&str, Vec<usize>)> = clips
            .iter()
            .map(|c| (c.name.as_str(), c.parts.iter().map(|(i, _)| *i).collect()))
            .collect();
        let wanted: [(&str, Vec<usize>); 4] = [
            ("Walk", vec![0]),
            ("Run", vec![0, 1]),
            ("Idle", vec![0, 1]),
            ("Walk_2", vec![1]),
        ];
        assert_eq!(found, wanted);
        assert!(clips[0].is_stage && !clips[1].is_stage);
        assert!(plan(&[], &all, &[]).is_empty());
    }
}
