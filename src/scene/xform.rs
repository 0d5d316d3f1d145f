//! Transform stacks of prims (xformOpOrder of UsdGeomXformable), as matrices for column vectors.

use glam::{DMat4, DQuat, DVec3, Quat, Vec3};
use half::f16;

use crate::math;
use crate::sampled::{Components, Half3, Jet, Sampled, Time};
use crate::skel::Moving;

/// The value of an op, in the authored precision. usd-core interpolates in that precision, so it
/// matters.
#[derive(Clone, Debug)]
pub enum OpValue {
    Matrix(Sampled<DMat4>),
    Scalar(Sampled<f64>),
    ScalarF(Sampled<Vec<f32>>),
    ScalarH(Sampled<Vec<f16>>),
    Vec3(Sampled<DVec3>),
    Vec3F(Sampled<Vec<Vec3>>),
    Vec3H(Sampled<Vec<Half3>>),
    Quat(Sampled<DQuat>),
    QuatF(Sampled<Vec<Quat>>),
    /// `[x, y, z, w]`.
    QuatH(Sampled<Vec<[f16; 4]>>),
}

/// The same expression for the samples of each kind of value.
macro_rules! of_samples {
    ($value:expr, $samples:ident => $result:expr) => {
        match $value {
            OpValue::Matrix($samples) => $result,
            OpValue::Scalar($samples) => $result,
            OpValue::ScalarF($samples) => $result,
            OpValue::ScalarH($samples) => $result,
            OpValue::Vec3($samples) => $result,
            OpValue::Vec3F($samples) => $result,
            OpValue::Vec3H($samples) => $result,
            OpValue::Quat($samples) => $result,
            OpValue::QuatF($samples) => $result,
            OpValue::QuatH($samples) => $result,
        }
    };
}

impl OpValue {
    fn keys(&self) -> Vec<f64> {
        of_samples!(self, s => s.keys().collect())
    }

    fn is_animated(&self) -> bool {
        of_samples!(self, s => s.is_animated())
    }

    fn is_curve(&self) -> bool {
        of_samples!(self, s => s.is_curve())
    }

    /// The numbers of the value at a time, as usd-core interpolates them.
    fn at(&self, time: Time) -> Option<Vec<f64>> {
        of_samples!(self, s => s.at(time).map(|v| v.components()))
    }

    /// The same without rounding, with rates of change.
    fn jet(&self, time: Time) -> Option<Jet> {
        of_samples!(self, s => s.jet(time))
    }
}

/// The kind of an op: the first part of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    Transform,
    Translate,
    Scale,
    Orient,
    /// One axis (0 to 2) of a translation, scale or rotation.
    TranslateAxis(usize),
    ScaleAxis(usize),
    RotateAxis(usize),
    /// Euler angles in degrees, with the axes in the order of application.
    RotateEuler([usize; 3]),
}

impl OpKind {
    /// The kind of an op named `xformOp:KIND[:SUFFIX]`; `None` if there is no such kind.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let kind = name.strip_prefix("xformOp:")?.split(':').next()?;
        let axis = |c: char| "XYZ".find(c);
        Some(match kind {
            "transform" => OpKind::Transform,
            "translate" => OpKind::Translate,
            "scale" => OpKind::Scale,
            "orient" => OpKind::Orient,
            _ => {
                let (base, axes) = kind.split_at(kind.find(['X', 'Y', 'Z'])?);
                let axes: Vec<usize> = axes.chars().map(axis).collect::<Option<_>>()?;
                match (base, axes.as_slice()) {
                    ("translate", [a]) => OpKind::TranslateAxis(*a),
                    ("scale", [a]) => OpKind::ScaleAxis(*a),
                    ("rotate", [a]) => OpKind::RotateAxis(*a),
                    ("rotate", [a, b, c]) if a != b && b != c && a != c => {
                        OpKind::RotateEuler([*a, *b, *c])
                    }
                    _ => return None,
                }
            }
        })
    }
}

/// An op of a transform stack.
#[derive(Clone, Debug)]
pub struct XformOp {
    /// The kind of the op, which determines what the value means.
    pub kind: OpKind,
    /// Attribute name. An op and its inverse have the same one, and cancel out if they are
    /// neighbours.
    pub name: String,
    /// Whether the op is inverted (`!invert!`).
    pub invert: bool,
    /// The value over time. Angles are in degrees.
    pub value: OpValue,
}

impl XformOp {
    /// The matrix of the op at a time. If the op has no value then, it is the identity, as in
    /// usd-core.
    fn matrix(&self, time: Time) -> DMat4 {
        let value = self.value.at(time);
        value.map_or(DMat4::IDENTITY, |v| self.matrix_of(&v))
    }

    /// As [`XformOp::matrix`], interpolated without rounding and with its rate of change.
    fn moving(&self, time: Time) -> Moving {
        let jet = self.value.jet(time);
        jet.map_or(Moving::IDENTITY, |jet| {
            Moving::of(&jet.value, &jet.rate, |v| self.matrix_of(v))
        })
    }

    /// The matrix of a value. A value of a kind that the op does not have makes the identity.
    fn matrix_of(&self, value: &[f64]) -> DMat4 {
        let rotate = |axis: usize, degrees: f64| {
            let radians = degrees.to_radians();
            match axis {
                0 => DMat4::from_rotation_x(radians),
                1 => DMat4::from_rotation_y(radians),
                _ => DMat4::from_rotation_z(radians),
            }
        };
        let along = |axis: usize, value: f64, rest: f64| {
            let mut v = DVec3::splat(rest);
            v[axis] = value;
            v
        };
        let scale = |s: DVec3| math::make_transform(DVec3::ZERO, DQuat::IDENTITY, s);
        let m = match (self.kind, value) {
            (OpKind::Transform, v) => {
                let m = <[f64; 16]>::try_from(v).ok();
                m.map_or(DMat4::IDENTITY, |m| DMat4::from_cols_array(&m))
            }
            (OpKind::Translate, &[x, y, z]) => DMat4::from_translation(DVec3::new(x, y, z)),
            (OpKind::Scale, &[x, y, z]) => scale(DVec3::new(x, y, z)),
            (OpKind::Orient, &[x, y, z, w]) => {
                DMat4::from_quat(as_rotation(DQuat::from_xyzw(x, y, z, w)))
            }
            (OpKind::TranslateAxis(a), &[v]) => DMat4::from_translation(along(a, v, 0.0)),
            (OpKind::ScaleAxis(a), &[v]) => scale(along(a, v, 1.0)),
            (OpKind::RotateAxis(a), &[v]) => rotate(a, v),
            // rotateXYZ rotates about X first, so X is the rightmost factor.
            (OpKind::RotateEuler(order), &[_, _, _]) => order
                .iter()
                .fold(DMat4::IDENTITY, |m, &axis| rotate(axis, value[axis]) * m),
            _ => DMat4::IDENTITY,
        };
        match self.invert {
            true => math::try_inverse(m).unwrap_or(m),
            false => m,
        }
    }
}

/// The rotation of a quaternion as GfRotation::SetQuat computes it: the angle from the real part,
/// the axis from the direction of the imaginary part. That matters for quaternions whose length is
/// not quite 1, such as those in half precision.
fn as_rotation(q: DQuat) -> DQuat {
    let axis = q.xyz().normalize_or_zero();
    let w = q.w.clamp(-1.0, 1.0);
    if axis == DVec3::ZERO {
        return DQuat::IDENTITY;
    }
    let sin = (1.0 - w * w).sqrt();
    DQuat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, w)
}

/// The local transform of a prim, as a stack of ops.
#[derive(Clone, Debug, Default)]
pub struct XformStack {
    /// The ops in xformOpOrder. The matrices are multiplied in this order, so the first op applies
    /// last.
    pub ops: Vec<XformOp>,
    /// Whether the transforms of ancestors do not apply to this prim (`!resetXformStack!`).
    pub resets: bool,
}

impl XformStack {
    /// The transform from prim space to the space of the parent, at a time.
    #[must_use]
    pub fn local(&self, time: Time) -> DMat4 {
        let matrices = self.effective().map(|op| op.matrix(time));
        matrices.fold(DMat4::IDENTITY, |m, op| m * op)
    }

    /// As [`XformStack::local`], interpolated without rounding and with its rate of change.
    #[must_use]
    pub fn moving(&self, time: Time) -> Moving {
        let matrices = self.effective().map(|op| op.moving(time));
        matrices.fold(Moving::IDENTITY, |m, op| m * op)
    }

    /// The ops without those that cancel out: an op next to its own inverse cancels exactly, even
    /// if it is singular.
    fn effective(&self) -> impl Iterator<Item = &XformOp> {
        let mut ops = self.ops.iter().peekable();
        std::iter::from_fn(move || {
            loop {
                let op = ops.next()?;
                let cancels = |next: &&XformOp| next.name == op.name && next.invert != op.invert;
                if ops.next_if(cancels).is_none() {
                    return Some(op);
                }
            }
        })
    }

    /// Whether the transform may change over time.
    #[must_use]
    pub fn is_animated(&self) -> bool {
        self.ops.iter().any(|op| op.value.is_animated())
    }

    /// Whether an op is a function of time, such as a spline.
    #[must_use]
    pub fn has_curves(&self) -> bool {
        self.ops.iter().any(|op| op.value.is_curve())
    }

    /// Every authored time of the ops: of samples, and of the keys of splines.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        self.ops.iter().flat_map(|op| op.value.keys()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str, value: OpValue) -> XformOp {
        XformOp {
            kind: OpKind::from_name(name).unwrap(),
            name: name.to_owned(),
            invert: false,
            value,
        }
    }

    #[test]
    fn names() {
        assert_eq!(
            OpKind::from_name("xformOp:rotateZYX:a"),
            Some(OpKind::RotateEuler([2, 1, 0]))
        );
        assert_eq!(
            OpKind::from_name("xformOp:rotateY"),
            Some(OpKind::RotateAxis(1))
        );
        assert_eq!(
            OpKind::from_name("xformOp:translate:pivot"),
            Some(OpKind::Translate)
        );
        assert_eq!(OpKind::from_name("xformOp:rotateXX"), None);
        assert_eq!(OpKind::from_name("translate"), None);
    }

    #[test]
    fn the_first_op_is_outermost() {
        let stack = XformStack {
            ops: vec![
                op(
                    "xformOp:translate",
                    OpValue::Vec3(Sampled::constant(DVec3::X)),
                ),
                op("xformOp:rotateZ", OpValue::Scalar(Sampled::constant(90.0))),
            ],
            resets: false,
        };
        let p = stack.local(Time::Default).transform_point3(DVec3::X);
        assert!(p.abs_diff_eq(DVec3::new(1.0, 1.0, 0.0), 1e-12), "{p}");
    }
}
