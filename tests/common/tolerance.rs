//! Every tolerance of the tests, each with its reason.

/// f64 reference against f32 kernels, points; relative to the largest coordinate expected (at
/// least 1). f32 has 6e-8 per operation; 12 influences with weights beyond 1 and of both signs, in-betweens
/// extrapolated several times over and a post matrix lose about five bits of it.
pub const POINTS: f64 = 4e-6;

/// f64 reference against f32 kernels, normals; relative to the longest normal expected (at least
/// 1). Normalising divides by a length that blending and negative weights can make short, which
/// magnifies the rounding before it.
pub const NORMALS: f64 = 4e-5;

/// CPU mirror against GPU, points, relative as above: both are f32, but a GPU contracts
/// multiply-adds and the mirror multiplies the post matrix in beforehand.
pub const MIRROR_POINTS: f64 = 4e-6;

/// CPU mirror against GPU, normals.
pub const MIRROR_NORMALS: f64 = 4e-5;
