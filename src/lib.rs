//! GPU compute skinning for UsdSkel characters: sparse blend shapes with in-betweens, and any
//! number of joint influences, with the same results as Pixar's own code.
//!
//! This is one frame, from a file to a buffer that a renderer binds:
//!
//! ```
//! use std::sync::Arc;
//! use sinew::gpu::{OutputTarget, Prewarm, Skinner};
//! use sinew::kernel::{PackedPose, PackedSkin};
//! use sinew::sampled::Time;
//!
//! # let Ok(gpu) = sinew::gpu::GpuDevice::new(&sinew::gpu::AdapterChoice::Any) else { return Ok(()) };
//! # let (device, queue) = (gpu.device(), gpu.queue());
//! // Once per device. The renderer opened it with `needed_limits(&yours)`.
//! let skinner = Skinner::new(device, queue, &Default::default())?;
//! let mut crowd = skinner.crowd();
//!
//! // Once per mesh: read it, upload it, and compile its pipelines.
//! let scene = sinew_io::open("examples/assets/hatchling.usda")?.scene(Default::default())?;
//! let body = scene.resolve("/Hatchling/Geo/Body")?;
//! let packed = Arc::new(PackedSkin::pack("/Hatchling/Geo/Body", &*body.skin(Time::Default)?)?);
//! skinner.prewarm(&packed, &OutputTarget::default(), Prewarm::default())?;
//! let skin = crowd.add_skin(Arc::clone(&packed))?;
//! let hero = crowd.add_instance(skin)?; // as many as there are characters
//!
//! // Once per frame: pose the instances, then record the work for all of them.
//! let pose = PackedPose::pack(&packed, &body.pose(Time::At(12.5))?)?;
//! crowd.set_pose(hero, &pose)?;
//! let mut encoder = device.create_command_encoder(&Default::default());
//! crowd.encode(&mut encoder)?; // never submits, never waits
//! let points = crowd.points_on_gpu(hero)?; // buffer, offset and stride
//! queue.submit([encoder.finish()]);
//! # assert_eq!(points.iter().map(|run| run.count).sum::<usize>(), packed.output_count());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Meshes that move with the same joints share a palette: [`add_palette`](gpu::Crowd::add_palette)
//! once, [`set_palette`](gpu::Crowd::set_palette) per frame, and
//! [`InstancePose::Shared`](gpu::InstancePose::Shared) for each instance. Skins and poses can also
//! come from plain arrays: see [`skel::SkinBuilder`].
//!
//! The same on the CPU needs no device:
//!
//! ```
//! use glam::Vec3;
//! use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
//! use sinew::sampled::Time;
//!
//! let scene = sinew_io::open("examples/assets/hatchling.usda")?.scene(Default::default())?;
//! let body = scene.resolve("/Hatchling/Geo/Body")?;
//! let time = Time::At(12.5);
//! let skin = PackedSkin::pack("/Hatchling/Geo/Body", &*body.skin(time)?)?; // once per prim
//! let pose = PackedPose::pack(&skin, &body.pose(time)?)?; // once per time
//! let mut points = vec![Vec3::ZERO; skin.point_count()];
//! skin_on_cpu(&skin, &pose, &mut points, None)?;
//! # assert!(points.iter().all(|p| p.is_finite() && p.length() < 10.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate is the engine. It works on plain arrays and opens no files. The crate `sinew-io`
//! reads USD, glTF, VRM, FBX and BVH files into a [`scene::Scene`]. `sinew-bake`, `sinew-render`
//! and the command `sinew` build on both.
//!
//! # Conventions
//!
//! - Vectors are columns, as in glam: `p' = M * p`, and `skel_from_joint * joint_from_mesh`.
//!   `sinew-io` transposes USD's row-vector matrices when it reads them.
//! - Transforms are named `to_from_`: `world_from_skel` transforms from skeleton space to world
//!   space.
//! - Units are those of the stage; nothing is scaled. Angles of xformOps are in degrees, as in USD.
//! - The points of a mesh start in prim space. Blend shapes, geomBindTransform and the skinning
//!   transforms take them to skeleton space. `out_from_skel` takes them to the space that the
//!   caller asks for; for a bake that is prim space.
//! - Scenes and poses are computed in f64, kernels in f32.
//!
//! # Modules
//!
//! - [`skel`] is the UsdSkel model: topology, binding, blend shapes, poses, and the f64
//!   [reference](skel::reference).
//! - [`scene`] is the output of a reader: prims, transforms and bindings as plain data that threads
//!   can share.
//! - [`mesh`] splits meshes into triangles and vertices for renderers.
//! - [`kernel`] packs skins and poses into flat buffers. Each WGSL kernel has a CPU mirror beside
//!   it; the mirrors are also the CPU backend.
//! - [`clip`] samples, blends, masks and adds clips at run time, on the CPU.
//! - [`gpu`] runs the WGSL on a wgpu device.
//!
//! # Errors
//!
//! An invalid attribute of a file is an [`Invalid`], with file, prim, property, expected and found
//! value. A doubtful attribute that does not stop the work is a [`Warning`] with a stable code.
//!
//! # Features
//!
//! The default feature `gpu` adds the module [`gpu`]. Without it, the crate is the model and the
//! CPU backend.

pub mod clip;
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
/// The version of glam whose vectors and matrices this crate takes and gives.
pub use glam;
/// The version of wgpu that [`gpu`] uses, so that a host can name its types without a second copy.
#[cfg(feature = "gpu")]
pub use wgpu;

/// The code of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The code of docs/library.md, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;

/// The code of docs/coming-from.md, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../docs/coming-from.md")]
struct ComingFromPage;

/// The code of docs/playing.md, as doctests.
#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../docs/playing.md")]
struct PlayingPage;

/// The code of docs/culling.md, as doctests.
#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../docs/culling.md")]
struct CullingPage;
