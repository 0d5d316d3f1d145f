//! What a bake changes, as plain data.

use sinew::sampled::Time;
use sinew::scene::NormalsProperty;

/// Values by ascending time, or one at the default time.
pub type Samples<T> = Vec<(Time, T)>;

/// Points or normals of a prim at one time: the values, or the place of values that are on disk already.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedArray(pub(crate) Kept);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kept {
    Here(Vec<glam::Vec3>),
    /// Offset in the file that [`BakeOutput`](crate::usd::BakeOutput) is writing.
    InFile(u64),
}

impl From<Vec<glam::Vec3>> for BakedArray {
    fn from(values: Vec<glam::Vec3>) -> Self {
        Self(Kept::Here(values))
    }
}

impl BakedArray {
    /// The values, where they are in memory.
    #[must_use]
    pub fn held(&self) -> Option<&[glam::Vec3]> {
        match &self.0 {
            Kept::Here(values) => Some(values),
            Kept::InFile(_) => None,
        }
    }
}

/// What a bake writes of one prim; a property without samples is left as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedPrim {
    pub path: String,
    /// Prims of other instances of the same prototype that come out the same.
    pub copies: Vec<String>,
    /// Deformed points, in the space that was asked for.
    pub points: Samples<BakedArray>,
    /// Deformed normals, of each property that holds some.
    pub normals: Vec<(NormalsProperty, Samples<BakedArray>)>,
    /// Corners of the points' bounding box, widths included.
    pub extent: Samples<[glam::Vec3; 2]>,
    /// The transform that replaces the prim's own, where one does.
    pub transform: Option<BakedTransform>,
}

impl BakedPrim {
    /// Every prim that this is of.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.path)
            .chain(&self.copies)
            .map(String::as_str)
    }
}

/// A transform that replaces a prim's own.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedTransform {
    /// Whether it leaves out the parents' (`!resetXformStack!`).
    pub resets: bool,
    /// parent_from_prim, or world_from_prim where it resets.
    pub samples: Samples<glam::DMat4>,
}

/// The extentsHint of a prim above baked ones (rule 32).
#[derive(Debug, PartialEq)]
pub struct BakedHint {
    pub path: String,
    /// Corners of the bounding box of all below, in the prim's own space: a pair for each purpose, in the
    /// order default, render, proxy, guide, up to the last that is not empty.
    pub samples: Samples<Vec<glam::Vec3>>,
}

/// What a bake changes.
#[derive(Debug, Default)]
pub struct BakeEdits {
    pub prims: Vec<BakedPrim>,
    pub hints: Vec<BakedHint>,
    /// SkelRoots that become Xforms (rule 32).
    pub retype: Vec<String>,
}
