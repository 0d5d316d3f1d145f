//! One device: its adapter, its limits, its errors and its pipelines.

pub mod adapter;
pub mod error;
pub mod limits;
pub mod mapping;
pub mod pipelines;
pub mod skinner;
pub mod timing;
pub mod waiting;
