//! SkelAnimations as clips: which Skeleton each one moves, and what the clips are called.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value as Json;

use super::Maker;
use super::carried::Carried;
use super::extras::extras;
use super::nodes::{display_name, steps};
use super::time::{Clock, merged};
use crate::error::Result;
use crate::usd::clips::StageClip;
use crate::usd::file::UsdFile;
use crate::usd::fits::{Fits, Moved, Mover};
use sinew::scene::{PlacedSkeleton, Scene, SkinBinding};
use sinew::skel::{AnimMapper, SkelAnimation, Skeleton, SkeletonInstance};
use sinew_animate::asset::{AssetClip, Curve, CurveInterpolation, Keys, Track, TrackTarget};

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

impl Maker<'_> {
    /// What a clip was called in the file that its animations come from, and its extras: what they
    /// have of it, if all call it the same.
    fn clip_name(&self, plan: &SceneClip) -> Result<(String, Option<Json>), sinew_stage::Error> {
        let mut kept: Option<(String, Option<Json>)> = None;
        for (_, animation) in &plan.parts {
            let Some(prim) = self.prim(&animation.path) else {
                continue;
            };
            let name = display_name(prim)?;
            // Numbered, as another clip is called so.
            let is_numbered = plan.parts.len() == 1 && plan.name != prim.name();
            if is_numbered || kept.as_ref().is_some_and(|k| k.0 != name) {
                return Ok((plan.name.clone(), None));
            }
            kept = Some((name, extras(prim)?));
        }
        Ok(kept.unwrap_or_else(|| (plan.name.clone(), None)))
    }

    /// Adds the clips, and warns of what they move that is elsewhere in glTF.
    pub(super) fn add_clips(&mut self) -> Result<(), sinew_stage::Error> {
        let plans = std::mem::take(&mut self.plans);
        let mut carried = self.inexact_meshes();
        if !self.builder.tracks.is_empty() && !plans.iter().any(|p| p.is_bound) {
            let tracks = std::mem::take(&mut self.builder.tracks);
            self.look_at(&mut carried, None, STAGE, &tracks);
            self.asset.clips.push(AssetClip {
                name: STAGE.to_owned(),
                tracks,
                ..AssetClip::default()
            });
        }
        for (index, plan) in plans.iter().enumerate() {
            let mut tracks: Vec<Track> = Vec::new();
            for (skeleton, animation) in &plan.parts {
                let joints = &self.joints[*skeleton];
                tracks.extend(joints.tracks(animation, &self.clock));
                for (binding, node, channels) in &self.shown {
                    let binding = &self.scene.bindings[*binding];
                    if binding.instance == *skeleton {
                        let node = (*node, channels.as_slice());
                        let skeleton = &joints.skeleton;
                        tracks.extend(weights_track(
                            binding,
                            skeleton,
                            animation,
                            node,
                            &self.clock,
                        ));
                    }
                }
            }
            let of_clip = self.builder.clip_tracks.iter();
            let of_clip = of_clip.filter(|(clip, _)| *clip == index);
            tracks.extend(of_clip.map(|(_, track)| track.clone()));
            if plan.is_bound {
                tracks.append(&mut self.builder.tracks);
            }
            if tracks.is_empty() {
                let message = "it moves nothing: left out";
                self.warn("clip-empty", &plan.name, message);
                continue;
            }
            self.look_at(&mut carried, Some(index), &plan.name, &tracks);
            let (name, extras) = self.clip_name(plan)?;
            self.asset.clips.push(AssetClip {
                name,
                tracks,
                extras,
            });
        }
        let told = carried.iter().filter_map(Carried::warning);
        self.warnings.extend(told);
        Ok(())
    }
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
        let mut clips = self.all_read(self.plan_clips(scene, &animations))?;
        for clip in &mut clips {
            clip.parts.retain(|(s, _)| *s < scene.instances.len());
        }
        clips.retain(|clip| !clip.parts.is_empty());
        Ok(clips)
    }

    /// The clips of a scene of this file, and those of its unbound Skeletons, whose indices follow
    /// those of the instances. `animations` are all of the file.
    pub(super) fn plan_clips(
        &self,
        scene: &Scene,
        animations: &[SkelAnimation],
    ) -> Result<Vec<SceneClip>, sinew_stage::Error> {
        // In the order of the animations.
        let named = self.read_stage_clips()?;
        let placed: Vec<&PlacedSkeleton> = scene
            .instances
            .iter()
            .chain(&scene.unbound_skeletons)
            .collect();
        let movers = named.iter().zip(animations);
        let mut fits = Fits::new(
            movers.map(|(clip, a)| Mover::new(clip, a)).collect(),
            placed.iter().map(|p| Moved::new(scene, p)).collect(),
            false,
        );
        Ok(plan(&placed, animations, &named, &mut fits))
    }
}

/// What the stage is called as a clip if its animations do not say.
pub(super) const STAGE: &str = "Animation";

/// Plans the clips: first what the stage shows, then all other animations. An animation that is
/// bound to no Skeleton moves those that it fits and that are nearest to it in the stage; animations
/// of one name that move different Skeletons are one clip.
fn plan(
    placed: &[&PlacedSkeleton],
    animations: &[SkelAnimation],
    named: &[StageClip],
    fits: &mut Fits,
) -> Vec<SceneClip> {
    let mut out: Vec<SceneClip> = Vec::new();
    let bound = placed.iter().enumerate();
    let bound = bound.filter_map(|(i, p)| Some((i, p.instance.animation()?.clone())));
    let bound: Vec<(usize, Arc<SkelAnimation>)> = bound.collect();
    let is_bound: HashSet<String> = bound.iter().map(|(_, a)| a.path.clone()).collect();
    if !bound.is_empty() {
        let names = named.iter().filter(|clip| is_bound.contains(&clip.path));
        let mut names: Vec<&String> = names.map(|clip| &clip.name).collect();
        names.dedup();
        out.push(SceneClip {
            name: match names[..] {
                [name] => name.clone(),
                _ => STAGE.to_owned(),
            },
            parts: bound,
            is_bound: true,
        });
    }
    let first = out.len();
    for (i, (animation, clip)) in animations.iter().zip(named).enumerate() {
        if is_bound.contains(&animation.path) {
            continue;
        }
        // An animation of which most is missing is for something else.
        let most =
            |known: usize| animation.joints.is_empty() || known * 2 >= animation.joints.len();
        let mut fitting = |s: &usize| fits.of(i, *s).is_some_and(|fit| most(fit.known));
        let mut moved: Vec<usize> = (0..placed.len()).filter(|s| fitting(s)).collect();
        let nearness = |s: &usize| common(&animation.path, &placed[*s].path);
        let nearest = moved.iter().map(nearness).max();
        moved.retain(|s| Some(nearness(s)) == nearest);
        if moved.is_empty() {
            continue;
        }
        let animation = Arc::new(animation.clone());
        let parts = moved.iter().map(|s| (*s, animation.clone()));
        let is_rest = |known: &&mut SceneClip| {
            let mut known_parts = known.parts.iter();
            known.name == clip.name && known_parts.all(|(s, _)| !moved.contains(s))
        };
        match out[first..].iter_mut().find(is_rest) {
            Some(known) => known.parts.extend(parts),
            None => out.push(SceneClip {
                name: clip.name.clone(),
                parts: parts.collect(),
                is_bound: false,
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

    const STAGE: &str = r#"#usda 1.0
def "X" {
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"]) {
        uniform token[] joints = ["A", "A/B"]
        rel skel:animationSource = </X/Anim/Walk>
    }
    def "Anim" {
        def SkelAnimation "Walk" { uniform token[] joints = ["A", "A/B"]; }
        def SkelAnimation "Run" { uniform token[] joints = ["A", "A/B"]; }
        def SkelAnimation "Foreign" { uniform token[] joints = ["Q", "R", "A"]; }
    }
}
def "Y" {
    def Skeleton "Skel" { uniform token[] joints = ["A", "A/B"]; }
    def "Anim" {
        def SkelAnimation "Run" { uniform token[] joints = ["A"]; }
        def SkelAnimation "Walk" { uniform token[] joints = ["A"]; }
    }
}
def SkelAnimation "Idle" { uniform token[] joints = ["A"]; }
"#;

    #[test]
    fn animations_move_the_nearest_skeletons_that_they_fit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stage.usda");
        std::fs::write(&file, STAGE).unwrap();
        let file = UsdFile::open(&file).unwrap();
        let scene = file.scene(Default::default()).unwrap();
        let clips = file
            .plan_clips(&scene, &file.animations().unwrap())
            .unwrap();
        let found: Vec<(&str, Vec<usize>)> = clips
            .iter()
            .map(|c| (c.name.as_str(), c.parts.iter().map(|(i, _)| *i).collect()))
            .collect();
        let wanted: [(&str, Vec<usize>); 4] = [
            ("Walk", vec![0]),
            ("Run", vec![0, 1]),
            ("Walk_2", vec![1]),
            ("Idle", vec![0, 1]),
        ];
        assert_eq!(found, wanted);
        assert!(clips[0].is_bound && !clips[1].is_bound);
    }
}
