//! How large a stage may grow.

/// How large a stage may grow. Beyond a limit the error is [`Error::TooLarge`](crate::Error::TooLarge).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nodes of one prim's index: the arcs that lead to its opinions, including those without specs. Default: 20,000.
    pub nodes_per_prim: usize,
    /// Nodes of all prims of the stage, before `nodes_per_byte` is added. Default: 50 million.
    pub nodes: usize,
    /// Nodes of all prims for each byte of the layers that were read. Default: 64.
    pub nodes_per_byte: usize,
    /// Layers that are opened. Default: 100,000.
    pub layers: usize,
    /// Prims that are composed. Default: 20 million.
    pub prims: usize,
    /// How deep arcs to prims below a root prim may nest. Default: 100.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nodes_per_prim: 20_000,
            nodes: 50_000_000,
            nodes_per_byte: 64,
            layers: 100_000,
            prims: 20_000_000,
            depth: 100,
        }
    }
}
