//! What the panels tell about the file that is shown.

use std::path::PathBuf;
use std::sync::Arc;

use glam::DVec3;
use sinew_io::usd::VariantSet;
use sinew_render::{Camera, JointId, Stage, StageJoint, StageSkeleton};

use super::clips::ClipEntry;
use super::files::Selected;
use super::findings::Messages;
use super::follow::Walk;
use super::live::Matched;

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
    /// With the pose that they had when the file was read.
    pub skeletons: Vec<StageSkeleton>,
    /// The joint with the largest sum of weights, if meshes are skinned.
    pub strongest: Option<JointId>,
    pub clips: Vec<ClipEntry>,
    /// Which clip plays, of `clips`; `None` where the file has its own way.
    pub clip: Option<usize>,
    /// The variant sets of the file; `None` if it is not USD.
    pub variant_sets: Option<Vec<VariantSet>>,
    /// What is chosen of them, and which purposes are drawn.
    pub selected: Selected,
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
    /// Looks at the character's face.
    pub camera: Camera,
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
            skeletons: stage.skeletons().to_vec(),
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
            camera: stage.camera(),
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

    pub fn joint(&self, id: JointId) -> Option<&StageJoint> {
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

/// A row of the joint list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub joint: usize,
    /// How many joints are above it.
    pub depth: usize,
    /// Whether others hang below it.
    pub branches: bool,
}

/// The joints that a search finds, else the tree without what is folded: each joint followed by all
/// below it.
pub fn rows(skeleton: &StageSkeleton, search: &str, folded: impl Fn(usize) -> bool) -> Vec<Row> {
    let joints = &skeleton.joints;
    let search = search.trim().to_lowercase();
    let mut children = vec![Vec::new(); joints.len()];
    let mut stack = Vec::new();
    for (i, joint) in joints.iter().enumerate() {
        match joint.parent {
            Some(parent) => children[parent].push(i),
            None => stack.push((i, 0)),
        }
    }
    stack.reverse();
    let mut rows = Vec::with_capacity(joints.len());
    while let Some((joint, depth)) = stack.pop() {
        let below = &children[joint];
        let branches = !below.is_empty();
        rows.push(Row {
            joint,
            depth,
            branches,
        });
        if !search.is_empty() || !folded(joint) {
            stack.extend(below.iter().rev().map(|child| (*child, depth + 1)));
        }
    }
    if !search.is_empty() {
        rows.retain(|row| joints[row.joint].name.to_lowercase().contains(&search));
        rows.sort_by_key(|row| row.joint);
    }
    rows
}

#[cfg(test)]
mod tests {
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
        let skeleton = StageSkeleton {
            path: "/S".into(),
            joints: joints.map(joint).to_vec(),
            world_from_joint: Vec::new(),
        };
        let listed = |search: &str, folded: &[usize]| -> Vec<(usize, usize, bool)> {
            let rows = rows(&skeleton, search, |joint| folded.contains(&joint));
            rows.iter()
                .map(|r| (r.joint, r.depth, r.branches))
                .collect()
        };
        let all = [(0, 0, true), (1, 1, true), (3, 2, false), (2, 1, false)];
        assert_eq!(listed("", &[]), all);
        assert_eq!(listed("", &[1]), [all[0], all[1], all[3]]);
        assert_eq!(listed("", &[0]), all[..1]);
        // Also in folded branches.
        assert_eq!(listed(" LEG ", &[0, 1]), [all[3]]);
        let skeletons = vec![skeleton];
        let model = Model {
            skeletons,
            ..Model::default()
        };
        let found = ["spi", "tail"].map(|name| model.find_joint(name).map(|j| j.joint));
        assert_eq!(found, [Some(1), None]);
    }
}
