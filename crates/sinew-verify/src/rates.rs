//! How fast each kernel is on an adapter: the median of a few frames of one large mesh.

use std::sync::Arc;

use glam::{DMat4, Vec4};
use sinew::gpu::{BoundsUse, Crowd, SkinnerOptions};
use sinew::kernel::{PackedPose, PackedRig, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{MeshTopology, Skin, SkinningMethod};
use web_time::Instant;

use crate::cases::{self, Influences, Spec};
use crate::host::{Gpu, by_rig};
use crate::posing::rigs;
use crate::{Failure, Subject};

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Points, or render vertices, that a frame deforms.
    Points,
    /// Joints that a frame poses.
    Joints,
}

/// The rate of one kernel or layout.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Rate {
    /// What the kernel is about.
    pub subject: Subject,
    /// What was done.
    pub case: &'static str,
    /// What is counted.
    pub unit: Unit,
    /// How many of them a frame has.
    pub count: usize,
    /// Seconds of the median frame: of the device where it has timestamps, else of the wall clock.
    pub seconds: f64,
}

impl Rate {
    /// How many a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.count as f64 / self.seconds
    }
}

/// Points of the mesh that rates are measured on.
const POINTS: usize = 1_000_000;
/// The same where the adapter is software.
const POINTS_ON_SOFTWARE: usize = 50_000;
/// Joints of a posed rig.
const JOINTS: usize = 64;
/// Frames that count, and frames before them that warm up.
const FRAMES: (usize, usize) = (9, 2);

/// Measures every kernel, and calls `done` after each.
///
/// # Errors
/// Those of the kernels, memory that is not there among them.
pub fn rates(gpu: &Gpu, mut done: impl FnMut()) -> Result<Vec<Rate>, Failure> {
    let points = match gpu.opened().report().software {
        true => POINTS_ON_SOFTWARE,
        false => POINTS,
    };
    let mut out = Vec::new();
    for (subject, case, make) in MESHES {
        let (skin, packed) = make(points)?;
        out.push(Rate {
            subject: *subject,
            case,
            unit: Unit::Points,
            count: packed.output_count(),
            seconds: mesh(gpu, &skin, &Arc::new(packed), *subject)?,
        });
        done();
    }
    let characters = (points / 500).max(1);
    out.push(Rate {
        subject: Subject::Posing,
        case: "local transforms to palettes",
        unit: Unit::Joints,
        count: characters * JOINTS,
        seconds: posing(gpu, characters)?,
    });
    done();
    Ok(out)
}

/// How many calls of `done` [`rates`] makes.
#[must_use]
pub fn count() -> usize {
    MESHES.len() + 1
}

type Make = fn(usize) -> Result<(Skin, PackedSkin), Failure>;

const MESHES: &[(Subject, &str, Make)] = &[
    (Subject::Linear, "points, 4 influences", |n| {
        plain(n, 4, false)
    }),
    (Subject::Linear, "points and normals, 4 influences", |n| {
        plain(n, 4, true)
    }),
    (Subject::Linear, "points and normals, 12 influences", |n| {
        plain(n, 12, true)
    }),
    (Subject::DualQuaternions, "points and normals", |n| {
        let method = SkinningMethod::DualQuaternion;
        packed(spec(n).method(method))
    }),
    (Subject::BlendShapes, "points, 9 shapes", |n| {
        packed(
            spec(n)
                .influences(Influences::None)
                .normals(false)
                .shapes(9),
        )
    }),
    (Subject::SmoothNormals, "with points", |n| {
        let (skin, packed) = plain(n, 4, false)?;
        let faces = grid(skin.points().len())?;
        let packed = packed.with_smooth_normals(&faces)?;
        Ok((skin, packed))
    }),
    (
        Subject::Tangents,
        "render vertices, normals, tangents",
        |n| {
            let (skin, packed) = plain(n, 4, true)?;
            let map = (0..n as u32).collect();
            let vertices = RenderVertices::new(map).with_tangents(vec![Vec4::X; n]);
            Ok((skin, packed.with_vertices(vertices)?))
        },
    ),
    (Subject::Bounds, "with points", |n| plain(n, 4, false)),
];

fn spec(points: usize) -> Spec {
    Spec::default().points(points).joints(60)
}

fn packed(spec: Spec) -> Result<(Skin, PackedSkin), Failure> {
    let skin = cases::skin(&spec);
    let packed = PackedSkin::pack("/Case", &skin)?;
    Ok((skin, packed))
}

fn plain(points: usize, influences: usize, normals: bool) -> Result<(Skin, PackedSkin), Failure> {
    packed(
        spec(points)
            .influences(Influences::Vertex(influences))
            .normals(normals),
    )
}

/// Quads between the points of a square, as far as they reach.
fn grid(points: usize) -> Result<MeshTopology, Failure> {
    let side = points.isqrt() as i32;
    let quad = |row: i32, column: i32| {
        let at = row * side + column;
        [at, at + 1, at + side + 1, at + side]
    };
    let rows = (0..side - 1).flat_map(|r| (0..side - 1).map(move |c| (r, c)));
    let corners: Vec<i32> = rows.flat_map(|(r, c)| quad(r, c)).collect();
    let counts = vec![4; corners.len() / 4];
    Ok(MeshTopology::new(
        "/Case", &counts, &corners, false, points,
    )?)
}

/// Seconds of the median frame, each after a `change`.
fn median(
    gpu: &Gpu,
    crowd: &mut Crowd,
    mut change: impl FnMut(&mut Crowd, usize) -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let mut seconds = Vec::with_capacity(FRAMES.0);
    for frame in 0..FRAMES.0 + FRAMES.1 {
        change(crowd, frame)?;
        let start = Instant::now();
        crowd.submit()?;
        gpu.finish()?;
        let wall = start.elapsed();
        let times = crowd.last_gpu_time()?;
        if frame >= FRAMES.1 {
            seconds.push(times.map_or(wall, |t| t.total()).as_secs_f64());
        }
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[FRAMES.0 / 2].max(1e-9))
}

fn stamped() -> SkinnerOptions {
    let mut options = SkinnerOptions::default();
    options.timestamps = true;
    options
}

fn mesh(
    gpu: &Gpu,
    skin: &Skin,
    packed: &Arc<PackedSkin>,
    subject: Subject,
) -> Result<f64, Failure> {
    let mut crowd = gpu.crowd_with(&stamped())?;
    let id = crowd.add_skin(Arc::clone(packed))?;
    let instance = crowd.add_instance(id)?;
    if subject == Subject::Bounds {
        crowd.enable_bounds(BoundsUse::OnGpu)?;
    }
    let poses = [1, 2]
        .map(|time| PackedPose::pack(packed, &cases::pose(skin, time)).expect("sizes that fit"));
    median(gpu, &mut crowd, |crowd, frame| {
        Ok(crowd.set_pose(instance, &poses[frame % 2])?)
    })
}

/// Characters of one point each, so that posing is nearly all there is.
fn posing(gpu: &Gpu, characters: usize) -> Result<f64, Failure> {
    let spec = rigs::Spec::default().joints(JOINTS);
    let rig = PackedRig::pack(&rigs::skeleton(&spec), DMat4::IDENTITY, false)?;
    let (_, point) = packed(Spec::default().points(1).joints(JOINTS).normals(false))?;
    let mut crowd = gpu.crowd_with(&stamped())?;
    let skin = crowd.add_skin(Arc::new(point))?;
    let rig = Arc::new(rig);
    let mut posed = Vec::with_capacity(characters);
    for instance in crowd.add_instances(skin, characters)? {
        let rig = crowd.add_rig(Arc::clone(&rig))?;
        crowd.set_pose(instance, by_rig(rig, &DMat4::IDENTITY, &[]))?;
        posed.push(rig);
    }
    let joints = [0, 1].map(|time| rigs::locals(&spec, time));
    median(gpu, &mut crowd, |crowd, frame| {
        for rig in &posed {
            crowd.set_joints(*rig, &joints[frame % 2])?;
        }
        Ok(())
    })
}
