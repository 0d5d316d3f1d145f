//! GPU compute skinning for UsdSkel characters (and glTF, VRM, FBX): sparse blend shapes with in-betweens, and any number
//! of joint influences, with the same results as Pixar's own code.
//!
#![cfg_attr(feature = "files", doc = "```")]
#![cfg_attr(not(feature = "files"), doc = "```ignore")]
//! use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
//! use sinew::sampled::Time;
//!
//! let scene = sinew::open("examples/assets/hatchling.usda")?.scene(Default::default())?; // or .glb, .vrm, ...
//! let body = scene.resolve("/Hatchling/Geo/Body")?;
//! let time = Time::At(12.5);
//! let skin = PackedSkin::pack("/Hatchling/Geo/Body", &*body.skin(time)?)?; // once per prim
//! let pose = PackedPose::pack(&skin, &body.pose(time)?); // once per time
//! let mut points = vec![glam::Vec3::ZERO; skin.point_count()];
//! skin_on_cpu(&skin, &pose, &mut points, None);
//! # assert!(points.iter().all(|p| p.is_finite() && p.length() < 10.0));
//! # Ok::<(), sinew::Error>(())
//! ```
//!
//! The same on a GPU, into buffers that a renderer binds: [`gpu::Skinner`] and [`gpu::Crowd`]. Without any
//! file, out of a host's own arrays: [`skel::SkinBuilder`]. Whole files: [`bake::bake`], or the `sinew bake` command.
//!
//! # Conventions
//!
//! - Column vectors, as glam has them: `p' = M * p`, and `skel_from_joint * joint_from_mesh`. USD's row-vector
//!   matrices are turned in [`io`] and nowhere else.
//! - Transforms are named `to_from_`: `world_from_skel` takes skeleton space to world space.
//! - Units are the stage's; nothing is scaled. Angles of xformOps are degrees, as in USD.
//! - A mesh's points go prim space -> (blend shapes) -> geomBindTransform -> skinning transforms -> skeleton space ->
//!   `out_from_skel` -> wherever the caller wants them; a bake wants the prim's own space.
//! - Model and poses are f64, kernels f32.
//!
//! # Map
//!
//! - [`io`] reads a file into a [`scene::Scene`]; it alone knows file formats. [`open`] takes any of them.
//! - [`asset`] is what glTF, VRM, FBX and BVH have in common, before it becomes UsdSkel.
//! - [`humanoid`] puts clips on human bones onto the nodes of an asset; [`retarget`] moves poses from one rig to another,
//!   frame by frame, without allocating.
//! - [`skel`] is the UsdSkel model: topology, binding, blend shapes, poses, and the f64
//!   [reference](skel::reference).
//! - [`kernel`] packs skins and poses into flat buffers; each kernel's WGSL and its CPU mirror, which
//!   is the CPU backend, live side by side.
//! - [`gpu`] runs the WGSL; it alone knows wgpu.
//! - [`bake`] turns frames into files.
//! - [`render`] draws characters, in a window or without one.
//! - [`check`] tells what is wrong or doubtful in a file, and mends what can be mended without guessing.
//!
//! # Errors
//!
//! What is wrong with a file is an [`Invalid`]: file, prim, property, expected, found. Odd things
//! that can be overlooked are [`Warning`]s with a stable code. Nothing panics on a file's account.
//!
//! # Features
//!
//! | feature | what it brings | without it there is no |
//! |---|---|---|
//! | `gpu` | pipelines and crowds on a wgpu device | [`gpu`] |
//! | `retarget` | poses from one rig to another | [`retarget`] |
//! | `files` | every format read, checked, converted and written | [`io`], [`asset`], [`check`], [`humanoid`] |
//! | `bake` | whole files baked (`files`, `gpu`) | [`bake`] |
//! | `render` | pictures (`files`, `gpu`) | [`render`] |
//! | `cli` | the command `sinew`; the default | |
//! | `fbx` | FBX files, by a C library | |
//!
//! A renderer with meshes of its own takes `default-features = false, features = ["gpu"]`.
//!
#![cfg_attr(not(feature = "gpu"), doc = " [`gpu`]: index.html#features")]
#![cfg_attr(not(feature = "gpu"), doc = " [`gpu::Skinner`]: index.html#features")]
#![cfg_attr(not(feature = "gpu"), doc = " [`gpu::Crowd`]: index.html#features")]
#![cfg_attr(not(feature = "retarget"), doc = " [`retarget`]: index.html#features")]
#![cfg_attr(not(feature = "files"), doc = " [`io`]: index.html#features")]
#![cfg_attr(not(feature = "files"), doc = " [`open`]: index.html#features")]
#![cfg_attr(not(feature = "files"), doc = " [`asset`]: index.html#features")]
#![cfg_attr(not(feature = "files"), doc = " [`check`]: index.html#features")]
#![cfg_attr(not(feature = "files"), doc = " [`humanoid`]: index.html#features")]
#![cfg_attr(not(feature = "bake"), doc = " [`bake`]: index.html#features")]
#![cfg_attr(not(feature = "bake"), doc = " [`bake::bake`]: index.html#features")]
#![cfg_attr(not(feature = "render"), doc = " [`render`]: index.html#features")]

#[cfg(feature = "files")]
pub mod asset;
#[cfg(feature = "bake")]
pub mod bake;
#[cfg(feature = "files")]
pub mod check;
pub mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "files")]
pub mod humanoid;
#[cfg(feature = "files")]
pub mod io;
pub mod kernel;
pub mod math;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "retarget")]
pub mod retarget;
pub mod sampled;
pub mod scene;
pub mod skel;

pub use error::{Error, Invalid, Result, Warning};
#[cfg(feature = "files")]
pub use io::open;
/// The wgpu that [`gpu`] speaks, so that a host can name its types without a second copy.
#[cfg(feature = "gpu")]
pub use wgpu;

/// The README's code, compiled and run with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
