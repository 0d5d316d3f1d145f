//! Skeletons (UsdSkelSkeleton, and the part of UsdSkelSkeletonQuery that does not change with
//! time).

use std::collections::HashMap;

use glam::DMat4;

use super::Topology;
use super::topology::is_prim_path;
use crate::error::{Invalid, first_few};
use crate::math;

/// A validated Skeleton: joints, hierarchy, bind pose and, if authored, rest pose.
#[derive(Clone, Debug)]
pub struct Skeleton {
    path: String,
    joints: Vec<String>,
    joint_names: Option<Vec<String>>,
    topology: Topology,
    /// The inverse of each bind transform, or why there are none.
    inverse_bind: Result<Vec<DMat4>, Invalid>,
    bind: Vec<DMat4>,
    rest: Option<Vec<DMat4>>,
}

impl Skeleton {
    /// Creates a skeleton from the values of its attributes, as column-vector matrices.
    ///
    /// - `bind`: bindTransforms, from joint space to world space in the bind pose. If they are
    ///   missing, singular or of the wrong number, only [`Skeleton::inverse_bind`] fails, because a
    ///   prim that only blends does not need them (rule 10).
    /// - `rest`: restTransforms, from joint space to the parent's space. They count as missing if
    ///   their number is wrong or if one is not finite.
    ///
    /// # Errors
    /// Joints whose parents come after them (rule 7).
    pub fn new(
        path: impl Into<String>,
        joints: Vec<String>,
        bind: Option<Vec<DMat4>>,
        rest: Option<Vec<DMat4>>,
    ) -> Result<Self, Invalid> {
        let path = path.into();
        let topology = Topology::from_joints(&joints);
        topology.validate(&joints).map_err(|e| {
            Invalid::new(
                &path,
                "joints",
                "parents before their children",
                e.to_string(),
            )
            .coded("joint-order")
        })?;
        let inverse_bind = invert_bind(&path, &joints, bind.as_deref());
        let rest = match joints.is_empty() {
            // Nothing is missing.
            true => Some(Vec::new()),
            false => rest.filter(|r| r.len() == joints.len() && r.iter().all(math::is_finite)),
        };
        Ok(Self {
            path,
            topology,
            inverse_bind,
            bind: bind.unwrap_or_default(),
            rest,
            joints,
            joint_names: None,
        })
    }

    /// Creates a skeleton from plain arrays.
    ///
    /// - `path`: a name for messages.
    /// - `joints`: a name for each joint. Animations and the joint orders of meshes refer to joints
    ///   by name.
    /// - `parents`: the index of each joint's parent, which must come before the joint; `None` for
    ///   a root.
    /// - `bind`: the transform of each joint to skeleton space, in the pose in which meshes are
    ///   bound.
    /// - `rest`: the transform of each joint to its parent's space at rest, for joints that an
    ///   animation lacks.
    ///
    /// # Errors
    /// Arrays whose sizes do not agree; parents that do not exist or come after their children;
    /// bind transforms that are not finite or singular; rest transforms that are not finite.
    pub fn from_parents(
        path: impl Into<String>,
        joints: Vec<String>,
        parents: &[Option<u32>],
        bind: Vec<DMat4>,
        rest: Option<Vec<DMat4>>,
    ) -> Result<Self, Invalid> {
        let path = path.into();
        let wrong = |property: &str, expected: String, found: String| {
            Err(Invalid::new(&path, property, expected, found))
        };
        let count = joints.len();
        if parents.len() != count {
            let expected = format!("{count} parents, one per joint");
            return wrong("joints", expected, parents.len().to_string());
        }
        let topology = Topology::from_parents(parents.to_vec());
        if let Err(e) = topology.validate(&joints) {
            let expected = "parents before their children";
            return wrong("joints", expected.into(), e.to_string());
        }
        let inverse_bind = invert_bind(&path, &joints, Some(&bind))?;
        if let Some(rest) = &rest {
            let expected = || format!("{count} finite matrices, one per joint");
            if rest.len() != count {
                return wrong("restTransforms", expected(), rest.len().to_string());
            }
            if let Some(joint) = rest.iter().position(|m| !math::is_finite(m)) {
                let found = format!("{} for joint {}", rest[joint], joints[joint]);
                return wrong("restTransforms", expected(), found);
            }
        }
        Ok(Self {
            path,
            joints,
            joint_names: None,
            topology,
            inverse_bind: Ok(inverse_bind),
            bind,
            rest,
        })
    }

    /// The same skeleton with jointNames: the names that joints had in the program that wrote the
    /// file. They need not be valid paths or unique. If their number is not that of the joints,
    /// they count as missing.
    #[must_use]
    pub fn with_joint_names(mut self, names: Option<Vec<String>>) -> Self {
        self.joint_names = names.filter(|n| n.len() == self.joints.len());
        self
    }

    /// What becomes of joints whose tokens are no prim paths, in words; `None` if there are none.
    /// Such a joint is a root (rule 7). If another joint's token begins its own, the text names that
    /// joint, and says how far it is at rest from its place below it.
    #[must_use]
    pub fn misread_joints(&self) -> Option<String> {
        let odd = self.joints.iter().filter(|j| !is_prim_path(j));
        let odd: Vec<String> = odd.map(|joint| format!("'{joint}'")).collect();
        if odd.is_empty() {
            return None;
        }
        let found = first_few(&odd, 4);
        let mut text = format!("expected prim paths, found {found}: such joints are roots");
        if let Some((joint, parent, distance)) = self.farthest_misread() {
            let (joint, parent) = (&self.joints[joint], &self.joints[parent]);
            text += &format!(", so '{joint}' does not follow '{parent}'");
            if distance > 1e-6 {
                text += &format!(" and is {distance:.3} units from its place at rest");
            }
        }
        Some(text)
    }

    /// Of the joints that are roots only because of their tokens, the one that is farthest at rest
    /// from its place below the joint that its token means, with that joint and the distance.
    fn farthest_misread(&self) -> Option<(usize, usize, f64)> {
        let index = self.joints.iter().enumerate().map(|(i, j)| (j.as_str(), i));
        let index: HashMap<&str, usize> = index.collect();
        let meant = |joint: &String| {
            let ends = joint.rmatch_indices('/').map(|(end, _)| &joint[..end]);
            ends.filter_map(|above| index.get(above).copied()).next()
        };
        let parents: Vec<Option<usize>> = self.joints.iter().map(meant).collect();
        // Without a rest pose no distance is known.
        let rest = self.rest.clone();
        let rest = rest.unwrap_or_else(|| vec![DMat4::IDENTITY; self.joints.len()]);
        let mut found: Vec<DMat4> = Vec::with_capacity(rest.len());
        let mut wanted = found.clone();
        let mut farthest = None;
        for (joint, rest) in rest.iter().enumerate() {
            // Joints whose parents come later have no place yet; they stay roots here.
            let own = self.topology.parent(joint);
            let meant = parents[joint].filter(|p| *p < joint);
            found.push(own.map_or(*rest, |p| found[p] * *rest));
            wanted.push(meant.map_or(*rest, |p| wanted[p] * *rest));
            let distance = found[joint].w_axis.distance(wanted[joint].w_axis);
            let is_farther = farthest.is_none_or(|(_, _, most)| distance > most);
            if let (None, Some(parent), true) = (own, meant, is_farther) {
                farthest = Some((joint, parent, distance));
            }
        }
        farthest
    }

    /// Prim path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Joint paths, parents first.
    #[must_use]
    pub fn joints(&self) -> &[String] {
        &self.joints
    }

    /// jointNames, if they are authored and their number is right.
    #[must_use]
    pub fn joint_names(&self) -> Option<&[String]> {
        self.joint_names.as_deref()
    }

    /// Joint hierarchy.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// bindTransforms as authored, from joint space to world space in the bind pose; empty if they
    /// are missing.
    #[must_use]
    pub fn bind(&self) -> &[DMat4] {
        &self.bind
    }

    /// restTransforms, from joint space to the parent's space, if they are authored and their
    /// number is right.
    #[must_use]
    pub fn rest(&self) -> Option<&[DMat4]> {
        self.rest.as_deref()
    }

    /// The inverse of each bind transform.
    ///
    /// # Errors
    /// bindTransforms that are missing, of the wrong number, not finite or singular (rule 10).
    pub fn inverse_bind(&self) -> Result<&[DMat4], Invalid> {
        self.inverse_bind.as_deref().map_err(Clone::clone)
    }
}

fn invert_bind(
    path: &str,
    joints: &[String],
    bind: Option<&[DMat4]>,
) -> Result<Vec<DMat4>, Invalid> {
    let expected = format!("{} matrices, one per joint", joints.len());
    let bind = match bind {
        Some(b) if b.len() == joints.len() => b,
        Some(b) => {
            return Err(
                Invalid::new(path, "bindTransforms", expected, b.len().to_string())
                    .coded("bind-transforms-count"),
            );
        }
        None if joints.is_empty() => &[],
        None => {
            return Err(Invalid::new(path, "bindTransforms", expected, "none")
                .coded("bind-transforms-missing"));
        }
    };
    bind.iter()
        .zip(joints)
        .map(|(m, joint)| {
            math::try_inverse(*m).ok_or_else(|| {
                Invalid::new(
                    path,
                    "bindTransforms",
                    "invertible, finite matrices",
                    format!("a singular or non-finite one for joint {joint}"),
                )
                .coded("bind-transforms-singular")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    #[test]
    fn parents_make_the_hierarchy() {
        let names = ["Hip", "not/a path", "Hip"].map(String::from).to_vec();
        let bind = vec![DMat4::from_translation(DVec3::X); 3];
        let make = |parents: &[Option<u32>], bind: &[DMat4], rest: Option<Vec<DMat4>>| {
            Skeleton::from_parents("Rig", names.clone(), parents, bind.to_vec(), rest)
        };
        let tree = [None, Some(0), Some(1)];
        let skeleton = make(&tree, &bind, Some(bind.clone())).unwrap();
        let parents: Vec<_> = skeleton.topology().parents().collect();
        assert_eq!(parents, [None, Some(0), Some(1)]);
        let inverse = skeleton.inverse_bind().unwrap();
        assert_eq!(inverse[2], DMat4::from_translation(-DVec3::X));
        let nan = vec![DMat4::NAN; 3];
        for (made, words) in [
            (make(&tree[..2], &bind, None), "3 parents"),
            (
                make(&[None, Some(2), None], &bind, None),
                "comes before its parent",
            ),
            (make(&[None, Some(9), None], &bind, None), "joint 9 (?)"),
            (make(&tree, &bind[1..], None), "3 matrices"),
            (make(&tree, &[DMat4::ZERO; 3], None), "singular"),
            (
                make(&tree, &bind, Some(Vec::new())),
                "restTransforms: expected 3",
            ),
            (make(&tree, &bind, Some(nan)), "for joint Hip"),
        ] {
            let text = made.unwrap_err().to_string();
            assert!(text.contains(words), "'{text}' should say '{words}'");
        }
        assert!(Skeleton::from_parents("None", vec![], &[], vec![], None).is_ok());
    }
}
