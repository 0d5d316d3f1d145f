//! Works around: openusd 0.8 reads values of a crate file that lie in one another again for each place that names them, so a
//! small file can keep it busy for ever. This file refuses such a crate before openusd reads it.
//!
//! A crate says where a value is that is in another one: an entry of a dictionary, a time sample. openusd refuses a
//! value that is in itself, and more than 32 in one another, but 30 dictionaries each of which has the next one twice
//! take 2^30 steps. So does a dictionary said to have that many entries, each of which says that the next one is where
//! it is itself. Here values that hold others are looked through, each once.
//!
//! What openusd reads wrongly without an error is marked on the way (see [`Marks`]). openusd itself reports everything
//! else that is wrong with a file.
//!
//! See the fault: `endless_values_are_refused_at_once` in the tests writes such files; open one with openusd alone.
//!
//! Test: `endless_values_are_refused_at_once` in `tests.rs` beside this file.
//!
//! Goes when: that test passes without [`check`].
//!
//! Source of the layout: pxr/usd/sdf/crateFile.cpp (`_RecursiveRead`, `_ReadTimeSamples`) of OpenUSD 26.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Seek};

use crate::openusd_compat::crate_bytes::{Bytes, broken};
use crate::openusd_compat::hazards::Marks;

/// Values within one another, as openusd has it.
const MOST_LEVELS: usize = 32;
/// What is allowed even the smallest file, whose equal values may be one.
const FEW: u64 = 1 << 16;

/// Refuses a crate file that has a value of endless parts, reading values that hold others, and passes any other file, with
/// what it holds that openusd reads or writes wrongly. The position in the file ends anywhere.
///
/// # Errors
/// A file that cannot be read; one that would keep openusd busy for ever.
pub(crate) fn check(file: &mut (impl Read + Seek + ?Sized)) -> io::Result<Marks> {
    let mut bytes = Bytes::new(file)?;
    let fields = match fields(&mut bytes) {
        Ok(fields) => fields,
        Err(e) if broken(&e) => return Ok(Marks::default()),
        Err(e) => return Err(e),
    };
    // An entry takes at least eight bytes, and values do not overlap.
    let most = bytes.size() / 8 + FEW;
    let mut nest = Nest {
        packed: bytes.size(),
        bytes,
        most,
        left: most,
        parts: HashMap::new(),
        marks: Marks::default(),
    };
    let mut all = fields.chunks_exact(8).filter_map(|rep| rep.first_chunk());
    let counted = all.try_for_each(|rep| {
        let rep = Rep(u64::from_le_bytes(*rep));
        nest.mark(rep)?;
        match rep.nests() {
            true => nest.count(rep, 0).map(drop),
            false => Ok(()),
        }
    });
    counted.map(|()| nest.marks).map_err(|stop| match stop {
        Stop::File(e) => e,
        Stop::Endless => {
            let message = format!(
                "FIELDS section: expected values of at most {MOST_LEVELS} levels and {most} parts in one, found more"
            );
            io::Error::new(ErrorKind::InvalidData, message)
        }
    })
}

/// The values of all fields, eight bytes each.
fn fields(bytes: &mut Bytes<'_, impl Read + Seek + ?Sized>) -> io::Result<Vec<u8>> {
    if !bytes.go_to_section(b"FIELDS\0")? {
        return Ok(Vec::new());
    }
    let count = usize::try_from(bytes.word()?).map_err(|_| ErrorKind::InvalidData)?;
    bytes.skip_block()?;
    bytes.block(count.saturating_mul(8))
}

/// A value's type and place: `ValueRep` of OpenUSD.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Rep(u64);

impl Rep {
    const INT64: u8 = 5;
    const UINT64: u8 = 6;
    const STRING: u8 = 10;
    const ASSET_PATH: u8 = 12;
    const HALF2: u8 = 21;
    const DICTIONARY: u8 = 31;
    const TIME_SAMPLES: u8 = 46;
    const DOUBLE_VECTOR: u8 = 48;
    const UNREGISTERED_VALUE: u8 = 53;
    const UNREGISTERED_VALUE_LIST_OP: u8 = 54;
    const PATH_EXPRESSION: u8 = 57;
    const SPLINE: u8 = 59;
    const ARRAY: u64 = 1 << 63;
    const INLINED: u64 = 1 << 62;
    const COMPRESSED: u64 = 1 << 61;

    fn kind(self) -> u8 {
        (self.0 >> 48) as u8
    }

    fn place(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }

    /// Whether other values may be in it.
    fn nests(self) -> bool {
        let kinds = [
            Self::DICTIONARY,
            Self::TIME_SAMPLES,
            Self::UNREGISTERED_VALUE,
            Self::UNREGISTERED_VALUE_LIST_OP,
        ];
        self.0 & Self::INLINED == 0 && kinds.contains(&self.kind())
    }
}

enum Stop {
    Endless,
    File(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

/// Values in values.
struct Nest<'a, F: ?Sized> {
    bytes: Bytes<'a, F>,
    /// Most parts of one value.
    most: u64,
    /// Parts of all values that may still be looked at.
    left: u64,
    /// How many parts a value has, with those of what is in it.
    parts: HashMap<Rep, u64>,
    /// Bytes of compressed integers that may still be looked at: values do not overlap.
    packed: u64,
    marks: Marks,
}

impl<F: Read + Seek + ?Sized> Nest<'_, F> {
    fn count(&mut self, rep: Rep, level: usize) -> Result<u64, Stop> {
        if level > MOST_LEVELS {
            return Err(Stop::Endless);
        }
        if let Some(&parts) = self.parts.get(&rep) {
            return Ok(parts);
        }
        let before = self.left;
        let mut nested = Vec::new();
        match self.look(rep, &mut nested) {
            // What was read before, openusd reads too.
            Err(Stop::File(e)) if broken(&e) => {}
            other => other?,
        }
        let mut parts = 1 + before - self.left;
        for inner in nested {
            parts = parts.saturating_add(self.count(inner, level + 1)?);
        }
        if parts > self.most {
            return Err(Stop::Endless);
        }
        self.parts.insert(rep, parts);
        Ok(parts)
    }

    /// Notes what openusd reads or writes wrongly of one value.
    fn mark(&mut self, rep: Rep) -> Result<(), Stop> {
        let [array, inlined, compressed] =
            [Rep::ARRAY, Rep::INLINED, Rep::COMPRESSED].map(|bit| rep.0 & bit != 0);
        match rep.kind() {
            Rep::SPLINE => self.marks.splines = true,
            Rep::HALF2 | Rep::PATH_EXPRESSION if !array => self.marks.narrow = true,
            Rep::TIME_SAMPLES | Rep::DOUBLE_VECTOR => self.marks.counted = true,
            Rep::STRING | Rep::ASSET_PATH if array => self.marks.counted = true,
            // It is read as the 32 bits that are here.
            Rep::INT64 if inlined => self.marks.integers |= (rep.place() as u32 as i32) < 0,
            Rep::INT64 | Rep::UINT64 if array && compressed => match self.reads_integers(rep) {
                Ok(reads) => self.marks.integers |= !reads,
                Err(e) if broken(&e) => {}
                Err(e) => return Err(e.into()),
            },
            _ => {}
        }
        Ok(())
    }

    /// Whether openusd makes room enough for these compressed 64-bit integers: it does for as many of 32 bits.
    fn reads_integers(&mut self, rep: Rep) -> io::Result<bool> {
        const FEWEST: u64 = 16;
        self.bytes.seek(rep.place())?;
        let count = self.bytes.word()?;
        if count < FEWEST {
            return Ok(true);
        }
        let start = self.bytes.position();
        let size = self.bytes.word()?;
        let Some(left) = self.packed.checked_sub(size) else {
            return Ok(false);
        };
        self.packed = left;
        self.bytes.seek(start)?;
        let count = usize::try_from(count).map_err(|_| ErrorKind::InvalidData)?;
        let room = |bytes: usize| {
            let codes = count.saturating_mul(2).div_ceil(8);
            count.saturating_mul(bytes).saturating_add(codes + bytes)
        };
        Ok(self.bytes.block(room(8))?.len() <= room(4))
    }

    /// Collects what nests of the values in a value.
    fn look(&mut self, rep: Rep, nested: &mut Vec<Rep>) -> Result<(), Stop> {
        self.bytes.seek(rep.place())?;
        match rep.kind() {
            Rep::DICTIONARY => {
                let entries = self.bytes.word()?;
                self.spend(entries)?;
                for _ in 0..entries {
                    let _key: [u8; 4] = self.bytes.array()?;
                    self.inner(nested)?;
                }
            }
            Rep::TIME_SAMPLES => {
                self.follow()?;
                let _times = self.bytes.word()?;
                self.follow()?;
                let count = self.bytes.word()?;
                let samples = self.bytes.take(count.saturating_mul(8))?;
                self.spend(count)?;
                let samples = samples.chunks_exact(8).filter_map(|rep| rep.first_chunk());
                for rep in samples.map(|rep| Rep(u64::from_le_bytes(*rep))) {
                    self.mark(rep)?;
                    nested.extend(rep.nests().then_some(rep));
                }
            }
            Rep::UNREGISTERED_VALUE => {
                self.spend(1)?;
                self.inner(nested)?;
            }
            _ => {
                // The lowest bit says that it is explicit, the next six which lists there are.
                let [header] = self.bytes.array()?;
                for _ in 0..(header >> 1 & 0x3f).count_ones() {
                    let items = self.bytes.word()?;
                    self.spend(items)?;
                    for _ in 0..items {
                        self.inner(nested)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A value that is found by its distance; what follows is behind it.
    fn inner(&mut self, nested: &mut Vec<Rep>) -> Result<(), Stop> {
        self.follow()?;
        let rep = Rep(self.bytes.word()?);
        nested.extend(rep.nests().then_some(rep));
        let behind = self.bytes.position();
        self.mark(rep)?;
        self.bytes.seek(behind)?;
        Ok(())
    }

    /// Goes as far as is said here, from here.
    fn follow(&mut self) -> io::Result<()> {
        let from = self.bytes.position();
        let distance = i64::from_le_bytes(self.bytes.array()?);
        let to = from.checked_add_signed(distance);
        self.bytes.seek(to.ok_or(ErrorKind::InvalidData)?)
    }

    fn spend(&mut self, parts: u64) -> Result<(), Stop> {
        self.left = self.left.checked_sub(parts).ok_or(Stop::Endless)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
