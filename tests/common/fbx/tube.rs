//! A ready-made character.

use glam::DVec3;

use super::maker::{Keys, Run};
use super::{Channel, Character, Clip, Joint, Motion, Shape, Y_UP};

const SIDES: usize = 5;
const RINGS: usize = 6;

fn linear(keys: &[(f64, f64)]) -> Keys {
    Keys(keys.iter().map(|(t, v)| (*t, *v, Run::Linear)).collect())
}

impl Character {
    /// A tube of five sides on three joints with all that an FBX transform has, a loose triangle without weights, a
    /// channel with an in-between, and two clips of linear, stepped and smooth curves.
    pub fn tube() -> Self {
        let joints = vec![
            Joint {
                rotation: DVec3::new(10.0, -20.0, 30.0),
                rotation_pivot: DVec3::new(0.1, 0.2, 0.3),
                ..Joint::plain("Hips", None, DVec3::new(0.5, 1.0, -0.5))
            },
            Joint {
                rotation: DVec3::new(-15.0, 5.0, 25.0),
                order: 4,
                pre: DVec3::new(20.0, 10.0, -30.0),
                post: DVec3::new(5.0, -15.0, 10.0),
                rotation_offset: DVec3::new(0.0, 0.1, 0.0),
                scaling_offset: DVec3::new(0.05, 0.0, 0.1),
                scaling_pivot: DVec3::new(-0.1, 0.2, 0.0),
                scale: DVec3::new(1.1, 0.9, 1.2),
                ..Joint::plain("mixamorig:Spine", Some(0), DVec3::new(0.0, 3.5, 0.2))
            },
            Joint {
                rotation: DVec3::new(0.0, 40.0, 0.0),
                order: 3,
                ..Joint::plain("Neck.001", Some(1), DVec3::new(0.1, 3.0, 0.0))
            },
        ];
        let mut points = Vec::new();
        for ring in 0..RINGS {
            for side in 0..SIDES {
                let angle = std::f64::consts::TAU * side as f64 / SIDES as f64;
                points.push(DVec3::new(
                    1.5 * angle.cos(),
                    2.0 * ring as f64,
                    1.5 * angle.sin(),
                ));
            }
        }
        let loose = points.len();
        points.extend([
            DVec3::Z * 3.0,
            DVec3::new(1.0, 0.0, 3.0),
            DVec3::new(0.0, 1.0, 3.0),
        ]);
        Self {
            axes: Y_UP,
            unit: 1.0,
            joints,
            faces: faces(loose),
            weights: weights(loose),
            points,
            geometric_translation: DVec3::new(0.0, -0.5, 0.25),
            geometric_rotation: DVec3::new(0.0, 30.0, 10.0),
            place: DVec3::new(0.2, 0.4, 0.6),
            channels: tube_channels(),
            clips: tube_clips(),
            skinning: "Linear",
            pictures: vec![],
        }
    }
}

fn faces(loose: usize) -> Vec<(Vec<usize>, usize)> {
    let mut faces = Vec::new();
    for ring in 0..RINGS - 1 {
        for side in 0..SIDES {
            let (a, b) = (ring * SIDES + side, ring * SIDES + (side + 1) % SIDES);
            let (c, d) = (b + SIDES, a + SIDES);
            if ring == 2 && side == 3 {
                faces.extend([(vec![a, c, b], 0), (vec![a, d, c], 0)]);
            } else {
                faces.push((vec![a, d, c, b], 0));
            }
        }
    }
    faces.push(((0..SIDES).collect(), 1));
    faces.push(((0..SIDES).map(|s| RINGS * SIDES - 1 - s).collect(), 1));
    faces.push(((loose..loose + 3).collect(), 0));
    faces
}

fn weights(loose: usize) -> Vec<Vec<(usize, f64)>> {
    let of_point = |point: usize| {
        let height = (point / SIDES) as f64 / (RINGS - 1) as f64;
        // They sum to other numbers than 1, and some have one joint, some two, some three.
        let row = [
            1.0 - 1.5 * height,
            0.7 - (height - 0.5).abs(),
            1.5 * height - 0.5,
        ];
        let row = row.into_iter().enumerate();
        row.filter(|(_, w)| *w > 0.05).collect()
    };
    let mut weights: Vec<Vec<(usize, f64)>> = (0..loose).map(of_point).collect();
    weights.extend([vec![], vec![], vec![]]);
    weights
}

fn tube_channels() -> Vec<Channel> {
    let shape = |name, points: &[usize], size: f64, full_weight| Shape {
        name,
        points: points.to_vec(),
        offsets: points
            .iter()
            .map(|p| DVec3::new((*p as f64).sin(), 0.3, (*p as f64).cos()) * size)
            .collect(),
        full_weight,
    };
    vec![
        Channel {
            name: "Face.Smile",
            percent: 0.0,
            shapes: vec![
                shape("SmileHalf", &[20, 21, 26, 31], 0.9, 40.0),
                shape("Smile", &[21, 25, 26, 27], -0.6, 100.0),
            ],
        },
        Channel {
            name: "Wide",
            percent: 25.0,
            // Full at half the slider's way.
            shapes: vec![shape("WideShape", &[0, 1, 2, 3, 4, 5], 0.5, 50.0)],
        },
    ]
}

fn tube_clips() -> Vec<Clip> {
    let motion = |joint, property, keys| Motion {
        joint,
        property,
        keys,
    };
    let cubic = Keys(vec![
        (0.0, 0.5, Run::Cubic(2.0, -1.0)),
        (0.5, 1.5, Run::Cubic(-1.0, 0.0)),
        (1.0, 0.5, Run::Linear),
    ]);
    let steps = Keys(vec![
        (0.0, 0.0, Run::Step),
        (0.25, 35.0, Run::Step),
        (0.75, -20.0, Run::Linear),
        (1.0, 0.0, Run::Linear),
    ]);
    vec![
        Clip {
            name: "Wave",
            seconds: 1.0,
            motions: vec![
                motion(
                    0,
                    "Lcl Translation",
                    vec![(0, cubic), (2, linear(&[(0.0, -0.5), (1.0, 2.0)]))],
                ),
                motion(
                    1,
                    "Lcl Rotation",
                    vec![
                        (0, linear(&[(0.0, -15.0), (0.5, 60.0), (1.0, -15.0)])),
                        (1, linear(&[(0.0, 5.0), (1.0, 170.0)])),
                        (2, linear(&[(0.0, 25.0), (1.0, -90.0)])),
                    ],
                ),
                motion(2, "Lcl Rotation", vec![(1, steps)]),
                motion(
                    2,
                    "Lcl Scaling",
                    vec![(1, linear(&[(0.0, 1.0), (1.0, 2.0)]))],
                ),
            ],
            channels: vec![
                (0, linear(&[(0.0, 0.0), (0.5, 100.0), (1.0, 120.0)])),
                (1, linear(&[(0.0, 0.0), (1.0, 50.0)])),
            ],
        },
        Clip {
            name: "Still",
            seconds: 0.5,
            motions: vec![motion(
                1,
                "Lcl Rotation",
                vec![(0, linear(&[(0.0, 50.0), (0.5, 50.0)]))],
            )],
            channels: vec![],
        },
    ]
}
