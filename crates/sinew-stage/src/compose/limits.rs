//! How large a stage may grow.

/// How large a stage may grow. Beyond a limit the error is [`Error::TooLarge`](crate::Error::TooLarge).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nodes of one prim's index: the arcs that lead to its opinions, including those without specs. Default: 4,096.
    pub nodes_per_prim: usize,
    /// Nodes that are made for all prims together, before `nodes_per_byte` is added: a limit of time. Default: 4 million.
    pub nodes: usize,
    /// Nodes of all prims for each byte of the layers that were read. Default: 1.
    pub nodes_per_byte: usize,
    /// Bytes of memory that the composed prims may take, before `memory_per_byte` is added. Default: 384 MiB.
    pub memory: usize,
    /// Bytes of memory for each byte of the layers that were read. Default: 32.
    pub memory_per_byte: usize,
    /// Layers that are opened, and sublayers of one layer. Default: 100,000.
    pub layers: usize,
    /// Prims that are composed. Default: 20 million.
    pub prims: usize,
    /// Specs of properties that prims have, all together, before one for each byte of the layers that were read is added: a
    /// class gives its properties to all prims that inherit it. Default: 8 million.
    pub properties: usize,
    /// Prims and properties of a flattened stage, before one for each byte is added: there, instances may have
    /// their own. Default: 2 million.
    pub flattened: usize,
    /// How deep prims may nest. Default: 1,000.
    pub prim_depth: usize,
    /// Prims of the stage with those that are seen through instances. Default: 20 million.
    pub proxies: u64,
    /// How many arcs may lead from a prim to an opinion, one after the other. Default: 500.
    pub arcs: usize,
    /// How deep arcs to prims that are no root prims may nest. Default: 48.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nodes_per_prim: 4_096,
            nodes: 4_000_000,
            nodes_per_byte: 1,
            memory: 384 << 20,
            memory_per_byte: 32,
            layers: 100_000,
            prims: 20_000_000,
            properties: 8_000_000,
            flattened: 2_000_000,
            proxies: 20_000_000,
            prim_depth: 1_000,
            arcs: 500,
            depth: 48,
        }
    }
}
