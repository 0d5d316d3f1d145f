//! Meshes around a rig's joints, and a face with sculpted shapes.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};
use sinew::skel::{
    BlendShapeDef, InbetweenDef, InfluenceInterpolation, JointInfluences, RestNormals, Skin,
};
use sinew_verify::rng::Rng;

use super::rig::{Rig, direction};

/// How many influences points have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Influences {
    /// Every point as many.
    Each(usize),
    /// From 1 to so many, point by point; the rest of a point's places have weight 0, since elementSize is one number.
    UpTo(usize),
}

impl Influences {
    /// elementSize.
    pub fn places(self) -> usize {
        match self {
            Self::Each(n) | Self::UpTo(n) => n,
        }
    }
}

/// A mesh and the faces that USD wants of one.
pub struct Mesh {
    pub skin: Arc<Skin>,
    /// Corners of quads, four to a face; none where there are fewer points than a quad takes.
    pub corners: Vec<i32>,
    /// The skin's shapes as they are written.
    pub shapes: Vec<BlendShapeDef>,
}

/// geomBindTransform of every mesh with joints.
pub fn geom_bind() -> DMat4 {
    DMat4::from_translation(DVec3::new(0.5, 0.0, 0.0))
}

/// Neighbouring points share joints, as they do in a mesh that follows its skeleton: what a point may pick from.
const WINDOW: usize = 16;

/// A mesh of points in rings, from joint to joint.
pub fn body(rig: &Rig, points: usize, influences: Influences, normals: bool, seed: u64) -> Mesh {
    let rng = &mut Rng::new(seed);
    let (joints, places) = (rig.joint_count(), influences.places());
    let side = side(points);
    let (mut rest, mut outward) = (Vec::with_capacity(points), Vec::with_capacity(points));
    let mut indices = Vec::with_capacity(points * places);
    let mut weights = Vec::with_capacity(points * places);
    for point in 0..points {
        let main = point * joints / points;
        let angle = (point % side) as f32 / side as f32 * std::f32::consts::TAU;
        let normal = Vec3::new(angle.cos(), rng.range(-0.2, 0.2), angle.sin()).normalize();
        let radius = rng.range(0.08, 0.12);
        rest.push(rig.places[main] + normal * radius - geom_bind().w_axis.truncate().as_vec3());
        outward.push(normal);

        let count = match influences {
            Influences::Each(n) => n,
            Influences::UpTo(n) => 1 + rng.below(n),
        };
        let window = WINDOW.min(joints);
        let first = main.min(joints - window);
        let mut near: Vec<i32> = (first..first + window).map(|j| j as i32).collect();
        let mut own = Vec::with_capacity(count);
        for place in 0..count {
            let pick = place.min(window - 1);
            near.swap(pick, pick + rng.below(window - pick));
            indices.push(near[pick]);
            own.push(rng.range(0.1, 1.0));
        }
        let sum: f32 = own.iter().sum();
        weights.extend(own.iter().map(|w| w / sum));
        indices.resize((point + 1) * places, 0);
        weights.resize((point + 1) * places, 0.0);
    }
    let vertex = InfluenceInterpolation::Vertex;
    let influences =
        JointInfluences::new("/Mesh", vertex, places, &indices, weights, points, joints);
    let normals = normals.then(|| RestNormals::per_point(Arc::new(outward)));
    let skin = Skin::new(
        "/Mesh",
        Arc::new(rest),
        normals,
        Some(influences.expect("valid")),
        None,
        joints,
        Vec::new(),
    );
    Mesh {
        skin: Arc::new(skin.expect("valid")),
        corners: quads(points),
        shapes: Vec::new(),
    }
}

/// Which points a shape moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Patches {
    /// A disc of the surface, as sculpted shapes do.
    Local,
    /// Any, as a scan's or a solver's may.
    Scattered,
}

/// Every so many shapes one has in-betweens.
pub const INBETWEEN_EVERY: usize = 5;

/// A face: sparse shapes of 3 to 10 % of the points, three in-betweens on every fifth, no joints.
pub fn face(points: usize, shapes: usize, patches: Patches, seed: u64) -> Mesh {
    let rng = &mut Rng::new(seed);
    let side = side(points);
    let at =
        |point: usize| Vec3::new((point % side) as f32, (point / side) as f32, 0.0) / side as f32;
    let rest: Vec<Vec3> = (0..points)
        .map(|p| at(p) + Vec3::Z * rng.range(0.0, 0.1))
        .collect();
    let mut marks = vec![usize::MAX; points];
    let shapes: Vec<BlendShapeDef> = (0..shapes)
        .map(|number| {
            let count = ((points as f32 * rng.range(0.03, 0.1)) as usize).max(1);
            let moved = match patches {
                Patches::Local => disc(points, side, count, rng),
                Patches::Scattered => {
                    let mut moved = Vec::with_capacity(count);
                    while moved.len() < count {
                        let point = rng.below(points);
                        if std::mem::replace(&mut marks[point], number) != number {
                            moved.push(point as u32);
                        }
                    }
                    moved.sort_unstable();
                    moved
                }
            };
            let way = direction(rng);
            let offsets: Vec<Vec3> = moved
                .iter()
                .map(|_| (way + 0.3 * direction(rng)) * rng.range(0.01, 0.05))
                .collect();
            let between = |weight: f32| InbetweenDef {
                name: format!("at{}", (weight * 100.0) as u32),
                weight,
                // On the way but not on the straight line.
                offsets: offsets
                    .iter()
                    .map(|o| *o * weight * weight + Vec3::Z * 0.004)
                    .collect(),
                normal_offsets: None,
            };
            let inbetweens = match number % INBETWEEN_EVERY {
                0 => [0.25, 0.5, 0.75].map(between).to_vec(),
                _ => Vec::new(),
            };
            BlendShapeDef {
                name: format!("shape{number}"),
                point_indices: Some(moved),
                offsets,
                normal_offsets: None,
                inbetweens,
            }
        })
        .collect();
    let validated = shapes
        .iter()
        .map(|s| Some(Arc::new(s.validate("/Mesh", points).expect("valid"))));
    let skin = Skin::new(
        "/Mesh",
        Arc::new(rest),
        None,
        None,
        None,
        0,
        validated.collect(),
    );
    Mesh {
        skin: Arc::new(skin.expect("valid")),
        corners: quads(points),
        shapes,
    }
}

/// The `count` points nearest to some place of the surface, ascending.
fn disc(points: usize, side: usize, count: usize, rng: &mut Rng) -> Vec<u32> {
    let rows = points.div_ceil(side);
    let centre = [rng.below(side) as i64, rng.below(rows) as i64];
    // Of a disc over a corner a quarter is there, so four times its area is looked at.
    let reach = (count as f64 * 4.0 / std::f64::consts::PI).sqrt().ceil() as i64 + 1;
    let span = |c: i64, end: usize| (c - reach).max(0)..(c + reach + 1).min(end as i64);
    let mut near: Vec<(i64, u32)> = span(centre[1], rows)
        .flat_map(|y| span(centre[0], side).map(move |x| (x, y)))
        .map(|(x, y)| {
            (
                (x - centre[0]).pow(2) + (y - centre[1]).pow(2),
                (y * side as i64 + x) as u32,
            )
        })
        .filter(|(_, point)| (*point as usize) < points)
        .collect();
    near.sort_unstable();
    near.truncate(count);
    let mut moved: Vec<u32> = near.into_iter().map(|(_, point)| point).collect();
    moved.sort_unstable();
    moved
}

/// Points of a row of the surface.
fn side(points: usize) -> usize {
    points.isqrt().max(1)
}

fn quads(points: usize) -> Vec<i32> {
    let side = side(points);
    let whole = (0..points).filter(|p| p % side + 1 < side && p + side + 1 < points);
    let quad = |p: usize| [p, p + 1, p + side + 1, p + side].map(|p| p as i32);
    whole.flat_map(quad).collect()
}
