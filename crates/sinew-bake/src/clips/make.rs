//! Bakes clips one after the other.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use super::edges::Edges;
use super::stage::Prepared;
use crate::asked::{Asked, retyped};
use crate::diagnostics::{Diagnostics, broken_shapes};
use crate::error::Result;
use crate::hints::bake_hints;
use crate::plan::TransformKind;
use crate::samples;
use crate::stream::Runner;
use crate::work::{Work, check_size};
use sinew::error::Warning;
use sinew_io::output;
use sinew_io::usd::{BakeEdits, ClipRecord, without_still};

/// Bakes clips and collects their results.
pub(super) struct ClipMaker<'a, 'w> {
    bake: &'a Asked<'a>,
    runner: Runner<'a, 'w>,
    work: &'a Work,
    prepared: &'a Prepared<'a>,
    edges: Edges<'a>,
    /// Whether OUT refers to clips that are about to be replaced by others.
    stale: bool,
    /// By prim.
    broken_shapes: BTreeMap<String, Warning>,
    made: Made,
}

/// The results of all clips.
#[derive(Default)]
pub(super) struct Made {
    pub diagnostics: Diagnostics,
    pub broken_shapes: Vec<Warning>,
    pub deform_time: Duration,
    pub deformed_points: u64,
}

impl<'a, 'w> ClipMaker<'a, 'w> {
    /// `stale` says that existing clips, and an existing OUT, are from another bake.
    pub fn new(
        bake: &'a Asked<'a>,
        runner: Runner<'a, 'w>,
        work: &'a Work,
        prepared: &'a Prepared<'a>,
        stale: bool,
    ) -> Self {
        Self {
            bake,
            runner,
            work,
            prepared,
            edges: Edges::new(bake.scene, work, &prepared.cuts),
            stale,
            broken_shapes: BTreeMap::new(),
            made: Made::default(),
        }
    }

    pub fn finish(mut self) -> Made {
        self.made.diagnostics = self.runner.diagnostics;
        self.made
            .broken_shapes
            .extend(self.broken_shapes.into_values());
        self.made
    }

    /// Bakes a clip, by its index, and writes it to its file.
    ///
    /// # Errors
    /// Errors of the GPU and of writing, [`Error::Cancelled`](crate::Error::Cancelled), and
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the authored times need too much data.
    pub fn bake(&mut self, index: usize, name: &Path, record: &ClipRecord) -> Result<()> {
        let (scene, work) = (self.bake.scene, self.work);
        let cuts = &self.prepared.cuts;
        let only_baked_times = self.bake.options.frames.is_some();
        let mut cut = cuts.cut(index, &[]);
        if !only_baked_times {
            check_size(scene, &work.plan, &cut.schedule)?;
        }
        let mut out = self.bake.file.begin_clip(name)?;
        let baked = self.runner.bake_tracks(work, &cut.schedule, Some(&mut out));
        let mut baked = baked?;
        self.made.deform_time += baked.ran.deform_time;
        if let Some((done, _)) = &mut self.runner.whole {
            *done += cut.samples();
        }
        let more = self.edges.of(index, &mut self.runner)?;
        if !more.is_empty() {
            cut = cuts.cut(index, &more);
            // Samples are thinned one by one, so those at the edges cannot be added later.
            drop(out);
            out = self.bake.file.begin_clip(name)?;
            let watch = &mut |_| ControlFlow::Continue(());
            let mut again = Runner::new(scene, &mut *self.runner.deformer, watch);
            baked = again.bake_tracks(work, &cut.schedule, Some(&mut out))?;
            self.made.deform_time += baked.ran.deform_time;
        }
        for warning in broken_shapes(scene, &cut.schedule) {
            let known = self.broken_shapes.entry(warning.path.clone());
            known.or_insert(warning);
        }
        let tallies = baked.ran.tally.values();
        self.made.deformed_points += tallies.map(|t| t.deformed_points).sum::<u64>();
        let mut prims = baked.prims;
        // A prim with a sample at some time is in every clip, so these are the same in all clips.
        let retyped = retyped(scene, prims.values());
        let unbound = self.bake.options.unbind(scene, &retyped);
        let roots = (&retyped[..], &unbound[..]);
        let hints = bake_hints(scene, &prims, roots, only_baked_times, cut.window);
        for (b, prim) in &mut prims {
            samples::drop_redundant(prim);
            if self.work.plan.of(*b).transform == Some(TransformKind::World) {
                prim.transform = None;
            }
        }
        let mut edits = BakeEdits {
            prims: prims.into_values().collect(),
            hints,
            ..BakeEdits::default()
        };
        if !cut.has_still {
            without_still(&mut edits);
        }
        // From here on it would refer to clips of two bakes.
        if std::mem::take(&mut self.stale) {
            output::remove(self.bake.output)?;
        }
        let layout = &self.prepared.layout;
        layout.write_clip(out, edits, cut.frames, record)?;
        Ok(())
    }
}
