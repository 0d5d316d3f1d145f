//! Meshes as renderers draw them: triangles, and vertices that are split at seams. No kernels and
//! no GPU here.

mod render_mesh;
mod render_vertices;
mod triangulate;

pub use render_mesh::{FaceTriangles, RenderInputs, RenderMesh};
pub use render_vertices::RenderVertices;
