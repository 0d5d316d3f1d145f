//! Packing: skins that take fewer bytes on the GPU and lose precision.

use glam::{Vec3, Vec4};

use super::codecs::{Grid, direction_of, fraction, fractions, octahedral};
use super::slices::{Results, Sizes};
use crate::error::Invalid;
use crate::kernel::registry::{COMPACT_NORMAL, COMPACT_ONE, FINE_NORMAL, FINE_ONE};
use crate::kernel::{PackedInfluences, PackedSkin};
use crate::skel::SkinningMethod;

/// How many bits the rest points, rest normals and weights of a skin take on the GPU.
///
/// Sizes below are for a point with a normal and four influences, in a skeleton of at most 255
/// joints. An error is that of one value. The error of a weight moves a point by at most that error
/// times the distance between the places where its joints alone would move it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Packing {
    /// 44 bytes: values are not rounded. Palette indices take a byte if the skeleton has at most
    /// 255 joints.
    #[default]
    Exact,
    /// 24 bytes.
    ///
    /// - Points lie on a cubic grid of 2^21 steps: the error is at most 4.8e-7 of the largest
    ///   extent, and half a step of f32 there.
    /// - Normals are octahedral directions of twice 16 bits: the error is at most 5e-5.
    /// - Weights are fractions of 65535 that keep their sum: the error is less than 1.6e-5.
    Fine,
    /// 16 bytes, for points with at most four weights that are not zero, and at most 255 joints.
    ///
    /// - Points lie on a cubic grid of 2^16 steps: the error is at most 1.6e-5 of the largest
    ///   extent.
    /// - Normals are octahedral directions of twice 11 bits: the error is at most 1.5e-3.
    /// - Weights are fractions of 1023 that add up to 1: the error is less than 9.8e-4.
    Compact,
}

impl PackedSkin {
    /// Returns this skin with values that take fewer bytes. Rounding happens here: both backends,
    /// and everything else that reads the new skin, use the rounded values. [`Packing::Exact`]
    /// changes nothing, and does not undo an earlier packing.
    ///
    /// A skin can be packed if it has linear blend skinning and a normal per point or none. It must
    /// not have blend shapes, constant influences, render vertices or faceVarying normals, and
    /// [`PackedSkin::with_vertices`] refuses it afterwards. Rest normals lose their length, which
    /// skinning does not use. A packed skin needs poses with a palette.
    ///
    /// # Errors
    /// A skin of another kind; weights that are negative or above 1. For [`Packing::Compact`] also
    /// a fifth weight that is not zero, weights that do not sum to 1, or more than 255 joints.
    pub fn with_packing(mut self, packing: Packing) -> Result<Self, Invalid> {
        if packing == Packing::Exact {
            return Ok(self);
        }
        let refuse = |property: &str, expected: &str, found: &str| {
            Err(Invalid::new(self.prim(), property, expected, found))
        };
        let (true, Some(influences)) = (self.suits_multi_pose_lbs(), &self.influences) else {
            let expected = "linear blend skinning, with a normal per point or none, to pack";
            return refuse("points", expected, "a skin of another kind");
        };
        let influences = match packing {
            Packing::Exact | Packing::Fine => fine(self.prim(), self.points.len(), influences)?,
            Packing::Compact if self.palette_entry_count() > 256 => {
                return refuse(
                    "skel:joints",
                    "at most 255 joints to pack",
                    &(self.palette_entry_count() - 1).to_string(),
                );
            }
            Packing::Compact => compact(self.prim(), self.points.len(), influences)?,
        };
        let (bits, largest) = match packing {
            Packing::Exact | Packing::Fine => (21, FINE_NORMAL),
            Packing::Compact => (16, COMPACT_NORMAL),
        };
        let grid = Grid::around(&self.points, bits);
        for point in &mut self.points {
            *point = grid.point(grid.steps(*point));
        }
        for normal in self.normals.iter_mut().flatten() {
            *normal = direction_of(octahedral(*normal, largest), largest);
        }
        self.influences = Some(influences);
        self.packing = packing;
        self.grid = grid;
        Ok(self)
    }

    /// How many bits its values take on the GPU.
    #[must_use]
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The grid that packed points lie on.
    pub(super) fn grid(&self) -> Grid {
        self.grid
    }

    /// Whether [`crate::kernel::MULTI_POSE_LBS`] can skin it: linear blend skinning with influences
    /// per point, and a normal per point, smooth normals or none.
    #[must_use]
    pub(crate) fn suits_multi_pose_lbs(&self) -> bool {
        self.method() == SkinningMethod::ClassicLinear
            && self.influences.as_ref().is_some_and(|i| !i.is_constant())
            && self.blend.is_none()
            && self.vertices.is_none()
            && self.normal_points.is_none()
    }
}

fn wrong_weight(prim: &str, point: usize, expected: &str, found: String) -> Invalid {
    let found = format!("{found} at point {point}");
    Invalid::new(prim, "primvars:skel:jointWeights", expected, found)
}

/// Copies the weights of a point to `out`, and checks that they are from 0 to 1.
fn checked(
    prim: &str,
    point: usize,
    weights: impl Iterator<Item = f32>,
    out: &mut Vec<f32>,
) -> Result<(), Invalid> {
    out.clear();
    out.extend(weights);
    match out.iter().find(|w| !(0.0..=1.0).contains(*w)) {
        Some(w) => Err(wrong_weight(
            prim,
            point,
            "weights from 0 to 1 to pack",
            w.to_string(),
        )),
        None => Ok(()),
    }
}

/// Rounds influences to weights that are fractions of 65535.
fn fine(
    prim: &str,
    points: usize,
    influences: &PackedInfluences,
) -> Result<PackedInfluences, Invalid> {
    let (mut indices, mut rounded) = (Vec::new(), Vec::new());
    let (mut weights, mut whole) = (Vec::new(), Vec::new());
    for point in 0..points {
        let own = || influences.of_point(point);
        checked(prim, point, own().map(|(_, w)| w), &mut weights)?;
        fractions(&weights, FINE_ONE, &mut whole);
        indices.extend(own().map(|(index, _)| index));
        rounded.extend(whole.iter().map(|q| fraction(*q, FINE_ONE)));
    }
    let count = influences.count() as usize;
    Ok(PackedInfluences::of_lists(
        count,
        &indices,
        &rounded,
        SkinningMethod::ClassicLinear,
    ))
}

/// Rounds influences to four weights that are fractions of 1023, the largest first. All other
/// weights must round to 0.
fn compact(
    prim: &str,
    points: usize,
    influences: &PackedInfluences,
) -> Result<PackedInfluences, Invalid> {
    let (mut indices, mut rounded) = (Vec::new(), Vec::new());
    let (mut weights, mut whole) = (Vec::new(), Vec::new());
    for point in 0..points {
        checked(
            prim,
            point,
            influences.of_point(point).map(|(_, w)| w),
            &mut weights,
        )?;
        fractions(&weights, COMPACT_ONE, &mut whole);
        let left = whole.iter().filter(|q| **q != 0).count();
        if left > 4 {
            let expected = "at most four weights of 1/2046 or more to pack";
            return Err(wrong_weight(prim, point, expected, left.to_string()));
        }
        if whole.iter().sum::<u32>() != COMPACT_ONE {
            let sum: f32 = weights.iter().sum();
            return Err(wrong_weight(
                prim,
                point,
                "weights that sum to 1 to pack",
                sum.to_string(),
            ));
        }
        let mut all: Vec<(u32, u16)> = whole
            .iter()
            .zip(influences.of_point(point))
            .map(|(q, (index, _))| (*q, index))
            .collect();
        // The sort is stable: of equal weights, the first authored stays first.
        all.sort_by_key(|(q, _)| std::cmp::Reverse(*q));
        all.resize(4, (0, 0));
        indices.extend(all.iter().map(|(_, index)| *index));
        rounded.extend(all.iter().map(|(q, _)| fraction(*q, COMPACT_ONE)));
    }
    Ok(PackedInfluences::of_lists(
        4,
        &indices,
        &rounded,
        SkinningMethod::ClassicLinear,
    ))
}

/// Number of bytes that the kernels move per point of a skin, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointBytes {
    /// Bytes of static data that are read: rest points, rest normals, influences and indices. Poses
    /// of one skin share a reading, up to [`crate::kernel::POSES_PER_ITEM`] of them.
    pub read: f64,
    /// Bytes of results that are written: 12 per position, 12 per normal and 16 per tangent.
    pub written: f64,
}

impl PackedSkin {
    /// Number of bytes that skinning moves per point, on average over the skin. Face corners and
    /// render vertices count for their points. It leaves out palettes (96 bytes per joint and
    /// instance) and blend entries, which depend on the active shapes.
    ///
    /// An instance writes 12 bytes less if its target leaves normals out, and 8 bytes less if it
    /// asks for octahedral ones.
    #[must_use]
    pub fn bytes_per_point(&self) -> PointBytes {
        let points = self.point_count();
        if points == 0 {
            return PointBytes::default();
        }
        let results = match &self.vertices {
            Some(vertices) => Results::Vertices(vertices.points()),
            None => Results::Points,
        };
        let sizes = Sizes::new(self, results);
        let neighbors = self
            .smooth_normals
            .as_ref()
            .map_or(0, |n| n.neighbors().len() * 2);
        let mut words = sizes.once() - sizes.blend_row
            + (sizes.per_point() - sizes.blend_row) * points as u64
            + sizes.per_result() * self.output_count() as u64
            + neighbors as u64;
        if let (None, Some(corners)) = (&self.vertices, &self.normal_points) {
            let sizes = Sizes::new(self, Results::Corners(corners));
            words += sizes.per_result() * corners.len() as u64;
        }
        let tangents = self.tangents().map_or(0, <[_]>::len) * size_of::<Vec4>();
        let vectors = (self.output_count() + self.output_normal_count()) * size_of::<Vec3>();
        PointBytes {
            read: words as f64 * 4.0 / points as f64,
            written: (vectors + tangents) as f64 / points as f64,
        }
    }
}
