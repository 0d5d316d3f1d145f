//! Reads values of a known type, numbers straight into their vectors.

use half::f16;
use smol_str::SmolStr;

use super::MAX_NESTING;
use super::lexer::{Lexer, Number, Parsed, fail_at};
use super::types::Scalar;
use crate::value::{AssetPath, Duration, PathExpression, Quat, TimeCode, Value, for_each_element};

/// One element of a type.
pub(super) trait Element: Sized {
    fn read(lexer: &mut Lexer, kind: Scalar) -> Parsed<Self>;
}

/// A number; `inf` and `nan` may be quoted.
fn number(lexer: &mut Lexer) -> Parsed<Number> {
    if let Some(number) = lexer.number()? {
        return Ok(number);
    }
    let start = lexer.pos;
    let text = lexer.string()?;
    Ok(Number::Double(match text.as_deref() {
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some("nan") => f64::NAN,
        _ => {
            lexer.pos = start;
            return lexer.expected("a number");
        }
    }))
}

impl Element for bool {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        if let Some(number) = lexer.number()? {
            return Ok(number.to_f64() != 0.0);
        }
        let start = lexer.pos;
        let word = match lexer.string()? {
            Some(text) => text,
            None => SmolStr::new(lexer.identifier().unwrap_or("")),
        };
        match word.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Ok(true),
            "false" | "no" | "0" => Ok(false),
            _ => {
                lexer.pos = start;
                lexer.expected("true or false")
            }
        }
    }
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl Element for $int {
            #[inline]
            fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
                let start = lexer.pos;
                let Some(number) = lexer.number()? else {
                    return lexer.expected("an integer");
                };
                match number.to_int() {
                    Some(value) => Ok(value),
                    None => fail_at(start, format!(
                        "expected a number from {} to {}, found {}",
                        <$int>::MIN, <$int>::MAX, lexer.since(start)
                    )),
                }
            }
        }
    )*};
}
integers!(u8, i32, u32, i64, u64);

impl Element for f16 {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        Ok(Self::from_f32(number(lexer)?.to_f32()))
    }
}

impl Element for f32 {
    #[inline]
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        Ok(number(lexer)?.to_f32())
    }
}

impl Element for f64 {
    #[inline]
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        Ok(number(lexer)?.to_f64())
    }
}

impl Element for TimeCode {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        Ok(Self(number(lexer)?.to_f64()))
    }
}

impl Element for Duration {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        Ok(Self(number(lexer)?.to_f64()))
    }
}

impl Element for SmolStr {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        lexer.expect_string()
    }
}

impl Element for AssetPath {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        match lexer.string()? {
            Some(path) => Ok(Self(path)),
            None => Ok(Self(lexer.expect_asset()?)),
        }
    }
}

impl Element for PathExpression {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        Ok(Self(lexer.expect_string()?))
    }
}

/// `N` elements in parentheses.
#[inline]
fn tuple<T: Element + Copy + Default, const N: usize>(
    lexer: &mut Lexer,
    kind: Scalar,
) -> Parsed<[T; N]> {
    let start = lexer.pos;
    if !lexer.eat(b'(') {
        return lexer.expected(&format!("'(' and {N} numbers"));
    }
    let mut out = [T::default(); N];
    for (i, item) in out.iter_mut().enumerate() {
        lexer.space();
        *item = T::read(lexer, kind)?;
        lexer.space();
        if !lexer.eat(b',') && i + 1 < N {
            return fail_at(start, format!("expected {N} numbers, found {}", i + 1));
        }
    }
    lexer.space();
    match lexer.eat(b')') {
        true => Ok(out),
        false => lexer.expected(&format!("')' after {N} numbers")),
    }
}

macro_rules! vectors {
    ($($number:ty: $($len:literal)*),*) => {$($(
        impl Element for [$number; $len] {
            #[inline]
            fn read(lexer: &mut Lexer, kind: Scalar) -> Parsed<Self> {
                tuple(lexer, kind)
            }
        }
    )*)*};
}
vectors!(i32: 2 3 4, f16: 2 3 4, f32: 2 3 4);
vectors!(f64: 2 3);

/// Rows of a matrix, each in parentheses.
fn rows<const N: usize, const ALL: usize>(lexer: &mut Lexer) -> Parsed<[f64; ALL]> {
    let mut out = [0.0; ALL];
    lexer.expect(b'(')?;
    for row in 0..N {
        lexer.space();
        out[row * N..][..N].copy_from_slice(&tuple::<f64, N>(lexer, Scalar::Double)?);
        lexer.space();
        if !lexer.eat(b',') && row + 1 < N {
            return lexer.expected(&format!("',' and {} more rows", N - row - 1));
        }
    }
    lexer.space();
    lexer.expect(b')')?;
    Ok(out)
}

impl Element for [f64; 4] {
    /// Two types are of this Rust type.
    fn read(lexer: &mut Lexer, kind: Scalar) -> Parsed<Self> {
        match kind {
            Scalar::Matrix2d => rows::<2, 4>(lexer),
            _ => tuple(lexer, kind),
        }
    }
}

impl Element for [f64; 9] {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        rows::<3, 9>(lexer)
    }
}

impl Element for [f64; 16] {
    fn read(lexer: &mut Lexer, _: Scalar) -> Parsed<Self> {
        rows::<4, 16>(lexer)
    }
}

impl<T: Element + Copy + Default> Element for Quat<T> {
    /// The real part is first in the text and last in memory.
    fn read(lexer: &mut Lexer, kind: Scalar) -> Parsed<Self> {
        let [w, x, y, z] = tuple(lexer, kind)?;
        Ok(Self([x, y, z, w]))
    }
}

/// The elements of an array. Brackets in brackets are one array, as in usd-core, if they are all as
/// long.
fn elements<T>(lexer: &mut Lexer, read: impl Fn(&mut Lexer) -> Parsed<T>) -> Parsed<Vec<T>> {
    let start = lexer.pos;
    if !lexer.eat(b'[') {
        return lexer.expected("'[' of an array");
    }
    let mut out = Vec::new();
    lexer.space();
    if lexer.eat(b']') {
        return Ok(out);
    }
    // For each open bracket, how many items it has; and how many brackets of each depth have.
    let mut open = vec![0usize];
    let mut sizes: Vec<Option<usize>> = vec![None];
    loop {
        lexer.space();
        match lexer.peek() {
            b'[' => {
                if open.len() >= MAX_NESTING {
                    return lexer.fail(format!("more than {MAX_NESTING} brackets in brackets"));
                }
                lexer.pos += 1;
                open.push(0);
                if sizes.len() < open.len() {
                    if !out.is_empty() {
                        return fail_at(start, "the lists of this array are not of one shape");
                    }
                    sizes.push(None);
                }
                continue;
            }
            b']' if open.last().is_some_and(|n| *n > 0) => {}
            _ => {
                if open.len() != sizes.len() {
                    return fail_at(start, "the lists of this array are not of one shape");
                }
                out.push(read(lexer)?);
                if let Some(count) = open.last_mut() {
                    *count += 1;
                }
                lexer.space();
                if lexer.eat(b',') {
                    continue;
                }
            }
        }
        // One or more lists end.
        loop {
            lexer.space();
            if !lexer.eat(b']') {
                return lexer.expected("',' or ']'");
            }
            let count = open.pop().unwrap_or(0);
            let size = sizes[open.len()].get_or_insert(count);
            if *size != count {
                return fail_at(start, "the lists of this array are not of one shape");
            }
            let Some(outer) = open.last_mut() else {
                return Ok(out);
            };
            *outer += 1;
            lexer.space();
            if lexer.eat(b',') {
                break;
            }
        }
    }
}

macro_rules! readers {
    ($(($one:ident, $array:ident, $rust:ty, $number:literal, $name:literal),)*) => {
        /// One value of a type.
        pub(super) fn scalar(lexer: &mut Lexer, kind: Scalar) -> Parsed<Value> {
            Ok(match kind {
                $(Scalar::$one => Value::$one(<$rust>::read(lexer, kind)?.into()),)*
            })
        }

        /// An array of a type.
        pub(super) fn array(lexer: &mut Lexer, kind: Scalar) -> Parsed<Value> {
            Ok(match kind {
                $(Scalar::$one => {
                    Value::$array(elements(lexer, |l| <$rust>::read(l, kind))?.into())
                })*
            })
        }
    };
}
for_each_element!(readers);

/// The elements of an array, in a vector.
pub(super) fn vector<T: Element>(lexer: &mut Lexer, kind: Scalar) -> Parsed<Vec<T>> {
    elements(lexer, |lexer| T::read(lexer, kind))
}
