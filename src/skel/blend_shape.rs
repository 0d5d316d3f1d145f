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

/// A blend shape. Its sub-shapes are the primary shape and the in-betweens, sorted by weight.
#[derive(Clone, Debug, PartialEq)]
pub struct BlendShape {
    path: String,
    point_indices: Option<Vec<u32>>,
    sub_shapes: Vec<SubShape>,
    /// Why each sub-shape stops blending; `None` for those that are whole.
    faults: Vec<Option<Invalid>>,
}

impl BlendShape {
    /// Builds a blend shape for a prim of `point_count` points. What is wrong with it costs as little
    /// as in Pixar's code, and each fault is a warning:
    ///
    /// - a sub-shape with another number of offsets than of `point_indices`, or than of points if
    ///   there are no indices, keeps its place but has no offsets, and nothing blends where it takes
    ///   part ([`BlendShape::fault_at`]); no offsets at all are allowed;
    /// - the same holds for all sub-shapes if a point index is out of range (rule 18);
    /// - offsets that are not finite count as 0;
    /// - in-betweens with a weight that they cannot have (rule 13), and normal offsets of the wrong
    ///   number (rule 19), are dropped.
    pub fn new(
        path: impl Into<String>,
        point_indices: Option<&[i64]>,
        offsets: Vec<Vec3>,
        normal_offsets: Option<Vec<Vec3>>,
        inbetweens: Vec<Inbetween>,
        point_count: usize,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let path = path.into();
        let point_indices = point_indices.filter(|i| !i.is_empty());
        let point = |i: &i64| {
            u32::try_from(*i)
                .ok()
                .filter(|i| (*i as usize) < point_count)
        };
        let mut arrays = Arrays {
            path: &path,
            entries: point_indices.map_or(point_count, <[i64]>::len),
            counted: point_indices.map_or("points", |_| "pointIndices"),
            outside: None,
            warnings,
        };
        let mut indices = point_indices.map(|all| all.iter().filter_map(point).collect::<Vec<_>>());
        if let Some(outside) = point_indices.and_then(|all| all.iter().find(|i| point(i).is_none()))
        {
            let expected = format!("indices below {point_count}");
            let fault = Invalid::new(&path, "pointIndices", expected, outside.to_string());
            arrays.outside = Some(arrays.warn(fault.coded("point-index-range")));
            indices = None;
        }

        let (offsets, fault) = arrays.offsets("offsets", offsets);
        let normal_offsets = arrays.normal_offsets("normalOffsets", normal_offsets);
        let primary = SubShape {
            weight: 1.0,
            offsets,
            normal_offsets,
        };
        let mut sub_shapes = vec![(primary, fault)];
        for between in inbetweens {
            let property = format!("inbetweens:{}", between.name);
            let weight = match inbetween_weight(&between, &sub_shapes) {
                Ok(w) => w,
                // Without offsets nothing is lost; `fix` leaves such an in-between behind.
                Err(_) if between.offsets.is_empty() => continue,
                Err(reason) => {
                    let message = format!("in-between '{}' {reason}; it is skipped", between.name);
                    let warning = Warning::new("inbetween-skipped", &path, message);
                    arrays.warnings.push(warning.on(property));
                    continue;
                }
            };
            let (offsets, fault) = arrays.offsets(&property, between.offsets);
            let property = format!("{property}:normalOffsets");
            let shape = SubShape {
                weight,
                offsets,
                normal_offsets: arrays.normal_offsets(&property, between.normal_offsets),
            };
            sub_shapes.push((shape, fault));
        }
        sub_shapes.sort_by(|(a, _), (b, _)| a.weight.total_cmp(&b.weight));
        let (sub_shapes, faults) = sub_shapes.into_iter().unzip();
        Self {
            path,
            point_indices: indices,
            sub_shapes,
            faults,
        }
    }

    /// Why nothing blends at a channel weight: the fault of a sub-shape that takes part there.
    #[must_use]
    pub fn fault_at(&self, weight: f64) -> Option<&Invalid> {
        // Most shapes are whole.
        self.first_fault()?;
        let weights = self.sub_shape_weights(weight);
        let parts = weights.iter().zip(&self.faults).filter(|(w, _)| **w != 0.0);
        parts.filter_map(|(_, fault)| fault.as_ref()).next()
    }

    /// The fault of the first sub-shape that has one, whether or not it ever takes part.
    #[must_use]
    pub fn first_fault(&self) -> Option<&Invalid> {
        self.faults.iter().flatten().next()
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

/// What the arrays of a blend shape are held to.
struct Arrays<'a> {
    path: &'a str,
    /// How many offsets each sub-shape has to have, and what they are as many as.
    entries: usize,
    counted: &'static str,
    /// The fault of a point index, which is a fault of all offsets.
    outside: Option<Invalid>,
    warnings: &'a mut Vec<Warning>,
}

impl Arrays<'_> {
    fn warn(&mut self, fault: Invalid) -> Invalid {
        let code = fault.code.unwrap_or("offsets-count");
        let warning = Warning::new(code, self.path, fault.brief());
        self.warnings.push(warning.on(&fault.property));
        fault
    }

    /// The fault of offsets of the wrong number. Missing offsets move nothing and are no fault, as
    /// observed in usd-core.
    fn count_fault(&self, property: &str, offsets: &[Vec3]) -> Option<Invalid> {
        let fits = offsets.len() == self.entries || offsets.is_empty();
        let expected = format!("{} offsets, as many as {}", self.entries, self.counted);
        let found = offsets.len().to_string();
        (!fits).then(|| Invalid::new(self.path, property, expected, found))
    }

    /// The fault of offsets that are not finite.
    fn finite_fault(&self, property: &str, offsets: &[Vec3]) -> Option<Invalid> {
        let i = offsets.iter().position(|o| !o.is_finite())?;
        let found = format!("{} at {i}", offsets[i]);
        Some(Invalid::new(self.path, property, "finite offsets", found))
    }

    /// The offsets of a sub-shape that move points, and the fault that stops blending.
    fn offsets(&mut self, property: &str, mut offsets: Vec<Vec3>) -> (Vec<Vec3>, Option<Invalid>) {
        let (count, finite) = match property {
            "offsets" => ("offsets-count", "offsets-not-finite"),
            _ => ("inbetween-offsets", "inbetween-offsets"),
        };
        let fault = self.count_fault(property, &offsets);
        let fault = fault.map(|fault| self.warn(fault.coded(count)));
        let outside = self.outside.clone().filter(|_| !offsets.is_empty());
        if let Some(fault) = fault.or(outside) {
            return (Vec::new(), Some(fault));
        }
        if let Some(fault) = self.finite_fault(property, &offsets) {
            self.warn(fault.coded(finite));
            let broken = offsets.iter_mut().filter(|o| !o.is_finite());
            broken.for_each(|offset| *offset = Vec3::ZERO);
        }
        (offsets, None)
    }

    fn normal_offsets(&mut self, property: &str, normals: Option<Vec<Vec3>>) -> Option<Vec<Vec3>> {
        let normals = normals.filter(|n| !n.is_empty() && self.outside.is_none())?;
        let fault = self.count_fault(property, &normals);
        match fault.or_else(|| self.finite_fault(property, &normals)) {
            None => Some(normals),
            Some(fault) => {
                self.warn(fault.coded("normal-offsets-ignored"));
                None
            }
        }
    }
}

fn inbetween_weight(
    between: &Inbetween,
    taken: &[(SubShape, Option<Invalid>)],
) -> Result<f32, String> {
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
        .any(|(s, _)| (f64::from(s.weight) - w).abs() < WEIGHT_EPSILON)
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

    /// A shape of two offsets, with in-betweens of a weight and a number of offsets; of four points.
    fn shape(
        indices: Option<&[i64]>,
        offsets: usize,
        betweens: &[(f32, usize)],
    ) -> (BlendShape, Vec<&'static str>) {
        let betweens = betweens.iter().map(|(weight, offsets)| Inbetween {
            name: format!("at{weight}"),
            weight: Some(*weight),
            offsets: vec![Vec3::X; *offsets],
            normal_offsets: None,
        });
        let mut said = Vec::new();
        let (betweens, offsets) = (betweens.collect(), vec![Vec3::Y; offsets]);
        let shape = BlendShape::new("/S", indices, offsets, None, betweens, 4, &mut said);
        (shape, said.iter().map(|w| w.code).collect())
    }

    #[test]
    fn malformed_inbetweens_are_skipped() {
        let betweens = [(0.0, 4), (1.0, 4), (f32::NAN, 4), (0.5, 4), (0.5, 4)];
        let (shape, said) = shape(None, 4, &betweens);
        assert_eq!(shape.sub_shapes().len(), 2);
        assert_eq!(said, ["inbetween-skipped"; 4]);
        assert_eq!(shape.first_fault(), None);
    }

    #[test]
    fn a_fault_stops_blending_where_its_sub_shape_takes_part() {
        // Weights at which nothing blends, of -1, -0.9 and so on to 2.
        let stopped = |shape: &BlendShape| -> Vec<i32> {
            let weights = (-10..=20).map(|i| (i, f64::from(i) / 10.0));
            let stopped = weights.filter(|(_, w)| shape.fault_at(*w).is_some());
            stopped.map(|(i, _)| i).collect()
        };
        let but = |whole: &[i32]| -> Vec<i32> {
            let all = -10..=20;
            all.filter(|i| !whole.contains(i)).collect()
        };
        for (indices, offsets, betweens, expected, codes) in [
            (None, 4, &[][..], vec![], &[][..]),
            (None, 0, &[], vec![], &[]),
            (Some(&[0, 3][..]), 2, &[(0.5, 2)], vec![], &[]),
            (None, 4, &[(0.5, 0)], vec![], &[]),
            (None, 3, &[], but(&[0]), &["offsets-count"]),
            (None, 3, &[(0.5, 4)], (6..=20).collect(), &["offsets-count"]),
            (None, 4, &[(0.5, 3)], but(&[0, 10]), &["inbetween-offsets"]),
            (
                None,
                4,
                &[(-0.5, 3)],
                (-10..0).collect(),
                &["inbetween-offsets"],
            ),
            (
                None,
                4,
                &[(0.2, 4), (0.5, 3)],
                [3..10, 11..21].into_iter().flatten().collect(),
                &["inbetween-offsets"],
            ),
            (
                Some(&[0, 4]),
                2,
                &[(0.5, 2)],
                but(&[0]),
                &["point-index-range"],
            ),
            (
                Some(&[-1]),
                1,
                &[(0.5, 0)],
                (6..=20).collect(),
                &["point-index-range"],
            ),
        ] {
            let (shape, said) = shape(indices, offsets, betweens);
            let case = format!("{indices:?} {offsets} {betweens:?}");
            assert_eq!(stopped(&shape), expected, "{case}");
            assert_eq!(said, codes, "{case}");
        }
    }

    #[test]
    fn offsets_that_are_not_finite_count_as_0() {
        let offsets = vec![Vec3::NAN, Vec3::Y];
        let mut said = Vec::new();
        let shape = BlendShape::new("/S", None, offsets, None, vec![], 2, &mut said);
        assert_eq!(shape.sub_shapes()[0].offsets, [Vec3::ZERO, Vec3::Y]);
        assert_eq!(
            (shape.fault_at(1.0), said[0].code),
            (None, "offsets-not-finite")
        );
    }
}
