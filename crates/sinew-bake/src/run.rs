//! Runs a bake: deforms the planned prims frame by frame and passes the frames to a sink.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use super::backend::Deformer;
use super::diagnostics::{Diagnostics, Findings, broken_shapes};
use super::error::{Error, NothingToSkin, Result};
use super::formats::Clip;
use super::options::{BakeReport, Watch};
use super::plan::Plan;
use super::schedule::{Schedule, Scheduled};
use super::sink::{BakeStart, Frame, FrameSink, PrimInfo};
use super::stream::deform_frames;
use super::tracks::{Work, check_size};
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::Scene;

/// The result of a run.
#[derive(Default)]
pub(super) struct Ran {
    pub tally: Tally,
    /// Time of posing and deforming.
    pub deform_time: Duration,
}

/// The totals of each binding.
pub(super) type Tally = BTreeMap<usize, PrimTally>;

/// The totals of one prim.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PrimTally {
    /// Number of times with a result.
    pub samples: usize,
    /// The largest number of points at any time.
    pub points: usize,
    /// Sum of the numbers of points at all times.
    pub deformed_points: u64,
    /// Whether its transform is replaced.
    pub has_transform: bool,
}

fn count(tally: &mut Tally, frame: &Frame) {
    for sample in &frame.prims {
        let prim = tally.entry(sample.binding).or_default();
        prim.samples += 1;
        prim.points = prim.points.max(sample.points.len());
        prim.deformed_points += sample.points.len() as u64;
        prim.has_transform |= sample.transform.is_some();
    }
}

/// Runs a schedule in which prims have their own times: that of `work`, or a part of it. It does
/// not call [`FrameSink::finish`].
///
/// # Errors
/// Errors of the GPU or the sink, and [`Error::Cancelled`].
pub(super) fn own_times(
    scene: &Scene,
    work: &Work,
    schedule: &[Scheduled],
    deformer: &mut Deformer,
    diagnostics: &mut Diagnostics,
    sink: &mut dyn FrameSink,
    watch: &mut Watch<'_>,
) -> Result<Ran> {
    let scheduled: HashSet<usize> = schedule.iter().flat_map(|(_, b)| b).copied().collect();
    let mut prims = Vec::with_capacity(scheduled.len());
    let mut index_of = HashMap::with_capacity(scheduled.len());
    for b in work.plan.prims().map(|p| p.binding) {
        if !scheduled.contains(&b) {
            continue;
        }
        let points = match work.plan.of(b).parts.is_empty() {
            true => 0,
            false => scene.bindings[b].points.first().map_or(0, |p| p.len()),
        };
        index_of.insert(b, prims.len());
        prims.push(PrimInfo {
            copies: work.copies.get(&b).cloned().unwrap_or_default(),
            ..work.plan.info(scene, b, points)
        });
    }
    let times: Vec<Time> = schedule.iter().map(|(time, _)| *time).collect();
    let start = BakeStart {
        scene,
        prims: &prims,
        times: &times,
        step: None,
        space: work.plan.space,
    };
    sink.begin(&start).map_err(Error::of_sink)?;
    let mut tally = Tally::new();
    let deform_time = deform_frames(
        scene,
        &work.plan,
        schedule,
        deformer,
        diagnostics,
        watch,
        &mut |frame| {
            for sample in &mut frame.prims {
                sample.prim = index_of[&sample.binding];
            }
            count(&mut tally, frame);
            sink.frame(frame).map_err(Error::of_sink)
        },
    )?;
    Ok(Ran { tally, deform_time })
}

/// The work at frames that each have every prim.
pub(super) struct EvenWork {
    pub plan: Plan,
    pub clip: Clip,
    pub schedule: Schedule,
}

impl EvenWork {
    /// `is_asked` says whether the caller asked for these frames.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the frames need too much data and the caller did not ask for them.
    pub fn new(scene: &Scene, plan: Plan, clip: Clip, is_asked: bool) -> Result<Self> {
        let bindings: Vec<usize> = plan.prims().map(|p| p.binding).collect();
        let times = clip.times.iter();
        let schedule: Schedule = times.map(|t| (*t, bindings.clone())).collect();
        if !is_asked {
            check_size(scene, &plan, &schedule)?;
        }
        Ok(Self {
            plan,
            clip,
            schedule,
        })
    }
}

/// Runs frames that each have every prim of the plan, except prims that cannot be baked at the
/// first frame. It does not call [`FrameSink::finish`]; if no prim can be baked, it does not call
/// the sink at all.
///
/// # Errors
/// [`Error::PrimLost`] if a prim is missing at a later frame, [`Error::Invalid`] if its number of
/// points changes; errors of the GPU or the sink, and [`Error::Cancelled`].
pub(super) fn every_frame(
    scene: &Scene,
    work: &EvenWork,
    deformer: &mut Deformer,
    diagnostics: &mut Diagnostics,
    sink: &mut dyn FrameSink,
    watch: &mut Watch<'_>,
) -> Result<Ran> {
    let mut run = EveryFrame {
        scene,
        work,
        sink,
        prims: None,
        tally: Tally::new(),
        lost: None,
    };
    let ran = deform_frames(
        scene,
        &work.plan,
        &work.schedule,
        deformer,
        diagnostics,
        watch,
        &mut |frame| run.frame(frame),
    );
    match ran {
        Ok(deform_time) => Ok(Ran {
            tally: run.tally,
            deform_time,
        }),
        // The error of a prim says more than that the prim is missing.
        Err(e) => Err(match run.lost.and_then(|b| diagnostics.first_of(b)) {
            Some(why) => Error::Invalid(why.clone()),
            None => e,
        }),
    }
}

struct EveryFrame<'a> {
    scene: &'a Scene,
    work: &'a EvenWork,
    sink: &'a mut dyn FrameSink,
    /// The prims of the first frame, after it was deformed.
    prims: Option<Vec<PrimInfo>>,
    tally: Tally,
    /// A prim that is missing in a later frame.
    lost: Option<usize>,
}

impl EveryFrame<'_> {
    fn frame(&mut self, frame: &mut Frame) -> Result<()> {
        if self.prims.is_none() {
            self.begin(frame)?;
        }
        let prims = self.prims.as_deref().unwrap_or_default();
        if prims.is_empty() {
            return Ok(());
        }
        let kept: HashSet<usize> = prims.iter().map(|p| p.binding).collect();
        frame.prims.retain(|p| kept.contains(&p.binding));
        let mut samples = frame.prims.iter_mut();
        for (i, prim) in prims.iter().enumerate() {
            // Both are in the order of the schedule.
            let Some(sample) = samples.next().filter(|s| s.binding == prim.binding) else {
                self.lost = Some(prim.binding);
                return Err(Error::PrimLost {
                    prim: prim.path.clone(),
                    time: frame.time,
                });
            };
            sample.prim = i;
            if sample.points.len() != prim.points {
                let expected = format!("{} points, as at the first frame", prim.points);
                let found = format!("{} at time {}", sample.points.len(), frame.time);
                let e = Invalid::new(&prim.path, "points", expected, found);
                return Err(e.in_file(&self.scene.file).into());
            }
        }
        count(&mut self.tally, frame);
        self.sink.frame(frame).map_err(Error::of_sink)
    }

    fn begin(&mut self, frame: &Frame) -> Result<()> {
        let info =
            |s: &crate::PrimSample| self.work.plan.info(self.scene, s.binding, s.points.len());
        let prims: Vec<PrimInfo> = frame.prims.iter().map(info).collect();
        if !prims.is_empty() {
            let start = BakeStart {
                scene: self.scene,
                prims: &prims,
                times: &self.work.clip.times,
                step: Some(self.work.clip.step),
                space: self.work.plan.space,
            };
            self.sink.begin(&start).map_err(Error::of_sink)?;
        }
        self.prims = Some(prims);
        Ok(())
    }
}

/// The errors and warnings of the prims of a schedule that was run.
pub(super) fn findings(
    scene: &Scene,
    schedule: &[Scheduled],
    diagnostics: Diagnostics,
    tally: &Tally,
) -> Findings {
    let mut findings = diagnostics.finish(scene, |b| tally.contains_key(&b));
    findings.warnings.extend(broken_shapes(scene, schedule));
    findings
}

/// The error of a bake in which no prim was baked.
pub(super) fn nothing_to_skin(scene: &Scene, report: &BakeReport) -> Error {
    Error::NothingToSkin(Box::new(NothingToSkin {
        file: scene.file.clone(),
        has_skel_root: !scene.skel_roots.is_empty(),
        errors: report.errors.clone(),
        warnings: report.warnings.clone(),
    }))
}
