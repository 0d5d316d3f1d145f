//! Values other than arrays, which are decoded when a file is opened.
//!
//! Source: pxr/usd/sdf/crateFile.cpp (`_Reader`) and crateValueInliners.h of OpenUSD.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use half::f16;
use smol_str::SmolStr;

use super::File;
use super::arrays;
use super::bytes::{Bad, Checked, Cursor};
use crate::path::Path;
use crate::usdc::Stored;
use crate::usdc::format::{MAX_DEPTH, Rep, Version, kind};
use crate::value::{
    Array, ArrayEdit, AssetPath, Dictionary, Duration, LayerOffset, ListOp, PathExpression,
    Payload, Permission, Quat, Reference, Specifier, Spline, TimeCode, TimeSamples, Value,
    Variability,
};

/// Decodes the values of a file's fields.
pub(super) struct Decoder<'a> {
    file: &'a Arc<File>,
    paths: &'a [Path],
    /// Values that hold others, and arrays, by where they are, with the levels below them: files share them.
    nested: HashMap<Rep, (Value, usize), foldhash::fast::RandomState>,
    /// The deepest level that the value being decoded has so far.
    deepest: usize,
    /// Times of samples, by where they are: attributes share them.
    times: HashMap<Rep, Arc<[f64]>, foldhash::fast::RandomState>,
    /// How many bytes may still be decoded. Without a bound, values that overlap would fill all memory.
    room: usize,
}

impl<'a> Decoder<'a> {
    pub fn new(file: &'a Arc<File>, paths: &'a [Path]) -> Self {
        Self {
            file,
            paths,
            nested: HashMap::default(),
            deepest: 0,
            times: HashMap::default(),
            room: file.bytes.len().saturating_mul(8).saturating_add(1 << 24),
        }
    }

    /// The value of a field. Arrays stay in the file.
    pub fn field(&mut self, rep: Rep) -> Checked<Value> {
        match is_stored_array(rep) {
            true => self.stored(rep),
            false => self.value(rep, 0),
        }
    }

    /// The names of a list of children. None if the value is no list of tokens.
    pub fn names(&mut self, rep: Rep) -> Checked<Option<Vec<SmolStr>>> {
        if rep.kind() != kind::TOKEN_VECTOR {
            return Ok(None);
        }
        let mut cursor = self.cursor(rep);
        self.list(&mut cursor, 4, Self::token).map(Some)
    }

    fn cursor(&self, rep: Rep) -> Cursor<'a> {
        Cursor::new(&self.file.bytes, rep.offset())
    }

    fn stored(&self, rep: Rep) -> Checked<Value> {
        let stored = Stored {
            file: Arc::clone(self.file),
            rep,
        };
        match stored.type_name() {
            "" => Err(unknown(rep)),
            _ => Ok(Value::Stored(stored)),
        }
    }

    /// Counts what is decoded.
    fn spend(&mut self, bytes: usize, at: usize) -> Checked<()> {
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => Err(Bad::new(
                at,
                "the values are more than a file of this size can justify",
            )),
        }
    }

    fn value(&mut self, rep: Rep, depth: usize) -> Checked<Value> {
        let at = rep.offset();
        if rep.is_array_edit() {
            return self.array_edit(rep);
        }
        let too_deep = || {
            let reason = format!("values are nested more than {MAX_DEPTH} levels deep");
            Bad::new(at, reason)
        };
        if let Some((value, levels)) = self.nested.get(&rep) {
            self.deepest = self.deepest.max(depth + levels);
            // Shared values may lie deeper than where they were decoded.
            return match depth + levels <= MAX_DEPTH {
                true => Ok(value.clone()),
                false => Err(too_deep()),
            };
        }
        if rep.is_array() {
            let (len, _) = arrays::len(self.file, rep)?;
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            self.spend(len.saturating_mul(arrays::element_size(rep.kind())), at)?;
            let value = arrays::array(self.file, rep)?.ok_or_else(|| unknown(rep))?;
            self.nested.insert(rep, (value.clone(), 0));
            self.deepest = self.deepest.max(depth);
            return Ok(value);
        }
        if let Some(value) = single(self.file, rep)? {
            self.deepest = self.deepest.max(depth);
            return Ok(value);
        }
        if depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        let above = std::mem::replace(&mut self.deepest, depth);
        let value = self.compound(rep, depth + 1)?;
        let levels = self.deepest - depth;
        self.deepest = self.deepest.max(above);
        self.nested.insert(rep, (value.clone(), levels));
        Ok(value)
    }

    /// An edit of an array: the array of the values that it uses, that of its instructions, and whether the values are
    /// no edit but the whole array. An edit without a place in the file changes nothing.
    fn array_edit(&mut self, rep: Rep) -> Checked<Value> {
        let at = rep.offset();
        let mut literals = Rep::new(rep.kind(), 0).array();
        let mut instructions = Array::default();
        if at != 0 {
            let mut c = self.cursor(rep);
            literals = Rep(c.u64()?);
            let code = Rep(c.u64()?);
            let dense = c.plain::<u8>()? != 0;
            let is_array = |rep: Rep| rep.is_array() && !rep.is_array_edit();
            if !is_array(literals) || literals.kind() != rep.kind() || !is_array(code) {
                return Err(Bad::new(
                    at,
                    "an edit of an array has no arrays of its type",
                ));
            }
            if dense {
                return self.value(literals, 0);
            }
            let Value::Int64Array(code) = self.value(code, 0)? else {
                return Err(Bad::new(at, "the instructions of an edit are no int64[]"));
            };
            instructions = code;
        }
        let literals = self.value(literals, 0)?;
        let edit = ArrayEdit::from_crate(literals, &instructions);
        let edit = edit.map_err(|reason| Bad::new(at, reason))?;
        Ok(Value::ArrayEdit(Arc::new(edit)))
    }

    /// A value that has parts. `depth` is that of its parts.
    fn compound(&mut self, rep: Rep, depth: usize) -> Checked<Value> {
        let c = &mut self.cursor(rep);
        Ok(match rep.kind() {
            kind::DICTIONARY if rep.is_inlined() => Value::Dictionary(Arc::default()),
            kind::DICTIONARY => Value::Dictionary(Arc::new(self.dictionary(c, depth)?)),
            kind::TOKEN_LIST_OP => Value::TokenListOp(self.list_op(c, 4, Self::token)?),
            kind::STRING_LIST_OP => Value::StringListOp(self.list_op(c, 4, Self::string)?),
            kind::PATH_LIST_OP => Value::PathListOp(self.list_op(c, 4, Self::path)?),
            kind::REFERENCE_LIST_OP => {
                let one = |d: &mut Self, c: &mut Cursor<'a>| d.reference(c, depth);
                Value::ReferenceListOp(self.list_op(c, 32, one)?)
            }
            kind::PAYLOAD_LIST_OP => Value::PayloadListOp(self.list_op(c, 8, Self::payload)?),
            kind::INT_LIST_OP => Value::IntListOp(self.list_op(c, 4, plain)?),
            kind::INT64_LIST_OP => Value::Int64ListOp(self.list_op(c, 8, plain)?),
            kind::UINT_LIST_OP => Value::UIntListOp(self.list_op(c, 4, plain)?),
            kind::UINT64_LIST_OP => Value::UInt64ListOp(self.list_op(c, 8, plain)?),
            kind::UNREGISTERED_LIST_OP => {
                // As in text, each item is an unregistered value.
                let one = |d: &mut Self, c: &mut Cursor<'a>| {
                    Ok(Value::Unregistered(Arc::new(d.value_at(c, depth)?)))
                };
                Value::UnregisteredListOp(self.list_op(c, 16, one)?)
            }
            kind::PATH_VECTOR => Value::PathVector(Arc::new(self.list(c, 4, Self::path)?)),
            kind::TOKEN_VECTOR => Value::TokenVector(Arc::new(self.list(c, 4, Self::token)?)),
            kind::STRING_VECTOR => Value::StringVector(Arc::new(self.list(c, 4, Self::string)?)),
            kind::DOUBLE_VECTOR => Value::DoubleVector(Arc::new(self.list(c, 8, plain)?)),
            kind::LAYER_OFFSET_VECTOR => {
                Value::LayerOffsetVector(Arc::new(self.list(c, 16, Self::layer_offset)?))
            }
            kind::RELOCATES => {
                let one = |d: &mut Self, c: &mut Cursor<'a>| Ok((d.path(c)?, d.path(c)?));
                Value::Relocates(Arc::new(self.list(c, 8, one)?))
            }
            kind::VARIANT_SELECTION_MAP => {
                let one = |d: &mut Self, c: &mut Cursor<'a>| Ok((d.string(c)?, d.string(c)?));
                let map: BTreeMap<_, _> = self.list(c, 8, one)?.into_iter().collect();
                Value::VariantSelections(Arc::new(map))
            }
            kind::PAYLOAD => Value::Payload(Arc::new(self.payload(c)?)),
            kind::TIME_SAMPLES => Value::TimeSamples(self.time_samples(c, depth)?),
            kind::VALUE => self.value_at(c, depth)?,
            kind::UNREGISTERED => Value::Unregistered(Arc::new(self.value_at(c, depth)?)),
            kind::SPLINE => self.spline(c, depth)?,
            _ => return Err(unknown(rep)),
        })
    }

    /// A list with its length before it. Each item has at least `size` bytes.
    fn list<T>(
        &mut self,
        c: &mut Cursor<'a>,
        size: usize,
        mut item: impl FnMut(&mut Self, &mut Cursor<'a>) -> Checked<T>,
    ) -> Checked<Vec<T>> {
        let count = c.count(size)?;
        self.spend(count * size, c.at)?;
        (0..count).map(|_| item(self, c)).collect()
    }

    fn list_op<T>(
        &mut self,
        c: &mut Cursor<'a>,
        size: usize,
        mut item: impl FnMut(&mut Self, &mut Cursor<'a>) -> Checked<T>,
    ) -> Checked<Arc<ListOp<T>>> {
        let bits: u8 = c.plain()?;
        let mut op = ListOp {
            explicit: bits & 1 != 0,
            ..ListOp::default()
        };
        let lists = [
            (2, &mut op.explicit_items),
            (4, &mut op.added),
            (32, &mut op.prepended),
            (64, &mut op.appended),
            (8, &mut op.deleted),
            (16, &mut op.ordered),
        ];
        for (bit, list) in lists {
            if bits & bit != 0 {
                *list = self.list(c, size, &mut item)?;
            }
        }
        Ok(Arc::new(op))
    }

    fn token(&mut self, c: &mut Cursor<'a>) -> Checked<SmolStr> {
        let at = c.at;
        self.file.token(c.u32()?, at).cloned()
    }

    fn string(&mut self, c: &mut Cursor<'a>) -> Checked<SmolStr> {
        let at = c.at;
        self.file.string(c.u32()?, at).cloned()
    }

    fn path(&mut self, c: &mut Cursor<'a>) -> Checked<Path> {
        let at = c.at;
        let index = c.u32()?;
        let path = self.paths.get(index as usize).cloned();
        path.ok_or_else(|| {
            let reason = format!("path {index} is named, there are {}", self.paths.len());
            Bad::new(at, reason)
        })
    }

    fn layer_offset(&mut self, c: &mut Cursor<'a>) -> Checked<LayerOffset> {
        Ok(LayerOffset {
            offset: c.plain()?,
            scale: c.plain()?,
        })
    }

    fn reference(&mut self, c: &mut Cursor<'a>, depth: usize) -> Checked<Reference> {
        Ok(Reference {
            asset: self.string(c)?,
            prim: self.path(c)?,
            offset: self.layer_offset(c)?,
            custom_data: self.dictionary(c, depth)?,
        })
    }

    fn payload(&mut self, c: &mut Cursor<'a>) -> Checked<Payload> {
        Ok(Payload {
            asset: self.string(c)?,
            prim: self.path(c)?,
            offset: match self.file.version < Version(0, 8, 0) {
                true => LayerOffset::IDENTITY,
                false => self.layer_offset(c)?,
            },
        })
    }

    fn dictionary(&mut self, c: &mut Cursor<'a>, depth: usize) -> Checked<Dictionary> {
        let one = |d: &mut Self, c: &mut Cursor<'a>| Ok((d.string(c)?, d.value_at(c, depth)?));
        Ok(self.list(c, 12, one)?.into_iter().collect())
    }

    /// A value that stands where an offset leads.
    fn value_at(&mut self, c: &mut Cursor<'a>, depth: usize) -> Checked<Value> {
        c.jump()?;
        let rep = Rep(c.u64()?);
        self.value(rep, depth)
    }

    /// A spline: its binary form, then the custom data of knots by time.
    fn spline(&mut self, c: &mut Cursor<'a>, depth: usize) -> Checked<Value> {
        let at = c.at;
        let len = c.count(1)?;
        let bytes = c.take(len)?;
        let one = |d: &mut Self, c: &mut Cursor<'a>| Ok((c.plain()?, d.dictionary(c, depth)?));
        let custom_data: Vec<(f64, Dictionary)> = self.list(c, 16, one)?;
        let spline = Spline::from_crate(bytes, custom_data);
        let spline = spline.map_err(|reason| Bad::new(at, reason))?;
        Ok(Value::Spline(Arc::new(spline)))
    }

    fn time_samples(&mut self, c: &mut Cursor<'a>, depth: usize) -> Checked<TimeSamples> {
        c.jump()?;
        let at = c.at;
        let times = self.times(Rep(c.u64()?), at)?;
        c.jump()?;
        let one = |d: &mut Self, c: &mut Cursor<'a>| d.sample(Rep(c.u64()?), depth);
        let values = self.list(c, 8, one)?;
        if values.len() != times.len() {
            let reason = format!("{} times have {} values", times.len(), values.len());
            return Err(Bad::new(at, reason));
        }
        let sorted = times.iter().all(|t| t.is_finite()) && times.is_sorted_by(|a, b| a < b);
        Ok(match sorted {
            true => TimeSamples::from_sorted(times, values.into()),
            false => TimeSamples::new(times.iter().copied().zip(values).collect()),
        })
    }

    fn times(&mut self, rep: Rep, at: usize) -> Checked<Arc<[f64]>> {
        if let Some(times) = self.times.get(&rep) {
            return Ok(Arc::clone(times));
        }
        let deepest = self.deepest;
        let times: Arc<[f64]> = match (rep.kind(), self.value(rep, MAX_DEPTH - 1)?) {
            (kind::DOUBLE_VECTOR, Value::DoubleVector(times)) => times.as_slice().into(),
            (_, Value::DoubleArray(times)) => (*times).into(),
            _ => return Err(Bad::new(at, "the times of samples are no list of doubles")),
        };
        self.deepest = deepest;
        self.times.insert(rep, Arc::clone(&times));
        Ok(times)
    }

    /// The value of one sample. Those that need more than their eight bytes stay in the file.
    fn sample(&mut self, rep: Rep, depth: usize) -> Checked<Value> {
        match is_stored_array(rep) || is_large(rep) {
            true => self.stored(rep),
            false => self.value(rep, depth),
        }
    }
}

fn plain<T: bytemuck::AnyBitPattern>(_: &mut Decoder<'_>, c: &mut Cursor<'_>) -> Checked<T> {
    c.plain()
}

fn unknown(rep: Rep) -> Bad {
    Bad::unsupported(
        rep.offset(),
        format!("the type {} is not known", rep.kind()),
    )
}

/// Whether this is an array with elements.
fn is_stored_array(rep: Rep) -> bool {
    rep.is_array() && !rep.is_array_edit() && rep.payload() != 0
}

/// Whether a single value of plain numbers has bytes of its own in the file.
fn is_large(rep: Rep) -> bool {
    !(rep.is_inlined() || rep.is_array() || rep.is_array_edit())
        && matches!(rep.kind(), 5 | 6 | 9 | 13..=20 | 22..=30 | 56 | 61)
}

/// A value without parts: a number, a few of them, a text or a name. None for all others.
pub(super) fn single(file: &File, rep: Rep) -> Checked<Option<Value>> {
    let at = rep.offset();
    let bits = rep.payload() as u32;
    let bytes = bits.to_le_bytes();
    let small = bytes.map(|b| b as i8);
    let mut cursor = Cursor::new(&file.bytes, at);
    let c = &mut cursor;
    // Vectors of small whole numbers, and matrices with such a diagonal and nothing else, are in the value's place.
    macro_rules! vector {
        ($number:ty) => {
            match rep.is_inlined() {
                true => std::array::from_fn(|i| <$number>::from(small[i])),
                false => c.plain()?,
            }
        };
    }
    macro_rules! matrix {
        ($side:literal) => {
            Box::new(match rep.is_inlined() {
                true => std::array::from_fn(|i| match i / $side == i % $side {
                    true => f64::from(small[i % $side]),
                    false => 0.0,
                }),
                false => c.plain()?,
            })
        };
    }
    let inlined = rep.is_inlined();
    Ok(Some(match rep.kind() {
        1 => Value::Bool(bytes[0] != 0),
        2 => Value::UChar(bytes[0]),
        3 => Value::Int(bits.cast_signed()),
        4 => Value::UInt(bits),
        5 if inlined => Value::Int64(bits.cast_signed().into()),
        5 => Value::Int64(c.plain()?),
        6 if inlined => Value::UInt64(bits.into()),
        6 => Value::UInt64(c.plain()?),
        7 => Value::Half(f16::from_bits(bits as u16)),
        8 => Value::Float(f32::from_bits(bits)),
        9 if inlined => Value::Double(f32::from_bits(bits).into()),
        9 => Value::Double(c.plain()?),
        10 => Value::String(file.string(bits, at)?.clone()),
        11 => Value::Token(file.token(bits, at)?.clone()),
        12 => Value::AssetPath(AssetPath(file.token(bits, at)?.clone())),
        13 => Value::Matrix2d(matrix!(2)),
        14 => Value::Matrix3d(matrix!(3)),
        15 => Value::Matrix4d(matrix!(4)),
        16 => Value::Quatd(Box::new(c.plain::<Quat<f64>>()?)),
        17 => Value::Quatf(c.plain()?),
        18 => Value::Quath(c.plain()?),
        19 => Value::Vec2d(vector!(f64)),
        20 => Value::Vec2f(vector!(f32)),
        21 => Value::Vec2h([bits as u16, (bits >> 16) as u16].map(f16::from_bits)),
        22 => Value::Vec2i(vector!(i32)),
        23 => Value::Vec3d(vector!(f64)),
        24 => Value::Vec3f(vector!(f32)),
        25 => Value::Vec3h(vector!(f16)),
        26 => Value::Vec3i(vector!(i32)),
        27 => Value::Vec4d(Box::new(vector!(f64))),
        28 => Value::Vec4f(vector!(f32)),
        29 => Value::Vec4h(vector!(f16)),
        30 => Value::Vec4i(vector!(i32)),
        56 => Value::TimeCode(TimeCode(c.plain()?)),
        61 => Value::Duration(Duration(c.plain()?)),
        57 => {
            let index = c.u32()?;
            Value::PathExpression(PathExpression(file.string(index, at)?.clone()))
        }
        kind::SPECIFIER => Value::Specifier(match bits {
            0 => Specifier::Def,
            1 => Specifier::Over,
            2 => Specifier::Class,
            _ => return Err(Bad::new(at, format!("there is no specifier {bits}"))),
        }),
        kind::PERMISSION => Value::Permission(match bits {
            0 => Permission::Public,
            1 => Permission::Private,
            _ => return Err(Bad::new(at, format!("there is no permission {bits}"))),
        }),
        kind::VARIABILITY => Value::Variability(match bits {
            0 => Variability::Varying,
            // 2 is a kind that old files may have.
            1 | 2 => Variability::Uniform,
            _ => return Err(Bad::new(at, format!("there is no variability {bits}"))),
        }),
        kind::VALUE_BLOCK => Value::Block,
        kind::ANIMATION_BLOCK => Value::AnimationBlock,
        _ => return Ok(None),
    }))
}
