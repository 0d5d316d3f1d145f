//! What the fixtures are made of: skinned tubes, chains of joints, boxes and curves.

use glam::{DQuat, DVec3};
use serde_json::{Value, json};

use common::gltf_maker::{GltfMaker, Shape};

/// Corners of each of a tube's rings.
const SIDES: usize = 6;

/// A tube along y from 0 to `length`, a joint at every unit of it: each point follows the two nearest joints. It is
/// thicker on one side, so that turns show.
pub fn tube(length: usize) -> Shape {
    let rings = 2 * length + 1;
    let mut shape = Shape::default();
    for ring in 0..rings {
        let y = ring as f32 / 2.0;
        let lower = (y as usize).min(length - 1);
        let share = if lower + 1 < length {
            y - lower as f32
        } else {
            0.0
        };
        for side in 0..SIDES {
            let (sine, cosine) = (std::f32::consts::TAU * side as f32 / SIDES as f32).sin_cos();
            let radius = if side == 0 { 0.5 } else { 0.3 };
            shape.points.push([radius * cosine, y, radius * sine]);
            shape.normals.push([cosine, 0.0, sine]);
            shape
                .joints
                .push([lower as u16, (lower + 1).min(length - 1) as u16, 0, 0]);
            shape.weights.push([1.0 - share, share, 0.0, 0.0]);
        }
    }
    for ring in 0..rings - 1 {
        for side in 0..SIDES {
            let corner =
                |up: usize, along: usize| ((ring + up) * SIDES + (side + along) % SIDES) as u16;
            shape
                .triangles
                .extend([corner(0, 0), corner(1, 0), corner(1, 1)]);
            shape
                .triangles
                .extend([corner(0, 0), corner(1, 1), corner(0, 1)]);
        }
    }
    shape
}

/// A tube without influences.
pub fn plain_tube(length: usize) -> Shape {
    Shape {
        joints: Vec::new(),
        weights: Vec::new(),
        ..tube(length)
    }
}

/// Adds morph targets to a shape: one that swells it, one that lifts every other point.
pub fn with_targets(mut shape: Shape) -> Shape {
    let swell = shape.normals.iter().map(|n| n.map(|c| 0.4 * c)).collect();
    let lift = (0..shape.points.len())
        .map(|i| [0.0, 0.3 * (i % 2) as f32, 0.1])
        .collect();
    shape.targets = vec![("swell".to_owned(), swell), ("lift".to_owned(), lift)];
    shape
}

/// A box without shared corners, with flat normals and no indices.
pub fn crate_box() -> Shape {
    let mut shape = Shape::default();
    for axis in 0..3 {
        for side in [-0.2f32, 0.3] {
            let corner = |a: f32, b: f32| {
                let mut point = [0.0; 3];
                point[axis] = side;
                point[(axis + 1) % 3] = a;
                point[(axis + 2) % 3] = b;
                point
            };
            let square = [
                corner(-0.2, -0.2),
                corner(0.3, -0.2),
                corner(0.3, 0.3),
                corner(-0.2, 0.3),
            ];
            let order = if side > 0.0 {
                [0, 1, 2, 0, 2, 3]
            } else {
                [0, 2, 1, 0, 3, 2]
            };
            shape.points.extend(order.map(|i| square[i]));
            let mut normal = [0.0; 3];
            normal[axis] = side.signum();
            shape.normals.extend([normal; 6]);
        }
    }
    shape
}

/// Joints one above the other, a unit apart, the first below `parent`.
pub fn chain(gltf: &mut GltfMaker, parent: Option<usize>, names: &[&str]) -> Vec<usize> {
    let mut joints: Vec<usize> = Vec::new();
    for name in names {
        let node = match joints.last() {
            None => json!({ "name": name }),
            Some(_) => json!({ "name": name, "translation": [0, 1, 0] }),
        };
        joints.push(gltf.node(joints.last().copied().or(parent), node));
    }
    joints
}

/// A tube on a chain of three joints, and the joints.
pub fn character(gltf: &mut GltfMaker) -> Vec<usize> {
    let joints = chain(gltf, None, &["hips", "spine", "head"]);
    let skin = gltf.skin_at_rest(&joints);
    let mesh = gltf.mesh("body", &[tube(3)]);
    gltf.node(None, json!({ "name": "body", "mesh": mesh, "skin": skin }));
    joints
}

pub fn turn(axis: DVec3, degrees: f64) -> [f32; 4] {
    let turn = DQuat::from_axis_angle(axis.normalize(), degrees.to_radians());
    turn.to_array().map(|c| c as f32)
}

/// Turns at half-second steps about an axis that is none of the coordinate axes.
pub fn turns(degrees: &[f64]) -> (Vec<f32>, Vec<f32>) {
    let times = (0..degrees.len()).map(|i| i as f32 / 2.0).collect();
    let axis = DVec3::new(0.3, 0.2, 1.0);
    (times, degrees.iter().flat_map(|d| turn(axis, *d)).collect())
}

/// A rotation channel by [`turns`].
pub fn turning(gltf: &mut GltfMaker, clip: usize, node: usize, degrees: &[f64]) {
    let (times, values) = turns(degrees);
    let curve = gltf.curve("LINEAR", &times, "VEC4", &values);
    gltf.channel(clip, curve, target(node, "rotation"));
}

pub fn target(node: usize, path: &str) -> Value {
    json!({ "node": node, "path": path })
}
