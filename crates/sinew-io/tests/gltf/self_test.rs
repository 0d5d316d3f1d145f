//! The judges themselves notice what is wrong.

use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::eval::Document;
use crate::judges;
use crate::matching::{matched, within};
use crate::play::{Moment, Play, text};
use crate::shown::{Allowed, Shown, pair};
use crate::subjects::{fixture, richer, rows};
use crate::survival::{Survival, Tally};
use common::node;
use common::trials::Trial;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("comparison", comparison),
        Trial::test("matching", matching),
        Trial::test("survival", survival),
        node::trial("validator", validator),
    ]
}

/// One way in which meshes may be wrong.
type Wrong = (&'static str, fn(&mut Vec<Shown>));

/// Fails for the first that `judge` does not notice.
fn notices(
    wrongs: &[Wrong],
    right: &[Shown],
    judge: impl Fn(&[Shown]) -> Result<(), Failed>,
) -> Result<(), Failed> {
    judge(right)?;
    for (what, change) in wrongs {
        let mut wrong = right.to_vec();
        change(&mut wrong);
        if judge(&wrong).is_ok() {
            return Err(format!("{what} was not noticed").into());
        }
    }
    Ok(())
}

const SHARE: f64 = 1e-4;

const WRONG_POINTS: &[Wrong] = &[
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
        s[1].normals.iter_mut().for_each(Vec::clear);
    }),
    ("another face", |s| s[0].corners.swap(0, 1)),
    ("a mesh less", |s| s.truncate(1)),
    ("a mesh more", |s| s.push(s[0].clone())),
    ("a point less", |s| {
        s[0].points.iter_mut().for_each(|p| p.truncate(20));
    }),
];

/// The comparison of meshes point by point.
fn comparison() -> Result<(), Failed> {
    let document = Document::open(&fixture("two_skins.gltf"));
    let play = Play::all(&document)[0];
    let moments: Vec<Moment> = play.moments();
    let want = play.shown(&moments);
    let allowed = Allowed::new((SHARE, SHARE), 1e-3, &moments);
    notices(WRONG_POINTS, &want, |got| {
        allowed.compare_all(pair(&want, got))
    })
}

/// A square and a triangle in a plane, at two moments, as a stage has them and as a glTF file does.
fn plate() -> (Shown, Shown) {
    let corners = [[0, 0], [2, 0], [2, 2], [0, 2], [3, 1]];
    let rest = corners.map(|[x, y]| DVec3::new(f64::from(x), f64::from(y), 0.0));
    let moved = rest.map(|p| p * 1.5 + DVec3::new(0.0, 0.1 * p.x, p.y));
    let prim = Shown {
        name: "/A/plate".to_owned(),
        points: vec![rest.to_vec(), moved.to_vec()],
        corners: vec![0, 1, 2, 3, 1, 4, 2],
        counts: vec![4, 3],
        ..Shown::default()
    };
    // The triangle has vertices of its own.
    let order = [0, 1, 2, 3, 1, 4, 2];
    let vertices = prim.points.iter().map(|p| order.map(|i| p[i]).to_vec());
    let node = Shown {
        name: "plate".to_owned(),
        points: vertices.collect(),
        corners: vec![0, 1, 2, 0, 2, 3, 4, 5, 6],
        ..Shown::default()
    };
    (prim, node)
}

const WRONG_VERTICES: &[Wrong] = &[
    ("a point off at one moment", |m| m[0].points[1][3].z += 1e-3),
    ("a point that is no number", |m| {
        m[0].points[1][0].x = f64::NAN;
    }),
    ("two points in each other's places at one moment", |m| {
        m[0].points[1].swap(0, 1);
    }),
    ("a triangle less", |m| m[0].corners.truncate(6)),
    ("a triangle twice", |m| m[0].corners.extend([0, 1, 2])),
    ("a triangle turned over", |m| m[0].corners.swap(6, 7)),
    ("a triangle across faces", |m| m[0].corners[6] = 0),
    ("a point less", |m| {
        m[0].points.iter_mut().for_each(|p| p[5] = p[4]);
    }),
];

/// Matching of points with vertices.
fn matching() -> Result<(), Failed> {
    let (prim, node) = plate();
    let prims = [prim];
    notices(WRONG_VERTICES, &[node], |nodes| {
        matched(&prims, nodes, |prim, node, found| {
            within(found.error, 1e-4)?;
            found.same_faces(prim, node)
        })
    })
}

/// Changes, one a line.
const CHANGES: &str = include_str!("changes.txt");

/// Everything of a file survives in the file itself, and what is changed does not.
fn survival() -> Result<(), Failed> {
    for (name, file) in richer() {
        let same = Survival::of(&file, &file)?;
        let lost = |t: &Tally| t.kept < t.all || t.all == 0;
        if let Some((what, tally)) = same.0.iter().find(|(_, t)| lost(t)) {
            return Err(format!("{name}, {what}: {tally:?}").into());
        }
    }
    let folder = tempfile::tempdir()?;
    for row in rows(CHANGES) {
        let [name, what, place, value] = row[..] else {
            return Err(format!("four columns: {row:?}").into());
        };
        let file = fixture(name);
        let changed = changed(&file, folder.path(), place, serde_json::from_str(value)?)?;
        let survival = Survival::of(&file, &changed)?;
        let tally = survival.0.get(what);
        if tally.is_none_or(|t| t.kept == t.all) {
            return Err(format!("not noticed: {row:?}: {tally:?}").into());
        }
    }
    Ok(())
}

/// The file with another value at a place.
fn changed(file: &Path, folder: &Path, place: &str, value: Value) -> Result<PathBuf, Failed> {
    let mut document = common::document::Document::read(file);
    document.set(place, value);
    let out = folder.join("changed.glb");
    std::fs::write(&out, document.glb())?;
    Ok(out)
}

/// The validator finds no error in the files that the tests make, and finds those that are made on purpose.
fn validator() -> Result<(), Failed> {
    let allowed = [
        "ACCESSOR_JOINTS_USED_ZERO_WEIGHT",
        "BUFFER_VIEW_TARGET_MISSING",
        "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE",
    ];
    for (name, file) in richer() {
        judges::valid_gltf(&file, &allowed).map_err(|e| format!("{name}: {}", text(&e)))?;
    }
    let folder = tempfile::tempdir()?;
    let file = fixture("materials.gltf");
    let place = "/meshes/0/primitives/0/indices";
    let broken = changed(&file, folder.path(), place, 999.into())?;
    match judges::valid_gltf(&broken, &[]) {
        Err(_) => Ok(()),
        Ok(()) => Err("a broken file was not noticed".into()),
    }
}
