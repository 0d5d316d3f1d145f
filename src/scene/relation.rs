//! Transforms from one prim to another that do not go through world space.

use super::Scene;

/// The transforms between two prims: both chains of ancestors, up to the first ancestor that they
/// have in common.
///
/// Transforms above that ancestor cancel out, so they are left out. The result is therefore exact
/// far from the origin, and has the same bits for instances at different places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The target prim and its ancestors, as indices into [`Scene::prims`].
    pub to: Vec<usize>,
    /// The source prim and its ancestors.
    pub from: Vec<usize>,
}

impl Scene {
    /// The relation that leads from prim `from` to prim `to`.
    pub fn relation(&self, to: usize, from: usize) -> Relation {
        let (mut to, mut from) = (self.chain(to), self.chain(from));
        while let (Some(a), Some(b)) = (to.last(), from.last())
            && a == b
        {
            to.pop();
            from.pop();
        }
        Relation { to, from }
    }

    /// The prim and its ancestors, up to one that resets the transform stack.
    pub fn chain(&self, prim: usize) -> Vec<usize> {
        let mut out = vec![prim];
        loop {
            let p = &self.prims[out[out.len() - 1]];
            match p.parent.filter(|_| !p.xform.resets) {
                Some(parent) => out.push(parent),
                None => return out,
            }
        }
    }

    /// Every authored time of these transforms.
    pub fn relation_times(&self, relation: &Relation) -> Vec<f64> {
        let prims = relation.to.iter().chain(&relation.from);
        prims.flat_map(|p| self.prims[*p].xform.times()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{ScenePrim, TimeLine, XformStack};

    fn scene(parents: &[Option<usize>], resets: &[usize]) -> Scene {
        let prim = |(i, parent): (usize, &Option<usize>)| ScenePrim {
            path: format!("/{i}"),
            parent: *parent,
            definition: i,
            xform: XformStack {
                ops: Vec::new(),
                resets: resets.contains(&i),
            },
        };
        let time_line = TimeLine {
            range: None,
            time_codes_per_second: 24.0,
            frames_per_second: 24.0,
        };
        let mut scene = Scene::new("test", time_line);
        scene.prims = parents.iter().enumerate().map(prim).collect();
        scene
    }

    #[test]
    fn prims_meet_at_their_nearest_common_ancestor() {
        // 0 / 1 / (2 / 3, 4)
        let parents = [None, Some(0), Some(1), Some(2), Some(1)];
        let way = |resets: &[usize], to, from| {
            let r = scene(&parents, resets).relation(to, from);
            (r.to, r.from)
        };
        assert_eq!(way(&[], 3, 4), (vec![3, 2], vec![4]));
        assert_eq!(way(&[], 3, 2), (vec![3], vec![]), "one above the other");
        assert_eq!(way(&[], 3, 3), (vec![], vec![]));
        // A prim that resets stands in the world, so all ancestors of the other prim count.
        assert_eq!(way(&[2], 3, 4), (vec![3, 2], vec![4, 1, 0]));
        assert_eq!(
            way(&[1], 3, 4),
            (vec![3, 2], vec![4]),
            "both below the reset"
        );
    }
}
