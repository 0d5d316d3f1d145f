//! The samples of a bake into USD: each chosen prim at its own times.

use std::collections::BTreeMap;

use glam::Vec3;

use crate::error::Result;
use crate::run::Ran;
use crate::samples::{Came, Thinner};
use crate::schedule::Scheduled;
use crate::sink::{Frame, FrameSink, PrimSample, SinkError};
use crate::stream::Runner;
use crate::work::Work;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew_io::usd::{BakeOutput, BakedArray, BakedPrim, Samples};

/// The results of a schedule.
pub(super) struct Baked {
    /// Prims with at least one sample, by their index into [`Scene::bindings`].
    /// Points and normals are [thinned](Thinner); extents and transforms are not.
    pub prims: BTreeMap<usize, BakedPrim>,
    pub ran: Ran,
}

impl Runner<'_, '_> {
    /// Bakes the prims of a schedule: that of `work`, or a part of it. Needed values are written to
    /// `out`, or dropped without it.
    ///
    /// # Errors
    /// Errors of the GPU and of writing, and [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn bake_tracks(
        &mut self,
        work: &Work,
        schedule: &[Scheduled],
        out: Option<&mut BakeOutput<'_>>,
    ) -> Result<Baked> {
        let mut sink = TrackSink {
            scene: self.scene,
            work,
            tracks: BTreeMap::new(),
            keeping: Keeping {
                out,
                free: Vec::new(),
            },
        };
        let ran = self.run(work, schedule, &mut sink)?;
        let mut prims = BTreeMap::new();
        for (b, track) in sink.tracks {
            prims.insert(b, track.finish(&mut sink.keeping)?);
        }
        Ok(Baked { prims, ran })
    }
}

/// Thins the samples of every prim and writes those that are needed to the file immediately.
struct TrackSink<'a, 'o> {
    scene: &'a Scene,
    work: &'a Work,
    /// By index into [`Scene::bindings`].
    tracks: BTreeMap<usize, Track>,
    keeping: Keeping<'a, 'o>,
}

impl FrameSink for TrackSink<'_, '_> {
    fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
        for sample in &mut frame.prims {
            let track = self.tracks.entry(sample.binding);
            let new = || Track::new(self.work.untouched(self.scene, sample.binding));
            let track = track.or_insert_with(new);
            track.add(frame.time, sample, &mut self.keeping)?;
        }
        for array in self.keeping.free.drain(..) {
            frame.recycle(array);
        }
        Ok(())
    }
}

/// The destinations of values that are needed and of those that are not.
struct Keeping<'a, 'o> {
    out: Option<&'a mut BakeOutput<'o>>,
    free: Vec<Vec<Vec3>>,
}

/// Arrays of one time that are written together or not at all.
type Arrays = Vec<Vec<Vec3>>;

impl Keeping<'_, '_> {
    /// Writes the arrays that are needed, each to the samples of its property.
    fn came(&mut self, came: Came<Arrays>, samples: &mut [&mut Samples<BakedArray>]) -> Result<()> {
        match came {
            Came::Nothing => {}
            Came::Redundant(arrays) => self.free.extend(arrays),
            Came::Needed(time, arrays) => {
                for (values, samples) in arrays.into_iter().zip(samples) {
                    let (array, free) = match &mut self.out {
                        Some(out) => out.keep(time, values)?,
                        None => (Vec::new().into(), Some(values)),
                    };
                    samples.push((time, array));
                    self.free.extend(free);
                }
            }
        }
        Ok(())
    }
}

/// The samples of a prim while frames arrive.
struct Track {
    prim: BakedPrim,
    /// Points and, if they are asked for, their velocities: readers expect both at the same times.
    points: Thinner<Arrays>,
    /// One per property with samples.
    normals: Vec<Thinner<Arrays>>,
}

impl Track {
    fn new(prim: BakedPrim) -> Self {
        Self {
            normals: prim.normals.iter().map(|_| Thinner::default()).collect(),
            points: Thinner::default(),
            prim,
        }
    }

    fn add(
        &mut self,
        time: Time,
        sample: &mut PrimSample,
        keep: &mut Keeping<'_, '_>,
    ) -> Result<()> {
        let prim = &mut self.prim;
        if let (Some(transform), Some(matrix)) = (&mut prim.transform, sample.transform) {
            transform.samples.push((time, matrix));
        }
        let parts = self.normals.len();
        let mut add_normals = |part: usize, keep: &mut Keeping<'_, '_>| match sample
            .normals
            .get_mut(part)
            .and_then(Option::take)
        {
            Some(values) => {
                let came = self.normals[part].push(time, vec![values]);
                keep.came(came, &mut [&mut prim.normals[part].1])
            }
            None => Ok(()),
        };
        // The order of arrays in files: the first normals, points, other normals.
        add_normals(0, keep)?;
        if let Some(extent) = sample.extent {
            prim.extent.push((time, extent));
            let points = std::mem::take(&mut sample.points);
            let arrays = std::iter::once(points).chain(sample.velocities.take());
            let came = self.points.push(time, arrays.collect());
            keep.came(came, &mut [&mut prim.points, &mut prim.velocities])?;
        }
        (1..parts).try_for_each(|part| add_normals(part, keep))
    }

    fn finish(mut self, keep: &mut Keeping<'_, '_>) -> Result<BakedPrim> {
        let prim = &mut self.prim;
        let mut finish = |mut thinner: Thinner<Arrays>, samples: &mut [_]| {
            let last = thinner.finish();
            let came = last.map_or(Came::Nothing, |(time, arrays)| Came::Needed(time, arrays));
            keep.came(came, samples)
        };
        for (thinner, (_, samples)) in self.normals.into_iter().zip(&mut prim.normals) {
            finish(thinner, &mut [samples])?;
        }
        finish(self.points, &mut [&mut prim.points, &mut prim.velocities])?;
        Ok(self.prim)
    }
}
