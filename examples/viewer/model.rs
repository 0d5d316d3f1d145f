//! What the panels tell about the file that is shown.

use std::path::PathBuf;
use std::sync::Arc;

use glam::DVec3;
use sinew_render::{JointId, Stage, StageSkeleton};

use super::clips::ClipEntry;
use super::findings::Messages;
use super::follow::Walk;
use super::live::Matched;

/// A joint as the list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Last part of its path, or the name that it had where the file was made.
    pub name: String,
    pub parent: Option<usize>,
    /// How many joints are above it.
    pub depth: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkeletonInfo {
    pub path: String,
    pub joints: Vec<Joint>,
}

/// Time codes that are played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    pub start: f64,
    pub end: f64,
    pub codes_per_second: f64,
}

/// Numbers of what is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub meshes: usize,
    pub skinned_meshes: usize,
    pub points: usize,
    /// Of these, those that are skinned or blended.
    pub deformed_points: usize,
    pub triangles: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub path: PathBuf,
    pub skeletons: Vec<SkeletonInfo>,
    /// The joint with the largest sum of weights, if meshes are skinned.
    pub strongest: Option<JointId>,
    pub clips: Vec<ClipEntry>,
    /// Which clip plays, of `clips`; `None` where the file has its own way.
    pub clip: Option<usize>,
    /// How a clip of another file was matched.
    pub matched: Option<Arc<Matched>>,
    /// The root's way, if it walks away.
    pub walk: Option<Walk>,
    /// The root at the first time.
    pub origin: Option<DVec3>,
    /// Channels of blend shapes, each once.
    pub shapes: Vec<String>,
    pub cameras: Vec<String>,
    pub counts: Counts,
    /// What is wrong or doubtful in the file.
    pub messages: Messages,
    pub up_axis: char,
    pub meters_per_unit: f64,
    pub times: Times,
}

impl Model {
    /// What a stage tells of itself; clips are filled in by the caller.
    pub fn of_stage(stage: &Stage) -> Self {
        let scene = stage.scene();
        let meshes = stage.meshes();
        let (start, end) = stage.time_range().unwrap_or_default();
        Self {
            path: scene.file.clone(),
            skeletons: stage.skeletons().iter().map(skeleton_info).collect(),
            strongest: stage.strongest_joint(),
            shapes: stage.channels().into_keys().collect(),
            cameras: stage.cameras().iter().map(|c| c.path.clone()).collect(),
            counts: Counts {
                meshes: meshes.len(),
                skinned_meshes: meshes.iter().filter(|m| m.deforms).count(),
                points: meshes.iter().map(|m| m.points).sum(),
                deformed_points: stage.deformed_points(),
                triangles: meshes.iter().map(|m| m.triangles).sum(),
            },
            messages: Messages::of_stage(stage),
            up_axis: stage.up_axis(),
            meters_per_unit: stage.meters_per_unit(),
            times: Times {
                start,
                end,
                codes_per_second: scene.time_line.time_codes_per_second,
            },
            ..Self::default()
        }
    }

    /// The file's name without its folder.
    pub fn name(&self) -> String {
        let name = self.path.file_name();
        name.map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    }

    /// Whether there is a body for clips of other files.
    pub fn is_character(&self) -> bool {
        self.counts.meshes > 0 && self.skeletons.iter().any(|s| !s.joints.is_empty())
    }

    /// What plays, in words; empty if nothing moves.
    pub fn playing(&self) -> &str {
        let clip = self.clip.and_then(|i| self.clips.get(i));
        clip.map_or("", |c| &c.label)
    }

    pub fn first_joint(&self) -> Option<JointId> {
        let skeleton = self.skeletons.iter().position(|s| !s.joints.is_empty())?;
        Some(JointId { skeleton, joint: 0 })
    }

    pub fn joint(&self, id: JointId) -> Option<&Joint> {
        self.skeletons.get(id.skeleton)?.joints.get(id.joint)
    }

    /// The joint of this name, upper or lower case: the whole name, or else a part of it.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        let wanted = name.to_lowercase();
        let find = |fits: &dyn Fn(&str) -> bool| {
            self.skeletons.iter().enumerate().find_map(|(skeleton, s)| {
                let joint = s.joints.iter().position(|j| fits(&j.name.to_lowercase()))?;
                Some(JointId { skeleton, joint })
            })
        };
        find(&|n| n == wanted).or_else(|| find(&|n| n.contains(&wanted)))
    }
}

fn skeleton_info(skeleton: &StageSkeleton) -> SkeletonInfo {
    let mut joints: Vec<Joint> = Vec::with_capacity(skeleton.joints.len());
    for joint in &skeleton.joints {
        joints.push(Joint {
            name: joint.name.clone(),
            // Parents come before their children.
            depth: joint.parent.map_or(0, |p| joints[p].depth + 1),
            parent: joint.parent,
        });
    }
    SkeletonInfo {
        path: skeleton.path.clone(),
        joints,
    }
}

/// Rows of the joint list: those that a search finds, else the tree without what is folded.
pub fn rows(skeleton: &SkeletonInfo, search: &str, folded: impl Fn(usize) -> bool) -> Vec<usize> {
    let search = search.trim().to_lowercase();
    let all = 0..skeleton.joints.len();
    if !search.is_empty() {
        let fits = |i: &usize| skeleton.joints[*i].name.to_lowercase().contains(&search);
        return all.filter(fits).collect();
    }
    let mut hidden = vec![false; skeleton.joints.len()];
    for (i, joint) in skeleton.joints.iter().enumerate() {
        // Parents come before their children.
        hidden[i] = joint.parent.is_some_and(|p| hidden[p] || folded(p));
    }
    let order = depth_first(skeleton);
    order.into_iter().filter(|i| !hidden[*i]).collect()
}

/// Joints in the tree's order: each one followed by all below it.
fn depth_first(skeleton: &SkeletonInfo) -> Vec<usize> {
    let mut children = vec![Vec::new(); skeleton.joints.len()];
    let mut stack = Vec::new();
    for (i, joint) in skeleton.joints.iter().enumerate() {
        match joint.parent {
            Some(parent) => children[parent].push(i),
            None => stack.push(i),
        }
    }
    stack.reverse();
    let mut order = Vec::with_capacity(skeleton.joints.len());
    while let Some(joint) = stack.pop() {
        order.push(joint);
        stack.extend(children[joint].iter().rev());
    }
    order
}

/// For each joint whether others hang below it.
pub fn branches(skeleton: &SkeletonInfo) -> Vec<bool> {
    let mut out = vec![false; skeleton.joints.len()];
    for parent in skeleton.joints.iter().filter_map(|j| j.parent) {
        out[parent] = true;
    }
    out
}

#[cfg(test)]
mod tests {
    use sinew_render::StageJoint;

    use super::*;

    #[test]
    fn the_list_is_a_tree_that_folds_and_can_be_searched() {
        let joint = |(name, parent): (&str, _)| StageJoint {
            path: name.to_owned(),
            name: name.to_owned(),
            parent,
        };
        let joints = [
            ("Hips", None),
            ("Spine", Some(0)),
            ("LegL", Some(0)),
            ("Head", Some(1)),
        ];
        let skeleton = skeleton_info(&StageSkeleton {
            path: "/S".into(),
            joints: joints.map(joint).to_vec(),
            world_from_joint: Vec::new(),
        });
        assert_eq!(rows(&skeleton, "", |_| false), [0, 1, 3, 2]);
        assert_eq!(rows(&skeleton, "", |j| j == 1), [0, 1, 2]);
        assert_eq!(rows(&skeleton, "", |j| j == 0), [0]);
        // Also in folded branches.
        assert_eq!(rows(&skeleton, " LEG ", |_| true), [2]);
        assert_eq!(skeleton.joints[3].depth, 2);
        assert_eq!(branches(&skeleton), [true, true, false, false]);
        let skeletons = vec![skeleton];
        let model = Model {
            skeletons,
            ..Model::default()
        };
        let found = ["spi", "tail"].map(|name| model.find_joint(name).map(|j| j.joint));
        assert_eq!(found, [Some(1), None]);
    }
}
