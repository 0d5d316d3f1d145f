//! Writes values.

use std::io::Write;
use std::path::PathBuf;

use half::f16;
use smol_str::SmolStr;

use super::numbers;
use super::strings::{asset_text, quoted};
use super::types::Scalar;
use crate::error::{Error, Result};
use crate::path::is_identifier;
use crate::value::{
    Array, AssetPath, Dictionary, Duration, PathExpression, Quat, TimeCode, Value, for_each_element,
};

/// Text that goes to a writer in pieces, so that memory stays small.
pub(super) struct Output<'a> {
    pub text: String,
    out: Option<&'a mut dyn Write>,
    /// How messages call the file.
    name: String,
}

/// How much text is collected before it is written.
const PIECE: usize = 1 << 16;

impl<'a> Output<'a> {
    pub fn new(name: &str, out: &'a mut dyn Write) -> Self {
        Self {
            text: String::with_capacity(PIECE + PIECE / 4),
            out: Some(out),
            name: name.to_owned(),
        }
    }

    /// Text that is only collected.
    pub fn collect() -> Self {
        Self {
            text: String::new(),
            out: None,
            name: String::new(),
        }
    }

    /// Writes the text out if there is enough of it.
    pub fn flush_full(&mut self) -> Result<()> {
        match self.text.len() < PIECE {
            true => Ok(()),
            false => self.flush(),
        }
    }

    pub fn flush(&mut self) -> Result<()> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        out.write_all(self.text.as_bytes())
            .map_err(|source| Error::Io {
                file: PathBuf::from(&self.name),
                source,
            })?;
        self.text.clear();
        Ok(())
    }

    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub fn indent(&mut self, level: usize) {
        for _ in 0..level {
            self.text.push_str("    ");
        }
    }
}

/// The text of one element.
pub(super) trait Text {
    fn text(&self, kind: Scalar, out: &mut String);
}

impl Text for bool {
    fn text(&self, _: Scalar, out: &mut String) {
        out.push(if *self { '1' } else { '0' });
    }
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl Text for $int {
            fn text(&self, _: Scalar, out: &mut String) {
                numbers::integer(*self, out);
            }
        }
    )*};
}
integers!(u8, i32, u32, i64, u64);

impl Text for f16 {
    fn text(&self, _: Scalar, out: &mut String) {
        numbers::half(*self, out);
    }
}

impl Text for f32 {
    fn text(&self, _: Scalar, out: &mut String) {
        numbers::float(*self, out);
    }
}

impl Text for f64 {
    fn text(&self, _: Scalar, out: &mut String) {
        numbers::double(*self, out);
    }
}

impl Text for TimeCode {
    fn text(&self, _: Scalar, out: &mut String) {
        numbers::double(self.0, out);
    }
}

impl Text for Duration {
    fn text(&self, _: Scalar, out: &mut String) {
        numbers::double(self.0, out);
    }
}

impl Text for SmolStr {
    fn text(&self, _: Scalar, out: &mut String) {
        quoted(self, out);
    }
}

impl Text for AssetPath {
    fn text(&self, _: Scalar, out: &mut String) {
        asset_text(&self.0, out);
    }
}

impl Text for PathExpression {
    fn text(&self, _: Scalar, out: &mut String) {
        quoted(&self.0, out);
    }
}

fn tuple<T: Text>(items: &[T], kind: Scalar, out: &mut String) {
    out.push('(');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        item.text(kind, out);
    }
    out.push(')');
}

fn rows(items: &[f64], width: usize, out: &mut String) {
    out.push('(');
    for (i, row) in items.chunks(width).enumerate() {
        out.push_str(if i > 0 { ", " } else { " " });
        tuple(row, Scalar::Double, out);
    }
    out.push_str(" )");
}

macro_rules! vectors {
    ($($number:ty: $($len:literal)*),*) => {$($(
        impl Text for [$number; $len] {
            fn text(&self, kind: Scalar, out: &mut String) {
                tuple(self, kind, out);
            }
        }
    )*)*};
}
vectors!(i32: 2 3 4, f16: 2 3 4, f32: 2 3 4, f64: 2 3);

impl Text for [f64; 4] {
    fn text(&self, kind: Scalar, out: &mut String) {
        match kind {
            Scalar::Matrix2d => rows(self, 2, out),
            _ => tuple(self, kind, out),
        }
    }
}

impl Text for [f64; 9] {
    fn text(&self, _: Scalar, out: &mut String) {
        rows(self, 3, out);
    }
}

impl Text for [f64; 16] {
    fn text(&self, _: Scalar, out: &mut String) {
        rows(self, 4, out);
    }
}

impl<T: Text + Copy> Text for Quat<T> {
    /// The real part is first in the text and last in memory.
    fn text(&self, kind: Scalar, out: &mut String) {
        let [x, y, z, w] = self.0;
        tuple(&[w, x, y, z], kind, out);
    }
}

macro_rules! writers {
    ($(($one:ident, $array:ident, $rust:ty, $number:literal, $name:literal),)*) => {
        /// A value's type, and whether it is an array; none for what no attribute's type stands
        /// for.
        pub(super) fn kind_of(value: &Value) -> Option<(Scalar, bool)> {
            Some(match value {
                $(
                    Value::$one(_) => (Scalar::$one, false),
                    Value::$array(_) => (Scalar::$one, true),
                )*
                _ => return None,
            })
        }

        /// Writes a scalar or an array. Other values have no text here: the answer is false.
        pub(super) fn plain(value: &Value, out: &mut Output) -> Result<bool> {
            match value {
                $(
                    Value::$one(value) => value.text(Scalar::$one, &mut out.text),
                    Value::$array(values) => array(values, Scalar::$one, out)?,
                )*
                _ => return Ok(false),
            }
            out.flush_full()?;
            Ok(true)
        }
    };
}
for_each_element!(writers);

fn array<T: Text>(values: &Array<T>, kind: Scalar, out: &mut Output) -> Result<()> {
    out.text.push('[');
    for (i, some) in values.chunks(512).enumerate() {
        for (j, value) in some.iter().enumerate() {
            if i + j > 0 {
                out.text.push_str(", ");
            }
            value.text(kind, &mut out.text);
        }
        out.flush_full()?;
    }
    out.text.push(']');
    Ok(())
}

/// Writes a dictionary on several lines, the last one without its end. Entries that no text has,
/// such as list edits, are errors: the answer is the key of the first one.
pub(super) fn dictionary(
    entries: &Dictionary,
    level: usize,
    out: &mut Output,
) -> Result<Option<String>> {
    out.push("{\n");
    // Nested dictionaries, with a stack of this function's own.
    let mut open = vec![entries.iter()];
    while let Some(entries) = open.last_mut() {
        let Some((key, value)) = entries.next() else {
            open.pop();
            out.indent(level + open.len());
            out.push(if open.is_empty() { "}" } else { "}\n" });
            continue;
        };
        out.indent(level + open.len());
        let loaded = value.load()?;
        match (value, kind_of(&loaded)) {
            (Value::Dictionary(inner), _) => {
                out.push("dictionary ");
                push_key(key, out);
                out.push(" = {\n");
                open.push(inner.iter());
            }
            (_, Some((kind, is_array))) => {
                out.push(kind.name());
                out.push(if is_array { "[] " } else { " " });
                push_key(key, out);
                out.push(" = ");
                plain(&loaded, out)?;
                out.push("\n");
            }
            _ => return Ok(Some(key.to_string())),
        }
    }
    Ok(None)
}

fn push_key(key: &str, out: &mut Output) {
    match is_identifier(key) {
        true => out.push(key),
        false => quoted(key, &mut out.text),
    }
}
