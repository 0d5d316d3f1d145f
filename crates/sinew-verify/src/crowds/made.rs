//! Small skins with poses.

use std::sync::{Arc, LazyLock, OnceLock};

use crate::{Failure, ensure};
use glam::{DMat4, DVec3, Vec3, Vec4};
use sinew::Invalid;
use sinew::gpu::{
    Crowd, Deformed, InstanceId, OutputTarget, Prewarm, SkinId, Skinner, SkinnerOptions,
};
use sinew::kernel::{PackedPose, PackedSkin, Palette};
use sinew::mesh::RenderVertices;
use sinew::skel::{MeshTopology, Pose, Skin, SkinningMethod, reference};

use crate::host::{Gpu, posed};
pub use crate::outputs::shown::bits;
use crate::outputs::shown::on_cpu;

use crate::cases::{self, Influences, Spec};
use crate::compare::{compare, compare_but};
use crate::tolerance;

/// A skin, what it is packed to, and how it moves.
#[derive(Clone)]
pub struct Made {
    pub spec: Spec,
    pub skin: Skin,
    pub packed: Arc<PackedSkin>,
    /// If normals are computed.
    pub faces: Option<MeshTopology>,
}

/// What is expected of a pose.
pub struct Expected {
    points: Vec<DVec3>,
    normals: Option<Vec<DVec3>>,
    tangents: Option<Vec<DVec3>>,
    /// Points and normals that hang on rounding (see [`reference::hemisphere_ties`]), which two
    /// implementations need not agree on.
    ties: [Vec<bool>; 2],
    pub mirror: Deformed,
}

pub fn made(spec: &Spec) -> Made {
    let skin = cases::skin(spec);
    let packed = PackedSkin::pack("/Case", &skin).expect("valid");
    Made {
        spec: *spec,
        skin,
        packed: Arc::new(packed),
        faces: None,
    }
}

impl Made {
    /// A pose that is not packed.
    pub fn unpacked(&self, seed: u64) -> Pose {
        cases::pose_in(&self.skin, self.spec.motion, seed)
    }

    pub fn pose(&self, seed: u64) -> PackedPose {
        PackedPose::pack(&self.packed, &self.unpacked(seed)).expect("sizes that fit")
    }

    /// Fills in a pose.
    pub fn fill(&self, seed: u64, pose: &mut Pose) {
        let from = self.unpacked(seed);
        let weights = &from.channel_weights;
        pose.channel_weights.extend_from_slice(weights);
        pose.skinning = from.skinning;
        (pose.geom_bind, pose.out_from_skel) = (from.geom_bind, from.out_from_skel);
    }

    /// A pose by a palette and weights, where the skin is.
    pub fn posed_by(&self, palette: Option<Arc<Palette>>, weights: Vec<f32>) -> PackedPose {
        PackedPose::with_palette(&self.packed, palette, DMat4::IDENTITY, weights)
            .expect("sizes that fit")
    }

    /// The same skin with more packed to it.
    pub fn packed_as(
        mut self,
        more: impl FnOnce(PackedSkin) -> Result<PackedSkin, Invalid>,
    ) -> Self {
        let packed = more(PackedSkin::clone(&self.packed));
        self.packed = Arc::new(packed.expect("valid"));
        self
    }

    /// The same skin with normals that are computed.
    pub fn with_faces(mut self, faces: MeshTopology) -> Self {
        self = self.packed_as(|packed| packed.with_smooth_normals(&faces));
        self.faces = Some(faces);
        self
    }

    /// What the CPU makes of it.
    pub fn on_cpu(&self, pose: &PackedPose) -> Deformed {
        on_cpu(&self.packed, pose)
    }

    /// What the reference and the CPU make of a pose.
    pub fn expected(&self, seed: u64) -> Result<Expected, Failure> {
        let (skin, pose) = (&self.skin, self.unpacked(seed));
        let want = reference::deform(skin, &pose)?;
        let ties = reference::hemisphere_ties(skin, &pose, tolerance::HEMISPHERE_TIE)?;
        for ties in [&ties.points, &ties.normals] {
            let count = ties.iter().filter(|t| **t).count();
            let most = tolerance::MOST_TIES_OF_20_JOINTS * ties.len() as f64;
            let text = format!("{count} ties among {}", ties.len());
            ensure(count <= 2 || count as f64 <= most, &text)?;
        }
        let vertices = self.packed.vertices();
        let points = vertices.map(RenderVertices::points);
        let normals = vertices.and_then(RenderVertices::normals).or(points);
        let rest = vertices.and_then(RenderVertices::tangents);
        let carried = rest.zip(points).map(|(rest, points)| {
            let pairs = points.iter().zip(rest);
            let pairs = pairs.map(|(p, t)| (*p as usize, t.truncate().as_dvec3()));
            reference::carry(skin, &pose, &pairs.collect::<Vec<_>>())
        });
        let of_normals = want.normals.is_some().then_some(&ties.normals);
        let of_normals = of_normals.map(|ties| spread(ties, normals));
        Ok(Expected {
            points: spread(&want.points, points),
            normals: want.normals.map(|all| spread(&all, normals)),
            tangents: carried.transpose()?,
            ties: [spread(&ties.points, points), of_normals.unwrap_or_default()],
            mirror: self.on_cpu(&self.pose(seed)),
        })
    }

    /// Compares every kind of result with the reference and with the CPU.
    pub fn agrees(&self, got: &Deformed, want: &Expected) -> Result<(), Failure> {
        let ([points, normals], mirror) = (&want.ties, &want.mirror);
        let allowed = tolerance::POINTS;
        compare_but("points, f64", points, &got.points, &want.points, allowed)?;
        let allowed = tolerance::MIRROR_POINTS;
        compare_but("points", points, &got.points, &mirror.points, allowed)?;
        if let (Some(got), Some(want)) = (&got.tangents, &want.tangents) {
            let xyz: Vec<DVec3> = got.iter().map(|t| t.truncate().as_dvec3()).collect();
            compare_but("tangents", points, &xyz, want, tolerance::TANGENTS)?;
        }
        let hands = |tangents: &Option<Vec<Vec4>>| -> Option<Vec<f32>> {
            Some(tangents.as_ref()?.iter().map(|t| t.w).collect())
        };
        let same = hands(&got.tangents) == hands(&mirror.tangents);
        ensure(same, "a tangent lost its handedness, or none was expected")?;
        if let Some(faces) = &self.faces {
            return self.made_normals_agree(got, faces);
        }
        match (&got.normals, &want.normals, &mirror.normals) {
            (Some(got), Some(want), Some(mirror)) => {
                compare_but("normals, f64", normals, got, want, tolerance::NORMALS)?;
                let allowed = tolerance::MIRROR_NORMALS;
                Ok(compare_but("normals", normals, got, mirror, allowed)?)
            }
            (None, None, None) => Ok(()),
            _ => Err("normals on one side only".into()),
        }
    }

    /// Normals have to be those of the points in f64, but where these cancel to nothing.
    fn made_normals_agree(&self, got: &Deformed, faces: &MeshTopology) -> Result<(), Failure> {
        let own: Vec<u32> = (0..self.skin.points().len() as u32).collect();
        let vertices = self.packed.vertices();
        let places = vertices.map_or(&own[..], RenderVertices::points);
        // Of the points that the kernel made: what is compared is the normals' own arithmetic.
        let mut points = vec![DVec3::ZERO; own.len()];
        for (place, p) in places.iter().zip(&got.points) {
            points[*place as usize] = p.as_dvec3();
        }
        let want = reference::smooth_normals(faces, &points)?;
        let cancels = cancelled(faces, &points);
        let normals = got.normals.as_ref().ok_or("no normals")?;
        let unit = |n: &Vec3| *n == Vec3::ZERO || (n.length() - 1.0).abs() < tolerance::UNIT_LENGTH;
        ensure(normals.iter().all(unit), "a normal that is no unit vector")?;
        let left_out = spread(&cancels, Some(places));
        let count = left_out.iter().filter(|out| **out).count();
        ensure(count * 50 <= normals.len(), "too much cancels")?;
        let (want, allowed) = (spread(&want, Some(places)), tolerance::MADE_NORMALS);
        Ok(compare_but("normals", &left_out, normals, &want, allowed)?)
    }
}

/// Which points have areas around them that cancel to nothing.
fn cancelled(faces: &MeshTopology, points: &[DVec3]) -> Vec<bool> {
    let mut sums = vec![(DVec3::ZERO, 0.0); points.len()];
    for face in 0..faces.face_count() {
        if faces.holes().contains(&(face as u32)) {
            continue;
        }
        let corners = &faces.corner_points()[faces.corners(face)];
        for i in 0..corners.len() {
            let at = |i: usize| points[corners[i % corners.len()] as usize];
            let area = (at(i + 1) - at(i)).cross(at(i + corners.len() - 1) - at(i));
            let (sum, length) = &mut sums[corners[i] as usize];
            *sum += area;
            *length += area.length();
        }
    }
    let sums = sums.iter();
    sums.map(|(sum, terms)| sum.length() < terms * tolerance::CANCELLED_AREAS)
        .collect()
}

/// The values at some places, or all.
fn spread<T: Copy>(all: &[T], places: Option<&[u32]>) -> Vec<T> {
    places.map_or_else(
        || all.to_vec(),
        |places| places.iter().map(|p| all[*p as usize]).collect(),
    )
}

/// A skin, the seeds of its poses, and what is expected of them. The checks share them: most of a
/// check is what is expected, in f64 and without optimisation.
pub struct Case {
    pub made: Made,
    seeds: Vec<u64>,
    expected: OnceLock<Result<Vec<Expected>, Failure>>,
}

impl Case {
    pub fn new(made: Made, seeds: impl Into<Vec<u64>>) -> Self {
        Self {
            made,
            seeds: seeds.into(),
            expected: OnceLock::new(),
        }
    }

    fn expected(&self) -> Result<&[Expected], Failure> {
        let all = || self.seeds.iter().map(|seed| self.made.expected(*seed));
        let expected = self.expected.get_or_init(|| all().collect());
        expected.as_deref().map_err(Clone::clone)
    }
}

/// Adds cases to a crowd, each with its poses.
pub fn add_cases(crowd: &mut Crowd, all: &[Case]) -> Result<(), Failure> {
    for case in all {
        let poses = case.seeds.iter().map(|seed| case.made.pose(*seed));
        add_posed(crowd, &case.made.packed, &poses.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Compares the mirror with the reference.
pub fn mirror_agrees(all: &[Case]) -> Result<(), Failure> {
    for case in all {
        let mut expected = case.expected()?.iter();
        expected.try_for_each(|want| case.made.agrees(&want.mirror, want))?;
    }
    Ok(())
}

/// Runs everything in one crowd and compares with what is expected.
pub fn gpu_agrees(gpu: &Gpu, all: &[Case]) -> Result<(), Failure> {
    let mut results = all_twice(gpu, &SkinnerOptions::default(), all)?.into_iter();
    for case in all {
        for want in case.expected()? {
            let got = results.next().ok_or("a result for each pose")?;
            case.made.agrees(&got, want)?;
        }
    }
    ensure(results.next().is_none(), "more results than poses")
}

/// Skins of every kind, each of few points.
pub static TWENTY: LazyLock<Vec<Made>> = LazyLock::new(|| {
    let spec = |i: usize| {
        Spec::default()
            .seed(900 + i as u64)
            .points(20 + 3 * i)
            .joints(3 + i % 4)
            .shapes([0, 3, 0, 0][i % 4])
            .normals(!i.is_multiple_of(5))
            .face_varying(i % 7 == 3)
            .influences(match i % 6 {
                0 => Influences::Vertex(1),
                1 => Influences::Constant(2),
                5 => Influences::None,
                k => Influences::Vertex(k),
            })
            .method(match i % 3 {
                2 => SkinningMethod::DualQuaternion,
                _ => SkinningMethod::ClassicLinear,
            })
    };
    (0..20).map(|i| made(&spec(i))).collect()
});

/// Every value of each result, as bits.
pub fn all_bits(results: &[Deformed]) -> Vec<Vec<u32>> {
    results.iter().map(bits).collect()
}

/// GPU against CPU.
pub fn agrees(got: &Deformed, want: &Deformed) -> Result<(), Failure> {
    compare(
        "points",
        &got.points,
        &want.points,
        tolerance::MIRROR_POINTS,
    )?;
    match (&got.normals, &want.normals) {
        (Some(got), Some(want)) => compare("normals", got, want, tolerance::MIRROR_NORMALS)?,
        (None, None) => {}
        _ => return Err("normals on one side only".into()),
    }
    Ok(())
}

/// A skinner that has compiled the pipelines of these skins, and their number.
pub fn prewarmed<'a>(
    gpu: &Gpu,
    skins: impl IntoIterator<Item = &'a Arc<PackedSkin>>,
) -> Result<(Skinner, usize), Failure> {
    let skinner = gpu.new_skinner(&SkinnerOptions::default())?;
    for packed in skins {
        skinner.prewarm(packed, &OutputTarget::default(), Prewarm::default())?;
    }
    let compiled = skinner.compiled();
    Ok((skinner, compiled))
}

/// Adds a skin, and an instance of it for each pose.
pub fn add_posed(
    crowd: &mut Crowd,
    packed: &Arc<PackedSkin>,
    poses: &[PackedPose],
) -> Result<Vec<InstanceId>, Failure> {
    let skin = crowd.add_skin(Arc::clone(packed))?;
    let mut ids = Vec::new();
    for pose in poses {
        ids.push(posed(crowd, skin, pose)?);
    }
    Ok(ids)
}

/// The buffers that a crowd's results are in, each with the byte after the last result.
fn outputs(crowd: &Crowd) -> Result<Vec<(wgpu::Buffer, u64)>, Failure> {
    let mut out: Vec<(wgpu::Buffer, u64)> = Vec::new();
    for id in crowd.instances() {
        let kinds = [
            crowd.points_on_gpu(id)?,
            crowd.normals_on_gpu(id)?,
            crowd.tangents_on_gpu(id)?,
            crowd.previous_on_gpu(id)?,
        ];
        for slice in kinds.iter().flatten() {
            let end = slice.offset + slice.stride * slice.count as u64;
            match out.iter_mut().find(|(buffer, _)| buffer == slice.buffer) {
                Some((_, last)) => *last = end.max(*last),
                None => out.push((slice.buffer.clone(), end)),
            }
        }
    }
    Ok(out)
}

/// Fills the buffers that a crowd's results are in with one value.
fn fill_outputs(gpu: &Gpu, crowd: &Crowd, value: f32) -> Result<(), Failure> {
    for (buffer, _) in outputs(crowd)? {
        let values = vec![value; buffer.size() as usize / 4];
        let bytes = bytemuck::cast_slice(&values);
        gpu.queue.write_buffer(&buffer, 0, bytes);
    }
    gpu.queue.submit([]);
    Ok(())
}

/// Runs a crowd twice, its results filled in before. Nothing behind them is written, and what was there, NaN the second
/// time, cannot pass for a result.
pub fn run_twice(gpu: &Gpu, mut crowd: Crowd) -> Result<Vec<Deformed>, Failure> {
    const BEHIND: f32 = 12345.0;
    fill_outputs(gpu, &crowd, BEHIND)?;
    let first = crowd.run()?;
    for (buffer, end) in outputs(&crowd)? {
        let words: Vec<f32> = gpu.read(&buffer)?;
        let behind = &words[end as usize / 4..];
        if let Some(i) = behind.iter().position(|v| *v != BEHIND) {
            return Err(format!("something was written {i} floats behind the outputs").into());
        }
    }
    fill_outputs(gpu, &crowd, f32::NAN)?;
    let second = crowd.run()?;
    let same = all_bits(&first) == all_bits(&second);
    ensure(same, "two runs differ in their bits")?;
    Ok(second)
}

/// Runs cases twice in a crowd of their own.
fn all_twice(gpu: &Gpu, options: &SkinnerOptions, all: &[Case]) -> Result<Vec<Deformed>, Failure> {
    let mut crowd = gpu.crowd_with(options)?;
    add_cases(&mut crowd, all)?;
    run_twice(gpu, crowd)
}

/// Whether cases give the same bits where bindings and dispatches are small.
pub fn same_in_pieces(gpu: &Gpu, small: &[SkinnerOptions], all: &[Case]) -> Result<(), Failure> {
    let whole = all_bits(&all_twice(gpu, &SkinnerOptions::default(), all)?);
    for options in small {
        let same = all_bits(&all_twice(gpu, options, all)?) == whole;
        ensure(same, "chunked results differ from whole ones")?;
    }
    Ok(())
}

/// A crowd with a skin of that kind.
pub fn crowd_of(gpu: &Gpu, spec: &Spec) -> Result<(Made, Crowd, SkinId), Failure> {
    let made = made(spec);
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    Ok((made, crowd, skin))
}
