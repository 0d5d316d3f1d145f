//! Clips whose joints have other paths than those of the skeleton that they are for.

use std::collections::{HashMap, HashSet};

use sinew::Warning;
use sinew::error::first_few;
use sinew::skel::{SkelAnimation, Skeleton};

use crate::usd::MOST_NAMES;

/// The clip with the joint paths of the skeleton, if none of its own are there: joints are found by
/// the last parts of their paths, where these are unique. The warning says that this was done, and
/// which joints have another parent, so that their transforms are of another space. `None` if a
/// path of the clip is a path of the skeleton, or if no name is.
pub(crate) fn renamed(
    clip: &SkelAnimation,
    skeleton: &Skeleton,
) -> Option<(SkelAnimation, Warning)> {
    let found = by_last_parts(&clip.joints, skeleton.joints());
    let count = found.iter().flatten().count();
    if count == 0 {
        return None;
    }
    let mut out = clip.clone();
    let mut other_parent = Vec::new();
    for (joint, found) in out.joints.iter_mut().zip(found) {
        let Some(found) = found else { continue };
        if parent_name(joint) != parent_name(found) {
            other_parent.push(last_name(joint).to_owned());
        }
        joint.clone_from(found);
    }
    let mut message = format!(
        "its joints have other paths than those of {}: {count} of {} are matched by name",
        skeleton.path(),
        clip.joints.len()
    );
    if !other_parent.is_empty() {
        let joints = first_few(&other_parent, MOST_NAMES);
        message += &format!("; the parents of {joints} differ");
    }
    Some((out, Warning::new("joints-by-name", &clip.path, message)))
}

/// For each path the one of `theirs` with the same last part, where this is unique on both sides.
/// None has one if some path is on both sides.
pub(crate) fn by_last_parts<'t>(own: &[String], theirs: &'t [String]) -> Vec<Option<&'t String>> {
    let known: HashSet<&String> = theirs.iter().collect();
    if own.iter().any(|path| known.contains(path)) {
        return vec![None; own.len()];
    }
    let (of_theirs, of_own) = (by_last_name(theirs), by_last_name(own));
    let found = |path: &String| {
        let name = last_name(path);
        // Of a name that occurs twice nobody knows which joint is meant.
        (*of_own.get(name)?)?;
        *of_theirs.get(name)?
    };
    own.iter().map(found).collect()
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
        assert!(text.contains("2 of 3 are matched by name; the parents of hips differ"));
        assert!(renamed(&clip(&["root", "x"]), &skeleton).is_none());
        assert!(renamed(&clip(&["x"]), &skeleton).is_none());
    }
}
