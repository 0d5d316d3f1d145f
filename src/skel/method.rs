//! The skinning method of a prim (primvars:skel:skinningMethod).

/// How the transforms of a point's joints are combined. It is serialized as the token of the
/// schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SkinningMethod {
    /// Linear blend skinning: the weighted sum of the joints' matrices (rules 21 to 23).
    #[default]
    ClassicLinear,
    /// Scale and shear by linear blending first, then the remaining rigid motions by dual
    /// quaternions (rules 25 to 27).
    DualQuaternion,
}

impl SkinningMethod {
    /// Whether rigid motions stand beside its matrices (the kernels' `RigidMotions`).
    #[must_use]
    pub fn has_rigid_motions(self) -> bool {
        match self {
            Self::ClassicLinear => false,
            Self::DualQuaternion => true,
        }
    }

    /// The method that a token names; `None` for an unknown token, with which the prim cannot be
    /// skinned (rule 29).
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        match token {
            "classicLinear" => Some(Self::ClassicLinear),
            "dualQuaternion" => Some(Self::DualQuaternion),
            _ => None,
        }
    }
}
