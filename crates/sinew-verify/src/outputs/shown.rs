//! Random skins that are shown by render vertices.

use std::sync::{Arc, OnceLock};

use crate::{Failure, ensure};
use glam::{DVec3, Vec3, Vec4};
use sinew::gpu::Deformed;
use sinew::kernel::{CpuJob, PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{Pose, Skin, SkinningMethod, reference};

use crate::cases::{self, Influences, Motion, Spec};
use crate::compare::{Vector, compare_but};
use crate::rng::Rng;
use crate::tolerance;

/// A skin, what it is packed to, and the vertices that show it.
#[derive(Clone)]
pub struct Shown {
    pub name: &'static str,
    pub spec: Spec,
    pub skin: Skin,
    pub packed: Arc<PackedSkin>,
}

impl Shown {
    pub fn poses(&self) -> [Pose; 2] {
        [0, 1].map(|time| cases::pose_of(&self.spec, &self.skin, time))
    }

    pub fn pack(&self, pose: &Pose) -> PackedPose {
        PackedPose::pack(&self.packed, pose).expect("sizes that fit")
    }

    fn vertices(&self) -> &RenderVertices {
        self.packed.vertices().expect("shown by vertices")
    }

    /// Compares every kind of result with the f64 reference.
    pub fn agrees_with_reference(&self, got: &Deformed, pose: &Pose) -> Result<(), Failure> {
        let want = reference::deform(&self.skin, pose)?;
        let ties = reference::hemisphere_ties(&self.skin, pose, tolerance::HEMISPHERE_TIE)?;
        let vertices = self.vertices();
        let points = vertices.points();
        self.same(
            "points",
            &got.points,
            &spread(&want.points, points),
            &spread(&ties.points, points),
            tolerance::POINTS,
        )?;
        ensure(
            got.normals.is_some() == want.normals.is_some(),
            "normals on one side only",
        )?;
        if let (Some(got), Some(want)) = (&got.normals, &want.normals) {
            let places = vertices.normals().unwrap_or(points);
            self.same(
                "normals",
                got,
                &spread(want, places),
                &spread(&ties.normals, places),
                tolerance::NORMALS,
            )?;
        }
        ensure(
            got.tangents.is_some() == vertices.tangents().is_some(),
            "tangents on one side only",
        )?;
        if let (Some(got), Some(rest)) = (&got.tangents, vertices.tangents()) {
            let vectors: Vec<(usize, DVec3)> = points
                .iter()
                .zip(rest)
                .map(|(p, t)| (*p as usize, t.truncate().as_dvec3()))
                .collect();
            let want = reference::carry(&self.skin, pose, &vectors)?;
            let xyz: Vec<DVec3> = got.iter().map(|t| t.truncate().as_dvec3()).collect();
            let ties = spread(&ties.points, points);
            self.same("tangents", &xyz, &want, &ties, tolerance::TANGENTS)?;
            ensure(
                got.iter().zip(rest).all(|(got, rest)| got.w == rest.w),
                "a tangent lost its handedness",
            )?;
        }
        Ok(())
    }

    /// Compares but for what hangs on rounding.
    fn same<V: Vector>(
        &self,
        what: &str,
        got: &[V],
        want: &[DVec3],
        ties: &[bool],
        allowed: f64,
    ) -> Result<(), Failure> {
        let most = tolerance::MOST_TIES_OF_20_JOINTS * ties.len() as f64;
        let count = ties.iter().filter(|tie| **tie).count();
        ensure(count <= 6 || count as f64 <= most, "too many ties")?;
        let what = format!("{}: {what}", self.name);
        Ok(compare_but(&what, ties, got, want, allowed)?)
    }
}

pub fn spread<T: Copy>(all: &[T], places: &[u32]) -> Vec<T> {
    places.iter().map(|p| all[*p as usize]).collect()
}

/// What the CPU makes of a pose, every kind of result.
pub fn on_cpu(skin: &PackedSkin, pose: &PackedPose) -> Deformed {
    let mut out = Deformed {
        points: vec![Vec3::NAN; skin.output_count()],
        normals: skin
            .has_output_normals()
            .then(|| vec![Vec3::NAN; skin.output_normal_count()]),
        tangents: skin.tangents().map(|t| vec![Vec4::NAN; t.len()]),
        ..Deformed::default()
    };
    let mut job = CpuJob::new(skin, pose, &mut out.points);
    job.normals = out.normals.as_deref_mut();
    job.tangents = out.tangents.as_deref_mut();
    job.run().expect("sizes that fit");
    out
}

/// Every value of a result, as bits.
pub fn bits(result: &Deformed) -> Vec<u32> {
    let mut out: Vec<u32> = Vec::new();
    let more = [&result.normals, &result.previous];
    for vectors in more.into_iter().flatten().chain([&result.points]) {
        out.extend_from_slice(bytemuck::cast_slice(vectors));
    }
    out.extend_from_slice(bytemuck::cast_slice(
        result.tangents.as_deref().unwrap_or_default(),
    ));
    out
}

/// The same without the positions of the frame before.
pub fn without_previous(result: &Deformed) -> Vec<u32> {
    let mut result = result.clone();
    result.previous = None;
    bits(&result)
}

/// Vertices in runs that share points, some points far off, some without any vertex.
pub fn vertices(skin: &Skin, seed: u64, tangents: bool) -> RenderVertices {
    let rng = &mut Rng::new(seed ^ 0x5407);
    let own = skin.points().len();
    let places = skin.normal_points().map_or(own, <[u32]>::len);
    let count = if places == 0 { 0 } else { own * 2 + 3 };
    let picked: Vec<u32> = (0..count)
        .map(|i| match rng.below(16) {
            0 => rng.below(places) as u32,
            // Every seventh has none of its own.
            _ => ((i * places / count + rng.below(5)) % places / 7 * 7) as u32,
        })
        .collect();
    let out = match skin.normal_points() {
        Some(points) => RenderVertices::new(spread(points, &picked)).with_normals(picked),
        None => RenderVertices::new(picked),
    };
    if !tangents {
        return out;
    }
    let mut tangent = || {
        let v = Vec3::new(
            rng.range(-1.0, 1.0),
            rng.range(-1.0, 1.0),
            rng.range(-1.0, 1.0),
        );
        let handedness = if rng.chance(0.5) { 1.0 } else { -1.0 };
        v.normalize_or_zero().extend(handedness)
    };
    let values = (0..count).map(|_| tangent()).collect();
    out.with_tangents(values)
}

/// Skins of every kind, with and without tangents, made once.
pub fn every_kind() -> Result<&'static [Shown], Failure> {
    static MADE: OnceLock<Result<Vec<Shown>, Failure>> = OnceLock::new();
    let made = MADE.get_or_init(make_every_kind);
    made.as_deref().map_err(Clone::clone)
}

fn make_every_kind() -> Result<Vec<Shown>, Failure> {
    let base = Spec::default().points(700);
    let dual = |motion| base.method(SkinningMethod::DualQuaternion).motion(motion);
    let corners = base.face_varying(true);
    let constant = Influences::Constant(2);
    let mut all: Vec<(&str, Spec)> = vec![
        ("linear", base),
        ("blended", base.shapes(9)),
        ("without normals", base.normals(false).shapes(4)),
        ("own joints", base.own_joints(true)),
        ("constant", base.influences(constant)),
        ("blends alone", base.influences(Influences::None).shapes(9)),
        ("rest", base.influences(Influences::None)),
        ("corners", corners),
        ("corners, constant", corners.influences(constant)),
        ("corners, blended", corners.shapes(5)),
        ("corners, rest", corners.influences(Influences::None)),
        ("dual quaternions, mild", dual(Motion::Mild)),
        ("dual quaternions, rigid", dual(Motion::Rigid)),
        ("dual quaternions, sheared", dual(Motion::Sheared)),
        ("dual quaternions, degenerate", dual(Motion::Degenerate)),
        (
            "dual quaternions, corners",
            dual(Motion::Rigid).face_varying(true),
        ),
        (
            "dual quaternions, constant",
            dual(Motion::Sheared).influences(constant),
        ),
        ("no points", base.points(0)),
        ("one point", base.points(1)),
        ("3000 points", base.points(3000).shapes(3)),
    ];
    for k in [1, 3, 7, 9] {
        all.push(("other counts", base.influences(Influences::Vertex(k))));
    }
    all.into_iter()
        .enumerate()
        .map(|(i, (name, spec))| {
            let spec = spec.seed(40 + i as u64);
            let skin = cases::skin(&spec);
            // Without tangents on every third.
            let vertices = vertices(&skin, spec.seed, i % 3 != 1);
            let packed = PackedSkin::pack("/Case", &skin)?.with_vertices(vertices)?;
            Ok(Shown {
                name,
                spec,
                skin,
                packed: Arc::new(packed),
            })
        })
        .collect()
}
