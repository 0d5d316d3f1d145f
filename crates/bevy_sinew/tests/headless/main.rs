//! Characters in Bevy apps without a window. They need an adapter, which may be a software one.

mod app;
mod motion;
mod picture;
mod slab;
