//! A character from a USD, glTF, VRM or FBX file, for engines on wgpu.
//!
//! ```
//! use sinew::gpu::Skinner;
//! use sinew_character::Character;
//!
//! # use sinew::gpu::{AdapterChoice, GpuDevice};
//! # let Ok(gpu) = GpuDevice::new(&AdapterChoice::Any) else { return Ok(()) };
//! # let (device, queue) = (gpu.device(), gpu.queue());
//! // Once: your renderer has opened the device, with `sinew::gpu::needed_limits`.
//! let skinner = Skinner::new(device, queue, &Default::default())?;
//! let mut crowd = skinner.crowd(); // one for all characters
//! let mut hero = Character::load(&skinner, "../../examples/assets/hatchling.usda")?;
//! let clip = hero.clips()[0].name().to_owned();
//! hero.play(clip.as_str())?;
//!
//! // Every frame: nothing is uploaded for a character that only plays.
//! crowd.advance(1.0 / 60.0)?; // time passes, for all characters
//! hero.update(&mut crowd)?;
//! let mut encoder = device.create_command_encoder(&Default::default());
//! crowd.encode(&mut encoder)?;
//! for draw in hero.draws(&crowd)? {
//!     let (points, normals) = (draw.points, draw.normals); // buffer, offset, stride
//!     let base_color = draw.base_color(); // how the image is read, and its bytes
//!     println!("{}: indices {:?}, {:?}", draw.mesh, draw.range, draw.material.map(|m| &m.path));
//!     // In your pass, with your pipeline: `draw.record(&mut pass)`.
//! }
//! queue.submit([encoder.finish()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `hero.crossfade("Walk", 0.2)?` fades to another clip; [`Character::blend`], [`Character::add`]
//! and [`Character::set_root_motion`] are what else the GPU plays. What it does not play, such as
//! masks of joints, is blended with [`sinew::clip`] and set by [`Character::set_pose`].
//!
//! The crate depends on `sinew`, which skins and plays, and on `sinew-io`, which reads files. It
//! has no renderer: materials are those of UsdPreviewSurface as plain data, and images are encoded,
//! for the texture loader of your engine.

mod arrays;
mod character;
mod clips;
mod draw;
mod error;
mod model;
mod parts;
mod playback;
mod resident;

pub use arrays::MeshArrays;
pub use character::{Character, CharacterOptions};
pub use clips::{CharacterClip, CharacterSkeleton};
pub use draw::Draw;
pub use error::{Error, Result};
pub use playback::PlayClip;
