//! A buffered file that counts its bytes.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use super::super::format::HEADER;

/// A buffered file that counts its bytes.
pub(super) struct Output<W: Write> {
    out: BufWriter<W>,
    /// Where the file starts in `out`.
    start: u64,
    /// Where the next byte goes, counted from the file's start.
    pub position: u64,
}

impl<W: Write + Seek> Output<W> {
    pub fn new(mut out: W) -> io::Result<Self> {
        let start = out.stream_position()?;
        let mut out = Self {
            out: BufWriter::with_capacity(1 << 19, out),
            start,
            position: 0,
        };
        out.write(&[0; HEADER as usize])?;
        Ok(out)
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Goes on to a multiple of 8.
    pub fn align(&mut self) -> io::Result<()> {
        let gap = self.position.next_multiple_of(8) - self.position;
        self.write(&[0; 8][..gap as usize])
    }

    pub fn write_header(&mut self, header: &[u8]) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(self.start))?;
        self.out.write_all(header)?;
        self.out.seek(SeekFrom::Start(self.start + self.position))?;
        Ok(())
    }

    pub fn into_inner(self) -> io::Result<W> {
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
    }
}
