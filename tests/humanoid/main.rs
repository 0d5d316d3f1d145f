//! Humanoid clips on models, against a straightforward evaluation in matrices.

#[path = "../common/mod.rs"]
mod common;

mod bind_relative;
mod command;
mod figure;
mod files;
mod fuzz;
mod rest_relative;
mod usd;
