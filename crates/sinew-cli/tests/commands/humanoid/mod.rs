//! Humanoid clips on models, against a straightforward evaluation in matrices.

mod bind_relative;
mod files;
mod fuzz;
mod rest_relative;
mod usd;
