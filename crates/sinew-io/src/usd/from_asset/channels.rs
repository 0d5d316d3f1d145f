//! Blend shape channels of each Skeleton: morph targets of its meshes, and expressions.

use std::collections::{BTreeSet, HashMap};

use super::names::{Names, identifier};
use super::placement::{MeshUse, by_skeleton};
use sinew_animate::asset::Asset;

/// What a channel's weight follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slider {
    /// A morph target weight of a node's mesh.
    Target { node: usize, target: usize },
    /// An expression, by index.
    Expression(usize),
}

/// A channel of a Skeleton's animations.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// Unique on the Skeleton, and an identifier.
    pub token: String,
    pub slider: Slider,
    /// The weight where no clip moves it.
    pub rest: f32,
}

/// One Skeleton's channels.
#[derive(Debug, Default)]
pub(super) struct Channels {
    pub all: Vec<Channel>,
    index: HashMap<Slider, usize>,
}

impl Channels {
    pub fn token(&self, slider: Slider) -> Option<&str> {
        let index = self.index.get(&slider)?;
        Some(&self.all[*index].token)
    }

    fn add(&mut self, slider: Slider, token: String, rest: f32) {
        self.index.insert(slider, self.all.len());
        self.all.push(Channel {
            token,
            slider,
            rest,
        });
    }
}

/// What each expression adds to the targets of each mesh.
#[derive(Debug, Default)]
pub(super) struct ExpressionBinds(HashMap<usize, Vec<MeshExpression>>);

/// An expression's part on one mesh.
#[derive(Debug)]
pub(super) struct MeshExpression {
    pub expression: usize,
    /// Target and weight.
    pub binds: Vec<(usize, f32)>,
}

impl ExpressionBinds {
    pub fn new(asset: &Asset) -> Self {
        let mut all: HashMap<usize, Vec<MeshExpression>> = HashMap::new();
        for (expression, source) in asset.expressions.iter().enumerate() {
            for bind in &source.binds {
                let of_mesh = all.entry(bind.mesh).or_default();
                if of_mesh.last().is_none_or(|e| e.expression != expression) {
                    let binds = Vec::new();
                    of_mesh.push(MeshExpression { expression, binds });
                }
                if let Some(last) = of_mesh.last_mut() {
                    last.binds.push((bind.target, bind.weight));
                }
            }
        }
        Self(all)
    }

    /// In the order of the expressions.
    pub fn of_mesh(&self, mesh: usize) -> &[MeshExpression] {
        self.0.get(&mesh).map_or(&[], Vec::as_slice)
    }
}

/// Channels of all Skeletons, in their order. Expressions have the first choice of names; then come targets, by their
/// own name, or with the mesh's in front where another mesh has taken it.
///
/// A clip without meshes, such as a VRM animation, has its expressions as channels of the first Skeleton.
pub(super) fn channels(
    asset: &Asset,
    uses: &[MeshUse],
    skeletons: usize,
    (expressions, binds): (&[String], &ExpressionBinds),
) -> Vec<Channels> {
    let mut all: Vec<Channels> = Vec::new();
    all.resize_with(skeletons, Channels::default);
    if asset.meshes.is_empty()
        && let Some(first) = all.first_mut()
    {
        let mut names = Names::default();
        for (i, name) in expressions.iter().enumerate() {
            let token = names.unique(&[name, "expression"]);
            first.add(Slider::Expression(i), token, 0.0);
        }
        return all;
    }
    for (channels, uses) in all.iter_mut().zip(by_skeleton(uses, skeletons)) {
        let mut names = Names::default();
        let bound = uses.iter().flat_map(|u| binds.of_mesh(u.mesh));
        let bound: BTreeSet<usize> = bound.map(|b| b.expression).collect();
        for i in bound {
            let token = names.unique(&[&asset.expressions[i].name, "expression"]);
            channels.add(Slider::Expression(i), token, 0.0);
        }
        for at in uses {
            let (node, mesh) = (&asset.nodes[at.node], &asset.meshes[at.mesh]);
            let weights = node.weights.as_ref().unwrap_or(&mesh.weights);
            for (target, name) in mesh.target_names.iter().enumerate() {
                let slider = Slider::Target {
                    node: at.node,
                    target,
                };
                if channels.index.contains_key(&slider) {
                    continue;
                }
                let unnamed = format!("target{target}");
                let plain = match identifier(name) {
                    name if name.is_empty() => unnamed,
                    name => name,
                };
                let owner = if mesh.name.is_empty() {
                    &node.name
                } else {
                    &mesh.name
                };
                let token = match names.is_taken(&plain) && !owner.is_empty() {
                    true => names.unique(&[&format!("{owner}_{plain}")]),
                    false => names.unique(&[&plain]),
                };
                channels.add(slider, token, weights[target]);
            }
        }
    }
    all
}
