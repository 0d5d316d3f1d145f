//! Blend shapes as one table of offsets per point, which GPUs can gather from, and the weights for
//! it (UsdSkelBlendShapeQuery::ComputePackedShapeTable).

use std::ops::Range;
use std::sync::Arc;

use glam::Vec4;

use super::UtilError;
use super::error::same_length;
use crate::skel::{BlendShape, SubShape, resolve_weight};

/// One sub-shape's share of a channel weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubShapeWeight {
    /// The factor of the sub-shape's offsets.
    pub weight: f32,
    /// Index of the blend shape in skel:blendShapes.
    pub blend_shape: u32,
    /// Index of the sub-shape, as [`ShapeTable`] counts them.
    pub sub_shape: u32,
}

/// The offsets of all blend shapes of a prim, point by point.
///
/// Sub-shapes are numbered as in Pixar's query: one blend shape after the other, each by ascending
/// weight. Null shapes (at weight 0) have an index too, but no offsets. A missing blend shape has
/// no sub-shapes. The table has exactly the points of the prim and the offsets that exist. (Pixar's
/// table has one point too many for dense shapes, and unused places for offsets.)
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeTable {
    offsets: Vec<Vec4>,
    starts: Vec<usize>,
    /// Per blend shape, the index of its first sub-shape, and the weights of its sub-shapes without
    /// the null shape.
    channels: Vec<Channel>,
    sub_shape_count: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Channel {
    first: usize,
    weights: Vec<f64>,
}

impl Channel {
    /// Index of its `i`-th sub-shape. The null shape comes before the first of positive weight.
    fn sub_shape(&self, i: usize) -> usize {
        self.first + i + usize::from(self.weights[i] > 0.0)
    }
}

impl ShapeTable {
    /// The table of point offsets of a prim's blend shapes ([`crate::skel::Skin::shapes`]).
    ///
    /// # Panics
    /// If a shape was validated for more points.
    #[must_use]
    pub fn of_points(shapes: &[Option<Arc<BlendShape>>], point_count: usize) -> Self {
        Self::new(shapes, point_count, |sub| &sub.offsets)
    }

    /// The table of normal offsets. Pixar has no such table.
    ///
    /// # Panics
    /// If a shape was validated for more points.
    #[must_use]
    pub fn of_normals(shapes: &[Option<Arc<BlendShape>>], point_count: usize) -> Self {
        Self::new(shapes, point_count, |sub| {
            sub.normal_offsets.as_deref().unwrap_or_default()
        })
    }

    fn new(
        shapes: &[Option<Arc<BlendShape>>],
        point_count: usize,
        offsets_of: impl Fn(&SubShape) -> &[glam::Vec3],
    ) -> Self {
        let mut channels = Vec::with_capacity(shapes.len());
        let mut sub_shape_count = 0;
        for shape in shapes {
            let sub_shapes = shape.as_deref().map_or(&[][..], BlendShape::sub_shapes);
            channels.push(Channel {
                first: sub_shape_count,
                weights: sub_shapes.iter().map(|s| s.weight.into()).collect(),
            });
            // A blend shape that exists has a null shape.
            sub_shape_count += sub_shapes.len() + usize::from(shape.is_some());
        }
        let each_entry = |visit: &mut dyn FnMut(usize, Vec4)| {
            for (shape, channel) in shapes.iter().zip(&channels) {
                let Some(shape) = shape else { continue };
                for (i, sub) in shape.sub_shapes().iter().enumerate() {
                    for (entry, offset) in offsets_of(sub).iter().enumerate() {
                        visit(
                            shape.point_of(entry),
                            offset.extend(channel.sub_shape(i) as f32),
                        );
                    }
                }
            }
        };
        let mut starts = vec![0; point_count + 1];
        each_entry(&mut |point, _| starts[point + 1] += 1);
        for i in 0..point_count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut offsets = vec![Vec4::ZERO; starts[point_count]];
        each_entry(&mut |point, offset| {
            offsets[next[point]] = offset;
            next[point] += 1;
        });
        Self {
            offsets,
            starts,
            channels,
            sub_shape_count,
        }
    }

    /// The offsets of all points in prim space, one point after the other. `w` is the index of the
    /// sub-shape.
    #[must_use]
    pub fn offsets(&self) -> &[Vec4] {
        &self.offsets
    }

    /// The range of each point in [`ShapeTable::offsets`].
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.starts.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// Number of sub-shapes of all blend shapes, null shapes included.
    #[must_use]
    pub fn sub_shape_count(&self) -> usize {
        self.sub_shape_count
    }

    /// The weights of the sub-shapes for these channel weights, one per blend shape
    /// (UsdSkelBlendShapeQuery::ComputeSubShapeWeights; rules 14 to 16). Weights within 1e-6 of 0
    /// are left out, also those of shapes without in-betweens, which Pixar lists.
    ///
    /// # Errors
    /// Another number of weights than blend shapes.
    pub fn sub_shape_weights(&self, weights: &[f32]) -> Result<Vec<SubShapeWeight>, UtilError> {
        same_length(
            "channel weights, one per blend shape",
            self.channels.len(),
            weights.len(),
        )?;
        let mut out = Vec::new();
        for (blend_shape, (channel, weight)) in self.channels.iter().zip(weights).enumerate() {
            if channel.weights.is_empty() {
                continue;
            }
            let shares = resolve_weight(&channel.weights, f64::from(*weight));
            out.extend(shares.into_iter().flatten().map(|(i, w)| SubShapeWeight {
                weight: w as f32,
                blend_shape: blend_shape as u32,
                sub_shape: channel.sub_shape(i) as u32,
            }));
        }
        Ok(out)
    }

    /// The same as one weight per sub-shape (ComputeFlattenedSubShapeWeights). The `w` of the table
    /// is an index into it.
    ///
    /// # Errors
    /// As [`ShapeTable::sub_shape_weights`].
    pub fn flattened_sub_shape_weights(&self, weights: &[f32]) -> Result<Vec<f32>, UtilError> {
        let mut out = vec![0.0; self.sub_shape_count];
        for share in self.sub_shape_weights(weights)? {
            out[share.sub_shape as usize] = share.weight;
        }
        Ok(out)
    }
}
