//! Readers of OBJ files and point caches, as plain as the formats, and the faces of meshes in USD.

use std::path::Path;

use glam::{Vec2, Vec3};
use sinew_layer::Value;
use sinew_stage::Stage;

use common::usd;

/// One corner of a face: point, uv and normal, counted from 0 within its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    pub point: usize,
    pub uv: Option<usize>,
    pub normal: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Object {
    pub name: String,
    pub points: Vec<Vec3>,
    pub uvs: Vec<Vec2>,
    pub normals: Vec<Vec3>,
    /// With the material in use.
    pub faces: Vec<(String, Vec<Corner>)>,
}

impl Object {
    /// The points of each face.
    pub fn point_faces(&self) -> Vec<Vec<usize>> {
        let of_face = |(_, face): &(String, Vec<Corner>)| face.iter().map(|c| c.point).collect();
        self.faces.iter().map(of_face).collect()
    }
}

/// Signed volume of faces as fans, above 0 where they look outward.
pub fn volume(points: &[Vec3], faces: &[Vec<usize>]) -> f64 {
    let at = |i: usize| points[i].as_dvec3();
    let fan = |f: &Vec<usize>| -> f64 {
        let sides = f[1..].windows(2);
        sides.map(|s| at(f[0]).dot(at(s[0]).cross(at(s[1])))).sum()
    };
    faces.iter().map(fan).sum::<f64>() / 6.0
}

/// The objects of an OBJ file.
pub fn obj(file: &Path) -> Vec<Object> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut out: Vec<Object> = Vec::new();
    // Elements of the objects before, which indices go on from.
    let mut before = [0; 3];
    let mut material = String::new();
    for line in text.lines() {
        let (keyword, rest) = line.split_once(' ').unwrap_or(("#", ""));
        if keyword == "o" {
            if let Some(last) = out.last() {
                let counts = [last.points.len(), last.uvs.len(), last.normals.len()];
                before = std::array::from_fn(|i| before[i] + counts[i]);
            }
            material.clear();
            let name = rest.to_owned();
            out.push(Object {
                name,
                ..Object::default()
            });
            continue;
        }
        if keyword == "#" {
            continue;
        }
        let object = out.last_mut().expect("an object before anything in it");
        let words = rest.split_ascii_whitespace();
        if keyword == "f" {
            let corner = |word: &str| {
                let mut parts = word.split('/').map(|p| p.parse::<usize>().ok());
                let [point, uv, normal] =
                    before.map(|b| parts.next().flatten().map(|number| number - 1 - b));
                Corner {
                    point: point.unwrap(),
                    uv,
                    normal,
                }
            };
            let face = words.map(corner).collect();
            object.faces.push((material.clone(), face));
        } else if keyword == "usemtl" {
            rest.clone_into(&mut material);
        } else {
            let numbers: Vec<f32> = words.map(|w| w.parse().unwrap()).collect();
            match keyword {
                "v" => object.points.push(Vec3::from_slice(&numbers)),
                "vn" => object.normals.push(Vec3::from_slice(&numbers)),
                "vt" => object.uvs.push(Vec2::from_slice(&numbers)),
                other => panic!("{other}: not written"),
            }
        }
    }
    out
}

/// The object of a prim.
pub fn object<'a>(objects: &'a [Object], prim: &str) -> &'a Object {
    let name = prim.rsplit('/').next().unwrap();
    let object = objects.iter().find(|o| o.name == name);
    object.unwrap_or_else(|| panic!("no {name}"))
}

pub struct Cache {
    pub first: f32,
    pub step: f32,
    pub samples: Vec<Vec<Vec3>>,
}

/// A point cache.
pub fn pc2(file: &Path) -> Cache {
    let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    let word = |at: usize| -> [u8; 4] { bytes[at..at + 4].try_into().unwrap() };
    assert_eq!(i32::from_le_bytes(word(12)), 1);
    let points = i32::from_le_bytes(word(16)) as usize;
    let samples = i32::from_le_bytes(word(28)) as usize;
    assert_eq!(bytes.len(), 32 + points * samples * 12);
    let number = |i: usize| f32::from_le_bytes(word(32 + i * 4));
    let point = |p: usize| Vec3::new(number(p * 3), number(p * 3 + 1), number(p * 3 + 2));
    let sample = |s: usize| (s * points..(s + 1) * points).map(point).collect();
    Cache {
        first: f32::from_le_bytes(word(20)),
        step: f32::from_le_bytes(word(24)),
        samples: (0..samples).map(sample).collect(),
    }
}

fn whole(stage: &Stage, prim: &str, name: &str) -> Vec<usize> {
    match usd::value(stage, prim, name, None) {
        Some(Value::IntArray(v)) => v.iter().map(|i| *i as usize).collect(),
        other => panic!("{prim}.{name}: {other:?}"),
    }
}

/// A mesh's faces as authored, turned where they are left-handed.
pub fn authored_faces(stage: &Stage, prim: &str, turned: bool) -> Vec<Vec<usize>> {
    let indices = whole(stage, prim, "faceVertexIndices");
    let orientation = usd::value(stage, prim, "orientation", None);
    let left = orientation == Some(Value::token("leftHanded"));
    let mut rest = &indices[..];
    let mut out = Vec::new();
    for count in whole(stage, prim, "faceVertexCounts") {
        let (face, after) = rest.split_at(count);
        let mut face = face.to_vec();
        if left != turned {
            face.reverse();
        }
        out.push(face);
        rest = after;
    }
    out
}

/// Faces in no order, each from its least point on.
pub fn sorted(mut faces: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    for face in &mut faces {
        let least = (0..face.len()).min_by_key(|i| face[*i]).unwrap_or(0);
        face.rotate_left(least);
    }
    faces.sort();
    faces
}
