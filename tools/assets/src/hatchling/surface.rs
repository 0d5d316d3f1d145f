//! The body as an implicit surface: blobs that melt together, with a mouth cut into them, and the
//! mesh of that surface.

use glam::{UVec3, Vec3, uvec3, vec3};

use super::mesh::Quad;
use super::rig::{self, EAR_FOLD, ELBOW, HIP, KNEE, MIDDLE, Rig, SIDES, Side, TAIL, WRIST};
use super::{CORAL, CREAM, DEEP, PINK, TEAL};

pub struct Surface {
    pub blobs: Vec<Blob>,
}

impl Surface {
    /// The approximate distance of `p` from the body; negative inside.
    pub fn distance(&self, p: Vec3) -> f32 {
        // A smooth maximum leaves round lips.
        -smooth_min(-self.uncut(p), cavity(p), 0.055)
    }

    /// The distance as if the mouth had not been cut.
    pub fn uncut(&self, p: Vec3) -> f32 {
        let melt = |d, blob: &Blob| smooth_min(d, blob.distance(p), blob.melt);
        self.blobs.iter().fold(f32::MAX, melt)
    }

    /// The unit vector that points away from the body, from differences over `step`.
    pub fn gradient(&self, p: Vec3, step: f32) -> Vec3 {
        let d = |axis: Vec3| self.distance(p + axis * step) - self.distance(p - axis * step);
        vec3(d(Vec3::X), d(Vec3::Y), d(Vec3::Z)).normalize_or(Vec3::Y)
    }
}

/// The height of the line of the mouth, whose corners turn up.
pub fn mouth_line(p: Vec3) -> f32 {
    1.445 + 1.0 * p.x * p.x - 0.05 * (p.z - 0.4)
}

/// The distance from the inside of the mouth, which opens to the front.
fn cavity(p: Vec3) -> f32 {
    let wide = 0.012 + 0.065 * ((p.z - 0.2) / 0.4).clamp(0.0, 1.0);
    let gap = (p.y - mouth_line(p)).abs() - wide;
    let ends = (0.26 - p.z).max(p.x.abs() - 0.25);
    // Round corners, since a cell of the net is hardly smaller than they are.
    -smooth_min(-gap, -ends, 0.09)
}

/// The polynomial smooth minimum. It differs from the minimum where `a` and `b` differ by less than
/// `k`.
fn smooth_min(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - 0.25 * h * h * k
}

/// A cone with round ends at `a` and `b`, stretched by `scale` about `a`.
pub struct Blob {
    a: Vec3,
    b: Vec3,
    ra: f32,
    rb: f32,
    scale: Vec3,
    pub joint: usize,
    pub color: Vec3,
    /// The width over which it melts into its neighbours.
    pub melt: f32,
}

impl Blob {
    pub fn distance(&self, p: Vec3) -> f32 {
        let q = (p - self.a) / self.scale;
        let d = (self.b - self.a) / self.scale;
        let t = if d.length_squared() > 0.0 {
            (q.dot(d) / d.length_squared()).clamp(0.0, 1.0)
        } else {
            0.0
        };
        ((q - d * t).length() - (self.ra + (self.rb - self.ra) * t)) * self.scale.min_element()
    }
}

/// Joint, centre, radii, colour, melt.
type Ball<'a> = (&'a str, [f32; 3], [f32; 3], Vec3, f32);

/// A place and the radius there.
type Knot = (Vec3, f32);

struct Flesh<'a> {
    rig: &'a Rig,
    blobs: Vec<Blob>,
}

impl Flesh<'_> {
    fn balls(&mut self, side: Side, balls: &[Ball]) {
        for &(joint, at, radii, color, melt) in balls {
            let at = side.place(at.into());
            let radii = Vec3::from(radii);
            let r = radii.max_element();
            let joint = side.name(joint);
            self.cone(&joint, [(at, r), (at, r)], radii / r, color, melt);
        }
    }

    fn cone(&mut self, joint: &str, ends: [Knot; 2], scale: Vec3, color: Vec3, melt: f32) {
        let [(a, ra), (b, rb)] = ends;
        self.blobs.push(Blob {
            a,
            b,
            ra,
            rb,
            scale,
            joint: self.rig.find(joint),
            color,
            melt,
        });
    }

    /// Cones from knot to knot, each with its own joint, colour and melt.
    fn chain(&mut self, side: Side, scale: Vec3, knots: &[Knot], cones: &[(&str, Vec3, f32)]) {
        for (ends, &(joint, color, melt)) in knots.windows(2).zip(cones) {
            let ends = [ends[0], ends[1]].map(|(at, r)| (side.place(at), r));
            self.cone(&side.name(joint), ends, scale, color, melt);
        }
    }
}

/// Everything that the body is modelled of.
pub fn blobs(rig: &Rig) -> Vec<Blob> {
    let mut flesh = Flesh {
        rig,
        blobs: Vec::new(),
    };
    trunk(&mut flesh);
    for side in SIDES {
        face_and_paws(&mut flesh, side);
    }
    for side in SIDES {
        limbs(&mut flesh, side);
    }
    tail(&mut flesh);
    spikes(&mut flesh);
    flesh.blobs
}

fn trunk(flesh: &mut Flesh) {
    flesh.balls(
        MIDDLE,
        &[
            ("hips", [0.0, 0.58, 0.0], [0.37, 0.3, 0.34], TEAL, 0.12),
            ("spine", [0.0, 0.76, 0.03], [0.38, 0.32, 0.36], TEAL, 0.12),
            ("chest", [0.0, 1.0, 0.01], [0.29, 0.24, 0.27], TEAL, 0.12),
            ("neck", [0.0, 1.22, 0.02], [0.2, 0.18, 0.2], TEAL, 0.1),
            ("head", [0.0, 1.66, 0.04], [0.45, 0.38, 0.38], TEAL, 0.1),
            ("head", [0.0, 1.535, 0.38], [0.29, 0.17, 0.26], TEAL, 0.1),
            ("jaw", [0.0, 1.41, 0.33], [0.25, 0.11, 0.24], CREAM, 0.07),
        ],
    );
}

fn face_and_paws(flesh: &mut Flesh, side: Side) {
    let nostril = [0.09, 1.64, 0.57];
    let cheek = [0.3, 1.53, 0.25];
    flesh.balls(
        side,
        &[
            ("head", nostril, [0.06, 0.05, 0.05], DEEP, 0.06),
            ("head", cheek, [0.14, 0.12, 0.13], PINK, 0.07),
            ("foot*", [0.29, 0.1, 0.14], [0.15, 0.1, 0.2], TEAL, 0.06),
        ],
    );
    // The middle one of three toes or fingers is the longest.
    for k in [-1.0, 0.0, 1.0] {
        let toe = [0.29 + 0.09 * k, 0.065, 0.32 - 0.02 * (k * k)];
        flesh.balls(side, &[("foot*", toe, [0.055, 0.055, 0.065], CREAM, 0.03)]);
    }
    let hand = [0.73, 0.83, 0.25];
    flesh.balls(side, &[("hand*", hand, [0.11, 0.1, 0.11], TEAL, 0.05)]);
    for k in [-1.0, 0.0, 1.0] {
        let finger = [0.81, 0.83 + 0.078 * k, 0.31 - 0.02 * (k * k)];
        flesh.balls(side, &[("hand*", finger, [0.055; 3], CREAM, 0.03)]);
    }
}

fn limbs(flesh: &mut Flesh, side: Side) {
    flesh.chain(
        side,
        Vec3::ONE,
        &[
            (vec3(0.26, 1.03, 0.05), 0.12),
            (ELBOW, 0.095),
            (WRIST, 0.085),
        ],
        &[("arm*", TEAL, 0.07), ("fore*", TEAL, 0.02)],
    );
    flesh.chain(
        side,
        Vec3::ONE,
        &[(HIP, 0.2), (KNEE, 0.15), (vec3(0.28, 0.13, 0.07), 0.11)],
        &[("thigh*", TEAL, 0.08), ("shin*", TEAL, 0.06)],
    );
    flesh.chain(
        side,
        vec3(1.0, 1.0, 0.7),
        &[
            (vec3(0.3, 1.76, -0.02), 0.13),
            (EAR_FOLD, 0.1),
            (vec3(0.67, 2.18, -0.2), 0.05),
        ],
        &[("ear*", TEAL, 0.06), ("earTip*", CORAL, 0.015)],
    );
}

fn tail(flesh: &mut Flesh) {
    let radii = [0.24, 0.18, 0.14, 0.11, 0.085, 0.065, 0.05];
    for i in 0..rig::TAIL_JOINTS {
        let ends = [i, i + 1].map(|k| (TAIL[k], radii[k]));
        let melt = if i == 0 { 0.1 } else { 0.012 };
        flesh.cone(&rig::tail(i + 1), ends, Vec3::ONE, TEAL, melt);
    }
    let tip = TAIL[rig::TAIL_JOINTS];
    flesh.cone(
        &rig::tail(rig::TAIL_JOINTS),
        [(tip, 0.15), (tip + vec3(0.0, 0.2, 0.03), 0.04)],
        vec3(1.0, 1.0, 0.55),
        CORAL,
        0.03,
    );
}

/// The spikes along the back, from the neck to the tail.
fn spikes(flesh: &mut Flesh) {
    for (joint, at, direction, size) in [
        ("neck", vec3(0.0, 1.3, -0.16), vec3(0.0, 0.4, -1.0), 0.9),
        ("chest", vec3(0.0, 1.08, -0.23), vec3(0.0, 0.3, -1.0), 1.1),
        ("spine", vec3(0.0, 0.86, -0.31), vec3(0.0, 0.3, -1.0), 1.2),
        ("hips", vec3(0.0, 0.66, -0.38), vec3(0.0, 0.6, -1.0), 1.1),
        ("tail1", vec3(0.0, 0.57, -0.51), vec3(0.0, 1.0, -0.4), 1.0),
        ("tail2", vec3(0.0, 0.45, -0.7), vec3(0.0, 1.0, -0.2), 0.9),
        ("tail3", vec3(0.0, 0.4, -0.92), vec3(0.0, 1.0, 0.1), 0.8),
        ("tail4", vec3(0.0, 0.45, -1.08), vec3(0.0, 0.9, 0.6), 0.7),
    ] {
        let tip = at + direction.normalize() * 0.14 * size;
        let ends = [(at, 0.075 * size), (tip, 0.034)];
        flesh.cone(joint, ends, vec3(0.75, 1.0, 1.0), CORAL, 0.025);
    }
}

/// The size of a cell.
const CELL: f32 = 0.041;

/// Meshes the surface where `distance` is 0 inside the box from `lo` to `hi`. The surface must not
/// reach the sides of the box.
///
/// These are surface nets: one point in each cell that the surface crosses, one quad for each edge
/// that it crosses.
pub fn net(distance: impl Fn(Vec3) -> f32, lo: Vec3, hi: Vec3) -> (Vec<Vec3>, Vec<Quad>) {
    let size = ((hi - lo) / CELL).ceil().as_uvec3() + 1;
    let id = |c: UVec3| ((c.z * size.y + c.y) * size.x + c.x) as usize;
    let at = |c: UVec3| lo + c.as_vec3() * CELL;
    let grid: Vec<f32> = cells(UVec3::ZERO, size).map(|c| distance(at(c))).collect();
    let inside = |c: UVec3| grid[id(c)] < 0.0;

    // The mean of the points where the surface crosses the cell's edges.
    let crossing = |cell: UVec3| {
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        let corner = |k: u32| cell + uvec3(k & 1, k >> 1 & 1, k >> 2);
        for from in 0..8 {
            for to in [1, 2, 4].map(|axis| from | axis) {
                let (a, b) = (corner(from), corner(to));
                if inside(a) != inside(b) {
                    let (da, db) = (grid[id(a)], grid[id(b)]);
                    sum += at(a).lerp(at(b), da / (da - db));
                    count += 1.0;
                }
            }
        }
        (count > 0.0).then(|| sum / count)
    };
    let mut points = Vec::new();
    let mut point_of = vec![usize::MAX; grid.len()];
    for cell in cells(UVec3::ZERO, size - 1) {
        if let Some(p) = crossing(cell) {
            point_of[id(cell)] = points.len();
            points.push(p);
        }
    }

    let mut faces = Vec::new();
    for c in cells(UVec3::ONE, size - 1) {
        for (along, u, v) in [
            (UVec3::X, UVec3::Y, UVec3::Z),
            (UVec3::Y, UVec3::Z, UVec3::X),
            (UVec3::Z, UVec3::X, UVec3::Y),
        ] {
            if inside(c) != inside(c + along) {
                // The four cells around the edge.
                let mut quad = [c - u - v, c - v, c, c - u].map(|cell| point_of[id(cell)]);
                if !inside(c) {
                    quad.reverse();
                }
                faces.push(quad);
            }
        }
    }
    (points, faces)
}

/// All cells from `lo` to before `hi`; x changes fastest.
fn cells(lo: UVec3, hi: UVec3) -> impl Iterator<Item = UVec3> {
    (lo.z..hi.z).flat_map(move |z| {
        (lo.y..hi.y).flat_map(move |y| (lo.x..hi.x).map(move |x| uvec3(x, y, z)))
    })
}
