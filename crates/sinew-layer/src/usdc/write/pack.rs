//! How each value is written: into its field, or into the file where the field refers to it.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use smol_str::SmolStr;

use super::super::format::{MAX_DEPTH, Rep, Version, kind};
use super::element::{Element, bytes_of, inline_double, inline_matrix, inline_vector};
use super::ints::prefixed;
use super::{CrateWriter, Fault};
use crate::path::Path;
use crate::value::{
    ArrayEdit, AssetPath, Dictionary, LayerOffset, ListOp, PathExpression, Payload, Reference,
    Spline, TimeSamples, Value,
};

/// Tags of hashes, beside the numbers of the types: arrays and their edits are told from single values.
const ARRAY: u8 = 0x80;
const EDIT: u8 = 0x40;

/// The bytes between an offset and what it leads to: values in values are written first, so what an offset has to
/// skip is only itself.
const NO_GAP: i64 = 8;

type Packed<T = Rep> = Result<T, Fault>;

const fn inline(kind: u8, bits: u32) -> Rep {
    Rep::new(kind, bits as u64).inlined()
}

impl<W: Write + Seek> CrateWriter<W> {
    /// Writes a value, unless an equal one was written or it stands in its field.
    pub(super) fn pack(&mut self, value: &Value) -> Packed {
        if self.depth >= MAX_DEPTH {
            return Err(Fault::new(format!(
                "values are nested deeper than {MAX_DEPTH}"
            )));
        }
        self.depth += 1;
        let rep = self.pack_value(value);
        self.depth -= 1;
        rep
    }

    fn pack_value(&mut self, value: &Value) -> Packed {
        match value {
            Value::Bool(v) => Ok(inline(1, u32::from(*v))),
            Value::UChar(v) => Ok(inline(2, u32::from(*v))),
            Value::Int(v) => Ok(inline(3, *v as u32)),
            Value::UInt(v) => Ok(inline(4, *v)),
            Value::Int64(v) => {
                let small = i32::try_from(*v).ok().map(|v| v as u32);
                self.scalar(5, &[*v], small)
            }
            Value::UInt64(v) => self.scalar(6, &[*v], u32::try_from(*v).ok()),
            Value::Half(v) => Ok(inline(7, u32::from(v.to_bits()))),
            Value::Float(v) => Ok(inline(8, v.to_bits())),
            Value::Double(v) => self.scalar(9, &[*v], inline_double(*v)),
            Value::String(v) => Ok(inline(10, self.string(v)?)),
            Value::Token(v) => Ok(inline(11, self.token(v)?)),
            Value::AssetPath(v) => Ok(inline(12, self.token(&v.0)?)),
            Value::PathExpression(v) => {
                self.require(PATH_EXPRESSIONS);
                let index = self.string(&v.0)?;
                self.store(57, &index.to_le_bytes())
            }
            Value::TimeCode(v) => {
                self.require(TIME_CODES);
                self.scalar(56, &[*v], None)
            }
            Value::Duration(v) => {
                self.require(DURATIONS);
                self.scalar(61, &[*v], None)
            }
            Value::Matrix2d(v) => self.scalar(13, &**v, inline_matrix(&**v, 2)),
            Value::Matrix3d(v) => self.scalar(14, &**v, inline_matrix(&**v, 3)),
            Value::Matrix4d(v) => self.scalar(15, &**v, inline_matrix(&**v, 4)),
            Value::Quatd(v) => self.scalar(16, &v.0, None),
            Value::Quatf(v) => self.scalar(17, &v.0, None),
            Value::Quath(v) => self.scalar(18, &v.0, None),
            Value::Vec2d(v) => self.scalar(19, v, inline_vector(v, |v| v)),
            Value::Vec2f(v) => self.scalar(20, v, inline_vector(v, f64::from)),
            // Always in the field, with its own bits.
            Value::Vec2h([x, y]) => Ok(inline(
                21,
                u32::from(x.to_bits()) | u32::from(y.to_bits()) << 16,
            )),
            Value::Vec2i(v) => self.scalar(22, v, inline_vector(v, f64::from)),
            Value::Vec3d(v) => self.scalar(23, v, inline_vector(v, |v| v)),
            Value::Vec3f(v) => self.scalar(24, v, inline_vector(v, f64::from)),
            Value::Vec3h(v) => self.scalar(25, v, inline_vector(v, f64::from)),
            Value::Vec3i(v) => self.scalar(26, v, inline_vector(v, f64::from)),
            Value::Vec4d(v) => self.scalar(27, &**v, inline_vector(&**v, |v| v)),
            Value::Vec4f(v) => self.scalar(28, v, inline_vector(v, f64::from)),
            Value::Vec4h(v) => self.scalar(29, v, inline_vector(v, f64::from)),
            Value::Vec4i(v) => self.scalar(30, v, inline_vector(v, f64::from)),

            Value::BoolArray(v) => self.array(v),
            Value::UCharArray(v) => self.array(v),
            Value::IntArray(v) => self.array(v),
            Value::UIntArray(v) => self.array(v),
            Value::Int64Array(v) => self.array(v),
            Value::UInt64Array(v) => self.array(v),
            Value::HalfArray(v) => self.array(v),
            Value::FloatArray(v) => self.array(v),
            Value::DoubleArray(v) => self.array(v),
            Value::StringArray(v) => self.texts(10, v, Self::string),
            Value::TokenArray(v) => self.texts(11, v, Self::token),
            // As strings, though a single one is a token.
            Value::AssetPathArray(v) => {
                self.texts(12, v, |writer, AssetPath(text)| writer.string(text))
            }
            Value::PathExpressionArray(v) => {
                self.require(PATH_EXPRESSIONS);
                self.texts(57, v, |writer, PathExpression(text)| writer.string(text))
            }
            Value::TimeCodeArray(v) => self.array(v),
            Value::DurationArray(v) => self.array(v),
            Value::Matrix2dArray(v) => self.array_of(13, v),
            Value::Matrix3dArray(v) => self.array(v),
            Value::Matrix4dArray(v) => self.array(v),
            Value::QuatdArray(v) => self.array(v),
            Value::QuatfArray(v) => self.array(v),
            Value::QuathArray(v) => self.array(v),
            Value::Vec2dArray(v) => self.array(v),
            Value::Vec2fArray(v) => self.array(v),
            Value::Vec2hArray(v) => self.array(v),
            Value::Vec2iArray(v) => self.array(v),
            Value::Vec3dArray(v) => self.array(v),
            Value::Vec3fArray(v) => self.array(v),
            Value::Vec3hArray(v) => self.array(v),
            Value::Vec3iArray(v) => self.array(v),
            Value::Vec4dArray(v) => self.array(v),
            Value::Vec4fArray(v) => self.array(v),
            Value::Vec4hArray(v) => self.array(v),
            Value::Vec4iArray(v) => self.array(v),

            Value::Block => Ok(inline(kind::VALUE_BLOCK, 0)),
            // USD asks for no newer version here.
            Value::AnimationBlock => Ok(inline(kind::ANIMATION_BLOCK, 0)),
            Value::TimeSamples(v) => self.time_samples(v),
            Value::Spline(v) => self.spline(v),
            Value::ArrayEdit(v) => self.array_edit(v),

            Value::Dictionary(v) if v.is_empty() => Ok(inline(kind::DICTIONARY, 0)),
            Value::Dictionary(v) => {
                let mut out = Vec::new();
                self.dictionary(v, &mut out)?;
                self.store(kind::DICTIONARY, &out)
            }
            Value::TokenListOp(v) => self.list_op(kind::TOKEN_LIST_OP, v, Self::put_token),
            Value::StringListOp(v) => self.list_op(kind::STRING_LIST_OP, v, Self::put_string),
            Value::PathListOp(v) => self.list_op(kind::PATH_LIST_OP, v, Self::put_path),
            Value::ReferenceListOp(v) => {
                self.list_op(kind::REFERENCE_LIST_OP, v, Self::put_reference)
            }
            Value::PayloadListOp(v) => self.list_op(kind::PAYLOAD_LIST_OP, v, Self::put_payload),
            Value::IntListOp(v) => self.list_op(kind::INT_LIST_OP, v, put(i32::to_le_bytes)),
            Value::UIntListOp(v) => self.list_op(kind::UINT_LIST_OP, v, put(u32::to_le_bytes)),
            Value::Int64ListOp(v) => self.list_op(kind::INT64_LIST_OP, v, put(i64::to_le_bytes)),
            Value::UInt64ListOp(v) => self.list_op(kind::UINT64_LIST_OP, v, put(u64::to_le_bytes)),
            Value::UnregisteredListOp(v) => {
                self.list_op(kind::UNREGISTERED_LIST_OP, v, Self::put_unregistered)
            }
            Value::Payload(v) => {
                let mut out = Vec::new();
                self.put_payload(v, &mut out)?;
                self.store(kind::PAYLOAD, &out)
            }
            Value::Specifier(v) => Ok(inline(kind::SPECIFIER, *v as u32)),
            Value::Variability(v) => Ok(inline(kind::VARIABILITY, *v as u32)),
            Value::Permission(v) => Ok(inline(kind::PERMISSION, *v as u32)),
            Value::VariantSelections(v) => self.variant_selections(v),
            Value::Relocates(v) => {
                self.require(RELOCATES);
                self.list(kind::RELOCATES, v, |writer, (from, to), out| {
                    writer.put_path(from, out)?;
                    writer.put_path(to, out)
                })
            }
            Value::PathVector(v) => self.list(kind::PATH_VECTOR, v, Self::put_path),
            Value::TokenVector(v) => self.list(kind::TOKEN_VECTOR, v, Self::put_token),
            Value::StringVector(v) => self.list(kind::STRING_VECTOR, v, Self::put_string),
            Value::DoubleVector(v) => self.list(kind::DOUBLE_VECTOR, v, put(f64::to_le_bytes)),
            Value::LayerOffsetVector(v) => self.list(kind::LAYER_OFFSET_VECTOR, v, put_offset),
            Value::Unregistered(_) => {
                let mut out = Vec::new();
                self.put_unregistered(value, &mut out)?;
                self.store(kind::UNREGISTERED, &out)
            }
            Value::Stored(stored) => {
                if let Some((_, rep)) = self.stored.get(&stored.key()) {
                    return Ok(*rep);
                }
                let value = stored.load().map_err(Fault::Other)?;
                let rep = self.pack(&value)?;
                self.stored.insert(stored.key(), (stored.clone(), rep));
                Ok(rep)
            }
            Value::Placed(placed) if placed.writer == self.id => Ok(Rep(placed.rep)),
            Value::Placed(_) => Err(Fault::new("the value was placed by another writer")),
        }
    }

    /// A single value of plain data, in its field if `small` says how.
    fn scalar<T: Element>(&mut self, kind: u8, components: &[T], small: Option<u32>) -> Packed {
        match small {
            Some(bits) => Ok(inline(kind, bits)),
            None => self.store(kind, &bytes_of(components)),
        }
    }

    /// Writes the bytes of a value that has no place in its field, unless they were written.
    fn store(&mut self, kind: u8, bytes: &[u8]) -> Packed {
        self.store_tagged(kind, 0, bytes)
    }

    fn store_tagged(&mut self, kind: u8, tag: u8, bytes: &[u8]) -> Packed {
        let hash = self.hash.of(kind | tag, bytes);
        self.weight += bytes.len() as u64;
        if let Some(rep) = self.values.get(&hash) {
            return Ok(*rep);
        }
        let rep = Rep::new(kind, self.out.position);
        self.out.write(bytes)?;
        self.values.insert(hash, rep);
        Ok(rep)
    }

    pub(super) fn array<T: Element>(&mut self, array: &[T]) -> Packed {
        match T::KIND {
            56 => self.require(TIME_CODES),
            61 => self.require(DURATIONS),
            _ => {}
        }
        self.array_of(T::KIND, array)
    }

    fn array_of<T: Element>(&mut self, kind: u8, array: &[T]) -> Packed {
        self.store_array(kind, array.len(), &bytes_of(array), || T::compress(array))
    }

    /// Writes an array's number of elements and their bytes, which begin at a multiple of 8, as
    /// those who map files expect.
    fn store_array(
        &mut self,
        kind: u8,
        count: usize,
        bytes: &[u8],
        compress: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Packed {
        if count == 0 {
            return Ok(Rep::new(kind, 0).array());
        }
        let hash = self.hash.of(kind | ARRAY, bytes);
        self.weight += bytes.len() as u64;
        if let Some(rep) = self.values.get(&hash) {
            return Ok(*rep);
        }
        self.out.align()?;
        let mut rep = Rep::new(kind, self.out.position).array();
        self.out.write(&(count as u64).to_le_bytes())?;
        match compress() {
            Some(compressed) => {
                rep = rep.compressed();
                self.out.write(&compressed)?;
            }
            None => self.out.write(bytes)?,
        }
        self.values.insert(hash, rep);
        Ok(rep)
    }

    /// An array of texts: their indices.
    fn texts<T>(
        &mut self,
        kind: u8,
        texts: &[T],
        index: impl Fn(&mut Self, &T) -> Packed<u32>,
    ) -> Packed {
        let indices: Vec<u32> = texts
            .iter()
            .map(|text| index(self, text))
            .collect::<Packed<_>>()?;
        self.store_array(kind, texts.len(), &bytes_of(&indices), || None)
    }

    /// A list's number of items, and these.
    fn list<T>(
        &mut self,
        kind: u8,
        items: &[T],
        put: impl Fn(&mut Self, &T, &mut Vec<u8>) -> Packed<()>,
    ) -> Packed {
        let mut out = Vec::new();
        self.put_list(items, put, &mut out)?;
        self.store(kind, &out)
    }

    fn put_list<T>(
        &mut self,
        items: &[T],
        put: impl Fn(&mut Self, &T, &mut Vec<u8>) -> Packed<()>,
        out: &mut Vec<u8>,
    ) -> Packed<()> {
        out.extend((items.len() as u64).to_le_bytes());
        items.iter().try_for_each(|item| put(self, item, out))
    }

    fn list_op<T>(
        &mut self,
        kind: u8,
        op: &ListOp<T>,
        put: impl Fn(&mut Self, &T, &mut Vec<u8>) -> Packed<()>,
    ) -> Packed {
        // In the order of the file, with their bits in the header.
        let lists = [
            (&op.explicit_items, 1 << 1),
            (&op.added, 1 << 2),
            (&op.prepended, 1 << 5),
            (&op.appended, 1 << 6),
            (&op.deleted, 1 << 3),
            (&op.ordered, 1 << 4),
        ];
        let mut out = vec![u8::from(op.explicit)];
        for (list, bit) in lists {
            if !list.is_empty() {
                out[0] |= bit;
                self.put_list(list, &put, &mut out)?;
            }
        }
        self.store(kind, &out)
    }

    fn time_samples(&mut self, samples: &TimeSamples) -> Packed {
        let times = self.list(kind::DOUBLE_VECTOR, samples.times(), put(f64::to_le_bytes))?;
        let mut out = Vec::with_capacity(32 + 8 * samples.len());
        out.extend(NO_GAP.to_le_bytes());
        out.extend(times.0.to_le_bytes());
        out.extend(NO_GAP.to_le_bytes());
        out.extend((samples.len() as u64).to_le_bytes());
        for value in samples.values().iter() {
            out.extend(self.pack(value)?.0.to_le_bytes());
        }
        self.store(kind::TIME_SAMPLES, &out)
    }

    fn spline(&mut self, spline: &Spline) -> Packed {
        let (major, minor) = spline.crate_version();
        self.require(Version(major, minor, 0));
        let (bytes, custom_data) = spline.to_crate();
        let mut out = prefixed(&bytes);
        out.extend((custom_data.len() as u64).to_le_bytes());
        for (time, dictionary) in custom_data {
            out.extend(time.to_le_bytes());
            self.dictionary(dictionary, &mut out)?;
        }
        self.store(kind::SPLINE, &out)
    }

    /// The literals and the instructions, which are arrays.
    fn array_edit(&mut self, edit: &ArrayEdit) -> Packed {
        self.require(ARRAY_EDITS);
        let literals = self.pack(&edit.literals)?;
        if !literals.is_array() {
            return Err(Fault::new("an edit of an array needs an array of literals"));
        }
        if edit.is_identity() {
            return Ok(Rep::new(literals.kind(), 0).array_edit());
        }
        let instructions = self.array(&edit.to_crate())?;
        let mut out = literals.0.to_le_bytes().to_vec();
        out.extend(instructions.0.to_le_bytes());
        // It is no whole array.
        out.push(0);
        let rep = self.store_tagged(literals.kind(), EDIT, &out)?;
        Ok(rep.array_edit())
    }

    fn dictionary(&mut self, dictionary: &Dictionary, out: &mut Vec<u8>) -> Packed<()> {
        out.extend((dictionary.len() as u64).to_le_bytes());
        for (key, value) in dictionary {
            self.put_string(key, out)?;
            self.put_value(value, out)?;
        }
        Ok(())
    }

    /// A value in a value, which is written first.
    fn put_value(&mut self, value: &Value, out: &mut Vec<u8>) -> Packed<()> {
        let rep = self.pack(value)?;
        out.extend(NO_GAP.to_le_bytes());
        out.extend(rep.0.to_le_bytes());
        Ok(())
    }

    fn put_unregistered(&mut self, value: &Value, out: &mut Vec<u8>) -> Packed<()> {
        let inner = match value {
            Value::Unregistered(inner) => inner,
            value => value,
        };
        match inner.load().map_err(Fault::Other)? {
            inner @ (Value::String(_) | Value::Dictionary(_) | Value::UnregisteredListOp(_)) => {
                self.put_value(&inner, out)
            }
            _ => Err(Fault::new(
                "a value of an unknown field can only be a string, a dictionary or a list edit",
            )),
        }
    }

    fn variant_selections(&mut self, selections: &BTreeMap<SmolStr, SmolStr>) -> Packed {
        let mut out = (selections.len() as u64).to_le_bytes().to_vec();
        for (set, variant) in selections {
            self.put_string(set, &mut out)?;
            self.put_string(variant, &mut out)?;
        }
        self.store(kind::VARIANT_SELECTION_MAP, &out)
    }

    fn put_reference(&mut self, reference: &Reference, out: &mut Vec<u8>) -> Packed<()> {
        self.put_string(&reference.asset, out)?;
        self.put_path(&reference.prim, out)?;
        put_offset(self, &reference.offset, out)?;
        self.dictionary(&reference.custom_data, out)
    }

    fn put_payload(&mut self, payload: &Payload, out: &mut Vec<u8>) -> Packed<()> {
        self.put_string(&payload.asset, out)?;
        self.put_path(&payload.prim, out)?;
        put_offset(self, &payload.offset, out)
    }

    fn put_token(&mut self, token: &SmolStr, out: &mut Vec<u8>) -> Packed<()> {
        out.extend(self.token(token)?.to_le_bytes());
        Ok(())
    }

    fn put_string(&mut self, text: &SmolStr, out: &mut Vec<u8>) -> Packed<()> {
        out.extend(self.string(text)?.to_le_bytes());
        Ok(())
    }

    fn put_path(&mut self, path: &Path, out: &mut Vec<u8>) -> Packed<()> {
        let index = if path.is_absolute() || path.is_empty() {
            self.path(path)?
        } else {
            // Crate files have no relative paths. USD makes them absolute, without the prim's variants, when it reads
            // the text.
            self.anchored = true;
            let absolute = path.absolute(&self.anchor);
            if absolute.is_empty() {
                return Err(Fault::new(format!("'{path}' leads to no prim from here")));
            }
            self.path(&absolute)?
        };
        out.extend(index.to_le_bytes());
        Ok(())
    }
}

const TIME_CODES: Version = Version(0, 9, 0);
const PATH_EXPRESSIONS: Version = Version(0, 10, 0);
const RELOCATES: Version = Version(0, 11, 0);
const ARRAY_EDITS: Version = Version(0, 14, 0);
const DURATIONS: Version = Version(0, 16, 0);

fn put_offset<W: Write>(
    _: &mut CrateWriter<W>,
    offset: &LayerOffset,
    out: &mut Vec<u8>,
) -> Packed<()> {
    out.extend(offset.offset.to_le_bytes());
    out.extend(offset.scale.to_le_bytes());
    Ok(())
}

/// Appends numbers.
fn put<S, T: Copy, const N: usize>(
    bytes: impl Fn(T) -> [u8; N],
) -> impl Fn(&mut S, &T, &mut Vec<u8>) -> Packed<()> {
    move |_, number, out| {
        out.extend(bytes(*number));
        Ok(())
    }
}
