//! Extents of prims as the file has them (UsdGeomBoundable::ComputeExtent).

use glam::Vec3;
use openusd::usd;

use crate::usd::read::skinned_prims::extent_rule;
use crate::usd::read::values::{FromUsd, Token, read_sampled, read_uniform};
use sinew::sampled::{Interpolation, Sampled, Time};

type Corners = Sampled<Vec<Vec3>>;

/// A prim's extent: the authored one, else from points and widths, else from the size of an implicit
/// gprim or a light. `None` for what has neither, such as volumes and point instancers.
pub(crate) fn read_extent(
    prim: &usd::Prim,
    interpolation: Interpolation,
) -> Result<Option<Corners>, openusd::Error> {
    let attribute = prim.attribute("extent");
    if attribute.has_authored_value()? {
        let authored: Corners = read_sampled(&attribute, interpolation)?;
        if authored.has_value() && authored.values().all(|v| is_extent(v)) {
            return Ok(Some(authored));
        }
    }
    let read = Reader {
        prim,
        interpolation,
    };
    let computed = if prim.is_a("PointBased")? {
        read.of_points()?
    } else {
        let type_name = prim.type_name()?;
        match type_name.as_ref().map(|t| t.as_str()) {
            Some(name) => read.of_size(name)?,
            None => None,
        }
    };
    Ok(computed.filter(Sampled::has_value))
}

/// Two finite corners; an empty range counts, and is how USD writes one.
fn is_extent(corners: &[Vec3]) -> bool {
    corners.len() == 2 && corners.iter().all(|c| c.is_finite())
}

struct Reader<'a> {
    prim: &'a usd::Prim,
    interpolation: Interpolation,
}

impl Reader<'_> {
    fn of_points(&self) -> Result<Option<Corners>, openusd::Error> {
        let rule = extent_rule(self.prim)?;
        let points: Corners = self.sampled("points")?;
        let widths: Sampled<Vec<f32>> = self.sampled("widths")?;
        let times = points.times().chain(widths.times()).collect();
        Ok(Some(self.over(times, |time| {
            let widths = widths.at(time);
            let widths = widths.as_deref().map_or(&[][..], Vec::as_slice);
            rule.corners(&points.at(time)?, widths).map(Vec::from)
        })))
    }

    /// The extent functions of UsdGeom's implicit gprims and of UsdLux' lights.
    fn of_size(&self, type_name: &str) -> Result<Option<Corners>, openusd::Error> {
        let rows: &[(&str, f64)] = match type_name {
            "Sphere" => &[("radius", 1.0)],
            "Cube" => &[("size", 2.0)],
            "Cylinder" | "Cone" => &[("radius", 1.0), ("height", 2.0)],
            "Capsule" => &[("radius", 0.5), ("height", 1.0)],
            "Cylinder_1" => &[("radiusTop", 1.0), ("radiusBottom", 1.0), ("height", 2.0)],
            "Capsule_1" => &[("radiusTop", 0.5), ("radiusBottom", 0.5), ("height", 1.0)],
            "Plane" => &[("width", 2.0), ("length", 2.0)],
            "SphereLight" | "DiskLight" => &[("inputs:radius", 0.5)],
            "RectLight" => &[("inputs:width", 1.0), ("inputs:height", 1.0)],
            "CylinderLight" => &[("inputs:radius", 0.5), ("inputs:length", 1.0)],
            _ => return Ok(None),
        };
        let mut sizes = Vec::with_capacity(rows.len());
        for (name, fallback) in rows {
            sizes.push((self.number(name)?, *fallback));
        }
        let axis = self.axis()?;
        let times = sizes.iter().flat_map(|(s, _)| s.times()).collect();
        let corners = self.over(times, |time| {
            let size = |i: usize| sizes[i].0.at(time).map_or(sizes[i].1, |v| *v);
            let half = |r: f64, up: f64| centred([r, r, up]);
            let corners = match type_name {
                "Sphere" | "SphereLight" => centred([size(0); 3]),
                "Cube" => centred([size(0) / 2.0; 3]),
                "Cylinder" | "Cone" => half(size(0), size(1) / 2.0),
                "Capsule" => half(size(0), size(1) / 2.0 + size(0)),
                "Cylinder_1" => half(size(0).max(size(1)), size(2) / 2.0),
                "Capsule_1" => capsule(size(0), size(1), size(2)),
                "Plane" => centred([size(0) / 2.0, size(1) / 2.0, 0.0]),
                "RectLight" => centred([size(0) / 2.0, size(1) / 2.0, 0.0]),
                "DiskLight" => centred([size(0), size(0), 0.0]),
                // CylinderLight, which has no axis attribute and lies along x.
                _ => half(size(0), size(1) / 2.0),
            };
            let corners = corners.map(|c| match (axis, type_name) {
                (_, "CylinderLight") => [c[2], c[0], c[1]],
                // A plane's width lies along z where it faces x, and along x where it faces y.
                (Axis::X, "Plane") => [c[2], c[1], c[0]],
                (Axis::Y, "Plane") => [c[0], c[2], c[1]],
                (Axis::X, _) => [c[2], c[0], c[1]],
                (Axis::Y, _) => [c[1], c[2], c[0]],
                (Axis::Z, _) => c,
            });
            let corners = corners.map(|c| Vec3::from_array(c.map(|v| v as f32)));
            is_extent(&corners).then(|| corners.to_vec())
        });
        Ok(Some(corners))
    }

    fn axis(&self) -> Result<Axis, openusd::Error> {
        Ok(match read_uniform::<Token>(&self.prim.attribute("axis"))? {
            Some(Token(t)) if t == "X" => Axis::X,
            Some(Token(t)) if t == "Y" => Axis::Y,
            _ => Axis::Z,
        })
    }

    /// A double, or a float as lights have them.
    fn number(&self, name: &str) -> Result<Sampled<f64>, openusd::Error> {
        let doubles: Sampled<f64> = self.sampled(name)?;
        if doubles.has_value() {
            return Ok(doubles);
        }
        let floats: Sampled<Vec<f32>> = self.sampled(name)?;
        Ok(floats.map(|v| v.first().map_or(0.0, |v| f64::from(*v))))
    }

    fn sampled<T: FromUsd>(&self, name: &str) -> Result<Sampled<T>, openusd::Error> {
        read_sampled(&self.prim.attribute(name), self.interpolation)
    }

    fn over(&self, times: Vec<f64>, corners: impl Fn(Time) -> Option<Vec<Vec3>>) -> Corners {
        let samples = times.iter().map(|t| (*t, corners(Time::At(*t)))).collect();
        Sampled::new(corners(Time::Default), samples, self.interpolation)
    }
}

#[derive(Clone, Copy)]
enum Axis {
    X,
    Y,
    Z,
}

/// Corners along x, y and the gprim's own axis.
fn centred(half: [f64; 3]) -> [[f64; 3]; 2] {
    [half.map(|v| -v), half]
}

/// The two spheres that touch the cone between the radii, as Capsule_1 has its caps.
fn capsule(top: f64, bottom: f64, height: f64) -> [[f64; 3]; 2] {
    let slope = match height > 0.0 {
        true => (top - bottom) / height,
        false => 0.0,
    };
    let stretch = (1.0 + slope * slope).sqrt();
    let r = top.max(bottom) * stretch;
    let low = -height / 2.0 + bottom * slope - bottom * stretch;
    let high = height / 2.0 + top * slope + top * stretch;
    [[-r, -r, low], [r, r, high]]
}
