//! Finds the fewest bits for the tracks of one segment that keep every point near every joint
//! within the bound.
//!
//! A joint aims at where the source has it in skeleton space, from where the decoder has its
//! parent: so its errors make up for those above it, instead of adding to them.
//!
//! The search starts with grids that are fine enough for each joint alone, and makes them finer
//! where joints together exceed the bound. Then it goes round the tracks, the deepest joints first:
//! a track takes half of its keys, or a grid of twice the step, if the points of its joint and of
//! all joints below stay within the bound at each sample and between two. The joints below aim anew
//! if they do not stay there otherwise. The search ends when no track can be coarser. Every decision
//! rests on the values that the decoder gives.

use glam::{DAffine3, DQuat};

use super::components::{Component, TrackOf};
use super::format::{Header, LAST_CODE, LAST_STRIDE};
use super::measure::{self, ClipError};
use super::samples::Samples;
use super::track::{Coded, TrackKind, code_of};
use super::{ClipOptions, ClipSource};
use crate::kernel::JointTransform;
use crate::kernel::registry::{CLIP_RAW, CLIP_SMALLEST_THREE};
use crate::math::Trs;

/// What all segments of a clip have in common.
pub(super) struct Plan<'a> {
    pub source: &'a ClipSource,
    pub samples: Samples,
    /// The animated tracks, in the order of their headers.
    pub tracks: Vec<TrackOf>,
    /// The components of joints that are not animated, as they are decoded.
    pub constants: Vec<JointTransform>,
    /// The lever of each joint, in units of the skeleton.
    pub reaches: &'a [f64],
    /// All joints below each joint, parents first.
    pub below: Vec<Vec<u32>>,
    /// The tracks of each joint.
    pub of_joint: Vec<Vec<usize>>,
    /// The largest error of points that is asked for, in units of the skeleton.
    pub bound: f64,
    /// What f32 rounds, at most half of the bound, in units of the skeleton.
    pub rounding: f64,
    /// Distance of points from joints, in units of the skeleton.
    pub distance: f64,
    pub weight_bound: f64,
}

/// What f32 rounds: half of its step at each level, in a skeleton of this size.
fn rounding(levels: usize, reaches: &[f64]) -> f64 {
    let size = reaches.iter().copied().fold(0.0, f64::max);
    0.5 * f64::from(f32::EPSILON) * size * levels as f64
}

impl<'a> Plan<'a> {
    pub fn new(
        source: &'a ClipSource,
        samples: Samples,
        tracks: Vec<TrackOf>,
        constants: Vec<JointTransform>,
        reaches: &'a [f64],
        options: &ClipOptions,
    ) -> Self {
        let mut below = vec![Vec::new(); constants.len()];
        for joint in 0..constants.len() {
            let mut above = source.topology.parent(joint);
            while let Some(ancestor) = above {
                below[ancestor].push(joint as u32);
                above = source.topology.parent(ancestor);
            }
        }
        let bound = options.bound_metres / options.meters_per_unit;
        let mut of_joint = vec![Vec::new(); constants.len()];
        for (number, track) in tracks.iter().enumerate() {
            if let TrackOf::Joint { joint, .. } = *track {
                of_joint[joint].push(number);
            }
        }
        Self {
            source,
            samples,
            tracks,
            constants,
            reaches,
            below,
            of_joint,
            bound,
            rounding: rounding(source.topology.depth(), reaches).min(0.5 * bound),
            distance: options.distance_metres / options.meters_per_unit,
            weight_bound: options.weight_bound,
        }
    }
}

impl TrackOf {
    /// Whether it is the rotation of a joint.
    pub fn is_rotation(&self) -> bool {
        matches!(
            self,
            Self::Joint {
                component: Component::Rotation,
                ..
            }
        )
    }
}

/// A joint whose tracks were coded anew.
struct Aimed {
    coded: Vec<(usize, Coded)>,
    locals: Vec<JointTransform>,
    matrices: Vec<DAffine3>,
    /// In skeleton space.
    found: Vec<DAffine3>,
}

impl Aimed {
    fn new(
        locals: Vec<JointTransform>,
        above: Option<&[DAffine3]>,
        coded: Vec<(usize, Coded)>,
    ) -> Self {
        let matrices: Vec<DAffine3> = locals.iter().map(measure::matrix_of).collect();
        let found = match above {
            Some(above) => above.iter().zip(&matrices).map(|(a, m)| *a * *m).collect(),
            None => matrices.clone(),
        };
        Self {
            coded,
            locals,
            matrices,
            found,
        }
    }
}

/// One segment while it is searched.
struct Search<'p, 'a> {
    plan: &'p Plan<'a>,
    /// The largest error of points, in units of the skeleton.
    bound: f64,
    /// The largest error of a weight.
    weight_bound: f64,
    count: u32,
    /// Number of times at which errors are measured. All lists below have them for each joint, one
    /// joint after the other.
    parts: usize,
    /// The source: local transforms, and in skeleton space.
    sources: Vec<Trs>,
    wanted: Vec<DAffine3>,
    /// Local transforms as they are decoded.
    locals: Vec<JointTransform>,
    matrices: Vec<DAffine3>,
    /// The same in skeleton space.
    found: Vec<DAffine3>,
    /// Number of the first of these times in the clip.
    skipped: usize,
    /// Values of each track at the samples.
    values: Vec<Vec<[f64; 4]>>,
    coded: Vec<Coded>,
    /// For the joints below one that changes.
    scratch: Vec<DAffine3>,
}

/// Encodes the intervals of a segment from `first` on, within a share of the bounds.
///
/// If keys in f32 do not reach the bound, what f32 rounds is allowed besides.
///
/// # Errors
/// The largest error, if f32 does not reach that.
pub(super) fn encode(
    plan: &Plan<'_>,
    first: usize,
    count: usize,
    share: f64,
) -> Result<Vec<Coded>, ClipError> {
    let bound = plan.bound * share;
    let mut search = Search::new(plan, first, count as u32, bound, share);
    if search.refine().is_err() {
        search = Search::new(plan, first, count as u32, bound + plan.rounding, share);
        search.refine()?;
    }
    search.coarsen();
    Ok(search.coded)
}

impl<'p, 'a> Search<'p, 'a> {
    fn new(plan: &'p Plan<'a>, first: usize, count: u32, bound: f64, share: f64) -> Self {
        let parts = plan.samples.measured(count as usize);
        let skipped = plan.samples.parts * first;
        let joints = plan.constants.len();
        let source = plan.source;
        let mut wanted = vec![DAffine3::IDENTITY; joints * parts];
        let mut sources: Vec<Trs> = Vec::with_capacity(joints * parts);
        for joint in 0..joints {
            let parent = source.topology.parent(joint);
            for part in 0..parts {
                let local = source.joint(joint, plan.samples.time(skipped + part));
                let mut matrix = measure::matrix(&local);
                if let Some(parent) = parent {
                    matrix = wanted[parent * parts + part] * matrix;
                }
                wanted[joint * parts + part] = matrix;
                sources.push(local);
            }
        }
        let locals = plan.constants.iter();
        let locals = locals.flat_map(|local| std::iter::repeat_n(*local, parts));
        let values = plan.tracks.iter().map(|track| {
            let samples = 0..=count as usize;
            match *track {
                TrackOf::Joint {
                    joint, component, ..
                } => samples
                    .map(|i| {
                        let local = &sources[joint * parts + plan.samples.parts * i];
                        match component {
                            Component::Rotation => local.rotation.to_array(),
                            Component::Translation => local.translation.extend(0.0).to_array(),
                            Component::Scale => local.scale.extend(0.0).to_array(),
                        }
                    })
                    .collect(),
                TrackOf::Channel { channel, .. } => samples
                    .map(|i| {
                        let time = plan.samples.times[first + i];
                        [source.weight(channel, time), 0.0, 0.0, 0.0]
                    })
                    .collect(),
            }
        });
        let values: Vec<Vec<[f64; 4]>> = values.collect();
        let mut search = Self {
            plan,
            bound,
            weight_bound: plan.weight_bound * share,
            count,
            parts,
            locals: locals.collect(),
            matrices: vec![DAffine3::IDENTITY; joints * parts],
            found: wanted.clone(),
            skipped,
            wanted,
            sources,
            values,
            coded: Vec::new(),
            scratch: Vec::new(),
        };
        for track in 0..plan.tracks.len() {
            let coded = match plan.tracks[track] {
                TrackOf::Channel { channel, step_keys } => {
                    search.channel(track, channel, step_keys)
                }
                TrackOf::Joint { .. } => search.start(track),
            };
            search.coded.push(coded);
        }
        search
    }

    /// The first guess of a track's grid: a third of the bound for each joint.
    fn start(&self, track: usize) -> Coded {
        const SHARE: f64 = 1.0 / 3.0;
        let TrackOf::Joint {
            joint,
            component,
            step_keys,
        } = self.plan.tracks[track]
        else {
            unreachable!("only joints start so");
        };
        let bound = self.bound * SHARE;
        let step = match component {
            Component::Translation => bound,
            _ => bound / self.plan.reaches[joint].max(1e-12),
        };
        let header = Header {
            code: code_of(step),
            step_keys,
            ..Header::default()
        };
        self.best(track, header)
    }

    fn kind(&self, track: usize) -> TrackKind {
        match self.plan.tracks[track].is_rotation() {
            true => TrackKind::Rotation,
            false => TrackKind::Vector,
        }
    }

    /// The track with the step and the distance of keys of a header, in the mode of rotations that
    /// takes the fewest bits.
    fn best(&self, track: usize, header: Header) -> Coded {
        /// A missing component below this multiplies the errors of the others too much.
        const LEAST_MISSING: f64 = 0.3;
        let (values, kind) = (&self.values[track], self.kind(track));
        if kind == TrackKind::Vector {
            return Coded::grid(values, kind, header, self.count)
                .unwrap_or_else(|| Coded::raw(values, kind, header, self.count));
        }
        let unit: Vec<[f64; 4]> = values
            .iter()
            .map(|q| DQuat::from_array(*q).normalize().to_array())
            .collect();
        let is_large = |mode: u32| {
            let component = |q: &[f64; 4]| q[mode as usize].abs() >= LEAST_MISSING;
            mode == CLIP_SMALLEST_THREE || unit.iter().all(component)
        };
        (0..=CLIP_SMALLEST_THREE)
            .rev()
            .filter(|mode| is_large(*mode))
            .filter_map(|mode| Coded::grid(&unit, kind, Header { mode, ..header }, self.count))
            .min_by_key(|coded| coded.bits)
            .unwrap_or_else(|| Coded::raw(values, kind, header, self.count))
    }

    /// The values that a track takes at samples so that its joint is where the source has it,
    /// although the joints above are not quite there. `above` is its parent as it is decoded.
    fn aims(&self, track: usize, above: Option<&[DAffine3]>) -> Vec<[f64; 4]> {
        let values = &self.values[track];
        let (
            TrackOf::Joint {
                joint,
                component,
                step_keys: false,
            },
            Some(above),
        ) = (self.plan.tracks[track], above)
        else {
            return values.clone();
        };
        let aim = |(sample, value): (usize, &[f64; 4])| {
            let part = sample * self.plan.samples.parts;
            let at = joint * self.parts + part;
            let (source, wanted, above) = (&self.sources[at], &self.wanted[at], &above[part]);
            let aim = component.aimed(source, wanted, above, self.plan.distance);
            aim.unwrap_or(*value)
        };
        values.iter().enumerate().map(aim).collect()
    }

    /// A track of values with the step, mode and distance of keys of a header; in f32 if the grid
    /// would be too fine.
    fn coded_as(&self, track: usize, values: &[[f64; 4]], header: Header) -> Coded {
        let kind = self.kind(track);
        let raw = || Coded::raw(values, kind, header, self.count);
        if header.mode == CLIP_RAW {
            return raw();
        }
        let grid = match kind {
            TrackKind::Vector => Coded::grid(values, kind, header, self.count),
            TrackKind::Rotation => {
                let unit = |q: &[f64; 4]| DQuat::from_array(*q).normalize().to_array();
                let values: Vec<[f64; 4]> = values.iter().map(unit).collect();
                Coded::grid(&values, kind, header, self.count)
            }
        };
        grid.unwrap_or_else(raw)
    }

    /// A joint whose tracks take these headers and aim anew.
    fn aimed(
        &self,
        joint: usize,
        above: Option<&[DAffine3]>,
        header: impl Fn(usize) -> Header,
    ) -> Aimed {
        let mut locals = self.locals[joint * self.parts..][..self.parts].to_vec();
        let mut coded = Vec::new();
        for track in &self.plan.of_joint[joint] {
            let values = self.aims(*track, above);
            let now = self.coded_as(*track, &values, header(*track));
            self.decode(*track, &now, &mut locals);
            coded.push((*track, now));
        }
        Aimed::new(locals, above, coded)
    }

    /// The joint's parent as it is decoded.
    fn above(&self, joint: usize) -> Option<&[DAffine3]> {
        let parent = self.plan.source.topology.parent(joint)?;
        Some(&self.found[parent * self.parts..][..self.parts])
    }

    fn take(&mut self, joint: usize, aimed: Aimed) {
        let range = joint * self.parts..(joint + 1) * self.parts;
        self.locals[range.clone()].copy_from_slice(&aimed.locals);
        self.matrices[range.clone()].copy_from_slice(&aimed.matrices);
        self.found[range].copy_from_slice(&aimed.found);
        for (track, coded) in aimed.coded {
            self.coded[track] = coded;
        }
    }

    /// Codes a channel: nothing else depends on it.
    fn channel(&self, track: usize, channel: usize, step_keys: bool) -> Coded {
        let plan = self.plan;
        let wanted: Vec<f64> = (0..self.parts)
            .map(|part| {
                let time = plan.samples.time(self.skipped + part);
                plan.source.weight(channel, time)
            })
            .collect();
        let within = |coded: &Coded| {
            wanted.iter().enumerate().all(|(part, wanted)| {
                let position = plan.samples.position(part);
                let found = coded.at(TrackKind::Vector, position, self.count);
                (f64::from(found.x) - wanted).abs() <= self.weight_bound
            })
        };
        let values = &self.values[track];
        let header = Header {
            step_keys,
            ..Header::default()
        };
        let mut best = Coded::raw(values, TrackKind::Vector, header, self.count);
        let strides = if step_keys { 0 } else { LAST_STRIDE };
        let largest = code_of(2.0 * self.weight_bound);
        for stride in 0..=strides {
            for code in (largest.saturating_sub(3)..=largest).rev() {
                let header = Header {
                    code,
                    stride,
                    ..header
                };
                let coded = Coded::grid(values, TrackKind::Vector, header, self.count);
                let Some(coded) = coded.filter(|coded| coded.bits < best.bits) else {
                    continue;
                };
                if within(&coded) {
                    best = coded;
                    break;
                }
            }
        }
        best
    }

    /// Decodes a track into the local transforms of its joint.
    fn decode(&self, track: usize, coded: &Coded, locals: &mut [JointTransform]) {
        let TrackOf::Joint { component, .. } = self.plan.tracks[track] else {
            return;
        };
        let kind = self.kind(track);
        for (part, local) in locals.iter_mut().enumerate() {
            let value = coded.at(kind, self.plan.samples.position(part), self.count);
            match component {
                Component::Rotation => local.rotation = value.to_array(),
                Component::Translation => local.translation = value.truncate().to_array(),
                Component::Scale => local.scale = value.truncate().to_array(),
            }
        }
    }

    fn error(&self, joint: usize, part: usize, found: &DAffine3) -> f64 {
        let wanted = &self.wanted[joint * self.parts + part];
        measure::error(wanted, found, self.plan.distance)
    }

    /// Whether a joint is within the bound.
    fn is_within(&self, joint: usize, found: &[DAffine3]) -> bool {
        let mut parts = found.iter().enumerate();
        parts.all(|(part, found)| self.error(joint, part, found) <= self.bound)
    }

    /// Makes grids finer until all joints are within the bound.
    fn refine(&mut self) -> Result<(), ClipError> {
        let joints = self.plan.constants.len();
        let topology = &self.plan.source.topology;
        let mut finer = vec![false; joints];
        loop {
            for (joint, is_finer) in finer.into_iter().enumerate() {
                let header = |track: usize| match is_finer {
                    true => self.coded[track].finer(),
                    false => self.coded[track].header,
                };
                let aimed = self.aimed(joint, self.above(joint), header);
                self.take(joint, aimed);
            }
            let mut marked = vec![false; joints];
            let mut worst = ClipError::default();
            for joint in 0..joints {
                for part in 0..self.parts {
                    let error = self.error(joint, part, &self.found[joint * self.parts + part]);
                    // Written so that NaN counts.
                    if error <= self.bound {
                        continue;
                    }
                    let mut above = Some(joint);
                    while let Some(ancestor) = above.filter(|a| !marked[*a]) {
                        marked[ancestor] = true;
                        above = topology.parent(ancestor);
                    }
                    if error.is_nan() || error > worst.metres {
                        worst = ClipError {
                            metres: error,
                            joint,
                            seconds: self.plan.samples.time(self.skipped + part),
                        };
                    }
                }
            }
            if !marked.contains(&true) {
                return Ok(());
            }
            let can_be_finer = |joint: usize| {
                let mut tracks = self.plan.of_joint[joint].iter();
                marked[joint] && tracks.any(|track| !self.coded[*track].keys_are_raw())
            };
            if !(0..joints).any(can_be_finer) {
                return Err(worst);
            }
            finer = marked;
        }
    }

    /// Makes tracks coarser while all joints stay within the bound.
    fn coarsen(&mut self) {
        let tracks = self.plan.tracks.len();
        // Whether a track may still lose keys, and steps.
        let mut open = vec![(true, true); tracks];
        loop {
            let mut changed = false;
            for track in (0..tracks).rev() {
                let header = self.coded[track].header;
                if open[track].0 {
                    let fewer = Header {
                        stride: header.stride + 1,
                        ..header
                    };
                    let can = !header.step_keys
                        && header.stride < LAST_STRIDE
                        && self.count >> header.stride > 0;
                    open[track].0 = can && self.accepts(track, fewer);
                    changed |= open[track].0;
                    if open[track].0 {
                        continue;
                    }
                }
                if open[track].1 {
                    let coarser = Header {
                        code: header.code + 1,
                        ..header
                    };
                    let can = header.code < LAST_CODE && !self.coded[track].keys_are_raw();
                    open[track].1 = can && self.accepts(track, coarser);
                    changed |= open[track].1;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Takes a coarser track, if it is smaller and all joints stay within the bound.
    fn accepts(&mut self, track: usize, header: Header) -> bool {
        let TrackOf::Joint { joint, .. } = self.plan.tracks[track] else {
            return false;
        };
        let values = self.aims(track, self.above(joint));
        let coded = self.coded_as(track, &values, header);
        if coded.bits >= self.coded[track].bits {
            return false;
        }
        let mut locals = self.locals[joint * self.parts..][..self.parts].to_vec();
        self.decode(track, &coded, &mut locals);
        if self.moves(joint, &locals) {
            self.locals[joint * self.parts..][..self.parts].copy_from_slice(&locals);
            self.coded[track] = coded;
            return true;
        }
        let first = Aimed::new(locals, self.above(joint), vec![(track, coded)]);
        self.moves_aimed(joint, first)
    }

    /// Gives a joint other tracks, while all joints below it aim anew, if all stay within the bound
    /// and take fewer bits.
    fn moves_aimed(&mut self, joint: usize, first: Aimed) -> bool {
        let plan = self.plan;
        let below = &plan.below[joint];
        let mut bits = self.bits_saved(&first);
        if !self.is_within(joint, &first.found) {
            return false;
        }
        let mut all = vec![first];
        for child in below {
            let child = *child as usize;
            // Parents come first in the sorted list.
            let parent = plan.source.topology.parent(child).unwrap_or(joint);
            let at = below.binary_search(&(parent as u32)).map_or(0, |at| at + 1);
            let aimed = self.aimed(child, Some(&all[at].found), |t| self.coded[t].header);
            bits += self.bits_saved(&aimed);
            if !self.is_within(child, &aimed.found) {
                return false;
            }
            all.push(aimed);
        }
        if bits <= 0 {
            return false;
        }
        let joints = std::iter::once(joint).chain(below.iter().map(|child| *child as usize));
        for (joint, aimed) in joints.zip(all) {
            self.take(joint, aimed);
        }
        true
    }

    /// How many bits less a joint takes.
    fn bits_saved(&self, aimed: &Aimed) -> i64 {
        let coded = aimed.coded.iter();
        coded
            .map(|(track, coded)| self.coded[*track].bits as i64 - coded.bits as i64)
            .sum()
    }

    /// Gives a joint other local transforms, if it and all joints below stay within the bound.
    fn moves(&mut self, joint: usize, locals: &[JointTransform]) -> bool {
        let plan = self.plan;
        let (parts, below) = (self.parts, &plan.below[joint]);
        let topology = &plan.source.topology;
        let stride = below.len() + 1;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.resize(stride * parts, DAffine3::IDENTITY);
        let mut within = true;
        'all: for part in 0..parts {
            let here = &mut scratch[part * stride..][..stride];
            let matrix = measure::matrix_of(&locals[part]);
            here[0] = match topology.parent(joint) {
                Some(parent) => self.found[parent * parts + part] * matrix,
                None => matrix,
            };
            within = self.error(joint, part, &here[0]) <= self.bound;
            for (i, child) in below.iter().enumerate() {
                if !within {
                    break 'all;
                }
                let child = *child as usize;
                let parent = topology.parent(child).unwrap_or(joint);
                // Parents come first in the sorted list.
                let at = below.binary_search(&(parent as u32)).map_or(0, |at| at + 1);
                here[i + 1] = here[at] * self.matrices[child * parts + part];
                within = self.error(child, part, &here[i + 1]) <= self.bound;
            }
            if !within {
                break;
            }
        }
        if within {
            for part in 0..parts {
                let here = &scratch[part * stride..][..stride];
                self.matrices[joint * parts + part] = measure::matrix_of(&locals[part]);
                self.found[joint * parts + part] = here[0];
                for (i, child) in below.iter().enumerate() {
                    self.found[*child as usize * parts + part] = here[i + 1];
                }
            }
        }
        self.scratch = scratch;
        within
    }
}
