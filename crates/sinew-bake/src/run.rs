//! Runs a bake: deforms the planned prims frame by frame and passes the frames to a sink.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use crate::diagnostics::broken_shapes;
use crate::error::{Error, Result};
use crate::failed;
use crate::plan::PrimPlan;
use crate::report::{BakeReport, nothing_to_skin};
use crate::schedule::Scheduled;
use crate::sink::{BakeStart, Frame, FrameSink, PrimInfo, SinkError};
use crate::stream::Runner;
use crate::work::Work;
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene};

/// The result of a run.
pub(super) struct Ran {
    /// The totals of each binding.
    pub tally: BTreeMap<usize, PrimTally>,
    /// Time of posing and deforming.
    pub deform_time: Duration,
}

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

impl Runner<'_, '_> {
    /// Runs a schedule: that of `work`, or a part of it. It does not call [`FrameSink::finish`].
    ///
    /// If each frame has every prim, prims that cannot be baked at the first frame are left out. If
    /// no prim can be baked, the sink is not called at all.
    ///
    /// # Errors
    /// Errors of the GPU or the sink, and [`Error::Cancelled`]. If each frame has every prim,
    /// [`Error::PrimLost`] if a prim is missing at a later frame, and [`Error::Invalid`] if its
    /// number of points changes.
    pub fn run(
        &mut self,
        work: &Work,
        schedule: &[Scheduled],
        sink: &mut dyn FrameSink,
    ) -> Result<Ran> {
        let mut counting = Counting {
            scene: self.scene,
            work,
            times: schedule.iter().map(|(time, _)| *time).collect(),
            sink,
            prims: None,
            index_of: HashMap::new(),
            tally: BTreeMap::new(),
            lost: None,
        };
        if work.clip.is_none() {
            let prims = prims_of(self.scene, work, schedule);
            counting.open(prims).map_err(Error::of_sink)?;
        }
        match self.deform(&work.plan, schedule, &mut counting) {
            Ok(deform_time) => Ok(Ran {
                tally: counting.tally,
                deform_time,
            }),
            // The error of a prim says more than that the prim is missing.
            Err(e) => Err(
                match counting.lost.and_then(|b| self.diagnostics.first_of(b)) {
                    Some(why) => Error::Invalid(why.clone()),
                    None => e,
                },
            ),
        }
    }

    /// Adds to the report what came of the run of a whole schedule.
    ///
    /// # Errors
    /// [`Error::NothingToSkin`] if nothing was baked.
    pub fn end(self, work: &Work, ran: &Ran, report: &mut BakeReport) -> Result<()> {
        let scene = self.scene;
        report.frames = work.clip.as_ref().map_or(0, |clip| clip.len());
        for (binding, prim) in &ran.tally {
            let places = 1 + work.copies.get(binding).map_or(0, Vec::len);
            report.prims += places;
            report.shared += places - 1;
            report.points += prim.points * places;
            report.deformed_points += prim.deformed_points;
            report.samples += prim.samples * places;
            let in_place = work.plan.space == OutSpace::Prim;
            let moved = in_place && scene.bindings[*binding].is_rigid() && prim.has_transform;
            report.moved += usize::from(moved && work.clip.is_none()) * places;
        }
        work.tell_fewest(report);
        let came_out = |b| ran.tally.contains_key(&b);
        self.diagnostics
            .finish(scene, came_out, &work.copies, report);
        report.warnings.extend(broken_shapes(scene, &work.schedule));
        report.deform_time = ran.deform_time;
        match ran.tally.is_empty() && !failed::is_switched_off(scene, report) {
            true => Err(nothing_to_skin(scene, report)),
            false => Ok(()),
        }
    }
}

/// The prims of a schedule in which each has its own times.
fn prims_of(scene: &Scene, work: &Work, schedule: &[Scheduled]) -> Vec<PrimInfo> {
    let scheduled: HashSet<usize> = schedule.iter().flat_map(|(_, b)| b).copied().collect();
    let prims = work.plan.prims().filter(|p| scheduled.contains(&p.binding));
    let info = |plan: &PrimPlan| {
        let b = plan.binding;
        let points = match plan.parts.is_empty() {
            true => 0,
            false => scene.bindings[b].points.first().map_or(0, |p| p.len()),
        };
        PrimInfo {
            copies: work.copies.get(&b).cloned().unwrap_or_default(),
            ..work.plan.info(scene, b, points)
        }
    };
    prims.map(info).collect()
}

/// Numbers and counts the samples of frames, and passes the frames on.
struct Counting<'a> {
    scene: &'a Scene,
    work: &'a Work,
    times: Vec<Time>,
    sink: &'a mut dyn FrameSink,
    /// The prims of frames. If each frame has every prim, they are known after the first frame.
    prims: Option<Vec<PrimInfo>>,
    /// Indices into `prims`, by binding.
    index_of: HashMap<usize, usize>,
    tally: BTreeMap<usize, PrimTally>,
    /// A prim that is missing in a later frame.
    lost: Option<usize>,
}

impl Counting<'_> {
    fn open(&mut self, prims: Vec<PrimInfo>) -> Result<(), SinkError> {
        if !prims.is_empty() {
            self.sink.begin(&BakeStart {
                scene: self.scene,
                prims: &prims,
                times: &self.times,
                step: self.work.clip.as_ref().map(|clip| clip.step),
                space: self.work.plan.space,
            })?;
        }
        let numbered = prims.iter().enumerate();
        self.index_of = numbered.map(|(i, p)| (p.binding, i)).collect();
        self.prims = Some(prims);
        Ok(())
    }

    /// Leaves out prims that are not in the first frame, and checks the others.
    fn check(&mut self, frame: &mut Frame) -> Result<()> {
        frame
            .prims
            .retain(|p| self.index_of.contains_key(&p.binding));
        // Both are in the order of the schedule.
        for (i, prim) in self.prims.iter().flatten().enumerate() {
            let sample = frame.prims.get(i).filter(|s| s.binding == prim.binding);
            let Some(sample) = sample else {
                self.lost = Some(prim.binding);
                return Err(Error::PrimLost {
                    prim: prim.path.clone(),
                    time: frame.time,
                });
            };
            if sample.points.len() != prim.points {
                let expected = format!("{} points, as at the first frame", prim.points);
                let found = format!("{} at time {}", sample.points.len(), frame.time);
                let e = Invalid::new(&prim.path, "points", expected, found);
                return Err(e.in_file(&self.scene.file).into());
            }
        }
        Ok(())
    }
}

impl FrameSink for Counting<'_> {
    fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
        if self.prims.is_none() {
            let (scene, plan) = (self.scene, &self.work.plan);
            let samples = frame.prims.iter();
            let prims = samples.map(|s| plan.info(scene, s.binding, s.points.len()));
            self.open(prims.collect())?;
        }
        if self.index_of.is_empty() {
            return Ok(());
        }
        if self.work.clip.is_some() {
            self.check(frame)?;
        }
        for sample in &mut frame.prims {
            sample.prim = self.index_of[&sample.binding];
            let prim = self.tally.entry(sample.binding).or_default();
            prim.samples += 1;
            prim.points = prim.points.max(sample.points.len());
            prim.deformed_points += sample.points.len() as u64;
            prim.has_transform |= sample.transform.is_some();
        }
        self.sink.frame(frame)
    }
}
