//! The tracks of one clip by what they move, over time codes.

use std::collections::{HashMap, HashSet};

use super::time::Rate;
use crate::asset::{Asset, Clip, Curve, CurveInterpolation, Keys, Target};
use crate::error::Warning;

/// Curves over time codes.
#[derive(Debug, Default)]
pub(super) struct CodedClip {
    pub name: String,
    /// By node.
    pub translations: HashMap<usize, Curve>,
    pub rotations: HashMap<usize, Curve>,
    pub scales: HashMap<usize, Curve>,
    pub weights: HashMap<usize, Curve>,
    /// By the expression's index.
    pub expressions: HashMap<usize, Curve>,
    /// Time codes of the first and the last key.
    pub range: Option<(f64, f64)>,
}

impl CodedClip {
    /// Where two tracks move the same, the later one counts.
    pub fn new(asset: &Asset, clip: &Clip, rate: &Rate, warnings: &mut Vec<Warning>) -> Self {
        let mut out = Self {
            name: clip.name.clone(),
            range: clip.range().map(|(a, b)| (rate.code(a), rate.code(b))),
            ..Self::default()
        };
        let mut bones = 0;
        for track in &clip.tracks {
            let curve = rate.curve(&track.curve);
            match (&track.target, &curve.keys) {
                (Target::Node(node), Keys::Translation(_)) => {
                    out.translations.insert(*node, curve);
                }
                (Target::Node(node), Keys::Rotation(_)) => {
                    out.rotations.insert(*node, curve);
                }
                (Target::Node(node), Keys::Scale(_)) => {
                    out.scales.insert(*node, curve);
                }
                (Target::Node(node), Keys::Weights { .. }) => {
                    out.weights.insert(*node, curve);
                }
                (Target::Expression(name), Keys::Weights { .. }) => {
                    let found = asset.expressions.iter().position(|e| e.name == *name);
                    match found {
                        Some(i) if asset.expressions[i].is_binary => {
                            out.expressions.insert(i, switched(&curve));
                        }
                        Some(i) => {
                            out.expressions.insert(i, curve);
                        }
                        None => warnings.push(Warning::new(
                            "expression-missing",
                            &clip.name,
                            format!("a track moves the expression {name}, which the file lacks: left out"),
                        )),
                    }
                }
                (Target::Bone(_), _) => bones += 1,
                (Target::Expression(_), _) => {}
            }
        }
        if bones > 0 {
            warnings.push(Warning::new(
                "bone-tracks-left",
                &clip.name,
                format!("{bones} tracks move human bones and no nodes: `sinew humanoid` applies them to a model"),
            ));
        }
        out
    }
}

/// Nodes that any of the asset's clips moves.
pub(super) fn moved_nodes(asset: &Asset) -> HashSet<usize> {
    let tracks = asset.clips.iter().flat_map(|c| &c.tracks);
    tracks
        .filter(|t| !matches!(t.curve.keys, Keys::Weights { .. }))
        .filter_map(|t| match t.target {
            Target::Node(node) => Some(node),
            _ => None,
        })
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_expressions_switch_at_one_half() {
        let curve = Curve {
            times: vec![0.0, 1.0, 2.0],
            interpolation: CurveInterpolation::Linear,
            keys: Keys::Weights {
                count: 1,
                values: vec![0.0, 1.0, 0.0],
            },
        };
        let on = switched(&curve);
        assert_eq!(on.times.len(), 3);
        assert!((on.times[1] - 0.5).abs() < 1e-9 && (on.times[2] - 1.5).abs() < 1e-9);
        for (t, want) in [(0.0, 0.0), (0.4, 0.0), (0.6, 1.0), (1.4, 1.0), (1.6, 0.0)] {
            assert_eq!(on.weight(0, t), Some(want), "{t}");
        }
    }
}
