//! Where an instance's results go: to the crowd's own buffers, or to the caller's.

use crate::gpu::device::error::GpuError;
use crate::kernel::PackedSkin;

/// Where one kind of result goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Attribute {
    /// The crowd's own buffer, without gaps: 12 bytes per element, 16 for tangents, 4 for
    /// octahedral normals.
    #[default]
    Own,
    /// A buffer of the caller, created on the crowd's device (wgpu panics for a buffer of another
    /// `Instance`). Only the results are written; bytes between them stay as they are.
    In {
        /// The buffer. It needs usage `STORAGE`, and also `COPY_SRC` if the crowd should read its
        /// results back.
        buffer: wgpu::Buffer,
        /// Byte of the first element; a multiple of 4.
        offset: u64,
        /// Bytes from one element to the next; a multiple of 4.
        stride: u64,
    },
}

/// How normals are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NormalFormat {
    /// Three floats, 12 bytes.
    #[default]
    Floats,
    /// One word: an octahedral direction, which is two signed 16-bit fractions, x in the low half.
    /// [`crate::kernel::unpack_normal`] decodes it. The error is at most 7e-5. The length is lost:
    /// it is 1, or 0 for no direction.
    Octahedral,
}

/// Where the results of an instance go, for [`crate::gpu::Crowd::add_instance_to`].
///
/// Several kinds may share one buffer, such as an interleaved vertex buffer, or have ranges of it.
/// All kinds together go to at most two buffers. The crowd's own are one for positions, and one for
/// all other kinds. If two instances write to the same bytes, the result is undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputTarget {
    /// Points, or render vertices if the skin has them: 3 floats each.
    pub positions: Attribute,
    /// Normals, in the format of `normal_format`; `None` to leave them out. There is one per point
    /// or render vertex, or one per face corner if the rest normals are faceVarying and the skin
    /// has no render vertices. A skin without normals accepts [`Attribute::Own`] and writes none.
    pub normals: Option<Attribute>,
    /// The format of normals, in the crowd's own buffer and in the caller's.
    pub normal_format: NormalFormat,
    /// Tangents, 4 floats each; `None` to leave them out. A skin without tangents accepts
    /// [`Attribute::Own`] and writes none.
    pub tangents: Option<Attribute>,
    /// The positions that the last encoded frame wrote, for motion vectors, 3 floats each; `None`
    /// to leave them out. In the first frame, in the frame after
    /// [`crate::gpu::Crowd::reset_previous`] and in the first frame after the instance was hidden,
    /// they equal the new positions.
    pub previous: Option<Attribute>,
}

impl Default for OutputTarget {
    /// All results but the previous positions, in the crowd's own buffers.
    fn default() -> Self {
        Self {
            positions: Attribute::Own,
            normals: Some(Attribute::Own),
            normal_format: NormalFormat::Floats,
            tangents: Some(Attribute::Own),
            previous: None,
        }
    }
}

/// Kinds of results: positions, normals, tangents, previous positions.
pub const KINDS: usize = 4;
pub const POINTS: usize = 0;
pub const NORMALS: usize = 1;
pub const TANGENTS: usize = 2;
pub const PREVIOUS: usize = 3;

/// Buffers that a dispatch writes results to.
pub const BUFFERS: usize = 2;

/// The number of the crowd's own buffer that a kind goes to: positions have one of their own.
pub const fn own_buffer(kind: usize) -> usize {
    if kind == POINTS { 0 } else { 1 }
}

const NAMES: [&str; KINDS] = ["positions", "normals", "tangents", "previous positions"];

/// Bytes of one element of each kind.
const WIDTHS: [u64; KINDS] = [12, 12, 16, 12];

/// Where one kind of result should go, and the size of an element in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Requested<'a> {
    pub attribute: &'a Attribute,
    pub width: u64,
}

/// Where each kind of result should go; `None` for a kind that is left out.
pub type RequestedKinds<'a> = [Option<Requested<'a>>; KINDS];

/// A place for one kind of result in a caller's buffer.
#[derive(Clone, Copy)]
pub struct InBuffer<'a> {
    pub kind: usize,
    pub buffer: &'a wgpu::Buffer,
    pub offset: u64,
    pub stride: u64,
    /// Bytes of an element.
    pub width: u64,
}

/// The kinds that go to the caller's buffers.
pub fn in_buffers<'a>(wanted: &RequestedKinds<'a>) -> impl Iterator<Item = InBuffer<'a>> {
    wanted.iter().enumerate().filter_map(|(kind, requested)| {
        let Requested { attribute, width } = (*requested)?;
        match attribute {
            Attribute::In {
                buffer,
                offset,
                stride,
            } => Some(InBuffer {
                kind,
                buffer,
                offset: *offset,
                stride: *stride,
                width,
            }),
            _ => None,
        }
    })
}

/// A place in a caller's buffer, and the end of its bytes.
struct Span<'a> {
    to: InBuffer<'a>,
    end: u64,
}

impl OutputTarget {
    /// The requested kinds, without those that the skin lacks.
    pub(in crate::gpu) fn kinds(&self, skin: &PackedSkin) -> RequestedKinds<'_> {
        let counts = counts(skin);
        let all = [
            Some(&self.positions),
            self.normals.as_ref(),
            self.tangents.as_ref(),
            self.previous.as_ref(),
        ];
        // A skin with zero points does not lack points.
        std::array::from_fn(|kind| {
            let attribute = all[kind].filter(|_| counts[kind].is_some())?;
            let width = match (kind, self.normal_format) {
                (NORMALS, NormalFormat::Octahedral) => 4,
                _ => WIDTHS[kind],
            };
            Some(Requested { attribute, width })
        })
    }

    /// The same kinds of results, all in the crowd's own buffers.
    pub(in crate::gpu) fn in_own_buffers(&self) -> Self {
        let own = |attribute: &Option<Attribute>| attribute.as_ref().map(|_| Attribute::Own);
        Self {
            positions: Attribute::Own,
            normals: own(&self.normals),
            normal_format: self.normal_format,
            tangents: own(&self.tangents),
            previous: own(&self.previous),
        }
    }

    /// Checks that the skin's results fit the places where they should go.
    pub(in crate::gpu) fn check(&self, skin: &PackedSkin) -> Result<(), GpuError> {
        let wrong = |kind: usize, expected: String, found: String| {
            let what = format!("{}: {}", skin.prim(), NAMES[kind]);
            Err(GpuError::invalid(what, expected, found))
        };
        for (kind, attribute) in [(NORMALS, &self.normals), (TANGENTS, &self.tangents)] {
            if matches!(attribute, Some(Attribute::In { .. })) && counts(skin)[kind].is_none() {
                let expected = "a skin that has them".into();
                return wrong(kind, expected, "one without".into());
            }
        }
        let wanted = self.kinds(skin);
        let mut spans: Vec<Span<'_>> = Vec::new();
        for to in in_buffers(&wanted) {
            let InBuffer {
                kind,
                buffer,
                offset,
                stride,
                width,
            } = to;
            if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
                let found = format!("usage {:?}", buffer.usage());
                return wrong(kind, "a buffer with usage STORAGE".into(), found);
            }
            if offset % 4 != 0 || stride % 4 != 0 {
                let expected = "an offset and a stride that are multiples of 4".into();
                return wrong(kind, expected, format!("{offset} and {stride}"));
            }
            if stride < width {
                let expected = format!("a stride of at least an element, {width} bytes");
                return wrong(kind, expected, format!("{stride} bytes"));
            }
            let count = counts(skin)[kind].unwrap_or(0) as u64;
            let last = count.checked_sub(1).map(|n| n.checked_mul(stride));
            let end = match last {
                None => Some(offset),
                Some(last) => last.and_then(|l| l.checked_add(width)?.checked_add(offset)),
            };
            let Some(end) = end.filter(|end| *end <= buffer.size()) else {
                let size = buffer.size();
                let asked = end.map_or("more than 2^64".into(), |end| end.to_string());
                let expected = format!("a buffer of {asked} bytes for {count} of them");
                return wrong(kind, expected, format!("{size} bytes"));
            };
            let span = Span { to, end };
            if let Some(other) = spans.iter().find(|other| overlap(other, &span)) {
                let expected = format!("bytes apart from the {}", NAMES[other.to.kind]);
                return wrong(kind, expected, "bytes that overlap them".into());
            }
            spans.push(span);
        }
        let mut buffers = Vec::new();
        for (kind, requested) in wanted.iter().enumerate() {
            let buffer = match requested.map(|requested| requested.attribute) {
                None => continue,
                Some(Attribute::Own) => (own_buffer(kind), None),
                Some(Attribute::In { buffer, .. }) => (BUFFERS, Some(buffer)),
            };
            if !buffers.contains(&buffer) {
                buffers.push(buffer);
            }
            if buffers.len() > BUFFERS {
                let expected = "at most two buffers for all results of an instance (the crowd's \
                                own are one for positions and one for all other kinds)";
                return wrong(kind, expected.into(), "a third buffer".into());
            }
        }
        Ok(())
    }
}

/// Whether two kinds of results would write the same bytes. Spans that cross and have different
/// strides are always counted as overlapping.
fn overlap(Span { to: a, end: a_end }: &Span<'_>, Span { to: b, end: b_end }: &Span<'_>) -> bool {
    if a.buffer != b.buffer || *a_end <= b.offset || *b_end <= a.offset {
        return false;
    }
    if a.stride != b.stride {
        return true;
    }
    // Interleaved: elements of one lie in the gaps of the other.
    let from_a_to_b = (b.offset as i128 - a.offset as i128).rem_euclid(a.stride.into()) as u64;
    from_a_to_b < a.width || from_a_to_b + b.width > a.stride
}

/// Number of elements of each kind of a skin's results; `None` for a kind that the skin lacks.
pub fn counts(skin: &PackedSkin) -> [Option<usize>; KINDS] {
    let normals = skin.has_output_normals();
    [
        Some(skin.output_count()),
        normals.then(|| skin.output_normal_count()),
        skin.tangents().map(<[_]>::len),
        Some(skin.output_count()),
    ]
}
