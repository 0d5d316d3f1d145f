//! A viewer for characters: `cargo run -p sinew-viewer -- hero.usda`.
//!
//! The engine skins into buffers that `sinew_render` draws from; nothing is read back unless GPU and CPU are compared.
//! `state` is all that the viewer is at a moment, `panels` shows and changes it, `drawing` puts it on the device, and
//! `desk` reads files into it: they need no window. `app` takes the window's events, and `script` the steps of a script.
//! `platform` has what differs between a desktop and a browser.

pub mod app;
pub mod beside;
pub mod clips;
pub mod clock;
pub mod desk;
pub mod drawing;
pub mod drops;
pub mod export;
pub mod files;
pub mod findings;
pub mod follow;
pub mod gpu_clock;
pub mod keys;
pub mod layout;
pub mod live;
pub mod loader;
pub mod messages;
pub mod model;
pub mod moves;
pub mod panels;
pub mod platform;
pub mod report;
pub mod screen;
pub mod script;
pub mod state;
pub mod theme;
pub mod timing;
pub mod verify;
