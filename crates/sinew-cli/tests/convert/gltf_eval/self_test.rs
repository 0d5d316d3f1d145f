//! The comparison notices what is wrong.

use glam::DVec3;
use libtest_mimic::Failed;

use crate::gltf_eval::fixtures;
use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::pairing::{Allowed, Shown, pair};
use crate::gltf_eval::play::Play;
use common::gltf_eval::Document;

const SHARE: f64 = 1e-4;

/// One way in which a picture of the fixture may be wrong.
type Wrong = (&'static str, fn(&mut Vec<Shown>));

const WRONGS: &[Wrong] = &[
    ("a point by twice what is allowed", |s| {
        s[1].points[3][7].y += 2.0 * SHARE * 3.0;
    }),
    ("a point that is no number", |s| {
        s[0].points[0][0].x = f64::NAN;
    }),
    ("a moment shown as the one before", |s| {
        s[0].points[2] = s[0].points[1].clone();
    }),
    ("two points in each other's places", |s| {
        s[0].points.iter_mut().for_each(|p| p.swap(3, 4));
    }),
    ("a normal turned", |s| s[0].normals[1][4] = DVec3::Z),
    ("no normals", |s| {
        s[1].normals.iter_mut().for_each(Vec::clear)
    }),
    ("another face", |s| s[0].corners.swap(0, 1)),
    ("a mesh less", |s| s.truncate(1)),
    ("a mesh more", |s| s.push(s[0].clone())),
    ("a point less", |s| {
        s[0].points.iter_mut().for_each(|p| p.truncate(20));
    }),
];

pub fn notices_what_is_wrong() -> Result<(), Failed> {
    let file = fixtures::written()
        .into_iter()
        .find(|(name, _)| *name == "two_skins.glb");
    let document = Document::open(&file.ok_or("the fixture")?.1);
    let play = Play::all(&document)[0];
    let moments = play.moments();
    let want = play.shown(&moments);
    compare(&want, &want, &moments)?;
    for (what, change) in WRONGS {
        let mut got = want.clone();
        change(&mut got);
        if compare(&want, &got, &moments).is_ok() {
            return Err(format!("{what} was not noticed").into());
        }
    }
    Ok(())
}

fn compare(want: &[Shown], got: &[Shown], moments: &[Moment]) -> Result<(), Failed> {
    let (pairs, left, more) = pair(want, got);
    if !left.is_empty() || !more.is_empty() {
        return Err("not all have a partner".into());
    }
    let allowed = Allowed {
        points: (SHARE, SHARE),
        normals: 1e-3,
        normals_may_lack: false,
        size: 0.0,
        moments,
    };
    pairs.into_iter().try_for_each(|p| allowed.compare(p))
}
