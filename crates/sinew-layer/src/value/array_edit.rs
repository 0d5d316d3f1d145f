//! Sparse edits of arrays, such as USD's `VtArrayEdit`.
//!
//! # Text
//!
//! Layers with array edits have `#usda 1.2` or later. An edit stands where an array can stand:
//!
//! ```text
//! edit     = "edit" "[" [ op { ";" op } [ ";" ] ] "]"
//! op       = "write" source "to" index
//!          | "insert" source "at" index
//!          | "prepend" source                 (the same as insert at [0])
//!          | "append" source                  (the same as insert at the end)
//!          | "erase" index
//!          | "minsize" size [ "fill" value ]
//!          | "resize" size [ "fill" value ]
//!          | "maxsize" size
//! source   = value | index
//! index    = "[" integer "]"                  (negative ones count from the end)
//! size     = integer that is not negative
//! ```
//!
//! `value` is an element as it stands in an array of the attribute's type. Spaces, line breaks and comments may
//! stand between all of them. Keywords have lower case. `edit []` changes nothing.
//!
//! usd-core writes an edit in one line, with `; ` between operations, and uses `prepend` for insertions at [0].
//!
//! # Crate files
//!
//! From version 0.14 on. The rep of the value has the bit "array edit", not the bit "array", and the type of the
//! elements. It points to two more reps and a byte: the array of literals, the array of instructions (int64),
//! and 1 if the literals are no edit but the whole array. A rep without an offset changes nothing.
//! [`ArrayEdit::to_crate`] and [`ArrayEdit::from_crate`] translate instructions.
//!
//! # Value resolution
//!
//! These are facts about usd-core 26.11, found by experiment.
//!
//! * Edits of defaults and of time samples are collected from the strongest spec on, until one has another value. The
//!   edits then change that value. If no spec has one, they change the schema's fallback or else an empty array.
//! * At a time, an edit in a default also changes time samples of weaker specs. In one spec the samples hide
//!   the default, as they do without edits.
//! * Times of samples are those of all specs that take part. Between samples, arrays are interpolated after
//!   they are edited.
//! * Over a default of `None` the attribute's default is `None`; at a time the edits change an empty array.
//! * `AnimationBlock` below an edit hides weaker samples, and the search goes on with weaker defaults.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Array, Value, for_each_element};

/// An array with more bytes than this is not made by edits: [`EditOp::Resize`] and [`EditOp::MinSize`] with
/// such sizes do nothing.
const MAX_BYTES: u64 = 1 << 31;

/// How many elements edits may move in all. A file of some kilobytes can ask for any number of insertions in the
/// middle of large arrays.
const MAX_MOVES: u64 = 1 << 33;

/// Edits of a weaker layer's array, in the order in which they apply.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayEdit {
    /// The values that edits insert: an array of the type that is edited.
    pub literals: Value,
    pub ops: Vec<EditOp>,
}

/// One edit. Edits whose indices are outside of the array do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditOp {
    /// Replaces the element at an index.
    Write(EditSource, i64),
    /// Inserts before the element at an index, or with none at the end. The array's length is the end too.
    Insert(EditSource, Option<i64>),
    /// Removes the element at an index.
    Erase(i64),
    /// Makes a shorter array this long. New elements are the literal with this index, or zero.
    MinSize(u64, Option<usize>),
    /// Makes the array this long.
    Resize(u64, Option<usize>),
    /// Cuts a longer array.
    MaxSize(u64),
}

/// What an edit writes or inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditSource {
    /// The literal with this index.
    Literal(usize),
    /// A copy of the array's element at this index. Negative indices count from the end.
    Element(i64),
}

/// How crate files write "the end".
const END: i64 = i64::MIN;

impl ArrayEdit {
    /// Whether this changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.ops.is_empty()
    }

    /// The weaker value with these edits. Over other edits the result is an edit too. A value that is no array of
    /// this type counts as an empty array.
    #[must_use]
    pub fn apply(&self, weaker: &Value) -> Value {
        if let Value::ArrayEdit(weaker) = weaker {
            return match self.over(weaker) {
                Some(edit) => Value::ArrayEdit(Arc::new(edit)),
                None => self.apply(&Value::Block),
            };
        }
        macro_rules! apply {
            ($(($scalar:ident, $array:ident, $type:ty, $number:expr, $name:expr),)*) => {
                match (&self.literals, weaker) {
                    $((Value::$array(literals), Value::$array(weaker)) => {
                        Value::$array(edited(&self.ops, literals, weaker.iter().cloned().collect()).into())
                    }
                    (Value::$array(literals), _) => {
                        Value::$array(edited(&self.ops, literals, VecDeque::new()).into())
                    })*
                    _ => weaker.clone(),
                }
            };
        }
        for_each_element!(apply)
    }

    /// First the weaker edits, then these, as one. None if their elements have other types.
    #[must_use]
    pub fn over(&self, weaker: &Self) -> Option<Self> {
        let first;
        macro_rules! join {
            ($(($scalar:ident, $array:ident, $type:ty, $number:expr, $name:expr),)*) => {
                match (&weaker.literals, &self.literals) {
                    $((Value::$array(a), Value::$array(b)) => {
                        first = a.len();
                        Value::$array(a.iter().chain(b.iter()).cloned().collect())
                    })*
                    _ => return None,
                }
            };
        }
        let literals = for_each_element!(join);
        let source = |source| match source {
            EditSource::Literal(index) => EditSource::Literal(index + first),
            element => element,
        };
        let moved = self.ops.iter().map(|op| match *op {
            EditOp::Write(from, to) => EditOp::Write(source(from), to),
            EditOp::Insert(from, at) => EditOp::Insert(source(from), at),
            EditOp::MinSize(size, fill) => EditOp::MinSize(size, fill.map(|i| i + first)),
            EditOp::Resize(size, fill) => EditOp::Resize(size, fill.map(|i| i + first)),
            other => other,
        });
        Some(Self {
            literals,
            ops: weaker.ops.iter().copied().chain(moved).collect(),
        })
    }

    /// The instructions as crate files have them: equal operations in a row are one number, the kind in its
    /// highest byte and how many follow in the others, and then one or two numbers for each.
    #[must_use]
    pub fn to_crate(&self) -> Vec<i64> {
        let mut out: Vec<i64> = Vec::new();
        // Where the number of the current kind stands.
        let mut head: Option<(usize, i64)> = None;
        let index = |i: usize| i64::try_from(i).unwrap_or(i64::MAX);
        let size = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        for op in &self.ops {
            let (kind, args) = match *op {
                EditOp::Write(EditSource::Literal(i), to) => (0, [Some(index(i)), Some(to)]),
                EditOp::Write(EditSource::Element(i), to) => (1, [Some(i), Some(to)]),
                EditOp::Insert(EditSource::Literal(i), at) => {
                    (2, [Some(index(i)), Some(at.unwrap_or(END))])
                }
                EditOp::Insert(EditSource::Element(i), at) => {
                    (3, [Some(i), Some(at.unwrap_or(END))])
                }
                EditOp::Erase(i) => (4, [Some(i), None]),
                EditOp::MinSize(n, None) => (5, [Some(size(n)), None]),
                EditOp::MinSize(n, Some(fill)) => (6, [Some(size(n)), Some(index(fill))]),
                EditOp::Resize(n, None) => (7, [Some(size(n)), None]),
                EditOp::Resize(n, Some(fill)) => (8, [Some(size(n)), Some(index(fill))]),
                EditOp::MaxSize(n) => (9, [Some(size(n)), None]),
            };
            match head.filter(|(_, last)| *last == kind) {
                Some((at, _)) => out[at] += 1,
                None => {
                    head = Some((out.len(), kind));
                    out.push(kind << 56 | 1);
                }
            }
            out.extend(args.into_iter().flatten());
        }
        out
    }

    /// An edit from the two arrays of a crate file.
    ///
    /// # Errors
    /// What was expected and what was found, if `literals` is no array, instructions are not known or not complete, or
    /// they use literals that are not there.
    pub fn from_crate(literals: Value, instructions: &[i64]) -> Result<Self, String> {
        macro_rules! length {
            ($(($scalar:ident, $array:ident, $type:ty, $number:expr, $name:expr),)*) => {
                match &literals {
                    $(Value::$array(array) => array.len(),)*
                    _ => return Err("an array of literals expected, another value found".to_owned()),
                }
            };
        }
        let count = for_each_element!(length);
        let literal = |i: i64| {
            let index = usize::try_from(i).ok().filter(|i| *i < count);
            index.ok_or_else(|| format!("one of {count} literals expected, literal {i} found"))
        };
        let size = |n: i64| {
            u64::try_from(n).map_err(|_| format!("a length of an array expected, {n} found"))
        };
        let mut ops = Vec::new();
        let mut rest = instructions;
        while let Some((head, after)) = rest.split_first() {
            let (kind, repeat) = (head >> 56, head & ((1 << 56) - 1));
            let arity = match kind {
                0..=3 | 6 | 8 => 2,
                4 | 5 | 7 | 9 => 1,
                _ => return Err(format!("an edit of a kind 0 to 9 expected, {kind} found")),
            };
            if repeat > (after.len() / arity) as i64 {
                return Err(format!(
                    "{repeat} edits expected, {} numbers found",
                    after.len()
                ));
            }
            let (all, after) = after.split_at(repeat as usize * arity);
            rest = after;
            for args in all.chunks_exact(arity) {
                let (a, b) = (args[0], args.last().copied().unwrap_or(0));
                let at = (b != END).then_some(b);
                ops.push(match kind {
                    0 => EditOp::Write(EditSource::Literal(literal(a)?), b),
                    1 => EditOp::Write(EditSource::Element(a), b),
                    2 => EditOp::Insert(EditSource::Literal(literal(a)?), at),
                    3 => EditOp::Insert(EditSource::Element(a), at),
                    4 => EditOp::Erase(a),
                    5 => EditOp::MinSize(size(a)?, None),
                    6 => EditOp::MinSize(size(a)?, Some(literal(b)?)),
                    7 => EditOp::Resize(size(a)?, None),
                    8 => EditOp::Resize(size(a)?, Some(literal(b)?)),
                    _ => EditOp::MaxSize(size(a)?),
                });
            }
        }
        if !ops.is_empty() {
            return Ok(Self { literals, ops });
        }
        // An edit that changes nothing needs no literals, and no file keeps them.
        macro_rules! none {
            ($(($scalar:ident, $array:ident, $type:ty, $number:expr, $name:expr),)*) => {
                match literals {
                    $(Value::$array(_) => Value::$array(Array::default()),)*
                    other => other,
                }
            };
        }
        let literals = for_each_element!(none);
        Ok(Self { literals, ops })
    }
}

/// An array after all edits.
fn edited<T: Clone + Zero>(ops: &[EditOp], literals: &Array<T>, mut array: VecDeque<T>) -> Vec<T> {
    let mut moves = MAX_MOVES;
    for op in ops {
        // An index from the front, if there is such an element.
        let element = |i: i64, array: &VecDeque<T>| {
            let len = i64::try_from(array.len()).unwrap_or(i64::MAX);
            let i = if i < 0 { i.checked_add(len)? } else { i };
            (0..len).contains(&i).then_some(i as usize)
        };
        let value = |source, array: &VecDeque<T>| match source {
            EditSource::Literal(i) => literals.get(i).cloned(),
            EditSource::Element(i) => element(i, array).map(|i| array[i].clone()),
        };
        let fill = |fill: Option<usize>| match fill {
            Some(i) => literals.get(i).cloned(),
            None => Some(T::zero()),
        };
        let fits = |size: u64| size.saturating_mul(size_of::<T>() as u64) <= MAX_BYTES;
        // The shorter side moves.
        let mut moved = |at: usize, len: usize| {
            let left = moves.checked_sub(at.min(len - at) as u64);
            moves = left.unwrap_or(moves);
            left.is_some()
        };
        match *op {
            EditOp::Write(from, to) => {
                if let (Some(value), Some(to)) = (value(from, &array), element(to, &array)) {
                    array[to] = value;
                }
            }
            EditOp::Insert(from, at) => {
                let len = array.len();
                let at = match at {
                    None => Some(len),
                    Some(at) if usize::try_from(at) == Ok(len) => Some(len),
                    Some(at) => element(at, &array),
                };
                if let (Some(value), Some(at)) = (value(from, &array), at)
                    && fits(len as u64 + 1)
                    && moved(at, len)
                {
                    array.insert(at, value);
                }
            }
            EditOp::Erase(at) => {
                if let Some(at) = element(at, &array)
                    && moved(at, array.len())
                {
                    array.remove(at);
                }
            }
            EditOp::MinSize(size, with) => {
                if let Some(with) = fill(with).filter(|_| fits(size) && size > array.len() as u64) {
                    array.resize(size as usize, with);
                }
            }
            EditOp::Resize(size, with) => {
                if let Some(with) = fill(with).filter(|_| fits(size)) {
                    array.resize(size as usize, with);
                }
            }
            EditOp::MaxSize(size) => array.truncate(usize::try_from(size).unwrap_or(usize::MAX)),
        }
    }
    array.into()
}

/// The value of elements that edits add without one: zero in all numbers, as in C++.
trait Zero {
    fn zero() -> Self;
}

impl<T: Default + Copy, const N: usize> Zero for [T; N] {
    fn zero() -> Self {
        [T::default(); N]
    }
}

macro_rules! zero {
    ($($type:ty),*) => {
        $(impl Zero for $type {
            fn zero() -> Self {
                Self::default()
            }
        })*
    };
}
zero!(
    bool,
    u8,
    i32,
    u32,
    i64,
    u64,
    half::f16,
    f32,
    f64,
    smol_str::SmolStr,
    super::AssetPath,
    super::TimeCode,
    super::Duration,
    super::PathExpression,
    super::Quat<half::f16>,
    super::Quat<f32>,
    super::Quat<f64>
);

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(numbers: &[f32]) -> Value {
        Value::FloatArray(numbers.to_vec().into())
    }

    /// An edit in the words of usda text.
    fn edit(ops: &str) -> ArrayEdit {
        let text = format!("#usda 1.2\nover \"A\"\n{{\nfloat[] a = edit [{ops}]\n}}\n");
        let layer = crate::usda::parse("edit", text.as_bytes()).unwrap();
        let path = crate::Path::parse("/A.a").unwrap();
        match layer.get(&path, "default").unwrap() {
            Some(Value::ArrayEdit(edit)) => (*edit).clone(),
            other => panic!("{ops}: {other:?}"),
        }
    }

    #[test]
    fn an_edit_that_changes_nothing_has_no_literals() {
        let none = ArrayEdit::from_crate(floats(&[1.0]), &[]).unwrap();
        assert_eq!(none, edit(""));
    }

    /// Literals and instructions as usd-core 26.11 writes them, and its result over [1, 2, 3].
    #[test]
    fn edits_are_those_of_usd_core() {
        let all = edit(
            "write 1.5 to [0]; write [0] to [-1]; insert 2.5 at [1]; insert [0] at [2]; prepend 9; \
             prepend [-1]; append 7; append [0]; erase [3]; minsize 12; minsize 14 fill 5; resize 15; \
             resize 16 fill 6; maxsize 10",
        );
        assert_eq!(all.literals, floats(&[1.5, 2.5, 9.0, 7.0, 5.0, 6.0]));
        let result = all.apply(&floats(&[1.0, 2.0, 3.0]));
        let expected = [1.5, 9.0, 1.5, 1.5, 2.0, 1.5, 7.0, 1.5, 0.0, 0.0];
        assert_eq!(result, floats(&expected));
        let instructions = all.to_crate();
        assert_eq!(instructions.len(), 38);
        assert_eq!(instructions[..3], [1, 0, 0]);
        let read = ArrayEdit::from_crate(all.literals.clone(), &instructions);
        assert_eq!(read, Ok(all));

        for (ops, expected) in [
            ("write 4 to [7]", &[1.0, 2.0, 3.0][..]),
            ("erase [-1]", &[1.0, 2.0]),
            ("erase [5]", &[1.0, 2.0, 3.0]),
            ("insert [-1] at [-1]", &[1.0, 2.0, 3.0, 3.0]),
            ("insert 4 at [-1]", &[1.0, 2.0, 4.0, 3.0]),
            ("insert 4 at [3]", &[1.0, 2.0, 3.0, 4.0]),
            ("insert 4 at [4]", &[1.0, 2.0, 3.0]),
            ("write [0] to [-3]", &[1.0, 2.0, 3.0]),
            ("minsize 5 fill 4", &[1.0, 2.0, 3.0, 4.0, 4.0]),
            ("maxsize 1", &[1.0]),
            ("resize 0", &[]),
        ] {
            let result = edit(ops).apply(&floats(&[1.0, 2.0, 3.0]));
            assert_eq!(result, floats(expected), "{ops}");
        }
        // Numbers that text does not have.
        for op in [
            EditOp::Resize(u64::MAX, None),
            EditOp::Insert(EditSource::Element(i64::MIN), None),
        ] {
            let edit = ArrayEdit {
                literals: floats(&[4.0]),
                ops: vec![op],
            };
            assert_eq!(edit.apply(&floats(&[1.0])), floats(&[1.0]), "{op:?}");
        }
    }

    #[test]
    fn edits_over_edits_are_edits() {
        let weak = edit("append 1; append 2");
        let strong = edit("resize 3 fill 5; write 8 to [0]");
        let both = strong.apply(&Value::ArrayEdit(Arc::new(weak)));
        let Value::ArrayEdit(both) = both else {
            panic!("{both:?}");
        };
        assert_eq!(both.apply(&Value::Block), floats(&[8.0, 2.0, 5.0]));
        // The two insertions share their first number.
        assert_eq!(both.to_crate()[0], 2 << 56 | 2);
        let read = ArrayEdit::from_crate(both.literals.clone(), &both.to_crate());
        assert_eq!(read.as_ref(), Ok(&*both));
    }

    #[test]
    fn broken_instructions_are_errors() {
        for numbers in [
            &[1 << 56 | 1][..],
            &[10 << 56 | 1, 0],
            &[-1, 0],
            &[1, 3, 0],
            &[1, -1, 0],
            &[7 << 56 | 1, -4],
            &[4 << 56 | 0xff_ffff_ffff_ffff, 0, 0],
        ] {
            assert!(
                ArrayEdit::from_crate(floats(&[1.0]), numbers).is_err(),
                "{numbers:?}"
            );
        }
        assert!(ArrayEdit::from_crate(Value::Int(1), &[]).is_err());
        let nothing = ArrayEdit::from_crate(floats(&[]), &[]).unwrap();
        assert!(nothing.is_identity());
        assert_eq!(nothing.apply(&floats(&[2.0])), floats(&[2.0]));
    }
}
