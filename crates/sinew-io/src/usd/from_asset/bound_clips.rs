//! The SkelAnimations of every clip and Skeleton, and which of them is bound.

use glam::Vec3;

use super::animations::{SkelClip, Tolerance};
use super::layer::PrimId;
use super::size::tolerance;
use super::stage::Builder;
use sinew::error::Result;
use sinew::sampled::Sampled;

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
        for (s, skeleton) in skeletons.iter().enumerate() {
            let mut written = Vec::new();
            let mut source = None;
            let tolerance = tolerance(self.asset, &self.uses, (s, &self.plans[s]));
            for clip in 0..self.clips.len() {
                let Some(prim) = self.author_animation((s, tolerance), Some(clip), &mut out)?
                else {
                    continue;
                };
                let path = self.layer.path(prim).as_str().to_owned();
                written.push((self.clips[clip].name.clone(), path));
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
        Ok(out)
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
                let scope = layer.define(self.default_prim, &["Animations"], "Scope")?;
                *self.animations.insert(scope)
            }
        };
        let prim = layer.define(scope, &[&wanted], "SkelAnimation")?;
        if let Some(scales) = side.author(layer, prim, (&mut self.values, &mut self.warnings))? {
            let path = layer.path(prim).as_str().to_owned();
            out.float_scales.push((path, scales));
        }
        Ok(Some(prim))
    }
}
