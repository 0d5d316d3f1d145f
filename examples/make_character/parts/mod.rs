//! What is not the body: each is a mesh of its own.

mod eye;
mod hat;
mod lid;
mod wing;

pub use eye::eye;
pub use hat::hat;
pub use lid::lid;
pub use wing::wing;
