//! Nodes and their transforms.

use glam::{DMat4, DQuat, DVec3};

pub use crate::math::Trs;

/// A node of the file's hierarchy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// As in the file; may be empty, and need not be unique.
    pub name: String,
    pub parent: Option<usize>,
    /// parent_from_node at rest.
    pub local: LocalTransform,
    pub mesh: Option<usize>,
    /// Of the node's mesh. A skinned mesh is not moved by its node (glTF 2.0, 3.7.3.3).
    pub skin: Option<usize>,
    /// Morph target weights in place of the mesh's own.
    pub weights: Option<Vec<f32>>,
}

/// A node's transform. Only one in components can be animated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LocalTransform {
    Trs(Trs),
    /// Perhaps with shear.
    Matrix(DMat4),
}

impl Default for LocalTransform {
    fn default() -> Self {
        Self::Trs(Trs::IDENTITY)
    }
}

impl LocalTransform {
    #[must_use]
    pub fn matrix(&self) -> DMat4 {
        match self {
            Self::Trs(trs) => trs.matrix(),
            Self::Matrix(m) => *m,
        }
    }

    /// The components; of a matrix as they decompose, shear left out.
    #[must_use]
    pub fn trs(&self) -> Trs {
        match self {
            Self::Trs(trs) => *trs,
            Self::Matrix(m) => decompose(m),
        }
    }
}

/// `R * S` nearest at hand: the first axis keeps its direction, the second its plane with the first. Finite and of unit
/// length for every finite matrix, also where axes are zero or in one plane, as those of hidden nodes are.
fn decompose(m: &DMat4) -> Trs {
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis].map(|v| v.truncate());
    // A mirror is a negative scale of x.
    let side = if a.dot(b.cross(c)) < 0.0 { -1.0 } else { 1.0 };
    let x = (a * side)
        .try_normalize()
        .or_else(|| b.cross(c).try_normalize())
        .or_else(|| Some(b.try_normalize()?.any_orthonormal_vector()))
        .or_else(|| Some(c.try_normalize()?.any_orthonormal_vector()))
        .unwrap_or(DVec3::X);
    let y = (b - x * x.dot(b))
        .try_normalize()
        .or_else(|| c.cross(x).try_normalize())
        .unwrap_or_else(|| x.any_orthonormal_vector());
    let z = x.cross(y);
    Trs {
        translation: m.w_axis.truncate(),
        rotation: DQuat::from_rotation_axes(x, y, z).normalize(),
        scale: DVec3::new(a.dot(x), b.dot(y), c.dot(z)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_come_apart() {
        let whole = Trs {
            translation: DVec3::new(1.0, 2.0, 3.0),
            rotation: DQuat::from_rotation_y(0.5) * DQuat::from_rotation_x(1.0),
            scale: DVec3::new(-2.0, 0.5, 3.0),
        };
        for zeroed in [
            DVec3::ONE,
            DVec3::X,
            DVec3::Y,
            DVec3::Z,
            DVec3::new(0.0, 1.0, 1.0),
            DVec3::ZERO,
        ] {
            let scale = whole.scale * zeroed;
            let matrix = Trs { scale, ..whole }.matrix();
            let trs = LocalTransform::Matrix(matrix).trs();
            assert!(trs.rotation.is_normalized(), "{zeroed}: {trs:?}");
            assert!(trs.matrix().abs_diff_eq(matrix, 1e-12), "{zeroed}: {trs:?}");
        }
        let sheared = DMat4::from_cols_array_2d(&[
            [1., 0., 0., 0.],
            [1., 1., 0., 0.],
            [0., 0., 1., 0.],
            [0., 0., 0., 1.],
        ]);
        let trs = LocalTransform::Matrix(sheared).trs();
        assert_eq!((trs.rotation, trs.scale), (DQuat::IDENTITY, DVec3::ONE));
    }
}
