//! Writes the example character: a hatchling dragon that dances in its eggshell hat.
//!
//! `cargo run --example make_character [OUT.usda]`
//!
//! The whole asset is made of formulas, so that it may be shipped without anyone's licence and every
//! run writes the same file. It uses what skinning has to get right: many influences per point,
//! rigid props, in-betweens, an animation sparser than its skeleton and a SkelRoot that is not at
//! the origin.

use glam::{EulerRot, Mat4, Quat, Vec3, vec3};
use std::f32::consts::{PI, TAU};
use std::fmt::Write;

const FRAMES: f32 = 96.0;
const INFLUENCES: usize = 6;
const CELL: f32 = 0.047;

const TEAL: Vec3 = vec3(0.10, 0.50, 0.42);
const DEEP: Vec3 = vec3(0.05, 0.32, 0.36);
const CREAM: Vec3 = vec3(0.95, 0.82, 0.52);
const CORAL: Vec3 = vec3(0.95, 0.36, 0.16);
const PINK: Vec3 = vec3(0.95, 0.42, 0.40);
const MOUTH: Vec3 = vec3(0.42, 0.05, 0.08);

// ---------------------------------------------------------------- skeleton

struct Joint {
    path: String,
    parent: Option<usize>,
    at: Vec3,
}

struct Rig(Vec<Joint>);

impl Rig {
    fn add(&mut self, parent: &str, name: &str, at: Vec3) {
        let p = (!parent.is_empty()).then(|| self.find(parent));
        let path = p.map_or(name.into(), |p| format!("{}/{name}", self.0[p].path));
        self.0.push(Joint {
            path,
            parent: p,
            at,
        });
    }

    fn find(&self, name: &str) -> usize {
        let is = |j: &Joint| j.path.rsplit('/').next() == Some(name);
        self.0
            .iter()
            .position(is)
            .unwrap_or_else(|| panic!("no joint {name}"))
    }

    /// Bind transforms only translate, so that a local rotation is one about the world's axes.
    fn local(&self, i: usize) -> Vec3 {
        self.0[i].at - self.0[i].parent.map_or(Vec3::ZERO, |p| self.0[p].at)
    }
}

const TAIL: [(Vec3, f32); 7] = [
    (vec3(0.0, 0.52, -0.26), 0.24),
    (vec3(0.0, 0.37, -0.52), 0.18),
    (vec3(0.0, 0.29, -0.77), 0.14),
    (vec3(0.0, 0.31, -1.01), 0.11),
    (vec3(0.0, 0.43, -1.21), 0.085),
    (vec3(0.0, 0.61, -1.33), 0.065),
    (vec3(0.0, 0.82, -1.36), 0.05),
];

fn side(left: bool, v: Vec3) -> Vec3 {
    if left { v } else { v * vec3(-1.0, 1.0, 1.0) }
}

fn sides() -> [(bool, &'static str, f32); 2] {
    [(true, "L", 1.0), (false, "R", -1.0)]
}

fn make_rig() -> Rig {
    let mut r = Rig(Vec::new());
    r.add("", "root", Vec3::ZERO);
    r.add("root", "hips", vec3(0.0, 0.56, 0.0));
    r.add("hips", "spine", vec3(0.0, 0.74, 0.0));
    r.add("spine", "chest", vec3(0.0, 0.98, 0.0));
    r.add("chest", "neck", vec3(0.0, 1.18, 0.02));
    r.add("neck", "head", vec3(0.0, 1.36, 0.04));
    r.add("head", "jaw", vec3(0.0, 1.44, 0.2));
    for (l, s, _) in sides() {
        r.add("head", &format!("eye{s}"), side(l, EYE));
        r.add("head", &format!("ear{s}"), side(l, vec3(0.34, 1.78, -0.04)));
        r.add(
            &format!("ear{s}"),
            &format!("earTip{s}"),
            side(l, vec3(0.53, 1.96, -0.12)),
        );
        r.add("chest", &format!("arm{s}"), side(l, vec3(0.28, 1.02, 0.06)));
        r.add(
            &format!("arm{s}"),
            &format!("fore{s}"),
            side(l, vec3(0.5, 0.9, 0.12)),
        );
        r.add(
            &format!("fore{s}"),
            &format!("hand{s}"),
            side(l, vec3(0.68, 0.84, 0.22)),
        );
        r.add(
            "hips",
            &format!("thigh{s}"),
            side(l, vec3(0.22, 0.52, 0.04)),
        );
        r.add(
            &format!("thigh{s}"),
            &format!("shin{s}"),
            side(l, vec3(0.27, 0.3, 0.12)),
        );
        r.add(
            &format!("shin{s}"),
            &format!("foot{s}"),
            side(l, vec3(0.28, 0.11, 0.06)),
        );
        r.add("chest", &format!("wing{s}"), side(l, WING[0]));
        r.add(
            &format!("wing{s}"),
            &format!("wingMid{s}"),
            side(l, WING[1]),
        );
        r.add(
            &format!("wingMid{s}"),
            &format!("wingTip{s}"),
            side(l, WING[2]),
        );
    }
    let mut parent = "hips".to_owned();
    for (i, (place, ..)) in TAIL.iter().take(6).enumerate() {
        let name = format!("tail{}", i + 1);
        r.add(&parent, &name, *place);
        parent = name;
    }
    r
}

// ---------------------------------------------------------------- the body as one implicit surface

/// A ball drawn out from `a` to `b`, stretched by `scale` about `a`.
struct Blob {
    a: Vec3,
    b: Vec3,
    ra: f32,
    rb: f32,
    scale: Vec3,
    joint: usize,
    color: Vec3,
    /// How widely it melts into its neighbours.
    melt: f32,
}

impl Blob {
    fn dist(&self, p: Vec3) -> f32 {
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

fn make_blobs(rig: &Rig) -> Vec<Blob> {
    let mut out = Vec::new();
    let mut cone =
        |joint: &str, a: Vec3, ra: f32, b: Vec3, rb: f32, scale: Vec3, color: Vec3, melt: f32| {
            out.push(Blob {
                a,
                b,
                ra,
                rb,
                scale,
                joint: rig.find(joint),
                color,
                melt,
            });
        };
    let one = Vec3::ONE;
    let mut ball = |joint: &str, a: Vec3, radii: Vec3, color: Vec3, melt: f32| {
        let r = radii.max_element();
        cone(joint, a, r, a, r, radii / r, color, melt);
    };
    ball(
        "hips",
        vec3(0.0, 0.58, 0.0),
        vec3(0.37, 0.3, 0.34),
        TEAL,
        0.12,
    );
    ball(
        "spine",
        vec3(0.0, 0.76, 0.03),
        vec3(0.38, 0.32, 0.36),
        TEAL,
        0.12,
    );
    ball(
        "chest",
        vec3(0.0, 1.0, 0.01),
        vec3(0.29, 0.24, 0.27),
        TEAL,
        0.12,
    );
    ball(
        "neck",
        vec3(0.0, 1.22, 0.02),
        vec3(0.2, 0.18, 0.2),
        TEAL,
        0.1,
    );
    ball(
        "head",
        vec3(0.0, 1.66, 0.04),
        vec3(0.45, 0.38, 0.38),
        TEAL,
        0.1,
    );
    ball(
        "head",
        vec3(0.0, 1.535, 0.38),
        vec3(0.29, 0.17, 0.26),
        TEAL,
        0.1,
    );
    ball(
        "jaw",
        vec3(0.0, 1.41, 0.33),
        vec3(0.25, 0.11, 0.24),
        CREAM,
        0.07,
    );
    for (l, s, _) in sides() {
        let at = |v| side(l, v);
        let j = |n: &str| format!("{n}{s}");
        ball(
            "head",
            at(vec3(0.09, 1.64, 0.57)),
            vec3(0.055, 0.045, 0.05),
            DEEP,
            0.04,
        );
        ball(
            "head",
            at(vec3(0.3, 1.53, 0.25)),
            vec3(0.14, 0.12, 0.13),
            PINK,
            0.07,
        );
        ball(
            &j("foot"),
            at(vec3(0.29, 0.1, 0.14)),
            vec3(0.15, 0.1, 0.2),
            TEAL,
            0.06,
        );
        for k in -1..=1 {
            let toe = vec3(0.29 + 0.09 * k as f32, 0.065, 0.32 - 0.02 * (k * k) as f32);
            ball(&j("foot"), at(toe), vec3(0.05, 0.05, 0.06), CREAM, 0.02);
        }
        ball(
            &j("hand"),
            at(vec3(0.73, 0.83, 0.25)),
            vec3(0.11, 0.1, 0.11),
            TEAL,
            0.05,
        );
        for k in -1..=1 {
            let finger = vec3(0.81, 0.83 + 0.07 * k as f32, 0.31 - 0.02 * (k * k) as f32);
            ball(&j("hand"), at(finger), Vec3::splat(0.045), CREAM, 0.02);
        }
    }
    for (l, s, _) in sides() {
        let at = |v| side(l, v);
        let j = |n: &str| format!("{n}{s}");
        cone(
            &j("arm"),
            at(vec3(0.26, 1.03, 0.05)),
            0.12,
            at(vec3(0.5, 0.9, 0.12)),
            0.095,
            one,
            TEAL,
            0.07,
        );
        cone(
            &j("fore"),
            at(vec3(0.5, 0.9, 0.12)),
            0.095,
            at(vec3(0.68, 0.84, 0.22)),
            0.085,
            one,
            TEAL,
            0.02,
        );
        cone(
            &j("thigh"),
            at(vec3(0.22, 0.52, 0.04)),
            0.2,
            at(vec3(0.27, 0.3, 0.12)),
            0.15,
            one,
            TEAL,
            0.08,
        );
        cone(
            &j("shin"),
            at(vec3(0.27, 0.3, 0.12)),
            0.15,
            at(vec3(0.28, 0.13, 0.07)),
            0.11,
            one,
            TEAL,
            0.06,
        );
        cone(
            &j("ear"),
            at(vec3(0.3, 1.76, -0.02)),
            0.13,
            at(vec3(0.53, 1.96, -0.12)),
            0.1,
            vec3(1.0, 1.0, 0.7),
            TEAL,
            0.06,
        );
        cone(
            &j("earTip"),
            at(vec3(0.53, 1.96, -0.12)),
            0.1,
            at(vec3(0.67, 2.18, -0.2)),
            0.05,
            vec3(1.0, 1.0, 0.7),
            CORAL,
            0.015,
        );
    }
    for i in 0..6 {
        let ((a, ra), (b, rb)) = (TAIL[i], TAIL[i + 1]);
        cone(
            &format!("tail{}", i + 1),
            a,
            ra,
            b,
            rb,
            one,
            TEAL,
            if i == 0 { 0.1 } else { 0.012 },
        );
    }
    let tip = TAIL[6].0;
    cone(
        "tail6",
        tip,
        0.15,
        tip + vec3(0.0, 0.2, 0.03),
        0.04,
        vec3(1.0, 1.0, 0.55),
        CORAL,
        0.03,
    );
    // The spikes go down the back, from the neck to the tail.
    let spikes: [(&str, Vec3, Vec3, f32); 8] = [
        ("neck", vec3(0.0, 1.3, -0.16), vec3(0.0, 0.4, -1.0), 0.9),
        ("chest", vec3(0.0, 1.08, -0.23), vec3(0.0, 0.3, -1.0), 1.1),
        ("spine", vec3(0.0, 0.86, -0.31), vec3(0.0, 0.3, -1.0), 1.2),
        ("hips", vec3(0.0, 0.66, -0.38), vec3(0.0, 0.6, -1.0), 1.1),
        ("tail1", vec3(0.0, 0.57, -0.51), vec3(0.0, 1.0, -0.4), 1.0),
        ("tail2", vec3(0.0, 0.45, -0.7), vec3(0.0, 1.0, -0.2), 0.9),
        ("tail3", vec3(0.0, 0.4, -0.92), vec3(0.0, 1.0, 0.1), 0.8),
        ("tail4", vec3(0.0, 0.45, -1.08), vec3(0.0, 0.9, 0.6), 0.7),
    ];
    for (j, at, dir, size) in spikes {
        let b = at + dir.normalize() * 0.14 * size;
        cone(
            j,
            at,
            0.075 * size,
            b,
            0.034,
            vec3(0.75, 1.0, 1.0),
            CORAL,
            0.025,
        );
    }
    out
}

/// Height of the mouth's line: the corners turn up.
fn mouth_line(p: Vec3) -> f32 {
    1.445 + 1.0 * p.x * p.x - 0.05 * (p.z - 0.4)
}

fn solid(blobs: &[Blob], p: Vec3) -> f32 {
    blobs.iter().fold(f32::MAX, |d, b| {
        let (e, k) = (b.dist(p), b.melt);
        let h = (k - (d - e).abs()).max(0.0) / k;
        d.min(e) - 0.25 * h * h * k
    })
}

fn cavity(p: Vec3) -> f32 {
    let wide = 0.012 + 0.065 * ((p.z - 0.2) / 0.4).clamp(0.0, 1.0);
    let gap = (p.y - mouth_line(p)).abs() - wide;
    gap.max(0.26 - p.z).max(p.x.abs() - 0.25)
}

fn surface(blobs: &[Blob], p: Vec3) -> f32 {
    // A smooth cut leaves round lips.
    let (d, c, k) = (solid(blobs, p), -cavity(p), 0.055);
    let h = (k - (d - c).abs()).max(0.0) / k;
    d.max(c) + 0.25 * h * h * k
}

// ---------------------------------------------------------------- meshes

#[derive(Default)]
struct Mesh {
    name: &'static str,
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    colors: Vec<Vec3>,
    faces: Vec<Vec<usize>>,
    bind: Mat4,
    skin: Skin,
    shapes: Vec<Shape>,
}

#[derive(Default)]
enum Skin {
    #[default]
    None,
    Rigid(usize),
    /// Per point: joint and weight, the largest first.
    Smooth(Vec<Vec<(usize, f32)>>),
}

struct Shape {
    name: &'static str,
    points: Vec<usize>,
    offsets: Vec<Vec3>,
    normals: Vec<Vec3>,
    half: Vec<Vec3>,
    half_normals: Vec<Vec3>,
}

/// Normals from the faces, weighted by area.
fn normals_of(points: &[Vec3], faces: &[Vec<usize>]) -> Vec<Vec3> {
    let mut n = vec![Vec3::ZERO; points.len()];
    for f in faces {
        for k in 1..f.len() - 1 {
            let (a, b, c) = (points[f[0]], points[f[k]], points[f[k + 1]]);
            let m = (b - a).cross(c - a);
            for &i in [f[0], f[k], f[k + 1]].iter() {
                n[i] += m;
            }
        }
    }
    n.into_iter().map(|v| v.normalize_or(Vec3::Y)).collect()
}

/// Surface nets: one point in every cell that the surface crosses, one quad for every crossed edge.
fn polygonise(f: &dyn Fn(Vec3) -> f32, lo: Vec3, hi: Vec3) -> (Vec<Vec3>, Vec<Vec<usize>>) {
    let n = ((hi - lo) / CELL).ceil().as_uvec3() + 1;
    let (nx, ny, nz) = (n.x as usize, n.y as usize, n.z as usize);
    let id = |x: usize, y: usize, z: usize| (z * ny + y) * nx + x;
    let at = |x: usize, y: usize, z: usize| lo + vec3(x as f32, y as f32, z as f32) * CELL;
    let mut grid = vec![0f32; nx * ny * nz];
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                grid[id(x, y, z)] = f(at(x, y, z));
            }
        }
    }
    let corner = |c: usize| (c & 1, c >> 1 & 1, c >> 2);
    let (mut cell, mut points, mut faces) = (vec![usize::MAX; grid.len()], Vec::new(), Vec::new());
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let v = |c: usize| {
                    let (i, j, k) = corner(c);
                    grid[id(x + i, y + j, z + k)]
                };
                let (mut sum, mut count) = (Vec3::ZERO, 0.0);
                for a in 0..8 {
                    for bit in [1, 2, 4] {
                        let b = a | bit;
                        if b != a && (v(a) < 0.0) != (v(b) < 0.0) {
                            let t = v(a) / (v(a) - v(b));
                            let (i, j, k) = corner(a);
                            let (l, m, o) = corner(b);
                            sum += at(x + i, y + j, z + k).lerp(at(x + l, y + m, z + o), t);
                            count += 1.0;
                        }
                    }
                }
                if count > 0.0 {
                    cell[id(x, y, z)] = points.len();
                    points.push(sum / count);
                }
            }
        }
    }
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let here = grid[id(x, y, z)] < 0.0;
                let mut quad = |other: f32, c: [usize; 4]| {
                    if here != (other < 0.0) {
                        let mut q: Vec<usize> = c.iter().map(|&i| cell[i]).collect();
                        if !here {
                            q.reverse();
                        }
                        faces.push(q);
                    }
                };
                quad(
                    grid[id(x + 1, y, z)],
                    [
                        id(x, y - 1, z - 1),
                        id(x, y, z - 1),
                        id(x, y, z),
                        id(x, y - 1, z),
                    ],
                );
                quad(
                    grid[id(x, y + 1, z)],
                    [
                        id(x - 1, y, z - 1),
                        id(x - 1, y, z),
                        id(x, y, z),
                        id(x, y, z - 1),
                    ],
                );
                quad(
                    grid[id(x, y, z + 1)],
                    [
                        id(x - 1, y - 1, z),
                        id(x, y - 1, z),
                        id(x, y, z),
                        id(x - 1, y, z),
                    ],
                );
            }
        }
    }
    (points, faces)
}

fn smoothstep(a: f32, b: f32, x: f32) -> f32 {
    let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The largest weights, rounded as they are written, so that what is read sums to exactly one.
fn keep_largest(w: &[f32]) -> Vec<(usize, f32)> {
    let mut all: Vec<(usize, f32)> = w
        .iter()
        .copied()
        .enumerate()
        .filter(|x| x.1 > 0.0)
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(INFLUENCES);
    let sum: f32 = all.iter().map(|x| x.1).sum();
    let mut whole: Vec<(usize, i32)> = all
        .iter()
        .map(|x| (x.0, (x.1 / sum * 10000.0).round() as i32))
        .collect();
    whole.retain(|x| x.1 > 0);
    whole[0].1 += 10000 - whole.iter().map(|x| x.1).sum::<i32>();
    whole.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    whole
        .into_iter()
        .map(|(j, w)| (j, w as f32 / 10000.0))
        .collect()
}

fn make_body(rig: &Rig) -> Mesh {
    let blobs = make_blobs(rig);
    let f = |p: Vec3| surface(&blobs, p);
    let gradient = |p: Vec3, e: f32| {
        let d = |v: Vec3| f(p + v * e) - f(p - v * e);
        vec3(d(Vec3::X), d(Vec3::Y), d(Vec3::Z)).normalize_or(Vec3::Y)
    };
    // The grid is symmetric in x, and so is the dragon.
    let (mut points, faces) = polygonise(&f, vec3(-1.0, -0.08, -1.64), vec3(1.0, 2.32, 0.84));
    for p in &mut points {
        for _ in 0..2 {
            let d = f(*p).clamp(-0.02, 0.02);
            *p -= gradient(*p, 0.005) * d * 0.8;
        }
    }
    let from_faces = normals_of(&points, &faces);
    let normals: Vec<Vec3> = points
        .iter()
        .zip(&from_faces)
        .map(|(&p, &n)| {
            let g = gradient(p, 0.012);
            if g.dot(n) > 0.3 {
                (g + 0.35 * n).normalize()
            } else {
                n
            }
        })
        .collect();

    let jaw = rig.find("jaw");
    let head = rig.find("head");
    let mut colors = Vec::new();
    let mut weights: Vec<Vec<f32>> = Vec::new();
    for (p, n) in points.iter().zip(&normals) {
        let (mut c, mut total) = (Vec3::ZERO, 0.0);
        let mut w = vec![0.0; rig.0.len()];
        for b in &blobs {
            let d = b.dist(*p).max(0.0);
            let k = (-(d / 0.022).powi(2)).exp() + 1e-6;
            // What juts out keeps its colour against what it grows from.
            let k = if b.color == TEAL { k * 0.35 } else { k };
            // The jaw's colour ends at the lower lip.
            let k = if b.joint == jaw {
                k * smoothstep(0.03, -0.01, p.y - mouth_line(*p))
            } else {
                k
            };
            c += b.color * k;
            total += k;
            w[b.joint] += (-(d / 0.1).powi(2)).exp();
        }
        let mut c = c / total;
        // A light belly and throat, with soft stripes as on a lizard's.
        let oval = ((p.x / 0.27).powi(2) + ((p.y - 0.78) / 0.42).powi(2)).sqrt();
        let throat = smoothstep(0.15, 0.09, p.x.abs())
            * smoothstep(0.9, 1.0, p.y)
            * smoothstep(1.38, 1.3, p.y);
        let belly = smoothstep(0.25, 0.6, n.z)
            * smoothstep(0.03, 0.1, p.z)
            * smoothstep(1.06, 0.9, oval).max(throat);
        let stripe = 0.9 + 0.1 * (p.y * 62.0).sin();
        c = c.lerp(CREAM * stripe, belly);
        // Darker along the back.
        c = c.lerp(
            DEEP,
            0.55 * smoothstep(0.25, 0.95, n.y - 0.5 * n.z)
                * smoothstep(0.12, 0.0, (c - TEAL).length()),
        );
        c = c.lerp(MOUTH, smoothstep(0.018, 0.036, -solid(&blobs, *p)));
        colors.push(c);
        // Above the mouth's line all is head, below it the jaw takes over.
        if p.y > 1.2 && p.z > 0.12 {
            let below = smoothstep(0.02, -0.02, p.y - mouth_line(*p))
                * smoothstep(0.14, 0.34, p.z)
                * smoothstep(1.27, 1.36, p.y);
            let both = w[head] + w[jaw];
            w[jaw] = both * below;
            w[head] = both * (1.0 - below);
        }
        let s: f32 = w.iter().sum();
        weights.push(w.iter().map(|x| x / s).collect());
    }
    // Averaging over neighbours takes out the creases where two blobs meet.
    let mut near = vec![Vec::new(); points.len()];
    for q in &faces {
        for k in 0..4 {
            near[q[k]].push(q[(k + 1) % 4]);
        }
    }
    for _ in 0..4 {
        weights = (0..points.len())
            .map(|i| {
                let m = near[i].len() as f32;
                (0..rig.0.len())
                    .map(|j| {
                        0.5 * weights[i][j]
                            + 0.5 * near[i].iter().map(|&o| weights[o][j]).sum::<f32>() / m
                    })
                    .collect()
            })
            .collect();
    }
    let skin = weights
        .iter()
        .map(|w| {
            let top = w.iter().copied().fold(0.0, f32::max);
            keep_largest(
                &w.iter()
                    .map(|&x| if x < 0.004 * top { 0.0 } else { x })
                    .collect::<Vec<_>>(),
            )
        })
        .collect();

    // Smile: the corners of the mouth go up and back, the cheeks swell. Halfway the corners only
    // spread: a smile that starts by rising looks like a sneer.
    let smile = |p: Vec3, w: f32| {
        let corner = vec3(0.25 * p.x.signum(), mouth_line(p), 0.4);
        let near = (-((p - corner) / vec3(0.1, 0.09, 0.16)).length_squared()).exp();
        let cheek = (-((p - vec3(0.33 * p.x.signum(), 1.56, 0.28)) / 0.12).length_squared()).exp();
        let (out, up) = if w < 1.0 { (0.8, 0.25) } else { (1.0, 1.0) };
        vec3(
            p.x.signum() * (0.035 * near * out + 0.035 * cheek * up),
            0.06 * near * up + 0.02 * cheek * up,
            -0.03 * near * out,
        )
    };
    let puff = |p: Vec3, w: f32| {
        let q = (p - vec3(0.0, 0.78, 0.2)) / vec3(0.3, 0.3, 0.3);
        vec3(p.x * 0.22, (p.y - 0.78) * 0.12, 0.1)
            * (-q.length_squared()).exp()
            * if w < 1.0 { 0.7 } else { 1.0 }
    };
    let shapes = vec![
        make_shape("smile", &points, &normals, &faces, &smile),
        make_shape("puff", &points, &normals, &faces, &puff),
    ];
    Mesh {
        name: "Body",
        points,
        normals,
        colors,
        faces,
        bind: Mat4::IDENTITY,
        skin: Skin::Smooth(skin),
        shapes,
    }
}

/// A sparse shape: only the points that it moves, with an in-between at one half.
fn make_shape(
    name: &'static str,
    points: &[Vec3],
    normals: &[Vec3],
    faces: &[Vec<usize>],
    f: &dyn Fn(Vec3, f32) -> Vec3,
) -> Shape {
    // A soft cut, so that the shape has no step where its points end.
    let moved = |w: f32| -> Vec<Vec3> {
        points
            .iter()
            .map(|&p| f(p, w) * smoothstep(0.002, 0.008, f(p, 1.0).length()))
            .collect()
    };
    shape_of(name, points, normals, faces, moved(1.0), moved(0.5))
}

fn shape_of(
    name: &'static str,
    points: &[Vec3],
    normals: &[Vec3],
    faces: &[Vec<usize>],
    full: Vec<Vec3>,
    half: Vec<Vec3>,
) -> Shape {
    let base = normals_of(points, faces);
    let turned = |o: &[Vec3]| -> Vec<Vec3> {
        let p: Vec<Vec3> = points.iter().zip(o).map(|(p, o)| *p + *o).collect();
        let now = normals_of(&p, faces);
        // The change of the faces' normals, carried over to the mesh's own.
        (0..p.len())
            .map(|i| (Quat::from_rotation_arc(base[i], now[i]) * normals[i]) - normals[i])
            .collect()
    };
    let (fulln, halfn) = (turned(&full), turned(&half));
    let moves: Vec<usize> = (0..points.len())
        .filter(|&i| full[i].length() > 8e-4 || half[i].length() > 8e-4)
        .collect();
    let pick = |v: &[Vec3]| moves.iter().map(|&i| v[i]).collect();
    Shape {
        name,
        offsets: pick(&full),
        normals: pick(&fulln),
        half: pick(&half),
        half_normals: pick(&halfn),
        points: moves,
    }
}

/// High enough that no eyeball shows inside the open mouth.
const EYE: Vec3 = vec3(0.2, 1.755, 0.305);
const EYE_R: f32 = 0.15;

/// A ball whose pole looks forward, with iris and pupil as rings, and a glint before it.
fn make_eye(rig: &Rig, name: &'static str, joint: &str, x: f32) -> Mesh {
    let mut m = Mesh {
        name,
        bind: Mat4::from_translation(rig.0[rig.find(joint)].at),
        skin: Skin::Rigid(rig.find(joint)),
        ..Default::default()
    };
    let black = vec3(0.01, 0.01, 0.015);
    let gold = vec3(0.95, 0.55, 0.05);
    let rings = [
        (0.0, black),
        (14.0, black),
        (24.0, black),
        (26.0, gold * 0.55),
        (34.0, gold),
        (42.0, gold * 0.7),
        (44.0, black),
        (47.0, Vec3::splat(0.93)),
        (60.0, Vec3::splat(0.95)),
        (75.0, Vec3::splat(0.95)),
        (90.0, Vec3::splat(0.95)),
        (110.0, Vec3::splat(0.9)),
        (140.0, Vec3::splat(0.85)),
        (175.0, Vec3::splat(0.8)),
    ];
    // It squints slightly outward, as the eyes sit on the sides of the head.
    let turn = Quat::from_rotation_y(0.2 * x) * Quat::from_rotation_x(-0.06);
    let mut ball = |at: Vec3, r: f32, rings: &[(f32, Vec3)], turn: Quat| {
        let (start, seg) = (m.points.len(), 20);
        for (a, c) in rings {
            for k in 0..seg {
                let (t, u) = (a.to_radians().max(0.002), TAU * k as f32 / seg as f32);
                let n = turn * vec3(t.sin() * u.cos(), t.sin() * u.sin(), t.cos());
                m.points.push(at + n * r);
                m.normals.push(n);
                m.colors.push(*c);
            }
        }
        for i in 0..rings.len() - 1 {
            for k in 0..seg {
                let (a, b, l) = (start + i * seg + k, start + i * seg + (k + 1) % seg, seg);
                m.faces.push(vec![a, a + l, b + l, b]);
            }
        }
    };
    ball(Vec3::ZERO, EYE_R, &rings, turn);
    let white: Vec<(f32, Vec3)> = [0.0, 45.0, 90.0, 135.0, 178.0]
        .iter()
        .map(|&a| (a, Vec3::ONE))
        .collect();
    ball(
        turn * vec3(0.045, 0.058, 0.129),
        0.027,
        &white,
        Quat::IDENTITY,
    );
    m
}

/// An upper lid on a ball around the eye. It must follow the arc as it closes: on the straight way
/// between open and shut it would cut through the eye, so the in-between is no decoration.
fn make_lid(rig: &Rig, name: &'static str, joint: &str) -> Mesh {
    let (rows, cols, r) = (9, 17, EYE_R + 0.022);
    let at = rig.0[rig.find(joint)].at;
    let point = |i: usize, k: usize, closed: f32| {
        let v = i as f32 / (rows - 1) as f32;
        let u = (4.0 + 172.0 * k as f32 / (cols - 1) as f32).to_radians();
        let rim = 22.0 + 104.0 * closed;
        let a = (-70.0 + (rim + 70.0) * v).to_radians();
        at + r * vec3(u.cos(), u.sin() * a.cos(), u.sin() * a.sin())
    };
    let grid = |c: f32| -> Vec<Vec3> {
        (0..rows * cols)
            .map(|n| point(n / cols, n % cols, c))
            .collect()
    };
    let points = grid(0.0);
    let mut faces = Vec::new();
    for i in 0..rows - 1 {
        for k in 0..cols - 1 {
            let a = i * cols + k;
            faces.push(vec![a, a + 1, a + cols + 1, a + cols]);
        }
    }
    let normals: Vec<Vec3> = points.iter().map(|&p| (p - at).normalize()).collect();
    if normals_of(&points, &faces)[cols * 4 + 8].dot(normals[cols * 4 + 8]) < 0.0 {
        faces.iter_mut().for_each(|f| f.reverse());
    }
    let diff =
        |c: f32| -> Vec<Vec3> { grid(c).iter().zip(&points).map(|(a, b)| *a - *b).collect() };
    let mut blink = shape_of("blink", &points, &normals, &faces, diff(1.0), diff(0.5));
    // On a ball the true normals are known.
    for (c, o) in [(1.0, &mut blink.normals), (0.5, &mut blink.half_normals)] {
        let g = grid(c);
        *o = blink
            .points
            .iter()
            .map(|&i| (g[i] - at).normalize() - normals[i])
            .collect();
    }
    let colors = (0..rows * cols)
        .map(|n| {
            if n / cols == rows - 1 {
                DEEP * 0.6
            } else {
                TEAL.lerp(DEEP, 0.3)
            }
        })
        .collect();
    let skin = Skin::Smooth(vec![vec![(rig.find("head"), 1.0)]; points.len()]);
    Mesh {
        name,
        points,
        normals,
        colors,
        faces,
        bind: Mat4::IDENTITY,
        skin,
        shapes: vec![blink],
    }
}

/// Half of the shell it hatched from. It sits askew: that is in its geomBindTransform.
fn make_hat(rig: &Rig) -> Mesh {
    let (seg, rows) = (28, 9);
    let mut m = Mesh {
        name: "EggshellHat",
        skin: Skin::Rigid(rig.find("head")),
        ..Default::default()
    };
    m.bind = Mat4::from_rotation_translation(
        Quat::from_euler(EulerRot::XYZ, -0.16, 0.3, -0.2),
        vec3(0.05, 1.93, -0.02),
    );
    for inner in [false, true] {
        for i in 0..rows {
            for k in 0..seg {
                let zig = if i == rows - 1 {
                    if k % 2 == 0 { 12.0 } else { -9.0 }
                } else {
                    0.0
                };
                let a = (2.0 + 84.0 * i as f32 / (rows - 1) as f32 + zig).to_radians();
                let u = TAU * k as f32 / seg as f32;
                let s = if inner { 0.93 } else { 1.0 };
                m.points.push(
                    vec3(
                        0.3 * a.sin() * u.cos(),
                        0.31 * a.cos(),
                        0.3 * a.sin() * u.sin(),
                    ) * s,
                );
                let spot = !inner && i < rows - 1 && (i * 5 + k * 3 + k / 4) % 11 == 0;
                m.colors.push(if spot {
                    vec3(0.3, 0.55, 0.68)
                } else if inner {
                    vec3(0.8, 0.7, 0.55)
                } else {
                    vec3(0.97, 0.92, 0.8)
                });
            }
        }
        let s = if inner { seg * rows } else { 0 };
        for i in 0..rows - 1 {
            for k in 0..seg {
                let (a, b) = (s + i * seg + k, s + i * seg + (k + 1) % seg);
                m.faces.push(if inner {
                    vec![a, a + seg, b + seg, b]
                } else {
                    vec![a, b, b + seg, a + seg]
                });
            }
        }
    }
    let (o, n) = ((rows - 1) * seg, seg * rows);
    for k in 0..seg {
        let (a, b) = (o + k, o + (k + 1) % seg);
        m.faces.push(vec![a, b, b + n, a + n]);
    }
    m.normals = normals_of(&m.points, &m.faces);
    m
}

const WING: [Vec3; 4] = [
    vec3(0.13, 1.1, -0.2),
    vec3(0.48, 1.44, -0.42),
    vec3(0.86, 1.5, -0.56),
    vec3(1.22, 1.22, -0.62),
];

fn make_wing(rig: &Rig, name: &'static str, left: bool) -> Mesh {
    let (nu, nv) = (25, 8);
    let s = if left { "L" } else { "R" };
    let bones: Vec<usize> = ["wing", "wingMid", "wingTip"]
        .iter()
        .map(|n| rig.find(&format!("{n}{s}")))
        .collect();
    let mut m = Mesh {
        name,
        bind: Mat4::IDENTITY,
        ..Default::default()
    };
    let mut skin = Vec::new();
    for i in 0..nu {
        let u = i as f32 / (nu - 1) as f32;
        let k = ((u * 3.0) as usize).min(2);
        let t = u * 3.0 - k as f32;
        // A curve through the joints, so that the leading edge has no corners.
        let prev = if k > 0 {
            WING[k - 1]
        } else {
            WING[0] * 2.0 - WING[1]
        };
        let next = if k < 2 {
            WING[k + 2]
        } else {
            WING[3] * 2.0 - WING[2]
        };
        let (a, b) = (WING[k], WING[k + 1]);
        let edge = 0.5
            * (2.0 * a
                + (b - prev) * t
                + (2.0 * prev - 5.0 * a + 4.0 * b - next) * t * t
                + (3.0 * a - prev - 3.0 * b + next) * t * t * t);
        let scallop = 1.0 - 0.22 * (PI * (u * 3.0).fract()).sin();
        let low = vec3(0.12, 0.84, -0.26).lerp(WING[3] + vec3(-0.02, -0.04, 0.0), u);
        let low = edge + (low + vec3(0.0, -0.22 * (PI * u).sin(), 0.0) - edge) * scallop;
        for j in 0..2 * nv {
            let back = j >= nv;
            let v = (if back { 2 * nv - 1 - j } else { j }) as f32 / (nv - 1) as f32;
            let rib = 0.010 * (PI * (u * 3.0).fract()).sin();
            let thick = 0.034 * (1.0 - v).powi(3) * (1.0 - 0.5 * u) + 0.014 - rib;
            let bulge = -0.07 * (PI * v).sin() * (PI * u).sin();
            let round = if j == 0 || j == 2 * nv - 1 { 0.4 } else { 1.0 };
            let p = edge.lerp(low, v)
                + vec3(
                    0.0,
                    0.0,
                    bulge + thick * round * if back { -1.0 } else { 1.0 },
                );
            m.points.push(side(left, p));
            let web = CORAL.lerp(vec3(0.98, 0.68, 0.22), smoothstep(0.1, 0.9, v));
            m.colors.push(web.lerp(
                DEEP,
                smoothstep(0.2, 0.08, v).max(0.5 * smoothstep(0.006, 0.0, rib)),
            ));
            let mut w = vec![0.0; rig.0.len()];
            for (b, &joint) in bones.iter().enumerate() {
                w[joint] = (-((u * 3.0 - b as f32 - 0.5) / 0.62).powi(2)).exp();
            }
            w[rig.find("chest")] = 1.2 * (-(u / 0.1).powi(2)).exp();
            w[rig.find("spine")] = 0.8 * (-(u / 0.16).powi(2)).exp() * smoothstep(0.3, 1.0, v);
            let sum: f32 = w.iter().sum();
            skin.push(keep_largest(
                &w.iter()
                    .map(|x| if x / sum < 0.01 { 0.0 } else { *x })
                    .collect::<Vec<_>>(),
            ));
        }
    }
    let l = 2 * nv;
    for i in 0..nu - 1 {
        for j in 0..l {
            let (a, b) = (i * l + j, i * l + (j + 1) % l);
            m.faces.push(if left {
                vec![a, b, b + l, a + l]
            } else {
                vec![a, a + l, b + l, b]
            });
        }
    }
    m.normals = normals_of(&m.points, &m.faces);
    m.skin = Skin::Smooth(skin);
    m
}

// ---------------------------------------------------------------- the dance

#[derive(Clone, Copy)]
struct Pose {
    t: Vec3,
    r: Quat,
    s: Vec3,
}

fn world_of(rig: &Rig, pose: &[Pose]) -> Vec<Mat4> {
    let mut out: Vec<Mat4> = Vec::new();
    for (j, p) in rig.0.iter().zip(pose) {
        let local = Mat4::from_scale_rotation_translation(p.s, p.r, p.t);
        out.push(j.parent.map_or(local, |q| out[q] * local));
    }
    out
}

/// A bump of 1 at `at` that is over after `wide`; the loop's ends meet.
fn bump(t: f32, at: f32, wide: f32) -> f32 {
    let d = (t - at + 0.5).rem_euclid(1.0) - 0.5;
    if d.abs() < wide {
        0.5 + 0.5 * (PI * d / wide).cos()
    } else {
        0.0
    }
}

/// The leap at half time: crouch, flight, landing.
fn leap(t: f32) -> (f32, f32) {
    let x = (t - 0.5) / 0.14;
    let up = if (0.0..1.0).contains(&x) {
        4.0 * x * (1.0 - x)
    } else {
        0.0
    };
    (up, bump(t, 0.465, 0.055) + 0.8 * bump(t, 0.675, 0.05))
}

/// `t` goes from 0 to 1 over the loop, which has eight beats. Everything that hangs on something
/// else moves as that does, a little later: that is what makes it soft.
fn dance(rig: &Rig, t: f32) -> Vec<Pose> {
    let mut pose: Vec<Pose> = (0..rig.0.len())
        .map(|i| Pose {
            t: rig.local(i),
            r: Quat::IDENTITY,
            s: Vec3::ONE,
        })
        .collect();
    let wave = |n: f32, late: f32| (TAU * n * (t - late)).sin();
    let beat = |late: f32| (TAU * 8.0 * (t - late)).cos();
    let (up, crouch) = leap(t);
    let calm = 1.0 - bump(t, 0.57, 0.13);
    let cheer = smoothstep(0.0, 1.0, 1.6 * bump(t, 0.6, 0.2));
    let euler = |x: f32, y: f32, z: f32| Quat::from_euler(EulerRot::YXZ, y, x, z);
    let set = |pose: &mut Vec<Pose>, n: &str, q: Quat| pose[rig.find(n)].r = q;

    let drop = -0.035 - 0.035 * beat(0.0) * calm - 0.13 * crouch;
    pose[rig.find("hips")].t += vec3(-0.08 * wave(4.0, 0.0) * calm, drop + 0.42 * up, 0.0);
    set(
        &mut pose,
        "hips",
        euler(
            0.1 * crouch,
            0.16 * wave(2.0, 0.0) * calm,
            0.1 * wave(4.0, 0.01) * calm,
        ),
    );
    // Squash and stretch keep the volume.
    let q = 0.05 * beat(0.0) * calm + 0.2 * crouch - 0.13 * up;
    pose[rig.find("spine")].s = vec3(1.0 + 0.5 * q, 1.0 - q, 1.0 + 0.5 * q);
    set(
        &mut pose,
        "spine",
        euler(
            0.05 * beat(0.01) + 0.2 * crouch - 0.12 * up,
            -0.1 * wave(2.0, 0.01) * calm,
            -0.13 * wave(4.0, 0.015) * calm,
        ),
    );
    set(
        &mut pose,
        "chest",
        euler(
            -0.05 * beat(0.02) - 0.08 * cheer,
            -0.16 * wave(2.0, 0.02) * calm,
            -0.1 * wave(4.0, 0.02) * calm,
        ),
    );
    set(
        &mut pose,
        "neck",
        euler(
            0.06 * beat(0.025) - 0.08 * crouch,
            0.05 * wave(2.0, 0.0),
            0.1 * wave(4.0, 0.03) * calm,
        ),
    );
    set(
        &mut pose,
        "head",
        euler(
            0.1 * beat(0.035) - 0.16 * up + 0.1 * crouch,
            0.22 * wave(1.0, 0.03) * calm,
            0.17 * wave(4.0, 0.04) * calm,
        ),
    );
    let h = 0.035 * beat(0.03) * calm + 0.09 * crouch - 0.06 * up;
    pose[rig.find("head")].s = vec3(1.0 + 0.5 * h, 1.0 - h, 1.0 + 0.5 * h)
        / vec3(1.0 + 0.25 * q, 1.0 - 0.5 * q, 1.0 + 0.25 * q);
    let sing = (0.5 - 0.5 * wave(4.0, 0.06)).powi(2) * 0.22 * calm;
    set(
        &mut pose,
        "jaw",
        euler(-0.15 + sing + 0.36 * cheer, 0.0, 0.0),
    );

    for (_, s, x) in sides() {
        let n = |b: &str| format!("{b}{s}");
        set(
            &mut pose,
            &n("eye"),
            euler(
                -0.1 * cheer + 0.06 * wave(1.0, 0.0),
                0.24 * wave(1.0, -0.03),
                0.0,
            ),
        );
        // Ears: up when the body goes down, and the tips later than the ears.
        let ear = |late: f32| {
            0.16 * beat(late) + 0.5 * (leap((t - late).rem_euclid(1.0)).1)
                - 0.55 * leap((t - late).rem_euclid(1.0)).0
        };
        set(
            &mut pose,
            &n("ear"),
            euler(
                -0.1 * wave(4.0, 0.06),
                0.0,
                x * ear(0.045) + 0.1 * wave(4.0, 0.07),
            ),
        );
        set(
            &mut pose,
            &n("earTip"),
            euler(0.0, 0.0, x * 1.3 * ear(0.07) + 0.16 * wave(4.0, 0.09)),
        );
        // Arms pump in turns, and both go up in the leap.
        let pump = 0.5 + 0.5 * x * wave(4.0, 0.02);
        let arm = -0.15 + 0.75 * pump * (1.0 - cheer) + 1.05 * cheer;
        set(
            &mut pose,
            &n("arm"),
            euler(0.15 - 0.35 * pump, x * -0.25 * (1.0 - cheer), x * arm),
        );
        let bend =
            0.25 + 0.6 * pump * (1.0 - cheer) + 0.3 * cheer + 0.2 * cheer * x * wave(8.0, 0.0);
        set(
            &mut pose,
            &n("fore"),
            euler(-0.2 * pump, x * -0.3 * (1.0 - cheer), x * bend),
        );
        // Wings flutter on every beat and row the air in the leap.
        let flap = |late: f32| 0.2 * beat(late) * calm + 0.65 * cheer * wave(8.0, late - 0.02);
        set(
            &mut pose,
            &n("wing"),
            euler(0.0, x * (0.15 + 0.2 * flap(0.02)), x * (0.1 + flap(0.02))),
        );
        set(
            &mut pose,
            &n("wingMid"),
            euler(0.0, x * 0.15 * flap(0.04), x * (0.05 + 0.7 * flap(0.045))),
        );
        set(
            &mut pose,
            &n("wingTip"),
            euler(0.0, x * 0.15 * flap(0.06), x * 0.8 * flap(0.07)),
        );

        // Legs: the feet are given, hips and knees follow.
        let step = (x * wave(4.0, 0.0)).max(0.0) * calm;
        let bind = rig.0[rig.find(&n("foot"))].at;
        let late = leap((t - 0.012).rem_euclid(1.0)).0;
        let goal = bind
            + vec3(
                0.03 * x * step,
                0.12 * step * step.sqrt() + 0.4 * late,
                0.06 * step - 0.06 * late,
            );
        let world = world_of(rig, &pose);
        let rot = |i: usize| world[i].to_scale_rotation_translation().1;
        let (hi, kn, ft) = (
            rig.find(&n("thigh")),
            rig.find(&n("shin")),
            rig.find(&n("foot")),
        );
        let from = world[hi].w_axis.truncate();
        let (d1, d2) = (rig.local(kn), rig.local(ft));
        let (a, b) = (d1.length(), d2.length());
        let to = goal - from;
        let d = to.length().clamp(0.12, (a + b) * 0.998);
        let dir = to.normalize();
        let along = (a * a - b * b + d * d) / (2.0 * d);
        let pole = vec3(0.35 * x, 0.0, 1.0);
        let out = (pole - dir * pole.dot(dir)).normalize();
        let knee = dir * along + out * (a * a - along * along).max(0.0).sqrt();
        let hips = rot(rig.find("hips"));
        let thigh = Quat::from_rotation_arc(d1.normalize(), knee.normalize());
        let shin = Quat::from_rotation_arc(d2.normalize(), (dir * d - knee).normalize());
        let foot = euler(0.35 * step + 0.5 * late, x * 0.2, 0.0);
        pose[hi].r = hips.inverse() * thigh;
        pose[kn].r = thigh.inverse() * shin;
        pose[ft].r = shin.inverse() * foot;
    }
    for i in 1..=6 {
        let late = 0.025 * i as f32;
        let (lu, lc) = leap((t - late).rem_euclid(1.0));
        let k = 0.08 + 0.03 * i as f32;
        let q = euler(
            -0.05 * beat(late) + 0.16 * lc - 0.2 * lu,
            1.5 * k * wave(4.0, late),
            0.3 * k * wave(2.0, late),
        );
        set(&mut pose, &format!("tail{i}"), q);
    }
    pose
}

fn channels(t: f32) -> [f32; 3] {
    let (up, crouch) = leap(t);
    let smile = (0.35 + 0.25 * (TAU * 2.0 * t).sin() + 0.8 * bump(t, 0.58, 0.16)).clamp(0.0, 1.0);
    let puff = (0.3 - 0.3 * (TAU * 8.0 * t).cos() * (1.0 - up) + 0.7 * crouch).clamp(0.0, 1.2);
    let blink = bump(t, 0.12, 0.035)
        + bump(t, 0.2, 0.03)
        + bump(t, 0.465, 0.04)
        + 0.9 * bump(t, 0.86, 0.035);
    [smile, puff, blink.min(1.0)]
}

// ---------------------------------------------------------------- text

fn num(x: f32, digits: usize) -> String {
    let s = format!("{x:.digits$}");
    let s = if s.contains('.') {
        s.trim_end_matches('0').trim_end_matches('.')
    } else {
        &s
    };
    if s == "-0" { "0".into() } else { s.into() }
}

fn v3(v: Vec3, d: usize) -> String {
    format!("({}, {}, {})", num(v.x, d), num(v.y, d), num(v.z, d))
}

fn list<T>(items: impl IntoIterator<Item = T>, f: impl Fn(T) -> String) -> String {
    format!(
        "[{}]",
        items.into_iter().map(f).collect::<Vec<_>>().join(", ")
    )
}

/// Row by row as USD writes it: its rows are glam's columns.
fn matrix(m: Mat4) -> String {
    let row = |v: glam::Vec4| {
        format!(
            "({}, {}, {}, {})",
            num(v.x, 6),
            num(v.y, 6),
            num(v.z, 6),
            num(v.w, 6)
        )
    };
    format!(
        "( {}, {}, {}, {} )",
        row(m.x_axis),
        row(m.y_axis),
        row(m.z_axis),
        row(m.w_axis)
    )
}

fn bounds(points: impl IntoIterator<Item = Vec3>) -> (Vec3, Vec3) {
    points
        .into_iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| {
            (a.min(p), b.max(p))
        })
}

fn extent(b: (Vec3, Vec3)) -> String {
    format!("float3[] extent = [{}, {}]\n", v3(b.0, 4), v3(b.1, 4))
}

fn write_mesh(out: &mut String, m: &Mesh) {
    let pad = "            ";
    let _ = write!(
        out,
        "        def Mesh \"{}\" (\n{pad}prepend apiSchemas = [\"SkelBindingAPI\"]\n        )\n        {{\n",
        m.name
    );
    let mut line = |s: String| {
        let _ = writeln!(out, "{pad}{}", s.trim_end());
    };
    let meta = |interp: &str, n: usize| {
        format!(" (\n{pad}    elementSize = {n}\n{pad}    interpolation = \"{interp}\"\n{pad})")
    };
    let vertex = format!(" (\n{pad}    interpolation = \"vertex\"\n{pad})");
    line("uniform bool doubleSided = 1".into());
    line(extent(bounds(m.points.iter().copied())));
    line(format!(
        "int[] faceVertexCounts = {}",
        list(&m.faces, |f| f.len().to_string())
    ));
    line(format!(
        "int[] faceVertexIndices = {}",
        list(m.faces.iter().flatten(), |i| i.to_string())
    ));
    line(format!(
        "point3f[] points = {}",
        list(&m.points, |p| v3(*p, 5))
    ));
    line(format!(
        "normal3f[] normals = {}{vertex}",
        list(&m.normals, |p| v3(*p, 4))
    ));
    line(format!(
        "color3f[] primvars:displayColor = {}{vertex}",
        list(&m.colors, |p| v3(*p, 2))
    ));
    if m.bind != Mat4::IDENTITY {
        line(format!(
            "matrix4d primvars:skel:geomBindTransform = {}",
            matrix(m.bind)
        ));
    }
    match &m.skin {
        Skin::None => {}
        Skin::Rigid(j) => {
            line(format!(
                "int[] primvars:skel:jointIndices = [{j}]{}",
                meta("constant", 1)
            ));
            line(format!(
                "float[] primvars:skel:jointWeights = [1]{}",
                meta("constant", 1)
            ));
        }
        Skin::Smooth(w) => {
            let n = w.iter().map(Vec::len).max().unwrap_or(1);
            let flat: Vec<(usize, f32)> = w
                .iter()
                .flat_map(|p| (0..n).map(|k| p.get(k).copied().unwrap_or((0, 0.0))))
                .collect();
            line(format!(
                "int[] primvars:skel:jointIndices = {}{}",
                list(&flat, |x| x.0.to_string()),
                meta("vertex", n)
            ));
            line(format!(
                "float[] primvars:skel:jointWeights = {}{}",
                list(&flat, |x| num(x.1, 4)),
                meta("vertex", n)
            ));
        }
    }
    line("uniform token subdivisionScheme = \"none\"".into());
    if !m.shapes.is_empty() {
        line(format!(
            "uniform token[] skel:blendShapes = {}",
            list(&m.shapes, |s| format!("\"{}\"", s.name))
        ));
        line(format!(
            "rel skel:blendShapeTargets = {}",
            list(&m.shapes, |s| format!(
                "</Hatchling/Geo/{}/{}>",
                m.name, s.name
            ))
        ));
    }
    for s in &m.shapes {
        line(format!("\n{pad}def BlendShape \"{}\"\n{pad}{{", s.name));
        line(format!(
            "    uniform vector3f[] inbetweens:half = {} (\n{pad}        weight = 0.5\n{pad}    )",
            list(&s.half, |p| v3(*p, 5))
        ));
        line(format!(
            "    uniform vector3f[] inbetweens:half:normalOffsets = {}",
            list(&s.half_normals, |p| v3(*p, 3))
        ));
        line(format!(
            "    uniform vector3f[] normalOffsets = {}",
            list(&s.normals, |p| v3(*p, 3))
        ));
        line(format!(
            "    uniform vector3f[] offsets = {}",
            list(&s.offsets, |p| v3(*p, 5))
        ));
        line(format!(
            "    uniform int[] pointIndices = {}",
            list(&s.points, |i| i.to_string())
        ));
        line("}".into());
    }
    out.push_str("        }\n\n");
}

fn main() -> std::io::Result<()> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "examples/assets/hatchling.usda".into());
    let rig = make_rig();
    let meshes = [
        make_body(&rig),
        make_wing(&rig, "WingL", true),
        make_wing(&rig, "WingR", false),
        make_eye(&rig, "EyeL", "eyeL", 1.0),
        make_eye(&rig, "EyeR", "eyeR", -1.0),
        make_lid(&rig, "LidL", "eyeL"),
        make_lid(&rig, "LidR", "eyeR"),
        make_hat(&rig),
    ];
    // Every second frame, and the first one once more behind the last so that the loop closes.
    let frames: Vec<f32> = (0..=48).map(|i| 1.0 + 2.0 * i as f32).collect();
    let poses: Vec<Vec<Pose>> = frames
        .iter()
        .map(|f| dance(&rig, ((f - 1.0) / FRAMES).rem_euclid(1.0)))
        .collect();

    // The SkelRoot's extent holds the whole dance; blend shapes move little and get a margin.
    let mut all = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for pose in &poses {
        let to: Vec<Mat4> = world_of(&rig, pose)
            .iter()
            .zip(&rig.0)
            .map(|(w, j)| *w * Mat4::from_translation(-j.at))
            .collect();
        for m in &meshes {
            let moved = m.points.iter().enumerate().map(|(i, p)| {
                let p = m.bind.transform_point3(*p);
                match &m.skin {
                    Skin::None => p,
                    Skin::Rigid(j) => to[*j].transform_point3(p),
                    Skin::Smooth(w) => w[i]
                        .iter()
                        .map(|(j, x)| to[*j].transform_point3(p) * *x)
                        .sum(),
                }
            });
            let b = bounds(moved);
            all = (all.0.min(b.0), all.1.max(b.1));
        }
    }
    all = (all.0 - 0.1, all.1 + 0.1);

    let mut out = String::from(
        "#usda 1.0\n(\n    defaultPrim = \"Hatchling\"\n    doc = \"A hatchling dragon, made by examples/make_character.rs.\"\n    endTimeCode = 96\n    framesPerSecond = 24\n    metersPerUnit = 1\n    startTimeCode = 1\n    timeCodesPerSecond = 24\n    upAxis = \"Y\"\n)\n\n",
    );
    out.push_str("def SkelRoot \"Hatchling\" (\n    prepend apiSchemas = [\"SkelBindingAPI\"]\n    kind = \"component\"\n)\n{\n");
    let _ = write!(out, "    {}", extent(all));
    out.push_str("    rel skel:skeleton = </Hatchling/Rig/Skel>\n    float3 xformOp:rotateXYZ = (0, 20, 0)\n    float3 xformOp:scale = (0.5, 0.5, 0.5)\n    double3 xformOp:translate = (0.4, 0, -0.3)\n    uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateXYZ\", \"xformOp:scale\"]\n\n");

    let _ = write!(
        out,
        "    def Scope \"Rig\"\n    {{\n        def Skeleton \"Skel\" (\n            prepend apiSchemas = [\"SkelBindingAPI\"]\n        )\n        {{\n"
    );
    let pad = "            ";
    let _ = writeln!(
        out,
        "{pad}uniform token[] joints = {}",
        list(&rig.0, |j| format!("\"{}\"", j.path))
    );
    let _ = writeln!(
        out,
        "{pad}uniform matrix4d[] bindTransforms = {}",
        list(&rig.0, |j| matrix(Mat4::from_translation(j.at)))
    );
    let _ = writeln!(
        out,
        "{pad}uniform matrix4d[] restTransforms = {}",
        list(0..rig.0.len(), |i| matrix(Mat4::from_translation(
            rig.local(i)
        )))
    );
    let _ = writeln!(
        out,
        "{pad}rel skel:animationSource = </Hatchling/Rig/Dance>\n        }}\n"
    );

    // What never moves on its own is left to the rest transforms.
    let still = ["root", "handL", "handR"].map(|n| rig.find(n));
    let moving: Vec<usize> = (0..rig.0.len()).filter(|i| !still.contains(i)).collect();
    let _ = writeln!(out, "        def SkelAnimation \"Dance\"\n        {{");
    let _ = writeln!(
        out,
        "{pad}uniform token[] joints = {}",
        list(&moving, |i| format!("\"{}\"", rig.0[*i].path))
    );
    let mut samples = |decl: &str, text: &dyn Fn(usize) -> String| {
        let _ = writeln!(out, "{pad}{decl}.timeSamples = {{");
        for (k, f) in frames.iter().enumerate() {
            let _ = writeln!(out, "{pad}    {}: {},", num(*f, 2), text(k));
        }
        let _ = writeln!(out, "{pad}}}");
    };
    samples("float3[] translations", &|k| {
        list(&moving, |i| v3(poses[k][*i].t, 5))
    });
    samples("quatf[] rotations", &|k| {
        list(&moving, |i| {
            let q = poses[k][*i].r.normalize();
            let q = if q.w < 0.0 { -q } else { q };
            format!(
                "({}, {}, {}, {})",
                num(q.w, 5),
                num(q.x, 5),
                num(q.y, 5),
                num(q.z, 5)
            )
        })
    });
    samples("half3[] scales", &|k| {
        list(&moving, |i| v3(poses[k][*i].s, 4))
    });
    samples("float[] blendShapeWeights", &|k| {
        list(
            channels(((frames[k] - 1.0) / FRAMES).rem_euclid(1.0)),
            |x| num(x, 4),
        )
    });
    let _ = writeln!(
        out,
        "{pad}uniform token[] blendShapes = [\"smile\", \"puff\", \"blink\"]\n        }}\n    }}\n\n    def Scope \"Geo\"\n    {{"
    );
    for m in &meshes {
        write_mesh(&mut out, m);
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n    }\n}\n");

    if let Some(dir) = std::path::Path::new(&path).parent() {
        std::fs::create_dir_all(dir)?;
    }
    std::fs::write(&path, &out)?;
    for m in &meshes {
        let n = match &m.skin {
            Skin::Smooth(w) => w.iter().map(Vec::len).max().unwrap_or(0),
            _ => 1,
        };
        println!(
            "{:12} {:5} points, {n} influences, {} shapes",
            m.name,
            m.points.len(),
            m.shapes.len()
        );
    }
    println!(
        "{path}: {} joints, {} animated, {} bytes",
        rig.0.len(),
        moving.len(),
        out.len()
    );
    Ok(())
}
