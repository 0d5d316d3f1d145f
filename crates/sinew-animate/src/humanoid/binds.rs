//! Bind transforms of the joints of a model, relative to their parent nodes.

use std::collections::{HashMap, HashSet, VecDeque};

use glam::{DMat3, DMat4, DQuat};

use crate::asset::Asset;
use sinew::math::try_inverse;

/// The largest number of candidates for scene_from_bind that are counted. Models have few.
const MOST_CANDIDATES: usize = 64;

/// The bind transforms of all joints of an asset, in all its skins.
///
/// Each skin has its own bind space, which the exporter chose: mesh space, the scene or another
/// one. Skins that share a joint are transformed to one space by that joint. Each such group is
/// transformed to the scene by the value of `rest_world(j) * inverse_bind(j)` that most of its
/// joints agree on.
pub struct BindPoses<'a> {
    asset: &'a Asset,
    /// world_from_node at rest.
    rest_world: Vec<DMat4>,
    /// For each node that is a joint: its skins, and its matrices there if they can be inverted.
    places: HashMap<usize, Vec<Place>>,
    /// scene_from_bind of each skin.
    scene: Vec<DMat4>,
}

#[derive(Clone, Copy)]
struct Place {
    skin: usize,
    /// joint_from_bind.
    inverse: DMat4,
    /// bind_from_joint.
    bind: DMat4,
}

impl<'a> BindPoses<'a> {
    #[must_use]
    pub fn new(asset: &'a Asset) -> Self {
        let order = asset.parents_first();
        let mut rest_world = vec![DMat4::IDENTITY; asset.nodes.len()];
        for &node in &order {
            let local = asset.nodes[node].local.matrix();
            rest_world[node] = match asset.nodes[node].parent {
                Some(parent) => rest_world[parent] * local,
                None => local,
            };
        }
        let mut places: HashMap<usize, Vec<Place>> = HashMap::new();
        for (skin, s) in asset.skins.iter().enumerate() {
            for (&joint, &inverse) in s.joints.iter().zip(&s.inverse_bind) {
                let Some(bind) = try_inverse(inverse) else {
                    continue;
                };
                let place = Place {
                    skin,
                    inverse,
                    bind,
                };
                places.entry(joint).or_default().push(place);
            }
        }
        let mut binds = Self {
            asset,
            rest_world,
            places,
            scene: vec![DMat4::IDENTITY; asset.skins.len()],
        };
        binds.bring_to_the_scene(&order);
        binds
    }

    fn bring_to_the_scene(&mut self, order: &[usize]) {
        let mut group_of = vec![None; self.asset.skins.len()];
        let mut groups = 0;
        // first_from_bind: the transform to the bind space of the group's first skin.
        let mut first = vec![DMat4::IDENTITY; self.asset.skins.len()];
        let mut crossed = HashSet::new();
        for start in 0..self.asset.skins.len() {
            if group_of[start].is_some() {
                continue;
            }
            group_of[start] = Some(groups);
            let mut queue = VecDeque::from([start]);
            while let Some(skin) = queue.pop_front() {
                for joint in &self.asset.skins[skin].joints {
                    let Some(places) = self.places.get(joint).filter(|p| p.len() > 1) else {
                        continue;
                    };
                    if !crossed.insert(*joint) {
                        continue;
                    }
                    let Some(here) = places.iter().find(|p| p.skin == skin) else {
                        continue;
                    };
                    for there in places {
                        if group_of[there.skin].is_none() {
                            group_of[there.skin] = Some(groups);
                            first[there.skin] = first[skin] * here.bind * there.inverse;
                            queue.push_back(there.skin);
                        }
                    }
                }
            }
            groups += 1;
        }
        let away = |n: &usize| self.rest_world[*n].w_axis.truncate().length();
        let size = self.places.keys().map(away).fold(0.0, f64::max);
        // scene_from_first, and how many joints agree on it; the topmost joint's first.
        let mut votes: Vec<Vec<(DMat4, usize)>> = vec![Vec::new(); groups];
        for node in order {
            let Some(place) = self.places.get(node).and_then(|p| p.first()) else {
                continue;
            };
            let Some(to_bind) = try_inverse(first[place.skin]) else {
                continue;
            };
            let candidate = self.rest_world[*node] * place.inverse * to_bind;
            let Some(votes) = group_of[place.skin].and_then(|g: usize| votes.get_mut(g)) else {
                continue;
            };
            match votes.iter().position(|(m, _)| agree(m, &candidate, size)) {
                Some(i) => votes[i].1 += 1,
                None if votes.len() < MOST_CANDIDATES => votes.push((candidate, 1)),
                None => {}
            }
        }
        for (skin, group) in group_of.into_iter().enumerate() {
            let votes = group.and_then(|g| votes.get(g)).into_iter().flatten();
            // Reversed, because max_by_key returns the last of equal elements.
            let most = votes.rev().max_by_key(|(_, n)| *n);
            self.scene[skin] = most.map_or(DMat4::IDENTITY, |(m, _)| *m) * first[skin];
        }
    }

    /// scene_from_joint at bind time; `None` if the node is not a joint or its matrix is singular.
    #[must_use]
    pub fn world(&self, node: usize) -> Option<DMat4> {
        let place = self.places.get(&node)?.first()?;
        Some(self.scene[place.skin] * place.bind)
    }

    /// world_from_node at rest.
    #[must_use]
    pub fn rest_world(&self, node: usize) -> DMat4 {
        self.rest_world[node]
    }

    /// world_from_node of a node's parent at rest; the identity for a root.
    #[must_use]
    pub fn rest_parent_world(&self, node: usize) -> DMat4 {
        let parent = self.asset.nodes[node].parent;
        parent.map_or(DMat4::IDENTITY, |p| self.rest_world[p])
    }

    /// The rotation of [`BindPoses::rest_parent_world`], as the product of the rotations of the
    /// nodes, so that scales do not change it.
    #[must_use]
    pub fn rest_parent_rotation(&self, node: usize) -> DQuat {
        let above = self.asset.chain(node).skip(1);
        let turn = above.fold(DQuat::IDENTITY, |q, n| {
            self.asset.nodes[n].local.trs().rotation * q
        });
        turn.normalize()
    }

    /// nodeparent_from_joint at bind time. The transform of the parent is its bind transform if it
    /// is a joint. Otherwise it is the bind transform of the nearest joint above it, times the rest
    /// transforms of the nodes between. Without such a joint it is the rest transform of the parent
    /// in the scene. `None` if the node is not a joint, or if one of these matrices is singular.
    #[must_use]
    pub fn local(&self, node: usize) -> Option<DMat4> {
        let bind = self.world(node)?;
        // ancestor_from_parent.
        let mut between = DMat4::IDENTITY;
        for ancestor in self.asset.chain(node).skip(1) {
            if let Some(relative) = self.relative(ancestor, node) {
                return Some(try_inverse(between)? * relative);
            }
            between = self.asset.nodes[ancestor].local.matrix() * between;
        }
        Some(try_inverse(between)? * bind)
    }

    /// ancestor_from_node at bind time, by a skin that has both joints if there is one.
    fn relative(&self, ancestor: usize, node: usize) -> Option<DMat4> {
        let above = self.places.get(&ancestor)?;
        let here = self.places.get(&node)?;
        let both = above.iter().find_map(|a| {
            let n = here.iter().find(|n| n.skin == a.skin)?;
            Some(a.inverse * n.bind)
        });
        both.or_else(|| Some(try_inverse(self.world(ancestor)?)? * self.world(node)?))
    }
}

/// The largest difference of equal transforms, relative to their scale and to the size of the
/// model. It allows for f32 values in files.
const AGREE: f64 = 1e-4;

/// Whether two transforms are equal. `size` is the largest distance of a joint from the origin.
fn agree(a: &DMat4, b: &DMat4, size: f64) -> bool {
    let [turn_a, turn_b] = [a, b].map(|m| DMat3::from_mat4(*m));
    let scale = turn_a
        .to_cols_array()
        .iter()
        .fold(0.0f64, |m, v| m.max(v.abs()));
    let [from_a, from_b] = [a, b].map(|m| m.w_axis.truncate());
    turn_a.abs_diff_eq(turn_b, AGREE * scale) && from_a.abs_diff_eq(from_b, AGREE * size)
}
