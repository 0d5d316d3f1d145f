//! The command as people and scripts meet it.

mod batch;
mod check;
mod check_files;
mod cli;
mod example_asset;
mod farm;
mod fbx;
mod hints;
mod hostile;
mod humanoid;
mod manners;
mod no_files;
mod stages;
mod types;
