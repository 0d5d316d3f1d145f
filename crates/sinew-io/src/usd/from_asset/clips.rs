//! The tracks of each clip by what they move, over time codes.

use std::collections::{HashMap, HashSet};

use glam::{DQuat, DVec3};

use super::ChosenClip;
use super::joints::components;
use super::time::Rate;
use sinew::error::Warning;
use sinew_animate::asset::{
    Asset, AssetClip, Curve, CurveInterpolation, Keys, Node, Track, TrackTarget,
};

/// Curves over time codes.
#[derive(Debug, Default)]
pub(super) struct CodedClip {
    pub name: String,
    /// Of the first of its clips that has any.
    pub extras: Option<serde_json::Value>,
    /// By node.
    pub translations: HashMap<usize, Curve>,
    pub rotations: HashMap<usize, Curve>,
    pub scales: HashMap<usize, Curve>,
    pub weights: HashMap<usize, Curve>,
    /// By the expression's index.
    pub expressions: HashMap<usize, Curve>,
    /// Time codes of the first and the last key.
    pub range: Option<(f64, f64)>,
    /// Time codes of all keys.
    pub keys: Vec<f64>,
}

impl CodedClip {
    /// Where two tracks move the same, the first one counts.
    pub fn new(
        asset: &Asset,
        chosen: &ChosenClip,
        expressions: &HashMap<String, usize>,
        rate: &Rate,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let mut out = Self {
            name: chosen.name.clone(),
            extras: chosen
                .sources
                .iter()
                .find_map(|i| asset.clips[*i].extras.clone()),
            ..Self::default()
        };
        let mut bones = 0;
        for clip in chosen.sources.iter().map(|i| &asset.clips[*i]) {
            if let Some((first, last)) = clip.range() {
                let (first, last) = (rate.code(first), rate.code(last));
                let range = out.range.get_or_insert((first, last));
                *range = (range.0.min(first), range.1.max(last));
            }
            for track in &clip.tracks {
                bones += usize::from(matches!(track.target, TrackTarget::Bone(_)));
                out.add(asset, track, expressions, rate, warnings);
            }
        }
        out.keys.sort_by(f64::total_cmp);
        out.keys.dedup();
        if bones > 0 {
            let message = format!(
                "{bones} tracks move human bones and no nodes: apply the clip to a humanoid model"
            );
            warnings.push(Warning::new("bone-tracks-left", &chosen.name, message));
        }
        out
    }

    fn add(
        &mut self,
        asset: &Asset,
        track: &Track,
        expressions: &HashMap<String, usize>,
        rate: &Rate,
        warnings: &mut Vec<Warning>,
    ) {
        let (by, index) = match (&track.target, &track.curve.keys) {
            (TrackTarget::Node(node), Keys::Translation(_)) => (&mut self.translations, *node),
            (TrackTarget::Node(node), Keys::Rotation(_)) => (&mut self.rotations, *node),
            (TrackTarget::Node(node), Keys::Scale(_)) => (&mut self.scales, *node),
            (TrackTarget::Node(node), Keys::Weights { .. }) => (&mut self.weights, *node),
            (TrackTarget::Expression(name), Keys::Weights { .. }) => {
                let Some(i) = expressions.get(name).copied() else {
                    let message = format!(
                        "a track moves the expression {name}, which the file lacks: left out"
                    );
                    let warning = Warning::new("expression-missing", &self.name, message);
                    warnings.push(warning);
                    return;
                };
                (&mut self.expressions, i)
            }
            (TrackTarget::Bone(_) | TrackTarget::Expression(_), _) => return,
        };
        by.entry(index).or_insert_with(|| {
            let curve = rate.curve(&track.curve);
            self.keys.extend(&curve.times);
            let is_expression = matches!(track.target, TrackTarget::Expression(_));
            match asset.expressions.get(index) {
                Some(e) if is_expression && e.is_binary => switched(&curve),
                _ => curve,
            }
        });
    }
}

/// Names that a clip's expression tracks are found by: the asset's expressions; without meshes also those that only
/// clips name.
pub(super) fn expression_names(asset: &Asset, clips: &[&AssetClip]) -> Vec<String> {
    let mut names: Vec<String> = asset.expressions.iter().map(|e| e.name.clone()).collect();
    let mut known: HashSet<String> = names.iter().cloned().collect();
    if asset.meshes.is_empty() {
        for track in clips.iter().flat_map(|c| &c.tracks) {
            if let TrackTarget::Expression(name) = &track.target
                && known.insert(name.clone())
            {
                names.push(name.clone());
            }
        }
    }
    names
}

/// Nodes that any of the asset's clips moves away from their rest.
pub(super) fn moved_nodes(asset: &Asset) -> HashSet<usize> {
    let tracks = asset.clips.iter().flat_map(|c| &c.tracks);
    let moved = |track: &Track| match track.target {
        TrackTarget::Node(node) => moves(&asset.nodes[node], &track.curve).then_some(node),
        _ => None,
    };
    tracks.filter_map(moved).collect()
}

/// Difference, relative for translations, that is no motion: exporters write the rest pose as keys.
const STILL: f64 = 1e-6;

/// Whether a curve is anything but the node's rest.
pub(super) fn moves(node: &Node, curve: &Curve) -> bool {
    let Some(rest) = components(&node.local) else {
        return true;
    };
    let off = |v: &[DVec3], rest: DVec3| {
        let differs = |v: &DVec3| (*v - rest).abs().max_element() > STILL * (1.0 + rest.length());
        match curve.interpolation {
            CurveInterpolation::CubicSpline => v
                .chunks_exact(3)
                .any(|k| differs(&k[1]) || k[0] != DVec3::ZERO || k[2] != DVec3::ZERO),
            _ => v.iter().any(differs),
        }
    };
    match &curve.keys {
        Keys::Translation(v) => off(v, rest.translation),
        Keys::Scale(v) => off(v, rest.scale),
        Keys::Rotation(v) => {
            let rest = rest.rotation.normalize();
            // The cosine of half the angle.
            let differs = |q: &DQuat| q.normalize().dot(rest).abs() < 1.0 - STILL * STILL;
            match curve.interpolation {
                CurveInterpolation::CubicSpline => v
                    .chunks_exact(3)
                    .any(|k| differs(&k[1]) || k[0].length() > 0.0 || k[2].length() > 0.0),
                _ => v.iter().any(differs),
            }
        }
        Keys::Weights { .. } => false,
    }
}

/// Pieces that a cubic segment is searched in for where it crosses one half.
const PIECES: u32 = 16;

/// A binary expression's weights: 1 where the curve is above one half, else 0 (VRM 1.0, expressions).
fn switched(curve: &Curve) -> Curve {
    let is_on = |t: f64| curve.weight(0, t).unwrap_or(0.0) > 0.5;
    let mut times = vec![curve.times[0]];
    let mut values = vec![f64::from(is_on(curve.times[0]))];
    let mut add = |time: f64, on: bool| {
        let on = f64::from(on);
        if values.last() != Some(&on) && times.last().is_some_and(|t| time > *t) {
            times.push(time);
            values.push(on);
        }
    };
    for w in curve.times.windows(2) {
        let pieces = match curve.interpolation {
            CurveInterpolation::Step => {
                add(w[1], is_on(w[1]));
                continue;
            }
            CurveInterpolation::Linear => 1,
            CurveInterpolation::CubicSpline => PIECES,
        };
        let at = |i: u32| w[0] + (w[1] - w[0]) * f64::from(i) / f64::from(pieces);
        for i in 0..pieces {
            let (mut low, mut high) = (at(i), if i + 1 == pieces { w[1] } else { at(i + 1) });
            let on = is_on(high);
            if is_on(low) == on {
                continue;
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if is_on(middle) == on {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            add(high, on);
        }
    }
    Curve {
        times,
        interpolation: CurveInterpolation::Step,
        keys: Keys::Weights { count: 1, values },
    }
}
