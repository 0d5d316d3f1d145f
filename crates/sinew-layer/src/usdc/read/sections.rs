//! The sections of a crate file: tokens, strings, fields, lists of fields and specs.
//!
//! Source: pxr/usd/sdf/crateFile.cpp of OpenUSD (`_ReadStructuralSections`).

use smol_str::SmolStr;

use super::bytes::{Bad, Bytes, Checked, Cursor};
use super::ints;
use crate::usdc::format::{HEADER, MAGIC, Rep, Version};

/// The oldest version that usd-core reads.
const OLDEST: Version = Version(0, 4, 0);

/// The newest version that this crate knows.
const NEWEST: Version = Version(0, 16, 0);

/// Where a list of fields ends.
pub(super) const END: u32 = u32::MAX;

pub(super) const SECTIONS: [&str; 6] =
    ["TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS"];

/// A part of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Section {
    pub name: &'static str,
    pub start: usize,
    pub end: usize,
}

impl Section {
    /// Reads the section with `read`. Errors name the section.
    pub fn read<'a, T>(
        &self,
        bytes: &'a [u8],
        read: impl FnOnce(&mut Cursor<'a>) -> Checked<T>,
    ) -> Result<T, (&'static str, Bad)> {
        read(&mut Cursor::new(&bytes[..self.end], self.start)).map_err(|bad| (self.name, bad))
    }
}

/// What the header says: the version and where the sections are, in the order of [`SECTIONS`].
pub(super) fn header(bytes: &[u8]) -> Checked<(Version, [Section; 6])> {
    let mut cursor = Cursor::new(bytes, 0);
    if cursor.take(8).ok() != Some(MAGIC) {
        return Err(Bad::new(0, "the file does not begin with 'PXR-USDC'"));
    }
    let [major, minor, patch] = cursor.plain()?;
    let version = Version(major, minor, patch);
    if !(OLDEST..=NEWEST).contains(&Version(major, minor, 0)) {
        return Err(Bad::unsupported(
            8,
            format!(
                "crate version {major}.{minor}.{patch} is not read, only {}.{}.{} to {}.{}.{}",
                OLDEST.0, OLDEST.1, OLDEST.2, NEWEST.0, NEWEST.1, NEWEST.2
            ),
        ));
    }
    cursor.at = 16;
    let table = cursor.u64()?;
    let outside = || {
        Bad::new(
            16,
            format!("the table of sections is said to be at {table}"),
        )
    };
    cursor.at = usize::try_from(table).map_err(|_| outside())?;
    if table < HEADER || cursor.left() == 0 {
        return Err(outside());
    }
    let mut sections = SECTIONS.map(|name| Section {
        name,
        start: 0,
        end: 0,
    });
    for _ in 0..cursor.count(32)? {
        let at = cursor.at;
        let name: [u8; 16] = cursor.plain()?;
        let (start, len) = (cursor.u64()?, cursor.u64()?);
        let len_of_name = name.iter().position(|b| *b == 0).unwrap_or(name.len());
        let Some(section) = sections
            .iter_mut()
            .find(|s| s.name.as_bytes() == &name[..len_of_name])
        else {
            // A section of a newer version.
            continue;
        };
        let end = start
            .checked_add(len)
            .filter(|end| *end <= bytes.len() as u64);
        let Some(end) = end.filter(|_| start >= HEADER) else {
            let reason = format!(
                "{} is said to be {len} bytes at {start}, in a file of {}",
                section.name,
                bytes.len()
            );
            return Err(Bad::new(at, reason));
        };
        (section.start, section.end) = (start as usize, end as usize);
    }
    match sections.iter().find(|s| s.end == 0) {
        Some(missing) => Err(Bad::new(
            table as usize,
            format!("there is no section {}", missing.name),
        )),
        None => Ok((version, sections)),
    }
}

/// How many tokens, fields or entries of lists of fields a file may claim. Each is there once and differs from the
/// others, but LZ4 can make hundreds of equal ones of each byte.
fn most_entries(file: &[u8]) -> usize {
    file.len().saturating_add(1 << 16)
}

/// How many paths or specs a file may claim. Characters that repeat need less than a byte for each.
pub(super) fn most_paths(file: &[u8]) -> usize {
    (file.len() / 8).saturating_add(1 << 20)
}

/// Reads a count, of which there may be `most`.
pub(super) fn plausible(cursor: &mut Cursor<'_>, most: usize) -> Checked<usize> {
    let at = cursor.at;
    let count = cursor.u64()?;
    match usize::try_from(count) {
        Ok(plausible) if plausible <= most => Ok(plausible),
        _ => {
            let reason = format!(
                "at most {most} entries are expected in a file of this size, {count} are claimed"
            );
            Err(Bad::new(at, reason))
        }
    }
}

pub(super) fn tokens(cursor: &mut Cursor<'_>, file: &[u8]) -> Checked<Vec<SmolStr>> {
    let at = cursor.at;
    let count = plausible(cursor, most_entries(file))?;
    let len = plausible(
        cursor,
        file.len().saturating_mul(16).saturating_add(1 << 20),
    )?;
    let compressed = cursor.count(1)?;
    let bytes = cursor.take(compressed)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let text = ints::decompress(bytes, len, at)?;
    if text.len() != len {
        let reason = format!("{len} bytes of text are claimed, {} are there", text.len());
        return Err(Bad::new(at, reason));
    }
    if count > text.len() {
        let reason = format!("{count} tokens are claimed, in {len} bytes of text");
        return Err(Bad::new(at, reason));
    }
    let mut tokens = Vec::with_capacity(count);
    // The last one ends with a zero too, after which there is nothing.
    let mut rest = &text[..];
    while tokens.len() < count && !rest.is_empty() {
        let end = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
        // Not every program writes UTF-8.
        tokens.push(SmolStr::new(String::from_utf8_lossy(&rest[..end])));
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    match tokens.len() == count {
        true => Ok(tokens),
        false => {
            let reason = format!("{count} tokens are claimed, {} are there", tokens.len());
            Err(Bad::new(at, reason))
        }
    }
}

/// Strings are tokens, which they name by index.
pub(super) fn strings(cursor: &mut Cursor<'_>, tokens: usize) -> Checked<Vec<u32>> {
    let count = cursor.count(4)?;
    let at = cursor.at;
    let bytes = cursor.take(4 * count)?;
    let strings: Vec<u32> = bytes
        .chunks_exact(4)
        .map(bytemuck::pod_read_unaligned)
        .collect();
    below(&strings, tokens, "token", at)?;
    Ok(strings)
}

/// Checks that all indices are below `count`.
pub(super) fn below(indices: &[u32], count: usize, what: &str, at: usize) -> Checked<()> {
    match indices.iter().find(|i| **i as usize >= count) {
        Some(bad) => Err(Bad::new(
            at,
            format!("{what} {bad} is named, there are {count}"),
        )),
        None => Ok(()),
    }
}

/// Compressed 32-bit integers as indices.
pub(super) fn indices(cursor: &mut Cursor<'_>, count: usize) -> Checked<Vec<u32>> {
    let ints = ints::read::<i32>(cursor, count)?;
    Ok(bytemuck::cast_vec(ints))
}

/// Fields by their index: the token of the name, and where the value is.
pub(super) fn fields(
    cursor: &mut Cursor<'_>,
    file: &[u8],
    tokens: usize,
) -> Checked<(Vec<u32>, Vec<Rep>)> {
    let at = cursor.at;
    let count = plausible(cursor, most_entries(file))?;
    let names = indices(cursor, count)?;
    below(&names, tokens, "token", at)?;
    let len = cursor.count(1)?;
    let bytes = cursor.take(len)?;
    if count == 0 {
        return Ok((names, Vec::new()));
    }
    let reps = ints::decompress(bytes, 8 * count, at)?;
    if reps.len() != 8 * count {
        let reason = format!("{count} values are claimed, {} are there", reps.len() / 8);
        return Err(Bad::new(at, reason));
    }
    let reps = reps
        .chunks_exact(8)
        .map(|rep| Rep(bytemuck::pod_read_unaligned(rep)));
    Ok((names, reps.collect()))
}

/// Lists of fields one after the other, each with [`END`] after it.
pub(super) fn field_sets(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    fields: usize,
) -> Checked<Vec<u32>> {
    let at = cursor.at;
    let count = plausible(cursor, most_entries(file))?;
    let sets = indices(cursor, count)?;
    if let Some(bad) = sets.iter().find(|i| **i != END && **i as usize >= fields) {
        let reason = format!("field {bad} is named, there are {fields}");
        return Err(Bad::new(at, reason));
    }
    match sets.last() {
        Some(last) if *last != END => Err(Bad::new(at, "the last list of fields has no end")),
        _ => Ok(sets),
    }
}

/// Specs: path, list of fields and kind of each.
pub(super) struct Specs {
    pub paths: Vec<u32>,
    pub field_sets: Vec<u32>,
    pub kinds: Vec<u32>,
}

pub(super) fn specs(
    cursor: &mut Cursor<'_>,
    file: &[u8],
    paths: usize,
    field_sets: &[u32],
) -> Checked<Specs> {
    let at = cursor.at;
    let count = plausible(cursor, most_paths(file))?;
    if count > paths {
        let reason = format!("{count} specs are claimed, there are {paths} paths");
        return Err(Bad::new(at, reason));
    }
    let specs = Specs {
        paths: indices(cursor, count)?,
        field_sets: indices(cursor, count)?,
        kinds: indices(cursor, count)?,
    };
    below(&specs.paths, paths, "path", at)?;
    below(&specs.field_sets, field_sets.len(), "list of fields", at)?;
    // Inside of a list no other begins.
    let begins = |i: u32| i == 0 || field_sets[i as usize - 1] == END;
    if let Some(bad) = specs.field_sets.iter().find(|i| !begins(**i)) {
        let reason = format!("no list of fields begins at {bad}");
        return Err(Bad::new(at, reason));
    }
    Ok(specs)
}
