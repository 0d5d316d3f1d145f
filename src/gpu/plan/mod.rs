//! The plan of a frame: where every pose lies, and which items make up which dispatch. Pure data:
//! nothing here calls the device.

pub mod frame;
pub mod groups;
pub mod pose_pages;
pub mod ranges;
pub mod rig_palettes;
pub mod tables;
