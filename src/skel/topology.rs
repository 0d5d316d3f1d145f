//! The hierarchy of joints, from a list of joint paths (UsdSkelTopology).

use std::collections::HashMap;

/// A hierarchy of joints: the parent of each joint, in the order of the joints.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Topology {
    parents: Vec<Option<u32>>,
}

/// Why a topology is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A joint is its own parent. That is possible with parent indices, but not with joint paths.
    #[error("joint {joint} ({name}) has itself as its parent")]
    OwnParent { joint: usize, name: String },
    /// A joint comes before its parent (rule 7).
    #[error("joint {joint} ({name}) comes before its parent, joint {parent} ({parent_name})")]
    ParentAfterChild {
        joint: usize,
        name: String,
        parent: usize,
        parent_name: String,
    },
}

impl Topology {
    /// Finds the parent of each joint: the nearest ancestor path that is in the list (rule 7). A
    /// token that is not a valid prim path is a root joint.
    #[must_use]
    pub fn from_joints<S: AsRef<str>>(joints: &[S]) -> Self {
        let mut index: HashMap<&str, u32> = HashMap::with_capacity(joints.len());
        for (i, j) in joints.iter().enumerate() {
            // usd-core fills its map in order, so the last of equal paths is used.
            index.insert(j.as_ref(), i as u32);
        }
        let parents = joints
            .iter()
            .map(|j| {
                let mut path = j.as_ref();
                if !is_prim_path(path) {
                    return None;
                }
                while let Some(cut) = path.rfind('/') {
                    path = &path[..cut];
                    if let Some(&p) = index.get(path) {
                        return Some(p);
                    }
                }
                None
            })
            .collect();
        Self { parents }
    }

    /// A topology with these parents; `None` for a root (UsdSkelTopology's other constructor, where
    /// a negative index is a root). It does not check them: call [`Topology::validate`] before any
    /// method that does more than list parents.
    #[must_use]
    pub fn from_parents(parents: Vec<Option<u32>>) -> Self {
        Self { parents }
    }

    /// Number of joints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there are no joints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The parent of `joint`; `None` for a root.
    ///
    /// # Panics
    /// If `joint` is out of range.
    #[must_use]
    pub fn parent(&self, joint: usize) -> Option<usize> {
        self.parents[joint].map(|p| p as usize)
    }

    /// The parent of each joint; `None` for a root.
    pub fn parents(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.parents.iter().map(|p| p.map(|p| p as usize))
    }

    /// Number of joints in the longest chain: 1 for roots only, 0 without joints.
    #[must_use]
    pub fn depth(&self) -> usize {
        let mut depths = vec![1usize; self.len()];
        for (i, p) in self.parents().enumerate() {
            if let Some(p) = p.filter(|p| *p < i) {
                depths[i] = depths[p] + 1;
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Checks that every parent comes before its children (rule 7; UsdSkelTopology::Validate),
    /// which also excludes cycles. `joints` are names for the error, and may be empty.
    ///
    /// # Errors
    /// The first joint that breaks the rule.
    pub fn validate<S: AsRef<str>>(&self, joints: &[S]) -> Result<(), TopologyError> {
        let name = |i: usize| joints.get(i).map_or("?", AsRef::as_ref).to_owned();
        for (joint, parent) in self.parents().enumerate() {
            match parent {
                Some(parent) if parent == joint => {
                    let name = name(joint);
                    return Err(TopologyError::OwnParent { joint, name });
                }
                Some(parent) if parent > joint => {
                    return Err(TopologyError::ParentAfterChild {
                        joint,
                        name: name(joint),
                        parent,
                        parent_name: name(parent),
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether a token is a prim path as far as joint tokens go: identifiers joined by single slashes.
pub fn is_prim_path(token: &str) -> bool {
    let body = token.strip_prefix('/').unwrap_or(token);
    !body.is_empty()
        && body.split('/').all(|name| {
            let mut chars = name.chars();
            chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
                && chars.all(|c| c == '_' || c.is_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_is_the_nearest_listed_ancestor() {
        let joints = ["A", "A/B", "C", "C/D/E"];
        let t = Topology::from_joints(&joints);
        assert_eq!(
            t.parents().collect::<Vec<_>>(),
            [None, Some(0), None, Some(2)]
        );
        assert_eq!(t.validate(&joints), Ok(()));
        assert_eq!(t.depth(), 2);
    }

    #[test]
    fn children_before_parents_are_refused() {
        let joints = ["A/B", "A"];
        let err = Topology::from_joints(&joints)
            .validate(&joints)
            .unwrap_err();
        assert!(err.to_string().contains("A/B"), "{err}");
    }

    #[test]
    fn parent_indices_are_checked_too() {
        let validate = |parents: &[Option<u32>], names: &[&str]| {
            Topology::from_parents(parents.to_vec()).validate(names)
        };
        assert_eq!(validate(&[None, Some(0), Some(0)], &[]), Ok(()));
        let own = validate(&[None, Some(1)], &["A", "B"]).unwrap_err();
        assert_eq!(own.to_string(), "joint 1 (B) has itself as its parent");
        let after = validate(&[Some(7)], &[]).unwrap_err();
        let text = "joint 0 (?) comes before its parent, joint 7 (?)";
        assert_eq!(after.to_string(), text);
    }

    #[test]
    fn the_last_of_equal_paths_is_the_parent() {
        // The results of usd-core 26.11's UsdSkelTopology.
        let parents = |j: &[&str]| Topology::from_joints(j).parents().collect::<Vec<_>>();
        assert_eq!(parents(&["A", "A", "A/B"]), [None, None, Some(1)]);
        assert_eq!(parents(&["A", "A/B", "A"]), [None, Some(2), None]);
    }

    #[test]
    fn a_token_that_is_no_path_is_a_root() {
        let t = Topology::from_joints(&["A", "A/my joint", "A//B", "A/1x"]);
        assert_eq!(t.parents().collect::<Vec<_>>(), [None; 4]);
    }
}
