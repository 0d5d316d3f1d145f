//! The shapes of UsdGeom that have sizes in place of points (Sphere, Cube, Cylinder, Cone, Capsule
//! and Plane), as the arrays of a mesh. Normals are those of the shape itself, one per point.

use glam::{DVec2, DVec3, Vec3};
use sinew_stage::Prim;

use super::values::{Number, Token, read_sampled, read_uniform};
use sinew::sampled::{Interpolation, Sampled, Time};

/// Number of sides of what is round. A multiple of 4, so that points touch the box of the shape.
const SIDES: usize = 24;

/// Number of bands between the rim of a half sphere and its pole.
const BANDS: usize = 6;

/// The arrays of a shape. Its faces do not change over time.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub counts: Vec<i32>,
    pub indices: Vec<i32>,
    pub points: Sampled<Vec<Vec3>>,
    /// Unit normals, one per point.
    pub normals: Sampled<Vec<Vec3>>,
}

/// The attributes with the sizes of a type; empty if prims of the type are no shapes.
fn sizes(type_name: &str) -> &'static [&'static str] {
    match type_name {
        "Sphere" => &["radius"],
        "Cube" => &["size"],
        "Cylinder" | "Cone" | "Capsule" => &["radius", "height"],
        "Cylinder_1" | "Capsule_1" => &["radiusBottom", "radiusTop", "height"],
        "Plane" => &["width", "length"],
        _ => &[],
    }
}

/// Whether a prim is one of these shapes.
pub(crate) fn is_shape(prim: &Prim<'_>) -> bool {
    !sizes(prim.type_name()).is_empty()
}

/// The arrays of a prim; `None` if it is none of these shapes.
pub(crate) fn read_shape(
    prim: &Prim<'_>,
    interpolation: Interpolation,
) -> Result<Option<Shape>, sinew_stage::Error> {
    if !is_shape(prim) {
        return Ok(None);
    }
    let type_name = prim.type_name();
    let mut numbers: Vec<Sampled<Number>> = Vec::new();
    for name in sizes(type_name) {
        numbers.push(read_sampled(&prim.attribute(name), interpolation)?);
    }
    let axis: Option<Token> = read_uniform(&prim.attribute("axis"))?;
    let axis = axis.map_or_else(|| "Z".to_owned(), |token| token.0);
    let at = |time: Time| {
        let sizes = numbers.iter().map(|n| n.at(time).map_or(f64::NAN, |n| n.0));
        Arrays::new(type_name, &axis, &sizes.collect::<Vec<_>>())
    };
    let mut times: Vec<f64> = numbers.iter().flat_map(Sampled::times).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let still = at(Time::Default);
    let samples: Vec<(f64, Arrays)> = times.into_iter().map(|t| (t, at(Time::At(t)))).collect();
    let over = |values: fn(&Arrays) -> &Vec<Vec3>| {
        let samples = samples.iter().map(|(t, a)| (*t, Some(values(a).clone())));
        Sampled::new(
            Some(values(&still).clone()),
            samples.collect(),
            interpolation,
        )
    };
    Ok(Some(Shape {
        points: over(|a| &a.points),
        normals: over(|a| &a.normals),
        counts: still.counts,
        indices: still.indices,
    }))
}

/// A circle around the z axis, with one point for each side.
#[derive(Clone, Copy)]
struct Ring {
    /// Radius and height.
    place: DVec2,
    /// The normal, along the radius and along the axis.
    normal: DVec2,
    /// Whether the radius is always 0, so that faces end here in one corner.
    is_pole: bool,
}

/// A shape at one time.
#[derive(Default)]
struct Arrays {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    counts: Vec<i32>,
    indices: Vec<i32>,
}

impl Arrays {
    fn new(type_name: &str, axis: &str, sizes: &[f64]) -> Self {
        let mut out = Self::default();
        match (type_name, sizes) {
            ("Sphere", &[radius]) => {
                out.revolve(&arc(0.0, radius, [-90.0, 90.0], 2 * BANDS));
            }
            ("Cube", &[size]) => out.cube(size / 2.0),
            ("Cone", &[radius, height]) => out.cylinder([radius, 0.0], height, true),
            ("Cylinder", &[radius, height]) => out.cylinder([radius; 2], height, false),
            ("Cylinder_1", &[bottom, top, height]) => {
                out.cylinder([bottom, top], height, false);
            }
            ("Capsule", &[radius, height]) => out.capsule([radius; 2], height),
            ("Capsule_1", &[bottom, top, height]) => out.capsule([bottom, top], height),
            ("Plane", &[width, length]) => {
                let half = DVec3::new(width, length, 0.0) / 2.0;
                out.quad(DVec3::ZERO, half * DVec3::X, half * DVec3::Y, DVec3::Z);
            }
            _ => {}
        }
        out.turn(type_name, axis);
        out
    }

    /// Turns what stands along z to its axis.
    fn turn(&mut self, type_name: &str, axis: &str) {
        // A plane's width lies along z where it faces x, and its length where it faces y.
        let is_swapped = type_name == "Plane";
        for v in self.points.iter_mut().chain(&mut self.normals) {
            let [x, y, z] = v.to_array();
            *v = match (axis, is_swapped) {
                ("X", true) => Vec3::new(z, y, x),
                ("Y", true) => Vec3::new(x, z, y),
                ("X", false) => Vec3::new(z, x, y),
                ("Y", false) => Vec3::new(y, z, x),
                _ => *v,
            };
        }
        if is_swapped && matches!(axis, "X" | "Y") {
            self.indices.reverse();
        }
    }

    /// A square with four points of its own, from its middle and half its edges.
    fn quad(&mut self, middle: DVec3, u: DVec3, v: DVec3, normal: DVec3) {
        let first = self.points.len() as i32;
        for corner in [-u - v, u - v, u + v, v - u] {
            self.points.push((middle + corner).as_vec3());
            self.normals.push(normal.as_vec3());
        }
        self.counts.push(4);
        self.indices.extend(first..first + 4);
    }

    fn cube(&mut self, half: f64) {
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let normal = DVec3::AXES[axis] * side;
                let u = DVec3::AXES[(axis + 1) % 3] * half;
                let v = DVec3::AXES[(axis + 2) % 3] * half * side;
                self.quad(normal * half, u, v, normal);
            }
        }
    }

    /// The side between two radii, and flat ends; a cone has none at its tip.
    fn cylinder(&mut self, [bottom, top]: [f64; 2], height: f64, is_cone: bool) {
        let ring = |radius, height, normal| Ring {
            place: DVec2::new(radius, height),
            normal,
            is_pole: false,
        };
        let pole = |height, normal| Ring {
            is_pole: true,
            ..ring(0.0, height, normal)
        };
        let (low, high) = (-height / 2.0, height / 2.0);
        let outward = DVec2::new(height, bottom - top).normalize_or(DVec2::X);
        let down = DVec2::NEG_Y;
        self.revolve(&[pole(low, down), ring(bottom, low, down)]);
        let rim = ring(bottom, low, outward);
        if is_cone {
            self.revolve(&[rim, pole(high, outward)]);
        } else {
            self.revolve(&[rim, ring(top, high, outward)]);
            self.revolve(&[ring(top, high, DVec2::Y), pole(high, DVec2::Y)]);
        }
    }

    /// The side between two radii, and caps that go on from it without an edge.
    fn capsule(&mut self, [bottom, top]: [f64; 2], height: f64) {
        let slope = match height > 0.0 {
            true => (top - bottom) / height,
            false => 0.0,
        };
        let stretch = (1.0 + slope * slope).sqrt();
        let rim = (-slope).atan().to_degrees();
        let cap = |radius: f64, end: f64, angles: [f64; 2]| {
            arc(end + radius * slope, radius * stretch, angles, BANDS)
        };
        let mut rings = cap(bottom, -height / 2.0, [-90.0, rim]);
        rings.extend(cap(top, height / 2.0, [rim, 90.0]));
        self.revolve(&rings);
    }

    /// Bands of faces between rings, from the lowest to the highest.
    fn revolve(&mut self, rings: &[Ring]) {
        let first = self.points.len();
        for ring in rings {
            for side in 0..SIDES {
                let around = DVec2::from_angle(std::f64::consts::TAU * side as f64 / SIDES as f64);
                let lift = |v: DVec2| (around * v.x).extend(v.y).as_vec3();
                self.points.push(lift(ring.place));
                self.normals.push(lift(ring.normal));
            }
        }
        for (band, pair) in rings.windows(2).enumerate() {
            for side in 0..SIDES {
                let at = |ring: usize, side: usize| {
                    (first + (band + ring) * SIDES + side % SIDES) as i32
                };
                let (low, high) = (at(0, side), at(1, side));
                let (next_low, next_high) = (at(0, side + 1), at(1, side + 1));
                let face: &[i32] = match (pair[0].is_pole, pair[1].is_pole) {
                    (true, _) => &[low, next_high, high],
                    (_, true) => &[low, next_low, high],
                    _ => &[low, next_low, next_high, high],
                };
                self.counts.push(face.len() as i32);
                self.indices.extend(face);
            }
        }
    }
}

/// Rings of a sphere between two angles above its equator, in degrees: one more than bands.
fn arc(center: f64, radius: f64, [from, to]: [f64; 2], bands: usize) -> Vec<Ring> {
    let ring = |i: usize| {
        let angle = from + (to - from) * i as f64 / bands as f64;
        let normal = DVec2::from_angle(angle.to_radians());
        Ring {
            place: normal * radius + DVec2::Y * center,
            normal,
            is_pole: angle.abs() == 90.0,
        }
    };
    (0..=bands).map(ring).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That boxes are those of usd-core is tested with what is drawn.
    #[test]
    fn faces_and_normals_look_outward() {
        let shapes: [(&str, &[f64]); 8] = [
            ("Sphere", &[1.5]),
            ("Cube", &[3.0]),
            ("Cylinder", &[1.0, 3.0]),
            ("Cylinder_1", &[1.0, 0.5, 3.0]),
            ("Cone", &[1.0, 3.0]),
            ("Capsule", &[0.5, 2.0]),
            ("Capsule_1", &[0.25, 0.75, 2.0]),
            ("Plane", &[2.0, 3.0]),
        ];
        for (type_name, sizes) in shapes {
            for (axis, up) in [("X", Vec3::X), ("Y", Vec3::Y), ("Z", Vec3::Z)] {
                let shape = Arrays::new(type_name, axis, sizes);
                let mut corners = shape.indices.iter().map(|i| *i as usize);
                for count in &shape.counts {
                    let face: Vec<usize> = corners.by_ref().take(*count as usize).collect();
                    let [a, b, c] = [face[0], face[1], face[2]].map(|i| shape.points[i]);
                    let normal = (b - a).cross(c - a).normalize();
                    let outward = match type_name {
                        "Plane" => up,
                        _ => a + b + c,
                    };
                    assert!(normal.dot(outward) > 0.0, "{type_name} {axis}: {a} {b} {c}");
                    for corner in face {
                        let of_point = shape.normals[corner];
                        assert!(of_point.is_normalized(), "{type_name} {axis}: {of_point}");
                        assert!(normal.dot(of_point) > 0.9, "{type_name} {axis}: {of_point}");
                    }
                }
                assert_eq!(corners.next(), None);
            }
        }
    }
}
