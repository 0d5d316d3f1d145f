//! Clips as SkelAnimations: one for each clip and Skeleton.

use std::collections::{BTreeSet, HashMap, HashSet};

use glam::{DQuat, DVec3, Vec3};
use half::f16;
use sinew_layer::value::{Dictionary, Quat};
use sinew_layer::{Token, Value};

use super::binds::is_exact;
use super::builder::Builder;
use super::channels::{Channel, Slider};
use super::clips::{CodedClip, moves};
use super::extras;
use super::joints::components;
use super::layer::{LayerBuilder, PrimId};
use super::placement::by_skeleton;
use super::sampling::{Samples, Tolerated, rotations, sample_times, vectors};
use super::sizes::{Tolerance, tolerance};
use super::skeletons::SkeletonPlan;
use crate::error::{Error, Result};
use crate::usd::clips::MADE_FOR;
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Sampled};
use sinew_animate::asset::{Asset, Curve, Trs};

/// Values of all clips together: every joint has one at every key of any joint.
const MAX_VALUES: usize = 1 << 26;

/// A Skeleton's side of a clip.
pub(super) struct SkelClip<'a> {
    pub asset: &'a Asset,
    pub plan: &'a SkeletonPlan,
    pub channels: &'a [Channel],
    /// None for the pose and the weights at rest.
    pub clip: Option<&'a CodedClip>,
    pub tolerance: Tolerance,
}

impl<'a> SkelClip<'a> {
    fn curve(
        &self,
        joint: usize,
        of: impl Fn(&'a CodedClip) -> &'a HashMap<usize, Curve>,
    ) -> Option<&'a Curve> {
        of(self.clip?).get(&self.plan.joints[joint].node?)
    }

    fn is_moved(&self, joint: usize) -> bool {
        let t = self.curve(joint, |c| &c.translations);
        let r = self.curve(joint, |c| &c.rotations);
        t.is_some() || r.is_some() || self.scale_curve(joint).is_some()
    }

    /// A curve that repeats the scale at rest is none: the scale may be another one here.
    fn scale_curve(&self, joint: usize) -> Option<&'a Curve> {
        let node = self.plan.joints[joint].node?;
        let curve = self.curve(joint, |c| &c.scales)?;
        moves(&self.asset.nodes[node], curve).then_some(curve)
    }

    /// How much larger the frame of a joint's parent is than its node's.
    fn frame_above(&self, joint: usize) -> f64 {
        let parent = self.plan.joints[joint].parent;
        parent.map_or(1.0, |p| self.plan.joints[p].frame)
    }

    /// What a scale is multiplied with to be that of the joint's frame.
    fn scale_factor(&self, joint: usize) -> f64 {
        self.plan.joints[joint].frame / self.frame_above(joint)
    }

    fn slider_curve(&self, channel: &Channel) -> Option<(&Curve, usize)> {
        let clip = self.clip?;
        match channel.slider {
            Slider::Target { node, target } => Some((clip.weights.get(&node)?, target)),
            Slider::Expression(i) => Some((clip.expressions.get(&i)?, 0)),
        }
    }

    /// Whether the clip moves a joint or a channel.
    pub fn is_any_moved(&self) -> bool {
        (0..self.plan.joints.len()).any(|j| self.is_moved(j))
            || self.channels.iter().any(|c| self.slider_curve(c).is_some())
    }

    fn rest(&self, joint: usize) -> Trs {
        let Some(node) = self.plan.joints[joint].node else {
            return Trs::IDENTITY;
        };
        let trs = self.asset.nodes[node].local.trs();
        Trs {
            translation: trs.translation / self.frame_above(joint),
            rotation: trs.rotation,
            scale: trs.scale * self.scale_factor(joint),
        }
    }

    /// Joints that the animation lists. One that it does not move stays out where its rest transform is no
    /// components, or loses digits as half-precision scales: it then comes from restTransforms.
    fn listed(&self) -> Vec<usize> {
        let fits = |joint: &usize| {
            let Some(node) = self.plan.joints[*joint].node else {
                return true;
            };
            let trs = components(&self.asset.nodes[node].local);
            trs.is_some_and(|trs| is_exact(trs.scale * self.scale_factor(*joint)))
        };
        let all = 0..self.plan.joints.len();
        all.filter(|j| self.is_moved(*j) || fits(j)).collect()
    }

    /// Authors the SkelAnimation. Gives its scales in single precision where half has not all their digits.
    pub fn author(
        &self,
        layer: &mut LayerBuilder,
        prim: PrimId,
        (values, warnings): (&mut usize, &mut Vec<Warning>),
    ) -> Result<Option<Sampled<Vec<Vec3>>>> {
        let listed = self.listed();
        let mut resampled = false;
        let keys = self.clip.map_or(&[][..], |c| &c.keys);
        let mut times = |curves: &[Tolerated<'_>], width: usize| {
            let (times, over) = sample_times(curves, width, keys);
            resampled |= over;
            *values += times.len() * width;
            match *values > MAX_VALUES {
                true => Err(self.too_large()),
                false => Ok(times),
            }
        };
        let mut exact = None;
        if !listed.is_empty() {
            let tokens = listed
                .iter()
                .map(|j| Token::from(self.plan.joints[*j].token.as_str()));
            let tokens = Value::TokenArray(tokens.collect());
            layer.uniform(prim, "joints", "token[]", tokens)?;

            let rest: Vec<Trs> = listed.iter().map(|j| self.rest(*j)).collect();
            let stretch = self.stretch();
            // Curves of listed joints, with what their values are multiplied with.
            let each = |of: &dyn Fn(usize) -> Option<(&'a Curve, f64)>| {
                let curves = listed.iter().enumerate();
                let curves = curves.filter_map(|(i, j)| of(*j).map(|(c, f)| (i, c, f)));
                curves.collect::<Vec<_>>()
            };
            let width = listed.len();

            let curves: Vec<_> = each(&|j| {
                let curve = self.curve(j, |c| &c.translations)?;
                Some((curve, self.frame_above(j).recip()))
            });
            let tolerated = |(i, curve, _): &(usize, _, _)| {
                let stretch = stretch[listed[*i]];
                (*curve, self.tolerance.way / stretch)
            };
            let at = times(&curves.iter().map(tolerated).collect::<Vec<_>>(), width)?;
            let all: Vec<DVec3> = rest.iter().map(|t| t.translation).collect();
            let samples = vectors(&all, &curves, &at).map(|v| vec3f(&v));
            layer.sampled(prim, "translations", "float3[]", samples)?;

            let part = |(_, curve, _): &(usize, _, _)| (*curve, self.tolerance.part);
            let curves = each(&|j| Some((self.curve(j, |c| &c.rotations)?, 1.0)));
            let at = times(&curves.iter().map(part).collect::<Vec<_>>(), width)?;
            let all: Vec<DQuat> = rest.iter().map(|t| t.rotation).collect();
            let samples = rotations(&all, &curves, &at).map(|v| quatf(&v));
            layer.sampled(prim, "rotations", "quatf[]", samples)?;

            let curves = each(&|j| Some((self.scale_curve(j)?, self.scale_factor(j))));
            let at = times(&curves.iter().map(part).collect::<Vec<_>>(), width)?;
            let all: Vec<DVec3> = rest.iter().map(|t| t.scale).collect();
            let samples = vectors(&all, &curves, &at);
            exact = float_scales(&samples);
            layer.sampled(prim, "scales", "half3[]", samples.map(|v| vec3h(&v)))?;
        }
        if !self.channels.is_empty() {
            let tokens = self.channels.iter().map(|c| Token::from(c.token.as_str()));
            let tokens = Value::TokenArray(tokens.collect());
            layer.uniform(prim, "blendShapes", "token[]", tokens)?;
            let mut curves: Vec<Tolerated<'_>> = Vec::new();
            for channel in self.channels {
                // All targets of one mesh share a curve.
                if let Some((curve, 0)) = self.slider_curve(channel) {
                    curves.push((curve, self.tolerance.part));
                }
            }
            let at = times(&curves, self.channels.len())?;
            let samples = self.weights(&at).map(|v| Value::FloatArray(v.into()));
            layer.sampled(prim, "blendShapeWeights", "float[]", samples)?;
        }
        if resampled {
            let message =
                "its keys fall on so many different times that it is sampled at whole time codes";
            warnings.push(Warning::new(
                "clip-resampled",
                layer.path(prim).as_str(),
                message,
            ));
        }
        Ok(exact)
    }

    fn too_large(&self) -> Error {
        Error::TooLarge {
            file: self.asset.file.clone(),
            reason: format!(
                "its clips have more than {MAX_VALUES} values in all: choose one of them"
            ),
        }
    }

    fn weights(&self, times: &[f64]) -> Samples<Vec<f32>> {
        let at = |time: Option<f64>| {
            let weight = |channel: &Channel| {
                let (curve, target) = self.slider_curve(channel)?;
                curve.weight(target, time?)
            };
            let all = self.channels.iter();
            all.map(|c| weight(c).map_or(c.rest, |w| w as f32))
                .collect::<Vec<f32>>()
        };
        let samples = times.iter().map(|t| (*t, at(Some(*t)))).collect();
        Samples::new(samples, || at(None))
    }

    /// How much the Skeleton's space is larger than each joint's parent's at rest.
    fn stretch(&self) -> Vec<f64> {
        let mut below = Vec::with_capacity(self.plan.joints.len());
        let mut own = Vec::with_capacity(self.plan.joints.len());
        for joint in &self.plan.joints {
            let above = joint.parent.map_or(1.0, |p: usize| below[p]);
            let axes = (0..3).map(|i| joint.rest.col(i).length());
            below.push(above * axes.fold(1e-9, f64::max));
            own.push(above);
        }
        own
    }
}

/// The scales in single precision, where half loses some of it.
fn float_scales(samples: &Samples<Vec<DVec3>>) -> Option<Sampled<Vec<Vec3>>> {
    let exact = |v: &[DVec3]| v.iter().all(|s| is_exact(*s));
    let float = |v: &[DVec3]| v.iter().map(|s| s.as_vec3()).collect::<Vec<Vec3>>();
    match samples {
        Samples::Constant(v) if exact(v) => None,
        Samples::Varying(v) if v.iter().all(|(_, v)| exact(v)) => None,
        Samples::Constant(v) => Some(Sampled::constant(float(v))),
        Samples::Varying(v) => {
            let samples = v.iter().map(|(t, v)| (*t, Some(float(v)))).collect();
            Some(Sampled::new(None, samples, Interpolation::Linear))
        }
    }
}

fn vec3f(v: &[DVec3]) -> Value {
    Value::Vec3fArray(v.iter().map(|v| v.as_vec3().to_array()).collect())
}

fn quatf(v: &[DQuat]) -> Value {
    Value::QuatfArray(v.iter().map(|q| Quat(q.as_quat().to_array())).collect())
}

fn vec3h(v: &[DVec3]) -> Value {
    let half = |x: f64| f16::from_f64(x.clamp(f16::MIN.to_f64(), f16::MAX.to_f64()));
    Value::Vec3hArray(v.iter().map(|v| v.to_array().map(half)).collect())
}

/// What was written of the clips.
#[derive(Default)]
pub(super) struct WrittenClips {
    /// By Skeleton: the name of each clip that moves it, and its SkelAnimation's path.
    pub by_skeleton: Vec<Vec<(String, String)>>,
    /// By path, where the layer's half3 are not exact.
    pub float_scales: Vec<(String, Sampled<Vec<Vec3>>)>,
}

impl Builder<'_> {
    pub(super) fn author_animations(&mut self, skeletons: &[PrimId]) -> Result<WrittenClips> {
        let mut out = WrittenClips::default();
        let uses = by_skeleton(&self.uses, skeletons.len());
        let tolerances = self.plans.iter().zip(uses);
        let tolerances = tolerances.map(|(plan, uses)| tolerance(self.asset, &uses, plan));
        let tolerances: Vec<Tolerance> = tolerances.collect();
        let clips = self.clips_by_skeleton();
        for (s, skeleton) in skeletons.iter().enumerate() {
            let mut written = Vec::new();
            let mut source = None;
            let tolerance = tolerances[s];
            for clip in clips[s].iter().copied() {
                let Some(prim) = self.author_animation((s, tolerance), Some(clip), &mut out)?
                else {
                    continue;
                };
                let path = self.layer.path(prim).as_str().to_owned();
                let name = self.clips[clip].name.clone();
                // By these a reader of the layer finds the clip, and the Skeleton that it is for.
                if !name.is_empty() && self.layer.name(prim) != name {
                    let display = Value::string(name.as_str());
                    self.layer.metadata(prim, "displayName", display);
                }
                if skeletons.len() > 1 {
                    let target = self.layer.path(*skeleton).clone();
                    self.layer.relationship(prim, MADE_FOR, vec![target])?;
                }
                written.push((name, path));
                if self.bound == Some(clip) {
                    source = Some(prim);
                }
            }
            // Weights that are not zero at rest need an animation to say so.
            let is_shaped = self.channels[s].all.iter().any(|c| c.rest != 0.0);
            if source.is_none() && is_shaped {
                source = self.author_animation((s, tolerance), None, &mut out)?;
            }
            if let Some(source) = source {
                let target = self.layer.path(source).clone();
                self.layer
                    .relationship(*skeleton, "skel:animationSource", vec![target])?;
            }
            out.by_skeleton.push(written);
        }
        self.author_clip_extras(&out)?;
        Ok(out)
    }

    /// The clips that have a curve of a joint or a channel of each Skeleton, in their order.
    fn clips_by_skeleton(&self) -> Vec<BTreeSet<usize>> {
        let mut of_node: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut of_expression: HashMap<usize, Vec<usize>> = HashMap::new();
        for (clip, coded) in self.clips.iter().enumerate() {
            let CodedClip {
                translations,
                rotations,
                scales,
                weights,
                ..
            } = coded;
            for node in [translations, rotations, scales, weights]
                .map(HashMap::keys)
                .into_iter()
                .flatten()
            {
                of_node.entry(*node).or_default().push(clip);
            }
            for expression in coded.expressions.keys() {
                of_expression.entry(*expression).or_default().push(clip);
            }
        }
        let sides = self.plans.iter().zip(&self.channels);
        let clips = sides.map(|(plan, channels)| {
            let joints = plan.joint_of_node.keys().map(|node| of_node.get(node));
            let channels = channels.all.iter().map(|c| match c.slider {
                Slider::Target { node, .. } => of_node.get(&node),
                Slider::Expression(expression) => of_expression.get(&expression),
            });
            joints
                .chain(channels)
                .flatten()
                .flatten()
                .copied()
                .collect()
        });
        clips.collect()
    }

    /// Extras of clips that move no Skeleton, by name on the root prim.
    fn author_clip_extras(&mut self, written: &WrittenClips) -> Result<()> {
        let written = written.by_skeleton.iter().flatten();
        let have_prims: HashSet<&str> = written.map(|(name, _)| name.as_str()).collect();
        let clips = self.clips.iter().filter(|c| !have_prims.contains(&*c.name));
        let extras = clips.filter_map(|c| {
            let extras = c.extras.as_ref()?;
            Some((c.name.as_str().into(), extras::value(extras)))
        });
        let extras: Dictionary = extras.collect();
        if extras.is_empty() {
            return Ok(());
        }
        let extras = extras::dictionary(extras);
        self.layer.source_data(self.root, "clipExtras", extras)
    }

    /// A Skeleton's side of a clip, or its rest; none where the clip does not move it.
    fn author_animation(
        &mut self,
        (skeleton, tolerance): (usize, Tolerance),
        clip: Option<usize>,
        out: &mut WrittenClips,
    ) -> Result<Option<PrimId>> {
        let plan = &self.plans[skeleton];
        let side = SkelClip {
            asset: self.asset,
            plan,
            channels: &self.channels[skeleton].all,
            clip: clip.map(|c| &self.clips[c]),
            tolerance,
        };
        if clip.is_some() && !side.is_any_moved() {
            return Ok(None);
        }
        let name = match clip.map(|c| self.clips[c].name.as_str()) {
            None => "Rest",
            Some("") => "Clip",
            Some(name) => name,
        };
        let above = plan.above.map(|n| self.asset.nodes[n].name.as_str());
        let wanted = match above.filter(|name| !name.is_empty()) {
            _ if self.plans.len() == 1 => name.to_owned(),
            Some(above) => format!("{name}_{above}"),
            None => format!("{name}_Skeleton{skeleton}"),
        };
        let layer = &mut self.layer;
        let scope = match self.animations {
            Some(scope) => scope,
            None => {
                let scope = layer.define(self.root, &["Animations"], "Scope")?;
                *self.animations.insert(scope)
            }
        };
        let prim = layer.define(scope, &[&wanted], "SkelAnimation")?;
        layer.display_name(prim, &wanted);
        if let Some(clip) = clip {
            layer.extras(prim, self.clips[clip].extras.as_ref())?;
        }
        if let Some(scales) = side.author(layer, prim, (&mut self.values, &mut self.warnings))? {
            let path = layer.path(prim).as_str().to_owned();
            out.float_scales.push((path, scales));
        }
        Ok(Some(prim))
    }
}
