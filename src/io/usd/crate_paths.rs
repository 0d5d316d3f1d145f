//! Crate files whose paths are no tree, or too deep a one, which openusd 0.8 must not see.
//!
//! Each entry of a crate's PATHS section says by its jump where its children and its next sibling are, as
//! distances ahead. openusd walks them and does not ask whether it has been at an entry: 64 entries whose jumps are
//! all 1 lead to the second one twice, to the third one four times, and so on, which never ends. Here they are walked
//! once, each entry at most once, before openusd reads the file. Each path is a text of its own, so a few hundred bytes
//! that nest prims without end take all memory: they are held to the depth that usda text is.
//!
//! What is wrong with a file in any other way is openusd's to tell.
//!
//! Source of the layout: pxr/usd/sdf/crateFile.cpp (`_ReadCompressedPaths`, `_BuildDecompressedPathsImpl`),
//! pxr/usd/sdf/integerCoding.h and pxr/base/tf/fastCompression.cpp of OpenUSD 26.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use super::text::MAX_NESTING;

/// Most sections of a file that openusd reads.
const MOST_SECTIONS: u64 = 63;
/// An entry of the table of contents: name, start and size.
const SECTION: usize = 32;
const MAGIC: &[u8] = b"PXR-USDC";
const PATHS: &[u8] = b"PATHS\0";
/// Most bytes that a byte of LZ4 becomes.
const LZ4_RATIO: usize = 255;
/// Most bytes that openusd decompresses at once.
const MOST_BYTES: u64 = 4 << 30;

/// Where the jumps of a file lead.
#[derive(Debug, PartialEq, Eq)]
enum Walk {
    /// To no entry twice.
    Tree { entries: usize },
    /// To an entry, of so many, again.
    Twice { entry: usize, entries: usize },
    /// Further down than [`MAX_NESTING`].
    Deep { entry: usize },
    /// Nowhere: the file cannot be read that far, which openusd tells.
    Broken,
}

/// Refuses a crate file whose paths lead to an entry twice or too deep, reading little more than its PATHS section, and
/// passes any other file. The position in the file ends anywhere.
///
/// # Errors
/// A file that cannot be read; one that would keep openusd busy for ever, or take all memory.
pub(super) fn check(file: &mut (impl Read + Seek + ?Sized)) -> io::Result<()> {
    let walk = match encoded_jumps(file) {
        Ok((encoded, entries)) => walk(&encoded, entries).unwrap_or(Walk::Broken),
        Err(e) if matches!(e.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => {
            Walk::Broken
        }
        Err(e) => return Err(e),
    };
    let found = match walk {
        Walk::Tree { .. } | Walk::Broken => return Ok(()),
        Walk::Twice { entry, entries } => {
            format!(
                "expected a tree of {entries} entries, found paths that lead to entry {entry} twice"
            )
        }
        Walk::Deep { entry } => {
            format!("expected at most {MAX_NESTING} levels, found entry {entry} below that many")
        }
    };
    let message = format!("PATHS section: {found}");
    Err(io::Error::new(ErrorKind::InvalidData, message))
}

/// The jumps of a file's paths in the integer coding, and how many they are.
///
/// # Errors
/// [`ErrorKind::InvalidData`] and [`ErrorKind::UnexpectedEof`] where openusd reads no paths either.
fn encoded_jumps(file: &mut (impl Read + Seek + ?Sized)) -> io::Result<(Vec<u8>, usize)> {
    let mut bytes = Bytes {
        size: file.seek(SeekFrom::End(0))?,
        at: 0,
        file,
    };
    let head = bytes.seek(0).and_then(|()| bytes.take(24))?;
    let table = head.strip_prefix(MAGIC).and_then(|head| head.last_chunk());
    bytes.seek(u64::from_le_bytes(*table.ok_or(ErrorKind::InvalidData)?))?;
    let sections = bytes.word()?;
    if sections > MOST_SECTIONS {
        return Err(ErrorKind::InvalidData.into());
    }
    let table = bytes.take(sections * SECTION as u64)?;
    // Sizes are not looked at: openusd does not either.
    let mut sections = table.chunks_exact(SECTION);
    let start = sections
        .find(|section| section.starts_with(PATHS))
        .and_then(|section| section[16..].first_chunk());
    let Some(start) = start else {
        return Ok((Vec::new(), 0));
    };
    bytes.seek(u64::from_le_bytes(*start))?;
    let (paths, entries) = (bytes.word()?, bytes.word()?);
    if paths.checked_sub(entries).is_none_or(|empty| empty > 1) {
        return Err(ErrorKind::InvalidData.into());
    }
    // In front of the jumps are the entries' places among the paths, and their names.
    for _ in 0..2 {
        let size = bytes.word()?;
        bytes.seek(bytes.at.saturating_add(size))?;
    }
    let size = bytes.word()?;
    let compressed = bytes.take(size)?;
    let entries = usize::try_from(entries).map_err(|_| ErrorKind::InvalidData)?;
    Ok((decompress(&compressed, entries)?, entries))
}

/// Bytes that a number of integers was encoded to.
///
/// # Errors
/// [`ErrorKind::InvalidData`] where they are not LZ4, or more than openusd decompresses.
fn decompress(compressed: &[u8], integers: usize) -> io::Result<Vec<u8>> {
    // The number of chunks; none is one without a size. openusd reads no others: they are for more than 2 GB.
    let Some((0, block)) = compressed.split_first() else {
        return Err(ErrorKind::InvalidData.into());
    };
    // The common value, two bits for each integer, and at most four bytes.
    let most = integers
        .saturating_mul(4)
        .saturating_add(integers.div_ceil(4))
        .saturating_add(4);
    let possible = compressed
        .len()
        .saturating_mul(LZ4_RATIO)
        .saturating_add(64);
    let most = most
        .min(possible)
        .min(usize::try_from(MOST_BYTES).unwrap_or(usize::MAX));
    let mut out = vec![0; most];
    let size =
        lz4_flex::block::decompress_into(block, &mut out).map_err(|_| ErrorKind::InvalidData)?;
    out.truncate(size);
    Ok(out)
}

/// Follows the jumps of so many entries from the first one; none where there are fewer.
fn walk(encoded: &[u8], entries: usize) -> Option<Walk> {
    if entries == 0 {
        return Some(Walk::Tree { entries });
    }
    let (common, rest) = encoded.split_first_chunk()?;
    let common = i32::from_le_bytes(*common);
    let (codes, mut wide) = rest.split_at_checked(entries.div_ceil(4))?;
    // Levels down to each entry, the root's being 1; 0 where nothing has led to it.
    let mut levels = vec![0u16; entries];
    levels[0] = 1;
    let mut jump = 0i32;
    // Jumps lead ahead only. So when it is an entry's turn, whatever leads to it has been seen.
    for entry in 0..entries {
        let code = codes[entry / 4] >> (entry % 4 * 2) & 3;
        let delta = match code {
            0 => common,
            1 => i8::from_le_bytes(number(&mut wide)?).into(),
            2 => i16::from_le_bytes(number(&mut wide)?).into(),
            _ => i32::from_le_bytes(number(&mut wide)?),
        };
        jump = jump.wrapping_add(delta);
        let level = levels[entry];
        if level == 0 {
            continue;
        }
        if usize::from(level) > MAX_NESTING + 1 {
            return Some(Walk::Deep { entry });
        }
        // -2: neither child nor sibling; -1: a child, which is next; 0: a sibling, which is next; more: a child, which
        // is next, and a sibling so far ahead.
        let child = (jump > 0 || jump == -1).then_some((1, level + 1));
        let ahead = usize::try_from(jump).ok();
        for (ahead, level) in child.into_iter().chain(ahead.map(|n| (n.max(1), level))) {
            // Openusd ends where a jump leads behind the last.
            let Some(to) = entry.checked_add(ahead).filter(|&to| to < entries) else {
                continue;
            };
            if levels[to] != 0 {
                return Some(Walk::Twice { entry: to, entries });
            }
            levels[to] = level;
        }
    }
    Some(Walk::Tree { entries })
}

/// The next bytes of a number, which are taken away.
fn number<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*number)
}

/// Bytes of a file, never beyond its end.
struct Bytes<'a, F: ?Sized> {
    file: &'a mut F,
    size: u64,
    at: u64,
}

impl<F: Read + Seek + ?Sized> Bytes<'_, F> {
    fn seek(&mut self, to: u64) -> io::Result<()> {
        if to > self.size {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.at = self.file.seek(SeekFrom::Start(to))?;
        Ok(())
    }

    fn take(&mut self, length: u64) -> io::Result<Vec<u8>> {
        if length > self.size - self.at {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut out = vec![0; usize::try_from(length).map_err(|_| ErrorKind::InvalidData)?];
        self.file.read_exact(&mut out)?;
        self.at += length;
        Ok(out)
    }

    fn word(&mut self) -> io::Result<u64> {
        let mut word = [0; 8];
        self.file.read_exact(&mut word)?;
        self.at += 8;
        Ok(u64::from_le_bytes(word))
    }
}

#[cfg(test)]
mod tests;
