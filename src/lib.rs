//! GPU compute skinning for UsdSkel characters: sparse blend shapes with in-betweens, and any number of joint influences,
//! with the same results as Pixar's own code.
//!
//! This crate is the engine. It works on plain arrays: it opens no files. The crate `sinew-io` reads USD, glTF, VRM, FBX and
//! BVH files into a [`scene::Scene`]; `sinew-bake`, `sinew-render` and the command `sinew` build on both.
//!
//! ```
//! use glam::Vec3;
//! use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
//! use sinew::sampled::Time;
//!
//! let scene = sinew_io::open("examples/assets/hatchling.usda")?.scene(Default::default())?; // or .glb, .vrm, ...
//! let body = scene.resolve("/Hatchling/Geo/Body")?;
//! let time = Time::At(12.5);
//! let skin = PackedSkin::pack("/Hatchling/Geo/Body", &*body.skin(time)?)?; // once per prim
//! let pose = PackedPose::pack(&skin, &body.pose(time)?); // once per time
//! let mut points = vec![Vec3::ZERO; skin.point_count()];
//! skin_on_cpu(&skin, &pose, &mut points, None);
//! # assert!(points.iter().all(|p| p.is_finite() && p.length() < 10.0));
//! # Ok::<(), sinew::Error>(())
//! ```
//!
//! The same on a GPU, into buffers that a renderer binds: [`gpu::Skinner`] and [`gpu::Crowd`]. From a host's own arrays:
//! [`skel::SkinBuilder`].
//!
//! # Conventions
//!
//! - Column vectors, as glam has them: `p' = M * p`, and `skel_from_joint * joint_from_mesh`. `sinew-io` transposes USD's
//!   row-vector matrices when it reads them.
//! - Transforms are named `to_from_`: `world_from_skel` takes skeleton space to world space.
//! - Units are the stage's; nothing is scaled. Angles of xformOps are degrees, as in USD.
//! - A mesh's points go prim space -> (blend shapes) -> geomBindTransform -> skinning transforms -> skeleton space ->
//!   `out_from_skel` -> the space that the caller asks for; a bake asks for the prim's own space.
//! - Model and poses are f64, kernels f32.
//!
//! # Map
//!
//! - [`skel`] is the UsdSkel model: topology, binding, blend shapes, poses, and the f64 [reference](skel::reference).
//! - [`scene`] is what a reader produces: prims, transforms and bindings as plain data that threads can share.
//! - [`mesh`] cuts meshes into triangles and vertices for renderers.
//! - [`kernel`] packs skins and poses into flat buffers; the WGSL and the CPU mirror of each kernel stand side by side. The
//!   mirror is also the CPU backend.
//! - [`gpu`] runs the WGSL on a wgpu device.
//!
//! # Errors
//!
//! A broken attribute of a file is an [`Invalid`]: file, prim, property, expected, found. A doubtful one that does not stop
//! the work is a [`Warning`] with a stable code.
//!
//! # Features
//!
//! `gpu`, the default, brings the module `gpu`. Without it there are the model and the CPU backend.

pub mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod kernel;
pub mod math;
pub mod mesh;
pub mod sampled;
pub mod scene;
pub mod skel;

pub use error::{Error, Invalid, Result, Warning};
/// The wgpu that [`gpu`] uses, so that a host can name its types without a second copy.
#[cfg(feature = "gpu")]
pub use wgpu;

/// The README's code, compiled and run with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The code of the library's page.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
