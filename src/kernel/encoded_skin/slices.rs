//! The words of a slice: their number, where each array begins, and the values.

use std::ops::Range;
use std::sync::Arc;

use glam::Vec3;

use super::PackedSkin;
use crate::kernel::layout::gpu_struct;
use crate::kernel::registry::NARROW_JOINTS;
use crate::kernel::{BlendIndex, NONE, PackedBlend};

gpu_struct! {
    /// Where the arrays of an encoded slice begin, in words of the buffer that holds it; [`NONE`]
    /// for an array that the slice does not have.
    ///
    /// A slice has points, results and, if it blends, blend entries. Results refer to points of the
    /// slice by `sources`.
    pub struct SliceOffsets {
        /// Number of results.
        count: u32,
        /// The point of each result, as an index within the slice. [`NONE`] if result i belongs to
        /// point i.
        sources: u32,
        /// Rest points, one per point. [`NONE`] for faceVarying normals.
        points: u32,
        /// Rest normals, one per result.
        normals: u32,
        /// Rest tangents, one per result: four f32 each.
        tangents: u32,
        /// Influence records, one per point, or one for all points.
        influences: u32,
        /// Words from one record to the next; 0 if one record serves all points.
        influence_stride: u32,
        /// Influences per record; 0 for a prim that only blends.
        influence_count: u32,
        /// The list of blend entries: a row per point and one more for the end, counted in words
        /// from this one, then the entries.
        blend_list: u32,
        /// How to read an entry. Bits 0 to 7: the number of low bits of an entry that are its index
        /// within its block; the sub-shape stands above them. Bits 8 and up: the number of points
        /// in a block, as a power of two.
        blend_bits: u32,
        /// A table with a word per block: the place of the block's first point offset, counted from
        /// this word. The point offsets follow the table.
        blend_offsets: u32,
        /// The word from which the entries of the same table are counted for normal offsets.
        blend_normal_offsets: u32,
        /// Rows of neighbours for smooth normals: one per point and one more for the end, counted
        /// in corners.
        neighbor_rows: u32,
        /// Two neighbours per corner (the next point of the face and the one before), as indices of
        /// results of the whole skin.
        neighbors: u32,
    }
}

impl SliceOffsets {
    /// A slice without arrays.
    const EMPTY: Self = Self {
        count: 0,
        sources: NONE,
        points: NONE,
        normals: NONE,
        tangents: NONE,
        influences: NONE,
        influence_stride: 0,
        influence_count: 0,
        blend_list: NONE,
        blend_bits: 0,
        blend_offsets: NONE,
        blend_normal_offsets: NONE,
        neighbor_rows: NONE,
        neighbors: NONE,
    };

    /// The same offsets for a slice whose first word lies at word `at` of a buffer.
    #[must_use]
    pub fn moved_by(mut self, at: u32) -> Self {
        for offset in [
            &mut self.sources,
            &mut self.points,
            &mut self.normals,
            &mut self.tangents,
            &mut self.influences,
            &mut self.blend_list,
            &mut self.blend_offsets,
            &mut self.blend_normal_offsets,
            &mut self.neighbor_rows,
            &mut self.neighbors,
        ] {
            if *offset != NONE {
                *offset += at;
            }
        }
        self
    }
}

/// A run of results of a skin and the static data that they need, encoded.
#[derive(Clone, Debug)]
pub struct EncodedSlice {
    /// Index of its first result.
    pub first: usize,
    /// The words that the kernels read.
    pub words: Vec<u32>,
    /// Where its arrays begin, counted from the first of the words.
    pub offsets: SliceOffsets,
    /// The flags of its items that depend on these words: [`NARROW_JOINTS`] or 0.
    pub flags: u32,
    /// Its blend entries, for lists of some of them; `None` without blend shapes.
    pub blend: Option<Arc<BlendIndex>>,
}

/// The tables of a skin's blend shapes that the kernel `weights` reads.
#[derive(Clone, Debug)]
pub struct EncodedShapes {
    /// Per blend shape two words (its first sub-shape, and its number of sub-shapes). Then per
    /// sub-shape the weight at which it applies fully, as f32.
    pub words: Vec<u32>,
    /// Number of blend shapes, including missing ones.
    pub channel_count: u32,
    /// Number of sub-shapes of all blend shapes.
    pub sub_shape_count: u32,
}

impl EncodedShapes {
    /// The word at which the sub-shapes' weights begin.
    #[must_use]
    pub fn positions(&self) -> u32 {
        self.channel_count * 2
    }
}

/// The error for a part of a skin that does not fit one binding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {asked} is more than the limit of {limit}")]
pub struct TooLarge {
    /// The prim, and what is too large.
    pub what: String,
    /// The size that it needs.
    pub asked: u64,
    /// The largest size that is possible.
    pub limit: u64,
}

/// Encodes a skin in slices of at most `binding_bytes` each: points or render vertices first, then
/// faceVarying normals.
///
/// It yields one slice at a time, so that a large skin is not in memory twice.
///
/// # Errors
/// A single result that needs more than `binding_bytes`; more sub-shapes than a word of a blend
/// list can hold.
pub fn encode(
    skin: &PackedSkin,
    binding_bytes: u64,
) -> impl Iterator<Item = Result<EncodedSlice, TooLarge>> {
    let corners = skin.normal_points().filter(|_| skin.vertices().is_none());
    let results = match skin.vertices() {
        Some(vertices) => Results::Vertices(vertices.points()),
        None => Results::Points,
    };
    std::iter::once(results)
        .chain(corners.map(Results::Corners))
        .flat_map(move |results| Encoder::new(skin, results, binding_bytes))
}

/// Encodes the tables of a skin's blend shapes; `None` if it has none.
///
/// # Errors
/// Tables of more than `binding_bytes`.
pub fn encode_shapes(
    skin: &PackedSkin,
    binding_bytes: u64,
) -> Result<Option<EncodedShapes>, TooLarge> {
    let Some(blend) = skin.blend() else {
        return Ok(None);
    };
    let bytes = blend.sub_shape_ranges().len() as u64 * 8 + blend.positions().len() as u64 * 4;
    if bytes > binding_bytes {
        return Err(TooLarge {
            what: format!("{}: shape tables", skin.prim()),
            asked: bytes,
            limit: binding_bytes,
        });
    }
    let mut words = Vec::with_capacity((bytes / 4) as usize);
    words.extend(blend.sub_shape_ranges().as_flattened());
    words.extend(blend.positions().iter().map(|p| p.to_bits()));
    Ok(Some(EncodedShapes {
        words,
        channel_count: blend.sub_shape_ranges().len() as u32,
        sub_shape_count: blend.positions().len() as u32,
    }))
}

/// The kind of results of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) enum Results<'a> {
    /// One per point, in order.
    Points,
    /// Render vertices, with the point of each.
    Vertices(&'a [u32]),
    /// Only faceVarying normals, with the point of each.
    Corners(&'a [u32]),
}

impl<'a> Results<'a> {
    fn count(self, skin: &PackedSkin) -> usize {
        self.sources().map_or(skin.point_count(), <[u32]>::len)
    }

    /// The point of each result, unless results are points in order.
    fn sources(self) -> Option<&'a [u32]> {
        match self {
            Self::Points => None,
            Self::Vertices(points) | Self::Corners(points) => Some(points),
        }
    }

    fn point_of(self, result: usize) -> usize {
        self.sources().map_or(result, |s| s[result] as usize)
    }

    fn has_points(self) -> bool {
        !matches!(self, Self::Corners(_))
    }

    fn has_rest_normals(self, skin: &PackedSkin) -> bool {
        match self {
            Self::Points => skin.has_point_normals(),
            _ => skin.normals().is_some(),
        }
    }

    /// The name of one result, for messages.
    fn name(self) -> &'static str {
        match self {
            Self::Points => "point",
            Self::Vertices(_) => "render vertex",
            Self::Corners(_) => "normal",
        }
    }
}

/// Numbers of words of a skin's static data, by kind. No other place computes them.
#[derive(Debug)]
pub(super) struct Sizes {
    /// Words of an influence record.
    pub record: u64,
    /// Whether one record serves all points.
    pub is_constant: bool,
    /// Words of a rest point.
    pub point: u64,
    /// Words of a result's rest normal.
    pub normal: u64,
    /// Words of a result's rest tangent.
    pub tangent: u64,
    /// Words of a result's point index.
    pub source: u64,
    /// Words of a row of the blend list: one per point and one more.
    pub blend_row: u64,
    /// Words of a row of neighbours: one per point and one more.
    pub neighbor_row: u64,
    /// Blend entries of each point; empty without shapes.
    entries: Vec<u32>,
    /// Words of a blend entry: in the list, and of its offsets.
    entry: u64,
    /// Points that share a word of the table of blend offsets.
    block: usize,
    /// Words of a result in the output buffer that takes more: positions, or all other kinds.
    out: u64,
}

impl Sizes {
    pub fn new(skin: &PackedSkin, results: Results<'_>) -> Self {
        let layout = skin.value_layout();
        let has_points = results.has_points();
        let blend = skin.blend().filter(|_| has_points);
        let has_tangents = has_points && skin.tangents().is_some();
        let words = |is_there: bool, words: u32| if is_there { u64::from(words) } else { 0 };
        let mut sizes = Self {
            record: words(skin.influences().is_some(), layout.record_words),
            is_constant: skin.influences().is_some_and(|i| i.is_constant()),
            point: words(has_points, 3),
            normal: words(results.has_rest_normals(skin), 3),
            tangent: words(has_tangents, 4),
            source: 0,
            blend_row: words(blend.is_some(), 1),
            neighbor_row: words(has_points && skin.smooth_normals().is_some(), 1),
            entries: blend.map_or(Vec::new(), |b| b.index().entries_of_points()),
            // One word of the list, and the offsets.
            entry: blend.map_or(0, |b| 4 + b.normal_offsets().map_or(0, |_| 3)),
            block: blend.map_or(1, |b| b.index().block_points()),
            out: 3,
        };
        // Previous positions, tangents, and normals, whether of rest or computed.
        if has_points {
            let has_normals = sizes.normal + sizes.neighbor_row > 0;
            sizes.out += sizes.tangent + words(has_normals, 3);
        }
        // If results are not the points in order, each needs the index of its point, if it reads
        // anything of the point. faceVarying normals read nothing if influences are constant or
        // missing.
        let looks_up = results.sources().is_some() && sizes.per_point() > 0;
        sizes.source = words(looks_up, 1);
        sizes
    }

    /// Words that a slice has once, for any number of points.
    pub fn once(&self) -> u64 {
        let record = if self.is_constant { self.record } else { 0 };
        record + self.blend_row + self.neighbor_row
    }

    /// Words of each point, without its blend entries and neighbours.
    pub fn per_point(&self) -> u64 {
        let record = if self.is_constant { 0 } else { self.record };
        record + self.point + self.blend_row + self.neighbor_row
    }

    pub fn per_result(&self) -> u64 {
        self.normal + self.tangent + self.source
    }

    fn looks_up(&self) -> bool {
        self.source > 0
    }

    /// Words of a point's blend entries and neighbours, if it has index `number` in its slice.
    fn entries(&self, skin: &PackedSkin, point: usize, number: usize) -> u64 {
        let entries = self.entries.get(point).map_or(0, |count| {
            u64::from(*count) * self.entry + u64::from(number.is_multiple_of(self.block))
        });
        let normals = skin.smooth_normals().filter(|_| self.neighbor_row > 0);
        let corners = normals.map_or(0, |n| n.rows()[point + 1] - n.rows()[point]);
        entries + u64::from(corners) * 2
    }

    /// Size in bytes of a slice with only this result.
    fn bytes_of_one(&self, skin: &PackedSkin, point: usize) -> u64 {
        let entries = self.entries(skin, point, 0);
        4 * (self.once() + self.per_result() + self.per_point() + entries).max(self.out)
    }
}

/// A run of results, and the points that they refer to.
#[derive(Debug)]
pub(super) struct Run {
    results: Range<usize>,
    /// In the order of first use.
    points: Vec<u32>,
    /// The point of each result, as an index into `points`; empty if result i belongs to point i.
    sources: Vec<u32>,
    /// Words of the whole run, by [`Sizes`].
    pub words: u64,
}

impl Run {
    /// The longest run that begins at result `first` and whose words and results fit
    /// `binding_bytes`.
    pub fn longest(
        skin: &PackedSkin,
        results: Results<'_>,
        sizes: &Sizes,
        first: usize,
        binding_bytes: u64,
    ) -> Self {
        let limit = binding_bytes / 4;
        let looks_up = sizes.looks_up();
        let mut run = Self {
            results: first..first,
            points: Vec::new(),
            sources: Vec::new(),
            words: sizes.once(),
        };
        let mut numbers = vec![NONE; if looks_up { skin.point_count() } else { 0 }];
        for result in first..results.count(skin) {
            let point = results.point_of(result);
            let is_new = match looks_up {
                true => numbers[point] == NONE,
                false => results.has_points(),
            };
            let mut more = sizes.per_result();
            if is_new {
                more += sizes.per_point() + sizes.entries(skin, point, run.points.len());
            }
            let out = (run.results.len() as u64 + 1) * sizes.out;
            if run.words + more > limit || out > limit {
                break;
            }
            if is_new {
                if looks_up {
                    numbers[point] = run.points.len() as u32;
                }
                run.points.push(point as u32);
            }
            if looks_up {
                run.sources.push(numbers[point]);
            }
            run.words += more;
            run.results.end += 1;
        }
        run
    }
}

/// Encodes the slices of one kind of results, one after the other.
struct Encoder<'a> {
    skin: &'a PackedSkin,
    results: Results<'a>,
    sizes: Sizes,
    /// For each point one result that shows it: neighbours of smooth normals are indices of
    /// results. [`NONE`] for a point that no result shows; empty if results are points.
    shown_by: Vec<u32>,
    next: usize,
    binding_bytes: u64,
}

impl<'a> Encoder<'a> {
    fn new(skin: &'a PackedSkin, results: Results<'a>, binding_bytes: u64) -> Self {
        Self {
            skin,
            results,
            sizes: Sizes::new(skin, results),
            shown_by: shown_by(skin),
            next: 0,
            binding_bytes,
        }
    }

    fn slice(&mut self) -> Result<EncodedSlice, TooLarge> {
        let (skin, results) = (self.skin, self.results);
        let too_large = |what: String, asked: u64, limit: u64| TooLarge {
            what: format!("{}: {what}", skin.prim()),
            asked,
            limit,
        };
        if let Some(blend) = skin.blend().filter(|b| !b.index().has_lists()) {
            let sub_shapes = blend.positions().len() as u64;
            let what = "sub-shapes that move one point".into();
            return Err(too_large(what, sub_shapes, 1 << 16));
        }
        let run = Run::longest(skin, results, &self.sizes, self.next, self.binding_bytes);
        if run.results.is_empty() {
            let asked = self.sizes.bytes_of_one(skin, results.point_of(self.next));
            let what = format!("bytes of {} {}", results.name(), self.next);
            return Err(too_large(what, asked, self.binding_bytes));
        }
        self.next = run.results.end;
        let mut out = Words {
            words: Vec::with_capacity(run.words as usize),
            offsets: SliceOffsets {
                count: run.results.len() as u32,
                ..SliceOffsets::EMPTY
            },
        };
        out.put_results(skin, results, &run);
        out.put_influences(skin, &run);
        let blend = match results.has_points() {
            true => out.put_points(skin, &run, &self.shown_by),
            false => None,
        };
        debug_assert_eq!(out.words.len() as u64, run.words);
        let is_narrow = skin.value_layout().narrow && skin.influences().is_some();
        Ok(EncodedSlice {
            first: run.results.start,
            words: out.words,
            offsets: out.offsets,
            flags: if is_narrow { NARROW_JOINTS } else { 0 },
            blend,
        })
    }
}

impl Iterator for Encoder<'_> {
    type Item = Result<EncodedSlice, TooLarge>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = self.results.count(self.skin);
        if self.next >= count {
            return None;
        }
        let slice = self.slice();
        if slice.is_err() {
            // After an error the iterator ends.
            self.next = count;
        }
        Some(slice)
    }
}

fn shown_by(skin: &PackedSkin) -> Vec<u32> {
    let (Some(_), Some(vertices)) = (skin.smooth_normals(), skin.vertices()) else {
        return Vec::new();
    };
    let mut shown = vec![NONE; skin.point_count()];
    for (vertex, point) in vertices.points().iter().enumerate().rev() {
        shown[*point as usize] = vertex as u32;
    }
    shown
}

/// The words of a slice that is being encoded.
struct Words {
    words: Vec<u32>,
    offsets: SliceOffsets,
}

impl Words {
    /// Appends words and returns the index of the first.
    fn put(&mut self, values: impl Iterator<Item = u32>) -> u32 {
        let first = self.words.len() as u32;
        self.words.extend(values);
        first
    }

    /// Appends the data of each result: the index of its point, a rest normal, a rest tangent.
    fn put_results(&mut self, skin: &PackedSkin, results: Results<'_>, run: &Run) {
        if !run.sources.is_empty() {
            self.offsets.sources = self.put(run.sources.iter().copied());
        }
        if results.has_rest_normals(skin) {
            // Normals of render vertices lie in the order of the vertices.
            let vertices = skin.vertices();
            let numbers = vertices.map(|v| v.normals().unwrap_or(v.points()));
            self.offsets.normals = self.words.len() as u32;
            for result in run.results.clone() {
                let normal = numbers.map_or(result, |n| n[result] as usize);
                skin.encode_normal(normal, &mut self.words);
            }
        }
        if let (Some(tangents), true) = (skin.tangents(), results.has_points()) {
            let values = tangents[run.results.clone()].iter();
            let values = values.flat_map(|t| t.to_array().map(f32::to_bits));
            self.offsets.tangents = self.put(values);
        }
    }

    fn put_influences(&mut self, skin: &PackedSkin, run: &Run) {
        let Some(influences) = skin.influences() else {
            return;
        };
        self.offsets.influences = self.words.len() as u32;
        self.offsets.influence_count = influences.count();
        if influences.is_constant() {
            skin.encode_record(0, &mut self.words);
            return;
        }
        self.offsets.influence_stride = skin.value_layout().record_words;
        for point in &run.points {
            skin.encode_record(*point as usize, &mut self.words);
        }
    }

    /// Appends the data of each point: its rest position, its blend entries, its neighbours.
    /// Returns those blend entries.
    fn put_points(
        &mut self,
        skin: &PackedSkin,
        run: &Run,
        shown_by: &[u32],
    ) -> Option<Arc<BlendIndex>> {
        let points = || run.points.iter().map(|p| *p as usize);
        self.offsets.points = self.words.len() as u32;
        points().for_each(|p| skin.encode_point(p, &mut self.words));
        let blend = skin.blend().map(|blend| {
            let blend = blend.of_points(&run.points);
            self.put_blend(&blend);
            Arc::clone(blend.index())
        });
        if let Some(normals) = skin.smooth_normals() {
            let rows = normals.rows();
            let mut end = 0;
            let ends = points().map(|p| {
                end += rows[p + 1] - rows[p];
                end
            });
            self.offsets.neighbor_rows = self.put(std::iter::once(0).chain(ends));
            let result = |point: u32| shown_by.get(point as usize).copied().unwrap_or(point);
            let corners = |p: usize| rows[p] as usize..rows[p + 1] as usize;
            let pairs = points().flat_map(|p| &normals.neighbors()[corners(p)]);
            self.offsets.neighbors = self.put(pairs.flat_map(|pair| pair.map(result)));
        }
        blend
    }

    /// Appends the list of all entries, the table of where each block's offsets begin, and the
    /// offsets.
    fn put_blend(&mut self, blend: &PackedBlend) {
        let index = blend.index();
        let all: Vec<u32> = (0..blend.positions().len() as u32).collect();
        let first = self.words.len();
        self.offsets.blend_list = first as u32;
        self.words.resize(first + index.list_words(&all), 0);
        let list = &mut self.words[first..];
        let put = |at: usize, words: &[u32]| list[at..at + words.len()].copy_from_slice(words);
        self.offsets.blend_bits = index.list(&all, put);
        let blocks = index.block_count() as u32;
        let first = |block| blocks + index.blocks[block as usize] * 3;
        self.offsets.blend_offsets = self.put((0..blocks).map(first));
        let order = index.by_blocks();
        let mut put_offsets = |offsets: &[Vec3]| {
            let bits = |entry: &u32| offsets[*entry as usize].to_array().map(f32::to_bits);
            self.words.extend(order.iter().flat_map(bits));
        };
        put_offsets(blend.offsets());
        let Some(offsets) = blend.normal_offsets() else {
            return;
        };
        // One table serves both kinds of offsets.
        self.offsets.blend_normal_offsets = self.offsets.blend_offsets + order.len() as u32 * 3;
        put_offsets(offsets);
    }
}
