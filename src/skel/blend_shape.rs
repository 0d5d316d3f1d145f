//! Blend shapes and their in-betweens (UsdSkelBlendShape, UsdSkelBlendShapeQuery).

use glam::Vec3;

use crate::error::{Invalid, Warning};

/// usd-core's epsilon for weights. Two weights that differ by less are equal (rule 13). A sub-shape
/// whose weight is nearer to zero is dropped (rule 16).
pub const WEIGHT_EPSILON: f64 = 1e-6;

/// One of the shapes of a blend shape: an in-between, or the primary shape at weight 1.
#[derive(Clone, Debug, PartialEq)]
pub struct SubShape {
    /// The channel weight at which this shape alone is the result.
    pub weight: f32,
    /// One point offset per entry of `point_indices`, or per point, in prim space. Empty if the
    /// file has none; then no point moves.
    pub offsets: Vec<Vec3>,
    /// One normal offset per point offset; `None` if the file has none. An in-between does not use
    /// those of the primary shape (rule 19).
    pub normal_offsets: Option<Vec<Vec3>>,
}

/// An in-between as authored, before its weight is checked.
#[derive(Clone, Debug)]
pub struct Inbetween {
    /// The attribute's name after `inbetweens:`.
    pub name: String,
    /// The `weight` metadata.
    pub weight: Option<f32>,
    /// Point offsets in prim space. Empty if the attribute has no value: the in-between counts at
    /// its weight, and moves nothing.
    pub offsets: Vec<Vec3>,
    /// Normal offsets: the attribute `inbetweens:NAME:normalOffsets`.
    pub normal_offsets: Option<Vec<Vec3>>,
}

/// A validated blend shape. Its sub-shapes are the primary shape and the in-betweens, sorted by
/// weight.
#[derive(Clone, Debug, PartialEq)]
pub struct BlendShape {
    path: String,
    point_indices: Option<Vec<u32>>,
    sub_shapes: Vec<SubShape>,
}

impl BlendShape {
    /// Builds a blend shape for a prim of `point_count` points. Malformed in-betweens (rule 13)
    /// with offsets, and normal offsets of the wrong number (rule 19), are dropped with a warning.
    /// # Errors
    /// Another number of offsets than of `point_indices`, or than of points if there are no indices
    /// (an empty array is allowed); an index out of range; offsets that are not finite (rule 18).
    pub fn new(
        path: impl Into<String>,
        point_indices: Option<&[i64]>,
        offsets: Vec<Vec3>,
        normal_offsets: Option<Vec<Vec3>>,
        inbetweens: Vec<Inbetween>,
        point_count: usize,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, Invalid> {
        let path = path.into();
        let point_indices = point_indices.filter(|i| !i.is_empty());
        let entries = point_indices.map_or(point_count, <[i64]>::len);
        let indices = point_indices
            .map(|indices| {
                indices
                    .iter()
                    .map(|&i| {
                        u32::try_from(i)
                            .ok()
                            .filter(|i| (*i as usize) < point_count)
                            .ok_or_else(|| {
                                Invalid::new(
                                    &path,
                                    "pointIndices",
                                    format!("indices below {point_count}"),
                                    i.to_string(),
                                )
                                .coded("point-index-range")
                            })
                    })
                    .collect::<Result<Vec<u32>, _>>()
            })
            .transpose()?;
        let expected = || match &indices {
            Some(_) => format!("{entries} offsets, as many as pointIndices"),
            None => format!("{entries} offsets, as many as points"),
        };
        let check = |property: String, offsets: &[Vec3]| {
            // Missing offsets move nothing and are no error, as observed in usd-core.
            if offsets.len() != entries && !offsets.is_empty() {
                return Err(
                    Invalid::new(&path, property, expected(), offsets.len().to_string())
                        .coded("offsets-count"),
                );
            }
            match offsets.iter().position(|o| !o.is_finite()) {
                Some(i) => Err(Invalid::new(
                    &path,
                    property,
                    "finite offsets",
                    format!("{} at {i}", offsets[i]),
                )
                .coded("offsets-not-finite")),
                None => Ok(()),
            }
        };
        let mut check_normals = |property: String, normals: Option<Vec<Vec3>>| {
            let normals = normals.filter(|n| !n.is_empty())?;
            match check(property, &normals) {
                Ok(()) => Some(normals),
                Err(e) => {
                    warnings.push(
                        Warning::new("normal-offsets-ignored", &path, e.brief()).on(e.property),
                    );
                    None
                }
            }
        };

        check("offsets".into(), &offsets)?;
        let mut sub_shapes = vec![SubShape {
            weight: 1.0,
            offsets,
            normal_offsets: check_normals("normalOffsets".into(), normal_offsets),
        }];
        let mut rejected = Vec::new();
        for between in inbetweens {
            let property = format!("inbetweens:{}", between.name);
            let weight = match inbetween_weight(&between, &sub_shapes) {
                Ok(w) => w,
                // Without offsets nothing is lost; `fix` leaves such an in-between behind.
                Err(_) if between.offsets.is_empty() => continue,
                Err(reason) => {
                    let message = format!("in-between '{}' {reason}; it is skipped", between.name);
                    rejected.push(Warning::new("inbetween-skipped", &path, message).on(property));
                    continue;
                }
            };
            check(property.clone(), &between.offsets)?;
            sub_shapes.push(SubShape {
                weight,
                offsets: between.offsets,
                normal_offsets: check_normals(
                    format!("{property}:normalOffsets"),
                    between.normal_offsets,
                ),
            });
        }
        warnings.extend(rejected);
        sub_shapes.sort_by(|a, b| a.weight.total_cmp(&b.weight));
        Ok(Self {
            path,
            point_indices: indices,
            sub_shapes,
        })
    }

    /// Prim path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The point of each offset; `None` if there is an offset for every point in order.
    #[must_use]
    pub fn point_indices(&self) -> Option<&[u32]> {
        self.point_indices.as_deref()
    }

    /// Sub-shapes by ascending weight.
    #[must_use]
    pub fn sub_shapes(&self) -> &[SubShape] {
        &self.sub_shapes
    }

    /// Whether some sub-shape has normal offsets.
    #[must_use]
    pub fn has_normal_offsets(&self) -> bool {
        self.sub_shapes.iter().any(|s| s.normal_offsets.is_some())
    }

    /// The point of the `entry`-th offset.
    ///
    /// # Panics
    /// If `entry` is out of range of `point_indices`.
    #[must_use]
    pub fn point_of(&self, entry: usize) -> usize {
        self.point_indices
            .as_ref()
            .map_or(entry, |i| i[entry] as usize)
    }

    /// Splits a channel weight among the sub-shapes: one weight per sub-shape (rules 13 to 16).
    #[must_use]
    pub fn sub_shape_weights(&self, weight: f64) -> Vec<f64> {
        let weights: Vec<f64> = self
            .sub_shapes
            .iter()
            .map(|s| f64::from(s.weight))
            .collect();
        let mut out = vec![0.0; weights.len()];
        for (i, w) in resolve_weight(&weights, weight).into_iter().flatten() {
            out[i] = w;
        }
        out
    }
}

fn inbetween_weight(between: &Inbetween, taken: &[SubShape]) -> Result<f32, String> {
    let weight = between.weight.ok_or("has no weight")?;
    let w = f64::from(weight);
    if !w.is_finite() {
        return Err(format!("has the weight {w}"));
    }
    if w.abs() < WEIGHT_EPSILON {
        return Err("has weight 0, which is the null shape's".into());
    }
    if (w - 1.0).abs() < WEIGHT_EPSILON {
        return Err("has weight 1, which is the primary shape's".into());
    }
    if taken
        .iter()
        .any(|s| (f64::from(s.weight) - w).abs() < WEIGHT_EPSILON)
    {
        return Err(format!("has weight {w}, as another in-between before it"));
    }
    Ok(weight)
}

/// Splits a channel weight among sub-shapes: at most two pairs of a sub-shape's index and its
/// weight (rules 13 to 16).
///
/// `weights` are the weights of the sub-shapes, ascending. The *null shape*, which is at 0 and adds
/// nothing, is not listed. A single primary shape gets the channel weight as it is. Otherwise the
/// two shapes on either side of the channel weight share it; the null shape counts as one of them.
/// Beyond the first or last shape, the two nearest shapes extrapolate. Weights nearer to zero than
/// [`WEIGHT_EPSILON`] are dropped.
#[must_use]
pub fn resolve_weight(weights: &[f64], weight: f64) -> [Option<(usize, f64)>; 2] {
    let keep = |i: Option<usize>, w: f64| i.filter(|_| w.abs() > WEIGHT_EPSILON).map(|i| (i, w));
    if weights.len() == 1 {
        return [keep(Some(0), weight), None];
    }
    if weights.is_empty() {
        return [None, None];
    }
    // All shapes in the order of their weights, with the null shape as `None`.
    let nulls_place = weights.partition_point(|w| *w < 0.0);
    let shape_at = |place: usize| match place.cmp(&nulls_place) {
        std::cmp::Ordering::Less => (Some(place), weights[place]),
        std::cmp::Ordering::Equal => (None, 0.0),
        std::cmp::Ordering::Greater => (Some(place - 1), weights[place - 1]),
    };
    let count = weights.len() + 1;
    let mut upper = 1;
    while upper < count - 1 && shape_at(upper).1 < weight {
        upper += 1;
    }
    let (lower_shape, lower_weight) = shape_at(upper - 1);
    let (upper_shape, upper_weight) = shape_at(upper);
    let alpha = (weight - lower_weight) / (upper_weight - lower_weight);
    [keep(lower_shape, 1.0 - alpha), keep(upper_shape, alpha)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: [Option<(usize, f64)>; 2], want: &[(usize, f64)]) {
        let got: Vec<_> = got.into_iter().flatten().collect();
        assert_eq!(got.len(), want.len(), "{got:?} {want:?}");
        for (g, w) in got.iter().zip(want) {
            assert!(g.0 == w.0 && (g.1 - w.1).abs() < 1e-12, "{got:?} {want:?}");
        }
    }

    #[test]
    fn without_inbetweens_the_weight_is_raw() {
        close(resolve_weight(&[1.0], -3.0), &[(0, -3.0)]);
        close(resolve_weight(&[1.0], 0.0), &[]);
    }

    #[test]
    fn brackets_and_extrapolates() {
        let w = [0.25, 0.5, 1.0];
        close(resolve_weight(&w, -0.25), &[(0, -1.0)]); // the schema text's own example
        close(resolve_weight(&w, 0.125), &[(0, 0.5)]);
        close(resolve_weight(&w, 0.375), &[(0, 0.5), (1, 0.5)]);
        close(resolve_weight(&w, 0.75), &[(1, 0.5), (2, 0.5)]);
        close(resolve_weight(&w, 1.5), &[(1, -1.0), (2, 2.0)]);
    }

    #[test]
    fn negative_and_large_inbetweens() {
        let w = [-0.5, 1.0, 1.5];
        close(resolve_weight(&w, -1.0), &[(0, 2.0)]);
        close(resolve_weight(&w, -0.25), &[(0, 0.5)]);
        close(resolve_weight(&w, 0.5), &[(1, 0.5)]);
        close(resolve_weight(&w, 2.0), &[(1, -1.0), (2, 2.0)]);
    }

    #[test]
    fn malformed_inbetweens_are_skipped() {
        let between = |name: &str, weight: Option<f32>| Inbetween {
            name: name.into(),
            weight,
            offsets: vec![Vec3::X],
            normal_offsets: None,
        };
        let mut warnings = Vec::new();
        let shape = BlendShape::new(
            "/S",
            None,
            vec![Vec3::Y],
            None,
            vec![
                between("zero", Some(0.0)),
                between("one", Some(1.0)),
                between("none", None),
                between("half", Some(0.5)),
                between("again", Some(0.5)),
            ],
            1,
            &mut warnings,
        )
        .unwrap();
        assert_eq!(shape.sub_shapes().len(), 2);
        assert_eq!(warnings.len(), 4);
    }

    #[test]
    fn wrong_sizes_and_indices() {
        let make = |indices: Option<&[i64]>, n: usize| {
            BlendShape::new(
                "/S",
                indices,
                vec![Vec3::X; n],
                None,
                vec![],
                4,
                &mut Vec::new(),
            )
        };
        assert!(make(None, 4).is_ok());
        assert!(make(None, 0).is_ok());
        assert!(make(None, 3).unwrap_err().to_string().contains("4 offsets"));
        assert!(make(Some(&[0, 3]), 2).is_ok());
        assert!(
            make(Some(&[0, 4]), 2)
                .unwrap_err()
                .to_string()
                .contains("found 4")
        );
        assert!(make(Some(&[-1]), 1).is_err());
    }
}
