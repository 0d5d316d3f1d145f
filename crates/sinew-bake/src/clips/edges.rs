//! Finds samples for prims that cannot be baked at the first or last time of a clip.

use std::ops::ControlFlow;

use super::cuts::Cuts;
use crate::backend::Deformer;
use crate::diagnostics::Diagnostics;
use crate::error::Result;
use crate::schedule::Schedule;
use crate::stream::Runner;
use crate::work::Work;
use sinew::scene::Scene;

/// Number of times that are tried at once, after some have failed.
const MOST: usize = 64;

/// Finds the nearest samples around a cut that can be baked.
pub(super) struct Edges<'a> {
    scene: &'a Scene,
    work: &'a Work,
    cuts: &'a Cuts<'a>,
    /// Errors of the times that are tried here.
    tried: Diagnostics,
}

impl<'a> Edges<'a> {
    pub fn new(scene: &'a Scene, work: &'a Work, cuts: &'a Cuts<'a>) -> Self {
        Self {
            scene,
            work,
            cuts,
            tried: Diagnostics::default(),
        }
    }

    /// Additional entries of the schedule that a clip needs, each with its binding. `runner` has the
    /// errors of the clip's own entries.
    ///
    /// # Errors
    /// [`Error::Gpu`](crate::Error::Gpu) if the GPU fails.
    pub fn of(&mut self, index: usize, runner: &mut Runner<'_, '_>) -> Result<Vec<(usize, usize)>> {
        let mut out = Vec::new();
        let cuts = self.cuts;
        let (diagnostics, deformer) = (&runner.diagnostics, &mut *runner.deformer);
        for (b, before, after) in cuts.beyond(index) {
            if diagnostics.is_broken(b) {
                continue;
            }
            let fails = |entry: &usize| diagnostics.fails(b, cuts.time(*entry));
            if let Some((edge, further)) = before.split_last()
                && fails(edge)
            {
                let found = self.nearest(b, further.iter().rev(), diagnostics, deformer)?;
                out.extend(found.map(|entry| (entry, b)));
            }
            if let Some((edge, further)) = after.split_first()
                && fails(edge)
            {
                let found = self.nearest(b, further.iter(), diagnostics, deformer)?;
                out.extend(found.map(|entry| (entry, b)));
            }
        }
        Ok(out)
    }

    /// The first of these entries at which the prim can be baked.
    fn nearest(
        &mut self,
        b: usize,
        entries: impl Iterator<Item = &'a usize>,
        diagnostics: &Diagnostics,
        deformer: &mut Deformer,
    ) -> Result<Option<usize>> {
        let times = entries.map(|entry| (*entry, self.cuts.time(*entry)));
        let open: Vec<_> = times.filter(|(_, t)| !diagnostics.fails(b, *t)).collect();
        let (mut rest, mut some) = (&open[..], 1);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(some.min(rest.len()));
            let mut unknown = now.to_vec();
            unknown.retain(|(_, t)| !self.tried.fails(b, *t));
            if !unknown.is_empty() {
                unknown.sort_unstable_by_key(|(entry, _)| *entry);
                let schedule = unknown.into_iter().map(|(_, time)| (time, vec![b]));
                let schedule: Schedule = schedule.collect();
                let watch = &mut |_| ControlFlow::Continue(());
                let mut runner = Runner {
                    diagnostics: std::mem::take(&mut self.tried),
                    ..Runner::new(self.scene, deformer, watch)
                };
                // The values are not needed.
                runner.bake_tracks(self.work, &schedule, None)?;
                self.tried = runner.diagnostics;
            }
            let found = now.iter().find(|(_, t)| !self.tried.fails(b, *t));
            if let Some((entry, _)) = found {
                return Ok(Some(*entry));
            }
            (rest, some) = (later, (some * 2).min(MOST));
        }
        Ok(None)
    }
}
