//! Arrays of crate files.
//!
//! Source: pxr/usd/sdf/crateFile.cpp of OpenUSD (`_ReadPossiblyCompressedArray`).

use half::f16;
use smol_str::SmolStr;

use super::File;
use super::bytes::{Bad, Checked, Cursor};
use super::ints;
use crate::usdc::format::{Rep, Version};
use crate::value::{
    Array, AssetPath, Duration, PathExpression, Quat, TimeCode, Value, for_each_element,
};

/// Shorter arrays are not compressed, whatever they say.
const MIN_COMPRESSED: usize = 16;

/// The number of the type of tokens. Strings are the same type here, and are stored otherwise.
const TOKEN: u8 = 11;

/// How many elements there are, and where they begin.
pub(super) fn len(file: &File, rep: Rep) -> Checked<(u64, Cursor<'_>)> {
    let mut cursor = Cursor::new(&file.bytes, rep.offset());
    if rep.payload() == 0 {
        return Ok((0, cursor));
    }
    if file.version < Version(0, 5, 0) {
        // How many dimensions there are: always one.
        cursor.u32()?;
    }
    let len = match file.version < Version(0, 7, 0) {
        true => u64::from(cursor.u32()?),
        false => cursor.u64()?,
    };
    Ok((len, cursor))
}

/// An array. None if there are no arrays of this type.
pub(super) fn array(file: &File, rep: Rep) -> Checked<Option<Value>> {
    macro_rules! decode {
        ($(($variant:ident, $array:ident, $type:ty, $kind:literal, $name:literal)),* $(,)?) => {
            Ok(Some(match rep.kind() {
                $($kind => Value::$array(elements::<$type>(file, rep)?),)*
                _ => return Ok(None),
            }))
        };
    }
    for_each_element!(decode)
}

/// How many bytes an element takes in memory.
pub(super) fn element_size(kind: u8) -> usize {
    macro_rules! size {
        ($(($variant:ident, $array:ident, $type:ty, $kind:literal, $name:literal)),* $(,)?) => {
            match kind {
                $($kind => size_of::<$type>(),)*
                _ => 1,
            }
        };
    }
    for_each_element!(size)
}

fn elements<T: Element>(file: &File, rep: Rep) -> Checked<Array<T>> {
    let (count, mut cursor) = len(file, rep)?;
    if count == 0 {
        return Ok(Array::default());
    }
    let at = cursor.at;
    let too_many = |left: usize| {
        let reason = format!("{count} elements are claimed, {left} bytes are left");
        Bad::new(at, reason)
    };
    // Compression can make hundreds of equal elements of each byte.
    let most = file.bytes.len().saturating_mul(16).saturating_add(1 << 25);
    if count > (most / size_of::<T>()) as u64 {
        let most = most / size_of::<T>();
        let reason = format!(
            "at most {most} elements are expected in a file of this size, {count} are claimed"
        );
        return Err(Bad::new(at, reason));
    }
    let packed = rep.is_compressed() && T::compressed_since().is_some_and(|v| file.version >= v);
    if packed && count >= MIN_COMPRESSED as u64 {
        let count = usize::try_from(count).map_err(|_| too_many(cursor.left()))?;
        return T::compressed(&mut cursor, count).map(Array::from);
    }
    match cursor.fits(count, T::SIZE) {
        Some(count) => T::elements(file, rep.kind(), &mut cursor, count),
        None => Err(too_many(cursor.left())),
    }
}

/// An element of an array.
trait Element: Sized {
    /// How many bytes it has in a file.
    const SIZE: usize = size_of::<Self>();

    /// The elements as they are without compression. That there are enough bytes is known.
    fn elements(
        file: &File,
        kind: u8,
        cursor: &mut Cursor<'_>,
        count: usize,
    ) -> Checked<Array<Self>>;

    /// Since when arrays of the type can be compressed.
    fn compressed_since() -> Option<Version> {
        None
    }

    /// Compressed elements.
    fn compressed(cursor: &mut Cursor<'_>, _count: usize) -> Checked<Vec<Self>> {
        Err(Bad::new(
            cursor.at,
            "arrays of this type are not compressed",
        ))
    }
}

fn plain<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
    file: &File,
    cursor: &Cursor<'_>,
    count: usize,
) -> Checked<Array<T>> {
    file.bytes
        .array(cursor.at, count)
        .ok_or_else(|| Bad::new(cursor.at, "the array leads out of the file"))
}

macro_rules! plain {
    ($($type:ty),*) => {
        $(impl Element for $type {
            fn elements(file: &File, _: u8, cursor: &mut Cursor<'_>, count: usize) -> Checked<Array<Self>> {
                plain(file, cursor, count)
            }
        })*
    };
}

plain!(u8, TimeCode, Duration, Quat<f64>, Quat<f32>, Quat<f16>);
plain!([f64; 2], [f64; 3], [f64; 4], [f64; 9], [f64; 16]);
plain!([f32; 2], [f32; 3], [f32; 4], [f16; 2], [f16; 3], [f16; 4]);
plain!([i32; 2], [i32; 3], [i32; 4]);

macro_rules! ints {
    ($($type:ty as $coded:ty),*) => {
        $(impl Element for $type {
            fn elements(file: &File, _: u8, cursor: &mut Cursor<'_>, count: usize) -> Checked<Array<Self>> {
                plain(file, cursor, count)
            }

            fn compressed_since() -> Option<Version> {
                Some(Version(0, 5, 0))
            }

            fn compressed(cursor: &mut Cursor<'_>, count: usize) -> Checked<Vec<Self>> {
                Ok(bytemuck::cast_vec(ints::read::<$coded>(cursor, count)?))
            }
        })*
    };
}

ints!(i32 as i32, u32 as i32, i64 as i64, u64 as i64);

macro_rules! floats {
    ($($type:ty, $from_int:expr);*) => {
        $(impl Element for $type {
            fn elements(file: &File, _: u8, cursor: &mut Cursor<'_>, count: usize) -> Checked<Array<Self>> {
                plain(file, cursor, count)
            }

            fn compressed_since() -> Option<Version> {
                Some(Version(0, 6, 0))
            }

            fn compressed(cursor: &mut Cursor<'_>, count: usize) -> Checked<Vec<Self>> {
                floats(cursor, count, $from_int)
            }
        })*
    };
}

floats!(
    f16, |int| f16::from_f32(int as f32);
    f32, |int| int as f32;
    f64, f64::from
);

/// Floats that are all whole numbers, or that are few different ones.
fn floats<T: bytemuck::AnyBitPattern>(
    cursor: &mut Cursor<'_>,
    count: usize,
    from_int: fn(i32) -> T,
) -> Checked<Vec<T>> {
    let at = cursor.at;
    match cursor.plain::<u8>()? {
        b'i' => Ok(ints::read::<i32>(cursor, count)?
            .into_iter()
            .map(from_int)
            .collect()),
        b't' => {
            let len = cursor.u32()?;
            let Some(len) = cursor.fits(len.into(), size_of::<T>()) else {
                return Err(Bad::new(at, format!("a table of {len} numbers is cut off")));
            };
            let table = cursor
                .take(len * size_of::<T>())?
                .chunks_exact(size_of::<T>());
            let table: Vec<T> = table.map(bytemuck::pod_read_unaligned).collect();
            let indices = ints::read::<i32>(cursor, count)?;
            let number = |i: i32| {
                table
                    .get(i as u32 as usize)
                    .copied()
                    .ok_or_else(|| Bad::new(at, format!("number {i} of a table of {len} is named")))
            };
            indices.into_iter().map(number).collect()
        }
        code => Err(Bad::new(
            at,
            format!("floats are compressed as 'i' or 't', not as {code}"),
        )),
    }
}

impl Element for bool {
    fn elements(_: &File, _: u8, cursor: &mut Cursor<'_>, count: usize) -> Checked<Array<Self>> {
        Ok(cursor.take(count)?.iter().map(|b| *b != 0).collect())
    }
}

/// Elements that are stored as the index of a text.
fn texts<T>(
    file: &File,
    kind: u8,
    cursor: &mut Cursor<'_>,
    count: usize,
    element: fn(SmolStr) -> T,
) -> Checked<Array<T>> {
    let mut vec = Vec::with_capacity(count);
    for _ in 0..count {
        let at = cursor.at;
        let index = cursor.u32()?;
        let text = match kind {
            TOKEN => file.token(index, at)?,
            _ => file.string(index, at)?,
        };
        vec.push(element(text.clone()));
    }
    Ok(vec.into())
}

macro_rules! texts {
    ($($type:ty, $element:expr);*) => {
        $(impl Element for $type {
            const SIZE: usize = 4;

            fn elements(file: &File, kind: u8, cursor: &mut Cursor<'_>, count: usize) -> Checked<Array<Self>> {
                texts(file, kind, cursor, count, $element)
            }
        })*
    };
}

texts!(SmolStr, |text| text; AssetPath, AssetPath; PathExpression, PathExpression);
