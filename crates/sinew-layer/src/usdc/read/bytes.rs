//! The bytes of a file in memory, and a checked way through them.

use std::ops::Deref;
use std::sync::Arc;

use crate::value::Array;

#[cfg(target_endian = "big")]
compile_error!("crate files are read as they lie in memory, which has to be little-endian");

/// A part of a file in memory. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    file: Arc<Vec<u8>>,
    start: usize,
    len: usize,
}

impl Bytes {
    /// A part of these bytes; none if they end before.
    pub fn part(&self, start: usize, len: usize) -> Option<Self> {
        let end = start.checked_add(len)?;
        (end <= self.len).then(|| Self {
            file: Arc::clone(&self.file),
            start: self.start + start,
            len,
        })
    }

    /// A copy of `len` elements from byte `offset` on. None if the file ends before.
    pub fn array<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        offset: usize,
        len: usize,
    ) -> Option<Array<T>> {
        let bytes = self.get(offset..offset.checked_add(len.checked_mul(size_of::<T>())?)?)?;
        Some(bytemuck::pod_collect_to_vec(bytes).into())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            start: 0,
            len: bytes.len(),
            file: Arc::new(bytes),
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.file[self.start..self.start + self.len]
    }
}

/// What is wrong with a crate file, and where.
#[derive(Debug)]
pub(crate) struct Bad {
    /// The offset in the file.
    pub at: usize,
    pub reason: String,
    /// Whether the file is newer than this crate, not broken.
    pub unsupported: bool,
}

impl Bad {
    pub fn new(at: usize, reason: impl Into<String>) -> Self {
        Self {
            at,
            reason: reason.into(),
            unsupported: false,
        }
    }

    pub fn unsupported(at: usize, reason: impl Into<String>) -> Self {
        Self {
            unsupported: true,
            ..Self::new(at, reason)
        }
    }
}

pub(crate) type Checked<T> = Result<T, Bad>;

/// Reads one value after the other. Offsets count from the start of the file, and nothing from `end` on is read.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// `bytes` is the file up to the end of what may be read.
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    pub fn take(&mut self, len: usize) -> Checked<&'a [u8]> {
        let end = self.at.checked_add(len);
        match end.and_then(|end| self.bytes.get(self.at..end)) {
            Some(taken) => {
                self.at += len;
                Ok(taken)
            }
            None => Err(Bad::new(
                self.at,
                format!("{len} bytes are expected, {} are left", self.left()),
            )),
        }
    }

    /// A number, or several in an array, as it lies in memory.
    pub fn plain<T: bytemuck::AnyBitPattern>(&mut self) -> Checked<T> {
        Ok(bytemuck::pod_read_unaligned(self.take(size_of::<T>())?))
    }

    pub fn u32(&mut self) -> Checked<u32> {
        self.plain()
    }

    pub fn u64(&mut self) -> Checked<u64> {
        self.plain()
    }

    /// A count of things that need at least `size` bytes each, all of which have to be there.
    pub fn count(&mut self, size: usize) -> Checked<usize> {
        let at = self.at;
        let count = self.u64()?;
        self.fits(count, size).ok_or_else(|| {
            let left = self.left();
            Bad::new(
                at,
                format!("{count} elements are claimed, {left} bytes are left"),
            )
        })
    }

    /// `count` if that many things of `size` bytes are left.
    pub fn fits(&self, count: u64, size: usize) -> Option<usize> {
        let count = usize::try_from(count).ok()?;
        (count.checked_mul(size)? <= self.left()).then_some(count)
    }

    /// Follows an offset that counts from where it stands.
    pub fn jump(&mut self) -> Checked<()> {
        let start = self.at;
        let offset: i64 = self.plain()?;
        let to = i64::try_from(start)
            .ok()
            .and_then(|start| start.checked_add(offset))
            .and_then(|to| usize::try_from(to).ok())
            .filter(|to| *to < self.bytes.len());
        match to {
            Some(to) => {
                self.at = to;
                Ok(())
            }
            None => Err(Bad::new(
                start,
                format!("the offset {offset} leads out of the file"),
            )),
        }
    }
}
