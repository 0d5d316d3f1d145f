//! Definitions of blend shapes for writing, as plain data. They are checked against the rules
//! before they are written.

use glam::Vec3;

use super::{BlendShape, Inbetween};
use crate::error::Invalid;

/// An in-between of a blend shape, for writing (UsdSkelInbetweenShape).
#[derive(Clone, Debug, PartialEq)]
pub struct InbetweenDef {
    /// Its name, which follows `inbetweens:` in the attribute's name.
    pub name: String,
    /// The channel weight at which it alone is the result. It must not be 0 or 1, or the weight of
    /// another in-between (rule 13). It may be below 0 or above 1.
    pub weight: f32,
    /// Offsets from the rest points, in prim space; as many as the blend shape has.
    pub offsets: Vec<Vec3>,
    /// As many normal offsets, or none. An in-between does not use those of the blend shape (rule
    /// 19).
    pub normal_offsets: Option<Vec<Vec3>>,
}

impl InbetweenDef {
    /// The same in-between as a reader returns it.
    #[must_use]
    pub fn as_read(&self) -> Inbetween {
        Inbetween {
            name: self.name.clone(),
            weight: Some(self.weight),
            offsets: self.offsets.clone(),
            normal_offsets: self.normal_offsets.clone(),
        }
    }
}

/// A blend shape, for writing (UsdSkelBlendShape).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlendShapeDef {
    /// Name of its prim, and its token in skel:blendShapes.
    pub name: String,
    /// The points that the offsets belong to; `None` for all points in order.
    pub point_indices: Option<Vec<u32>>,
    /// Offsets from the rest points, in prim space.
    pub offsets: Vec<Vec3>,
    /// One normal offset per point offset, or none.
    pub normal_offsets: Option<Vec<Vec3>>,
    /// Shapes at other channel weights than 1. Names and weights must be unique.
    pub inbetweens: Vec<InbetweenDef>,
}

impl BlendShapeDef {
    /// Creates the sparse shape that moves `rest` points to `sculpted` ones. Only points that move
    /// by more than `tolerance` get offsets.
    ///
    /// # Errors
    /// Another number of sculpted points than rest points.
    pub fn from_sculpt(
        name: impl Into<String>,
        rest: &[Vec3],
        sculpted: &[Vec3],
        tolerance: f32,
    ) -> Result<Self, Invalid> {
        let name = name.into();
        if rest.len() != sculpted.len() {
            let expected = format!("{} points, as many as at rest", rest.len());
            let found = sculpted.len().to_string();
            return Err(Invalid::new(name, "points", expected, found));
        }
        let offsets = rest.iter().zip(sculpted).map(|(r, s)| *s - *r);
        // A NaN counts as moved, so that validation refuses it.
        let moved = |offset: &Vec3| offset.is_nan() || offset.length() > tolerance;
        let (point_indices, offsets) = (0..).zip(offsets).filter(|(_, o)| moved(o)).unzip();
        Ok(Self {
            name,
            point_indices: Some(point_indices),
            offsets,
            ..Self::default()
        })
    }

    /// Validates the shape for a prim of `point_count` points. Problems that are warnings for a
    /// reader are errors here.
    ///
    /// # Errors
    /// Every fault that [`BlendShape::new`] warns of, and two in-betweens of one name.
    pub fn validate(&self, path: &str, point_count: usize) -> Result<BlendShape, Invalid> {
        for (i, between) in self.inbetweens.iter().enumerate() {
            if self.inbetweens[..i].iter().any(|b| b.name == between.name) {
                return Err(Invalid::new(
                    path,
                    format!("inbetweens:{}", between.name),
                    "in-betweens of different names",
                    "two of this name",
                ));
            }
        }
        let indices = self.point_indices.as_ref().map(|indices| {
            let wide = indices.iter().map(|i| i64::from(*i));
            wide.collect::<Vec<_>>()
        });
        let mut warnings = Vec::new();
        let shape = BlendShape::new(
            path,
            indices.as_deref(),
            self.offsets.clone(),
            self.normal_offsets.clone(),
            self.inbetweens.iter().map(InbetweenDef::as_read).collect(),
            point_count,
            &mut warnings,
        );
        match (shape.first_fault(), warnings.into_iter().next()) {
            (Some(fault), _) => Err(fault.clone()),
            (None, Some(w)) => Err(Invalid::new(path, "", "a well-formed shape", w.message)),
            (None, None) => Ok(shape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sculpt_keeps_what_moved() {
        let rest = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let sculpted = [Vec3::ZERO, Vec3::new(1.0, 0.5, 0.0), Vec3::Y * 1.0001];
        let shape = BlendShapeDef::from_sculpt("Smile", &rest, &sculpted, 1e-3).unwrap();
        assert_eq!(shape.point_indices, Some(vec![1]));
        assert_eq!(shape.offsets, [Vec3::Y * 0.5]);
        assert!(shape.validate("/Smile", 3).is_ok());
        assert!(BlendShapeDef::from_sculpt("Smile", &rest, &sculpted[1..], 0.0).is_err());
    }

    #[test]
    fn what_readers_overlook_is_refused() {
        let between = |name: &str, weight: f32| InbetweenDef {
            name: name.into(),
            weight,
            offsets: vec![Vec3::X; 2],
            normal_offsets: None,
        };
        let shape = |inbetweens: &[InbetweenDef]| BlendShapeDef {
            name: "S".into(),
            point_indices: Some(vec![0, 2]),
            offsets: vec![Vec3::X; 2],
            normal_offsets: None,
            inbetweens: inbetweens.to_vec(),
        };
        let says = |def: &BlendShapeDef, word: &str| {
            let text = def.validate("/M/S", 3).unwrap_err().to_string();
            assert!(text.contains(word), "{text} should say {word}");
        };
        assert!(
            shape(&[between("a", 0.5), between("b", -2.0)])
                .validate("/M/S", 3)
                .is_ok()
        );
        says(&shape(&[between("a", 0.0)]), "weight 0");
        says(&shape(&[between("a", 1.0)]), "weight 1");
        says(&shape(&[between("a", f32::NAN)]), "NaN");
        says(&shape(&[between("a", 0.5), between("b", 0.5)]), "'b'");
        says(
            &shape(&[between("a", 0.5), between("a", 0.6)]),
            "different names",
        );
        let mut short = shape(&[between("a", 0.5)]);
        short.inbetweens[0].offsets.pop();
        says(&short, "inbetweens:a");
        let mut normals = shape(&[]);
        normals.normal_offsets = Some(vec![Vec3::X]);
        says(&normals, "normalOffsets");
        let mut far = shape(&[]);
        far.point_indices = Some(vec![0, 3]);
        says(&far, "pointIndices");
        far.point_indices = None;
        says(&far, "3 offsets");
    }
}
