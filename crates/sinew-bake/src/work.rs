//! What a bake has to do: the plan of each prim, and the times at which each is sampled.

use std::collections::{BTreeMap, HashSet};

use crate::clip::Clip;
use crate::error::{Error, Result};
use crate::fewest::{self, Choosing, Fewest};
use crate::frames::FrameRange;
use crate::options::Watch;
use crate::plan::{BakePlan, Plan, PrimPlan, copies};
use crate::report::BakeReport;
use crate::schedule::{
    Schedule, Scheduled, authored_times, by_skeleton, open_shutter, times_of_skeletons,
};
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew_io::usd::{BakedPrim, BakedTransform};

/// The largest size of results in bytes, if the caller did not ask for these frames.
const MAX_BYTES_UNASKED: u64 = 16 << 30;

/// The plan of a bake and its schedule.
pub(super) struct Work {
    pub plan: Plan,
    /// Prims with the same result as an earlier prim, by that prim.
    pub copies: BTreeMap<usize, Vec<usize>>,
    pub schedule: Schedule,
    /// The error that is left if [`BakePlan::max_error`] is set, and what it could not be kept for.
    pub fewest: Option<Fewest>,
    /// The frames, if each of them has every prim.
    pub clip: Option<Clip>,
}

impl Work {
    /// The work at each prim's own times.
    ///
    /// # Errors
    /// [`Error::TooManyFrames`] for more than a million samples, and [`Error::Cancelled`].
    pub fn of_own_times(
        scene: &Scene,
        chosen: &[usize],
        asked: &BakePlan,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let plan = Plan::new(scene, chosen, asked);
        let mut times_of = times_of_skeletons(scene, &plan, asked.frames.as_ref())?;
        if let Some(shutter) = &asked.shutter {
            open_shutter(scene, shutter, asked.frames.as_ref(), &mut times_of)?;
        }
        let copies = copies(scene, &plan, &times_of);
        let fewest = match asked.max_error {
            Some(error) => {
                let bases = bases(scene, &plan, asked, &times_of, &copies)?;
                let mut out = Fewest::default();
                let total = bases.iter().map(|(_, base)| base.len()).sum();
                let mut choosing = Choosing::new(watch, total)?;
                for (prims, base) in &bases {
                    let end = choosing.done + base.len();
                    fewest::choose((scene, &plan), prims, base, error, &mut out, &mut choosing)?;
                    // The last steps pass several times at once.
                    choosing.pass(end - choosing.done)?;
                }
                Some(out)
            }
            None => None,
        };
        let schedule = schedule(&plan, &copies, |b| match &fewest {
            Some(fewest) => fewest.times.get(&b).map_or(&[][..], Vec::as_slice),
            None => &times_of[&scene.bindings[b].instance],
        });
        Ok(Self {
            plan,
            copies,
            schedule,
            fewest,
            clip: None,
        })
    }

    /// The work at the frames of a clip.
    pub fn of_clip(plan: Plan, clip: Clip) -> Self {
        let bindings: Vec<usize> = plan.prims().map(|p| p.binding).collect();
        let times = clip.times.iter();
        Self {
            schedule: times.map(|t| (*t, bindings.clone())).collect(),
            plan,
            copies: BTreeMap::new(),
            fewest: None,
            clip: Some(clip),
        }
    }

    /// Fails if the whole schedule needs too much data, unless the caller asked for its frames.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn check_size(&self, scene: &Scene, asked: Option<&FrameRange>) -> Result<()> {
        match asked {
            Some(_) => Ok(()),
            None => check_size(scene, &self.plan, &self.schedule),
        }
    }

    /// Adds the errors that are left if few samples were asked for.
    pub fn tell_fewest(&self, report: &mut BakeReport) {
        if let Some(fewest) = &self.fewest {
            report.largest_error = Some(fewest.largest_error);
            report.warnings.extend(fewest.warnings.iter().cloned());
        }
    }

    /// Prims that are not copies of an earlier one.
    pub fn leaders(&self) -> impl Iterator<Item = usize> {
        leaders(&self.plan, &self.copies).map(|p| p.binding)
    }

    /// A prim of the plan without samples.
    pub fn untouched(&self, scene: &Scene, b: usize) -> BakedPrim {
        let binding = &scene.bindings[b];
        let copies = self.copies.get(&b).into_iter().flatten();
        let normals = binding.normals.iter();
        BakedPrim {
            path: binding.path.clone(),
            copies: copies.map(|c| scene.bindings[*c].path.clone()).collect(),
            points: Vec::new(),
            velocities: Vec::new(),
            normals: normals.map(|n| (n.property, Vec::new())).collect(),
            extent: Vec::new(),
            transform: self.plan.of(b).transform.map(|kind| BakedTransform {
                resets: kind.resets(&scene.prims[binding.prim]),
                samples: Vec::new(),
            }),
        }
    }
}

/// Prims that are not copies of an earlier one.
fn leaders<'p>(
    plan: &'p Plan,
    copies: &BTreeMap<usize, Vec<usize>>,
) -> impl Iterator<Item = &'p PrimPlan> + use<'p> {
    let copied: HashSet<usize> = copies.values().flatten().copied().collect();
    plan.prims().filter(move |p| !copied.contains(&p.binding))
}

/// The prims of a Skeleton that are no copies, with their base times.
type Base<'p> = (Vec<&'p PrimPlan>, Vec<Time>);

/// The times at which linear interpolation has to be measured, for each Skeleton.
fn bases<'p>(
    scene: &Scene,
    plan: &'p Plan,
    asked: &BakePlan,
    times_of: &BTreeMap<usize, Vec<Time>>,
    copies: &BTreeMap<usize, Vec<usize>>,
) -> Result<Vec<Base<'p>>> {
    let mut out = Vec::new();
    for (instance, prims) in by_skeleton(scene, leaders(plan, copies)) {
        let mut base = times_of[&instance].clone();
        if let Some(FrameRange { first, last, .. }) = asked.frames {
            // Between frames, the authored times are where the motion bends.
            let authored = authored_times(scene, instance, &prims)?;
            let inside = |t: &Time| t.code().is_some_and(|t| t > first && t < last);
            base.extend(authored.into_iter().filter(inside));
            base.sort_by(|a, b| a.code().unwrap_or(0.0).total_cmp(&b.code().unwrap_or(0.0)));
            base.dedup();
        }
        out.push((prims, base));
    }
    Ok(out)
}

fn schedule<'t>(
    plan: &Plan,
    copies: &BTreeMap<usize, Vec<usize>>,
    times_of: impl Fn(usize) -> &'t [Time],
) -> Schedule {
    let mut all: Vec<(Time, usize)> = Vec::new();
    for prim in leaders(plan, copies) {
        let times = times_of(prim.binding);
        all.extend(times.iter().map(|time| (*time, prim.binding)));
    }
    let key = |t: &Time| t.code().unwrap_or(f64::NEG_INFINITY);
    all.sort_by(|a, b| key(&a.0).total_cmp(&key(&b.0)).then(a.1.cmp(&b.1)));
    let mut out: Schedule = Vec::new();
    for (time, binding) in all {
        match out.last_mut() {
            Some((last, bindings)) if *last == time => bindings.push(binding),
            _ => out.push((time, vec![binding])),
        }
    }
    out
}

/// Fails if the authored times need too much data, such as a few samples that are far apart.
/// Callers who want that much have to ask for frames.
pub(super) fn check_size(scene: &Scene, plan: &Plan, schedule: &[Scheduled]) -> Result<()> {
    let bytes_of = |b: usize| match plan.of(b).parts.is_empty() {
        true => 128,
        false => plan.vectors(scene, b) * 12,
    };
    let bindings = schedule.iter().flat_map(|(_, bindings)| bindings);
    let bytes = bindings.fold(0u64, |sum, b| sum.saturating_add(bytes_of(*b)));
    if bytes > MAX_BYTES_UNASKED {
        return Err(Error::TooLarge {
            file: scene.file.clone(),
            bytes,
        });
    }
    Ok(())
}
