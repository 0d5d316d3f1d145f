//! Finds the fewest bits for the tracks of one segment that keep every point near every joint
//! within the bound.
//!
//! The search starts with grids that are fine enough for each joint alone, and makes them finer
//! where joints together exceed the bound. Then it goes round the tracks, the deepest joints first:
//! a track takes half of its keys, or a grid of twice the step, if the points of its joint and of
//! all joints below stay within the bound at each sample and between two. It ends
//! when no track can be coarser. Every decision rests on the values that the decoder gives.

use glam::{DAffine3, DQuat, Quat, Vec3, Vec4};

use super::format::{
    self, BitWriter, FIRST_EXPONENT, Header, LARGEST_STEPS, LAST_CODE, LAST_STRIDE, WIDTHS_BITS,
};
use super::measure::{self, ClipError};
use super::samples::Samples;
use super::{ClipOptions, ClipSource};
use crate::kernel::JointTransform;
use crate::kernel::registry::{CLIP_RAW, CLIP_SMALLEST_THREE};
use crate::math::Trs;

/// A component that can be animated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Rotation,
    Translation,
    Scale,
}

/// An animated track.
#[derive(Clone, Copy, Debug)]
pub(super) enum TrackOf {
    Joint {
        joint: usize,
        component: Component,
        held: bool,
    },
    Channel {
        channel: usize,
        held: bool,
    },
}

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
    /// The largest error of points that is asked for, in units of the skeleton.
    pub bound: f64,
    /// Distance of points from joints, in units of the skeleton.
    pub distance: f64,
    pub weight_bound: f64,
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
        Self {
            source,
            samples,
            tracks,
            constants,
            reaches,
            below,
            bound: options.bound_metres / options.meters_per_unit,
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

/// The keys of a track in a segment.
#[derive(Clone, Debug)]
pub(super) struct Coded {
    /// Its header; the place of the block is not known yet.
    pub header: Header,
    keys: Keys,
    /// The keys as they are decoded.
    decoded: Vec<Vec4>,
    /// Bits of its block.
    pub bits: usize,
}

#[derive(Clone, Debug)]
enum Keys {
    Raw(usize),
    Grid {
        widths: [u32; 3],
        low: [i64; 3],
        low_bits: u32,
        /// The missing component and the steps of each key.
        keys: Vec<(u32, [i64; 3])>,
    },
}

/// Number of bits that hold every integer from 0 to `largest`.
fn width(largest: i64) -> u32 {
    i64::BITS - largest.leading_zeros()
}

/// Number of bits of two's complement that hold an integer.
fn signed_width(value: i64) -> u32 {
    match value {
        0 => 0,
        n if n < 0 => width(-n - 1) + 1,
        n => width(n) + 1,
    }
}

impl Coded {
    /// Puts keys on a grid. `None` if they need integers that f32 does not hold.
    fn grid(values: &[[f64; 4]], of: TrackKind, header: Header, count: u32) -> Option<Self> {
        let step = f64::from(header.step());
        let mut keys = Vec::new();
        let (mut low, mut high) = ([i64::MAX; 3], [i64::MIN; 3]);
        for key in 0..header.keys(count) {
            let value = values[header.key_interval(key, count) as usize];
            let (missing, v) = match (of, header.mode) {
                (TrackKind::Rotation, CLIP_SMALLEST_THREE) => format::without_largest(value),
                (TrackKind::Rotation, mode) => (mode, format::without(value, mode as usize)),
                _ => (0, [value[0], value[1], value[2]]),
            };
            let steps = v.map(|x| (x / step).round());
            if steps.iter().any(|s| s.abs() > LARGEST_STEPS as f64) {
                return None;
            }
            let steps = steps.map(|s| s as i64);
            for i in 0..3 {
                low[i] = low[i].min(steps[i]);
                high[i] = high[i].max(steps[i]);
            }
            keys.push((missing, steps));
        }
        let widths: [u32; 3] = std::array::from_fn(|i| width(high[i] - low[i]));
        let low_bits = low.into_iter().map(signed_width).max().unwrap_or_default();
        let decoded = keys.iter().map(|(missing, steps)| {
            let v = Vec3::from_array(steps.map(|s| s as f32)) * header.step();
            match of {
                TrackKind::Rotation => format::whole_rotation(v, *missing),
                _ => v.extend(0.0),
            }
        });
        let key_bits = header.says() + widths.iter().sum::<u32>();
        let bits = (WIDTHS_BITS + 3 * low_bits) as usize + keys.len() * key_bits as usize;
        Some(Self {
            decoded: decoded.collect(),
            header,
            keys: Keys::Grid {
                widths,
                low,
                low_bits,
                keys,
            },
            bits,
        })
    }

    /// Keeps keys in f32.
    fn raw(values: &[[f64; 4]], of: TrackKind, mut header: Header, count: u32) -> Self {
        header.mode = CLIP_RAW;
        let keys = header.keys(count);
        let value = |key| values[header.key_interval(key, count) as usize].map(|x| x as f32);
        let numbers = if of == TrackKind::Rotation { 4 } else { 3 };
        Self {
            header,
            keys: Keys::Raw(numbers),
            decoded: (0..keys).map(|key| Vec4::from_array(value(key))).collect(),
            bits: keys as usize * numbers * 32,
        }
    }

    /// The value at a position, as the decoder computes it.
    fn at(&self, of: TrackKind, position: f32, count: u32) -> Vec4 {
        let (lower, upper, alpha) = self.header.between(position, count);
        let [a, b] = [lower, upper].map(|key| self.decoded[key as usize]);
        match (of, self.keys_are_raw()) {
            (TrackKind::Rotation, false) => format::mixed_rotation(a, b, alpha),
            (TrackKind::Rotation, true) => format::mixed_raw_rotation(a, b, alpha),
            _ => format::mixed_vector(a.truncate(), b.truncate(), alpha).extend(0.0),
        }
    }

    pub fn keys_are_raw(&self) -> bool {
        matches!(self.keys, Keys::Raw(_))
    }

    /// Number of keys, and bits of each.
    pub fn keys_and_bits(&self) -> (usize, u32) {
        let bits = match &self.keys {
            Keys::Raw(numbers) => 32 * *numbers as u32,
            Keys::Grid { widths, .. } => self.header.says() + widths.iter().sum::<u32>(),
        };
        (self.decoded.len(), bits)
    }

    /// Writes the block.
    pub fn write(&self, out: &mut BitWriter) {
        match &self.keys {
            Keys::Raw(numbers) => {
                for key in &self.decoded {
                    for number in &key.to_array()[..*numbers] {
                        out.put(number.to_bits(), 32);
                    }
                }
            }
            Keys::Grid {
                widths,
                low,
                low_bits,
                keys,
            } => {
                for width in widths {
                    out.put(*width, 5);
                }
                out.put(*low_bits, 5);
                for low in low {
                    out.put(*low as u32, *low_bits);
                }
                for (missing, steps) in keys {
                    out.put(*missing, self.header.says());
                    for i in 0..3 {
                        out.put((steps[i] - low[i]) as u32, widths[i]);
                    }
                }
            }
        }
    }
}

/// Whether a track has rotations or other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrackKind {
    Rotation,
    Vector,
}

/// The code of the largest step that is not larger than `step`.
fn code_of(step: f64) -> u32 {
    let exponent = step.max(f64::MIN_POSITIVE).log2().floor() as i32;
    (exponent - FIRST_EXPONENT).clamp(0, LAST_CODE as i32) as u32
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
    /// The source in skeleton space.
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
/// # Errors
/// The largest error, if f32 does not reach that.
pub(super) fn encode(
    plan: &Plan<'_>,
    first: usize,
    count: usize,
    share: f64,
) -> Result<Vec<Coded>, ClipError> {
    let mut search = Search::new(plan, first, count as u32, share);
    search.refine()?;
    search.coarsen();
    Ok(search.coded)
}

impl<'p, 'a> Search<'p, 'a> {
    fn new(plan: &'p Plan<'a>, first: usize, count: u32, share: f64) -> Self {
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
        let mut search = Self {
            plan,
            bound: plan.bound * share,
            weight_bound: plan.weight_bound * share,
            count,
            parts,
            locals: locals.collect(),
            matrices: vec![DAffine3::IDENTITY; joints * parts],
            found: wanted.clone(),
            skipped,
            wanted,
            values: values.collect(),
            coded: Vec::new(),
            scratch: Vec::new(),
        };
        for track in 0..plan.tracks.len() {
            let coded = match plan.tracks[track] {
                TrackOf::Channel { channel, held } => search.channel(track, channel, held),
                TrackOf::Joint { .. } => search.start(track),
            };
            search.coded.push(coded);
        }
        for track in 0..plan.tracks.len() {
            search.decode(track);
        }
        search
    }

    /// The first guess of a track's grid: a third of the bound for each joint.
    fn start(&self, track: usize) -> Coded {
        const SHARE: f64 = 1.0 / 3.0;
        let TrackOf::Joint {
            joint,
            component,
            held,
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
            held,
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

    /// The track with another step or distance of keys; in f32 if the grid would be too fine.
    fn again(&self, track: usize, header: Header) -> Coded {
        let kind = self.kind(track);
        if kind == TrackKind::Vector || header.mode == CLIP_RAW {
            return self.best(track, header);
        }
        let unit: Vec<[f64; 4]> = self.values[track]
            .iter()
            .map(|q| DQuat::from_array(*q).normalize().to_array())
            .collect();
        Coded::grid(&unit, kind, header, self.count)
            .unwrap_or_else(|| Coded::raw(&self.values[track], kind, header, self.count))
    }

    /// Codes a channel: nothing else depends on it.
    fn channel(&self, track: usize, channel: usize, held: bool) -> Coded {
        let plan = self.plan;
        let wanted: Vec<f64> = (0..self.parts)
            .map(|part| {
                let time = plan.samples.time(self.skipped + part);
                plan.source.weight(channel, time)
            })
            .collect();
        let within = |coded: &Coded| {
            wanted.iter().enumerate().all(|(part, wanted)| {
                let found = coded
                    .at(
                        TrackKind::Vector,
                        self.plan.samples.position(part),
                        self.count,
                    )
                    .x;
                (f64::from(found) - wanted).abs() <= self.weight_bound
            })
        };
        let values = &self.values[track];
        let mut best = Coded::raw(
            values,
            TrackKind::Vector,
            Header {
                held,
                ..Header::default()
            },
            self.count,
        );
        let strides = if held { 0 } else { LAST_STRIDE };
        let largest = code_of(2.0 * self.weight_bound);
        for stride in 0..=strides {
            for code in (largest.saturating_sub(3)..=largest).rev() {
                let header = Header {
                    code,
                    stride,
                    held,
                    ..Header::default()
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

    /// The local transforms of a joint with one of its tracks decoded from other keys.
    fn locals_with(
        &self,
        joint: usize,
        component: Component,
        coded: &Coded,
    ) -> Vec<JointTransform> {
        let range = joint * self.parts..(joint + 1) * self.parts;
        let mut locals = self.locals[range].to_vec();
        for (part, local) in locals.iter_mut().enumerate() {
            let position = self.plan.samples.position(part);
            match component {
                Component::Rotation => {
                    let value = coded.at(TrackKind::Rotation, position, self.count);
                    local.rotation = Quat::from_vec4(value).to_array();
                }
                Component::Translation | Component::Scale => {
                    let value = coded.at(TrackKind::Vector, position, self.count);
                    let value = value.truncate().to_array();
                    match component {
                        Component::Scale => local.scale = value,
                        _ => local.translation = value,
                    }
                }
            }
        }
        locals
    }

    /// Takes the local transforms of a track's keys.
    fn decode(&mut self, track: usize) {
        let TrackOf::Joint {
            joint, component, ..
        } = self.plan.tracks[track]
        else {
            return;
        };
        let locals = self.locals_with(joint, component, &self.coded[track]);
        self.locals[joint * self.parts..][..self.parts].copy_from_slice(&locals);
    }

    fn error(&self, joint: usize, part: usize, found: &DAffine3) -> f64 {
        let wanted = &self.wanted[joint * self.parts + part];
        measure::error(wanted, found, self.plan.distance)
    }

    /// Computes all joints anew.
    fn pose(&mut self) {
        for joint in 0..self.plan.constants.len() {
            let parent = self.plan.source.topology.parent(joint);
            for part in 0..self.parts {
                let at = joint * self.parts + part;
                let matrix = measure::matrix_of(&self.locals[at]);
                self.matrices[at] = matrix;
                self.found[at] = match parent {
                    Some(parent) => self.found[parent * self.parts + part] * matrix,
                    None => matrix,
                };
            }
        }
    }

    /// Makes grids finer until all joints are within the bound.
    fn refine(&mut self) -> Result<(), ClipError> {
        let joints = self.plan.constants.len();
        let topology = &self.plan.source.topology;
        loop {
            self.pose();
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
            let mut changed = false;
            for track in 0..self.plan.tracks.len() {
                let TrackOf::Joint { joint, .. } = self.plan.tracks[track] else {
                    continue;
                };
                if !marked[joint] || self.coded[track].keys_are_raw() {
                    continue;
                }
                let mut header = self.coded[track].header;
                self.coded[track] = match header.code {
                    0 => {
                        let kind = self.kind(track);
                        Coded::raw(&self.values[track], kind, header, self.count)
                    }
                    code => {
                        header.code = code - 1;
                        self.again(track, header)
                    }
                };
                self.decode(track);
                changed = true;
            }
            if !changed {
                return Err(worst);
            }
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
                    let can = !header.held
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
        let TrackOf::Joint {
            joint, component, ..
        } = self.plan.tracks[track]
        else {
            return false;
        };
        let coded = match self.coded[track].keys_are_raw() {
            true => Coded::raw(&self.values[track], self.kind(track), header, self.count),
            false => self.again(track, header),
        };
        if coded.bits >= self.coded[track].bits {
            return false;
        }
        let locals = self.locals_with(joint, component, &coded);
        if !self.moves(joint, &locals) {
            return false;
        }
        self.locals[joint * self.parts..][..self.parts].copy_from_slice(&locals);
        self.coded[track] = coded;
        true
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
                let at = match below.binary_search(&(parent as u32)) {
                    Ok(at) => at + 1,
                    Err(_) => 0,
                };
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
