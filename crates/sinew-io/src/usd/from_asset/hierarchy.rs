//! The asset's nodes as the conversion looks at them.

use std::collections::HashSet;

use glam::DMat4;

use sinew::error::{Invalid, Result};
use sinew_animate::asset::{Asset, LocalTransform, Trs};

/// Levels of nodes below each other. Paths grow with it, and usda is read to a depth of 1000 brackets.
const MAX_DEPTH: usize = 400;

/// What the whole conversion asks of the nodes.
pub(super) struct Hierarchy {
    pub children: Vec<Vec<usize>>,
    /// Depth first, siblings in the file's order.
    pub order: Vec<usize>,
    /// Of each node in that order.
    pub place: Vec<usize>,
    /// Nodes above each.
    pub depth: Vec<usize>,
    /// Shown: at or below a root of the scene.
    pub is_live: Vec<bool>,
    /// Nodes that some clip moves.
    pub moved: HashSet<usize>,
}

impl Hierarchy {
    /// # Errors
    /// More levels than [`MAX_DEPTH`].
    pub fn new(asset: &Asset, moved: HashSet<usize>) -> Result<Self> {
        let children = asset.children();
        let mut order = Vec::with_capacity(asset.nodes.len());
        let mut place = vec![0; asset.nodes.len()];
        let mut depths = vec![0; asset.nodes.len()];
        let mut is_live = vec![false; asset.nodes.len()];
        let roots: HashSet<usize> = asset.roots.iter().copied().collect();
        let all = |i: &usize| asset.nodes[*i].parent.is_none();
        let mut open: Vec<(usize, usize, bool)> = (0..asset.nodes.len())
            .filter(all)
            .map(|i| (i, 0, roots.is_empty() || roots.contains(&i)))
            .rev()
            .collect();
        while let Some((node, depth, live)) = open.pop() {
            if depth >= MAX_DEPTH {
                let expected = format!("at most {MAX_DEPTH} levels of nodes");
                let error = Invalid::new(format!("nodes[{node}]"), "", expected, "more");
                return Err(error.in_file(&asset.file).into());
            }
            place[node] = order.len();
            order.push(node);
            is_live[node] = live;
            depths[node] = depth;
            let below = children[node].iter().rev();
            open.extend(below.map(|c| (*c, depth + 1, live)));
        }
        Ok(Self {
            children,
            order,
            place,
            depth: depths,
            is_live,
            moved,
        })
    }
}

/// Relative difference at which a matrix counts as made of components.
const SHEAR: f64 = 1e-6;

/// The components of a transform; `None` where shear keeps it from having any.
pub(super) fn components(local: &LocalTransform) -> Option<Trs> {
    let m = match local {
        LocalTransform::Trs(trs) => return Some(*trs),
        LocalTransform::Matrix(m) => m,
    };
    let trs = local.trs();
    let found = trs.matrix();
    let size = (0..3).map(|i| m.col(i).length()).fold(0.0, f64::max);
    let same = (0..3).all(|i| (found.col(i) - m.col(i)).length() <= SHEAR * size);
    let is_affine = m.row(3) == DMat4::IDENTITY.row(3);
    (same && is_affine).then_some(trs)
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    #[test]
    fn shear_has_no_components() {
        let trs = Trs {
            translation: DVec3::new(1.0, 2.0, 3.0),
            rotation: DQuat::from_rotation_y(0.7),
            scale: DVec3::new(-1.0, 2.0, 0.5),
        };
        let found = components(&LocalTransform::Matrix(trs.matrix())).unwrap();
        assert!(found.matrix().abs_diff_eq(trs.matrix(), 1e-12));
        let mut sheared = trs.matrix();
        sheared.y_axis += sheared.x_axis * 0.1;
        assert_eq!(components(&LocalTransform::Matrix(sheared)), None);
        let flat = LocalTransform::Matrix(DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0)));
        let scale = DVec3::new(1.0, 0.0, 1.0);
        let flattened = Trs {
            scale,
            ..Trs::IDENTITY
        };
        assert_eq!(components(&flat), Some(flattened));
    }
}
