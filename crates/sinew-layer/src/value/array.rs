//! Arrays that are cheap to clone, in memory or in a mapped file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use memmap2::Mmap;

/// An array of values. Clones share the elements, which lie in memory or, without a copy, in a mapped
/// file.
pub struct Array<T>(Repr<T>);

enum Repr<T> {
    Memory(Arc<Vec<T>>),
    Mapped {
        file: Arc<Mmap>,
        start: *const T,
        len: usize,
    },
}

// A mapped file is read only, and elements of a mapped array are plain data (`Array::mapped`).
unsafe impl<T: Send + Sync> Send for Repr<T> {}
unsafe impl<T: Send + Sync> Sync for Repr<T> {}

impl<T> Array<T> {
    /// The elements in memory, as a vector. Copies them if they are shared or lie in a file.
    #[must_use]
    pub fn into_vec(self) -> Vec<T>
    where
        T: Clone,
    {
        match self.0 {
            Repr::Memory(vec) => Arc::try_unwrap(vec).unwrap_or_else(|vec| (*vec).clone()),
            Repr::Mapped { .. } => self.to_vec(),
        }
    }

    /// Whether two arrays are the same elements in the same place, which makes them equal without a
    /// look at the elements.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(&raw const **self, &raw const **other)
    }
}

impl<T: bytemuck::AnyBitPattern> Array<T> {
    /// `len` elements that begin at byte `offset` of a mapped file. None if the file ends before, or
    /// if the elements are not aligned there: then they have to be copied.
    pub(crate) fn mapped(file: &Arc<Mmap>, offset: usize, len: usize) -> Option<Self> {
        let bytes = len.checked_mul(size_of::<T>())?;
        let bytes = file.get(offset..offset.checked_add(bytes)?)?;
        let start = bytes.as_ptr().cast::<T>();
        if !start.is_aligned() || cfg!(target_endian = "big") {
            return None;
        }
        Some(Self(Repr::Mapped {
            file: Arc::clone(file),
            start,
            len,
        }))
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Repr::Memory(vec) => vec,
            // SAFETY: `mapped` checked bounds and alignment; the file stays mapped as long as `file` lives, and
            // every bit pattern is a value of `T`.
            Repr::Mapped { start, len, .. } => unsafe { std::slice::from_raw_parts(*start, *len) },
        }
    }
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Repr::Memory(vec) => Repr::Memory(Arc::clone(vec)),
            Repr::Mapped { file, start, len } => Repr::Mapped {
                file: Arc::clone(file),
                start: *start,
                len: *len,
            },
        })
    }
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(vec: Vec<T>) -> Self {
        Self(Repr::Memory(Arc::new(vec)))
    }
}

impl<T> FromIterator<T> for Array<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        Vec::from_iter(iter).into()
    }
}

impl<'a, T> IntoIterator for &'a Array<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn mapped_arrays_are_checked_and_shared() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytemuck::cast_slice(&[1.0f32, 2.0, 3.0, 4.0]))
            .unwrap();
        // SAFETY: nobody else has the file.
        let map = Arc::new(unsafe { Mmap::map(&file) }.unwrap());
        let array = Array::<[f32; 2]>::mapped(&map, 8, 1).unwrap();
        assert_eq!(*array, [[3.0, 4.0]]);
        assert!(array.is_same(&array.clone()));
        assert!(Array::<f32>::mapped(&map, 8, 3).is_none());
        assert!(Array::<f32>::mapped(&map, usize::MAX, 1).is_none());
        assert!(Array::<f32>::mapped(&map, 0, usize::MAX).is_none());
        assert!(Array::<f32>::mapped(&map, 2, 1).is_none());
        assert_eq!(array.clone().into_vec(), [[3.0, 4.0]]);
    }
}
