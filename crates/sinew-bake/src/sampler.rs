//! Deforms single prims at any times into the caller's arrays.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use glam::Vec3;
use rayon::prelude::*;

use crate::backend::{Backend, Buffers, Deformer, Done, Job};
use crate::error::Result;
use crate::plan::{Plan, PrimPlan};
use crate::posing::{Palettes, overflow, pack, pose_prim};
use crate::stream::{extent, leave_prim_space};
use sinew::error::Invalid;
use sinew::kernel::{PackedSkin, skin_on_cpu};
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, OutSpace, Scene, SkinPart};

/// Deforms single prims of one scene at any times, on one backend, into arrays of the caller. For
/// programs that want points and no file. Keep one for each scene: it keeps the packed skins.
///
/// Points and normals have the bits that a bake writes for the same time, space and backend, if
/// prims with constant influences are baked by their points ([`Rigid::Points`](crate::Rigid)).
///
/// ```
/// use std::sync::Arc;
///
/// use sinew::sampled::Time;
/// use sinew_bake::{Backend, OutSpace, Sampler};
///
/// let scene = sinew_io::open("../../examples/assets/hatchling.usda")?.scene(Default::default())?;
/// let body = scene.resolve("/Hatchling/Geo/Body").expect("a skinned prim").index();
/// let sampler = Sampler::new(Arc::new(scene), &Backend::Cpu)?;
/// let times = [Time::At(1.0), Time::At(1.5)];
/// let count = sampler.point_count(body, times[0])?;
/// let mut points = vec![glam::Vec3::ZERO; 2 * count];
/// sampler.points(body, &times, OutSpace::World, &mut points)?;
/// assert_ne!(points[..count], points[count..]);
/// # Ok::<(), sinew_bake::Error>(())
/// ```
pub struct Sampler {
    scene: Arc<Scene>,
    deformer: Mutex<Deformer>,
    /// Packed skins of prims whose rest data never changes, separately for the default time.
    packed: Mutex<HashMap<(usize, SkinPart, bool), Arc<PackedSkin>>>,
    on_cpu: bool,
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").finish_non_exhaustive()
    }
}

/// What is kept of a deformed prim at one time.
type Keep<'a, T> =
    dyn Fn(Time, &[Vec3], Option<&[Vec3]>, &mut [T]) -> Result<(), Invalid> + Sync + 'a;

impl Sampler {
    /// Opens a backend for a scene.
    ///
    /// # Errors
    /// [`Error::Gpu`](crate::Error::Gpu) if the GPU that was asked for is not available.
    pub fn new(scene: Arc<Scene>, backend: &Backend) -> Result<Self> {
        let deformer = Deformer::new(backend)?;
        Ok(Self {
            scene,
            on_cpu: matches!(deformer, Deformer::Cpu),
            deformer: Mutex::new(deformer),
            packed: Mutex::default(),
        })
    }

    /// Number of points of a prim at a time. `binding` is an index into [`Scene::bindings`].
    ///
    /// # Errors
    /// An attribute that breaks a UsdSkel rule.
    pub fn point_count(&self, binding: usize, time: Time) -> Result<usize> {
        let skin = self.skin(binding, POINTS, time)?;
        Ok(skin.output_count())
    }

    /// Number of normals of a prim at a time: one per point, or per face corner; 0 if it has no
    /// normals that skinning changes. `which` is an index into
    /// [`SkinBinding::normals`](sinew::scene::SkinBinding::normals).
    ///
    /// # Errors
    /// As [`Sampler::point_count`].
    pub fn normal_count(&self, binding: usize, which: usize, time: Time) -> Result<usize> {
        let skin = self.skin(binding, of_normals(which), time)?;
        Ok(skin.output_normal_count())
    }

    /// Computes the points of a prim at each time: [`Sampler::point_count`] for each, one time
    /// after the other.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid) if an attribute breaks a UsdSkel rule, if a
    ///   result is not finite, or if the number of points at a time is not the expected one.
    /// - [`Error::Gpu`](crate::Error::Gpu) if the GPU fails.
    ///
    /// After an error the content of `out` is not specified.
    pub fn points(
        &self,
        binding: usize,
        times: &[Time],
        space: OutSpace,
        out: &mut [Vec3],
    ) -> Result<()> {
        if self.on_cpu {
            return self.points_on_cpu(binding, times, space, out);
        }
        let keep = |_: Time, points: &[Vec3], _: Option<&[Vec3]>, out: &mut [Vec3]| {
            out.copy_from_slice(points);
            Ok(())
        };
        self.on_backend((binding, POINTS), times, space, out, &keep)
    }

    /// Computes the normals of a prim at each time: [`Sampler::normal_count`] for each. They are not
    /// normalised after the transform to `space`, as in a bake.
    ///
    /// # Errors
    /// As [`Sampler::points`].
    pub fn normals(
        &self,
        (binding, which): (usize, usize),
        times: &[Time],
        space: OutSpace,
        out: &mut [Vec3],
    ) -> Result<()> {
        let bound = self.scene.bound(binding);
        let keep = |time: Time, _: &[Vec3], normals: Option<&[Vec3]>, out: &mut [Vec3]| {
            let normals = normals.unwrap_or_default();
            same_count(bound, "normals", time, out.len(), normals.len())?;
            out.copy_from_slice(normals);
            Ok(())
        };
        self.on_backend((binding, of_normals(which)), times, space, out, &keep)
    }

    /// Computes the box around the points of a prim at each time, with the widths of points and
    /// curves: minimum and maximum corner.
    ///
    /// # Errors
    /// As [`Sampler::points`].
    pub fn extents(
        &self,
        binding: usize,
        times: &[Time],
        space: OutSpace,
        out: &mut [[Vec3; 2]],
    ) -> Result<()> {
        let scene = &self.scene;
        let keep = |time: Time, points: &[Vec3], _: Option<&[Vec3]>, out: &mut [[Vec3; 2]]| {
            let corners = extent(points, &scene.bindings[binding], time);
            out[0] = corners.ok_or_else(|| overflow(scene.bound(binding), "points"))?;
            Ok(())
        };
        self.on_backend((binding, POINTS), times, space, out, &keep)
    }

    /// Skins into `out` without an array between.
    fn points_on_cpu(
        &self,
        binding: usize,
        times: &[Time],
        space: OutSpace,
        out: &mut [Vec3],
    ) -> Result<()> {
        let count = out.len().checked_div(times.len()).unwrap_or_default();
        let bound = self.scene.bound(binding);
        if count == 0 {
            return Ok(());
        }
        let at = |time: Time, out: &mut [Vec3]| -> Result<(), Invalid> {
            let (job, out_from_prim) = self.job(bound, POINTS, time, space)?;
            same_count(bound, "points", time, out.len(), job.skin.output_count())?;
            skin_on_cpu(&job.skin, &job.pose, out, None)?;
            if let Some(m) = out_from_prim {
                leave_prim_space(out, None, m);
            }
            match all_finite(out) {
                true => Ok(()),
                false => Err(overflow(bound, "points")),
            }
        };
        // One time is skinned by this thread together with the pool's, without a way through it.
        if let [time] = times {
            return Ok(at(*time, out)?);
        }
        let work = times.par_iter().zip(out.par_chunks_mut(count));
        work.try_for_each(|(time, out)| at(*time, out))?;
        Ok(())
    }

    /// Deforms the prim at each time, and keeps some of the result in an equal share of `out`.
    fn on_backend<T: Send>(
        &self,
        (binding, part): (usize, SkinPart),
        times: &[Time],
        space: OutSpace,
        out: &mut [T],
        keep: &Keep<'_, T>,
    ) -> Result<()> {
        let share = out.len().checked_div(times.len()).unwrap_or_default();
        let bound = self.scene.bound(binding);
        let Some(first) = times.first().filter(|_| share > 0) else {
            return Ok(());
        };
        let points = self.skin(binding, part, *first)?.output_count();
        let mut deformer = self.deformer.lock().unwrap_or_else(PoisonError::into_inner);
        let at_once = (deformer.batch_points() / points.max(1)).clamp(1, 4096);
        let buffers = Buffers::default();
        let batches = times.chunks(at_once).zip(out.chunks_mut(at_once * share));
        for (times, out) in batches {
            let jobs = times.par_iter();
            let jobs = jobs.map(|time| self.job(bound, part, *time, space));
            let jobs: Vec<_> = jobs.collect::<Result<_, Invalid>>()?;
            let (jobs, leads): (Vec<Job>, Vec<_>) = jobs.into_iter().unzip();
            let counts: Vec<usize> = jobs.iter().map(|job| job.skin.output_count()).collect();
            for (time, count) in times.iter().zip(counts) {
                same_count(bound, "points", *time, points, count)?;
            }
            let under_way = deformer.begin(jobs)?;
            let done = deformer.finish(under_way, &buffers, |i, mut done: Done| {
                if let Some(m) = leads[i] {
                    leave_prim_space(&mut done.points, done.normals.as_deref_mut(), m);
                }
                done
            })?;
            let results = done
                .into_par_iter()
                .zip(times)
                .zip(out.par_chunks_mut(share));
            results.try_for_each(|((done, time), out)| -> Result<(), Invalid> {
                if extent(&done.points, bound.binding(), *time).is_none() {
                    return Err(overflow(bound, "points"));
                }
                keep(*time, &done.points, done.normals.as_deref(), out)?;
                buffers.give(done.points);
                done.normals.into_iter().for_each(|n| buffers.give(n));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The job of a prim at one time, and the transform of its results, if it only blends and is
    /// wanted in another space.
    fn job(
        &self,
        bound: BoundSkin<'_>,
        part: SkinPart,
        time: Time,
        space: OutSpace,
    ) -> Result<(Job, Option<glam::DMat4>), Invalid> {
        let skin = self.skin(bound.index(), part, time)?;
        let mut poses = self.scene.at(time, space);
        let plan = self.plan(bound.index(), part);
        let posed = pose_prim(
            bound,
            plan.of(bound.index()),
            &|_| Some(skin.clone()),
            &mut poses,
            &mut Palettes::default(),
        )?;
        let (skin, pose) = posed.skins.into_iter().next().ok_or_else(|| {
            let expected = "a prim that is skinned or blended";
            Invalid::new(&bound.binding().path, "", expected, "neither")
        })?;
        Ok((Job { skin, pose }, posed.out_from_prim))
    }

    fn plan(&self, binding: usize, part: SkinPart) -> Plan {
        // The plan's space is that of transforms, which nobody asks for here.
        Plan::of_points(OutSpace::Prim, std::iter::once((binding, part, None)))
    }

    fn skin(&self, binding: usize, part: SkinPart, time: Time) -> Result<Arc<PackedSkin>, Invalid> {
        let bound = self.scene.bound(binding);
        if let Some(reason) = &bound.binding().unsupported {
            let found = reason.clone();
            let invalid = Invalid::new(&bound.binding().path, "", "a prim that is deformed", found);
            return Err(invalid.coded("not-baked").in_file(&self.scene.file));
        }
        let plan = self.plan(binding, part);
        let plan: &PrimPlan = plan.of(binding);
        if bound.binding().rest_is_animated() {
            return pack(bound, part, plan, time);
        }
        let key = (binding, part, time.code().is_none());
        let packed = || self.packed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(skin) = packed().get(&key) {
            return Ok(skin.clone());
        }
        let skin = pack(bound, part, plan, time)?;
        packed().insert(key, skin.clone());
        Ok(skin)
    }
}

/// Whether all points are finite, as [`extent`] asks too.
fn all_finite(points: &[Vec3]) -> bool {
    // Compilers turn a step into vector instructions. A sum stays 0 unless a number is infinite or NaN.
    const STEP: usize = 32;
    let (steps, rest) = bytemuck::cast_slice::<Vec3, f32>(points).as_chunks::<STEP>();
    let mut nothing = [0.0_f32; STEP];
    for step in steps {
        for (nothing, value) in nothing.iter_mut().zip(step) {
            *nothing += value * 0.0;
        }
    }
    let nothing = nothing.iter().all(|n| *n == 0.0);
    nothing && rest.iter().all(|value| value.is_finite())
}

/// A skin without normals.
const POINTS: SkinPart = SkinPart {
    blend_only: false,
    normals: usize::MAX,
};

fn of_normals(which: usize) -> SkinPart {
    SkinPart {
        normals: which,
        ..SkinPart::default()
    }
}

fn same_count(
    bound: BoundSkin<'_>,
    property: &str,
    time: Time,
    expected: usize,
    found: usize,
) -> Result<(), Invalid> {
    if expected == found {
        return Ok(());
    }
    let expected = format!("{expected} {property}, as at the first time");
    let found = format!("{found} at time {time}");
    let e = Invalid::new(&bound.binding().path, property, expected, found);
    Err(e.in_file(&bound.scene().file))
}
