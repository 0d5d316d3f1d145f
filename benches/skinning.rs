//! Points per second of the CPU backend and the GPU, and against usd-core in the same run.
//!
//! `cargo bench --bench skinning -- [--json] [--points N] [--runs N] [--adapter NAME]`. With
//! `SINEW_PYTHON` naming a Python that has usd-core, `benches/usd_core_skinning.py` runs beside it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::{DMat4, DQuat, DVec3, Vec3, Vec4};
use serde_json::{Value, json};
use sinew::gpu::{AdapterChoice, Crowd, GpuDevice, GpuError, Skinner, SkinnerOptions};
use sinew::kernel::{CpuJob, PackedPose, PackedSkin, RenderVertices};
use sinew::skel::{
    BlendShape, InfluenceInterpolation, JointInfluences, MeshTopology, Pose, RestNormals, Skin,
    SkinningMethod,
};

const JOINTS: usize = 100;
const INFLUENCES: usize = 4;

/// xorshift64*, seeded.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    fn unit(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit())
    }
}

struct Options {
    json: bool,
    points: usize,
    runs: usize,
    adapter: AdapterChoice,
}

fn options() -> Options {
    let mut out = Options {
        json: false,
        points: 1_000_000,
        runs: 15,
        adapter: AdapterChoice::Any,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_default();
        match arg.as_str() {
            "--json" => out.json = true,
            "--points" => out.points = value().parse().expect("--points takes a number"),
            "--runs" => out.runs = value().parse().expect("--runs takes a number"),
            "--adapter" => out.adapter = AdapterChoice::Named(value()),
            _ => {} // cargo's own, such as --bench
        }
    }
    out
}

/// Which normals a skin has.
#[derive(Clone, Copy, PartialEq)]
enum Normals {
    None,
    PerPoint,
    /// Four corners to a point, as in a mesh of quads.
    FaceVarying,
}

fn skinned(points: usize, normals: Normals, method: SkinningMethod) -> Skin {
    let rng = &mut Rng(7);
    let rest: Vec<Vec3> = (0..points).map(|_| rng.vector()).collect();
    // Neighbouring points share joints, as in a mesh.
    let joints: Vec<i32> = (0..points * INFLUENCES)
        .map(|i| ((i / INFLUENCES * JOINTS / points + rng.below(8)) % JOINTS) as i32)
        .collect();
    let weights = vec![1.0 / INFLUENCES as f32; joints.len()];
    let vertex = InfluenceInterpolation::Vertex;
    let influences =
        JointInfluences::new("/B", vertex, INFLUENCES, &joints, weights, points, JOINTS)
            .expect("valid");
    let normal = |p: &Vec3| p.normalize_or(Vec3::X);
    let normals = match normals {
        Normals::None => None,
        Normals::PerPoint => Some(RestNormals::per_point(Arc::new(
            rest.iter().map(normal).collect(),
        ))),
        Normals::FaceVarying => {
            let corners: Vec<i32> = (0..points * 4)
                .map(|i| ((i / 4 + [0, 1, 501, 500][i % 4]) % points) as i32)
                .collect();
            let values = corners.iter().map(|p| normal(&rest[*p as usize]));
            let values = Arc::new(values.collect());
            Some(RestNormals::face_varying("/B", values, &corners, points).expect("valid"))
        }
    };
    Skin::new(
        "/B",
        Arc::new(rest),
        normals,
        Some(influences),
        None,
        JOINTS,
        Vec::new(),
    )
    .expect("valid")
    .with_method(method)
}

/// 200 shapes that each move 5 % of the points; 20 of them are active.
fn blended() -> Skin {
    let (points, shapes) = (50_000, 200);
    let rng = &mut Rng(9);
    let rest: Vec<Vec3> = (0..points).map(|_| rng.vector()).collect();
    let shapes = (0..shapes)
        .map(|_| {
            let indices: Vec<i64> = (0..points / 20).map(|_| rng.below(points) as i64).collect();
            let offsets = indices.iter().map(|_| rng.vector()).collect();
            let shape = BlendShape::new(
                "/S",
                Some(&indices),
                offsets,
                None,
                Vec::new(),
                points,
                &mut Vec::new(),
            );
            Some(Arc::new(shape.expect("valid")))
        })
        .collect();
    Skin::new("/B", Arc::new(rest), None, None, None, 0, shapes).expect("valid")
}

fn pose(skin: &Skin, scale: f64) -> Pose {
    let rng = &mut Rng(11);
    let skinning = (0..skin.joint_count())
        .map(|_| {
            DMat4::from_scale_rotation_translation(
                DVec3::new(1.0, scale, 1.0),
                DQuat::from_rotation_y(rng.unit().into()),
                rng.vector().as_dvec3(),
            )
        })
        .collect();
    Pose {
        skinning: skin.influences().map(|_| Arc::new(skinning)),
        geom_bind: DMat4::from_translation(DVec3::X),
        channel_weights: (0..skin.shapes().len())
            .map(|i| if i % 10 == 0 { 0.5 } else { 0.0 })
            .collect(),
        out_from_skel: DMat4::IDENTITY,
    }
}

/// Best and median.
fn summary(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    (times[0].as_secs_f64(), times[times.len() / 2].as_secs_f64())
}

fn row(backend: &str, case: &str, points: usize, (best, median): (f64, f64)) -> Value {
    let rate = |seconds: f64| (points as f64 / seconds / 1e5).round() / 10.0;
    json!({
        "backend": backend, "case": case, "points": points,
        "best_ms": best * 1e3, "median_ms": median * 1e3,
        "best_mpoints_per_s": rate(best), "median_mpoints_per_s": rate(median),
    })
}

/// What is made of a skin besides its own points and normals.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    AsItIs,
    /// Render vertices, a fifth more than points, with tangents.
    ByVertices,
    /// Smooth normals of a grid of quads.
    WithMadeNormals,
}

fn pack(skin: &Skin, shown: Shown) -> PackedSkin {
    let packed = PackedSkin::pack("/B", skin).expect("packs");
    let points = packed.point_count();
    match shown {
        Shown::AsItIs => packed,
        Shown::ByVertices => {
            let count = points + points / 5;
            let map = (0..count).map(|v| (v * points / count) as u32);
            let vertices = RenderVertices::new(map.collect());
            let vertices = vertices.with_tangents(vec![Vec4::X; count]);
            packed.with_vertices(vertices).expect("valid")
        }
        Shown::WithMadeNormals => {
            let side = points.isqrt();
            let quads = (0..side - 1).flat_map(|y| (0..side - 1).map(move |x| y * side + x));
            let indices = quads.flat_map(|p| [p, p + 1, p + side + 1, p + side].map(|p| p as i32));
            let indices: Vec<i32> = indices.collect();
            let counts = vec![4; indices.len() / 4];
            let faces = MeshTopology::new("/B", &counts, &indices, false, points);
            let faces = faces.expect("valid");
            packed.with_made_normals(&faces).expect("valid")
        }
    }
}

fn cpu(case: &str, skin: &Skin, shown: Shown, scale: f64, runs: usize) -> Value {
    let packed = pack(skin, shown);
    let pose = PackedPose::pack(&packed, &pose(skin, scale));
    let mut points = vec![Vec3::ZERO; packed.output_count()];
    let mut normals = packed
        .has_output_normals()
        .then(|| vec![Vec3::ZERO; packed.output_normal_count()]);
    let mut tangents = packed.tangents().map(<[Vec4]>::to_vec);
    let times = (0..runs + 2)
        .map(|_| {
            let mut job = CpuJob::new(&packed, &pose, &mut points);
            job.normals = normals.as_deref_mut();
            job.tangents = tangents.as_deref_mut();
            let start = Instant::now();
            job.run();
            start.elapsed()
        })
        .skip(2)
        .collect();
    row("cpu", case, points.len(), summary(times))
}

/// Bytes that must move once: rest in, influences or entries in, results out.
fn floor_bytes(packed: &PackedSkin) -> u64 {
    let points = packed.point_count() as u64;
    // Rest and result; a map of vertices, and the neighbours that normals are made from.
    let shown = packed.vertices().map_or(0, |v| v.count() as u64 * 4);
    let tangents = packed.tangents().map_or(0, |t| t.len() as u64 * 32);
    let made = packed.made_normals().map_or(0, |m| {
        (m.rows().len() + m.neighbors().len() * 2) as u64 * 4 + packed.output_count() as u64 * 24
    });
    let normals = packed.normal_count() as u64 * 12;
    let normals = match packed.made_normals() {
        Some(_) => 0,
        None => normals + packed.output_normal_count() as u64 * 12,
    };
    let corners = packed.normal_points().map_or(0, |p| p.len() as u64 * 4);
    let influences = packed
        .influences()
        .map_or(0, |i| i.words().len() as u64 * 4);
    // A row per point; a word and an offset per entry of the tenth that is active.
    let blend = packed
        .blend()
        .map_or(0, |b| points * 4 + b.offsets().len() as u64 * 16 / 10);
    let results = packed.output_count() as u64 * 12;
    points * 12 + results + normals + corners + influences + blend + shown + tangents + made
}

fn gpu(
    case: &str,
    skin: &Skin,
    shown: Shown,
    scale: f64,
    options: &Options,
    device: &GpuDevice,
) -> Result<Value, GpuError> {
    let packed = Arc::new(pack(skin, shown));
    let wanted = SkinnerOptions {
        timestamps: true,
        ..SkinnerOptions::default()
    };
    let skinner = Skinner::new(device.device(), device.queue(), &wanted)?;
    let mut crowd: Crowd = skinner.crowd();
    let id = crowd.add_skin(Arc::clone(&packed))?;
    let instance = crowd.add_instance(id)?;
    crowd.set_pose(instance, &PackedPose::pack(&packed, &pose(skin, scale)))?;
    let mut times = Vec::new();
    let mut stamped = true;
    for run in 0..options.runs + 2 {
        let start = Instant::now();
        crowd.submit()?;
        let _ = device.device().poll(wgpu::PollType::wait_indefinitely());
        let wall = start.elapsed();
        let time = match crowd.last_gpu_time()? {
            Some(times) => times.weights + times.skin + times.made_normals,
            None => {
                stamped = false;
                wall
            }
        };
        if run >= 2 {
            times.push(time);
        }
    }
    let (best, median) = summary(times);
    let bytes = floor_bytes(&packed);
    let copy = copy_seconds(device, bytes, options.runs)?;
    let mut out = row(
        &device.report().name,
        case,
        packed.output_count(),
        (best, median),
    );
    out["timestamps"] = stamped.into();
    out["floor_bytes"] = bytes.into();
    out["copy_of_floor_bytes_ms"] = (copy * 1e3).into();
    out["share_of_copy_bandwidth"] = ((copy / best * 1000.0).round() / 1000.0).into();
    device.check()?;
    Ok(out)
}

/// Best time of a buffer-to-buffer copy that moves `bytes` in all: half read, half written.
fn copy_seconds(device: &GpuDevice, bytes: u64, runs: usize) -> Result<f64, GpuError> {
    let (device, queue) = (device.device(), device.queue());
    let size = (bytes / 2).next_multiple_of(4);
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("bench.copy"),
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    let from = buffer(wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST);
    let to = buffer(wgpu::BufferUsages::COPY_DST);
    // Many copies in one submit, so that the submit itself does not count.
    const REPEAT: u32 = 16;
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&from, 0, None);
        queue.submit([encoder.finish()]);
        let _ = device.poll(wgpu::PollType::wait_indefinitely());
        let mut encoder = device.create_command_encoder(&Default::default());
        for _ in 0..REPEAT {
            encoder.copy_buffer_to_buffer(&from, 0, &to, 0, size);
        }
        let start = Instant::now();
        queue.submit([encoder.finish()]);
        let _ = device.poll(wgpu::PollType::wait_indefinitely());
        best = best.min(start.elapsed().as_secs_f64() / f64::from(REPEAT));
    }
    Ok(best)
}

/// usd-core in the same run, where a Python is named.
fn usd_core(options: &Options) -> Vec<Value> {
    let Ok(python) = std::env::var("SINEW_PYTHON") else {
        return Vec::new();
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/usd_core_skinning.py");
    let run = std::process::Command::new(&python)
        .args([
            script,
            &options.points.to_string(),
            &options.runs.to_string(),
        ])
        .output();
    match run {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        Ok(out) => {
            eprintln!(
                "{python} {script}: {}",
                String::from_utf8_lossy(&out.stderr)
            );
            Vec::new()
        }
        Err(error) => {
            eprintln!("{python}: {error}");
            Vec::new()
        }
    }
}

fn main() {
    let options = options();
    let (linear, dual) = (
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    );
    let of = |normals, method| skinned(options.points, normals, method);
    let as_it_is = Shown::AsItIs;
    // Name, skin, what it is shown by, scale of its joints in y.
    let cases = [
        ("lbs", of(Normals::None, linear), as_it_is, 1.0),
        ("lbs+normals", of(Normals::PerPoint, linear), as_it_is, 1.0),
        (
            "lbs+faceVarying normals",
            of(Normals::FaceVarying, linear),
            as_it_is,
            1.0,
        ),
        (
            "lbs+normals+tangents, vertices",
            of(Normals::PerPoint, linear),
            Shown::ByVertices,
            1.0,
        ),
        (
            "lbs+made normals",
            of(Normals::None, linear),
            Shown::WithMadeNormals,
            1.0,
        ),
        ("dqs", of(Normals::None, dual), as_it_is, 1.0),
        ("dqs+scale", of(Normals::None, dual), as_it_is, 1.5),
        (
            "dqs+scale+normals",
            of(Normals::PerPoint, dual),
            as_it_is,
            1.5,
        ),
        ("blend 200x5%, 20 active", blended(), as_it_is, 1.0),
    ];
    let mut rows: Vec<Value> = cases
        .iter()
        .map(|(case, skin, shown, scale)| cpu(case, skin, *shown, *scale, options.runs))
        .collect();
    match GpuDevice::new(&options.adapter) {
        Ok(device) => {
            for (case, skin, shown, scale) in &cases {
                match gpu(case, skin, *shown, *scale, &options, &device) {
                    Ok(row) => rows.push(row),
                    Err(error) => eprintln!("{case}: {error}"),
                }
            }
        }
        Err(error) => eprintln!("{error}"),
    }
    let theirs = usd_core(&options);
    let best = |rows: &[Value], case: &str| {
        let rates = rows
            .iter()
            .filter(|r| r["case"] == case)
            .filter_map(|r| r["best_mpoints_per_s"].as_f64());
        rates.fold(0.0f64, f64::max)
    };
    let ratio =
        (!theirs.is_empty()).then(|| best(&rows[..cases.len()], "lbs") / best(&theirs, "lbs"));
    rows.extend(theirs);

    if options.json {
        let report = json!({ "threads": rayon::current_num_threads(), "rows": rows, "cpu_over_usd_core": ratio });
        println!("{report:#}");
        return;
    }
    println!(
        "{} threads; {} runs each; million points/s",
        rayon::current_num_threads(),
        options.runs
    );
    for row in &rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| row[key].as_f64().unwrap_or_default();
        print!(
            "{:<34} {:<30} best {:>8.1}  median {:>8.1}  ({:.3} ms)",
            text("backend"),
            text("case"),
            number("best_mpoints_per_s"),
            number("median_mpoints_per_s"),
            number("best_ms")
        );
        if row.get("floor_bytes").is_some() {
            let (share, megabytes) = (
                100.0 * number("share_of_copy_bandwidth"),
                number("floor_bytes") / 1e6,
            );
            print!("  {share:.0} % of a copy's bandwidth over {megabytes:.1} MB");
        }
        println!();
    }
    if let Some(ratio) = ratio {
        println!("CPU backend over the best of usd-core: {ratio:.2} x");
    }
}
