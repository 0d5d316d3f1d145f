//! A reader of OBJ files, as plain as the format.

use std::path::Path;

use glam::{Vec2, Vec3};

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
    /// Signed volume of the faces as fans, above 0 where they look outward.
    pub fn volume(&self) -> f64 {
        let at = |c: &Corner| self.points[c.point].as_dvec3();
        let fan = |f: &Vec<Corner>| -> f64 {
            let sides = f[1..].windows(2);
            sides
                .map(|s| at(&f[0]).dot(at(&s[0]).cross(at(&s[1]))))
                .sum()
        };
        self.faces.iter().map(|(_, f)| fan(f)).sum::<f64>() / 6.0
    }
}

pub fn read(file: &Path) -> Vec<Object> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut out: Vec<Object> = Vec::new();
    let (mut points, mut uvs, mut normals) = (0, 0, 0);
    let mut material = String::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let keyword = words.next().unwrap_or("#");
        if keyword == "o" {
            if let Some(last) = out.last() {
                points += last.points.len();
                uvs += last.uvs.len();
                normals += last.normals.len();
            }
            material.clear();
            out.push(Object {
                name: words.next().unwrap().to_owned(),
                ..Object::default()
            });
            continue;
        }
        if keyword == "#" {
            continue;
        }
        let object = out.last_mut().expect("an object before anything in it");
        match keyword {
            "f" => {
                let corner = |word: &str| {
                    let index = |part: Option<&str>, before: usize| {
                        let number = part.filter(|p| !p.is_empty())?;
                        Some(number.parse::<usize>().unwrap() - 1 - before)
                    };
                    let mut parts = word.split('/');
                    Corner {
                        point: index(parts.next(), points).unwrap(),
                        uv: index(parts.next(), uvs),
                        normal: index(parts.next(), normals),
                    }
                };
                object
                    .faces
                    .push((material.clone(), words.map(corner).collect()));
            }
            "usemtl" => material = words.next().unwrap().to_owned(),
            _ => {
                let numbers: Vec<f32> = words.map(|w| w.parse().unwrap()).collect();
                match keyword {
                    "v" => object.points.push(Vec3::from_slice(&numbers)),
                    "vn" => object.normals.push(Vec3::from_slice(&numbers)),
                    "vt" => object.uvs.push(Vec2::from_slice(&numbers)),
                    other => panic!("{other}: not written"),
                }
            }
        }
    }
    out
}
