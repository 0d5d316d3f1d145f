//! The stage that refers to the clips, and the contents that all clips share.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::cuts::Cuts;
use super::names::ClipNames;
use crate::asked::{Asked, skel_roots_to_retype};
use crate::error::{Error, Result};
use crate::options::{Progress, Watch, tell};
use crate::report::{BakeReport, nothing_to_skin};
use crate::work::Work;
use sinew::error::Warning;
use sinew::scene::Scene;
use sinew_io::output;
use sinew_io::usd::{BakeEdits, ClipContents, ClipLayout, ClipStage, FoundClip};

/// What every run with the same input and options shares.
pub(super) struct Prepared<'w> {
    pub layout: ClipLayout,
    pub cuts: Cuts<'w>,
    pub names: ClipNames,
}

impl Prepared<'_> {
    pub fn contents(&self, clips: Range<usize>) -> Result<ClipContents> {
        let mut out = ClipContents::default();
        for i in clips {
            let name = self.names.clip(i + 1);
            match FoundClip::at(&name)? {
                FoundClip::Clip(clip) => out.add(&name, &clip)?,
                FoundClip::Nothing | FoundClip::Foreign => return Err(foreign(&name)),
            }
        }
        Ok(out)
    }

    /// Whether a clip has anything of a binding's prim.
    pub fn came_out(&self, scene: &Scene, contents: &ClipContents, b: usize) -> Result<bool> {
        let place = self.layout.place(&scene.bindings[b].path)?;
        Ok(contents.has(&place))
    }
}

impl Asked<'_> {
    /// Writes the stage, after all clips exist.
    pub(super) fn write_stage(
        &self,
        work: &Work,
        prepared: &Prepared<'_>,
        report: &mut BakeReport,
        watch: &mut Watch<'_>,
    ) -> Result<ClipContents> {
        tell(watch, Progress::Writing)?;
        let (names, cuts) = (&prepared.names, &prepared.cuts);
        let count = cuts.count();
        let contents = prepared.contents(0..count)?;
        let mut edits = BakeEdits::default();
        let mut roots = BTreeSet::new();
        for prim in work.plan.prims() {
            if prepared.came_out(self.scene, &contents, prim.binding)? {
                let root = self.scene.bindings[prim.binding].skel_root;
                roots.insert(self.scene.prims[root].path.clone());
            }
        }
        for b in work.leaders() {
            if prepared.came_out(self.scene, &contents, b)? {
                edits.prims.push(work.untouched(self.scene, b));
            }
        }
        if edits.prims.is_empty() {
            return Err(nothing_to_skin(self.scene, report));
        }
        edits.retype = skel_roots_to_retype(self.scene, &roots);
        edits.unbind = self.options.unbind(self.scene, &edits.retype);
        let clips: Vec<(PathBuf, f64)> = (0..count)
            .filter_map(|i| Some((names.clip(i + 1), cuts.from(i)?)))
            .collect();
        let stage = ClipStage {
            out: self.output,
            topology: &names.topology(),
            manifest: &names.manifest(),
            clips: &clips,
        };
        // No stage refers to clips with these numbers any more.
        output::remove_leftovers(&names.folder, |name| {
            names.number(name).is_some_and(|n| n > count)
        })?;
        let file = self.file;
        let written = file.write_clip_stage(&prepared.layout, &stage, &contents, edits)?;
        report.warnings.extend(written.warnings);
        report.files.extend(written.files);
        for (_, name) in names.there()?.into_iter().filter(|(n, _)| *n > count) {
            let message = "the file is from an earlier bake, and the stage does not refer to it";
            let path = name.display().to_string();
            report
                .warnings
                .push(Warning::new("clip-left-over", path, message));
        }
        Ok(contents)
    }

    /// Adds the contents of clips to the report, baked now or before.
    pub(super) fn count(
        &self,
        clips: Range<usize>,
        work: &Work,
        prepared: &Prepared<'_>,
        contents: &ClipContents,
        report: &mut BakeReport,
    ) -> Result<()> {
        let mut times_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, bindings) in prepared.cuts.own(clips) {
            for b in bindings {
                *times_of.entry(*b).or_default() += 1;
            }
        }
        for b in work.leaders() {
            if !prepared.came_out(self.scene, contents, b)? {
                continue;
            }
            let plan = work.plan.of(b);
            let binding = &self.scene.bindings[b];
            let places = 1 + work.copies.get(&b).map_or(0, Vec::len);
            let points = binding.points.first().map_or(0, |p| p.len());
            report.prims += places;
            report.shared += places - 1;
            report.points += if plan.parts.is_empty() { 0 } else { points } * places;
            report.samples += times_of.get(&b).copied().unwrap_or(0) * places;
            let moved = binding.is_rigid() && plan.transform.is_some();
            report.moved += usize::from(moved) * places;
        }
        Ok(())
    }
}

/// The error of a file that has the name of a clip.
pub(super) fn foreign(name: &Path) -> Error {
    Error::output(
        name,
        "the existing file is no whole clip of a bake: move it away, or choose another output",
    )
}
