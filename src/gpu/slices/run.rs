//! How long a run of results may be: its own data and that of the points that it refers to fit a binding.

use crate::kernel::{NONE, PackedSkin};

/// What a skin's results are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Results<'a> {
    /// One per point, in order.
    Points,
    /// Render vertices: the point of each.
    Vertices(&'a [u32]),
    /// faceVarying normals alone: the point of each.
    Corners(&'a [u32]),
}

impl<'a> Results<'a> {
    pub fn count(self, skin: &PackedSkin) -> usize {
        self.sources().map_or(skin.point_count(), <[u32]>::len)
    }

    /// The point of each, where it is not in order.
    pub fn sources(self) -> Option<&'a [u32]> {
        match self {
            Self::Points => None,
            Self::Vertices(points) | Self::Corners(points) => Some(points),
        }
    }

    pub fn has_points(self) -> bool {
        !matches!(self, Self::Corners(_))
    }

    /// Whether each has a rest normal.
    pub fn has_rest_normals(self, skin: &PackedSkin) -> bool {
        match self {
            Self::Points => skin.has_point_normals(),
            _ => skin.normals().is_some(),
        }
    }

    /// One of them, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Points => "point",
            Self::Vertices(_) => "render vertex",
            Self::Corners(_) => "normal",
        }
    }
}

/// Words that a run takes beside those of blend entries and neighbours.
#[derive(Debug)]
pub(super) struct Sizes {
    /// Whatever its length.
    once: u64,
    per_result: u64,
    per_point: u64,
    /// In an output buffer, of the widest kind of result.
    out: u64,
    /// Blend entries of each point; none where they are not needed.
    entries: Vec<u32>,
    per_entry: u64,
    /// Points that share a word of the table of blend offsets.
    block: usize,
}

impl Sizes {
    pub fn new(skin: &PackedSkin, results: Results<'_>) -> Self {
        let has_points = results.has_points();
        let tangents = has_points && skin.tangents().is_some();
        let mut sizes = Self {
            once: 0,
            per_result: 0,
            per_point: 0,
            out: if tangents { 4 } else { 3 },
            entries: Vec::new(),
            per_entry: 0,
            block: 1,
        };
        let stored = skin.value_layout();
        if let Some(blend) = skin.blend().filter(|_| has_points) {
            sizes.entries = blend.index().entries_of_points();
            // A word of the list, and what it adds.
            sizes.per_entry = 4 + blend.normal_offsets().map_or(0, |_| 3);
            sizes.block = blend.index().block_points();
        }
        if let Some(influences) = skin.influences() {
            let words = u64::from(stored.record_words);
            match influences.is_constant() {
                true => sizes.once += words,
                false => sizes.per_point += words,
            }
        }
        if results.has_rest_normals(skin) {
            sizes.per_result += u64::from(stored.normal_words);
        }
        if has_points {
            // Rows have one more than points.
            let rows =
                u64::from(skin.blend().is_some()) + u64::from(skin.smooth_normals().is_some());
            sizes.once += rows;
            sizes.per_point += u64::from(stored.point_words) + rows;
            sizes.per_result += if tangents { 4 } else { 0 };
        }
        if sizes.looks_up(results) {
            sizes.per_result += 1;
        }
        sizes
    }

    /// Whether results need something of points that are not in order. faceVarying normals with constant
    /// influences, or none, need nothing.
    fn looks_up(&self, results: Results<'_>) -> bool {
        results.sources().is_some() && self.per_point > 0
    }

    /// Words of a point's blend entries and neighbours, for the `number`th point of a run.
    fn of_entries(
        &self,
        skin: &PackedSkin,
        results: Results<'_>,
        point: usize,
        number: usize,
    ) -> u64 {
        let entries = self.entries.get(point).map_or(0, |count| {
            u64::from(*count) * self.per_entry + u64::from(number.is_multiple_of(self.block))
        });
        let made = skin.smooth_normals().filter(|_| results.has_points());
        let neighbors = made.map_or(0, |m| u64::from(m.rows()[point + 1] - m.rows()[point]) * 2);
        entries + neighbors
    }

    /// Bytes of one result and all that it needs.
    pub fn of_one(&self, skin: &PackedSkin, results: Results<'_>, result: usize) -> u64 {
        let point = results.sources().map_or(result, |s| s[result] as usize);
        let entries = self.of_entries(skin, results, point, 0);
        4 * (self.once + self.per_result + self.per_point + entries).max(self.out)
    }
}

/// A run of results, and the points that they refer to.
#[derive(Debug)]
pub(super) struct Run {
    pub first: usize,
    pub count: usize,
    /// In the order of first use.
    pub points: Vec<u32>,
    /// Place of each result's point among `points`; empty where they are in order.
    pub sources: Vec<u32>,
    /// Words of everything.
    pub words: u64,
}

impl Run {
    /// The longest run from result `first` on that fits `limit` bytes, and whose results do.
    pub fn longest(
        skin: &PackedSkin,
        results: Results<'_>,
        sizes: &Sizes,
        first: usize,
        limit: u64,
    ) -> Self {
        let limit = limit / 4;
        let mut run = Self {
            first,
            count: 0,
            points: Vec::new(),
            sources: Vec::new(),
            words: sizes.once,
        };
        let sources = results.sources();
        let looks_up = sizes.looks_up(results);
        let mut places = vec![NONE; if looks_up { skin.point_count() } else { 0 }];
        for result in first..results.count(skin) {
            let point = sources.map_or(result, |s| s[result] as usize);
            let is_new = match looks_up {
                true => places[point] == NONE,
                false => results.has_points(),
            };
            let mut more = sizes.per_result;
            if is_new {
                let number = run.points.len();
                more += sizes.per_point + sizes.of_entries(skin, results, point, number);
            }
            let out = (run.count as u64 + 1) * sizes.out;
            if run.words + more > limit || out > limit {
                break;
            }
            if is_new {
                if looks_up {
                    places[point] = run.points.len() as u32;
                }
                run.points.push(point as u32);
            }
            if looks_up {
                run.sources.push(places[point]);
            }
            run.words += more;
            run.count += 1;
        }
        run
    }
}
