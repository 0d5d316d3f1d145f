//! Clips whose joints have other paths than those of the skeleton that they are for.

use std::collections::HashMap;

use sinew::Warning;
use sinew::error::first_few;
use sinew::skel::{SkelAnimation, Skeleton};

/// The largest number of joints in a message.
const MOST_NAMES: usize = 8;

/// The clip with the joint paths of the skeleton, if none of its own are there: joints are found by
/// the last parts of their paths, where these are unique. The warning says that this was done, and
/// which joints have another parent, so that their transforms are of another space. `None` if a
/// path of the clip is a path of the skeleton, or if no name is.
pub(crate) fn renamed(
    clip: &SkelAnimation,
    skeleton: &Skeleton,
) -> Option<(SkelAnimation, Warning)> {
    let joints = skeleton.joints();
    if clip.joints.iter().any(|j| joints.contains(j)) {
        return None;
    }
    let theirs = by_last_name(joints);
    let own = by_last_name(&clip.joints);
    let mut out = clip.clone();
    let (mut count, mut other_parent) = (0, Vec::new());
    for joint in &mut out.joints {
        let name = last_name(joint);
        // Of a name that occurs twice nobody knows which joint is meant.
        let (Some(Some(found)), Some(Some(_))) = (theirs.get(name), own.get(name)) else {
            continue;
        };
        if parent_name(joint) != parent_name(found) {
            other_parent.push(name.to_owned());
        }
        joint.clone_from(found);
        count += 1;
    }
    if count == 0 {
        return None;
    }
    let mut message = format!(
        "its joints have other paths than those of {}: {count} of {} are taken by their names",
        skeleton.path(),
        clip.joints.len()
    );
    if !other_parent.is_empty() {
        let joints = first_few(&other_parent, MOST_NAMES);
        message += &format!("; the parent is another one of {joints}");
    }
    Some((out, Warning::new("joints-by-name", &clip.path, message)))
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn parent_name(path: &str) -> Option<&str> {
    path.rsplit('/').nth(1)
}

/// Paths by their last names; `None` for a name that several have.
fn by_last_name(paths: &[String]) -> HashMap<&str, Option<&String>> {
    let mut out = HashMap::with_capacity(paths.len());
    for path in paths {
        out.entry(last_name(path))
            .and_modify(|found| *found = None)
            .or_insert(Some(path));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn joints_are_found_by_unique_names() {
        let joints = strings(&[
            "root",
            "root/hips",
            "root/hips/a",
            "root/hips/a/end",
            "root/end",
        ]);
        let skeleton = Skeleton::new("/Skel", joints, None, None).unwrap();
        let clip = |names: &[&str]| SkelAnimation {
            path: "/Clip".to_owned(),
            joints: strings(names),
            ..SkelAnimation::default()
        };
        let (found, warning) =
            renamed(&clip(&["hips", "hips/a", "hips/a/end"]), &skeleton).unwrap();
        assert_eq!(found.joints, ["root/hips", "root/hips/a", "hips/a/end"]);
        let text = warning.to_string();
        assert!(
            text.contains("2 of 3 are taken by their names; the parent is another one of hips")
        );
        assert!(renamed(&clip(&["root", "x"]), &skeleton).is_none());
        assert!(renamed(&clip(&["x"]), &skeleton).is_none());
    }
}
