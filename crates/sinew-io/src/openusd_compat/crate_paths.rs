//! Works around: openusd 0.8 follows the PATHS section of a crate file without asking whether it has been at an entry, so a
//! broken file can keep it busy for ever or take all memory. This file refuses such a crate before openusd reads it.
//!
//! Each entry of the section says by its jump where its children and its next sibling are, as distances ahead. 64 entries
//! whose jumps are 1, but for the last, lead to the second entry twice, to the third one four times, and so on, which never
//! ends. Here they are walked once, each entry at most once. Each path is a text of its own, so a few hundred bytes
//! that nest prims without end take all memory: nesting is held to the depth that usda text is ([`MAX_NESTING`]).
//!
//! openusd itself reports everything else that is wrong with a file.
//!
//! See the fault: `endless` in the tests below makes such jumps; open the file with openusd alone.
//!
//! Test: `endless_paths_are_refused_at_once` and `endless_nesting_is_refused_at_once` in `tests.rs` beside this file.
//!
//! Goes when: those tests pass without [`check`].
//!
//! Source of the layout: pxr/usd/sdf/crateFile.cpp (`_ReadCompressedPaths`, `_BuildDecompressedPathsImpl`) and
//! pxr/usd/sdf/integerCoding.h of OpenUSD 26.

use std::io::{self, ErrorKind, Read, Seek};

use crate::openusd_compat::crate_bytes::{Bytes, broken};
use crate::openusd_compat::text::MAX_NESTING;

/// Where the jumps of a file lead.
#[derive(Debug, PartialEq, Eq)]
enum Walk {
    /// To no entry twice.
    Tree { entries: usize },
    /// To an entry, of so many, again.
    Twice { entry: usize, entries: usize },
    /// Further down than [`MAX_NESTING`].
    Deep { entry: usize },
    /// Nowhere: the file cannot be read that far, which openusd reports.
    Broken,
}

/// Refuses a crate file whose paths lead to an entry twice or too deep, reading little more than its PATHS section, and
/// passes any other file. The position in the file ends anywhere.
///
/// # Errors
/// A file that cannot be read; one that would keep openusd busy for ever, or take all memory.
pub(crate) fn check(file: &mut (impl Read + Seek + ?Sized)) -> io::Result<()> {
    let walk = match encoded_jumps(file) {
        Ok((encoded, entries)) => walk(&encoded, entries).unwrap_or(Walk::Broken),
        Err(e) if broken(&e) => Walk::Broken,
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
/// As [`Bytes`] has them.
fn encoded_jumps(file: &mut (impl Read + Seek + ?Sized)) -> io::Result<(Vec<u8>, usize)> {
    let mut bytes = Bytes::new(file)?;
    if !bytes.go_to_section(b"PATHS\0")? {
        return Ok((Vec::new(), 0));
    }
    let (paths, entries) = (bytes.word()?, bytes.word()?);
    if paths.checked_sub(entries).is_none_or(|empty| empty > 1) {
        return Err(ErrorKind::InvalidData.into());
    }
    let entries = usize::try_from(entries).map_err(|_| ErrorKind::InvalidData)?;
    // In front of the jumps are the entries' places among the paths, and their names.
    bytes.skip_block()?;
    bytes.skip_block()?;
    // The common value, two bits for each integer, and at most four bytes.
    let most = entries
        .saturating_mul(4)
        .saturating_add(entries.div_ceil(4));
    Ok((bytes.block(most.saturating_add(4))?, entries))
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

#[cfg(test)]
pub(crate) mod tests;
