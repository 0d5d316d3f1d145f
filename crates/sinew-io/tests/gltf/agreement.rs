//! The judges agree with each other on files that sinew did not write.

use std::path::Path;

use libtest_mimic::Failed;

use crate::eval::Document;
use crate::judges;
use crate::matching::{matched, within};
use crate::play::{Moment, Play, seconds};
use crate::shown::{Allowed, Shown, by_node, shown};
use crate::subjects::rows;
use common::{node, tolerance};

/// Files that three.js shows in another way, and why.
const OTHERWISE: &str = "
pointers.gltf        it does not know KHR_animation_pointer
SimpleSkin.gltf      it leaves rotations that are not of unit length so
sheared_rest.gltf    it takes matrices of nodes apart, and loses their shear
two_bind_poses.gltf  its skinned meshes all need a skin
shared_faces.gltf    its tracks find nodes by names, which copies of a mesh share
node_weights.gltf    its tracks find nodes by names, which copies of a mesh share
";

/// three.js and the evaluator of the tests show the same points of every clip.
pub fn three_and_evaluator(file: &Path) -> Result<(), Failed> {
    match rows(OTHERWISE).any(|row| file.ends_with(row[0])) {
        true => Ok(()),
        false => in_three(file, |play| play.moments()),
    }
}

/// three.js shows every primitive of every clip as the evaluator does, at some moments.
pub fn in_three(file: &Path, moments: impl Fn(Play<'_>) -> Vec<Moment>) -> Result<(), Failed> {
    let document = Document::open(file);
    let primitives = document.meshes.iter().flat_map(|m| &m.primitives);
    let mut influences = primitives.flat_map(|p| &p.influences).map(Vec::len);
    // three.js reads one set of influences.
    if node::missing().is_some() || influences.any(|count| count > 4) {
        return Ok(());
    }
    Play::each(&document, |play| one_in_three(file, play, &moments(play)))
}

fn one_in_three(file: &Path, play: Play<'_>, moments: &[Moment]) -> Result<(), Failed> {
    let got = judges::three(file, play.clip, &seconds(moments))?;
    // three.js also shows what KHR_node_visibility hides.
    for want in play.shown(moments) {
        let mut same = got.iter().filter(|s| s.place == want.place);
        let (Some(got), None) = (same.next(), same.next()) else {
            return Err(format!("{} is not there once", want.label()).into());
        };
        let points = (tolerance::THREE_JS, tolerance::THREE_JS_BETWEEN_KEYS);
        let allowed = Allowed {
            normals_may_lack: true,
            far: 0.1,
            ..Allowed::new(points, 0.0, moments)
        };
        let got = Shown {
            corners: Vec::new(),
            ..got.clone()
        };
        allowed.compare((&want, &got))?;
    }
    Ok(())
}

/// Blender and the evaluator of the tests show the same points of every named clip at its keys.
pub fn blender_and_evaluator(python: &str, file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    Play::each(&document, |play| {
        let name = play.clip().map(|c| c.name.as_str());
        if name == Some("") {
            return Ok(());
        }
        let seconds = a_dozen(&play.keys());
        let want = by_node(shown(&document, &play.clips(), &seconds));
        let got = judges::blender(python, file, name, &seconds)?;
        matched(&want, &got, |_, _, found| {
            within(found.error, tolerance::BLENDER)
        })
    })
}

/// Seconds of about twelve of the moments.
pub fn a_dozen(moments: &[Moment]) -> Vec<f64> {
    let step = moments.len().div_ceil(12);
    seconds(moments).into_iter().step_by(step).collect()
}
