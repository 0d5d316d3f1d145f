//! Arrays that are cheap to clone.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An array of values. Clones share the elements.
pub struct Array<T>(Arc<Vec<T>>);

impl<T> Array<T> {
    /// The elements as a vector. Copies them if they are shared.
    #[must_use]
    pub fn into_vec(self) -> Vec<T>
    where
        T: Clone,
    {
        Arc::unwrap_or_clone(self.0)
    }

    /// Whether two arrays are the same elements in the same place, which makes them equal without a
    /// look at the elements.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(&raw const **self, &raw const **other)
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(vec: Vec<T>) -> Self {
        Self(Arc::new(vec))
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
