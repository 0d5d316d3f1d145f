//! Accessors (glTF 2.0, 3.6.2): typed elements in buffer views, some of them replaced by sparse
//! ones, and the component types and shapes that they are made of (3.6.2.2).

use super::document::Document;
use super::json::Json;
use super::views::View;
use sinew::error::Invalid;

/// An accessor whose every element lies within its data.
#[derive(Clone, Debug)]
pub(crate) struct Accessor<'d> {
    document: &'d Document,
    /// `accessors[3]`.
    pub(crate) at: String,
    /// Where it is used, such as `meshes[0].primitives[0].attributes.POSITION`.
    pub(crate) used_at: String,
    pub(crate) count: usize,
    pub(crate) component: Component,
    pub(crate) shape: Shape,
    pub(crate) normalized: bool,
    /// `None`: zeros.
    base: Option<Strided<'d>>,
    sparse: Option<Sparse<'d>>,
    /// Whether numbers that are not finite are no error.
    may_be_broken: bool,
}

/// Elements at equal distances.
#[derive(Clone, Copy, Debug)]
struct Strided<'d> {
    bytes: &'d [u8],
    stride: usize,
}

/// Elements that replace others.
#[derive(Clone, Debug)]
struct Sparse<'d> {
    /// Strictly rising.
    indices: Vec<u32>,
    values: Strided<'d>,
}

impl Document {
    /// The accessor that `reference` names.
    ///
    /// # Errors
    /// A reference, view, offset or count that leads outside the data, at the member at fault.
    pub(crate) fn accessor<'d>(&'d self, reference: &Json<'_>) -> Result<Accessor<'d>, Invalid> {
        let (_, json) = self.follow(reference, "accessors", "an accessor")?;
        let component = Component::parse(&json.need("componentType")?)?;
        let kind = json.need("type")?;
        let shape = match kind.string()? {
            "SCALAR" => Shape::SCALAR,
            "VEC2" => Shape::vector(2),
            "VEC3" => Shape::vector(3),
            "VEC4" => Shape::vector(4),
            "MAT2" => Shape {
                columns: 2,
                rows: 2,
            },
            "MAT3" => Shape {
                columns: 3,
                rows: 3,
            },
            "MAT4" => Shape::MAT4,
            _ => return Err(kind.wrong("SCALAR, VEC2, VEC3, VEC4, MAT2, MAT3 or MAT4")),
        };
        let count_json = json.need("count")?;
        let count = count_json.integer()?;
        if count == 0 {
            return Err(count_json.wrong("at least 1"));
        }
        let normalized = json.boolean_or("normalized", false)?;
        let base = match json.get("bufferView")? {
            Some(reference) => {
                let view = self.view(&reference)?;
                let offset = json.integer_or("byteOffset", 0)?;
                Some(strided(view, offset, count, component, shape, &count_json)?)
            }
            None => None,
        };
        let sparse = match json.get("sparse")? {
            Some(sparse) => Some(self.sparse(&sparse, count, component, shape)?),
            None => None,
        };
        Ok(Accessor {
            document: self,
            at: json.at().to_owned(),
            used_at: reference.at().to_owned(),
            count,
            component,
            shape,
            normalized,
            base,
            sparse,
            may_be_broken: false,
        })
    }

    fn sparse<'d>(
        &'d self,
        json: &Json<'_>,
        count: usize,
        component: Component,
        shape: Shape,
    ) -> Result<Sparse<'d>, Invalid> {
        let changed_json = json.need("count")?;
        let changed = changed_json.integer()?;
        if changed == 0 || changed > count {
            return Err(changed_json.wrong(&format!("1 to {count}")));
        }
        let part = |json: &Json<'_>, component, shape| {
            let view = self.view(&json.need("bufferView")?)?;
            let offset = json.integer_or("byteOffset", 0)?;
            strided(view, offset, changed, component, shape, &changed_json)
        };
        let indices_json = json.need("indices")?;
        let kind = indices_json.need("componentType")?;
        let index = Component::parse(&kind)?;
        if !matches!(index, Component::U8 | Component::U16 | Component::U32) {
            return Err(kind.wrong("5121, 5123 or 5125"));
        }
        let from = part(&indices_json, index, Shape::SCALAR)?;
        let values = part(&json.need("values")?, component, shape)?;
        self.charge(changed, 4, indices_json.at())?;
        let mut indices = Vec::with_capacity(changed);
        let mut least = 0;
        for i in 0..changed {
            // Exact: whole numbers below 2^32.
            let at = index.read(from.bytes, i * from.stride) as u32;
            if u64::from(at) < least || at as usize >= count {
                let expected = format!("indices that increase and are below {count}");
                return Err(indices_json.error(expected, format!("{at} as number {i}")));
            }
            least = u64::from(at) + 1;
            indices.push(at);
        }
        Ok(Sparse { indices, values })
    }
}

/// Elements in a view, all inside it.
fn strided<'d>(
    view: View<'d>,
    offset: usize,
    count: usize,
    component: Component,
    shape: Shape,
    count_json: &Json<'_>,
) -> Result<Strided<'d>, Invalid> {
    let (size, _) = element_layout(component, shape);
    let packed = match shape.columns {
        1 => size,
        _ => size.next_multiple_of(4),
    };
    let stride = view.stride.unwrap_or(packed);
    if stride < size {
        return Err(Invalid::new(
            format!("bufferViews[{}].byteStride", view.index),
            "",
            format!(
                "at least the {size} bytes of one element of {}",
                count_json.at()
            ),
            stride.to_string(),
        ));
    }
    let end = (count - 1)
        .checked_mul(stride)
        .and_then(|n| n.checked_add(size))
        .and_then(|n| n.checked_add(offset));
    if end.is_none_or(|end| end > view.bytes.len()) {
        let fit = match view.bytes.len().checked_sub(offset) {
            Some(left) if left >= size => (left - size) / stride + 1,
            _ => 0,
        };
        let expected = format!(
            "at most the {fit} elements that bufferViews[{}] has from byte {offset} on",
            view.index
        );
        return Err(count_json.error(expected, count.to_string()));
    }
    Ok(Strided {
        bytes: &view.bytes[offset..],
        stride,
    })
}

impl<'d> Accessor<'d> {
    /// The same, whose numbers need not be finite.
    pub(super) fn with_broken(mut self) -> Self {
        self.may_be_broken = true;
        self
    }

    /// What it holds, such as `FLOAT VEC3`.
    fn kind(&self) -> String {
        let shape = match (self.shape.columns, self.shape.rows) {
            (1, 1) => "SCALAR".to_owned(),
            (1, n) => format!("VEC{n}"),
            (n, _) => format!("MAT{n}"),
        };
        let normalized = if self.normalized { "normalized " } else { "" };
        format!("{normalized}{} {shape}", self.component.name())
    }

    /// An error at the place where the accessor is used.
    pub(crate) fn misused(&self, expected: impl Into<String>) -> Invalid {
        let found = format!("{} ({})", self.at, self.kind());
        Invalid::new(&self.used_at, "", expected, found)
    }

    /// Refuses an accessor of another shape or of none of these components; `expected` says which
    /// they are.
    pub(crate) fn expect(
        self,
        shape: Shape,
        components: &[(Component, bool)],
        expected: &str,
    ) -> Result<Self, Invalid> {
        let normalized = self.normalized && self.component != Component::F32;
        if self.shape == shape && components.contains(&(self.component, normalized)) {
            return Ok(self);
        }
        Err(self.misused(expected))
    }

    /// Refuses an accessor with another number of elements.
    pub(crate) fn expect_count(self, count: usize, what: &str) -> Result<Self, Invalid> {
        if self.count == count {
            return Ok(self);
        }
        let found = format!("{} in {}", self.count, self.at);
        Err(Invalid::new(
            &self.used_at,
            "",
            format!("{count} elements, {what}"),
            found,
        ))
    }

    /// The only elements that may be other than zero, where there is no data for the rest.
    pub(crate) fn sparse_indices(&self) -> Option<&[u32]> {
        match (&self.base, &self.sparse) {
            (None, Some(sparse)) => Some(&sparse.indices),
            (None, None) => Some(&[]),
            _ => None,
        }
    }

    /// Whether the file has neither data nor sparse elements for it: all zeros.
    pub(crate) fn is_empty(&self) -> bool {
        self.base.is_none() && self.sparse.is_none()
    }

    /// All elements; normalised integers as they are meant, others as numbers. Components come
    /// column by column. The shape has to have N components.
    ///
    /// # Errors
    /// A number that is not finite; more data than the file can justify.
    pub(crate) fn read<const N: usize, T>(
        &self,
        make: impl Fn([f64; N]) -> T,
    ) -> Result<Vec<T>, Invalid>
    where
        T: Clone,
    {
        self.document.charge(self.count, size_of::<T>(), &self.at)?;
        let mut out = match self.base {
            Some(base) => self.read_strided(base, self.count, &make, |i| i)?,
            None => vec![make([0.0; N]); self.count],
        };
        if let Some(sparse) = &self.sparse {
            let values = self.read_sparse(&make)?;
            for (at, value) in sparse.indices.iter().zip(values) {
                out[*at as usize] = value;
            }
        }
        Ok(out)
    }

    /// The values of [`Accessor::sparse_indices`].
    pub(crate) fn read_sparse<const N: usize, T>(
        &self,
        make: impl Fn([f64; N]) -> T,
    ) -> Result<Vec<T>, Invalid> {
        let Some(sparse) = &self.sparse else {
            return Ok(Vec::new());
        };
        let count = sparse.indices.len();
        self.document.charge(count, size_of::<T>(), &self.at)?;
        self.read_strided(sparse.values, count, make, |i| sparse.indices[i] as usize)
    }

    fn read_strided<const N: usize, T>(
        &self,
        from: Strided<'d>,
        count: usize,
        make: impl Fn([f64; N]) -> T,
        name: impl Fn(usize) -> usize,
    ) -> Result<Vec<T>, Invalid> {
        if self.shape.components() != N {
            return Err(self.misused(format!("{N} components")));
        }
        let (_, column) = element_layout(self.component, self.shape);
        let size = self.component.size();
        let rows = self.shape.rows;
        let scale = self.normalized.then(|| self.component.divisor());
        let mut out = Vec::with_capacity(count);
        for i in 0..count {
            let start = i * from.stride;
            let mut element = [0.0; N];
            for (c, value) in element.iter_mut().enumerate() {
                let at = start + c / rows * column + c % rows * size;
                *value = self.component.read(from.bytes, at);
                if let Some(divisor) = scale {
                    // The least integer of a signed type would be a little below -1.
                    *value = (*value / divisor).max(-1.0);
                }
            }
            if !self.may_be_broken && !element.iter().all(|v| v.is_finite()) {
                let found = format!("{element:?} as element {}", name(i));
                return Err(
                    Invalid::new(&self.at, "", "finite numbers", found).coded("gltf-not-finite")
                );
            }
            out.push(make(element));
        }
        Ok(out)
    }
}

/// Type of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

/// Columns and rows of one element; vectors are one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub columns: usize,
    pub rows: usize,
}

impl Shape {
    pub(crate) const SCALAR: Self = Self::vector(1);
    pub(crate) const MAT4: Self = Self {
        columns: 4,
        rows: 4,
    };

    pub(crate) const fn vector(rows: usize) -> Self {
        Self { columns: 1, rows }
    }

    pub(super) const fn components(self) -> usize {
        self.columns * self.rows
    }
}

impl Component {
    pub(super) fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        Ok(match json.integer()? {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return Err(json.wrong("5120, 5121, 5122, 5123, 5125 or 5126")),
        })
    }

    pub(super) const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::I8 => "BYTE",
            Self::U8 => "UNSIGNED_BYTE",
            Self::I16 => "SHORT",
            Self::U16 => "UNSIGNED_SHORT",
            Self::U32 => "UNSIGNED_INT",
            Self::F32 => "FLOAT",
        }
    }

    /// What a normalised integer is divided by.
    pub(super) const fn divisor(self) -> f64 {
        match self {
            Self::I8 => 127.0,
            Self::U8 => 255.0,
            Self::I16 => 32767.0,
            Self::U16 => 65535.0,
            Self::U32 => 4_294_967_295.0,
            Self::F32 => 1.0,
        }
    }

    /// The component at an offset that is known to be inside.
    pub(super) fn read(self, bytes: &[u8], at: usize) -> f64 {
        fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
            let slice = bytes.get(at..at + N).and_then(|s| s.try_into().ok());
            slice.unwrap_or([0; N])
        }
        match self {
            Self::I8 => f64::from(i8::from_le_bytes(take(bytes, at))),
            Self::U8 => f64::from(u8::from_le_bytes(take(bytes, at))),
            Self::I16 => f64::from(i16::from_le_bytes(take(bytes, at))),
            Self::U16 => f64::from(u16::from_le_bytes(take(bytes, at))),
            Self::U32 => f64::from(u32::from_le_bytes(take(bytes, at))),
            Self::F32 => f64::from(f32::from_le_bytes(take(bytes, at))),
        }
    }
}

/// Bytes of an element and from one of its columns to the next, which start at multiples of 4 in
/// matrices.
pub(super) fn element_layout(component: Component, shape: Shape) -> (usize, usize) {
    let column = component.size() * shape.rows;
    if shape.columns == 1 {
        return (column, column);
    }
    let padded = column.next_multiple_of(4);
    (padded * (shape.columns - 1) + column, padded)
}
