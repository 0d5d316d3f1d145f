//! Draws characters. A [`Stage`] holds an opened file on a device, a [`Renderer`] draws it into a
//! texture, and [`Offscreen`] reads the picture back into memory.
//!
//! ```no_run
//! use sinew::gpu::{AdapterChoice, GpuDevice, Skinner};
//! use sinew_render::{Camera, Control, Look, Offscreen, Stage};
//! use sinew::sampled::Time;
//!
//! let gpu = GpuDevice::new(&AdapterChoice::Any)?;
//! let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default())?;
//! let mut stage = Stage::open(&skinner, "hero.glb", &Default::default())?;
//! stage.set_time(Time::At(12.0), &Control::default())?;
//! let mut camera = stage.camera();
//! camera.frame(&stage.bounds(), 16.0 / 9.0);
//! let mut offscreen = Offscreen::new(gpu.device(), gpu.queue())?;
//! let picture = offscreen.picture(&mut stage, &camera, &Look::default(), [1280, 720])?;
//! sinew_render::save_png("hero.png", &picture)?;
//! # Ok::<(), sinew_render::Error>(())
//! ```
//!
//! The vertex shader reads skinned positions and normals directly from the buffers of the crowd.
//! For each frame of a window call [`Stage::set_time`], [`Stage::encode`] and [`Renderer::draw`]
//! with one encoder of your own, and submit it; none of them submits.

mod blended;
mod bounds;
mod buffers;
mod camera;
mod curves;
mod deform;
mod error;
mod focus;
mod frame;
mod heat;
mod images;
mod joints;
mod layouts;
mod lens;
mod loaded;
mod look;
mod material;
mod mesh;
mod occlusion;
mod offscreen;
mod overlay;
mod pipelines;
mod renderer;
mod save;
mod shaders;
mod stage;
mod stage_info;
mod stage_measures;
mod stage_mesh;
mod strongest;
mod targets;

pub use bounds::Bounds;
pub use camera::{Camera, CameraMatrices, Orbit, View};
pub use error::{Error, Result};
pub use focus::{Focus, heat_color};
pub use joints::{StageJoint, StageSkeleton};
pub use lens::{Fixed, Lens};
pub use loaded::{Clip, Loaded};
pub use look::{Background, Control, DrawBackend, JointId, Light, Look};
pub use offscreen::{Offscreen, check_size};
pub use renderer::Renderer;
pub use save::{save_png, write_png};
#[doc(hidden)]
pub use shaders::{SHADERS, Shader};
pub use stage::Stage;
pub use stage_info::MeshInfo;
pub use stage_measures::{Comparison, Difference};
