//! Bakes into USD value clips: one file for each run of frames, and a stage that refers to them. A
//! run is baked, written and dropped before the next one begins. So memory, and the work that is
//! lost if the process ends, are limited by its length.

mod cuts;
mod edges;
mod make;
mod names;
mod record;
mod stage;

use std::collections::HashSet;
use std::path::Path;

use super::asked::{Asked, skel_roots_to_retype};
use super::backend::Deformer;
use super::error::{Error, Result};
use super::failed;
use super::format::Format;
use super::hints::hinted;
use super::options::{BakeOptions, Progress, Watch, tell};
use super::report::{BakeReport, ClipCounts, FailedPrim};
use super::space::{self, Space};
use super::stream::Runner;
use super::work::Work;
use cuts::Cuts;
use make::ClipMaker;
use names::ClipNames;
use record::Records;
use sinew::error::{Warning, one_line};
use sinew_io::output::{self, Outputs};
use sinew_io::usd::{BakeEdits, BakedHint, ClipContents, ClipFile, FoundClip};
use stage::{Prepared, foreign};

/// Why the options for clips do not fit each other or the output; `None` if they do.
pub(super) fn refusal(
    output: &Path,
    format: Format,
    options: &BakeOptions,
) -> Option<&'static str> {
    let is_package = sinew_io::extension(output) == "usdz";
    match options.clip_frames {
        None if options.resume => {
            Some("resume is set, but only a bake into clips can be resumed: clip_frames is not set")
        }
        None if options.shard.is_some() => {
            Some("shard is set, but only a bake into clips has shards: clip_frames is not set")
        }
        None => None,
        Some(0) => Some("expected at least one frame per clip, found 0"),
        Some(_) if format != Format::Usd => {
            Some("only USD has value clips: expected .usda or .usdc")
        }
        Some(_) if is_package => {
            Some("a .usdz has to be self-contained: expected .usda or .usdc for a stage of clips")
        }
        Some(_) => None,
    }
}

impl Asked<'_> {
    /// Bakes the requested clips and, if these are all clips, writes the stage that refers to them.
    pub fn bake_clips(
        &self,
        deformer: &mut Deformer,
        report: &mut BakeReport,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let work = Work::of_own_times(self.scene, self.chosen, &self.options.plan(), watch)?;
        let prepared = self.prepare(&work)?;
        let cuts = &prepared.cuts;
        let count = cuts.count();
        let mine = self.options.shard.map_or(0..count, |s| s.clips(count));
        let records = Records::new(self.file, self.output, self.options, count)?;
        let backend = deformer.identity();
        let expected = |i| records.of(i, cuts.cut(i, &[]).frames, &backend);
        // Whether an existing OUT refers to clips of another bake.
        let mut stale = false;
        let mut todo = Vec::new();
        for i in mine.clone() {
            let name = prepared.names.clip(i + 1);
            let expected = expected(i);
            if let Some(found) = self.found(&name, &records)? {
                let difference = expected.difference(&found.record);
                stale |= difference.is_some();
                match difference {
                    None if self.options.resume => continue,
                    Some((what, now, then)) if self.options.resume => {
                        report.warnings.push(Warning::new(
                            "clip-baked-anew",
                            name.display().to_string(),
                            format!(
                                "the existing clip was baked with {what} '{}', but now it is '{now}': it is baked again",
                                one_line(then)
                            ),
                        ));
                    }
                    _ => {}
                }
            }
            todo.push((i, name, expected));
        }
        // One clip of the other shards is enough to compare with.
        let there = prepared.names.there()?;
        if let Some((number, name)) = there.iter().find(|(n, _)| !mine.contains(&(n - 1)))
            && let FoundClip::Clip(found) = FoundClip::at(name)?
        {
            self.check_owner(name, &found, &records)?;
            let belongs = (1..=count).contains(number);
            stale |= belongs && expected(number - 1).difference(&found.record).is_some();
        }
        let total = todo.iter().map(|(i, ..)| cuts.cut(*i, &[]).samples()).sum();
        let needed = todo.iter().map(|(i, ..)| {
            space::of_usd(self.scene, &work, &cuts.cut(*i, &[]).schedule, self.output)
        });
        let needed = needed.fold(0, u64::saturating_add);
        let space = Space::check(self.output, needed, self.options, report, watch)?;
        tell(watch, Progress::Deforming { done: 0, total })?;
        // It is removed again if no clip is written to it.
        let mut folder = Outputs::default();
        if !todo.is_empty() {
            folder.folder(&prepared.names.folder)?;
        }
        // Of kept clips, too.
        let names = &prepared.names;
        output::remove_leftovers(&names.folder, |name| {
            names.number(name).is_some_and(|n| mine.contains(&(n - 1)))
        })?;
        let mut runner = Runner::new(self.scene, deformer, &mut *watch);
        runner.whole = Some((0, total));
        let mut maker = ClipMaker::new(self, runner, &work, &prepared, stale);
        for (i, name, record) in &todo {
            space.explain(maker.bake(*i, name, record))?;
        }
        folder.finish()?;
        let made = maker.finish();
        work.tell_fewest(report);
        report.deform_time = made.deform_time;
        report.deformed_points = made.deformed_points;
        report.warnings.extend(made.broken_shapes);
        report.clips = Some(ClipCounts {
            of: count,
            baked: todo.len(),
            kept: mine.len() - todo.len(),
        });
        let contents = match self.options.shard {
            Some(_) => prepared.contents(mine.clone())?,
            None => space.explain(self.write_stage(&work, &prepared, report, watch))?,
        };
        let came_out = |b| matches!(prepared.came_out(self.scene, &contents, b), Ok(true));
        made.diagnostics
            .finish(self.scene, came_out, &work.copies, report);
        if self.options.shard.is_none() {
            // Clips that were kept have no diagnostics.
            self.add_missing(&work, &prepared, &contents, report)?;
        }
        report
            .files
            .extend(mine.clone().map(|i| prepared.names.clip(i + 1)));
        self.count(mine, &work, &prepared, &contents, report)
    }

    /// Writes the stage after all clips exist.
    pub fn stitch_clips(&self, report: &mut BakeReport, watch: &mut Watch<'_>) -> Result<()> {
        let work = Work::of_own_times(self.scene, self.chosen, &self.options.plan(), watch)?;
        let prepared = self.prepare(&work)?;
        let count = prepared.cuts.count();
        let records = Records::new(self.file, self.output, self.options, count)?;
        let mut backend: Option<String> = None;
        let mut missing = Vec::new();
        for i in 0..count {
            let name = prepared.names.clip(i + 1);
            let Some(found) = self.found(&name, &records)? else {
                missing.push(i + 1);
                continue;
            };
            let found = found.record;
            let backend = backend.get_or_insert_with(|| found.backend.clone());
            let expected = records.of(i, prepared.cuts.cut(i, &[]).frames, backend);
            if let Some((what, expected, found)) = expected.difference(&found) {
                return Err(Error::OtherClip {
                    file: name,
                    what: what.to_owned(),
                    expected: expected.to_owned(),
                    found: one_line(found),
                });
            }
        }
        if !missing.is_empty() {
            return Err(Error::MissingClips {
                folder: prepared.names.folder,
                of: count,
                missing,
            });
        }
        report.backend = backend.unwrap_or_default();
        report.clips = Some(ClipCounts {
            of: count,
            baked: 0,
            kept: count,
        });
        let contents = self.write_stage(&work, &prepared, report, watch)?;
        let clips = (0..count).map(|i| prepared.names.clip(i + 1));
        report.files.extend(clips);
        self.add_missing(&work, &prepared, &contents, report)?;
        self.count(0..count, &work, &prepared, &contents, report)
    }

    /// Adds the prims that no clip has anything of, although there is something to bake, such as
    /// those that failed in the shards.
    fn add_missing(
        &self,
        work: &Work,
        prepared: &Prepared<'_>,
        contents: &ClipContents,
        report: &mut BakeReport,
    ) -> Result<()> {
        for b in work.leaders() {
            let plan = work.plan.of(b);
            let has_work = plan.transform.is_some() || !plan.parts.is_empty();
            let path = &self.scene.bindings[b].path;
            let is_known = report.failed.iter().any(|f| f.path == *path);
            if has_work && !is_known && !prepared.came_out(self.scene, contents, b)? {
                let missing = FailedPrim {
                    path: path.clone(),
                    code: None,
                    reason: "no clip has it, because it could not be baked".to_owned(),
                };
                failed::add(self.scene, [(b, missing)], &work.copies, report);
            }
        }
        Ok(())
    }

    /// The existing clip of a bake into this OUT; `None` if there is none.
    fn found(&self, name: &Path, records: &Records) -> Result<Option<Box<ClipFile>>> {
        match FoundClip::at(name)? {
            FoundClip::Nothing => Ok(None),
            FoundClip::Foreign => Err(foreign(name)),
            FoundClip::Clip(found) => {
                self.check_owner(name, &found, records)?;
                Ok(Some(found))
            }
        }
    }

    /// Fails if the existing clip belongs to another stage: hero.usda and hero.usdc have the same
    /// folder of clips.
    fn check_owner(&self, name: &Path, found: &ClipFile, records: &Records) -> Result<()> {
        let owner = &found.record.stage;
        if *owner == records.stage {
            return Ok(());
        }
        Err(Error::output(
            self.output,
            format!(
                "{} is a clip of {}, and outputs that differ only in their extension have the same clips: choose another name, or remove that bake and its clips",
                name.display(),
                one_line(owner)
            ),
        ))
    }

    fn prepare<'w>(&self, work: &'w Work) -> Result<Prepared<'w>> {
        let scene = self.scene;
        let bindings = || work.plan.prims().map(|p| &scene.bindings[p.binding]);
        let prims: HashSet<usize> = bindings().map(|b| b.prim).collect();
        let hints = hinted(scene, &prims).into_iter().map(|prim| BakedHint {
            path: scene.prims[prim].path.clone(),
            samples: Vec::new(),
        });
        let roots = bindings().map(|b| scene.prims[b.skel_root].path.clone());
        let untouched = work.leaders().map(|b| work.untouched(scene, b));
        let structure = BakeEdits {
            prims: untouched.collect(),
            hints: hints.collect(),
            retype: skel_roots_to_retype(scene, &roots.collect()),
            ..BakeEdits::default()
        };
        let length = self.options.clip_frames.unwrap_or(usize::MAX);
        // A hint also depends on the boxes of prims that do not move.
        let cuts = Cuts::new(&work.schedule, length, !structure.hints.is_empty());
        let names = ClipNames::of(self.output);
        let clips = (0..cuts.count()).map(|i| names.clip(i + 1));
        let all = clips.chain([names.topology(), names.manifest()]);
        self.file.check_outputs(all)?;
        Ok(Prepared {
            layout: self
                .file
                .clip_layout(self.output, &structure, self.options.layer)?,
            cuts,
            names,
        })
    }
}
