//! Reads the parts of a crate file that `crate_paths` and `crate_values` look at before openusd does: the table of contents
//! and its sections. It goes when both are gone.
//!
//! Source of the layout: pxr/usd/sdf/crateFile.cpp and pxr/base/tf/fastCompression.cpp of OpenUSD 26.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

const MAGIC: &[u8] = b"PXR-USDC";
/// Most sections of a file that openusd reads.
const MOST_SECTIONS: u64 = 63;
/// An entry of the table of contents: name, start and size.
const SECTION: usize = 32;
/// Most bytes that a byte of LZ4 becomes.
const LZ4_RATIO: usize = 255;
/// Most bytes that openusd decompresses at once.
const MOST_BYTES: u64 = 4 << 30;

/// Bytes of a file, never beyond its end. Errors are [`ErrorKind::InvalidData`] or [`ErrorKind::UnexpectedEof`] where
/// openusd reads no further either; see [`broken`].
pub(crate) struct Bytes<'a, F: ?Sized> {
    file: &'a mut F,
    size: u64,
    at: u64,
}

/// Whether openusd reports this error itself, because the file as such can be read.
pub(crate) fn broken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}

impl<'a, F: Read + Seek + ?Sized> Bytes<'a, F> {
    pub fn new(file: &'a mut F) -> io::Result<Self> {
        let size = file.seek(SeekFrom::End(0))?;
        let at = file.seek(SeekFrom::Start(0))?;
        Ok(Self { file, size, at })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn position(&self) -> u64 {
        self.at
    }

    pub fn seek(&mut self, to: u64) -> io::Result<()> {
        if to > self.size {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.at = self.file.seek(SeekFrom::Start(to))?;
        Ok(())
    }

    pub fn take(&mut self, length: u64) -> io::Result<Vec<u8>> {
        if length > self.size - self.at {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut out = vec![0; usize::try_from(length).map_err(|_| ErrorKind::InvalidData)?];
        self.file.read_exact(&mut out)?;
        self.at += length;
        Ok(out)
    }

    pub fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut out = [0; N];
        self.file.read_exact(&mut out)?;
        self.at += N as u64;
        Ok(out)
    }

    pub fn word(&mut self) -> io::Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Goes to a section, by its name and the zero behind it; false where there is none.
    pub fn go_to_section(&mut self, name: &[u8]) -> io::Result<bool> {
        self.seek(0)?;
        let head: [u8; 24] = self.array()?;
        let table = head.strip_prefix(MAGIC).and_then(|head| head.last_chunk());
        let table = table.ok_or(ErrorKind::InvalidData)?;
        self.seek(u64::from_le_bytes(*table))?;
        let sections = self.word()?;
        if sections > MOST_SECTIONS {
            return Err(ErrorKind::InvalidData.into());
        }
        let table = self.take(sections * SECTION as u64)?;
        // Sizes are not looked at: openusd does not either.
        let start = table
            .chunks_exact(SECTION)
            .find(|section| section.starts_with(name))
            .and_then(|section| section[16..].first_chunk());
        match start {
            Some(start) => self.seek(u64::from_le_bytes(*start)).map(|()| true),
            None => Ok(false),
        }
    }

    /// Goes behind a compressed block.
    pub fn skip_block(&mut self) -> io::Result<()> {
        let size = self.word()?;
        self.seek(self.at.saturating_add(size))
    }

    /// What a compressed block holds, of which openusd makes room for so many bytes.
    pub fn block(&mut self, most: usize) -> io::Result<Vec<u8>> {
        let size = self.word()?;
        let compressed = self.take(size)?;
        // The number of chunks; none is one without a size. openusd reads no others: they are for more than 2 GB.
        let Some((0, block)) = compressed.split_first() else {
            return Err(ErrorKind::InvalidData.into());
        };
        let possible = compressed
            .len()
            .saturating_mul(LZ4_RATIO)
            .saturating_add(64);
        let possible = possible.min(usize::try_from(MOST_BYTES).unwrap_or(usize::MAX));
        let mut out = vec![0; most.min(possible)];
        let size = lz4_flex::block::decompress_into(block, &mut out);
        out.truncate(size.map_err(|_| ErrorKind::InvalidData)?);
        Ok(out)
    }
}
